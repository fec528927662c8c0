/* door.h - the door: where whole runs ask to begin, if a policy stands there. Private to models/. */
#ifndef MODELS_DOOR_H
#define MODELS_DOOR_H

#include "models/world.h"

void door_init(struct world *world);
/* The agent's run agent->run asks; without a policy at the door it begins at once. */
void door_ask(struct world *world, struct agent *agent);
/* The agent's run, which is at the door, asks no more. */
void door_withdraw(struct world *world, struct agent *agent);
/* Of an agent whose run is at the door: when it asked first. */
sim_time door_first_attempt(const struct agent *agent);
/* Is this the event at which the agent's run asks again? */
bool door_owns(const struct agent *agent, const struct event *event);
/* A run that was admitted is over. */
void door_run_over(struct world *world, struct agent *agent, bool done);
void door_audit(const struct world *world);

#endif
