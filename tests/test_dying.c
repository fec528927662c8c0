/* test_dying.c - clients that die while their call is served and tell nobody: what the gate counts, what the backend
 * wastes, what policies are left with. Deaths are known beforehand: their random numbers are addressed. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "models/purpose.h"
#include "models/scenario_hash.h"
#include "tests/suites.h"
#include "tests/timeline.h"

#define SERVICE 10 /* seconds */

/* What is drawn for the first attempt of a turn of class `a`, seed 1, replication 1, at a card. */
struct death {
    double share, part;
};

static struct death death_of(uint32_t agent, uint64_t turn, uint64_t attempt)
{
    uint64_t hash = scenario_hash_name("a");
    struct stream stream = stream_open(
        (struct stream_key){1, 1},
        (struct stream_address){
            .purpose = PURPOSE_DEATH, .entity = (hash ^ hash >> 32) << 32 | agent, .turn = turn, .attempt = attempt});
    struct death death;

    death.share = stream_uniform(&stream);
    death.part = stream_uniform(&stream);
    return death;
}

/* --- a policy that counts ----------------------------------------------------------------------------------------- */

static struct {
    uint64_t begun, admitted, finished[POLICY_EXPIRED + 1], run_finished;
    policy_time last_expired, lifetime;
    uint64_t memories; /* numbers that were given to memories which were found blank */
    uint64_t blank_agents;
    bool blank;
} heard;

/* The numbers of the memories that a call was admitted with. */
struct counts_call {
    uint64_t copy, run, agent;
};

static void counts_init(struct policy *self)
{
    *(uint64_t *)self->vars = ++heard.begun;
}

static uint64_t memory_number(void *memory)
{
    uint64_t *number = memory;

    if (*number == 0)
        *number = ++heard.memories;
    return *number;
}

static struct policy_answer counts_admit(struct policy *self, const struct policy_view *view, struct policy_call *call)
{
    struct counts_call *memory = call->state;

    (void)view;
    *memory =
        (struct counts_call){*(uint64_t *)self->vars, memory_number(call->run_state), memory_number(call->agent_state)};
    return policy_admit();
}

static policy_time counts_admitted(struct policy *self, const struct policy_view *view, struct policy_call *call)
{
    (void)self, (void)view, (void)call;
    heard.admitted++;
    return heard.lifetime;
}

static policy_time counts_finish(struct policy *self, const struct policy_view *view, struct policy_call *call,
                                 const struct policy_outcome *outcome)
{
    const struct counts_call *memory = call->state;
    uint64_t run = *(uint64_t *)call->run_state, agent = *(uint64_t *)call->agent_state;

    ck_assert_uint_eq(memory->copy, *(uint64_t *)self->vars);
    heard.finished[outcome->end]++;
    if (outcome->end == POLICY_ERROR && heard.finished[POLICY_ERROR] <= 3)
        return POLICY_SECOND; /* again */
    if (outcome->end != POLICY_EXPIRED)
        return POLICY_NONE;
    heard.last_expired = view->now;
    ck_assert(run == memory->run || run == 0);
    ck_assert(agent == memory->agent || agent == 0);
    heard.blank_agents += agent == 0;
    heard.blank = run == 0;
    return POLICY_NONE;
}

static void counts_run_finish(struct policy *self, const struct policy_view *view, struct policy_run *run, bool done)
{
    (void)self, (void)view, (void)run, (void)done;
    heard.run_finished++;
}

static const struct policy_ops counts_ops = {POLICY_HEADER,
                                             .name = "counts",
                                             .summary = "counts what it hears",
                                             .vars_size = sizeof(uint64_t),
                                             .call_size = sizeof(struct counts_call),
                                             .run_size = sizeof(uint64_t),
                                             .agent_size = sizeof(uint64_t),
                                             .init = counts_init,
                                             .admit = counts_admit,
                                             .admitted = counts_admitted,
                                             .finish = counts_finish,
                                             .run_finish = counts_run_finish};

/* --- what attempts came to ---------------------------------------------------------------------------------------- */

static struct {
    uint64_t count[ATTEMPT_VERDICTS], died;
    double first_turn[64]; /* by agent: when its first attempt ended */
} ended;

