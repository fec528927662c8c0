/* test_planner_growth.c - what the planner does with peaks that pass, how far it goes, and with several aliases. Its
 * pacers are stand-ins, so each signal comes when the test says. */
#include <check.h>
#include <math.h>

#include "tests/planner_bench.h"
#include "tests/suites.h"

#define GAUGE(planner, name) bench_gauge(&(planner)->bench, name)

/* --- growth ------------------------------------------------------------------------------------------------------ */

/* A minute without an overload. */
static void clean_window(struct planner_bench *planner)
{
    planner_passes(planner, 4, 50000, 10);
}

/* So many tasks, of 1,000 tokens/s each. */
static void launch(struct planner_bench *planner, uint32_t gate, int tasks)
{
    for (int i = 0; i < tasks; i++)
        planner_launches(planner, gate, planner->now);
}

/* 130 tasks that there is no room for, and budgets at this share of the seeds; its peak is armed. */
static void climber(struct planner_bench *planner, double share, const char *key, const char *text)
{
    planner_seeded(planner, key, text);
    bench_set(&planner->bench, "override", "1000");
    planner->pacers[0].r_tok = share * SEED_TOKENS;
    planner_bench_begins(planner);
    launch(planner, 0, 130);
    planner_ticks(planner, 0);
}

START_TEST(a_clean_window_is_a_step_up)
{
    struct planner_bench planner;
    climber(&planner, 1, NULL, NULL);
    ck_assert_double_eq(planner_cell(&planner, 0, "armed"), 60);
    planner_passes(&planner, 3, 50000, 10);
    ck_assert_uint_eq(planner.pacers[0].sets, 0);
    planner_passes(&planner, 1, 50000, 10); /* a minute after it was armed */
    ck_assert_double_eq_tol(planner.pacers[0].r_tok, 105000, 1e-6);
    ck_assert_double_eq(planner.pacers[0].k_inflight, 2100000);
    ck_assert_double_eq_tol(planner.pacers[0].r_qps, 21, 1e-9);
    ck_assert_double_eq(planner.pacers[0].seed_r_tok, SEED_TOKENS);
    ck_assert_double_eq(GAUGE(&planner, "steps_up"), 1);
    ck_assert_double_eq(GAUGE(&planner, "r_tok"), planner.pacers[0].r_tok);
    ck_assert_double_eq(planner_cell(&planner, 0, "armed"), 60); /* the next */
    planner_bench_free(&planner);
}
END_TEST

/* arrival > 0.8 x 0.9 x r_tok = 72,000, when it is armed and when it has passed. */
START_TEST(an_idle_window_is_none)
{
    for (int busy = 0; busy < 2; busy++) {
        struct planner_bench planner;
        planner_seeded(&planner, "override", "1000");
        planner_bench_begins(&planner);
        launch(&planner, 0, 72 + busy);
        planner_ticks(&planner, 0);
        ck_assert_int_eq(isnan(planner_cell(&planner, 0, "armed")), !busy);
        clean_window(&planner);
        ck_assert_double_eq_tol(planner.pacers[0].r_tok, busy ? 105000 : 100000, 1e-6);
        planner_bench_free(&planner);
    }
    for (int busy = 0; busy < 2; busy++) { /* 0.5 x 0.9 x 100,000: 45 tasks are not more */
        struct planner_bench planner;
        planner_seeded(&planner, "busy_share", "0.5");
        bench_set(&planner.bench, "override", "1000");
        planner_bench_begins(&planner);
        launch(&planner, 0, 45 + busy);
        planner_ticks(&planner, 0);
        ck_assert_int_eq(isnan(planner_cell(&planner, 0, "armed")), !busy);
        planner_bench_free(&planner);
    }
    {
        struct planner_bench planner;
        planner_seeded(&planner, "override", "1000");
        struct task *last;
        planner_bench_begins(&planner);
        launch(&planner, 0, 72);
        last = planner_launches(&planner, 0, 0);
        planner_ticks(&planner, 0);
        planner_ends(&planner, last, true);
        clean_window(&planner);
        ck_assert_uint_eq(planner.pacers[0].sets, 0);
        ck_assert(isnan(planner_cell(&planner, 0, "armed")));
        planner_bench_free(&planner);
    }
}
END_TEST

