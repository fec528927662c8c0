/* limiter_bench.c - what limiter_bench.h says. */
#include "tests/limiter_bench.h"

#include <check.h>
#include <math.h>
#include <string.h>

#include "tests/client_bench.h"

void limiter_crowd(struct bench *bench, uint64_t in_system)
{
    uint64_t busy = in_system < SERVERS ? in_system : SERVERS;
    bench->view.servers = SERVERS;
    bench->view.busy = bench->view.in_service = busy;
    bench->view.waiting.calls = in_system - busy;
}

bool limiter_admits(struct bench *bench, policy_time now, uint64_t in_system)
{
    struct policy_answer answer;
    limiter_crowd(bench, in_system);
    answer = bench_attempts(bench, bench_call(bench, 0, 0, 0), now);
    if (answer.action == POLICY_ADMIT)
        return true;
    ck_assert_int_eq(answer.action, POLICY_DEFER);
    ck_assert_int_eq(answer.after, POLICY_NONE);
    return false;
}

void limiter_call(struct bench *bench, policy_time now, policy_time rtt, uint64_t number, enum policy_end end)
{
    struct policy_call *call = bench_call(bench, 0, 0, 0);
    limiter_crowd(bench, 0); /* whatever it was when the call asked */
    ck_assert_int_eq(bench_attempts(bench, call, now).action, POLICY_ADMIT);
    limiter_crowd(bench, number - 1);
    bench_lets_in(bench, call, now);
    bench_ends(bench, call, now + rtt, end);
}

void limiter_gauge(const struct bench *bench, const char *name, double value)
{
    double found = bench_gauge(bench, name);
    ck_assert_msg(fabs(found - value) < 1e-9, "%s is %.12g, expected %.12g", name, found, value);
}

void limiter_common(const char *policy)
{
    struct bench bench = bench_of(policy, "least", "4", "most", "9", NULL);
    struct policy_answer answer;
    client_init(&bench);
    bench_begins(&bench);
    bench_set(&bench, "retry_after", "7 s");
    limiter_crowd(&bench, 9);
    answer = bench_attempts(&bench, bench_call(&bench, 0, 0, 0), 0);
    ck_assert_int_eq(answer.action, POLICY_DEFER);
    ck_assert_int_eq(answer.after, 7 * S);
    bench_set(&bench, "retry_after", "1 ms");
    ck_assert_ptr_null(bench_checked(&bench));
    bench_steers(&bench, 0, "least", 9);
    bench_set(&bench, "least", "10");
    ck_assert_str_eq(bench_checked(&bench), "no limit is left: expected least: of at most what most: says");
    bench_free(&bench);
}
