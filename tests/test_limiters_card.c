/* test_limiters_card.c - the limiters on a card: with settings that only admit, with a limit that never moves, and what
 * becomes of the published values, each shown by a gauge. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "models/gauges.h"
#include "tests/model.h"
#include "tests/suites.h"

/* --- exactly ----------------------------------------------------------------------------------------------------- */

#define WORLD \
    "study: {horizon: 3000 s, warmup: 300 s}\n" \
    "backends:\n" \
    "  card: {kind: slots, servers: 3, rate: 40 tokens/s}\n" \
    "  other: {kind: slots, servers: 2, step_time: {base: 10 ms, per_busy_slot: 5 ms}}\n" \
    "  pool: {kind: provider, latency: {base: 2 s}, meters: {requests: 20/min}}\n" \
    "agents:\n" \
    "  endless: {population: 12, think: exponential(3 s), output: exponential(200), backend: card, tenant: red,\n" \
    "            client: {base: 2 s, timeout: 25 s}}\n" \
    "  runs: {population: 6, turns: geometric(4), think: exponential(2 s), output: exponential(150), backend: card,\n" \
    "         tenant: blue, client: {base: 1 s, attempts: 4}}\n" \
    "  arriving: {arrivals: poisson(0.3/s), turns: constant(2), think: constant(1 s), output: exponential(100),\n" \
    "             backend: other, tenant: red, client: {base: 1 s, timeout: 6 s, attempts: 3}}\n" \
    "  remote: {population: 5, think: exponential(3 s), output: 10, backend: pool, client: {attempts: 5}}\n"

static void expect_equal(const char *one, const char *other)
{
    static double a[METRIC_COUNT * 20], b[METRIC_COUNT * 20];
    char yaml[4096];
    struct plan plan;
    snprintf(yaml, sizeof yaml, WORLD "policies: [a: [%s], b: [%s]]\n", one, other);
    plan = model_plan(yaml);
    ck_assert_uint_le(trial_row_count(plan.points[0].scenario), 20);
    model_trial(&plan, 0, 1, a);
    model_trial(&plan, 1, 1, b);
    for (size_t k = 0; k < METRIC_COUNT * trial_row_count(plan.points[0].scenario); k++)
        ck_assert_msg(a[k] == b[k] || (isnan(a[k]) && isnan(b[k])), "%s: %s: %.17g and %.17g", other,
                      metrics[k % METRIC_COUNT].name, a[k], b[k]);
    plan_fini(&plan);
}

/* The digits of `unbounded`, with timeouts, runs, arrivals and a metered pool. */
START_TEST(that_only_admit)
{
    static const char *const chains[] = {
        "aimd: {initial: inf, least: inf, most: inf}",
        "vegas: {initial: inf, least: inf, most: inf}",
        "vegas: {preset: slots, initial: inf, least: inf, most: inf}",
        "gradient2: {initial: inf, least: inf, most: inf, samples: 1}",
        "envoy_gradient: {least: inf, most: inf, requests: 3}",
        "envoy_admission: {most: 0}",
        "folly_codel: {target: inf}",
        "pid: {gain: 0}",
        "pid: {most: 0, interval: 1 s}",
        "breakwater: {initial: inf, target: inf, drop_at: inf}",
        "sre_throttle: {k: inf}",
        "aimd: {least: inf, most: inf}, vegas: {least: inf, most: inf}, envoy_admission:"
        " {most: 0}, folly_codel: {target: inf}, pid: {gain: 0}, gradient2: {least: inf,"
        " most: inf}, breakwater: {initial: inf, target: inf, drop_at: inf}"};
    for (size_t i = 0; i < sizeof chains / sizeof *chains; i++)
        expect_equal("unbounded", chains[i]);
}
END_TEST

/* A limit with nowhere to go is a fixed cap. */
START_TEST(that_cannot_move)
{
    static const char *const limits[] = {"aimd: {least: 6, most: 6}", "vegas: {least: 6, most: 6}",
                                         "gradient2: {least: 6, most: 6, samples: 1, window: 1 ms}",
                                         "envoy_gradient: {least: 6, most: 6, requests: 3}"};
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
        expect_equal("fixed_cap: {cap: 6}", limits[i]);
}
END_TEST

