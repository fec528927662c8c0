/* test_discover_rates.c - rates: the published ladders by hand, what strain is, and what is counted. */
#include <string.h>

#include "tests/discover_fixture.h"
#include "tests/suites.h"

#define S SIM_SECOND

/* --- rates by the published rules --------------------------------------------------------------------------------- */

/* From the target: 60 T/(L + 4 s) a minute, x 0.75, four steps, half of the last. */
START_TEST(ramp_from_the_target)
{
    struct hidden slow = with_burst(2);

    only(DISCOVER_RAMP);
    spec.rules = RULES_PUBLISHED;
    spec.target = 7; /* 0.5/s */
    slow.tokens = 0.1 * CONTEXT;
    probe_hidden(slow);
    expect_near(step_of(DISCOVER_RAMP, "rate", 0)->rate, 0.5);
    expect_near(step_of(DISCOVER_RAMP, "rate", 1)->rate, 0.5 * 0.75);
    expect_near(step_of(DISCOVER_RAMP, "rate", 2)->rate, 0.5 * 0.75 * 0.75);
    expect_near(step_of(DISCOVER_RAMP, "rate", 3)->rate, 0.5 * 0.75 * 0.75 * 0.75);
    ck_assert_ptr_null(step_of(DISCOVER_RAMP, "rate", 4));
    expect_found(discovery.rate, FOUND_EXACT, 0.5 * 0.75 * 0.75 * 0.75 / 2 * CONTEXT);
    slow.tokens = 0.4 * CONTEXT;
    probe_hidden(slow);
    expect_found(discovery.rate, FOUND_EXACT, 0.5 * 0.75 * CONTEXT);
    slow.tokens = 0.5 * CONTEXT;
    probe_hidden(slow); /* one clean step proves it */
    expect_found(discovery.rate, FOUND_LOWER, 0.5 * CONTEXT);
}
END_TEST

/* Without a target it is what was let in at once; a step has 3 R L/T calls, 15 to 60 of them. */
START_TEST(calls_of_a_step)
{
    struct hidden wide = ten;

    only(DISCOVER_RAMP);
    wide.tokens = 1e9;
    wide.requests = 1000;
    wide.at_once = 10; /* the edge */
    spec.rules = RULES_PUBLISHED;
    probe_hidden(wide);
    expect_near(step_of(DISCOVER_RAMP, "rate", 0)->rate, 10.0 / 14);
    ck_assert_uint_eq(step_of(DISCOVER_RAMP, "rate", 0)->sent, 22); /* 21.4 */
    spec.target = 3;
    probe_hidden(wide);
    ck_assert_uint_eq(step_of(DISCOVER_RAMP, "rate", 0)->sent, 15); /* 6.4 */
    spec.target = 100;
    probe_hidden(wide);
    ck_assert_uint_eq(step_of(DISCOVER_RAMP, "rate", 0)->sent, 60); /* 214 */
}
END_TEST

/* From half the edge in a latency, x 1.5, five steps; the last that ran clean. */
START_TEST(ramp_from_the_edge)
{
    struct hidden wide = ten;

    only(DISCOVER_RAMP);
    spec.rules = RULES_PUBLISHED;
    spec.ramp = RAMP_EDGE;
    wide.tokens = 1e9;
    wide.requests = 1000;
    wide.at_once = 10;
    probe_hidden(wide);
    ck_assert_uint_eq(step_of(DISCOVER_RAMP, "rate", 0)->sent,
                      15); /* with ten contexts the least and the formula agree */
    expect_near(step_of(DISCOVER_RAMP, "rate", 0)->rate, 0.5);
    expect_near(step_of(DISCOVER_RAMP, "rate", 4)->rate, 0.5 * 1.5 * 1.5 * 1.5 * 1.5);
    ck_assert_ptr_null(step_of(DISCOVER_RAMP, "rate", 5));
    expect_found(discovery.rate, FOUND_LOWER, 0.5 * 1.5 * 1.5 * 1.5 * 1.5 * CONTEXT);
    wide.tokens = 0.6 * CONTEXT;
    probe_hidden(wide); /* 0.5 is clean, 0.75 too, out of what it has saved; 1.125 is not */
    expect_found(discovery.rate, FOUND_EXACT, 0.75 * CONTEXT);
    wide.tokens = 0.1 * CONTEXT;
    probe_hidden(wide);
    expect_found(discovery.rate, FOUND_EXACT, 0.25 * CONTEXT); /* half of the first */
}
END_TEST

