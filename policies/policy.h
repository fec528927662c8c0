/* SPDX-License-Identifier: MIT-0 */
/* policy.h - what an admission policy is: everything a plug-in needs, and nothing else of weir.
 *
 * A policy is one file that exports one data symbol, `const struct policy_ops weir_policy`. Built in or loaded with
 * --plugin it is the same file. Copy policies/skeleton.c to begin.
 *
 * The gate counts, the policy decides. A policy keeps no list of its own and cannot move a call: it is shown the held
 * and the waiting line, and answers. All its memory is zeroed by the host, in the sizes named in its ops: one struct
 * policy a copy (params, vars, stats), one block that all copies at a gate share, and one block for each class, tenant,
 * agent, run and call where a size is not 0.
 *
 * A call's life at a gate:
 *
 *     attempt -> admit? --admit--> (admitted) -> waiting line -> start? --serve--> served -> finish(DONE)
 *                  |  ^                               |             '--defer/reject--> finish(SHED)
 *                  |  '--- asks again -- held line    '-- displaced, timeout, ...--> finish(why)
 *                  |--hold(after)--------^
 *                  |--defer(after or none)--> the client backs off and makes the next attempt of the same call
 *                  '--reject------------> the turn has failed
 *
 * Identities, counted from t = 0 at every gate and asserted for every policy:
 *   attempts + agains = admitted + deferred + rejected + withdrawn + hold_expired + spilled + held now
 *   admitted = done + shed + displaced + overloads + errors + timeouts + abandoned + spilled while waiting
 *              + waiting now + in service now
 * withdrawn: timed out or abandoned while held. spilled: gone on to its class's next backend, where it is an attempt
 * too, since it was refused here or was held for too long. Overloads and errors are a metered pool's; cards have
 * neither.
 *
 * In a chain, members are asked in order and the first that does not admit wins; the others hear of it through
 * `refused`, of a run at the door through `run_refused`. Pointers that a callback is given are good until it returns.
 * Every callback is optional (NULL).
 *
 * When a call is let in by DISPLACE, its victim leaves the waiting line first; then every member's `admitted` is told
 * of the call and it joins; only then comes `finish(DISPLACED)` for the victim, and its client's reaction. So between
 * `admit` and `admitted` of one call there is nothing of another's.
 *
 * Times are nanoseconds in an int64_t; POLICY_NONE means no time. An `after` must be at least POLICY_LEAST (1 ms). */
#ifndef WEIR_POLICY_H
#define WEIR_POLICY_H

#include "sim/io/option.h" /* installed beside this file */

#define POLICY_MAGIC 0x72696577u /* "weir" */
#define POLICY_ABI 5u            /* compared for equality */

typedef int64_t policy_time;
#define POLICY_SECOND INT64_C(1000000000)
#define POLICY_NONE INT64_C(-1)
#define POLICY_LEAST INT64_C(1000000)

enum policy_action {
    POLICY_ADMIT,    /* at the door and the gate: let in; in `start`: serve */
    POLICY_DISPLACE, /* gate only: admit, and shed the last of the waiting line; with nobody waiting a wrong answer */
    POLICY_HOLD,     /* keep at the gate and ask again `after`, unseen by the agent */
    POLICY_DEFER,    /* refuse with a retry-after, or without one (POLICY_NONE) */
    POLICY_REJECT,   /* refuse for good */
};

struct policy_answer {
    enum policy_action action;
    policy_time after;  /* HOLD: needed; DEFER: the retry-after or POLICY_NONE */
    const char *reason; /* a constant text that names what bound ("cap", "tokens"), or NULL */
};

