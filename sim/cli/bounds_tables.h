/* bounds_tables.h - the tables of `weir bounds`: numbers by design point and class, and below them the meters of pools
 * and the retrial balance of populations past their knee. */
#ifndef CLI_BOUNDS_TABLES_H
#define CLI_BOUNDS_TABLES_H

#include "models/plan.h"
#include "models/pool_bounds.h"
#include "sim/io/table.h"

enum { BOUNDS_CLASS, BOUNDS_FACTORS }; /* the key columns */

/* Of each meter of a pool; CSV has columns for every meter, text a row a meter. */
#define BOUNDS_SHARE_HELP "share of that which all agents of the class need together"
#define BOUNDS_CARRIES_HELP \
    "agents that the meter carries, were no call refused; 0 where a turn of mean size is more than it ever lets in; " \
    "empty where it counts afterwards and forgets with its window, which binds nobody"

/* Their columns, with the key columns before them, and their rows and notes. */
void bounds_numbers(const struct plan *plan, struct table *table);
void bounds_meters(const struct plan *plan, struct table *table);
void bounds_balances(const struct plan *plan, struct table *table); /* without rows: nobody is kept out */

/* Is there a backend of slots, or a pool? */
bool bounds_have_cards(const struct plan *plan);
bool bounds_have_pools(const struct plan *plan);

/* The index-th column of each, its unit and meaning; NULL past the last. */
const char *bounds_numbers_column(size_t index, const char **unit, const char **help);
const char *bounds_beside_column(size_t index, const char **unit, const char **help);

/* For the tables themselves. */
typedef void bounds_row_fn(const struct plan *plan, size_t point, size_t klass, struct table *table);
void bounds_each_row(const struct plan *plan, bounds_row_fn *add, struct table *table);
void bounds_key_columns(const struct plan *plan, struct table *table);
size_t bounds_row(const struct plan *plan, size_t point, size_t klass, struct table *table); /* its keys are set */
void bounds_put(struct table *table, size_t row, size_t column, double value);               /* infinite: empty */
double bounds_given(const struct meter_bounds *meter); /* a minute, as limits are given */

#endif
