/* yaml.h - scenario files: a YAML document as a tree in which every value knows its file, line and column.
 *
 * A subset on purpose. Refused with a message: anchors and aliases, tags, merge keys, keys that are no scalars,
 * repeated keys (both lines are named), a second document, NUL bytes, tabs, more than 64 levels, a million values or 16
 * MiB, `{a:1}` (a key without a value in braces), an unbalanced bracket in a value (a comma inside braces ended it).
 * Nodes live in the arena. */
#ifndef SIM_YAML_H
#define SIM_YAML_H

#include "sim/io/diag.h"

enum node_kind { NODE_NULL, NODE_SCALAR, NODE_LIST, NODE_MAP };

struct node_entry;

struct node {
    enum node_kind kind;
    struct place place;
    const char *text;           /* NODE_SCALAR */
    bool quoted;                /* NODE_SCALAR */
    struct node **items;        /* NODE_LIST */
    struct node_entry *entries; /* NODE_MAP, in order of the file */
    size_t count;               /* items or entries */
};

struct node_entry {
    const char *key;
    struct place place;
    struct node *value;
};

/* NULL after an error. `name` is what messages call the text. */
struct node *yaml_read(const char *path, struct arena *arena, struct diag *diag);
/* The same of a file that is named at a place; that it cannot be read is said there. */
struct node *yaml_read_asked(const char *path, struct place asked, struct arena *arena, struct diag *diag);
struct node *yaml_parse(const char *name, const char *text, size_t length, struct arena *arena, struct diag *diag);

/* The value of a key of a map, or NULL. */
struct node *node_get(const struct node *map, const char *key);
/* Put a value under a key of a map: replaces it or appends the key. Nothing (NODE_NULL) becomes a map. */
void node_put(struct node *map, const char *key, struct place key_place, struct node *value, struct arena *arena);
/* A deep copy (for design points, which change scalars). */
struct node *node_copy(const struct node *node, struct arena *arena);
struct node *node_scalar(const char *text, struct place place, struct arena *arena);
const char *node_kind_name(const struct node *node); /* "a value", "a list", "a mapping", "nothing" */

#endif
