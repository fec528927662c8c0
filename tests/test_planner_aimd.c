/* test_planner_aimd.c - the planner's reactions row by row: overloads, waits, clean peaks. Its pacer is a stand-in, so
 * each signal comes when the test says. */
#include <check.h>
#include <math.h>
#include <string.h>

#include "tests/planner_bench.h"
#include "tests/suites.h"

#define GAUGE(planner, name) bench_gauge(&(planner)->bench, name)

/* --- overloads --------------------------------------------------------------------------------------------------- */

START_TEST(an_overload_starts_a_cooldown)
{
    struct planner_bench planner;
    planner_seeded(&planner, NULL, NULL);
    struct task *task;
    planner_starts(&planner);
    planner_passes(&planner, 4, 80000, 10);
    task = planner_launches(&planner, 0, planner.now);
    planner_turns(&planner, task, 0);
    planner_launches(&planner, 0, planner.now); /* boots */
    planner.pacers[0].overloads_60 = 1;
    planner_passes(&planner, 1, 80000, 10); /* at 75 s */
    planner_holds(&planner, 0, planner.now, "cooldown");
    ck_assert_str_eq(planner_word(&planner, 0, "hold"), "cooldown");
    ck_assert_double_eq(planner_cell(&planner, 0, "cooldown"), 60);
    ck_assert_double_eq(GAUGE(&planner, "ceiling"), 2); /* those there are */
    ck_assert_double_eq(planner_cell(&planner, 0, "ceiling"), 2);
    ck_assert_double_eq(planner_cell(&planner, 0, "gate_ceiling"), 8); /* r_qps is at half of its seed: 0.85 x 10 */
    ck_assert_double_eq(GAUGE(&planner, "cooling"), 1);
    planner_passes(&planner, 1, 80000, 10); /* re-armed at 90 s */
    ck_assert_double_eq(planner_cell(&planner, 0, "cooldown"), 60);
    planner.pacers[0].overloads_60 = 0;
    planner_passes(&planner, 3, 80000, 10);
    ck_assert_double_eq(planner_cell(&planner, 0, "cooldown"), 15);
    planner_holds(&planner, 0, 150 * S - 1, "cooldown");
    planner_ticks(&planner, 150 * S);
    ck_assert_str_eq(planner_word(&planner, 0, "hold"), "none");
    ck_assert_double_eq(GAUGE(&planner, "ceiling"), 8);
    planner_launches(&planner, 0, 150 * S);
    planner_bench_free(&planner);
}
END_TEST

/* An override replaces the ceiling, and still nobody is launched. */
START_TEST(no_launches_under_an_override_either)
{
    struct planner_bench planner;
    planner_seeded(&planner, "override", "50");
    planner_starts(&planner);
    planner_launches(&planner, 0, 0);
    planner.pacers[0].overloads_60 = 1;
    planner_passes(&planner, 1, 0, 0);
    planner_holds(&planner, 0, planner.now, "cooldown");
    ck_assert_double_eq(GAUGE(&planner, "ceiling"), 1);
    planner_bench_free(&planner);
}
END_TEST

