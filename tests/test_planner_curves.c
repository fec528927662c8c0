/* test_planner_curves.c - what a task is thought to send: from its own turn on, while it survives, by a curve of its
 * pool or a borrowed one, and by those that were measured. */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "policies/decimal.h"
#include "tests/comma.h"
#include "tests/planner_bench.h"
#include "tests/suites.h"

#define CELL(planner, column) planner_cell(&(planner), 0, column)
#define WORD(planner, column) planner_word(&(planner), 0, column)

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

/* --- tasks at their own turns ------------------------------------------------------------------------------------ */

START_TEST(each_task_from_its_own_turn)
{
    struct planner_bench planner;
    struct task *first, *second;
    planner_bench_init(&planner, THOUSAND, "b", "10", NULL);
    planner_bench_begins(&planner);
    first = planner_launches(&planner, 0, 0);
    second = planner_launches(&planner, 0, 0);
    ceiling(&planner, 1e5, INFINITY, INFINITY);
    CLOSE(CELL(planner, "arrival"), 2000); /* both boot: turn 0 */
    planner_turns(&planner, first, 0);
    ceiling(&planner, 1e5, INFINITY, INFINITY);
    CLOSE(CELL(planner, "arrival"), 2000);
    planner_turns(&planner, first, 30);
    ceiling(&planner, 1e5, INFINITY, INFINITY);
    CLOSE(CELL(planner, "arrival"), 2300);
    CLOSE(CELL(planner, "peak"), 2300 + 2 * 54000);
    first->call.turn = 30; /* once more, and an earlier one: nothing is new */
    planner_turns(&planner, first, 30);
    first->call.turn = 29;
    planner_turns(&planner, first, 29);
    ceiling(&planner, 1e5, INFINITY, INFINITY);
    CLOSE(CELL(planner, "arrival"), 2300);
    second->call.turn = 500; /* of its agent; of this run it is the first */
    planner_turns(&planner, second, 502);
    second->call.turn = 500;
    planner_turns(&planner, second, 501);
    ceiling(&planner, 1e5, INFINITY, INFINITY);
    CLOSE(CELL(planner, "arrival"), 2320);
    planner_ends(&planner, first, true);
    ceiling(&planner, 1e5, INFINITY, INFINITY);
    CLOSE(CELL(planner, "arrival"), 1020);
    planner_ends(&planner, second, false);
    ceiling(&planner, 1e5, INFINITY, INFINITY);
    ck_assert_double_eq(CELL(planner, "arrival"), 0);
    ck_assert_double_eq(bench_gauge(&planner.bench, "running"), 0);
    planner_bench_free(&planner);
}
END_TEST

/* Past 1,023 turns tasks are counted together, by the mean of their turns: exact while prompts grow. */
START_TEST(late_turns)
{
    struct planner_bench planner;
    struct task *first, *second;
    planner_bench_init(&planner, THOUSAND, "b", "1", NULL);
    planner_bench_begins(&planner);
    first = planner_launches(&planner, 0, 0);
    second = planner_launches(&planner, 0, 0);
    planner_turns(&planner, first, 3000);
    planner_turns(&planner, second, 1023);
    ceiling(&planner, 1e5, INFINITY, INFINITY);
    CLOSE(CELL(planner, "arrival"), 4000 + 2023);
    planner_ends(&planner, first, true);
    ceiling(&planner, 1e5, INFINITY, INFINITY);
    CLOSE(CELL(planner, "arrival"), 2023);
    planner_bench_free(&planner);
}
END_TEST

/* --- survival ---------------------------------------------------------------------------------------------------- */

/* A task at a turn, projected to now and to one moment: the larger of its turn now, and its turn then times the chance
 * that it is still there. (It makes a turn a second, and each adds a million tokens.) */
static double survivors(uint64_t turn, const char *ahead, const char *attempts, const char *own)
{
    struct planner_bench planner;
    double peak;
    planner_bench_init(&planner, THOUSAND, "a", "0", "b", "1000k", "most_tokens", "1000M", "survival",
                       "0.9 0.8 every 40", "attempts", attempts, "own", own, "latency_floor", "0 s", "horizon", ahead,
                       "step", ahead, NULL);
    planner_bench_begins(&planner);
    planner_turns(&planner, planner_launches(&planner, 0, 0), turn);
    planner_ticks(&planner, 0);
    peak = CELL(planner, "peak");
    planner_bench_free(&planner);
    return peak / 1e6;
}

START_TEST(survival_by_windows_of_twenty_turns)
{
    /* from turn 0: the rows of turns 0 and 20, which is the first, then of 40 and 60, which is the second and last */
    CLOSE(survivors(0, "20 s", "30", "true"), 20 * 0.9);
    CLOSE(survivors(0, "40 s", "30", "true"), 40 * 0.81);
    CLOSE(survivors(0, "60 s", "30", "true"), 60 * 0.648);
    CLOSE(survivors(0, "80 s", "30", "true"), 80 * 0.5184);
    CLOSE(survivors(0, "100 s", "30", "true"), 100 * 0.41472);
    /* half of a window: the square root */
    CLOSE(survivors(0, "10 s", "30", "true"), 10 * sqrt(0.9));
    CLOSE(survivors(0, "50 s", "30", "true"), 50 * 0.81 * sqrt(0.8));
    /* windows begin at the task's own turn: that of turn 39 has the first row up to turn 59 */
    CLOSE(survivors(39, "20 s", "30", "true"), 59 * 0.9);
    CLOSE(survivors(40, "20 s", "30", "true"), 60 * 0.8);
    CLOSE(survivors(25, "40 s", "30", "true"), 65 * 0.72);
}
END_TEST

