/* lines.h - the lines of a gate: the held, the waiting, and both together by the time of their attempt, whose head is
 * the oldest call. Counts by class and tenant, tokens and integrals over time are kept in step. Private to models/. */
#ifndef MODELS_LINES_H
#define MODELS_LINES_H

#include "models/world.h"

void held_join(struct gate *gate, struct call *call);
void held_leave(struct gate *gate, struct call *call); /* it keeps its age: see lines_leave */
void waiting_join(struct gate *gate, struct call *call);
void waiting_leave(struct gate *gate, struct call *call);
/* A call that was held or waited is neither any more; nothing happens if it was not. */
void lines_leave_else(struct gate *gate, struct call *call);
static inline void lines_leave(struct gate *gate, struct call *call)
{
    if (queue_holds(&call->age))
        lines_leave_else(gate, call);
}

/* The held or waiting call whose attempt is the oldest, or NULL. */
static inline const struct call *gate_oldest(const struct gate *gate)
{
    if (gate->in_order)
        return gate->waiting.head ? container_of(gate->waiting.head, struct call, line) : NULL;
    return gate->ages.head ? container_of(gate->ages.head, struct call, age) : NULL;
}

/* An admission has ended: the call is in the system no more. */
void system_leave(struct gate *gate, const struct call *call);

/* Totals of nothing, in the world's memory, and the view of them. */
struct policy_line totals_init(struct world *world, struct line_totals *totals);

/* The age of the oldest call is booked up to now. */
void gate_book_age(struct gate *gate);
const struct policy_view *gate_view(struct gate *gate); /* the gate's own, brought up to date */

#endif
