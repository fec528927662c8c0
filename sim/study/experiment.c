/* experiment.c - a pool of threads takes trials in order.
 *
 * One lock guards who takes what; a trial takes milliseconds or more, so it is never contended. */
#include "sim/study/experiment.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "sim/io/mem.h"

#define PROGRESS_NS 200000000L /* between two calls of the progress function */

/* Of a point that replications are wanted of: its first trial, which is replication `replication`. */
struct stretch {
    size_t point, first;
    unsigned replication;
};

/* Trials are numbered point by point, those that were done before left out. */
struct pool {
    const struct experiment *experiment;
    struct results *results;
    struct stretch *stretches; /* and one behind them, whose first trial is the number of all */
    size_t current;            /* the stretch of the next trial */
    bool *done;                /* of each trial */
    size_t next, finished;
    size_t limit; /* no trial from here on is begun: the first failed one, or their number */
    bool stopped; /* a trial said so */
    unsigned working;
    pthread_mutex_t lock;
    pthread_cond_t idle; /* the last thread has ended */
};

static double *row_of(const struct pool *pool, size_t point, unsigned replication)
{
    return pool->results->values[point] + (replication - 1) * pool->experiment->width;
}

/* Trials are taken in order, so the stretch of the next is this one or one further on. */
static size_t take(struct pool *pool, size_t *point, unsigned *replication)
{
    const struct stretch *stretch;

    while (pool->next >= pool->stretches[pool->current + 1].first)
        pool->current++;
    stretch = &pool->stretches[pool->current];
    *point = stretch->point;
    *replication = stretch->replication + (unsigned)(pool->next - stretch->first);
    return pool->next++;
}

static bool has_next(const struct pool *pool)
{
    const atomic_int *stop = pool->experiment->stop;

    return pool->next < pool->limit && !pool->stopped && !(stop && *stop);
}

static void conclude(struct pool *pool, size_t trial, enum trial_outcome outcome)
{
    switch (outcome) {
    case TRIAL_DONE:
        pool->done[trial] = true;
        pool->finished++;
        break;
    case TRIAL_STOPPED:
        pool->stopped = true;
        break;
    case TRIAL_FAILED:
        if (trial < pool->limit)
            pool->limit = trial;
        break;
    }
}

static void *work(void *argument)
{
    struct pool *pool = argument;
    const struct experiment *experiment = pool->experiment;

    pthread_mutex_lock(&pool->lock);
    while (has_next(pool)) {
        size_t point;
        unsigned replication;
        size_t trial = take(pool, &point, &replication);
        enum trial_outcome outcome;

        pthread_mutex_unlock(&pool->lock);
        outcome = experiment->trial(experiment->context, point, replication, row_of(pool, point, replication));
        pthread_mutex_lock(&pool->lock);
        conclude(pool, trial, outcome);
    }
    if (--pool->working == 0)
        pthread_cond_signal(&pool->idle);
    pthread_mutex_unlock(&pool->lock);
    return NULL;
}

static unsigned thread_count(const struct experiment *experiment, size_t trials)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    unsigned threads = experiment->threads ? experiment->threads : cores > 0 ? (unsigned)cores : 1;

    return threads > trials ? (unsigned)trials : threads;
}

static struct timespec progress_due(void)
{
    struct timespec due;

    clock_gettime(CLOCK_MONOTONIC, &due);
    due.tv_nsec += PROGRESS_NS;
    if (due.tv_nsec >= 1000000000L) {
        due.tv_sec++;
        due.tv_nsec -= 1000000000L;
    }
    return due;
}

/* The progress function runs outside the lock: however slow it is, it holds up nobody. */
static void wait_for_threads(struct pool *pool, size_t trials)
{
    const struct experiment *experiment = pool->experiment;
    bool working = true;

    while (working) {
        struct timespec due = progress_due();
        size_t finished;

        pthread_mutex_lock(&pool->lock);
        while (pool->working > 0 && pthread_cond_timedwait(&pool->idle, &pool->lock, &due) == 0)
            ;
        working = pool->working > 0;
        finished = pool->finished;
        pthread_mutex_unlock(&pool->lock);
        if (experiment->progress)
            experiment->progress(experiment->context, finished, trials);
    }
}

