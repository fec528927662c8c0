/* Calls that leave a gate by themselves: their client gives up or has waited long enough, or they go on to the next
 * backend of their class. */
#include "models/agent.h"
#include "models/attempt.h"
#include "models/copies.h"
#include "models/gate_private.h"
#include "models/host.h"
#include "models/lines.h"
#include "models/serve.h"

/* It has been held, or waited, for long enough here. Policies hear that it is gone; nobody else does. */
void gate_waited(void *world, struct event *event)
{
    struct call *call = container_of(event, struct call, spill);
    struct gate *gate = call->gate;
    struct policy_outcome outcome = host_unanswered(POLICY_ABANDONED, POLICY_NONE);
    bool waited = call->place == CALL_WAITING;

    (void)world;
    if (waited) {
        waiting_leave(gate, call);
        system_leave(gate, call);
        gate->counts.spilled_waiting++;
    } else {
        WORLD_ASSERT(gate->world, call->place == CALL_HELD);
        calendar_cancel(&gate->world->calendar, &call->next);
        held_leave(gate, call);
        gate->counts.spilled++;
    }
    lines_leave(gate, call);
    gate_attempt_over(gate, call, &outcome);
    if (waited) /* others may have waited for it to fit */
        gate_serve(gate);
    gate_spill(call);
}

/* The client leaves while a server works for it: the server goes on for nobody, in a record of its own. */
static struct call *call_leave_server(struct gate *gate, struct call *call)
{
    struct call *alive = call_take(gate->world);

    serve_abandon(call, alive);
    alive->place = CALL_NOWHERE;
    host_call_moved(alive);
    return alive;
}

/* Takes the call from where it is and ends its attempt. The client's call is nowhere then; it is another record where a
 * server goes on for nobody. */
static struct call *call_withdrawn(struct call *call, bool gives_up)
{
    struct gate *gate = call->gate;
    bool blocked = gate->waiting.length > 0;
    struct policy_outcome outcome;

    if (call->place == CALL_BACKING_OFF) { /* no attempt is under way */
        calendar_cancel(&gate->world->calendar, &call->next);
        call->place = CALL_NOWHERE;
        return call;
    }
    calendar_cancel(&gate->world->calendar, &call->timeout);
    if (call->place == CALL_HELD) {
        calendar_cancel(&gate->world->calendar, &call->next);
        held_leave(gate, call);
        gate->counts.withdrawn++;
    } else {
        if (call->place == CALL_WAITING) {
            waiting_leave(gate, call);
        } else {
            WORLD_ASSERT(gate->world, call->place == CALL_IN_SERVICE);
            call = call_leave_server(gate, call);
            gate->in_service--;
        }
        system_leave(gate, call);
        if (gives_up)
            gate->counts.abandoned++;
        else
            gate->counts.timeouts++;
    }
    lines_leave(gate, call);
    outcome = host_unanswered(gives_up ? POLICY_ABANDONED : POLICY_TIMEOUT, POLICY_NONE);
    gate_attempt_over(gate, call, &outcome);
    attempt_ended(gate, call, gives_up ? ATTEMPT_ABANDONED : ATTEMPT_TIMEOUT, NULL);
    if (blocked) /* by the context of this one, perhaps */
        gate_serve(gate);
    return call;
}

void gate_withdraw(struct call *call, uint32_t layer)
{
    agent_waited(call_withdrawn(call, agent_gives_up(call, layer)), layer);
}

struct call *gate_abandon(struct call *call)
{
    return call_withdrawn(call, true);
}

/* The client has waited long enough for this attempt. It tries again, or gives up if this was its last. */
void gate_times_out(void *world_pointer, struct event *event)
{
    (void)world_pointer;
    gate_withdraw(container_of(event, struct call, timeout), 0);
}
