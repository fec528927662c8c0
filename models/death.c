/* Deaths of clients. */
#include "models/death.h"

#include <string.h>

#include "models/agent.h"
#include "models/attempt.h"
#include "models/contexts.h"
#include "models/lines.h"

/* The call is nobody's from now on; a server, or a pool, has it still. */
static void leave_call(struct call *call)
{
    struct agent *agent = call->agent;

    call->place = CALL_NOWHERE;
    call->former = agent;
    call->former_life = agent->life;
    call->run_goes_on = agent->turns_left == UINT64_MAX || agent->due; /* models/agent.c, turn_over */
    if (call->gate->backend->kv != UINT64_MAX) { /* else its context, if any, is at another backend */
        call->kept = agent->kept;
        contexts_orphan(&agent->kept);
    }
    call->agent = NULL;
}

static void client_dies(void *world, struct event *event)
{
    struct call *call = container_of(event, struct call, timeout);
    struct agent *agent = call->agent;
    struct gate *gate = call->gate;

    (void)world;
    WORLD_ASSERT(gate->world, call->place == CALL_IN_SERVICE);
    gate->in_service--;
    system_leave(gate, call);
    gate->counts.abandoned++;
    attempt_ended(gate, call, ATTEMPT_ABANDONED, "died");
    leave_call(call);
    agent_died(agent, call);
}

/* At a uniform part of what is known of the service, which is all of it but where it depends on how many are busy;
 * there it is what it takes at the greatest speed. So it comes before the end, and what takes no time cannot be cut
 * short. The event is that of the client's patience, since only one of the two ends the attempt. */
void death_draw_else(struct gate *gate, struct call *call, double share)
{
    struct world *world = gate->world;
    const struct agent *agent = call->agent;
    struct stream stream = agent_stream(world, agent, PURPOSE_DEATH, call->facts.turn,
                                        (uint64_t)call->services << 32 | call->facts.attempt);
    sim_time at;

    if (stream_uniform(&stream) >= share || call->service <= 0)
        return;
    at = world_now(world) + (sim_time)(stream_uniform(&stream) * (double)call->service);
    if (event_pending(&call->timeout) && call->timeout.at <= at)
        return;
    calendar_cancel(&world->calendar, &call->timeout);
    call->timeout.fire = client_dies;
    calendar_schedule(&world->calendar, &call->timeout, at);
}

/* --- what policies still hear ------------------------------------------------------------------------------------- */

static struct agent *nobody(struct world *world)
{
    size_t bytes = world->scenario->backend_count * (world->agent_bytes + world->run_bytes);

    if (!world->nobody) {
        world->nobody = arena_zeroed(&world->arena, 1, sizeof *world->nobody);
        world->nobody->states = arena_zeroed(&world->arena, 1, bytes);
    }
    if (bytes > 0)
        memset(world->nobody->states, 0, bytes);
    return world->nobody;
}

/* The next agent in its memory may have its index too: it is one that came back. */
bool death_left_agent(const struct call *call)
{
    return call->former->life == call->former_life;
}

struct agent *death_agent(struct world *world, const struct call *call)
{
    return death_left_agent(call) ? call->former : nobody(world);
}

struct agent *death_run(struct world *world, const struct call *call)
{
    return call->run_goes_on && death_left_agent(call) ? call->former : nobody(world);
}
