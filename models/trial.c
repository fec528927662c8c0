/* One replication: builds the world, runs it to the warm-up and to the end, audits it at both, reports. */
#include "models/trial.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "models/agent.h"
#include "models/attempt.h"
#include "models/audit.h"
#include "models/cards.h"
#include "models/changes.h"
#include "models/copies.h"
#include "models/door.h"
#include "models/fan_out.h"
#include "models/foresight.h"
#include "models/gate.h"
#include "models/host.h"
#include "models/recorder.h"
#include "models/services.h"

/* The stop flag is looked at once in so many events. */
#define EVENTS_A_LOOK 4096

static size_t row_group(size_t count)
{
    return count >= 2 ? count : 0;
}

size_t trial_row_count(const struct scenario *scenario)
{
    return 1 + row_group(scenario->class_count) + row_group(scenario->tenant_count) +
           row_group(scenario->backend_count);
}

struct trial_row trial_row_at(const struct scenario *scenario, size_t row)
{
    const size_t counts[] = {row_group(scenario->class_count), row_group(scenario->tenant_count),
                             row_group(scenario->backend_count)};

    if (row == 0)
        return (struct trial_row){ROW_ALL, 0};
    row--;
    for (size_t i = 0; i < 3; i++) {
        if (row < counts[i])
            return (struct trial_row){(enum row_scope)(ROW_CLASS + i), row};
        row -= counts[i];
    }
    return (struct trial_row){ROW_ALL, 0};
}

static void measures_clear(struct gate *gate, size_t klass)
{
    measure_clear(&gate->measures[klass]);
    if (gate->parts)
        measure_clear(&gate->parts[klass]);
}

static void measures_fini(struct gate *gate, size_t klass)
{
    measure_fini(&gate->measures[klass]);
    if (gate->parts)
        measure_fini(&gate->parts[klass]);
}

static void world_init(struct world *world, const struct scenario *scenario, uint32_t replication,
                       const struct trial_watch *watch)
{
    world->scenario = scenario;
    world->watch = watch;
    world->present = watch ? watch->present : NULL;
    world->key = (struct stream_key){(uint64_t)scenario->study.seed, replication};
    calendar_init(&world->calendar, (uint64_t)scenario->study.seed, replication);
    sim_record.where = &world->calendar.where;
    changes_begin(world);
    for (size_t i = 0; i < scenario->backend_count; i++)
        if (scenario->backends[i].provider &&
            provider_ticket_size(scenario->backends[i].provider) > world->ticket_bytes)
            world->ticket_bytes = provider_ticket_size(scenario->backends[i].provider);
    door_init(world);
    copies_init(world);
    world->gates = arena_zeroed(&world->arena, scenario->backend_count, sizeof *world->gates);
    for (size_t i = 0; i < scenario->backend_count; i++) {
        world->gates[i].measures = arena_zeroed(&world->arena, scenario->class_count, sizeof(struct measure));
        if (scenario_fans_out(scenario))
            world->gates[i].parts = arena_zeroed(&world->arena, scenario->class_count, sizeof(struct measure));
        host_hooks(world, &world->gates[i], (uint32_t)i);
        gate_init(&world->gates[i], world, (uint32_t)i);
    }
    copies_begin(world);
    agents_init(world);
    recorder_begin(world);
}

static void world_fini(struct world *world)
{
    for (size_t i = 0; i < world->scenario->backend_count; i++) {
        for (size_t k = 0; k < world->scenario->class_count; k++)
            measures_fini(&world->gates[i], k);
        gate_fini(&world->gates[i]);
    }
    sim_record.where = NULL;
    calendar_fini(&world->calendar);
    arena_free(&world->arena);
}

/* Whose event this is; NULL: of no agent that is alive. */
static const struct agent *agent_of(const struct world *world, const struct event *event)
{
    for (size_t i = 0; i < world->scenario->backend_count; i++)
        if (event == &world->gates[i].station.next)
            return container_of(world->gates[i].station.heap[0], struct call, job)->agent;
    for (size_t i = 0; i < world->scenario->backend_count; i++) {
        struct station_job *job = world->gates[i].cards ? cards_job(&world->gates[i], event) : NULL;

        if (job)
            return container_of(job, struct call, job)->agent;
    }
    for (const struct agent *agent = world->agents; agent; agent = agent->next_of_all)
        if (event == &agent->think || door_owns(agent, event))
            return agent;
    for (const struct call *call = world->calls; call; call = call->next_of_all)
        if (call->agent &&
            (event == &call->next || event == &call->timeout || event == &call->spill || event == &call->job.end))
            return call->agent;
    return NULL;
}

