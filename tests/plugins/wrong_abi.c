/* wrong_abi - a policy that was built for another version of policy.h. */
#include "policies/policy.h"

const struct policy_ops weir_policy = {
    .magic = POLICY_MAGIC,
    .abi = POLICY_ABI + 1,
    .name = "wrong_abi",
    .summary = "is never loaded",
};
