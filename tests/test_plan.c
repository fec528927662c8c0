/* test_plan.c - design points: what a scenario file, --set, --policy and a sweep come to, and that the effective
 * scenario is the scenario. */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "models/describe.h"
#include "policies/registry.h"
#include "tests/plan_file.h"
#include "tests/suites.h"

static struct plan_file file;

static void setup(void)
{
    plan_file_init(&file);
}

static void teardown(void)
{
    plan_file_fini(&file);
}

static const char *card_and(const char *more)
{
    return arena_format(&file.arena, "%s%s", plan_file_card, more);
}

static const struct scenario *scenario_of(const char *text)
{
    ck_assert_msg(plan_file_read(&file, text, NULL, NULL), "%s", plan_file_said(&file));
    return file.plan.points[0].scenario;
}

static const struct scenario *card_with(const char *from, const char *to)
{
    return scenario_of(plan_file_with(&file, plan_file_card, from, to));
}

static const char *points(const char *more, const char *const *sets, const char *const *only)
{
    ck_assert_msg(plan_file_read(&file, card_and(more), sets, only), "%s", plan_file_said(&file));
    return plan_file_points(&file);
}

START_TEST(smallest_scenario)
{
    const struct scenario *scenario = scenario_of(plan_file_card);
    ck_assert_str_eq(plan_file_points(&file), "unbounded[unbounded{}]");
    ck_assert_str_eq(file.plan.title, "s.yaml");
    ck_assert_int_eq(scenario->study.horizon, 100 * SIM_SECOND);
    ck_assert_int_eq(scenario->study.most, 100 * SIM_SECOND);
    ck_assert_int_eq(scenario->study.warmup, 0);
    ck_assert_int_eq(scenario->study.replications, 20);
    ck_assert_int_eq(scenario->study.seed, 1);
    const struct agent_class *class = &scenario->classes[0];
    ck_assert_uint_eq(class->population, 24);
    ck_assert_uint_eq(class->runs, UINT64_MAX);
    ck_assert_ptr_null(class->turns);
    ck_assert_double_eq(dist_mean(class->think), 4.5);
    ck_assert_double_eq(dist_mean(class->output), 120);
    ck_assert_str_eq(scenario->tenants[class->tenant], "default");
    const struct client_layer *client = &class->client.layers[0];
    ck_assert_int_eq(client->backoff, BACKOFF_EXPONENTIAL);
    ck_assert_int_eq(client->base, SIM_SECOND);
    ck_assert_int_eq(client->cap, 60 * SIM_SECOND);
    ck_assert_int_eq(client->jitter, JITTER_FULL);
    ck_assert_int_eq(client->retry_after, RETRY_AFTER_HONOUR);
    ck_assert_int_eq(client->retry_after_most, SIM_NEVER);
    ck_assert_int_eq(client->attempts, INT64_MAX);
    ck_assert_int_eq(client->timeout, SIM_NEVER);
    ck_assert_int_eq(class->client.hold_cap, 3600 * SIM_SECOND);
}
END_TEST

START_TEST(client_keys)
{
    const struct client_layer *client =
        &card_with("output: 120", "output: 120, client: {backoff: linear, base: 2 s, cap: 9 s, jitter: less 25 %, "
                                  "retry_after: at_least, retry_after_most: 30 s, attempts: 4, timeout: 20 s}")
             ->classes[0]
             .client.layers[0];
    ck_assert_int_eq(client->backoff, BACKOFF_LINEAR);
    ck_assert_int_eq(client->base, 2 * SIM_SECOND);
    ck_assert_int_eq(client->cap, 9 * SIM_SECOND);
    ck_assert_int_eq(client->jitter, JITTER_LESS);
    ck_assert_double_eq(client->jitter_share, 0.25);
    ck_assert_int_eq(client->retry_after, RETRY_AFTER_AT_LEAST);
    ck_assert_int_eq(client->retry_after_most, 30 * SIM_SECOND);
    ck_assert_int_eq(client->attempts, 4);
    ck_assert_int_eq(client->timeout, 20 * SIM_SECOND);
    client = &card_with("output: 120", "output: 120, client: {jitter: 30 %}")->classes[0].client.layers[0];
    ck_assert_int_eq(client->jitter, JITTER_SHARE);
    ck_assert_double_eq(client->jitter_share, 0.30);
    client = &card_with("output: 120", "output: 120, client: {jitter: equal}")->classes[0].client.layers[0];
    ck_assert_int_eq(client->jitter, JITTER_EQUAL);
}
END_TEST