/* An overload disarms: whatever the peak is, another minute has to pass from the end of the cooldown on. */
START_TEST(an_overload_disarms)
{
    struct planner_bench planner;
    climber(&planner, 1, NULL, NULL);
    planner_passes(&planner, 2, 100000, 19);
    planner.pacers[0].overloads_60 = 1;
    planner_passes(&planner, 1, 80000, 19); /* at 45 s: until 105 s */
    planner.pacers[0].overloads_60 = 0;
    ck_assert(isnan(planner_cell(&planner, 0, "armed")));
    planner_passes(&planner, 3, 60000, 17);
    ck_assert(isnan(planner_cell(&planner, 0, "armed")));
    planner_passes(&planner, 1, 60000, 17);
    ck_assert_double_eq(planner_cell(&planner, 0, "armed"), 60);
    planner_passes(&planner, 3, 60000, 17);
    ck_assert_double_eq(GAUGE(&planner, "steps_up"), 0);
    ck_assert_double_eq_tol(planner.pacers[0].r_tok, 0.85 * 280000 / 3, 1e-6);
    planner_passes(&planner, 1, 60000, 17); /* at 165 s */
    ck_assert_double_eq(GAUGE(&planner, "steps_up"), 1);
    ck_assert_double_eq_tol(planner.pacers[0].r_tok, 1.05 * 0.85 * 280000 / 3, 1e-6);
    planner_bench_free(&planner);
}
END_TEST

/* A fleet that grows: its peak is waited for, and is none unless the tasks have come to it by then. Prompts grow up to
 * 54 turns, 90 minutes from now. At turn 42 they send 14 x 5,200 / 100 = 728 tokens/s, at turn 41 714, and 720 are
 * needed. */
