/* shed_by_value - a short line in which the dear displace the cheap.
 *
 * Idea: when not all can be served, who came first says nothing about who is worth it. At most `waiting` calls wait.
 * One that comes when the line is full takes the place of the cheapest call in it, if that is cheaper by its `value:`;
 * else it is refused itself. Both are told nothing but no: their clients back off. The line is served in the order of
 * value too, first come, first served among equals, and of these it is the latest that is displaced. Calls that are
 * being served stay.
 *
 * Source: "shed by value, not by arrival order", from an agent platform's notes on backpressure. As a discipline it is
 * the head-of-the-line priority of policies/by_priority.c with a bound, and the push-out of the lowest class of packet
 * buffers (Kroner 1990). No numbers are published; 4 is half a line behind a card of 8 slots, as fixed_cap's 12.
 *
 * Why it orders the line: a policy can have only the last of the waiting line displaced (POLICY_DISPLACE), so the
 * cheapest has to stand last. Who wants to shed by value and serve by arrival cannot have that with this policy.
 *
 * Known to fail: the value is that of a class, so a run that has nine of its ten turns behind it counts no more than
 * one that begins, and what it has used is lost with it if its client gives up. With enough dear work the cheap starve,
 * or come again and again. At a metered pool nobody waits, so it admits all. */
#include "policies/policy.h"

struct shed_by_value_params {
    int64_t waiting;
};

struct shed_by_value_stats {
    uint64_t displaced, refused;
};

/* Values are compared to a millionth. */
static int64_t place(const struct policy_call *call)
{
    double millionths = call->value * -1e6;
    if (millionths < -9e18 || millionths > 9e18)
        return millionths < 0 ? -INT64_C(9000000000000000000) : INT64_C(9000000000000000000);
    return (int64_t)millionths;
}

static struct policy_answer shed_by_value_admit(struct policy *self, const struct policy_view *view,
                                                struct policy_call *call)
{
    const struct shed_by_value_params *params = self->params;
    struct shed_by_value_stats *stats = self->stats;
    if (view->waiting.calls < (uint64_t)params->waiting)
        return policy_admit();
    if (place(call) < place(view->waiting.tail)) {
        stats->displaced++;
        return policy_displace("value");
    }
    stats->refused++;
    return policy_defer(POLICY_NONE, "value");
}

static int64_t shed_by_value_rank(struct policy *self, const struct policy_view *view, struct policy_call *call,
                                  bool held)
{
    (void)self;
    (void)view;
    (void)held;
    return place(call);
}

static const struct option shed_by_value_options[] = {
    {.key = "waiting",
     .type = OPTION_COUNT,
     .offset = offsetof(struct shed_by_value_params, waiting),
     .initial = "4",
     .least = "1",
     .most = "inf",
     .measures = "calls",
     .live = true,
     .help = "most calls that may wait"},
    {.key = NULL},
};

static const struct policy_gauge shed_by_value_gauges[] = {
    {.name = "displaced",
     .type = POLICY_GAUGE_UINT64,
     .in_stats = true,
     .offset = offsetof(struct shed_by_value_stats, displaced),
     .unit = "calls",
     .help = "how often a cheaper call was to make room"},
    {.name = "refused",
     .type = POLICY_GAUGE_UINT64,
     .in_stats = true,
     .offset = offsetof(struct shed_by_value_stats, refused),
     .unit = "attempts",
     .help = "attempts refused so far, as none that waited was cheaper"},
    {.name = NULL},
};

const struct policy_ops weir_policy = {
    POLICY_HEADER,
    .name = "shed_by_value",
    .summary = "keeps a short line in the order of value, and displaces its cheapest call for a dearer one",
    .params = shed_by_value_options,
    .gauges = shed_by_value_gauges,
    .params_size = sizeof(struct shed_by_value_params),
    .stats_size = sizeof(struct shed_by_value_stats),
    .admit = shed_by_value_admit,
    .rank = shed_by_value_rank,
};
