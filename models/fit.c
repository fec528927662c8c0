/* fit.c - families by maximum likelihood, and the choice among them. */
#include "models/fit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <gsl/gsl_math.h>
#include <gsl/gsl_sf_gamma.h>
#include <gsl/gsl_sf_psi.h>

#include "sim/io/mem.h"

#define KOLMOGOROV_95 1.36 /* times sqrt(n): the distance that chance keeps below 95 times of 100 */
enum { LEAST = 10, ROWS_MOST = 10000, STEPS_MOST = 200 };

static const char *const names[FIT_FAMILIES] = {
    [FIT_EXPONENTIAL] = "exponential",   [FIT_GEOMETRIC] = "geometric",
    [FIT_LOGNORMAL] = "lognormal",       [FIT_GAMMA] = "gamma",
    [FIT_WEIBULL] = "weibull",           [FIT_MIXTURE] = "mixture of 2",
    [FIT_MIXTURE_OF_3] = "mixture of 3", [FIT_EMPIRICAL] = "empirical",
};

const char *fit_family_name(enum fit_family family)
{
    return names[family];
}

/* What is fitted to: sorted values above 0, at most ROWS_MOST of them, evenly chosen where there are more; then each
 * stands for `scale` rows. */
struct sample {
    const double *values;
    double *logs;
    size_t count;
    double scale, rows; /* rows: of all of them */
    double mean, mean_log, sd_log;
};

static void one_part(struct fit *fit, unsigned parameters, double mean, double cv, double mean_se, double cv_se)
{
    fit->made = isfinite(mean) && isfinite(cv) && isfinite(fit->log_likelihood) && mean > 0 && cv > 0;
    fit->parameters = parameters;
    fit->count = 1;
    fit->parts[0] = (struct fit_part){.weight = 1, .mean = mean, .cv = cv, .mean_se = mean_se, .cv_se = cv_se};
}

static void exponential(const struct sample *sample, struct fit *fit)
{
    fit->log_likelihood = -sample->rows * (log(sample->mean) + 1);
    one_part(fit, 1, sample->mean, 1, sample->mean / sqrt(sample->rows), 0);
}

static void geometric(const struct sample *sample, struct fit *fit)
{
    double p = 1 / sample->mean;
    if (!(p < 1))
        return;
    fit->log_likelihood = sample->rows * (log(p) + (sample->mean - 1) * log1p(-p));
    one_part(fit, 1, sample->mean, sqrt(1 - p), sqrt((1 - p) / sample->rows) / p, 0);
}

static void lognormal(const struct sample *sample, struct fit *fit)
{
    double n = sample->rows, s = sample->sd_log, mean = exp(sample->mean_log + s * s / 2), cv = sqrt(expm1(s * s));
    fit->log_likelihood = -n * (log(s * sqrt(2 * M_PI)) + 0.5 + sample->mean_log);
    one_part(fit, 2, mean, cv, mean * s * sqrt((1 + s * s / 2) / n), s * exp(s * s) / cv * s / sqrt(2 * n));
}

/* ln k - psi(k) falls in k; what it must be is known. */
static void gamma_family(const struct sample *sample, struct fit *fit)
{
    double n = sample->rows, wanted = log(sample->mean) - sample->mean_log, low = 1e-4, high = 1e6, k = 1;
    for (int i = 0; i < STEPS_MOST; i++) {
        k = sqrt(low * high);
        if (log(k) - gsl_sf_psi(k) > wanted)
            low = k;
        else
            high = k;
    }
    double scale = sample->mean / k, se = sqrt(k / (n * (k * gsl_sf_psi_1(k) - 1)));
    fit->log_likelihood = n * ((k - 1) * sample->mean_log - k - gsl_sf_lngamma(k) - k * log(scale));
    one_part(fit, 2, sample->mean, 1 / sqrt(k), sample->mean / sqrt(k * n), 0.5 * pow(k, -1.5) * se);
}

static double weibull_cv(double k)
{
    return sqrt(expm1(gsl_sf_lngamma(1 + 2 / k) - 2 * gsl_sf_lngamma(1 + 1 / k)));
}

