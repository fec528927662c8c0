/* test_planner.c - the planner at the door: what it counts, sums over gates, override and caps, holds, launches. */
#include <check.h>
#include <math.h>

#include "tests/planner_bench.h"
#include "tests/suites.h"

#define GAUGE(planner, name) bench_gauge(&(planner).bench, name)

/* `gates` gates, each with room for so many tasks by its requests. */
static void gates(struct planner_bench *planner, uint32_t count, double first, double second, double third)
{
    const double rooms[] = {first, second, third};
    planner_bench_init(planner, THOUSAND, NULL);
    planner->gates = count;
    for (uint32_t i = 0; i < count; i++)
        planner_bench_seeds(planner, i, INFINITY, INFINITY, rooms[i] / 0.85 + 1e-9);
}

/* As a live parameter is set. */
static void operator_sets(struct planner_bench *planner, const char *key, const char *text)
{
    bench_set(&planner->bench, key, text);
    planner->bench.ops->changed(&planner->bench.self, planner->now, key, POLICY_BY_OPERATOR);
}

/* --- counting ---------------------------------------------------------------------------------------------------- */

START_TEST(running_and_booting)
{
    struct planner_bench planner;
    gates(&planner, 1, 10, 0, 0);
    struct task *first, *second;
    planner_bench_begins(&planner);
    first = planner_launches(&planner, 0, 0);
    second = planner_launches(&planner, 0, 0);
    ck_assert_double_eq(GAUGE(planner, "booting"), 2);
    ck_assert_double_eq(GAUGE(planner, "running"), 0);
    planner_turns(&planner, first, 0);
    ck_assert_double_eq(GAUGE(planner, "booting"), 1);
    ck_assert_double_eq(GAUGE(planner, "running"), 1);
    planner_turns(&planner, first, 5);
    ck_assert_double_eq(GAUGE(planner, "running"), 1);
    planner_ends(&planner, second, false); /* it never made a call */
    ck_assert_double_eq(GAUGE(planner, "booting"), 0);
    planner_ends(&planner, first, true);
    ck_assert_double_eq(GAUGE(planner, "running"), 0);
    ck_assert_double_eq(GAUGE(planner, "launches"), 2);
    planner_bench_free(&planner);
}
END_TEST

/* A member behind it refused the run: it takes no place, and no launch of the stagger's. */
START_TEST(a_later_member_refuses)
{
    struct planner_bench planner;
    gates(&planner, 1, 1, 0, 0);
    struct task *task;
    bench_set(&planner.bench, "stagger", "2 s");
    planner_bench_begins(&planner);
    for (int i = 0; i < 3; i++) {
        task = planner_task_new(&planner, 0);
        ck_assert_int_eq(planner.bench.ops->run_admit(&planner.bench.self, &planner.views[0], &task->run).action,
                         POLICY_ADMIT);
        ck_assert_double_eq(GAUGE(planner, "booting"), 0);
        ck_assert_double_eq(GAUGE(planner, "launches"), 0);
    }
    ck_assert_int_eq(planner_asks(&planner, task, 0).action, POLICY_ADMIT);
    ck_assert_double_eq(GAUGE(planner, "booting"), 1);
    ck_assert_double_eq(GAUGE(planner, "launches"), 1);
    planner_holds(&planner, 0, 0, "at_capacity");
    planner_bench_free(&planner);
}
END_TEST

/* A run that was not let in at this door, as of a class that begins elsewhere. */
START_TEST(calls_of_others_are_nobodys_turns)
{
    struct planner_bench planner;
    gates(&planner, 1, 10, 0, 0);
    struct task *stranger;
    planner_bench_begins(&planner);
    stranger = planner_task_new(&planner, 0);
    planner_turns(&planner, stranger, 3);
    planner_ends(&planner, stranger, true);
    planner_ticks(&planner, 0);
    ck_assert_double_eq(GAUGE(planner, "running") + GAUGE(planner, "booting"), 0);
    ck_assert_double_eq(planner_cell(&planner, 0, "calls"), 0);
    planner_bench_free(&planner);
}
END_TEST

/* --- holds ------------------------------------------------------------------------------------------------------- */