/* To 0.85 of the rate admitted in the last minute, not below half of the seed, and only if that is lower. */
START_TEST(one_step_down_an_episode)
{
    static const struct {
        double tokens, calls, r_tok, r_qps;
    } cases[] = {{80000, 16, 68000, 13.6},      {58823, 11.7, 50000, 10}, {10000, 1, 50000, 10},
                 {117647, 23, 99999.95, 19.55}, {117648, 24, 100000, 20}, {150000, 10, 100000, 10}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct planner_bench planner;
        planner_seeded(&planner, "growth", "none");
        planner_starts(&planner);
        planner_passes(&planner, 4, cases[i].tokens, cases[i].calls);
        planner.pacers[0].overloads_60 = 3;
        planner_passes(&planner, 1, cases[i].tokens, cases[i].calls);
        ck_assert_double_eq_tol(planner.pacers[0].r_tok, cases[i].r_tok, 1e-6);
        ck_assert_double_eq_tol(planner.pacers[0].r_qps, cases[i].r_qps, 1e-9);
        ck_assert_double_eq(planner.pacers[0].k_inflight, SEED_IN_FLIGHT); /* never lowered */
        ck_assert_double_eq(planner.pacers[0].seed_r_tok, SEED_TOKENS);
        ck_assert_double_eq(GAUGE(&planner, "steps_down"), 1);
        if (cases[i].r_tok < SEED_TOKENS)
            ck_assert_double_eq(planner.pacers[0].seed_at, 75); /* fresh */
        planner_passes(&planner, 10, 1000, 1); /* the same episode: no second step, however little is admitted */
        ck_assert_double_eq_tol(planner.pacers[0].r_tok, cases[i].r_tok, 1e-6);
        planner.pacers[0].overloads_60 = 0;
        planner_passes(&planner, 2, 1000, 1);
        planner.pacers[0].overloads_60 = 1;
        planner_passes(&planner, 1, 1000, 1); /* 45 s later: still */
        ck_assert_double_eq(GAUGE(&planner, "steps_down"), 1);
        ck_assert_double_eq_tol(planner.pacers[0].r_tok, cases[i].r_tok, 1e-6);
        planner_bench_free(&planner);
    }
}
END_TEST

/* The cooldown ends at a tick; an overload seen at that very tick begins another episode. */
START_TEST(the_next_episode)
{
    struct planner_bench planner;
    planner_seeded(&planner, "growth", "none");
    planner_starts(&planner);
    planner_passes(&planner, 4, 80000, 16);
    planner.pacers[0].overloads_60 = 1;
    planner_passes(&planner, 1, 80000, 16); /* 68,000 */
    planner.pacers[0].overloads_60 = 0;
    planner_passes(&planner, 3, 70000, 14);
    planner.pacers[0].overloads_60 = 1;
    planner_passes(&planner, 1, 70000, 14); /* a minute later */
    ck_assert_double_eq(GAUGE(&planner, "steps_down"), 2);
    ck_assert_double_eq_tol(planner.pacers[0].r_tok, 59500, 1e-6); /* 0.85 x 70,000 */
    planner_bench_free(&planner);
}
END_TEST

/* However short the cooldown is: one step, as long as an overload is counted at each tick, and no growth meanwhile. */
START_TEST(an_episode_without_a_cooldown)
{
    static const char *const cooldowns[] = {"0 s", "10 s", "15 s"};
    for (size_t i = 0; i < 3; i++) {
        struct planner_bench planner;
        planner_seeded(&planner, "cooldown", cooldowns[i]);
        bench_set(&planner.bench, "override", "1000");
        planner_bench_begins(&planner);
        for (int k = 0; k < 130; k++)
            planner_launches(&planner, 0, 0);
        planner_ticks(&planner, 0);
        planner_passes(&planner, 1, 80000, 16);
        planner.pacers[0].overloads_60 = 1;
        planner_passes(&planner, 1, 80000, 16);
        ck_assert_double_eq_tol(planner.pacers[0].r_tok, 68000, 1e-6);
        planner_passes(&planner, 8, 60000, 16);
        ck_assert_double_eq(GAUGE(&planner, "steps_down"), 1);
        ck_assert_double_eq_tol(planner.pacers[0].r_tok, 68000, 1e-6);
        planner.pacers[0].overloads_60 = 0;
        planner_passes(&planner, 1, 60000, 16);
        planner.pacers[0].overloads_60 = 1;
        planner_passes(&planner, 1, 60000, 16); /* the next */
        ck_assert_double_eq(GAUGE(&planner, "steps_down"), 2);
        ck_assert_double_eq_tol(planner.pacers[0].r_tok, 51000, 1e-6);
        planner_bench_free(&planner);
    }
}
END_TEST

