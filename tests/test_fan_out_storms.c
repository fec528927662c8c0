/* test_fan_out_storms.c - turns that fan out where everything happens at once, so that the audit has something to find.
 */
#include <check.h>

#include "models/metrics.h"
#include "tests/model.h"
#include "tests/suites.h"

enum { ROWS = 16, TOOL = 1 };

static double values[ROWS * METRIC_COUNT];
static size_t at_tool[ATTEMPT_VERDICTS]; /* attempts by what became of them */

static void attempted(void *context, const struct attempt_record *record)
{
    (void)context;
    at_tool[record->verdict] += record->gate == TOOL;
}

static void simulate(const struct plan *plan)
{
    char wrong[512] = "";
    struct trial_watch watch = {.attempted = attempted, .wrong = wrong, .wrong_size = sizeof wrong};
    enum trial_end end;

    ck_assert_uint_le(trial_row_count(plan->points[0].scenario), ROWS);
    for (size_t i = 0; i < ATTEMPT_VERDICTS; i++)
        at_tool[i] = 0;
    end = trial_simulate(plan->points[0].scenario, 1, &watch, values);
    ck_assert_msg(end == TRIAL_ENDED, "%s", wrong);
}

/* Parts that are held, shed, displaced, time out in every
 * layer, are given up and abandoned, at a pool and at slots, in runs that end and begin again. */
#define STORM_OF(policies, client, endless) \
    "study: {horizon: 3000 s, warmup: 500 s}\n" \
    "backends: {card: {kind: slots, servers: 4, service: exponential(3 s), kv: 100k, prefill: 5k tokens/s},\n" \
    "  tool: {kind: slots, servers: 6, service: exponential(1 s)},\n" \
    "  api: {kind: provider, latency: {base: 1 s, per_output: 1 ms}, errors: 5 %, meters: {requests: 120/min}}}\n" \
    "agents:\n" \
    "  a: {population: 12, think: exponential(5 s), turns: geometric(6), output: 100, backend: card,\n" \
    "    input: {start: 4k, per_turn: 500, most: 20k}, client: " client ",\n" \
    "    fan_out: {to: tool, parts: geometric(9), tokens: uniform(10 900), wait_for: 5, at_once: 3k tokens}}\n" \
    "  b: {population: 5, think: exponential(9 s), backend: api, output: 50, client: " endless ",\n" \
    "    fan_out: {to: api, parts: uniform(0 6), tokens: 100, at_once: 3}}\n" \
    "  c: {arrivals: poisson(6/min), turns: geometric(2), think: 0 s, backend: tool, client: " client ",\n" \
    "    fan_out: {to: tool, parts: 4, wait_for: 2}}\n" \
    "policies: [" policies "]\n"

#define STORM(policies, client) STORM_OF(policies, client, client)

START_TEST(storms)
{
    static const char *const yamls[] = {
        STORM("unbounded", "{timeout: 2 s, attempts: 2, base: 200 ms}"),
        STORM("fixed_cap: {cap: 5}", "{timeout: 4 s, attempts: 3, base: 200 ms}"),
        STORM("fixed_cap: {cap: 5}", "{attempts: 1}"),
        STORM("codel: {sheds_at: dequeue, target: 200 ms, interval: 1 s}", "{attempts: 2, base: 300 ms}"),
        STORM("shed_by_value: {waiting: 3}", "{attempts: 2, base: 300 ms}"),
        STORM("bounded_queue: {calls: 2}", "[{attempts: 2, base: 100 ms}, {attempts: 2, timeout: 1500 ms, base: 1 s}]"),
        STORM_OF("pacer: {at: api, r_tok: 2k tokens/s, r_qps: 100/min}",
                 "[{attempts: 3, base: 100 ms}, {attempts: 2, timeout: 3 s}, {attempts: 2, restarts: run, base: 1 s}]",
                 "{attempts: 2}"),
        STORM("fair_queue", "{timeout: 3 s, attempts: 2, dies: 3 %}"),
    };

    for (size_t i = 0; i < sizeof yamls / sizeof *yamls; i++) {
        struct plan plan = model_plan_warned(yamls[i]);

        simulate(&plan);
        ck_assert_uint_gt(at_tool[ATTEMPT_ANSWERED], 1000);
        ck_assert_double_gt(values[METRIC_GOODPUT], 0);
        plan_fini(&plan);
    }
}
END_TEST

