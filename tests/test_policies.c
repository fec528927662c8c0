/* test_policies.c - the registry and its tables; unbounded, fixed_cap and lifo on the bench. */
#include <check.h>
#include <string.h>

#include "sim/io/param.h"
#include "tests/policy_bench.h"
#include "tests/suites.h"

/* --- tables ------------------------------------------------------------------------------------------------------ */

START_TEST(registry_is_in_order_and_whole)
{
    static const char *const names[] = {"unbounded",
                                        "fixed_cap",
                                        "codel",
                                        "lifo",
                                        "by_priority",
                                        "token_bucket",
                                        "gcra",
                                        "cost_bucket",
                                        "contract",
                                        "retry_budget",
                                        "breaker",
                                        "window",
                                        "atb",
                                        "aatb",
                                        "sre_throttle",
                                        "aws_adaptive",
                                        "pacer",
                                        "planner",
                                        "aimd",
                                        "vegas",
                                        "gradient2",
                                        "envoy_gradient",
                                        "envoy_admission",
                                        "folly_codel",
                                        "pid",
                                        "breakwater",
                                        "bounded_queue",
                                        "adaptive_lifo",
                                        "deadline",
                                        "least_attained_service",
                                        "fair_queue",
                                        "fq_codel",
                                        "shares",
                                        "tenant_cap",
                                        "priority",
                                        "shed_by_value",
                                        "run_budget",
                                        "exec",
                                        NULL};
    size_t i = 0;
    for (; names[i]; i++) {
        const struct policy_ops *ops = policy_registry[i];
        ck_assert_ptr_nonnull(ops);
        ck_assert_str_eq(ops->name, names[i]);
        ck_assert_uint_eq(ops->magic, POLICY_MAGIC);
        ck_assert_uint_eq(ops->abi, POLICY_ABI);
        ck_assert(strlen(ops->summary) > 0 && ops->summary[strlen(ops->summary) - 1] != '.');
        for (const struct option *row = ops->params; row && row->key; row++) {
            ck_assert(row->offset < ops->params_size);
            ck_assert(strcmp(row->key, "at") != 0 && strcmp(row->key, "scope") != 0 && strcmp(row->key, "preset") != 0);
        }
        for (const struct policy_gauge *row = ops->gauges; row && row->name; row++)
            ck_assert(row->offset + 8 <= (row->in_stats ? ops->stats_size : ops->vars_size));
        for (const struct policy_preset *row = ops->presets; row && row->name; row++) {
            struct bench bench = bench_of(ops->name, NULL);
            for (const char *const *setting = row->settings; setting[0]; setting += 2)
                if (strcmp(setting[0], "scope") != 0) /* the host's key */
                    bench_set(&bench, setting[0], setting[1]);
            bench_free(&bench);
        }
    }
    ck_assert_ptr_null(policy_registry[i]);
}
END_TEST

START_TEST(codel_defaults_are_the_published_values)
{
    struct bench initial = bench_of("codel", NULL), published = bench_codel("persist", "submission", "1 s", "1 s"),
                 written = bench_codel("rfc8289", "dequeue", "5 ms", "100 ms");
    ck_assert_str_eq(initial.ops->presets[0].name, "published");
    for (const char *const *setting = initial.ops->presets[0].settings; setting[0]; setting += 2)
        bench_set(&published, setting[0], setting[1]);
    ck_assert_mem_eq(initial.params, written.params, written.ops->params_size);
    ck_assert_mem_eq(published.params, written.params, written.ops->params_size);
    bench_free(&initial);
    bench_free(&published);
    bench_free(&written);
}
END_TEST

/* --- unbounded, fixed_cap, lifo ---------------------------------------------------------------------------------- */

START_TEST(unbounded_has_no_callbacks)
{
    struct bench bench = bench_of("unbounded", NULL);
    const struct policy_ops *ops = bench.ops;
    ck_assert(!ops->check && !ops->init && !ops->changed && !ops->run_admit && !ops->run_finish);
    ck_assert(!ops->admit && !ops->admitted && !ops->refused && !ops->start && !ops->finish);
    ck_assert(!ops->tick && !ops->rank && !ops->flow && !ops->pick);
    bench_free(&bench);
}
END_TEST

