/* policy_bench.h - one copy of a built-in policy on a bench: a gate and a call made by hand, no simulation. */
#ifndef TESTS_POLICY_BENCH_H
#define TESTS_POLICY_BENCH_H

#include "policies/registry.h"
#include "sim/io/mem.h"

#define SERVERS 8
#define MS INT64_C(1000000)
#define S POLICY_SECOND

struct bench {
    const struct policy_ops *ops;
    struct arena arena;
    void *params;
    struct policy self;
    struct policy_view view;
    struct policy_call call;
};

/* All servers busy, nobody waiting. The name is followed by pairs of key and text, and a NULL. */
struct bench bench_of(const char *name, ...);
struct bench bench_codel(const char *law, const char *place, const char *target, const char *interval);
void bench_free(struct bench *bench);

void bench_set(struct bench *bench, const char *key, const char *text);
/* What a gauge was when it was last brought up to date; that is done by bench_refreshes, or by the policy itself. */
double bench_gauge(const struct bench *bench, const char *name);
void bench_refreshes(struct bench *bench, policy_time now);

/* An attempt while `waiting` calls are in line: is it let in, or deferred without a retry-after? */
bool bench_asks(struct bench *bench, policy_time now, uint64_t waiting);
/* A server takes a call that has waited for `sojourn`, and `left` wait behind it: is it served? */
bool bench_takes(struct bench *bench, policy_time now, policy_time sojourn, uint64_t left);

#endif
