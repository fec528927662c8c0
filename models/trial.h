/* trial.h - one replication of one scenario, and the numbers it yields.
 *
 * A trial yields rows x metrics numbers: rows are the scopes of the table (all; each class, tenant and backend where
 * there are two or more), metrics those of models/metrics.h. Undefined numbers are NAN. */
#ifndef MODELS_TRIAL_H
#define MODELS_TRIAL_H

#include <stdatomic.h>

#include "models/scenario.h"

struct gauges;
struct measure;
struct series;

enum row_scope { ROW_ALL, ROW_CLASS, ROW_TENANT, ROW_BACKEND };

struct trial_row {
    enum row_scope scope;
    size_t index;
};

size_t trial_row_count(const struct scenario *scenario);
struct trial_row trial_row_at(const struct scenario *scenario, size_t row);

/* What became of an attempt. */
enum attempt_verdict {
    ATTEMPT_ANSWERED,
    ATTEMPT_DEFERRED, /* refused; the client may try again */
    ATTEMPT_REJECTED, /* refused for good */
    ATTEMPT_HOLD_EXPIRED,
    ATTEMPT_SHED,
    ATTEMPT_DISPLACED,
    ATTEMPT_OVERLOAD,   /* the pool refused it (429) */
    ATTEMPT_ERROR,      /* the pool failed */
    ATTEMPT_TIMEOUT,    /* its client gave up on the attempt */
    ATTEMPT_ABANDONED,  /* its client gave up on the call */
    ATTEMPT_UNFINISHED, /* held, waiting or in service at the end of the replication */
    ATTEMPT_VERDICTS
};
extern const char *const attempt_verdicts[ATTEMPT_VERDICTS];

/* An attempt that has ended for good. One that was held or taken back (`again`) has one record, of its last admission;
 * `call->joined` is POLICY_NONE where there was none, or none since it was taken back. A client that leaves a server
 * ends its attempt then, though the server goes on. Pointers are good during the call. */
struct attempt_record {
    const struct policy_call *call;
    int64_t part; /* of its turn, from 0, or -1: the turn's own call */
    uint32_t gate;
    enum attempt_verdict verdict;
    const char *reason; /* of the policy that turned it away; "died": its client did; or NULL */
    sim_time finished;  /* or POLICY_NONE */
};

/* Which copy of a member: its gate ("": one in all) and whose it is. */
struct copy_name {
    const char *gate;
    const char *whose; /* class or tenant, or "" */
    int64_t agent;     /* number within that class, or -1 */
};

/* A live value was set. Pointers are good during the call. */
struct set_record {
    sim_time at;
    const char *key; /* its full address */
    struct copy_name copy;
    const char *old, *now; /* as a scenario would write them */
    const char *reason;    /* or "" */
    const char *by;        /* "operator", or the name of the member that set it */
};

/* A policy wrote a row: a value for each of the columns of its ops, NAN: none. */
struct decision {
    sim_time at;
    size_t member; /* of the chain */
    struct copy_name copy;
    const double *values;
};

/* An alert of the scenario is raised, or over; a provider's 429 is raised anew each time. */
struct alert_record {
    sim_time at;
    size_t alert;
    uint32_t gate;
    bool on;
};

enum trial_end { TRIAL_ENDED, TRIAL_INTERRUPTED, TRIAL_WRONG };

/* What a run needs beside its scenario; all may be NULL. */
struct trial_watch {
    const atomic_int *stop;
    uint64_t *events;     /* gets the number of events fired */
    uint64_t events_most; /* the trial is interrupted after about so many; 0: no limit */
    sim_time *reached;    /* gets the simulated time at its end */
    /* Gets which share of their turns the finite classes have answered or given up since the warm-up, of the class that
     * is behind: 1 when the study is over by them; NAN: there are none. */
    double *progress;
    char *wrong; /* TRIAL_WRONG: gets the message, of wrong_size bytes */
    size_t wrong_size;
    /* For oracles: told of each service start, at every gate, in order. */
    void (*started)(void *context, const struct policy_call *call, uint32_t gate, sim_time service);
    /* For call logs: told of each attempt from t = 0 in the order of their ends, and if the trial ends, of those
     * unfinished in the order of their submission, then of class and agent. */
    void (*attempted)(void *context, const struct attempt_record *record);
    /* For records (models/recorder.h): told of each sample, as often as the scenario's record says; a value a gauge. */
    void (*recorded)(void *context, sim_time at, const double *values);
    const struct gauges *gauges; /* that are recorded */
    /* For audits and logs of decisions: told of each value that is set, and of each row of a policy, as they happen. */
    void (*set)(void *context, const struct set_record *record);
    void (*decided)(void *context, const struct decision *decision);
    /* For alerts of the scenario: told of each, from t = 0, as they happen. */
    void (*alerted)(void *context, const struct alert_record *record);
    void *context;
    struct series *present;   /* gets how many agents were in the system: at the door, or with a turn under way */
    struct measure *observed; /* gets what the window saw of all classes, added to what it has, if the trial ends */
};

/* values: trial_row_count * metric_count numbers. Identities are asserted at the warm-up and at the end. */
enum trial_end trial_simulate(const struct scenario *scenario, uint32_t replication, const struct trial_watch *watch,
                              double *values);

#endif