/* 225 at once, 5/s for a minute, 10/s if that was clean. */
START_TEST(requests_as_published)
{
    struct hidden hidden = ten;

    for (int i = 0; i < DISCOVER_PHASES; i++)
        spec.wanted[i] = i == DISCOVER_REQUESTS;
    spec.rules = RULES_PUBLISHED;
    probe_hidden(hidden);
    expect_found(discovery.requests, FOUND_EXACT, 60);
    expect_near(discover_seed(&discovery, &spec, SEED_C_REQ).value, 48);
    ck_assert_int_eq(discovery.request_rate.bound, FOUND_NOT); /* 4/s */
    hidden.requests = 7;
    probe_hidden(hidden);
    ck_assert_str_eq(bursts(DISCOVER_REQUESTS), "225");
    ck_assert_uint_eq(discovery.steps[1]->sent, 300);
    expect_near(discovery.steps[2]->rate, 10);
    ck_assert_uint_eq(discovery.steps[2]->refused, 1); /* the first 429 ends the step */
    expect_found(discovery.request_rate, FOUND_EXACT, 5);
    expect_near(discover_seed(&discovery, &spec, SEED_R_QPS).value, 4);
    hidden.requests = 20;
    hidden.at_once = 300;
    probe_hidden(hidden);
    ck_assert_uint_eq(discovery.steps[2]->sent, 600);
    expect_found(discovery.requests, FOUND_LOWER, 225);
    expect_found(discovery.request_rate, FOUND_LOWER, 10);
}
END_TEST

/* The prefix once, then 1, 2, 4 and 8 x r_tok. */
START_TEST(cache_as_published)
{
    struct hidden hidden = with_burst(4);

    only(DISCOVER_CACHE);
    spec.rules = RULES_PUBLISHED;
    spec.target = 5;
    hidden.tokens = 2 * CONTEXT * 5 / 14; /* the target is half of what is carried */
    hidden.requests = 100;
    probe_hidden(hidden);
    expect_found(discovery.rate, FOUND_LOWER, CONTEXT * 5 / 14);
    ck_assert_int_eq(step_of(DISCOVER_CACHE, "warm", 0)->shape.cached, 0);
    for (int i = 0; i < 4; i++) {
        const struct discover_step *step = step_of(DISCOVER_CACHE, "rate", i);

        expect_near(step->rate, (1 << i) * discovery.rate.value / 200200);
        ck_assert_int_eq(step->shape.input, 200200);
        ck_assert_int_eq(step->shape.cached, 200000);
    }
    expect_found(discovery.cached_weight, FOUND_UPPER, 0.125); /* at 0.25, half of that runs clean */
    hidden.weight = 1;
    probe_hidden(hidden);
    expect_found(discovery.cached_weight, FOUND_EXACT, 0.5);
}
END_TEST

/* Nine answers in ten must prove the prefix. */
START_TEST(prefixes_that_are_missed)
{
    int missed = 0, counted = 0;

    only(DISCOVER_CACHE);
    spec.target = 5;
    spec.rules = RULES_PUBLISHED;
    for (spec.hits = 0.8; spec.hits < 1; spec.hits += 0.02) {
        probe_hidden(ten);
        for (size_t i = 0; i < discovery.count; i++) {
            const struct discover_step *step = discovery.steps[i];

            if (step->shape.cached == 0 || step->refused > 0)
                continue;
            ck_assert_int_eq(strcmp(step->verdict, "missed") == 0, 10 * step->proven < 9 * step->answered);
            missed += 10 * step->proven < 9 * step->answered;
            counted += 10 * step->proven >= 9 * step->answered && 20 * step->proven < 19 * step->answered;
        }
    }
    ck_assert_int_gt(missed, 2);
    ck_assert_int_gt(counted, 2);
    spec.rules = RULES_COUNTED;
    spec.hits = 0.8;
    probe_hidden(ten);
    ck_assert_int_eq(discovery.cached_weight.bound, FOUND_NOT);
    ck_assert_str_eq(discovery.steps[discovery.count - 1]->verdict, "missed");
    spec.hits = 0.97;
    probe_hidden(ten);
    ck_assert_int_ne(discovery.cached_weight.bound, FOUND_NOT);
}
END_TEST

