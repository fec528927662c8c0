/* test_provider.c - the pool by hand: all meters or none, what it answers, and strangers. */
#include <check.h>
#include <math.h>

#include "tests/goodness.h"
#include "tests/provider_pool.h"
#include "tests/suites.h"

#define S SIM_SECOND
#define MICRO INT64_C(1000000)

#define REFUSED(pool, why, after) \
    do { \
        ck_assert_str_eq((pool).refusal.reason, why); \
        ck_assert_int_eq((pool).refusal.retry_after, after); \
    } while (0)

/* --- admission ---------------------------------------------------------------------------------------------------- */

START_TEST(all_meters_or_none)
{
    const struct provider_spec spec = {.meters = POOL_METERS, .meter_count = 3};
    struct pool pool;
    struct meter *meters;

    pool_begin(&pool, &spec, 1);
    meters = provider_meters(pool.provider);
    ck_assert(pool_asks(&pool, 0, 0, (struct meter_call){.input = 800, .cached = 400}));
    ck_assert_int_eq(pool.tickets[0]->at, 0);
    ck_assert_int_eq(pool.tickets[0]->charges[0], MICRO);
    ck_assert_int_eq(pool.tickets[0]->charges[1], 600 * MICRO);
    ck_assert_int_eq(pool.tickets[0]->charges[2], MICRO);
    /* The second meter refuses: nobody is charged. */
    ck_assert(!pool_asks(&pool, 0, 1, (struct meter_call){.input = 401}));
    REFUSED(pool, "input", S / 100);
    ck_assert_double_eq(meter_left(&meters[0], 0), 2);
    ck_assert_double_eq(meter_left(&meters[1], 0), 400);
    ck_assert_double_eq(meter_left(&meters[2], 0), 1);
    ck_assert(pool_asks(&pool, S / 100, 1, (struct meter_call){.input = 401}));
    /* The third refuses, and cannot tell for how long; the second would for 8 s, too. */
    ck_assert(!pool_asks(&pool, S / 100, 2, (struct meter_call){.input = 0}));
    REFUSED(pool, "in_flight", -1);
    ck_assert(!pool_asks(&pool, S / 100, 2, (struct meter_call){.input = 800}));
    REFUSED(pool, "input", -1);
    ck_assert_double_eq_tol(meter_left(&meters[0], S / 100), 1.01, 1e-12);
    /* An answer gives back a place, and what was charged too much; the corrected level is 399.5 below the estimate's.
     */
    pool_answers(&pool, S, 0, (struct meter_call){.input = 801, .cached = 800});
    ck_assert_double_eq(meter_left(&meters[1], S), 0 + 99 + (600 - 401));
    ck_assert_double_eq(meter_left(&meters[2], S), 1);
    ck_assert(pool_asks(&pool, S, 2, (struct meter_call){.input = 0}));
    ck_assert_uint_eq(provider_counts(pool.provider)->asked, 6);
    ck_assert_uint_eq(provider_counts(pool.provider)->refused, 3);
    ck_assert_uint_eq(provider_counts(pool.provider)->strangers_asked, 0);
    pool_end(&pool);
}
END_TEST

/* The reason is the first meter that refuses, the time the longest that one of them needs: 1 s for the request, 6.5 s
 * for the tokens. */
START_TEST(what_a_refusal_says)
{
    static const struct {
        enum retry_after_law law;
        sim_time after;
    } cases[] = {{RETRY_EXACT, 13 * S / 2}, {RETRY_ROUNDED, 7 * S}, {RETRY_NONE, -1}, {RETRY_CONSTANT, 60 * S}};

    for (int i = 0; i < 4; i++) {
        const struct provider_spec spec = {
            .meters = POOL_METERS, .meter_count = 2, .retry_after = cases[i].law, .retry_after_constant = 60 * S};
        struct pool pool;

        pool_begin(&pool, &spec, 1);
        for (int n = 0; n < 3; n++)
            ck_assert(pool_asks(&pool, 0, n, (struct meter_call){.input = 300}));
        ck_assert(!pool_asks(&pool, 0, 3, (struct meter_call){.input = 750}));
        REFUSED(pool, "requests", cases[i].after);
        /* Whole seconds stay what they are. */
        ck_assert(!pool_asks(&pool, 0, 3, (struct meter_call){.input = 0}));
        REFUSED(pool, "requests", i == 2 ? -1 : i == 3 ? 60 * S : S);
        /* More than the bucket holds: never. */
        ck_assert(!pool_asks(&pool, 0, 3, (struct meter_call){.input = 1001}));
        REFUSED(pool, "requests", i == 3 ? 60 * S : -1);
        pool_end(&pool);
    }
}
END_TEST

