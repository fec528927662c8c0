/* topics_columns.h - what `weir help` knows of the columns of records and logs. */
#ifndef CLI_TOPICS_COLUMNS_H
#define CLI_TOPICS_COLUMNS_H

#include <stdbool.h>

#include "policies/policy.h"
#include "sim/io/mem.h"

/* Explains a column of --log, of a record (planner.ceiling and ceiling are the same), a log of decisions, an audit or a
 * log of alerts, on stdout. False: there is none. */
bool topics_columns_explain(const char *word, const struct policy_ops *const *policies);

/* Appends their names, but for those of policies, up to `most` of them; returns how many there are then. */
size_t topics_columns_names(const char **names, size_t count, size_t most, struct arena *arena);

#endif
