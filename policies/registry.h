/* registry.h - the policies that are built in. */
#ifndef WEIR_REGISTRY_H
#define WEIR_REGISTRY_H

#include "policies/policy.h"

extern const struct policy_ops *const policy_registry[]; /* ended by NULL, in the order of `weir list policies` */

#endif