/* Refused calls count for requests, not for tokens; what is told is true of the next try. */
START_TEST(refused_calls_that_count)
{
    const struct provider_spec spec = {
        .meters =
            (const struct meter_spec[]){
                {.kind = METER_REQUESTS, .limit = LIMIT_OF(1), .burst = 3, .refused_count = true},
                {.kind = METER_INPUT, .limit = LIMIT_OF(100), .burst = 1000}},
        .meter_count = 2};
    struct pool pool;

    pool_begin(&pool, &spec, 1);
    ck_assert(!pool_asks(&pool, 0, 0, (struct meter_call){.input = 1001}));
    ck_assert(pool_asks(&pool, 0, 0, (struct meter_call){.input = 1000}));
    ck_assert(!pool_asks(&pool, 0, 1, (struct meter_call){.input = 10})); /* the last request, for tokens that lack */
    REFUSED(pool, "input", S);
    ck_assert(!pool_asks(&pool, 0, 1, (struct meter_call){.input = 10}));
    REFUSED(pool, "requests", 2 * S);
    ck_assert(!pool_asks(&pool, S, 1, (struct meter_call){.input = 10}));
    REFUSED(pool, "requests", 2 * S);
    ck_assert(pool_asks(&pool, 3 * S, 1, (struct meter_call){.input = 10}));
    pool_end(&pool);
}
END_TEST

/* Windows of 10 s: a correction within the window of the admission counts, a later one does not. */
START_TEST(settled_in_the_window_of_the_admission)
{
    const struct provider_spec spec = {
        .meters =
            (const struct meter_spec[]){
                {.kind = METER_INPUT, .limit = LIMIT_OF(10), .fill = FILL_WINDOW, .window = 10 * S, .settle = true}},
        .meter_count = 1};
    struct pool pool;

    pool_begin(&pool, &spec, 1);
    ck_assert(pool_asks(&pool, 12 * S, 0, (struct meter_call){.input = 50}));
    ck_assert(pool_asks(&pool, 13 * S, 1, (struct meter_call){.input = 50}));
    pool_answers(&pool, 15 * S, 0, (struct meter_call){.input = 20});
    ck_assert_double_eq(meter_left(provider_meters(pool.provider), 15 * S), 30);
    pool_answers(&pool, 21 * S, 1, (struct meter_call){.input = 20});
    ck_assert_double_eq(meter_left(provider_meters(pool.provider), 21 * S), 100);
    ck_assert(pool_asks(&pool, 21 * S, 1, (struct meter_call){.input = 50}));
    pool_answers(&pool, 31 * S, 1, (struct meter_call){.input = 90});
    ck_assert_double_eq(meter_left(provider_meters(pool.provider), 31 * S), 100);
    pool_end(&pool);
}
END_TEST

/* 2.3 s fresh, 13.1 s at 213k tokens; a cached token costs a tenth. */
START_TEST(latency_by_hand)
{
    const struct dist noise = {.kind = DIST_UNIFORM, .a = 0.5, .b = 1.5, .most = INFINITY};
    struct provider_spec spec = {
        .latency = {.base = 2.25, .per_input = 0.00005, .per_cached = 0.000005, .per_output = 0.00625}};
    const struct meter_call call = {.input = 200000, .cached = 100000, .output = 160};
    struct stream stream = stream_open((struct stream_key){1, 1}, (struct stream_address){.purpose = 1}), same = stream;
    sim_time plain = provider_latency(&spec, &call, &stream);

    ck_assert_int_eq(plain, (2250 + 5000 + 500 + 1000) * MICRO);
    ck_assert_uint_eq(stream_next(&stream), stream_next(&same)); /* no noise, no draw */
    spec.latency.noise = &noise;
    ck_assert_int_eq(provider_latency(&spec, &call, &stream), sim_from_seconds(8.75 * dist_draw(&noise, &same)));
}
END_TEST

/* A pool whose limits differ from another's by a meter in front has the same numbers for the others. */
START_TEST(numbers_are_the_meters_own)
{
    const struct limit_spec walk = {
        .law = LIMIT_WALK, .values = (const double[]){5, 1, 9}, .count = 3, .step = 2, .every = S};
    const struct meter_spec meters[] = {{.kind = METER_REQUESTS, .limit = walk, .burst = 1},
                                        {.kind = METER_INPUT, .limit = walk, .burst = 1},
                                        {.kind = METER_INPUT, .limit = walk, .burst = 1}};
    const struct provider_spec all = {.meters = meters, .meter_count = 3},
                               last = {.meters = meters + 1, .meter_count = 2};
    struct pool pools[3];
    double limits[3][3];

    pool_begin(&pools[0], &all, 1);
    pool_begin(&pools[1], &last, 1);
    pool_begin(&pools[2], &all, 2);
    for (int i = 0; i < 3; i++) {
        for (int m = 0; m < (i == 1 ? 2 : 3); m++)
            limits[i][m] = meter_limit(&provider_meters(pools[i].provider)[m], 10 * S);
        pool_end(&pools[i]);
    }
    ck_assert_double_eq(limits[0][1], limits[1][0]);
    ck_assert_double_eq(limits[0][2], limits[1][1]);
    ck_assert_double_ne(limits[0][0], limits[0][1]);
    ck_assert_double_ne(limits[0][1], limits[0][2]);
    ck_assert_double_ne(limits[0][1], limits[2][1]);
}
END_TEST

