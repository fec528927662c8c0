/* test_planner_demand.c - the planner's ceiling of a gate by hand: margins, the horizon, the largest extra, stale
 * seeds, and what binds. */
#include <check.h>
#include <math.h>

#include "tests/planner_bench.h"
#include "tests/suites.h"

#define CELL(planner, column) planner_cell(&(planner), 0, column)
#define WORD(planner, column) planner_word(&(planner), 0, column)
#define POOL_SEEDS 105000, 2023500, 1.48

static void close_at(int line, double found, double expected)
{
    ck_assert_msg(fabs(found - expected) <= 1e-9 * (fabs(expected) + 1), "line %d: %.17g, expected %.17g", line, found,
                  expected);
}
#define CLOSE(found, expected) close_at(__LINE__, found, expected)

/* The ceiling of an empty gate with these budgets. */
static double ceiling(struct planner_bench *planner, double r_tok, double k_inflight, double r_qps)
{
    planner_bench_seeds(planner, 0, r_tok, k_inflight, r_qps);
    planner_ticks(planner, planner->now);
    return planner_cell(planner, 0, "gate_ceiling");
}

static void thousand(struct planner_bench *planner)
{
    planner_bench_init(planner, THOUSAND, NULL);
}

/* --- the ceiling ------------------------------------------------------------------------------------------------- */

/* A task asks for 1,000 tokens/s, 2,000 in flight and a call a second, at each step. */
START_TEST(margins_at_their_edges)
{
    struct planner_bench planner;
    thousand(&planner);
    planner_bench_begins(&planner);
    ck_assert_double_eq(ceiling(&planner, 10000, INFINITY, INFINITY), 9); /* 0.90 x 10,000 = 9 x 1,000 */
    ck_assert_str_eq(WORD(planner, "axis"), "tokens");
    ck_assert_str_eq(WORD(planner, "binding"), "tokens");
    ck_assert_double_eq(ceiling(&planner, 9999, INFINITY, INFINITY), 8);
    ck_assert_double_eq(ceiling(&planner, INFINITY, 20000, INFINITY), 9); /* 0.90 x 20,000 = 9 x 2,000 */
    ck_assert_str_eq(WORD(planner, "axis"), "in_flight");
    ck_assert_double_eq(ceiling(&planner, INFINITY, 19999, INFINITY), 8);
    ck_assert_double_eq(ceiling(&planner, INFINITY, INFINITY, 20), 17); /* 0.85 x 20 = 17 x 1 */
    ck_assert_str_eq(WORD(planner, "axis"), "requests");
    ck_assert_double_eq(ceiling(&planner, INFINITY, INFINITY, 19.99), 16);
    /* the one that binds first; all at once: in their order */
    ck_assert_double_eq(ceiling(&planner, 10000, 19999, 20), 8);
    ck_assert_str_eq(WORD(planner, "axis"), "in_flight");
    ck_assert_double_eq(ceiling(&planner, 10000, 20000, 10.9), 9);
    ck_assert_str_eq(WORD(planner, "axis"), "tokens");
    ck_assert_double_eq(ceiling(&planner, 10001, 20000, 10.9), 9);
    ck_assert_str_eq(WORD(planner, "axis"), "tokens");
    ck_assert_double_eq(ceiling(&planner, 12000, 20000, 10.9), 9);
    ck_assert_str_eq(WORD(planner, "axis"), "in_flight");
    planner_bench_free(&planner);
}
END_TEST

/* It counts on from the tasks there are, and goes no further than 400. */
START_TEST(the_largest_extra)
{
    struct planner_bench planner;
    thousand(&planner);
    struct task *task;
    planner_bench_begins(&planner);
    ck_assert_double_eq(ceiling(&planner, 1e9, INFINITY, INFINITY), 400);
    ck_assert_str_eq(WORD(planner, "binding"), "most_extra");
    ck_assert_str_eq(WORD(planner, "axis"), "none");
    ck_assert_double_eq(ceiling(&planner, INFINITY, INFINITY, 399.0 / 0.85 + 1e-9), 399);
    ck_assert_str_eq(WORD(planner, "binding"), "requests");
    ck_assert_double_eq(ceiling(&planner, INFINITY, INFINITY, 6.0 / 0.85 + 1e-9), 6);
    ck_assert_double_eq(ceiling(&planner, INFINITY, INFINITY, 4.0 / 0.85 + 1e-9), 4);
    ck_assert_double_eq(ceiling(&planner, 1e9, INFINITY, INFINITY), 400);
    planner_launches(&planner, 0, 0);
    task = planner_launches(&planner, 0, 0);
    planner_turns(&planner, task, 0);
    ck_assert_double_eq(ceiling(&planner, 1e9, INFINITY, INFINITY), 402); /* fleet 1, booting 1, 400 more */
    ck_assert_double_eq(CELL(planner, "running"), 1);
    ck_assert_double_eq(CELL(planner, "booting"), 1);
    ck_assert_double_eq(ceiling(&planner, 10000, INFINITY, INFINITY), 9); /* 2 and 7 more */
    ck_assert_double_eq(CELL(planner, "extra"), 7);
    ck_assert_double_eq(ceiling(&planner, 1000, INFINITY, INFINITY), 2); /* more than fits: nobody is killed */
    ck_assert_double_eq(CELL(planner, "extra"), 0);
    ck_assert(isinf(ceiling(&planner, INFINITY, INFINITY, INFINITY))); /* inf: none */
    ck_assert_double_eq(bench_gauge(&planner.bench, "ceiling"), (double)INFINITY);
    planner_bench_free(&planner);
}
END_TEST

