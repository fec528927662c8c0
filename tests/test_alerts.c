/* Alerts: when each is raised and over, that they change no number, and mistakes in a scenario. */
#include <check.h>
#include <string.h>

#include "models/metrics.h"
#include "tests/model.h"
#include "tests/plan_file.h"
#include "tests/suites.h"

enum { ROWS = 16, KEPT = 4000 };

static struct alert_record kept[KEPT];
static size_t kept_count;
static double values[ROWS * METRIC_COUNT], quiet[ROWS * METRIC_COUNT];

static void alerted(void *context, const struct alert_record *record)
{
    (void)context;
    ck_assert_uint_lt(kept_count, KEPT);
    kept[kept_count++] = *record;
}

static void keep(const char *yaml)
{
    struct plan plan = model_plan(yaml);
    struct trial_watch watch = {.alerted = alerted};

    kept_count = 0;
    ck_assert_uint_le(trial_row_count(plan.points[0].scenario), ROWS);
    ck_assert_int_eq(trial_simulate(plan.points[0].scenario, 1, &watch, values), TRIAL_ENDED);
    ck_assert_int_eq(trial_simulate(plan.points[0].scenario, 1, NULL, quiet), TRIAL_ENDED);
    ck_assert_mem_eq(values, quiet, trial_row_count(plan.points[0].scenario) * METRIC_COUNT * sizeof *values);
    plan_fini(&plan);
}

static void was(size_t index, double at, size_t alert, bool on)
{
    ck_assert_uint_lt(index, kept_count);
    ck_assert_double_eq(sim_seconds(kept[index].at), at);
    ck_assert_uint_eq(kept[index].alert, alert);
    ck_assert(kept[index].on == on);
}

#define LINE(alerts) \
    "study: {horizon: 100 s}\n" \
    "backends: {b: {kind: slots, servers: 1, service: 10 s}}\n" \
    "agents: {a: {arrivals: all_at(0 s), runs: 4, backend: b}, late: {arrivals: all_at(25 s), runs: 1, backend: b}}\n" \
    "alerts: [" alerts "]\n"

/* Four at 0 s: the last of them is taken at 30 s; the fifth, of 25 s, at 40 s. The oldest is 12 s old at 12 s, and from
 * 30 s on 5 s; at 37 s the fifth is 12 s old. */
START_TEST(age)
{
    keep(LINE("{when: queue_age > 12 s}"));
    was(0, 12, 0, true);
    was(1, 30, 0, false);
    was(2, 37, 0, true);
    was(3, 40, 0, false);
    ck_assert_uint_eq(kept_count, 4);
    keep(LINE("{when: queue_age > 30 s}")); /* it is just not that old */
    ck_assert_uint_eq(kept_count, 0);
    keep(LINE("{when: queue_age > 31 s}"));
    ck_assert_uint_eq(kept_count, 0);
}
END_TEST

/* 3 wait from 0 s, 2 from 10 s, 1 from 20 s, 2 from 25 s, 1 from 30 s. */
START_TEST(depth)
{
    keep(LINE("{when: queue_depth > 1}, {when: queue_depth > 2 calls, at: b}"));
    was(0, 0, 0, true);
    was(1, 0, 1, true);
    was(2, 10, 1, false);
    was(3, 20, 0, false);
    was(4, 25, 0, true);
    was(5, 30, 0, false);
    ck_assert_uint_eq(kept_count, 6);
    keep(LINE("{when: queue_depth > 3}")); /* four for no time, of whom a server takes the first */
    ck_assert_uint_eq(kept_count, 0);
    keep("study: {horizon: 15 s}\n" /* two for a nanosecond, before a server takes one of them */
         "backends: {b: {kind: slots, servers: 1, service: 10 s}}\n"
         "agents: {a: {arrivals: all_at(0 s), runs: 2, backend: b}, late: {arrivals: all_at(9.999999999 s), runs: 1, "
         "backend: b}}\n"
         "alerts: [{when: queue_depth > 1}]\n");
    was(0, 9.999999999, 0, true);
    was(1, 10, 0, false);
    ck_assert_uint_eq(kept_count, 2);
    keep(LINE("{when: queue_depth > 0}")); /* from 40 s on nobody waits */
    was(0, 0, 0, true);
    was(1, 40, 0, false);
    ck_assert_uint_eq(kept_count, 2);
}
END_TEST

/* Each 429 for itself, also one that the client never sees; at the pool that is asked for. */
START_TEST(overloads)
{
    static const char yaml[] =
        "study: {horizon: 100 s}\n"
        "backends: {api: {kind: provider, latency: {base: 1 s}, meters: {requests: {limit: 6/min, burst: 1}}},\n"
        "  other: {kind: provider, latency: {base: 1 s}}}\n"
        "agents: {a: {arrivals: all_at(0 s), runs: 3, backend: api, client: {attempts: 1}}}\n"
        "alerts: [%s]\n";
    char text[600];

    snprintf(text, sizeof text, yaml, "{when: provider_429}, {when: provider_429, at: other}");
    keep(text);
    was(0, 0, 0, true);
    was(1, 0, 0, true);
    ck_assert_uint_eq(kept_count, 2);
}
END_TEST

