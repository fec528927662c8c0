/* Times of turns: drawn once for the whole run, as order statistics need all of them. */
#include "models/schedule.h"

#include <stdlib.h>

#include "models/agent.h"

/* Turns are shared out evenly; the first agents get one of what is left over. */
static uint64_t share_of(const struct agent_class *spec, uint32_t index)
{
    return spec->schedule->turns / spec->population + (index < spec->schedule->turns % spec->population);
}

static int by_time(const void *one, const void *other)
{
    sim_time a = *(const sim_time *)one, b = *(const sim_time *)other;

    return (a > b) - (a < b);
}

/* Agent i begins at (i offset) mod offset_wraps. */
static sim_time offset_of(const struct schedule_spec *schedule, uint32_t index)
{
    sim_sum offset = (sim_sum)index * schedule->offset;

    return (sim_time)(schedule->offset_wraps > 0 ? offset % schedule->offset_wraps : offset);
}

uint64_t schedule_begins(struct world *world, struct agent *agent)
{
    const struct agent_class *spec = agent_spec(world, agent);
    const struct schedule_spec *schedule = spec->schedule;
    uint64_t count = share_of(spec, agent->index);
    sim_time first = spec->start + offset_of(schedule, agent->index);
    sim_time *due = arena_zeroed(&world->arena, count, sizeof *due);
    struct stream stream = stream_open(
        world->key,
        (struct stream_address){.purpose = PURPOSE_DUE, .entity = agent_entity(spec, agent->index), .turn = 0});

    for (uint64_t i = 0; i < count; i++) {
        double part = schedule->even ? (double)i / (double)count : stream_uniform(&stream);

        due[i] = first + sim_from_seconds(part * sim_seconds(schedule->over));
    }
    if (!schedule->even)
        qsort(due, count, sizeof *due, by_time);
    agent->due = due;
    return count;
}

sim_time schedule_due(const struct world *world, const struct agent *agent)
{
    uint64_t count = share_of(agent_spec(world, agent), agent->index);

    return agent->due[count - agent->turns_left];
}
