/* test_planner_trials.c - the planner in whole trials: without limits, as a cap, staggered, and steering a stand-in for
 * a pacer that counts and never holds. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "policies/registry.h"
#include "tests/suites.h"
#include "tests/timeline.h"

/* --- a stand-in for a pacer -------------------------------------------------------------------------------------- */

#define BUCKET (10 * POLICY_SECOND)

struct stand_params {
    double r_tok, r_qps, cached_weight;
    int64_t k_inflight;
};

struct stand_vars {
    double seed_r_tok, seed_k_inflight, seed_r_qps, seed_at, admitted_tokens;
    uint64_t admitted, slow, expired, overloads_60, buckets[6], bucket;
};

static struct {
    policy_time at;
    double r_qps;
} lowered[64];
static size_t lowered_count;
static policy_time first_overload;

static void stand_init(struct policy *self)
{
    const struct stand_params *params = self->params;
    struct stand_vars *vars = self->vars;
    vars->seed_r_tok = params->r_tok;
    vars->seed_k_inflight = params->k_inflight == INT64_MAX ? (double)INFINITY : (double)params->k_inflight;
    vars->seed_r_qps = params->r_qps;
}

static void stand_changed(struct policy *self, policy_time now, const char *key, enum policy_setter by)
{
    const struct stand_params *params = self->params;
    struct stand_vars *vars = self->vars;
    ck_assert_int_eq(by, POLICY_BY_POLICY);
    if (strcmp(key, "r_qps") == 0 && lowered_count < 64) {
        lowered[lowered_count].at = now;
        lowered[lowered_count++].r_qps = params->r_qps;
    }
    vars->seed_at = (double)now / POLICY_SECOND;
}

static policy_time stand_admitted(struct policy *self, const struct policy_view *view, struct policy_call *call)
{
    struct stand_vars *vars = self->vars;
    (void)view;
    vars->admitted++;
    vars->admitted_tokens += call->input_tokens;
    return 0;
}

static policy_time stand_finish(struct policy *self, const struct policy_view *view, struct policy_call *call,
                                const struct policy_outcome *outcome)
{
    struct stand_vars *vars = self->vars;
    (void)call;
    if (outcome->end != POLICY_OVERLOAD)
        return POLICY_NONE;
    vars->bucket++;
    if (first_overload == POLICY_NONE)
        first_overload = view->now;
    return POLICY_NONE;
}

static policy_time stand_tick(struct policy *self, const struct policy_view *view)
{
    struct stand_vars *vars = self->vars;
    memmove(vars->buckets + 1, vars->buckets, sizeof vars->buckets - sizeof *vars->buckets);
    vars->buckets[0] = vars->bucket;
    vars->bucket = vars->overloads_60 = 0;
    for (size_t i = 0; i < 6; i++)
        vars->overloads_60 += vars->buckets[i];
    return view->now + BUCKET;
}

#define AT(member) .offset = offsetof(struct stand_params, member)
#define VARS(member) false, offsetof(struct stand_vars, member), "", "as a pacer's"
static const struct option stand_options[] = {
    {"r_tok", OPTION_RATE, AT(r_tok), "inf", .measures = "tokens", .live = true, .help = "t"},
    {"k_inflight", OPTION_COUNT, AT(k_inflight), "inf", .live = true, .help = "k"},
    {"r_qps", OPTION_RATE, AT(r_qps), "inf", .live = true, .help = "q"},
    {"cached_weight", OPTION_REAL, AT(cached_weight), "1", .live = true, .help = "w"},
    {.key = NULL},
};
static const struct policy_gauge stand_gauges[] = {{"seed_r_tok", POLICY_GAUGE_DOUBLE, VARS(seed_r_tok)},
                                                   {"seed_k_inflight", POLICY_GAUGE_DOUBLE, VARS(seed_k_inflight)},
                                                   {"seed_r_qps", POLICY_GAUGE_DOUBLE, VARS(seed_r_qps)},
                                                   {"seed_at", POLICY_GAUGE_DOUBLE, VARS(seed_at)},
                                                   {"admitted", POLICY_GAUGE_UINT64, VARS(admitted)},
                                                   {"admitted_tokens", POLICY_GAUGE_DOUBLE, VARS(admitted_tokens)},
                                                   {"slow", POLICY_GAUGE_UINT64, VARS(slow)},
                                                   {"expired", POLICY_GAUGE_UINT64, VARS(expired)},
                                                   {"overloads_60", POLICY_GAUGE_UINT64, VARS(overloads_60)},
                                                   {.name = NULL}};

