/* test_run_budget_estimates.c - what run_budget takes a run for: by its own word, by its class, by what the class has
 * done, and with errors of a size that is given. */
#include <math.h>
#include <string.h>

#include "tests/oracles.h"
#include "tests/run_budget_bench.h"
#include "tests/suites.h"

/* --- estimates -----------------------------------------------------------------------------------------------------
 */

START_TEST(what_the_run_names)
{
    BUDGET("estimate", "run", "reading", "minute");
    ck_assert(begins(run_of(LIVE, 3, 0), 0)); /* its turns, of the curve */
    gauges(300, 300, 1);
    ck_assert(begins(run_of(LIVE, 3, 700), 0)); /* its tokens, too */
    gauges(1000, 1000, 2);
    ck_assert(begins(run_of(LIVE, INFINITY, 0), 0)); /* without end: as the curve */
    gauges(2000, 2000, 3);
    ck_assert(begins(run_of(LIVE, 2, INFINITY), 0));
    gauges(2200, 2200, 4);
    ck_assert(begins(run_of(LIVE, 0, 0), 0)); /* nobody knows */
    gauges(3200, 3200, 5);
    struct policy_run *drawn_run = run_of(LIVE, 3, 700); /* its own word goes before its class's */
    drawn_run->turns_drawn = 5;
    drawn_run->input_drawn = 900;
    drawn_run->output_drawn = 50;
    ck_assert(begins(drawn_run, 0));
    gauges(4100, 4100, 6);
    bench_set(&bench, "estimate", "class");
    ck_assert(begins(drawn_run, 0));
    gauges(3900, 3900, 6);
    bench_set(&bench, "estimate", "run");
    bench_set(&bench, "meter", "total");
    ck_assert(begins(drawn_run, 0));
    gauges(4150, 4150, 6);
    bench_free(&bench);
    BUDGET("estimate", "run", "reading", "minute", "meter", "total", "output", "11");
    ck_assert(begins(run_of(LIVE, 3, 0), 0));
    gauges(333, 333, 1);
    bench_free(&bench);
}
END_TEST

START_TEST(a_context_that_grows)
{
    struct policy_run *run;
    BUDGET("estimate", "curve", "reading", "minute", "per_turn", "10");
    run = run_of(LIVE, 1, 0);
    ck_assert(begins(run, 0));
    gauges(1450, 1450, 1); /* 100 + 110 + ... + 190 */
    turn_done(run, 0);
    gauges(1350, 1350, 1);
    turn_done(run, 0);
    gauges(1240, 1240, 1);
    for (int i = 0; i < 7; i++)
        turn_done(run, 0);
    gauges(190, 190, 1);
    turn_done(run, 0);
    gauges(190, 190, 1);
    run_ends(run, true);
    gauges(0, 0, 0);
    bench_free(&bench);
    BUDGET("estimate", "run", "reading", "minute", "per_turn", "10");
    ck_assert(begins(run_of(LIVE, 2.5, 0), 0)); /* a half turn: 100 + 110 + 60 */
    gauges(270, 270, 1);
    bench_free(&bench);
    BUDGET("estimate", "run", "per_turn", "10"); /* what is left of it a minute rises */
    run = run_of(LIVE, 10, 0);
    ck_assert(begins(run, 0));
    gauges(1450 * 3, 1450, 1);
    for (int i = 0; i < 8; i++)
        turn_done(run, 0);
    gauges((180 + 190) * 15, 180 + 190, 1);
    bench_free(&bench);
}
END_TEST

static void live_run(uint32_t klass, int turns, double tokens, policy_time period, bool done)
{
    struct policy_run *run = run_of(klass, 1, 0);
    ck_assert(begins(run, 0));
    for (policy_time i = 0; i < turns; i++) /* half of the time is service, and as much again it waited */
        turn_ends(run, i * 2 * period + period / 2, i * 2 * period + period / 2 + period, (i + 1) * 2 * period,
                  POLICY_DONE, tokens, 0, 7);
    run_ends(run, done);
}

START_TEST(what_the_class_has_done)
{
    BUDGET("estimate", "history", "reading", "minute", "learn", "3");
    live_run(LIVE, 4, 50, S, true);
    live_run(LIVE, 2, 100, S, true);
    ck_assert(begins(run_of(LIVE, 1, 0), 0)); /* of two runs nobody learns: the curve */
    gauges(1000, 1000, 1);
    live_run(LIVE, 7, 999, S, false);   /* not done: no history */
    live_run(BATCH, 7, 999, S, true);   /* another class's */
    run_ends(run_of(LIVE, 1, 0), true); /* never let in */
    ck_assert(begins(run_of(LIVE, 1, 0), 0));
    gauges(2000, 2000, 2);
    live_run(LIVE, 3, 80, S, true);
    ck_assert(begins(run_of(LIVE, 1, 0), 0)); /* the mean of 200, 200 and 240, 3 turns */
    gauges(2000 + 640.0 / 3, 2000 + 640.0 / 3, 3);
    ck_assert(begins(run_of(BATCH, 1, 0), 0));
    gauges(3000 + 640.0 / 3, 3000 + 640.0 / 3, 4);
    bench_free(&bench);
}
END_TEST

