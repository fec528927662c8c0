/* client_bench.h - a client's policy on the bench of policy_bench.h, before a metered pool: calls that ask, are sent
 * and end when the test says so, and a host whose random numbers are the test's. */
#ifndef TESTS_CLIENT_BENCH_H
#define TESTS_CLIENT_BENCH_H

#include "tests/policy_bench.h"

/* What client_asks says beside a time. */
#define LET_IN INT64_C(0)
#define REFUSED INT64_C(-1)

/* Gives the bench a host and a pool. The copy's tick is the test's. */
void client_init(struct bench *bench);
/* A call of its own, with the policy's memory. */
struct policy_call client_call(struct bench *bench);

/* The call asks, anew or again if it is held: LET_IN, and then `admitted` was told; REFUSED; or for how long it is
 * held, at least POLICY_LEAST. */
policy_time client_asks(struct bench *bench, struct policy_call *call, policy_time now);
void client_ends(struct bench *bench, struct policy_call *call, policy_time now, enum policy_end end);
/* The next wake-up. */
policy_time client_ticks(struct bench *bench, policy_time now);

/* What all policies draw from now on, and how often they have drawn. */
void client_draws(double uniform);
uint64_t client_drawn(void);

#endif
