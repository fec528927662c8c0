/* bench.h - what is measured: one closed loop by a loop that knows nothing else, and by weir.
 *
 * An event is the end of a think or of a service, two a turn; backoffs and everything else that weir does count as time
 * only. Times are processor time, as the machine may be shared. */
#ifndef TESTS_BENCH_H
#define TESTS_BENCH_H

#include <stdint.h>
#include <time.h>

#include "models/plan.h"

#define BENCH_AGENTS 24
#define BENCH_SERVERS 8
#define BENCH_THINK 4.5   /* seconds, mean */
#define BENCH_SERVICE 9.1 /* seconds, mean */

struct run {
    double events, seconds;       /* seconds of processor time */
    double throughput, wait_mean; /* turns a second; seconds from joining the line to service */
};

static inline double processor_seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* The hand-written loop: exponential think and service. */
struct run reference_run(double horizon, uint64_t seed);

/* A scenario with one design point, from its text. What is wrong with it is printed and ends the program. */
struct product {
    struct plan plan;
    double horizon;
};
struct product product_open(const char *agents_and_policy, double horizon);
struct run product_run(const struct product *product, uint32_t replication);
/* Bytes that one trial has in use at the most. */
double product_memory(const struct product *product);
void product_close(struct product *product);

/* Prints what a question to a program costs. */
void ask_costs(void);

/* Calls of malloc, calloc and realloc in this process so far. */
uint64_t allocations(void);

#endif
