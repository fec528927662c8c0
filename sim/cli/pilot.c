/* pilot.c - finding a warm-up. Only the means of a replication are kept, and one design point is done after the other,
 * so memory depends neither on the horizon nor on how many there are. */
#include "sim/cli/pilot.h"

#include <stdlib.h>
#include <string.h>

#include "models/trial.h"
#include "sim/io/mem.h"
#include "sim/stats/series.h"
#include "sim/stats/steady.h"

/* Replications of a study have lower numbers. */
#define FIRST_PILOT (UINT32_C(1) << 30)

struct pilot {
    const struct scenario *scenario;
    size_t numbers;          /* that a trial yields of its own */
    char wrong[PILOTS][512]; /* by replication */
};

/* Yields the means alone. */
static enum trial_outcome pilot_trial(void *context, size_t point, unsigned replication, double *means)
{
    struct pilot *pilot = context;
    sim_sum areas[STEADY_BATCHES] = {0};
    struct series present;
    double *values = mem_zeroed(pilot->numbers, sizeof *values);
    struct trial_watch watch = {.stop = &cli_stop,
                                .wrong = pilot->wrong[replication - 1],
                                .wrong_size = sizeof pilot->wrong[0],
                                .present = &present};
    enum trial_end end;

    (void)point;
    series_init(&present, 0, pilot->scenario->study.horizon, areas, STEADY_BATCHES);
    end = trial_simulate(pilot->scenario, FIRST_PILOT + replication, &watch, values);
    series_means(&present, means);
    free(values);
    return end == TRIAL_ENDED ? TRIAL_DONE : end == TRIAL_INTERRUPTED ? TRIAL_STOPPED : TRIAL_FAILED;
}

static size_t truncation(const struct results *results)
{
    double means[STEADY_BATCHES] = {0};

    for (unsigned i = 1; i <= PILOTS; i++)
        for (size_t part = 0; part < STEADY_BATCHES; part++)
            means[part] += results_at(results, 0, i)[part] / PILOTS;
    return steady_truncation(means, STEADY_BATCHES);
}

int pilot_parts(struct session *session, unsigned threads, size_t point, size_t *parts)
{
    struct pilot pilot = {.scenario = session->plan.points[point].scenario, .numbers = session->width};
    struct experiment experiment = {.points = 1,
                                    .replications = PILOTS,
                                    .width = STEADY_BATCHES,
                                    .threads = threads,
                                    .trial = pilot_trial,
                                    .context = &pilot,
                                    .stop = &cli_stop};
    struct results results;
    char where[256];
    int status = EXIT_DONE;

    experiment_run(&experiment, &results);
    if (results.failed) {
        session_point(&session->plan, point, true, where, sizeof where);
        fprintf(stderr, "weir: %s, pilot replication %u: %s\n", where, results.failed_replication,
                pilot.wrong[results.failed_replication - 1]);
        status = EXIT_USAGE;
    } else if (results.interrupted) {
        status = EXIT_INTERRUPTED;
    } else {
        *parts = truncation(&results);
    }
    results_fini(&results);
    return status;
}

static void say_too_short(const struct session *session, size_t point)
{
    const struct plan *plan = &session->plan;
    struct diag diag = {0};
    char where[256];

    session_point(plan, point, true, where, sizeof where);
    diag_error(
        &diag, node_get(node_get(plan->root, "study"), "warmup")->place,
        "warmup: auto: the number in the system has not settled in the first half of the horizon (%s): too short "
        "to find a warm-up, or there is no steady state: expected a longer horizon, or a time",
        where);
    diag_print(&diag, stderr);
    diag_fini(&diag);
}

int pilot_warm_up(struct session *session, unsigned threads)
{
    struct plan *plan = &session->plan;
    const struct study *study = &plan->points[0].scenario->study;
    sim_time longest = 0;

    for (size_t point = 0; study->warmup_auto && point < plan->point_count; point++) {
        sim_time horizon = plan->points[point].scenario->study.horizon, warmup;
        size_t parts = 0;
        int status = pilot_parts(session, threads, point, &parts);

        if (status != EXIT_DONE)
            return status;
        if (parts > STEADY_BATCHES / 2) {
            say_too_short(session, point);
            return EXIT_USAGE;
        }
        warmup = (sim_time)((sim_sum)horizon * (sim_sum)parts / STEADY_BATCHES);
        longest = warmup > longest ? warmup : longest;
    }
    for (size_t point = 0; study->warmup_auto && point < plan->point_count; point++)
        if (longest > plan->points[point].scenario->study.horizon / 2) { /* horizons are swept */
            say_too_short(session, point);
            return EXIT_USAGE;
        }
    if (study->warmup_auto)
        plan_warm_up(plan, longest);
    return EXIT_DONE;
}
