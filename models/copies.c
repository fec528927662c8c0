/* Copies of policies: their making, their memory and their wake-ups. */
#include "models/copies.h"

#include <string.h>

#include "models/adapter.h"
#include "models/answer.h"
#include "models/callback.h"
#include "models/death.h"
#include "models/gate.h"
#include "models/host.h"
#include "models/lines.h"
#include "models/scenario_hash.h"
#include "models/services.h"

/* What `admitted` left of a call at a member. */
struct record {
    struct event expiry;
    struct member_state *member;
    bool expired;
};

/* In front of the members' parts in a call's memory. */
struct call_head {
    struct call *owner;
};

static size_t aligned(size_t size)
{
    return (size + _Alignof(max_align_t) - 1) / _Alignof(max_align_t) * _Alignof(max_align_t);
}

static size_t record_size(const struct member_state *member)
{
    return member->ops->admitted ? aligned(sizeof(struct record)) : 0;
}

/* The call's memory at the gate that it is at, or of a member of scope `all`. */
static unsigned char *states_of(const struct member_state *member, const struct call *call)
{
    const struct world *world = member->world;

    return call->states + (world->call_gates > 1 ? copy_gate(member, call->gate->index) * world->call_bytes : 0);
}

static struct record *record_of(const struct member_state *member, struct call *call)
{
    return (struct record *)(void *)(states_of(member, call) + member->call_offset);
}

/* --- making copies --------------------------------------------------------------------------------------------------
 */

static void copy_wakes(void *world_pointer, struct event *event)
{
    struct copy *copy = container_of(event, struct copy, tick);
    struct world *world = world_pointer;
    struct gate *gate = &world->gates[copy->gate];
    const struct policy_view *view = gate_view(gate);
    struct answer_fault fault;
    policy_time next;

    if (copy->member->stateful)
        bind_lines(gate, copy->member);
    callback_begins(copy->member, "tick", NULL);
    next = copy->member->ops->tick(&copy->policy, view);
    callback_ends();
    if (!answer_tick(view->now, next, &fault))
        world_wrong(world, copy->member, "tick", NULL, "%s", fault.text);
    else if (next != POLICY_NONE)
        calendar_schedule(&world->calendar, event, next);
}

static void copy_begin(struct world *world, struct copy *copy)
{
    const struct policy_ops *ops = copy->member->ops;

    if (ops->init) {
        callback_begins(copy->member, "init", NULL);
        ops->init(&copy->policy);
        callback_ends();
    }
    if (ops->tick) {
        copy->tick.fire = copy_wakes;
        calendar_schedule(&world->calendar, &copy->tick, world_now(world));
    }
}

/* Whose stream it is, by names: neither another member nor another class, tenant or backend changes its numbers. */
static struct stream_address copy_address(const struct member_state *member, uint32_t gate, size_t index)
{
    const struct scenario *scenario = member->world->scenario;
    struct stream_address address = {.purpose = PURPOSE_POLICY, .entity = scenario_hash_name(member->member->name)};

    if (member->member->scope != SCOPE_ALL)
        address.turn = scenario_hash_name(scenario->backends[gate].name);
    if (member->member->scope == SCOPE_CLASS)
        address.attempt = agent_entity(&scenario->classes[index % scenario->class_count], 0);
    else if (member->member->scope == SCOPE_TENANT)
        address.attempt = scenario_hash_name(scenario->tenants[index % scenario->tenant_count]);
    else if (member->member->scope == SCOPE_AGENT)
        address.attempt = agent_entity(&scenario->classes[index >> 32], (uint32_t)index);
    return address;
}

/* The copy is a new one: nothing is left of whom it served before. What it shares is everybody's and stays. */
static void copy_renew(struct world *world, struct copy *copy, size_t index)
{
    const struct policy_ops *ops = copy->member->ops;

    copy->index = index;
    copy->ended = false;
    if (copy->adapter)
        process_end(&copy->adapter->process);
    copy->adapter = NULL; /* the next one has a program of its own */
    if (ops->params_size)
        memcpy(copy->params, copy->member->params, ops->params_size);
    if (ops->vars_size)
        memset(copy->policy.vars, 0, ops->vars_size);
    if (ops->stats_size)
        memset(copy->policy.stats, 0, ops->stats_size);
    copy->stream = stream_open(world->key, copy_address(copy->member, copy->gate, index));
}

