/* Calls that spill over: hand-worked days, what rows and policies see of them. */
#include <check.h>
#include <math.h>
#include <string.h>

#include "models/metrics.h"
#include "tests/model.h"
#include "tests/suites.h"

enum { ROWS = 24 };

static double values[ROWS * METRIC_COUNT];
static size_t records[4]; /* of attempts, by gate */

static void attempted(void *context, const struct attempt_record *record)
{
    (void)context;
    records[record->gate]++;
}

static void keep(const struct plan *plan)
{
    char wrong[512] = "";
    struct trial_watch watch = {.attempted = attempted, .wrong = wrong, .wrong_size = sizeof wrong};
    enum trial_end end;

    ck_assert_uint_le(trial_row_count(plan->points[0].scenario), ROWS);
    memset(records, 0, sizeof records);
    end = trial_simulate(plan->points[0].scenario, 1, &watch, values);
    ck_assert_msg(end == TRIAL_ENDED, "%s", wrong);
}

static void simulate(const char *yaml)
{
    struct plan plan = model_plan(yaml);

    keep(&plan);
    plan_fini(&plan);
}

/* The rows of all, of the card and of the tier. */
static double of(size_t row, enum metric_index metric)
{
    return values[row * METRIC_COUNT + metric];
}

#define RUNS(runs, tier, rule, more) \
    "study: {until: done}\n" \
    "backends: {card: {kind: slots, servers: 1, service: 10 s}, tier: {kind: slots, servers: " tier \
    ", service: 2 s}}\n" \
    "agents: {a: {arrivals: all_at(0 s), runs: " runs ", backend: [card, tier], spill: " rule ",\n" \
    "  client: {backoff: constant, base: 1 s, jitter: none}}}\n" more

/* --- refused -------------------------------------------------------------------------------------------------------
 */

/* One at the card, two at the tier; nobody was refused, and each made one attempt. */
START_TEST(refused_calls_go_on)
{
    simulate(RUNS("3", "2", "refused", "policies: [fixed_cap: {cap: 1, at: card}]\n"));
    ck_assert_double_eq(of(0, METRIC_MAKESPAN), 10);
    ck_assert_double_eq(of(0, METRIC_ATTEMPTS_PER_TURN), 1);
    ck_assert_double_eq(of(0, METRIC_DEFERRED_SHARE), 0);
    ck_assert_double_eq(of(1, METRIC_ATTEMPTS_PER_TURN), 3); /* the card saw three */
    ck_assert_double_eq(of(1, METRIC_DEFERRED_SHARE), 0);
    ck_assert_double_eq(of(2, METRIC_ATTEMPTS_PER_TURN), 1);
    ck_assert_double_eq_tol(of(1, METRIC_GOODPUT), 1 / 10.0, 1e-12);
    ck_assert_double_eq_tol(of(2, METRIC_GOODPUT), 2 / 10.0, 1e-12);
    ck_assert_double_eq_tol(of(0, METRIC_RESPONSE_MEAN), 14 / 3.0, 1e-9); /* 10 s; 2 s at the tier, not 10 */
    ck_assert(records[0] == 1 && records[1] == 2);                        /* an attempt has one record */
}
END_TEST

/* The third is refused by both at 0 and 1 s, and each attempt asks the card first; at 2 s the tier has room. */
START_TEST(the_last_refuses_for_good)
{
    simulate(RUNS("3", "1", "refused", "policies: [fixed_cap: {cap: 1}]\n"));
    ck_assert_double_eq(of(0, METRIC_MAKESPAN), 10);
    ck_assert_double_eq_tol(of(0, METRIC_ATTEMPTS_PER_TURN), 5 / 3.0, 1e-12);
    ck_assert_double_eq_tol(of(0, METRIC_DEFERRED_SHARE), 2 / 5.0, 1e-12);
    ck_assert_double_eq(of(1, METRIC_ATTEMPTS_PER_TURN), 5); /* of one turn */
    ck_assert_double_eq_tol(of(2, METRIC_ATTEMPTS_PER_TURN), 4 / 2.0, 1e-12);
    ck_assert_double_eq_tol(of(0, METRIC_TOTAL_WAIT_MEAN), 2 / 3.0, 1e-9);
    ck_assert(records[0] == 1 && records[1] == 4);
}
END_TEST

