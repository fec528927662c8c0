/* schedule.h - when the turns of a scheduled population are due. Private to models/. */
#ifndef MODELS_SCHEDULE_H
#define MODELS_SCHEDULE_H

#include "models/world.h"

/* The agent's run begins: draws the times of its turns, and returns how many it has. */
uint64_t schedule_begins(struct world *world, struct agent *agent);
/* When the agent's present turn is due. */
sim_time schedule_due(const struct world *world, const struct agent *agent);

#endif
