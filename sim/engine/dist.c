/* dist.c - the samplers, and the parameters that follow from a mean and a cv.
 *
 * All of it decides paths: + - * / sqrt, floor (exact everywhere), sim_exp, sim_log and sim_lgamma, nothing else. The
 * logarithm of a uniform is never taken: -ln U is an exponential, which the ziggurat has at a tenth of the price and
 * with all its small values. */
#include "sim/engine/dist.h"

#include <math.h>

#include "sim/engine/dist_survival.h"
#include "sim/engine/number.h"
#include "sim/engine/where.h"

/* Marsaglia and Tsang (2000), for a shape of at least 1 and scale 1. */
static double draw_gamma_of_large_shape(double shape, struct stream *stream)
{
    const double d = shape - 1.0 / 3.0;
    const double c = 1 / sqrt(9 * d);
    for (;;) {
        double z = stream_normal(stream);
        double cube_root = 1 + c * z;
        if (cube_root <= 0)
            continue;
        double v = cube_root * cube_root * cube_root;
        double u = stream_uniform_open(stream);
        double zz = z * z;
        if (u < 1 - 0.0331 * zz * zz || sim_log(u) < 0.5 * zz + d * (1 - v + sim_log(v)))
            return d * v;
    }
}

/* Below shape 1: a draw of shape + 1 times U^(1 / shape). */
static double draw_gamma(double shape, struct stream *stream)
{
    if (shape >= 1)
        return draw_gamma_of_large_shape(shape, stream);
    double power = sim_exp(-stream_exponential(stream) / shape);
    return power * draw_gamma_of_large_shape(shape + 1, stream);
}

/* The trial on which the first success falls: P(X > n) = q^n = P(E / -ln q >= n). */
static double draw_geometric(double mean, struct stream *stream)
{
    double q = 1 - 1 / mean;
    return 1 + floor(stream_exponential(stream) / -sim_log(q));
}

/* The high half of word * count is a fair index up to a bias of count / 2^64. */
static double draw_empirical(const struct dist *dist, struct stream *stream)
{
    sim_sum product = (sim_sum)stream_next(stream) * (sim_sum)dist->count;
    return dist->values[(size_t)(product >> 64)];
}

static double draw_mixture(const struct dist *dist, struct stream *stream)
{
    double u = stream_uniform(stream);
    size_t i = 0;
    while (u >= dist->weights[i])
        i++;
    return dist_draw(&dist->parts[i], stream);
}

static double draw_uncut(const struct dist *dist, struct stream *stream)
{
    switch (dist->kind) {
    case DIST_CONSTANT:
        return dist->a;
    case DIST_UNIFORM:
        return dist->a + (dist->b - dist->a) * stream_uniform(stream);
    case DIST_EXPONENTIAL:
        return dist->a * stream_exponential(stream);
    case DIST_LOGNORMAL:
        return sim_exp(dist->a + dist->b * stream_normal(stream));
    case DIST_GAMMA:
        return dist->b * draw_gamma(dist->a, stream);
    case DIST_WEIBULL:
        return dist->b * sim_exp(sim_log(stream_exponential(stream)) / dist->a);
    case DIST_PARETO:
        return dist->b * sim_exp(stream_exponential(stream) / dist->a);
    case DIST_GEOMETRIC:
        return draw_geometric(dist->a, stream);
    case DIST_EMPIRICAL:
        return draw_empirical(dist, stream);
    case DIST_MIXTURE:
        return draw_mixture(dist, stream);
    case DIST_SURVIVAL:
        return dist_survival_draw(dist, stream);
    }
    sim_assert_failed(NULL, "the kind of distribution is known", __FILE__, __LINE__);
}

double dist_draw(const struct dist *dist, struct stream *stream)
{
    double value = draw_uncut(dist, stream);
    return value < dist->most ? value : dist->most;
}

struct dist dist_lognormal_of(double mean, double cv)
{
    double variance = sim_log(1 + cv * cv);
    return (struct dist){
        .kind = DIST_LOGNORMAL,
        .a = sim_log(mean) - variance / 2,
        .b = sqrt(variance),
        .most = INFINITY,
    };
}

struct dist dist_gamma_of(double mean, double cv)
{
    double shape = 1 / (cv * cv);
    return (struct dist){.kind = DIST_GAMMA, .a = shape, .b = mean / shape, .most = INFINITY};
}

/* ln(1 + cv^2) of a Weibull is ln G(1 + 2 / k) - 2 ln G(1 + 1 / k), which falls in the shape k. Halving an interval of
 * ln k until it cannot be halved takes the same steps on every machine. */
struct dist dist_weibull_of(double mean, double cv)
{
    const double wanted = sim_log(1 + cv * cv);
    double low = -7, high = 28; /* a cv of more than 10^300, and of 10^-12 */
    for (;;) {
        double middle = low + (high - low) / 2;
        if (middle <= low || middle >= high)
            break;
        double inverse = sim_exp(-middle);
        if (sim_lgamma(1 + 2 * inverse) - 2 * sim_lgamma(1 + inverse) > wanted)
            low = middle;
        else
            high = middle;
    }
    double shape = sim_exp(high);
    double scale = mean * sim_exp(-sim_lgamma(1 + 1 / shape));
    return (struct dist){.kind = DIST_WEIBULL, .a = shape, .b = scale, .most = INFINITY};
}
