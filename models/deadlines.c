/* Deadlines of turns and runs. A run's is counted from its first attempt at the door, whoever restarts it; where its
 * class gives up, that is an event, and an answer at that very instant comes too late, as with a timeout. */
#include "models/agent.h"

static void run_is_late(void *world, struct event *event)
{
    agent_run_given_up(container_of(event, struct run_timer, event)->agent, world);
}

void deadline_begins(struct world *world, struct agent *agent)
{
    const struct agent_class *spec = agent_spec(world, agent);

    agent->run_asked = world_now(world);
    agent->run_due = spec->run_within < SIM_LONGEST ? agent->run_asked + spec->run_within : 0;
    if (agent->run_due == 0 || !spec->gives_up)
        return;
    if (!agent->due_timer)
        agent->due_timer = arena_zeroed(&world->arena, 1, sizeof *agent->due_timer);
    agent->due_timer->agent = agent;
    agent->due_timer->event.fire = run_is_late;
    calendar_schedule(&world->calendar, &agent->due_timer->event, agent->run_due);
}

void deadline_ends(struct world *world, struct agent *agent)
{
    if (agent->due_timer)
        calendar_cancel(&world->calendar, &agent->due_timer->event);
    world->classes[agent->klass].measure->runs_due += agent->run_due > 0;
    agent->run_due = 0;
}

policy_time deadline_of_turn(const struct world *world, const struct agent *agent)
{
    sim_time from = agent->scheduled >= 0 ? agent->scheduled : world_now(world);
    sim_time within = agent_spec(world, agent)->turn_within, due = agent->run_due > 0 ? agent->run_due : POLICY_NONE;

    return within < SIM_LONGEST && (due == POLICY_NONE || from + within < due) ? from + within : due;
}