/* Why an attempt ended. */
enum policy_end {
    POLICY_DONE,      /* answered */
    POLICY_SHED,      /* turned away when a server took it, by this policy or another member */
    POLICY_DISPLACED, /* turned away to make room */
    POLICY_OVERLOAD,  /* the backend refused it (429), with or without a retry-after */
    POLICY_ERROR,     /* the backend failed */
    POLICY_TIMEOUT,   /* its client gave up on the attempt: held, waiting or in service; it may try again */
    POLICY_ABANDONED, /* its client gave up on the call: held, waiting or in service; or it went to another backend */
    POLICY_EXPIRED, /* the lifetime that `admitted` returned has passed without an end; the member's record is gone. Of
                     * a client that died and was lost since: then run_state, and agent_state of an agent that is gone
                     * too, is blank memory, in place of what it was */
};

/* How an attempt ended. */
struct policy_outcome {
    enum policy_end end;
    policy_time retry_after; /* SHED, OVERLOAD: what came with the refusal; else, or without one, POLICY_NONE */
    double input_tokens, cached_tokens, output_tokens; /* real counts; NAN where the backend did not say */
};

/* A call as policies see it. Counts of tokens are estimates throughout: see struct policy_outcome for real ones. */
struct policy_call {
    uint32_t klass, tenant, agent; /* indices; an agent's within its class */
    uint64_t run;                  /* of its agent, from 0 */
    uint64_t turn;                 /* of its agent, from 0; given-up turns count */
    uint32_t attempt;              /* of its call, from 1 */
    bool last;                     /* its hold cap has come: any refusal now ends the hold */
    bool ever_held;                /* this attempt has been held */
    double input_tokens, cached_tokens, output_tokens;
    double input_chars;        /* length of the prompt in characters, which a caller can count */
    double priority, value;    /* of its class; higher is more */
    policy_time deadline;      /* the earlier of its turn's and its run's, also of a part; or POLICY_NONE */
    policy_time first_attempt; /* when the call was first made */
    policy_time attempted;     /* when this attempt was made */
    policy_time held_since;    /* first held in this attempt, or POLICY_NONE */
    policy_time hold_until;    /* when this attempt's hold cap comes, or POLICY_NONE: it has none */
    policy_time joined;        /* the waiting line, in this admission, or POLICY_NONE */
    policy_time started;       /* in `finish`: service began, or POLICY_NONE */
    /* This policy's memory, each NULL where its size in the ops is 0. */
    void *state; /* of this call: kept over its attempts, gone after the call has ended for good */
    void *run_state, *agent_state, *class_state, *tenant_state;
};

/* A run at the door. */
struct policy_run {
    uint32_t klass, tenant, agent;
    uint64_t run;
    uint32_t attempt; /* at the door, from 1 */
    bool last, ever_held;
    /* Means over the runs of its class; INFINITY: it never ends. Output is that of its parts too, where these go to the
     * run's own backend. */
    double turns, input_tokens, output_tokens;
    /* What this very run is going to be if it is done: the truth, which nobody knows at a door. A policy that stands
     * for somebody's estimate of the run takes these and blurs them by an error of its own. Turns 0: not said. */
    double turns_drawn, input_drawn, output_drawn;
    double priority, value;
    policy_time deadline, first_attempt, held_since; /* of the run, or POLICY_NONE; at the door */
    void *run_state, *agent_state, *class_state, *tenant_state;
};

struct policy_line {
    uint64_t calls;
    double tokens;                  /* input + output, estimates */
    const struct policy_call *head; /* smallest rank, or NULL: nobody */
    const struct policy_call *tail; /* largest rank */
    const uint64_t *calls_by_class, *calls_by_tenant;
    const double *tokens_by_class, *tokens_by_tenant; /* they sum to tokens: whole numbers, exact to 2^53 */
};

/* A gate at this moment. At the door: held counts runs and no tokens, head and tail are NULL, servers are those of the
 * run's backend.
 *
 * A metered pool (a provider) has no servers: there `servers` is 0, an admitted call is in service at once and counts
 * in `busy` until it ends, and nobody waits. So `busy < servers` never holds there, and does not mean that calls queue.
 *
 * Where cards come and go `servers` changes while a run goes on: slots of cards that are up, and the busy ones of those
 * that take no new call; never fewer than `busy`.
 */
