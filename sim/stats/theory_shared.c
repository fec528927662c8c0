/* theory_shared.c - classes of a population that share a station, by the sums over all states that mean value analysis
 * stands for: every term is above 0, so that nothing is lost however busy the servers are. */
#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "sim/io/mem.h"
#include "sim/stats/theory.h"

#define STATES_MOST 4e6

/* What the weights of states are made of, as logarithms. */
struct weights {
    const struct shared_class *classes;
    size_t count, servers;
    double *factorials; /* of 0..all */
    double *stations;   /* [n]: ln n! - sum of ln min(j, c) over j = 1..n */
};

/* Of n[i] calls of class i at the station, of populations[i]; -INFINITY where agents that do not think would. */
static double weight_of(const struct weights *w, const size_t *populations, const size_t *n)
{
    double weight = 0;
    size_t all = 0;

    for (size_t i = 0; i < w->count; i++) {
        size_t thinking = populations[i] - n[i];

        if (thinking > 0 && w->classes[i].think <= 0)
            return -INFINITY;
        weight += (double)n[i] * log(w->classes[i].service) - w->factorials[n[i]];
        weight += thinking > 0 ? (double)thinking * log(w->classes[i].think) - w->factorials[thinking] : 0;
        all += n[i];
    }
    return weight + w->stations[all];
}

/* ln of the sum over all states, the largest term taken out as it grows. */
static double sum_of(const struct weights *w, const size_t *populations)
{
    size_t *n = mem_zeroed(w->count, sizeof *n), digit = 0;
    double largest = -INFINITY, sum = 0;

    while (digit < w->count) {
        double weight = weight_of(w, populations, n);

        if (weight > largest) {
            sum = sum * exp(largest - weight) + 1;
            largest = weight;
        } else if (weight > -DBL_MAX) {
            sum += exp(weight - largest);
        }
        for (digit = 0; digit < w->count && n[digit] == populations[digit]; digit++)
            n[digit] = 0;
        if (digit < w->count)
            n[digit]++;
    }
    free(n);
    return largest + log(sum);
}

bool theory_shared(size_t servers, const struct shared_class *classes, size_t count, double *throughputs)
{
    struct weights w = {.classes = classes, .count = count, .servers = servers};
    size_t *populations = mem_zeroed(count, sizeof *populations), all = 0;
    double states = 1, whole;

    for (size_t i = 0; i < count; i++) {
        populations[i] = classes[i].population;
        states *= (double)classes[i].population + 1;
        all += classes[i].population;
    }
    if (states > STATES_MOST) {
        free(populations);
        return false;
    }
    w.factorials = mem_zeroed(all + 1, sizeof *w.factorials);
    w.stations = mem_zeroed(all + 1, sizeof *w.stations);
    for (size_t n = 1; n <= all; n++) {
        w.factorials[n] = w.factorials[n - 1] + log((double)n);
        w.stations[n] = w.stations[n - 1] + log((double)n) - log((double)(n < servers ? n : servers));
    }
    whole = sum_of(&w, populations);
    for (size_t i = 0; i < count; i++) {
        throughputs[i] = 0;
        if (populations[i] == 0)
            continue;
        populations[i]--;
        throughputs[i] = exp(sum_of(&w, populations) - whole);
        populations[i]++;
    }
    free(w.factorials);
    free(w.stations);
    free(populations);
    return true;
}
