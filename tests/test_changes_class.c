/* test_changes_class.c - populations, arrivals and think times that change: who stays is the same, draw for draw. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/changes_bench.h"
#include "tests/suites.h"

/* Attempts of one agent before a time: the same in both. The count of them. */
static size_t same_attempts(const struct heard *one, const struct heard *other, uint32_t klass, uint32_t agent,
                            double until)
{
    size_t i = 0, k = 0, count = 0;

    for (;;) {
        while (i < one->count && (one->attempts[i].klass != klass || one->attempts[i].agent != agent))
            i++;
        while (k < other->count && (other->attempts[k].klass != klass || other->attempts[k].agent != agent))
            k++;
        bool done = i == one->count || sim_seconds(one->attempts[i].attempted) > until;

        ck_assert_int_eq(done, k == other->count || sim_seconds(other->attempts[k].attempted) > until);
        if (done)
            return count;
        ck_assert_mem_eq(&one->attempts[i], &other->attempts[k], sizeof *one->attempts);
        i++;
        k++;
        count++;
    }
}

static size_t attempts_of(const struct heard *heard, uint32_t agent, double from, double to)
{
    size_t count = 0;

    for (size_t i = 0; i < heard->count; i++)
        count += heard->attempts[i].agent == agent && sim_seconds(heard->attempts[i].attempted) > from &&
                 sim_seconds(heard->attempts[i].attempted) <= to;
    return count;
}

/* Nobody is in another's way, so that each agent's calls are its own. */
#define ROOMY(keys) \
    "study: {horizon: 1000 s}\n" \
    "backends: {b: {kind: slots, servers: 100, rate: 40 tokens/s}}\n" \
    "agents: {a: {population: 4, think: exponential(3 s), output: lognormal(120 cv 0.5)" keys "}}\n"

/* Up, and down, and up again: the agents that stay draw the same; a new one begins at the change; who is one too many
 * makes no turn more, and comes back with turns of its own. */
START_TEST(population_up_and_down)
{
    struct heard all =
        heard_of("study: {horizon: 1000 s}\n"
                 "backends: {b: {kind: slots, servers: 100, rate: 40 tokens/s}}\n"
                 "agents: {a: {population: 8, think: exponential(3 s), output: lognormal(120 cv 0.5)}}\n");
    struct heard some = heard_with(ROOMY(""), "{at: 200 s, set: agents.a.population, to: 6},"
                                              "{at: 400 s, set: agents.a.population, to: 2},"
                                              "{at: 600 s, set: agents.a.population, to: 8}");
    uint64_t turns = 0;

    for (uint32_t agent = 0; agent < 2; agent++)
        ck_assert_uint_gt(same_attempts(&all, &some, 0, agent, 1000), 100);
    for (uint32_t agent = 2; agent < 4; agent++)
        ck_assert_uint_gt(same_attempts(&all, &some, 0, agent, 400), 40);
    for (uint32_t agent = 4; agent < 6; agent++) {
        /* as the same agents would have begun at t = 0, 200 s later */
        for (size_t i = 0; i < all.count; i++)
            if (all.attempts[i].agent == agent && sim_seconds(all.attempts[i].attempted) <= 200) {
                size_t k = 0;

                while (k < some.count &&
                       (some.attempts[k].agent != agent || some.attempts[k].turn != all.attempts[i].turn))
                    k++;
                ck_assert_uint_lt(k, some.count);
                ck_assert_int_eq(some.attempts[k].attempted, all.attempts[i].attempted + 200 * SIM_SECOND);
                ck_assert_double_eq(some.attempts[k].output, all.attempts[i].output);
            }
        ck_assert_uint_eq(attempts_of(&some, agent, 0, 200), 0);
        ck_assert_uint_gt(attempts_of(&some, agent, 200, 400), 20);
    }
    for (uint32_t agent = 2; agent < 6; agent++) {
        /* the turn that it is in goes on, with its think time and its call; then it is gone until it is wanted again */
        ck_assert_uint_le(attempts_of(&some, agent, 400, 600), 1);
        ck_assert_uint_gt(attempts_of(&some, agent, 600, 1000), 40);
    }
    for (uint32_t agent = 6; agent < 8; agent++)
        ck_assert_uint_eq(attempts_of(&some, agent, 0, 600), 0);
    /* no turn is made twice, and who comes back begins another run */
    for (size_t i = 0; i < some.count; i++)
        if (some.attempts[i].agent == 3) {
            turns += some.attempts[i].turn + 1;
            ck_assert_uint_eq(some.attempts[i].run, some.attempts[i].attempted > 600 * SIM_SECOND);
        }
    ck_assert_uint_eq(turns, attempts_of(&some, 3, 0, 1000) * (attempts_of(&some, 3, 0, 1000) + 1) / 2);
    ck_assert_str_eq(some.sets, "200 agents.a.population [/] 4 -> 6 by operator ()\n"
                                "400 agents.a.population [/] 6 -> 2 by operator ()\n"
                                "600 agents.a.population [/] 2 -> 8 by operator ()\n");
    free(all.attempts);
    free(some.attempts);
}
END_TEST

