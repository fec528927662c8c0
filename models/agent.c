/* Agents: their turns, runs and retries. A turn is drawn once, all its attributes from one block of random numbers, and
 * stays itself through refusals and retries. An agent of a population thinks before every turn; an arriving run makes
 * its first call at once. A run that boots does so before all that. */
#include "models/agent.h"

#include <math.h>
#include <string.h>

#include "models/client.h"
#include "models/contexts.h"
#include "models/copies.h"
#include "models/door.h"
#include "models/fan_out.h"
#include "models/gate.h"
#include "models/host.h"
#include "models/input.h"
#include "models/patience.h"
#include "models/schedule.h"

static void run_begins_anew(struct world *world, struct agent *agent);

static struct measure *agent_measure(struct world *world, const struct agent *agent)
{
    return world->classes[agent->klass].measure;
}

static struct stream_address agent_address(const struct world *world, const struct agent *agent, enum purpose purpose,
                                           uint64_t turn)
{
    return (struct stream_address){
        .purpose = purpose, .entity = agent_entity(agent_spec(world, agent), agent->index), .turn = turn};
}

static uint64_t whole(double value)
{
    return value < 0x1p62 ? (uint64_t)(value + 0.5) : UINT64_C(1) << 62;
}

/* --- turns -------------------------------------------------------------------------------------------------------- */

/* Fetches the random numbers of a turn. They depend on the turn's address alone, so those of the next one are made here
 * in advance: the processor does that beside the work of this turn, instead of waiting for it before the next. */
static void turn_words(struct world *world, struct agent *agent, uint64_t turn)
{
    if (agent->words_end == turn + 1)
        return;
    stream_block(world->key, agent_address(world, agent, PURPOSE_TURN, turn), agent->words);
    agent->words_end = turn + 1;
}

/* How long slots take for the turn's answer; the turn is the same at each of them. */
static sim_time answer_time(struct world *world, const struct agent *agent, const struct backend *backend,
                            const uint64_t *words)
{
    struct stream stream;

    if (backend->service) {
        stream = stream_open_with(world->key, agent_address(world, agent, PURPOSE_SERVICE, agent->turn), &words[3], 1);
        return sim_from_seconds(dist_draw(backend->service, &stream));
    }
    return backend->speed ? sim_from_seconds(agent->work / backend->speed[1]) : 0;
}

void agent_call_goes_to(struct call *call, uint32_t which)
{
    struct world *world = call->gate->world;
    const struct agent_class *spec = agent_spec(world, call->agent);
    uint64_t words[4];

    call->backend = which;
    call->gate = &world->gates[spec->backends[which]];
    call->answer = call->agent->service;
    if (which > 0) {
        stream_block(world->key, agent_address(world, call->agent, PURPOSE_TURN, call->agent->turn), words);
        call->answer = answer_time(world, call->agent, call->gate->backend, words);
    }
    call->service = call->answer;
}

void agent_turn_draw(struct world *world, struct agent *agent)
{
    const struct agent_class *spec = agent_spec(world, agent);
    const struct backend *backend = &world->scenario->backends[spec->backend];
    const struct session_spec *recorded = spec->input ? spec->input->sessions : NULL;
    struct stream stream;
    uint64_t *words = agent->words;

    turn_words(world, agent, agent->turn);
    agent->thought = 0;
    if (recorded && recorded->wait) {
        agent->thought = sim_from_seconds(recorded->wait[agent->session_row]);
    } else if (spec->think) {
        stream = stream_open_with(world->key, agent_address(world, agent, PURPOSE_THINK, agent->turn), &words[0], 1);
        agent->thought = sim_from_seconds(dist_draw(spec->think, &stream));
    }
    agent->work = 0;
    if (recorded && recorded->output) {
        agent->work = recorded->output[agent->session_row];
    } else if (spec->output) {
        stream = stream_open_with(world->key, agent_address(world, agent, PURPOSE_OUTPUT, agent->turn), &words[1], 2);
        agent->work = dist_draw(spec->output, &stream);
    }
    if (agent->work > (double)TURN_TOKENS_MOST)
        agent->work = (double)TURN_TOKENS_MOST;
    if (agent->work > spec->max_tokens)
        agent->work = spec->max_tokens;
    if (spec->input)
        input_draw(world, agent);
    agent->tokens = (sim_time)whole(agent->work);
    agent->service = answer_time(world, agent, backend, words);
    if (agent->turns_left > 1)
        turn_words(world, agent, agent->turn + 1);
}

/* --- calls ----------------------------------------------------------------------------------------------------------
 */

/* What is not set here is the turn's, or set with each attempt. */
struct call *agent_makes_call(struct world *world, struct agent *agent, struct gate *gate)
{
    const struct agent_class *spec = agent_spec(world, agent);
    struct call *call = call_take(world);
    struct policy_call *facts = &call->facts;

    call->agent = agent;
    call->gate = gate;
    call->backend = 0;
    facts->klass = agent->klass;
    facts->tenant = spec->tenant;
    facts->agent = agent->index;
    facts->run = agent->run;
    facts->turn = agent->turn;
    facts->attempt = 0;
    facts->priority = spec->priority;
    facts->value = spec->value;
    facts->deadline = POLICY_NONE;
    return call;
}

