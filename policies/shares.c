/* shares - a token budget divided among classes: each has a bucket of its own, filled with its share of the rate.
 *
 * Idea: a batch job that takes the whole quota takes it from those whom somebody waits for. So of `rate` a class gets
 * its share, in a bucket that holds `burst` of it: 6 s at 10 % of 2 M a minute are 20,000 tokens. A call takes what it
 * is expected to need from its class's bucket and is corrected by its answer; what does not fit is held until it would,
 * or deferred. Who is not named has what is left together, or if nothing is, shares with the last one that is. Whose
 * share is 0 is rejected.
 *
 * Hard floors: what flows into a full bucket is lost. With `borrow` it flows on, into the buckets that are not full, in
 * proportion to their shares. Only idle share is lent that way: a class that wants its own has no full bucket, and one
 * that comes back finds its bucket full and its rate its own from that instant.
 *
 * Promise: over any interval in which all classes have calls held here a class takes share * rate * interval, more by
 * at most what its bucket holds and less by at most that or one call, whichever is more, with borrowing or without; a
 * correction by an answer counts when it comes. All together never take more than rate * interval and all the buckets.
 *
 * Source: link sharing (Floyd and Van Jacobson 1995); what a full bucket does not take goes to the others as capacity
 * of idle sessions does in generalized processor sharing (Parekh and Gallager 1993). `published`: the shares of an
 * agent platform's input budget, refused calls told to come back in 30 s.
 *
 * Levels are exact, as token_bucket's: rates are whole millionths a minute, and lent ones are rounded down to that.
 * Known to fail: a call above its bucket (a scenario that could make one is refused, unless sizes have no bound) goes
 * when that is full and leaves it below zero; within a class small calls pass a large one that is held; hard floors
 * waste what a class does not use. */
#include "policies/meter.h"
#include "policies/shares_buckets.h"

enum { ANSWER_HOLD, ANSWER_DEFER };

struct shares_params {
    const char *classes, *tenants;
    int meter;
    double rate;
    policy_time burst;
    double cached_weight;
    bool borrow;
    int answer;
    policy_time retry_after;
};

struct shares_call {
    int64_t taken; /* millionths */
    int bucket;
    bool inside;
};

static int64_t expected(const struct shares_params *params, const struct policy_call *call)
{
    return meter_expects(params->meter, params->cached_weight, call);
}

/* --- callbacks ------------------------------------------------------------------------------------------------------
 */

static const char *shares_check(const void *given)
{
    const struct shares_params *params = given;
    struct class_shares of;
    const char *wrong = shares_read(params->classes, false, &of);
    if (params->cached_weight != 1 && (params->meter == METER_REQUESTS || params->meter == METER_OUTPUT))
        return "cached_weight is about tokens that are sent: expected meter: input or total";
    if (params->classes && params->tenants)
        return "expected shares of classes or of tenants, not both";
    return wrong ? wrong : shares_read(params->tenants, true, &of);
}

static struct policy_room shares_room(const void *given, const struct policy_view *names,
                                      const struct policy_call *call)
{
    const struct shares_params *params = given;
    struct shares_vars vars = {0};
    int i;
    shares_read(params->tenants ? params->tenants : params->classes, params->tenants, &vars.of);
    renew(&vars, params->rate, params->burst, params->borrow);
    i = params->tenants ? shares_index(&vars.of, names->tenant_names, call->tenant)
                        : shares_index(&vars.of, names->class_names, call->klass);
    if (vars.of.shares[i] == 0 || isinf(params->rate))
        return (struct policy_room){0, 0};
    return (struct policy_room){(double)expected(params, call) / 1e6, amount_units(full(&vars, i))};
}

static void shares_init(struct policy *self)
{
    const struct shares_params *params = self->params;
    struct shares_vars *vars = self->vars;
    shares_read(params->tenants ? params->tenants : params->classes, params->tenants, &vars->of);
    renew(vars, params->rate, params->burst, params->borrow);
    for (int i = 0; i <= vars->of.count; i++)
        vars->buckets[i].level = full(vars, i);
}

