/* Where agents come from: populations that are there from the start, and runs that arrive. */
#include <stdlib.h>
#include <string.h>

#include "models/agent.h"

static size_t agent_memory(const struct world *world)
{
    return world->scenario->backend_count * (world->agent_bytes + world->run_bytes);
}

/* It may be too late for its first run: the population is smaller now, or others have taken the last one. */
static void agent_first(void *world_pointer, struct event *event)
{
    struct world *world = world_pointer;
    struct agent *agent = container_of(event, struct agent, think);

    if (agent_belongs(world, agent) && world->classes[agent->klass].begun < agent_spec(world, agent)->runs)
        agent_run_asks(world, agent);
    else
        agent_leaves(world, agent);
}

static void agent_known(struct world *world, struct agent *agent)
{
    agent->next_of_all = world->agents;
    world->agents = agent;
}

static struct agent *agent_arrives(struct world *world, struct class_state *klass)
{
    struct agent *agent = klass->free;
    unsigned char *states;

    if (agent) {
        klass->free = agent->free_next;
    } else {
        agent = arena_zeroed(&world->arena, 1, sizeof *agent);
        agent->states = arena_zeroed(&world->arena, 1, agent_memory(world));
        agent->slot = klass->slots++;
        agent_known(world, agent);
    }
    states = agent->states;
    if (states)
        memset(states, 0, agent_memory(world));
    if (agent->cards)
        memset(agent->cards, 0, world->scenario->backend_count * sizeof *agent->cards);
    *agent = (struct agent){.states = states,
                            .request = agent->request,
                            .fan = agent->fan,
                            .due_timer = agent->due_timer,
                            .cards = agent->cards,
                            .sent = agent->sent,
                            .next_of_all = agent->next_of_all,
                            .slot = agent->slot,
                            .life = agent->life,
                            .klass = klass->index,
                            .index = (uint32_t)klass->arrived++};
    world->agents_alive++;
    return agent;
}

/* Numbers of an arrival, or of a trigger: branch 0 is the gap before it, the others are its runs'. */
static struct stream arrival_stream(const struct world *world, const struct agent_class *spec, uint64_t number,
                                    uint64_t branch)
{
    return stream_open(world->key, (struct stream_address){.purpose = PURPOSE_ARRIVAL,
                                                           .entity = agent_entity(spec, 0),
                                                           .turn = number,
                                                           .attempt = branch});
}

/* --- runs that one event starts --------------------------------------------------------------------------------------
 */

static int latest_first(const void *one, const void *other)
{
    sim_time a = *(const sim_time *)one, b = *(const sim_time *)other;

    return (a < b) - (a > b);
}

static void pending_room(struct world *world, struct class_state *klass, uint64_t count)
{
    sim_time *pending;

    if (count <= klass->pending_room)
        return;
    pending = arena_zeroed(&world->arena, 2 * count, sizeof *pending);
    if (klass->pending_count > 0)
        memcpy(pending, klass->pending, klass->pending_count * sizeof *pending);
    klass->pending = pending;
    klass->pending_room = 2 * count;
}

static void trigger_next(struct world *world, struct class_state *klass, sim_time now)
{
    const struct agent_class *spec = klass->spec;
    struct stream stream = arrival_stream(world, spec, klass->triggers, 0);

    if (klass->arrived + klass->pending_count >= spec->runs)
        return;
    if (spec->pattern->even)
        now = spec->start + sim_from_seconds((double)klass->triggers / spec->arrival_rate);
    else
        now += sim_from_seconds(stream_exponential(&stream) / spec->arrival_rate);
    calendar_schedule(&world->calendar, &klass->trigger, now);
}

static void pending_next(struct world *world, struct class_state *klass)
{
    calendar_cancel(&world->calendar, &klass->arrival);
    if (klass->pending_count > 0)
        calendar_schedule(&world->calendar, &klass->arrival, klass->pending[klass->pending_count - 1]);
}

static void triggered(void *world_pointer, struct event *event)
{
    struct world *world = world_pointer;
    struct class_state *klass = container_of(event, struct class_state, trigger);
    const struct agent_class *spec = klass->spec;
    uint64_t left = spec->runs - klass->arrived - klass->pending_count;
    uint64_t count = spec->pattern->batch < left ? spec->pattern->batch : left;

    pending_room(world, klass, klass->pending_count + count);
    for (uint64_t i = 1; i <= count; i++) {
        struct stream stream = arrival_stream(world, spec, klass->triggers, i);
        double part = stream_uniform(&stream);

        klass->pending[klass->pending_count++] =
            world_now(world) + sim_from_seconds(part * sim_seconds(spec->pattern->within));
    }
    qsort(klass->pending, klass->pending_count, sizeof *klass->pending, latest_first);
    klass->triggers++;
    trigger_next(world, klass, world_now(world));
    pending_next(world, klass);
}

/* --- runs that arrive ------------------------------------------------------------------------------------------------
 */

