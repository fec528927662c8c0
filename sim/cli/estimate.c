/* estimate.c - a stretch of a trial, and how much of the whole that was.
 *
 * A study with a horizon goes on as it began. One that ends when its runs are done ends where it ends: if not within
 * the stretch, then as much later as turns are left, but not after `most`. A stretch that has seen next to none of them
 * is made longer, for a fleet that boots tells nothing of its work. */
#include "sim/cli/estimate.h"

#include <math.h>
#include <time.h>

#include "models/trial.h"
#include "sim/cli/session.h"

#define STRETCH 20000      /* events, some milliseconds; beside the first two of each agent, which come at once */
#define STRETCH_MOST 16    /* times that, at the most */
#define PROGRESS_LEAST 0.1 /* of all turns, from which on what is left can be told */

double estimate_clock(void)
{
    struct timespec now;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* How often the stretch goes into the whole. */
static double times(const struct study *study, sim_time reached, double progress)
{
    double by_time = (double)(study->until_done ? study->most : study->horizon) / (double)reached;

    return study->until_done && progress > 0 ? fmin(1 / progress, by_time) : by_time;
}

struct estimate estimate_of(const struct scenario *scenario, double *values)
{
    struct scenario unmeasured = *scenario;
    uint64_t first = 0, events;
    sim_time reached;
    double progress;
    struct trial_watch watch = {.stop = &cli_stop, .events = &events, .reached = &reached, .progress = &progress};

    for (size_t i = 0; i < scenario->class_count; i++)
        first += 2 * scenario->classes[i].population;
    unmeasured.study.warmup = 0;
    for (uint64_t longer = 1;; longer *= 4) {
        double begun = estimate_clock(), whole = 1;
        enum trial_end end;

        watch.events_most = first + longer * STRETCH;
        end = trial_simulate(&unmeasured, 1, &watch, values);
        if (end == TRIAL_INTERRUPTED && scenario->study.until_done && progress < PROGRESS_LEAST &&
            longer < STRETCH_MOST && !cli_stop)
            continue;
        if (end == TRIAL_WRONG || reached == 0)
            return (struct estimate){NAN, NAN};
        if (end == TRIAL_INTERRUPTED)
            whole = times(&scenario->study, reached, progress);
        return (struct estimate){whole * (double)events, whole * (estimate_clock() - begun)};
    }
}
