/* test_retry_budget.c - the budget on the bench, against counts from scratch, and what it promises in trials. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tests/call_bench.h"
#include "tests/model.h"
#include "tests/oracles.h"
#include "tests/suites.h"

static struct bench bench;

static double gauge(const char *name)
{
    return bench_gauge(&bench, name);
}

static struct policy_call *call_of(void)
{
    return bench_call(&bench, 0, 0, 1);
}

static void firsts(int count, policy_time now)
{
    for (int i = 0; i < count; i++)
        ck_assert(bench_enters(&bench, call_of(), now));
}

/* A second attempt of some call whose first one came before everything else. */
static bool retry(policy_time now)
{
    struct policy_call *call = call_of();
    call->attempt = 1;
    return bench_enters(&bench, call, now);
}

static void expect_reject(struct policy_answer answer, const char *reason)
{
    ck_assert_int_eq(answer.action, POLICY_REJECT);
    ck_assert_str_eq(answer.reason, reason);
}

/* --- on the bench ---------------------------------------------------------------------------------------------------
 */

START_TEST(three_attempts_a_call)
{
    struct policy_call *call;
    bench = bench_of("retry_budget", NULL);
    call = call_of();
    for (int i = 0; i < 3; i++)
        ck_assert(bench_enters(&bench, call, 0));
    expect_reject(bench_attempts(&bench, call, 0), "attempts");
    ck_assert(gauge("refused_attempts") == 1 && gauge("refused_budget") == 0);
    ck_assert(gauge("firsts") == 1 && gauge("retries") == 2);
    bench_steers(&bench, 0, "attempts", 5);
    ck_assert(bench_enters(&bench, call, 0));
    expect_reject(bench_attempts(&bench, call, 0), "attempts");
    bench_free(&bench);
}
END_TEST

START_TEST(exactly_the_ratio)
{
    static const struct {
        const char *ratio;
        int firsts, retries;
    } rows[] = {{"10 %", 9, 0},      {"10 %", 10, 1},   {"10 %", 1000, 100}, {"29 %", 100, 29},
                {"57 %", 100, 57},   {"33 %", 3, 0},    {"100 %", 7, 7},     {"0 %", 100000, 0},
                {"51.25 %", 80, 41}, {"0.1 %", 999, 0}, {"0.1 %", 1000, 1}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        bench = bench_of("retry_budget", "ratio", rows[i].ratio, "least", "0/s", NULL);
        firsts(rows[i].firsts, 0);
        for (int k = 0; k < rows[i].retries; k++)
            ck_assert(retry(0));
        ck_assert(!retry(0));
        ck_assert_double_eq(gauge("refused_budget"), 1);
        ck_assert_double_eq(gauge("retried"), rows[i].retries);
        ck_assert_double_eq(gauge("first_attempts"), rows[i].firsts);
        bench_free(&bench);
    }
}
END_TEST

START_TEST(a_floor_for_those_who_call_seldom)
{
    bench = bench_of("retry_budget", "ratio", "10 %", "least", "0.3/s", NULL);
    for (int i = 0; i < 3; i++) /* 0.3/s times 10 s */
        ck_assert(retry(0));
    ck_assert(!retry(0));
    firsts(9, 0); /* which always pass */
    ck_assert(!retry(0));
    firsts(1, 0);
    ck_assert(retry(0) && !retry(0));
    bench_free(&bench);
    bench = bench_of("retry_budget", "least", "inf", "ratio", "0 %", "attempts", "inf", NULL);
    for (int i = 0; i < 1000; i++)
        ck_assert(retry(i));
    bench_free(&bench);
}
END_TEST

/* Ten slices of 1 s: what happened in the slice of 0 to 1 s counts until 10 s. */
START_TEST(the_window_goes_on)
{
    bench = bench_of("retry_budget", "ratio", "100 %", "least", "0/s", NULL);
    firsts(2, S - 1);
    firsts(1, S);
    ck_assert(retry(10 * S - 1));
    ck_assert_double_eq(gauge("left"), 2);
    ck_assert(!retry(10 * S)); /* one of 1 s, less one retry */
    firsts(1, 10 * S);
    ck_assert(retry(10 * S) && !retry(10 * S));
    ck_assert(!retry(19 * S - 1)); /* of 9 and 10 s: one first attempt, two retries */
    ck_assert(!retry(19 * S));     /* and without the one of 9 s, as many as can be */
    firsts(1, 19 * S);
    ck_assert(retry(19 * S));
    ck_assert(!retry(1000 * S));
    ck_assert(gauge("first_attempts") == 0 && gauge("retried") == 0);
    bench_free(&bench);
}
END_TEST

