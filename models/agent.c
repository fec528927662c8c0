/* Agents: their turns and retries; their runs are in models/runs.c. A turn is drawn once, all its attributes from one
 * block of random numbers, and stays itself through refusals and retries. An agent of a population thinks before every
 * turn; an arriving run makes its first call at once. A run that boots does so before all that. */
#include "models/agent.h"

#include "models/client.h"
#include "models/fan_out.h"
#include "models/gate.h"
#include "models/host.h"
#include "models/input.h"
#include "models/patience.h"
#include "models/schedule.h"

/* --- turns -------------------------------------------------------------------------------------------------------- */

/* Fetches the random numbers of a turn. They depend on the turn's address alone, so those of the next one are made here
 * in advance: the processor does that beside the work of this turn, instead of waiting for it before the next. */
static void turn_words(struct world *world, struct agent *agent, uint64_t turn)
{
    if (agent->words_end == turn + 1)
        return;
    stream_block(world->key, agent_address(world, agent, PURPOSE_TURN, turn, 0), agent->words);
    agent->words_end = turn + 1;
}

/* A draw whose first words are lanes of the turn's block. */
static double turn_draw_else(struct world *world, const struct agent *agent, const struct dist *dist,
                             enum purpose purpose, const uint64_t *words, unsigned given)
{
    struct stream stream =
        stream_open_with(world->key, agent_address(world, agent, purpose, agent->turn, 0), words, given);

    return dist_draw(dist, &stream);
}

static inline double turn_draw(struct world *world, const struct agent *agent, const struct dist *dist,
                               enum purpose purpose, const uint64_t *words, unsigned given)
{
    double value;

    return dist_draw_quick(dist, words[0], &value) ? value : turn_draw_else(world, agent, dist, purpose, words, given);
}

/* How long slots take for the turn's answer; the turn is the same at each of them. */
static sim_time answer_time(struct world *world, const struct agent *agent, const struct backend *backend,
                            const uint64_t *words)
{
    if (backend->service)
        return sim_from_seconds(turn_draw(world, agent, backend->service, PURPOSE_SERVICE, &words[3], 1));
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
        stream_block(world->key, agent_address(world, call->agent, PURPOSE_TURN, call->agent->turn, 0), words);
        call->answer = answer_time(world, call->agent, call->gate->backend, words);
    }
    call->service = call->answer;
    call->facts.cached_tokens = (double)input_cached_at(world, call->agent, which);
}

void agent_turn_draw(struct world *world, struct agent *agent)
{
    const struct agent_class *spec = agent_spec(world, agent);
    const struct backend *backend = &world->scenario->backends[spec->backend];
    const struct session_spec *recorded = spec->input ? spec->input->sessions : NULL;
    uint64_t *words = agent->words;

    turn_words(world, agent, agent->turn);
    agent->thought = 0;
    if (recorded && recorded->wait)
        agent->thought = sim_from_seconds(recorded->wait[agent->session_row]);
    else if (spec->think)
        agent->thought = sim_from_seconds(turn_draw(world, agent, spec->think, PURPOSE_THINK, &words[0], 1));
    agent->work = 0;
    if (recorded && recorded->output)
        agent->work = recorded->output[agent->session_row];
    else if (spec->output)
        agent->work = turn_draw(world, agent, spec->output, PURPOSE_OUTPUT, &words[1], 2);
    if (agent->work > (double)TURN_TOKENS_MOST)
        agent->work = (double)TURN_TOKENS_MOST;
    if (agent->work > spec->max_tokens)
        agent->work = spec->max_tokens;
    if (spec->input)
        input_draw(world, agent);
    agent->tokens = (sim_time)(agent->work + 0.5);
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

    agent_is(world, agent, AGENT_CALLING);
    world->agents_calling++;
    agent->call = call;
    client_begins(&call->try, PURPOSE_BACKOFF, agent->turn);
    call->answer = agent->service;
    call->work = agent->work;
    facts->input_tokens = (double)agent->input;
    facts->cached_tokens = (double)input_cached_at(world, agent, 0);
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
    agent_is(world, agent, AGENT_THINKING);
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
    agent_is(world, agent, AGENT_THINKING);
    agent->think.fire = think_over;
    calendar_schedule(&world->calendar, &agent->think, world_now(world) + agent->thought);
}

/* --- the turn's end ----------------------------------------------------------------------------------------------- */

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
        agent_run_over(world, agent, true);
    } else if (!answered && !agent->due) { /* turns of a schedule do not rest on one another */
        agent_run_over(world, agent, false);
    } else if (--agent->turns_left == 0) {
        agent_run_over(world, agent, true);
    } else {
        turn_begins(world, agent, true);
    }
}

void agent_run_is_up(struct agent *agent, struct world *world)
{
    turn_begins(world, agent, agent_spec(world, agent)->source == SOURCE_POPULATION);
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
    input_answered(world, agent, call->backend);
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
        agent_wastes(world, agent, fan->tokens, fan->part_tokens);
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
