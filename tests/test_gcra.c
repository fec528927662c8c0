/* test_gcra.c - gcra and token_bucket let in the same calls, call for call, and those that a level computed from
 * scratch lets in; both in small trials. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "sim/engine/clock.h"
#include "tests/call_bench.h"
#include "tests/oracles.h"
#include "tests/suites.h"
#include "tests/timeline.h"

static struct bench bench;

/* --- against a level from scratch, and against each other -----------------------------------------------------------
 */

enum { LET_IN = 200 };

/* What a bucket holds that gave those amounts: burst at the most, and not more than from any gift on. */
static sim_sum level_from_scratch(const policy_time *times, const sim_sum *amounts, int count, sim_sum burst,
                                  sim_sum rate, policy_time now)
{
    sim_sum least = burst, given = 0;
    for (int i = count - 1; i >= 0; i--) {
        sim_sum bound;
        given += amounts[i];
        bound = burst - given + rate * (now - times[i]);
        least = bound < least ? bound : least;
    }
    return least;
}

/* Random calls and amounts; some that fit are refused by a later member. Held ones come when they were told, or 1 ns
 * before. */
START_TEST(equal_call_for_call)
{
    uint64_t state = 11;
    for (int config = 0; config < 100; config++) {
        char rate[32], burst[32];
        int64_t per_minute = 1 + (int64_t)(oracle_random(&state) % (config % 2 ? 100000000 : 1000000000000)), units;
        struct bench gcra;
        policy_time now = 0, times[LET_IN];
        sim_sum amounts[LET_IN];
        int count = 0;
        per_minute += 17000; /* above the least rate */
        units = 1 + (int64_t)(oracle_random(&state) % 1000);
        snprintf(rate, sizeof rate, "%lld.%06lld/min", (long long)(per_minute / 1000000),
                 (long long)(per_minute % 1000000));
        snprintf(burst, sizeof burst, "%lld", (long long)units);
        bench = bench_of("token_bucket", "rate", rate, "burst", burst, "meter", "output", "settle", "false", NULL);
        gcra = bench_of("gcra", "rate", rate, "burst", burst, "meter", "output", NULL);
        bench_begins(&bench);
        bench_begins(&gcra);
        while (count < LET_IN) {
            uint64_t word = oracle_random(&state);
            double output = (double)(word % (uint64_t)(word >> 60 ? units + 1 : 3 * units)) / (word >> 50 & 1 ? 1 : 8);
            struct policy_call *one = bench_call(&bench, 0, 0, output), *other = bench_call(&gcra, 0, 0, output);
            struct policy_answer answer = bench_attempts(&bench, one, now), same = bench_attempts(&gcra, other, now);
            sim_sum need = (sim_sum)(output * 1e6) * 60 * S, most = (sim_sum)units * 1000000 * 60 * S;
            sim_sum lack =
                (need < most ? need : most) - level_from_scratch(times, amounts, count, most, (sim_sum)per_minute, now);
            ck_assert_int_eq(answer.action, lack <= 0 ? POLICY_ADMIT : POLICY_HOLD);
            ck_assert_int_eq(same.action, answer.action);
            ck_assert_int_eq(same.after, answer.after);
            if (lack > 0) {
                sim_sum wait = (lack + per_minute - 1) / per_minute;
                ck_assert(answer.after == (wait > MS ? wait : MS));
                now += answer.after - (policy_time)(word >> 51 & 1);
            } else if (word >> 52 & 7) {
                bench_lets_in(&bench, one, now);
                bench_lets_in(&gcra, other, now);
                amounts[count] = need;
                times[count++] = now;
            }
            if ((word >> 55 & 3) == 0)
                now += (policy_time)(oracle_random(&state) % (uint64_t)(100 * S));
        }
        bench_free(&bench);
        bench_free(&gcra);
    }
}
END_TEST

