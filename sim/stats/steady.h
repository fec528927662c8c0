/* steady.h - whether and from when on a system is in steady state, from what its replications saw of it. */
#ifndef SIM_STEADY_H
#define SIM_STEADY_H

#include <stdbool.h>
#include <stddef.h>

/* MSER-5 (White, Cobb and Spratt, 2000) looks at means of five: of 5,000 observations these are so many. */
enum { STEADY_OBSERVATIONS = 5000, STEADY_BATCH = 5, STEADY_BATCHES = STEADY_OBSERVATIONS / STEADY_BATCH };

/* How many of the first values to leave out, so that the standard error of the mean of the rest, were they independent,
 * is least: sum (y - mean)^2 / (n - d)^2 over the n - d that stay. The last quarter is never asked for, since few
 * values are alike by chance. More than half of them: the series is too short to tell. */
size_t steady_truncation(const double *values, size_t count);

/* Whether the second half of a window holds more than the first, over replications: by more than 5 % of the mean of
 * both, and beyond chance by a one-sided t test of the paired differences at 0.1 %. Each array has a value every
 * `stride`. False of fewer than two. */
bool steady_grows(const double *first, const double *second, size_t count, size_t stride);

#endif
