/* test_provider_plan.c - what is read of a provider is what was written: meters, limits that move, aliases, prices; and
 * what theory makes of it. */
#include <string.h>

#include "models/demand.h"
#include "tests/provider_fixture.h"
#include "tests/suites.h"

static const struct meter_spec *read_meter(const char *meter)
{
    const struct provider_spec *spec =
        read_pool(arena_format(&file.arena, "meters: {%s}, latency: {base: 1 s}", meter));
    ck_assert_uint_eq(spec->meter_count, 1);
    return &spec->meters[0];
}

START_TEST(everything_as_written)
{
    const struct provider_spec *spec = read_pool(
        "meters: {requests: {limit: 50/min, burst: 30, refused_count: true},"
        " total: {limit: 2M tokens/min, fill: step, window: 10 s, burst: 5k tokens, counts: max_tokens, settle: false,"
        " cached_weight: 10 %}, tokens_in_flight: {limit: 500k, counts: max_tokens, cached_weight: 0}},"
        " latency: {base: 1.7 s, per_input: 50 us, per_cached: 2 us, per_output: 6.31 ms, noise: lognormal(1 cv 0.3)},"
        " retry_after: constant(30 s), errors: 1 %,"
        " strangers: {calls: poisson(60/min), input: 20k, cached: 80 %, output: exponential(150)},"
        " simultaneous: {cold: 2.13M, hot: 1.0M, within: 2 s, recovery: uniform(50 s 70 s)},"
        " acceleration: {times: 2.5, over: 5 min, free: 100k tokens}");
    ck_assert_ptr_null(spec->preset);
    ck_assert_uint_eq(spec->meter_count, 3);

    const struct meter_spec *requests = &spec->meters[0], *total = &spec->meters[1], *flight = &spec->meters[2];
    ck_assert_int_eq(requests->kind, METER_REQUESTS);
    ck_assert_int_eq(requests->limit.law, LIMIT_CONSTANT);
    ck_assert_uint_eq(requests->limit.count, 1);
    expect_near(requests->limit.values[0], 50 / 60.0);
    ck_assert_double_eq(requests->burst, 30);
    ck_assert_int_eq(requests->fill, FILL_CONTINUOUS);
    ck_assert(requests->refused_count);
    ck_assert_int_eq(requests->place.line, 3);

    ck_assert_int_eq(total->kind, METER_TOTAL);
    expect_near(total->limit.values[0], 2e6 / 60);
    ck_assert_int_eq(total->fill, FILL_STEP);
    ck_assert_int_eq(total->window, 10 * SIM_SECOND);
    ck_assert_double_eq(total->burst, 5000);
    ck_assert_int_eq(total->counts, COUNTS_MAX_TOKENS);
    ck_assert(!total->settle && !total->refused_count);
    ck_assert_double_eq(total->cached_weight, 0.1);

    ck_assert_int_eq(flight->kind, METER_TOKENS_IN_FLIGHT);
    ck_assert_double_eq(flight->limit.values[0], 500e3);
    ck_assert_int_eq(flight->counts, COUNTS_MAX_TOKENS);
    ck_assert_double_eq(flight->cached_weight, 0);

    ck_assert_double_eq(spec->latency.base, 1.7);
    ck_assert_double_eq(spec->latency.per_input, 50e-6);
    ck_assert_double_eq(spec->latency.per_cached, 2e-6);
    ck_assert_double_eq(spec->latency.per_output, 6.31e-3);
    expect_near(dist_mean(spec->latency.noise), 1);
    expect_near(dist_cv(spec->latency.noise), 0.3);
    ck_assert_int_eq(spec->retry_after, RETRY_CONSTANT);
    ck_assert_int_eq(spec->retry_after_constant, 30 * SIM_SECOND);
    ck_assert_double_eq(spec->errors, 0.01);
    expect_near(spec->strangers.rate, 1);
    ck_assert_double_eq(dist_mean(spec->strangers.input), 20e3);
    ck_assert_double_eq(spec->strangers.cached, 0.8);
    ck_assert_double_eq(dist_mean(spec->strangers.output), 150);
    ck_assert_double_eq(spec->simultaneous.cold, 2130e3);
    ck_assert_double_eq(spec->simultaneous.hot, 1e6);
    ck_assert_int_eq(spec->simultaneous.within, 2 * SIM_SECOND);
    ck_assert_double_eq(dist_mean(spec->simultaneous.recovery), 60);
    ck_assert_double_eq(spec->acceleration.times, 2.5);
    ck_assert_int_eq(spec->acceleration.over, 5 * MINUTE);
    ck_assert_double_eq(spec->acceleration.free, 100e3);
}
END_TEST