/* --- strain, and what is counted ---------------------------------------------------------------------------------- */

static struct prober prober;

static void begin(struct hidden hidden)
{
    discovery_fini(&discovery);
    prober_init(&prober, &spec, scenario_of(&hidden), 0, &stop, &discovery);
}

static struct rate rate_of(uint64_t counted, sim_time base)
{
    return (struct rate){.phase = DISCOVER_RAMP,
                         .what = "rate",
                         .shape = {.input = (int64_t)CONTEXT, .output = 1},
                         .unit = CONTEXT,
                         .latency = 10,
                         .counted = counted,
                         .base = base};
}

/* A median of 1.2 x the base is strain. */
START_TEST(soft_strain)
{
    struct rate rate = rate_of(0, 10 * S), fast = rate_of(0, 10 * S + 1);
    struct rate_search search = {.start = 0.1 * CONTEXT, .climbs = 2, .ratio = DISCOVER_NEAR};
    struct hidden slow = ten;

    slow.latency = 12;
    begin(slow);
    ck_assert_int_eq(rate_step(&prober, &rate, 0.1 * CONTEXT).strain, STRAIN_SOFT);
    ck_assert_str_eq(discovery.steps[0]->verdict, "slow");
    ck_assert_int_eq(rate_step(&prober, &fast, 0.1 * CONTEXT).strain, STRAIN_NONE);
    expect_found(rate_search(&prober, &rate, &search), FOUND_EXACT, 0.085 * CONTEXT);
    prober_fini(&prober);
}
END_TEST

/* From one 429 to another the pool's own rate lies between (m - 1)/T and (m + 1)/T, however much too fast the step. */
START_TEST(rates_are_counted)
{
    for (double times = 1.02; times < 8; times *= 1.3) {
        struct rate rate = rate_of(30, 0);
        struct hidden hidden = with_burst(3);
        double own = hidden.tokens;
        struct paced paced;

        begin(hidden);
        ck_assert_int_eq(rate_step(&prober, &rate, 9 * own).strain, STRAIN_HARD); /* what it has saved comes first */
        paced = rate_step(&prober, &rate, own * times);
        ck_assert_int_eq(paced.strain, STRAIN_HARD);
        ck_assert_msg(paced.least < own && own < paced.most && paced.most <= own * times, "%g < %g < %g at x %g",
                      paced.least, own, paced.most, times);
        ck_assert_msg(paced.most <= DISCOVER_NEAR * paced.least, "%g to %g at x %g", paced.least, paced.most, times);
        ck_assert_int_eq(rate_step(&prober, &rate, paced.least).strain, STRAIN_NONE);
        prober_fini(&prober);
    }
}
END_TEST

/* Far too fast is left early, for twice what came through. */
START_TEST(far_too_fast)
{
    struct rate rate = rate_of(30, 0);
    struct rate_search search = {.start = 50 * ten.tokens, .ratio = DISCOVER_NEAR};
    struct discover_found found;

    begin(ten);
    found = rate_search(&prober, &rate, &search);
    ck_assert_int_eq(found.bound, FOUND_EXACT);
    ck_assert(found.value <= ten.tokens && found.value >= 0.93 * ten.tokens);
    ck_assert_uint_lt(discovery.steps[0]->refused, 400);
    ck_assert_double_le(discovery.steps[1]->rate, 2.5 * ten.tokens / CONTEXT);
    prober_fini(&prober);
}
END_TEST