/* --- on the card ------------------------------------------------------------------------------------------------- */

/* What a gauge showed every ten seconds. */
struct seen {
    const char *gauge; /* what its name ends in */
    size_t index;
    double first, last, least, most, mean;
    size_t samples;
};

struct watcher {
    struct seen *seen;
    size_t count;
};

static void note(void *context, sim_time at, const double *values)
{
    struct watcher *watcher = context;
    (void)at;
    for (size_t i = 0; i < watcher->count; i++) {
        struct seen *seen = &watcher->seen[i];
        double value = values[seen->index];
        if (seen->samples++ == 0)
            seen->first = seen->least = seen->most = value;
        seen->last = value;
        seen->least = fmin(seen->least, value);
        seen->most = fmax(seen->most, value);
        seen->mean += (value - seen->mean) / (double)seen->samples;
    }
}

static size_t place_of(const struct gauges *gauges, const char *end)
{
    for (size_t i = 0; i < gauges->count; i++) {
        const char *dot = strrchr(gauges->list[i].name, '.');
        if (strcmp(dot ? dot + 1 : gauges->list[i].name, end) == 0)
            return i;
    }
    ck_abort_msg("no gauge is called %s", end);
    return 0;
}

/* A policy and so many agents on eight slots of 39 tokens/s, for 6,000 s. `more` is the client's. */
static void watched(const char *policy, int population, const char *more, struct seen *seen, size_t count)
{
    char yaml[2048];
    double values[METRIC_COUNT];
    struct arena arena = {0};
    struct watcher watcher = {seen, count};
    struct gauges gauges;
    struct trial_watch watch = {.recorded = note, .gauges = &gauges, .context = &watcher};
    struct plan plan;
    snprintf(yaml, sizeof yaml,
             "study: {horizon: 6000 s}\n"
             "backends: {card: {kind: slots, servers: 8, rate: 39 tokens/s}}\n"
             "agents: {coder: {population: %d, think: exponential(4.5 s),\n"
             "  output: mixture(0.7 lognormal(120 cv 0.45) | 0.3 lognormal(900 cv 0.35)),\n"
             "  client: {base: 16 s, cap: 120 s%s}}}\n"
             "record: {every: 10 s, file: none.csv}\n"
             "policies: [%s]\n",
             population, more, policy);
    plan = model_plan(yaml);
    gauges = gauges_of(plan.points[0].scenario, &arena);
    for (size_t i = 0; i < count; i++)
        seen[i] = (struct seen){.gauge = seen[i].gauge, .index = place_of(&gauges, seen[i].gauge)};
    ck_assert_int_eq(trial_simulate(plan.points[0].scenario, 1, &watch, values), TRIAL_ENDED);
    ck_assert_uint_eq(seen->samples, 601);
    plan_fini(&plan);
    arena_free(&arena);
}

/* A least limit of 20 binds nobody where 20 agents are all there is, and hardly where 24 are; 5 s are not enough for a
 * turn of 9 s that waits, so that every answer is a drop and the limit does not move. */
START_TEST(aimd_published_never_binds)
{
    struct seen seen[] = {{.gauge = "limit"}, {.gauge = "refused"}, {.gauge = "late"}, {.gauge = "answers"}};
    watched("aimd: {preset: published}", 20, "", seen, 4);
    ck_assert_double_eq(seen[1].last, 0);
    watched("aimd: {preset: published}", 24, "", seen, 4);
    ck_assert_double_eq(seen[0].last, 20);
    ck_assert_double_gt(seen[2].last, 0.97 * seen[3].last);
    watched("aimd: {preset: slots}", 24, "", seen, 4);
    ck_assert_double_gt(seen[0].most, 24);
    ck_assert_double_gt(seen[1].last, 100);
    ck_assert_double_lt(seen[2].last, 0.3 * seen[3].last);
}
END_TEST

