/* Parts of turns. */
#include "models/fan_out.h"

#include "models/agent.h"
#include "models/client.h"
#include "models/gate.h"
#include "models/patience.h"

static const struct fan_out_spec *spec_of(const struct world *world, const struct fan *fan)
{
    return agent_spec(world, fan->agent)->fan_out;
}

/* `part` counts from 0; what belongs to a turn alone has none. */
static double draw(struct world *world, const struct agent *agent, const struct dist *dist, enum purpose purpose,
                   uint64_t part)
{
    struct stream stream = agent_stream(world, agent, purpose, agent->turn, part);

    return dist_draw(dist, &stream);
}

/* --- parts ----------------------------------------------------------------------------------------------------------
 */

static void part_joins(struct fan *fan, struct call *part)
{
    part->fan = fan;
    part->part_before = NULL;
    part->part_behind = fan->first;
    if (fan->first)
        fan->first->part_before = part;
    fan->first = part;
}

/* Its agent waits for it no more. */
static void part_leaves(struct world *world, struct call *part)
{
    struct fan *fan = part->fan;

    *(part->part_before ? &part->part_before->part_behind : &fan->first) = part->part_behind;
    if (part->part_behind)
        part->part_behind->part_before = part->part_before;
    part->fan = NULL;
    fan->open--;
    fan->open_tokens -= (uint64_t)part->facts.output_tokens;
    world->parts_open--;
    patience_ends(world, part, CLIENT_LAYERS_MOST);
}

void fan_out_moves(struct call *from, struct call *to)
{
    if (!from->fan)
        return;
    *(from->part_before ? &from->part_before->part_behind : &from->fan->first) = to;
    if (from->part_behind)
        from->part_behind->part_before = to;
    from->fan = NULL;
}

static void draw_next(struct world *world, struct fan *fan)
{
    const struct dist *tokens = spec_of(world, fan)->tokens;

    fan->next_tokens = 0;
    if (tokens && fan->made < fan->parts)
        fan->next_tokens =
            whole_number(draw(world, fan->agent, tokens, PURPOSE_PART, fan->made), (uint64_t)TURN_TOKENS_MOST);
}

double fan_out_tokens(struct world *world, const struct agent *agent)
{
    const struct fan_out_spec *spec = agent_spec(world, agent)->fan_out;
    uint64_t parts = whole_number(draw(world, agent, spec->parts, PURPOSE_PARTS, 0), FAN_OUT_PARTS_MOST);
    double tokens = 0;

    for (uint64_t i = 0; i < parts; i++)
        tokens += (double)whole_number(draw(world, agent, spec->tokens, PURPOSE_PART, i), (uint64_t)TURN_TOKENS_MOST);
    return tokens;
}

static void part_begins(struct world *world, struct fan *fan)
{
    struct agent *agent = fan->agent;
    const struct fan_out_spec *spec = spec_of(world, fan);
    const struct backend *backend = &world->scenario->backends[spec->to];
    struct call *part = agent_makes_call(world, agent, &world->gates[spec->to]);

    part->is_part = true;
    part->part = (uint32_t)fan->made;
    client_begins(&part->try, PURPOSE_PART_BACKOFF, agent->turn * FAN_OUT_PARTS_MOST + fan->made);
    part->work = (double)fan->next_tokens;
    part->facts.input_tokens = part->facts.cached_tokens = part->facts.input_chars = 0;
    part->facts.output_tokens = part->work;
    part->facts.deadline = fan->deadline;
    part->answer = 0;
    if (backend->service)
        part->answer = sim_from_seconds(draw(world, agent, backend->service, PURPOSE_PART_SERVICE, fan->made));
    else if (backend->speed)
        part->answer = sim_from_seconds(part->work / backend->speed[1]);
    part_joins(fan, part);
    fan->open++;
    fan->open_tokens += fan->next_tokens;
    world->parts_open++;
    fan->made++;
    draw_next(world, fan);
    agent_call_begins(world, part);
}

