/* dist_survival.c - turns by survival: the sampler, moments, cdf and quantiles, window by window. */
#include "sim/engine/dist_survival.h"

#include <math.h>

#include "sim/engine/number.h"

/* H(turns). */
static double hazard_up_to(const struct dist *dist, double turns)
{
    double hazard = 0;
    size_t i = 0;
    for (; i + 1 < dist->count && turns > dist->a; i++) {
        hazard += dist->values[i];
        turns -= dist->a;
    }
    return dist->values[i] > 0 ? hazard + dist->values[i] * (turns / dist->a) : hazard;
}

/* 1 - e^-hazard. Of a small hazard the rounding of e^-hazard would be most of it; Kahan's quotient takes it out again.
 */
static double ended(double hazard)
{
    double survive = sim_exp(-hazard);
    if (survive < 0.5)
        return 1 - survive;
    return survive < 1 ? (1 - survive) * (hazard / -sim_log(survive)) : hazard;
}

/* Sums over k = 0, 1, ... turns - 1 of e^(-rate k), and of k times that. */
struct sums {
    double plain, weighted;
};

/* By halves: nothing is subtracted, so nothing cancels however small the rate is. */
static struct sums sums_of_some(double rate, double turns)
{
    if (turns == 0)
        return (struct sums){0, 0};
    double half = floor(turns / 2), survive = sim_exp(-rate * half);
    struct sums sums = sums_of_some(rate, half);
    sums.weighted += survive * (sums.weighted + half * sums.plain);
    sums.plain += survive * sums.plain;
    if (turns > 2 * half) {
        double last = sim_exp(-rate * (2 * half));
        sums.plain += last;
        sums.weighted += 2 * half * last;
    }
    return sums;
}

/* Where nobody is left at the end, an endless window included, the series are those of a geometric. */
static struct sums sums_of(double rate, double turns)
{
    if (sim_exp(-rate * turns) > 0)
        return sums_of_some(rate, turns);
    double end = ended(rate);
    return (struct sums){1 / end, (1 - end) / (end * end)};
}

double dist_survival_draw(const struct dist *dist, struct stream *stream)
{
    double left = stream_exponential(stream), start = 0;
    size_t i = 0;
    for (; i + 1 < dist->count && left >= dist->values[i]; i++) {
        left -= dist->values[i];
        start += dist->a;
    }
    return dist->values[i] > 0 ? 1 + start + floor(dist->a * (left / dist->values[i])) : INFINITY;
}

/* Sums over n of P(X > n) and (2 n + 1) P(X > n) up to floor(m), and what is left of m. */
struct moments dist_survival_moments(const struct dist *dist, double m)
{
    struct moments sum = {0, 0};
    double whole = floor(m), start = 0, hazard = 0;
    for (size_t i = 0; i < dist->count && start < whole; i++) {
        bool last = i + 1 == dist->count;
        double turns = last ? whole - start : fmin(dist->a, whole - start), reached = sim_exp(-hazard);
        struct sums sums = sums_of(dist->values[i] / dist->a, turns);
        sum.first += reached * sums.plain;
        sum.second += reached * ((2 * start + 1) * sums.plain + 2 * sums.weighted);
        hazard += dist->values[i];
        start += dist->a;
    }
    if (m > whole) {
        double above = sim_exp(-hazard_up_to(dist, whole));
        sum.first += (m - whole) * above;
        sum.second += (m - whole) * (m + whole) * above;
    }
    return sum;
}

double dist_survival_cdf(const struct dist *dist, double x)
{
    return x < 1 ? 0 : ended(hazard_up_to(dist, floor(x)));
}

/* Halves the whole numbers of (low, high], at whose end cdf >= p: the same arithmetic as the cdf's, so that each undoes
 * the other also where a window ends. */
double dist_survival_quantile(const struct dist *dist, double p)
{
    double low = 0, high = dist->a;
    while (dist_survival_cdf(dist, high) < p) {
        if (isinf(high))
            return high;
        low = high;
        high *= 2;
    }
    for (;;) {
        double middle = low + floor((high - low) / 2);
        if (middle <= low || middle >= high)
            return high;
        if (dist_survival_cdf(dist, middle) >= p)
            high = middle;
        else
            low = middle;
    }
}

bool dist_survival_is_constant(const struct dist *dist)
{
    return hazard_up_to(dist, ceil(dist->most) - 1) == 0;
}
