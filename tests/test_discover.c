/* test_discover.c - each phase by hand: what is sent, when, and what is made of it. */
#include <string.h>

#include "tests/discover_fixture.h"
#include "tests/suites.h"

#define S SIM_SECOND

/* --- bursts ------------------------------------------------------------------------------------------------------- */

START_TEST(two_steps)
{
    only(DISCOVER_BURST);
    spec.form = FORM_TWO_STEP;
    probe_hidden(with_burst(10.5)); /* 12 are not clean: 12 again, 90 s after the answers */
    ck_assert_str_eq(bursts(DISCOVER_BURST), "12 12");
    ck_assert_int_eq(discovery.steps[1]->at, 100 * S);
    expect_found(discovery.edge, FOUND_EXACT, 10 * CONTEXT);
    probe_hidden(with_burst(12)); /* clean: 24 */
    ck_assert_str_eq(bursts(DISCOVER_BURST), "12 24");
    expect_found(discovery.edge, FOUND_EXACT, 12 * CONTEXT);
    probe_hidden(with_burst(24)); /* it has had 100 s for 12 */
    ck_assert_str_eq(bursts(DISCOVER_BURST), "12 24");
    expect_found(discovery.edge, FOUND_LOWER, 24 * CONTEXT);
}
END_TEST

/* The smallest volume that was let in of a burst with a 429: 100 s fill one context and a bit. */
START_TEST(two_steps_take_the_smaller)
{
    struct hidden slow = with_burst(10);

    only(DISCOVER_BURST);
    spec.form = FORM_TWO_STEP;
    slow.tokens = 3000;
    probe_hidden(slow);
    ck_assert_uint_eq(discovery.steps[0]->admitted, 10);
    ck_assert_uint_eq(discovery.steps[1]->admitted, 1);
    expect_found(discovery.edge, FOUND_EXACT, CONTEXT);
}
END_TEST

START_TEST(doubling)
{
    struct hidden large = with_burst(60);

    only(DISCOVER_BURST);
    spec.rules = RULES_PUBLISHED;
    large.tokens = 1e6; /* full again after 100 s */
    large.at_once = 1000;
    probe_hidden(large);
    ck_assert_str_eq(bursts(DISCOVER_BURST), "12 24 48 96");
    expect_found(discovery.edge, FOUND_EXACT, 60 * CONTEXT);
    spec.rules = RULES_COUNTED; /* once more, as nobody knows whether it was full */
    probe_hidden(large);
    ck_assert_str_eq(bursts(DISCOVER_BURST), "12 24 48 96 96");
    expect_found(discovery.edge, FOUND_EXACT, 60 * CONTEXT);
    large.burst = 1000 * CONTEXT;
    probe_hidden(large);
    ck_assert_str_eq(bursts(DISCOVER_BURST), "12 24 48 96 192");
    expect_found(discovery.edge, FOUND_LOWER, 192 * CONTEXT);
}
END_TEST

/* 60 contexts that take two hours to fill. 12 and 24 are clean, the third burst finds what is left, the fourth what
 * came in 100 s, which is too little to tell, the fifth what came in 370 s; then there is time for twice the most of
 * before.
 */
START_TEST(a_pool_that_fills_slowly)
{
    struct hidden slow = with_burst(60);

    only(DISCOVER_BURST);
    slow.tokens = 60 * CONTEXT / 7200;
    slow.at_once = 1000;
    probe_hidden(slow);
    ck_assert_str_eq(bursts(DISCOVER_BURST), "12 24 48 48 48 48 96");
    ck_assert_uint_eq(discovery.steps[2]->admitted, 25);
    ck_assert_uint_eq(discovery.steps[3]->admitted, 1);
    ck_assert_int_eq(discovery.steps[3]->at, 300 * S);
    ck_assert_int_eq(discovery.steps[4]->at, 300 * S + 10 * S + 360 * S);
    ck_assert_uint_eq(discovery.steps[4]->admitted, 3);
    ck_assert_int_eq(discovery.steps[5]->at, 670 * S + 10 * S + 370 * S * (2 * 25 + 1) / (3 - 1));
    expect_found(discovery.edge, FOUND_EXACT, 60 * CONTEXT);
    spec.rules = RULES_PUBLISHED;
    probe_hidden(slow);
    expect_found(discovery.edge, FOUND_EXACT, 25 * CONTEXT);
}
END_TEST

/* Bursts are punished before the bucket is empty, so the second burst finds what the first left and not what came
 * meanwhile; and that a later one gets less than the first says so. */
START_TEST(a_pool_that_punishes_and_fills_slowly)
{
    struct hidden slow = with_burst(17);

    only(DISCOVER_BURST);
    slow.tokens = 3442;
    slow.cold = 11 * CONTEXT;
    slow.hot = 5 * CONTEXT;
    probe_hidden(slow);
    ck_assert_uint_eq(discovery.steps[0]->admitted, 11);
    ck_assert_uint_eq(discovery.steps[1]->admitted, 7);
    expect_found(discovery.edge, FOUND_EXACT, 11 * CONTEXT);
}
END_TEST