/* The same with runs that are given up wherever they are, cards that come and go, and calls that go on from one set of
 * them to another of fewer. */
#define LATE_STORM(policies, client, spill, route) \
    "study: {horizon: 3000 s, warmup: 500 s}\n" \
    "backends:\n" \
    "  card: {kind: slots, servers: 2, service: exponential(3 s), kv: 60k, prefill: 5k tokens/s,\n" \
    "    cards: {min: 1, max: 5, cold_start: exponential(20 s), route: " route "}}\n" \
    "  tool: {kind: slots, servers: 4, service: exponential(1 s),\n" \
    "    cards: {min: 1, max: 2, cold_start: exponential(10 s), route: " route "}}\n" \
    "agents:\n" \
    "  a: {population: 12, think: exponential(5 s), turns: geometric(6), output: 100, backend: [card, tool],\n" \
    "    spill: " spill ", deadline: {turn: 15 s, run: 60 s}, at_deadline: gives_up, boot: exponential(2 s),\n" \
    "    input: {start: 4k, per_turn: 500, most: 20k}, client: " client ",\n" \
    "    fan_out: {to: tool, parts: geometric(9), tokens: uniform(10 900), wait_for: 5, at_once: 3k tokens}}\n" \
    "  c: {arrivals: poisson(6/min), turns: geometric(2), think: 0 s, backend: [tool, card], client: " client ",\n" \
    "    spill: " spill \
    ", deadline: {run: 20 s}, at_deadline: gives_up, fan_out: {to: tool, parts: 4, wait_for: 2}}\n" \
    "policies: [" policies "]\n"

START_TEST(late_storms)
{
    static const char *const yamls[] = {
        LATE_STORM("unbounded", "{timeout: 4 s, attempts: 2, base: 200 ms}", "wait > 3 s", "sticky"),
        LATE_STORM("fixed_cap: {cap: 8}", "{timeout: 4 s, attempts: 3, base: 200 ms}", "wait > 2 s", "power_of_two"),
        LATE_STORM(
            "bounded_queue: {calls: 4}",
            "[{attempts: 2, base: 100 ms}, {attempts: 2, timeout: 3 s}, {attempts: 2, restarts: run, base: 1 s}]",
            "refused", "sticky"),
        LATE_STORM("fair_queue", "{timeout: 9 s, attempts: 2, dies: 3 %}", "wait > 3 s", "least_busy"),
        LATE_STORM("fixed_cap: {cap: 4}", "{attempts: 2, base: 300 ms, dies: 3 %}", "wait > 2 s", "power_of_two"),
    };

    for (size_t i = 0; i < sizeof yamls / sizeof *yamls; i++) {
        struct plan plan = model_plan_warned(yamls[i]);

        simulate(&plan);
        ck_assert_uint_gt(at_tool[ATTEMPT_ABANDONED], 100);
        ck_assert_double_gt(values[METRIC_RUNS_IN_TIME_SHARE], 0);
        ck_assert_double_lt(values[METRIC_RUNS_IN_TIME_SHARE], 1);
        plan_fini(&plan);
    }
}
END_TEST

Suite *fan_out_storms_suite(void)
{
    Suite *suite = suite_create("fan_out_storms");
    TCase *test = tcase_create("fan_out_storms");

    tcase_add_test(test, storms);
    tcase_add_test(test, late_storms);
    suite_add_tcase(suite, test);
    return suite;
}
