/* include.h - the key `include:` of a scenario: a file, or a list of them, whose keys stand below those of the file
 * that includes them. Key by key the including file goes before, mapping by mapping down to single values; of several
 * files a later one goes before an earlier one; lists are not joined. A path is meant from the file that names it, and
 * every value keeps the place that it was written at.
 *
 * At most 8 files deep and 256 in all; no file includes itself. */
#ifndef MODELS_INCLUDE_H
#define MODELS_INCLUDE_H

#include "models/readers.h"

/* The document with what it includes, without the key; NULL after an error. *files gets the paths of what was read,
 * *count of them. `path` is that of the document. */
struct node *include_all(const struct reader *reader, const struct node *root, const char *path,
                         const char *const **files, size_t *count);

#endif
