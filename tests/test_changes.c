/* test_changes.c - the timeline in whole trials: policies, and values that stand already. Worked out by hand, and
 * beside the same trial without it. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "sim/io/mem.h"
#include "tests/changes_bench.h"
#include "tests/suites.h"

/* --- policies ----------------------------------------------------------------------------------------------------- */

/* Two servers, 10 s a call, three runs at t = 0 that ask every 3 s. */
static void three_runs(const char *policies, const char *changes, const char *starts)
{
    struct timeline t;
    struct arena arena = {0};

    timeline_expect(arena_format(&arena,
                                 "study: {until: done}\n"
                                 "backends: {b: {kind: slots, servers: 2, service: constant(10 s)}}\n"
                                 "agents: {a: {arrivals: all_at(0 s), runs: 3,"
                                 " client: {backoff: constant, base: 3 s, jitter: none}}}\n"
                                 "policies: [%s]\nchanges: [%s]\n",
                                 policies, changes),
                    NULL, starts, &t);
    arena_free(&arena);
}

#define CAP_OF_ONE "a0@0 a1@12#5 a2@24#9"
#define CAP_OF_TWO_FROM_5 "a0@0 a1@6#3 a2@12#5"

START_TEST(a_parameter_at_its_time)
{
    three_runs("fixed_cap: {cap: 1}", "", CAP_OF_ONE);
    three_runs("fixed_cap: {cap: 1}", "{at: 5 s, set: policies.fixed_cap.cap, to: 2}", CAP_OF_TWO_FROM_5);
    three_runs("fixed_cap: {cap: 1}", "{at: 5 s, set: policies.fixed_cap.fixed_cap.cap, to: 2}", CAP_OF_TWO_FROM_5);
    three_runs("fixed_cap: {cap: 1}", "{at: 5 s, set: policies.*.fixed_cap.cap, to: 2}", CAP_OF_TWO_FROM_5);
    /* before what else happens at 6 s, and too late for that a ns after it */
    three_runs("fixed_cap: {cap: 1}", "{at: 6 s, set: policies.fixed_cap.cap, to: 2}", CAP_OF_TWO_FROM_5);
    three_runs("fixed_cap: {cap: 1}", "{at: 6.000000001 s, set: policies.fixed_cap.cap, to: 2}", "a0@0 a1@9#4 a2@12#5");
    /* at t = 0 too */
    three_runs("fixed_cap: {cap: 1}", "{at: 0 s, set: policies.fixed_cap.cap, to: 2}", "a0@0 a1@0 a2@12#5");
    /* of one instant the last stands, whatever was written for another time before it */
    three_runs("fixed_cap: {cap: 1}",
               "{at: 9 s, set: policies.fixed_cap.cap, to: 2}, {at: 6 s, set: policies.fixed_cap.cap, to: 2},"
               "{at: 6 s, set: policies.fixed_cap.cap, to: 1}",
               "a0@0 a1@9#4 a2@12#5");
}
END_TEST

/* A change of another alternative is none of this one. */
START_TEST(of_other_alternatives)
{
    const char *yaml = "study: {until: done}\n"
                       "backends: {b: {kind: slots, servers: 2, service: constant(10 s)}}\n"
                       "agents: {a: {arrivals: all_at(0 s), runs: 3,"
                       " client: {backoff: constant, base: 3 s, jitter: none}}}\n"
                       "policies: [one: [fixed_cap: {cap: 1}], two: [lifo, fixed_cap: {cap: 1}], unbounded]\n"
                       "changes: [{at: 5 s, set: policies.two.fixed_cap.cap, to: 2}]\n";
    struct plan plan = model_plan(yaml);
    struct timeline t;

    ck_assert_uint_eq(plan.points[0].scenario->change_count, 0);
    ck_assert_uint_eq(plan.points[1].scenario->change_count, 1);
    ck_assert_uint_eq(plan.points[2].scenario->change_count, 0);
    timeline_of(&plan, 0, &t);
    ck_assert_str_eq(t.starts, CAP_OF_ONE);
    timeline_of(&plan, 1, &t);
    ck_assert_str_eq(t.starts, CAP_OF_TWO_FROM_5);
    plan_fini(&plan);
}
END_TEST