struct policy_view {
    policy_time now;
    uint32_t gate;             /* index of the backend */
    uint32_t classes, tenants; /* how many there are */
    /* What the scenario calls them, by index, for parameters that name some; NULL: nobody has named them. */
    const char *const *class_names, *const *tenant_names;
    uint64_t servers, busy; /* up, or 0: a metered pool; working for a call (also one whose client has left) */
    uint64_t in_service;    /* admitted and being served, its client still there */
    struct policy_line held, waiting;
};

/* Who set a live value: the operator, by the scenario's `changes:`, or a policy, through host->set. */
enum policy_setter { POLICY_BY_OPERATOR, POLICY_BY_POLICY };

struct policy_host;

/* A program that a copy asks, which runs beside weir. */
struct policy_program {
    const struct option_command *command; /* an OPTION_COMMAND of its parameters */
    policy_time patience; /* of real time: an answer that takes longer ends the run. It has no other meaning. */
    /* At the end of the replication another copy of the program is asked so many of its first questions, and another
     * answer ends the run, too. */
    int64_t repeat;
};

/* One copy of a policy. */
struct policy {
    const struct policy_host *host;
    const void *params; /* as read from the scenario; live values may change between callbacks */
    void *vars, *stats; /* of vars_size and stats_size */
    /* Of shared_size, the same for all copies of this member at a gate (of scope all: for the one). It lives as long as
     * the replication, whoever comes and goes. NULL where the size is 0. */
    void *shared;
};

/* What a policy may call. Handed to every callback through struct policy, so a plug-in needs no symbol of the host. */
struct policy_host {
    double (*ln)(double x); /* the same bits on every machine; use these, not libm's */
    double (*exp)(double x);
    double (*uniform)(struct policy *self); /* [0, 1), this copy's own stream */
    /* The copy of the chain's member of that name which serves the gate: of scope all or gate any policy finds it; of
     * another scope only one of the same scope, and it is the copy of its own class, tenant or agent. NULL: no such
     * member, not at this gate, another scope. */
    struct policy *(*find)(struct policy *self, const char *name, uint32_t gate);
    /* A gate as it is now, with this policy's state in its calls: for a copy that serves several. NULL: no such gate.
     */
    const struct policy_view *(*view)(struct policy *self, uint32_t gate);
    /* A gauge, or a numeric parameter, of a copy: INFINITY where it has no limit, as an INT64_MAX says. False: no such
     * gauge. */
    bool (*get)(struct policy *self, struct policy *of, const char *key, double *value);
    /* Set a live parameter of one copy (times in seconds). NULL, or what was expected, by its range or the policy's
     * `check`; then nothing has changed. A copy that begins later, as of an agent that comes by for the first time,
     * begins with the values of the scenario, as its timeline has set them by then. */
    const char *(*set)(struct policy *self, struct policy *of, const char *key, double value, const char *reason);
    /* Writes a row of the columns that its ops declare, a value for each; NAN: empty; INFINITY: inf. It goes into the
     * scenario's log of decisions, where one is asked for. */
    void (*row)(struct policy *self, const double *values);
    /* Asks the copy's own program one line, and returns its answer, a line without its end, good until the next
     * question. The first question of a replication starts it, afresh. NULL: it could not be started, died, did not
     * answer in time or said more than a line; the trial ends with this event, and any answer of the callback will do.
     */
    const char *(*ask)(struct policy *self, const struct policy_program *program, const char *question);
    /* Its last answer was not what was expected: the trial ends with a message that quotes both lines. */
    void (*unfit)(struct policy *self, const char *expected);
};

/* What a call takes of the bucket that it goes to, and what that holds when it is full. Nothing of 0: it goes to none.
 */
struct policy_room {
    double takes, holds;
};