static void attempted(void *context, const struct attempt_record *record)
{
    (void)context;
    ended.count[record->verdict]++;
    if (record->call->agent < 64 && record->call->turn == 0 && record->call->attempt == 1)
        ended.first_turn[record->call->agent] = sim_seconds(record->finished);
    if (record->reason && strcmp(record->reason, "died") == 0) {
        ck_assert_int_eq(record->verdict, ATTEMPT_ABANDONED);
        ended.died++;
    }
}

static void simulate(const char *yaml, policy_time lifetime, double *values)
{
    const struct policy_ops *const policies[] = {&counts_ops, NULL};
    char wrong[512] = "";
    struct trial_watch watch = {.attempted = attempted, .wrong = wrong, .wrong_size = sizeof wrong};
    struct plan plan = model_plan_of(yaml, policies);

    memset(&heard, 0, sizeof heard);
    memset(&ended, 0, sizeof ended);
    heard.lifetime = lifetime;
    ck_assert_msg(trial_simulate(plan.points[0].scenario, 1, &watch, values) == TRIAL_ENDED, "%s", wrong);
    plan_fini(&plan);
}

/* --- tests -------------------------------------------------------------------------------------------------------- */

/* Ten runs at 0, 10 s and 100 tokens each. All die, at the parts of their service that are drawn: ten are abandoned,
 * ten runs lost, all that the card wrote is wasted, and it was at work to the end. Policies hear of a death only as
 * their record expires, at 30. */
START_TEST(all_die)
{
    double v[METRIC_COUNT];

    simulate("study: {horizon: 100 s}\nbackends: {b: {kind: slots, servers: 10, rate: 10 tokens/s}}\n"
             "agents: {a: {arrivals: all_at(0 s), runs: 10, output: 100, client: {dies: 100 %}}}\n"
             "policies: [counts]\n",
             30 * POLICY_SECOND, v);
    ck_assert_uint_eq(ended.died, 10);
    for (uint32_t i = 0; i < 10; i++)
        ck_assert_double_eq_tol(ended.first_turn[i], SERVICE * death_of(i, 0, 1).part, 1e-8);
    ck_assert_double_eq(v[METRIC_GOODPUT], 0);
    ck_assert_double_eq(v[METRIC_WASTED_TOKENS], 10 * 100 / 100.0);
    ck_assert_double_eq(v[METRIC_WASTED_SHARE], 1);
    ck_assert_double_eq(v[METRIC_LOST_TURNS], 10 * 36);
    ck_assert_double_eq(v[METRIC_RUNS_PER_H], 0);
    ck_assert_double_eq(v[METRIC_UTILISATION], 10 / 100.0);
    ck_assert_uint_eq(heard.admitted, 10);
    ck_assert_uint_eq(heard.finished[POLICY_EXPIRED], 10);
    ck_assert_int_eq(heard.last_expired, 30 * POLICY_SECOND);
    ck_assert_uint_eq(heard.finished[POLICY_DONE] + heard.finished[POLICY_ABANDONED] + heard.finished[POLICY_TIMEOUT],
                      0);
    ck_assert_uint_eq(heard.run_finished, 10);
    ck_assert(heard.blank);
}
END_TEST

/* Of 1,000 services those die whose number says so, and no other; the rest is answered. */
START_TEST(a_share_dies)
{
    double v[METRIC_COUNT];
    uint64_t dead = 0;

    for (uint32_t i = 0; i < 1000; i++)
        dead += death_of(i, 0, 1).share < 0.3;
    ck_assert(dead > 250 && dead < 350);
    simulate("study: {horizon: 100 s}\nbackends: {b: {kind: slots, servers: 1000, rate: 10 tokens/s}}\n"
             "agents: {a: {arrivals: all_at(0 s), runs: 1000, output: 100, client: {dies: 30 %}}}\n"
             "policies: [counts]\n",
             30 * POLICY_SECOND, v);
    ck_assert_uint_eq(ended.died, dead);
    ck_assert_uint_eq(ended.count[ATTEMPT_ANSWERED], 1000 - dead);
    ck_assert_uint_eq(heard.finished[POLICY_EXPIRED], dead);
    ck_assert_uint_eq(heard.finished[POLICY_DONE], 1000 - dead);
    ck_assert_double_eq_tol(v[METRIC_WASTED_SHARE], (double)dead / 1000, 1e-12);
    ck_assert_double_eq(v[METRIC_GOODPUT], (double)(1000 - dead) / 100);
}
END_TEST

/* A record that expires while the card still works on, one that never expires, and one that outlives the service: the
 * call's memory is used again in each case, and nobody hears of another's. */
