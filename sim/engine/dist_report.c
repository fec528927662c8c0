/* dist_report.c - what can be said of a distribution without drawing from it: moments, cdf, quantiles.
 *
 * Everything here respects `most`, at every level of a tree of mixtures. Moments of uncut distributions use sim_exp, so
 * a table that prints them has the same digits everywhere; incomplete integrals are GSL's. */
#include <math.h>

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_sf_gamma.h>

#include "sim/engine/dist.h"
#include "sim/engine/dist_survival.h"
#include "sim/engine/number.h"
#include "sim/engine/where.h"

/* Part of a Gamma(shape, 1) below x, and above; GSL wants finite x. */
static double gamma_below(double shape, double x)
{
    return isinf(x) ? 1 : gsl_sf_gamma_inc_P(shape, x);
}

static double gamma_above(double shape, double x)
{
    return isinf(x) ? 0 : gsl_sf_gamma_inc_Q(shape, x);
}

/* What lies above m counts as m. Where nothing lies above, m may be infinite, and infinity times nothing is nothing. */
static struct moments with_rest(struct moments below, double m, double above)
{
    if (above > 0) {
        below.first += m * above;
        below.second += m * m * above;
    }
    return below;
}

static struct moments limited_uniform(double a, double b, double m)
{
    if (m >= b)
        return (struct moments){(a + b) / 2, (a * a + a * b + b * b) / 3};
    double below = (m - a) / (b - a);
    struct moments part = {below * (a + m) / 2, below * (a * a + a * m + m * m) / 3};
    return with_rest(part, m, (b - m) / (b - a));
}

/* The integrals of S(x) and 2 x S(x) up to m are those of Gamma(1) and Gamma(2). */
static struct moments limited_exponential(double mean, double m)
{
    return (struct moments){mean * gamma_below(1, m / mean), 2 * mean * mean * gamma_below(2, m / mean)};
}

static struct moments limited_lognormal(double mu, double sigma, double m)
{
    struct moments part = {sim_exp(mu + sigma * sigma / 2), sim_exp(2 * mu + 2 * sigma * sigma)};
    if (isinf(m))
        return part;
    double z = (sim_log(m) - mu) / sigma;
    part.first *= gsl_cdf_ugaussian_P(z - sigma);
    part.second *= gsl_cdf_ugaussian_P(z - 2 * sigma);
    return with_rest(part, m, gsl_cdf_ugaussian_Q(z));
}

static struct moments limited_gamma(double shape, double scale, double m)
{
    double x = m / scale;
    struct moments part = {shape * scale * gamma_below(shape + 1, x),
                           shape * (shape + 1) * scale * scale * gamma_below(shape + 2, x)};
    return with_rest(part, m, gamma_above(shape, x));
}

/* (X / scale)^shape is exponential. */
static struct moments limited_weibull(double shape, double scale, double m)
{
    double j = 1 / shape;
    double x = isinf(m) ? m : sim_exp(shape * sim_log(m / scale));
    struct moments part = {scale * sim_exp(sim_lgamma(1 + j)) * gamma_below(1 + j, x),
                           scale * scale * sim_exp(sim_lgamma(1 + 2 * j)) * gamma_below(1 + 2 * j, x)};
    return with_rest(part, m, sim_exp(-x));
}

/* E[X^j; X <= m] of a Pareto, j = 1 or 2: the integral of shape * least^shape * x^(j - shape - 1). */
static double pareto_below(double shape, double least, double m, int j)
{
    double d = shape - j;
    double scale = shape * (j == 1 ? least : least * least);
    if (isinf(m))
        return d > 0 ? scale / d : INFINITY;
    double span = sim_log(m / least);
    return d == 0 ? scale * span : scale * -expm1(-d * span) / d;
}

static struct moments limited_pareto(double shape, double least, double m)
{
    struct moments part = {pareto_below(shape, least, m, 1), pareto_below(shape, least, m, 2)};
    return with_rest(part, m, isinf(m) ? 0 : sim_exp(-shape * sim_log(m / least)));
}

/* With q = 1 - 1 / mean: the sums over k < n of q^k and (2 k + 1) q^k, and q^n times the rest of m above n. */
static struct moments limited_geometric(double mean, double m)
{
    double n = floor(m);
    double log_q = log1p(-1 / mean);
    double above = exp(n * log_q);
    if (above == 0)
        return (struct moments){mean, mean * (2 * mean - 1)};
    double sum = -expm1(n * log_q) * mean;
    double second = sum + 2 * mean * ((1 - 1 / mean) * sum - n * above);
    return (struct moments){sum + (m - n) * above, second + (m * m - n * n) * above};
}

static struct moments limited_empirical(const struct dist *dist, double m)
{
    struct moments sum = {0, 0};
    for (size_t i = 0; i < dist->count; i++) {
        double value = fmin(dist->values[i], m);
        sum.first += value;
        sum.second += value * value;
    }
    return (struct moments){sum.first / (double)dist->count, sum.second / (double)dist->count};
}

