/* priority - a threshold of priority that rises while calls wait too long: who is below is refused.
 *
 * Idea: under overload refuse the same calls everywhere and at once, the least important ones, before they cost
 * anything. All levels stand in one order: the class's `priority:`, higher first, and within a class one of `users`
 * levels that is drawn for each agent anew in every `shuffle`, so that a class is cut in the middle, all calls of a run
 * fare alike, and nobody is unlucky for good. A call is let in if its level is above the threshold.
 *
 * Source: DAGOR, the overload control of WeChat (Zhou et al., SoCC 2018, arXiv:1806.04075); the defaults. A window ends
 * after 1 s or 2,000 attempts. If the calls that a server took in it had waited longer than 20 ms on average, the next
 * one is to admit 5 % fewer than this one did, else 1 % of all attempts more; the window's histogram of attempts by
 * level says where the threshold has to be for that. `slots` is for turns of 9 s: codel's target for a card, and a
 * window of some fifty calls, so that 5 % are some.
 *
 * 1 % is of attempts and not of admitted calls, since from nobody admitted 1 % more would be nobody, for ever. In a
 * window in which no server took a call while some waited, nobody can tell: the threshold stays. If nobody waited
 * either, there is no overload.
 *
 * Known to fail: it moves only while calls come, so the first ones after a quiet time are refused by a threshold of
 * before. A step is a call at least: on a card, with 20 ms and 1 s, it opens and shuts with each, and servers stand
 * idle. One population of equal agents has nothing but the drawn levels: whoever draws badly is shut out for an hour,
 * or several. Levels hang on class, agent, hour and a number that each copy draws for itself: gates agree on them where
 * the policy's scope is `all`. At a metered pool no call waits, so it never learns of an overload. At most 32
 * priorities are told apart; further ones count as the nearest above. */
#include "policies/policy.h"

__extension__ typedef __int128 wide;

enum { PRIORITIES = 32, USERS = 128 };

struct priority_params {
    policy_time target, window;
    int64_t calls;
    double down, up;
    int64_t users;
    policy_time shuffle;
};

struct priority_vars {
    uint64_t salt;
    double priorities[PRIORITIES]; /* seen so far, the highest first */
    int64_t count;                 /* of them */
    int64_t level;                 /* levels above the threshold, of count times users */
    /* Of this window. */
    uint32_t attempts_at[PRIORITIES * USERS];
    int64_t attempts, admitted;
    wide waited;
    int64_t served;
    policy_time ends;
    double mean_wait, open; /* of the window before; share of the levels above the threshold */
};

struct priority_stats {
    uint64_t refused;
};

struct priority_call {
    uint32_t counted; /* attempts of the call that were */
};

/* The row of a priority; a new one goes in between, and is above the threshold if the one behind it is, or all are. */
static int64_t row_of(struct priority_vars *vars, double priority, int64_t users)
{
    int64_t row = 0;
    bool all = vars->level == vars->count * users;
    while (row < vars->count && vars->priorities[row] > priority)
        row++;
    if (row < vars->count && vars->priorities[row] == priority)
        return row;
    if (vars->count == PRIORITIES)
        return row > 0 ? row - 1 : 0;
    for (int64_t i = vars->count; i > row; i--)
        vars->priorities[i] = vars->priorities[i - 1];
    for (int64_t i = vars->count * users; i > row * users; i--)
        vars->attempts_at[i + users - 1] = vars->attempts_at[i - 1];
    for (int64_t i = 0; i < users; i++)
        vars->attempts_at[row * users + i] = 0;
    vars->priorities[row] = priority;
    vars->count++;
    if (all || vars->level > row * users)
        vars->level += users;
    return row;
}

/* Evenly spread, the same for all calls of an agent until the next shuffle (the mixer of splitmix64). */
static int64_t user_of(const struct policy_call *call, uint64_t salt, int64_t shuffle, int64_t users)
{
    uint64_t z =
        (((uint64_t)call->klass << 32 | call->agent) ^ salt) * UINT64_C(0x9e3779b97f4a7c15) + (uint64_t)shuffle;
    for (int i = 0; i < 2; i++) {
        z += UINT64_C(0x9e3779b97f4a7c15);
        z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
        z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
        z ^= z >> 31;
    }
    return (int64_t)(z % (uint64_t)users);
}

/* The threshold of the next window, from the histogram of this one. */
static void adjust(struct priority_vars *vars, const struct priority_params *params, bool overload)
{
    double above = 0, wanted = (double)vars->admitted;
    int64_t levels = vars->count * params->users;
    for (int64_t i = 0; i < vars->level; i++)
        above += vars->attempts_at[i];
    if (overload) {
        wanted *= 1 - params->down;
        while (vars->level > 0 && above > wanted)
            above -= vars->attempts_at[--vars->level];
    } else {
        wanted += params->up * (double)vars->attempts;
        while (vars->level < levels && above < wanted)
            above += vars->attempts_at[vars->level++];
    }
    vars->open = levels > 0 ? (double)vars->level / (double)levels : 1;
}

static void window_over(struct policy *self, const struct policy_view *view)
{
    const struct priority_params *params = self->params;
    struct priority_vars *vars = self->vars;
    bool known = vars->served > 0 || view->waiting.calls == 0;
    vars->mean_wait = vars->served > 0 ? (double)vars->waited / (double)vars->served / 1e9 : 0;
    if (known)
        adjust(vars, params, vars->waited > (wide)params->target * vars->served);
    for (int64_t i = 0; i < vars->count * params->users; i++)
        vars->attempts_at[i] = 0;
    vars->attempts = vars->admitted = vars->served = 0;
    vars->waited = 0;
    vars->ends = view->now + params->window;
}

