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

/* Trials are numbered point by point: trial = point * replications + replication - 1. */
struct pool {
    const struct experiment *experiment;
    double *values;
    bool *done; /* of each trial */
    size_t next, finished;
    size_t limit; /* no trial from here on is begun: the first failed one, or their number */
    bool stopped; /* a trial said so */
    unsigned working;
    pthread_mutex_t lock;
    pthread_cond_t idle; /* the last thread has ended */
};

static double *row_of(const struct pool *pool, size_t trial)
{
    return pool->values + trial * pool->experiment->width;
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
        size_t trial = pool->next++;
        enum trial_outcome outcome;

        pthread_mutex_unlock(&pool->lock);
        outcome = experiment->trial(experiment->context, trial / experiment->replications,
                                    (unsigned)(trial % experiment->replications) + 1, row_of(pool, trial));
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
static void settle(const struct pool *pool, size_t trials, struct results *results)
{
    for (size_t trial = 0; trial < trials; trial++) {
        size_t point = trial / results->replications;
        bool done = pool->done[trial] && trial < pool->limit;

        if (done && results->finished[point] == trial % results->replications)
            results->finished[point]++;
        for (size_t i = 0; !done && i < results->width; i++)
            row_of(pool, trial)[i] = NAN;
        if (!done && trial < pool->limit)
            results->interrupted = true;
    }
    results->failed = pool->limit < trials;
    if (results->failed) {
        results->failed_point = pool->limit / results->replications;
        results->failed_replication = (unsigned)(pool->limit % results->replications) + 1;
    }
}

void experiment_run(const struct experiment *experiment, struct results *results)
{
    size_t trials = experiment->points * experiment->replications;
    struct pool pool = {.experiment = experiment, .limit = trials, .lock = PTHREAD_MUTEX_INITIALIZER};
    pthread_condattr_t monotonic;

    *results = (struct results){
        .points = experiment->points,
        .width = experiment->width,
        .replications = experiment->replications,
        .values = mem_zeroed(trials, experiment->width * sizeof *results->values),
        .finished = mem_zeroed(experiment->points, sizeof *results->finished),
    };
    pool.values = results->values;
    pool.done = mem_zeroed(trials, sizeof *pool.done);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&pool.idle, &monotonic);
    pthread_condattr_destroy(&monotonic);

    run_threads(&pool, trials);
    settle(&pool, trials, results);

    pthread_cond_destroy(&pool.idle);
    pthread_mutex_destroy(&pool.lock);
    free(pool.done);
}

void results_fini(struct results *results)
{
    free(results->values);
    free(results->finished);
    *results = (struct results){0};
}
