/* run_budget - decides at the door, on the whole run: it begins only if it can be afforded to its end.
 *
 * Idea: a run that starts and does not finish has spent money and produced nothing, so no call may wait inside a run
 * for quota. A run is let in if the tokens a minute of all runs inside and its own are within `quota`, and the time to
 * its deadline is at least `factor` times what it takes with nothing in the way; else it is to ask again in
 * `retry_after`. What it has reserved is released turn by turn, as each is answered, or where that was elsewhere as the
 * next one asks; past its estimate it keeps one turn until it ends. Parts of a turn that come by are none of their own.
 *
 * Estimates: `run`, what it is going to be, as it would name it itself, so that `error` is all that is wrong with it;
 * `class`, the means of its class; `curve`, `turns` of them; `history`, the means of the runs of its class that were
 * done, from `learn` of them on, and the curve before. The curve is also what a run costs of which only the turns are
 * known: turn k = 0, 1, ... takes start + k per_turn + output tokens, and a `period`. An `error` multiplies all by a
 * lognormal number with mean 1 and that cv, drawn once a run, however often it asks: it depends on the copy's first
 * number and on whose run it is, on nothing that came before.
 *
 * Source: an agent platform's notes on backpressure: 30,000 tokens 15 times a minute, 2 M tokens a minute, shares of
 * 70, 20 and 10 %, 90 s. Its code holds the whole run's tokens against what a minute's budget has left, `reading:
 * minute`: 40 turns, 1.2 M tokens, then fit into no share below 60 % and never begin. `rate`, by the run's minutes, is
 * what its text means. Against it: calls held inside until there is quota, the maker of zombies, which is
 * `token_bucket: {meter: input, answer: hold}`.
 *
 * Known to fail: history counts no run that is not done, and short ones are done first (it counts a run's own time, not
 * its waiting, or a crowd would make runs look cheap); a rate is a mean, and contexts grow; what no budget carries asks
 * for ever; whole runs leave part of a quota idle. It stands last at the door: what a later member refuses stays
 * reserved until that run asks again, or is withdrawn. */
#include "policies/class_shares.h"
#include "policies/run_budget_estimate.h"

__extension__ typedef __int128 wide;

#define POOLS (SHARES_MOST + 1)

enum { READING_RATE, READING_MINUTE };
enum { LATE_DEFER, LATE_REJECT };

struct run_budget_vars {
    struct class_shares of;
    wide reserved[POOLS]; /* millionths of tokens, a minute in the reading `rate` */
    wide left;            /* millionths of tokens of the turns to come */
    uint64_t seed;
    uint64_t inside; /* runs that have something reserved */
    double shown_reserved, shown_left;
};

struct run_budget_stats {
    uint64_t over_quota, over_deadline;
};

struct run_budget_call {
    bool is_turn; /* not a part of one */
};

/* --- reservations ---------------------------------------------------------------------------------------------------
 */

static void reserve(struct run_budget_vars *vars, struct run_budget_run *memory, int64_t reserved, int64_t left)
{
    wide all = 0;
    vars->reserved[memory->pool] += reserved - memory->reserved;
    vars->left += left - memory->left;
    memory->reserved = reserved;
    memory->left = left;
    for (int i = 0; i <= vars->of.count; i++)
        all += vars->reserved[i];
    vars->shown_reserved = (double)all / 1e6;
    vars->shown_left = (double)vars->left / 1e6;
}

static void release(struct run_budget_vars *vars, struct run_budget_run *memory)
{
    if (!memory->inside)
        return;
    reserve(vars, memory, 0, 0);
    memory->inside = false;
    vars->inside--;
}

/* What the run has to reserve for what is left of it. */
static void needs(const struct run_budget_params *params, const struct run_budget_run *memory, int64_t *reserved,
                  int64_t *left)
{
    double turns = memory->is.turns - (double)memory->turn, tokens, seconds;
    turns = turns > 1 ? turns : 1;
    tokens = tokens_left(params, memory, turns);
    seconds = memory->is.seconds * turns / memory->is.turns;
    *left = millionths(tokens);
    *reserved = params->reading == READING_MINUTE ? *left : millionths(tokens * 60 / seconds);
}

