/* fq_codel - deficit round robin over flows, and a CoDel in each of them.
 *
 * Idea: who waits stands in one of 1024 flows. A flow whose first call joins is new; new flows are served before old
 * ones. The flow at the front is served while its deficit is above 0, each call taking its tokens from it; then it gets
 * a `quantum` and goes to the end of the old flows. One found empty leaves the round, a new one by way of the old, so
 * that a flow which comes and goes cannot stay ahead. So a flow that sends no more than a quantum at a time hardly
 * waits, and the others share what is left evenly. Each flow has a CoDel of its own (codel_law.h), so the flow is shed
 * that has built the line, not who happens to stand in it.
 *
 * Source: RFC 8290 and Linux, net/sched/sch_fq_codel.c: 1024 flows, 5 ms / 100 ms, limit 10240, batch 64, a quantum of
 * one packet. As in Linux a CoDel is cleared when nobody is left in the whole line, not in its flow. Over any interval
 * in which two flows have calls in line, tokens taken into service differ by at most quantum + twice the largest call
 * (Shreedhar and Varghese 1995). `slots`: the target and interval of codel's; 1514 tokens are a long turn.
 *
 * Parameters: by (agents are numbered over the flows without a hash, so that 1024 of a class share none; those of the
 * next class begin 613 flows further, and runs that arrive number on, so agents of two classes, or runs a thousand
 * apart that are both alive, may share one), meter, quantum, target, interval, limit, batch. Above `limit` the flow in
 * which most calls wait loses its oldest, half of them and at most `batch`. Linux does that as a packet joins, and by
 * bytes; a policy cannot reach into the line, so here it is done when the next server is free, and by calls. At a
 * metered pool nobody waits: it does nothing.
 *
 * Known to fail: with a quantum far above a call a flow is served in long bursts; one far below costs nothing but the
 * advantage of new flows. In a closed loop an agent has one call in line, so its CoDel sees one wait a turn. */
#include "policies/codel_law.h"

#define TOKENS_MOST INT64_C(1000000000000)

enum { FLOWS = 1024, NOBODY = FLOWS };
enum { BY_AGENT, BY_TENANT, BY_CLASS };
enum { REQUESTS, INPUT, OUTPUT, TOTAL };
enum { IN_NO_LIST, IN_NEW, IN_OLD };

struct fq_codel_params {
    int by, meter;
    int64_t quantum;
    policy_time target, interval;
    int64_t limit, batch;
};

struct fq_flow {
    struct codel_law law;
    int64_t deficit;
    uint32_t next; /* behind it in its list, or NOBODY */
    int list;
};

/* Of flows; `first` and `last` mean nothing while it is empty. */
struct fq_list {
    uint32_t length, first, last;
};

struct fq_codel_vars {
    struct fq_flow flows[FLOWS];
    struct fq_list lists[3]; /* IN_NEW, IN_OLD */
    uint32_t fat;            /* the flow that loses calls */
    int64_t to_shed;         /* how many more of them */
    double sojourn;          /* of the call taken last, in seconds */
};

struct fq_codel_stats {
    uint64_t new_flows, shed_codel, shed_limit;
};

struct fq_codel_call {
    bool waited; /* since it was let in the last time */
};

/* --- lists of flows ---------------------------------------------------------------------------------------------- */

static void append(struct fq_codel_vars *vars, int list, uint32_t flow)
{
    struct fq_list *at = &vars->lists[list];
    vars->flows[flow].list = list;
    vars->flows[flow].next = NOBODY;
    if (at->length++ == 0)
        at->first = flow;
    else
        vars->flows[at->last].next = flow;
    at->last = flow;
}

static uint32_t remove_first(struct fq_codel_vars *vars, int list)
{
    struct fq_list *at = &vars->lists[list];
    uint32_t flow = at->first;
    at->first = vars->flows[flow].next;
    at->length--;
    vars->flows[flow].list = IN_NO_LIST;
    return flow;
}