START_TEST(the_peak_is_waited_for)
{
    static const struct {
        const char *most;
        int minutes;
        uint64_t turn; /* that the tasks have come to */
        bool proves;
    } cases[] = {
        {"90 min", 90, 54, true}, {"20 min", 20, 42, true}, {"90 min", 90, 41, false}, {"20 min", 20, 12, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct planner_bench planner;
        struct task *tasks[14];
        policy_time due = cases[i].minutes * 60 * S;
        planner_bench_init(&planner, THOUSAND, "b", "100", "period", "100 s", "peak_most", cases[i].most, NULL);
        planner_bench_seeds(&planner, 0, 1000, INFINITY, INFINITY);
        planner_bench_begins(&planner);
        for (int k = 0; k < 14; k++)
            tasks[k] = planner_launches(&planner, 0, 0); /* 896 tokens/s at their peak */
        planner_ticks(&planner, 0);
        ck_assert_double_eq(planner_cell(&planner, 0, "armed"),
                            cases[i].minutes == 90 ? planner_cell(&planner, 0, "peak_in") : 1200);
        while (planner.now + PLANNER_TICK < due)
            planner_passes(&planner, 1, 800, 1);
        ck_assert_uint_eq(planner.pacers[0].sets, 0);
        for (int k = 0; k < 14; k++)
            planner_turns(&planner, tasks[k], cases[i].turn);
        planner_passes(&planner, 1, 800, 1);
        ck_assert_double_eq_tol(planner.pacers[0].r_tok, cases[i].proves ? 1050 : 1000, 1e-9);
        planner_bench_free(&planner);
    }
}
END_TEST

/* 0.5 x 1.05^14 = 0.99, 0.5 x 1.05^15 = 1.04 */
START_TEST(fifteen_windows_from_half_of_the_seed)
{
    struct planner_bench planner;
    climber(&planner, 0.5, NULL, NULL);
    for (int i = 0; i < 14; i++)
        clean_window(&planner);
    ck_assert_double_lt(planner.pacers[0].r_tok, SEED_TOKENS);
    clean_window(&planner);
    ck_assert_double_ge(planner.pacers[0].r_tok, SEED_TOKENS);
    ck_assert_double_eq_tol(planner.pacers[0].r_tok / SEED_TOKENS, 1.0394640897, 1e-9);
    planner_bench_free(&planner);
}
END_TEST

/* 1.05^8 = 1.477, 1.05^9 = 1.551 */
START_TEST(eight_windows_from_the_seed)
{
    struct planner_bench planner;
    climber(&planner, 1, NULL, NULL);
    for (int i = 0; i < 8; i++)
        clean_window(&planner);
    ck_assert_double_eq_tol(planner.pacers[0].r_tok / SEED_TOKENS, 1.4774554438, 1e-9);
    clean_window(&planner);
    ck_assert_double_eq_tol(planner.pacers[0].r_tok / SEED_TOKENS, 1.4774554438, 1e-9);
    ck_assert_double_eq_tol(planner.pacers[0].r_qps / SEED_CALLS, 1.4774554438, 1e-9); /* refused as a whole */
    ck_assert_double_eq(GAUGE(&planner, "steps_up"), 8);
    planner_bench_free(&planner);
}
END_TEST

/* 0.5 x 1.05^22 = 1.463, 0.5 x 1.05^23 = 1.536; k_inflight, which nothing lowers, and r_qps, which was not lowered
 * here, are then 1.05^22 = 2.925 times their seeds, or with bounds of all at 1.05^8. */
START_TEST(one_climb_from_half_of_the_seed)
{
    static const char *const bounds[] = {"published", "all"};
    for (int i = 0; i < 2; i++) {
        struct planner_bench planner;
        climber(&planner, 0.5, "bounds", bounds[i]);
        double others = i == 0 ? 2.9252607199 : 1.4774554438;
        for (int k = 0; k < 30; k++) {
            clean_window(&planner);
            ck_assert_double_eq(GAUGE(&planner, "steps_up"), k < 22 ? k + 1 : 22);
        }
        ck_assert_double_eq_tol(planner.pacers[0].r_tok / SEED_TOKENS, 1.4626303599, 1e-9);
        ck_assert_double_eq_tol(planner.pacers[0].k_inflight / SEED_IN_FLIGHT, others, 1e-5);
        ck_assert_double_eq_tol(planner.pacers[0].r_qps / SEED_CALLS, others, 1e-9);
        planner_bench_free(&planner);
    }
}
END_TEST

/* 1.5 x the seed itself is not past it. */
START_TEST(the_bound_is_no_further)
{
    struct planner_bench planner;
    climber(&planner, 1, "step_up", "1.5");
    clean_window(&planner);
    ck_assert_double_eq(planner.pacers[0].r_tok, 150000);
    clean_window(&planner);
    ck_assert_double_eq(planner.pacers[0].r_tok, 150000);
    ck_assert_double_eq(GAUGE(&planner, "steps_up"), 1);
    planner_bench_free(&planner);
}
END_TEST

START_TEST(variants_of_growth)
{
    static const struct {
        const char *growth;
        double share; /* of the seed, after ten windows */
        bool goes_on; /* after an overload */
    } cases[] = {{"bounded", 1.4774554438, true},
                 {"unbounded", 1.6288946268, true},
                 {"to_first_429", 1.6288946268, false},
                 {"none", 1, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct planner_bench planner;
        climber(&planner, 1, "growth", cases[i].growth);
        double lowered;
        for (int k = 0; k < 10; k++)
            clean_window(&planner);
        ck_assert_double_eq_tol(planner.pacers[0].r_tok / SEED_TOKENS, cases[i].share, 1e-9);
        planner.pacers[0].overloads_60 = 1;
        planner_passes(&planner, 1, 50000, 10);
        planner.pacers[0].overloads_60 = 0;
        lowered = planner.pacers[0].r_tok;
        ck_assert_double_lt(lowered, SEED_TOKENS * cases[i].share);
        for (int k = 0; k < 3; k++)
            clean_window(&planner);
        if (cases[i].goes_on)
            ck_assert_double_gt(planner.pacers[0].r_tok, lowered);
        else
            ck_assert_double_eq(planner.pacers[0].r_tok, lowered);
        planner_bench_free(&planner);
    }
}
END_TEST

/* --- off --------------------------------------------------------------------------------------------------------- */

START_TEST(without_aimd_nothing_reacts)
{
    struct planner_bench planner;
    climber(&planner, 1, "aimd", "false");
    for (int i = 0; i < 3; i++)
        clean_window(&planner);
    planner.pacers[0].overloads_60 = planner.pacers[0].expired = planner.pacers[0].slow = 5;
    clean_window(&planner);
    ck_assert_uint_eq(planner.pacers[0].sets, 0);
    planner_launches(&planner, 0, planner.now);
    ck_assert_str_eq(planner_word(&planner, 0, "hold"), "none");
    planner_bench_free(&planner);
}
END_TEST

/* --- aliases ----------------------------------------------------------------------------------------------------- */

static void two_climbers(struct planner_bench *planner, int second)
{
    planner_seeded(planner, "override", "1000");
    planner->gates = 2;
    planner_bench_begins(planner);
    launch(planner, 0, 130);
    launch(planner, 1, second);
    planner_ticks(planner, 0);
}

START_TEST(one_alias_grows_at_a_time)
{
    struct planner_bench planner;
    two_climbers(&planner, 130);
    ck_assert_double_eq(planner_cell(&planner, 0, "armed"), 60);
    ck_assert(isnan(planner_cell(&planner, 1, "armed")));
    clean_window(&planner);
    ck_assert_double_eq_tol(planner.pacers[0].r_tok, 105000, 1e-6);
    ck_assert_double_eq(planner.pacers[1].r_tok, 100000);
    ck_assert_double_eq(planner_cell(&planner, 1, "armed"), 60); /* the other's turn */
    clean_window(&planner);
    ck_assert_double_eq_tol(planner.pacers[0].r_tok, 105000, 1e-6);
    ck_assert_double_eq_tol(planner.pacers[1].r_tok, 105000, 1e-6);
    clean_window(&planner);
    ck_assert_double_eq_tol(planner.pacers[0].r_tok, 110250, 1e-6);
    planner_bench_free(&planner);
    two_climbers(&planner, 10); /* an idle one does not hold the other up */
    clean_window(&planner);
    clean_window(&planner);
    ck_assert_double_eq_tol(planner.pacers[0].r_tok, 110250, 1e-6);
    ck_assert_uint_eq(planner.pacers[1].sets, 0);
    planner_bench_free(&planner);
}
END_TEST

/* Aliases share a pool: nobody is launched, and who was overloaded when the episode began is lowered. */
START_TEST(an_overload_of_one_alias)
{
    struct planner_bench planner;
    two_climbers(&planner, 130);
    planner_passes(&planner, 2, 60000, 10);
    planner.pacers[1].overloads_60 = 1;
    planner_passes(&planner, 1, 60000, 10);
    ck_assert_uint_eq(planner.pacers[0].sets, 0);
    ck_assert_double_eq_tol(planner.pacers[1].r_tok, 100000, 1e-6); /* 0.85 x 130,000 projected is more */
    planner.pacers[0].overloads_60 = 1;
    planner.pacers[1].admitted_tokens += 30 * 60000;
    planner_passes(&planner, 1, 60000, 10); /* late for this episode */
    ck_assert_uint_eq(planner.pacers[0].sets + planner.pacers[1].sets, 0);
    planner_holds(&planner, 0, planner.now, "cooldown");
    planner_holds(&planner, 1, planner.now, "cooldown");
    ck_assert_double_eq(GAUGE(&planner, "steps_down"), 1);
    planner.pacers[0].overloads_60 = planner.pacers[1].overloads_60 = 0;
    planner_passes(&planner, 3, 60000, 10);
    planner.pacers[0].overloads_60 = planner.pacers[1].overloads_60 = 1;
    planner.pacers[1].admitted_tokens += 60 * 70000;
    planner_passes(&planner, 1, 60000, 10); /* the next: both */
    ck_assert_double_eq_tol(planner.pacers[0].r_tok, 51000, 1e-6);
    ck_assert_double_eq_tol(planner.pacers[1].r_tok, 59500, 1e-6);
    ck_assert_double_eq(GAUGE(&planner, "steps_down"), 3);
    planner_bench_free(&planner);
}
END_TEST

/* Of one alias, and nobody is launched at the other. */
START_TEST(waits_of_one_alias)
{
    struct planner_bench planner;
    two_climbers(&planner, 1);
    planner.pacers[1].expired = 1;
    planner_passes(&planner, 1, 60000, 10);
    planner_holds(&planner, 0, planner.now, "paced");
    planner_holds(&planner, 1, planner.now, "paced");
    planner_bench_free(&planner);
}
END_TEST

Suite *planner_growth_suite(void)
{
    Suite *suite = suite_create("planner_growth");
    TCase *test = tcase_create("planner_growth");
    tcase_add_test(test, a_clean_window_is_a_step_up);
    tcase_add_test(test, an_idle_window_is_none);
    tcase_add_test(test, an_overload_disarms);
    tcase_add_test(test, the_peak_is_waited_for);
    tcase_add_test(test, fifteen_windows_from_half_of_the_seed);
    tcase_add_test(test, eight_windows_from_the_seed);
    tcase_add_test(test, one_climb_from_half_of_the_seed);
    tcase_add_test(test, the_bound_is_no_further);
    tcase_add_test(test, variants_of_growth);
    tcase_add_test(test, without_aimd_nothing_reacts);
    tcase_add_test(test, one_alias_grows_at_a_time);
    tcase_add_test(test, an_overload_of_one_alias);
    tcase_add_test(test, waits_of_one_alias);
    suite_add_tcase(suite, test);
    return suite;
}