static void shares_changed(struct policy *self, policy_time now, const char *key, enum policy_setter by)
{
    const struct shares_params *params = self->params;
    (void)key;
    (void)by;
    refill(self->vars, now, self->stats);
    renew(self->vars, params->rate, params->burst, params->borrow);
}

static int bucket_of(const struct policy *self, const struct policy_view *view, const struct policy_call *call)
{
    const struct shares_params *params = self->params;
    const struct shares_vars *vars = self->vars;
    return params->tenants ? shares_index(&vars->of, view->tenant_names, call->tenant)
                           : shares_index(&vars->of, view->class_names, call->klass);
}

static struct policy_answer shares_admit(struct policy *self, const struct policy_view *view, struct policy_call *call)
{
    const struct shares_params *params = self->params;
    struct shares_vars *vars = self->vars;
    struct shares_stats *stats = self->stats;
    int i = bucket_of(self, view, call);
    parts need = (parts)expected(params, call) * MINUTE;
    policy_time after;
    if (vars->of.shares[i] == 0) {
        stats->rejected++;
        return policy_reject("no share");
    }
    refill(vars, view->now, stats);
    need = need < full(vars, i) ? need : full(vars, i);
    if (isinf(params->rate) || vars->buckets[i].level >= need)
        return policy_admit();
    after = until(vars, i, need);
    if (params->answer == ANSWER_HOLD && !call->last) {
        stats->held++;
        return policy_hold(after, "share");
    }
    stats->deferred++;
    return policy_defer(params->retry_after > 0 ? params->retry_after : after, "share");
}

static policy_time shares_admitted(struct policy *self, const struct policy_view *view, struct policy_call *call)
{
    const struct shares_params *params = self->params;
    struct shares_vars *vars = self->vars;
    struct shares_call *memory = call->state;
    refill(vars, view->now, self->stats);
    memory->inside = true;
    memory->bucket = bucket_of(self, view, call);
    memory->taken = isinf(params->rate) ? 0 : expected(params, call);
    give(vars, memory->bucket, -(parts)memory->taken * MINUTE);
    return 0;
}

/* Where nobody says what was taken the estimate stands; what no server took comes back whole. */
static policy_time shares_finish(struct policy *self, const struct policy_view *view, struct policy_call *call,
                                 const struct policy_outcome *outcome)
{
    const struct shares_params *params = self->params;
    struct shares_vars *vars = self->vars;
    struct shares_call *memory = call->state;
    int64_t real = -1;
    if (!memory->inside)
        return POLICY_NONE;
    memory->inside = false;
    if (outcome->end == POLICY_DONE || outcome->end == POLICY_ERROR)
        real = meter_took(params->meter, params->cached_weight, outcome);
    else if (meter_unserved(call, outcome->end) || outcome->end == POLICY_OVERLOAD)
        real = 0;
    refill(vars, view->now, self->stats);
    if (real >= 0 && !isinf(params->rate))
        give(vars, memory->bucket, ((parts)memory->taken - real) * MINUTE);
    return POLICY_NONE;
}

static const char *const shares_answers[] = {[ANSWER_HOLD] = "hold", [ANSWER_DEFER] = "defer", NULL};

