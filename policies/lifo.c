/* lifo - last come, first served; admits everything.
 *
 * Idea: under overload the newest call is the one whose client is most likely still there, so it goes first and the
 * oldest carry the wait. Ranks are given in falling order, rank = -(calls that joined so far), for the held and the
 * waiting line alike; a call that comes back joins as new.
 *
 * Source: a textbook discipline. The order leaves the mean wait as it is where the order does not look at the service
 * times, and raises its variance: in M/G/1, E[W^2] under LIFO = E[W^2] under FIFO / (1 - rho).
 *
 * Parameters: none. Known to fail: past saturation the calls at the bottom starve until their clients give up, so p99
 * and queue age are the worst of all policies. */
#include "policies/policy.h"

struct lifo_vars {
    int64_t joins;
};

static int64_t lifo_rank(struct policy *self, const struct policy_view *view, struct policy_call *call, bool held)
{
    struct lifo_vars *vars = self->vars;
    (void)view;
    (void)call;
    (void)held;
    return -++vars->joins;
}

const struct policy_ops weir_policy = {
    POLICY_HEADER,
    .name = "lifo",
    .summary = "admits every call and serves the newest first",
    .vars_size = sizeof(struct lifo_vars),
    .rank = lifo_rank,
};