/* A column of a policy's own rows: a number, or one of the words, whose index is then the value. */
struct policy_column {
    const char *name; /* NULL ends the table */
    const char *unit, *help;
    const char *const *words; /* ended by NULL; or NULL: a number */
};

/* A number of its inside that other policies read through `get`: a double, int64_t or uint64_t in vars or stats. */
enum policy_gauge_type { POLICY_GAUGE_DOUBLE, POLICY_GAUGE_INT64, POLICY_GAUGE_UINT64 };
struct policy_gauge {
    const char *name; /* NULL ends the table */
    enum policy_gauge_type type;
    bool in_stats; /* else in vars */
    size_t offset;
    const char *unit, *help;
};

/* Named settings: pairs "key", "value as a scenario would write it", ended by NULL. */
struct policy_preset {
    const char *name; /* NULL ends the table */
    const char *const *settings;
    const char *help;
};

struct policy_ops {
    uint32_t magic, abi;         /* POLICY_MAGIC, POLICY_ABI: POLICY_HEADER fills both */
    const char *name;            /* as in a scenario: lower case, digits, _ */
    const char *summary;         /* one line, no final stop */
    const struct option *params; /* or NULL; of any type but OPTION_DIST, whose value is weir's own */
    const struct policy_preset
        *presets;                      /* or NULL; a policy with presets has the parameter key `preset` in a scenario */
    const struct policy_gauge *gauges; /* or NULL */
    const struct policy_column *columns; /* of host->row, or NULL: it writes none */
    size_t params_size, vars_size, stats_size, shared_size;
    size_t call_size, run_size, agent_size, class_size, tenant_size;
    bool one_copy; /* for all gates: its scope is all, unasked, and no other may be asked for */

    /* Parameters are read, or one is to be set: NULL, or what does not go together. */
    const char *(*check)(const void *params);
    /* Of policies with a bucket for a class or tenant, or that may have one by their scope: the bucket of that call. A
     * scenario is refused where one does not hold its class's largest call. Of the call nothing is said but class,
     * tenant, tokens (INFINITY: without bound) and priority, of the view (`names`) but names. */
    struct policy_room (*room)(const void *params, const struct policy_view *names, const struct policy_call *call);
    /* A copy begins: at t = 0; of scope agent when its agent first comes by that gate. */
    void (*init)(struct policy *self);
    /* A live parameter of this copy was set. */
    void (*changed)(struct policy *self, policy_time now, const char *key, enum policy_setter by);
    /* A gauge of this copy is about to be read: those that change by time alone are brought up to date here, so that
     * what is read does not hang on whose tick comes first. It must change nothing that the policy decides, as the
     * recorder reads too. */
    void (*refresh)(struct policy *self, policy_time now);

    /* A run asks at the door, or asks again. ADMIT, HOLD, DEFER, REJECT. Nothing is booked here: a later member may
     * refuse. Held runs stand in no line, and `rank` is not asked about them: each asks again by the time it was told,
     * so who is to come first is held for less. */
    struct policy_answer (*run_admit)(struct policy *self, const struct policy_view *view, struct policy_run *run);
    /* Every member admitted the run: book it here. It is held no more, and begins. */
    void (*run_admitted)(struct policy *self, const struct policy_view *view, struct policy_run *run);
    /* Another member did not admit this run: action, retry-after or hold, and reason are in `answer`. */
    void (*run_refused)(struct policy *self, const struct policy_view *view, struct policy_run *run,
                        const struct policy_answer *answer);
    /* A run that was held at the door is gone without an answer: it gave up, or its population is smaller. */
    void (*run_withdrawn)(struct policy *self, const struct policy_view *view, struct policy_run *run);
    /* A run ended, done or not; for every run that was admitted. First at the gate where it asked, then at the others
     * that calls of its class may come to: there no `run_admitted` has been before. A copy hears of it once. */
    void (*run_finish)(struct policy *self, const struct policy_view *view, struct policy_run *run, bool done);