/* The minute is the last four ticks; before there is one, what has passed. */
START_TEST(the_rate_of_the_last_minute)
{
    struct planner_bench planner;
    planner_seeded(&planner, NULL, NULL);
    planner_starts(&planner);
    ck_assert(isnan(planner_cell(&planner, 0, "rate_tokens")));
    planner_passes(&planner, 1, 1000, 1);
    ck_assert_double_eq(planner_cell(&planner, 0, "rate_tokens"), 1000);
    planner_passes(&planner, 1, 2000, 3);
    ck_assert_double_eq(planner_cell(&planner, 0, "rate_tokens"), 1500);
    ck_assert_double_eq(planner_cell(&planner, 0, "rate_calls"), 2);
    planner_passes(&planner, 2, 4000, 4);
    ck_assert_double_eq(planner_cell(&planner, 0, "rate_tokens"), 2750);
    planner_passes(&planner, 1, 5000, 4); /* the first is forgotten */
    ck_assert_double_eq(planner_cell(&planner, 0, "rate_tokens"), 3750);
    ck_assert_double_eq(planner_cell(&planner, 0, "rate_calls"), 3.75);
    planner_passes(&planner, 40, 7000, 6);
    ck_assert_double_eq(planner_cell(&planner, 0, "rate_tokens"), 7000);
    planner_bench_free(&planner);
}
END_TEST

/* A pacer that does not count, or has admitted nothing: what the tasks are projected to send at their peak. */
START_TEST(without_an_admitted_rate)
{
    for (int counts = 0; counts < 2; counts++) {
        struct planner_bench planner;
        planner_seeded(&planner, NULL, NULL);
        if (!counts)
            planner.pacers[0].admitted = planner.pacers[0].admitted_tokens = NAN;
        planner.pacers[0].r_qps = planner.pacers[0].seed_r_qps = 100;
        planner_starts(&planner);
        for (int i = 0; i < 70; i++)
            planner_launches(&planner, 0, 0); /* 70,000 tokens/s and 70 calls/s */
        planner_passes(&planner, 1, 0, 0);
        ck_assert_double_eq(GAUGE(&planner, "arrival"), 70000);
        planner.pacers[0].overloads_60 = 1;
        planner_passes(&planner, 1, 0, 0);
        ck_assert_double_eq_tol(planner.pacers[0].r_tok, 59500, 1e-6);
        ck_assert_double_eq_tol(planner.pacers[0].r_qps, 59.5, 1e-9);
        planner_bench_free(&planner);
    }
    { /* nor a task: nothing to go by */
        struct planner_bench planner;
        planner_seeded(&planner, NULL, NULL);
        planner_starts(&planner);
        planner.pacers[0].overloads_60 = 1;
        planner_passes(&planner, 1, 0, 0);
        ck_assert_uint_eq(planner.pacers[0].sets, 0);
        planner_holds(&planner, 0, planner.now, "cooldown");
        planner_bench_free(&planner);
    }
}
END_TEST

/* --- waits ------------------------------------------------------------------------------------------------------- */

