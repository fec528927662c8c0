/* alternative.h - the list `policies:` in one form, and the label of each of its items.
 *
 * Canonical: every item is a mapping of one key, {policy: {parameters}} or {label: [{policy: {parameters}}, ...]}. An
 * item of the first form is labelled by its policy's name; several of one policy by what differs, fixed_cap(cap=6). */
#ifndef MODELS_ALTERNATIVE_H
#define MODELS_ALTERNATIVE_H

#include "models/readers.h"

struct alternative {
    const char *label;
    struct place place;
    struct node *item; /* canonical */
};

/* A canonical list from the value of `policies:` (NULL: unbounded alone). NULL after an error. */
struct node *alternatives_canonical(const struct reader *reader, const struct node *policies);

/* One for each item of a canonical list. NULL after an error (equal labels). */
struct alternative *alternatives_of(const struct reader *reader, const struct node *policies);

/* Which one an address below `policies.` means, by its longest label, or NULL; *rest is what follows the label and its
 * dot. The second says so where there is none. */
const struct alternative *alternative_find(const struct alternative *alternatives, size_t count, const char *address,
                                           const char **rest);
const struct alternative *alternative_at(const struct reader *reader, const struct alternative *alternatives,
                                         size_t count, const char *address, struct place place, const char **rest);

/* The list and, behind it, those names that are no labels but known policies. NULL after an error. */
struct node *alternatives_with(const struct reader *reader, const struct node *policies, const char *const *names,
                               size_t count);
/* Of that list those that are named, in its order and with the labels that they have there. */
struct node *alternatives_only(const struct reader *reader, const struct node *policies, const char *const *names,
                               size_t count);

/* A canonical member, {policy: {parameters}}: its policy, and what it is called in its chain. */
const char *member_policy(const struct node *member);
const char *member_name(const struct node *member);

#endif
