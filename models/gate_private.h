/* gate_private.h - what the two halves of the gate share: gate.c, an attempt's way from its making to its answer, and
 * gate_leave.c, the ways out before that. Private to the gate. */
#ifndef MODELS_GATE_PRIVATE_H
#define MODELS_GATE_PRIVATE_H

#include "models/gate.h"

/* The attempt is over and its call has left its place. Policies hear of it and may take it back to the held line: false
 * then. */
bool gate_attempt_over(struct gate *gate, struct call *call, const struct policy_outcome *outcome);
/* The same attempt, of a call that is nowhere, made at the gate of its class's next backend. */
void gate_spill(struct call *call);

/* Events of a call: it has been held, or waited, for long enough here; its client has waited long enough for it. */
void gate_waited(void *world, struct event *event);
void gate_times_out(void *world, struct event *event);

#endif
