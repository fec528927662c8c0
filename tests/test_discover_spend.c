/* test_discover_spend.c - what probing costs, where it ends early, and the rest of what a client sees. */
#include <string.h>

#include "tests/discover_fixture.h"
#include "tests/suites.h"

/* A scenario whose backend is of our own making, that a test may still change. */
static struct scenario *made(void)
{
    return scenario_of(&ten);
}

static struct backend *backend_of(struct scenario *scenario)
{
    return (struct backend *)(uintptr_t)scenario->backends;
}

static struct provider_spec *provider_of(struct scenario *scenario)
{
    return (struct provider_spec *)(uintptr_t)scenario->backends->provider;
}

/* --- the cap ------------------------------------------------------------------------------------------------------ */

START_TEST(tokens_are_those_let_in)
{
    int64_t sum = 0;
    uint64_t calls = 0, refused = 0;

    probe(made());
    ck_assert_int_eq(discovery.end, DISCOVER_DONE);
    for (size_t i = 0; i < discovery.count; i++) {
        const struct discover_step *step = discovery.steps[i];

        ck_assert_uint_eq(step->sent, step->admitted + step->refused);
        ck_assert_uint_eq(step->admitted, step->answered);
        sum += (int64_t)step->admitted * (step->shape.input + step->shape.output);
        ck_assert_int_eq(step->tokens, sum);
        calls += step->sent;
        refused += step->refused;
    }
    ck_assert_int_eq(discovery.tokens, sum);
    ck_assert_uint_eq(discovery.calls, calls);
    ck_assert_uint_eq(discovery.refused, refused);
    ck_assert_uint_gt(refused, 0);
}
END_TEST

/* Whatever the cap, it is not passed, less than a call is left of it, and what was found is no more than the truth. */
START_TEST(the_cap_holds)
{
    int64_t all;

    probe(made());
    all = discovery.tokens;
    for (spec.spend_tokens = 0; spec.spend_tokens < all; spec.spend_tokens += 777777) {
        probe(made());
        ck_assert_int_eq(discovery.end, DISCOVER_CAP);
        ck_assert_int_le(discovery.tokens, spec.spend_tokens);
        ck_assert_int_gt(discovery.tokens, spec.spend_tokens - 262145);
        ck_assert_str_eq(discovery.steps[discovery.count - 1]->verdict, "the cap");
        ck_assert_double_le(discovery.edge.value, ten.burst);
        ck_assert_double_le(discovery.request_rate.value, ten.requests);
        if (discovery.cached_weight.bound != FOUND_NOT)
            ck_assert_double_ge(discovery.cached_weight.value, ten.weight / DISCOVER_NEAR);
        if (spec.spend_tokens < 5 * 262145) {
            ck_assert_int_eq(discovery.ended_in, DISCOVER_BURST);
            ck_assert_int_eq(discovery.edge.bound, spec.spend_tokens < 262145 ? FOUND_NOT : FOUND_LOWER);
        }
    }
    spec.spend_tokens = all;
    probe(made());
    ck_assert_int_eq(discovery.end, DISCOVER_DONE);
}
END_TEST

/* In money: a million tokens of input 3, cached 0.3, of output 15; a call 0.01; an hour 36. */
START_TEST(in_money)
{
    struct scenario *scenario = made();
    double money = 0, whole;

    backend_of(scenario)->prices =
        (struct prices){.given = true, .input = 3, .cached = 0.3, .output = 15, .request = 0.01, .hour = 36};
    probe(scenario);
    for (size_t i = 0; i < discovery.count; i++) {
        const struct discover_step *step = discovery.steps[i];
        const struct discover_shape *shape = &step->shape;

        money += (double)step->admitted * (3e-6 * (double)(shape->input - shape->cached) +
                                           0.3e-6 * (double)shape->cached + 15e-6 * (double)shape->output + 0.01);
    }
    whole = money + 0.01 * sim_seconds(discovery.took);
    ck_assert_double_eq_tol(discovery.money, whole, 1e-9 * whole);
    spec.spend_money = 20;
    probe(scenario);
    ck_assert_int_eq(discovery.end, DISCOVER_CAP);
    ck_assert_double_le(discovery.money, 20);
    ck_assert_double_gt(discovery.money, 20 - 0.9);
}
END_TEST

/* Time costs too: neither a pause nor an answer that the cap does not bear is waited for, and none is passed. */
START_TEST(hours_cost)
{
    struct scenario *scenario = made();
    double whole;

    backend_of(scenario)->prices = (struct prices){.given = true, .hour = 36};
    probe(scenario);
    whole = discovery.money;
    for (double cap = 0.05; cap < whole; cap += 0.77) {
        spec.spend_money = cap;
        probe(scenario);
        ck_assert_int_eq(discovery.end, DISCOVER_CAP);
        ck_assert_msg(discovery.money <= cap, "%.9f of %g", discovery.money, cap);
        ck_assert_double_gt(discovery.money, cap - 1.5); /* the longest pause: 110 s */
    }
    spec.spend_money = whole + 1e-6;
    probe(scenario);
    ck_assert_int_eq(discovery.end, DISCOVER_DONE);
}
END_TEST

