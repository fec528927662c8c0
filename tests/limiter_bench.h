/* limiter_bench.h - calls before a limiter on the bench (tests/call_bench.h): how many are there, how long they take.
 */
#ifndef TESTS_LIMITER_BENCH_H
#define TESTS_LIMITER_BENCH_H

#include "tests/call_bench.h"

/* So many calls wait or are served, on eight servers. */
void limiter_crowd(struct bench *bench, uint64_t in_system);
/* An attempt while so many are there: is it let in, or deferred without a retry-after? */
bool limiter_admits(struct bench *bench, policy_time now, uint64_t in_system);
/* A call is let in as the n-th at `now`, and ends so after `rtt`. */
void limiter_call(struct bench *bench, policy_time now, policy_time rtt, uint64_t number, enum policy_end end);
void limiter_gauge(const struct bench *bench, const char *name, double value);

/* Its refusals say what `retry_after` says, it may be set while calls are inside, and `least` above `most` is refused.
 */
void limiter_common(const char *policy);

#endif