START_TEST(the_largest_extra_is_a_parameter)
{
    struct planner_bench planner;
    planner_bench_init(&planner, THOUSAND, "most_extra", "7", NULL);
    planner_bench_begins(&planner);
    ck_assert_double_eq(ceiling(&planner, 1e9, INFINITY, INFINITY), 7);
    ck_assert_str_eq(WORD(planner, "binding"), "most_extra");
    planner_bench_free(&planner);
}
END_TEST

/* 0, 5, ..., 90 minutes: 3 turns a step, so 1,000 tokens grow to 6,400 at 54 turns; at 85 minutes it is 6,100. */
START_TEST(every_step_of_the_horizon)
{
    struct planner_bench planner;
    planner_bench_init(&planner, THOUSAND, "b", "100", "period", "100 s", NULL);
    planner_bench_begins(&planner);
    ck_assert_double_eq(ceiling(&planner, 640 / 0.9 + 1e-9, INFINITY, INFINITY), 10);  /* 64 tokens/s each */
    ck_assert_double_eq(ceiling(&planner, 630 / 0.9, INFINITY, INFINITY), 9);          /* 10.3 at 85 minutes */
    ck_assert_double_eq(ceiling(&planner, INFINITY, 1280 / 0.9 + 1e-9, INFINITY), 10); /* in flight 128 */
    ck_assert_double_eq(ceiling(&planner, INFINITY, 1260 / 0.9, INFINITY), 9);
    planner_launches(&planner, 0, 0);
    ceiling(&planner, 1000, INFINITY, INFINITY);
    CLOSE(CELL(planner, "arrival"), 10);
    CLOSE(CELL(planner, "peak"), 64);
    CLOSE(CELL(planner, "peak_in"), 5400);
    CLOSE(CELL(planner, "in_flight"), 20);
    CLOSE(CELL(planner, "in_flight_peak"), 128);
    CLOSE(CELL(planner, "calls"), 0.01);
    CLOSE(CELL(planner, "calls_peak"), 0.01);
    planner_bench_free(&planner);
}
END_TEST

/* The axis is that of the earliest step that is broken: calls at once, before the tokens of later turns. */
START_TEST(the_first_axis_to_break)
{
    struct planner_bench planner;
    planner_bench_init(&planner, THOUSAND, "b", "100", "period", "100 s", NULL);
    planner_bench_begins(&planner);
    ck_assert_double_eq(ceiling(&planner, 640 / 0.9 + 1e-9, INFINITY, 0.1 / 0.85 + 1e-9), 10);
    ck_assert_str_eq(WORD(planner, "axis"), "requests");
    ck_assert_double_eq(ceiling(&planner, 640 / 0.9 + 1e-9, INFINITY, 0.11 / 0.85 + 1e-9), 10);
    ck_assert_str_eq(WORD(planner, "axis"), "tokens");
    planner_bench_free(&planner);
}
END_TEST

START_TEST(prompts_end_at_their_most)
{
    struct planner_bench planner;
    planner_bench_init(&planner, THOUSAND, "a", "235k", "b", "1000", NULL);
    planner_bench_begins(&planner);
    ck_assert_double_eq(ceiling(&planner, 2 * 235929 / 0.9 + 1e-6, INFINITY, INFINITY), 2);
    ck_assert_double_eq(ceiling(&planner, 2 * 235928.9 / 0.9, INFINITY, INFINITY), 1);
    planner_bench_free(&planner);
}
END_TEST

START_TEST(cached_tokens_weigh_less)
{
    struct planner_bench planner;
    planner_bench_init(&planner, THOUSAND, "cached_share", "80%", NULL);
    planner.pacers[0].cached_weight = 0.25;
    planner_bench_begins(&planner);
    planner_launches(&planner, 0, 0);
    ceiling(&planner, 10000, 20000, 20);
    CLOSE(CELL(planner, "arrival"), 400); /* 1 - 0.8 (1 - 0.25) = 0.4 */
    CLOSE(CELL(planner, "in_flight"), 2000);
    ck_assert_double_eq(ceiling(&planner, 4000 / 0.9 + 1e-9, INFINITY, INFINITY), 10);
    ck_assert_double_eq(ceiling(&planner, INFINITY, 20000, INFINITY), 9);
    planner.pacers[0].cached_weight = NAN; /* a pacer without: all at full price */
    ceiling(&planner, 10000, 20000, 20);
    CLOSE(CELL(planner, "arrival"), 1000);
    planner_bench_free(&planner);
}
END_TEST

/* --- seeds ------------------------------------------------------------------------------------------------------- */