/* Where every old flow is so far in debt that whole rounds would pass, they pass at once. */
static void skip_rounds(struct fq_codel_vars *vars, int64_t quantum)
{
    const struct fq_list *old = &vars->lists[IN_OLD];
    int64_t rounds = INT64_MAX;
    uint32_t flow = old->first;
    for (uint32_t i = 0; i < old->length; i++, flow = vars->flows[flow].next) {
        int64_t debt = -vars->flows[flow].deficit;
        if (debt < quantum)
            return;
        rounds = debt / quantum < rounds ? debt / quantum : rounds;
    }
    flow = old->first;
    for (uint32_t i = 0; i < old->length; i++, flow = vars->flows[flow].next)
        vars->flows[flow].deficit += rounds * quantum;
}

/* The flow whose turn it is, or NOBODY: those that wait are in no list. */
static uint32_t turn(struct fq_codel_vars *vars, int64_t quantum, const uint64_t *waiting_in_flow)
{
    for (;;) {
        int list = vars->lists[IN_NEW].length > 0 ? IN_NEW : IN_OLD;
        uint32_t flow = vars->lists[list].first;
        if (vars->lists[list].length == 0)
            return NOBODY;
        if (vars->flows[flow].deficit <= 0) {
            if (list == IN_OLD)
                skip_rounds(vars, quantum);
            vars->flows[flow].deficit += quantum;
            append(vars, IN_OLD, remove_first(vars, list));
            continue;
        }
        if (waiting_in_flow[flow] > 0)
            return flow;
        codel_clear(&vars->flows[flow].law);
        remove_first(vars, list);
        if (list == IN_NEW && vars->lists[IN_OLD].length > 0)
            append(vars, IN_OLD, flow);
    }
}

/* --- callbacks --------------------------------------------------------------------------------------------------- */

static uint32_t flow_of(const struct fq_codel_params *params, const struct policy_call *call)
{
    if (params->by == BY_TENANT)
        return call->tenant % FLOWS;
    if (params->by == BY_CLASS)
        return call->klass % FLOWS;
    return (call->agent + call->klass * 613u) % FLOWS; /* other classes begin elsewhere */
}

static int64_t cost_of(const struct fq_codel_params *params, const struct policy_call *call)
{
    double amount = call->input_tokens + call->output_tokens;
    if (params->meter == REQUESTS)
        amount = 1;
    else if (params->meter == INPUT)
        amount = call->input_tokens;
    else if (params->meter == OUTPUT)
        amount = call->output_tokens;
    if (!(amount > 0))
        return 0;
    return amount < (double)TOKENS_MOST ? (int64_t)(amount + 0.5) : TOKENS_MOST;
}

static policy_time fq_codel_admitted(struct policy *self, const struct policy_view *view, struct policy_call *call)
{
    struct fq_codel_call *memory = call->state;
    (void)self;
    (void)view;
    memory->waited = false;
    return 0;
}

static uint32_t fq_codel_flow(struct policy *self, const struct policy_view *view, struct policy_call *call)
{
    const struct fq_codel_params *params = self->params;
    struct fq_codel_vars *vars = self->vars;
    struct fq_codel_stats *stats = self->stats;
    struct fq_codel_call *memory = call->state;
    uint32_t flow = flow_of(params, call);
    memory->waited = true;
    if (view->waiting.calls == 0) /* those that stood here may have given up */
        codel_clear(&vars->flows[flow].law);
    if (vars->flows[flow].list != IN_NO_LIST)
        return flow;
    vars->flows[flow].deficit = params->quantum;
    append(vars, IN_NEW, flow);
    stats->new_flows++;
    return flow;
}

static uint32_t fattest(const uint64_t *waiting_in_flow)
{
    uint32_t fat = 0;
    for (uint32_t i = 1; i < FLOWS; i++)
        if (waiting_in_flow[i] > waiting_in_flow[fat])
            fat = i;
    return fat;
}