/* It is held until the next tick; who runs is never touched, and a place that is free is given. */
START_TEST(holds_at_capacity)
{
    struct planner_bench planner;
    gates(&planner, 1, 2, 0, 0);
    struct task *first, *late;
    struct policy_answer answer;
    planner_bench_begins(&planner);
    planner_ticks(&planner, 0);
    first = planner_launches(&planner, 0, 0);
    planner_launches(&planner, 0, 0);
    late = planner_task_new(&planner, 0);
    answer = planner_asks(&planner, late, 4 * S);
    ck_assert_str_eq(answer.reason, "at_capacity");
    ck_assert_int_eq(answer.after, 11 * S);
    late->run.last = true; /* the last time that it asks: still no answer but hold */
    ck_assert_int_eq(planner_asks(&planner, late, 14 * S).action, POLICY_HOLD);
    ck_assert_int_eq(planner_asks(&planner, late, 15 * S).after, POLICY_LEAST); /* just before the tick */
    planner_ticks(&planner, 15 * S);
    ck_assert_str_eq(planner_word(&planner, 0, "hold"), "at_capacity");
    planner_bench_seeds(&planner, 0, INFINITY, INFINITY, 0.1);
    planner_ticks(&planner, 30 * S);
    ck_assert_double_eq(GAUGE(planner, "ceiling"), 2); /* nobody is killed */
    planner_ends(&planner, first, true);
    ck_assert_int_eq(planner_asks(&planner, late, 31 * S).action, POLICY_ADMIT);
    ck_assert_double_eq(GAUGE(planner, "holds"), 3);
    planner_bench_free(&planner);
}
END_TEST

/* Asked before the first tick, it plans at once. */
START_TEST(runs_before_the_first_tick)
{
    struct planner_bench planner;
    gates(&planner, 1, 1, 0, 0);
    planner_bench_begins(&planner);
    planner_launches(&planner, 0, 0);
    planner_holds(&planner, 0, 0, "at_capacity");
    ck_assert_uint_eq(planner.rows_written, 0);
    planner_bench_free(&planner);
}
END_TEST

START_TEST(launches_are_staggered)
{
    struct planner_bench planner;
    struct task *task;
    planner_bench_init(&planner, THOUSAND, "stagger", "2 s", NULL);
    planner_bench_begins(&planner);
    task = planner_task_new(&planner, 0);
    planner.uniform = 0; /* the gap is 2 s x 0.5 */
    planner_launches(&planner, 0, 0);
    planner_holds(&planner, 0, 0, "stagger");
    ck_assert_int_eq(planner_asks(&planner, task, S / 4).after, S * 3 / 4);
    ck_assert_int_eq(planner_asks(&planner, task, S - 1).after, POLICY_LEAST);
    planner.uniform = 0.5; /* 2 s */
    ck_assert_int_eq(planner_asks(&planner, task, S).action, POLICY_ADMIT);
    task = planner_task_new(&planner, 0);
    ck_assert_int_eq(planner_asks(&planner, task, S).after, 2 * S);
    planner.uniform = 1 - 0x1p-53; /* 3 s */
    ck_assert_int_eq(planner_asks(&planner, task, 3 * S).action, POLICY_ADMIT);
    ck_assert_int_ge(planner_asks(&planner, planner_task_new(&planner, 0), 3 * S).after, 3 * S - 1);
    planner_launches(&planner, 0, 100 * S); /* nobody waits long after the last */
    planner_bench_free(&planner);
}
END_TEST

/* --- several gates ----------------------------------------------------------------------------------------------- */

