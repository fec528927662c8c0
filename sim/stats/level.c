/* level.c - windows and means of levels. */
#include "sim/stats/level.h"

#include <math.h>

void level_restart(struct level *level, sim_time now)
{
    level->since = now;
    level->start = now;
    level->area = 0;
    level->largest = level->value;
}

sim_sum level_area(const struct level *level, sim_time now)
{
    return level->area + (sim_sum)level->value * (now - level->since);
}

double level_mean(const struct level *level, sim_time now)
{
    return now > level->start ? (double)level_area(level, now) / (double)(now - level->start) : NAN;
}
