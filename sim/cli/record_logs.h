/* record_logs.h - what a scenario's `record:` asks for beside samples: a row of CSV for each live value that is set
 * (`audit:`), and one for each row that a policy writes (`decisions:`), as they happen. */
#ifndef CLI_RECORD_LOGS_H
#define CLI_RECORD_LOGS_H

#include "models/decisions.h"
#include "models/trial.h"
#include "sim/cli/row_log.h"

/* Of the trial's `set`. */
void audit_row(struct row_spool *spool, const struct set_record *record);
void audit_columns(const struct plan *plan, struct table *table);

/* Of the trial's `alerted`. */
void alert_row(struct row_spool *spool, const struct alert_record *record);
void alert_columns(const struct plan *plan, struct table *table);

/* Of the trial's `decided`: the rows of one trial, and where each member's columns stand in them. */
struct decision_rows {
    struct row_spool *spool; /* NULL: they are not written down */
    struct arena arena;
    const struct decision_columns *columns;
    size_t **places;    /* [member][its column] */
    const char **cells; /* a row's texts; NULL: empty */
    char (*digits)[40];
};

void decision_rows_begin(struct decision_rows *rows, const struct plan *plan, struct row_spool *spool);
void decision_row(struct decision_rows *rows, const struct decision *decision);
void decision_rows_end(struct decision_rows *rows);
void decision_columns(const struct plan *plan, struct table *table);

#endif
