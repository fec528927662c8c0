/* test_provider_use.c - what is measured of a pool: how long refusals follow a drop of a limit, and what was used. */
#include <check.h>
#include <math.h>

#include "tests/provider_pool.h"
#include "tests/suites.h"

#define S SIM_SECOND

/* --- recovery ----------------------------------------------------------------------------------------------------- */

#define STEPS(n, ...) \
    { \
        .law = LIMIT_STEPS, .count = n, __VA_ARGS__ \
    }

static void expect_recovery(struct pool *pool, sim_time at, uint64_t count, sim_time sum)
{
    const struct tally *tally;

    pool_until(pool, at);
    tally = provider_recovery(pool->provider);
    ck_assert_uint_eq(tally->count, count);
    ck_assert(tally->sum == sum);
}

/* The pool refuses what is oversize and nothing else; its limits fall at 100, 130 and 1000 s (one meter), at 120,
 * 400 and 1200 s (another). */
START_TEST(recovery_by_hand)
{
    const struct provider_spec spec = {
        .meters =
            (const struct meter_spec[]){
                {.kind = METER_INPUT,
                 .burst = 10,
                 .limit = STEPS(6, .times = (const sim_time[]){0, 100 * S, 110 * S, 130 * S, 1000 * S, 1500 * S},
                                .values = (const double[]){4, 3, 5, 4, 3, 3})},
                {.kind = METER_IN_FLIGHT,
                 .limit = STEPS(4, .times = (const sim_time[]){0, 120 * S, 400 * S, 1200 * S},
                                .values = (const double[]){9000, 8000, 7000, 6000})}},
        .meter_count = 2};
    const struct meter_call oversize = {.input = 11};
    const sim_time refusals[] = {50, 101, 150, 209, 270, 460, 1000, 1059, 1230};
    struct pool pool;
    size_t next = 0;

    pool_begin(&pool, &spec, 1);
#define REFUSE_UNTIL(second) \
    while (next < sizeof refusals / sizeof *refusals && refusals[next] <= (second)) \
    ck_assert(!pool_asks(&pool, refusals[next++] * S, 0, oversize))
    expect_recovery(&pool, 49 * S, 0, 0);
    REFUSE_UNTIL(209); /* the one before the drop begins nothing; 209 is 59 s after the last one */
    meter_limit(&provider_meters(pool.provider)[0], 209 * S); /* whoever looks */
    expect_recovery(&pool, 269 * S - 1, 0, 0);
    expect_recovery(&pool, 269 * S, 1, 109 * S);
    REFUSE_UNTIL(270);
    expect_recovery(&pool, 459 * S, 1, 109 * S);
    expect_recovery(&pool, 460 * S, 2, 109 * S); /* 400: a minute without */
    REFUSE_UNTIL(1059);
    expect_recovery(&pool, 1100 * S, 2, 109 * S);
    provider_window(pool.provider); /* what is open counts when it is over */
    expect_recovery(&pool, 1100 * S, 0, 0);
    expect_recovery(&pool, 1119 * S, 1, 59 * S);
    REFUSE_UNTIL(1230);
    expect_recovery(&pool, 1289 * S, 1, 59 * S);
    /* over before the window, though nobody looked */
    pool_until(&pool, 1290 * S);
    provider_window(pool.provider);
    expect_recovery(&pool, 2000 * S, 0, 0);
    pool_end(&pool);
}
END_TEST

/* Nobody looks before the refusal at 155 s: the drop at 100 s, of the second meter, was the first. */
START_TEST(drops_in_their_order)
{
    const struct provider_spec spec = {
        .meters =
            (const struct meter_spec[]){
                {.kind = METER_INPUT,
                 .burst = 10,
                 .limit = STEPS(2, .times = (const sim_time[]){0, 150 * S}, .values = (const double[]){4, 3})},
                {.kind = METER_OUTPUT,
                 .burst = 10,
                 .limit = STEPS(2, .times = (const sim_time[]){0, 100 * S}, .values = (const double[]){4, 3})}},
        .meter_count = 2};
    struct pool pool;

    pool_begin(&pool, &spec, 1);
    ck_assert(!pool_asks(&pool, 155 * S, 0, (struct meter_call){.input = 11}));
    expect_recovery(&pool, 300 * S, 1, 55 * S);
    pool_end(&pool);
}
END_TEST

static const struct dist twenty = {.kind = DIST_CONSTANT, .a = 20, .most = INFINITY};

/* A drop within the minute of another prolongs nothing: 0, 50 and a refusal at 70 are an episode without any.
 * Strangers' refusals are none. */
START_TEST(a_drop_prolongs_nothing)
{
    const struct provider_spec spec = {
        .meters = (const struct meter_spec[]){{.kind = METER_INPUT,
                                               .burst = 10,
                                               .limit = STEPS(3, .times = (const sim_time[]){0, 10 * S, 60 * S},
                                                              .values = (const double[]){4, 3, 2})}},
        .meter_count = 1,
        .strangers = {.rate = 10, .input = &twenty}};
    struct pool pool;

    pool_begin(&pool, &spec, 1);
    ck_assert(!pool_asks(&pool, 80 * S, 0, (struct meter_call){.input = 11}));
    expect_recovery(&pool, 500 * S, 1, 0);
    ck_assert_uint_eq(provider_counts(pool.provider)->strangers_asked,
                      provider_counts(pool.provider)->strangers_refused);
    ck_assert_uint_gt(provider_counts(pool.provider)->strangers_refused, 0);
    pool_end(&pool);
}
END_TEST

/* --- what was used ------------------------------------------------------------------------------------------------ */

START_TEST(use_in_a_window)
{
    const struct provider_spec spec = {.meters = POOL_METERS, .meter_count = 3};
    struct pool pool;
    double taken, offered;

    pool_begin(&pool, &spec, 1);
    provider_use(pool.provider, 2, &taken, &offered);
    ck_assert(isnan(taken) && isnan(offered));
    ck_assert(pool_asks(&pool, 0, 0, (struct meter_call){.input = 600}));
    provider_use(pool.provider, 1, &taken, &offered);
    ck_assert_double_eq(taken, 600);
    ck_assert_double_eq(offered, 0);
    pool_until(&pool, 10 * S);
    provider_window(pool.provider);
    ck_assert(pool_asks(&pool, 20 * S, 1, (struct meter_call){.input = 200}));
    pool_answers(&pool, 30 * S, 0, (struct meter_call){.input = 500}); /* 100 less than before the window */
    pool_until(&pool, 40 * S);
    provider_use(pool.provider, 0, &taken, &offered);
    ck_assert_double_eq(taken, 1);
    ck_assert_double_eq(offered, 30);
    provider_use(pool.provider, 1, &taken, &offered);
    ck_assert_double_eq(taken, 100);
    ck_assert_double_eq(offered, 3000);
    provider_use(pool.provider, 2, &taken, &offered);
    ck_assert_double_eq_tol(taken, (1 + 2 + 1) / 3.0, 1e-15);
    ck_assert_double_eq(offered, 2);
    pool_end(&pool);
}
END_TEST

Suite *provider_use_suite(void)
{
    Suite *suite = suite_create("provider_use");
    TCase *tests = tcase_create("provider_use");

    tcase_add_test(tests, recovery_by_hand);
    tcase_add_test(tests, drops_in_their_order);
    tcase_add_test(tests, a_drop_prolongs_nothing);
    tcase_add_test(tests, use_in_a_window);
    suite_add_tcase(suite, tests);
    return suite;
}
