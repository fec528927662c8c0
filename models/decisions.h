/* decisions.h - the columns of a log of decisions: those that the members of all design points declare, in order of
 * first appearance. Columns of one name, unit and kind (words or numbers) are one column; where these differ, or the
 * name is that of a key column, the later one is called POLICY.NAME. */
#ifndef MODELS_DECISIONS_H
#define MODELS_DECISIONS_H

#include "models/plan.h"

struct decision_column {
    const char *name;
    const struct policy_column *declared; /* where it appeared first */
    const struct policy_ops *by;
};

struct decision_columns {
    struct decision_column *list;
    size_t count, room;
};

struct decision_columns decision_columns_of(const struct plan *plan, struct arena *arena);
/* The place in the list of each of a policy's columns. */
size_t *decision_columns_places(const struct decision_columns *columns, const struct policy_ops *ops,
                                struct arena *arena);

#endif