/* Sum x^k ln x / sum x^k - 1/k - mean ln x rises in k; powers are of x / mean. */
static void weibull(const struct sample *sample, struct fit *fit)
{
    double n = sample->rows, low = 0.02, high = 100, k = 1, powers = 1, to_mean = log(sample->mean);
    for (int i = 0; i < 60; i++) {
        double weighted = 0;
        k = sqrt(low * high);
        powers = 0;
        for (size_t j = 0; j < sample->count; j++) {
            double y = sample->logs[j] - to_mean, power = exp(k * y);
            powers += power;
            weighted += power * y;
        }
        if (weighted / powers - 1 / k > sample->mean_log - to_mean)
            high = k;
        else
            low = k;
    }
    double lambda = sample->mean * pow(powers / (double)sample->count, 1 / k), gamma = gsl_sf_gamma(1 + 1 / k);
    double by_k = -lambda * gamma * gsl_sf_psi(1 + 1 / k) / (k * k), step = 1e-4 * k;
    /* asymptotic covariance of scale and shape, in units of 1 / n */
    double ll = 1.108665 * lambda * lambda / (k * k), kk = 0.607927 * k * k, lk = 0.257022 * lambda;
    double mean_se = sqrt((gamma * gamma * ll + by_k * by_k * kk + 2 * gamma * by_k * lk) / n);
    double cv_se = fabs(weibull_cv(k + step) - weibull_cv(k - step)) / (2 * step) * sqrt(kk / n);
    fit->log_likelihood = n * (log(k / lambda) + (k - 1) * (sample->mean_log - log(lambda)) - 1);
    one_part(fit, 2, lambda * gamma, weibull_cv(k), mean_se, cv_se);
}

static void mixture(const struct sample *sample, size_t parts, struct fit *fit)
{
    fit->parameters = (unsigned)(3 * parts - 1);
    fit->made = sample->count >= 20 * parts && fit_mixture(sample->logs, sample->count, sample->scale, parts, fit);
    fit->log_likelihood -= sample->rows * sample->mean_log;
}

/* Uniform pieces between quantiles, finer at the top; each as wide as its own ends allow around its own mean. */
static void empirical(const struct sample *sample, struct fit *fit)
{
    static const double ends[FIT_PARTS_MOST] = {0.06, 0.12, 0.18, 0.24, 0.3,  0.36, 0.42, 0.48, 0.54,  0.6,
                                                0.66, 0.72, 0.78, 0.84, 0.89, 0.93, 0.96, 0.98, 0.995, 1};
    size_t from = 0;
    for (size_t i = 0; i < FIT_PARTS_MOST; i++) {
        size_t to = (size_t)(ends[i] * (double)sample->count + 0.5);
        double sum = 0;
        if (to <= from)
            continue;
        for (size_t j = from; j < to; j++)
            sum += sample->values[j];
        double mean = sum / (double)(to - from);
        double half = fmin(mean - sample->values[from], sample->values[to - 1] - mean);
        fit->parts[fit->count++] = (struct fit_part){.weight = (double)(to - from) / (double)sample->count,
                                                     .mean = mean,
                                                     .low = fmax(0, mean - half),
                                                     .high = mean + half};
        from = to;
    }
    fit->made = true;
    fit->log_likelihood = NAN;
}

struct dist fit_dist(const struct fit_result *result, enum fit_family family, struct dist parts[FIT_PARTS_MOST],
                     double weights[FIT_PARTS_MOST])
{
    const struct fit *fit = &result->fits[family];
    double sum = 0;
    for (size_t i = 0; i < fit->count; i++) {
        const struct fit_part *part = &fit->parts[i];
        parts[i] = family == FIT_EXPONENTIAL ? (struct dist){.kind = DIST_EXPONENTIAL, .a = part->mean}
                   : family == FIT_GEOMETRIC ? (struct dist){.kind = DIST_GEOMETRIC, .a = part->mean}
                   : family == FIT_GAMMA     ? dist_gamma_of(part->mean, part->cv)
                   : family == FIT_WEIBULL   ? dist_weibull_of(part->mean, part->cv)
                   : family == FIT_EMPIRICAL ? (struct dist){.kind = DIST_UNIFORM, .a = part->low, .b = part->high}
                                             : dist_lognormal_of(part->mean, part->cv);
        parts[i].most = INFINITY;
        weights[i] = sum += part->weight;
    }
    weights[fit->count - 1] = 1;
    if (fit->count == 1)
        return parts[0];
    return (struct dist){
        .kind = DIST_MIXTURE, .most = INFINITY, .parts = parts, .weights = weights, .count = fit->count};
}