static void part_abandoned(struct world *world, struct call *part)
{
    part_leaves(world, part);
    if (part->place != CALL_NOWHERE) /* else it is cut off */
        call_give(world, gate_abandon(part));
}

/* --- the whole ------------------------------------------------------------------------------------------------------
 */

static bool may_begin(const struct world *world, const struct fan *fan)
{
    const struct fan_out_spec *spec = spec_of(world, fan);

    return fan->made < fan->parts && fan->open < spec->parts_most &&
           fan->next_tokens <= spec->tokens_most - fan->open_tokens;
}

static bool suffices(const struct fan *fan)
{
    return fan->back >= fan->need;
}

static bool decided(const struct fan *fan)
{
    return suffices(fan) || fan->parts - fan->lost < fan->need;
}

/* All but one, or all (NULL). What comes back meanwhile is only booked, and no server takes one that is to go next. */
static void parts_abandoned(struct world *world, struct fan *fan, const struct call *but)
{
    struct gate *gate = &world->gates[spec_of(world, fan)->to];
    bool closed = gate->closed;

    fan->at_work = gate->closed = true;
    for (struct call *part = fan->first; part;) {
        struct call *behind = part->part_behind;

        if (part != but)
            part_abandoned(world, part);
        part = behind;
    }
    WORLD_ASSERT(world, but ? fan->open == 1 : fan->open == 0 && fan->open_tokens == 0);
    fan->at_work = false;
    gate->closed = closed;
    if (!closed && gate->asked_meanwhile)
        gate_serve(gate);
}

static void fan_goes_on(struct world *world, struct fan *fan)
{
    if (fan->at_work)
        return;
    fan->at_work = true;
    while (!decided(fan) && may_begin(world, fan))
        part_begins(world, fan);
    if (!decided(fan)) {
        fan->at_work = false;
        return;
    }
    parts_abandoned(world, fan, NULL);
    agent_parts_over(fan->agent, world, suffices(fan));
}

void fan_out_begins(struct world *world, struct agent *agent, struct gate *answered, policy_time deadline)
{
    const struct fan_out_spec *spec = agent_spec(world, agent)->fan_out;
    uint64_t parts = whole_number(draw(world, agent, spec->parts, PURPOSE_PARTS, 0), FAN_OUT_PARTS_MOST);

    if (!agent->fan)
        agent->fan = arena_zeroed(&world->arena, 1, sizeof *agent->fan);
    agent_is(world, agent, AGENT_FANNING_OUT);
    *agent->fan = (struct fan){.agent = agent,
                               .answered = answered,
                               .deadline = deadline,
                               .parts = parts,
                               .need = spec->wait_for < parts ? spec->wait_for : parts,
                               .tokens = (uint64_t)agent->tokens};
    draw_next(world, agent->fan);
    fan_goes_on(world, agent->fan);
}

void fan_out_given_up(struct world *world, struct agent *agent)
{
    parts_abandoned(world, agent->fan, NULL);
    agent_parts_over(agent, world, false);
}

void fan_out_suffices(struct call *part)
{
    struct fan *fan = part->fan;

    if (fan && !fan->at_work && fan->open > 1 && fan->back + 1 >= fan->need)
        parts_abandoned(part->gate->world, fan, part);
}

/* The gate is done with it. */
static void part_over(struct call *part, bool answered)
{
    struct fan *fan = part->fan;
    struct world *world = part->gate->world;

    if (!fan) { /* cut off */
        call_give(world, part);
        return;
    }
    part_leaves(world, part);
    fan->back += answered;
    fan->lost += !answered;
    if (answered) {
        fan->agent->run_part_tokens += (uint64_t)part->facts.output_tokens;
        fan->part_tokens += (uint64_t)part->facts.output_tokens;
    }
    call_give(world, part);
    fan_goes_on(world, fan);
}

void fan_out_answered(struct call *part)
{
    part_over(part, true);
}

void fan_out_lost(struct call *part)
{
    part_over(part, false);
}
