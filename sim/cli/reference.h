/* reference.h - everything there is to name, as one page in Markdown. REFERENCE.md is what it prints. */
#ifndef CLI_REFERENCE_H
#define CLI_REFERENCE_H

#include "policies/policy.h"

/* On stdout; policies end with NULL. */
void reference_print(const struct policy_ops *const *policies);

#endif