START_TEST(speeds)
{
    const struct backend *backend = scenario_of(plan_file_card)->backends;
    ck_assert(backend->constant);
    ck_assert_double_eq(backend->speed[8], 39);
    backend = card_with("rate: 39 tokens/s", "step_time: {base: 16.9 ms, per_busy_slot: 1.1 ms}")->backends;
    ck_assert(!backend->constant);
    ck_assert_double_eq_tol(backend->speed[1], 1 / 0.018, 1e-9);
    ck_assert_double_eq_tol(backend->speed[8], 1 / 0.0257, 1e-9);
    ck_assert_uint_eq(backend->fit_points, 0);
    /* Two points: the line goes through both, and a slot alone makes what the first says. */
    backend = card_with("rate: 39 tokens/s", "throughput: {1: 56 tokens/s, 8: 311 tokens/s}")->backends;
    ck_assert_double_eq_tol(backend->speed[1], 56, 1e-9);
    ck_assert_double_eq_tol(8 * backend->speed[8], 311, 1e-9);
    ck_assert_uint_eq(backend->fit_points, 2);
    ck_assert_uint_eq(backend->fit_most, 8);
    ck_assert_double_le(backend->fit_error, 1e-12);
    /* Steps of 1/10, 1/10, 1/5 s at 1, 2, 3 busy: the line is 1/30 + 1/20 B, worst at 2 by 1/3 of 1/10. */
    backend = card_with("servers: 8, rate: 39 tokens/s",
                        "servers: 3, throughput: {1: 10 tokens/s, 2: 20 tokens/s, 3: 15 tokens/s}")
                  ->backends;
    ck_assert_double_eq_tol(backend->step_base, 1.0 / 30, 1e-12);
    ck_assert_double_eq_tol(backend->step_per_busy, 0.05, 1e-12);
    ck_assert_double_eq_tol(backend->fit_error, 1.0 / 3, 1e-9);
    backend = card_with("rate: 39 tokens/s", "throughput: {8: 312 tokens/s}")->backends;
    ck_assert(backend->constant);
    ck_assert_double_eq_tol(backend->speed[1], 39, 1e-12);
    backend = card_with("rate: 39 tokens/s", "service: exponential(9 s)")->backends;
    ck_assert_ptr_null(backend->speed);
    ck_assert(dist_is_exponential(backend->service));
}
END_TEST

START_TEST(arrivals)
{
    const struct agent_class *class = card_with("population: 24", "arrivals: poisson(30/min)")->classes;
    ck_assert_int_eq(class->source, SOURCE_POISSON);
    ck_assert_double_eq(class->arrival_rate, 0.5);
    class = card_with("population: 24", "runs: 3, arrivals: all_at(2 s)")->classes;
    ck_assert_int_eq(class->source, SOURCE_ALL_AT);
    ck_assert_uint_eq(class->runs, 3);
    ck_assert_int_eq(class->arrivals[2], 2 * SIM_SECOND);
    plan_file_write(&file, "t.csv", "other,at\nx,1000.5\ny,1000.5\nz,1002\n");
    class = card_with("population: 24", "arrivals: trace(t.csv at ms), start: 7 s")->classes;
    ck_assert_int_eq(class->source, SOURCE_TRACE);
    ck_assert_uint_eq(class->runs, 3);
    ck_assert_int_eq(class->arrivals[0], 0);
    ck_assert_int_eq(class->arrivals[1], 0);
    ck_assert_int_eq(class->arrivals[2], SIM_SECOND * 3 / 2000);
    ck_assert_int_eq(class->start, 7 * SIM_SECOND);
    ck_assert_uint_eq(card_with("population: 24", "runs: 2, arrivals: trace(t.csv at s)")->classes[0].runs, 2);
}
END_TEST

