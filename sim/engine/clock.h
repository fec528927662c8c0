/* clock.h - simulated time is a whole number of nanoseconds.
 *
 * With a floating-point clock the same seed takes different paths with and without fused multiply-add; with an integer
 * clock, sums of times and time integrals are exact, so Little's law is an equality. Sums of times need 128 bits: a
 * million agents for a year are 3e22 ns. Range: +- 292 years. */
#ifndef SIM_CLOCK_H
#define SIM_CLOCK_H

#include <stdint.h>

typedef int64_t sim_time;               /* nanoseconds */
__extension__ typedef __int128 sim_sum; /* sums of times (ns) and integrals of counts over time (count * ns) */

#define SIM_SECOND INT64_C(1000000000)
#define SIM_NEVER INT64_MAX
/* The longest single duration that is drawn: 73 years. Longer draws are cut here, so that now + duration cannot wrap.
 */
#define SIM_LONGEST (INT64_MAX / 4)

/* Seconds to the nearest nanosecond, halves away from zero; below 0 gives 0, above SIM_LONGEST gives SIM_LONGEST. */
static inline sim_time sim_from_seconds(double seconds)
{
    double ns = seconds * 1e9;
    if (!(ns > 0))
        return 0;
    if (ns >= (double)SIM_LONGEST)
        return SIM_LONGEST;
    return (sim_time)(ns + 0.5);
}

static inline double sim_seconds(sim_time t)
{
    return (double)t / 1e9;
}

static inline double sim_sum_seconds(sim_sum s)
{
    return (double)s / 1e9;
}

#endif