/* Shed by the policy when the server takes it, or refused by the pool: refused as well. The pool counts its 429s. */
START_TEST(sheds_and_429s_go_on)
{
    simulate("study: {horizon: 590 s}\n"
             "backends: {api: {kind: provider, latency: {base: 1 s}, meters: {requests: {limit: 1/min, burst: 1}}},\n"
             "  tier: {kind: slots, servers: 1, service: 1 s}}\n"
             "agents: {a: {population: 1, think: 9 s, backend: [api, tier], spill: refused}}\n");
    ck_assert_double_eq_tol(of(0, METRIC_GOODPUT), 0.1, 1e-9); /* each turn takes 10 s, whoever answers */
    ck_assert_double_eq_tol(of(1, METRIC_GOODPUT), 10 / 590.0, 1e-9);
    ck_assert_double_eq_tol(of(0, METRIC_PROVIDER_429S), 49 * 3600 / 590.0, 1e-6);
    ck_assert_double_eq(of(0, METRIC_ATTEMPTS_PER_TURN), 1);
}
END_TEST

/* --- waited --------------------------------------------------------------------------------------------------------
 */

/* Two wait for 3 s and go on; the tier answers at 5 s. */
START_TEST(waiting_calls_go_on)
{
    simulate(RUNS("3", "2", "wait > 3 s", ""));
    ck_assert_double_eq_tol(of(0, METRIC_RESPONSE_MEAN), (10 + 5 + 5) / 3.0, 1e-9);
    ck_assert_double_eq_tol(of(0, METRIC_TOTAL_WAIT_MEAN), 2, 1e-9);
    ck_assert_double_eq(of(0, METRIC_WAIT_MEAN), 0); /* since the last admission */
    ck_assert_double_eq(of(0, METRIC_ATTEMPTS_PER_TURN), 1);
    ck_assert_double_eq(of(1, METRIC_ATTEMPTS_PER_TURN), 3);
    simulate(RUNS("3", "2", "wait > 11 s", "")); /* one waits 10 s only, the other goes at 11 s */
    ck_assert_double_eq_tol(of(0, METRIC_RESPONSE_MEAN), (10 + 20 + 13) / 3.0, 1e-9);
    simulate(RUNS("3", "2", "none", ""));
    ck_assert_double_eq(of(0, METRIC_MAKESPAN), 30);
}
END_TEST

/* Held calls wait, too; refusals do not go on, and a try that is over in time is over wherever it is. */
START_TEST(held_calls_go_on)
{
    simulate(RUNS("3", "2", "wait > 3 s",
                  "policies: [h: [token_bucket: {meter: in_flight, burst: 1, poll: 400 ms, at: card}]]\n"));
    ck_assert_double_eq_tol(of(0, METRIC_RESPONSE_MEAN), (10 + 5 + 5) / 3.0, 1e-9);
    ck_assert_double_eq(of(0, METRIC_DEFERRED_SHARE), 0);
    simulate(
        "study: {until: done}\n"
        "backends: {card: {kind: slots, servers: 1, service: 10 s}, tier: {kind: slots, servers: 1, service: 4 s}}\n"
        "agents: {a: {arrivals: all_at(0 s), runs: 2, backend: [card, tier], spill: wait > 3 s,\n"
        "  client: {timeout: 6 s, attempts: 1}}}\n");
    ck_assert_double_eq(of(0, METRIC_GOODPUT), 0);
    ck_assert_double_eq_tol(of(0, METRIC_LOST_TURNS), 2 * 3600 / 6.0, 1e-6); /* both at 6 s, one at the tier since 3 */
}
END_TEST

/* --- contexts ------------------------------------------------------------------------------------------------------
 */

/* Five turns of 1,000, 1,100, ... tokens, a new one takes 1 ms: an answer takes 1 s and what is not cached. The first
 * takes two, a minute apart. */
#define TOLD(backends, input, more) \
    "study: {until: done}\n" \
    "backends: {" backends "}\n" \
    "agents: {a: {population: 1, runs: 1, turns: 5, think: constant(18 s), backend: [x, y], spill: refused,\n" \
    "  input: {start: 1k, per_turn: 100" input "}}}\n" more
#define POOL(name, more) name ": {kind: provider, latency: {base: 1 s, per_input: 1 ms}" more "}"

#define ONE_A_MINUTE "policies: [t: [token_bucket: {meter: requests, rate: 1/min, burst: 1, answer: defer, at: x}]]\n"

static double turns_take(const char *yaml)
{
    simulate(yaml);
    return of(0, METRIC_MAKESPAN) - 5 * 18;
}