static void loop_without_progress(struct world *world, const struct event *event)
{
    const struct scenario *scenario = world->scenario;
    const struct agent *agent = agent_of(world, event);
    char whose[128] = "";

    if (agent)
        snprintf(whose, sizeof whose, ", class `%.64s`, agent %" PRIu32 ", turn %" PRIu64,
                 scenario->classes[agent->klass].name, agent->index, agent->turn);
    snprintf(world->wrong, sizeof world->wrong,
             "more than %" PRIu64 " events at one instant, %" PRId64 ".%09" PRId64
             " s, without progress (policy `%s`%s): a think time, a backoff or a retry-after of 0 makes agents ask "
             "for ever",
             WORLD_EVENTS_AT_ONCE, world_now(world) / SIM_SECOND, world_now(world) % SIM_SECOND, scenario->chain.label,
             whose);
}

static bool world_finished(const struct world *world)
{
    return world->scenario->study.until_done && world->runs_open == 0;
}

static enum trial_end advance(struct world *world, sim_time until)
{
    const atomic_int *stop = world->watch ? world->watch->stop : NULL;
    uint64_t most = world->watch && world->watch->events_most ? world->watch->events_most : UINT64_MAX;
    struct event *event;
    unsigned look = 0;

    while (!world_finished(world) && (event = calendar_next(&world->calendar, until)) != NULL) {
        if (world->calendar.at_this_instant > WORLD_EVENTS_AT_ONCE &&
            world->calendar.at_this_instant > WORLD_EVENTS_AT_ONCE + 10 * world->agents_alive)
            loop_without_progress(world, event);
        else
            event->fire(world, event);
        if (world->wrong[0])
            return TRIAL_WRONG;
        if (++look == EVENTS_A_LOOK) {
            look = 0;
            if ((stop && *stop) || world->calendar.where.event >= most)
                return TRIAL_INTERRUPTED;
        }
    }
    return TRIAL_ENDED;
}

static void window_begins(struct world *world)
{
    world->window_start = world_now(world);
    for (size_t i = 0; i < world->scenario->backend_count; i++) {
        for (size_t k = 0; k < world->scenario->class_count; k++)
            measures_clear(&world->gates[i], k);
        gate_window(&world->gates[i]);
    }
    for (struct agent *agent = world->agents; agent; agent = agent->next_of_all) {
        agent->run_tokens = agent->run_part_tokens = 0;
        if (agent->fan)
            agent->fan->tokens = agent->fan->part_tokens = 0;
    }
}

static enum trial_end run(struct world *world)
{
    const struct study *study = &world->scenario->study;
    enum trial_end end;

    if (study->warmup > 0) {
        end = advance(world, study->warmup);
        if (end != TRIAL_ENDED)
            return end;
        world_audit(world);
        window_begins(world);
    }
    end = advance(world, study->until_done ? study->most : study->horizon);
    if (end == TRIAL_ENDED)
        world_audit(world);
    return end;
}

static double class_progress(const struct world *world, size_t klass)
{
    const struct class_state *state = &world->classes[klass];
    double runs = (double)state->spec->runs, turns = 0;

    if (state->spec->runs == 0 || state->over == state->spec->runs)
        return 1;
    for (size_t i = 0; i < world->scenario->backend_count; i++)
        turns += (double)world->gates[i].measures[klass].turns + (double)world->gates[i].measures[klass].lost_turns;
    turns /= runs * foresight_turns(state->spec);
    return fmin(fmax(turns, (double)state->over / runs), 1);
}

static double progress_of(const struct world *world)
{
    double least = NAN;

    for (size_t i = 0; i < world->scenario->class_count; i++)
        if (world->classes[i].spec->runs != UINT64_MAX)
            least = fmin(least, class_progress(world, i));
    return least;
}

enum trial_end trial_simulate(const struct scenario *scenario, uint32_t replication, const struct trial_watch *watch,
                              double *values)
{
    struct world world = {0};
    enum trial_end end;

    world_init(&world, scenario, replication, watch);
    end = run(&world);
    services_end_programs(&world, end == TRIAL_ENDED);
    if (end == TRIAL_ENDED && world.wrong[0])
        end = TRIAL_WRONG;
    if (end == TRIAL_ENDED) {
        attempts_unfinished(&world);
        measure_report(&world, values);
    }
    if (watch && watch->events)
        *watch->events = world.calendar.where.event;
    if (watch && watch->reached)
        *watch->reached = world_now(&world);
    if (watch && watch->progress)
        *watch->progress = progress_of(&world);
    if (end == TRIAL_WRONG && watch && watch->wrong_size)
        snprintf(watch->wrong, watch->wrong_size, "%s", world.wrong);
    world_fini(&world);
    return end;
}