/* Nothing of the size of a context is let in: halves, whose burst follows on a full pool. */
START_TEST(a_pool_below_a_context)
{
    only(DISCOVER_BURST);
    probe_hidden(with_burst(0.3));
    ck_assert_str_eq(bursts(DISCOVER_BURST), "12 12 12 12");
    ck_assert_int_eq(discovery.steps[2]->shape.input, 65536);
    expect_found(discovery.edge, FOUND_EXACT, 65536);
    expect_near(discover_seed(&discovery, &spec, SEED_C_BURST).value, CONTEXT);
    spec.rules = RULES_PUBLISHED;
    probe_hidden(with_burst(0.3));
    ck_assert_int_eq(discovery.edge.bound, FOUND_NOT);
}
END_TEST

START_TEST(base_latency)
{
    static sim_time values[] = {5, 1, 4, 2};

    only(DISCOVER_BURST);
    probe_hidden(ten);
    ck_assert_int_eq(discovery.latency, 10 * S);
    ck_assert_int_eq(discover_median(values, 4), 2);
    ck_assert_int_eq(discover_median(values, 3), 2);
    ck_assert_int_eq(discover_median(values, 0), -1);
}
END_TEST

/* --- what cannot be strained -------------------------------------------------------------------------------------- */

START_TEST(a_pool_without_limits)
{
    static const struct hidden none = {.tokens = 1e12, .burst = 1e12, .weight = 1, .latency = 2};

    probe_hidden(none);
    ck_assert_int_eq(discovery.edge.bound, FOUND_LOWER);
    ck_assert_int_eq(discovery.rate.bound, FOUND_LOWER);
    ck_assert_int_eq(discovery.requests.bound, FOUND_LOWER);
    ck_assert_int_eq(discovery.request_rate.bound, FOUND_LOWER);
    ck_assert_int_eq(discovery.cached_weight.bound, FOUND_NOT);
    ck_assert_uint_eq(discovery.refused, 0);
    expect_near(discovery.request_rate.value, 80); /* 9600 calls in a minute, with one before it */
    spec.rules = RULES_PUBLISHED;
    probe_hidden(none);
    ck_assert_int_eq(discovery.rate.bound, FOUND_LOWER);
    ck_assert_int_eq(discovery.request_rate.bound, FOUND_LOWER);
    expect_found(discovery.cached_weight, FOUND_UPPER, 0.125);
}
END_TEST

/* Where requests bind before tokens do, the weight is an upper bound, and r_tok a lower one. */
START_TEST(requests_that_bind_first)
{
    struct hidden hidden = ten;

    hidden.requests = 0.8; /* 160k cached tokens a second, of 400k */
    probe_hidden(hidden);
    ck_assert_int_eq(discovery.rate.bound, FOUND_EXACT);
    ck_assert_int_eq(discovery.cached_weight.bound, FOUND_UPPER);
    ck_assert_double_gt(discovery.cached_weight.value, 0.25);
    hidden.requests = 0.3; /* 79k tokens a second, of 100k */
    hidden.at_once = 3;
    probe_hidden(hidden);
    ck_assert_int_eq(discovery.rate.bound, FOUND_LOWER);
    ck_assert_double_le(discovery.rate.value, 0.3 * CONTEXT);
    ck_assert_int_eq(discovery.cached_weight.bound, FOUND_NOT);
}
END_TEST

/* A number that another limit has strained is a bound: of a pool of nothing but requests no tokens are measured, */
START_TEST(nothing_but_requests)
{
    struct hidden hidden = {
        .tokens = 1e12, .burst = 1e12, .weight = 1, .requests = 50.0 / 60, .at_once = 50, .latency = 10};

    probe_hidden(hidden);
    expect_found(discovery.edge, FOUND_LOWER, 50 * CONTEXT);
    expect_found(discovery.requests, FOUND_EXACT, 50);
    ck_assert_int_eq(discovery.rate.bound, FOUND_LOWER);
    ck_assert_int_eq(discovery.request_rate.bound, FOUND_EXACT);
    ck_assert_int_eq(discovery.cached_weight.bound, FOUND_NOT);
    hidden.burst = 40 * CONTEXT; /* tokens bind what is sent at once */
    probe_hidden(hidden);
    expect_found(discovery.edge, FOUND_EXACT, 40 * CONTEXT);
}
END_TEST

static const struct flight {
    enum meter_kind kind;
    double limit, edge;
} flights[] = {{METER_IN_FLIGHT, 8, 8},
               {METER_IN_FLIGHT, 2, 2},
               {METER_TOKENS_IN_FLIGHT, 3e6, 11},
               {METER_TOKENS_IN_FLIGHT, 400e3, 1}};

