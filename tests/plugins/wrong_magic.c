/* wrong_magic - exports the right symbol, but it is no policy. */
#include "policies/policy.h"

const struct policy_ops weir_policy = {
    .magic = ~POLICY_MAGIC,
    .abi = POLICY_ABI,
    .name = "wrong_magic",
    .summary = "is never loaded",
};