START_TEST(records_of_the_dead)
{
    static const policy_time lifetimes[] = {0, POLICY_SECOND, 5 * POLICY_SECOND, 300 * POLICY_SECOND};
    double v[METRIC_COUNT];

    for (size_t i = 0; i < sizeof lifetimes / sizeof *lifetimes; i++) {
        uint64_t ends;

        simulate("study: {horizon: 20000 s}\nbackends: {b: {kind: slots, servers: 4, service: exponential(4 s)}}\n"
                 "agents: {a: {arrivals: poisson(0.4/s), turns: geometric(3), think: 1 s, client: {dies: 30 %}}}\n"
                 "policies: [counts]\n",
                 lifetimes[i], v);
        ends = heard.finished[POLICY_DONE] + heard.finished[POLICY_EXPIRED];
        ck_assert_uint_gt(ended.died, 3000);
        if (lifetimes[i] == 0) {
            ck_assert_uint_eq(heard.finished[POLICY_EXPIRED], 0);
            ck_assert_uint_eq(heard.finished[POLICY_DONE], ended.count[ATTEMPT_ANSWERED]);
        } else {
            ck_assert_uint_ge(heard.finished[POLICY_EXPIRED] + 300, ended.died);
            ck_assert(ends <= heard.admitted && ends + 300 >= heard.admitted);
        }
    }
}
END_TEST

/* An agent of a population goes on: after a think time of 3 s with its next turn where the run is endless, with its
 * next run where it is not. Three lives by the numbers drawn for turns 0, 1 and 2. */
START_TEST(a_population_goes_on)
{
    static const char *const runs[] = {"", ", turns: 5"};
    double v[METRIC_COUNT], at = 3;
    char yaml[512];

    for (uint64_t turn = 0; turn < 3; turn++)
        at += SERVICE * death_of(0, turn, 1).part + 3;
    for (size_t i = 0; i < 2; i++) {
        snprintf(
            yaml, sizeof yaml,
            "study: {horizon: %.9f s}\nbackends: {b: {kind: slots, servers: 9, rate: 10 tokens/s}}\n"
            "agents: {a: {population: 1, think: 3 s, output: 100, client: {dies: 100 %%}%s}}\npolicies: [counts]\n",
            at + 1e-6, runs[i]);
        simulate(yaml, SERVICE * POLICY_SECOND, v); /* so records outlive their clients */
        ck_assert_uint_eq(heard.admitted, 4);
        ck_assert_uint_eq(ended.died, 3);
        ck_assert_uint_eq(ended.count[ATTEMPT_UNFINISHED], 1);
        ck_assert_uint_eq(heard.run_finished, i == 0 ? 0 : 3);
        ck_assert_uint_ge(heard.finished[POLICY_EXPIRED], 2);
        ck_assert_int_eq(heard.blank, i == 1); /* the run's memory, where the run is over */
    }
}
END_TEST

/* Patience and death: whichever comes first, and only that. */
START_TEST(patience_or_death)
{
    double v[METRIC_COUNT];
    uint64_t patient = 0;

    for (uint32_t i = 0; i < 60; i++)
        patient += SERVICE * death_of(i, 0, 1).part > 4;
    ck_assert(patient > 0 && patient < 60);
    simulate("study: {horizon: 100 s}\nbackends: {b: {kind: slots, servers: 60, rate: 10 tokens/s}}\n"
             "agents: {a: {arrivals: all_at(0 s), runs: 60, output: 100,\n"
             "             client: {dies: 100 %, timeout: 4 s, attempts: 2, base: 20 s, jitter: none}}}\n"
             "policies: [counts]\n",
             0, v);
    for (uint32_t i = 0; i < 60; i++)
        ck_assert_double_eq_tol(ended.first_turn[i], fmin(4, SERVICE * death_of(i, 0, 1).part), 1e-8);
    ck_assert_uint_eq(heard.finished[POLICY_TIMEOUT], patient);
    /* Those that waited try again, and die or give up then. */
    ck_assert_uint_eq(heard.admitted, 60 + patient);
    ck_assert_uint_eq(ended.count[ATTEMPT_TIMEOUT], patient);
}
END_TEST

