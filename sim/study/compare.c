/* compare.c - estimates over the replications of an experiment. */
#include "sim/study/compare.h"

#include <math.h>

static const struct estimate nothing = {NAN, NAN, 0}; /* where no replication is finished */

struct estimate compare_estimate(const struct results *results, size_t point, size_t number)
{
    if (results->finished[point] == 0)
        return nothing;
    return output_mean(results_at(results, point, 1) + number, results->finished[point], results->width);
}

struct estimate compare_difference(const struct results *results, size_t point, size_t base, size_t number)
{
    unsigned paired = results->finished[point];

    if (results->finished[base] < paired)
        paired = results->finished[base];
    if (paired == 0)
        return nothing;
    return output_difference(results_at(results, point, 1) + number, results_at(results, base, 1) + number, paired,
                             results->width);
}