#define TWO_GATES \
    "study: {horizon: 100 s}\n" \
    "backends:\n" \
    "  x: {kind: slots, servers: 9, service: constant(1 s)}\n" \
    "  y: {kind: slots, servers: 9, service: constant(1 s)}\n" \
    "agents:\n" \
    "  p: {population: 2, think: 10 s, backend: x}\n" \
    "  q: {population: 1, think: 10 s, backend: y, tenant: blue, start: 50 s}\n"

static void expect_sets(const char *policies, const char *changes, const char *sets)
{
    struct arena arena = {0};
    struct heard heard =
        heard_of(arena_format(&arena, TWO_GATES "policies: [it: [%s]]\nchanges: [%s]\n", policies, changes));

    ck_assert_str_eq(heard.wrong, "");
    ck_assert_str_eq(heard.sets, sets);
    free(heard.attempts);
    arena_free(&arena);
}

/* Every copy hears of it, and of each there is a row. */
START_TEST(all_copies)
{
    const char *change = "{at: 60 s, set: policies.it.keeper.level, to: 7, reason: \"a, b\"}";

    expect_sets("keeper", change,
                "60 policies.it.keeper.level [x/] 1 -> 7 by operator (a, b)\n"
                "60 policies.it.keeper.level [y/] 1 -> 7 by operator (a, b)\n");
    expect_sets("keeper: {scope: all}", change, "60 policies.it.keeper.level [/] 1 -> 7 by operator (a, b)\n");
    expect_sets("keeper: {at: y}", change, "60 policies.it.keeper.level [y/] 1 -> 7 by operator (a, b)\n");
    expect_sets("keeper: {scope: class}", change,
                "60 policies.it.keeper.level [x/p] 1 -> 7 by operator (a, b)\n"
                "60 policies.it.keeper.level [x/q] 1 -> 7 by operator (a, b)\n"
                "60 policies.it.keeper.level [y/p] 1 -> 7 by operator (a, b)\n"
                "60 policies.it.keeper.level [y/q] 1 -> 7 by operator (a, b)\n");
    expect_sets("keeper: {scope: tenant, at: x}", change,
                "60 policies.it.keeper.level [x/default] 1 -> 7 by operator (a, b)\n"
                "60 policies.it.keeper.level [x/blue] 1 -> 7 by operator (a, b)\n");
    /* the agent of q calls for the first time at 60 s, after the change: it begins with 7 */
    expect_sets("keeper: {scope: agent}", change,
                "60 policies.it.keeper.level [x/p.0] 1 -> 7 by operator (a, b)\n"
                "60 policies.it.keeper.level [x/p.1] 1 -> 7 by operator (a, b)\n");
}
END_TEST

/* Choices too, and each value is set beside those before it. */
START_TEST(other_types)
{
    expect_sets("keeper: {scope: all}",
                "{at: 1 s, set: policies.it.keeper.mode, to: down}, {at: 1 s, set: policies.it.keeper.most, to: 200},"
                "{at: 2 s, set: policies.it.keeper.level, to: 150}",
                "1 policies.it.keeper.mode [/] up -> down by operator ()\n"
                "1 policies.it.keeper.most [/] 100 -> 200 by operator ()\n"
                "2 policies.it.keeper.level [/] 1 -> 150 by operator ()\n");
}
END_TEST

