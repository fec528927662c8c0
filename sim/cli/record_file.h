/* record_file.h - what a scenario's `record:` asks for, as a CSV: a row a sample, in the order of design points,
 * replications and time, whatever the number of threads.
 *
 * The numbers of a trial are kept in memory until the study is over; the reader of `record:` bounds how many there are.
 */
#ifndef CLI_RECORD_FILE_H
#define CLI_RECORD_FILE_H

#include "models/plan.h"
#include "models/trial.h"
#include "sim/io/table.h"
#include "sim/study/experiment.h"

struct record_file;
struct record_rows;

/* NULL: the plan has no record. The plan must outlive it. */
struct record_file *record_file_new(const struct plan *plan);
void record_file_free(struct record_file *file); /* NULL is fine */

/* A trial begins, on any thread; NULL: it is not recorded. What was begun has to be ended. */
struct record_rows *record_file_begin(const struct record_file *file, size_t point, unsigned replication);
const struct gauges *record_rows_gauges(const struct record_rows *rows);
/* The trial's `recorded`; the context is the rows. */
void record_rows_add(void *rows, sim_time at, const double *values);
/* `kept`: the trial came to its end. */
void record_file_end(struct record_file *file, struct record_rows *rows, bool kept);

/* The columns, with their meaning; no rows. */
void record_file_columns(const struct plan *plan, struct table *table);
/* Header and rows of what was finished. Errors of `out` are left to its owner. */
void record_file_print(const struct record_file *file, const struct results *results, FILE *out);

#endif
