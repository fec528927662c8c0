/* fair_queue - flows that wait take turns in proportion to their weights, whatever the sizes of their calls.
 *
 * Idea: start-time fair queueing. A call gets a start tag when it is let in, and the least tag is served first:
 *   start = max(virtual time, the flow's last finish tag), finish = start + tokens / weight.
 * Virtual time is the start tag of the call that a server took last; when nobody is served or waits, at all gates of a
 * copy that serves several, it is the largest finish tag. So who comes back from a quiet time gets no credit for it,
 * and one with many calls in line pays for each.
 *
 * Source: Goyal, Vin and Cheng 1997. Nothing in the bound rests on one server: over any interval in which two flows
 * have calls in line all the time, tokens / weight taken into service differ by at most the sum of their largest calls'
 * (Jin, Chase and Kaur 2004 have it for answers of D servers). Ranks fixed at joining do: a tag never changes.
 *
 * Parameters: by (whose call it is: agent, tenant, class), meter (what a call counts), weights (all the same, or the
 * `value` or `priority` of the call's class; what is below a thousandth counts as one). Tags are whole millionths. What
 * nobody served (shed, displaced, given up in line) is given back: to the flow's next call, which however never passes
 * those of its own flow that wait. Only calls in line are ordered, so at a metered pool this does nothing.
 *
 * Known to fail: it counts estimates, and what a server is busy with, not what it costs in time. It bounds shares, not
 * waits: a flow that sends little is served soon, but each of its calls may find every server taken by a long one.
 * Where much is given up in line the bound holds only between such losses. Many flows of one owner get many shares. */
#include "policies/policy.h"

#define TAG_MOST INT64_C(8000000000000000000) /* there tags stop, and the line is first come, first served */
#define COST_MOST INT64_C(1000000000000000)

enum { BY_AGENT, BY_TENANT, BY_CLASS };
enum { REQUESTS, INPUT, OUTPUT, TOTAL };
enum { WEIGHTS_EQUAL, WEIGHTS_VALUE, WEIGHTS_PRIORITY };

struct fair_queue_params {
    int by, meter, weights;
};

struct fair_queue_vars {
    int64_t virtual_time, finish_most;
    uint32_t gates, first; /* of a copy that serves several: where calls have come, and all between; how many, from */
    double shown;          /* virtual time in tokens */
};

struct fair_queue_flow {
    int64_t start, finish; /* of its last call */
    int64_t given_back;    /* of calls before the last one, and not used yet */
};

struct fair_queue_call {
    int64_t start, finish;
    uint32_t attempt; /* that has these tags */
    bool tagged;
};

static struct fair_queue_flow *flow_of(const struct fair_queue_params *params, const struct policy_call *call)
{
    if (params->by == BY_CLASS)
        return call->class_state;
    return params->by == BY_TENANT ? call->tenant_state : call->agent_state;
}

static int64_t cost_of(const struct fair_queue_params *params, const struct policy_call *call)
{
    double amount = call->input_tokens + call->output_tokens, weight = 1;
    if (params->meter == REQUESTS)
        amount = 1;
    else if (params->meter == INPUT)
        amount = call->input_tokens;
    else if (params->meter == OUTPUT)
        amount = call->output_tokens;
    if (params->weights != WEIGHTS_EQUAL)
        weight = params->weights == WEIGHTS_VALUE ? call->value : call->priority;
    if (!(weight > 1e-3))
        weight = 1e-3;
    amount = amount * 1e6 / weight;
    if (!(amount > 0))
        return 0;
    return amount < (double)COST_MOST ? (int64_t)(amount + 0.5) : COST_MOST;
}