START_TEST(terminating)
{
    const struct scenario *scenario = scenario_of(
        "study: {until: done}\nbackends: {a: {kind: slots, servers: 1, service: 1 s}}\n"
        "agents:\n  x: {population: 2, runs: 5, turns: geometric(8), think: 1 s, tenant: t}\n"
        "  y: {arrivals: all_at(0 s), runs: 1}\n  z: {arrivals: all_at(0 s), runs: 1, tenant: t, backend: a}\n");
    ck_assert(scenario->study.until_done);
    ck_assert_int_eq(scenario->study.most, 6 * 3600 * SIM_SECOND);
    ck_assert_uint_eq(scenario->tenant_count, 2);
    ck_assert_uint_eq(scenario->classes[0].tenant, 0);
    ck_assert_uint_eq(scenario->classes[1].tenant, 1);
    ck_assert_uint_eq(scenario->classes[2].tenant, 0);
    ck_assert_ptr_null(scenario->classes[1].output);
}
END_TEST

static const char three[] = "policies: [unbounded, fixed_cap: {cap: 12}, two: [fixed_cap: {cap: 3}, lifo]]\n";

START_TEST(product_first_factor_slowest)
{
    const char *more = arena_format(&file.arena, "%ssweep: {agents.coder.population: 8..10 step 2, study.seed: [1, 2]}",
                                    "policies: [unbounded, lifo]\n");
    ck_assert_str_eq(points(more, NULL, NULL),
                     "unbounded[unbounded{}] 8 1; unbounded[unbounded{}] 8 2; unbounded[unbounded{}] 10 1; "
                     "unbounded[unbounded{}] 10 2; lifo[lifo{}] 8 1; lifo[lifo{}] 8 2; lifo[lifo{}] 10 1; "
                     "lifo[lifo{}] 10 2");
    ck_assert_uint_eq(file.plan.points[2].scenario->classes[0].population, 10);
    ck_assert_int_eq(file.plan.points[3].scenario->study.seed, 2);
    ck_assert_str_eq(file.plan.factor_names[0], "agents.coder.population");
}
END_TEST

START_TEST(factor_of_one_alternative)
{
    const char *more =
        arena_format(&file.arena, "%ssweep: {policies.fixed_cap.cap: [6, 9], study.seed: [1, 2]}", three);
    ck_assert_str_eq(points(more, NULL, NULL), "unbounded[unbounded{}] - 1; unbounded[unbounded{}] - 2; "
                                               "fixed_cap[fixed_cap{cap: 6}] 6 1; fixed_cap[fixed_cap{cap: 6}] 6 2; "
                                               "fixed_cap[fixed_cap{cap: 9}] 9 1; fixed_cap[fixed_cap{cap: 9}] 9 2; "
                                               "two[fixed_cap{cap: 3} lifo{}] - 1; two[fixed_cap{cap: 3} lifo{}] - 2");
    more = arena_format(&file.arena, "%ssweep: {policies.two.fixed_cap.cap: [6, 9]}", three);
    ck_assert_str_eq(points(more, NULL, NULL), "unbounded[unbounded{}] -; fixed_cap[fixed_cap{cap: 12}] -; "
                                               "two[fixed_cap{cap: 6} lifo{}] 6; two[fixed_cap{cap: 9} lifo{}] 9");
}
END_TEST

START_TEST(zip)
{
    const char *more = arena_format(
        &file.arena,
        "%ssweep: {zip: [{study.seed: 1, policies.fixed_cap.cap: 4}, {study.seed: 1, "
        "policies.fixed_cap.cap: 5}, {study.seed: 2, policies.fixed_cap.cap: 4}], agents.coder.output: [7]}",
        "policies: [unbounded, fixed_cap]\n");
    ck_assert_str_eq(points(more, NULL, NULL),
                     "unbounded[unbounded{}] 1 - 7; unbounded[unbounded{}] 2 - 7; fixed_cap[fixed_cap{cap: 4}] 1 4 7; "
                     "fixed_cap[fixed_cap{cap: 5}] 1 5 7; fixed_cap[fixed_cap{cap: 4}] 2 4 7");
}
END_TEST

START_TEST(backend_name_is_swept)
{
    const char *text = "study: {horizon: 1 s}\nbackends: {a: {kind: slots, servers: 1, service: 1 s}, "
                       "b: {kind: slots, servers: 1, service: 2 s}}\n"
                       "agents: {x: {population: 1, think: 1 s}}\nsweep: {agents.x.backend: [b, a]}\n";
    ck_assert_uint_eq(scenario_of(text)->classes[0].backend, 1);
    ck_assert_uint_eq(file.plan.points[1].scenario->classes[0].backend, 0);
}
END_TEST

