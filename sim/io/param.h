/* param.h - reads a mapping of a scenario into a struct by its option table, and prints a struct back.
 *
 * Unknown keys name the nearest known one; every message says what was expected and the range allowed. */
#ifndef SIM_PARAM_H
#define SIM_PARAM_H

#include "sim/io/expr.h"
#include "sim/io/option.h"
#include "sim/io/yaml.h"

/* All defaults into a zeroed struct. A default that does not parse is our own mistake: abort. */
void param_defaults(const struct option *table, void *values, struct arena *arena);

/* Whether a table that others wrote can be read by: keys, types, bounds, defaults, and places in a struct of `size`
 * bytes. Each mistake is an error at `place` that begins with `what`. */
bool param_table_check(const struct option *table, const char *what, size_t size, struct place place,
                       struct diag *diag);
/* Whether a text is a value of the option, as param_set would have it; its bounds are known to be sound. */
bool param_value_check(const struct option *option, const char *what, const char *text, struct place place,
                       struct diag *diag);

/* One value from its text. False after an error. `what` names the owner in messages ("fixed_cap", "study"). */
bool param_set(const struct option *option, const char *what, void *values, const char *text, struct place place,
               struct arena *arena, struct diag *diag);

/* An OPTION_COMMAND from a list of words, to be run in the folder of the file that `place` names. False after an error.
 */
bool param_set_command(const struct option *option, const char *what, void *values, const struct node *node,
                       struct place place, struct arena *arena, struct diag *diag);

/* A number into a value that is live, with its range checked: what policy_host.set and a timeline call. Returns NULL or
 * what was expected. */
const char *param_set_number(const struct option *option, void *values, double number);
double param_get_number(const struct option *option, const void *values); /* times in seconds; NAN if it is no number */
/* The option's value, of any type, from one struct of its table to another; both have the same text then. */
void param_copy(const struct option *option, void *to, const void *from);

/* All keys of a mapping; keys listed in `others` (NULL-terminated, may be NULL) are somebody else's and passed over.
 * Keys that are required and missing are named at the mapping's place. `places`, if not NULL, has a row for each option
 * and gets where its value came from (file NULL: default); a row that is filled already counts as given, so presets go
 * first. False after an error. */
bool param_read(const struct option *table, const char *what, void *values, const struct node *map,
                const char *const *others, struct place *places, struct arena *arena, struct diag *diag);

/* The value as a scenario would write it; "": a pointer that is unset. */
const char *param_text(const struct option *option, const void *values, struct arena *arena);

/* The same for logs, where values of one key stand in a column: in one unit, that of the default (without one a rate is
 * by the minute, a time in seconds), without k and M, and with at most nine significant digits. */
const char *param_plain(const struct option *option, const void *values, struct arena *arena);

const struct option *param_find(const struct option *table, const char *key);
const char *param_type_text(const struct option *option, struct arena *arena); /* "time, from 1 ms to 1000 s" */
/* The same behind "expected": "a time from 1 ms to 1000 s". */
const char *param_expected(const struct option *option, struct arena *arena);
/* The bounds as text; NULL: none (without an upper one, inf is a value). Shares have 0 % and 100 % if nothing else. */
const char *param_least(const struct option *option);
const char *param_most(const struct option *option);

#endif
