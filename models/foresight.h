/* foresight.h - what policies at the door are told of a run that has not begun. Private to models/. */
#ifndef MODELS_FORESIGHT_H
#define MODELS_FORESIGHT_H

#include "models/world.h"

/* The means of its class, and what the agent's run, which is at the door, is going to be. */
void foresight(struct world *world, const struct agent *agent, struct policy_run *facts);

/* Turns of a run of the class, the mean; INFINITY: it has no end. */
double foresight_turns(const struct agent_class *class);

#endif
