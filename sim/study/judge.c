/* judge.c - Holm's rule over changes beyond their tolerance. */
#include "sim/study/judge.h"

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdlib.h>

#include "sim/io/mem.h"

const char *const judged_names[JUDGED_COUNT] = {"same", "within", "better", "undecided", "trade", "worse"};

static double standard_error(struct estimate estimate)
{
    return estimate.count < 2 ? NAN : estimate.half_width / output_t(OUTPUT_LEVEL, estimate.count - 1);
}

struct shift shift_between(struct estimate base, struct estimate head)
{
    double a = standard_error(base), b = standard_error(head), sum = a * a + b * b;
    struct shift shift = {head.mean - base.mean, sqrt(sum), INFINITY};

    if (sum > 0) /* Welch and Satterthwaite */
        shift.degrees = sum * sum / (pow(a, 4) / (double)(base.count - 1) + pow(b, 4) / (double)(head.count - 1));
    return shift;
}

struct shift shift_paired(struct estimate difference)
{
    return (struct shift){difference.mean, standard_error(difference),
                          difference.count < 2 ? NAN : (double)(difference.count - 1)};
}

double judge_tolerance(double base, double relative, double absolute)
{
    return fmax(relative * fabs(base), absolute);
}

/* The chance of so large a change in a direction, were the true one just as large as the tolerance. */
static double chance(const struct judge_value *value, bool upwards)
{
    double beyond = (upwards ? value->shift.mean : -value->shift.mean) - value->tolerance;

    if (value->same || isnan(beyond) || isnan(value->shift.error))
        return 1;
    if (!(value->shift.error > 0))
        return beyond > 0 ? 0 : 1;
    return isinf(value->shift.degrees) ? gsl_cdf_ugaussian_Q(beyond / value->shift.error)
                                       : gsl_cdf_tdist_Q(beyond / value->shift.error, value->shift.degrees);
}

/* The one-sided limit of the change for the worse. */
static double limit(const struct judge_value *value, double level)
{
    double mean = value->higher ? -value->shift.mean : value->shift.mean, error = value->shift.error;

    if (isnan(error)) /* one replication: the change as it is, unless it could matter */
        return mean;
    if (!(error > 0))
        return mean;
    return mean + error * (isinf(value->shift.degrees) ? gsl_cdf_ugaussian_Qinv(level)
                                                       : gsl_cdf_tdist_Qinv(level, value->shift.degrees));
}

struct ranked {
    double chance;
    size_t value;
};

static int by_chance(const void *left, const void *right)
{
    const struct ranked *a = left, *b = right;

    if (a->chance != b->chance)
        return a->chance < b->chance ? -1 : 1;
    return a->value < b->value ? -1 : a->value > b->value;
}

/* Holm: the smallest is held against level/m, the next against level/(m - 1), until one fails. */
static void step_down(struct judge_value *values, size_t count, double level, bool worse)
{
    struct ranked *ranks = mem_zeroed(count, sizeof *ranks);

    for (size_t i = 0; i < count; i++)
        ranks[i] = (struct ranked){chance(&values[i], values[i].higher != worse), i};
    if (count > 0)
        qsort(ranks, count, sizeof *ranks, by_chance);
    for (size_t i = 0; i < count && ranks[i].chance <= level / (double)(count - i); i++)
        values[ranks[i].value].verdict = worse ? JUDGED_WORSE : JUDGED_BETTER;
    free(ranks);
}

void judge(struct judge_value *values, size_t count, double level, unsigned looks)
{
    double part = level / looks;

    for (size_t i = 0; i < count; i++) {
        struct judge_value *value = &values[i];

        value->verdict = value->same                              ? JUDGED_SAME
                         : limit(value, part) <= value->tolerance ? JUDGED_WITHIN
                                                                  : JUDGED_UNDECIDED; /* NAN too */
    }
    step_down(values, count, part, false);
    step_down(values, count, part, true);
}

enum judged judge_row(const struct judge_value *values, size_t count)
{
    size_t seen[JUDGED_COUNT] = {0};

    for (size_t i = 0; i < count; i++)
        seen[values[i].verdict]++;
    if (seen[JUDGED_WORSE])
        return seen[JUDGED_BETTER] ? JUDGED_TRADE : JUDGED_WORSE;
    if (seen[JUDGED_UNDECIDED])
        return JUDGED_UNDECIDED;
    return seen[JUDGED_BETTER] ? JUDGED_BETTER : seen[JUDGED_WITHIN] ? JUDGED_WITHIN : JUDGED_SAME;
}
