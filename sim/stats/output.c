/* output.c - means of replications and their t intervals. */
#include "sim/stats/output.h"

#include <gsl/gsl_cdf.h>
#include <math.h>

/* The i-th value, or the i-th difference where there is a second series. */
static double value_at(const double *a, const double *b, size_t i)
{
    return b ? a[i] - b[i] : a[i];
}

/* Two passes: the one-pass formula loses all digits where the spread is small beside the mean. The second pass sums the
 * deviations too, which takes out what rounding left in the mean. */
static struct estimate summary(const double *a, const double *b, size_t count, size_t stride)
{
    struct estimate estimate = {NAN, NAN, 0};
    double sum = 0, deviations = 0, squares = 0, n, variance;

    for (size_t i = 0; i < count; i++) {
        double value = value_at(a, b, i * stride);
        if (isnan(value))
            continue;
        sum += value;
        estimate.count++;
    }
    if (!estimate.count)
        return estimate;
    n = (double)estimate.count;
    estimate.mean = sum / n;
    if (estimate.count < 2)
        return estimate;

    for (size_t i = 0; i < count; i++) {
        double deviation = value_at(a, b, i * stride) - estimate.mean;
        if (isnan(deviation))
            continue;
        deviations += deviation;
        squares += deviation * deviation;
    }
    variance = fmax(0, squares - deviations * deviations / n) / (n - 1);
    estimate.half_width = output_t(OUTPUT_LEVEL, estimate.count - 1) * sqrt(variance / n);
    return estimate;
}

double output_t(double level, size_t degrees)
{
    return degrees ? gsl_cdf_tdist_Pinv(0.5 + level / 2, (double)degrees) : NAN;
}

struct estimate output_mean(const double *values, size_t count, size_t stride)
{
    return summary(values, NULL, count, stride);
}

struct estimate output_difference(const double *a, const double *b, size_t count, size_t stride)
{
    return summary(a, b, count, stride);
}
