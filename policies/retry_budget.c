/* retry_budget - retries are a small share of the traffic, whatever happens behind.
 *
 * Idea: when everything fails, three attempts a call are three times the load, and most layers retry. So count, over
 * `window`, the first attempts and the retries that were let through. A retry passes while
 *   retries + 1 <= ratio * first attempts + least * window,
 * and an attempt beyond the `attempts`-th of its call never. Who does not pass has used up its call: it is rejected.
 *
 * Source: three attempts and 10 %: Google SRE book, chapter 21. The share counts first attempts, over a window, above a
 * floor for clients that call seldom: Finagle's RetryBudget (10 s, 10/s; Finagle takes 20 %). gRPC's throttle is the
 * other kind, a bucket of failures without time. `slots`: 10/s never binds on a card that answers 0.88 turns/s; two
 * minutes, as SRE's client throttle, and one retry in them for the floor.
 *
 * What it promises: of F first attempts let through in a time T, at most ratio * F + least * (T + window) retries are,
 * so load is amplified 1 + ratio times, and the floor. The window is ten slices; the oldest goes as a whole.
 *
 * An attempt counts once, when it is let in or another member refuses it; so the budget stands first in its chain,
 * where every attempt asks it. One that is held and asks again is not counted again. Known to fail: clients that do not
 * share a copy have each a floor of their own; it fails calls that one more try would have saved. */
#include <math.h>

#include "policies/policy.h"

#define SLICES 10
#define MILLION INT64_C(1000000)

struct retry_budget_params {
    int64_t attempts;
    double ratio;
    policy_time window;
    double least;
};

struct retry_budget_vars {
    int64_t firsts[SLICES], retries[SLICES];
    int64_t slice; /* the latest, from t = 0 */
    uint64_t first_attempts, retried;
    double left;
};

struct retry_budget_stats {
    uint64_t firsts, retries, refused_attempts, refused_budget;
};

struct retry_budget_call {
    uint32_t passed, counted; /* attempts of the call, the latest that did */
};

static uint64_t sum(const int64_t *slices)
{
    int64_t total = 0;
    for (int i = 0; i < SLICES; i++)
        total += slices[i];
    return (uint64_t)total;
}

/* Slices that have gone by are empty. */
static void advance(struct retry_budget_vars *vars, const struct retry_budget_params *params, policy_time now)
{
    int64_t slice = now / (params->window / SLICES), gone = slice - vars->slice;
    for (int64_t i = 0; i < gone && i < SLICES; i++)
        vars->firsts[(slice - i) % SLICES] = vars->retries[(slice - i) % SLICES] = 0;
    vars->slice = slice;
    vars->first_attempts = sum(vars->firsts);
    vars->retried = sum(vars->retries);
}

/* Retries that may still pass, in millionths: whole numbers, so that 29 % of 100 is 29. */
static int64_t left(const struct retry_budget_vars *vars, const struct retry_budget_params *params)
{
    double floor_of = params->least * (double)params->window / 1e9;
    int64_t share = (int64_t)(params->ratio * 1e6 + 0.5);
    if (floor_of >= 1e12)
        return INT64_MAX;
    return share * (int64_t)vars->first_attempts + (int64_t)(floor_of * 1e6 + 0.5) - (int64_t)vars->retried * MILLION;
}

static struct policy_answer retry_budget_admit(struct policy *self, const struct policy_view *view,
                                               struct policy_call *call)
{
    const struct retry_budget_params *params = self->params;
    struct retry_budget_vars *vars = self->vars;
    struct retry_budget_stats *stats = self->stats;
    struct retry_budget_call *memory = call->state;
    if (memory->counted == call->attempt)
        return policy_admit();
    if (call->attempt > params->attempts) {
        stats->refused_attempts++;
        return policy_reject("attempts");
    }
    advance(vars, params, view->now);
    if (call->attempt > 1 && left(vars, params) < MILLION) {
        stats->refused_budget++;
        return policy_reject("budget");
    }
    memory->passed = call->attempt;
    return policy_admit();
}

/* The attempt goes on to whatever is behind; the first time that one is heard of it. */
static void count(struct policy *self, const struct policy_call *call, policy_time now)
{
    const struct retry_budget_params *params = self->params;
    struct retry_budget_vars *vars = self->vars;
    struct retry_budget_stats *stats = self->stats;
    struct retry_budget_call *memory = call->state;
    int64_t retries;
    if (memory->passed != call->attempt || memory->counted == call->attempt)
        return;
    memory->counted = call->attempt;
    advance(vars, params, now);
    if (call->attempt == 1) {
        vars->firsts[vars->slice % SLICES]++;
        vars->first_attempts++;
        stats->firsts++;
    } else {
        vars->retries[vars->slice % SLICES]++;
        vars->retried++;
        stats->retries++;
    }
    retries = left(vars, params);
    vars->left = retries == INT64_MAX ? (double)INFINITY : (double)retries / 1e6;
}

