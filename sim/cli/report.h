/* report.h - from the results of a study to tables. */
#ifndef CLI_REPORT_H
#define CLI_REPORT_H

#include "models/trial.h"
#include "sim/cli/session.h"
#include "sim/io/table.h"

/* The table of a study: key columns (policy, class, tenant, backend, each factor, replications), then each metric and
 * its half-width. `columns`: which metrics text and Markdown show (NULL: the default ones; "all"; names with commas),
 * checked by report_columns. Points without a finished replication are left out; before the study ran that is all of
 * them. */
void report_table(const struct session *session, const char *columns, struct table *table);

/* The columns of keys, those that can only say "all" left out of texts; and a new row with its keys, whose index is
 * returned. */
void report_key_columns(const struct plan *plan, struct table *table);
size_t report_keys(const struct plan *plan, size_t point, struct trial_row row, unsigned replications,
                   struct table *table);

/* What texts call a factor: the last word of its address, if no other factor ends in the same. */
const char *report_factor(const struct plan *plan, size_t factor);

/* Whether a table of results shows a metric to people. */
bool report_shows(const struct table *table, size_t metric);
/* Whether a scenario of the plan has something. */
bool report_any_point(const struct plan *plan, bool (*has)(const struct scenario *));

/* What a reader needs in order not to be fooled, as lines below that table. */
void report_notes(const struct session *session, bool partial, struct table *table);

/* Paired differences to the alternative of that label, same keys, columns `d_NAME` and `d_NAME_hw`. Points without a
 * partner (the base itself, other factors) are left out. */
void report_differences(const struct session *session, const char *base, const char *columns, struct table *table);

/* False after a message on stderr. */
bool report_columns(const char *columns);
bool report_label(const struct session *session, const char *label);

#endif