/* Threads that cannot be had are done without; with none at all the caller works itself. */
static void run_threads(struct pool *pool, size_t trials)
{
    unsigned wanted = thread_count(pool->experiment, trials), started = 0;
    pthread_t *threads = mem_zeroed(wanted, sizeof *threads);

    pool->working = wanted;
    while (started < wanted && pthread_create(&threads[started], NULL, work, pool) == 0)
        started++;
    if (started == 0 && wanted > 0) {
        pool->working = 1;
        work(pool);
    } else {
        pthread_mutex_lock(&pool->lock);
        pool->working -= wanted - started;
        pthread_mutex_unlock(&pool->lock);
    }
    wait_for_threads(pool, trials);
    for (unsigned i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
    free(threads);
}

/* What was done past a failed trial depends on timing, so it counts as not done. */
static void settle(const struct pool *pool, size_t stretches)
{
    struct results *results = pool->results;

    for (size_t i = 0; i < stretches; i++) {
        const struct stretch *stretch = &pool->stretches[i];

        for (size_t trial = stretch->first; trial < stretch[1].first; trial++) {
            unsigned replication = stretch->replication + (unsigned)(trial - stretch->first);
            bool done = pool->done[trial] && trial < pool->limit;

            if (done && results->finished[stretch->point] == replication - 1)
                results->finished[stretch->point]++;
            for (size_t k = 0; !done && k < results->width; k++)
                row_of(pool, stretch->point, replication)[k] = NAN;
            if (!done && trial < pool->limit)
                results->interrupted = true;
            if (trial == pool->limit) {
                results->failed = true;
                results->failed_point = stretch->point;
                results->failed_replication = replication;
            }
        }
    }
}

void experiment_begin(const struct experiment *experiment, struct results *results)
{
    *results = (struct results){
        .points = experiment->points,
        .width = experiment->width,
        .replications = experiment->replications,
        .values = mem_zeroed(experiment->points, sizeof *results->values),
        .finished = mem_zeroed(experiment->points, sizeof *results->finished),
    };
}

/* The stretches that are wanted, and memory for what they yield; returns how many. */
static size_t plan_stretches(struct pool *pool, const unsigned *wanted)
{
    const struct results *results = pool->results;
    size_t count = 0, trials = 0;

    pool->stretches = mem_zeroed(results->points + 1, sizeof *pool->stretches);
    for (size_t point = 0; point < results->points; point++) {
        if (wanted[point] <= results->finished[point])
            continue;
        if (!results->values[point])
            results->values[point] = mem_zeroed(results->replications, results->width * sizeof(double));
        pool->stretches[count++] =
            (struct stretch){.point = point, .first = trials, .replication = results->finished[point] + 1};
        trials += wanted[point] - results->finished[point];
    }
    pool->stretches[count].first = trials;
    return count;
}

void experiment_extend(const struct experiment *experiment, const unsigned *wanted, struct results *results)
{
    struct pool pool = {.experiment = experiment, .results = results, .lock = PTHREAD_MUTEX_INITIALIZER};
    size_t stretches = plan_stretches(&pool, wanted), trials = pool.stretches[stretches].first;
    pthread_condattr_t monotonic;

    pool.limit = trials;
    pool.done = mem_zeroed(trials, sizeof *pool.done);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&pool.idle, &monotonic);
    pthread_condattr_destroy(&monotonic);

    run_threads(&pool, trials);
    settle(&pool, stretches);

    pthread_cond_destroy(&pool.idle);
    pthread_mutex_destroy(&pool.lock);
    free(pool.done);
    free(pool.stretches);
}

void experiment_run(const struct experiment *experiment, struct results *results)
{
    unsigned *wanted = mem_zeroed(experiment->points, sizeof *wanted);

    for (size_t point = 0; point < experiment->points; point++)
        wanted[point] = experiment->replications;
    experiment_begin(experiment, results);
    experiment_extend(experiment, wanted, results);
    free(wanted);
}

void results_fini(struct results *results)
{
    for (size_t point = 0; point < results->points; point++)
        free(results->values[point]);
    free(results->values);
    free(results->finished);
    *results = (struct results){0};
}