/* of one that limits what is in flight no rate and no weight. */
START_TEST(what_is_in_flight)
{
    const struct flight *flight = &flights[_i];
    struct scenario *scenario = scenario_of(&ten);
    struct provider_spec *provider = (struct provider_spec *)(uintptr_t)scenario->backends->provider;
    struct meter_spec *meter = (struct meter_spec *)(uintptr_t)provider->meters;

    provider->meter_count = 1;
    provider->latency.per_input = 50e-6;
    provider->latency.per_cached = 5e-6;
    meter->kind = flight->kind;
    meter->limit = (struct limit_spec)LIMIT_AT(flight->limit);
    meter->cached_weight = 1;
    probe(scenario);
    expect_near(discovery.edge.value, flight->edge * CONTEXT);
    ck_assert_int_eq(discovery.rate.bound, FOUND_LOWER);
    ck_assert_int_eq(discovery.cached_weight.bound, FOUND_NOT);
    if (flight->kind == METER_IN_FLIGHT)
        ck_assert_int_eq(discovery.edge.bound, FOUND_LOWER);
}
END_TEST

/* A bucket that by chance holds as much as it gives in a latency is told from those. */
START_TEST(a_bucket_of_a_latency)
{
    for (double share = 0.8; share < 1.3; share += 0.05) {
        struct hidden hidden = ten;

        hidden.burst = 20 * CONTEXT;
        hidden.tokens = share * hidden.burst / hidden.latency;
        hidden.requests = 100;
        probe_hidden(hidden);
        expect_found(discovery.edge, FOUND_EXACT, 20 * CONTEXT);
        ck_assert_int_eq(discovery.rate.bound, FOUND_EXACT);
        ck_assert_msg(discovery.rate.value <= hidden.tokens && discovery.rate.value > 0.93 * hidden.tokens, "%g of %g",
                      discovery.rate.value, hidden.tokens);
    }
}
END_TEST

/* --- seeds -------------------------------------------------------------------------------------------------------- */

START_TEST(seeds_of_what_was_found)
{
    static const double shares[SEEDS] = {1, 0.5, 0.95, 0.8, 0.8, 1};
    const struct discover_found values[SEEDS] = {{FOUND_EXACT, 105e3, NULL, false},  {FOUND_EXACT, 2.13e6, NULL, false},
                                                 {FOUND_EXACT, 2.13e6, NULL, false}, {FOUND_LOWER, 37, "x", false},
                                                 {FOUND_EXACT, 1.85, NULL, false},   {FOUND_UPPER, 0.1, NULL, false}};

    discovery.rate = values[0];
    discovery.edge = values[1];
    discovery.requests = values[3];
    discovery.request_rate = values[4];
    discovery.cached_weight = values[5];
    for (int i = 0; i < SEEDS; i++) {
        struct discover_found found = discover_seed(&discovery, &spec, (enum discover_seed)i);

        expect_found(found, values[i].bound, shares[i] * values[i].value);
        ck_assert(!found.raised);
    }
    discovery.edge.value = 270000; /* at least one full window */
    expect_near(discover_seed(&discovery, &spec, SEED_C_BURST).value, 262144);
    expect_near(discover_seed(&discovery, &spec, SEED_K_INFLIGHT).value, 262144);
    ck_assert(discover_seed(&discovery, &spec, SEED_K_INFLIGHT).raised);
    discovery.edge.value = 280000;
    ck_assert(!discover_seed(&discovery, &spec, SEED_K_INFLIGHT).raised);
    expect_near(discover_seed(&discovery, &spec, SEED_K_INFLIGHT).value, 266000);
    ck_assert_str_eq(discover_seed_text(SEED_R_TOK, 104999.99, &arena), "104999 tokens/s");
    ck_assert_str_eq(discover_seed_text(SEED_R_QPS, 1.48, &arena), "1.48/s");
    ck_assert_str_eq(discover_seed_text(SEED_R_QPS, 0.0123456789, &arena), "0.012345678/s");
    ck_assert_str_eq(discover_seed_text(SEED_C_REQ, 29.6, &arena), "29");
    ck_assert_str_eq(discover_seed_text(SEED_CACHED_WEIGHT, 0.10001, &arena), "0.1001");
}
END_TEST

#define TEST(name) tcase_add_test(tcase, name)

Suite *discover_suite(void)
{
    Suite *suite = suite_create("discover");
    TCase *tcase = tcase_create("discover");
    tcase_add_checked_fixture(tcase, setup, teardown);
    TEST(two_steps);
    TEST(two_steps_take_the_smaller);
    TEST(doubling);
    TEST(a_pool_that_fills_slowly);
    TEST(a_pool_that_punishes_and_fills_slowly);
    TEST(a_pool_below_a_context);
    TEST(base_latency);
    TEST(a_pool_without_limits);
    TEST(requests_that_bind_first);
    TEST(nothing_but_requests);
    tcase_add_loop_test(tcase, what_is_in_flight, 0, (int)(sizeof flights / sizeof *flights));
    TEST(a_bucket_of_a_latency);
    TEST(seeds_of_what_was_found);
    suite_add_tcase(suite, tcase);
    return suite;
}
