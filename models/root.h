/* root.h - the document of a scenario under --set and --policy. Each returns a changed copy, or NULL after an error.
 * `only` are the names of --policy, `only_count` of them. */
#ifndef MODELS_ROOT_H
#define MODELS_ROOT_H

#include "models/readers.h"

/* With these alternatives, in their canonical form (models/alternative.h), as its `policies`. */
struct node *root_with_policies(const struct reader *reader, const struct node *root, struct node *policies);
/* After one KEY=YAML. Where that changes an alternative's label, the sweep and `only` follow. */
struct node *root_set(const struct reader *reader, const struct node *root, const char *set, const char **only,
                      size_t only_count);
/* With this as its `sweep`; NULL: without one. */
struct node *root_with_sweep(const struct reader *reader, const struct node *root, struct node *sweep);
/* The same of a value that is there already, whose address stands at a place. */
struct node *root_put(const struct reader *reader, const struct node *root, const char *key, struct place asked,
                      struct node *value, const char **only, size_t only_count);
/* With the alternatives of --policy alone, and the factors that one of them has. */
struct node *root_selected(const struct reader *reader, const struct node *root, const char *const *only,
                           size_t only_count);

#endif