/* A server for each; a run is three turns of 1 s behind 1 s of thinking, so one run ends every 6 s. Agent 1 is in its
 * second run at 8 s and finishes it, at 12 s; from 20 s on it is there again. */
START_TEST(runs_are_finished)
{
    struct timeline t;

    timeline_expect(
        "study: {horizon: 25 s}\n"
        "backends: {b: {kind: slots, servers: 2, service: constant(1 s)}}\n"
        "agents: {a: {population: 2, think: 1 s, turns: 3}}\n"
        "changes: [{at: 8 s, set: agents.a.population, to: 1}, {at: 20 s, set: agents.a.population, to: 2}]\n",
        NULL,
        "a0@1 a1@1 a0.1@3 a1.1@3 a0.2@5 a1.2@5 a0.3@7 a1.3@7 a0.4@9 a1.4@9 a0.5@11 a1.5@11 "
        "a0.6@13 a0.7@15 a0.8@17 a0.9@19 a0.10@21 a1.6@21 a0.11@23 a1.7@23 a0.12@25 a1.8@25",
        &t);
    EXPECT_ROW(&t, 0, {METRIC_RUNS_PER_H, 6 * 3600 / 25.0});
}
END_TEST

/* An endless run whose agent leaves is no completed one, and wastes nothing. */
START_TEST(endless_runs_end)
{
    struct timeline t;

    timeline_expect(
        "study: {horizon: 20 s}\n"
        "backends: {b: {kind: slots, servers: 2, rate: 10 tokens/s}}\n"
        "agents: {a: {population: 2, think: 1 s, output: 10}}\n"
        "changes: [{at: 7 s, set: agents.a.population, to: 1}, {at: 7 s, set: agents.a.population, to: 2},\n"
        "  {at: 11.5 s, set: agents.a.population, to: 1}]\n",
        NULL,
        "a0@1 a1@1 a0.1@3 a1.1@3 a0.2@5 a1.2@5 a0.3@7 a1.3@7 a0.4@9 a1.4@9 a0.5@11 a1.5@11 "
        "a0.6@13 a0.7@15 a0.8@17 a0.9@19",
        &t);
    EXPECT_ROW(&t, 0, {METRIC_RUNS_PER_H, 0}, {METRIC_WASTED_TOKENS, 0}, {METRIC_GOODPUT, 16 / 20.0});
}
END_TEST

/* A finite number of runs is done by whoever is there; the study ends with the last of them. */
START_TEST(finite_runs)
{
    struct timeline t;

    timeline_expect("study: {until: done}\n"
                    "backends: {b: {kind: slots, servers: 4, service: constant(1 s)}}\n"
                    "agents: {a: {population: 1, think: 1 s, turns: 1, runs: 6}}\n"
                    "changes: [{at: 3 s, set: agents.a.population, to: 9}]\n",
                    NULL, "a0@1 a0.1@3 a1@4 a2@4 a3@4 a4@4", &t);
    timeline_expect("study: {until: done}\n"
                    "backends: {b: {kind: slots, servers: 4, service: constant(1 s)}}\n"
                    "agents: {a: {population: 3, think: 1 s, turns: 1, runs: 6}}\n"
                    "changes: [{at: 1.5 s, set: agents.a.population, to: 1}]\n",
                    NULL, "a0@1 a1@1 a2@1 a0.1@3 a0.2@5 a0.3@7", &t);
}
END_TEST

/* Until 11 s agent 1 is held at the door, asked every 4 s, and agent 2 deferred. */
static struct policy_answer porter_run_admit(struct policy *self, const struct policy_view *view,
                                             struct policy_run *run)
{
    (void)self;
    if (run->agent == 0 || view->now >= 11 * POLICY_SECOND)
        return policy_admit();
    return run->agent == 1 ? policy_hold(4 * POLICY_SECOND, "shut") : policy_defer(POLICY_NONE, "shut");
}