/* The same while rate and burst are steered. */
START_TEST(equal_under_live_values)
{
    uint64_t state = 12;
    struct bench gcra = bench_of("gcra", "meter", "input", NULL);
    policy_time now = 0;
    int refused = 0;
    bench = bench_of("token_bucket", "meter", "input", "settle", "false", NULL);
    bench_begins(&bench);
    bench_begins(&gcra);
    for (int i = 0; i < 20000; i++) {
        uint64_t word = oracle_random(&state);
        double input = (double)(word % 4000), cached = (double)(word >> 20) / 0x1p44 * input;
        struct policy_call *one = bench_call(&bench, input, cached, 0), *other = bench_call(&gcra, input, cached, 0);
        bool in = bench_enters(&bench, one, now);
        ck_assert(in == bench_enters(&gcra, other, now));
        refused += !in;
        now += (policy_time)(word >> 32 & 0xfffffff);
        if (i % 5 == 0) {
            static const char *const keys[] = {"rate", "burst", "cached_weight"};
            const char *key = keys[word >> 16 & 1];
            double value = i % 70 == 0 ? (double)INFINITY : 1 + (double)(word >> 40 & 0xfff);
            if (i % 55 == 0)
                key = keys[2], value = (double)(word >> 40 & 0xff) / 255;
            bench_steers(&bench, now, key, value);
            bench_steers(&gcra, now, key, value);
        }
    }
    ck_assert_int_gt(refused, 1000);
    ck_assert_int_lt(refused, 19000);
    bench_free(&bench);
    bench_free(&gcra);
}
END_TEST

/* --- in trials ------------------------------------------------------------------------------------------------------
 */

/* Servers in plenty, 1 s a call, three runs at t = 0. */
static void three_runs(const char *policy, const char *settings, const char *starts)
{
    struct timeline t;
    char yaml[1024];
    snprintf(yaml, sizeof yaml,
             "study: {until: done}\nbackends: {b: {kind: slots, servers: 4, service: constant(1 s)}}\n"
             "agents: {a: {arrivals: all_at(0 s), runs: 3}}\n"
             "policies: [%s: {meter: requests, rate: 6/min, burst: 1, %s}]\n",
             policy, settings);
    timeline_expect(yaml, NULL, starts, &t);
}

START_TEST(held_and_deferred_calls_come_when_they_fit)
{
    static const char *const names[] = {"token_bucket", "gcra"};
    three_runs(names[_i], "answer: hold", "a0@0 a1@10 a2@20");
    three_runs(names[_i], "answer: defer", "a0@0 a1@10#2 a2@20#3");
    three_runs(names[_i], "answer: hold, scope: agent", "a0@0 a1@0 a2@0");
    three_runs(names[_i], "answer: hold, scope: all", "a0@0 a1@10 a2@20");
}
END_TEST

/* Three requests in an hour: those that a cap behind or in front refuses cost none. */
START_TEST(a_refused_attempt_costs_nothing)
{
    static const char *const buckets[] = {"token_bucket: {meter: requests, rate: 1/h, burst: 3}",
                                          "gcra: {meter: requests, rate: 1/h, burst: 3}"};
    for (int i = 0; i < 4; i++) {
        struct timeline t;
        char yaml[1024];
        const char *first = i % 2 ? buckets[i / 2] : "fixed_cap: {cap: 1}";
        const char *second = i % 2 ? "fixed_cap: {cap: 1}" : buckets[i / 2];
        snprintf(yaml, sizeof yaml,
                 "study: {until: done}\nbackends: {b: {kind: slots, servers: 4, service: constant(10 s)}}\n"
                 "agents: {a: {arrivals: all_at(0 s), runs: 3,\n"
                 "         client: {backoff: constant, base: 3 s, jitter: none}}}\npolicies: [c: [%s, %s]]\n",
                 first, second);
        timeline_expect(yaml, NULL, "a0@0 a1@12#5 a2@24#9", &t);
    }
}
END_TEST