static bool affordable(const struct run_budget_params *params, const struct run_budget_vars *vars, int pool,
                       int64_t reserved)
{
    double quota = params->quota * 6e7 * ((double)vars->of.shares[pool] / (double)SHARES_WHOLE);
    if (isinf(params->quota))
        return true;
    return vars->reserved[pool] + reserved <= (quota < 1e30 ? (wide)(quota + 0.5) : (wide)1e30);
}

/* --- callbacks ------------------------------------------------------------------------------------------------------
 */

static const char *run_budget_check(const void *given)
{
    const struct run_budget_params *params = given;
    struct class_shares of;
    return shares_read(params->classes, false, &of);
}

static void run_budget_init(struct policy *self)
{
    const struct run_budget_params *params = self->params;
    struct run_budget_vars *vars = self->vars;
    shares_read(params->classes, false, &vars->of);
    if (params->error > 0)
        vars->seed = (uint64_t)(self->host->uniform(self) * 0x1p53);
}

static struct policy_answer run_budget_run_admit(struct policy *self, const struct policy_view *view,
                                                 struct policy_run *run)
{
    const struct run_budget_params *params = self->params;
    struct run_budget_vars *vars = self->vars;
    struct run_budget_stats *stats = self->stats;
    struct run_budget_run *memory = run->run_state;
    int64_t reserved, left;
    release(vars, memory); /* a later member has not let it in */
    if (memory->factor <= 0)
        memory->factor = drawn_error(self, vars->seed, run);
    memory->is = estimated(params, run, memory->factor);
    memory->pool = shares_index(&vars->of, view->class_names, run->klass);
    needs(params, memory, &reserved, &left);
    if (vars->of.shares[memory->pool] == 0)
        return policy_reject("no share");
    if (run->deadline != POLICY_NONE &&
        (double)(run->deadline - view->now) / 1e9 < params->factor * memory->is.seconds) {
        stats->over_deadline++;
        return params->late == LATE_REJECT ? policy_reject("deadline") : policy_defer(params->retry_after, "deadline");
    }
    if (!affordable(params, vars, memory->pool, reserved)) {
        stats->over_quota++;
        return policy_defer(params->retry_after, "quota");
    }
    memory->inside = true;
    memory->since = view->now;
    vars->inside++;
    reserve(vars, memory, reserved, left);
    return policy_admit();
}

/* So many turns are over: what was reserved for them is free. */
static void turns_over(struct policy *self, struct run_budget_run *memory, uint64_t turns)
{
    int64_t reserved, left;
    if ((int64_t)turns <= memory->turn)
        return;
    memory->turn = (int64_t)turns;
    needs(self->params, memory, &reserved, &left);
    reserve(self->vars, memory, reserved, left);
}

/* Whatever becomes of it and wherever, a call asks here first, and before any part of its turn; then the turns before
 * are over. */
static void call_asks(struct policy *self, const struct policy_call *call)
{
    struct run_budget_run *memory = call->run_state;
    struct run_budget_call *is = call->state;
    if (!memory->inside || (memory->begun && call->turn <= memory->last))
        return;
    if (!memory->begun)
        memory->first = call->turn;
    memory->begun = is->is_turn = true;
    memory->last = call->turn;
    turns_over(self, memory, call->turn - memory->first);
}

static struct policy_answer run_budget_admit(struct policy *self, const struct policy_view *view,
                                             struct policy_call *call)
{
    (void)view;
    call_asks(self, call);
    return policy_admit();
}

static void run_budget_refused(struct policy *self, const struct policy_view *view, struct policy_call *call,
                               const struct policy_answer *answer)
{
    (void)view;
    (void)answer;
    call_asks(self, call);
}

static policy_time run_budget_finish(struct policy *self, const struct policy_view *view, struct policy_call *call,
                                     const struct policy_outcome *outcome)
{
    const struct run_budget_params *params = self->params;
    const struct run_budget_call *is = call->state;
    struct run_budget_run *memory = call->run_state;
    double cached = outcome->cached_tokens, tokens = outcome->input_tokens - cached + cached * params->cached_weight;
    if (!memory->inside || !is->is_turn || outcome->end != POLICY_DONE)
        return POLICY_NONE;
    memory->used += params->meter == METER_TOTAL ? tokens + outcome->output_tokens : tokens;
    memory->seconds += (double)(view->now - call->started + call->first_attempt - memory->since) / 1e9;
    memory->since = view->now;
    turns_over(self, memory, call->turn - memory->first + 1);
    return POLICY_NONE;
}

