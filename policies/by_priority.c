/* by_priority - classes take turns by rank; admits everything.
 *
 * Idea: a call of a class with a higher `priority:` goes before all calls of lower ones, in order of joining among its
 * equals; who is being served is not interrupted (non-preemptive, "head of the line").
 *
 * Source: Cobham 1954. In M/G/1 the k-th class from the top waits W0 / ((1 - s(k-1)) (1 - s(k))) on average, W0 the
 * work that an arrival finds in service and s(k) the load of classes 1 to k; the mean over all work is that of first
 * come, first served (Kleinrock's conservation law).
 *
 * Parameters: none; the priority is the class's own, compared to a millionth.
 *
 * Known to fail: with enough work of a high class the low one starves, and nobody is told. It moves waiting between
 * classes, it takes none away. */
#include "policies/policy.h"

static int64_t by_priority_rank(struct policy *self, const struct policy_view *view, struct policy_call *call,
                                bool held)
{
    (void)self;
    (void)view;
    (void)held;
    return (int64_t)(call->priority * -1e6);
}

const struct policy_ops weir_policy = {
    POLICY_HEADER,
    .name = "by_priority",
    .summary = "admits every call and serves the class of highest priority first",
    .rank = by_priority_rank,
};