START_TEST(defaults)
{
    const struct provider_spec *spec = read_pool("meters: {input: 60k tokens/min}, latency: {base: 2 s}");
    const struct meter_spec *input = &spec->meters[0];
    expect_near(input->limit.values[0], 1000);
    expect_near(input->burst, 60e3);
    ck_assert_int_eq(input->fill, FILL_CONTINUOUS);
    ck_assert_int_eq(input->counts, COUNTS_ESTIMATE);
    ck_assert(input->settle && !input->refused_count);
    ck_assert_double_eq(input->cached_weight, 1);
    ck_assert_int_eq(spec->retry_after, RETRY_EXACT);
    ck_assert_double_eq(spec->latency.per_input + spec->latency.per_cached + spec->latency.per_output, 0);
    ck_assert_ptr_null(spec->latency.noise);
    ck_assert_double_eq(spec->errors + spec->strangers.rate + spec->simultaneous.cold + spec->acceleration.times, 0);

    spec = read_pool("latency: {base: 0 s}, simultaneous: {cold: 9}, acceleration: {times: 1, free: 1}");
    ck_assert_uint_eq(spec->meter_count, 0);
    ck_assert_double_eq(spec->simultaneous.hot, 9);
    ck_assert_int_eq(spec->simultaneous.within, SIM_SECOND);
    ck_assert_double_eq(dist_mean(spec->simultaneous.recovery), 75);
    ck_assert_int_eq(spec->acceleration.over, 10 * MINUTE);

    const struct backend *backend = &file.plan.points[0].scenario->backends[0];
    ck_assert_int_eq(backend->kind, BACKEND_PROVIDER);
    ck_assert(backend->servers == 0 && backend->pool == 0 && !backend->speed && !backend->service);
    ck_assert(!backend->prices.given);
}
END_TEST