static const struct policy_ops stand_in = {
    POLICY_HEADER,
    .name = "pacer",
    .summary = "counts and never holds",
    .params = stand_options,
    .gauges = stand_gauges,
    .params_size = sizeof(struct stand_params),
    .vars_size = sizeof(struct stand_vars),
    .init = stand_init,
    .changed = stand_changed,
    .admitted = stand_admitted,
    .finish = stand_finish,
    .tick = stand_tick,
};

static const struct policy_ops *built_in(const char *name)
{
    size_t i = 0;
    while (policy_registry[i] && strcmp(policy_registry[i]->name, name) != 0)
        i++;
    return policy_registry[i];
}

static struct plan plan_with_stand_in(const char *yaml)
{
    const struct policy_ops *const policies[] = {built_in("unbounded"), built_in("planner"), &stand_in, NULL};
    lowered_count = 0;
    first_overload = POLICY_NONE;
    return model_plan_of(yaml, policies);
}

/* --- no limits --------------------------------------------------------------------------------------------------- */

#define WORLD \
    "study: {horizon: 3000 s, warmup: 300 s}\n" \
    "backends:\n" \
    "  card: {kind: slots, servers: 3, rate: 40 tokens/s}\n" \
    "  other: {kind: slots, servers: 2, step_time: {base: 10 ms, per_busy_slot: 5 ms}}\n" \
    "agents:\n" \
    "  endless: {population: 500, think: exponential(300 s), output: exponential(100), backend: card, tenant: red,\n" \
    "            client: {base: 2 s, timeout: 25 s}}\n" \
    "  runs: {population: 6, turns: geometric(4), think: exponential(2 s), output: exponential(150), backend: card,\n" \
    "         tenant: blue, client: {base: 1 s, attempts: 4}}\n" \
    "  arriving: {arrivals: poisson(0.3/s), turns: constant(2), think: constant(1 s), output: exponential(100),\n" \
    "             backend: other, tenant: red, client: {base: 1 s, timeout: 6 s, attempts: 3}}\n"

/* A pool that is never short of anything. */
#define POOL \
    "study: {horizon: 3000 s, warmup: 300 s}\n" \
    "backends:\n" \
    "  pool: {kind: provider, meters: {requests: 100k/min, input: 1000M/min}, latency: {base: 1 s, per_output: 10 " \
    "ms}}\n" \
    "  other: {kind: alias, of: pool}\n" \
    "agents:\n" \
    "  endless: {population: 300, think: exponential(30 s), input: {start: 20k, per_turn: 600, most: 200k},\n" \
    "            output: exponential(100), backend: pool, tenant: red}\n" \
    "  runs: {population: 60, turns: geometric(40), think: exponential(2 s), input: {start: 4k, per_turn: 900},\n" \
    "         output: exponential(150), backend: other, tenant: blue}\n"

static void equal_unbounded(const char *world, const char *chain, struct plan (*plan_of)(const char *yaml))
{
    static double a[METRIC_COUNT * 16], b[METRIC_COUNT * 16];
    char yaml[4096];
    struct plan plan;
    snprintf(yaml, sizeof yaml, "%spolicies: [unbounded, c: [%s]]\n", world, chain);
    plan = plan_of(yaml);
    model_trial(&plan, 0, 1, a);
    model_trial(&plan, 1, 1, b);
    for (size_t k = 0; k < METRIC_COUNT * trial_row_count(plan.points[0].scenario); k++)
        ck_assert_msg(a[k] == b[k] || (isnan(a[k]) && isnan(b[k])), "%s: %s: %.17g and %.17g", chain,
                      metrics[k % METRIC_COUNT].name, a[k], b[k]);
    plan_fini(&plan);
}

#define REAL_PACER "pacer: {r_tok: inf, c_burst: inf, k_inflight: inf, c_req: inf, r_qps: inf}, "
#define NO_LIMITS "planner: {scope: all, stagger: 0 s, static_cap: inf"

/* With and without a pacer: more tasks at once than a search would find, the digits of `unbounded`. */
START_TEST(without_limits_it_is_unbounded)
{
    equal_unbounded(WORLD, NO_LIMITS "}", plan_with_stand_in);
    equal_unbounded(WORLD, NO_LIMITS ", mode: fixed, fleet: inf}", plan_with_stand_in);
    equal_unbounded(WORLD, "pacer, " NO_LIMITS "}", plan_with_stand_in);
    ck_assert_uint_eq(lowered_count, 0);
    equal_unbounded(WORLD, REAL_PACER NO_LIMITS "}", model_plan);
    equal_unbounded(POOL, REAL_PACER NO_LIMITS "}", model_plan);
    equal_unbounded(POOL, NO_LIMITS "}", model_plan);
}
END_TEST