static void priority_init(struct policy *self)
{
    struct priority_vars *vars = self->vars;
    vars->salt = (uint64_t)(self->host->uniform(self) * 0x1p53) << 11;
}

static struct policy_answer priority_admit(struct policy *self, const struct policy_view *view,
                                           struct policy_call *call)
{
    const struct priority_params *params = self->params;
    struct priority_vars *vars = self->vars;
    struct priority_stats *stats = self->stats;
    struct priority_call *memory = call->state;
    int64_t place = row_of(vars, call->priority, params->users) * params->users +
                    user_of(call, vars->salt, view->now / params->shuffle, params->users);
    bool above = place < vars->level;
    if (memory->counted < call->attempt) {
        memory->counted = call->attempt;
        vars->attempts_at[place]++;
        vars->attempts++;
        vars->admitted += above;
        if (vars->attempts >= params->calls)
            window_over(self, view);
    }
    if (above)
        return policy_admit();
    stats->refused++;
    return policy_defer(POLICY_NONE, "priority");
}

static struct policy_answer priority_start(struct policy *self, const struct policy_view *view,
                                           struct policy_call *call)
{
    struct priority_vars *vars = self->vars;
    vars->waited += view->now - call->joined;
    vars->served++;
    return policy_admit();
}

/* The window may have ended before, by its number of attempts. */
static policy_time priority_tick(struct policy *self, const struct policy_view *view)
{
    struct priority_vars *vars = self->vars;
    if (view->now >= vars->ends)
        window_over(self, view);
    return vars->ends > view->now + POLICY_LEAST ? vars->ends : view->now + POLICY_LEAST;
}

static const struct option priority_options[] = {
    {.key = "target",
     .type = OPTION_TIME,
     .offset = offsetof(struct priority_params, target),
     .initial = "20 ms",
     .least = "0 s",
     .most = "inf",
     .live = true,
     .help = "a longer mean wait of the calls taken in a window is an overload"},
    {.key = "window",
     .type = OPTION_TIME,
     .offset = offsetof(struct priority_params, window),
     .initial = "1 s",
     .least = "1 ms",
     .most = "1 d",
     .live = true,
     .help = "how long calls are watched before the threshold moves"},
    {.key = "calls",
     .type = OPTION_COUNT,
     .offset = offsetof(struct priority_params, calls),
     .initial = "2000",
     .least = "1",
     .most = "inf",
     .measures = "calls",
     .live = true,
     .help = "a window ends after so many attempts, if that is sooner"},
    {.key = "down",
     .type = OPTION_SHARE,
     .offset = offsetof(struct priority_params, down),
     .initial = "5 %",
     .live = true,
     .help = "of the calls admitted, to be admitted no more after an overload"},
    {.key = "up",
     .type = OPTION_SHARE,
     .offset = offsetof(struct priority_params, up),
     .initial = "1 %",
     .live = true,
     .help = "of the attempts, to be admitted in addition without one"},
    {.key = "users",
     .type = OPTION_COUNT,
     .offset = offsetof(struct priority_params, users),
     .initial = "128",
     .least = "1",
     .most = "128",
     .help = "levels within a priority, among which agents are drawn"},
    {.key = "shuffle",
     .type = OPTION_TIME,
     .offset = offsetof(struct priority_params, shuffle),
     .initial = "1 h",
     .least = "1 s",
     .most = "25000 d",
     .help = "how long an agent keeps its level"},
    {.key = NULL},
};

static const char *const priority_dagor[] = {"target", "20 ms", "window", "1 s", "calls",   "2000", "down", "5 %",
                                             "up",     "1 %",   "users",  "128", "shuffle", "1 h",  NULL};
static const char *const priority_slots[] = {"target", "8 s", "window", "1 min", NULL};
static const struct policy_preset priority_presets[] = {
    {.name = "dagor",
     .settings = priority_dagor,
     .help = "WeChat's services: DAGOR as published, which are the defaults"},
    {.name = "slots", .settings = priority_slots, .help = "for slots that serve turns of some ten seconds"},
    {.name = NULL},
};

static const struct policy_gauge priority_gauges[] = {
    {.name = "open",
     .type = POLICY_GAUGE_DOUBLE,
     .offset = offsetof(struct priority_vars, open),
     .unit = "",
     .help = "share of the levels that are above the threshold, since the last window"},
    {.name = "mean_wait",
     .type = POLICY_GAUGE_DOUBLE,
     .offset = offsetof(struct priority_vars, mean_wait),
     .unit = "s",
     .help = "of the calls that servers took in the last window"},
    {.name = "refused",
     .type = POLICY_GAUGE_UINT64,
     .in_stats = true,
     .offset = offsetof(struct priority_stats, refused),
     .unit = "attempts",
     .help = "attempts refused so far"},
    {.name = NULL},
};

const struct policy_ops weir_policy = {
    POLICY_HEADER,
    .name = "priority",
    .summary = "refuses calls below a priority that rises while calls wait too long",
    .params = priority_options,
    .presets = priority_presets,
    .gauges = priority_gauges,
    .params_size = sizeof(struct priority_params),
    .vars_size = sizeof(struct priority_vars),
    .stats_size = sizeof(struct priority_stats),
    .call_size = sizeof(struct priority_call),
    .init = priority_init,
    .admit = priority_admit,
    .start = priority_start,
    .tick = priority_tick,
};
