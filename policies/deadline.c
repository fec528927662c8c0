/* deadline - the call that is due first is served first, and one that would come too late is not served at all.
 *
 * Idea: an answer after its deadline is work for nobody. So serve by deadline, earliest first, and reject a call as
 * soon as it is expected to miss: when it asks, if now + wait + service is past its deadline, and when a server takes
 * it, if now + service is.
 *
 * Source: Jackson 1955 (earliest due date), Liu and Layland 1973 (earliest deadline first, which meets all deadlines if
 * any order does). That it needs a door in front, as it serves late calls first under overload: Locke 1986.
 *
 * Estimates: a service takes the mean of those answered, `weight` the share of the newest, in proportion to its tokens
 * where there are any; until there is one a service takes no time. A call waits for `ahead` + 1 ends of service, one
 * every service / servers. Ahead are those in line that are due no later (deadline_line.h counts them, to a 256th of
 * what the deadlines are spread over of those that had about as long to go).
 *
 * Parameters: refuse, within (the deadline of a call whose class has none, since its first attempt; inf: it has none,
 * goes last and is never refused), weight.
 *
 * It cannot lock up: who asks while nobody is served is let in, and served if it need not wait. Known to fail: a mean
 * says little of one call where services vary, so some are rejected that would have made it, and some served that do
 * not; tokens mislead where the time of a service is not theirs. Where they are known it is the long calls that are
 * rejected, so turns a second rise while tokens do not; and a rejected call fails its turn, and with it the run. */
#include <math.h>

#include "policies/deadline_line.h"

struct deadline_params {
    bool refuse;
    policy_time within;
    double weight;
};

struct deadline_vars {
    double service, tokens; /* means of those answered: ns, tokens answered */
    bool known;
    double service_shown, wait_shown; /* s */
    struct due_line lines[DUE_LINES]; /* by how long they had to go when they were let in */
    uint64_t counted;
};

struct deadline_call {
    bool in_line;
    int which;
};

struct deadline_stats {
    uint64_t refused, shed;
};

static policy_time due(const struct deadline_params *params, const struct policy_call *call)
{
    if (call->deadline != POLICY_NONE)
        return call->deadline;
    return params->within < INT64_MAX / 2 ? call->first_attempt + params->within : INT64_MAX; /* 146 years are none */
}

static double service_of(const struct deadline_vars *vars, const struct policy_call *call)
{
    if (vars->tokens > 0 && call->output_tokens > 0)
        return vars->service * (call->output_tokens / vars->tokens);
    return vars->service;
}

/* Of retries that pass by the policies nothing is counted: they are taken to be spread as the others are. */
static double ahead(const struct deadline_vars *vars, const struct policy_line *line, policy_time at)
{
    uint64_t before = 0;
    if (at == INT64_MAX)
        return (double)line->calls;
    for (int i = 0; i < DUE_LINES; i++)
        before += due_by(&vars->lines[i], at);
    return before > 0 ? (double)line->calls * ((double)before / (double)vars->counted) : 0;
}

static void leaves(struct deadline_vars *vars, const struct deadline_params *params, const struct policy_call *call)
{
    struct deadline_call *memory = call->state;
    policy_time at = due(params, call);
    if (!memory->in_line)
        return;
    memory->in_line = false;
    vars->counted--;
    if (at != INT64_MAX)
        due_leaves(&vars->lines[memory->which], at);
}

static double wait_of(const struct deadline_vars *vars, const struct policy_view *view, policy_time at)
{
    /* Servers that are idle while somebody waits lack memory for a context: they end no service. */
    uint64_t serving = view->waiting.calls > 0 ? view->busy : view->servers;
    if (view->servers == 0 || serving == 0 || (view->waiting.calls == 0 && view->busy < view->servers))
        return 0;
    return (ahead(vars, &view->waiting, at) + 1) * (vars->service / (double)serving);
}

static bool misses(policy_time now, double needs, policy_time at)
{
    return at != INT64_MAX && needs > (double)(at - now);
}

static struct policy_answer deadline_admit(struct policy *self, const struct policy_view *view,
                                           struct policy_call *call)
{
    const struct deadline_params *params = self->params;
    struct deadline_vars *vars = self->vars;
    struct deadline_stats *stats = self->stats;
    policy_time at = due(params, call);
    double wait = wait_of(vars, view, at);
    vars->wait_shown = wait / 1e9;
    if (!params->refuse || view->busy == 0 || !misses(view->now, wait + service_of(vars, call), at))
        return policy_admit();
    stats->refused++;
    return policy_reject("deadline");
}

