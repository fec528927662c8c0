/* tenant_cap - one tenant's calls or tokens a minute, and not more, whoever else there is.
 *
 * Idea: so that one who pays cannot take it all from the others who do, each tenant may send so much in a minute. A
 * call that would pass its tenant's cap is refused and told to come back in `retry_after`. Minutes are the clock's, as
 * most gateways count them: the count begins anew at each. A call counts what it is expected to need when it is let in
 * and is corrected by its answer if that comes within the same minute. A call that needs more than the cap goes when
 * its tenant has sent nothing yet in that minute.
 *
 * Source: caps per tenant with a retry-after of 30 s, published for an agent platform beside its shares by class
 * (policies/shares.c); nobody published the caps themselves.
 *
 * What it promises: in a minute of the clock a tenant is let take one cap, by what its calls were expected to need, or
 * one call that is larger; so at most twice that in any 60 s.
 * Known to fail: twice the cap may pass around a full minute; the fixed retry-after is too long for who was refused
 * late in a minute and, at half a minute, calls together all who were refused in the same one; what a cap keeps from
 * its tenant goes to nobody, if the others do not want it. A smooth cap is `token_bucket: {scope: tenant}`; shares that
 * are lent are `shares: {tenants: ...}`. */
#include "policies/meter.h"

#define UNLIMITED INT64_MAX
#define CALL_MOST INT64_C(1000000000000000000) /* millionths: no call counts more */

struct tenant_cap_params {
    int meter;
    double cap;
    policy_time window;
    double cached_weight;
    policy_time retry_after;
};

struct tenant_cap_stats {
    uint64_t refused;
};

struct tenant_cap_tenant {
    int64_t window; /* the how manieth */
    int64_t used;   /* in it, in millionths */
};

struct tenant_cap_call {
    int64_t taken, window;
    bool inside;
};

static int64_t at_most(int64_t millionths)
{
    return millionths < CALL_MOST ? millionths : CALL_MOST;
}

static int64_t expected(const struct tenant_cap_params *params, const struct policy_call *call)
{
    return at_most(meter_expects(params->meter, params->cached_weight, call));
}

static int64_t cap_of(const struct tenant_cap_params *params)
{
    double millionths = params->cap * (double)params->window / 1e3;
    return millionths < 9e18 ? (int64_t)(millionths + 0.5) : UNLIMITED;
}

static struct tenant_cap_tenant *tenant_at(const struct tenant_cap_params *params, const struct policy_call *call,
                                           policy_time now)
{
    struct tenant_cap_tenant *tenant = call->tenant_state;
    int64_t window = now / params->window;
    if (tenant->window != window)
        *tenant = (struct tenant_cap_tenant){.window = window};
    return tenant;
}

static struct policy_answer tenant_cap_admit(struct policy *self, const struct policy_view *view,
                                             struct policy_call *call)
{
    const struct tenant_cap_params *params = self->params;
    struct tenant_cap_stats *stats = self->stats;
    const struct tenant_cap_tenant *tenant = tenant_at(params, call, view->now);
    int64_t cap = cap_of(params);
    int64_t need = expected(params, call);
    if (cap == UNLIMITED || tenant->used <= 0 || (tenant->used <= cap && need <= cap - tenant->used))
        return policy_admit();
    stats->refused++;
    return policy_defer(params->retry_after, "tenant");
}

/* Counts that no minute has stay countable. */
static void add(struct tenant_cap_tenant *tenant, int64_t amount)
{
    const int64_t most = INT64_C(8000000000000000000);
    tenant->used = tenant->used < most || amount < 0 ? tenant->used + amount : most;
}

static policy_time tenant_cap_admitted(struct policy *self, const struct policy_view *view, struct policy_call *call)
{
    const struct tenant_cap_params *params = self->params;
    struct tenant_cap_tenant *tenant = tenant_at(params, call, view->now);
    struct tenant_cap_call *memory = call->state;
    memory->inside = true;
    memory->window = tenant->window;
    memory->taken = expected(params, call);
    add(tenant, memory->taken);
    return 0;
}

/* Where nobody says what was taken the estimate stands. */
static policy_time tenant_cap_finish(struct policy *self, const struct policy_view *view, struct policy_call *call,
                                     const struct policy_outcome *outcome)
{
    const struct tenant_cap_params *params = self->params;
    struct tenant_cap_tenant *tenant = tenant_at(params, call, view->now);
    struct tenant_cap_call *memory = call->state;
    int64_t real = memory->taken;
    if (!memory->inside)
        return POLICY_NONE;
    memory->inside = false;
    if (outcome->end == POLICY_DONE || outcome->end == POLICY_ERROR)
        real = at_most(meter_took(params->meter, params->cached_weight, outcome));
    else if (meter_unserved(call, outcome->end) || outcome->end == POLICY_OVERLOAD)
        real = 0;
    if (real >= 0 && memory->window == tenant->window)
        add(tenant, real - memory->taken);
    return POLICY_NONE;
}

static const struct option tenant_cap_options[] = {
    {.key = "meter",
     .type = OPTION_CHOICE,
     .offset = offsetof(struct tenant_cap_params, meter),
     .initial = "input",
     .choices = meter_names,
     .help = "what is counted: requests, or tokens sent, answered or both"},
    {.key = "cap",
     .type = OPTION_RATE,
     .offset = offsetof(struct tenant_cap_params, cap),
     .initial = "200k/min",
     .least = "1/h",
     .most = "inf",
     .live = true,
     .help = "most units of one tenant, in each window as many as this makes"},
    {.key = "window",
     .type = OPTION_TIME,
     .offset = offsetof(struct tenant_cap_params, window),
     .initial = "1 min",
     .least = "1 s",
     .most = "30 d",
     .help = "how long a count lasts; windows follow one another from 0 s on"},
    {.key = "cached_weight",
     .type = OPTION_REAL,
     .offset = offsetof(struct tenant_cap_params, cached_weight),
     .initial = "1",
     .least = "0",
     .most = "1",
     .live = true,
     .help = "what a cached token of the input counts"},
    {.key = "retry_after",
     .type = OPTION_TIME,
     .offset = offsetof(struct tenant_cap_params, retry_after),
     .initial = "30 s",
     .least = "1 ms",
     .most = "1 d",
     .live = true,
     .help = "when a refused call is asked to come back"},
    {.key = NULL},
};

static const struct policy_gauge tenant_cap_gauges[] = {
    {.name = "refused",
     .type = POLICY_GAUGE_UINT64,
     .in_stats = true,
     .offset = offsetof(struct tenant_cap_stats, refused),
     .unit = "attempts",
     .help = "attempts refused so far"},
    {.name = NULL},
};

const struct policy_ops weir_policy = {
    POLICY_HEADER,
    .name = "tenant_cap",
    .summary = "refuses what would take a tenant beyond a number of calls or tokens a minute",
    .params = tenant_cap_options,
    .gauges = tenant_cap_gauges,
    .params_size = sizeof(struct tenant_cap_params),
    .stats_size = sizeof(struct tenant_cap_stats),
    .call_size = sizeof(struct tenant_cap_call),
    .tenant_size = sizeof(struct tenant_cap_tenant),
    .admit = tenant_cap_admit,
    .admitted = tenant_cap_admitted,
    .finish = tenant_cap_finish,
};