/* Of the calls of the last minute: 40 a tick here. */
START_TEST(slow_calls_block_launches)
{
    struct planner_bench planner;
    planner_seeded(&planner, NULL, NULL);
    planner_starts(&planner);
    planner_passes(&planner, 1, 1000, 40.0 / 15);
    planner.pacers[0].slow += 4;
    planner_passes(&planner, 1, 1000, 40.0 / 15); /* 4 of 80: 5 %, not more */
    planner_launches(&planner, 0, planner.now);
    planner.pacers[0].slow += 3;
    planner_passes(&planner, 1, 1000, 40.0 / 15); /* 7 of 120 */
    planner_holds(&planner, 0, planner.now, "paced");
    ck_assert_str_eq(planner_word(&planner, 0, "hold"), "paced");
    ck_assert_double_eq(GAUGE(&planner, "blocked"), 1);
    ck_assert_double_eq(GAUGE(&planner, "ceiling"), 1); /* that there is */
    planner_passes(&planner, 1, 1000, 40.0 / 15);       /* 7 of 160: a clean tick */
    planner_holds(&planner, 0, planner.now, "paced");
    planner.pacers[0].slow += 2;
    planner_passes(&planner, 1, 1000, 40.0 / 15); /* 9 of 160: the count begins anew */
    planner_passes(&planner, 1, 1000, 40.0 / 15); /* 5 of 160: the first four are forgotten */
    planner_holds(&planner, 0, planner.now, "paced");
    planner_passes(&planner, 1, 1000, 40.0 / 15); /* the second clean one */
    planner_launches(&planner, 0, planner.now);
    ck_assert_double_eq(GAUGE(&planner, "blocked"), 0);
    ck_assert_uint_eq(planner.pacers[0].sets, 0); /* no budget has moved */
    planner_bench_free(&planner);
}
END_TEST

START_TEST(an_expired_hold_blocks_launches)
{
    struct planner_bench planner;
    planner_seeded(&planner, NULL, NULL);
    planner_starts(&planner);
    planner.pacers[0].expired = 1;
    planner_passes(&planner, 1, 1000, 1000); /* at 15 s */
    planner_holds(&planner, 0, planner.now, "paced");
    planner_passes(&planner, 4, 1000, 1000); /* at 75 s it is more than a minute ago */
    planner_holds(&planner, 0, planner.now, "paced");
    planner_passes(&planner, 1, 1000, 1000);
    planner_launches(&planner, 0, planner.now);
    planner_bench_free(&planner);
}
END_TEST

START_TEST(a_head_that_waits_blocks_launches)
{
    struct planner_bench planner;
    planner_seeded(&planner, NULL, NULL);
    planner_starts(&planner);
    planner.pacers[0].head_wait = 5; /* not more */
    planner_passes(&planner, 1, 1000, 1);
    planner_launches(&planner, 0, planner.now);
    planner.pacers[0].head_wait = 5.000000001;
    planner_passes(&planner, 1, 1000, 1);
    planner_holds(&planner, 0, planner.now, "paced");
    planner.pacers[0].head_wait = 0;
    planner_passes(&planner, 2, 1000, 1);
    planner_launches(&planner, 0, planner.now);
    planner_bench_free(&planner);
}
END_TEST

/* A cooldown goes before. */
START_TEST(the_order_of_holds)
{
    struct planner_bench planner;
    planner_seeded(&planner, "static_cap", "0");
    planner_starts(&planner);
    planner_holds(&planner, 0, 0, "static_cap");
    planner.pacers[0].expired = 1;
    planner_passes(&planner, 1, 1000, 1);
    planner_holds(&planner, 0, planner.now, "paced");
    planner.pacers[0].overloads_60 = 1;
    planner_passes(&planner, 1, 1000, 1);
    planner_holds(&planner, 0, planner.now, "cooldown");
    planner_bench_free(&planner);
}
END_TEST

Suite *planner_aimd_suite(void)
{
    Suite *suite = suite_create("planner_aimd");
    TCase *test = tcase_create("planner_aimd");
    tcase_add_test(test, an_overload_starts_a_cooldown);
    tcase_add_test(test, no_launches_under_an_override_either);
    tcase_add_test(test, one_step_down_an_episode);
    tcase_add_test(test, the_next_episode);
    tcase_add_test(test, an_episode_without_a_cooldown);
    tcase_add_test(test, the_rate_of_the_last_minute);
    tcase_add_test(test, without_an_admitted_rate);
    tcase_add_test(test, slow_calls_block_launches);
    tcase_add_test(test, an_expired_hold_blocks_launches);
    tcase_add_test(test, a_head_that_waits_blocks_launches);
    tcase_add_test(test, the_order_of_holds);
    suite_add_tcase(suite, test);
    return suite;
}
