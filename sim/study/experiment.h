/* experiment.h - many replications of many points, on threads, with the same digits for any number of them.
 *
 * A trial is one replication of one point: a function that fills a row of numbers. A pool of threads takes the next
 * trial in order (point by point); each result has a place of its own, and reducing runs over places in order, so
 * nothing depends on who ran what when. A study may go on where it ended, with more replications of some points.
 *
 * After a failed trial none of higher order is begun and what such trials yielded is dropped, while all of lower order
 * are completed: which failure is reported, and with which results, depends on no timing. The thread that calls waits
 * and reports progress; the trials run on others. */
#ifndef SIM_EXPERIMENT_H
#define SIM_EXPERIMENT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum trial_outcome {
    TRIAL_DONE,
    TRIAL_STOPPED, /* it saw the stop flag; values are not used */
    TRIAL_FAILED,  /* the message is in the trial's own keeping */
};

/* replication from 1. Called from several threads at once, for different (point, replication). */
typedef enum trial_outcome trial_fn(void *context, size_t point, unsigned replication, double *values);
/* Called now and then by the thread that runs the experiment. */
typedef void progress_fn(void *context, size_t done, size_t all);

struct experiment {
    size_t points;
    unsigned replications; /* of each point, at the most */
    size_t width;          /* numbers that one trial yields */
    unsigned threads;      /* 0: as many as there are cores */
    trial_fn *trial;
    progress_fn *progress; /* NULL: none */
    void *context;
    const atomic_int *stop; /* NULL: never */
};

struct results {
    size_t points, width;
    unsigned replications;
    double **values;    /* [point]: [replication][width], NAN where a trial was not done; NULL: none was begun */
    unsigned *finished; /* of each point: how many replications are done without a gap, from the first on */
    bool interrupted;   /* the stop flag left trials undone */
    bool failed;        /* failed_* name the first failed trial in order, whatever the number of threads */
    size_t failed_point;
    unsigned failed_replication;
};

/* All replications of all points. */
void experiment_run(const struct experiment *experiment, struct results *results);
/* Nothing done yet; and all up to wanted[point] that are not, in order. */
void experiment_begin(const struct experiment *experiment, struct results *results);
void experiment_extend(const struct experiment *experiment, const unsigned *wanted, struct results *results);
void results_fini(struct results *results);

static inline const double *results_at(const struct results *results, size_t point, unsigned replication)
{
    return results->values[point] + (replication - 1) * results->width;
}

#endif
