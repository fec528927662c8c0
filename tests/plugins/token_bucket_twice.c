/* token_bucket_twice - the token bucket as a slip might leave it: what an answer gives back is given back twice. For
 * the tests of `weir regress`, which must call that worse. Where estimates are right nothing is given back, so it shows
 * where the bucket counts what is in flight. */
#include "policies/policy.h"

static policy_time(token_bucket_finish)(struct policy *self, const struct policy_view *view, struct policy_call *call,
                                        const struct policy_outcome *outcome);
#define token_bucket_finish(...) whole_finish(__VA_ARGS__)
#include "policies/token_bucket.c"
#undef token_bucket_finish

static policy_time token_bucket_finish(struct policy *self, const struct policy_view *view, struct policy_call *call,
                                       const struct policy_outcome *outcome)
{
    struct token_bucket_vars *vars = self->vars;
    policy_time again;
    parts before;

    refill(vars, view->now);
    before = vars->bucket.level;
    again = whole_finish(self, view, call, outcome);
    if (vars->bucket.level > before)
        give(vars, (vars->bucket.level - before) / MINUTE);
    return again;
}