START_TEST(ceilings_are_summed_over_aliases)
{
    struct planner_bench planner;
    gates(&planner, 3, 9, 4, 0);
    planner.pacers[2].absent = true; /* a gate without a pacer, as of a tool */
    planner_bench_begins(&planner);
    planner_ticks(&planner, 0);
    ck_assert_double_eq(GAUGE(planner, "ceiling"), 13);
    ck_assert_double_eq(planner_cell(&planner, 0, "gate_ceiling"), 9);
    ck_assert_double_eq(planner_cell(&planner, 1, "gate_ceiling"), 4);
    ck_assert_uint_eq(planner.rows_written, 2);
    for (int i = 0; i < 50; i++)
        planner_launches(&planner, 2, 0); /* who is not planned for, and takes nobody's place */
    for (int i = 0; i < 4; i++)
        planner_launches(&planner, 1, 0);
    planner_holds(&planner, 1, 0, "at_capacity"); /* one alias's room is not another's */
    for (int i = 0; i < 9; i++)
        planner_launches(&planner, 0, 0);
    planner_holds(&planner, 0, 0, "at_capacity");
    planner_launches(&planner, 2, 0);
    planner_ticks(&planner, 15 * S);
    ck_assert_double_eq(GAUGE(planner, "ceiling"), 13);
    planner_bench_free(&planner);
}
END_TEST

/* One budget: the gates are planned for, watched and steered as one. */
START_TEST(one_pacer_at_two_gates)
{
    struct planner_bench planner;
    gates(&planner, 3, 5, 5, 5);
    planner.pacers[2].with = 1; /* gate 0 has its own, 1 and 2 have one */
    planner_bench_begins(&planner);
    planner_ticks(&planner, 0);
    ck_assert_uint_eq(planner.rows_written, 2);
    ck_assert_double_eq(GAUGE(planner, "ceiling"), 10);
    for (int i = 0; i < 3; i++)
        planner_launches(&planner, 2, 0);
    for (int i = 0; i < 2; i++)
        planner_launches(&planner, 1, 0);
    planner_holds(&planner, 1, 0, "at_capacity");
    planner_holds(&planner, 2, 0, "at_capacity");
    planner_launches(&planner, 0, 0);
    planner_ticks(&planner, 15 * S);
    ck_assert_double_eq(planner_cell(&planner, 1, "booting"), 5);
    planner.pacers[1].overloads_60 = 1;
    planner.pacers[1].admitted = 15;
    planner_ticks(&planner, 30 * S);
    ck_assert_uint_eq(planner.pacers[1].sets, 1);
    ck_assert_double_eq(GAUGE(planner, "steps_down"), 1);
    planner_bench_free(&planner);
}
END_TEST

/* All budgets are infinite then: the cap and the stagger are left, and at most 30 by a borrowed curve. */
START_TEST(without_any_pacer)
{
    struct planner_bench planner;
    gates(&planner, 3, 1, 1, 1);
    for (uint32_t i = 0; i < 3; i++)
        planner.pacers[i].absent = true;
    planner_bench_begins(&planner);
    planner_ticks(&planner, 0);
    ck_assert_uint_eq(planner.rows_written, 0); /* no run has asked anywhere */
    for (int i = 0; i < 1000; i++)
        planner_launches(&planner, 1, 0);
    planner_ticks(&planner, 15 * S);
    ck_assert_uint_eq(planner.rows_written, 1);
    ck_assert_str_eq(planner_word(&planner, 1, "source"), "none");
    ck_assert_str_eq(planner_word(&planner, 1, "axis"), "none");
    ck_assert_double_eq(GAUGE(planner, "ceiling"), (double)INFINITY);
    operator_sets(&planner, "static_cap", "1001");
    planner_launches(&planner, 2, 0);
    planner_holds(&planner, 1, 0, "static_cap");
    planner_bench_free(&planner);
    gates(&planner, 3, 1, 1, 1);
    for (uint32_t i = 0; i < 3; i++)
        planner.pacers[i].absent = true;
    bench_set(&planner.bench, "own", "false");
    planner_bench_begins(&planner);
    for (int i = 0; i < 30; i++)
        planner_launches(&planner, 0, 0);
    planner_holds(&planner, 0, 0, "at_capacity");
    for (int i = 0; i < 30; i++)
        planner_launches(&planner, 1, 0);
    planner_holds(&planner, 1, 0, "at_capacity");
    ck_assert_double_eq(GAUGE(planner, "ceiling"), 60);
    planner_bench_free(&planner);
}
END_TEST