/* A burst that was cut off behind a 429 is told from one before it. */
START_TEST(why_it_ended)
{
    struct hidden slow = with_burst(17);
    struct scenario *scenario;

    only(DISCOVER_BURST);
    spec.spend_tokens = 5 * 262145;
    probe(made());
    ck_assert_int_eq(discovery.edge.bound, FOUND_LOWER);
    ck_assert_str_eq(discovery.edge.why, "it was ended before a 429");
    spec.spend_tokens = INT64_MAX;
    slow.tokens = 3442;
    for (int two_step = 0; two_step < 2; two_step++) {
        scenario = scenario_of(&slow);
        backend_of(scenario)->prices = (struct prices){.given = true, .hour = 36};
        spec.form = two_step ? FORM_TWO_STEP : FORM_DOUBLE;
        spec.spend_money = two_step ? 0.15 : 2;
        probe(scenario);
        ck_assert_int_eq(discovery.end, DISCOVER_CAP);
        ck_assert_int_eq(discovery.edge.bound, FOUND_LOWER);
        ck_assert_str_eq(discovery.edge.why,
                         two_step ? "it was ended before a 429" : "it was ended before the edge was known");
    }
}
END_TEST

START_TEST(interrupted)
{
    stop = 1;
    probe(made());
    stop = 0;
    ck_assert_int_eq(discovery.end, DISCOVER_STOPPED);
    ck_assert_uint_eq(discovery.calls, 0);
    ck_assert_int_eq(discovery.edge.bound, FOUND_NOT);
}
END_TEST

/* --- what else a client sees -------------------------------------------------------------------------------------- */

START_TEST(refusals_that_tell)
{
    struct scenario *scenario = made();

    only(DISCOVER_BURST);
    probe(scenario);
    ck_assert_uint_eq(discovery.told, 0);
    provider_of(scenario)->retry_after = RETRY_EXACT;
    probe(scenario);
    ck_assert_uint_eq(discovery.told, discovery.refused);
    ck_assert_uint_eq(discovery.steps[0]->told, 2);
}
END_TEST

/* A call that fails is no 429 and has no latency; half of them leave the edge as it is. */
START_TEST(calls_that_fail)
{
    struct scenario *scenario = made();

    only(DISCOVER_RAMP);
    provider_of(scenario)->errors = 0.5;
    probe(scenario);
    ck_assert_double_eq(discovery.edge.value, 10 * CONTEXT);
    ck_assert_uint_gt(discovery.steps[0]->failed, 0);
    ck_assert_uint_eq(discovery.steps[0]->failed + discovery.steps[0]->answered, 10);
    ck_assert_int_eq(discovery.latency, 10 * SIM_SECOND);
}
END_TEST

/* The same seed, the same digits; another one, other answers. */
START_TEST(seeds_of_random_numbers)
{
    static const struct dist noise = {.kind = DIST_UNIFORM, .a = 0.9, .b = 1.1, .most = INFINITY};
    struct scenario *scenario = made();
    sim_time latency, took;

    provider_of(scenario)->latency.noise = &noise;
    probe(scenario);
    latency = discovery.latency;
    took = discovery.took;
    probe(scenario);
    ck_assert_int_eq(discovery.latency, latency);
    ck_assert_int_eq(discovery.took, took);
    spec.seed = 2;
    probe(scenario);
    ck_assert_int_ne(discovery.latency, latency);
    spec.seed = 1; /* as the study's */
    probe(scenario);
    ck_assert_int_eq(discovery.latency, latency);
}
END_TEST

/* Strangers take what they take, limits move meanwhile; the numbers are no more than what is left. */
START_TEST(shared_and_moving)
{
    static const struct dist input = {.kind = DIST_CONSTANT, .a = 20000, .most = INFINITY};
    static const double levels[] = {100e3, 70e3};
    struct scenario *scenario = made();
    struct provider_spec *provider = provider_of(scenario);
    struct meter_spec *meters = (struct meter_spec *)(uintptr_t)provider->meters;

    provider->strangers = (struct strangers_spec){.rate = 0.5, .input = &input, .output = &input};
    meters[0].limit = (struct limit_spec){.law = LIMIT_TWO_LEVEL, .values = levels, .count = 2, .dwell = 30};
    probe(scenario);
    ck_assert_int_ne(discovery.edge.bound, FOUND_NOT);
    ck_assert_int_ne(discovery.rate.bound, FOUND_NOT);
    ck_assert_double_le(discovery.edge.value, ten.burst);
    ck_assert_double_le(discovery.rate.value, 92e3); /* 85k on average, less 10k */
    ck_assert_double_ge(discovery.rate.value, 50e3);
    ck_assert_double_le(discovery.request_rate.value, ten.requests);
}
END_TEST

Suite *discover_spend_suite(void)
{
    Suite *suite = suite_create("discover_spend");
    TCase *tcase = tcase_create("discover_spend");
    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, tokens_are_those_let_in);
    tcase_add_test(tcase, the_cap_holds);
    tcase_add_test(tcase, in_money);
    tcase_add_test(tcase, hours_cost);
    tcase_add_test(tcase, why_it_ended);
    tcase_add_test(tcase, interrupted);
    tcase_add_test(tcase, refusals_that_tell);
    tcase_add_test(tcase, calls_that_fail);
    tcase_add_test(tcase, seeds_of_random_numbers);
    tcase_add_test(tcase, shared_and_moving);
    suite_add_tcase(suite, tcase);
    return suite;
}
