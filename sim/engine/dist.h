/* dist.h - the closed set of distributions of non-negative values (times in seconds, or tokens, or turns).
 *
 * A distribution is a tree: mixtures hold parts. Samplers use + - * / sqrt and sim_exp, sim_log, so a draw has the same
 * bits everywhere. cdf and quantile go through GSL and serve reports and tests, never a path. Parameters were checked
 * by whoever built the tree. */
#ifndef SIM_DIST_H
#define SIM_DIST_H

#include <stdbool.h>
#include <stddef.h>

#include "sim/engine/stream.h"

enum dist_kind {
    DIST_CONSTANT,    /* a: the value */
    DIST_UNIFORM,     /* a, b: the ends */
    DIST_EXPONENTIAL, /* a: the mean */
    DIST_LOGNORMAL,   /* a: mu, b: sigma of the logarithm */
    DIST_GAMMA,       /* a: shape, b: scale */
    DIST_WEIBULL,     /* a: shape, b: scale */
    DIST_PARETO,      /* a: shape, b: least value */
    DIST_GEOMETRIC,   /* a: mean >= 1; 1, 2, 3, ... */
    DIST_EMPIRICAL,   /* values, drawn with equal chance */
    DIST_MIXTURE,     /* parts with weights that sum to 1 */
    DIST_SURVIVAL,    /* a: turns of a window, whole, >= 1; values: -ln of the chance to survive each; 1, 2, 3, ... */
};

struct dist {
    enum dist_kind kind;
    double a, b;
    double most;              /* draws above are cut here (not redrawn); INFINITY: none */
    const double *values;     /* DIST_EMPIRICAL: sorted ascending; DIST_SURVIVAL: a window each; count of them */
    const struct dist *parts; /* DIST_MIXTURE: count of them */
    const double *weights;    /* DIST_MIXTURE: cumulative, the last one exactly 1 */
    size_t count;
};

double dist_draw(const struct dist *dist, struct stream *stream);

/* The draw from a stream of which the first word was made already, where that word decides it alone; else false. A turn
 * is mostly drawn so, without its streams. */
static inline bool dist_draw_quick(const struct dist *dist, uint64_t word, double *value)
{
    if (dist->kind != DIST_EXPONENTIAL || !stream_exponential_quick(word, value))
        return false;
    *value *= dist->a;
    if (*value > dist->most)
        *value = dist->most;
    return true;
}

double dist_mean(const struct dist *dist);               /* with `most` applied; may be INFINITY */
double dist_cv(const struct dist *dist);                 /* sd / mean; NAN where the mean is 0 or either is infinite */
double dist_cdf(const struct dist *dist, double x);      /* P(X <= x) */
double dist_quantile(const struct dist *dist, double p); /* smallest x with cdf(x) >= p, 0 < p < 1 */
double dist_end(const struct dist *dist);                /* the greatest value; INFINITY: there is none */
bool dist_is_exponential(const struct dist *dist);       /* exponential and uncut */
bool dist_is_constant(const struct dist *dist);          /* has one value only, in whatever disguise */

/* From mean and coefficient of variation. shape/scale or mu/sigma follow from them; mean > 0, cv > 0. */
struct dist dist_lognormal_of(double mean, double cv);
struct dist dist_gamma_of(double mean, double cv);
struct dist dist_weibull_of(double mean, double cv); /* shape by bisection */

#endif