/* A layer that restarts runs does so; those that try calls again do not. */
START_TEST(only_runs_are_restarted)
{
    double v[METRIC_COUNT];

    simulate("study: {until: done}\nbackends: {b: {kind: slots, servers: 9, rate: 10 tokens/s}}\n"
             "agents: {a: {arrivals: all_at(0 s), runs: 1, turns: 1, think: 0 s, output: 100,\n"
             "    client: [{dies: 100 %, attempts: 7}, {attempts: 7}, {attempts: 3, restarts: run}]}}\n"
             "policies: [counts]\n",
             0, v);
    ck_assert_uint_eq(heard.admitted, 3);
    ck_assert_uint_eq(ended.died, 3);
    ck_assert_uint_eq(heard.run_finished, 3);
    ck_assert_double_eq(v[METRIC_UNFINISHED], 0);
}
END_TEST

/* A pool works on too: it charges what it wrote, and its place in flight is free only then. Two may fly; at 5 a third
 * is refused though the clients of both may be dead. */
START_TEST(a_pool_works_for_the_dead)
{
    double v[METRIC_COUNT * 8];

    simulate("study: {horizon: 100 s}\nbackends: {p: {kind: provider, retry_after: none, latency: {base: 10 s},\n"
             "    meters: {in_flight: 2, output: {limit: 6000 tokens/min, counts: after}}}}\n"
             "agents:\n  a: {arrivals: all_at(0 s), runs: 2, output: 100, client: {dies: 100 %}}\n"
             "  late: {arrivals: all_at(9.9 s), runs: 1, output: 100, client: {attempts: 1}}\n"
             "  later: {arrivals: all_at(10.1 s), runs: 1, output: 100, client: {attempts: 1}}\npolicies: [counts]\n",
             0, v);
    ck_assert_uint_eq(ended.died, 2);
    ck_assert_uint_eq(ended.count[ATTEMPT_OVERLOAD], 1);
    ck_assert_uint_eq(ended.count[ATTEMPT_ANSWERED], 1);
    ck_assert_double_eq(v[METRIC_CHARGED + 2 * METER_OUTPUT], 300 * 0.6);
    ck_assert_double_eq(v[METRIC_WASTED_TOKENS], 200 / 100.0);
}
END_TEST

/* A copy of an agent ends with it: nobody is told of a record of one that is gone, and no copy begins for it. One whose
 * agent goes on is told. */
START_TEST(copies_of_agents_that_are_gone)
{
    double v[METRIC_COUNT];

    simulate("study: {horizon: 100 s}\nbackends: {b: {kind: slots, servers: 10, rate: 10 tokens/s}}\n"
             "agents: {a: {arrivals: all_at(0 s), runs: 10, output: 100, client: {dies: 100 %}}}\n"
             "policies: [counts: {scope: agent}]\n",
             30 * POLICY_SECOND, v);
    ck_assert_uint_eq(heard.admitted, 10);
    ck_assert_uint_eq(heard.begun, 10);
    ck_assert_uint_eq(heard.finished[POLICY_EXPIRED], 0);
    simulate("study: {horizon: 100 s}\nbackends: {b: {kind: slots, servers: 30, rate: 10 tokens/s}}\n"
             "agents: {a: {population: 10, think: 80 s, output: 100, client: {dies: 100 %}}}\n"
             "policies: [counts: {scope: agent}]\n",
             15 * POLICY_SECOND, v);
    ck_assert_uint_eq(heard.begun, 10);
    ck_assert_uint_eq(heard.finished[POLICY_EXPIRED], 10);
}
END_TEST

/* Agents that left and came back, by the same numbers, while what they had died of was still on record: to policies
 * they are others. Of twenty all but one leave; until then each of those has died a few times, and later some more. */
START_TEST(agents_that_come_back)
{
    static const char *const runs[] = {"", ", turns: 3"}, *const scopes[] = {"gate", "agent"};
    double v[METRIC_COUNT];
    char yaml[1024];

    snprintf(yaml, sizeof yaml,
             "study: {horizon: 800 s}\nbackends: {b: {kind: slots, servers: 200, rate: 10 tokens/s}}\n"
             "agents: {a: {population: 20, think: 1 s, output: 100, client: {dies: 100 %%}%s}}\n"
             "policies: [counts: {scope: %s}]\n"
             "changes:\n  - {at: 50 s, set: agents.a.population, to: 1}\n"
             "  - {at: 80 s, set: agents.a.population, to: 20}\n",
             runs[_i / 2], scopes[_i % 2]);
    simulate(yaml, 300 * POLICY_SECOND, v);
    ck_assert_uint_gt(heard.finished[POLICY_EXPIRED], 200);
    if (_i % 2 == 0) {
        ck_assert_uint_eq(heard.begun, 1);
        ck_assert_uint_gt(heard.blank_agents, 19 * 4);
    } else {
        ck_assert_uint_eq(heard.begun, 20 + 19);
        ck_assert_uint_eq(heard.blank_agents, 0);
    }
}
END_TEST

