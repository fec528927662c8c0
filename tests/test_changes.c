/* test_changes.c - the timeline in whole trials: worked out by hand, and beside the same trial without it. */
#include <check.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policies/registry.h"
#include "sim/io/mem.h"
#include "tests/suites.h"
#include "tests/timeline.h"

/* --- a policy that writes down what it is told ---------------------------------------------------------------------
 */

struct keeper_params {
    double level, most;
    int mode;
    int64_t others; /* sets `level` of the copy at gate 0 to this at its first tick after `when`, if above 0 */
    policy_time when;
};

struct keeper_vars {
    double at_begin;   /* level when the copy began */
    int64_t operators; /* how often the operator set something, and a policy */
    int64_t policies;
    int64_t last; /* when, in ns */
};

static const char *keeper_check(const void *params)
{
    const struct keeper_params *p = params;

    return p->level > p->most ? "level: expected at most `most`" : NULL;
}

static void keeper_init(struct policy *self)
{
    ((struct keeper_vars *)self->vars)->at_begin = ((const struct keeper_params *)self->params)->level;
}

static void keeper_changed(struct policy *self, policy_time now, const char *key, enum policy_setter by)
{
    struct keeper_vars *v = self->vars;

    ck_assert(strcmp(key, "level") == 0 || strcmp(key, "most") == 0 || strcmp(key, "mode") == 0);
    v->operators += by == POLICY_BY_OPERATOR;
    v->policies += by == POLICY_BY_POLICY;
    v->last = now;
}

static policy_time keeper_tick(struct policy *self, const struct policy_view *view)
{
    const struct keeper_params *p = self->params;

    if (p->others == 0)
        return POLICY_NONE;
    if (view->now < p->when)
        return p->when;
    self->host->set(self, self->host->find(self, "keeper", 0), "level", (double)p->others, "as it must");
    return POLICY_NONE;
}

static struct policy_answer keeper_admit(struct policy *self, const struct policy_view *view, struct policy_call *call)
{
    (void)self;
    (void)view;
    (void)call;
    return policy_admit();
}

static const char *const keeper_modes[] = {"up", "down", NULL};
static const struct option keeper_options[] = {
    {"level", OPTION_REAL, offsetof(struct keeper_params, level), .initial = "1", .live = true, .help = "a number"},
    {"most", OPTION_REAL, offsetof(struct keeper_params, most), .initial = "100", .live = true, .help = "of level"},
    {"mode", OPTION_CHOICE, offsetof(struct keeper_params, mode), .initial = "up", .choices = keeper_modes,
     .live = true, .help = "a choice"},
    {"others", OPTION_COUNT, offsetof(struct keeper_params, others), .initial = "0", .help = "to set"},
    {"when", OPTION_TIME, offsetof(struct keeper_params, when), .initial = "0 s", .help = "to set it"},
    {.key = NULL},
};
static const struct policy_gauge keeper_gauges[] = {
    {"at_begin", POLICY_GAUGE_DOUBLE, false, offsetof(struct keeper_vars, at_begin), "", "level at the begin"},
    {"operators", POLICY_GAUGE_INT64, false, offsetof(struct keeper_vars, operators), "", "sets of the operator"},
    {"policies", POLICY_GAUGE_INT64, false, offsetof(struct keeper_vars, policies), "", "sets of policies"},
    {"last", POLICY_GAUGE_INT64, false, offsetof(struct keeper_vars, last), "ns", "when it was set last"},
    {.name = NULL},
};
static const struct policy_ops keeper = {
    POLICY_HEADER,
    .name = "keeper",
    .summary = "writes down what it is told",
    .params = keeper_options,
    .gauges = keeper_gauges,
    .params_size = sizeof(struct keeper_params),
    .vars_size = sizeof(struct keeper_vars),
    .check = keeper_check,
    .init = keeper_init,
    .changed = keeper_changed,
    .tick = keeper_tick,
    .admit = keeper_admit,
};

/* --- what a trial tells ------------------------------------------------------------------------------------------- */

