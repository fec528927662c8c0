/* main.c - how fast weir is, beside a hand-written loop. All take turns in one run and are compared round by round, so
 * that what else the machine does touches all of them; ratios and medians are what counts. Exit 1: too slow, too much
 * memory, or wrong numbers.
 *
 * `bench quick` is for CI: many short pairs of the loop and weir, and only the ratio of their speeds. Where others use
 * the machine, pairs are disturbed and their median with them; so it fails when not one pair reaches what is asked for.
 */
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "tests/bench/bench.h"

#define ROUNDS 11
#define PAIRS 61           /* of `bench quick` */
#define PAIR_HORIZON 200e3 /* seconds */
#define HORIZON 1e6        /* seconds: 880,000 turns */
#define LEAST_RATIO 0.35
#define MOST_MEMORY 20.0 /* MB */

/* From one horizon to ten: an octave that a histogram meets for the first time costs a page of 2 or 8 KiB. */
#define MOST_GROWTH 0.25 /* MB */
#define MOST_ALLOCATIONS 100

/* M/M/8//24, facts.md section 9 */
#define EXACT_THROUGHPUT 0.879121
#define EXACT_WAIT 13.7000

#define EXPONENTIAL \
    "backends: {card: {kind: slots, servers: 8, service: exponential(9.1 s)}}\n" \
    "agents: {coder: {population: 24, think: exponential(4.5 s)}}\n"
#define MIXTURE \
    "backends: {card: {kind: slots, servers: 8, rate: 39 tokens/s}}\n" \
    "agents: {coder: {population: 24, think: exponential(4.5 s),\n" \
    "  output: mixture(0.7 lognormal(120 cv 0.45) | 0.3 lognormal(900 cv 0.35)),\n" \
    "  client: {backoff: exponential, base: 16 s, cap: 120 s, jitter: full, retry_after: ignore}}}\n"
#define UNBOUNDED "policies: [unbounded]\n"
#define ARRIVALS \
    "backends: {card: {kind: slots, servers: 12, service: exponential(9.1 s)}}\n" \
    "agents: {coder: {arrivals: poisson(0.88/s)}}\n"

enum { REFERENCE, PLAIN, CAP_CALLS, CODEL_CALLS, CARD, CARD_CAP, CARD_CODEL, CONTENDERS };

static const struct {
    const char *name, *scenario; /* NULL: the hand-written loop */
} contenders[CONTENDERS] = {
    [REFERENCE] = {"hand-written loop, exponential", NULL},
    [PLAIN] = {"weir, exponential", EXPONENTIAL UNBOUNDED},
    [CAP_CALLS] = {"the same, fixed_cap that never binds", EXPONENTIAL "policies: [fixed_cap: {cap: 1000}]\n"},
    [CODEL_CALLS] = {"the same, codel that never binds", EXPONENTIAL "policies: [codel: {target: 10 h}]\n"},
    [CARD] = {"weir, the card's mixture, unbounded", MIXTURE UNBOUNDED},
    [CARD_CAP] = {"weir, the card's mixture, fixed_cap", MIXTURE "policies: [fixed_cap: {cap: 12}]\n"},
    [CARD_CODEL] = {"weir, the card's mixture, codel",
                    MIXTURE "policies: [codel: {law: persist, sheds_at: submission, target: 8 s, interval: 15 s}]\n"},
};

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double median(double *values, size_t count)
{
    qsort(values, count, sizeof *values, by_size);
    return values[count / 2];
}

/* --- memory: comes first, as a process's peak never falls --- */

static double process_peak(void)
{
    struct rusage usage;

    getrusage(RUSAGE_SELF, &usage);
    return (double)usage.ru_maxrss * 1024 / 1e6; /* Linux counts in KiB */
}

static const struct {
    const char *name, *scenario;
} settled[] = {
    {"24 agents", EXPONENTIAL UNBOUNDED},
    {"runs that arrive, a policy at the door", ARRIVALS "policies: [open_door]\n"},
    {"runs that arrive, a copy of fixed_cap for each", ARRIVALS "policies: [fixed_cap: {cap: 1000, scope: agent}]\n"},
};

static bool memory_settles(const char *name, const char *scenario)
{
    double most[2];
    uint64_t allocated[2];
    bool good;

    for (int i = 0; i < 2; i++) {
        struct product product = product_open(scenario, i == 0 ? HORIZON : 10 * HORIZON);
        uint64_t before = allocations();

        most[i] = product_memory(&product) / 1e6;
        allocated[i] = allocations() - before;
        product_close(&product);
    }
    good = process_peak() < MOST_MEMORY && most[1] - most[0] < MOST_GROWTH &&
           allocated[1] < allocated[0] + MOST_ALLOCATIONS;
    printf("  %-48s %5.2f %5.2f %5.2f %8" PRIu64 " %5" PRIu64 "%s\n", name, process_peak(), most[0], most[1],
           allocated[0], allocated[1], good ? "" : "  TOO MUCH");
    return good;
}

static bool memory_stands(void)
{
    bool good = true;

    printf("Memory in MB: peak of the process so far (under %.0f); of the trial in %.0f s and in ten times that (no\n"
           "growth); then its allocations (a page for each octave that a histogram meets)\n",
           MOST_MEMORY, HORIZON);
    for (size_t i = 0; i < sizeof settled / sizeof *settled; i++)
        good = memory_settles(settled[i].name, settled[i].scenario) && good;
    return good;
}

