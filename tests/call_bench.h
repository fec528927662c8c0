/* call_bench.h - the life of calls on a bench (tests/policy_bench.h): asked, let in, ended, with the memory that a host
 * would give them. */
#ifndef TESTS_CALL_BENCH_H
#define TESTS_CALL_BENCH_H

#include "tests/policy_bench.h"

/* The copy begins. */
void bench_begins(struct bench *bench);
/* A live parameter is set as policy_host.set does, and accepted. */
void bench_steers(struct bench *bench, policy_time now, const char *key, double value);
/* What `check` says of the parameters. */
const char *bench_checked(const struct bench *bench);

/* A call of a run of its own, not asked yet; its memory is the bench's. */
struct policy_call *bench_call(struct bench *bench, double input, double cached, double output);

/* A new attempt asks; a held one asks again. */
struct policy_answer bench_attempts(struct bench *bench, struct policy_call *call, policy_time now);
struct policy_answer bench_asks_again(struct bench *bench, struct policy_call *call, policy_time now);
/* All members have let it in; returns how long the record lives. */
policy_time bench_lets_in(struct bench *bench, struct policy_call *call, policy_time now);
/* Another member did not. */
void bench_refuses(struct bench *bench, struct policy_call *call, policy_time now, enum policy_action action);
/* A new attempt, let in unless the policy refuses: is it? */
bool bench_enters(struct bench *bench, struct policy_call *call, policy_time now);
void bench_serves(struct policy_call *call, policy_time now);

/* The attempt ends: DONE with the counts that were expected, else without counts. */
void bench_ends(struct bench *bench, struct policy_call *call, policy_time now, enum policy_end end);
void bench_ends_with(struct bench *bench, struct policy_call *call, policy_time now, enum policy_end end, double input,
                     double cached, double output);

#endif