/* x, y, y, y, x: what others have brought since is new to who comes back. */
START_TEST(contexts_are_where_they_were_served)
{
    const char *meters = TOLD(POOL("x", ", meters: {requests: {limit: 1/min, burst: 1}}") ", " POOL("y", ""), "", "");

    ck_assert_double_eq_tol(turns_take(meters), 5 + 1.0 + 1.1 + 0.1 + 0.1 + 0.4, 1e-9);
    ck_assert_double_eq_tol(of(1, METRIC_CACHED_PER_MIN) / of(0, METRIC_CACHED_PER_MIN), 1000 / 3300.0, 1e-9);
    /* half of it, where it was served; as drawn while nobody has been asked */
    ck_assert_double_eq_tol(
        turns_take(
            TOLD(POOL("x", ", meters: {requests: {limit: 1/min, burst: 1}}") ", " POOL("y", ""), ", cached: 50 %", "")),
        5 + 0.5 + 1.1 + 0.6 + 0.65 + 0.7, 1e-9);
}
END_TEST

/* A new run asks anew: x has the first run's turn and refuses the second's, half of which is cached at y as well. */
START_TEST(contexts_of_the_next_run)
{
    simulate("study: {until: done}\n"
             "backends: {" POOL("x", ", meters: {requests: {limit: 1/min, burst: 1}}") ", " POOL(
                 "y", "") "}\n"
                          "agents: {a: {population: 1, runs: 2, turns: 1, think: constant(18 s), backend: [x, y], "
                          "spill: refused,\n"
                          "  input: {start: 1k, cached: 50 %}}}\n");
    ck_assert_double_eq_tol(of(0, METRIC_MAKESPAN), 2 * (18 + 1.5), 1e-9);
}
END_TEST

/* Keys of one pool share its cache; and what is begun anew is nowhere. */
START_TEST(contexts_of_keys_and_anew)
{
    ck_assert_double_eq_tol(turns_take(TOLD(POOL("x", "") ", y: {kind: alias, of: x}", "", ONE_A_MINUTE)),
                            5 + 1.0 + 4 * 0.1, 1e-9);
    ck_assert_double_eq_tol(
        turns_take(TOLD(POOL("x", "") ", " POOL("y", ""), ", most: 1250, compact_to: 900", ONE_A_MINUTE)),
        5 + 1.0 + 1.1 + 0.1 + 0.9 + 1.0, 1e-9);
}
END_TEST

/* --- what policies see ---------------------------------------------------------------------------------------------
 */

struct counter {
    int64_t asked;
};

static int64_t asked_most;

/* Refuses the first three attempts, and counts those of each call in its own memory. */
static struct policy_answer count_admit(struct policy *self, const struct policy_view *view, struct policy_call *call)
{
    struct counter *counter = call->state;

    (void)self;
    (void)view;
    counter->asked++;
    if (counter->asked > asked_most)
        asked_most = counter->asked;
    return call->attempt <= 3 ? policy_defer(POLICY_NONE, "counts") : policy_admit();
}

static const struct policy_ops counts = {POLICY_HEADER, .name = "counts", .summary = "counts",
                                         .call_size = sizeof(struct counter), .admit = count_admit};

/* At each gate a call has a memory of its own, that lasts over its attempts; a copy that serves all gates has one. */
START_TEST(memory_is_of_a_gate)
{
    static const struct policy_ops *const policies[] = {&counts, NULL};
    static const struct {
        const char *policies;
        int64_t most;
    } cases[] = {{"policies: [counts]\n", 4}, {"policies: [c: [counts: {scope: all}]]\n", 7}};

    for (size_t i = 0; i < 2; i++) {
        char yaml[600];
        struct plan plan;

        snprintf(yaml, sizeof yaml, "%s%s", RUNS("5", "2", "refused", ""), cases[i].policies);
        plan = model_plan_of(yaml, policies);
        asked_most = 0;
        keep(&plan);
        ck_assert_int_eq(asked_most, cases[i].most);
        plan_fini(&plan);
    }
}
END_TEST

static struct policy_answer holds_admit(struct policy *self, const struct policy_view *view, struct policy_call *call)
{
    (void)self, (void)view, (void)call;
    return policy_hold(POLICY_SECOND, "holds");
}

static const struct policy_ops holds = {POLICY_HEADER, .name = "holds", .summary = "holds", .admit = holds_admit};

