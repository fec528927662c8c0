/* services.h - what a policy may call: the functions behind struct policy_host. Private to models/, but for
 * those that need no world. */
#ifndef MODELS_SERVICES_H
#define MODELS_SERVICES_H

#include "policies/policy.h"

struct change;
struct copy;
struct world;

extern const struct policy_host services;

/* A gauge, or a numeric parameter, of a copy of that policy, wherever it stands, as it was last brought up to date.
 * False: no such gauge. */
bool services_get(const struct policy_ops *ops, const struct policy *of, const char *key, double *value);

/* The same of a copy in a trial, as it is now. */
bool services_read(struct copy *copy, const char *key, double *value);

/* A copy of which a live parameter is to be set, wherever it stands. */
struct services_target {
    const struct policy_ops *ops;
    struct policy *copy;
    void *params, *wanted; /* the copy's own parameters, and room for as many */
    policy_time now;
    enum policy_setter by;
    void (*begins)(const void *host, const char *callback); /* hears which callback is asked next: `check`, `changed` */
    /* Hears that the value is the copy's, before `changed` is told; or NULL. */
    void (*done)(const void *host, const struct option *option);
    const void *host;
};

/* The rule of policy_host.set: the value is tried in `wanted` against its range and `check`; if it may be, it is the
 * copy's, and `changed` is told. NULL, or what was expected; then nothing has changed. */
const char *services_set(const struct services_target *target, const char *key, double value);
/* The same with the value of that option, of any type, in a struct of the policy's parameters. */
const char *services_put(const struct services_target *target, const struct option *option, const void *from);

/* The timeline sets a value of one copy. NULL, or what the policy's `check` expects beside what others have set. */
const char *services_change(struct copy *copy, const struct change *change);

/* The programs that policies asked end. With `agree` they are tried for that; if one does not, the trial was wrong. */
void services_end_programs(struct world *world, bool agree);

#endif