static void run_budget_run_finish(struct policy *self, const struct policy_view *view, struct policy_run *run,
                                  bool done)
{
    struct run_budget_run *memory = run->run_state;
    struct run_budget_class *history = run->class_state;
    if (memory->inside && done && memory->begun && isfinite(memory->used)) {
        history->runs++;
        history->turns += (double)(memory->last - memory->first + 1);
        history->tokens += memory->used;
        history->seconds += memory->seconds + (double)(view->now - memory->since) / 1e9; /* the last one's parts */
    }
    release(self->vars, memory);
}

static void run_budget_run_withdrawn(struct policy *self, const struct policy_view *view, struct policy_run *run)
{
    (void)view;
    release(self->vars, run->run_state);
}

static const char *const run_budget_readings[] = {[READING_RATE] = "rate", [READING_MINUTE] = "minute", NULL};
static const char *const run_budget_meters[] = {[METER_INPUT] = "input", [METER_TOTAL] = "total", NULL};
static const char *const run_budget_estimates[] = {[ESTIMATE_RUN] = "run",
                                                   [ESTIMATE_CLASS] = "class",
                                                   [ESTIMATE_CURVE] = "curve",
                                                   [ESTIMATE_HISTORY] = "history",
                                                   NULL};
static const char *const run_budget_late[] = {[LATE_DEFER] = "defer", [LATE_REJECT] = "reject", NULL};

static const struct option run_budget_options[] = {
    {.key = "quota",
     .type = OPTION_RATE,
     .offset = offsetof(struct run_budget_params, quota),
     .initial = "2M tokens/min",
     .least = "1 tokens/h",
     .most = "inf",
     .measures = "tokens",
     .live = true,
     .help = "tokens a minute that all runs inside may be expected to use"},
    {.key = "classes",
     .type = OPTION_TEXT,
     .offset = offsetof(struct run_budget_params, classes),
     .initial = "",
     .measures = "classes",
     .help = "names and their shares of it by turns, such as live 70 % batch 10 %; all others have what is left"},
    {.key = "reading",
     .type = OPTION_CHOICE,
     .offset = offsetof(struct run_budget_params, reading),
     .initial = "rate",
     .choices = run_budget_readings,
     .help = "what is held against the quota: a run's tokens by its minutes, or all of them against those of a minute"},
    {.key = "meter",
     .type = OPTION_CHOICE,
     .offset = offsetof(struct run_budget_params, meter),
     .initial = "input",
     .choices = run_budget_meters,
     .help = "what is counted: tokens sent, or those answered too"},
    {.key = "cached_weight",
     .type = OPTION_REAL,
     .offset = offsetof(struct run_budget_params, cached_weight),
     .initial = "1",
     .least = "0",
     .most = "1",
     .live = true,
     .help = "what a cached token of the input counts in the history"},
    {.key = "estimate",
     .type = OPTION_CHOICE,
     .offset = offsetof(struct run_budget_params, estimate),
     .initial = "run",
     .choices = run_budget_estimates,
     .help = "whose word counts: the run's own, its class's mean, the curve's, or that of the finished runs of its "
             "class"},
    {.key = "turns",
     .type = OPTION_REAL,
     .offset = offsetof(struct run_budget_params, turns),
     .initial = "40",
     .least = "1",
     .most = "1000000",
     .live = true,
     .help = "of the curve: turns of a run"},
    {.key = "start",
     .type = OPTION_COUNT,
     .offset = offsetof(struct run_budget_params, start),
     .initial = "30k",
     .least = "0",
     .most = "1000M",
     .measures = "tokens",
     .live = true,
     .help = "of the curve: what the first turn sends"},
    {.key = "per_turn",
     .type = OPTION_COUNT,
     .offset = offsetof(struct run_budget_params, per_turn),
     .initial = "0",
     .least = "0",
     .most = "1000M",
     .measures = "tokens",
     .live = true,
     .help = "of the curve: what each further turn sends more"},
    {.key = "output",
     .type = OPTION_COUNT,
     .offset = offsetof(struct run_budget_params, output),
     .initial = "0",
     .least = "0",
     .most = "1000M",
     .measures = "tokens",
     .live = true,
     .help = "of the curve: the answer to a turn, where answers count"},
    {.key = "period",
     .type = OPTION_TIME,
     .offset = offsetof(struct run_budget_params, period),
     .initial = "4 s",
     .least = "1 ms",
     .most = "1 d",
     .live = true,
     .help = "of the curve: from one turn to the next when nothing is in the way"},
    {.key = "learn",
     .type = OPTION_COUNT,
     .offset = offsetof(struct run_budget_params, learn),
     .initial = "10",
     .least = "1",
     .most = "inf",
     .measures = "runs",
     .live = true,
     .help = "finished runs of a class before its history counts"},
    {.key = "error",
     .type = OPTION_REAL,
     .offset = offsetof(struct run_budget_params, error),
     .initial = "0",
     .least = "0",
     .most = "10",
     .help = "cv of the estimate: it is drawn to be that wrong, without a bias"},
    {.key = "factor",
     .type = OPTION_REAL,
     .offset = offsetof(struct run_budget_params, factor),
     .initial = "1.5",
     .least = "0",
     .most = "1000000",
     .live = true,
     .help = "the time to the deadline must be so many times the run's own"},
    {.key = "late",
     .type = OPTION_CHOICE,
     .offset = offsetof(struct run_budget_params, late),
     .initial = "defer",
     .choices = run_budget_late,
     .help = "what a run gets that would miss its deadline"},
    {.key = "retry_after",
     .type = OPTION_TIME,
     .offset = offsetof(struct run_budget_params, retry_after),
     .initial = "90 s",
     .least = "1 ms",
     .most = "1 d",
     .live = true,
     .help = "when a run that is not let in is asked to come back"},
    {.key = NULL},
};

