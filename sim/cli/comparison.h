/* comparison.h - two versions of rows beside each other, judged and told: what `weir regress` and `weir diff` share.
 *
 * Rows are gathered, each with the values that are asked for; all values are judged together; what moved is told. */
#ifndef CLI_COMPARISON_H
#define CLI_COMPARISON_H

#include "sim/io/diag.h"
#include "sim/io/table.h"
#include "sim/study/judge.h"

struct compared_value {
    size_t metric;
    struct estimate base, head;
};

struct compared_row {
    const char *keys;    /* in words: "codel, population 24" */
    const char *policy;  /* its label */
    struct place place;  /* of the policy's entry in the scenario, or nowhere */
    size_t file, point;  /* indices of the caller's */
    size_t first, count; /* of its values */
    enum judged verdict;
};

struct comparison {
    struct arena arena; /* zeroed memory is a valid empty comparison */
    struct compared_row *rows;
    size_t row_count, row_room;
    struct compared_value *values;
    struct judge_value *judged; /* one a value */
    size_t value_count, value_room;
    unsigned looks;
};

#define COMPARISON_LEVEL 0.01 /* of false alarms of a whole run */

/* A row, without values yet; texts are copied. Its index. */
size_t comparison_row(struct comparison *comparison, const char *keys, const char *policy, struct place place,
                      size_t file);
/* A value of the last row; its index. Its shift is set by the caller before it is judged. */
size_t comparison_value(struct comparison *comparison, size_t metric, double relative, double absolute,
                        struct estimate base, struct estimate head);
/* Without rows, to be gathered anew. */
void comparison_clear(struct comparison *comparison);
/* All values and rows. looks 0 counts as 1. */
void comparison_judge(struct comparison *comparison);
void comparison_fini(struct comparison *comparison);

size_t comparison_rows(const struct comparison *comparison, enum judged verdict);
size_t comparison_values(const struct comparison *comparison, enum judged verdict);

/* Does it show? Other digits that mean the same, and what is undecided, only where that fails. */
bool comparison_moved(const struct compared_row *row, bool exact, bool strict);
/* The values of a row that moved as rows of a table whose columns are there; and those columns. */
void comparison_columns(struct table *table);
void comparison_print_row(const struct comparison *comparison, size_t row, struct table *table);
/* What the verdict means, a sentence. "": nothing happened. */
const char *comparison_meaning(const struct comparison *comparison, size_t row, struct arena *arena);
/* How rarely chance alone makes a value worse, a sentence; and "30 same, 0 within, ..." of rows. */
const char *comparison_level(const struct comparison *comparison, struct arena *arena);
const char *comparison_tally(const struct comparison *comparison, struct arena *arena);

#endif