START_TEST(set_replaces)
{
    const char *more = arena_format(&file.arena, "%ssweep: {agents.coder.population: 8..10, study.seed: [1]}", three);
    const char *const only[] = {"two", NULL};
    const char *const one[] = {"agents.coder.population=7", "policies.two.fixed_cap.cap=2",
                               "agents.coder.client.base=3 s", NULL};
    ck_assert_str_eq(points(more, one, only), "two[fixed_cap{cap: 2} lifo{}] 1");
    ck_assert_uint_eq(file.plan.points[0].scenario->classes[0].population, 7);
    ck_assert_int_eq(file.plan.points[0].scenario->classes[0].client.layers[0].base, 3 * SIM_SECOND);
    const char *const values[] = {"sweep.agents.coder.population=[3, 5]", NULL};
    ck_assert_str_eq(points(more, values, only),
                     "two[fixed_cap{cap: 3} lifo{}] 3 1; two[fixed_cap{cap: 3} lifo{}] 5 1");
    const char *const replaced[] = {"policies=[fixed_cap: {cap: 4}, fixed_cap: {cap: 5}]", "sweep={study.seed: 3..4}",
                                    "policies.fixed_cap(cap=4).scope=all", NULL};
    ck_assert_str_eq(
        points(more, replaced, NULL),
        "fixed_cap(cap=4 scope=all)[fixed_cap{cap: 4}] 3; fixed_cap(cap=4 scope=all)[fixed_cap{cap: 4}] 4; "
        "fixed_cap(cap=5 scope=gate)[fixed_cap{cap: 5}] 3; fixed_cap(cap=5 scope=gate)[fixed_cap{cap: 5}] 4");
    /* What is left of a zip keeps its place. */
    const char *zipped =
        "sweep: {zip: [{study.seed: 1, agents.coder.priority: 3}, {study.seed: 2, agents.coder.priority: "
        "4}], agents.coder.output: [7]}";
    const char *const seed[] = {"study.seed=9", NULL};
    ck_assert_str_eq(points(zipped, seed, NULL), "unbounded[unbounded{}] 3 7; unbounded[unbounded{}] 4 7");
    /* The same value under another address of it. */
    more = arena_format(&file.arena, "%ssweep: {policies.fixed_cap.cap: [6, 9]}", three);
    const char *const longer[] = {"policies.fixed_cap.fixed_cap.cap=2", NULL};
    const char *const cap[] = {"fixed_cap", NULL};
    ck_assert_str_eq(points(more, longer, cap), "fixed_cap[fixed_cap{cap: 2}]");
}
END_TEST

/* A layer is known by its index, and changing one leaves the others and the other points alone. */
START_TEST(items_of_lists_are_addressed)
{
    const char *text = arena_format(
        &file.arena, "%ssweep: {agents.coder.client.0.base: [1 s, 5 s], agents.coder.client.1.cap: [50 s, 70 s]}",
        plan_file_with(&file, plan_file_card, "120", "120, client: [{attempts: 2, cap: 9 s}, {base: 3 s}]"));
    ck_assert_msg(plan_file_read(&file, text, NULL, NULL), "%s", plan_file_said(&file));
    ck_assert_uint_eq(file.plan.point_count, 4);
    for (int i = 0; i < 4; i++) {
        const struct client_layer *layers = file.plan.points[i].scenario->classes[0].client.layers;
        ck_assert_int_eq(layers[0].base, (i / 2 ? 5 : 1) * SIM_SECOND);
        ck_assert_int_eq(layers[1].cap, (i % 2 ? 70 : 50) * SIM_SECOND);
        ck_assert(layers[0].attempts == 2 && layers[0].cap == 9 * SIM_SECOND && layers[1].base == 3 * SIM_SECOND);
    }
    const char *const sets[] = {"agents.coder.client.0.base=2 s", "agents.coder.client.1={attempts: 7}",
                                "sweep.agents.coder.client.1.cap=[8 s]", NULL};
    ck_assert_msg(plan_file_read(&file, text, sets, NULL), "%s", plan_file_said(&file));
    ck_assert_str_eq(plan_file_points(&file), "unbounded[unbounded{}] 8 s");
    const struct client_layer *layers = file.plan.points[0].scenario->classes[0].client.layers;
    ck_assert(layers[0].base == 2 * SIM_SECOND && layers[0].attempts == 2);
    ck_assert(layers[1].attempts == 7 && layers[1].base == SIM_SECOND && layers[1].cap == 8 * SIM_SECOND);
}
END_TEST

