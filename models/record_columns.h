/* record_columns.h - the columns of a record: the gauges of all design points, in order of first appearance. Different
 * alternatives have different policies, so a design point may lack some. */
#ifndef MODELS_RECORD_COLUMNS_H
#define MODELS_RECORD_COLUMNS_H

#include "models/gauges.h"
#include "models/plan.h"

struct record_columns {
    struct gauge *list; /* of each the name, unit and help, where it appeared first */
    size_t *by_name;    /* places in the list */
    size_t count, room;
    const char *twice; /* a name that several gauges of one design point have, or a key column and a gauge; or NULL */
};

/* All of them. */
struct record_columns record_columns_all(const struct plan *plan, struct arena *arena);
/* Those that are wanted, in the same order. */
struct record_columns record_columns_some(const struct record_columns *all, const bool *wanted, struct arena *arena);

/* Of a scenario's gauges those that have a column, and the place of each. */
struct gauges record_columns_gauges(const struct record_columns *columns, const struct scenario *scenario,
                                    size_t **places, struct arena *arena);

/* Samples that a record has at the most: of all design points and their replications. */
double record_columns_rows(const struct plan *plan);

#endif
