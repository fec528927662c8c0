/* steady.c - the marginal standard error rule, and the test of halves. */
#include "sim/stats/steady.h"

#include <math.h>

#include "sim/stats/output.h"

#define GROWS_LEVEL 0.998 /* two-sided, so that 0.1 % lie beyond its upper end */
#define GROWS_SHARE 0.05

/* From the end backwards, so that each truncation costs one step (Welford's update). */
size_t steady_truncation(const double *values, size_t count)
{
    double mean = 0, squares = 0, least = INFINITY;
    size_t best = 0;

    for (size_t left = count; left-- > 0;) {
        double n = (double)(count - left), deviation = values[left] - mean, error;

        mean += deviation / n;
        squares += deviation * (values[left] - mean);
        error = squares / (n * n);
        if (left <= count - count / 4 && error <= least) { /* of equals the earliest */
            least = error;
            best = left;
        }
    }
    return best;
}

bool steady_grows(const double *first, const double *second, size_t count, size_t stride)
{
    struct estimate more = output_difference(second, first, count, stride);
    struct estimate one = output_mean(first, count, stride), other = output_mean(second, count, stride);
    double error;

    if (more.count < 2)
        return false;
    error = more.half_width / output_t(OUTPUT_LEVEL, more.count - 1);
    return more.mean > output_t(GROWS_LEVEL, more.count - 1) * error &&
           more.mean > GROWS_SHARE * (one.mean + other.mean) / 2;
}