START_TEST(fixed_cap_counts_the_system)
{
    struct bench bench = bench_of("fixed_cap", "cap", "12", NULL);
    const struct option *cap = param_find(bench.ops->params, "cap");
    ck_assert_ptr_null(cap->initial);
    ck_assert(bench_asks(&bench, 0, 3));
    ck_assert(!bench_asks(&bench, 0, 4));
    ck_assert(!bench_asks(&bench, 0, 5));
    ck_assert_double_eq(bench_gauge(&bench, "refused"), 2);
    bench.view.in_service = 2; /* the clients of six have left: their servers still work */
    ck_assert(!bench_asks(&bench, 0, 4));
    bench.view.busy = 7;
    ck_assert(bench_asks(&bench, 0, 4));
    bench.view.busy = 0;
    ck_assert(bench_asks(&bench, 0, 0));
    ck_assert_ptr_null(param_set_number(cap, bench.params, 1));
    ck_assert(bench_asks(&bench, 0, 0));
    bench.view.busy = 1;
    ck_assert(!bench_asks(&bench, 0, 0));
    ck_assert_ptr_nonnull(param_set_number(cap, bench.params, 0));
    bench_set(&bench, "cap", "inf");
    ck_assert(bench_asks(&bench, 0, UINT64_C(1) << 60));
    bench_free(&bench);
}
END_TEST

START_TEST(fixed_cap_counts_the_calls_in_flight_of_a_metered_pool)
{
    struct bench bench = bench_of("fixed_cap", "cap", "12", NULL);
    bench.view.servers = 0;
    bench.view.busy = bench.view.in_service = 11;
    ck_assert(bench_asks(&bench, 0, 0));
    bench.view.busy = bench.view.in_service = 12;
    ck_assert(!bench_asks(&bench, 0, 0));
    bench_free(&bench);
}
END_TEST

START_TEST(fixed_cap_says_what_bound)
{
    struct bench bench = bench_of("fixed_cap", "cap", "8", NULL);
    struct policy_answer answer = bench.ops->admit(&bench.self, &bench.view, &bench.call);
    ck_assert_int_eq(answer.action, POLICY_DEFER);
    ck_assert_str_eq(answer.reason, "cap");
    bench_free(&bench);
}
END_TEST

START_TEST(lifo_ranks_the_newest_first)
{
    struct bench bench = bench_of("lifo", NULL), other = bench_of("lifo", NULL);
    int64_t last = INT64_MAX;
    ck_assert(!bench.ops->admit && !bench.ops->start);
    for (int i = 0; i < 100; i++) {
        int64_t rank = bench.ops->rank(&bench.self, &bench.view, &bench.call, i % 3 == 0);
        ck_assert_int_lt(rank, last);
        last = rank;
    }
    ck_assert_int_gt(other.ops->rank(&other.self, &other.view, &other.call, false), last);
    bench_free(&bench);
    bench_free(&other);
}
END_TEST

Suite *policies_suite(void)
{
    Suite *suite = suite_create("policies");
    TCase *tables = tcase_create("tables");
    TCase *small = tcase_create("small");
    tcase_add_test(tables, registry_is_in_order_and_whole);
    tcase_add_test(tables, codel_defaults_are_the_published_values);
    tcase_add_test(small, unbounded_has_no_callbacks);
    tcase_add_test(small, fixed_cap_counts_the_system);
    tcase_add_test(small, fixed_cap_counts_the_calls_in_flight_of_a_metered_pool);
    tcase_add_test(small, fixed_cap_says_what_bound);
    tcase_add_test(small, lifo_ranks_the_newest_first);
    suite_add_tcase(suite, tables);
    suite_add_tcase(suite, small);
    return suite;
}
