/* breaker - a circuit breaker: who has failed often is left alone for a while, then tried with care.
 *
 * Idea: closed, all calls pass and failures are counted; after `failures` of them, in a row or within `window`, it
 * opens and refuses everybody for `cooldown`. Then it is half open: `probes` calls at a time pass, one that is answered
 * closes it, one that fails opens it again. Ends of calls that were let in before the last change of state say nothing.
 *
 * Source: Nygard, Release It! (2007); 5 failures and 30 s are published for agents, the defaults.
 *
 * What an end means: done is a success. Refused by the backend, failed, timed out or given up after it was let in (in
 * line or in service: no answer came in its client's time), or without an end for `patience` is a failure. Shed and
 * displaced is this gate's own word, the backend was not asked: neither, unless `sheds_fail`; a probe gives its place
 * back. A probe takes its place when all members have let it in, so that one a later member refuses has taken none.
 *
 * It cannot stay half open: each probe ends or runs out of patience, and that closes it, opens it or frees a place.
 *
 * Known to fail: it cannot tell a slow line from a dead backend, so timeouts of an overloaded card open it, and the
 * load comes back at once when it closes; one breaker for all lets a few bad calls shut out everybody. Refusals while
 * half open have no retry-after: nobody knows how long a probe takes. */
#include "policies/policy.h"

#define FAILURES_MOST 64 /* within a window; their times are kept */

enum { CLOSED, HALF_OPEN, OPEN };
enum { COUNT_IN_A_ROW, COUNT_WITHIN };
enum { RETRY_AFTER_LEFT, RETRY_AFTER_NONE };
enum verdict { SUCCESS, FAILURE, NEITHER };

struct breaker_params {
    int count;
    int64_t failures;
    policy_time window, cooldown;
    int64_t probes;
    policy_time patience;
    bool sheds_fail;
    int retry_after;
};

struct breaker_vars {
    uint64_t state, failures, probing;
    uint64_t epoch; /* number of changes of state */
    policy_time opened;
    policy_time failed[FAILURES_MOST]; /* the latest failures since it was closed, in a ring */
    uint64_t failed_count;
};

struct breaker_stats {
    uint64_t openings, refused_open, refused_half_open;
};

struct breaker_call {
    uint64_t epoch; /* in which it was let in */
    bool inside, probe;
};

static void enter(struct breaker_vars *vars, uint64_t state)
{
    vars->state = state;
    vars->epoch++;
    vars->failures = vars->probing = vars->failed_count = 0;
}

static void open_up(struct policy *self, policy_time now)
{
    struct breaker_vars *vars = self->vars;
    struct breaker_stats *stats = self->stats;
    enter(vars, OPEN);
    vars->opened = now;
    stats->openings++;
}

static const char *breaker_check(const void *given)
{
    const struct breaker_params *params = given;
    if (params->count == COUNT_WITHIN && params->failures > FAILURES_MOST)
        return "the times of at most 64 failures are kept: expected failures: of at most 64 with count: within";
    return NULL;
}

static struct policy_answer breaker_admit(struct policy *self, const struct policy_view *view, struct policy_call *call)
{
    const struct breaker_params *params = self->params;
    struct breaker_vars *vars = self->vars;
    struct breaker_stats *stats = self->stats;
    policy_time left = vars->opened + params->cooldown - view->now;
    (void)call;
    if (vars->state == OPEN && left <= 0)
        enter(vars, HALF_OPEN);
    if (vars->state == OPEN) {
        stats->refused_open++;
        if (params->retry_after == RETRY_AFTER_NONE)
            return policy_defer(POLICY_NONE, "open");
        return policy_defer(left > POLICY_LEAST ? left : POLICY_LEAST, "open");
    }
    if (vars->state == HALF_OPEN && vars->probing >= (uint64_t)params->probes) {
        stats->refused_half_open++;
        return policy_defer(POLICY_NONE, "half_open");
    }
    return policy_admit();
}

static policy_time breaker_admitted(struct policy *self, const struct policy_view *view, struct policy_call *call)
{
    const struct breaker_params *params = self->params;
    struct breaker_vars *vars = self->vars;
    struct breaker_call *memory = call->state;
    (void)view;
    *memory = (struct breaker_call){.epoch = vars->epoch, .inside = true, .probe = vars->state == HALF_OPEN};
    vars->probing += memory->probe;
    return memory->probe ? params->patience : 0;
}

static enum verdict verdict_on(const struct breaker_params *params, enum policy_end end)
{
    switch (end) {
    case POLICY_DONE:
        return SUCCESS;
    case POLICY_SHED:
    case POLICY_DISPLACED:
        return params->sheds_fail ? FAILURE : NEITHER;
    case POLICY_OVERLOAD:
    case POLICY_ERROR:
    case POLICY_TIMEOUT:
    case POLICY_ABANDONED:
    case POLICY_EXPIRED:
        break;
    }
    return FAILURE;
}

/* While closed. The failures that count, this one included. */
static uint64_t failures_now(struct breaker_vars *vars, const struct breaker_params *params, policy_time now)
{
    uint64_t kept, recent = 0;
    if (params->count == COUNT_IN_A_ROW)
        return vars->failures + 1;
    vars->failed[vars->failed_count++ % FAILURES_MOST] = now;
    kept = vars->failed_count < FAILURES_MOST ? vars->failed_count : FAILURES_MOST;
    while (recent < kept && now - vars->failed[(vars->failed_count - 1 - recent) % FAILURES_MOST] <= params->window)
        recent++;
    return recent;
}

