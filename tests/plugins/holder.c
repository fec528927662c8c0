/* holder - admits nobody: holds every call and asks again after the same time. For tests of the hold cap. */
#include "policies/policy.h"

struct params {
    policy_time after;
};

static const struct option params[] = {
    {.key = "after",
     .type = OPTION_TIME,
     .offset = offsetof(struct params, after),
     .initial = NULL,
     .least = "1 ms",
     .help = "until it is asked again"},
    {.key = NULL},
};

static struct policy_answer admit(struct policy *self, const struct policy_view *view, struct policy_call *call)
{
    const struct params *p = self->params;

    (void)view;
    (void)call;
    return policy_hold(p->after, "held");
}

const struct policy_ops weir_policy = {
    POLICY_HEADER,
    .name = "holder",
    .summary = "holds every call",
    .params = params,
    .params_size = sizeof(struct params),
    .admit = admit,
};
