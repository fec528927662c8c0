/* test_discover_pools.c - discovery on pools drawn at random: what it must find of each, and what the published rules
 * find of the same ones. */
#include <string.h>

#include "sim/engine/number.h"
#include "tests/discover_fixture.h"
#include "tests/suites.h"

enum { POOLS = 20, MORE_POOLS = 400 };

static double uniform(uint64_t pool, uint64_t what, double from, double to)
{
    struct stream stream = stream_open((struct stream_key){2026, 1},
                                       (struct stream_address){.purpose = 900, .entity = pool, .turn = what});

    return from + (to - from) * stream_uniform(&stream);
}

static double log_uniform(uint64_t pool, uint64_t what, double from, double to)
{
    return from * sim_exp(sim_log(to / from) * uniform(pool, what, 0, 1));
}

/* Constant limits, filled continuously; every third pool punishes bursts. Requests are not what binds tokens, cached or
 * not: where they do, nobody can tell (suite discover). */
static struct hidden draw(uint64_t pool)
{
    struct hidden hidden = {.tokens = log_uniform(pool, 0, 20e3, 200e3),
                            .burst = log_uniform(pool, 1, 500e3, 8e6),
                            .weight = uniform(pool, 2, 0.05, 1),
                            .at_once = floor(log_uniform(pool, 4, 10, 400)),
                            .latency = log_uniform(pool, 5, 0.5, 15),
                            .total = pool % 2 == 1};
    double needed = 1.5 * hidden.tokens / fmin(CONTEXT, hidden.weight * 200200);

    hidden.requests = fmax(log_uniform(pool, 3, 0.6, 12), needed);
    hidden.cold = pool % 3 == 2 ? log_uniform(pool, 6, 1e6, 4e6) : 0;
    hidden.hot = 0.47 * hidden.cold;
    return hidden;
}

/* What lets in the least at once. */
static double edge_of(const struct hidden *hidden)
{
    double edge = fmin(hidden->burst, hidden->at_once * CONTEXT);

    return hidden->cold > 0 ? fmin(edge, hidden->cold) : edge;
}

static double seed(enum discover_seed which)
{
    return discover_seed(&discovery, &spec, which).value;
}

static bool edge_holds(const struct hidden *hidden)
{
    double edge = edge_of(hidden), found = discovery.edge.value;

    /* Where requests at once bound it too, it is a bound of the tokens. */
    bool requests = discovery.requests.bound != FOUND_NOT && found * DISCOVER_NEAR >= hidden->at_once * CONTEXT;

    return discovery.edge.bound == (requests ? FOUND_LOWER : FOUND_EXACT) && found <= edge && found >= edge / 2;
}

static bool requests_hold(const struct hidden *hidden)
{
    double found = seed(SEED_R_QPS);

    return discovery.request_rate.bound == FOUND_EXACT && found <= hidden->requests && found >= 0.75 * hidden->requests;
}

static bool weight_holds(const struct hidden *hidden)
{
    return discovery.cached_weight.bound == FOUND_EXACT && fabs(seed(SEED_CACHED_WEIGHT) - hidden->weight) <= 0.1;
}

START_TEST(what_is_found)
{
    struct hidden hidden = draw((uint64_t)_i);

    probe(scenario_of(&hidden));
    ck_assert_msg(edge_holds(&hidden), "edge %.0f of %.0f", discovery.edge.value, edge_of(&hidden));
    ck_assert_msg(requests_hold(&hidden), "r_qps %g of %g", seed(SEED_R_QPS), hidden.requests);
    ck_assert_msg(weight_holds(&hidden), "cached_weight %g of %g", seed(SEED_CACHED_WEIGHT), hidden.weight);
    /* Not asked for, but what the weight is measured against. */
    ck_assert_int_eq(discovery.rate.bound, FOUND_EXACT);
    ck_assert_msg(seed(SEED_R_TOK) <= hidden.tokens && seed(SEED_R_TOK) >= 0.9 * hidden.tokens, "r_tok %g of %g",
                  seed(SEED_R_TOK), hidden.tokens);
    ck_assert_msg(discovery.requests.value <= hidden.at_once && discovery.requests.value >= hidden.at_once / 2,
                  "c_req from %g of %g", discovery.requests.value, hidden.at_once);
}
END_TEST