/* It is one attempt, and its hold cap is 5 s, of which it has spent 3 s at the card. */
START_TEST(a_hold_goes_on)
{
    static const struct policy_ops *const policies[] = {&holds, NULL};
    struct plan plan = model_plan_of(
        "study: {until: done}\n"
        "backends: {card: {kind: slots, servers: 1, service: 1 s}, tier: {kind: slots, servers: 1, service: 1 s}}\n"
        "agents: {a: {arrivals: all_at(0 s), runs: 1, backend: [card, tier], spill: wait > 3 s,\n"
        "  client: {hold_cap: 5 s, attempts: 1}}}\npolicies: [holds]\n",
        policies);

    keep(&plan);
    ck_assert_double_eq(of(0, METRIC_MAKESPAN), 5);
    plan_fini(&plan);
}
END_TEST

static size_t ended[3], begun[3];

static void ends_run_admitted(struct policy *self, const struct policy_view *view, struct policy_run *run)
{
    (void)self;
    ck_assert_uint_eq(run->run, 0);
    begun[view->gate]++;
}

static void ends_run_finish(struct policy *self, const struct policy_view *view, struct policy_run *run, bool done)
{
    bool *over = run->run_state;

    (void)self;
    ck_assert(done && !*over);
    *over = true;
    ended[view->gate]++;
}

static const struct policy_ops ends = {POLICY_HEADER,
                                       .name = "ends",
                                       .summary = "ends",
                                       .run_size = sizeof(bool),
                                       .run_admitted = ends_run_admitted,
                                       .run_finish = ends_run_finish};

/* A run begins at its first gate, and what is known of it ends at each that its calls may come to, once a copy. */
START_TEST(ends_are_told_at_each_gate)
{
    static const struct policy_ops *const policies[] = {&ends, NULL};
    static const struct {
        const char *class, *policies;
        size_t begun[3], ended[3];
    } cases[] = {
        {"backend: card", "ends", {5, 0, 0}, {5, 0, 0}},
        {"backend: [tier, card], spill: refused", "ends", {0, 5, 0}, {5, 5, 0}},
        {"backend: card, fan_out: {to: tool, parts: 2}", "ends", {5, 0, 0}, {5, 0, 5}},
        {"backend: tool, fan_out: {to: tool, parts: 2}", "ends", {0, 0, 5}, {0, 0, 5}},
        {"backend: [card, tool], spill: refused, fan_out: {to: tool, parts: 2}", "ends", {5, 0, 0}, {5, 0, 5}},
        {"backend: [card, tier], spill: refused, fan_out: {to: tool, parts: 2}", "ends", {5, 0, 0}, {5, 5, 5}},
        {"backend: [card, tier], spill: refused", "e: [ends: {scope: all}]", {5, 0, 0}, {5, 0, 0}},
        {"backend: [card, tier], spill: refused", "e: [ends: {scope: class}]", {5, 0, 0}, {5, 5, 0}},
        {"backend: [card, tier], spill: refused", "e: [ends: {scope: agent}]", {5, 0, 0}, {5, 5, 0}},
        {"backend: [card, tier], spill: refused", "e: [ends: {at: tier}]", {0, 0, 0}, {0, 5, 0}},
        {"backend: [card, tier], spill: refused", "e: [ends: {at: tier, scope: all}]", {0, 0, 0}, {0, 5, 0}},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char yaml[600];
        struct plan plan;

        snprintf(yaml, sizeof yaml,
                 "study: {until: done}\n"
                 "backends:\n  card: {kind: slots, servers: 1, service: 10 s}\n"
                 "  tier: {kind: slots, servers: 1, service: 2 s}\n  tool: {kind: slots, servers: 2, service: 1 s}\n"
                 "agents: {a: {arrivals: all_at(0 s), runs: 5, turns: 2, think: 0 s, %s}}\npolicies: [%s]\n",
                 cases[i].class, cases[i].policies);
        plan = model_plan_of(yaml, policies);
        memset(begun, 0, sizeof begun);
        memset(ended, 0, sizeof ended);
        keep(&plan);
        for (size_t gate = 0; gate < 3; gate++) {
            ck_assert_uint_eq(begun[gate], cases[i].begun[gate]);
            ck_assert_msg(ended[gate] == cases[i].ended[gate], "case %zu, gate %zu: %zu", i, gate, ended[gate]);
        }
        plan_fini(&plan);
    }
}
END_TEST

