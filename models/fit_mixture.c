/* fit_mixture.c - mixtures of lognormals: EM over the logarithms, and standard errors from the scores of the rows. */
#include <math.h>
#include <stdlib.h>

#include <gsl/gsl_linalg.h>
#include <gsl/gsl_math.h>

#include "models/fit.h"
#include "sim/io/mem.h"

enum { PARTS_MOST = 3, PARAMETERS_MOST = 3 * PARTS_MOST - 1, ROUNDS_MOST = 300 };
#define SIGMA_LEAST 0.01 /* a narrower part is a heap of equal values */
#define WEIGHT_LEAST 1e-3
#define GAIN_LEAST 1e-7 /* of the mean log-likelihood in a round */

struct normals {
    size_t count;
    double weight[PARTS_MOST], mu[PARTS_MOST], sigma[PARTS_MOST];
};

/* Shares of the parts in a value; returns the density's logarithm. */
static double shares(const struct normals *normals, double y, double share[PARTS_MOST])
{
    double sum = 0, logs[PARTS_MOST], most = -INFINITY;
    for (size_t k = 0; k < normals->count; k++) {
        double z = (y - normals->mu[k]) / normals->sigma[k];
        logs[k] = log(normals->weight[k] / normals->sigma[k]) - z * z / 2 - 0.5 * log(2 * M_PI);
        most = fmax(most, logs[k]);
    }
    for (size_t k = 0; k < normals->count; k++)
        sum += share[k] = exp(logs[k] - most);
    for (size_t k = 0; k < normals->count; k++)
        share[k] /= sum;
    return most + log(sum);
}

/* One round; the mean log-likelihood before it. */
static double round_of(const double *logs, size_t count, struct normals *normals)
{
    double total = 0, weight[PARTS_MOST] = {0}, sum[PARTS_MOST] = {0}, squares[PARTS_MOST] = {0}, share[PARTS_MOST];
    for (size_t i = 0; i < count; i++) {
        total += shares(normals, logs[i], share);
        for (size_t k = 0; k < normals->count; k++) {
            double deviation = logs[i] - normals->mu[k];
            weight[k] += share[k];
            sum[k] += share[k] * deviation;
            squares[k] += share[k] * deviation * deviation;
        }
    }
    for (size_t k = 0; k < normals->count; k++) {
        double shift = sum[k] / weight[k];
        normals->mu[k] += shift;
        normals->sigma[k] = fmax(SIGMA_LEAST, sqrt(fmax(0, squares[k] / weight[k] - shift * shift)));
        normals->weight[k] = weight[k] / (double)count;
    }
    return total / (double)count;
}

/* From parts that divide the sorted values at a quantile, and those above it evenly. */
static double climb(const double *logs, size_t count, double first, size_t parts, struct normals *normals)
{
    double before = -INFINITY, now = -INFINITY;
    normals->count = parts;
    for (size_t k = 0, from = 0; k < parts; k++) {
        double share = k == 0 ? first : (1 - first) / (double)(parts - 1), sum = 0, squares = 0;
        size_t to = k + 1 == parts ? count : from + (size_t)(share * (double)count);
        for (size_t i = from; i < to; i++) {
            sum += logs[i];
            squares += logs[i] * logs[i];
        }
        double length = (double)(to - from), mean = sum / length;
        normals->weight[k] = length / (double)count;
        normals->mu[k] = mean;
        normals->sigma[k] = fmax(0.1, sqrt(fmax(0, squares / length - mean * mean)));
        from = to;
    }
    for (int round = 0; round < ROUNDS_MOST; round++, before = now) {
        now = round_of(logs, count, normals);
        if (now - before < GAIN_LEAST)
            break;
    }
    return now;
}

