/* unbounded - admits everything: the line is as long as it gets.
 *
 * The baseline that every other policy is compared with. Under first come first served it is M/M/c or M/G/c with open
 * arrivals and M/M/c//N with a population, so it is also the policy that theory predicts.
 *
 * Parameters: none. Known to fail past the knee, where every agent more is one more waiting: in a closed loop the mean
 * wait grows by a service time / servers an agent, in an open one without end. */
#include "policies/policy.h"

const struct policy_ops weir_policy = {
    POLICY_HEADER,
    .name = "unbounded",
    .summary = "admits every call",
};