static const struct policy_ops porter_ops = {POLICY_HEADER, .name = "porter", .summary = "keeps two of three outside",
                                             .run_admit = porter_run_admit};

static void at_the_door_with(const char *study, const char *keys, const char *changes, const char *starts,
                             struct timeline *timeline)
{
    const struct policy_ops *const policies[] = {&porter_ops, NULL};
    struct plan plan;
    char yaml[1024];

    snprintf(yaml, sizeof yaml,
             "study: {%s}\nbackends: {b: {kind: slots, servers: 4, %s}}\n"
             "policies: [porter]\nchanges: [%s]\n",
             study, keys, changes);
    plan = model_plan_of(yaml, policies);
    timeline_of(&plan, 0, timeline);
    plan_fini(&plan);
    ck_assert_str_eq(timeline->starts, starts);
}

/* At the door, held (1) or about to come back (2): neither is let in that is one too many when it would ask again, at
 * 12 and 15 s. At 40 s they are there again, with another run each; what they left behind is no run that was refused.
 * Of a finite number it is one that nobody does. */
START_TEST(at_the_door)
{
    struct timeline t;

    at_the_door_with("horizon: 45 s",
                     "service: constant(100 s)}}\n"
                     "agents: {a: {population: 3, think: 1 s, turns: 1, client: {jitter: none}",
                     "{at: 9 s, set: agents.a.population, to: 1}, {at: 40 s, set: agents.a.population, to: 3}",
                     "a0@1 a1@41 a2@41", &t);
    EXPECT_ROW(&t, 0, {METRIC_RUNS_REFUSED, 0});
    /* Who does not ask meanwhile has not gone. */
    at_the_door_with("horizon: 25 s",
                     "service: constant(100 s)}}\n"
                     "agents: {a: {population: 3, think: 1 s, turns: 1, client: {jitter: none}",
                     "{at: 9 s, set: agents.a.population, to: 1}, {at: 11.5 s, set: agents.a.population, to: 3}",
                     "a0@1 a1@13 a2@16", &t);
    at_the_door_with("until: done",
                     "service: constant(1 s)}}\n"
                     "agents: {a: {population: 3, think: 1 s, turns: 1, runs: 6, client: {jitter: none}",
                     "{at: 9 s, set: agents.a.population, to: 1}", "a0@1 a0.1@3 a0.2@5 a0.3@7", &t);
    EXPECT_ROW(&t, 0, {METRIC_UNFINISHED, 0}, {METRIC_MAKESPAN, 15});
}
END_TEST

/* Before the start of its class nobody begins; who is one too many by then never does. */
START_TEST(before_the_start)
{
    struct timeline t;

    timeline_expect(
        "study: {horizon: 15 s}\n"
        "backends: {b: {kind: slots, servers: 4, service: constant(9 s)}}\n"
        "agents: {a: {population: 2, think: 1 s, start: 10 s}}\n"
        "changes: [{at: 3 s, set: agents.a.population, to: 1}, {at: 5 s, set: agents.a.population, to: 3},\n"
        "  {at: 6 s, set: agents.a.population, to: 2}]\n",
        NULL, "a0@11 a1@11", &t);
    /* at the very start it is in time */
    timeline_expect("study: {horizon: 15 s}\n"
                    "backends: {b: {kind: slots, servers: 4, service: constant(9 s)}}\n"
                    "agents: {a: {population: 2, think: 1 s, start: 10 s}}\n"
                    "changes: [{at: 10 s, set: agents.a.population, to: 1}]\n",
                    NULL, "a0@11", &t);
}
END_TEST

/* The copy of an agent that has left hears nothing, and it begins anew with the agent's return, at the values of then.
 */
START_TEST(copies_begin_anew)
{
    struct heard heard = heard_of(
        "study: {horizon: 60 s}\n"
        "backends: {b: {kind: slots, servers: 4, service: constant(1 s)}}\n"
        "agents: {a: {population: 2, think: 1 s}}\n"
        "policies: [it: [keeper: {scope: agent}]]\n"
        "changes: [{at: 10.5 s, set: agents.a.population, to: 1}, {at: 20 s, set: policies.it.keeper.level, to: 4},\n"
        "  {at: 30 s, set: agents.a.population, to: 2}, {at: 40 s, set: policies.it.keeper.level, to: 5}]\n");

    ck_assert_str_eq(heard.sets, "10.5 agents.a.population [/] 2 -> 1 by operator ()\n"
                                 "20 policies.it.keeper.level [b/a.0] 1 -> 4 by operator ()\n"
                                 "30 agents.a.population [/] 1 -> 2 by operator ()\n"
                                 "40 policies.it.keeper.level [b/a.0] 4 -> 5 by operator ()\n"
                                 "40 policies.it.keeper.level [b/a.1] 4 -> 5 by operator ()\n");
    free(heard.attempts);
}
END_TEST

