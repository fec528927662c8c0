/* level.h - what has a value at all times (busy servers, calls in the system): its exact integral over time. */
#ifndef SIM_LEVEL_H
#define SIM_LEVEL_H

#include "sim/engine/clock.h"

struct level {
    int64_t value, largest;
    sim_time since; /* of the last change */
    sim_time start; /* of the window */
    sim_sum area;   /* integral of value over [start, since], value * ns */
};

static inline void level_change(struct level *level, sim_time now, int64_t by)
{
    level->area += (sim_sum)level->value * (now - level->since);
    level->since = now;
    level->value += by;
    if (level->value > level->largest)
        level->largest = level->value;
}

void level_restart(struct level *level, sim_time now); /* a new window begins: area 0, the value stays */
sim_sum level_area(const struct level *level, sim_time now);
double level_mean(const struct level *level, sim_time now); /* NAN over an empty window */

#endif
