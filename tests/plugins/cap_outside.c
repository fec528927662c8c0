/* cap_outside - fixed_cap once more, as somebody outside would write it: loaded with --plugin it must give the digits
 * of the one that is built in. */
#include "policies/policy.h"

struct params {
    int64_t cap;
};

static struct policy_answer admit(struct policy *self, const struct policy_view *view, struct policy_call *call)
{
    const struct params *params = self->params;
    (void)call;
    if (view->waiting.calls + view->busy >= (uint64_t)params->cap)
        return policy_defer(POLICY_NONE, "cap");
    return policy_admit();
}

static const struct option options[] = {
    {.key = "cap",
     .type = OPTION_COUNT,
     .offset = offsetof(struct params, cap),
     .least = "1",
     .most = "inf",
     .measures = "calls",
     .live = true,
     .help = "most calls in the system, waiting and in service"},
    {.key = NULL},
};

const struct policy_ops weir_policy = {
    POLICY_HEADER,
    .name = "cap_outside",
    .summary = "admits while the number in the system is below a cap",
    .params = options,
    .params_size = sizeof(struct params),
    .admit = admit,
};