void agent_call_begins(struct world *world, struct call *call)
{
    call->service = call->answer;
    host_call_begins(world, call);
    patience_begins(world, call, CLIENT_LAYERS_MOST);
    gate_attempt(call);
}

static void turn_calls(struct world *world, struct agent *agent)
{
    struct call *call = agent_makes_call(world, agent, &world->gates[agent_spec(world, agent)->backend]);
    struct policy_call *facts = &call->facts;

    agent->place = AGENT_CALLING;
    world->agents_calling++;
    agent->call = call;
    client_begins(&call->try, PURPOSE_BACKOFF, agent->turn);
    call->answer = agent->service;
    call->work = agent->work;
    facts->input_tokens = (double)agent->input;
    facts->cached_tokens = (double)agent->cached;
    facts->input_chars = input_chars(world, agent);
    facts->output_tokens = (double)agent->tokens;
    facts->deadline = deadline_of_turn(world, agent);
    agent_call_begins(world, call);
}

static void think_over(void *world_pointer, struct event *event)
{
    struct world *world = world_pointer;
    struct agent *agent = container_of(event, struct agent, think);

    tally_add(&agent_measure(world, agent)->think, agent->thought);
    turn_calls(world, agent);
}

static void turn_is_due(void *world_pointer, struct event *event)
{
    turn_calls(world_pointer, container_of(event, struct agent, think));
}

/* The next turn of a schedule: when it is due, or at once if that has passed. */
static void turn_waits(struct world *world, struct agent *agent)
{
    sim_time now = world_now(world);

    agent->scheduled = schedule_due(world, agent);
    agent->place = AGENT_THINKING;
    agent->think.fire = turn_is_due; /* by an event also if it is due, so that overdue turns do not nest */
    calendar_schedule(&world->calendar, &agent->think, agent->scheduled > now ? agent->scheduled : now);
}

static void turn_begins(struct world *world, struct agent *agent, bool thinks)
{
    agent_turn_draw(world, agent);
    if (agent->due) {
        turn_waits(world, agent);
        return;
    }
    if (!thinks) {
        turn_calls(world, agent);
        return;
    }
    agent->place = AGENT_THINKING;
    agent->think.fire = think_over;
    calendar_schedule(&world->calendar, &agent->think, world_now(world) + agent->thought);
}

/* --- runs --------------------------------------------------------------------------------------------------------- */

void agent_leaves(struct world *world, struct agent *agent)
{
    struct class_state *klass = &world->classes[agent->klass];

    agent->place = AGENT_IDLE;
    agent->life++;
    world->agents_alive--;
    copies_agent_leaves(world, agent);
    if (class_stays(klass->spec))
        return;
    agent->free_next = klass->free;
    klass->free = agent;
}

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