static void arrival_next(struct world *world, struct class_state *klass, sim_time now)
{
    const struct agent_class *spec = klass->spec;
    const struct study *study = &world->scenario->study;
    sim_time at;

    if (klass->arrived >= spec->runs)
        return;
    if (spec->source == SOURCE_BATCH) {
        pending_next(world, klass);
        return;
    }
    if (spec->source == SOURCE_POISSON) {
        struct stream stream = arrival_stream(world, spec, klass->arrived, 0);

        at = now + sim_from_seconds(stream_exponential(&stream) / spec->arrival_rate);
    } else if (spec->source == SOURCE_PROFILE) {
        struct stream stream = arrival_stream(world, spec, klass->arrived, 0);

        at = arrivals_profile_next(spec, now, stream_exponential(&stream),
                                   study->until_done ? study->most : study->horizon);
        if (at == SIM_NEVER)
            return;
    } else if (spec->source == SOURCE_EVEN) { /* counted from the first, so that no rounding adds up */
        at = spec->start + sim_from_seconds((double)klass->arrived / spec->arrival_rate);
    } else {
        at = spec->start + spec->arrivals[klass->arrived];
    }
    calendar_schedule(&world->calendar, &klass->arrival, at);
}

static void arrival(void *world_pointer, struct event *event)
{
    struct world *world = world_pointer;
    struct class_state *klass = container_of(event, struct class_state, arrival);
    struct agent *agent = agent_arrives(world, klass);

    if (klass->pending_count > 0)
        klass->pending_count--;
    arrival_next(world, klass, world_now(world));
    agent_run_asks(world, agent);
}

/* --- populations -------------------------------------------------------------------------------------------------- */

static uint64_t lesser(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static void agent_begins(struct world *world, struct agent *agent)
{
    sim_time start = world->classes[agent->klass].spec->start, now = world_now(world);

    world->agents_alive++;
    agent_is(world, agent, AGENT_THINKING);
    agent->think.fire = agent_first;
    calendar_schedule(&world->calendar, &agent->think, start > now ? start : now);
}

/* The first `count` agents; those that there are already are left alone. More than there are runs would never do
 * anything. */
static void population_init(struct world *world, struct class_state *klass, uint64_t count)
{
    uint64_t first = klass->slots;
    size_t memory = agent_memory(world);
    unsigned char *states;
    struct agent *agents;

    count = lesser(count, klass->spec->runs);
    if (count <= first)
        return;
    states = arena_zeroed(&world->arena, count - first, memory);
    agents = arena_zeroed(&world->arena, count - first, sizeof *agents);
    klass->slots = (uint32_t)count;
    for (uint64_t i = first; i < count; i++) {
        struct agent *agent = &agents[i - first];

        agent_known(world, agent);
        agent->klass = klass->index;
        agent->index = agent->slot = (uint32_t)i;
        agent->states = states ? states + (i - first) * memory : NULL;
        agent_begins(world, agent);
    }
}

/* One that had left begins its next run, and policies know nothing of it from before. */
static void agent_returns(struct world *world, struct agent *agent)
{
    if (agent->states)
        memset(agent->states, 0, agent_memory(world));
    agent->run++;
    agent_begins(world, agent);
}

void class_population(struct world *world, struct class_state *klass, uint64_t population)
{
    uint64_t before = klass->spec->population, known = lesser(klass->slots, population);
    struct agent **left;

    klass->now.population = population;
    if (before < known) {
        left = arena_zeroed(&world->arena, known - before, sizeof(struct agent *));
        for (struct agent *agent = world->agents; agent; agent = agent->next_of_all)
            if (agent->klass == klass->index && agent->index >= before && agent->index < known &&
                agent->place == AGENT_IDLE)
                left[agent->index - before] = agent;
        for (uint64_t i = 0; i < known - before; i++) /* in the order of their numbers */
            if (left[i])
                agent_returns(world, left[i]);
    }
    population_init(world, klass, population);
}

void class_arrivals(struct world *world, struct class_state *klass, double rate)
{
    double before = klass->spec->arrival_rate;
    sim_time now = world_now(world), from = klass->spec->start > now ? klass->spec->start : now, rest;

    klass->now.arrival_rate = rate;
    if (rate == before || !event_pending(&klass->arrival))
        return;
    rest = klass->arrival.at - from;
    calendar_cancel(&world->calendar, &klass->arrival);
    calendar_schedule(&world->calendar, &klass->arrival, from + sim_from_seconds(sim_seconds(rest) * before / rate));
}

void agents_init(struct world *world)
{
    const struct scenario *scenario = world->scenario;

    world->classes = arena_zeroed(&world->arena, scenario->class_count, sizeof *world->classes);
    for (size_t i = 0; i < scenario->class_count; i++) {
        struct class_state *klass = &world->classes[i];

        klass->now = scenario->classes[i];
        klass->spec = &klass->now;
        klass->index = (uint32_t)i;
        klass->measure = &world->gates[klass->spec->backend].measures[i];
        klass->arrival.fire = arrival;
        klass->trigger.fire = triggered;
        if (klass->spec->runs != UINT64_MAX)
            world->runs_open += klass->spec->runs;
        if (class_stays(klass->spec))
            population_init(world, klass, klass->spec->population);
        else if (klass->spec->source == SOURCE_BATCH)
            trigger_next(world, klass, klass->spec->start);
        else
            arrival_next(world, klass, klass->spec->start);
    }
}
