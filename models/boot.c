/* Runs that boot: between the door and their first turn. */
#include "models/agent.h"

static void boot_over(void *world_pointer, struct event *event)
{
    struct world *world = world_pointer;

    world->agents_booting--;
    agent_run_is_up(container_of(event, struct agent, think), world);
}

/* A run that begins again boots again, for another time. */
void agent_run_begins(struct agent *agent, struct world *world)
{
    const struct agent_class *spec = agent_spec(world, agent);
    struct stream stream;

    measure_door(world->classes[agent->klass].measure, world_now(world) - agent->run_asked);
    if (!spec->boot) {
        agent_run_is_up(agent, world);
        return;
    }
    stream = agent_stream(world, agent, PURPOSE_BOOT, agent->run, agent->run_try.failures);
    agent_is(world, agent, AGENT_BOOTING);
    world->agents_booting++;
    agent->think.fire = boot_over;
    calendar_schedule(&world->calendar, &agent->think,
                      world_now(world) + sim_from_seconds(dist_draw(spec->boot, &stream)));
}
