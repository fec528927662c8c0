/* tally.h - what was observed one by one (waits, services): count, exact sum, largest. Integers, so that sums are exact
 * and merging in any order gives the same result. */
#ifndef SIM_TALLY_H
#define SIM_TALLY_H

#include "sim/engine/clock.h"

struct tally {
    uint64_t count;
    sim_sum sum;
    sim_time largest;
};

static inline void tally_add(struct tally *tally, sim_time value)
{
    tally->count++;
    tally->sum += value;
    if (value > tally->largest)
        tally->largest = value;
}

void tally_merge(struct tally *into, const struct tally *from);
double tally_mean_seconds(const struct tally *tally); /* NAN if nothing was observed */

#endif