/* In no second of 6,000 do ten of 0.88 answers a second fall: it never looks at anything. */
START_TEST(gradient2_published_never_updates)
{
    struct seen seen[] = {{.gauge = "limit"}, {.gauge = "refused"}, {.gauge = "updates"}, {.gauge = "windows"}};
    watched("gradient2: {preset: published}", 20, "", seen, 4);
    ck_assert_double_eq(seen[1].last, 0);
    watched("gradient2: {preset: published}", 24, "", seen, 4);
    ck_assert_double_eq(seen[0].least, 20);
    ck_assert_double_eq(seen[0].most, 20);
    ck_assert_double_eq(seen[2].last, 0);
    ck_assert_double_gt(seen[3].last, 2000);
    watched("gradient2: {preset: slots}", 24, "", seen, 4);
    ck_assert_double_gt(seen[2].last, 0.95 * seen[3].last);
    ck_assert_double_gt(seen[0].mean, 9);
    ck_assert_double_lt(seen[0].mean, 20);
    ck_assert_double_gt(seen[1].last, 100);
}
END_TEST

/* A turn of 23 s looks like a line beside one of 3 s: two of eight slots stand idle. */
START_TEST(vegas_published_takes_long_turns_for_a_line)
{
    struct seen seen[] = {{.gauge = "limit"}, {.gauge = "busy"}};
    watched("vegas: {preset: published}", 40, "", seen, 2);
    ck_assert_double_lt(seen[0].mean, 7.5);
    ck_assert_double_lt(seen[1].mean, 6.5);
    watched("vegas: {preset: slots}", 40, "", seen, 2);
    ck_assert_double_gt(seen[0].mean, 8.5);
    ck_assert_double_lt(seen[0].mean, 16);
    ck_assert_double_gt(seen[1].mean, 7.8);
}
END_TEST

/* 50 answers at three in flight, of 9.08 s each, are 151 s, and somewhat more, as nobody asks the moment that one
 * leaves; then it probes again after some 64 s. So it probes two thirds of the time. */
START_TEST(envoy_published_probes_for_minutes)
{
    struct seen seen[] = {{.gauge = "probing"}, {.gauge = "probe_time"}, {.gauge = "probes"}, {.gauge = "busy"}};
    double each;
    watched("envoy_gradient: {preset: published}", 24, "", seen, 4);
    each = seen[1].last / (seen[2].last - seen[0].last);
    ck_assert_double_gt(each, 151);
    ck_assert_double_lt(each, 230);
    ck_assert_double_gt(seen[0].mean, 0.65);
    ck_assert_double_lt(seen[3].mean, 5);
    watched("envoy_gradient: {preset: slots}", 24, "", seen, 4);
    ck_assert_double_lt(seen[0].mean, 0.05);
    ck_assert_double_gt(seen[3].mean, 7.5);
}
END_TEST

/* Everybody waits for minutes, nobody fails: nobody is refused. Where clients leave after a minute it acts. */
START_TEST(envoy_admission_does_not_see_a_line)
{
    struct seen seen[] = {{.gauge = "probability"}, {.gauge = "refused"}, {.gauge = "oldest"}};
    static const char *const presets[] = {"envoy_admission: {preset: published}", "envoy_admission: {preset: slots}"};
    for (size_t i = 0; i < 2; i++) {
        watched(presets[i], 200, "", seen, 3);
        ck_assert_double_eq(seen[0].most, 0);
        ck_assert_double_eq(seen[1].last, 0);
        ck_assert_double_gt(seen[2].last, 180);
        watched(presets[i], 100, ", timeout: 60 s", seen, 3);
        ck_assert_double_gt(seen[0].mean, 0.05);
        ck_assert_double_gt(seen[1].last, 100);
    }
}
END_TEST

/* Each interval of 100 ms has one call, which is the first and served: overloaded for ever it sheds nobody, but when
 * two come in one, and then everybody. */
START_TEST(folly_published_sheds_whole_lines)
{
    struct seen seen[] = {{.gauge = "most_at_once"}, {.gauge = "overloaded"}, {.gauge = "refused"}};
    double refused;
    watched("folly_codel: {preset: published}", 80, "", seen, 3);
    ck_assert_double_ge(seen[0].last, 50);
    ck_assert_double_gt(seen[1].mean, 0.5);
    watched("folly_codel: {preset: published}", 24, "", seen, 3);
    refused = seen[2].last;
    watched("folly_codel: {preset: slots}", 24, "", seen, 3);
    ck_assert_double_gt(seen[2].last, 100);
    ck_assert_double_lt(seen[2].last, refused / 3);
}
END_TEST