/* A bare limit is a meter, and what a full bucket holds follows from limit and window. */
static const struct {
    const char *text;
    enum meter_kind kind;
    double limit, burst; /* a second */
    enum meter_fill fill;
    sim_time window;
    bool settle;
} meters[] = {
    {"requests: 50/min", METER_REQUESTS, 50 / 60.0, 50, FILL_CONTINUOUS, MINUTE, false},
    {"requests: 50 requests/min", METER_REQUESTS, 50 / 60.0, 50, FILL_CONTINUOUS, MINUTE, false},
    {"input: 30k tokens/min", METER_INPUT, 500, 30e3, FILL_CONTINUOUS, MINUTE, true},
    {"input: 105k tokens/s", METER_INPUT, 105e3, 6.3e6, FILL_CONTINUOUS, MINUTE, true},
    {"output: 3600/h", METER_OUTPUT, 1, 60, FILL_CONTINUOUS, MINUTE, true},
    {"total: {limit: 6/s}", METER_TOTAL, 6, 360, FILL_CONTINUOUS, MINUTE, true},
    {"total: {limit: 6/s, window: 10 s}", METER_TOTAL, 6, 60, FILL_CONTINUOUS, 10 * SIM_SECOND, true},
    {"total: {limit: 6/s, fill: window, window: 1 h}", METER_TOTAL, 6, 21600, FILL_WINDOW, 60 * MINUTE, true},
    {"total: {limit: 6/s, fill: window, counts: after}", METER_TOTAL, 6, 360, FILL_WINDOW, MINUTE, false},
    {"total: {limit: 6/s, counts: after, settle: false}", METER_TOTAL, 6, 360, FILL_CONTINUOUS, MINUTE, false},
    {"requests: {limit: 10k/d, fill: step, window: 1 d}", METER_REQUESTS, 1e4 / 86400, 1e4, FILL_STEP, 24 * 60 * MINUTE,
     false},
    {"requests: {limit: 60/min, fill: sub(1 s)}", METER_REQUESTS, 1, 1, FILL_SUB, SIM_SECOND, false},
    {"requests: {limit: 1440/min, fill: sub(10 s)}", METER_REQUESTS, 24, 240, FILL_SUB, 10 * SIM_SECOND, false},
    {"requests: {limit: 50/min, burst: 1}", METER_REQUESTS, 50 / 60.0, 1, FILL_CONTINUOUS, MINUTE, false},
    {"in_flight: 8", METER_IN_FLIGHT, 8, 0, FILL_CONTINUOUS, 0, false},
    {"in_flight: {limit: 8 requests}", METER_IN_FLIGHT, 8, 0, FILL_CONTINUOUS, 0, false},
    {"tokens_in_flight: 1M tokens", METER_TOKENS_IN_FLIGHT, 1e6, 0, FILL_CONTINUOUS, 0, false},
};

START_TEST(a_meter)
{
    const struct meter_spec *meter = read_meter(meters[_i].text);
    ck_assert_int_eq(meter->kind, meters[_i].kind);
    expect_near(meter->limit.values[0], meters[_i].limit);
    expect_near(meter->burst, meters[_i].burst);
    ck_assert_int_eq(meter->fill, meters[_i].fill);
    ck_assert_int_eq(meter->window, meters[_i].window);
    ck_assert_int_eq(meter->settle, meters[_i].settle);
}
END_TEST

static void expect_values(const struct limit_spec *limit, enum limit_law law, const double *values, size_t count)
{
    ck_assert_int_eq(limit->law, law);
    ck_assert_uint_eq(limit->count, count);
    for (size_t i = 0; i < count; i++)
        expect_near(limit->values[i], values[i]);
}

START_TEST(limits_that_move)
{
    const struct meter_spec *meter =
        read_meter("requests: {moves: steps(0 s 60/min 10 min 30/min 0.5 h 0/min 3601 s 90/min)}");
    static const sim_time times[] = {0, 10 * MINUTE, 30 * MINUTE, 3601 * SIM_SECOND};
    expect_values(&meter->limit, LIMIT_STEPS, (const double[]){1, 0.5, 0, 1.5}, 4);
    ck_assert_mem_eq(meter->limit.times, times, sizeof times);
    expect_near(meter->burst, 60); /* of its first value */

    meter = read_meter("requests: {moves: two_level(50/min 40/min every 30 s), window: 30 s}");
    expect_values(&meter->limit, LIMIT_TWO_LEVEL, (const double[]){50 / 60.0, 40 / 60.0}, 2);
    ck_assert_double_eq(meter->limit.dwell, 30);
    expect_near(meter->burst, 25);
    ck_assert_ptr_null(meter->limit.times);

    meter = read_meter("total: {moves: walk(60k tokens/min least 30k/min most 120k/min step 6k/min every 15 s)}");
    expect_values(&meter->limit, LIMIT_WALK, (const double[]){1000, 500, 2000}, 3);
    expect_near(meter->limit.step, 100);
    ck_assert_int_eq(meter->limit.every, 15 * SIM_SECOND);

    /* The names may come in any order. */
    meter = read_meter("in_flight: {moves: walk(6 every 2 s step 1 most 8 least 4)}");
    expect_values(&meter->limit, LIMIT_WALK, (const double[]){6, 4, 8}, 3);
    ck_assert_double_eq(meter->limit.step, 1);
    ck_assert_int_eq(meter->limit.every, 2 * SIM_SECOND);

    plan_file_write(&file, "d.csv", "hour,rate\n0,60\n6,120\n12,0\n18,30\n");
    meter = read_meter("input: {moves: day(d.csv rate)}");
    expect_values(&meter->limit, LIMIT_DAY, (const double[]){1, 2, 0, 0.5}, 4); /* amounts a minute */
    expect_near(meter->burst, 60);
    meter = read_meter("tokens_in_flight: {moves: day(d.csv rate)}");
    expect_values(&meter->limit, LIMIT_DAY, (const double[]){60, 120, 0, 30}, 4); /* amounts */

    meter = read_meter("requests: {moves: steps(0 s 0/min 10 min 30/min), burst: 5}");
    expect_values(&meter->limit, LIMIT_STEPS, (const double[]){0, 0.5}, 2);
    ck_assert_double_eq(meter->burst, 5);
    /* Room for a request at its best is enough. */
    read_meter("requests: {moves: steps(0 s 1/min 10 min 60/min), fill: sub(1 s)}");
}
END_TEST