#define STORM(policies, client, rule) \
    "study: {horizon: 4000 s, warmup: 500 s}\n" \
    "backends: {card: {kind: slots, servers: 4, rate: 40 tokens/s, kv: 60k, prefill: 5k tokens/s},\n" \
    "  second: {kind: slots, servers: 2, service: exponential(4 s)},\n" \
    "  api: {kind: provider, latency: {base: 1 s, per_output: 1 ms}, errors: 5 %, meters: {requests: 60/min}}}\n" \
    "agents:\n" \
    "  a: {population: 14, think: exponential(5 s), turns: geometric(6), output: exponential(100),\n" \
    "    backend: [card, second, api], spill: " rule ", input: {start: 4k, per_turn: 500, most: 20k}, client: " client \
    "}\n" \
    "  b: {population: 6, think: exponential(9 s), backend: [api, card], spill: refused, output: 50, client: " client \
    ",\n" \
    "    fan_out: {to: second, parts: 3, wait_for: 2, at_once: 2}}\n" \
    "  c: {arrivals: poisson(6/min), turns: geometric(2), think: 0 s, output: 20, backend: second, client: " client \
    "}\n" \
    "policies: [" policies "]\n"

START_TEST(storms)
{
    static const char *const yamls[] = {
        STORM("unbounded", "{timeout: 9 s, attempts: 2, base: 200 ms}", "wait > 2 s"),
        STORM("fixed_cap: {cap: 5}", "{timeout: 9 s, attempts: 3, base: 200 ms}", "refused"),
        STORM("fixed_cap: {cap: 5}", "{timeout: 9 s, dies: 4 %, attempts: 3, base: 200 ms}", "wait > 1 s"),
        STORM("codel: {sheds_at: dequeue, target: 200 ms, interval: 1 s}", "{attempts: 2, base: 300 ms}", "refused"),
        STORM("shed_by_value: {waiting: 3}", "{attempts: 2, dies: 2 %, base: 300 ms}", "refused"),
        STORM("bounded_queue: {calls: 2}", "[{attempts: 2, base: 100 ms}, {attempts: 2, timeout: 5 s}]", "refused"),
        STORM("h: [token_bucket: {meter: in_flight, burst: 4, poll: 300 ms}]", "{hold_cap: 1500 ms, attempts: 2}",
              "refused"),
        STORM("h: [token_bucket: {meter: in_flight, burst: 4, poll: 300 ms}]", "{timeout: 8 s, attempts: 2}",
              "wait > 900 ms"),
        STORM("fair_queue", "{timeout: 3 s, attempts: 2}", "wait > 500 ms"),
        STORM("pacer: {at: api, r_qps: 50/min}", "{retries: bypass, attempts: 3}", "wait > 500 ms"),
    };

    for (size_t i = 0; i < sizeof yamls / sizeof *yamls; i++) {
        struct plan plan = model_plan_warned(yamls[i]);

        keep(&plan);
        ck_assert_double_gt(of(0, METRIC_GOODPUT), 0);
        plan_fini(&plan);
    }
}
END_TEST

/* A policy that holds the host to policies/policy.h, at three gates. */
START_TEST(the_contract_holds_over_gates)
{
    struct plan plan = model_plan_with(
        "study: {horizon: 2000 s}\n"
        "backends: {card: {kind: slots, servers: 2, service: 3 s}, tier: {kind: slots, servers: 2, service: 2 s},\n"
        "  tool: {kind: slots, servers: 2, service: 1 s}}\n"
        "agents: {a: {population: 9, think: exponential(2 s), turns: geometric(5), backend: [card, tier],\n"
        "  spill: refused, fan_out: {to: tool, parts: 3}, client: {attempts: 3, base: 300 ms}}}\n"
        "policies: [exerciser: {shed: 0.1}]\n",
        "exerciser");

    keep(&plan);
    plan_fini(&plan);
}
END_TEST

Suite *spill_suite(void)
{
    Suite *suite = suite_create("spill");
    TCase *test = tcase_create("spill");

    tcase_add_test(test, refused_calls_go_on);
    tcase_add_test(test, the_last_refuses_for_good);
    tcase_add_test(test, sheds_and_429s_go_on);
    tcase_add_test(test, waiting_calls_go_on);
    tcase_add_test(test, held_calls_go_on);
    tcase_add_test(test, contexts_are_where_they_were_served);
    tcase_add_test(test, contexts_of_keys_and_anew);
    tcase_add_test(test, contexts_of_the_next_run);
    tcase_add_test(test, memory_is_of_a_gate);
    tcase_add_test(test, a_hold_goes_on);
    tcase_add_test(test, ends_are_told_at_each_gate);
    tcase_add_test(test, storms);
    tcase_add_test(test, the_contract_holds_over_gates);
    suite_add_tcase(suite, test);
    return suite;
}
