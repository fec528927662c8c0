/* scenario.h - one design point under one policy, ready to run: what a scenario file says after sweep, --set, presets
 * and defaults. Everything in it lives in the plan's arena (models/plan.h) and is read-only for trials, which share it
 * between threads.
 *
 * Times are seconds in distributions and nanoseconds elsewhere; tokens are numbers. Indices: a class's place in
 * `classes`, a tenant's in `tenants`, a backend's in `backends`. */
#ifndef MODELS_SCENARIO_H
#define MODELS_SCENARIO_H

#include <math.h>

#include "models/provider_spec.h"
#include "policies/policy.h"
#include "sim/engine/clock.h"
#include "sim/engine/dist.h"
#include "sim/io/diag.h"

enum backoff_law { BACKOFF_CONSTANT, BACKOFF_LINEAR, BACKOFF_EXPONENTIAL, BACKOFF_UB };
enum jitter_law { JITTER_NONE, JITTER_EQUAL, JITTER_FULL, JITTER_SHARE, JITTER_LESS };
enum retry_after_use { RETRY_AFTER_HONOUR, RETRY_AFTER_AT_LEAST, RETRY_AFTER_IGNORE };
/* A retry-after above `retry_after_most` is cut to that, counts as none, or makes the layer give up. */
enum retry_after_beyond { BEYOND_CUT, BEYOND_IGNORE, BEYOND_GIVE_UP };

/* Who says whether a retry may be made, beside `attempts`; one bucket an agent, full at first.
 * grpc: a failure takes 1 and an answer gives 0.1, of 10; a retry needs more than half. aws: a retry takes 5, an answer
 * to a retried call gives 5 and to another 1, of 500; a retry needs 5. */
enum retry_quota { QUOTA_NONE, QUOTA_GRPC, QUOTA_AWS };

#define CLIENT_LAYERS_MOST 4

/* One layer of a client: it makes tries of what is below it (the innermost: attempts at the gate), and backs off after
 * each that fails; when it gives up, that is a failed try of the layer above. After the k-th failure m = base * (1, k
 * or 2^(k-1)), at most cap; jitter: none m, equal U(m/2, m), full U(0, m), share p m U(1-p, 1+p), less p m U(1-p, 1).
 * ub: U(0.1 s, max(0.1 s, min(2^k - 1 s, M))), M drawn once an agent from U(30 s, 34 s) (arXiv:2510.04516). A
 * retry-after is heard by the layer that backs off. */
struct client_layer {
    const char *preset; /* or NULL */
    enum backoff_law backoff;
    sim_time base, cap;
    enum jitter_law jitter;
    double jitter_share; /* p */
    enum retry_after_use retry_after;
    sim_time retry_after_most; /* SIM_NEVER: none */
    enum retry_after_beyond retry_after_beyond;
    int64_t attempts; /* tries at most; INT64_MAX: unlimited */
    sim_time timeout; /* of one try, from when it was made, all that is below it included; SIM_NEVER: none */
    enum retry_quota quota;
    bool restarts_run; /* outermost only: its tries are runs, not calls */
};

/* How an agent reacts to a failure; apart from policies. Innermost layer first. */
struct client {
    const struct client_layer *layers;
    uint32_t layer_count; /* 1 to CLIENT_LAYERS_MOST */
    sim_time hold_cap;    /* the longest that one attempt may be held */
    bool bypass;          /* retries do not ask the policies of the gate */
    bool quotas;          /* a layer has one */
    double dies;          /* share of the services whose client dies before they end, and tells nobody */
};

#define INPUT_CHARS 4.89 /* characters a token, unless a scenario says otherwise */

/* Recorded sessions: what each of their calls sent, and how much of it was cached; of a replay also how long it waited
 * before, what it got, and when its session began. */
struct session_spec {
    const double *input, *cached; /* tokens, by row */
    const double *wait, *output;  /* seconds, tokens, by row; NULL: the class says it */
    const sim_time *times;        /* by session, since the first; NULL: unknown */
    bool in_order;                /* taken in turn; else drawn */
    const size_t *starts;         /* session i has the rows starts[i] to starts[i + 1] - 1 */
    size_t count;
};