static uint32_t fq_codel_pick(struct policy *self, const struct policy_view *view, const uint64_t *waiting_in_flow,
                              bool *newest)
{
    const struct fq_codel_params *params = self->params;
    struct fq_codel_vars *vars = self->vars;
    uint32_t flow;
    (void)newest;
    if (vars->to_shed > 0 && waiting_in_flow[vars->fat] == 0)
        vars->to_shed = 0;
    if (vars->to_shed == 0 && view->waiting.calls > (uint64_t)params->limit) {
        vars->fat = fattest(waiting_in_flow);
        vars->to_shed = (int64_t)(waiting_in_flow[vars->fat] / 2 + waiting_in_flow[vars->fat] % 2);
        vars->to_shed = vars->to_shed < params->batch ? vars->to_shed : params->batch;
        vars->flows[vars->fat].law.count += (uint64_t)vars->to_shed; /* as Linux: it has been warned */
    }
    if (vars->to_shed > 0)
        return vars->fat;
    flow = turn(vars, params->quantum, waiting_in_flow);
    return flow != NOBODY ? flow : fattest(waiting_in_flow); /* never, but that a wrong answer would end it all */
}

/* Who did not wait found the line empty: what was left of the last round is over. */
static void line_is_empty(struct fq_codel_vars *vars, uint32_t flow)
{
    for (int list = IN_NEW; list <= IN_OLD; list++)
        while (vars->lists[list].length > 0)
            codel_clear(&vars->flows[remove_first(vars, list)].law);
    codel_clear(&vars->flows[flow].law);
    vars->to_shed = 0;
    vars->sojourn = 0;
}

static struct policy_answer fq_codel_start(struct policy *self, const struct policy_view *view,
                                           struct policy_call *call)
{
    const struct fq_codel_params *params = self->params;
    struct fq_codel_vars *vars = self->vars;
    struct fq_codel_stats *stats = self->stats;
    const struct fq_codel_call *memory = call->state;
    uint32_t at = flow_of(params, call);
    struct fq_flow *flow = &vars->flows[at];
    policy_time sojourn = view->now - call->joined;
    if (!memory->waited) {
        line_is_empty(vars, at);
        return policy_admit();
    }
    if (vars->to_shed > 0 && at == vars->fat) {
        vars->to_shed--;
        stats->shed_limit++;
        return policy_defer(POLICY_NONE, "limit");
    }
    vars->sojourn = (double)sojourn / (double)POLICY_SECOND;
    codel_observe(&flow->law, params->target, view->now, sojourn, view->waiting.calls);
    if (codel_stands(&flow->law, params->interval, view->now) &&
        codel_refuses(&flow->law, params->interval, view->now)) {
        stats->shed_codel++;
        return policy_defer(POLICY_NONE, "codel");
    }
    flow->deficit -= cost_of(params, call);
    return policy_admit();
}

static const char *const fq_codel_owners[] = {[BY_AGENT] = "agent", [BY_TENANT] = "tenant", [BY_CLASS] = "class", NULL};
static const char *const fq_codel_meters[] = {
    [REQUESTS] = "requests", [INPUT] = "input", [OUTPUT] = "output", [TOTAL] = "total", NULL};