static const char *const run_budget_published[] = {"estimate", "curve", "reading", "minute", NULL};
static const char *const run_budget_normalised[] = {"estimate", "curve", "reading", "rate", NULL};
static const struct policy_preset run_budget_presets[] = {
    {.name = "published",
     .settings = run_budget_published,
     .help = "an agent platform's code, by the word: a whole run in the budget of one minute"},
    {.name = "normalised", .settings = run_budget_normalised, .help = "the same as its text means it, by the minutes"},
    {.name = NULL},
};

static const struct policy_gauge run_budget_gauges[] = {
    {.name = "reserved",
     .type = POLICY_GAUGE_DOUBLE,
     .offset = offsetof(struct run_budget_vars, shown_reserved),
     .unit = "tokens",
     .help = "of the quota, by the runs inside; a minute where the reading is rate"},
    {.name = "left",
     .type = POLICY_GAUGE_DOUBLE,
     .offset = offsetof(struct run_budget_vars, shown_left),
     .unit = "tokens",
     .help = "that the turns to come of the runs inside are expected to use"},
    {.name = "inside",
     .type = POLICY_GAUGE_UINT64,
     .offset = offsetof(struct run_budget_vars, inside),
     .unit = "runs",
     .help = "let in, and not ended"},
    {.name = "over_quota",
     .type = POLICY_GAUGE_UINT64,
     .in_stats = true,
     .offset = offsetof(struct run_budget_stats, over_quota),
     .unit = "attempts",
     .help = "at the door, that did not fit into the quota"},
    {.name = "over_deadline",
     .type = POLICY_GAUGE_UINT64,
     .in_stats = true,
     .offset = offsetof(struct run_budget_stats, over_deadline),
     .unit = "attempts",
     .help = "at the door, that would have missed their deadline"},
    {.name = NULL},
};

const struct policy_ops weir_policy = {
    POLICY_HEADER,
    .name = "run_budget",
    .summary = "lets a run begin only if quota and deadline carry it to its end",
    .params = run_budget_options,
    .presets = run_budget_presets,
    .gauges = run_budget_gauges,
    .params_size = sizeof(struct run_budget_params),
    .vars_size = sizeof(struct run_budget_vars),
    .stats_size = sizeof(struct run_budget_stats),
    .run_size = sizeof(struct run_budget_run),
    .call_size = sizeof(struct run_budget_call),
    .class_size = sizeof(struct run_budget_class),
    .check = run_budget_check,
    .init = run_budget_init,
    .run_admit = run_budget_run_admit,
    .admit = run_budget_admit,
    .refused = run_budget_refused,
    .finish = run_budget_finish,
    .run_withdrawn = run_budget_run_withdrawn,
    .run_finish = run_budget_run_finish,
};
