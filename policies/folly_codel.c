/* folly_codel - controlled delay as folly has it: while overloaded, calls that waited for twice the target are shed.
 *
 * Idea: look at the time in line, d, of each call that a server takes. The least d of an interval tells a burst from
 * overload: the first call taken after an interval's end begins the next one, and the gate is overloaded from then on
 * if the least d was above `target`, else not. That first call is always served. Of the others those are shed,
 * while overloaded, that have d > 2 target. There is no square root as in RFC 8289 (codel): no schedule of drops.
 *
 * Source: Codel of folly, executors/Codel.cpp (5 ms, 100 ms: `published`), made for thread pools, where every task that
 * leaves the queue is asked. `slots`, for eight slots and turns of 9 s: 8 s, 15 s (some 13 calls taken).
 *
 * It cannot lock up: who does not wait is served. At a metered pool nobody waits, so it never sheds. Known to fail: it
 * is made for many calls an interval. Where one is taken each second, every 100 ms interval has one call, which is the
 * first and served: overloaded for ever, it sheds nobody - until two servers become free within 100 ms. Then the
 * second sheds the line to its end, since all have waited longer than 10 ms: dozens of calls at one moment, and that
 * server is idle. It refuses calls that have already waited, and what it saves in line comes back as backoff. */
#include "policies/policy.h"

struct folly_codel_params {
    policy_time target, interval, retry_after;
};

struct folly_codel_vars {
    bool begun;
    policy_time ends;    /* of the interval */
    policy_time least_d; /* in it */
    uint64_t overloaded; /* 0 or 1 */
    double sojourn, least;
    policy_time shed_at; /* the last time */
    uint64_t at_once;    /* calls shed then */
};

struct folly_codel_stats {
    uint64_t taken, intervals, refused, most_at_once;
};

static double seconds(policy_time time)
{
    return (double)time / (double)POLICY_SECOND;
}

static bool sheds(struct folly_codel_vars *vars, struct folly_codel_stats *stats,
                  const struct folly_codel_params *params, policy_time now, policy_time sojourn)
{
    if (!vars->begun || now > vars->ends) {
        if (vars->begun) {
            vars->overloaded = vars->least_d > params->target;
            vars->ends = params->interval < INT64_MAX - now ? now + params->interval : INT64_MAX;
        } /* else the first interval, that ends with the next call: as there it began with the copy, and was 0 long */
        vars->begun = true;
        vars->least_d = sojourn;
        stats->intervals++;
        return false;
    }
    if (sojourn < vars->least_d)
        vars->least_d = sojourn;
    return vars->overloaded && sojourn - params->target > params->target;
}

static void note_shed(struct folly_codel_vars *vars, struct folly_codel_stats *stats, policy_time now)
{
    vars->at_once = vars->shed_at == now ? vars->at_once + 1 : 1;
    vars->shed_at = now;
    if (vars->at_once > stats->most_at_once)
        stats->most_at_once = vars->at_once;
    stats->refused++;
}

static const char *folly_codel_check(const void *given)
{
    const struct folly_codel_params *params = given;
    if (params->interval <= params->target && params->target < INT64_MAX)
        return "the least of one call says nothing: expected interval: longer than target:";
    return NULL;
}

static struct policy_answer folly_codel_start(struct policy *self, const struct policy_view *view,
                                              struct policy_call *call)
{
    const struct folly_codel_params *params = self->params;
    struct folly_codel_vars *vars = self->vars;
    struct folly_codel_stats *stats = self->stats;
    policy_time sojourn = call->joined == POLICY_NONE ? 0 : view->now - call->joined;
    bool shed;
    if (view->servers == 0) /* a metered pool */
        return policy_admit();
    shed = sheds(vars, stats, params, view->now, sojourn);
    stats->taken++;
    vars->sojourn = seconds(sojourn);
    vars->least = seconds(vars->least_d);
    if (!shed)
        return policy_admit();
    note_shed(vars, stats, view->now);
    return policy_defer(params->retry_after > 0 ? params->retry_after : POLICY_NONE, "codel");
}

static const struct option folly_codel_options[] = {
    {.key = "target",
     .type = OPTION_TIME,
     .offset = offsetof(struct folly_codel_params, target),
     .initial = "5 ms",
     .least = "1 us",
     .most = "inf",
     .live = true,
     .help = "a time in line that is fine to have for good"},
    {.key = "interval",
     .type = OPTION_TIME,
     .offset = offsetof(struct folly_codel_params, interval),
     .initial = "100 ms",
     .least = "1 us",
     .most = "inf",
     .live = true,
     .help = "how long the least time in line is looked for"},
    {.key = "retry_after",
     .type = OPTION_TIME,
     .offset = offsetof(struct folly_codel_params, retry_after),
     .initial = "",
     .least = "1 ms",
     .most = "1 d",
     .live = true,
     .help = "what a refusal says; without it nothing"},
    {.key = NULL},
};

static const char *const folly_codel_published[] = {"target", "5 ms", "interval", "100 ms", NULL};
static const char *const folly_codel_slots[] = {"target", "8 s", "interval", "15 s", NULL};
static const struct policy_preset folly_codel_presets[] = {
    {.name = "published", .settings = folly_codel_published, .help = "folly's, for tasks of milliseconds"},
    {.name = "slots", .settings = folly_codel_slots, .help = "for eight slots that serve turns of some ten seconds"},
    {.name = NULL},
};

static const struct policy_gauge folly_codel_gauges[] = {
    {.name = "sojourn",
     .type = POLICY_GAUGE_DOUBLE,
     .offset = offsetof(struct folly_codel_vars, sojourn),
     .unit = "s",
     .help = "time in line of the call taken last"},
    {.name = "least",
     .type = POLICY_GAUGE_DOUBLE,
     .offset = offsetof(struct folly_codel_vars, least),
     .unit = "s",
     .help = "least time in line of the interval that runs"},
    {.name = "overloaded",
     .type = POLICY_GAUGE_UINT64,
     .offset = offsetof(struct folly_codel_vars, overloaded),
     .unit = "",
     .help = "1 while calls that waited for long are shed, else 0"},
    {.name = "taken",
     .type = POLICY_GAUGE_UINT64,
     .in_stats = true,
     .offset = offsetof(struct folly_codel_stats, taken),
     .unit = "calls",
     .help = "calls that a server took or would have taken"},
    {.name = "intervals",
     .type = POLICY_GAUGE_UINT64,
     .in_stats = true,
     .offset = offsetof(struct folly_codel_stats, intervals),
     .unit = "",
     .help = "intervals begun, each with a call that is never shed"},
    {.name = "refused",
     .type = POLICY_GAUGE_UINT64,
     .in_stats = true,
     .offset = offsetof(struct folly_codel_stats, refused),
     .unit = "calls",
     .help = "calls shed so far"},
    {.name = "most_at_once",
     .type = POLICY_GAUGE_UINT64,
     .in_stats = true,
     .offset = offsetof(struct folly_codel_stats, most_at_once),
     .unit = "calls",
     .help = "most calls shed at one moment"},
    {.name = NULL},
};

const struct policy_ops weir_policy = {
    POLICY_HEADER,
    .name = "folly_codel",
    .summary = "sheds calls that waited for twice a target, while everybody has waited for one",
    .params = folly_codel_options,
    .presets = folly_codel_presets,
    .gauges = folly_codel_gauges,
    .params_size = sizeof(struct folly_codel_params),
    .vars_size = sizeof(struct folly_codel_vars),
    .stats_size = sizeof(struct folly_codel_stats),
    .check = folly_codel_check,
    .start = folly_codel_start,
};