static policy_time breaker_finish(struct policy *self, const struct policy_view *view, struct policy_call *call,
                                  const struct policy_outcome *outcome)
{
    const struct breaker_params *params = self->params;
    struct breaker_vars *vars = self->vars;
    struct breaker_call *memory = call->state;
    enum verdict verdict = verdict_on(params, outcome->end);
    bool counts = memory->inside && memory->epoch == vars->epoch && vars->state != OPEN;
    memory->inside = false;
    if (!counts)
        return POLICY_NONE;
    if (memory->probe) {
        vars->probing--;
        if (verdict == SUCCESS)
            enter(vars, CLOSED);
        else if (verdict == FAILURE)
            open_up(self, view->now);
    } else if (verdict == FAILURE) {
        vars->failures = failures_now(vars, params, view->now);
        if (vars->failures >= (uint64_t)params->failures)
            open_up(self, view->now);
    } else if (verdict == SUCCESS && params->count == COUNT_IN_A_ROW) {
        vars->failures = 0;
    }
    return POLICY_NONE;
}

static const char *const breaker_counts[] = {[COUNT_IN_A_ROW] = "in_a_row", [COUNT_WITHIN] = "within", NULL};
static const char *const breaker_retry_afters[] = {[RETRY_AFTER_LEFT] = "left", [RETRY_AFTER_NONE] = "none", NULL};

static const struct option breaker_options[] = {
    {.key = "count",
     .type = OPTION_CHOICE,
     .offset = offsetof(struct breaker_params, count),
     .initial = "in_a_row",
     .choices = breaker_counts,
     .help = "which failures count: those in a row, without a success between them, or those within the window"},
    {.key = "failures",
     .type = OPTION_COUNT,
     .offset = offsetof(struct breaker_params, failures),
     .initial = "5",
     .least = "1",
     .most = "inf",
     .live = true,
     .help = "so many open it; at most 64 with `count: within`"},
    {.key = "window",
     .type = OPTION_TIME,
     .offset = offsetof(struct breaker_params, window),
     .initial = "1 min",
     .least = "1 ms",
     .most = "inf",
     .live = true,
     .help = "how long a failure counts with `count: within`"},
    {.key = "cooldown",
     .type = OPTION_TIME,
     .offset = offsetof(struct breaker_params, cooldown),
     .initial = "30 s",
     .least = "1 ms",
     .most = "1 d",
     .live = true,
     .help = "how long it refuses everybody once it is open"},
    {.key = "probes",
     .type = OPTION_COUNT,
     .offset = offsetof(struct breaker_params, probes),
     .initial = "1",
     .least = "1",
     .most = "inf",
     .live = true,
     .help = "calls let in at a time while it is half open"},
    {.key = "patience",
     .type = OPTION_TIME,
     .offset = offsetof(struct breaker_params, patience),
     .initial = "5 min",
     .least = "1 ms",
     .most = "1 d",
     .live = true,
     .help = "a probe that has not ended after so long has failed"},
    {.key = "sheds_fail",
     .type = OPTION_FLAG,
     .offset = offsetof(struct breaker_params, sheds_fail),
     .initial = "false",
     .help = "whether a call that was let in and then shed or displaced has failed"},
    {.key = "retry_after",
     .type = OPTION_CHOICE,
     .offset = offsetof(struct breaker_params, retry_after),
     .initial = "left",
     .choices = breaker_retry_afters,
     .help = "what a call is told while it is open: the time left of the cooldown, or none"},
    {.key = NULL},
};

static const struct policy_gauge breaker_gauges[] = {
    {.name = "state",
     .type = POLICY_GAUGE_UINT64,
     .offset = offsetof(struct breaker_vars, state),
     .unit = "",
     .help = "0 closed, 1 half open, 2 open (also when the cooldown has passed and nobody has asked yet)"},
    {.name = "failing",
     .type = POLICY_GAUGE_UINT64,
     .offset = offsetof(struct breaker_vars, failures),
     .unit = "calls",
     .help = "failures that count, while it is closed"},
    {.name = "probing",
     .type = POLICY_GAUGE_UINT64,
     .offset = offsetof(struct breaker_vars, probing),
     .unit = "calls",
     .help = "probes that have not ended"},
    {.name = "openings",
     .type = POLICY_GAUGE_UINT64,
     .in_stats = true,
     .offset = offsetof(struct breaker_stats, openings),
     .unit = "times",
     .help = "how often it has opened"},
    {.name = "refused_open",
     .type = POLICY_GAUGE_UINT64,
     .in_stats = true,
     .offset = offsetof(struct breaker_stats, refused_open),
     .unit = "attempts",
     .help = "attempts refused while it was open"},
    {.name = "refused_half_open",
     .type = POLICY_GAUGE_UINT64,
     .in_stats = true,
     .offset = offsetof(struct breaker_stats, refused_half_open),
     .unit = "attempts",
     .help = "attempts refused while all probes were under way"},
    {.name = NULL},
};

const struct policy_ops weir_policy = {
    POLICY_HEADER,
    .name = "breaker",
    .summary = "opens after failures, refuses for a cooldown, then lets probes decide",
    .params = breaker_options,
    .gauges = breaker_gauges,
    .params_size = sizeof(struct breaker_params),
    .vars_size = sizeof(struct breaker_vars),
    .stats_size = sizeof(struct breaker_stats),
    .call_size = sizeof(struct breaker_call),
    .check = breaker_check,
    .admit = breaker_admit,
    .admitted = breaker_admitted,
    .finish = breaker_finish,
};
