/* call_log.h - a row of CSV for each attempt (`weir run --log`), within a replication in the order of their ends. */
#ifndef CLI_CALL_LOG_H
#define CLI_CALL_LOG_H

#include "models/plan.h"
#include "models/trial.h"
#include "sim/io/table.h"

/* The trial's `attempted`; the context is the spool of a row_log. */
void call_log_row(void *spool, const struct attempt_record *record);

/* The columns, with their meaning; no rows. */
void call_log_columns(const struct plan *plan, struct table *table);

#endif
