/* The gate, the door and the host under policies that do everything: the host's identities and laws are asserted inside
 * each trial, and the exerciser (tests/plugins/exerciser.c) holds the host to policies/policy.h from the other side.
 * Both abort on a broken promise, which check's fork mode turns into a failed test. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/model.h"
#include "tests/plan_file.h"
#include "tests/suites.h"

#define WORLD \
    "study: {horizon: 3000 s, warmup: 300 s}\n" \
    "backends:\n" \
    "  card: {kind: slots, servers: 3, rate: 40 tokens/s}\n" \
    "  other: {kind: slots, servers: 2, step_time: {base: 10 ms, per_busy_slot: 5 ms}}\n" \
    "agents:\n" \
    "  endless: {population: 12, think: exponential(3 s), output: exponential(200), backend: card, tenant: red,\n" \
    "            client: {base: 2 s, timeout: 25 s, hold_cap: 8 s}}\n" \
    "  runs: {population: 6, turns: geometric(4), think: exponential(2 s), output: exponential(150), backend: card,\n" \
    "         tenant: blue, client: {base: 1 s, attempts: 4}}\n" \
    "  arriving: {arrivals: poisson(0.3/s), turns: constant(2), think: constant(1 s), output: exponential(100),\n" \
    "             backend: other, tenant: red, client: {base: 1 s, timeout: 6 s, attempts: 3, hold_cap: 3 s}}\n"

static void run_all(const char *policies, const char *plugin)
{
    char yaml[4096];
    double values[METRIC_COUNT * 16];
    struct plan plan;

    snprintf(yaml, sizeof yaml, WORLD "policies:\n%s", policies);
    plan = model_plan_with(yaml, plugin);
    for (size_t point = 0; point < plan.point_count; point++)
        for (uint32_t replication = 1; replication <= 3; replication++) {
            model_trial(&plan, point, replication, values);
            ck_assert_double_gt(values[METRIC_GOODPUT], 0.01);
            ck_assert_double_gt(values[METRIC_DEFERRED_SHARE], 0.01);
        }
    plan_fini(&plan);
}

START_TEST(every_callback_with_ranks)
{
    run_all("  - exerciser: {alone: true}\n"
            "  - b: [exerciser: {alone: true, hold: 60 %, again: 0.9, wait: 100 ms}]\n"
            "  - c: [exerciser: {alone: true, displace: 0.5, shed: 0.6, expire: 0.4, wait: 4 s}]\n"
            "  - d: [exerciser: {alone: true, defer: 0.3, reject: 0.2, run_reject: 0.2}]\n",
            "exerciser");
}
END_TEST

START_TEST(every_callback_with_flows)
{
    run_all("  - exerciser_flows: {alone: true}\n  - b: [exerciser_flows: {alone: true, shed: 0.9, displace: 0.4}]\n",
            "exerciser_flows");
}
END_TEST

START_TEST(in_a_chain_and_in_every_scope)
{
    run_all("  - a: [exerciser_plain: {name: one}, fixed_cap: {cap: 4}, exerciser_plain: {name: two}, lifo]\n"
            "  - b: [exerciser_plain: {scope: class}, codel: {preset: slots, law: persist, sheds_at: submission}]\n"
            "  - c: [exerciser_plain: {scope: tenant, name: one}, exerciser_plain: {scope: all, name: two}]\n"
            "  - d: [exerciser_plain: {scope: agent}]\n"
            "  - e: [exerciser_plain: {at: card}, fixed_cap: {cap: 2, at: other}]\n",
            "exerciser_plain");
}
END_TEST

START_TEST(lifo_and_codel_on_several_backends)
{
    run_all("  - x: [lifo, fixed_cap: {cap: 4}]\n"
            "  - y: [codel: {law: rfc8289, sheds_at: dequeue, target: 1 s, interval: 4 s}]\n"
            "  - z: [codel: {law: persist, sheds_at: dequeue, target: 1 s, interval: 4 s}, lifo]\n",
            "once");
}
END_TEST

/* The hand steers the puppet's copies at both gates, each by its scope, and sees it as soon as its own check allows. */
START_TEST(one_member_steers_another_across_gates)
{
    run_all("  - a: [steerer: {by: class, scope: class, name: hand},\n"
            "        steerer: {by: class, scope: class, name: puppet, puppet: true}, fixed_cap: {cap: 4}]\n"
            "  - b: [steerer: {by: tenant, scope: tenant, name: hand},\n"
            "        steerer: {by: tenant, scope: tenant, name: puppet, puppet: true}, fixed_cap: {cap: 4}]\n"
            "  - c: [steerer: {by: agent, scope: agent, name: hand},\n"
            "        steerer: {by: agent, scope: agent, name: puppet, puppet: true}, fixed_cap: {cap: 4}]\n"
            "  - d: [steerer: {by: gate, scope: class, name: hand},\n"
            "        steerer: {by: gate, name: puppet, puppet: true}, fixed_cap: {cap: 4}]\n"
            "  - e: [steerer: {by: all, name: hand},\n"
            "        steerer: {by: all, scope: all, name: puppet, puppet: true}, fixed_cap: {cap: 4}]\n"
            "  - f: [steerer: {by: class, scope: class, name: hand, absent: 1},\n"
            "        steerer: {by: class, scope: class, name: puppet, puppet: true, at: other}, fixed_cap: {cap: 4}]\n"
            "  - g: [steerer: {by: all, name: hand, absent: 2},\n"
            "        steerer: {by: all, scope: all, name: puppet, puppet: true, at: card}, fixed_cap: {cap: 4}]\n",
            "steerer");
}
END_TEST

