/* test_budgets.c - `weir check` says where budgets let nobody in, with the arithmetic, and where two keys of a pool
 * pace as if each were alone. */
#include <check.h>
#include <string.h>

#include "tests/command_fixture.h"
#include "tests/suites.h"

static const char *warned(const char *policies, const char *rest)
{
    plan_file_write(&file, "s.yaml",
                    arena_format(&file.arena,
                                 "study: {horizon: 1 h, replications: 1}\n"
                                 "backends:\n"
                                 "  pool: {kind: provider, meters: {requests: 50/min}, latency: {base: 2 s}}\n"
                                 "  key2: {kind: alias, of: pool}\n"
                                 "  other: {kind: provider, latency: {base: 2 s}}\n"
                                 "agents: {task: {preset: laguna_opencode, arrivals: poisson(1/min), backend: pool}}\n"
                                 "policies: [it: [%s]]\n%s",
                                 policies, rest));
    const char *text = SAID("check", file.path), *found = "";
    for (const char *line = text; *line; line += strcspn(line, "\n") + 1)
        if (strncmp(line, "# WARNING: ", 11) == 0)
            found = arena_format(&file.arena, "%s%.*s\n", found, (int)strcspn(line, "\n") - 11, line + 11);
    return found;
}

/* 17,784 + 616 t grows to 235,929 in 90 min at 4.54 s a turn: 51,967 tokens/s; 0.2203 calls/s. */
START_TEST(nobody_fits)
{
    ck_assert_str_eq(
        warned("planner, pacer: {at: pool}", ""),
        "it, planner at pool: its ceiling is 0, no run is ever let in: a task grows to 51967 tokens/s, and "
        "0.9 x r_tok 20000 is 18000; no cached_share is enough at this cached_weight of the pacer: expected "
        "other seeds.\n");
    /* 1 - share (1 - 0.1) is to be 18000 / 51967 or less: 0.727 */
    ck_assert_str_eq(
        warned("planner: {cached_share: 30 %}, pacer: {at: pool, cached_weight: 0.1}", ""),
        "it, planner at pool: its ceiling is 0, no run is ever let in: a task grows to 37936 tokens/s, and "
        "0.9 x r_tok 20000 is 18000; one fits from a cached_share of 0.727 on, here it is 0.3.\n");
    ck_assert_str_eq(
        warned("planner: {cached_share: 72.6 %}, pacer: {at: pool, cached_weight: 0.1}", ""),
        "it, planner at pool: its ceiling is 0, no run is ever let in: a task grows to 18012 tokens/s, and "
        "0.9 x r_tok 20000 is 18000; one fits from a cached_share of 0.727 on, here it is 0.726.\n");
    ck_assert_str_eq(warned("planner: {cached_share: 72.7 %}, pacer: {at: pool, cached_weight: 0.1}", ""), "");
    /* the other axes, and a stale seed */
    ck_assert_str_eq(
        warned("planner: {cached_share: 1}, pacer: {at: pool, cached_weight: 0.1, r_qps: 0.5/s, "
               "seed_age: 7 h}",
               ""),
        "it, planner at pool: its ceiling is 0, no run is ever let in: a task grows to 0.2203 calls/s, and "
        "0.425 x r_qps 0.5 is 0.2125.\n");
    program_has(warned("planner: {cached_share: 1}, pacer: {at: pool, cached_weight: 0.1, k_inflight: 60k}", ""),
                "tokens in flight, and 0.9 x k_inflight 60000 is 54000");
}
END_TEST

/* An override, a fixed fleet and gates where no run begins are none of it. */
START_TEST(somebody_is_let_in)
{
    ck_assert_str_eq(warned("planner: {override: 2}, pacer: {at: pool}", ""), "");
    ck_assert_str_eq(warned("planner: {mode: fixed}, pacer: {at: pool}", ""), "");
    ck_assert_str_eq(warned("planner, pacer: {at: other}", ""), "");
    ck_assert_str_eq(warned("planner", ""), "");
}
END_TEST

START_TEST(keys_of_one_pool)
{
    static const char twice[] = "it, pacer: pool, key2 are keys of one pool, and each has buckets of its own with all "
                                "of the budgets: 2 x r_tok "
                                "105000 is 210000 tokens/s at pool. Expected scope: all, one bucket for all keys; or a "
                                "member for each, at: KEY, "
                                "with its part, as in seeds: {KEY: {pacer: {r_tok: ...}}}.\n";
    ck_assert_str_eq(warned("pacer: {preset: laguna}", ""), twice);
    ck_assert_str_eq(warned("pacer: {preset: laguna, at: pool}", ""), "");
    ck_assert_str_eq(warned("pacer: {preset: laguna, scope: all}", ""), "");
    ck_assert_str_eq(warned("pacer: {r_tok: inf}", ""), "");
    ck_assert_str_eq(warned("pacer: {at: pool}, pacer: {name: two, at: key2}",
                            "seeds: {pool: {pacer: {r_tok: 60k/s}}, key2: {pacer: {r_tok: 45k/s}}}\n"),
                     "");
    ck_assert_str_eq(
        warned("pacer: {at: pool}, pacer: {name: two, at: key2}", "seeds: {pool: {pacer: {r_tok: 60k/s}}}\n"),
        "it, two: key2 is a key of pool and takes the seeds of pool in full, as pacer does at pool. Expected "
        "seeds of its own, its part of them: seeds: {key2: {pacer: {r_tok: ...}}}.\n");
    ck_assert_str_eq(warned("pacer: {name: two, at: key2}", "seeds: {pool: {pacer: {r_tok: 60k/s}}}\n"), "");
}
END_TEST

Suite *budgets_suite(void)
{
    Suite *suite = suite_create("budgets");
    TCase *tests = tcase_create("budgets");
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, nobody_fits);
    tcase_add_test(tests, somebody_is_let_in);
    tcase_add_test(tests, keys_of_one_pool);
    suite_add_tcase(suite, tests);
    return suite;
}
