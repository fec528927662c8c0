/* Runs foretold. A turn's numbers depend on its address alone, so drawing them beforehand changes nobody's path. */
#include "models/foresight.h"

#include <math.h>

#include "models/agent.h"
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

static double total(double turns, double mean)
{
    return mean > 0 ? turns * mean : 0;
}

static void expected(struct class_state *klass, struct policy_run *facts)
{
    const struct agent_class *spec = klass->spec;

    if (klass->run_turns <= 0) { /* a sum over all turns that a run may have */
        klass->run_turns = foresight_turns(spec);
        klass->run_input = total(klass->run_turns, input_mean(spec));
    }
    facts->turns = klass->run_turns;
    facts->input_tokens = klass->run_input;
    facts->output_tokens = total(klass->run_turns, spec->output ? dist_mean(spec->output) : 0);
}

static void drawn(struct world *world, const struct agent *agent, struct policy_run *facts)
{
    const struct agent_class *spec = agent_spec(world, agent);
    uint64_t turns = agent->turns_left < TURNS_DRAWN ? agent->turns_left : TURNS_DRAWN;
    struct agent double_of = *agent;
    double input = 0, output = 0, share = 1;

    if (agent->turns_left == UINT64_MAX) {
        facts->turns_drawn = INFINITY;
        facts->input_drawn = spec->input ? INFINITY : 0;
        facts->output_drawn = spec->output ? INFINITY : 0;
        return;
    }
    for (uint64_t i = 0; i < turns; i++) {
        agent_turn_draw(world, &double_of);
        input += (double)double_of.input;
        output += (double)double_of.tokens;
        double_of.turn++;
    }
    share = (double)agent->turns_left / (double)turns;
    facts->turns_drawn = (double)agent->turns_left;
    facts->input_drawn = input * share;
    facts->output_drawn = output * share;
}

void foresight(struct world *world, const struct agent *agent, struct policy_run *facts)
{
    expected(&world->classes[agent->klass], facts);
    drawn(world, agent, facts);
}