/* Beyond the gates that it has room for: no plan, but the cap. */
START_TEST(a_gate_too_many)
{
    struct planner_bench planner;
    gates(&planner, 3, 1, 1, 1);
    struct task *task;
    bench_set(&planner.bench, "static_cap", "3");
    planner.views[2].gate = 16;
    planner_bench_begins(&planner);
    task = planner_launches(&planner, 2, 0);
    planner_launches(&planner, 2, 0);
    planner_launches(&planner, 0, 0);
    planner_turns(&planner, task, 3);
    planner_holds(&planner, 2, 0, "static_cap");
    ck_assert_double_eq(GAUGE(planner, "running"), 1);
    planner_ends(&planner, task, true);
    planner_launches(&planner, 2, 0);
    planner_bench_free(&planner);
}
END_TEST

/* --- override, cap, fixed fleet ---------------------------------------------------------------------------------- */

START_TEST(an_override_replaces_the_sum)
{
    struct planner_bench planner;
    gates(&planner, 2, 2, 2, 0);
    planner_bench_begins(&planner);
    planner_ticks(&planner, 0);
    ck_assert_double_eq(GAUGE(planner, "ceiling"), 4);
    ck_assert_double_eq(GAUGE(planner, "ceiling_override"), (double)INFINITY);
    ck_assert(isinf(planner_cell(&planner, 0, "override")));
    operator_sets(&planner, "override", "6");
    ck_assert_double_eq(GAUGE(planner, "ceiling"), 6);
    ck_assert_double_eq(GAUGE(planner, "ceiling_override"), 6);
    for (int i = 0; i < 6; i++)
        planner_launches(&planner, 0, 0); /* also past the gate's own */
    planner_holds(&planner, 0, 0, "ceiling_override");
    planner_holds(&planner, 1, 0, "ceiling_override");
    planner_ticks(&planner, 15 * S);
    ck_assert_str_eq(planner_word(&planner, 0, "mode"), "override");
    ck_assert_str_eq(planner_word(&planner, 0, "hold"), "ceiling_override");
    ck_assert_double_eq(planner_cell(&planner, 0, "override"), 6);
    operator_sets(&planner, "override", "1"); /* lower than the sum too */
    ck_assert_double_eq(GAUGE(planner, "ceiling"), 1);
    planner_holds(&planner, 1, 0, "ceiling_override");
    operator_sets(&planner, "override", "inf");
    planner_holds(&planner, 0, 0, "at_capacity");
    planner_ticks(&planner, 30 * S);
    ck_assert_double_eq(GAUGE(planner, "ceiling"), 8); /* 6 that run, and 2 of the other gate */
    ck_assert_str_eq(planner_word(&planner, 0, "mode"), "planned");
    planner_bench_free(&planner);
}
END_TEST

/* The default is 145; in every mode it wins. */
START_TEST(the_static_cap_wins)
{
    static const char *const modes[][2] = {{"mode", "planned"}, {"mode", "fixed"}, {"override", "1000"}};
    for (size_t i = 0; i < 3; i++) {
        struct planner_bench planner;
        gates(&planner, 1, 390, 0, 0);
        bench_set(&planner.bench, "static_cap", "145");
        bench_set(&planner.bench, "fleet", "300");
        bench_set(&planner.bench, modes[i][0], modes[i][1]);
        planner_bench_begins(&planner);
        planner_ticks(&planner, 0);
        ck_assert_double_eq(GAUGE(planner, "ceiling"), 145);
        ck_assert_double_eq(GAUGE(planner, "ceiling_static"), 145);
        for (int k = 0; k < 145; k++)
            planner_launches(&planner, 0, 0);
        planner_holds(&planner, 0, 0, "static_cap");
        planner_ticks(&planner, 15 * S);
        ck_assert_str_eq(planner_word(&planner, 0, "hold"), "static_cap");
        operator_sets(&planner, "static_cap", "146");
        planner_launches(&planner, 0, 0);
        planner_holds(&planner, 0, 0, "static_cap");
        planner_bench_free(&planner);
    }
    {
        struct bench bench = bench_of("planner", NULL);
        bench.ops->init(&bench.self);
        ck_assert_double_eq(bench_gauge(&bench, "ceiling_static"), 145);
        bench_free(&bench);
    }
}
END_TEST

