/* SPDX-License-Identifier: MIT-0 */
/* option.h - the row of a parameter table: types only, no functions.
 *
 * One table declares each parameter once: its key, type, place in a struct, default, range and help. Parsing, units,
 * range checks, `--set`, `weir help` and the reference page all read the same row. Default, least and most are TEXT in
 * the syntax of a scenario ("8 s", "31%", "inf"), so they pass through the user's own parser.
 *
 * Installed beside policy.h, so it includes nothing of weir. A table ends with a row whose key is NULL. */
#ifndef WEIR_OPTION_H
#define WEIR_OPTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum option_type {
    OPTION_REAL,    /* double, a bare number */
    OPTION_COUNT,   /* int64_t, a whole number; k and M allowed; may carry its noun ("300 tokens"); inf = INT64_MAX */
    OPTION_TIME,    /* int64_t, nanoseconds; needs a unit; inf = INT64_MAX */
    OPTION_RATE,    /* double, a second; needs a unit: "39 tokens/s", "50/min"; inf allowed */
    OPTION_SHARE,   /* double in [0, 1]; "0.31" or "31%" or "31 %" */
    OPTION_FLAG,    /* bool; true or false */
    OPTION_CHOICE,  /* int, index into choices */
    OPTION_TEXT,    /* const char *, owned by the reader */
    OPTION_FILE,    /* const char *, a path, made relative to the file that names it */
    OPTION_DIST,    /* const struct expr * (sim/io/expr.h); what its numbers measure stands in `measures` */
    OPTION_COMMAND, /* const struct option_command *: a list of words, a program and what it is told */
};

struct option_command {
    const char *folder;       /* of the file that names it, as it was named; NULL: where weir was started */
    const char *const *words; /* ended by NULL; one at least */
};

struct option {
    const char *key;
    enum option_type type;
    size_t offset;              /* of the value in the struct that the table describes */
    const char *initial;        /* the default as text; NULL: required; "": may stay unset (NULL pointer, or zero) */
    const char *least, *most;   /* inclusive bounds as text; NULL: none */
    const char *const *choices; /* OPTION_CHOICE: NULL-terminated */
    const char *measures;       /* OPTION_DIST, OPTION_COUNT, OPTION_RATE: "time", "tokens", "turns", ... or NULL;
                                   OPTION_TEXT of a policy: "member", what a member of its chain is called, or NULL */
    bool live;                  /* may be set while a run goes on */
    const char *help;           /* one line, no final stop */
};

#endif