static policy_time retry_budget_admitted(struct policy *self, const struct policy_view *view, struct policy_call *call)
{
    count(self, call, view->now);
    return 0;
}

static void retry_budget_refused(struct policy *self, const struct policy_view *view, struct policy_call *call,
                                 const struct policy_answer *answer)
{
    (void)answer;
    count(self, call, view->now);
}

static const struct option retry_budget_options[] = {
    {.key = "attempts",
     .type = OPTION_COUNT,
     .offset = offsetof(struct retry_budget_params, attempts),
     .initial = "3",
     .least = "1",
     .most = "inf",
     .live = true,
     .help = "most attempts of a call, the first one included"},
    {.key = "ratio",
     .type = OPTION_SHARE,
     .offset = offsetof(struct retry_budget_params, ratio),
     .initial = "10 %",
     .live = true,
     .help = "most retries for a first attempt, over the window"},
    {.key = "window",
     .type = OPTION_TIME,
     .offset = offsetof(struct retry_budget_params, window),
     .initial = "10 s",
     .least = "100 ms",
     .most = "1 d",
     .help = "how long an attempt counts"},
    {.key = "least",
     .type = OPTION_RATE,
     .offset = offsetof(struct retry_budget_params, least),
     .initial = "10/s",
     .least = "0/s",
     .most = "inf",
     .live = true,
     .help = "retries that may be made beside the ratio, however few first attempts there are"},
    {.key = NULL},
};

static const char *const retry_budget_slots[] = {"window", "2 min", "least", "0.5/min", NULL};
static const struct policy_preset retry_budget_presets[] = {
    {.name = "slots",
     .settings = retry_budget_slots,
     .help = "for a card: two minutes, and one retry in them at the least"},
    {.name = NULL},
};

static const struct policy_gauge retry_budget_gauges[] = {
    {.name = "left",
     .type = POLICY_GAUGE_DOUBLE,
     .offset = offsetof(struct retry_budget_vars, left),
     .unit = "retries",
     .help = "retries that could pass at once after the last attempt that passed"},
    {.name = "first_attempts",
     .type = POLICY_GAUGE_UINT64,
     .offset = offsetof(struct retry_budget_vars, first_attempts),
     .unit = "attempts",
     .help = "first attempts that passed in the window, when the last attempt asked"},
    {.name = "retried",
     .type = POLICY_GAUGE_UINT64,
     .offset = offsetof(struct retry_budget_vars, retried),
     .unit = "attempts",
     .help = "retries that passed in the window, when the last attempt asked"},
    {.name = "firsts",
     .type = POLICY_GAUGE_UINT64,
     .in_stats = true,
     .offset = offsetof(struct retry_budget_stats, firsts),
     .unit = "attempts",
     .help = "first attempts that passed so far"},
    {.name = "retries",
     .type = POLICY_GAUGE_UINT64,
     .in_stats = true,
     .offset = offsetof(struct retry_budget_stats, retries),
     .unit = "attempts",
     .help = "retries that passed so far"},
    {.name = "refused_attempts",
     .type = POLICY_GAUGE_UINT64,
     .in_stats = true,
     .offset = offsetof(struct retry_budget_stats, refused_attempts),
     .unit = "calls",
     .help = "calls rejected as they had used up their attempts"},
    {.name = "refused_budget",
     .type = POLICY_GAUGE_UINT64,
     .in_stats = true,
     .offset = offsetof(struct retry_budget_stats, refused_budget),
     .unit = "calls",
     .help = "calls rejected as the budget had no retry left"},
    {.name = NULL},
};

const struct policy_ops weir_policy = {
    POLICY_HEADER,
    .name = "retry_budget",
    .summary = "rejects retries beyond a share of the traffic, and beyond a number for a call",
    .params = retry_budget_options,
    .presets = retry_budget_presets,
    .gauges = retry_budget_gauges,
    .params_size = sizeof(struct retry_budget_params),
    .vars_size = sizeof(struct retry_budget_vars),
    .stats_size = sizeof(struct retry_budget_stats),
    .call_size = sizeof(struct retry_budget_call),
    .admit = retry_budget_admit,
    .admitted = retry_budget_admitted,
    .refused = retry_budget_refused,
};