/* --- speed --- */

/* Each round has its own seeds, so these are means over independent runs. */
static bool is_exact(const char *name, double throughput, double wait_mean)
{
    bool good = fabs(throughput / EXACT_THROUGHPUT - 1) < 0.01 && fabs(wait_mean / EXACT_WAIT - 1) < 0.01;

    if (!good)
        printf("  WRONG: %s gives %.6f turns/s and a mean wait of %.4f s, theory %.6f and %.4f\n", name, throughput,
               wait_mean, EXACT_THROUGHPUT, EXACT_WAIT);
    return good;
}

/* ns[contender][round]: nanoseconds an event. */
static bool take_turns(double ns[CONTENDERS][ROUNDS])
{
    struct product products[CONTENDERS];
    double throughput[CONTENDERS] = {0}, wait[CONTENDERS] = {0};

    for (int i = PLAIN; i < CONTENDERS; i++)
        products[i] = product_open(contenders[i].scenario, HORIZON);
    for (uint32_t round = 0; round < ROUNDS; round++)
        for (int i = 0; i < CONTENDERS; i++) {
            struct run run = i == REFERENCE ? reference_run(HORIZON, round + 1) : product_run(&products[i], round + 1);

            ns[i][round] = run.seconds * 1e9 / run.events;
            throughput[i] += run.throughput / ROUNDS;
            wait[i] += run.wait_mean / ROUNDS;
        }
    for (int i = PLAIN; i < CONTENDERS; i++)
        product_close(&products[i]);
    return is_exact(contenders[REFERENCE].name, throughput[REFERENCE], wait[REFERENCE]) &&
           is_exact(contenders[PLAIN].name, throughput[PLAIN], wait[PLAIN]);
}

/* Speed in units of the reference's, which ran in the same round. */
static double ratio_of(double ns[CONTENDERS][ROUNDS], int contender)
{
    double ratios[ROUNDS];

    for (int i = 0; i < ROUNDS; i++)
        ratios[i] = ns[REFERENCE][i] / ns[contender][i];
    return median(ratios, ROUNDS);
}

/* A policy that never binds changes no path, so what it adds is the price of its calls. */
static double call_costs(double ns[CONTENDERS][ROUNDS], int contender, int calls_a_turn)
{
    double added[ROUNDS];

    for (int i = 0; i < ROUNDS; i++)
        added[i] = (ns[contender][i] - ns[PLAIN][i]) * 2 / calls_a_turn;
    return median(added, ROUNDS);
}

static bool speed_stands(void)
{
    double ns[CONTENDERS][ROUNDS], ratios[CONTENDERS], cap_call, codel_call;
    bool good = take_turns(ns);

    for (int i = 0; i < CONTENDERS; i++)
        ratios[i] = ratio_of(ns, i);
    cap_call = call_costs(ns, CAP_CALLS, 1);
    codel_call = call_costs(ns, CODEL_CALLS, 2);
    printf("\nSpeed, %d agents, %d servers, %.0f s, medians of %d rounds\n", BENCH_AGENTS, BENCH_SERVERS, HORIZON,
           ROUNDS);
    printf("An event is the end of a think or of a service; the ratio is to the hand-written loop.\n");
    printf("  %-40s %10s %10s %8s\n", "", "M events/s", "ns/event", "ratio");
    for (int i = 0; i < CONTENDERS; i++) {
        double middle = median(ns[i], ROUNDS);

        printf("  %-40s %10.1f %10.1f %8.3f\n", contenders[i].name, 1e3 / middle, middle, ratios[i]);
    }
    printf("  a call of fixed_cap costs %.1f ns, one of codel %.1f ns\n", cap_call, codel_call);
    if (ratios[PLAIN] < LEAST_RATIO)
        printf("  TOO SLOW: a ratio of at least %.2f is asked for\n", LEAST_RATIO);
    return good && ratios[PLAIN] >= LEAST_RATIO;
}

/* --- the quick form --- */

static bool quick_stands(void)
{
    struct product product = product_open(contenders[PLAIN].scenario, PAIR_HORIZON);
    double ratios[PAIRS], middle, throughput = 0, wait = 0;
    bool good;

    for (uint32_t i = 0; i < PAIRS; i++) {
        struct run loop = reference_run(PAIR_HORIZON, i + 1), own = product_run(&product, i + 1);

        ratios[i] = loop.seconds / loop.events * own.events / own.seconds;
        throughput += own.throughput / PAIRS;
        wait += own.wait_mean / PAIRS;
    }
    product_close(&product);
    middle = median(ratios, PAIRS);
    good = ratios[PAIRS - 1] >= LEAST_RATIO;
    printf("speed in units of the hand-written loop's, %d pairs: median %.3f, from %.3f to %.3f; asked for: %.2f%s\n",
           PAIRS, middle, ratios[0], ratios[PAIRS - 1], LEAST_RATIO, good ? "" : "  TOO SLOW");
    return is_exact(contenders[PLAIN].name, throughput, wait) && good;
}

int main(int count, char **words)
{
    bool good;

    if (count > 1 && strcmp(words[1], "quick") == 0) {
        good = quick_stands();
    } else {
        good = memory_stands();
        good = speed_stands() && good;
        ask_costs();
    }
    return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
