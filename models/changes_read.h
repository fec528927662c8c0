/* changes_read.h - the list `changes:`: values that are set at times. Those of a design point are read when its chain,
 * backends and classes are known, in the order of their times, each beside what those before it have set: so whatever
 * can be wrong with a value, or with several together, is said before anything is run. */
#ifndef MODELS_CHANGES_READ_H
#define MODELS_CHANGES_READ_H

#include <string.h>

#include "models/alternative.h"
#include "models/tables.h"

/* Which point it is: the document with its values, its alternatives, and the label of its own. */
struct changes_of {
    const struct node *root;
    const struct alternative *alternatives;
    size_t count;
    const char *label;
};

/* Into the scenario; a change of an alternative that is not the point's is left out. False after an error; what was
 * said of another point already is not said again. */
bool changes_read(const struct reader *reader, const struct changes_of *of, struct scenario *scenario);

/* The document where alternatives go or have other labels: `changes` of what went are empty items, so that the others
 * keep their index; addresses follow the labels. `list` may be NULL. */
struct node *changes_selected(const struct reader *reader, struct node *list, const struct alternative *before,
                              size_t count, const struct alternative *kept, size_t kept_count);
struct node *changes_renamed(const struct reader *reader, struct node *list, const struct alternative *before,
                             const struct alternative *after, size_t count);
/* The labels, ended by NULL, of the alternatives that a change concerns; NULL: all. `address` is one of a value of
 * `changes`, such as changes.0.to. */
const char *const *changes_labels(const struct reader *reader, const struct node *root, const char *address);

/* --- the parts of changes_read, which share this ---------------------------------------------------------------- */

static inline bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

/* A change as it is written, and where. */
struct change_text {
    struct change_keys *keys;
    struct place places[CHANGE_KEYS];
    bool quoted; /* `to` */
};

struct changes_reader {
    const struct reader *reader;
    const struct changes_of *of;
    const struct scenario *scenario; /* as it is after the changes read so far, with the three that follow */
    struct backend *backends;
    struct agent_class *classes;
    const void **params;   /* of the members of its chain */
    const char **think;    /* think times of the classes as they were written; NULL: not in a change yet */
    struct change *change; /* the one being read, with its time and reason */
};

/* Behind "backends." and "agents.". False after an error. */
bool change_pool_read(struct changes_reader *changes, const struct change_text *text, const char *address);
bool change_class_read(struct changes_reader *changes, const struct change_text *text, const char *address);
/* An expression, or NULL after an error. */
const struct expr *change_expr(const struct changes_reader *changes, const struct change_text *text);
/* A key that is not there or not live; `live` are those that are. Always false. */
bool change_not_live(const struct changes_reader *changes, const struct change_text *text, const char *of,
                     const char *key, bool known, const char *const *live, size_t count);
const char *change_rate_text(double rate, struct arena *arena); /* "50/min" */
/* An address up to its first dot, which *rest is behind; NULL and a message where there is none. */
const char *change_name_of(const struct changes_reader *changes, const struct change_text *text, const char *address,
                           const char **rest);
/* Appends the live keys of a table, behind a prefix, to those that there are; CHANGE_LIVE_MOST is room for all. */
enum { CHANGE_LIVE_MOST = 32 };
const char *const *change_live_keys(struct arena *arena, const char *prefix, const struct option *table,
                                    const char **keys, size_t *count);
/* Whether one of an alternative's members is that of MEMBER.KEY. */
bool change_has_member(const struct reader *reader, const struct node *item, const char *address);

#endif
