/* test_shares_law.c - the law that a class gets its share over any interval in which all have demand, in random lives;
 * and a job beside live runs, simulated. */
#include <check.h>
#include <math.h>

#include "tests/call_bench.h"
#include "tests/model.h"
#include "tests/oracles.h"
#include "tests/suites.h"

/* Callers that always have a call, each held and asking again when it was told to, as a gate would do it. */
enum { LIVE, BATCH, OTHER, CLASSES };
enum { CALLERS = 4, EVERYBODY = CALLERS * CLASSES };

static const char *const names[] = {"live", "batch", "other"};
static struct bench bench;

static const double rate_of[CLASSES] = {42, 6, 12}, bucket[CLASSES] = {420, 60, 120};

struct life {
    uint64_t random;
    struct policy_call *calls[EVERYBODY];
    policy_time alarms[EVERYBODY];
    double taken[CLASSES], largest[CLASSES];
    /* Of what was taken beyond rate times time, since the phase began: at every moment before and after a call. */
    double most[CLASSES], least[CLASSES];
};

static double drawn(struct life *life, double most)
{
    return floor((double)(oracle_random(&life->random) >> 11) * 0x1p-53 * most) + 1;
}

static void next_call(struct life *life, int caller, double part)
{
    uint32_t klass = (uint32_t)(caller % CLASSES);
    life->calls[caller] = bench_call(&bench, drawn(life, part * bucket[klass]), 0, 0);
    life->calls[caller]->klass = klass;
}

static void note(struct life *life, int klass, policy_time since)
{
    double beyond = life->taken[klass] - rate_of[klass] * (double)since / 1e9;
    life->most[klass] = fmax(life->most[klass], beyond);
    life->least[klass] = fmin(life->least[klass], beyond);
}

static int first_of(const struct life *life, unsigned classes)
{
    int first = -1;
    for (int i = 0; i < EVERYBODY; i++)
        if (classes >> i % CLASSES & 1 && (first < 0 || life->alarms[i] < life->alarms[first]))
            first = i;
    return first;
}

/* From one time to another these classes have demand. Calls are as large as this part of their bucket. */
static void phase(struct life *life, policy_time from, policy_time to, unsigned classes, double part)
{
    for (int k = 0; k < CLASSES; k++)
        life->taken[k] = life->most[k] = life->least[k] = life->largest[k] = 0;
    for (int i = 0; i < EVERYBODY; i++) {
        life->alarms[i] = from;
        next_call(life, i, part);
    }
    for (int i = first_of(life, classes); life->alarms[i] < to; i = first_of(life, classes)) {
        policy_time now = life->alarms[i];
        int klass = i % CLASSES;
        bool held = life->calls[i]->ever_held;
        struct policy_answer answer =
            held ? bench_asks_again(&bench, life->calls[i], now) : bench_attempts(&bench, life->calls[i], now);
        if (answer.action == POLICY_HOLD) {
            life->calls[i]->ever_held = true;
            life->alarms[i] = now + answer.after;
            continue;
        }
        ck_assert_int_eq(answer.action, POLICY_ADMIT);
        note(life, klass, now - from);
        life->taken[klass] += life->calls[i]->input_tokens;
        life->largest[klass] = fmax(life->largest[klass], life->calls[i]->input_tokens);
        note(life, klass, now - from);
        bench_lets_in(&bench, life->calls[i], now);
        bench_ends(&bench, life->calls[i], now, POLICY_DONE);
        next_call(life, i, part);
    }
    for (int k = 0; k < CLASSES; k++)
        note(life, k, to - from);
}

/* All have demand: between any two moments, so also the furthest apart in what they have, the law holds. */
static void expect_law(const struct life *life, double seconds, bool within_bucket)
{
    for (int k = 0; k < CLASSES; k++) {
        double range = life->most[k] - life->least[k], one = life->taken[k] / (rate_of[k] * seconds);
        ck_assert_msg(range <= bucket[k] + life->largest[k] + 1e-3, "%s: %g beyond its share", names[k], range);
        ck_assert_msg(!within_bucket || range <= bucket[k] + 1e-3, "%s: %g beyond its share", names[k], range);
        ck_assert_msg(seconds < 3600 || (one > 0.99 && one < 1.01), "%s: %g of its share", names[k], one);
    }
}