static const char *said_of(struct plan_file *file, const char *policies)
{
    plan_file_read(file, arena_format(&file->arena, "%spolicies:\n%s", WORLD, policies), NULL, NULL);
    return plan_file_said(file);
}

/* A line has one order, so one copy of one member gives it. */
START_TEST(one_member_orders_a_line)
{
    struct plan_file file;

    plan_file_init(&file);
    ck_assert_str_eq(said_of(&file, "  - a: [lifo: {at: card}, by_priority: {at: other}]\n"), "");
    ck_assert_str_eq(said_of(&file, "  - a: [lifo: {scope: all}]\n"), "");
    ck_assert_str_eq(said_of(&file, "  - a: [lifo: {at: card}, unbounded, by_priority: {at: card}]\n"),
                     "s.yaml:13:38: lifo and by_priority both order the waiting line: expected at most one such member "
                     "at a gate");
    ck_assert(strstr(said_of(&file, "  - a: [lifo: {at: other}, by_priority]\n"), "lifo and by_priority both"));
    ck_assert(strstr(said_of(&file, "  - a: [lifo, by_priority: {at: other}]\n"), "lifo and by_priority both"));
    for (size_t i = 0; i < 3; i++) {
        static const char *const scopes[] = {"class", "tenant", "agent"};
        const char *policies = arena_format(&file.arena, "  - a: [lifo: {scope: %s}]\n", scopes[i]);

        ck_assert_str_eq(said_of(&file, policies),
                         "s.yaml:13:9: lifo orders the waiting line, which is one for all classes, tenants and agents: "
                         "expected scope: gate or all");
    }
    ck_assert_str_eq(said_of(&file, "  - a: [fq_codel: {scope: all, at: card}]\n"), "");
    ck_assert_str_eq(said_of(&file, "  - a: [fair_queue: {scope: all}]\n"), "");
    ck_assert_str_eq(said_of(&file, "  - a: [fq_codel: {scope: all}]\n"),
                     "s.yaml:13:9: fq_codel sorts those who wait at one gate into flows: expected scope: gate, or at: "
                     "a backend");
    ck_assert_ptr_null(strstr(said_of(&file, "  - a: [fq_codel: {scope: class}]\n"), "gate or all"));
    plan_file_fini(&file);
}
END_TEST

/* The plug-in and the policy that is built in are one file's worth of code: the same digits. */
START_TEST(plugin_equals_built_in)
{
    double a[METRIC_COUNT * 16], b[METRIC_COUNT * 16];
    struct plan plan = model_plan_with(WORLD "policies: [fixed_cap: {cap: 4}, cap_outside: {cap: 4}]\n", "cap_outside");

    model_trial(&plan, 0, 1, a);
    model_trial(&plan, 1, 1, b);
    for (size_t i = 0; i < METRIC_COUNT; i++)
        ck_assert_msg(a[i] == b[i] || (isnan(a[i]) && isnan(b[i])), "%s", metrics[i].name);
    plan_fini(&plan);
}
END_TEST

static void expect_wrong(const char *policy, const char *message)
{
    char yaml[4096], wrong[512] = "";
    double values[METRIC_COUNT * 16];
    struct trial_watch watch = {.wrong = wrong, .wrong_size = sizeof wrong};
    struct plan plan;

    snprintf(yaml, sizeof yaml, WORLD "policies: [%s]\n", policy);
    plan = model_plan_with(yaml, "nonsense");
    ck_assert_int_eq(trial_simulate(plan.points[0].scenario, 1, &watch, values), TRIAL_WRONG);
    ck_assert_msg(strstr(wrong, message) && strstr(wrong, "nonsense") && strstr(wrong, "callback"), "%s", wrong);
    plan_fini(&plan);
}

