/* test_cards_trials.c - whole trials with cards: a fixed number of them against one backend, random lives in which the
 * audit's equalities stand (models/cards.c, cards_audit), how calls are routed, and bounds. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "models/contexts.h"
#include "models/demand.h"
#include "models/memory_bounds.h"
#include "tests/model.h"
#include "tests/suites.h"

static double values[METRIC_COUNT * 8];

static void run(const char *yaml)
{
    struct plan plan = model_plan(yaml);

    model_trial(&plan, 0, 1, values);
    plan_fini(&plan);
}

static const char closed[] = "study: {horizon: 4000 s, warmup: 200 s, replications: 2}\n"
                             "backends: {card: {kind: slots, %s}}\n"
                             "agents: {coder: {population: 24, think: exponential(4.5 s), output: exponential(354), "
                             "client: {backoff: exponential, base: 16 s, timeout: 90 s, attempts: 3, dies: 5 %%}}}\n"
                             "policies: [%s]\n";

/* A rate that nobody shares: cards that are always up are one backend, whatever the routing, digit for digit. */
START_TEST(fixed_cards_are_one_backend)
{
    static const char *const policies[] = {"unbounded", "fixed_cap: {cap: 12}",
                                           "rfc: [codel: {law: rfc8289, sheds_at: dequeue, target: 2 s}]", "lifo"};
    static const char *const routes[] = {"least_busy", "power_of_two", "sticky"};

    for (size_t p = 0; p < 4; p++) {
        double one[METRIC_COUNT];
        char yaml[900];

        snprintf(yaml, sizeof yaml, closed, "servers: 8, rate: 39 tokens/s", policies[p]);
        run(yaml);
        memcpy(one, values, sizeof one);
        for (size_t r = 0; r < 3; r++) {
            char card[200];

            snprintf(card, sizeof card, "servers: 2, rate: 39 tokens/s, cards: {min: 4, max: 4, route: %s}", routes[r]);
            snprintf(yaml, sizeof yaml, closed, card, policies[p]);
            run(yaml);
            ck_assert_double_eq(values[METRIC_CARDS_UP], 4);
            for (size_t i = 0; i < METRIC_CARDS_UP; i++)
                ck_assert_msg(values[i] == one[i] || (isnan(values[i]) && isnan(one[i])), "%s, %s: %s is %g, not %g",
                              policies[p], routes[r], metrics[i].name, values[i], one[i]);
        }
    }
}
END_TEST

/* Everything at once: memory, shared speed, deaths, timeouts, shedding, cards that come and go. The audit stands at the
 * warm-up and at the end. */
START_TEST(random_lives)
{
    static const char *const signals[] = {"utilisation", "queue_length", "token_velocity"};
    static const char *const routes[] = {"least_busy", "power_of_two", "sticky"};
    static const char *const policies[] = {"rfc: [codel: {law: rfc8289, sheds_at: dequeue, target: 2 s}]",
                                           "bounded_queue", "token_bucket: {meter: requests, rate: 40/min, burst: 5}"};
    double cold = 0, shed = 0, lost = 0, moved = 0;

    for (unsigned life = 0; life < 27; life++) {
        static const char yaml[] =
            "study: {horizon: %u s, warmup: %u s, replications: 1, seed: %u}\n"
            "backends: {card: {kind: slots, servers: 3, step_time: {base: 17 ms, per_busy_slot: 3 ms}, prefill: 4000 "
            "tokens/s, kv: 60k, cards: {max: 5, start: 2, step: 2, signal: %s, route: %s, scrape: 5 s, target: 0.6, "
            "cooldown: 8 s, cold_start: exponential(9 s)}}}\n"
            "agents:\n"
            "  coder: {population: 14, think: exponential(20 s), output: exponential(200), turns: geometric(6), input: "
            "{start: 8k, per_turn: 700, most: 40k, cached: previous}, client: {timeout: 40 s, attempts: 2, dies: 5 "
            "%%}}\n"
            "  burst: {arrivals: all_at(0 s), start: 200 s, runs: 30, output: exponential(300)}\n"
            "policies: [%s]\n";
        char text[1200];

        snprintf(text, sizeof text, yaml, 500 + 17 * life, 100 + 7 * life, life + 1, signals[life % 3],
                 routes[life / 3 % 3], policies[life / 9]);
        run(text);
        cold += values[METRIC_CARDS_COLD];
        shed += values[METRIC_SHED];
        lost += values[METRIC_LOST_TURNS];
        moved += values[METRIC_CARDS_UP] > 1 && values[METRIC_CARDS_UP] < 5;
    }
    ck_assert(cold > 0.5 && shed > 0 && lost > 0 && moved == 27);
}
END_TEST