static double distance(const struct sample *sample, const struct fit_result *result, enum fit_family family)
{
    struct dist parts[FIT_PARTS_MOST];
    double weights[FIT_PARTS_MOST], most = 0, n = (double)sample->count;
    struct dist dist = fit_dist(result, family, parts, weights);
    for (size_t i = 0, end; i < sample->count; i = end) {
        for (end = i + 1; end < sample->count && sample->values[end] == sample->values[i];)
            end++;
        /* of equal values the middle of the step counts: a whole number stands for what was rounded to it */
        bool ties = end - i > 1;
        double cdf = dist_cdf(&dist, sample->values[i]), low = (double)i / n, high = (double)end / n;
        double off = ties ? fabs(cdf - (low + high) / 2) : fmax(fabs(cdf - low), fabs(cdf - high));
        if (family == FIT_GEOMETRIC) /* which has steps of its own */
            off = fabs(cdf - high);
        most = fmax(most, off);
    }
    return most;
}

static int ascending(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

static void describe(struct sample *sample)
{
    double sum = 0, logs = 0, squares = 0, n = (double)sample->count;
    for (size_t i = 0; i < sample->count; i++) {
        sample->logs[i] = log(sample->values[i]);
        sum += sample->values[i];
        logs += sample->logs[i];
    }
    sample->mean = sum / n;
    sample->mean_log = logs / n;
    for (size_t i = 0; i < sample->count; i++)
        squares += (sample->logs[i] - sample->mean_log) * (sample->logs[i] - sample->mean_log);
    sample->sd_log = sqrt(squares / n);
}

static void fit_sample(struct sample *sample, bool turns, struct fit_result *result)
{
    struct fit *fits = result->fits;
    enum fit_family best = FIT_EMPIRICAL;
    if (turns)
        geometric(sample, &fits[FIT_GEOMETRIC]);
    else
        exponential(sample, &fits[FIT_EXPONENTIAL]);
    lognormal(sample, &fits[FIT_LOGNORMAL]);
    gamma_family(sample, &fits[FIT_GAMMA]);
    weibull(sample, &fits[FIT_WEIBULL]);
    mixture(sample, 2, &fits[FIT_MIXTURE]);
    mixture(sample, 3, &fits[FIT_MIXTURE_OF_3]);
    empirical(sample, &fits[FIT_EMPIRICAL]);
    for (enum fit_family family = 0; family < FIT_FAMILIES; family++) {
        struct fit *fit = &fits[family];
        if (!fit->made)
            continue;
        fit->distance = distance(sample, result, family);
        fit->bic = fit->parameters * log(sample->rows) - 2 * fit->log_likelihood;
        if (family != FIT_EMPIRICAL && (best == FIT_EMPIRICAL || fit->bic < fits[best].bic))
            best = family;
    }
    result->chosen =
        fits[best].distance <= fmax(FIT_DISTANCE_MOST, KOLMOGOROV_95 / sqrt(sample->rows)) ? best : FIT_EMPIRICAL;
}

bool fit_values(double *values, size_t count, bool turns, struct fit_result *result)
{
    double sum = 0, squares = 0;
    size_t zeros = 0;
    *result = (struct fit_result){.count = count};
    if (count > 0)
        qsort(values, count, sizeof *values, ascending);
    while (zeros < count && values[zeros] <= 0)
        zeros++;
    for (size_t i = 0; i < count; i++)
        sum += values[i];
    result->zeros = zeros;
    result->mean = sum / (double)count;
    for (size_t i = 0; i < count; i++)
        squares += (values[i] - result->mean) * (values[i] - result->mean);
    result->cv = sqrt(squares / (double)count) / result->mean;
    size_t positive = count - zeros, kept = positive < ROWS_MOST ? positive : ROWS_MOST;
    if (positive < LEAST || values[zeros] == values[count - 1])
        return false;
    double *chosen = mem_zeroed(kept, sizeof *chosen);
    for (size_t i = 0; i < kept; i++)
        chosen[i] = values[zeros + (size_t)(((double)i + 0.5) * (double)positive / (double)kept)];
    struct sample sample = {.values = chosen,
                            .logs = mem_zeroed(kept, sizeof *sample.logs),
                            .count = kept,
                            .scale = (double)positive / (double)kept,
                            .rows = (double)positive};
    describe(&sample);
    fit_sample(&sample, turns, result);
    free(sample.logs);
    free(chosen);
    return true;
}
