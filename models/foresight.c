/* Runs foretold. A turn's numbers depend on its address alone, so drawing them beforehand changes nobody's path. */
#include "models/foresight.h"

#include <math.h>

#include "models/agent.h"
#include "models/fan_out.h"
#include "models/input.h"

/* Of a longer run the rest is taken to be as its first turns. */
#define TURNS_DRAWN 100000

double foresight_turns(const struct agent_class *spec)
{
    if (spec->input && spec->input->sessions)
        return input_session_turns(spec->input->sessions);
    if (spec->turns)
        return dist_mean(spec->turns);
    return spec->source == SOURCE_POPULATION ? INFINITY : 1;
}

/* What its parts take counts where they go to what the run itself asks for: a tool has a budget of its own. */
static bool parts_count(const struct world *world, const struct agent_class *spec)
{
    const struct backend *backends = world->scenario->backends;

    return spec->fan_out && spec->fan_out->tokens && backends[spec->fan_out->to].pool == backends[spec->backend].pool;
}

static double turn_output(const struct world *world, const struct agent_class *spec)
{
    double own = spec->output ? dist_mean(spec->output) : 0;

    return parts_count(world, spec) ? own + dist_mean(spec->fan_out->parts) * dist_mean(spec->fan_out->tokens) : own;
}

static double total(double turns, double mean)
{
    return mean > 0 ? turns * mean : 0;
}

static void expected(const struct world *world, struct class_state *klass, struct policy_run *facts)
{
    const struct agent_class *spec = klass->spec;

    if (klass->run_turns <= 0) { /* a sum over all turns that a run may have */
        klass->run_turns = foresight_turns(spec);
        klass->run_input = total(klass->run_turns, input_mean(spec));
    }
    facts->turns = klass->run_turns;
    facts->input_tokens = klass->run_input;
    facts->output_tokens = total(klass->run_turns, turn_output(world, spec));
}

static void drawn(struct world *world, const struct agent *agent, struct policy_run *facts)
{
    const struct agent_class *spec = agent_spec(world, agent);
    uint64_t turns = agent->turns_left < TURNS_DRAWN ? agent->turns_left : TURNS_DRAWN;
    struct agent double_of = *agent;
    double input = 0, output = 0, share = 1;
    bool with_parts = parts_count(world, spec);

    if (agent->turns_left == UINT64_MAX) {
        facts->turns_drawn = INFINITY;
        facts->input_drawn = spec->input ? INFINITY : 0;
        facts->output_drawn = turn_output(world, spec) > 0 ? INFINITY : 0;
        return;
    }
    for (uint64_t i = 0; i < turns; i++) {
        agent_turn_draw(world, &double_of);
        input += (double)double_of.input;
        output += (double)double_of.tokens;
        output += with_parts ? fan_out_tokens(world, &double_of) : 0;
        double_of.turn++;
    }
    share = (double)agent->turns_left / (double)turns;
    facts->turns_drawn = (double)agent->turns_left;
    facts->input_drawn = input * share;
    facts->output_drawn = output * share;
}

void foresight(struct world *world, const struct agent *agent, struct policy_run *facts)
{
    expected(world, &world->classes[agent->klass], facts);
    drawn(world, agent, facts);
}