static double weight_of(const struct dist *mixture, size_t i)
{
    return mixture->weights[i] - (i > 0 ? mixture->weights[i - 1] : 0);
}

static struct moments limited_moments(const struct dist *dist, double m);

static struct moments limited_mixture(const struct dist *dist, double m)
{
    struct moments sum = {0, 0};
    for (size_t i = 0; i < dist->count; i++) {
        double weight = weight_of(dist, i);
        if (weight > 0) {
            struct moments part = limited_moments(&dist->parts[i], m);
            sum.first += weight * part.first;
            sum.second += weight * part.second;
        }
    }
    return sum;
}

/* The least value a simple distribution can take: a limit at or below it turns the distribution into a constant. */
static double least_value(const struct dist *dist)
{
    switch (dist->kind) {
    case DIST_CONSTANT:
    case DIST_UNIFORM:
        return dist->a;
    case DIST_PARETO:
        return dist->b;
    case DIST_GEOMETRIC:
    case DIST_SURVIVAL:
        return 1;
    default:
        return 0;
    }
}

static struct moments limited_moments(const struct dist *dist, double m)
{
    m = fmin(m, dist->most);
    if (m <= least_value(dist))
        return (struct moments){m, m * m};
    switch (dist->kind) {
    case DIST_CONSTANT:
        return (struct moments){dist->a, dist->a * dist->a};
    case DIST_UNIFORM:
        return limited_uniform(dist->a, dist->b, m);
    case DIST_EXPONENTIAL:
        return limited_exponential(dist->a, m);
    case DIST_LOGNORMAL:
        return limited_lognormal(dist->a, dist->b, m);
    case DIST_GAMMA:
        return limited_gamma(dist->a, dist->b, m);
    case DIST_WEIBULL:
        return limited_weibull(dist->a, dist->b, m);
    case DIST_PARETO:
        return limited_pareto(dist->a, dist->b, m);
    case DIST_GEOMETRIC:
        return limited_geometric(dist->a, m);
    case DIST_EMPIRICAL:
        return limited_empirical(dist, m);
    case DIST_MIXTURE:
        return limited_mixture(dist, m);
    case DIST_SURVIVAL:
        return dist_survival_moments(dist, m);
    }
    sim_assert_failed(NULL, "the kind of distribution is known", __FILE__, __LINE__);
}