/* The context of a call whose client is gone is nobody's: the agent's next turn finds none. */
START_TEST(contexts_of_the_dead)
{
    double v[METRIC_COUNT];

    simulate("study: {horizon: 1000 s}\nbackends: {b: {kind: slots, servers: 9, rate: 10 tokens/s, kv: 100k}}\n"
             "agents: {a: {population: 1, think: 3 s, output: 100, input: {start: 1000}, client: {dies: 100 %}}}\n"
             "policies: [counts]\n",
             0, v);
    ck_assert_uint_gt(ended.died, 50);
    ck_assert_double_eq(v[METRIC_COLD_SHARE], 1);
}
END_TEST

/* What takes no time cannot be cut short: a pool that fails at once, three times taken back by the policy. */
START_TEST(no_time_to_die)
{
    double v[METRIC_COUNT];

    simulate("study: {horizon: 100 s}\nbackends: {p: {kind: provider, latency: {base: 0 s}, errors: 100 %}}\n"
             "agents: {a: {arrivals: all_at(0 s), runs: 1, client: {dies: 100 %, attempts: 1}}}\npolicies: [counts]\n",
             0, v);
    ck_assert_uint_eq(heard.admitted, 4);
    ck_assert_uint_eq(heard.finished[POLICY_ERROR], 4);
    ck_assert_uint_eq(ended.died, 0);
}
END_TEST

/* Identities, contexts and copies of agents with everything at once: asserted by the trial itself. */
START_TEST(everything_at_once)
{
    static const char *const scopes[] = {"all", "gate", "class", "tenant", "agent"};
    double v[METRIC_COUNT * 16];
    char yaml[2048];

    snprintf(
        yaml, sizeof yaml,
        "study: {horizon: 4000 s, warmup: 500 s}\nbackends:\n"
        "  card: {kind: slots, servers: 8, throughput: {1: 56 tokens/s, 8: 311 tokens/s}, kv: 100000,\n"
        "         prefill: 5k tokens/s}\n"
        "  api: {kind: provider, latency: {base: 3 s, noise: lognormal(1 cv 0.5)}, meters: {in_flight: 20},\n"
        "        errors: 10 %%}\n"
        "agents:\n  a: {population: 24, think: exponential(4 s), output: exponential(300), backend: card,\n"
        "      input: {start: 3000, per_turn: 700, most: 60000}, turns: geometric(5),\n"
        "      client: {dies: 20 %%, timeout: 60 s}}\n"
        "  b: {population: 24, think: exponential(4 s), output: exponential(300), backend: api,\n"
        "      client: {dies: 20 %%, attempts: 4}}\n"
        "  c: {arrivals: poisson(1/s), think: exponential(4 s), turns: 3, output: exponential(300), backend: api,\n"
        "      boot: exponential(5 s),\n"
        "      client: [{dies: 20 %%, attempts: 4, timeout: 9 s}, {restarts: run, attempts: 3}]}\n"
        "policies: [counts: {scope: %s}]\n",
        scopes[_i]);
    simulate(yaml, 20 * POLICY_SECOND, v);
    ck_assert_uint_gt(heard.finished[POLICY_EXPIRED], 1000);
}
END_TEST

Suite *dying_suite(void)
{
    Suite *suite = suite_create("dying");
    TCase *test = tcase_create("dying");

    tcase_add_test(test, all_die);
    tcase_add_test(test, a_share_dies);
    tcase_add_test(test, records_of_the_dead);
    tcase_add_test(test, a_population_goes_on);
    tcase_add_test(test, patience_or_death);
    tcase_add_test(test, only_runs_are_restarted);
    tcase_add_test(test, a_pool_works_for_the_dead);
    tcase_add_test(test, copies_of_agents_that_are_gone);
    tcase_add_loop_test(test, agents_that_come_back, 0, 4);
    tcase_add_test(test, contexts_of_the_dead);
    tcase_add_test(test, no_time_to_die);
    tcase_add_loop_test(test, everything_at_once, 0, 5);
    suite_add_tcase(suite, test);
    return suite;
}