/* Rows of policies and of the operator in the order in which things happen; each row has the value of its own copy. */
START_TEST(policies_set_too)
{
    expect_sets("keeper, keeper: {name: boss, others: 5, when: 20 s, at: x}",
                "{at: 20 s, set: policies.it.keeper.level, to: 3}, {at: 30 s, set: policies.it.keeper.level, to: 9}",
                "20 policies.it.keeper.level [x/] 1 -> 3 by operator ()\n"
                "20 policies.it.keeper.level [y/] 1 -> 3 by operator ()\n"
                "20 policies.it.keeper.level [x/] 3 -> 5 by boss (as it must)\n"
                "30 policies.it.keeper.level [x/] 5 -> 9 by operator ()\n"
                "30 policies.it.keeper.level [y/] 3 -> 9 by operator ()\n");
    /* before the first tick */
    expect_sets("keeper: {at: x}, keeper: {name: boss, others: 5, at: x}",
                "{at: 0 s, set: policies.it.keeper.level, to: 3}",
                "0 policies.it.keeper.level [x/] 1 -> 3 by operator ()\n"
                "0 policies.it.keeper.level [x/] 3 -> 5 by boss (as it must)\n");
}
END_TEST

/* What goes together when it is read may not beside what a policy has set since: the trial ends and says so. */
START_TEST(policies_in_the_way)
{
    struct heard heard =
        heard_of(TWO_GATES "policies: [it: [keeper, keeper: {name: boss, others: 50, when: 20 s, at: x}]]\n"
                           "changes: [{at: 30 s, set: policies.it.keeper.most, to: 40}]\n");

    ck_assert_str_eq(heard.wrong, "changes: policies.it.keeper.most at 30.000000000 s: the policy does not take it "
                                  "beside what others have set: expected level: expected at most `most`");
    ck_assert_ptr_nonnull(strstr(heard.sets, "20 policies.it.keeper.level [x/] 1 -> 50 by boss (as it must)\n"));
    free(heard.attempts);
}
END_TEST

/* --- no change ---------------------------------------------------------------------------------------------------- */

/* A value that stands already: no digit is another one. Nor is one of a pool, class or member beside. */
START_TEST(nothing_new)
{
    const char *yaml =
        "study: {horizon: 2000 s, warmup: 200 s}\n"
        "backends:\n"
        "  pool: {kind: provider, meters: {requests: {limit: 90/min, burst: 20}, input: 200k/min},\n"
        "    latency: {base: 1 s, noise: lognormal(1 cv 0.4)}, errors: 2 %,\n"
        "    strangers: {calls: poisson(20/min), input: 500, output: 10}}\n"
        "agents:\n"
        "  a: {population: 9, think: exponential(3 s), output: 1, input: {start: 900}, turns: geometric(4)}\n"
        "  b: {arrivals: poisson(20/min), think: 1 s, turns: 3, output: 2, input: {start: 100}}\n"
        "policies: [capped: [fixed_cap: {cap: 4}]]\n";
    struct heard plain = heard_of(yaml);
    struct heard same = heard_with(yaml, "{at: 300 s, set: backends.pool.meters.requests.limit, to: 1.5/s},"
                                         "{at: 301 s, set: backends.pool.meters.requests.burst, to: 20},"
                                         "{at: 302 s, set: backends.pool.latency.base, to: 1000 ms},"
                                         "{at: 303 s, set: backends.pool.errors, to: 0.02},"
                                         "{at: 304 s, set: backends.pool.retry_after, to: exact},"
                                         "{at: 305 s, set: backends.pool.strangers.calls, to: poisson(20/min)},"
                                         "{at: 306 s, set: agents.a.population, to: 9},"
                                         "{at: 307 s, set: agents.b.arrivals, to: poisson(20/min)},"
                                         "{at: 308 s, set: agents.a.think, to: exponential(3 s)},"
                                         "{at: 309 s, set: policies.capped.cap, to: 4}");

    same_values(&plain, &same);
    ck_assert_uint_eq(same.events, plain.events + 10);
    free(plain.attempts);
    free(same.attempts);
}
END_TEST

Suite *changes_suite(void)
{
    Suite *suite = suite_create("changes");
    TCase *tests = tcase_create("changes");

    tcase_add_test(tests, a_parameter_at_its_time);
    tcase_add_test(tests, of_other_alternatives);
    tcase_add_test(tests, all_copies);
    tcase_add_test(tests, other_types);
    tcase_add_test(tests, policies_set_too);
    tcase_add_test(tests, policies_in_the_way);
    tcase_add_test(tests, nothing_new);
    suite_add_tcase(suite, tests);
    return suite;
}
