/* compare.h - estimates of points, and paired differences between points that share random numbers. */
#ifndef SIM_COMPARE_H
#define SIM_COMPARE_H

#include "sim/stats/output.h"
#include "sim/study/experiment.h"

/* The estimate of one number of a point, over its finished replications. */
struct estimate compare_estimate(const struct results *results, size_t point, size_t number);
/* point minus base, paired by replication, over those finished in both. */
struct estimate compare_difference(const struct results *results, size_t point, size_t base, size_t number);

#endif