/* What a turn sends: the whole transcript, again each turn. The first turn of a run sends `start`, each later one
 * `per_turn` more than the one before it. What would pass `most` is cut to it, or begins anew at `compact_to`. */
struct input_spec {
    const struct dist *start, *per_turn;
    double most;                         /* INFINITY: none */
    double compact_to;                   /* 0: cut instead */
    bool cached_previous;                /* cached is what the call before it sent; after a compaction nothing */
    double cached_share;                 /* else this share of it, of every call */
    const struct dist *chars_per_token;  /* of a turn's prompt, which policies are told in characters */
    const struct session_spec *sessions; /* or NULL. In place of all that: a run is one of these, each with the same
                                            chance, and as long as it */
};

/* A population whose turns are due at times: each agent makes its share of `turns`, in order, one at a time. */
struct schedule_spec {
    uint64_t turns;                /* of all agents together */
    sim_time over;                 /* due in [0, over), from the agent's offset on */
    bool even;                     /* equally spaced; else independent and uniform, in order */
    sim_time offset, offset_wraps; /* of agent i: (i offset) mod offset_wraps; 0: no wrapping */
};

/* When a call goes on to the next backend of its class: never, when it is refused, when it has waited. */
enum spill_rule { SPILL_NONE, SPILL_REFUSED, SPILL_WAIT };

#define FAN_OUT_PARTS_MOST (1 << 20)

/* What a turn does with its answer: it makes parts, each a call at a backend, and is over when all, or some, are back.
 */
struct fan_out_spec {
    uint32_t to;               /* the backend */
    const struct dist *parts;  /* how many; cut at FAN_OUT_PARTS_MOST */
    const struct dist *tokens; /* output of a part; NULL: none */
    uint64_t wait_for;         /* parts; UINT64_MAX: all */
    /* At once of one agent; UINT64_MAX: no bound. In tokens none of its parts has more than that. */
    uint64_t parts_most, tokens_most;
};

/* Money, in one currency, of a backend: per million tokens, per request, per hour of simulated time (of a card). */
struct prices {
    bool given;
    double input, cached, output, request, hour;
};

/* A turn's tokens are cut here (10^12), so that those of 2^22 calls at once can be summed in 63 bits. */
#define TURN_TOKENS_MOST (INT64_C(1) << 40)

/* Part of a scenario's hash, so new ones go to the end. */
enum class_source {
    SOURCE_POPULATION,
    SOURCE_POISSON,
    SOURCE_ALL_AT,
    SOURCE_TRACE,
    SOURCE_SCHEDULE,
    SOURCE_EVEN,
    SOURCE_BATCH,
    SOURCE_PROFILE
};

/* Runs that come neither one by one at a rate nor at times that are written down. */
struct arrivals_spec {
    /* SOURCE_BATCH: each trigger, which come at the class's rate, starts so many runs, each at a time of its own that
     * is uniform in [0, within] after it. */
    uint64_t batch;
    sim_time within;
    bool even; /* triggers are equally spaced, the first at once; else a Poisson process */
    /* SOURCE_PROFILE: a Poisson process whose rate, runs a second, is rates[i] from times[i] on, the first at 0. */
    size_t count;
    const sim_time *times;
    const double *rates;
    sim_time period; /* after which it begins anew; SIM_NEVER: the last rate stays */
    bool of_day;     /* times count from 0, else from the class's start */
    double rate;     /* its mean; NAN: it has none */
};