static const struct option shares_options[] = {
    {.key = "classes",
     .type = OPTION_TEXT,
     .offset = offsetof(struct shares_params, classes),
     .initial = "",
     .measures = "classes",
     .help = "names and their shares by turns, such as live 70 % batch 10 %; all others have what is left"},
    {.key = "tenants",
     .type = OPTION_TEXT,
     .offset = offsetof(struct shares_params, tenants),
     .initial = "",
     .measures = "tenants",
     .help = "in place of classes: the same of tenants"},
    {.key = "meter",
     .type = OPTION_CHOICE,
     .offset = offsetof(struct shares_params, meter),
     .initial = "input",
     .choices = meter_names,
     .help = "what is counted: requests, or tokens sent, answered or both"},
    {.key = "rate",
     .type = OPTION_RATE,
     .offset = offsetof(struct shares_params, rate),
     .initial = "2M/min",
     .least = "1/h",
     .most = "inf",
     .live = true,
     .help = "the budget that is divided, in units a time"},
    {.key = "burst",
     .type = OPTION_TIME,
     .offset = offsetof(struct shares_params, burst),
     .initial = "6 s",
     .least = "1 ms",
     .most = "1 d",
     .live = true,
     .help =
         "each bucket holds what flows into it in so long, and its class's largest call at least: else the scenario is "
         "refused, or where the scenario sets no largest, told what one in 1,000 takes; all are full at first"},
    {.key = "cached_weight",
     .type = OPTION_REAL,
     .offset = offsetof(struct shares_params, cached_weight),
     .initial = "1",
     .least = "0",
     .most = "1",
     .live = true,
     .help = "what a cached token of the input counts"},
    {.key = "borrow",
     .type = OPTION_FLAG,
     .offset = offsetof(struct shares_params, borrow),
     .initial = "false",
     .help = "whether what flows into a full bucket is lent to those that are not; else it is lost"},
    {.key = "answer",
     .type = OPTION_CHOICE,
     .offset = offsetof(struct shares_params, answer),
     .initial = "hold",
     .choices = shares_answers,
     .help = "what a call gets that does not fit: held until it would, or refused"},
    {.key = "retry_after",
     .type = OPTION_TIME,
     .offset = offsetof(struct shares_params, retry_after),
     .initial = "",
     .least = "1 ms",
     .most = "1 d",
     .live = true,
     .help = "when a refused call is asked to come back; without it when it would fit"},
    {.key = NULL},
};

static const char *const shares_published[] = {"classes",     "interactive 70 % background 20 % batch 10 %",
                                               "burst",       "1 min",
                                               "answer",      "defer",
                                               "retry_after", "30 s",
                                               NULL};
static const struct policy_preset shares_presets[] = {
    {.name = "published",
     .settings = shares_published,
     .help = "an agent platform's classes interactive, background and batch at 2 M input tokens a minute"},
    {.name = NULL},
};

static const struct policy_gauge shares_gauges[] = {
    {.name = "held",
     .type = POLICY_GAUGE_UINT64,
     .in_stats = true,
     .offset = offsetof(struct shares_stats, held),
     .unit = "answers",
     .help = "how often a call was told to wait"},
    {.name = "deferred",
     .type = POLICY_GAUGE_UINT64,
     .in_stats = true,
     .offset = offsetof(struct shares_stats, deferred),
     .unit = "attempts",
     .help = "attempts refused so far"},
    {.name = "rejected",
     .type = POLICY_GAUGE_UINT64,
     .in_stats = true,
     .offset = offsetof(struct shares_stats, rejected),
     .unit = "calls",
     .help = "calls of who has no share, rejected so far"},
    {.name = "lent",
     .type = POLICY_GAUGE_DOUBLE,
     .in_stats = true,
     .offset = offsetof(struct shares_stats, lent),
     .unit = "units",
     .help = "of full buckets, that flowed into others"},
    {.name = "lost",
     .type = POLICY_GAUGE_DOUBLE,
     .in_stats = true,
     .offset = offsetof(struct shares_stats, lost),
     .unit = "units",
     .help = "of full buckets, that nobody had"},
    {.name = NULL},
};

const struct policy_ops weir_policy = {
    POLICY_HEADER,
    .name = "shares",
    .summary = "holds or refuses calls beyond their class's share of a budget, which may lend what is idle",
    .params = shares_options,
    .presets = shares_presets,
    .gauges = shares_gauges,
    .params_size = sizeof(struct shares_params),
    .vars_size = sizeof(struct shares_vars),
    .stats_size = sizeof(struct shares_stats),
    .call_size = sizeof(struct shares_call),
    .check = shares_check,
    .room = shares_room,
    .init = shares_init,
    .changed = shares_changed,
    .admit = shares_admit,
    .admitted = shares_admitted,
    .finish = shares_finish,
};
