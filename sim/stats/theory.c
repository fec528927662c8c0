/* theory.c - bounds, finite sources, Erlang's formulas, Pollaczek-Khinchine.
 *
 * The number in an M/M/c//N system is a birth-death chain whose ratios of neighbouring states fall from state to state,
 * so its distribution has one mode and log-concave flanks. It is computed outwards from the mode, where the weight is
 * 1, as far as weights can be represented: nothing overflows, what underflows is truly nothing, and no logarithm is
 * taken.
 *
 * An arriving call sees the steady state with one agent less (Sevcik and Mitrani, Lavenberg and Reiser). One that finds
 * c + i in the system waits for i + 1 ends of service, which come as a Poisson stream of rate c/s. So
 *     P(W > t) = sum over i of P(i ends within t) P(at least c + i found),
 * and both factors come from recursions. */
#include "sim/stats/theory.h"

#include <math.h>
#include <stdlib.h>

#include "sim/io/mem.h"

#define SMALLEST_WEIGHT 1e-300 /* of a state, beside the mode's 1 */
#define SMALLEST_TERM 1e-20    /* of a sum of Poisson weights, beside the mode's 1 */
#define PRECISION 1e-13        /* of a quantile, relative */

/* Probabilities of states first, ..., first + count - 1 of a finite source; all others are 0. */
struct occupancy {
    size_t agents, servers, first, count;
    double load; /* service / think */
    double *probability;
};

/* P(n + 1) / P(n) */
static double ratio(const struct occupancy *occupancy, size_t n)
{
    size_t busy = n < occupancy->servers ? n + 1 : occupancy->servers;

    return occupancy->load * (double)(occupancy->agents - n) / (double)busy;
}

