/* row_log.h - a CSV of rows that trials write, in the order of design points and replications, and within a replication
 * of their writing, whatever the number of threads.
 *
 * While trials run, each writes to a spool: a file beside the target that has no name any more, so nothing of it stays,
 * however the program ends. There are as many as trials at one time; memory is constant. */
#ifndef CLI_ROW_LOG_H
#define CLI_ROW_LOG_H

#include "models/plan.h"
#include "sim/io/table.h"
#include "sim/study/experiment.h"

struct row_log;

/* Where the rows of a trial go. */
struct row_spool {
    FILE *file;                      /* NULL: there is an error */
    int error;                       /* of errno, the first one; whoever writes sets it */
    const char *keys;                /* and replication: the same in all rows of a trial */
    const struct scenario *scenario; /* its names need no quotes */
};

/* Of replication 1 of each design point, or of all. `what`: how messages call it, "log". The plan must outlive it. */
struct row_log *row_log_new(const struct plan *plan, const char *what, const char *path, bool all);
void row_log_free(struct row_log *log); /* NULL is fine */

/* A trial begins, on any thread; NULL: it is not written down. What was begun has to be ended. */
struct row_spool *row_log_begin(struct row_log *log, size_t point, unsigned replication);
/* `kept`: the trial came to its end. False if rows could not be written: `why` gets the reason. */
bool row_log_end(struct row_log *log, struct row_spool *spool, bool kept, char *why, size_t size);

/* The columns of such rows, with their meaning. */
typedef void row_log_columns_fn(const struct plan *plan, struct table *table);
/* Header and rows of what was finished. Errors of `out` are left to its owner; false: the spools could not be read. */
bool row_log_print(const struct row_log *log, row_log_columns_fn *columns, const struct results *results, FILE *out);

/* Seconds, exact, without zeros at the end. */
void row_log_time(sim_time time, FILE *out);

#endif
