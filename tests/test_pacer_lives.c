/* test_pacer_lives.c - the pacer in small simulations: without limits it is not there, on a pool that it knows it loses
 * nothing, nobody starves behind smaller ones, and 429s are waited out as long as the hold cap allows. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tests/model.h"
#include "tests/sheet.h"
#include "tests/suites.h"

/* --- without limits ---------------------------------------------------------------------------------------------- */

#define NO_LIMITS "r_tok: inf, c_burst: inf, k_inflight: inf, r_qps: inf, c_req: inf"

static const char card[] = "study: {horizon: 6000 s, warmup: 100 s}\n"
                           "backends: {card: {kind: slots, servers: 8, rate: 39 tokens/s, prefill: 962 tokens/s}}\n"
                           "agents: {coder: {population: 24, think: exponential(4.5 s), output: exponential(354), "
                           "input: {start: 2k, per_turn: exponential(300), most: 9k}, turns: geometric(8), "
                           "client: {base: 16 s, cap: 120 s, timeout: 60 s, attempts: 3}}}\n";

/* Its 429s: of requests, of tokens, and of what comes all at once. */
static const char pool[] =
    "study: {horizon: 3000 s, warmup: 100 s}\n"
    "backends: {pool: {kind: provider, meters: {requests: {limit: 60/min, burst: 20}, input: {limit: 20k tokens/s}},\n"
    "           simultaneous: {cold: 200k, hot: 100k}, latency: {base: 2 s, per_output: 6 ms}, retry_after: %s,\n"
    "           errors: 3 %%}}\n"
    "agents: {coder: {population: 12, think: exponential(3 s), input: {start: 18k, per_turn: 600, most: 60k},\n"
    "         output: lognormal(185 cv 1), turns: geometric(20), client: {hold_cap: 45 s, attempts: 4}}}\n";

static void same_digits(const char *world, const char *parameters)
{
    char yaml[2048];
    double a[METRIC_COUNT], b[METRIC_COUNT];
    struct plan plan;

    snprintf(yaml, sizeof yaml, "%spolicies: [unbounded, pacer: {%s}]\n", world, parameters);
    plan = model_plan(yaml);
    ck_assert_uint_eq(plan.point_count, 2);
    ck_assert_uint_eq(trial_row_count(plan.points[0].scenario), 1);
    model_trial(&plan, 0, 2, a);
    model_trial(&plan, 1, 2, b);
    for (size_t i = 0; i < METRIC_COUNT; i++)
        ck_assert_msg(a[i] == b[i] || (isnan(a[i]) && isnan(b[i])), "%s: %.17g and %.17g", metrics[i].name, a[i], b[i]);
    ck_assert_double_gt(a[METRIC_GOODPUT], 0.1);
    plan_fini(&plan);
}

/* What a 429 leads to is no limit: where it tells a time the client hears of it, else `tries` says how often it does
 * not. */
START_TEST(without_limits_equals_unbounded)
{
    char yaml[2048];

    same_digits(card, NO_LIMITS);
    same_digits(card, "law: concurrency, concurrency: inf");
    same_digits(card, "law: retry_after");
    snprintf(yaml, sizeof yaml, pool, "exact");
    same_digits(yaml, NO_LIMITS);
    snprintf(yaml, sizeof yaml, pool, "none");
    same_digits(yaml, NO_LIMITS ", tries: 0");
    same_digits(yaml, "law: retry_after, tries: 0");
}
END_TEST

/* --- a constant pool --------------------------------------------------------------------------------------------- */

/* A fleet wants more than the pool has: what it gets of the meter, a share of its limit, and hardly a 429. */
static double carried(const char *meter, const char *pacer, enum metric_index metric, double limit)
{
    char yaml[2048];
    double values[METRIC_COUNT];
    struct plan plan;

    snprintf(yaml, sizeof yaml,
             "study: {horizon: 4 h, warmup: 20 min}\n"
             "backends: {pool: {kind: provider, meters: {%s}, latency: {base: 0.577 s, per_output: 6.31 ms},\n"
             "           retry_after: none}}\n"
             "agents: {coder: {population: 40, think: exponential(2.79 s), turns: geometric(80),\n"
             "         input: {start: 17784, per_turn: 616, most: 235929}, output: lognormal(median 185 sigma 0.8),\n"
             "         client: [{preset: opencode}, {attempts: inf}]}}\n"
             "policies: [pacer: {%s}]\n",
             meter, pacer);
    plan = model_plan(yaml);
    model_trial(&plan, 0, 1, values);
    ck_assert_double_lt(values[METRIC_PROVIDER_429S], 1); /* an hour: the last digit of an estimate */
    ck_assert_double_eq(values[METRIC_LOST_TURNS], 0);
    plan_fini(&plan);
    return values[metric] / limit;
}

