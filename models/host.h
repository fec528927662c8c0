/* host.h - the host's side of policies: calling the members of a chain in its order. Private to models/. Answers are
 * checked before anybody acts on them. */
#ifndef MODELS_HOST_H
#define MODELS_HOST_H

#include <math.h>

#include "models/world.h"

/* Which members stand at this gate, by callback; after copies_init. */
void host_hooks(struct world *world, struct gate *gate, uint32_t index);

/* What the members of a hook answer; for hooks that have members. */
struct policy_answer host_members_admit(struct gate *gate, struct call *call);
void host_members_admitted(struct gate *gate, struct call *call);
struct policy_answer host_members_start(struct gate *gate, struct call *call);
policy_time host_members_finish(struct gate *gate, struct call *call, const struct policy_outcome *outcome);
int64_t host_member_rank(struct gate *gate, struct call *call, bool held);

/* Asks every member; the first that does not admit wins and the others hear of it. ADMIT or DISPLACE if all admit. */
static inline struct policy_answer host_admit(struct gate *gate, struct call *call)
{
    return gate->hooks.admit.count > 0 && !call->bypasses ? host_members_admit(gate, call) : policy_admit();
}

static inline void host_admitted(struct gate *gate, struct call *call)
{
    if (gate->hooks.admitted.count > 0 && !call->bypasses)
        host_members_admitted(gate, call);
}

static inline struct policy_answer host_start(struct gate *gate, struct call *call)
{
    return gate->hooks.start.count > 0 && !call->bypasses ? host_members_start(gate, call) : policy_admit();
}

/* The outcome of an attempt that brought no answer. */
static inline struct policy_outcome host_unanswered(enum policy_end end, policy_time retry_after)
{
    return (struct policy_outcome){end, retry_after, NAN, NAN, NAN};
}

/* Tells every member; returns the wait of the first that takes the call back, or POLICY_NONE. */
static inline policy_time host_finish(struct gate *gate, struct call *call, const struct policy_outcome *outcome)
{
    return gate->hooks.finish.count > 0 && !call->bypasses ? host_members_finish(gate, call, outcome) : POLICY_NONE;
}

static inline int64_t host_rank(struct gate *gate, struct call *call, bool held)
{
    return gate->hooks.rank ? host_member_rank(gate, call, held) : 0;
}

uint32_t host_flow(struct gate *gate, struct call *call);
uint32_t host_pick(struct gate *gate, bool *newest);
/* As host_admit, at the door. */
struct policy_answer host_run_admit(struct gate *gate, struct agent *agent, struct policy_run *run);
/* Every member admitted the run, which is held no more. */
void host_run_admitted(struct gate *gate, struct agent *agent, struct policy_run *run);
/* It was held, and is no more. */
void host_run_withdrawn(struct gate *gate, struct agent *agent, struct policy_run *run);
/* `first`: at the gate where it asked; a copy that serves several gates hears of it there alone. */
void host_run_finish(struct gate *gate, struct agent *agent, struct policy_run *run, bool done, bool first);

/* The call's memory begins anew (a new call); records that `admitted` left are forgotten. */
void host_call_begins_else(struct world *world, struct call *call);
static inline void host_call_begins(struct world *world, struct call *call)
{
    if (call->states)
        host_call_begins_else(world, call);
}
void host_call_moved(struct call *call); /* the same call at another address */
void host_run_begins(struct world *world, struct agent *agent);

#endif