START_TEST(retry_after)
{
    static const struct {
        const char *text;
        enum retry_after_law law;
        sim_time constant;
    } laws[] = {{"exact", RETRY_EXACT, 0},
                {"rounded", RETRY_ROUNDED, 0},
                {"none", RETRY_NONE, 0},
                {"constant(250 ms)", RETRY_CONSTANT, SIM_SECOND / 4}};
    for (size_t i = 0; i < sizeof laws / sizeof *laws; i++) {
        const struct provider_spec *spec =
            read_pool(arena_format(&file.arena, "latency: {base: 1 s}, retry_after: %s", laws[i].text));
        ck_assert_int_eq(spec->retry_after, laws[i].law);
        ck_assert_int_eq(spec->retry_after_constant, laws[i].constant);
    }
}
END_TEST

static const char with_keys[] = "study: {horizon: 100 s}\n"
                                "backends:\n"
                                "  key2: {kind: alias, of: pool}\n"
                                "  card: {kind: slots, servers: 2, rate: 9 tokens/s}\n"
                                "  pool: {kind: provider, meters: {requests: 50/min}, latency: {base: 1 s}}\n"
                                "  key3: {kind: alias, of: pool}\n"
                                "prices:\n"
                                "  pool: {input: 3, output: 15, request: 0.01, hour: 2}\n"
                                "  key3: {input: 4, cached: 0.5}\n"
                                "agents: {coder: {population: 4, think: 1 s, output: 120, backend: key2}}\n";

static void expect_prices(const struct backend *backend, bool given, const double expected[5])
{
    const struct prices *prices = &backend->prices;
    ck_assert_int_eq(prices->given, given);
    ck_assert_double_eq(prices->input, expected[0]);
    ck_assert_double_eq(prices->cached, expected[1]);
    ck_assert_double_eq(prices->output, expected[2]);
    ck_assert_double_eq(prices->request, expected[3]);
    ck_assert_double_eq(prices->hour, expected[4]);
}

START_TEST(aliases_and_prices)
{
    const struct scenario *scenario = read_text(with_keys);
    const struct backend *backends = scenario->backends;
    ck_assert_uint_eq(scenario->backend_count, 4);
    static const uint32_t pools[] = {2, 1, 2, 2};
    for (size_t i = 0; i < 4; i++) {
        ck_assert_uint_eq(backends[i].pool, pools[i]);
        ck_assert_int_eq(backends[i].kind, i == 1 ? BACKEND_SLOTS : BACKEND_PROVIDER);
        ck_assert_ptr_eq(backends[i].provider, i == 1 ? NULL : backends[2].provider);
    }
    ck_assert_ptr_nonnull(backends[2].provider);
    expect_prices(&backends[2], true, (const double[]){3, 3, 15, 0.01, 2}); /* cached as input */
    expect_prices(&backends[0], true, (const double[]){3, 3, 15, 0.01, 0}); /* its pool's, but for the hour */
    expect_prices(&backends[3], true, (const double[]){4, 0.5, 0, 0, 0});   /* its own */
    expect_prices(&backends[1], false, (const double[]){0, 0, 0, 0, 0});
}
END_TEST