START_TEST(the_law)
{
    bool borrow = _i % 2;
    double part = _i < 2 ? 0.3 : _i < 4 ? 1 : 1.7; /* of a bucket: the largest call */
    struct life life = {.random = (uint64_t)_i};
    bench = bench_of("shares", "rate", "60/s", "burst", "10 s", "classes", "live 70 % batch 10 % other 20 %", "borrow",
                     borrow ? "true" : "false", NULL);
    bench.view.class_names = names;
    bench.view.classes = CLASSES;
    bench_begins(&bench);
    phase(&life, 0, 3600 * S, 7, part);
    expect_law(&life, 3600, part <= 1);
    /* live has no demand: its share is lost, or goes to the others by theirs */
    phase(&life, 4000 * S, 5000 * S, 6, part);
    ck_assert_double_eq(life.taken[LIVE], 0);
    for (int k = BATCH; k < CLASSES; k++) {
        double lent = borrow ? 42 * rate_of[k] / 18 : 0, flowed = (rate_of[k] + lent) * 1000;
        ck_assert_double_le(fabs(life.taken[k] - flowed), bucket[k] + life.largest[k]);
    }
    /* and is its own again from the moment that it comes back */
    phase(&life, 5000 * S, 9000 * S, 7, part);
    expect_law(&life, 4000, part <= 1);
    ck_assert_double_ge(life.most[LIVE], part < 1 ? 420 - life.largest[LIVE] : 0);
    phase(&life, 9000 * S, 9060 * S, 7, part);
    expect_law(&life, 60, part <= 1);
    bench_free(&bench);
}
END_TEST

/* --- simulated ------------------------------------------------------------------------------------------------------
 */

/* A job of 50 workers beside live runs that use 6 % of the quota: 2 M input tokens a minute, in buckets of 6 s. */
START_TEST(a_job_beside_live_runs)
{
    struct plan plan =
        model_plan("study: {horizon: 130 min, warmup: 10 min}\n"
                   "backends: {pool: {kind: provider, meters: {input: {limit: 2M tokens/min, burst: 200k}},\n"
                   "                  latency: {base: 1.7 s}}}\n"
                   "agents:\n"
                   "  live: {arrivals: poisson(30/h), turns: constant(8), think: exponential(2.3 s), input: {start: "
                   "30k}, output: 400}\n"
                   "  batch: {population: 50, think: exponential(2.3 s), input: {start: 12k}, output: 400}\n"
                   "policies: [hard: [shares: {classes: live 70 % batch 10 %}],\n"
                   "           lent: [shares: {classes: live 70 % batch 10 %, borrow: true}]]\n");
    enum { ALL, OF_LIVE, OF_BATCH, ROWS };
    double hard[ROWS][METRIC_COUNT], lent[ROWS][METRIC_COUNT];
    ck_assert_uint_eq(trial_row_count(plan.points[0].scenario), ROWS);
    model_trial(&plan, 0, 1, hard[0]);
    model_trial(&plan, 1, 1, lent[0]);
    /* 120 min at 200k: at most a bucket and a call away */
    ck_assert_double_eq_tol(hard[OF_BATCH][METRIC_INPUT_PER_MIN], 200000, 32000 / 120.0);
    ck_assert_double_eq(hard[ALL][METRIC_PROVIDER_429S], 0); /* all the buckets together are the pool's */
    ck_assert_double_eq(lent[ALL][METRIC_PROVIDER_429S], 0);
    ck_assert_double_eq_tol(lent[ALL][METRIC_INPUT_PER_MIN], 2e6, 2e6 * 0.01);
    ck_assert_double_gt(lent[OF_BATCH][METRIC_INPUT_PER_MIN], 1.8e6);
    ck_assert_double_eq(hard[OF_LIVE][METRIC_TOTAL_WAIT_P99], 0);
    ck_assert_double_eq(lent[OF_LIVE][METRIC_TOTAL_WAIT_P99], 0); /* lending costs live nothing */
    plan_fini(&plan);
}
END_TEST

Suite *shares_law_suite(void)
{
    Suite *suite = suite_create("shares_law");
    TCase *test = tcase_create("shares_law");

    tcase_add_loop_test(test, the_law, 0, 6);
    tcase_add_test(test, a_job_beside_live_runs);
    suite_add_tcase(suite, test);
    return suite;
}