START_TEST(a_fixed_fleet)
{
    struct planner_bench planner;
    gates(&planner, 1, 2, 0, 0);
    bench_set(&planner.bench, "mode", "fixed");
    bench_set(&planner.bench, "fleet", "3");
    planner_bench_begins(&planner);
    planner_ticks(&planner, 0);
    ck_assert_str_eq(planner_word(&planner, 0, "mode"), "fixed");
    ck_assert_double_eq(GAUGE(planner, "ceiling"), 3);
    for (int i = 0; i < 3; i++)
        planner_launches(&planner, 0, 0);
    planner_holds(&planner, 0, 0, "at_capacity");
    operator_sets(&planner, "fleet", "4");
    planner_launches(&planner, 0, 0);
    planner_holds(&planner, 0, 0, "at_capacity");
    operator_sets(&planner, "override", "5"); /* in its place */
    planner_launches(&planner, 0, 0);
    planner_holds(&planner, 0, 0, "ceiling_override");
    planner_bench_free(&planner);
}
END_TEST

/* --- the row ----------------------------------------------------------------------------------------------------- */

START_TEST(a_row_each_tick)
{
    struct planner_bench planner;
    gates(&planner, 2, 3, 400, 0);
    planner_bench_begins(&planner);
    planner_bench_seeds(&planner, 0, 5000, 40000, 4);
    planner.pacers[0].seed_r_tok = 10000;
    planner.pacers[0].seed_at = -30;
    planner_launches(&planner, 0, 0);
    planner_ticks(&planner, 15 * S);
    ck_assert_uint_eq(planner.rows_written, 2);
    ck_assert_double_eq(planner_cell(&planner, 0, "r_tok"), 5000);
    ck_assert_double_eq(planner_cell(&planner, 0, "k_inflight"), 40000);
    ck_assert_double_eq(planner_cell(&planner, 0, "r_qps"), 4);
    ck_assert_double_eq(planner_cell(&planner, 0, "seed_age"), 45);
    ck_assert_str_eq(planner_word(&planner, 0, "source"), "lowered");
    ck_assert_str_eq(planner_word(&planner, 1, "source"), "seed");
    ck_assert_str_eq(planner_word(&planner, 0, "hold"), "none");
    ck_assert_double_eq(planner_cell(&planner, 0, "extra"), 2);
    ck_assert_double_eq(planner_cell(&planner, 0, "gate_ceiling"), 3);
    ck_assert_double_eq(planner_cell(&planner, 0, "ceiling"), 403);
    ck_assert_double_eq(GAUGE(planner, "r_tok"), 5000);
    ck_assert_double_eq(GAUGE(planner, "arrival"), 1000);
    ck_assert_double_eq(GAUGE(planner, "peak"), 1000);
    ck_assert(isinf(planner_cell(&planner, 1, "r_tok")));
    ck_assert_double_eq(planner_cell(&planner, 0, "cooldown"), 0);
    ck_assert(isnan(planner_cell(&planner, 0, "armed")));
    planner.pacers[0].r_tok = 12000;
    planner_ticks(&planner, 30 * S);
    ck_assert_str_eq(planner_word(&planner, 0, "source"), "raised");
    planner_bench_free(&planner);
}
END_TEST

Suite *planner_suite(void)
{
    Suite *suite = suite_create("planner");
    TCase *test = tcase_create("planner");
    tcase_add_test(test, running_and_booting);
    tcase_add_test(test, a_later_member_refuses);
    tcase_add_test(test, calls_of_others_are_nobodys_turns);
    tcase_add_test(test, holds_at_capacity);
    tcase_add_test(test, runs_before_the_first_tick);
    tcase_add_test(test, launches_are_staggered);
    tcase_add_test(test, ceilings_are_summed_over_aliases);
    tcase_add_test(test, one_pacer_at_two_gates);
    tcase_add_test(test, without_any_pacer);
    tcase_add_test(test, a_gate_too_many);
    tcase_add_test(test, an_override_replaces_the_sum);
    tcase_add_test(test, the_static_cap_wins);
    tcase_add_test(test, a_fixed_fleet);
    tcase_add_test(test, a_row_each_tick);
    suite_add_tcase(suite, test);
    return suite;
}
