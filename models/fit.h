/* fit.h - distributions fitted to what was observed, and how well they fit.
 *
 * Families of positive values by maximum likelihood, mixtures of lognormals by EM; zeros are an atom of their own. The
 * one with the least BIC is chosen, unless its distance from the data is more than FIT_DISTANCE_MOST, and than chance
 * explains: then the data's own quantiles are. All in the words of a scenario: weights, means, coefficients of
 * variation, with standard errors.
 */
#ifndef MODELS_FIT_H
#define MODELS_FIT_H

#include <stdbool.h>
#include <stddef.h>

#include "sim/engine/dist.h"

#define FIT_DISTANCE_MOST 0.05
#define FIT_PARTS_MOST 20

enum fit_family {
    FIT_EXPONENTIAL,
    FIT_GEOMETRIC, /* of turns alone, in place of the exponential */
    FIT_LOGNORMAL,
    FIT_GAMMA,
    FIT_WEIBULL,
    FIT_MIXTURE, /* of two lognormals */
    FIT_MIXTURE_OF_3,
    FIT_EMPIRICAL, /* uniform between quantiles, with the data's means there */
    FIT_FAMILIES
};

struct fit_part {
    double weight, mean, cv;
    double weight_se, mean_se, cv_se; /* 0: none */
    double low, high;                 /* FIT_EMPIRICAL: the ends */
};

struct fit {
    bool made;                             /* there is enough data, and a maximum was found */
    unsigned parameters;                   /* without the share of zeros */
    double log_likelihood, bic, distance;  /* distance: Kolmogorov and Smirnov's, of the values above 0 */
    struct fit_part parts[FIT_PARTS_MOST]; /* lighter means first */
    size_t count;
};

struct fit_result {
    size_t count, zeros; /* values, and of them 0 */
    double mean, cv;
    struct fit fits[FIT_FAMILIES];
    enum fit_family chosen;
};

const char *fit_family_name(enum fit_family family);
/* The values are sorted. False: fewer than 10 are above 0, or all are the same. */
bool fit_values(double *values, size_t count, bool turns, struct fit_result *result);
/* The chosen one as a distribution that can be drawn and compared; parts and weights are put into the arrays. */
struct dist fit_dist(const struct fit_result *result, enum fit_family family, struct dist parts[FIT_PARTS_MOST],
                     double weights[FIT_PARTS_MOST]);

/* private: models/fit_mixture.c. EM over logarithms, `scale` rows each; false where it does not converge. */
bool fit_mixture(const double *logs, size_t count, double scale, size_t parts, struct fit *fit);

#endif