    /* An attempt is made, or a held one asks again. Do not debit here: a later member may refuse. */
    struct policy_answer (*admit)(struct policy *self, const struct policy_view *view, struct policy_call *call);
    /* Every member admitted: debit here. Returns how long the record lives if no `finish` comes; 0: for ever. */
    policy_time (*admitted)(struct policy *self, const struct policy_view *view, struct policy_call *call);
    /* Another member did not admit this attempt: action, retry-after or hold, and reason are in `answer`. */
    void (*refused)(struct policy *self, const struct policy_view *view, struct policy_call *call,
                    const struct policy_answer *answer);
    /* A server takes the call (also when it did not wait). The call has left the waiting line. ADMIT serves it; DEFER
     * and REJECT shed it, and the next waiting call is offered at once, at most 256 times; the one after that is served
     * unasked. */
    struct policy_answer (*start)(struct policy *self, const struct policy_view *view, struct policy_call *call);
    /* The attempt ended, after it was admitted or while it was held. A time of at least POLICY_LEAST: take it back to
     * held, same attempt, same hold clock, and ask again after that time (not for DONE, TIMEOUT, ABANDONED, EXPIRED).
     * Else POLICY_NONE. */
    policy_time (*finish)(struct policy *self, const struct policy_view *view, struct policy_call *call,
                          const struct policy_outcome *outcome);
    /* The attempt ended after all, when its record had expired: settle what the real counts say. In place of `finish`,
     * once; of a client that died nothing more is heard. */
    void (*late)(struct policy *self, const struct policy_view *view, struct policy_call *call,
                 const struct policy_outcome *outcome);

    /* Its own wake-up, first when the copy begins. A copy of scope all is shown the gate of its `at`, else gate 0: see
     * host->view. Returns the absolute time of the next one, at least POLICY_LEAST from now, or POLICY_NONE. */
    policy_time (*tick)(struct policy *self, const struct policy_view *view);

    /* At most one member at a gate has `rank` or `pick`, and its scope is all or gate: a line has one order. */
    /* A call joins the held or the waiting line: its place, smaller first, ties in order of joining. */
    int64_t (*rank)(struct policy *self, const struct policy_view *view, struct policy_call *call, bool held);
    /* A call joins the waiting line: its flow, less than `flows`. */
    uint32_t flows;
    uint32_t (*flow)(struct policy *self, const struct policy_view *view, struct policy_call *call);
    /* A server is free and somebody waits: the flow to serve (one that has a call: see `waiting_in_flow`) and its end.
     */
    uint32_t (*pick)(struct policy *self, const struct policy_view *view, const uint64_t *waiting_in_flow,
                     bool *newest);
};

#define POLICY_HEADER .magic = POLICY_MAGIC, .abi = POLICY_ABI

static inline struct policy_answer policy_admit(void)
{
    return (struct policy_answer){POLICY_ADMIT, POLICY_NONE, NULL};
}

static inline struct policy_answer policy_displace(const char *reason)
{
    return (struct policy_answer){POLICY_DISPLACE, POLICY_NONE, reason};
}

static inline struct policy_answer policy_hold(policy_time after, const char *reason)
{
    return (struct policy_answer){POLICY_HOLD, after, reason};
}

static inline struct policy_answer policy_defer(policy_time after, const char *reason)
{
    return (struct policy_answer){POLICY_DEFER, after, reason};
}

static inline struct policy_answer policy_reject(const char *reason)
{
    return (struct policy_answer){POLICY_REJECT, POLICY_NONE, reason};
}

/* Built into weir, each file's symbol gets a name of its own: compiled with -DPOLICY_BUILTIN=fixed_cap it is
 * `policy_fixed_cap`. */
#ifdef POLICY_BUILTIN
#define POLICY_JOIN_(a, b) a##b
#define POLICY_JOIN(a, b) POLICY_JOIN_(a, b)
#define weir_policy POLICY_JOIN(policy_, POLICY_BUILTIN)
#endif

extern const struct policy_ops weir_policy;

#endif