/* What ran clean while the pool had something saved is proved again, be it as near as one likes. */
START_TEST(saved_tokens_prove_nothing)
{
    for (double start = 0.5; start < 1.1; start += 0.005) {
        struct rate rate = rate_of(30, 0);
        struct rate_search search = {.start = start * ten.tokens, .climbs = 5, .ratio = DISCOVER_NEAR};
        struct discover_found found;

        begin(ten);
        found = rate_search(&prober, &rate, &search);
        ck_assert_int_eq(found.bound, FOUND_EXACT);
        ck_assert_msg(found.value <= ten.tokens && found.value >= 0.93 * ten.tokens, "%g from x %g", found.value,
                      start);
        prober_fini(&prober);
        discovery_fini(&discovery);
    }
}
END_TEST

/* No step is strained though the last were far too fast: a minute of the limit was there before. With what it is taken
 * to save the bound is one, be the limit what it may; and it is no less than half of what the last step had. */
START_TEST(bounds_without_strain)
{
    struct hidden hidden = ten;

    for (int i = 0; i < DISCOVER_PHASES; i++)
        spec.wanted[i] = i == DISCOVER_REQUESTS;
    for (hidden.requests = 82; hidden.requests < 400; hidden.requests *= 1.1) {
        hidden.at_once = 60 * hidden.requests;
        probe_hidden(hidden);
        ck_assert_int_eq(discovery.request_rate.bound, FOUND_LOWER);
        ck_assert_msg(discovery.request_rate.value <= hidden.requests && discovery.request_rate.value >= 79.9,
                      "%g of %g", discovery.request_rate.value, hidden.requests);
        ck_assert_ptr_nonnull(strstr(discovery.request_rate.why, "a minute of its limit"));
    }
    only(DISCOVER_RAMP);
    hidden = (struct hidden){.tokens = 5e6, .burst = 300e6, .latency = 1};
    probe_hidden(hidden);
    ck_assert_int_eq(discovery.rate.bound, FOUND_LOWER);
    ck_assert_msg(discovery.rate.value <= 5e6 && discovery.rate.value > 1e6, "%g", discovery.rate.value);
}
END_TEST

/* One that was ended before a step was strained is a bound of the same kind. */
START_TEST(bounds_that_were_cut_off)
{
    struct hidden hidden = {.tokens = 1e6, .burst = 60e6, .latency = 1};
    int bounds = 0;

    only(DISCOVER_RAMP);
    for (spec.spend_tokens = 60000000; spec.spend_tokens < 120000000; spec.spend_tokens += 3333333) {
        probe_hidden(hidden);
        ck_assert_msg(discovery.rate.value <= hidden.tokens, "%g, spent %g", discovery.rate.value,
                      (double)spec.spend_tokens);
        bounds += discovery.rate.bound == FOUND_LOWER;
    }
    ck_assert_int_gt(bounds, 0);
}
END_TEST

/* Where refused calls count, a step that is too fast lets in nothing any more; what is found then is far too low. */
START_TEST(refused_calls_that_count)
{
    struct scenario *scenario = scenario_of(&ten);
    struct meter_spec *meters = (struct meter_spec *)(uintptr_t)scenario->backends->provider->meters;

    for (int i = 0; i < DISCOVER_PHASES; i++)
        spec.wanted[i] = i == DISCOVER_REQUESTS;
    meters[1].refused_count = true;
    probe(scenario);
    ck_assert_int_eq(discovery.request_rate.bound, FOUND_LOWER);
    ck_assert_double_le(discovery.request_rate.value, ten.requests);
}
END_TEST

#define TEST(name) tcase_add_test(tcase, name)

Suite *discover_rates_suite(void)
{
    Suite *suite = suite_create("discover_rates");
    TCase *tcase = tcase_create("discover_rates");
    tcase_add_checked_fixture(tcase, setup, teardown);
    TEST(ramp_from_the_target);
    TEST(calls_of_a_step);
    TEST(ramp_from_the_edge);
    TEST(requests_as_published);
    TEST(cache_as_published);
    TEST(prefixes_that_are_missed);
    TEST(soft_strain);
    TEST(rates_are_counted);
    TEST(far_too_fast);
    TEST(saved_tokens_prove_nothing);
    TEST(bounds_without_strain);
    TEST(bounds_that_were_cut_off);
    TEST(refused_calls_that_count);
    suite_add_tcase(suite, tcase);
    return suite;
}