/* The same of many more: no number is wrong, but some weights are bounds, since a pool that punishes bursts may take
 * the tokens of a second for one. A bound is on its side of the truth, but for what r_tok itself is too low. */
START_TEST(of_many_none_is_wrong)
{
    int weights = 0;

    for (uint64_t pool = POOLS; pool < MORE_POOLS; pool++) {
        struct hidden hidden = draw(pool);

        probe(scenario_of(&hidden));
        ck_assert_msg(edge_holds(&hidden) && requests_hold(&hidden), "pool %d", (int)pool);
        if (discovery.cached_weight.bound == FOUND_EXACT)
            ck_assert_msg(weight_holds(&hidden), "pool %d: %g of %g", (int)pool, seed(SEED_CACHED_WEIGHT),
                          hidden.weight);
        else
            ck_assert_msg(discovery.cached_weight.bound == FOUND_UPPER &&
                              seed(SEED_CACHED_WEIGHT) > hidden.weight / DISCOVER_NEAR,
                          "pool %d: %g of %g", (int)pool, seed(SEED_CACHED_WEIGHT), hidden.weight);
        weights += discovery.cached_weight.bound == FOUND_EXACT;
    }
    ck_assert_int_ge(weights, (MORE_POOLS - POOLS) * 95 / 100);
}
END_TEST

/* Why the published rules are not the default: of the same 20 pools, with 5 and 10/s and x 1, 2, 4 and 8. */
START_TEST(what_the_published_rules_find)
{
    int requests = 0, weights = 0, rates = 0, none = 0;

    spec.rules = RULES_PUBLISHED;
    for (uint64_t pool = 0; pool < POOLS; pool++) {
        struct hidden hidden = draw(pool);

        probe(scenario_of(&hidden));
        requests += requests_hold(&hidden);
        weights += weight_holds(&hidden);
        none += discovery.request_rate.bound == FOUND_NOT;
        rates += seed(SEED_R_TOK) <= hidden.tokens;
    }
    ck_assert_int_eq(requests, 0);
    ck_assert_int_eq(none, 15); /* 5/s did not run clean */
    ck_assert_int_eq(weights, 3);
    ck_assert_int_eq(rates, 8); /* out of what the pool had saved */
}
END_TEST

static int wrong_edges(void)
{
    int wrong = 0;

    only(DISCOVER_BURST);
    for (uint64_t pool = 0; pool < MORE_POOLS; pool++) {
        struct hidden hidden = draw(pool);

        hidden.tokens /= 10; /* buckets that take long to fill */
        probe(scenario_of(&hidden));
        wrong += !edge_holds(&hidden);
    }
    return wrong;
}

/* 90 s do not fill such buckets, and 24 full contexts do not strain the largest. */
START_TEST(edges_of_slow_pools)
{
    ck_assert_int_eq(wrong_edges(), 0);
    spec.rules = RULES_PUBLISHED;
    ck_assert_int_gt(wrong_edges(), 0);
    spec.form = FORM_TWO_STEP;
    ck_assert_int_gt(wrong_edges(), MORE_POOLS / 4);
}
END_TEST

Suite *discover_pools_suite(void)
{
    Suite *suite = suite_create("discover_pools");
    TCase *tcase = tcase_create("discover_pools");
    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_loop_test(tcase, what_is_found, 0, POOLS);
    tcase_add_test(tcase, of_many_none_is_wrong);
    tcase_add_test(tcase, what_the_published_rules_find);
    tcase_add_test(tcase, edges_of_slow_pools);
    suite_add_tcase(suite, tcase);
    return suite;
}