/* --- strangers ---------------------------------------------------------------------------------------------------- */

static const struct dist thousand = {.kind = DIST_CONSTANT, .a = 1000.4, .most = INFINITY};
static const struct dist hundred = {.kind = DIST_CONSTANT, .a = 100, .most = INFINITY};

/* Two a second for 20,000 s fly for 5 s each: Poisson, ten in flight on average, and all are charged. */
START_TEST(strangers_take_from_the_meters)
{
    const struct provider_spec spec = {
        .meters =
            (const struct meter_spec[]){
                {.kind = METER_TOTAL, .limit = LIMIT_OF(1e6), .burst = 1e6, .cached_weight = 0.5},
                {.kind = METER_IN_FLIGHT, .limit = LIMIT_OF(1000)}},
        .meter_count = 2,
        .latency = {.base = 4, .per_output = 0.01},
        .strangers = {.rate = 2, .input = &thousand, .output = &hundred, .cached = 0.2}};
    const struct provider_counts *counts;
    double taken, offered, flying;
    const void *blocks;
    struct pool pool;

    pool_begin(&pool, &spec, 1);
    counts = provider_counts(pool.provider);
    pool_until(&pool, 1000 * S);
    blocks = pool.arena.blocks;
    provider_window(pool.provider);
    pool_until(&pool, 21000 * S);
    ck_assert_ptr_eq(pool.arena.blocks, blocks); /* nothing of 40,000 records stays */
    goodness_assert_count(counts->strangers_asked, 42000 * 1000, 1e-3, "strangers");
    ck_assert_uint_eq(counts->strangers_refused, 0);
    ck_assert_uint_eq(counts->asked + counts->refused, 0);
    provider_use(pool.provider, 1, &flying, &offered);
    ck_assert_double_eq(offered, 1000);
    ck_assert_double_eq_tol(flying, 10, 4 * sqrt(2 * 10 * 5 / 20000.0)); /* M/G/infinity with constant services */
    provider_use(pool.provider, 0, &taken, &offered);
    ck_assert_double_eq(fmod(taken, 1000), 0); /* 1000 - 200 + 0.5 x 200 + 100 each */
    ck_assert_double_eq_tol(taken / 1000, 40000, 4 * sqrt(40000));
    ck_assert_double_eq(offered, 1e6 * 20000);
    pool_end(&pool);
}
END_TEST

/* 60 a minute in windows, and strangers twice as often: all windows are used up, half of the strangers refused, none of
 * them comes again; a caller gets what they leave, which is nothing at the end of a minute. */
START_TEST(strangers_are_refused)
{
    const struct provider_spec spec = {
        .meters =
            (const struct meter_spec[]){
                {.kind = METER_REQUESTS, .limit = LIMIT_OF(1), .fill = FILL_WINDOW, .window = 60 * S}},
        .meter_count = 1,
        .latency = {.base = 1},
        .strangers = {.rate = 2}};
    const struct provider_counts *counts;
    const void *blocks;
    struct pool pool;

    pool_begin(&pool, &spec, 1);
    counts = provider_counts(pool.provider);
    pool_until(&pool, 1000 * S);
    blocks = pool.arena.blocks;
    pool_until(&pool, 60000 * S - 1);
    ck_assert_ptr_eq(pool.arena.blocks, blocks);
    ck_assert_uint_eq(counts->strangers_asked - counts->strangers_refused, 60000);
    goodness_assert_count(counts->strangers_asked, 120000 * 1000, 1e-3, "strangers");
    ck_assert(!pool_asks(&pool, 60000 * S - 1, 0, (struct meter_call){0}));
    ck_assert_uint_eq(counts->refused, 1);
    ck_assert(pool_asks(&pool, 60000 * S, 0, (struct meter_call){0}));
    pool_end(&pool);
}
END_TEST

Suite *provider_suite(void)
{
    Suite *suite = suite_create("provider");
    TCase *tests = tcase_create("provider");

    tcase_add_test(tests, all_meters_or_none);
    tcase_add_test(tests, what_a_refusal_says);
    tcase_add_test(tests, refused_calls_that_count);
    tcase_add_test(tests, settled_in_the_window_of_the_admission);
    tcase_add_test(tests, latency_by_hand);
    tcase_add_test(tests, numbers_are_the_meters_own);
    tcase_add_test(tests, strangers_take_from_the_meters);
    tcase_add_test(tests, strangers_are_refused);
    suite_add_tcase(suite, tests);
    return suite;
}
