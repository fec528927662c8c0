/* Memory in steady state: what agents, requests at the door and copies of policies need is taken over from those that
 * have left, and nothing of theirs is found in it. */
#include <check.h>
#include <stdio.h>

#include "tests/heap.h"
#include "tests/model.h"
#include "tests/suites.h"

#define MOST_GROWTH 250000 /* bytes */

struct cost {
    size_t peak; /* bytes */
    uint64_t events;
    double lost_turns; /* in all */
};

/* Runs arrive 20 times a second and keep a server for so long. */
static struct plan arriving(const char *policy, const char *plugin, int horizon, const char *service)
{
    char yaml[1024];

    snprintf(yaml, sizeof yaml,
             "study: {horizon: %d s}\nbackends: {b: {kind: slots, servers: 20000, service: %s}}\n"
             "agents: {a: {arrivals: poisson(20/s)}}\npolicies: [%s]\n",
             horizon, service, policy);
    return model_plan_with(yaml, plugin);
}

static struct cost trial_cost(const char *policy, const char *plugin, int horizon, const char *service)
{
    struct plan plan = arriving(policy, plugin, horizon, service);
    struct heap_watch heap = {.before = HEAP_USED};
    struct cost cost = {0};
    struct trial_watch watch = {.events = &cost.events, .started = heap_look, .context = &heap};
    double v[METRIC_COUNT];

    ck_assert_int_eq(trial_simulate(plan.points[0].scenario, 1, &watch, v), TRIAL_ENDED);
    cost.peak = heap.most;
    cost.lost_turns = v[METRIC_LOST_TURNS] * horizon / 3600;
    plan_fini(&plan);
    return cost;
}

/* Ten times the horizon, ten times the events, the same memory but for a histogram's new pages: a byte kept for each of
 * the 360,000 runs more would show. */
static void expect_steady(const char *policy, const char *plugin)
{
    struct cost one = trial_cost(policy, plugin, 2000, "exponential(3 s)");
    struct cost ten = trial_cost(policy, plugin, 20000, "exponential(3 s)");

    if (heap_is_known())
        ck_assert_msg(ten.peak < one.peak + MOST_GROWTH, "%s: %zu and %zu bytes", policy, one.peak, ten.peak);
    ck_assert_msg(ten.events < one.events * 11, "%s: %lu and %lu events", policy, (unsigned long)one.events,
                  (unsigned long)ten.events);
}

START_TEST(arrivals_take_memory_over)
{
    expect_steady("unbounded", "porter");
}
END_TEST

START_TEST(requests_at_the_door_take_memory_over)
{
    expect_steady("porter", "porter");
}
END_TEST

START_TEST(copies_of_agents_take_memory_over)
{
    expect_steady("companion: {scope: agent}", "companion");
    expect_steady("fixed_cap: {cap: 1000, scope: agent}", "companion");
}
END_TEST

/* A copy's stream is its agent's, whether the agent's place is new or another's: the same calls are rejected. */
START_TEST(copies_begin_anew)
{
    struct cost new = trial_cost("companion: {scope: agent}", "companion", 500, "constant(1000 s)");
    struct cost over = trial_cost("companion: {scope: agent}", "companion", 500, "constant(0 s)");

    ck_assert_double_gt(new.lost_turns, 4000);
    ck_assert_double_eq_tol(new.lost_turns, over.lost_turns, 1e-6);
}
END_TEST

Suite *memory_suite(void)
{
    Suite *suite = suite_create("memory");
    TCase *test = tcase_create("memory");

    tcase_add_test(test, arrivals_take_memory_over);
    tcase_add_test(test, requests_at_the_door_take_memory_over);
    tcase_add_test(test, copies_of_agents_take_memory_over);
    tcase_add_test(test, copies_begin_anew);
    suite_add_tcase(suite, test);
    return suite;
}