/* A context is where its agent was served last. */
START_TEST(sticky_finds_its_context)
{
    static const char yaml[] =
        "study: {horizon: 4000 s, warmup: 100 s, replications: 1}\n"
        "backends: {card: {kind: slots, servers: 4, rate: 39 tokens/s, prefill: 5000 tokens/s, kv: 200k, cards: {min: "
        "4, max: 4, route: %s}}}\n"
        "agents: {coder: {population: 12, think: exponential(10 s), output: exponential(200), input: {start: 20k, "
        "per_turn: 500, most: 40k, cached: previous}}}\n";
    double cold[3];
    char text[700];

    for (size_t i = 0; i < 3; i++) {
        snprintf(text, sizeof text, yaml, ((const char *[]){"least_busy", "power_of_two", "sticky"})[i]);
        run(text);
        cold[i] = values[METRIC_COLD_SHARE];
    }
    ck_assert_double_lt(cold[2], 0.02);
    ck_assert_double_gt(cold[1], 0.5);
    ck_assert_double_gt(cold[0], 0.5);
    /* One agent alone has its card. */
    snprintf(text, sizeof text,
             "study: {horizon: 1000 s, replications: 1}\n"
             "backends: {card: {kind: slots, servers: 1, rate: 39 tokens/s, prefill: 5000 tokens/s, kv: 200k, cards: "
             "{min: 2, max: 2, route: sticky}}}\n"
             "agents: {coder: {population: 1, think: exponential(10 s), output: exponential(200), input: {start: 20k, "
             "per_turn: 500, most: 40k, cached: previous}}}\n");
    run(text);
    ck_assert_double_gt(values[METRIC_COLD_SHARE], 0); /* its first call */
    ck_assert_double_lt(values[METRIC_COLD_SHARE], 0.03);
}
END_TEST

/* The less busy of two spreads calls worse than the least busy of all: seen by the speed of shared cards. */
START_TEST(two_at_random)
{
    static const char yaml[] =
        "study: {horizon: 20000 s, warmup: 100 s, replications: 1}\n"
        "backends: {card: {kind: slots, servers: 8, step_time: {base: 1 ms, per_busy_slot: 8 ms}, cards: {min: 6, max: "
        "6, route: %s}}}\n"
        "agents: {a: {arrivals: poisson(0.6/s), output: exponential(300)}}\n";
    double service[2];
    char text[600];

    for (size_t i = 0; i < 2; i++) {
        snprintf(text, sizeof text, yaml, i ? "power_of_two" : "least_busy");
        run(text);
        service[i] = values[METRIC_SERVICE_MEAN];
    }
    ck_assert_double_gt(service[1], 1.05 * service[0]);
}
END_TEST

START_TEST(an_empty_memory)
{
    struct arena arena = {0};
    struct contexts contexts = {.limit = 100, .arena = &arena};
    struct context *one = NULL, *other = NULL;

    contexts_pin(&contexts, &one, 40);
    contexts_pin(&contexts, &other, 30);
    contexts_unpin(&contexts, &one);
    contexts_unpin(&contexts, &other);
    contexts_orphan(&other);
    contexts_empty(&contexts);
    ck_assert(!one && !other && contexts.warm == 0 && contexts.pinned == 0 && contexts.evictions == 0);
    ck_assert_uint_eq(contexts_pin(&contexts, &one, 100), 0);
    arena_free(&arena);
}
END_TEST

/* Bounds take all cards as up; formulas hold only where they always are, and share nothing. */
START_TEST(bounds)
{
    static const char yaml[] =
        "study: {horizon: 100 s, replications: 1}\n"
        "backends: {card: {kind: slots, servers: 2, rate: 39 tokens/s, %s cards: {%s}}}\n"
        "agents: {coder: {population: 24, think: exponential(4.5 s), output: exponential(354)}}\n";
    static const struct {
        const char *more, *cards;
        bool fixed;
    } rows[] = {{"", "min: 4, max: 4", true}, {"", "max: 4", false}, {"kv: 100k,", "min: 4, max: 4", false}};
    char text[500];

    for (size_t i = 0; i < 3; i++) {
        struct plan plan;
        struct demand demand;
        struct memory_bounds memory;

        snprintf(text, sizeof text, yaml, rows[i].more, rows[i].cards);
        plan = model_plan(text);
        demand = demand_of(plan.points[0].scenario, 0);
        ck_assert_double_eq(demand.servers, 8);
        ck_assert_double_eq_tol(demand.capacity, 8 * 39 / 354.0, 1e-12);
        ck_assert(demand.fixed == rows[i].fixed && demand.exponential_service == rows[i].fixed);
        ck_assert(!memory_bounds_of(plan.points[0].scenario, 0, &memory));
        plan_fini(&plan);
    }
}
END_TEST

Suite *cards_trials_suite(void)
{
    Suite *suite = suite_create("cards_trials");
    TCase *test = tcase_create("cards_trials");

    tcase_set_timeout(test, 60);
    tcase_add_test(test, fixed_cards_are_one_backend);
    tcase_add_test(test, random_lives);
    tcase_add_test(test, sticky_finds_its_context);
    tcase_add_test(test, two_at_random);
    tcase_add_test(test, an_empty_memory);
    tcase_add_test(test, bounds);
    suite_add_tcase(suite, test);
    return suite;
}