/* Sets in words, attempts one by one. */
struct heard {
    char sets[4096];
    size_t length;
    struct attempt {
        uint32_t klass, agent;
        uint64_t run, turn;
        sim_time attempted;
        double output;
    } * attempts;
    size_t count, room;
    char wrong[512];
    uint64_t events;
    double values[TIMELINE_ROWS * METRIC_COUNT];
};

static void hear_set(void *context, const struct set_record *record)
{
    struct heard *heard = context;
    char agent[24] = "";

    if (record->copy.agent >= 0)
        snprintf(agent, sizeof agent, ".%" PRId64, record->copy.agent);
    heard->length += (size_t)snprintf(heard->sets + heard->length, sizeof heard->sets - heard->length,
                                      "%g %s [%s/%s%s] %s -> %s by %s (%s)\n", sim_seconds(record->at), record->key,
                                      record->copy.gate, record->copy.whose, agent, record->old, record->now,
                                      record->by, record->reason);
    ck_assert_uint_lt(heard->length, sizeof heard->sets);
}

static void hear_attempt(void *context, const struct attempt_record *record)
{
    struct heard *heard = context;

    if (heard->count == heard->room) {
        heard->room = heard->room ? 2 * heard->room : 1024;
        heard->attempts = mem_resized(heard->attempts, heard->room, sizeof *heard->attempts);
    }
    heard->attempts[heard->count++] =
        (struct attempt){record->call->klass, record->call->agent,     record->call->run,
                         record->call->turn,  record->call->attempted, record->call->output_tokens};
}

static enum trial_end listen(const struct plan *plan, struct heard *heard)
{
    struct trial_watch watch = {.wrong = heard->wrong,
                                .wrong_size = sizeof heard->wrong,
                                .set = hear_set,
                                .attempted = hear_attempt,
                                .events = &heard->events,
                                .context = heard};

    return trial_simulate(plan->points[0].scenario, 1, &watch, heard->values);
}

static struct heard heard_of(const char *yaml)
{
    const struct policy_ops *policies[64] = {&keeper};
    struct heard heard = {.length = 0};
    struct plan plan;
    size_t count = 1;

    for (size_t i = 0; policy_registry[i]; i++)
        policies[count++] = policy_registry[i];
    plan = model_plan_of(yaml, policies);
    if (listen(&plan, &heard) != TRIAL_WRONG)
        ck_assert_str_eq(heard.wrong, "");
    plan_fini(&plan);
    return heard;
}

static const char *text(struct arena *arena, const char *scenario, const char *changes)
{
    return arena_format(arena, "%schanges: [%s]\n", scenario, changes);
}

static struct heard heard_with(const char *scenario, const char *changes)
{
    struct arena arena = {0};
    struct heard heard = heard_of(text(&arena, scenario, changes));

    arena_free(&arena);
    return heard;
}

static void same_values(const struct heard *one, const struct heard *other)
{
    ck_assert_mem_eq(one->values, other->values, sizeof one->values);
    ck_assert_uint_eq(one->count, other->count);
    ck_assert_mem_eq(one->attempts, other->attempts, one->count * sizeof *one->attempts);
}

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

/* --- pools -------------------------------------------------------------------------------------------------------- */

static uint64_t made(const struct heard *heard, double from, double to)
{
    uint64_t count = 0;

    for (size_t i = 0; i < heard->count; i++)
        count += sim_seconds(heard->attempts[i].attempted) > from && sim_seconds(heard->attempts[i].attempted) <= to;
    return count;
}

