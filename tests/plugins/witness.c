/* witness - admits everybody, and ends the program when another member refuses a call while a server is idle and nobody
 * waits: a policy that does so has locked up. */
#include <stdio.h>
#include <stdlib.h>

#include "policies/policy.h"

static void check(const struct policy_view *view, const char *what)
{
    if (view->busy >= view->servers || view->waiting.calls > 0)
        return;
    fprintf(stderr, "witness: %s although a server is idle\n", what);
    abort();
}

static void refused(struct policy *self, const struct policy_view *view, struct policy_call *call,
                    const struct policy_answer *answer)
{
    (void)self;
    (void)call;
    (void)answer;
    check(view, "refused");
}

static policy_time finish(struct policy *self, const struct policy_view *view, struct policy_call *call,
                          const struct policy_outcome *outcome)
{
    (void)self;
    if (outcome->end == POLICY_SHED && call->joined == view->now)
        check(view, "shed on arrival");
    return POLICY_NONE;
}

const struct policy_ops weir_policy = {
    POLICY_HEADER,
    .name = "witness",
    .summary = "admits everybody; ends the program when a call is refused while a server is idle",
    .refused = refused,
    .finish = finish,
};