/* How many of the sorted values are <= x. */
static size_t count_up_to(const struct dist *dist, double x)
{
    size_t low = 0, high = dist->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (dist->values[middle] <= x)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static double cdf_mixture(const struct dist *dist, double x)
{
    double sum = 0;
    for (size_t i = 0; i < dist->count; i++)
        sum += weight_of(dist, i) * dist_cdf(&dist->parts[i], x);
    return sum;
}

static double cdf_uncut(const struct dist *dist, double x)
{
    switch (dist->kind) {
    case DIST_CONSTANT:
        return x >= dist->a;
    case DIST_UNIFORM:
        return x >= dist->b ? 1 : x < dist->a ? 0 : (x - dist->a) / (dist->b - dist->a);
    case DIST_EXPONENTIAL:
        return gsl_cdf_exponential_P(x, dist->a);
    case DIST_LOGNORMAL:
        return x > 0 ? gsl_cdf_lognormal_P(x, dist->a, dist->b) : 0;
    case DIST_GAMMA:
        return gsl_cdf_gamma_P(x, dist->a, dist->b);
    case DIST_WEIBULL:
        return gsl_cdf_weibull_P(x, dist->b, dist->a);
    case DIST_PARETO:
        return gsl_cdf_pareto_P(x, dist->a, dist->b);
    case DIST_GEOMETRIC:
        return x < 1 ? 0 : -expm1(floor(x) * log1p(-1 / dist->a));
    case DIST_EMPIRICAL:
        return (double)count_up_to(dist, x) / (double)dist->count;
    case DIST_MIXTURE:
        return cdf_mixture(dist, x);
    case DIST_SURVIVAL:
        return dist_survival_cdf(dist, x);
    }
    sim_assert_failed(NULL, "the kind of distribution is known", __FILE__, __LINE__);
}

/* The smallest whole n from 1 on with cdf(n) >= p: a first guess, mended for its rounding. */
static double quantile_geometric(const struct dist *dist, double p)
{
    double n = fmax(1, ceil(log1p(-p) / log1p(-1 / dist->a)));
    if (n > 1 && cdf_uncut(dist, n - 1) >= p)
        return n - 1;
    return cdf_uncut(dist, n) >= p ? n : n + 1;
}

static double quantile_empirical(const struct dist *dist, double p)
{
    size_t rank = (size_t)ceil(p * (double)dist->count);
    if (rank > 1 && (double)(rank - 1) / (double)dist->count >= p)
        rank--; /* 0.07 * 100 is more than 7 */
    return dist->values[rank - 1];
}

/* Halves the interval (low, high], at whose end cdf >= p, until it has no inside. */
static double quantile_within(const struct dist *dist, double p, double low, double high)
{
    for (;;) {
        double middle = low + (high - low) / 2;
        if (middle <= low || middle >= high)
            return high;
        if (cdf_uncut(dist, middle) >= p)
            high = middle;
        else
            low = middle;
    }
}

/* GSL's own inverse gives up at large shapes and small chances. */
static double quantile_gamma(const struct dist *dist, double p)
{
    double high = dist->a * dist->b;
    while (cdf_uncut(dist, high) < p)
        high *= 2;
    return quantile_within(dist, p, 0, high);
}

/* Between the smallest and the largest quantile of the parts. */
static double quantile_mixture(const struct dist *dist, double p)
{
    double low = INFINITY, high = 0;
    for (size_t i = 0; i < dist->count; i++) {
        if (weight_of(dist, i) > 0) {
            double part = dist_quantile(&dist->parts[i], p);
            low = fmin(low, part);
            high = fmax(high, part);
        }
    }
    return cdf_mixture(dist, low) >= p ? low : quantile_within(dist, p, low, high);
}

static double quantile_uncut(const struct dist *dist, double p)
{
    switch (dist->kind) {
    case DIST_CONSTANT:
        return dist->a;
    case DIST_UNIFORM:
        return dist->a + p * (dist->b - dist->a);
    case DIST_EXPONENTIAL:
        return gsl_cdf_exponential_Pinv(p, dist->a);
    case DIST_LOGNORMAL:
        return gsl_cdf_lognormal_Pinv(p, dist->a, dist->b);
    case DIST_GAMMA:
        return quantile_gamma(dist, p);
    case DIST_WEIBULL:
        return gsl_cdf_weibull_Pinv(p, dist->b, dist->a);
    case DIST_PARETO:
        return gsl_cdf_pareto_Pinv(p, dist->a, dist->b);
    case DIST_GEOMETRIC:
        return quantile_geometric(dist, p);
    case DIST_EMPIRICAL:
        return quantile_empirical(dist, p);
    case DIST_MIXTURE:
        return quantile_mixture(dist, p);
    case DIST_SURVIVAL:
        return dist_survival_quantile(dist, p);
    }
    sim_assert_failed(NULL, "the kind of distribution is known", __FILE__, __LINE__);
}

static bool mixture_is_constant(const struct dist *dist)
{
    double median = dist_quantile(dist, 0.5);
    for (size_t i = 0; i < dist->count; i++) {
        const struct dist *part = &dist->parts[i];
        if (weight_of(dist, i) > 0 && (!dist_is_constant(part) || fmin(dist_quantile(part, 0.5), dist->most) != median))
            return false;
    }
    return true;
}

double dist_mean(const struct dist *dist)
{
    return limited_moments(dist, INFINITY).first;
}

double dist_cv(const struct dist *dist)
{
    struct moments moments = limited_moments(dist, INFINITY);
    if (moments.first == 0 || isinf(moments.first) || isinf(moments.second))
        return NAN;
    double ratio = moments.second / (moments.first * moments.first) - 1;
    return ratio > 0x1p-50 ? sqrt(ratio) : 0; /* less is the rounding of the two moments */
}

double dist_cdf(const struct dist *dist, double x)
{
    return x < 0 ? 0 : x >= dist->most ? 1 : cdf_uncut(dist, x);
}

double dist_quantile(const struct dist *dist, double p)
{
    return fmin(quantile_uncut(dist, p), dist->most);
}

double dist_end(const struct dist *dist)
{
    double end = 0;

    switch (dist->kind) {
    case DIST_CONSTANT:
        return fmin(dist->a, dist->most);
    case DIST_UNIFORM:
        return fmin(dist->b, dist->most);
    case DIST_EMPIRICAL:
        return fmin(dist->values[dist->count - 1], dist->most);
    case DIST_MIXTURE:
        for (size_t i = 0; i < dist->count; i++)
            end = fmax(end, dist_end(&dist->parts[i]));
        return fmin(end, dist->most);
    default:
        return dist_is_constant(dist) ? least_value(dist) : dist->most;
    }
}

bool dist_is_exponential(const struct dist *dist)
{
    return dist->kind == DIST_EXPONENTIAL && isinf(dist->most);
}

bool dist_is_constant(const struct dist *dist)
{
    if (dist->most <= least_value(dist))
        return true;
    switch (dist->kind) {
    case DIST_CONSTANT:
        return true;
    case DIST_UNIFORM:
        return dist->a == dist->b;
    case DIST_GEOMETRIC:
        return dist->a == 1;
    case DIST_EMPIRICAL:
        return dist->values[0] >= fmin(dist->values[dist->count - 1], dist->most);
    case DIST_MIXTURE:
        return mixture_is_constant(dist);
    case DIST_SURVIVAL:
        return dist_survival_is_constant(dist);
    default:
        return false;
    }
}