struct agent_class {
    const char *name;
    struct place place;
    uint32_t stream; /* of its name: the address of its random numbers; no other class of the scenario has it */
    uint32_t tenant, backend; /* the first of its backends */
    const uint32_t *backends; /* in order; one where it does not spill */
    uint32_t backend_count;
    enum spill_rule spill;
    sim_time spill_after; /* SPILL_WAIT: held and waiting at one backend */
    enum class_source source;
    uint64_t population;                 /* SOURCE_POPULATION: agents */
    uint64_t runs;                       /* in all; UINT64_MAX: no end */
    double arrival_rate;                 /* SOURCE_POISSON, SOURCE_EVEN: runs a second; SOURCE_BATCH: triggers */
    const struct arrivals_spec *pattern; /* SOURCE_BATCH, SOURCE_PROFILE */
    const sim_time *arrivals;            /* SOURCE_TRACE, SOURCE_ALL_AT: times of runs, ascending, `runs` of them */
    const struct dist *turns;            /* of a run; NULL: endless (population), one (arrivals) */
    const struct dist *boot;             /* seconds from a run's admission to its first turn; NULL: none */
    const struct dist *think;            /* seconds */
    const struct dist *output; /* tokens; NULL where the backend has a service distribution and none was given: 0 */
    const struct input_spec *input;       /* NULL: nothing is sent, or nobody counts it */
    const struct schedule_spec *schedule; /* SOURCE_SCHEDULE */
    const struct fan_out_spec *fan_out;   /* NULL: its turns have no parts */
    double max_tokens;                    /* of output, asked for with each call and never passed; INFINITY: none */
    double priority, value;
    sim_time start; /* when its agents begin, or its arrivals are counted from */
    /* Deadlines: of a turn since its first attempt, or since it was due; of a run since its first attempt at the door.
     * SIM_NEVER: none. */
    sim_time turn_within, run_within;
    bool gives_up; /* a run that has not ended by its deadline */
    struct client client;
};

enum backend_kind { BACKEND_SLOTS, BACKEND_PROVIDER };

/* Replicas of a slots backend, each of `servers` slots with a memory of their own (models/cards.h). */
enum cards_signal { CARDS_UTILISATION, CARDS_QUEUE_LENGTH, CARDS_TOKEN_VELOCITY };
enum cards_route { ROUTE_LEAST_BUSY, ROUTE_POWER_OF_TWO, ROUTE_STICKY };
struct cards_spec {
    uint32_t min, max, start, step;
    enum cards_signal signal;
    enum cards_route route;
    sim_time scrape, cooldown, cooldown_up;
    uint64_t target;               /* millionths of a card's slots, or of the output that they can make */
    const struct dist *cold_start; /* seconds */
};

struct backend {
    const char *name;
    struct place place;
    enum backend_kind kind;
    struct prices prices;
    /* BACKEND_PROVIDER. An alias is another key of a pool: a gate of its own before the meters of `pool`. */
    const struct provider_spec *provider;
    uint32_t pool; /* index of the backend whose meters these are; its own unless it is an alias */
    /* BACKEND_SLOTS. */
    uint32_t servers; /* 0: a provider */
    uint64_t kv;      /* tokens that fit into its memory; UINT64_MAX: no limit */
    struct place kv_place;
    const struct cards_spec *cards; /* NULL: one card, always up */
    double prefill;                 /* tokens/s that a slot reads before it answers; INFINITY: it takes no time */
    /* Exactly one of the two. */
    const struct dist *service;      /* seconds, whatever the tokens */
    const double *speed;             /* [i]: tokens/s of one server when i = 1..servers are busy; [0] is unused */
    bool constant;                   /* speed is the same for all i */
    double step_base, step_per_busy; /* seconds a token = base + per * busy, where speed was given so; else NAN */
    /* Of a fit to `throughput`: its points, the most busy slots among them, the largest relative error. 0: no fit. */
    uint32_t fit_points, fit_most;
    double fit_error;
};

/* Slots when all of its cards are up. */
static inline double backend_slots(const struct backend *backend)
{
    return (double)backend->servers * (backend->cards ? backend->cards->max : 1);
}

enum policy_scope { SCOPE_ALL, SCOPE_GATE, SCOPE_CLASS, SCOPE_TENANT, SCOPE_AGENT };

struct member {
    const struct policy_ops *ops;
    const char *name; /* `name:`, else the policy's; unique in its chain */
    struct place place;
    void *params; /* of ops->params_size; trials copy it, since live values change */
    enum policy_scope scope;
    int64_t at;       /* backend, or -1: every gate */
    const char *text; /* its parameters as a scenario would write those that are not default */
};

struct chain {
    const char *label;
    struct place place;
    const struct member *members;
    size_t count;
};

/* What is written down of a replication, each NULL where it is not: samples of gauges in time, rows of policies, values
 * that are set, alerts. */
struct record_spec {
    const char *file, *decisions, *audit, *alerts;
    sim_time every;          /* of the samples */
    const char *const *what; /* columns, by name, or NAME.*: all that begin so; count 0: all */
    size_t what_count;
    bool all_replications; /* else replication 1 of each design point */
};

