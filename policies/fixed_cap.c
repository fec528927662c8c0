/* fixed_cap - a limit on the number in the system.
 *
 * Idea: a call is let in while waiting + being served < cap; the others are deferred without a retry-after, so that the
 * client's own backoff decides when it asks again. Every server that works counts, also one whose client has left: its
 * work is still load. A limit on the number in the system turns M/M/c into M/M/c/K with retries, K = cap. At a metered
 * pool, where nobody waits, it is a limit on the calls in flight.
 *
 * Parameter: cap. With S the mean service and Z the mean think time the knee c * (S + Z) / S is where a closed loop
 * begins to queue; a cap near it holds the wait to some (cap - c) * S / c.
 *
 * Known to fail: it is not work-conserving. While calls back off a server may stand idle, which costs 0.2 to 0.8 % of
 * goodput on the eight-slot card. The wait it saves comes back as backoff, the wait since the first attempt does not
 * fall, and a cap that fits one mix of call lengths is wrong for the next. It has no memory of who was refused: a late
 * caller may be let in before one that has asked for minutes. */
#include "policies/policy.h"

struct fixed_cap_params {
    int64_t cap;
};

struct fixed_cap_stats {
    uint64_t refused;
};

static struct policy_answer fixed_cap_admit(struct policy *self, const struct policy_view *view,
                                            struct policy_call *call)
{
    const struct fixed_cap_params *params = self->params;
    struct fixed_cap_stats *stats = self->stats;
    (void)call;
    if (view->waiting.calls + view->busy < (uint64_t)params->cap)
        return policy_admit();
    stats->refused++;
    return policy_defer(POLICY_NONE, "cap");
}

static const struct option fixed_cap_options[] = {
    {.key = "cap",
     .type = OPTION_COUNT,
     .offset = offsetof(struct fixed_cap_params, cap),
     .least = "1",
     .most = "inf",
     .measures = "calls",
     .live = true,
     .help = "most calls in the system, waiting and in service"},
    {.key = NULL},
};

static const struct policy_gauge fixed_cap_gauges[] = {
    {.name = "refused",
     .type = POLICY_GAUGE_UINT64,
     .in_stats = true,
     .offset = offsetof(struct fixed_cap_stats, refused),
     .unit = "attempts",
     .help = "attempts refused so far"},
    {.name = NULL},
};

const struct policy_ops weir_policy = {
    POLICY_HEADER,
    .name = "fixed_cap",
    .summary = "admits while the number in the system is below a cap",
    .params = fixed_cap_options,
    .gauges = fixed_cap_gauges,
    .params_size = sizeof(struct fixed_cap_params),
    .stats_size = sizeof(struct fixed_cap_stats),
    .admit = fixed_cap_admit,
};
