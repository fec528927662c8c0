/* columns.h - columns of numbers out of CSV files, each read once for a whole plan however many design points draw from
 * it. Zeroed memory but for the arena is a valid empty collection. */
#ifndef MODELS_COLUMNS_H
#define MODELS_COLUMNS_H

#include <stdint.h>

#include "sim/engine/clock.h"
#include "sim/io/diag.h"

struct column {
    const char *path, *name;
    double unit;                  /* seconds in one of the file's numbers; 1 for counts */
    const double *values;         /* in order of the file, in base units */
    const double *sorted;         /* ascending; NULL until asked for */
    const sim_time *times;        /* since the first row; NULL until asked for */
    const sim_time *sorted_times; /* since the earliest, ascending; NULL until asked for */
    size_t count;
    uint64_t hash; /* of all values; 0 until asked for, see models/scenario_hash.h */
    struct column *next;
};

/* Rows that belong together: those that follow one another with the same text in a column. */
struct row_groups {
    const char *path, *name;
    const size_t *starts; /* group i has the rows starts[i] to starts[i + 1] - 1, the first data row being 0 */
    size_t count;
    struct row_groups *next;
};

struct replay;

struct columns {
    struct arena *arena;
    struct column *first;
    struct row_groups *groups;
    struct replay *replays; /* models/replay_read.c */
};

/* `file` is meant relative to the file that `asked` is in. NULL after an error. */
struct column *columns_get(struct columns *columns, const char *file, const char *name, double unit, struct place asked,
                           struct diag *diag);
const double *columns_sorted(struct columns *columns, struct column *column);
/* The column as moments since its first row; NULL after an error (a row that is earlier than the one before). */
const sim_time *columns_times(struct columns *columns, struct column *column, struct place asked, struct diag *diag);
/* The same of rows in any order: as moments since the earliest, ascending. */
const sim_time *columns_sorted_times(struct columns *columns, struct column *column);
/* NULL after an error. */
const struct row_groups *columns_groups(struct columns *columns, const char *file, const char *name, struct place asked,
                                        struct diag *diag);

#endif