#define CARD \
    "study: {horizon: 6000 s, warmup: 100 s}\n" \
    "backends: {card: {kind: slots, servers: 8, rate: 39 tokens/s}}\n" \
    "agents: {coder: {population: 24, think: exponential(4.5 s), output: exponential(354),\n" \
    "                 client: {base: 16 s, cap: 120 s}}}\n"

static void same_digits(const char *one, const char *other)
{
    char yaml[1024];
    double a[METRIC_COUNT], b[METRIC_COUNT];
    struct plan plan;
    snprintf(yaml, sizeof yaml, CARD "policies: [one: [%s], other: [%s]]\n", one, other);
    plan = model_plan(yaml);
    model_trial(&plan, 0, 3, a);
    model_trial(&plan, 1, 3, b);
    for (size_t i = 0; i < METRIC_COUNT; i++)
        ck_assert_msg(a[i] == b[i] || (isnan(a[i]) && isnan(b[i])), "%s: %.17g and %.17g", metrics[i].name, a[i], b[i]);
    plan_fini(&plan);
}

START_TEST(equal_on_the_card)
{
    same_digits("token_bucket: {preset: slots, settle: false}", "gcra: {preset: slots}");
    same_digits("token_bucket: {preset: slots, answer: defer, rate: 280/s}",
                "gcra: {preset: slots, answer: defer, rate: 280/s}"); /* the real counts are the expected ones */
    same_digits("token_bucket: {meter: in_flight, burst: 12, answer: defer}", "fixed_cap: {cap: 12}");
}
END_TEST

enum { JOINS = 5000 };

struct joins {
    sim_time at[JOINS];
    int count;
};

static void joined(void *context, const struct policy_call *call, uint32_t gate, sim_time service)
{
    struct joins *joins = context;
    (void)gate;
    (void)service;
    if (joins->count < JOINS)
        joins->at[joins->count++] = call->joined;
}

/* In every interval at most burst + rate * t are let in, and in the long run the rate. */
START_TEST(no_interval_has_more)
{
    static struct joins joins;
    static const char *const policies[] = {"token_bucket", "gcra"};
    for (int policy = 0; policy < 2; policy++) {
        struct trial_watch watch = {.started = joined, .context = &joins};
        char yaml[1024];
        double values[METRIC_COUNT];
        struct plan plan;
        bool good = true; /* ck_assert is too slow for millions */
        joins.count = 0;
        snprintf(yaml, sizeof yaml, CARD "policies: [%s: {meter: requests, rate: 41.7/min, burst: 5}]\n",
                 policies[policy]);
        plan = model_plan(yaml);
        ck_assert_int_eq(trial_simulate(plan.points[0].scenario, 1, &watch, values), TRIAL_ENDED);
        for (int i = 0; i < joins.count; i++)
            for (int j = i; j < joins.count; j++)
                good &= (sim_sum)(j - i + 1 - 5) * 60 * S * 10 <= (sim_sum)417 * (joins.at[j] - joins.at[i]);
        ck_assert(good);
        ck_assert_double_eq_tol(joins.count, 0.695 * 6000, 25);
        plan_fini(&plan);
    }
}
END_TEST

Suite *gcra_suite(void)
{
    Suite *suite = suite_create("gcra");
    TCase *equal = tcase_create("equal"), *trials = tcase_create("trials");
    tcase_add_test(equal, equal_call_for_call);
    tcase_add_test(equal, equal_under_live_values);
    tcase_add_loop_test(trials, held_and_deferred_calls_come_when_they_fit, 0, 2);
    tcase_add_test(trials, a_refused_attempt_costs_nothing);
    tcase_add_test(trials, equal_on_the_card);
    tcase_add_test(trials, no_interval_has_more);
    suite_add_tcase(suite, equal);
    suite_add_tcase(suite, trials);
    return suite;
}