static struct copy *copy_new(struct world *world, struct member_state *member, uint32_t gate, size_t index)
{
    const struct policy_ops *ops = member->ops;
    struct copy *copy = arena_zeroed(&world->arena, 1, sizeof *copy);

    copy->member = member;
    copy->gate = gate;
    copy->params = ops->params_size ? arena_zeroed(&world->arena, 1, ops->params_size) : NULL;
    copy->policy.host = &services;
    copy->policy.params = copy->params;
    copy->policy.vars = ops->vars_size ? arena_zeroed(&world->arena, 1, ops->vars_size) : NULL;
    copy->policy.stats = ops->stats_size ? arena_zeroed(&world->arena, 1, ops->stats_size) : NULL;
    copy->policy.shared =
        ops->shared_size ? member->shared + copy_gate(member, gate) * aligned(ops->shared_size) : NULL;
    copy_renew(world, copy, index);
    return copy;
}

struct copy *copy_agent(struct member_state *member, struct gate *gate, const struct agent *agent)
{
    struct world *world = member->world;
    struct agent_copies *list = &member->by_agent[gate->index * world->scenario->class_count + agent->klass];
    size_t index = (size_t)agent->klass << 32 | agent->index;
    struct copy *copy;

    if (agent->slot >= list->room) {
        size_t room = list->room ? list->room * 2 : 16;
        struct copy **copies;

        while (room <= agent->slot)
            room *= 2;
        copies = arena_zeroed(&world->arena, room, sizeof(struct copy *));
        if (list->room)
            memcpy(copies, list->copies, list->room * sizeof(struct copy *));
        list->copies = copies;
        list->room = room;
    }
    copy = list->copies[agent->slot];
    if (copy && !copy->ended)
        return copy;
    if (copy)
        copy_renew(world, copy, index);
    else
        copy = list->copies[agent->slot] = copy_new(world, member, gate->index, index);
    copy->agent = agent;
    copy_begin(world, copy);
    return copy;
}

void copies_agent_leaves(struct world *world, const struct agent *agent)
{
    size_t classes = world->scenario->class_count;

    for (size_t i = 0; i < world->member_count; i++) {
        const struct member_state *member = &world->members[i];

        for (size_t gate = 0; member->by_agent && gate < world->scenario->backend_count; gate++) {
            const struct agent_copies *list = &member->by_agent[gate * classes + agent->klass];

            if (agent->slot >= list->room || !list->copies[agent->slot])
                continue;
            calendar_cancel(&world->calendar, &list->copies[agent->slot]->tick);
            list->copies[agent->slot]->ended = true;
        }
    }
}

static void member_copies(struct world *world, struct member_state *member)
{
    const struct scenario *scenario = world->scenario;
    size_t gates = scenario->backend_count, each = 1;

    switch (member->member->scope) {
    case SCOPE_AGENT:
        member->by_agent = arena_zeroed(&world->arena, gates * scenario->class_count, sizeof *member->by_agent);
        return;
    case SCOPE_ALL:
        gates = 1;
        break;
    case SCOPE_CLASS:
        each = scenario->class_count;
        break;
    case SCOPE_TENANT:
        each = scenario->tenant_count;
        break;
    case SCOPE_GATE:
        break;
    }
    member->copy_count = gates * each;
    member->copies = arena_zeroed(&world->arena, member->copy_count, sizeof(struct copy *));
    for (size_t i = 0; i < member->copy_count; i++) {
        uint32_t gate = (uint32_t)(i / each);

        if (member->member->scope == SCOPE_ALL && member->member->at >= 0)
            gate = (uint32_t)member->member->at;
        member->copies[i] = copy_new(world, member, gate, i);
    }
}

