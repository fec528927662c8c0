/* Runs of agents: how one begins at the door, ends, is given up or begins again, and what its agent does then. The
 * turns of a run, and all that happens once a turn, are in models/agent.c. */
#include "models/agent.h"

#include "models/client.h"
#include "models/contexts.h"
#include "models/copies.h"
#include "models/door.h"
#include "models/fan_out.h"
#include "models/gate.h"
#include "models/host.h"
#include "models/input.h"
#include "models/schedule.h"

/* --- a run begins ------------------------------------------------------------------------------------------------- */

static void run_begins_anew(struct world *world, struct agent *agent)
{
    const struct agent_class *spec = agent_spec(world, agent);

    agent->turns_left = spec->source == SOURCE_POPULATION ? UINT64_MAX : 1;
    if (spec->turns) {
        struct stream stream = agent_stream(world, agent, PURPOSE_RUN, agent->run, 0);
        double turns = dist_draw(spec->turns, &stream);

        agent->turns_left = turns < 1 ? 1 : whole_number(turns, UINT64_C(1) << 62);
    }
    if (spec->input && spec->input->sessions)
        agent->turns_left = input_session(world, agent);
    if (spec->schedule)
        agent->turns_left = schedule_begins(world, agent);
    else
        agent->scheduled = -1;
    agent->run_tokens = agent->run_part_tokens = 0;
    agent->run_fresh = true;
    input_run_begins(agent);
    agent_is(world, agent, AGENT_AT_DOOR);
    host_run_begins(world, agent);
    door_ask(world, agent);
}

void agent_run_asks(struct world *world, struct agent *agent)
{
    world->classes[agent->klass].begun++;
    client_begins(&agent->run_try, PURPOSE_RESTART, agent->run);
    deadline_begins(world, agent);
    run_begins_anew(world, agent);
}

/* --- and ends ----------------------------------------------------------------------------------------------------- */

void agent_leaves(struct world *world, struct agent *agent)
{
    struct class_state *klass = &world->classes[agent->klass];

    agent_is(world, agent, AGENT_IDLE);
    agent->life++;
    world->agents_alive--;
    copies_agent_leaves(world, agent);
    if (class_stays(klass->spec))
        return;
    agent->free_next = klass->free;
    klass->free = agent;
}

static void run_ended(struct world *world, struct agent *agent)
{
    struct class_state *klass = &world->classes[agent->klass];

    klass->over++;
    deadline_ends(world, agent);
    if (klass->spec->runs != UINT64_MAX)
        world->runs_open--;
    world->last_run_over = world_now(world);
}

/* No more of this run, whatever became of it. */
static void run_is_left(struct world *world, struct agent *agent)
{
    struct class_state *klass = &world->classes[agent->klass];

    run_ended(world, agent);
    if (klass->spec->source == SOURCE_POPULATION && klass->begun < klass->spec->runs && agent_belongs(world, agent)) {
        agent->run++;
        agent_run_asks(world, agent);
        return;
    }
    agent_leaves(world, agent);
}

static void run_again(void *world_pointer, struct event *event)
{
    struct world *world = world_pointer;

    world->restarts++;
    run_begins_anew(world, container_of(event, struct agent, think));
}

/* A layer of the client begins the run again: the same run, its turns drawn anew. False: there is none, or no more. */
static bool run_restarts(struct world *world, struct agent *agent)
{
    const struct client *client = &agent_spec(world, agent)->client;
    struct client_verdict verdict = {.gives_up = true};
    uint32_t layer = client_call_layers(client);

    if (layer < client->layer_count && !(agent_spec(world, agent)->gives_up && world_now(world) >= agent->run_due))
        verdict = client_fails(world, agent, &agent->run_try, layer, POLICY_NONE);
    if (verdict.gives_up)
        return false;
    agent_is(world, agent, AGENT_THINKING);
    agent->think.fire = run_again;
    calendar_schedule(&world->calendar, &agent->think, world_now(world) + verdict.sleep);
    return true;
}

