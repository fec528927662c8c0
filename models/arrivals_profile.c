/* Arrivals at a rate that changes, by inversion: the k-th run comes when as many runs are expected since the one before
 * it as an exponential number with mean 1 says. The rate is constant in pieces, so that is exact, and the number is the
 * arrival's own: another rate moves arrivals and draws none anew. */
#include "models/agent.h"

/* The piece at that time since the profile began, or since it began anew. */
static size_t piece_at(const struct arrivals_spec *pattern, sim_time phase)
{
    size_t low = 0, high = pattern->count;

    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;

        if (pattern->times[middle] <= phase)
            low = middle;
        else
            high = middle;
    }
    return low;
}

sim_time arrivals_profile_next(const struct agent_class *spec, sim_time now, double work, sim_time last)
{
    const struct arrivals_spec *pattern = spec->pattern;
    sim_time origin = pattern->of_day ? 0 : spec->start;

    while (now <= last) {
        sim_time since = now - origin, phase = pattern->period < SIM_LONGEST ? since % pattern->period : since;
        size_t piece = piece_at(pattern, phase);
        double rate = pattern->rates[piece];
        sim_time end = piece + 1 < pattern->count ? pattern->times[piece + 1] : pattern->period;
        sim_time length = end >= SIM_LONGEST ? SIM_LONGEST : end - phase;
        double here = rate * sim_seconds(length);

        if (here > work)
            return now + sim_from_seconds(work / rate);
        if (length == SIM_LONGEST)
            break;
        work -= here;
        now += length;
    }
    return SIM_NEVER;
}