/* Seeded with the pool's own rate and burst; within the noise of calls under way at the ends of the window. */
START_TEST(a_pool_that_it_knows_is_used)
{
    double tokens = carried("input: {limit: 50k tokens/s, burst: 1065k tokens}",
                            "r_tok: 50k tokens/s, c_burst: 1065k, k_inflight: inf, r_qps: inf, c_req: inf",
                            METRIC_INPUT_PER_MIN, 60 * 50e3);
    double requests =
        carried("requests: {limit: 50/min, burst: 30}",
                "r_qps: 50/min, c_req: 30, r_tok: inf, c_burst: inf, k_inflight: inf", METRIC_REQUESTS_PER_MIN, 50);
    double cached = carried("input: {limit: 8k tokens/s, burst: 1065k tokens, cached_weight: 0.1}",
                            "r_tok: 8k tokens/s, c_burst: 1065k, cached_weight: 0.1, k_inflight: inf, r_qps: inf, "
                            "c_req: inf",
                            METRIC_CHARGED + 2 * METER_INPUT, 8e3 * 60);

    ck_assert_msg(tokens >= 0.95 && tokens <= 1.01, "%g of the limit of tokens", tokens);
    ck_assert_msg(requests >= 0.95 && requests <= 1.01, "%g of the limit of requests", requests);
    ck_assert_msg(cached >= 0.95 && cached <= 1.01, "%g of the limit of weighted tokens", cached);
}
END_TEST

/* --- fairness ---------------------------------------------------------------------------------------------------- */

START_TEST(starvation)
{
    static const char *const without[] = {"no_fairness", "no_reservation"};
    struct sheet *sheet = sheet_as_expected("starvation");
    size_t small = sheet_row(sheet, "policy=pacer class=small"), large = sheet_row(sheet, "policy=pacer class=large");

    /* With its line none runs into its cap, the large ones wait no longer than the small. */
    ck_assert_double_eq(sheet_cell(sheet, large, "hold_expired"), 0);
    ck_assert_double_eq(sheet_cell(sheet, small, "hold_expired"), 0);
    ck_assert_double_lt(sheet_cell(sheet, large, "total_wait_p99"), sheet_cell(sheet, small, "total_wait_p99"));
    ck_assert_double_lt(sheet_cell(sheet, large, "total_wait_p99"), 50);
    for (size_t i = 0; i < 2; i++) {
        char cells[64];
        size_t starved, lucky;

        snprintf(cells, sizeof cells, "policy=%s class=large", without[i]);
        starved = sheet_row(sheet, cells);
        snprintf(cells, sizeof cells, "policy=%s class=small", without[i]);
        lucky = sheet_row(sheet, cells);
        /* Ten holds of 100 s and nine pauses of 30 s each: 2.83 calls an hour are given up, and none is answered. */
        ck_assert_double_eq(sheet_cell(sheet, starved, "goodput"), 0);
        ck_assert_double_eq_tol(sheet_cell(sheet, starved, "lost_turns"), 3600.0 / (10 * 100 + 9 * 30 + 2), 0.05);
        ck_assert_double_lt(sheet_cell(sheet, small, "total_wait_p99"), 2 * sheet_cell(sheet, lucky, "total_wait_p99"));
        ck_assert_double_lt(sheet_cell(sheet, small, "total_wait_mean"),
                            2 * sheet_cell(sheet, lucky, "total_wait_mean"));
    }
    sheet_free(sheet);
}
END_TEST

/* --- overloads --------------------------------------------------------------------------------------------------- */

struct tried {
    uint64_t expired, overloads, others; /* others: answered */
    double longest;                      /* seconds that an attempt took */
};

static void attempted(void *context, const struct attempt_record *record)
{
    struct tried *tried = context;
    double took = sim_seconds(record->finished - record->call->attempted);

    if (record->verdict == ATTEMPT_UNFINISHED)
        return;
    tried->expired += record->verdict == ATTEMPT_HOLD_EXPIRED;
    tried->overloads += record->verdict == ATTEMPT_OVERLOAD;
    tried->others += record->verdict != ATTEMPT_HOLD_EXPIRED && record->verdict != ATTEMPT_OVERLOAD;
    tried->longest = took > tried->longest ? took : tried->longest;
}