/* Answers that are of no use: its turns' own, and those of their parts. */
void agent_wastes(struct world *world, const struct agent *agent, uint64_t own, uint64_t parts)
{
    const struct fan_out_spec *fan_out = agent_spec(world, agent)->fan_out;

    agent_measure(world, agent)->wasted_tokens += own;
    if (fan_out)
        world->gates[fan_out->to].parts[agent->klass].wasted_tokens += parts;
}

/* An endless run that its agent leaves has come to its end as well as a run can, but is none that was completed. */
void agent_run_over(struct world *world, struct agent *agent, bool done)
{
    struct measure *measure = agent_measure(world, agent);

    if (done && agent->turns_left == 0) {
        measure->runs++;
        tally_add(&measure->run_time, world_now(world) - agent->run_asked);
        histogram_add(&measure->run_times, world_now(world) - agent->run_asked);
        measure->runs_in_time += agent->run_due > 0 && world_now(world) <= agent->run_due;
    } else if (!done) {
        agent_wastes(world, agent, agent->run_tokens, agent->run_part_tokens);
    }
    if (agent->kept)
        contexts_orphan(&agent->kept);
    door_run_over(world, agent, done);
    if (done)
        client_succeeds(world, agent, &agent->run_try);
    else if (run_restarts(world, agent))
        return;
    run_is_left(world, agent);
}

/* --- at the door, or by its client -------------------------------------------------------------------------------- */

static void next_run(void *world_pointer, struct event *event)
{
    struct world *world = world_pointer;
    struct agent *agent = container_of(event, struct agent, think);

    tally_add(&agent_measure(world, agent)->think, agent->thought);
    agent->turn++;
    /* others have taken the last one, or the population is smaller now */
    if (world->classes[agent->klass].begun >= agent_spec(world, agent)->runs || !agent_belongs(world, agent)) {
        agent_leaves(world, agent);
        return;
    }
    agent_run_asks(world, agent);
}

/* An agent of a population goes on with its next run after a think time; one that arrived leaves. */
void agent_run_refused(struct agent *agent, struct world *world)
{
    struct class_state *klass = &world->classes[agent->klass];

    agent_measure(world, agent)->runs_refused++;
    run_ended(world, agent);
    if (klass->spec->source != SOURCE_POPULATION || klass->begun >= klass->spec->runs || !agent_belongs(world, agent)) {
        agent_leaves(world, agent);
        return;
    }
    agent->run++;
    agent_turn_draw(world, agent);
    agent_is(world, agent, AGENT_THINKING);
    agent->think.fire = next_run;
    calendar_schedule(&world->calendar, &agent->think, world_now(world) + agent->thought);
}

void agent_run_withdrawn(struct agent *agent, struct world *world)
{
    run_ended(world, agent);
    agent_leaves(world, agent);
}

/* A turn that was drawn and is not made counts as one that was, as its random numbers are spent. */
void agent_run_given_up(struct agent *agent, struct world *world)
{
    bool restarts = agent->place == AGENT_THINKING && agent->think.fire == run_again;

    switch (agent->place) {
    case AGENT_CALLING:
        agent_rejected(gate_abandon(agent->call));
        return;
    case AGENT_FANNING_OUT:
        fan_out_given_up(world, agent);
        return;
    case AGENT_AT_DOOR:
        door_withdraw(world, agent);
        agent_run_refused(agent, world);
        return;
    case AGENT_BOOTING:
        world->agents_booting--;
        break;
    case AGENT_THINKING:
        agent->turn += !restarts;
        break;
    case AGENT_IDLE:
        WORLD_ASSERT(world, agent->place != AGENT_IDLE);
    }
    calendar_cancel(&world->calendar, &agent->think);
    if (restarts)
        run_is_left(world, agent);
    else
        agent_run_over(world, agent, false);
}