START_TEST(only_some)
{
    const char *const some[] = {"lifo", "two", "unbounded", NULL};
    const char *more = arena_format(&file.arena, "%ssweep: {policies.fixed_cap.cap: [6, 9]}", three);
    ck_assert_str_eq(points(more, NULL, some), "unbounded[unbounded{}]; two[fixed_cap{cap: 3} lifo{}]; lifo[lifo{}]");
}
END_TEST

START_TEST(members)
{
    const struct chain *chain =
        &scenario_of(
             card_and("policies:\n  - p: [codel: {preset: slots, target: 3 s, at: card, scope: tenant, name: c}]\n"))
             ->chain;
    ck_assert_str_eq(chain->members[0].name, "c");
    ck_assert_int_eq(chain->members[0].at, 0);
    ck_assert_int_eq(chain->members[0].scope, SCOPE_TENANT);
    ck_assert_str_eq(chain->members[0].text, "target: 3 s, interval: 15 s");
}
END_TEST

static const struct policy_ops *load_stub(const char *path, struct place place, struct diag *diag)
{
    static const struct policy_ops stub = {POLICY_HEADER, .name = "stub", .summary = "for a test"};
    if (strstr(path, "/sub/stub.so"))
        return &stub;
    diag_error(diag, place, "%s: expected a policy", path);
    return NULL;
}

START_TEST(plugin)
{
    file.load = load_stub;
    ck_assert_str_eq(points("plugin: sub/stub.so\npolicies: [stub]\n", NULL, NULL), "stub[stub{}]");
    ck_assert(!plan_file_read(&file, card_and("plugin: [other.so]\n"), NULL, NULL));
    ck_assert_ptr_nonnull(strstr(plan_file_said(&file), "other.so: expected a policy"));
}
END_TEST

START_TEST(hash_tells_what_decides)
{
    scenario_of(plan_file_card);
    uint64_t hash = file.plan.hash;
    scenario_of(card_and("title: other\nnotes: [x]\n"));
    ck_assert_uint_eq(file.plan.hash, hash);
    card_with("100 s", "100000 ms");
    ck_assert_uint_eq(file.plan.hash, hash);
    static const char *const changes[][2] = {{"100 s", "101 s"},
                                             {"24", "23"},
                                             {"120", "121"},
                                             {"4.5 s", "4.6 s"},
                                             {"39 tok", "38 tok"},
                                             {"servers: 8", "servers: 7"},
                                             {"100 s", "100 s, seed: 2"},
                                             {"120", "120, client: {cap: 9 s}"},
                                             {"120", "120, start: 1 s"}};
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        card_with(changes[i][0], changes[i][1]);
        ck_assert_msg(file.plan.hash != hash, "%s", changes[i][1]);
    }
    scenario_of(card_and("policies: [lifo]\n"));
    ck_assert_uint_ne(file.plan.hash, hash);
}
END_TEST

/* What is printed is read to the same points, and printed again the same but for the origins. */
static void check_round_trip(const char *text)
{
    char *printed = NULL;
    size_t length = 0;
    ck_assert_msg(plan_file_read(&file, text, NULL, NULL), "%s", plan_file_said(&file));
    const char *before = plan_file_points(&file), *title = arena_text(&file.arena, file.plan.title);
    uint64_t hash = file.plan.hash;
    FILE *out = open_memstream(&printed, &length);
    describe_scenario(&file.plan, out);
    describe_sentences(&file.plan, out);
    fclose(out);
    ck_assert_msg(plan_file_read(&file, printed, NULL, NULL), "%s\n%s", plan_file_said(&file), printed);
    ck_assert_str_eq(plan_file_points(&file), before);
    ck_assert_str_eq(file.plan.title, title);
    ck_assert_uint_eq(file.plan.hash, hash);
    free(printed);
}