/* A change of a limit is one of `moves: steps(...)` at that time, digit for digit; so of all shapes. */
START_TEST(a_limit_at_its_time)
{
    static const char *const shapes[] = {"", ", fill: window", ", fill: step", ", fill: sub(7 s)"};
    struct arena arena = {0};
    const char *yaml = "study: {horizon: 1000 s, warmup: 100 s}\n"
                       "backends: {pool: {kind: provider, meters: {requests: {%s%s%s}}, latency: {base: 2 s}}}\n"
                       "agents: {a: {population: 9, think: exponential(2 s), output: 1}}\n";
    const char *burst = _i == 1 || _i == 3 ? "" : ", burst: 50";
    struct heard moved =
        heard_of(arena_format(&arena, yaml, "moves: steps(0 s 60/min 300 s 150/min 420 s 20/min)", burst, shapes[_i]));
    const char *constant = arena_format(&arena, yaml, "limit: 60/min", burst, shapes[_i]);
    struct heard set = heard_with(constant, "{at: 420 s, set: backends.pool.meters.requests, to: 20/min},"
                                            "{at: 300 s, set: backends.pool.meters.requests.limit, to: 150/min}");

    same_values(&moved, &set);
    ck_assert_str_eq(
        set.sets, "300 backends.pool.meters.requests.limit [/] 60 requests/min -> 150 requests/min by operator ()\n"
                  "420 backends.pool.meters.requests.limit [/] 150 requests/min -> 20 requests/min by operator ()\n");
    ck_assert_str_eq(moved.sets, "");
    ck_assert_uint_gt(made(&set, 300, 420), 0);
    free(moved.attempts);
    free(set.attempts);
    arena_free(&arena);
}
END_TEST

/* An answer that is asked for at 10 s takes the new time, one under way its own. */
START_TEST(latency_at_its_time)
{
    struct timeline t;

    timeline_expect("study: {horizon: 40 s}\n"
                    "backends: {pool: {kind: provider, latency: {base: 2 s, per_output: 1 s}}}\n"
                    "agents: {a: {population: 1, think: 3 s, output: 1}}\n"
                    "changes: [{at: 10 s, set: backends.pool.latency.base, to: 5 s},\n"
                    "  {at: 22 s, set: backends.pool.latency.per_output, to: 4 s}]\n",
                    NULL, "a0@3 a0.1@9 a0.2@15 a0.3@24 a0.4@36", &t);
}
END_TEST

/* Refused at 3 s: comes back when it is told, at 7 and 11 s. From 10 s on it is told another time, so it comes at 13 s,
 * and from 12 s on none, so it backs off by itself: at 20, 27 and 34 s. */
START_TEST(retry_after_at_its_time)
{
    struct timeline t;

    timeline_expect("study: {horizon: 60 s}\n"
                    "backends: {pool: {kind: provider, meters: {requests: {limit: 2/min, fill: sub(30 s)}},\n"
                    "    latency: {base: 1 s}, retry_after: constant(4 s)}}\n"
                    "agents: {a: {population: 1, think: 1 s, output: 1,\n"
                    "    client: {backoff: constant, base: 7 s, jitter: none}}}\n"
                    "changes: [{at: 10 s, set: backends.pool.retry_after, to: constant(2 s)},\n"
                    "  {at: 12 s, set: backends.pool.retry_after, to: none}]\n",
                    NULL, "a0@1 a0.1@34#7", &t);
}
END_TEST

START_TEST(errors_at_their_time)
{
    struct heard heard = heard_with("study: {horizon: 100 s}\n"
                                    "backends: {pool: {kind: provider, latency: {base: 1 s}}}\n"
                                    "agents: {a: {population: 1, think: 1 s, output: 1, client: {attempts: 1}}}\n",
                                    "{at: 40 s, set: backends.pool.errors, to: 100 %},"
                                    "{at: 60 s, set: backends.pool.errors, to: 0 %}");

    /* a call every 2 s, made at 1, 3, ..., 99 s: those of 41 to 59 s fail */
    ck_assert_double_eq_tol(heard.values[METRIC_GOODPUT], (50 - 10) / 100.0, 1e-12);
    free(heard.attempts);
}
END_TEST

/* --- agents ------------------------------------------------------------------------------------------------------- */

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
    tcase_add_loop_test(tests, a_limit_at_its_time, 0, 4);
    tcase_add_test(tests, latency_at_its_time);
    tcase_add_test(tests, retry_after_at_its_time);
    tcase_add_test(tests, errors_at_their_time);
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
    tcase_add_test(tests, nothing_new);
    suite_add_tcase(suite, tests);
    return suite;
}
