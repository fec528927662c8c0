/* theory.h - closed forms of queueing theory that runs are held against. Times in seconds, rates a second.
 *
 * Sources: Lazowska et al., Quantitative System Performance (bounds); Kleinrock, Queueing Systems 1 (M/M/c, M/G/1,
 * finite sources). Undefined or unstable: INFINITY for waits, NAN where nothing sensible exists. */
#ifndef SIM_THEORY_H
#define SIM_THEORY_H

#include <stdbool.h>
#include <stddef.h>

/* Asymptotic bounds of a closed loop with n agents, c servers, service demand s and think time z. */
double theory_capacity(double servers, double service);                                 /* c / s */
double theory_knee(double servers, double service, double think);                       /* c (s + z) / s */
double theory_throughput_bound(double n, double servers, double service, double think); /* min(n / (s + z), c / s) */
double theory_wait_bound(double n, double servers, double service,
                         double think); /* least mean wait: max(0, n s/c - s - z) */

/* M/M/c//N, the machine repairman: exponential think (mean z) and service (mean s). A wait is what an arriving call
 * sees; 0 counts. The p-quantile of a wait is the smallest w with P(W <= w) >= p. Cost: some multiple of the standard
 * deviation of the number in the system, so a million agents take milliseconds. */
struct finite_source {
    double throughput, wait_mean, wait_p50, wait_p95, wait_p99, utilisation;
};
struct finite_source theory_finite_source(size_t agents, size_t servers, double service, double think);
double theory_finite_source_wait_quantile(size_t agents, size_t servers, double service, double think, double p);

/* Open arrivals. */
double theory_erlang_b(size_t servers, double load); /* load = arrival rate * service */
double theory_erlang_c(size_t servers, double load); /* probability of waiting; 1 at and past saturation */
double theory_mmc_wait(size_t servers, double arrivals, double service);
double theory_mmc_wait_quantile(size_t servers, double arrivals, double service, double p);
double theory_mg1_wait(double arrivals, double service, double service_cv); /* Pollaczek-Khinchine */

/* M/G/c, where no closed form is known, approximately: the mean wait of M/M/c times (1 + cv^2) / 2 (Lee and Longton
 * 1959); and between M/M/c and M/D/c in proportion to cv^2, of M/D/c by Cosmetatos (1975). Both are exact for one
 * server and for exponential service; the second is nearer where service is steadier than that. */
double theory_mgc_wait_lee_longton(size_t servers, double arrivals, double service, double service_cv);
double theory_mgc_wait_cosmetatos(size_t servers, double arrivals, double service, double service_cv);
double theory_mdc_wait(size_t servers, double arrivals, double service);

/* Several classes of a population that share c servers: what exact mean value analysis gives (Reiser and Lavenberg
 * 1980) where there is a product form, that is with exponential services of one mean served in order of arrival, or any
 * services under processor sharing; think times are any. throughputs: one a class. False: more than 4 million states.
 */
struct shared_class {
    size_t population;
    double service, think;
};
bool theory_shared(size_t servers, const struct shared_class *classes, size_t count, double *throughputs);

/* M/M/c/K, room for `room` calls in the system, the others lost (Kleinrock 1, 3.5): the share lost, and the mean wait
 * of those let in. */
double theory_mmck_lost(size_t servers, size_t room, double load);
double theory_mmck_wait(size_t servers, size_t room, double arrivals, double service);

/* M/G/1 with non-preemptive priorities (Cobham 1954): the mean wait of class `which` of `count`, 0 the highest. */
double theory_priority_wait(const double *arrivals, const double *services, const double *service_cvs, size_t count,
                            size_t which);

#endif