static void by_mean(struct normals *normals)
{
    for (size_t k = 1; k < normals->count; k++)
        for (size_t i = k; i > 0 && normals->mu[i] < normals->mu[i - 1]; i--) {
            double weight = normals->weight[i], mu = normals->mu[i], sigma = normals->sigma[i];
            normals->weight[i] = normals->weight[i - 1];
            normals->mu[i] = normals->mu[i - 1];
            normals->sigma[i] = normals->sigma[i - 1];
            normals->weight[i - 1] = weight;
            normals->mu[i - 1] = mu;
            normals->sigma[i - 1] = sigma;
        }
}

/* Covariance of weights (but the last), mus and sigmas: the inverse of the sum of the scores' squares. */
static bool covariance(const double *logs, size_t count, double scale, const struct normals *normals,
                       gsl_matrix *matrix)
{
    size_t parts = normals->count, size = 3 * parts - 1;
    double share[PARTS_MOST], score[PARAMETERS_MOST];
    gsl_matrix_set_zero(matrix);
    for (size_t i = 0; i < count; i++) {
        shares(normals, logs[i], share);
        for (size_t k = 0; k < parts; k++) {
            double z = (logs[i] - normals->mu[k]) / normals->sigma[k];
            if (k + 1 < parts)
                score[k] = share[k] / normals->weight[k] - share[parts - 1] / normals->weight[parts - 1];
            score[parts - 1 + k] = share[k] * z / normals->sigma[k];
            score[2 * parts - 1 + k] = share[k] * (z * z - 1) / normals->sigma[k];
        }
        for (size_t a = 0; a < size; a++)
            for (size_t b = 0; b < size; b++)
                *gsl_matrix_ptr(matrix, a, b) += scale * score[a] * score[b];
    }
    return gsl_linalg_cholesky_decomp1(matrix) == 0 && gsl_linalg_cholesky_invert(matrix) == 0;
}

static void in_words(const struct normals *normals, const gsl_matrix *matrix, struct fit *fit)
{
    size_t parts = normals->count;
    double last = 0;
    for (size_t a = 0; a + 1 < parts; a++)
        for (size_t b = 0; b + 1 < parts; b++)
            last += gsl_matrix_get(matrix, a, b);
    for (size_t k = 0; k < parts; k++) {
        size_t m = parts - 1 + k, s = 2 * parts - 1 + k;
        double sigma = normals->sigma[k], mean = exp(normals->mu[k] + sigma * sigma / 2);
        double cv = sqrt(expm1(sigma * sigma)), v = gsl_matrix_get(matrix, s, s);
        double of_log = gsl_matrix_get(matrix, m, m) + sigma * sigma * v + 2 * sigma * gsl_matrix_get(matrix, m, s);
        fit->parts[k] = (struct fit_part){.weight = normals->weight[k],
                                          .mean = mean,
                                          .cv = cv,
                                          .weight_se = sqrt(k + 1 < parts ? gsl_matrix_get(matrix, k, k) : last),
                                          .mean_se = mean * sqrt(of_log),
                                          .cv_se = sigma * exp(sigma * sigma) / cv * sqrt(v)};
    }
    fit->count = parts;
}

bool fit_mixture(const double *logs, size_t count, double scale, size_t parts, struct fit *fit)
{
    static const double firsts[] = {0.5, 0.2, 0.8};
    struct normals best = {0}, normals;
    double most = -INFINITY;
    for (size_t i = 0; i < sizeof firsts / sizeof *firsts; i++) {
        double reached = climb(logs, count, firsts[i], parts, &normals);
        if (reached > most) {
            most = reached;
            best = normals;
        }
    }
    by_mean(&best);
    for (size_t k = 0; k < parts; k++)
        if (!(best.weight[k] > WEIGHT_LEAST) || best.sigma[k] <= SIGMA_LEAST)
            return false;
    gsl_matrix *matrix = gsl_matrix_alloc(3 * parts - 1, 3 * parts - 1);
    bool good = matrix && covariance(logs, count, scale, &best, matrix);
    if (good)
        in_words(&best, matrix, fit);
    gsl_matrix_free(matrix);
    fit->log_likelihood = most * (double)count * scale; /* of the logarithms */
    return good;
}