/* Of three calls at once the pool takes one. A limiter for others at it, a limiter at the door, one at another pool. */
START_TEST(overloads_while_limited)
{
    static const struct {
        const char *policies, *when;
        size_t alerts;
    } cases[] = {
        {"[unbounded]", "provider_429", 2},
        {"[unbounded]", "provider_429 while limited", 0},
        {"[c: [fixed_cap: {cap: 9, at: api}]]", "provider_429 while limited", 2},
        {"[c: [fixed_cap: {cap: 9, at: key}]]", "provider_429 while limited, at: key", 2},
        {"[c: [fixed_cap: {cap: 9}]]", "provider_429 while limited, at: api", 0},
        {"[c: [run_budget: {at: api}]]", "provider_429 while limited", 2},
        {"[planner]", "provider_429 while limited", 2}, /* asks at the door alone */
        {"[c: [fixed_cap: {cap: 9, at: other}]]", "provider_429 while limited", 0},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[600];

        snprintf(
            text, sizeof text,
            "study: {horizon: 100 s}\n"
            "backends: {api: {kind: provider, latency: {base: 1 s}, meters: {requests: {limit: 6/min, burst: 1}}},\n"
            "  key: {kind: alias, of: api}, other: {kind: provider, latency: {base: 1 s}}}\n"
            "agents: {a: {arrivals: all_at(0 s), runs: 3, backend: key, client: {attempts: 1}}}\n"
            "policies: %s\nalerts: [{when: %s}]\n",
            cases[i].policies, cases[i].when);
        keep(text);
        ck_assert_msg(kept_count == cases[i].alerts, "%s, %s: %zu", cases[i].policies, cases[i].when, kept_count);
    }
}
END_TEST

static struct plan_file file;

static void setup(void)
{
    plan_file_init(&file);
}

static void teardown(void)
{
    plan_file_fini(&file);
}

static const struct {
    const char *alerts, *words;
} mistakes[] = {
    {"alerts: {when: provider_429}", "alerts: expected a list, such as [{when: queue_age > 9 min}], not"},
    {"alerts: [queue_age]", "alerts: expected a mapping, such as alerts: {when: queue_age > 9 min}, not"},
    {"alerts: [{at: card}]", "alerts: needs when"},
    {"alerts: [{when: queue_age > 9}]", "alerts: when: queue_age > 9: expected queue_age > a time"},
    {"alerts: [{when: queue_age < 9 s}]", "alerts: when: queue_age < 9 s: expected queue_age > a time"},
    {"alerts: [{when: queue_age > 0 s}]", "alerts: when: queue_age > 0 s: expected"},
    {"alerts: [{when: queue_depth > 9 s}]", "alerts: when: queue_depth > 9 s: expected"},
    {"alerts: [{when: queue_depth > 1.5}]", "alerts: when: queue_depth > 1.5: expected"},
    {"alerts: [{when: fire}]", "alerts: when: fire: expected queue_age > a time, such as queue_age > 9 min"},
    {"alerts: [{when: queue_age > 9 s, at: crad}]",
     "there is no backend crad: expected one of card; did you mean card?"},
    {"alerts: [{when: provider_429 while}]", "alerts: when: provider_429 while: expected queue_age > a time"},
    {"alerts: [{when: provider_429 while limited}]", "alerts: there is no provider that could refuse: expected"},
    {"alerts: [{when: provider_429}]", "alerts: there is no provider that could refuse: expected"},
    {"alerts: [{when: provider_429, at: card}]", "alerts: there is no provider there that could refuse: expected"},
    {"record: {alerts: a.csv}", "record: alerts: expected `alerts:` in the scenario, and there are none"},
};

START_TEST(mistakes_are_told)
{
    const char *text = arena_format(&file.arena, "%s%s\n", plan_file_card, mistakes[_i].alerts);

    ck_assert_msg(!plan_file_read(&file, text, NULL, NULL), "no message for %s", mistakes[_i].alerts);
    ck_assert_msg(file.diag.errors == 1 && strncmp(plan_file_said(&file), "s.yaml:4:", 9) == 0 &&
                      strstr(plan_file_said(&file), mistakes[_i].words) != NULL,
                  "%s: %s", mistakes[_i].alerts, plan_file_said(&file));
}
END_TEST

/* The hash is of what decides numbers. */
START_TEST(the_hash_knows_none)
{
    uint64_t hash;

    ck_assert(plan_file_read(&file, plan_file_card, NULL, NULL));
    hash = file.plan.hash;
    ck_assert(plan_file_read(
        &file, arena_format(&file.arena, "%salerts: [{when: queue_age > 9 min}]\n", plan_file_card), NULL, NULL));
    ck_assert_uint_eq(file.plan.hash, hash);
}
END_TEST

Suite *alerts_suite(void)
{
    Suite *suite = suite_create("alerts");
    TCase *test = tcase_create("alerts"), *read = tcase_create("read");

    tcase_add_test(test, age);
    tcase_add_test(test, depth);
    tcase_add_test(test, overloads);
    tcase_add_test(test, overloads_while_limited);
    suite_add_tcase(suite, test);
    tcase_add_checked_fixture(read, setup, teardown);
    tcase_add_loop_test(read, mistakes_are_told, 0, sizeof mistakes / sizeof *mistakes);
    tcase_add_test(read, the_hash_knows_none);
    suite_add_tcase(suite, read);
    return suite;
}
