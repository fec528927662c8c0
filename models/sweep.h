/* sweep.h - the mapping `sweep:` as factors, and the design points of one alternative.
 *
 * Factors that go in step (zip) form a group, every other one is a group of its own; points are the product of the
 * groups, the first slowest. An alternative sees only the factors it has, and each combination of those once. */
#ifndef MODELS_SWEEP_H
#define MODELS_SWEEP_H

#include "models/alternative.h"

struct factor {
    const char *name;          /* its full address */
    struct place place;        /* of the address */
    const char *inner;         /* below an alternative: the address inside it; else NULL */
    const char *const *labels; /* of the alternatives that have it, ended by NULL; or NULL: every one */
};

struct group {
    size_t first, count; /* factors */
    size_t rows;
    struct node **values; /* [row][factor of the group] */
};

struct sweep {
    struct factor *factors;
    size_t factor_count;
    struct group *groups;
    size_t group_count;
};

/* `map` may be NULL. `root` is the document, its policies canonical. False after an error. */
bool sweep_read(const struct reader *reader, const struct node *map, const struct node *root, struct sweep *sweep);

bool factor_applies(const struct factor *factor, const char *label);

/* The points of an alternative, as values [point][factor]; NULL where it does not have the factor. 1 point at least. */
size_t sweep_points(const struct reader *reader, const struct sweep *sweep, const char *label, struct node ***values);

/* The mapping without a factor, however its address is written; NULL if nothing is left. And with its values replaced;
 * NULL after an error. */
struct node *sweep_without(const struct reader *reader, const struct node *map, const struct node *root,
                           const char *address);
/* The mapping with the labels that alternatives had `before` in its addresses replaced by those of `after`. */
struct node *sweep_renamed(const struct reader *reader, const struct node *map, const struct alternative *before,
                           const struct alternative *after, size_t count);
struct node *sweep_with(const struct reader *reader, const struct node *map, const char *name, struct place asked,
                        struct node *values);

#endif