START_TEST(survival_counts_only_where_it_was_measured)
{
    CLOSE(survivors(0, "20 s", "29", "true"), 20);
    CLOSE(survivors(0, "20 s", "0", "true"), 20);
    CLOSE(survivors(0, "20 s", "1000", "false"), 20);
}
END_TEST

/* --- borrowed curves and curves by name -------------------------------------------------------------------------- */

START_TEST(a_borrowed_curve)
{
    struct planner_bench planner;
    planner_bench_init(&planner, THOUSAND, "own", "false", "override", "1000", NULL);
    planner_bench_begins(&planner);
    ck_assert_double_eq(ceiling(&planner, 31000 / 0.9 + 1e-9, INFINITY, INFINITY), 30);
    ck_assert_str_eq(WORD(planner, "binding"), "borrowed_curve");
    ck_assert_str_eq(WORD(planner, "axis"), "tokens");
    ck_assert_double_eq(ceiling(&planner, 30000 / 0.9 + 1e-9, INFINITY, INFINITY), 30);
    ck_assert_str_eq(WORD(planner, "binding"), "tokens");
    ck_assert_double_eq(ceiling(&planner, INFINITY, INFINITY, INFINITY), 30);
    for (int i = 0; i < 35; i++)
        planner_launches(&planner, 0, 0);
    ck_assert_double_eq(ceiling(&planner, INFINITY, INFINITY, INFINITY), 35); /* not below those there are */
    planner_bench_free(&planner);
}
END_TEST

/* A call of 10k tokens takes 30 s in this pool, so one of 1k takes 3 s, and not 2 s as where the curve was measured;
 * and as much longer is a turn. What is longer than 10k takes no longer. */
START_TEST(the_latency_of_a_borrowed_curve)
{
    static const struct {
        const char *a, *period, *own;
        double latency, turn;
    } cases[] = {{"1000", "10 s", "false", 3, 11},   {"1000", "10 s", "true", 2, 10},
                 {"10000", "10 s", "false", 30, 38}, {"20000", "10 s", "false", 30, 38},
                 {"500", "10 s", "false", 2, 10},    {"1000", "1 s", "false", 3, 3}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct planner_bench planner;
        planner_bench_init(&planner, THOUSAND, "own", cases[i].own, "a", cases[i].a, "period", cases[i].period,
                           "latency_floor", "30 s", "floor_tokens", "10k", NULL);
        planner_bench_begins(&planner);
        planner_launches(&planner, 0, 0);
        planner_ticks(&planner, 0);
        CLOSE(CELL(planner, "arrival"), atof(cases[i].a) / cases[i].turn);
        CLOSE(CELL(planner, "in_flight"), atof(cases[i].a) * cases[i].latency / cases[i].turn);
        CLOSE(CELL(planner, "calls"), 1 / cases[i].turn);
        planner_bench_free(&planner);
    }
    { /* turns come later: one in 11 s */
        struct planner_bench planner;
        planner_bench_init(&planner, THOUSAND, "own", "false", "b", "1", "period", "10 s", "latency_floor", "30 s",
                           "floor_tokens", "10k", "horizon", "5 min", NULL);
        planner_bench_begins(&planner);
        planner_launches(&planner, 0, 0);
        planner_ticks(&planner, 0);
        CLOSE(CELL(planner, "peak"), (1000 + 300.0 / 11) / (8 + (1000 + 300.0 / 11) * 0.003));
        planner_bench_free(&planner);
    }
}
END_TEST