/* Once each, when it has passed: let in, or refused behind; not if it was refused in front. */
START_TEST(an_attempt_counts_once)
{
    struct policy_call *call, *unasked;
    bench = bench_of("retry_budget", "ratio", "100 %", "least", "0/s", NULL);
    call = call_of();
    unasked = call_of();
    ck_assert_int_eq(bench_attempts(&bench, call, 0).action, POLICY_ADMIT);
    ck_assert_double_eq(gauge("firsts"), 0); /* not before the others have answered */
    bench_refuses(&bench, call, 0, POLICY_HOLD);
    ck_assert_double_eq(gauge("firsts"), 1);
    for (int i = 0; i < 5; i++) {
        ck_assert_int_eq(bench_asks_again(&bench, call, S).action, POLICY_ADMIT);
        bench_refuses(&bench, call, S, i < 4 ? POLICY_HOLD : POLICY_DEFER);
    }
    ck_assert_double_eq(gauge("firsts"), 1);
    unasked->attempt = 1;
    bench_refuses(&bench, unasked, S, POLICY_DEFER);
    ck_assert(gauge("firsts") == 1 && gauge("retries") == 0);
    /* A retry that has passed stays passed, though there is nothing left for another. */
    ck_assert_int_eq(bench_attempts(&bench, call, S).action, POLICY_ADMIT);
    bench_refuses(&bench, call, S, POLICY_HOLD);
    ck_assert(!retry(2 * S));
    ck_assert_int_eq(bench_asks_again(&bench, call, 2 * S).action, POLICY_ADMIT);
    bench_lets_in(&bench, call, 2 * S);
    ck_assert(gauge("retries") == 1 && gauge("refused_budget") == 1);
    bench_free(&bench);
}
END_TEST

START_TEST(a_steered_ratio)
{
    bench = bench_of("retry_budget", "least", "0/s", NULL);
    firsts(100, 0);
    for (int i = 0; i < 10; i++)
        ck_assert(retry(0));
    ck_assert(!retry(0));
    bench_steers(&bench, 0, "ratio", 0.12);
    ck_assert(retry(0) && retry(0) && !retry(0));
    bench_steers(&bench, 0, "ratio", 0.01);
    ck_assert(!retry(0));
    bench_steers(&bench, 0, "least", 1.2); /* 12 beside the one, and 12 were made */
    ck_assert(retry(0) && !retry(0));
    bench_free(&bench);
}
END_TEST

enum { PASSED = 3000 };

/* Random traffic: every answer is that of the counts from scratch, and the promise holds at any time. */
START_TEST(equals_counts_from_scratch)
{
    uint64_t state = 5;
    for (int config = 0; config < 8; config++) {
        static const char *const windows[] = {"10 s", "1 s", "7.3 s", "2 min"};
        static const policy_time lengths[] = {10 * S, S, 7300 * MS, 120 * S};
        policy_time now = 0, window = lengths[config % 4], slices[PASSED];
        bool was_retry[PASSED];
        double least = config < 4 ? 0.25 : 0, all_firsts = 0, all_retries = 0;
        int count = 0, refused = 0;
        bench = bench_of("retry_budget", "ratio", "10 %", "window", windows[config % 4], "least",
                         config < 4 ? "0.25/s" : "0/s", NULL);
        while (count < PASSED) {
            uint64_t word = oracle_random(&state);
            int seen[2] = {0, 0};
            bool again = word & 1, good = true;
            now += (policy_time)(word >> 20) % (window / (word & 62 ? 1000 : 2));
            for (int i = 0; i < count; i++)
                if (slices[i] > now / (window / 10) - 10)
                    seen[was_retry[i]]++;
            if (again)
                good = (seen[1] + 1) * 10000 <= seen[0] * 1000 + (int)(least * 1e4) * (int)(window / MS) / 1000;
            ck_assert(again ? retry(now) == good : (firsts(1, now), true));
            refused += !good;
            if (!good)
                continue;
            slices[count] = now / (window / 10);
            was_retry[count++] = again;
            all_firsts += !again;
            all_retries += again;
            ck_assert(all_retries <= 0.1 * all_firsts + least * ((double)(now + window) / 1e9) + 1e-6);
        }
        ck_assert_int_gt(refused, 100);
        ck_assert_double_gt(all_retries, 50);
        bench_free(&bench);
    }
}
END_TEST

/* --- in trials ------------------------------------------------------------------------------------------------------
 */

struct attempts {
    double firsts, retries, rejected;
};

