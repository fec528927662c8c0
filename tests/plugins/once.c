/* once - refuses the first attempt of every call, with a retry-after if it is told one. For tests of clients. */
#include "policies/policy.h"

struct params {
    policy_time after;
};

static const struct option params[] = {
    {.key = "after",
     .type = OPTION_TIME,
     .offset = offsetof(struct params, after),
     .initial = "0 s",
     .least = "0 s",
     .help = "the retry-after; 0: none"},
    {.key = NULL},
};

static struct policy_answer admit(struct policy *self, const struct policy_view *view, struct policy_call *call)
{
    const struct params *p = self->params;

    (void)view;
    if (call->attempt > 1)
        return policy_admit();
    return policy_defer(p->after > 0 ? p->after : POLICY_NONE, "once");
}

const struct policy_ops weir_policy = {
    POLICY_HEADER,
    .name = "once",
    .summary = "refuses the first attempt of every call",
    .params = params,
    .params_size = sizeof(struct params),
    .admit = admit,
};