/* What the timeline sets. */
enum change_kind {
    CHANGE_POLICY, /* a live parameter of all copies of a member */
    /* of a pool */
    CHANGE_LIMIT, /* of a meter, a constant one */
    CHANGE_BURST,
    CHANGE_LATENCY,
    CHANGE_RETRY_AFTER,
    CHANGE_ERRORS,
    CHANGE_STRANGERS,
    /* of a class */
    CHANGE_POPULATION,
    CHANGE_ARRIVALS,
    CHANGE_THINK
};
enum latency_part { LATENCY_OF_ALL, LATENCY_OF_INPUT, LATENCY_OF_CACHED, LATENCY_OF_OUTPUT };

/* A value that is set at a time. */
struct change {
    sim_time at;
    struct place place;
    const char *key;        /* its full address */
    const char *reason;     /* or "" */
    const char *old, *text; /* the value before it and its own, as a scenario would write them; of a policy `old` is as
                               the timeline left it, and copies may have been set since */
    enum change_kind kind;
    uint32_t index; /* of the member, the backend or the class */
    /* CHANGE_POLICY: the value is that of the option in this struct of parameters. */
    const struct option *option;
    const void *params;
    uint32_t row; /* the meter; enum latency_part; enum retry_after_law */
    double number;
    sim_time time; /* of a retry-after that is constant */
    const struct dist *think;
};

enum alert_kind { ALERT_QUEUE_AGE, ALERT_QUEUE_DEPTH, ALERT_PROVIDER_429, ALERT_PROVIDER_429_LIMITED };

/* A condition that people want to be told of. */
struct alert {
    const char *text; /* as it is written */
    struct place place;
    enum alert_kind kind;
    int64_t at;     /* the backend; -1: each of them for itself */
    sim_time age;   /* ALERT_QUEUE_AGE */
    uint64_t depth; /* ALERT_QUEUE_DEPTH: calls held and waiting */
};

/* Replications until the half-width of a metric of row `all` is no more than a part of its mean. */
struct precision {
    size_t metric;
    double relative;
    int64_t least, most;
};

struct study {
    const struct precision *precision; /* NULL: `replications` are made; else these are the most */
    bool warmup_auto;                  /* it is to be found; 0 until it is (plan_warm_up) */
    bool until_done;                   /* terminating: until every run has ended, `most` at the most */
    sim_time horizon, warmup, most;    /* horizon and most are the same: the last moment of a replication */
    int64_t replications;
    int64_t seed;
};

struct scenario {
    const char *title;
    struct study study;
    const struct backend *backends;
    size_t backend_count;
    const struct agent_class *classes;
    size_t class_count;
    const char *const *tenants;
    size_t tenant_count;
    struct chain chain;
    const struct record_spec *record; /* or NULL */
    const struct change *changes;     /* by their times, and those of one instant as they are written */
    size_t change_count;
    const struct alert *alerts;
    size_t alert_count;
};

/* Runs that arrive a second, on average; NAN: nobody can say. */
static inline double class_rate(const struct agent_class *class)
{
    switch (class->source) {
    case SOURCE_POISSON:
    case SOURCE_EVEN:
        return class->arrival_rate;
    case SOURCE_BATCH:
        return class->arrival_rate * (double)class->pattern->batch;
    case SOURCE_PROFILE:
        return class->pattern->rate;
    default:
        return (double)NAN;
    }
}

static inline bool scenario_fans_out(const struct scenario *scenario)
{
    for (size_t i = 0; i < scenario->class_count; i++)
        if (scenario->classes[i].fan_out)
            return true;
    return false;
}

static inline bool scenario_spills(const struct scenario *scenario)
{
    for (size_t i = 0; i < scenario->class_count; i++)
        if (scenario->classes[i].spill != SPILL_NONE)
            return true;
    return false;
}

/* Whether the timeline changes a pool or a class, so that no number of them holds from the begin to the end. */
static inline bool scenario_moves(const struct scenario *scenario)
{
    for (size_t i = 0; i < scenario->change_count; i++)
        if (scenario->changes[i].kind != CHANGE_POLICY)
            return true;
    return false;
}

#endif
