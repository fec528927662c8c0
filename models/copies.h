/* copies.h - copies of policies and their memory: which copy serves a call, and where its state lies. Private to
 * models/.
 *
 * Memory: one block for all copies of a member, and one for each class and tenant (of each gate), and a block in each
 * agent and call that holds the parts of all members side by side. A member of scope `all` uses the parts of gate 0
 * everywhere. */
#ifndef MODELS_COPIES_H
#define MODELS_COPIES_H

#include "models/world.h"

void copies_init(struct world *world);
void copies_begin(struct world *world);

struct copy *copy_agent(struct member_state *member, struct gate *gate, const struct agent *agent);
/* The agent's copies end; the next agent in its slot begins them anew. */
void copies_agent_leaves(struct world *world, const struct agent *agent);

static inline size_t copy_gate(const struct member_state *member, uint32_t gate)
{
    return member->member->scope == SCOPE_ALL ? 0 : gate;
}

/* The copy that serves an agent at a gate. */
static inline struct copy *copy_of(struct member_state *member, struct gate *gate, uint32_t klass, uint32_t tenant,
                                   const struct agent *agent)
{
    const struct scenario *scenario = gate->world->scenario;

    switch (member->member->scope) {
    case SCOPE_ALL:
        return member->copies[0];
    case SCOPE_GATE:
        return member->copies[gate->index];
    case SCOPE_CLASS:
        return member->copies[gate->index * scenario->class_count + klass];
    case SCOPE_TENANT:
        return member->copies[gate->index * scenario->tenant_count + tenant];
    case SCOPE_AGENT:
        break;
    }
    return copy_agent(member, gate, agent);
}

/* All copies that have begun and not ended, by gate, then class, tenant, or class and place of the agent. */
typedef void copy_fn(struct copy *copy, const void *context);
void copies_each(struct member_state *member, copy_fn *visit, const void *context);
struct copy_name copy_named(const struct copy *copy);

/* Points the call's (run's) state at this member's part. */
void bind_call(struct gate *gate, struct member_state *member, struct policy_call *facts);
void bind_lines(struct gate *gate, struct member_state *member); /* of the heads and tails that a view shows */
void bind_run(struct gate *gate, struct member_state *member, struct agent *agent, struct policy_run *run);

/* Of a call whose client died (models/death.h): given back once neither its backend nor a record of it is at work any
 * more. */
void call_forgotten(struct world *world, struct call *call);

/* What `admitted` left: it expires after `lifetime` (0: never) unless `finish` comes first. */
void record_keep(struct gate *gate, struct member_state *member, struct call *call, sim_time lifetime);
/* `finish` is due: false if the member's record had expired, so it has heard already. */
bool record_close(struct gate *gate, struct member_state *member, struct call *call);

#endif
