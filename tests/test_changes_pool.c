/* test_changes_pool.c - pools whose limit, latency or errors change at a time. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "tests/changes_bench.h"
#include "tests/suites.h"

static uint64_t made(const struct heard *heard, double from, double to)
{
    uint64_t count = 0;

    for (size_t i = 0; i < heard->count; i++)
        count += sim_seconds(heard->attempts[i].attempted) > from && sim_seconds(heard->attempts[i].attempted) <= to;
    return count;
}

/* A change of a limit is one of `moves: steps(...)` at that time, digit for digit; so of all shapes. */
START_TEST(a_limit_at_its_time)
{
    static const char *const shapes[] = {"", ", fill: window", ", fill: step", ", fill: sub(7 s)"};
    struct arena arena = {0};
    const char *yaml = "study: {horizon: 1000 s, warmup: 100 s}\n"
                       "backends: {pool: {kind: provider, meters: {requests: {%s%s%s}}, latency: {base: 2 s}}}\n"
                       "agents: {a: {population: 9, think: exponential(2 s), output: 1}}\n";
    const char *burst = _i == 1 || _i == 3 ? "" : ", burst: 50";
    struct heard moved =
        heard_of(arena_format(&arena, yaml, "moves: steps(0 s 60/min 300 s 150/min 420 s 20/min)", burst, shapes[_i]));
    const char *constant = arena_format(&arena, yaml, "limit: 60/min", burst, shapes[_i]);
    struct heard set = heard_with(constant, "{at: 420 s, set: backends.pool.meters.requests, to: 20/min},"
                                            "{at: 300 s, set: backends.pool.meters.requests.limit, to: 150/min}");

    same_values(&moved, &set);
    ck_assert_str_eq(
        set.sets, "300 backends.pool.meters.requests.limit [/] 60 requests/min -> 150 requests/min by operator ()\n"
                  "420 backends.pool.meters.requests.limit [/] 150 requests/min -> 20 requests/min by operator ()\n");
    ck_assert_str_eq(moved.sets, "");
    ck_assert_uint_gt(made(&set, 300, 420), 0);
    free(moved.attempts);
    free(set.attempts);
    arena_free(&arena);
}
END_TEST

/* An answer that is asked for at 10 s takes the new time, one under way its own. */
START_TEST(latency_at_its_time)
{
    struct timeline t;

    timeline_expect("study: {horizon: 40 s}\n"
                    "backends: {pool: {kind: provider, latency: {base: 2 s, per_output: 1 s}}}\n"
                    "agents: {a: {population: 1, think: 3 s, output: 1}}\n"
                    "changes: [{at: 10 s, set: backends.pool.latency.base, to: 5 s},\n"
                    "  {at: 22 s, set: backends.pool.latency.per_output, to: 4 s}]\n",
                    NULL, "a0@3 a0.1@9 a0.2@15 a0.3@24 a0.4@36", &t);
}
END_TEST

/* Refused at 3 s: comes back when it is told, at 7 and 11 s. From 10 s on it is told another time, so it comes at 13 s,
 * and from 12 s on none, so it backs off by itself: at 20, 27 and 34 s. */
START_TEST(retry_after_at_its_time)
{
    struct timeline t;

    timeline_expect("study: {horizon: 60 s}\n"
                    "backends: {pool: {kind: provider, meters: {requests: {limit: 2/min, fill: sub(30 s)}},\n"
                    "    latency: {base: 1 s}, retry_after: constant(4 s)}}\n"
                    "agents: {a: {population: 1, think: 1 s, output: 1,\n"
                    "    client: {backoff: constant, base: 7 s, jitter: none}}}\n"
                    "changes: [{at: 10 s, set: backends.pool.retry_after, to: constant(2 s)},\n"
                    "  {at: 12 s, set: backends.pool.retry_after, to: none}]\n",
                    NULL, "a0@1 a0.1@34#7", &t);
}
END_TEST

START_TEST(errors_at_their_time)
{
    struct heard heard = heard_with("study: {horizon: 100 s}\n"
                                    "backends: {pool: {kind: provider, latency: {base: 1 s}}}\n"
                                    "agents: {a: {population: 1, think: 1 s, output: 1, client: {attempts: 1}}}\n",
                                    "{at: 40 s, set: backends.pool.errors, to: 100 %},"
                                    "{at: 60 s, set: backends.pool.errors, to: 0 %}");

    /* a call every 2 s, made at 1, 3, ..., 99 s: those of 41 to 59 s fail */
    ck_assert_double_eq_tol(heard.values[METRIC_GOODPUT], (50 - 10) / 100.0, 1e-12);
    free(heard.attempts);
}
END_TEST

Suite *changes_pool_suite(void)
{
    Suite *suite = suite_create("changes_pool");
    TCase *tests = tcase_create("changes_pool");

    tcase_add_loop_test(tests, a_limit_at_its_time, 0, 4);
    tcase_add_test(tests, latency_at_its_time);
    tcase_add_test(tests, retry_after_at_its_time);
    tcase_add_test(tests, errors_at_their_time);
    suite_add_tcase(suite, tests);
    return suite;
}