static policy_time deadline_admitted(struct policy *self, const struct policy_view *view, struct policy_call *call)
{
    struct deadline_vars *vars = self->vars;
    struct deadline_call *memory = call->state;
    policy_time at = due(self->params, call);
    memory->in_line = true;
    vars->counted++;
    if (at == INT64_MAX)
        return 0;
    memory->which = due_line_of(at - view->now);
    due_joins(&vars->lines[memory->which], at);
    return 0;
}

static int64_t deadline_rank(struct policy *self, const struct policy_view *view, struct policy_call *call, bool held)
{
    (void)view;
    (void)held;
    return due(self->params, call);
}

static struct policy_answer deadline_start(struct policy *self, const struct policy_view *view,
                                           struct policy_call *call)
{
    const struct deadline_params *params = self->params;
    struct deadline_stats *stats = self->stats;
    leaves(self->vars, params, call);
    bool alone = view->busy == 0 && call->joined == view->now;
    if (!params->refuse || alone || !misses(view->now, service_of(self->vars, call), due(params, call)))
        return policy_admit();
    stats->shed++;
    return policy_reject("deadline");
}

static policy_time deadline_finish(struct policy *self, const struct policy_view *view, struct policy_call *call,
                                   const struct policy_outcome *outcome)
{
    const struct deadline_params *params = self->params;
    struct deadline_vars *vars = self->vars;
    double tokens = isnan(outcome->output_tokens) ? call->output_tokens : outcome->output_tokens;
    double share = vars->known ? params->weight : 1;
    leaves(vars, params, call);
    if (outcome->end != POLICY_DONE)
        return POLICY_NONE;
    vars->service += share * ((double)(view->now - call->started) - vars->service);
    vars->tokens += share * (tokens - vars->tokens);
    vars->known = true;
    vars->service_shown = vars->service / 1e9;
    return POLICY_NONE;
}

static const struct option deadline_options[] = {
    {.key = "refuse",
     .type = OPTION_FLAG,
     .offset = offsetof(struct deadline_params, refuse),
     .initial = "true",
     .help = "whether a call that would miss its deadline is rejected, as it asks and as a server takes it"},
    {.key = "within",
     .type = OPTION_TIME,
     .offset = offsetof(struct deadline_params, within),
     .initial = "inf",
     .least = "1 ms",
     .most = "inf",
     .help = "deadline of a call whose class has none, since its first attempt"},
    {.key = "weight",
     .type = OPTION_SHARE,
     .offset = offsetof(struct deadline_params, weight),
     .initial = "5 %",
     .live = true,
     .help = "share of the newest answer in the mean service and the mean tokens"},
    {.key = NULL},
};

static const struct policy_gauge deadline_gauges[] = {
    {.name = "service",
     .type = POLICY_GAUGE_DOUBLE,
     .offset = offsetof(struct deadline_vars, service_shown),
     .unit = "s",
     .help = "mean service, as estimated"},
    {.name = "wait",
     .type = POLICY_GAUGE_DOUBLE,
     .offset = offsetof(struct deadline_vars, wait_shown),
     .unit = "s",
     .help = "what the call that asked last was expected to wait"},
    {.name = "refused",
     .type = POLICY_GAUGE_UINT64,
     .in_stats = true,
     .offset = offsetof(struct deadline_stats, refused),
     .unit = "calls",
     .help = "calls rejected so far as they asked"},
    {.name = "shed",
     .type = POLICY_GAUGE_UINT64,
     .in_stats = true,
     .offset = offsetof(struct deadline_stats, shed),
     .unit = "calls",
     .help = "calls rejected so far as a server took them"},
    {.name = NULL},
};

const struct policy_ops weir_policy = {
    POLICY_HEADER,
    .name = "deadline",
    .summary = "serves the call with the earliest deadline first and rejects those that would miss theirs",
    .params = deadline_options,
    .gauges = deadline_gauges,
    .params_size = sizeof(struct deadline_params),
    .vars_size = sizeof(struct deadline_vars),
    .stats_size = sizeof(struct deadline_stats),
    .call_size = sizeof(struct deadline_call),
    .admit = deadline_admit,
    .admitted = deadline_admitted,
    .rank = deadline_rank,
    .start = deadline_start,
    .finish = deadline_finish,
};