static bool has_callback(const struct policy_ops *ops)
{
    return ops->init || ops->changed || ops->refresh || ops->run_admit || ops->run_admitted || ops->run_refused ||
           ops->run_finish || ops->admit || ops->admitted || ops->refused || ops->start || ops->finish || ops->late ||
           ops->tick || ops->rank || ops->flow || ops->pick;
}

void copies_init(struct world *world)
{
    const struct scenario *scenario = world->scenario;
    bool stateful = false;

    world->call_gates = scenario_spills(scenario) ? scenario->backend_count : 1;
    world->call_bytes = aligned(sizeof(struct call_head));
    world->member_count = scenario->chain.count;
    world->members = arena_zeroed(&world->arena, world->member_count, sizeof *world->members);
    for (size_t i = 0; i < world->member_count; i++) {
        struct member_state *member = &world->members[i];
        const struct policy_ops *ops = scenario->chain.members[i].ops;

        member->member = &scenario->chain.members[i];
        member->ops = ops;
        member->index = i;
        member->world = world;
        member->params = arena_zeroed(&world->arena, 1, ops->params_size);
        if (ops->params_size)
            memcpy(member->params, member->member->params, ops->params_size);
        member->wanted = arena_zeroed(&world->arena, 1, ops->params_size);
        member->call_offset = world->call_bytes;
        world->call_bytes += record_size(member) + aligned(ops->call_size);
        member->agent_offset = world->agent_bytes;
        world->agent_bytes += aligned(ops->agent_size);
        member->run_offset = world->run_bytes;
        world->run_bytes += aligned(ops->run_size);
        stateful =
            stateful || ops->call_size || ops->run_size || ops->agent_size || ops->class_size || ops->tenant_size;
        member->class_states =
            arena_zeroed(&world->arena, scenario->backend_count * scenario->class_count, aligned(ops->class_size));
        member->tenant_states =
            arena_zeroed(&world->arena, scenario->backend_count * scenario->tenant_count, aligned(ops->tenant_size));
        member->shared = arena_zeroed(&world->arena, scenario->backend_count, aligned(ops->shared_size));
        world->looked_at = world->looked_at || has_callback(ops);
        member_copies(world, member);
    }
    for (size_t i = 0; i < world->member_count; i++)
        world->members[i].stateful = stateful;
    if (world->call_bytes == aligned(sizeof(struct call_head)))
        world->call_bytes = 0;
}

static void copy_begins(struct copy *copy, const void *none)
{
    (void)none;
    copy_begin(copy->member->world, copy);
}

void copies_begin(struct world *world)
{
    for (size_t i = 0; i < world->member_count; i++)
        copies_each(&world->members[i], copy_begins, NULL);
}

/* --- memory ---------------------------------------------------------------------------------------------------------
 */

static void *agent_part(struct gate *gate, struct member_state *member, struct agent *agent)
{
    if (!member->ops->agent_size || !agent)
        return NULL;
    return agent->states + copy_gate(member, gate->index) * gate->world->agent_bytes + member->agent_offset;
}

static void *run_part(struct gate *gate, struct member_state *member, struct agent *agent)
{
    const struct world *world = gate->world;

    if (!member->ops->run_size || !agent)
        return NULL;
    return agent->states + world->scenario->backend_count * world->agent_bytes +
           copy_gate(member, gate->index) * world->run_bytes + member->run_offset;
}

static void *class_part(struct gate *gate, struct member_state *member, uint32_t klass)
{
    size_t row = copy_gate(member, gate->index) * gate->world->scenario->class_count + klass;

    return member->ops->class_size ? member->class_states + row * aligned(member->ops->class_size) : NULL;
}

static void *tenant_part(struct gate *gate, struct member_state *member, uint32_t tenant)
{
    size_t row = copy_gate(member, gate->index) * gate->world->scenario->tenant_count + tenant;

    return member->ops->tenant_size ? member->tenant_states + row * aligned(member->ops->tenant_size) : NULL;
}