/* --- at the door ------------------------------------------------------------------------------------------------- */

#define JOB \
    "study: {until: done}\nbackends: {b: {kind: slots, servers: 9, service: constant(10 s)}}\n" \
    "agents: {a: {arrivals: all_at(0 s), runs: 5}}\n"

/* Who does not fit asks again at the next tick. */
START_TEST(held_at_the_door)
{
    struct timeline t;
    timeline_expect(JOB "policies: [c: [planner: {scope: all, stagger: 0 s, static_cap: 2}]]\n", NULL,
                    "a0@0 a1@0 a2@15 a3@15 a4@30", &t);
    timeline_expect(JOB "policies: [c: [planner: {scope: all, stagger: 0 s, override: 4}]]\n", NULL,
                    "a0@0 a1@0 a2@0 a3@0 a4@15", &t);
    timeline_expect(JOB "policies: [c: [planner: {scope: all, stagger: 0 s, mode: fixed, fleet: 3}]]\n", NULL,
                    "a0@0 a1@0 a2@0 a3@15 a4@15", &t);
    timeline_expect(JOB "policies: [c: [planner: {scope: all, stagger: 0 s, borrowed_cap: 1, own: false}]]\n", NULL,
                    "a0@0 a1@15 a2@30 a3@45 a4@60", &t);
}
END_TEST

/* The first run is turned away by another member, wherever that stands: it has no place, and the next one waits for no
 * stagger. */
START_TEST(turned_away_by_another)
{
    static const char *const chains[] = {"planner: {scope: all, static_cap: 1}, porter: {turns: 1}",
                                         "porter: {turns: 1}, planner: {scope: all, static_cap: 1}"};
    for (size_t i = 0; i < 2; i++) {
        struct timeline t;
        char yaml[1024];
        snprintf(yaml, sizeof yaml,
                 "study: {until: done, most: 100 s}\n"
                 "backends: {b: {kind: slots, servers: 9, service: constant(10 s)}}\n"
                 "agents:\n"
                 "  a: {arrivals: all_at(0 s), runs: 1, turns: constant(2), think: 0 s}\n"
                 "  b: {arrivals: all_at(0 s), runs: 3, turns: constant(1), think: 0 s}\n"
                 "policies: [c: [%s]]\n",
                 chains[i]);
        timeline_expect(yaml, "porter", "b0@0 b1@15 b2@30", &t);
    }
}
END_TEST

START_TEST(staggered_launches)
{
    struct timeline t;
    struct plan plan = model_plan(JOB "policies: [c: [planner: {preset: pooled}]]\n");
    double at[5];
    timeline_of(&plan, 0, &t);
    plan_fini(&plan);
    ck_assert_int_eq(sscanf(t.starts, "a0@%lf a1@%lf a2@%lf a3@%lf a4@%lf", at, at + 1, at + 2, at + 3, at + 4), 5);
    ck_assert_double_eq(at[0], 0);
    for (int i = 1; i < 5; i++)
        ck_assert_msg(at[i] - at[i - 1] >= 1 && at[i] - at[i - 1] < 3, "%s", t.starts);
    ck_assert_msg(at[1] - at[0] != at[2] - at[1], "%s", t.starts);
}
END_TEST

/* A pool of 50 requests a minute that refuses what is more: the first overload is followed by a step down at the tick
 * after its bucket, and r_qps is never below half of its seed. */
START_TEST(it_steers_what_it_finds)
{
    struct plan plan = plan_with_stand_in(
        "study: {horizon: 3600 s, warmup: 0 s}\n"
        "backends: {pool: {kind: provider, meters: {requests: {limit: 50/min}}, latency: {base: 1.7 s},\n"
        "                  retry_after: none}}\n"
        "agents: {coder: {arrivals: poisson(1/min), turns: constant(300), think: constant(2.8 s), output: 185,\n"
        "                 backend: pool}}\n"
        "policies: [c: [pacer: {r_qps: 1.48/s, r_tok: inf}, planner: {preset: laguna_opencode, peak_most: 60 s}]]\n");
    double values[METRIC_COUNT * 16];
    model_trial(&plan, 0, 1, values);
    plan_fini(&plan);
    ck_assert_int_ne(first_overload, POLICY_NONE);
    ck_assert_uint_ge(lowered_count, 1);
    ck_assert_int_gt(lowered[0].at, first_overload);
    ck_assert_int_le(lowered[0].at,
                     first_overload + 25 * POLICY_SECOND); /* a bucket of the stand-in's tick, and a tick */
    ck_assert_double_lt(lowered[0].r_qps, 1.48);
    for (size_t i = 0; i < lowered_count; i++)
        ck_assert_double_ge(lowered[i].r_qps, 0.74);
    ck_assert_double_le(values[METRIC_GOODPUT], 50.0 / 60 + 0.02);
    ck_assert_double_ge(values[METRIC_GOODPUT], 0.5);
}
END_TEST

