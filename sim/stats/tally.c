/* tally.c - merging and reading tallies. */
#include "sim/stats/tally.h"

#include <math.h>

void tally_merge(struct tally *into, const struct tally *from)
{
    into->count += from->count;
    into->sum += from->sum;
    if (from->largest > into->largest)
        into->largest = from->largest;
}

double tally_mean_seconds(const struct tally *tally)
{
    return tally->count ? sim_sum_seconds(tally->sum) / (double)tally->count : NAN;
}
