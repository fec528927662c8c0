/* measure.h - what is observed of one class at one gate inside the window (warm-up, horizon], and the numbers it gives.
 */
#ifndef MODELS_MEASURE_H
#define MODELS_MEASURE_H

#include "sim/stats/quantile.h"
#include "sim/stats/tally.h"

struct measure {
    uint64_t turns, runs, runs_refused;     /* turns answered; runs finished; runs refused at the door for good */
    uint64_t lost_turns, attempts, spilled; /* spilled: gone on to the next gate, where it is an attempt too */
    uint64_t deferred, rejected, shed, displaced, hold_expired; /* refusals */
    sim_sum tokens, wasted_tokens, served_tokens;               /* output: of turns answered; served: answered or not */
    uint64_t overloads, errors;                                 /* 429s of a pool; answers that failed */
    uint64_t served;                                            /* services that ended, whoever still wanted them */
    sim_sum served_input, served_cached;                        /* tokens that they were sent, and of them cached */
    uint64_t starts, cold_starts;                               /* at a card with a memory; the context was gone */
    uint64_t censored;                                          /* at the end: calls and runs that still wait */
    uint64_t turns_due, turns_in_time;                          /* with a deadline: ended, answered by it */
    uint64_t runs_due, runs_in_time;                            /* the same of runs */
    sim_time censored_age;                                      /* of the oldest of them */
    struct tally wait, total_wait, response, late, service, think;
    struct tally door, run_time; /* of runs, since their first attempt at the door: let in; done */
    struct histogram waits, total_waits, responses, lateness, doors, run_times;
};

void measure_clear(struct measure *measure); /* a new window begins */
/* A turn is done; `deadline` below 0: it has none. */
static inline void measure_turn(struct measure *measure, uint64_t tokens, sim_time deadline, sim_time now)
{
    measure->turns++;
    measure->tokens += tokens;
    measure->turns_due += deadline >= 0;
    measure->turns_in_time += now <= deadline;
}
void measure_door(struct measure *measure, sim_time waited); /* a run is let in */
void measure_merge(struct measure *into, const struct measure *from);
void measure_merge_counts(struct measure *into, const struct measure *from); /* without times */
void measure_fini(struct measure *measure);

struct world;

/* All numbers of a trial at its end: rows of models/trial.h by metrics of models/metrics.h. */
void measure_report(struct world *world, double *values);

#endif
