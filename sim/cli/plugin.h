/* plugin.h - policies from shared objects. */
#ifndef CLI_PLUGIN_H
#define CLI_PLUGIN_H

#include "policies/policy.h"
#include "sim/io/diag.h"

/* The policy that the file exports, or NULL after an error. It stays loaded until the program ends. */
const struct policy_ops *plugin_load(const char *path, struct place place, struct diag *diag);

/* Whether a policy's table makes sense: magic first, then the ABI for equality, then every row. What is wrong is an
 * error that names `path`. */
bool plugin_check(const struct policy_ops *ops, const char *path, struct place place, struct diag *diag);

/* Built-in policies and those given, as one list ended by NULL, in the arena. A name that occurs twice is an error. */
const struct policy_ops *const *plugin_join(const char *const *paths, size_t count, struct arena *arena,
                                            struct diag *diag);

#endif