static int64_t later(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static void move_virtual_time(struct fair_queue_vars *vars, int64_t to)
{
    vars->virtual_time = later(vars->virtual_time, to);
    vars->shown = (double)vars->virtual_time / 1e6;
}

static void tag(struct policy *self, const struct policy_call *call)
{
    const struct fair_queue_params *params = self->params;
    struct fair_queue_vars *vars = self->vars;
    struct fair_queue_flow *flow = flow_of(params, call);
    struct fair_queue_call *memory = call->state;
    /* No earlier than the flow's last call, which may still wait. */
    int64_t used = flow->finish - flow->start < flow->given_back ? flow->finish - flow->start : flow->given_back;
    int64_t start = flow->finish - used;
    flow->given_back -= used;
    if (start < vars->virtual_time) {
        start = vars->virtual_time;
        flow->given_back = 0;
    }
    flow->start = memory->start = start < TAG_MOST ? start : TAG_MOST;
    flow->finish = memory->finish = flow->start + cost_of(params, call);
    vars->finish_most = later(vars->finish_most, flow->finish);
    memory->attempt = call->attempt;
    memory->tagged = true;
}

/* Is nobody served and does nobody wait at any gate whose tags these are? */
static bool idle(struct policy *self, const struct policy_view *view)
{
    struct fair_queue_vars *vars = self->vars;
    uint32_t end = vars->first + vars->gates;
    if (vars->gates == 0 || view->gate < vars->first)
        vars->first = view->gate;
    if (vars->gates == 0 || view->gate >= end)
        end = view->gate + 1;
    vars->gates = end - vars->first;
    if (view->busy > 0 || view->waiting.calls > 0)
        return false;
    for (uint32_t gate = vars->first; gate < end; gate++) {
        const struct policy_view *other = gate == view->gate ? view : self->host->view(self, gate);
        if (other->busy > 0 || other->waiting.calls > 0)
            return false;
    }
    return true;
}

static policy_time fair_queue_admitted(struct policy *self, const struct policy_view *view, struct policy_call *call)
{
    struct fair_queue_vars *vars = self->vars;
    if (idle(self, view))
        move_virtual_time(vars, vars->finish_most);
    tag(self, call);
    return 0;
}

/* Of a retry that passes by the policies `admitted` was not told. */
static int64_t fair_queue_rank(struct policy *self, const struct policy_view *view, struct policy_call *call, bool held)
{
    struct fair_queue_call *memory = call->state;
    (void)view;
    if (held)
        return 0;
    if (memory->attempt != call->attempt)
        tag(self, call);
    return memory->start;
}

static struct policy_answer fair_queue_start(struct policy *self, const struct policy_view *view,
                                             struct policy_call *call)
{
    const struct fair_queue_call *memory = call->state;
    (void)view;
    move_virtual_time(self->vars, memory->start);
    return policy_admit();
}

static policy_time fair_queue_finish(struct policy *self, const struct policy_view *view, struct policy_call *call,
                                     const struct policy_outcome *outcome)
{
    struct fair_queue_call *memory = call->state;
    struct fair_queue_flow *flow = flow_of(self->params, call);
    (void)view;
    (void)outcome;
    if (!memory->tagged)
        return POLICY_NONE;
    memory->tagged = false;
    if (call->started != POLICY_NONE)
        return POLICY_NONE;
    if (flow->start == memory->start && flow->finish == memory->finish)
        flow->finish = flow->start;
    else if (flow->given_back < TAG_MOST)
        flow->given_back += memory->finish - memory->start;
    return POLICY_NONE;
}

static const char *const fair_queue_owners[] = {
    [BY_AGENT] = "agent", [BY_TENANT] = "tenant", [BY_CLASS] = "class", NULL};
static const char *const fair_queue_meters[] = {
    [REQUESTS] = "requests", [INPUT] = "input", [OUTPUT] = "output", [TOTAL] = "total", NULL};
static const char *const fair_queue_weights[] = {
    [WEIGHTS_EQUAL] = "equal", [WEIGHTS_VALUE] = "value", [WEIGHTS_PRIORITY] = "priority", NULL};

static const struct option fair_queue_options[] = {
    {.key = "by",
     .type = OPTION_CHOICE,
     .offset = offsetof(struct fair_queue_params, by),
     .initial = "agent",
     .choices = fair_queue_owners,
     .help = "who is a flow: each agent, tenant or class"},
    {.key = "meter",
     .type = OPTION_CHOICE,
     .offset = offsetof(struct fair_queue_params, meter),
     .initial = "total",
     .choices = fair_queue_meters,
     .help = "what a call counts: 1, or the tokens it sends, is answered, or both; requests where there are no tokens"},
    {.key = "weights",
     .type = OPTION_CHOICE,
     .offset = offsetof(struct fair_queue_params, weights),
     .initial = "equal",
     .choices = fair_queue_weights,
     .help = "what a flow's share is in proportion to: nothing, or the value or the priority of its class"},
    {.key = NULL},
};

static const struct policy_gauge fair_queue_gauges[] = {
    {.name = "virtual_time",
     .type = POLICY_GAUGE_DOUBLE,
     .offset = offsetof(struct fair_queue_vars, shown),
     .unit = "tokens",
     .help = "start tag of the call that a server took last"},
    {.name = NULL},
};

const struct policy_ops weir_policy = {
    POLICY_HEADER,
    .name = "fair_queue",
    .summary = "admits every call and serves flows in turn, by tokens and weights",
    .params = fair_queue_options,
    .gauges = fair_queue_gauges,
    .params_size = sizeof(struct fair_queue_params),
    .vars_size = sizeof(struct fair_queue_vars),
    .call_size = sizeof(struct fair_queue_call),
    .agent_size = sizeof(struct fair_queue_flow),
    .class_size = sizeof(struct fair_queue_flow),
    .tenant_size = sizeof(struct fair_queue_flow),
    .admitted = fair_queue_admitted,
    .rank = fair_queue_rank,
    .start = fair_queue_start,
    .finish = fair_queue_finish,
};