static void attempted(void *context, const struct attempt_record *record)
{
    struct attempts *attempts = context;
    bool ours = record->reason && (!strcmp(record->reason, "budget") || !strcmp(record->reason, "attempts"));
    if (ours)
        attempts->rejected++;
    else if (record->call->attempt == 1)
        attempts->firsts++;
    else
        attempts->retries++;
}

#define HORIZON 3000

/* Thirty impatient agents before four slots; `policy` turns most of them away. */
static struct attempts attempts_of(const char *budget, const char *policy)
{
    struct attempts attempts = {0, 0, 0};
    struct trial_watch watch = {.attempted = attempted, .context = &attempts};
    double values[METRIC_COUNT];
    char yaml[1024];
    struct plan plan;
    snprintf(yaml, sizeof yaml,
             "study: {horizon: %d s}\nbackends: {card: {kind: slots, servers: 4, rate: 40 tokens/s}}\n"
             "agents: {coder: {population: 30, think: exponential(4 s), output: exponential(200),\n"
             "  client: {base: 500 ms, cap: 4 s, retry_after: ignore}}}\npolicies: [c: [%s%s]]\n",
             HORIZON, budget, policy);
    plan = model_plan(yaml);
    ck_assert_int_eq(trial_simulate(plan.points[0].scenario, 1, &watch, values), TRIAL_ENDED);
    plan_fini(&plan);
    return attempts;
}

/* Attempts behind the budget for each call, at most 1 + ratio + least * (T + window) / calls, and near it. */
START_TEST(amplification_is_bounded)
{
    static const char *const behind[] = {"fixed_cap: {cap: 4}",
                                         "codel: {law: persist, sheds_at: dequeue, target: 100 ms, interval: 100 ms}"};
    for (int i = 0; i < 2; i++) {
        struct attempts storm = attempts_of("", behind[i]), calm;
        ck_assert_double_gt(storm.retries, (i ? 0.5 : 3) * storm.firsts);
        calm = attempts_of("retry_budget: {ratio: 10 %, least: 0/s, window: 1 min}, ", behind[i]);
        ck_assert_double_le(calm.retries, 0.1 * calm.firsts);
        ck_assert_double_ge(calm.retries, 0.09 * calm.firsts);
        calm = attempts_of("retry_budget: {ratio: 10 %, least: 0.2/s, window: 1 min}, ", behind[i]);
        ck_assert_double_le(calm.retries, 0.1 * calm.firsts + 0.2 * (HORIZON + 60));
        ck_assert_double_ge(calm.retries, 0.09 * calm.firsts + 0.19 * HORIZON);
        ck_assert_double_gt(calm.rejected, 1000);
        calm = attempts_of("retry_budget: {least: inf}, ", behind[i]);
        ck_assert_double_le(calm.retries, 2 * calm.firsts);
        ck_assert_double_gt(calm.retries, 0.4 * calm.firsts);
    }
}
END_TEST

/* Each agent its own: thirty floors. */
START_TEST(floors_add_up)
{
    struct attempts all =
        attempts_of("retry_budget: {ratio: 0 %, least: 1/min, window: 1 min}, ", "fixed_cap: {cap: 4}");
    struct attempts each =
        attempts_of("retry_budget: {ratio: 0 %, least: 1/min, window: 1 min, scope: agent}, ", "fixed_cap: {cap: 4}");
    ck_assert_double_le(all.retries, (HORIZON + 60) / 60.0);
    ck_assert_double_ge(all.retries, 0.9 * HORIZON / 60.0);
    ck_assert_double_le(each.retries, 30 * (HORIZON + 60) / 60.0);
    ck_assert_double_ge(each.retries, 0.9 * 30 * HORIZON / 60.0);
}
END_TEST

Suite *retry_budget_suite(void)
{
    Suite *suite = suite_create("retry_budget");
    TCase *alone = tcase_create("bench"), *trials = tcase_create("trials");
    tcase_add_test(alone, three_attempts_a_call);
    tcase_add_test(alone, exactly_the_ratio);
    tcase_add_test(alone, a_floor_for_those_who_call_seldom);
    tcase_add_test(alone, the_window_goes_on);
    tcase_add_test(alone, an_attempt_counts_once);
    tcase_add_test(alone, a_steered_ratio);
    tcase_add_test(alone, equals_counts_from_scratch);
    tcase_add_test(trials, amplification_is_bounded);
    tcase_add_test(trials, floors_add_up);
    suite_add_tcase(suite, alone);
    suite_add_tcase(suite, trials);
    return suite;
}