static const struct option fq_codel_options[] = {
    {.key = "by",
     .type = OPTION_CHOICE,
     .offset = offsetof(struct fq_codel_params, by),
     .initial = "agent",
     .choices = fq_codel_owners,
     .help = "who is a flow: each agent, tenant or class; of 1024 flows, so agents of several classes, and runs that "
             "arrive, may share one"},
    {.key = "meter",
     .type = OPTION_CHOICE,
     .offset = offsetof(struct fq_codel_params, meter),
     .initial = "total",
     .choices = fq_codel_meters,
     .help = "what a call counts: 1, or the tokens it sends, is answered, or both; requests where there are no tokens"},
    {.key = "quantum",
     .type = OPTION_COUNT,
     .offset = offsetof(struct fq_codel_params, quantum),
     .initial = "1514",
     .least = "1",
     .most = "1000000000000",
     .live = true,
     .help = "what a flow may take in a round, in what the meter counts"},
    {.key = "target",
     .type = OPTION_TIME,
     .offset = offsetof(struct fq_codel_params, target),
     .initial = "5 ms",
     .least = "1 us",
     .most = "inf",
     .live = true,
     .help = "a time in line that is fine to have for good"},
    {.key = "interval",
     .type = OPTION_TIME,
     .offset = offsetof(struct fq_codel_params, interval),
     .initial = "100 ms",
     .least = "1 us",
     .most = "inf",
     .live = true,
     .help = "how long a flow's time in line may stay at or above the target"},
    {.key = "limit",
     .type = OPTION_COUNT,
     .offset = offsetof(struct fq_codel_params, limit),
     .initial = "10240",
     .least = "1",
     .most = "inf",
     .measures = "calls",
     .live = true,
     .help = "most calls in line when a server becomes free"},
    {.key = "batch",
     .type = OPTION_COUNT,
     .offset = offsetof(struct fq_codel_params, batch),
     .initial = "64",
     .least = "1",
     .most = "inf",
     .measures = "calls",
     .live = true,
     .help = "most calls that a flow loses at once beyond the limit"},
    {.key = NULL},
};

static const char *const fq_codel_published[] = {"target", "5 ms",  "interval", "100 ms", "quantum", "1514",
                                                 "limit",  "10240", "batch",    "64",     NULL};
static const char *const fq_codel_slots[] = {"target", "8 s", "interval", "15 s", NULL};
static const struct policy_preset fq_codel_presets[] = {
    {.name = "published", .settings = fq_codel_published, .help = "RFC 8290 and Linux, for packets"},
    {.name = "slots", .settings = fq_codel_slots, .help = "for slots that serve turns of some ten seconds"},
    {.name = NULL},
};

static const struct policy_gauge fq_codel_gauges[] = {
    {.name = "sojourn",
     .type = POLICY_GAUGE_DOUBLE,
     .offset = offsetof(struct fq_codel_vars, sojourn),
     .unit = "s",
     .help = "time in line of the call taken last"},
    {.name = "new_flows",
     .type = POLICY_GAUGE_UINT64,
     .in_stats = true,
     .offset = offsetof(struct fq_codel_stats, new_flows),
     .unit = "flows",
     .help = "how often a flow became new so far"},
    {.name = "shed_codel",
     .type = POLICY_GAUGE_UINT64,
     .in_stats = true,
     .offset = offsetof(struct fq_codel_stats, shed_codel),
     .unit = "calls",
     .help = "calls shed so far by their flow's CoDel"},
    {.name = "shed_limit",
     .type = POLICY_GAUGE_UINT64,
     .in_stats = true,
     .offset = offsetof(struct fq_codel_stats, shed_limit),
     .unit = "calls",
     .help = "calls shed so far as the line was beyond its limit"},
    {.name = NULL},
};

const struct policy_ops weir_policy = {
    POLICY_HEADER,
    .name = "fq_codel",
    .summary = "serves flows by deficit round robin, and sheds in each whose time in line stays above a target",
    .params = fq_codel_options,
    .presets = fq_codel_presets,
    .gauges = fq_codel_gauges,
    .params_size = sizeof(struct fq_codel_params),
    .vars_size = sizeof(struct fq_codel_vars),
    .stats_size = sizeof(struct fq_codel_stats),
    .call_size = sizeof(struct fq_codel_call),
    .admitted = fq_codel_admitted,
    .start = fq_codel_start,
    .flows = FLOWS,
    .flow = fq_codel_flow,
    .pick = fq_codel_pick,
};
