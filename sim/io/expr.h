/* expr.h - expressions in scenario values: `exponential(4.5 s)`, `mixture(0.7 lognormal(120 cv 0.45) | 0.3 ...)`.
 *
 * An expression is a number with its unit, a word, or a call with arguments. Arguments are separated by blanks (a comma
 * that arrives here is read as a blank), mixture components by `|`. An argument may be named: `cv 0.45`, `median 4 s`,
 * `most 1 h`, and stands as a word followed by its value. io knows no distribution: models builds one from the tree. */
#ifndef SIM_EXPR_H
#define SIM_EXPR_H

#include "sim/io/diag.h"
#include "sim/io/unit.h"

enum expr_kind { EXPR_NUMBER, EXPR_WORD, EXPR_CALL };

struct expr {
    enum expr_kind kind;
    struct place place;
    const char *text;     /* as written, this expression alone */
    struct number number; /* EXPR_NUMBER */
    const char *name;     /* EXPR_WORD: the word (a file name may stand in single quotes); EXPR_CALL: the function */
    const struct expr *arguments; /* EXPR_CALL */
    size_t count;
    size_t part; /* which `|`-separated part of its call this argument stands in, from 0 */
};

/* The whole text as one expression; NULL after an error. */
const struct expr *expr_parse(const char *text, struct place place, struct arena *arena, struct diag *diag);

/* The value list of a sweep: "8..24 step 2", "8..12" (step 1), both ends counted; units may stand behind each number.
 * A step that would pass over the last value is an error: who writes 8..24 means 24 to be there.
 * Returns the texts of the values, or NULL (no error) if the text is no range. */
const char **expr_range(const char *text, struct place place, size_t *count, struct arena *arena, struct diag *diag);

#endif