START_TEST(effective_scenario_is_the_scenario)
{
    plan_file_write(&file, "t.csv", "at,n\n1,5\n2,9\n");
    check_round_trip(plan_file_card);
    check_round_trip(card_and(three));
    check_round_trip(card_and("title: \"a `b` \\\"c\\\" $(d): # e\"\nnotes: ['x: y', \"- z\", plain]\n"
                              "policies: [codel: {preset: slots}, codel: {law: persist}, lifo, lifo: {scope: all}, a: "
                              "[fixed_cap: {cap: 2, at: card}]]\n"
                              "sweep: {agents.coder.think: [1 s, exponential(2 s)], policies.a.cap: 1..3}\n"));
    check_round_trip(
        "study: {until: done}\nbackends:\n  a: {kind: slots, servers: 2, step_time: {base: 1 ms}}\n"
        "  b: {kind: slots, servers: 2, throughput: {1: 9 tokens/s, 2: 11 tokens/s}}\n"
        "agents:\n  x: {arrivals: trace(t.csv at s), output: empirical(t.csv n most 8), backend: a}\n"
        "  y: {population: 1, runs: 2, turns: 3, think: 0 s, output: 4, backend: b}\n"
        "sweep: {zip: [{study.seed: 1, backends.a.servers: 2}, {study.seed: 2, backends.a.servers: 1}]}\n");
    check_round_trip("sweep: {study.horizon: [1 s, 2 s]}\nbackends: {a: {kind: slots, servers: 1, service: 1 s}}\n"
                     "agents: {x: {population: 1, think: pareto(1 s shape 0.5), client: {jitter: 30 %}}}\n");
}
END_TEST

START_TEST(origins_and_sentences)
{
    const char *const sets[] = {"agents.coder.output=mixture(0.7 lognormal(120 cv 0.45) | 0.3 lognormal(900 cv 0.35))",
                                NULL};
    char *printed = NULL;
    size_t length = 0;
    ck_assert(plan_file_read(&file, card_and("policies: [codel: {preset: slots}]\n"), sets, NULL));
    FILE *out = open_memstream(&printed, &length);
    describe_scenario(&file.plan, out);
    describe_sentences(&file.plan, out);
    fclose(out);
    static const char *const expected[] = {
        "  horizon: 100 s                                          # s.yaml:1\n",
        "  replications: 20                                        # default\n",
        "      target: 8 s                                         # preset slots\n",
        "lognormal(900 cv 0.35)) # --set\n",
        "\n# coder, output: mean 354 tokens, CV 1.128, p99 1585 tokens.\n",
        "\n# coder, think time: mean 4.5 s, CV 1, p99 20.72 s.\n",
        "\n# coder on card: service takes 9.077 s on average, so the capacity is 0.8814 turns/s.\n",
        "\n# coder on card: the knee is at 11.97 agents.\n",
        "\n# 1 design point x 20 replications x 100 s.\n",
    };
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
        ck_assert_msg(strstr(printed, expected[i]) != NULL, "no `%s` in\n%s", expected[i], printed);
    free(printed);
}
END_TEST

Suite *plan_suite(void)
{
    Suite *suite = suite_create("plan");
    TCase *tcase = tcase_create("plan");
    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, smallest_scenario);
    tcase_add_test(tcase, client_keys);
    tcase_add_test(tcase, speeds);
    tcase_add_test(tcase, arrivals);
    tcase_add_test(tcase, terminating);
    tcase_add_test(tcase, product_first_factor_slowest);
    tcase_add_test(tcase, factor_of_one_alternative);
    tcase_add_test(tcase, zip);
    tcase_add_test(tcase, backend_name_is_swept);
    tcase_add_test(tcase, set_replaces);
    tcase_add_test(tcase, items_of_lists_are_addressed);
    tcase_add_test(tcase, only_some);
    tcase_add_test(tcase, members);
    tcase_add_test(tcase, plugin);
    tcase_add_test(tcase, hash_tells_what_decides);
    tcase_add_test(tcase, effective_scenario_is_the_scenario);
    tcase_add_test(tcase, origins_and_sentences);
    suite_add_tcase(suite, tcase);
    return suite;
}
