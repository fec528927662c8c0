/* pacer_headless - the pacer as a slip might leave it: nothing is set aside for the first in line. For the tests of
 * `weir regress`, which must call that worse. Its own admit stands where the pacer's stood, which is only called. */
#include "policies/policy.h"

static struct policy_answer(pacer_admit)(struct policy *self, const struct policy_view *view, struct policy_call *call);
#define pacer_admit(...) whole_admit(__VA_ARGS__)
#include "policies/pacer.c"
#undef pacer_admit

static struct policy_answer pacer_admit(struct policy *self, const struct policy_view *view, struct policy_call *call)
{
    struct policy_view headless = *view;

    headless.held.head = NULL;
    return whole_admit(self, &headless, call);
}