START_TEST(nonsense_is_named)
{
    expect_wrong("nonsense: {what: unknown_action}", "unknown action");
    expect_wrong("nonsense: {what: negative_action}", "unknown action");
    expect_wrong("nonsense: {what: hold_without_time}", "at least 1 ms");
    expect_wrong("nonsense: {what: hold_too_short}", "at least 1 ms");
    expect_wrong("nonsense: {what: defer_too_short}", "at least 1 ms");
    expect_wrong("nonsense: {what: defer_negative}", "at least 1 ms");
    expect_wrong("nonsense: {what: displace_nobody}", "nobody waiting");
    expect_wrong("nonsense: {what: displace_run}", "displace");
    expect_wrong("nonsense: {what: hold_at_start}", "hold");
    expect_wrong("nonsense: {what: displace_at_start}", "displace");
    expect_wrong("nonsense: {what: negative_lifetime}", "0 or more");
    expect_wrong("nonsense: {what: again_when_done}", "final");
    expect_wrong("nonsense: {what: tick_now}", "later than now");
    expect_wrong("nonsense: {what: tick_soon}", "at least 1 ms later than now");
}
END_TEST

/* A held call that nobody admits leaves when its hold cap comes, and is counted as that. */
START_TEST(hold_cap_ends_a_hold)
{
    double v[METRIC_COUNT];
    struct plan plan = model_plan_with(
        "study: {until: done, most: 100 s}\n"
        "backends: {b: {kind: slots, servers: 1, service: constant(1 s)}}\n"
        "agents: {a: {arrivals: all_at(0 s), runs: 1, client: {hold_cap: 7 s, attempts: 2, base: 3 s, jitter: none}}}\n"
        "policies: [holder: {after: 2 s}]\n",
        "holder");

    model_trial(&plan, 0, 1, v); /* held 0 to 7, again at 10, held to 17 */
    ck_assert_double_eq(v[METRIC_MAKESPAN], 17);
    ck_assert_double_eq(v[METRIC_DEFERRED_SHARE], 1);
    ck_assert_double_eq_tol(v[METRIC_LOST_TURNS], 3600.0 / 17, 1e-9);
    ck_assert_double_eq_tol(v[METRIC_QUEUE_AGE_P99], 7, 0.2);
    plan_fini(&plan);
}
END_TEST

static policy_time later(struct policy *self, const struct policy_view *view, struct policy_call *call,
                         const struct policy_outcome *outcome)
{
    (void)self;
    (void)view;
    (void)call;
    return outcome->end == POLICY_OVERLOAD ? 50 * POLICY_SECOND : POLICY_NONE;
}

static const struct policy_ops patient = {POLICY_HEADER, .name = "patient", .summary = "sends again", .finish = later};

/* Who is never asked may still take a call back: the second is held from 0 s on, beside nobody in the waiting line, and
 * is the oldest there is. */
START_TEST(a_call_taken_back_has_an_age)
{
    const struct policy_ops *const policies[] = {&patient, NULL};
    double v[METRIC_COUNT];
    struct plan plan = model_plan_of(
        "study: {horizon: 50 s, replications: 1}\n"
        "backends: {b: {kind: provider, latency: {base: 1 s}, meters: {requests: {limit: 1/min, burst: 1}}}}\n"
        "agents: {a: {arrivals: all_at(0 s), runs: 2, client: {retry_after: ignore}}}\n"
        "policies: [patient]\n",
        policies);

    model_trial(&plan, 0, 1, v);
    ck_assert_double_eq_tol(v[METRIC_QUEUE_AGE_P99], 49.5, 0.2);
    plan_fini(&plan);
}
END_TEST

Suite *gate_suite(void)
{
    Suite *suite = suite_create("gate");
    TCase *test = tcase_create("gate");

    tcase_add_test(test, every_callback_with_ranks);
    tcase_add_test(test, every_callback_with_flows);
    tcase_add_test(test, in_a_chain_and_in_every_scope);
    tcase_add_test(test, lifo_and_codel_on_several_backends);
    tcase_add_test(test, one_member_steers_another_across_gates);
    tcase_add_test(test, one_member_orders_a_line);
    tcase_add_test(test, plugin_equals_built_in);
    tcase_add_test(test, nonsense_is_named);
    tcase_add_test(test, hold_cap_ends_a_hold);
    tcase_add_test(test, a_call_taken_back_has_an_age);
    suite_add_tcase(suite, test);
    return suite;
}