/* A pool that refuses all but one call a day: tries of an attempt behind its first, by the hold cap. */
static double tries_within(const char *preset, struct tried *tried)
{
    char yaml[1024], wrong[512] = "";
    struct trial_watch watch = {.attempted = attempted, .context = tried, .wrong = wrong, .wrong_size = sizeof wrong};
    double values[METRIC_COUNT], attempts;
    struct plan plan;

    *tried = (struct tried){0};
    snprintf(yaml, sizeof yaml,
             "study: {horizon: 400 h}\n"
             "backends: {pool: {kind: provider, meters: {input: {limit: 100 tokens/d, burst: 100 tokens}},\n"
             "           latency: {base: 1 s}, retry_after: none}}\n"
             "agents: {coder: {population: 5, think: exponential(10 s), input: {start: 100}, output: 1,\n"
             "         client: {preset: %s}}}\n"
             "policies: [pacer: {kappa_start: 4.89}]\n",
             preset);
    plan = model_plan(yaml);
    ck_assert_msg(trial_simulate(plan.points[0].scenario, 1, &watch, values) == TRIAL_ENDED, "%s", wrong);
    plan_fini(&plan);
    attempts = (double)(tried->expired + tried->overloads);
    ck_assert_double_gt(attempts, 1000);
    ck_assert_uint_le(tried->others, 1 + 400 / 24);
    /* each 429 that its client did not hear of led to a try or, once an attempt, to the end of its hold */
    return (values[METRIC_PROVIDER_429S] * 400 - attempts) / attempts;
}

/* 30 s x 0.75 to 1.25, then 60 s, then 90 s each: 45 s allow one more try, 100 s two, 240 s three or four. */
START_TEST(an_overload_is_waited_out_within_the_cap)
{
    struct tried tried;
    double tries = tries_within("unknown", &tried);

    ck_assert_msg(fabs(tries - 1) < 0.01, "%g tries within 45 s", tries);
    ck_assert_double_le(tried.longest, 45); /* and nobody waits for a cap that comes before the end of a pause */
    ck_assert_uint_eq(tried.expired, 0);
    tries = tries_within("claude_code", &tried);
    ck_assert_msg(tries > 1.5 && tries <= 2, "%g tries within 100 s", tries);
    ck_assert_double_le(tried.longest, 100);
    tries = tries_within("opencode", &tried);
    ck_assert_msg(tries > 3 && tries < 4, "%g tries within 240 s", tries);
    ck_assert_double_le(tried.longest, 240);
    tries = tries_within("opencode, hold_cap: inf", &tried);
    ck_assert_msg(fabs(tries - 6) < 0.01, "%g tries", tries);
    ck_assert_uint_eq(tried.expired, 0);
}
END_TEST

/* --- the store is down ------------------------------------------------------------------------------------------- */

struct starts {
    double last[20], least, most, least_all, last_all;
    uint64_t count;
};

static void started(void *context, const struct policy_call *call, uint32_t gate, sim_time service)
{
    struct starts *starts = context;
    double now = sim_seconds(call->started), gap = now - starts->last[call->agent];

    (void)gate;
    (void)service;
    if (starts->count++ > 100) {
        starts->least = gap < starts->least ? gap : starts->least;
        starts->most = gap > starts->most ? gap : starts->most;
    }
    starts->last[call->agent] = now;
}

/* 20 agents that think and are answered in no time: each starts every 2 to 3.5 s, 2.75 s on average. */
START_TEST(each_agent_by_itself_without_a_store)
{
    struct starts starts = {.least = INFINITY};
    char wrong[512] = "";
    struct trial_watch watch = {.started = started, .context = &starts, .wrong = wrong, .wrong_size = sizeof wrong};
    double values[METRIC_COUNT];
    struct plan plan = model_plan("study: {horizon: 3000 s}\n"
                                  "backends: {pool: {kind: provider, latency: {base: 0.1 s}}}\n"
                                  "agents: {coder: {population: 20, think: exponential(0.1 s), input: {start: 50k}, "
                                  "output: 1}}\n"
                                  "policies: [pacer: {store: down}]\n");

    ck_assert_msg(trial_simulate(plan.points[0].scenario, 1, &watch, values) == TRIAL_ENDED, "%s", wrong);
    plan_fini(&plan);
    ck_assert_msg(starts.least >= 2 && starts.least < 2.01, "gaps of %g s", starts.least);
    ck_assert_msg(starts.most >= 3.49 && starts.most < 3.6, "gaps of %g s", starts.most);
    ck_assert_double_eq_tol((double)starts.count, 20 * 3000 / 2.75, 200);
}
END_TEST

Suite *pacer_lives_suite(void)
{
    Suite *suite = suite_create("pacer_lives");
    TCase *test = tcase_create("lives");

    tcase_add_test(test, without_limits_equals_unbounded);
    tcase_add_test(test, a_pool_that_it_knows_is_used);
    tcase_add_test(test, starvation);
    tcase_add_test(test, an_overload_is_waited_out_within_the_cap);
    tcase_add_test(test, each_agent_by_itself_without_a_store);
    suite_add_tcase(suite, test);
    return suite;
}