static void run_ended(struct world *world, struct agent *agent)
{
    struct class_state *klass = &world->classes[agent->klass];

    klass->over++;
    deadline_ends(world, agent);
    if (klass->spec->runs != UINT64_MAX)
        world->runs_open--;
    world->last_run_over = world_now(world);
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
    agent->place = AGENT_THINKING;
    agent->think.fire = run_again;
    calendar_schedule(&world->calendar, &agent->think, world_now(world) + verdict.sleep);
    return true;
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

/* Answers that are of no use: its turns' own, and those of their parts. */
static void tokens_wasted(struct world *world, const struct agent *agent, uint64_t own, uint64_t parts)
{
    const struct fan_out_spec *fan_out = agent_spec(world, agent)->fan_out;

    agent_measure(world, agent)->wasted_tokens += own;
    if (fan_out)
        world->gates[fan_out->to].parts[agent->klass].wasted_tokens += parts;
}

/* An endless run that its agent leaves has come to its end as well as a run can, but is none that was completed. */
static void run_over(struct world *world, struct agent *agent, bool done)
{
    struct measure *measure = agent_measure(world, agent);

    if (done && agent->turns_left == 0) {
        measure->runs++;
        tally_add(&measure->run_time, world_now(world) - agent->run_asked);
        histogram_add(&measure->run_times, world_now(world) - agent->run_asked);
        measure->runs_in_time += agent->run_due > 0 && world_now(world) <= agent->run_due;
    } else if (!done) {
        tokens_wasted(world, agent, agent->run_tokens, agent->run_part_tokens);
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

/* The turn's own call is over, be it that its parts follow. */
static void call_over(struct world *world, struct agent *agent)
{
    world->agents_calling--;
    agent->call = NULL;
}

static void turn_over(struct world *world, struct agent *agent, bool answered)
{
    agent->turn++;
    if (agent->turns_left == UINT64_MAX && agent_belongs(world, agent)) {
        turn_begins(world, agent, true);
    } else if (agent->turns_left == UINT64_MAX) {
        run_over(world, agent, true);
    } else if (!answered && !agent->due) { /* turns of a schedule do not rest on one another */
        run_over(world, agent, false);
    } else if (--agent->turns_left == 0) {
        run_over(world, agent, true);
    } else {
        turn_begins(world, agent, true);
    }
}

static void run_begins_anew(struct world *world, struct agent *agent)
{
    const struct agent_class *spec = agent_spec(world, agent);

    agent->turns_left = spec->source == SOURCE_POPULATION ? UINT64_MAX : 1;
    if (spec->turns) {
        struct stream stream = stream_open(world->key, agent_address(world, agent, PURPOSE_RUN, agent->run));
        double turns = dist_draw(spec->turns, &stream);

        agent->turns_left = turns < 1 ? 1 : whole(turns);
    }
    if (spec->input && spec->input->sessions)
        agent->turns_left = input_session(world, agent);
    if (spec->schedule)
        agent->turns_left = schedule_begins(world, agent);
    else
        agent->scheduled = -1;
    agent->run_tokens = agent->run_part_tokens = 0;
    agent->run_fresh = true;
    agent->place = AGENT_AT_DOOR;
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

void agent_run_is_up(struct agent *agent, struct world *world)
{
    turn_begins(world, agent, agent_spec(world, agent)->source == SOURCE_POPULATION);
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
    agent->place = AGENT_THINKING;
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
        run_over(world, agent, false);
}

/* --- what became of an attempt --------------------------------------------------------------------------------------
 */

void agent_answered(struct call *call)
{
    struct agent *agent = call->agent;
    struct gate *gate = call->gate;
    struct world *world = gate->world;
    policy_time deadline = call->facts.deadline;

    if (agent_spec(world, agent)->client.quotas)
        client_succeeds(world, agent, &call->try);
    if (call->is_part) {
        fan_out_answered(call);
        return;
    }
    agent->run_tokens += (uint64_t)agent->tokens;
    patience_ends(world, call, CLIENT_LAYERS_MOST);
    call_give(world, call);
    call_over(world, agent);
    if (agent_spec(world, agent)->fan_out)
        fan_out_begins(world, agent, gate, deadline);
    else
        turn_over(world, agent, true);
}

static void turn_lost(struct world *world, struct agent *agent)
{
    struct measure *measure = agent_measure(world, agent);

    measure->lost_turns++;
    measure->turns_due += agent_spec(world, agent)->turn_within < SIM_LONGEST || agent->run_due > 0;
    turn_over(world, agent, false);
}

void agent_rejected(struct call *call)
{
    struct agent *agent = call->agent;
    struct world *world = call->gate->world;

    if (call->is_part) {
        fan_out_lost(call);
        return;
    }
    patience_ends(world, call, CLIENT_LAYERS_MOST);
    call_give(world, call);
    call_over(world, agent);
    turn_lost(world, agent);
}

/* A turn that fans out is done when its parts are back, and counted then, where it was answered. What is answered of
 * one that is lost is for nothing also where the run goes on. */
void agent_parts_over(struct agent *agent, struct world *world, bool enough)
{
    const struct fan *fan = agent->fan;

    if (enough) {
        measure_turn(&fan->answered->measures[agent->klass], (uint64_t)agent->tokens, fan->deadline, world_now(world));
        turn_over(world, agent, true);
        return;
    }
    if (agent->turns_left == UINT64_MAX || agent->due) {
        tokens_wasted(world, agent, fan->tokens, fan->part_tokens);
        agent->run_tokens -= fan->tokens;
        agent->run_part_tokens -= fan->part_tokens;
    }
    turn_lost(world, agent);
}

/* No layer tries again, but one that restarts runs. The call itself is the backend's, and is told no more. */
void agent_died(struct agent *agent, struct call *call)
{
    struct world *world = call->gate->world;

    patience_ends(world, call, CLIENT_LAYERS_MOST);
    call_over(world, agent);
    turn_lost(world, agent);
}

static void call_retries(void *world_pointer, struct event *event)
{
    struct call *call = container_of(event, struct call, next);

    patience_begins(world_pointer, call, call->try_layer);
    if (call->backend > 0) /* each attempt begins at the first */
        agent_call_goes_to(call, 0);
    gate_attempt(call);
}

bool agent_gives_up(const struct call *call, uint32_t layer)
{
    return client_gives_up(call->gate->world, call->agent, &call->try, layer);
}

static void call_failed(struct call *call, uint32_t layer, policy_time retry_after)
{
    struct world *world = call->gate->world;
    struct client_verdict verdict = client_fails(world, call->agent, &call->try, layer, retry_after);

    if (verdict.gives_up || (call->is_part && !call->fan)) { /* cut off: nobody waits for it */
        agent_rejected(call);
        return;
    }
    patience_ends(world, call, verdict.layer);
    call->try_layer = verdict.layer;
    call->place = CALL_BACKING_OFF;
    call->next.fire = call_retries;
    calendar_schedule(&world->calendar, &call->next, world_now(world) + verdict.sleep);
}

void agent_refused(struct call *call, policy_time retry_after)
{
    call_failed(call, 0, retry_after);
}

void agent_waited(struct call *call, uint32_t layer)
{
    call_failed(call, layer, POLICY_NONE);
}
