/* regress_side.c - one version of a scenario, run replication by replication as far as is asked. */
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "models/trial.h"
#include "sim/cli/plugin.h"
#include "sim/cli/regress.h"
#include "sim/cli/session.h"

/* Points in the order of the trials, and what the threads share. */
struct running {
    const struct regress_side *side;
    struct regress_request *request;
    size_t *points;
    unsigned from; /* replications that were done before */
    pthread_mutex_t lock;
    size_t failed_trial;
    char failed[512];
};

bool regress_side_open(struct regress_side *side, const char *path, const struct regress_request *request,
                       const struct regress_version *version, const char *const *sets, size_t set_count,
                       struct diag *diag)
{
    struct arena arena = {0};
    const char **all = arena_zeroed(&arena, set_count + version->set_count + 1, sizeof *all);
    struct plan_request plan = {
        .path = path,
        .sets = all,
        .set_count = set_count + version->set_count,
        .regress = true,
        .policies = request->known,
        .standing_in = version->policy,
        .load = plugin_load,
    };
    bool good;

    for (size_t i = 0; i < plan.set_count; i++)
        all[i] = i < set_count ? sets[i] : version->sets[i - set_count];
    good = plan_read(&plan, &side->plan, diag);
    for (size_t i = 0; good && i < side->plan.point_count; i++) {
        size_t width = trial_row_count(side->plan.points[i].scenario) * METRIC_COUNT;

        side->width = width > side->width ? width : side->width;
    }
    if (good)
        side->finished = mem_zeroed(side->plan.point_count, sizeof *side->finished);
    arena_free(&arena);
    return good;
}

const double *regress_side_at(const struct regress_side *side, size_t point, unsigned replication)
{
    return side->values + (point * side->room + (replication - 1)) * side->width;
}

static enum trial_outcome run_trial(void *context, size_t point, unsigned replication, double *values)
{
    struct running *running = context;
    char wrong[512];
    struct trial_watch watch = {.stop = &running->request->stop, .wrong = wrong, .wrong_size = sizeof wrong};
    size_t at = running->points[point], trial = at * 1000000 + replication;
    enum trial_end end =
        trial_simulate(running->side->plan.points[at].scenario, running->from + replication, &watch, values);

    if (end == TRIAL_WRONG) {
        pthread_mutex_lock(&running->lock);
        if (!running->failed[0] || trial < running->failed_trial) {
            running->failed_trial = trial;
            memcpy(running->failed, wrong, sizeof running->failed);
        }
        pthread_mutex_unlock(&running->lock);
    }
    return end == TRIAL_ENDED ? TRIAL_DONE : end == TRIAL_INTERRUPTED ? TRIAL_STOPPED : TRIAL_FAILED;
}

/* Looks at the clock now and then: a time limit stops the trials as Ctrl-C does. */
static void look(void *context, size_t done, size_t all)
{
    struct running *running = context;
    struct timespec now;

    (void)done;
    (void)all;
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (cli_stop || (double)now.tv_sec + (double)now.tv_nsec * 1e-9 >= running->request->deadline)
        running->request->stop = 1;
}

/* Room for more replications of each point, what is there already in its place. */
static void make_room(struct regress_side *side, size_t room)
{
    size_t points = side->plan.point_count;
    double *values;

    if (room <= side->room)
        return;
    values = mem_zeroed(points * room, side->width * sizeof *values);
    for (size_t i = 0; i < points && side->room > 0; i++)
        memcpy(values + i * room * side->width, side->values + i * side->room * side->width,
               side->room * side->width * sizeof *values);
    free(side->values);
    side->values = values;
    side->room = room;
}

/* The wanted points that have done the least, which are run together: all of them, as they are only run on together. */
static size_t points_of(const struct regress_side *side, const bool *wanted, unsigned upto, size_t *points,
                        unsigned *from)
{
    size_t count = 0;

    *from = upto;
    for (size_t i = 0; i < side->plan.point_count; i++)
        if (wanted[i] && side->finished[i] < *from)
            *from = side->finished[i];
    for (size_t i = 0; i < side->plan.point_count; i++)
        if (wanted[i] && side->finished[i] == *from && *from < upto)
            points[count++] = i;
    return count;
}

bool regress_side_run(struct regress_side *side, const bool *wanted, unsigned upto, struct regress_request *request)
{
    size_t *points = mem_zeroed(side->plan.point_count, sizeof *points);
    struct running running = {.side = side, .request = request, .points = points, .lock = PTHREAD_MUTEX_INITIALIZER};
    struct experiment experiment = {
        .points = points_of(side, wanted, upto, points, &running.from),
        .width = side->width,
        .threads = request->threads,
        .trial = run_trial,
        .progress = look,
        .context = &running,
        .stop = &request->stop,
    };
    struct results results;
    bool good = true;

    look(&running, 0, 0);
    if (experiment.points > 0 && !request->stop) {
        experiment.replications = upto - running.from;
        make_room(side, upto);
        experiment_run(&experiment, &results);
        for (size_t i = 0; i < experiment.points; i++) {
            memcpy(side->values + (points[i] * side->room + running.from) * side->width, results_at(&results, i, 1),
                   results.finished[i] * side->width * sizeof(double));
            side->finished[points[i]] = running.from + results.finished[i];
        }
        good = !results.failed;
        if (!good) {
            char point[256];

            session_point(&side->plan, points[results.failed_point], true, point, sizeof point);
            fprintf(stderr, "weir: %s: %s, replication %u: %s\n", side->plan.path, point,
                    running.from + results.failed_replication, running.failed);
        }
        results_fini(&results);
    }
    pthread_mutex_destroy(&running.lock);
    free(points);
    return good;
}

void regress_side_close(struct regress_side *side)
{
    free(side->values);
    free(side->finished);
    plan_fini(&side->plan);
    *side = (struct regress_side){0};
}