static size_t mode_of(const struct occupancy *occupancy)
{
    size_t low = 0, high = occupancy->agents;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (ratio(occupancy, middle) > 1)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* No think time puts all agents in the system, no service none: ratios of infinity and 0 do that by themselves. */
static struct occupancy occupancy_of(size_t agents, size_t servers, double service, double think)
{
    struct occupancy o = {.agents = agents, .servers = servers, .load = service / think};
    size_t low = mode_of(&o), high = low;
    double lowest = 1, highest = 1, sum = 0, next;

    while (low > 0 && (next = lowest / ratio(&o, low - 1)) >= SMALLEST_WEIGHT) {
        lowest = next;
        low--;
    }
    while (high < agents && (next = highest * ratio(&o, high)) >= SMALLEST_WEIGHT) {
        highest = next;
        high++;
    }
    o.first = low;
    o.count = high - low + 1;
    o.probability = mem_zeroed(o.count, sizeof *o.probability);
    for (size_t i = 0; i < o.count; i++) {
        o.probability[i] = i ? o.probability[i - 1] * ratio(&o, low + i - 1) : lowest;
        sum += o.probability[i];
    }
    for (size_t i = 0; i < o.count; i++)
        o.probability[i] /= sum;
    return o;
}

/* What an arriving call finds. */
struct arrival {
    size_t servers, first, count;
    double rate;      /* of ends of service while all servers are busy */
    double *at_least; /* P(first + i or more are found), i < count */
};

static struct arrival arrival_of(size_t agents, size_t servers, double service, double think)
{
    struct occupancy found = occupancy_of(agents - 1, servers, service, think);

    for (size_t i = found.count - 1; i-- > 0;)
        found.probability[i] += found.probability[i + 1];
    return (struct arrival){servers, found.first, found.count, (double)servers / service, found.probability};
}

static double at_least(const struct arrival *arrival, size_t n)
{
    if (n <= arrival->first)
        return 1;
    return n - arrival->first < arrival->count ? arrival->at_least[n - arrival->first] : 0;
}

/* P(W > t). Poisson weights outwards from their mode, normalised by their own sum. */
static double wait_exceeds(const struct arrival *arrival, double t)
{
    double mean = arrival->rate * t, mode = floor(mean);
    double weights = 0, sum = 0, weight = 1;

    for (double i = mode; weight > SMALLEST_TERM; i++) {
        weights += weight;
        sum += weight * at_least(arrival, arrival->servers + (size_t)i);
        weight *= mean / (i + 1);
    }
    weight = 1;
    for (double i = mode; i > 0; i--) {
        weight *= i / mean;
        if (weight <= SMALLEST_TERM)
            break;
        weights += weight;
        sum += weight * at_least(arrival, arrival->servers + (size_t)i - 1);
    }
    return sum / weights;
}

static double wait_quantile(const struct arrival *arrival, double p)
{
    double low = 0, high = 1 / arrival->rate;

    if (at_least(arrival, arrival->servers) <= 1 - p)
        return 0;
    if (arrival->servers == 0 || p >= 1)
        return INFINITY;
    while (wait_exceeds(arrival, high) > 1 - p) {
        low = high;
        high *= 2;
    }
    while (high - low > PRECISION * high) {
        double middle = low + (high - low) / 2;
        if (wait_exceeds(arrival, middle) > 1 - p)
            low = middle;
        else
            high = middle;
    }
    return high;
}

double theory_capacity(double servers, double service)
{
    return servers / service;
}

double theory_knee(double servers, double service, double think)
{
    return servers * (service + think) / service;
}

double theory_throughput_bound(double n, double servers, double service, double think)
{
    return fmin(n / (service + think), servers / service);
}

double theory_wait_bound(double n, double servers, double service, double think)
{
    return fmax(0, n * service / servers - service - think);
}

struct finite_source theory_finite_source(size_t agents, size_t servers, double service, double think)
{
    struct finite_source result = {.wait_mean = NAN, .wait_p50 = NAN, .wait_p95 = NAN, .wait_p99 = NAN};
    struct occupancy occupancy;
    struct arrival arrival;
    double busy = 0, waiting = 0;

    if (!agents)
        return result;
    occupancy = occupancy_of(agents, servers, service, think);
    for (size_t i = 0; i < occupancy.count; i++) {
        size_t n = occupancy.first + i;
        busy += occupancy.probability[i] * (double)(n < servers ? n : servers);
        waiting += occupancy.probability[i] * (double)(n < servers ? 0 : n - servers);
    }
    free(occupancy.probability);
    result.throughput = service > 0 ? busy / service : (double)agents / think;
    result.utilisation = busy / (double)servers;
    result.wait_mean = waiting / result.throughput;

    arrival = arrival_of(agents, servers, service, think);
    result.wait_p50 = wait_quantile(&arrival, 0.50);
    result.wait_p95 = wait_quantile(&arrival, 0.95);
    result.wait_p99 = wait_quantile(&arrival, 0.99);
    free(arrival.at_least);
    return result;
}

double theory_finite_source_wait_quantile(size_t agents, size_t servers, double service, double think, double p)
{
    struct arrival arrival;
    double quantile;

    if (!agents)
        return NAN;
    arrival = arrival_of(agents, servers, service, think);
    quantile = wait_quantile(&arrival, p);
    free(arrival.at_least);
    return quantile;
}

/* B(k) = a B(k-1) / (k + a B(k-1)), divided through so that a load of 0 or infinity needs no case of its own. */
double theory_erlang_b(size_t servers, double load)
{
    double blocked = 1;

    for (size_t k = 1; k <= servers; k++)
        blocked = 1 / (1 + (double)k / (load * blocked));
    return blocked;
}

double theory_erlang_c(size_t servers, double load)
{
    double blocked;

    if (load >= (double)servers)
        return 1;
    blocked = theory_erlang_b(servers, load);
    return blocked / (1 - load / (double)servers * (1 - blocked));
}

double theory_mmc_wait(size_t servers, double arrivals, double service)
{
    double load = arrivals * service;

    if (load >= (double)servers)
        return INFINITY;
    return theory_erlang_c(servers, load) * service / ((double)servers - load);
}

double theory_mmc_wait_quantile(size_t servers, double arrivals, double service, double p)
{
    double load = arrivals * service, waits;

    if (load >= (double)servers)
        return INFINITY;
    waits = theory_erlang_c(servers, load);
    if (waits <= 1 - p)
        return 0;
    return log(waits / (1 - p)) * service / ((double)servers - load);
}

double theory_mg1_wait(double arrivals, double service, double service_cv)
{
    double load = arrivals * service;

    if (load >= 1)
        return INFINITY;
    return load * service * (1 + service_cv * service_cv) / (2 * (1 - load));
}

/* Probabilities of M/M/c/K from the bottom up: p(n) / p(0) = load^n / (1 2 ... min(n, c) min(n, c) ...). */
struct mmck {
    double total, lost, waiting; /* sums of weights; of the full state; of n - c beyond the servers */
};

static struct mmck mmck_weights(size_t servers, size_t room, double load)
{
    struct mmck sums = {.total = 1};
    double weight = 1;

    for (size_t n = 1; n <= room; n++) {
        weight *= load / (double)(n < servers ? n : servers);
        sums.total += weight;
        if (n > servers)
            sums.waiting += weight * (double)(n - servers);
        if (sums.total > 1e100) { /* only ratios matter */
            sums.total *= 1e-100;
            sums.waiting *= 1e-100;
            weight *= 1e-100;
        }
    }
    sums.lost = weight;
    return sums;
}

double theory_mmck_lost(size_t servers, size_t room, double load)
{
    struct mmck sums = mmck_weights(servers, room, load);

    return sums.lost / sums.total;
}

double theory_mmck_wait(size_t servers, size_t room, double arrivals, double service)
{
    struct mmck sums = mmck_weights(servers, room, arrivals * service);

    return sums.waiting / (arrivals * (sums.total - sums.lost)); /* Little's law of the line */
}

/* The work in service that an arrival finds is that of the classes which are served: all above the first that overloads
 * the server, and of that one as much as is left. */
static double residual_work(const double *arrivals, const double *services, const double *service_cvs, size_t count)
{
    double load = 0, residual = 0;

    for (size_t i = 0; i < count && load < 1; i++) {
        double own = arrivals[i] * services[i], served = own < 1 - load ? own : 1 - load;

        residual += served * services[i] * (1 + service_cvs[i] * service_cvs[i]) / 2;
        load += own;
    }
    return residual;
}

double theory_priority_wait(const double *arrivals, const double *services, const double *service_cvs, size_t count,
                            size_t which)
{
    double above = 0, own;

    for (size_t i = 0; i < which; i++)
        above += arrivals[i] * services[i];
    own = above + arrivals[which] * services[which];
    if (own >= 1)
        return INFINITY;
    return residual_work(arrivals, services, service_cvs, count) / ((1 - above) * (1 - own));
}

double theory_mdc_wait(size_t servers, double arrivals, double service)
{
    double c = (double)servers, use = arrivals * service / c;

    if (use >= 1)
        return INFINITY;
    return (1 + (1 - use) * (c - 1) * (sqrt(4 + 5 * c) - 2) / (16 * use * c)) / 2 *
           theory_mmc_wait(servers, arrivals, service);
}

double theory_mgc_wait_lee_longton(size_t servers, double arrivals, double service, double service_cv)
{
    return (1 + service_cv * service_cv) / 2 * theory_mmc_wait(servers, arrivals, service);
}

double theory_mgc_wait_cosmetatos(size_t servers, double arrivals, double service, double service_cv)
{
    double spread = service_cv * service_cv, exponential = theory_mmc_wait(servers, arrivals, service);

    if (isinf(exponential))
        return INFINITY;
    return spread * exponential + (1 - spread) * theory_mdc_wait(servers, arrivals, service);
}