/* No copy is there to take it, before the first call and after the last has left: a row of the change itself. */
START_TEST(nobody_takes_it)
{
    struct heard heard = heard_of(
        "study: {horizon: 60 s}\n"
        "backends: {b: {kind: slots, servers: 4, service: constant(1 s)}}\n"
        "agents: {a: {arrivals: all_at(10 s), runs: 1}}\n"
        "policies: [it: [keeper: {scope: agent}]]\n"
        "changes: [{at: 5 s, set: policies.it.keeper.level, to: 4, reason: early},\n"
        "  {at: 10.5 s, set: policies.it.keeper.level, to: 5}, {at: 40 s, set: policies.it.keeper.level, to: 6}]\n");

    ck_assert_str_eq(heard.sets, "5 policies.it.keeper.level [/] 1 -> 4 by operator (early)\n"
                                 "10.5 policies.it.keeper.level [b/a.0] 4 -> 5 by operator ()\n"
                                 "40 policies.it.keeper.level [/] 5 -> 6 by operator ()\n");
    free(heard.attempts);
}
END_TEST

/* Arrivals: those before the change are the same; the gap that is under way is stretched from the change on by the
 * ratio of the rates, and so is each further one, up to the rounding of each to a ns. */
START_TEST(arrivals_at_another_rate)
{
    const char *yaml = "study: {horizon: 4000 s}\n"
                       "backends: {b: {kind: slots, servers: 100, service: constant(1 s)}}\n"
                       "agents: {a: {arrivals: poisson(30/min)}}\n";
    struct heard plain = heard_of(yaml),
                 changed = heard_with(yaml, "{at: 1000 s, set: agents.a.arrivals, to: poisson(2/s)}");
    const sim_time at = 1000 * SIM_SECOND;
    size_t before = 0;

    ck_assert_uint_gt(changed.count, 6000);
    for (size_t i = 0; i < plain.count; i++) {
        sim_time was = plain.attempts[i].attempted, is = changed.attempts[i].attempted;

        before += was <= at;
        if (was <= at)
            ck_assert_int_eq(is, was);
        else
            ck_assert_int_le(llabs(4 * (is - at) - (was - at)), 4 * (sim_time)(i - before + 2));
    }
    ck_assert_uint_gt(before, 400);
    ck_assert_str_eq(changed.sets, "1000 agents.a.arrivals [/] poisson(30/min) -> poisson(120/min) by operator ()\n");
    free(plain.attempts);
    free(changed.attempts);
}
END_TEST

/* The turn that has begun keeps its think time. */
START_TEST(think_at_its_time)
{
    struct timeline t;

    timeline_expect("study: {horizon: 30 s}\n"
                    "backends: {b: {kind: slots, servers: 1, service: constant(1 s)}}\n"
                    "agents: {a: {population: 1, think: 4 s}}\n"
                    "changes: [{at: 10 s, set: agents.a.think, to: 2 s}, {at: 20.5 s, set: agents.a.think, to: 5 s}]\n",
                    NULL, "a0@4 a0.1@9 a0.2@12 a0.3@15 a0.4@18 a0.5@21 a0.6@27", &t);
}
END_TEST

Suite *changes_class_suite(void)
{
    Suite *suite = suite_create("changes_class");
    TCase *tests = tcase_create("changes_class");

    tcase_add_test(tests, population_up_and_down);
    tcase_add_test(tests, runs_are_finished);
    tcase_add_test(tests, endless_runs_end);
    tcase_add_test(tests, finite_runs);
    tcase_add_test(tests, at_the_door);
    tcase_add_test(tests, before_the_start);
    tcase_add_test(tests, copies_begin_anew);
    tcase_add_test(tests, nobody_takes_it);
    tcase_add_test(tests, arrivals_at_another_rate);
    tcase_add_test(tests, think_at_its_time);
    suite_add_tcase(suite, tests);
    return suite;
}
