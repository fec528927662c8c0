/* codel_stuck - CoDel as a slip might leave it: once it drops it never leaves that state. For the tests of `weir
 * regress`, which must call that worse. */
#include "policies/policy.h"

static struct policy_answer(codel_admit)(struct policy *self, const struct policy_view *view, struct policy_call *call);
#define codel_admit(...) whole_admit(__VA_ARGS__)
#include "policies/codel.c"
#undef codel_admit

static struct policy_answer codel_admit(struct policy *self, const struct policy_view *view, struct policy_call *call)
{
    const struct codel_stats *stats = self->stats;

    if (stats->refused > 0 && view->busy >= view->servers)
        return policy_defer(POLICY_NONE, "stuck");
    return whole_admit(self, view, call);
}
