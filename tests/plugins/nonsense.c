/* nonsense - answers what no policy may, by the choice `what`, from a callback that the host calls early. Every one
 * must end in one message that names policy and callback, never in a crash. */
#include "policies/policy.h"

enum what {
    UNKNOWN_ACTION,
    NEGATIVE_ACTION,
    HOLD_WITHOUT_TIME,
    HOLD_TOO_SHORT,
    DEFER_TOO_SHORT,
    DEFER_NEGATIVE,
    DISPLACE_NOBODY,
    DISPLACE_RUN,
    HOLD_AT_START,
    DISPLACE_AT_START,
    NEGATIVE_LIFETIME,
    AGAIN_WHEN_DONE,
    TICK_NOW,
    TICK_SOON,
    FLOW_OUTSIDE,
    PICK_OUTSIDE,
    PICK_EMPTY,
};

static const char *const whats[] = {[UNKNOWN_ACTION] = "unknown_action",
                                    [NEGATIVE_ACTION] = "negative_action",
                                    [HOLD_WITHOUT_TIME] = "hold_without_time",
                                    [HOLD_TOO_SHORT] = "hold_too_short",
                                    [DEFER_TOO_SHORT] = "defer_too_short",
                                    [DEFER_NEGATIVE] = "defer_negative",
                                    [DISPLACE_NOBODY] = "displace_nobody",
                                    [DISPLACE_RUN] = "displace_run",
                                    [HOLD_AT_START] = "hold_at_start",
                                    [DISPLACE_AT_START] = "displace_at_start",
                                    [NEGATIVE_LIFETIME] = "negative_lifetime",
                                    [AGAIN_WHEN_DONE] = "again_when_done",
                                    [TICK_NOW] = "tick_now",
                                    [TICK_SOON] = "tick_soon",
                                    [FLOW_OUTSIDE] = "flow_outside",
                                    [PICK_OUTSIDE] = "pick_outside",
                                    [PICK_EMPTY] = "pick_empty",
                                    NULL};

#define FLOWS 2u

struct params {
    int what;
};

static int what_of(const struct policy *self)
{
    const struct params *params = self->params;
    return params->what;
}

static struct policy_answer run_admit(struct policy *self, const struct policy_view *view, struct policy_run *run)
{
    (void)view;
    (void)run;
    return what_of(self) == DISPLACE_RUN ? policy_displace("nonsense") : policy_admit();
}

static struct policy_answer admit(struct policy *self, const struct policy_view *view, struct policy_call *call)
{
    (void)call;
    switch (what_of(self)) {
    case UNKNOWN_ACTION:
        return (struct policy_answer){(enum policy_action)99, POLICY_SECOND, "nonsense"};
    case NEGATIVE_ACTION:
        return (struct policy_answer){(enum policy_action) - 1, POLICY_SECOND, "nonsense"};
    case HOLD_WITHOUT_TIME:
        return policy_hold(POLICY_NONE, "nonsense");
    case HOLD_TOO_SHORT:
        return policy_hold(POLICY_LEAST - 1, "nonsense");
    case DEFER_TOO_SHORT:
        return policy_defer(0, "nonsense");
    case DEFER_NEGATIVE:
        return policy_defer(-POLICY_SECOND, "nonsense");
    case DISPLACE_NOBODY:
        return view->waiting.calls == 0 ? policy_displace("nonsense") : policy_admit();
    default:
        return policy_admit();
    }
}

static policy_time admitted(struct policy *self, const struct policy_view *view, struct policy_call *call)
{
    (void)view;
    (void)call;
    return what_of(self) == NEGATIVE_LIFETIME ? -POLICY_SECOND : 0;
}

static struct policy_answer start(struct policy *self, const struct policy_view *view, struct policy_call *call)
{
    (void)view;
    (void)call;
    switch (what_of(self)) {
    case HOLD_AT_START:
        return policy_hold(POLICY_SECOND, "nonsense");
    case DISPLACE_AT_START:
        return policy_displace("nonsense");
    default:
        return policy_admit();
    }
}

static policy_time finish(struct policy *self, const struct policy_view *view, struct policy_call *call,
                          const struct policy_outcome *outcome)
{
    (void)view;
    (void)call;
    return what_of(self) == AGAIN_WHEN_DONE && outcome->end == POLICY_DONE ? POLICY_SECOND : POLICY_NONE;
}

static policy_time tick(struct policy *self, const struct policy_view *view)
{
    switch (what_of(self)) {
    case TICK_NOW:
        return view->now;
    case TICK_SOON:
        return view->now + POLICY_LEAST - 1;
    default:
        return POLICY_NONE;
    }
}

static uint32_t flow(struct policy *self, const struct policy_view *view, struct policy_call *call)
{
    (void)view;
    (void)call;
    return what_of(self) == FLOW_OUTSIDE ? FLOWS : 0;
}

/* Everybody waits in flow 0. */
static uint32_t pick(struct policy *self, const struct policy_view *view, const uint64_t *waiting_in_flow, bool *newest)
{
    (void)view;
    (void)waiting_in_flow;
    *newest = false;
    switch (what_of(self)) {
    case PICK_OUTSIDE:
        return FLOWS;
    case PICK_EMPTY:
        return 1;
    default:
        return 0;
    }
}

static const struct option options[] = {
    {.key = "what",
     .type = OPTION_CHOICE,
     .offset = offsetof(struct params, what),
     .choices = whats,
     .help = "the nonsense to answer"},
    {.key = NULL},
};

const struct policy_ops weir_policy = {
    POLICY_HEADER,
    .name = "nonsense",
    .summary = "answers what no policy may",
    .params = options,
    .params_size = sizeof(struct params),
    .run_admit = run_admit,
    .admit = admit,
    .admitted = admitted,
    .start = start,
    .finish = finish,
    .tick = tick,
    .flows = FLOWS,
    .flow = flow,
    .pick = pick,
};