/* What a booting task of each preset asks for, by the table of measured curves. */
START_TEST(presets_and_names)
{
    static const struct {
        const char *name;
        double a, b, output, base, per_output, period;
    } table[] = {{"laguna_opencode", 17784, 616, 185, 0.577, 0.00631, 4.54},
                 {"laguna_claude_code", 34388, 719, 150, 0.799, 0.00619, 3.73},
                 {"laguna_codex", 29115, 271, 73, 0.784, 0.00622, 6.10},
                 {"laguna_custom", 21314, 934, 255, 0.711, 0.00605, 7.68},
                 {"laguna_mini_swe", 3609, 850, 123, 0.728, 0.00584, 6.01},
                 {"cheap_oss_mini_swe", 4419, 1089, 258, 3.909, 0.00822, 7.50},
                 {"cheap_oss_opencode", 15003, 997, 236, 0.463, 0.02016, 7.58},
                 {"pooled", 25948, 482, 132, 1.07, 0.00882, 5.81}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        for (int by_name = 0; by_name < 2; by_name++) {
            struct planner_bench planner;
            const struct policy_preset *preset;
            double latency = table[i].base + table[i].per_output * table[i].output;
            planner_bench_init(&planner, NULL);
            preset = &planner.bench.ops->presets[i];
            ck_assert_str_eq(preset->name, table[i].name);
            if (by_name)
                bench_set(&planner.bench, "curves", table[i].name);
            else
                for (const char *const *pair = preset->settings; pair[0]; pair += 2)
                    if (strcmp(pair[0], "scope") != 0)
                        bench_set(&planner.bench, pair[0], pair[1]);
            planner_bench_begins(&planner);
            planner_turns(&planner, planner_launches(&planner, 0, 0), 10);
            planner_ticks(&planner, 0);
            CLOSE(CELL(planner, "arrival"), (table[i].a + 10 * table[i].b) / table[i].period);
            CLOSE(CELL(planner, "in_flight"), (table[i].a + 10 * table[i].b) / table[i].period * latency);
            CLOSE(CELL(planner, "calls"), 1 / table[i].period);
            ck_assert_int_eq(strcmp(WORD(planner, "binding"), "borrowed_curve") == 0, i == 7);
            planner_bench_free(&planner);
        }
}
END_TEST

START_TEST(a_curve_for_each_gate)
{
    struct planner_bench planner;
    planner_bench_init(&planner, "curves", " laguna_codex  laguna_opencode ", NULL);
    planner.gates = 3;
    planner_bench_begins(&planner);
    for (uint32_t i = 0; i < 3; i++)
        planner_launches(&planner, i, 0);
    planner_ticks(&planner, 0);
    CLOSE(planner_cell(&planner, 0, "arrival"), 29115 / 6.10);
    CLOSE(planner_cell(&planner, 1, "arrival"), 17784 / 4.54);
    CLOSE(planner_cell(&planner, 2, "arrival"), 17784 / 4.54);
    planner_bench_free(&planner);
}
END_TEST

START_TEST(texts_that_are_wrong)
{
    static const char *const wrong[][3] = {{"curves", "laguna_opencodex", "curves: "},
                                           {"curves", "laguna_codex nobody", "curves: "},
                                           {"survival", "0.5", "survival: "},
                                           {"survival", "every 40", "survival: "},
                                           {"survival", "1.5 every 40", "survival: "},
                                           {"survival", "0.5 every 0", "survival: "},
                                           {"survival", "0.5 every", "survival: "},
                                           {"survival", "half every 40", "survival: "},
                                           {"survival", "0.5 every 40 turns", "survival: "},
                                           {"survival", "0x1p-1 every 40", "survival: "},
                                           {"survival", "0.5every 40", "survival: "},
                                           {"survival", "-0.5 every 40", "survival: "},
                                           {"survival", "0.5 every inf", "survival: "},
                                           {"step", "1 min", "horizon: "},
                                           {"peak_most", "59 s", "peak_least: "}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct bench bench = bench_of("planner", wrong[i][0], wrong[i][1], NULL);
        const char *said = bench.ops->check(bench.params);
        ck_assert_msg(said && strncmp(said, wrong[i][2], strlen(wrong[i][2])) == 0, "%s: %s: %s", wrong[i][0],
                      wrong[i][1], said ? said : "nothing");
        bench_free(&bench);
    }
    {
        struct bench bench = bench_of("planner", "survival", "0.5 0.25 every 40", "curves", "", NULL);
        ck_assert_ptr_null(bench.ops->check(bench.params));
        bench_set(&bench, "survival", "");
        ck_assert_ptr_null(bench.ops->check(bench.params));
        bench_free(&bench);
    }
}
END_TEST

/* Where a comma stands for the dot, a dot still is one. */
static void reads_with_a_dot(void)
{
    struct bench bench = bench_of("planner", "survival", "0.814 .75 1 every  40.5 ", NULL);
    const char *text = "0.814 ";
    double value;
    ck_assert_ptr_null(bench.ops->check(bench.params));
    bench_set(&bench, "survival", "0,814 every 40");
    ck_assert_ptr_nonnull(bench.ops->check(bench.params));
    bench_free(&bench);
    ck_assert(decimal_read(&text, &value) && value == 0.814 && *text == ' ');
}

START_TEST(survival_under_any_locale)
{
    reads_with_a_dot();
    comma_run(reads_with_a_dot);
}
END_TEST

Suite *planner_curves_suite(void)
{
    Suite *suite = suite_create("planner_curves");
    TCase *test = tcase_create("planner_curves");
    tcase_add_test(test, each_task_from_its_own_turn);
    tcase_add_test(test, late_turns);
    tcase_add_test(test, survival_by_windows_of_twenty_turns);
    tcase_add_test(test, survival_counts_only_where_it_was_measured);
    tcase_add_test(test, a_borrowed_curve);
    tcase_add_test(test, the_latency_of_a_borrowed_curve);
    tcase_add_test(test, presets_and_names);
    tcase_add_test(test, a_curve_for_each_gate);
    tcase_add_test(test, texts_that_are_wrong);
    tcase_add_test(test, survival_under_any_locale);
    suite_add_tcase(suite, test);
    return suite;
}
