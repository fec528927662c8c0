/* setting.h - the parameters that a policy is tried with: its defaults, each preset and choice, each parameter at its
 * least and its most; and a copy an agent where copies share memory. */
#ifndef CLI_SETTING_H
#define CLI_SETTING_H

#include "models/scenario.h"
#include "sim/io/mem.h"

struct setting {
    const struct policy_ops *ops;
    const char *text;   /* what differs from the defaults: "cap: 1"; "" for themselves */
    const void *params; /* of ops->params_size */
    enum policy_scope scope;
    uint64_t servers; /* that its gate has as a copy begins; 0: three */
    bool extreme;     /* a parameter at a bound, where refusing everybody may be what it means */
};

/* Those that the policy's `check` accepts, the first of them its defaults. Parameters without a default get an everyday
 * value, or their least. */
struct setting *settings_of(const struct policy_ops *ops, struct arena *arena, size_t *count);

#endif