/* In 500 ms a card takes a call or none. */
START_TEST(pid_published_sees_nothing)
{
    struct seen seen[] = {{.gauge = "quiet"}, {.gauge = "intervals"}, {.gauge = "share"}};
    watched("pid: {preset: published}", 40, "", seen, 3);
    ck_assert_double_gt(seen[0].last, 0.3 * seen[1].last);
    ck_assert_double_lt(seen[2].mean, 0.05);
    watched("pid: {preset: slots}", 40, "", seen, 3);
    ck_assert_double_lt(seen[0].last, 0.02 * seen[1].last);
}
END_TEST

/* At 80 us the pool is empty or full, credits are never what is missing, and the age of the head decides alone. */
START_TEST(breakwater_published_is_all_or_nothing)
{
    struct seen seen[] = {{.gauge = "credits"}, {.gauge = "refused"}, {.gauge = "dropped"}, {.gauge = "delay"}};
    watched("breakwater: {preset: published}", 24, "", seen, 4);
    ck_assert_double_eq(seen[0].least, 0); /* at 0 s, before the first event */
    ck_assert_double_eq(seen[0].most, 64 * 24);
    ck_assert_double_gt(seen[2].last, 1000);
    ck_assert_double_lt(seen[1].last, 0.05 * seen[2].last);
    watched("breakwater: {preset: slots}", 40, "", seen, 4);
    ck_assert_double_lt(seen[0].most, 64);
    ck_assert_double_gt(seen[1].last, seen[2].last);
    ck_assert_double_gt(seen[3].mean, 4.5);
    ck_assert_double_lt(seen[3].mean, 18);
}
END_TEST

/* --- sre_throttle at a pool -------------------------------------------------------------------------------------- */

/* One copy for the whole pool: about as many calls are refused by the pool as are served, k - 1 each, whatever is
 * asked of it; without it many more. */
START_TEST(sre_throttle_at_pool_scope)
{
    static const char *const policies[] = {"sre_throttle: {preset: published}", "unbounded"};
    double refused[2], values[METRIC_COUNT];
    for (size_t i = 0; i < 2; i++) {
        char yaml[1024];
        struct plan plan;
        snprintf(yaml, sizeof yaml,
                 "study: {horizon: 6000 s, warmup: 600 s}\n"
                 "backends: {pool: {kind: provider, latency: {base: 1 s}, meters: {requests: 60/min}}}\n"
                 "agents: {a: {population: 60, think: exponential(5 s), output: 10,\n"
                 "             client: {backoff: constant, base: 5 s, jitter: full, retry_after: ignore}}}\n"
                 "policies: [%s]\n",
                 policies[i]);
        plan = model_plan(yaml);
        model_trial(&plan, 0, 1, values);
        refused[i] = values[METRIC_PROVIDER_429S] / 3600 / values[METRIC_GOODPUT];
        ck_assert_double_gt(values[METRIC_GOODPUT], 0.9);
        plan_fini(&plan);
    }
    ck_assert_double_gt(refused[0], 0.8);
    ck_assert_double_lt(refused[0], 1.2);
    ck_assert_double_gt(refused[1], 5);
}
END_TEST

Suite *limiters_card_suite(void)
{
    Suite *suite = suite_create("limiters_card");
    TCase *exact = tcase_create("exact"), *card = tcase_create("card"), *pool = tcase_create("pool");
    tcase_add_test(exact, that_only_admit);
    tcase_add_test(exact, that_cannot_move);
    suite_add_tcase(suite, exact);
    tcase_add_test(card, aimd_published_never_binds);
    tcase_add_test(card, gradient2_published_never_updates);
    tcase_add_test(card, vegas_published_takes_long_turns_for_a_line);
    tcase_add_test(card, envoy_published_probes_for_minutes);
    tcase_add_test(card, envoy_admission_does_not_see_a_line);
    tcase_add_test(card, folly_published_sheds_whole_lines);
    tcase_add_test(card, pid_published_sees_nothing);
    tcase_add_test(card, breakwater_published_is_all_or_nothing);
    suite_add_tcase(suite, card);
    tcase_add_test(pool, sre_throttle_at_pool_scope);
    suite_add_tcase(suite, pool);
    return suite;
}
