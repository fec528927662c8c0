/* The statistical battery: do 95 % intervals hold the truth 95 times in 100?
 *
 * 400 studies of 20 replications of four systems with a closed form, each study with a seed of its own. A study covers
 * if its interval holds the exact value. Of 400 a share within [92.5, 97.5] % is what chance leaves of 95 % (2.3
 * standard errors); at most one of the twelve cells may lie outside. With the argument `long`: 2,000 studies and
 * [93.5, 96.5] %. Behind that the other parts of the battery (battery.h), of 10 seeds each, or 100. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <gsl/gsl_errno.h>

#include "models/metrics.h"
#include "models/plan.h"
#include "models/trial.h"
#include "policies/registry.h"
#include "sim/stats/theory.h"
#include "sim/study/compare.h"
#include "tests/battery/battery.h"

enum { GOODPUT, WAIT_MEAN, WAIT_P99, CELLS };

struct system {
    const char *name, *yaml;
    double truth[CELLS];
};

#define CLOSED(population) \
    "study: {horizon: 13000 s, warmup: 1000 s}\n" \
    "backends: {b: {kind: slots, servers: 8, service: exponential(9.0769 s)}}\n" \
    "agents: {a: {population: " population ", think: exponential(4.5 s)}}\n"
#define OPEN(rate) \
    "study: {horizon: 13000 s, warmup: 1000 s}\n" \
    "backends: {b: {kind: slots, servers: 4, service: exponential(1 s)}}\n" \
    "agents: {a: {arrivals: poisson(" rate "/s)}}\n"

static void closed_truth(struct system *system, size_t population)
{
    struct finite_source exact = theory_finite_source(population, 8, 9.0769, 4.5);

    system->truth[GOODPUT] = exact.throughput;
    system->truth[WAIT_MEAN] = exact.wait_mean;
    system->truth[WAIT_P99] = exact.wait_p99;
}

static void open_truth(struct system *system, double rate)
{
    system->truth[GOODPUT] = rate;
    system->truth[WAIT_MEAN] = theory_mmc_wait(4, rate, 1);
    system->truth[WAIT_P99] = theory_mmc_wait_quantile(4, rate, 1, 0.99);
}

bool battery_file(const char *yaml, char *path, size_t size)
{
    int file;
    bool good;

    snprintf(path, size, "/tmp/weir-battery-XXXXXX");
    file = mkstemp(path);
    good = file >= 0 && write(file, yaml, strlen(yaml)) == (ssize_t)strlen(yaml);
    close(file);
    return good;
}

bool battery_read(const char *yaml, struct plan *plan)
{
    char path[64];
    struct plan_request request = {.path = path, .policies = policy_registry};
    struct diag diag = {0};
    bool good = battery_file(yaml, path, sizeof path);

    good = good && plan_read(&request, plan, &diag);
    diag_print(&diag, stderr);
    diag_fini(&diag);
    unlink(path);
    return good;
}

/* A point is a study: the same scenario under its own seed. */
static enum trial_outcome study_trial(void *context, size_t point, unsigned replication, double *values)
{
    struct scenario scenario = *((const struct plan *)context)->points[0].scenario;
    double all[METRIC_COUNT];

    scenario.study.seed = 1000 + (int64_t)point;
    if (trial_simulate(&scenario, replication, NULL, all) != TRIAL_ENDED)
        return TRIAL_FAILED;
    values[GOODPUT] = all[METRIC_GOODPUT];
    values[WAIT_MEAN] = all[METRIC_WAIT_MEAN];
    values[WAIT_P99] = all[METRIC_WAIT_P99];
    return TRIAL_DONE;
}

/* Percent of studies whose interval holds the truth, for each cell. */
static bool coverage(const struct system *system, size_t studies, double covered[CELLS])
{
    struct plan plan = {0};
    struct experiment experiment = {
        .points = studies, .replications = 20, .width = CELLS, .trial = study_trial, .context = &plan};
    struct results results;
    bool good = battery_read(system->yaml, &plan);

    if (good) {
        experiment_run(&experiment, &results);
        good = !results.failed;
        for (size_t cell = 0; cell < CELLS; cell++) {
            size_t hits = 0;

            for (size_t study = 0; study < studies; study++) {
                struct estimate estimate = compare_estimate(&results, study, cell);

                hits += fabs(estimate.mean - system->truth[cell]) <= estimate.half_width;
            }
            covered[cell] = 100.0 * (double)hits / (double)studies;
        }
        results_fini(&results);
    }
    plan_fini(&plan);
    return good;
}

bool battery_coverage(bool is_long)
{
    size_t studies = is_long ? 2000 : 400, outside = 0;
    double least = is_long ? 93.5 : 92.5, most = is_long ? 96.5 : 97.5;
    struct system systems[] = {
        {.name = "M/M/8//12", .yaml = CLOSED("12")},
        {.name = "M/M/8//24", .yaml = CLOSED("24")},
        {.name = "M/M/4, load 0.7", .yaml = OPEN("2.8")},
        {.name = "M/M/4, load 0.8", .yaml = OPEN("3.2")},
    };

    closed_truth(&systems[0], 12);
    closed_truth(&systems[1], 24);
    open_truth(&systems[2], 2.8);
    open_truth(&systems[3], 3.2);
    printf("coverage of 95 %% intervals, %zu studies of 20 replications of 12,000 s, percent\n", studies);
    printf("%-16s %8s %10s %9s\n", "system", "goodput", "wait_mean", "wait_p99");
    for (size_t i = 0; i < sizeof systems / sizeof *systems; i++) {
        double covered[CELLS];

        if (!coverage(&systems[i], studies, covered))
            return false;
        printf("%-16s %8.2f %10.2f %9.2f\n", systems[i].name, covered[GOODPUT], covered[WAIT_MEAN], covered[WAIT_P99]);
        fflush(stdout);
        for (size_t cell = 0; cell < CELLS; cell++)
            outside += covered[cell] < least || covered[cell] > most;
    }
    printf("%zu of 12 cells outside [%.1f, %.1f] %%; at most 1 is allowed\n", outside, least, most);
    return outside <= 1;
}

int main(int count, char **arguments)
{
    bool is_long = count > 1 && strcmp(arguments[1], "long") == 0;
    unsigned seeds = is_long ? 100 : 10;
    bool good;

    gsl_set_error_handler_off();
    good = battery_coverage(is_long);
    good = battery_drift(seeds) && good;
    good = battery_warm_up(seeds) && good;
    good = battery_size(seeds) && good;
    return !good;
}