START_TEST(margins_of_a_stale_seed_halve)
{
    struct planner_bench planner;
    thousand(&planner);
    planner_bench_begins(&planner);
    planner.now = 6 * 3600 * S; /* and its seed is of 0 */
    ck_assert_double_eq(ceiling(&planner, 20000, INFINITY, INFINITY), 18);
    ck_assert_double_eq(CELL(planner, "seed_age"), 21600);
    planner.now += 1;
    ck_assert_double_eq(ceiling(&planner, 20000, INFINITY, INFINITY), 9);
    ck_assert_double_eq(ceiling(&planner, INFINITY, 40000, INFINITY), 9);
    ck_assert_double_eq(ceiling(&planner, INFINITY, INFINITY, 40), 17);
    planner.now = 0;
    planner.pacers[0].seed_at = -21600; /* old when all began */
    ck_assert_double_eq(ceiling(&planner, 20000, INFINITY, INFINITY), 18);
    planner.pacers[0].seed_at = -21601;
    ck_assert_double_eq(ceiling(&planner, 20000, INFINITY, INFINITY), 9);
    planner.pacers[0].seed_at = (double)-INFINITY;
    ck_assert_double_eq(ceiling(&planner, 20000, INFINITY, INFINITY), 9);
    ck_assert(isinf(CELL(planner, "seed_age")));
    planner.pacers[0].seed_at = NAN; /* a pacer that cannot tell */
    ck_assert_double_eq(ceiling(&planner, 20000, INFINITY, INFINITY), 9);
    planner_bench_free(&planner);
}
END_TEST

/* What a gate of opencode on laguna carries. A task's calls are one in 4.54 s = 0.2203/s. From turn 354 on, after 27
 * minutes, each has the full 235,929 tokens, so by tokens it is 51,967/s at full price, and latency is
 * 0.577 + 185 x 0.00631 = 1.744 s, so 90,648 tokens are in flight. */
START_TEST(opencode_on_laguna)
{
    struct planner_bench planner;
    planner_bench_init(&planner, NULL);
    planner_bench_begins(&planner);
    /* The default seeds at full price: 51,967 > 0.90 x 20,000 = 18,000, first at 10 minutes:
     * (17,784 + 616 x 132.2) / 4.54 = 21,850. */
    ck_assert_double_eq(ceiling(&planner, 20000, 1e6, 1.5), 0);
    ck_assert_str_eq(WORD(planner, "axis"), "tokens");
    planner_bench_free(&planner);

    /* The seeds that work, cached share 0.963 at weight 0.1, so a token weighs 1 - 0.963 x 0.9 = 0.1333:
     *   tokens     51,967 x 0.1333 = 6,927; 94,500 / 6,927 = 13.6
     *   in flight  0.90 x 2,023,500 / 90,648 = 20.1
     *   requests   0.85 x 1.48 / 0.2203 = 5.7, which binds. */
    planner_bench_init(&planner, "cached_share", "0.963", NULL);
    planner.pacers[0].cached_weight = 0.1;
    planner_bench_begins(&planner);
    ck_assert_double_eq(ceiling(&planner, POOL_SEEDS), 5);
    ck_assert_str_eq(WORD(planner, "axis"), "requests");
    ck_assert_double_eq(ceiling(&planner, 105000, INFINITY, INFINITY), 13);
    ck_assert_double_eq(ceiling(&planner, INFINITY, 2023500, INFINITY), 20);
    /* 50 requests a minute: 0.85 x 0.8333 / 0.2203 = 3.2 */
    ck_assert_double_eq(ceiling(&planner, 105000, 2023500, 50.0 / 60), 3);
    ck_assert_str_eq(WORD(planner, "axis"), "requests");
    CLOSE(0.85 * (50.0 / 60) * 4.54, 3.2158333333333333);
    ck_assert_double_eq(ceiling(&planner, INFINITY, INFINITY, 3 / 4.54 / 0.85 + 1e-9), 3);
    ck_assert_double_eq(ceiling(&planner, INFINITY, INFINITY, 3 / 4.54 / 0.85 - 1e-9), 2);
    planner.pacers[0].seed_at = (double)-INFINITY; /* 5.7 / 2 */
    ck_assert_double_eq(ceiling(&planner, POOL_SEEDS), 2);
    planner_bench_free(&planner);
}
END_TEST

Suite *planner_demand_suite(void)
{
    Suite *suite = suite_create("planner_demand");
    TCase *test = tcase_create("planner_demand");
    tcase_add_test(test, margins_at_their_edges);
    tcase_add_test(test, the_largest_extra);
    tcase_add_test(test, the_largest_extra_is_a_parameter);
    tcase_add_test(test, every_step_of_the_horizon);
    tcase_add_test(test, the_first_axis_to_break);
    tcase_add_test(test, prompts_end_at_their_most);
    tcase_add_test(test, cached_tokens_weigh_less);
    tcase_add_test(test, margins_of_a_stale_seed_halve);
    tcase_add_test(test, opencode_on_laguna);
    suite_add_tcase(suite, test);
    return suite;
}
