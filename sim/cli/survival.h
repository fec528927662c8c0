/* survival.h - the shares of calls that waited longer than so many seconds, P(W > w), of all replications of a design
 * point together, as a table: keys, wait_s, and the survival of wait and of total wait.
 *
 * Waits of 0 count. Each row is exact: its wait is the end of a cell of the histograms, of which each is 0.4 % wide.
 * Rows stand where one of the two curves has come a step further to the right and down, so there are at most
 * SURVIVAL_ROWS a design point, and a straight line between two of them is never off by more than the step. */
#ifndef CLI_SURVIVAL_H
#define CLI_SURVIVAL_H

#include "sim/cli/session.h"
#include "sim/cli/table_file.h"
#include "sim/io/table.h"

enum { SURVIVAL_ROWS = 400 };

/* Of a session that kept its sums. Points without a finished replication are left out. */
void survival_table(const struct session *session, struct table *table);
/* Is this such a table? */
bool survival_is(const struct table_file *file);

#endif
