/* steady.c - the battery's studies of what is found in the number in the system: growth, and a warm-up. */
#include <math.h>
#include <stdio.h>

#include "models/metrics.h"
#include "models/trial.h"
#include "sim/cli/pilot.h"
#include "sim/stats/series.h"
#include "sim/stats/steady.h"
#include "sim/study/compare.h"
#include "tests/battery/battery.h"
#include "tests/transient.h"

enum { REPLICATIONS = 20, SOME = 99 /* of 100 */ };

/* A point is a seed; yields the mean number in each half. */
static enum trial_outcome halves_trial(void *context, size_t point, unsigned replication, double *values)
{
    struct scenario scenario = *((const struct plan *)context)->points[0].scenario;
    double all[METRIC_COUNT];
    sim_sum areas[2] = {0};
    struct series present;
    struct trial_watch watch = {.present = &present};

    scenario.study.seed = 5000 + (int64_t)point;
    series_init(&present, scenario.study.warmup, scenario.study.horizon, areas, 2);
    if (trial_simulate(&scenario, replication, &watch, all) != TRIAL_ENDED)
        return TRIAL_FAILED;
    series_means(&present, values);
    return TRIAL_DONE;
}

/* How many of the seeds are flagged; -1 after a message. */
static int flagged(const char *yaml, unsigned seeds)
{
    struct plan plan = {0};
    struct experiment experiment = {
        .points = seeds, .replications = REPLICATIONS, .width = 2, .trial = halves_trial, .context = &plan};
    struct results results;
    int count = -1;

    if (battery_read(yaml, &plan)) {
        experiment_run(&experiment, &results);
        count = results.failed ? -1 : 0;
        for (size_t seed = 0; seed < seeds && !results.failed; seed++) {
            const double *values = results_at(&results, seed, 1);

            count += steady_grows(values, values + 1, REPLICATIONS, 2);
        }
        results_fini(&results);
    }
    plan_fini(&plan);
    return count;
}

#define QUEUE(rate) \
    "study: {horizon: 20000 s, warmup: 1000 s}\n" \
    "backends: {b: {kind: slots, servers: 1, service: exponential(1 s)}}\n" \
    "agents: {a: {arrivals: poisson(" rate "/s)}}\n"

bool battery_drift(unsigned seeds)
{
    int over = flagged(QUEUE("1.05"), seeds), under = flagged(QUEUE("0.9"), seeds);

    printf("growth, M/M/1 of 20 replications of 19,000 s: load 1.05 flagged in %d of %u seeds, load 0.9 in %d\n", over,
           seeds, under);
    return over * 100 >= SOME * (int)seeds && under >= 0 && under * 100 <= (100 - SOME) * (int)seeds;
}

/* The bias, which theory knows without noise, against a tenth of the half-width of the study itself. */
bool battery_warm_up(unsigned seeds)
{
    static const char yaml[] = "study: {horizon: 10000 s, warmup: auto, replications: 20}\n"
                               "backends: {b: {kind: slots, servers: 8, service: exponential(9.0769 s)}}\n"
                               "agents: {a: {population: 24, think: exponential(4.5 s)}}\n";
    double worst = 0;
    bool good = true;

    for (unsigned seed = 1; seed <= seeds && good; seed++) {
        struct session session = {.width = METRIC_COUNT + QUALITY_COUNT};

        good = battery_read(yaml, &session.plan);
        if (good) {
            double warmup, bias;

            session.plan.points[0].study->seed = 7000 + seed;
            good = session_run(&session, 0) == EXIT_DONE;
            warmup = sim_seconds(session.plan.points[0].study->warmup);
            bias = transient_excess(24, 8, 9.0769, 4.5, warmup) / (10000 - warmup);
            worst = fmax(worst, fabs(bias) / compare_estimate(&session.results, 0, METRIC_IN_SYSTEM_MEAN).half_width);
        }
        session_close(&session);
    }
    printf("warm-up found on M/M/8//24 from an empty start, 20 replications of 10,000 s: bias at the most %.4f of the "
           "half-width in %u seeds; at most 0.1 is allowed\n",
           worst, seeds);
    return good && worst < 0.1;
}