/* --- rows -------------------------------------------------------------------------------------------------------- */

#define ROWS 64

/* The cells of one column, in the order of the rows. */
struct column_rows {
    size_t column, count;
    sim_time at[ROWS];
    double cells[ROWS];
};

static void hears_row(void *context, const struct decision *decision)
{
    struct column_rows *rows = context;
    ck_assert_uint_lt(rows->count, ROWS);
    rows->at[rows->count] = decision->at;
    rows->cells[rows->count++] = decision->values[rows->column];
}

/* Of the first design point's planner, which writes a row a tick. */
static struct column_rows rows_of(const char *yaml, const char *column)
{
    const struct policy_column *columns = built_in("planner")->columns;
    static double values[METRIC_COUNT * 16];
    struct column_rows rows = {0};
    struct trial_watch watch = {.decided = hears_row, .context = &rows};
    struct plan plan = model_plan(yaml);
    while (strcmp(columns[rows.column].name, column) != 0)
        rows.column++;
    ck_assert_int_eq(trial_simulate(plan.points[0].scenario, 1, &watch, values), TRIAL_ENDED);
    plan_fini(&plan);
    return rows;
}

/* Three calls get a 429 at 20 s. */
static struct column_rows overloaded(const char *chain, const char *column)
{
    char yaml[1024];
    snprintf(yaml, sizeof yaml,
             "study: {horizon: 150 s}\n"
             "backends: {pool: {kind: provider, meters: {requests: {limit: 1/h, burst: 1}}, latency: {base: 1 s},\n"
             "                  retry_after: none}}\n"
             "agents:\n"
             "  first: {arrivals: all_at(15 s), runs: 1, output: 1, backend: pool}\n"
             "  others: {arrivals: all_at(20 s), runs: 3, output: 1, backend: pool, client: {attempts: 1}}\n"
             "policies: [c: [%s]]\n",
             chain);
    return rows_of(yaml, column);
}

/* The cell of 20 to 30 s is whole at the tick of 30 s, and more than a minute ago at that of 90 s. Whose tick comes
 * first at such a moment, or who stands first, says nothing. */
START_TEST(overloads_are_as_of_now)
{
    static const char *const chains[] = {"pacer: {tries: 0}, planner: {scope: all, stagger: 0 s, override: 99}",
                                         "planner: {scope: all, stagger: 0 s, override: 99}, pacer: {tries: 0}"};
    static const double left[] = {0, 0, 60, 60, 60, 60, 45, 30, 15, 0, 0};
    for (size_t i = 0; i < 2; i++) {
        struct column_rows rows = overloaded(chains[i], "cooldown");
        ck_assert_uint_eq(rows.count, 11);
        for (size_t k = 0; k < rows.count; k++) {
            ck_assert_int_eq(rows.at[k], (sim_time)k * 15 * POLICY_SECOND);
            ck_assert_msg(rows.cells[k] == left[k], "%s: at %zu s %g", chains[i], 15 * k, rows.cells[k]);
        }
    }
}
END_TEST

/* They pause for minutes, and nobody waits. */
START_TEST(a_pause_is_no_wait)
{
    struct column_rows rows = overloaded("pacer: {overload_wait: 5 min, overload_most: 5 min}, "
                                         "planner: {scope: all, stagger: 0 s, override: 99}",
                                         "hold");
    ck_assert_uint_eq(rows.count, 11);
    for (size_t k = 0; k < rows.count; k++)
        ck_assert_msg(rows.cells[k] == (k >= 2 && k < 9), "at %zu s %g", 15 * k, rows.cells[k]); /* or a cooldown */
}
END_TEST

Suite *planner_trials_suite(void)
{
    Suite *suite = suite_create("planner_trials");
    TCase *test = tcase_create("planner_trials");
    tcase_add_test(test, without_limits_it_is_unbounded);
    tcase_add_test(test, held_at_the_door);
    tcase_add_test(test, turned_away_by_another);
    tcase_add_test(test, staggered_launches);
    tcase_add_test(test, it_steers_what_it_finds);
    tcase_add_test(test, overloads_are_as_of_now);
    tcase_add_test(test, a_pause_is_no_wait);
    suite_add_tcase(suite, test);
    return suite;
}