/* Its own time, not what it has waited: a crowd would make runs look cheap. */
START_TEST(how_long_a_run_takes)
{
    struct policy_run *run;
    BUDGET("estimate", "history", "learn", "1", "cached_weight", "0.5");
    run = run_of(LIVE, 1, 0);
    ck_assert(begins(run, 10 * S));
    /* thinks 1 s, waits 50 s, is served 2 s; then 3, 0 and 4 s: 10 s and 300 tokens in 2 turns */
    turn_ends(run, 11 * S, 61 * S, 63 * S, POLICY_DONE, 200, 100, 9);
    turn_ends(run, 66 * S, 66 * S, 67 * S, POLICY_OVERLOAD, 0, 0, 0); /* not done: nothing of it is over */
    turn_ends(run, 66 * S, 66 * S, 70 * S, POLICY_DONE, 150, 0, 9);
    run_ends(run, true);
    run = run_of(LIVE, 1, 0);
    ck_assert(begins(run, 0));
    gauges(300 * 6, 300, 1);
    turn_done(run, 0);
    gauges(300 * 6, 150, 1);
    bench_free(&bench);
}
END_TEST

/* --- errors --------------------------------------------------------------------------------------------------------
 */

static double tokens_of(uint32_t klass, uint32_t agent, uint64_t number)
{
    struct policy_run *run = run_of(klass, 1000, 0);
    double tokens;
    run->agent = agent;
    run->run = number;
    ck_assert(begins(run, 0));
    tokens = bench_gauge(&bench, "left");
    run_ends(run, false);
    return tokens;
}

START_TEST(errors_are_lognormal_with_mean_1)
{
    enum { RUNS = 100000 };
    double sum = 0, squares = 0, logs = 0, log_squares = 0, variance = log(1.04);
    unsigned below = 0;
    BUDGET("estimate", "run", "quota", "inf", "error", "0.2");
    for (uint32_t i = 0; i < RUNS; i++) {
        double factor = tokens_of(i % CLASSES, i / 7, i % 7) / 100000, ln = log(factor);
        sum += factor;
        squares += factor * factor;
        logs += ln;
        log_squares += ln * ln;
        below += ln < -variance / 2 - sqrt(variance);
    }
    /* four standard errors; a normal number is below -1 with 0.158655 */
    ck_assert_double_eq_tol(sum / RUNS, 1, 4 * 0.2 / sqrt(RUNS));
    ck_assert_double_eq_tol(logs / RUNS, -variance / 2, 4 * sqrt(variance / RUNS));
    ck_assert_double_eq_tol(log_squares / RUNS - logs / RUNS * logs / RUNS, variance, 4 * variance * sqrt(2.0 / RUNS));
    ck_assert_double_eq_tol(sqrt(squares / RUNS - sum / RUNS * sum / RUNS), 0.2, 0.003);
    ck_assert_double_eq_tol((double)below / RUNS, 0.158655, 4 * sqrt(0.158655 * 0.841345 / RUNS));
    bench_free(&bench);
}
END_TEST

/* Whose run it is decides, and the copy's first number; not who came before, nor how often it asked. */
START_TEST(errors_are_a_runs_own)
{
    double first[3], other;
    BUDGET("estimate", "run", "quota", "inf", "error", "0.2");
    for (uint32_t i = 0; i < 3; i++)
        first[i] = tokens_of(i, 5, 2);
    ck_assert(first[0] != first[1] && first[1] != first[2]);
    ck_assert(tokens_of(0, 4, 2) != first[0] && tokens_of(0, 5, 1) != first[0]);
    bench_free(&bench);
    BUDGET("estimate", "run", "quota", "inf", "error", "0.2");
    for (uint32_t i = 3; i-- > 0;)
        ck_assert_double_eq(tokens_of(i, 5, 2), first[i]);
    bench_free(&bench);
    drawn = 0.75;
    BUDGET("estimate", "run", "quota", "inf", "error", "0.2");
    other = tokens_of(0, 5, 2);
    ck_assert(other != first[0]);
    bench_free(&bench);
    drawn = 0.5;
    /* a run that asks again is as wrong as before, and what is learned in between counts */
    BUDGET("estimate", "history", "learn", "1", "error", "0.2", "reading", "minute");
    struct policy_run *run = run_of(LIVE, 1, 0);
    double wrong, again;
    ck_assert(begins(run, 0));
    wrong = bench_gauge(&bench, "left") / 1000;
    ck_assert(wrong != 1);
    ck_assert(begins(run, 0));
    ck_assert_double_eq(bench_gauge(&bench, "left"), wrong * 1000);
    run_ends(run, false);
    live_run(LIVE, 5, 60, S, true);
    ck_assert(begins(run, 0));
    again = bench_gauge(&bench, "left") / 300;
    ck_assert_double_eq_tol(again, wrong, 1e-6);
    bench_free(&bench);
}
END_TEST

Suite *run_budget_estimates_suite(void)
{
    Suite *suite = suite_create("run_budget_estimates");
    TCase *test = tcase_create("run_budget_estimates");

    tcase_add_test(test, what_the_run_names);
    tcase_add_test(test, a_context_that_grows);
    tcase_add_test(test, what_the_class_has_done);
    tcase_add_test(test, how_long_a_run_takes);
    tcase_add_test(test, errors_are_lognormal_with_mean_1);
    tcase_add_test(test, errors_are_a_runs_own);
    suite_add_tcase(suite, test);
    return suite;
}