/* To theory a provider has servers without end; what its meters let through is another matter. */
START_TEST(demand_of_a_provider)
{
    const struct scenario *scenario = read_text(pool_of(
        "latency: {base: 2 s, per_input: 1 ms, per_cached: 100 us, per_output: 10 ms, noise: uniform(0.5 1.5)}"));
    struct demand demand = demand_of(scenario, 0);
    ck_assert(isinf(demand.servers) && isinf(demand.capacity) && isinf(demand_knee(&demand)));
    ck_assert(isnan(demand.service_cv) && !demand.exponential_service && !demand.constant_service && !demand.fixed);
    expect_near(demand.service, 2 + 120 * 0.01);
    expect_near(demand.service_least, 3.2);
    expect_near(demand_throughput_bound(&demand), 4 / (3.2 + 1));
    ck_assert_double_eq(demand_wait_bound(&demand), 0);

    /* Input, by hand: 11 turns from 1,000 tokens on, 100 more each: 1,500 on average. */
    const struct dist start = {.kind = DIST_CONSTANT, .a = 1000, .most = INFINITY};
    const struct dist step = {.kind = DIST_CONSTANT, .a = 100, .most = INFINITY};
    const struct dist turns = {.kind = DIST_CONSTANT, .a = 11, .most = INFINITY};
    struct input_spec input = {.start = &start, .per_turn = &step, .most = INFINITY, .cached_share = 0.8};
    struct agent_class class = scenario->classes[0];
    struct scenario own = *scenario;
    own.classes = &class;
    class.input = &input;
    class.turns = &turns;
    expect_near(demand_of(&own, 0).service, 3.2 + 1500 * (0.2 * 1e-3 + 0.8 * 1e-4));
    expect_near(demand_of(&own, 0).service_least, 3.2);
    /* What the call before sent is cached: of all but the first turn all but 100. */
    input.cached_previous = true;
    double uncached = (1000 + 10 * 100) / 11.0;
    expect_near(demand_of(&own, 0).service, 3.2 + uncached * 1e-3 + (1500 - uncached) * 1e-4);
    /* Cut at 1,500: 1000, 1100, ..., 1400, then 1500 six times. */
    input.cached_previous = false;
    input.most = 1500;
    expect_near(demand_of(&own, 0).service, 3.2 + (6000 + 6 * 1500) / 11.0 * (0.2 * 1e-3 + 0.8 * 1e-4));
    class.turns = NULL; /* endless */
    expect_near(demand_of(&own, 0).service, 3.2 + 1500 * (0.2 * 1e-3 + 0.8 * 1e-4));
    input.per_turn = NULL;
    expect_near(demand_of(&own, 0).service, 3.2 + 1000 * (0.2 * 1e-3 + 0.8 * 1e-4));
    class.max_tokens = 60;
    expect_near(demand_of(&own, 0).service_least, 2.6);
}
END_TEST

Suite *provider_plan_suite(void)
{
    Suite *suite = suite_create("provider_plan");
    TCase *tcase = tcase_create("provider_plan");
    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, everything_as_written);
    tcase_add_test(tcase, defaults);
    tcase_add_loop_test(tcase, a_meter, 0, COUNT_OF(meters));
    tcase_add_test(tcase, limits_that_move);
    tcase_add_test(tcase, retry_after);
    tcase_add_test(tcase, aliases_and_prices);
    tcase_add_test(tcase, demand_of_a_provider);
    suite_add_tcase(suite, tcase);
    return suite;
}