void bind_call(struct gate *gate, struct member_state *member, struct policy_call *facts)
{
    struct call *call = container_of(facts, struct call, facts);
    struct agent *of_run = call->agent, *of_agent = call->agent;

    if (call->former) {
        of_agent = death_agent(gate->world, call);
        of_run = death_run(gate->world, call);
    }
    facts->state = member->ops->call_size ? states_of(member, call) + member->call_offset + record_size(member) : NULL;
    facts->run_state = run_part(gate, member, of_run);
    facts->agent_state = agent_part(gate, member, of_agent);
    facts->class_state = class_part(gate, member, facts->klass);
    facts->tenant_state = tenant_part(gate, member, facts->tenant);
}

void bind_lines(struct gate *gate, struct member_state *member)
{
    const struct queue *lines[] = {&gate->held, &gate->waiting};

    for (size_t i = 0; i < 2; i++) {
        if (!lines[i]->head)
            continue;
        bind_call(gate, member, &container_of(lines[i]->head, struct call, line)->facts);
        bind_call(gate, member, &container_of(lines[i]->tail, struct call, line)->facts);
    }
}

void bind_run(struct gate *gate, struct member_state *member, struct agent *agent, struct policy_run *run)
{
    run->run_state = run_part(gate, member, agent);
    run->agent_state = agent_part(gate, member, agent);
    run->class_state = class_part(gate, member, run->klass);
    run->tenant_state = tenant_part(gate, member, run->tenant);
}

/* --- records --------------------------------------------------------------------------------------------------------
 */

void call_forgotten(struct world *world, struct call *call)
{
    for (size_t i = 0; i < world->member_count; i++)
        if (record_size(&world->members[i]) > 0 && event_pending(&record_of(&world->members[i], call)->expiry))
            return;
    if (call->served)
        call_give(world, call);
}

static void record_expires(void *world_pointer, struct event *event)
{
    struct record *record = container_of(event, struct record, expiry);
    struct member_state *member = record->member;
    unsigned char *states = (unsigned char *)record - member->call_offset;
    struct call *call = ((struct call_head *)(void *)states)->owner;
    struct gate *gate = call->gate;
    const struct policy_view *view = gate_view(gate);
    const struct policy_outcome outcome = host_unanswered(POLICY_EXPIRED, POLICY_NONE);
    struct copy *copy;

    record->expired = true;
    if (member->member->scope != SCOPE_AGENT || !call->former || death_left_agent(call)) {
        if (member->stateful) {
            bind_call(gate, member, &call->facts);
            bind_lines(gate, member);
        }
        copy = copy_of(member, gate, call->facts.klass, call->facts.tenant, call->former ? call->former : call->agent);
        callback_begins(member, "finish", &call->facts);
        member->ops->finish(&copy->policy, view, &call->facts, &outcome);
        callback_ends();
    }
    if (call->former)
        call_forgotten(world_pointer, call);
}

void record_keep(struct gate *gate, struct member_state *member, struct call *call, sim_time lifetime)
{
    struct record *record = record_of(member, call);

    record->member = member;
    record->expired = false;
    if (lifetime == 0 || lifetime > SIM_LONGEST || !member->ops->finish)
        return;
    record->expiry.fire = record_expires;
    calendar_schedule(&gate->world->calendar, &record->expiry, world_now(gate->world) + lifetime);
}

bool record_close(struct gate *gate, struct member_state *member, struct call *call)
{
    struct record *record;

    if (!member->ops->admitted)
        return true;
    record = record_of(member, call);
    calendar_cancel(&gate->world->calendar, &record->expiry);
    if (!record->expired)
        return true;
    record->expired = false;
    return false;
}

void host_call_begins_else(struct world *world, struct call *call)
{
    memset(call->states, 0, world->call_gates * world->call_bytes);
    host_call_moved(call);
}

void host_call_moved(struct call *call)
{
    const struct world *world = call->gate->world;

    for (size_t i = 0; call->states && i < world->call_gates; i++)
        ((struct call_head *)(void *)(call->states + i * world->call_bytes))->owner = call;
}

void host_run_begins(struct world *world, struct agent *agent)
{
    size_t gates = world->scenario->backend_count;

    if (world->run_bytes)
        memset(agent->states + gates * world->agent_bytes, 0, gates * world->run_bytes);
}
