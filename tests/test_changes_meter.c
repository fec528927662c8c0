/* test_changes_meter.c - a limit and a burst that are changed: by hand to the nanosecond, and beside `steps`, which is
 * the same function written beforehand. */
#include <check.h>
#include <math.h>
#include <string.h>

#include "models/meter.h"
#include "tests/provider_pool.h"
#include "tests/suites.h"

#define S SIM_SECOND
#define MICRO INT64_C(1000000)
#define UNITS(amount) ((sim_sum)((amount)*MICRO) * METER_DAY)

static const struct stream_key key = {11, 3};

static struct meter meter_of(const struct meter_spec *spec)
{
    struct meter meter;

    meter_init(&meter, spec, key, 5);
    return meter;
}

static bool takes(struct meter *meter, sim_time at, int64_t micro)
{
    bool fits = meter_fits(meter, at, micro);

    if (fits)
        meter_take(meter, at, micro);
    return fits;
}

/* 60 a minute, a bucket of 3, empty from 0 on; at 10.5 s 0.5 are left over from 10 s, and the limit becomes 30 a
 * minute: the next call fits a whole second later, to the ns, and those behind it every 2 s. */
START_TEST(continuous)
{
    const struct meter_spec spec = {.kind = METER_REQUESTS, .limit = LIMIT_OF(1), .burst = 3};
    struct meter meter = meter_of(&spec);

    for (int i = 0; i < 3; i++)
        ck_assert(takes(&meter, 0, MICRO));
    for (int i = 1; i <= 10; i++) {
        ck_assert(!meter_fits(&meter, i * S - 1, MICRO));
        ck_assert(takes(&meter, i * S, MICRO));
    }
    meter_set_limit(&meter, 10 * S + S / 2, 0.5);
    ck_assert_int_eq(meter_until(&meter, 10 * S + S / 2, MICRO), S);
    ck_assert(!meter_fits(&meter, 11 * S + S / 2 - 1, MICRO));
    ck_assert(takes(&meter, 11 * S + S / 2, MICRO));
    ck_assert(!meter_fits(&meter, 13 * S + S / 2 - 1, MICRO));
    ck_assert(takes(&meter, 13 * S + S / 2, MICRO));
    ck_assert(meter.taken == 15 * MICRO);
    /* offered: 10.5 at the old limit, 1.5 at the new one */
    ck_assert(meter.offered == UNITS(12));
    meter_set_limit(&meter, 13 * S + S / 2, 4);
    ck_assert_int_eq(meter_until(&meter, 13 * S + S / 2, MICRO), S / 4);
}
END_TEST

/* Windows of a minute: a change inside one is of the next; one at its very begin is of it. */
START_TEST(window)
{
    const struct meter_spec spec = {
        .kind = METER_REQUESTS, .limit = LIMIT_OF(0.05), .fill = FILL_WINDOW, .window = 60 * S};
    struct meter meter = meter_of(&spec);

    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(takes(&meter, 30 * S, MICRO), true);
    meter_set_limit(&meter, 59 * S, 0.1);
    ck_assert(!takes(&meter, 60 * S - 1, MICRO));
    for (int i = 0; i < 6; i++)
        ck_assert(takes(&meter, 60 * S, MICRO));
    ck_assert(!takes(&meter, 120 * S - 1, MICRO));
    meter_set_limit(&meter, 120 * S, 1.0 / 60);
    ck_assert(takes(&meter, 120 * S, MICRO));
    ck_assert(!takes(&meter, 120 * S, MICRO));
    ck_assert(meter.offered == UNITS(3) - UNITS(1) / 20 + UNITS(6) + UNITS(1) / 10);
}
END_TEST

/* A step at the instant of the change gives by the new limit, the one before it by the old. */
START_TEST(step)
{
    const struct meter_spec spec = {
        .kind = METER_REQUESTS, .limit = LIMIT_OF(0.05), .burst = 10, .fill = FILL_STEP, .window = 60 * S};
    struct meter meter = meter_of(&spec);

    for (int i = 0; i < 10; i++)
        ck_assert(takes(&meter, S, MICRO));
    ck_assert(!meter_fits(&meter, 60 * S - 1, MICRO));
    meter_set_limit(&meter, 61 * S, 0.1);
    ck_assert(meter.left == UNITS(3));
    meter_set_limit(&meter, 120 * S, 1.0 / 60);
    ck_assert(meter.left == UNITS(3));
    meter_advance(&meter, 120 * S);
    ck_assert(meter.left == UNITS(4));
    meter_advance(&meter, 180 * S);
    ck_assert(meter.left == UNITS(5));
}
END_TEST

/* What is in flight goes on; nobody is let in until it is below the new limit. */
START_TEST(in_flight)
{
    const struct meter_spec spec = {.kind = METER_IN_FLIGHT, .limit = LIMIT_OF(3)};
    struct meter meter = meter_of(&spec);

    for (int i = 0; i < 3; i++)
        ck_assert(takes(&meter, 0, MICRO));
    meter_set_limit(&meter, 10 * S, 2);
    ck_assert_int_eq(meter.flying, 3 * MICRO);
    meter_settle(&meter, 11 * S, 0, MICRO, MICRO);
    ck_assert(!meter_fits(&meter, 11 * S, MICRO));
    meter_settle(&meter, 12 * S, 0, MICRO, MICRO);
    ck_assert(takes(&meter, 12 * S, MICRO));
    ck_assert(meter.offered == (sim_sum)MICRO * (30 + 4) * S);
    ck_assert(meter.taken == (sim_sum)MICRO * (33 + 2) * S);
}
END_TEST

/* A smaller burst takes away what is above it, a larger one gives nothing but room; at t = 0 the bucket is full. */
START_TEST(burst)
{
    const struct meter_spec spec = {.kind = METER_REQUESTS, .limit = LIMIT_OF(1), .burst = 10};
    struct meter meter = meter_of(&spec), early;

    meter_set_burst(&meter, 5 * S, 4);
    ck_assert(meter.left == UNITS(4));
    meter_set_burst(&meter, 6 * S, 6);
    ck_assert(meter.left == UNITS(4));
    meter_advance(&meter, 20 * S);
    ck_assert(meter.left == UNITS(6));
    ck_assert(meter.offered == UNITS(20));
    early = meter_of(&spec);
    meter_set_burst(&early, 0, 12);
    ck_assert(early.left == UNITS(12));
}
END_TEST

/* A burst that is set to what it is changes nothing, whatever the limit does meanwhile: the pieces that are over by
 * then are counted as such, also one that ends with the change. Nobody asks between the end of a piece and the change.
 */
START_TEST(burst_beside_steps)
{
    const sim_time times[] = {0, 10 * S, 30 * S, 43 * S}, changes[] = {13 * S, 30 * S, 47 * S, 60 * S};
    const double values[] = {10, 1, 5, 0.5};
    const struct meter_spec spec = {.kind = METER_REQUESTS,
                                    .limit = {.law = LIMIT_STEPS, .times = times, .values = values, .count = 4},
                                    .burst = 40,
                                    .fill = _i ? FILL_STEP : FILL_CONTINUOUS,
                                    .window = _i ? 3 * S : 0};
    struct meter plain = meter_of(&spec), changed = meter_of(&spec);
    size_t next = 0;

    for (sim_time now = 0; now < 90 * S; now += S) {
        if (next < 4 && changes[next] == now) {
            meter_set_burst(&changed, now, 40);
            next++;
        }
        if (now % (7 * S) != 0)
            continue;
        ck_assert_int_eq(takes(&changed, now, 30 * MICRO), takes(&plain, now, 30 * MICRO));
        ck_assert(changed.left == plain.left && changed.offered == plain.offered && changed.taken == plain.taken);
    }
    ck_assert_uint_eq(next, 4);
    ck_assert(plain.offered == UNITS(10 * 10 + 20 + 13 * 5) + (sim_sum)41 * UNITS(1) / 2);
}
END_TEST

/* --- beside steps ------------------------------------------------------------------------------------------------- */

static const struct {
    enum meter_kind kind;
    enum meter_fill fill;
    sim_time window;
} shapes[] = {
    {METER_INPUT, FILL_CONTINUOUS, 0}, {METER_INPUT, FILL_WINDOW, 60 * S},           {METER_INPUT, FILL_STEP, 60 * S},
    {METER_INPUT, FILL_SUB, S + 7},    {METER_TOKENS_IN_FLIGHT, FILL_CONTINUOUS, 0},
};

/* Calls of all sizes come at all times, more often just where the limit changes; the two meters say the same of each,
 * and are the same to the last unit. */
START_TEST(a_change_is_a_step)
{
    const sim_time times[] = {0, 10 * S, 60 * S, 60 * S + 1, 119 * S};
    const double values[] = {100.0 / 3, 20, 90, 1e-2, 55.5};
    const struct meter_spec moves = {.kind = shapes[_i].kind,
                                     .limit = {.law = LIMIT_STEPS, .times = times, .values = values, .count = 5},
                                     .burst = 1500,
                                     .fill = shapes[_i].fill,
                                     .window = shapes[_i].window,
                                     .settle = true,
                                     .cached_weight = 1};
    struct meter_spec constant = moves;
    struct meter one, other;
    struct stream stream = stream_open(key, (struct stream_address){.purpose = 77});
    sim_time now = 0;
    size_t next = 1;

    constant.limit = (struct limit_spec)LIMIT_OF(7);
    constant.limit.values = &(const double){7};
    one = meter_of(&moves);
    other = meter_of(&constant);
    meter_set_limit(&other, 0, values[0]);
    for (int i = 0; i < 4000; i++) {
        int64_t micro = (int64_t)(stream_uniform(&stream) * 900) * MICRO;
        bool fits;

        now = i % 400 == 399 && next < 5 ? times[next] - 1 + (sim_time)(3 * stream_uniform(&stream))
                                         : now + (sim_time)(stream_uniform(&stream) * 0.08 * S);
        for (; next < 5 && times[next] <= now; next++)
            meter_set_limit(&other, times[next], values[next]);
        fits = meter_fits(&one, now, micro);
        ck_assert_int_eq(meter_fits(&other, now, micro), fits);
        ck_assert_int_eq(meter_until(&one, now, micro), meter_until(&other, now, micro));
        if (fits) {
            meter_take(&one, now, micro);
            meter_take(&other, now, micro);
        }
        if (fits && i % 3) {
            meter_settle(&one, now, now, micro, micro / 2);
            meter_settle(&other, now, now, micro, micro / 2);
        }
        ck_assert(one.left == other.left && one.taken == other.taken && one.offered == other.offered);
        ck_assert(one.flying == other.flying);
    }
    ck_assert_uint_eq(next, 5);
    ck_assert(one.taken > 0);
}
END_TEST

/* --- the pool ----------------------------------------------------------------------------------------------------- */

static const struct meter_call call = {.input = 100, .output = 10, .max_tokens = INFINITY};

/* A drop opens an episode of recovery, which a rise does not. */
START_TEST(recovery_from_a_change)
{
    const struct provider_spec spec = {
        .meters = (const struct meter_spec[]){{.kind = METER_REQUESTS, .limit = LIMIT_OF(1), .burst = 3}},
        .meter_count = 1};
    struct pool pool;

    pool_begin(&pool, &spec, 7);
    for (int i = 0; i < 3; i++)
        ck_assert(pool_asks(&pool, 0, i, call));
    pool_until(&pool, 10 * S);
    provider_set_limit(pool.provider, 0, 2);
    ck_assert(pool_asks(&pool, 10 * S, 3, call));
    pool_until(&pool, 20 * S);
    provider_set_limit(pool.provider, 0, 1e-3);
    for (int i = 4; i < 7; i++)
        ck_assert(pool_asks(&pool, 21 * S, i, call));
    ck_assert(!pool_asks(&pool, 25 * S, 7, call));
    pool_until(&pool, 100 * S);
    ck_assert_uint_eq(provider_recovery(pool.provider)->count, 1);
    ck_assert_double_eq(tally_mean_seconds(provider_recovery(pool.provider)), 5);
    pool_end(&pool);
}
END_TEST

/* Strangers: the gap that is under way is stretched by the ratio of the rates, and those behind it are drawn anew. */
START_TEST(strangers)
{
    const struct dist tokens = {.kind = DIST_CONSTANT, .a = 10, .most = INFINITY};
    const struct provider_spec spec = {.latency = {.base = 1},
                                       .strangers = {.rate = 1, .input = &tokens, .output = &tokens}};
    struct pool plain, changed;
    sim_time next;

    pool_begin(&plain, &spec, 7);
    pool_begin(&changed, &spec, 7);
    pool_until(&plain, 50 * S);
    pool_until(&changed, 50 * S);
    provider_set_strangers(changed.provider, 1);
    provider_set_strangers(changed.provider, 0.25);
    for (next = 50 * S;
         provider_counts(plain.provider)->strangers_asked == provider_counts(changed.provider)->strangers_asked;
         next += S / 1000)
        pool_until(&plain, next);
    /* Its next one comes four times as late, counted from 50 s, to the ms that was looked at. */
    pool_until(&changed, 50 * S + 4 * (next - 50 * S - 2 * S / 1000));
    ck_assert_uint_lt(provider_counts(changed.provider)->strangers_asked,
                      provider_counts(plain.provider)->strangers_asked);
    pool_until(&changed, 50 * S + 4 * (next - 50 * S) + S / 1000);
    ck_assert_uint_eq(provider_counts(changed.provider)->strangers_asked,
                      provider_counts(plain.provider)->strangers_asked);
    pool_end(&plain);
    pool_end(&changed);
}
END_TEST

Suite *changes_meter_suite(void)
{
    Suite *suite = suite_create("changes_meter");
    TCase *tests = tcase_create("changes_meter");

    tcase_add_test(tests, continuous);
    tcase_add_test(tests, window);
    tcase_add_test(tests, step);
    tcase_add_test(tests, in_flight);
    tcase_add_test(tests, burst);
    tcase_add_loop_test(tests, burst_beside_steps, 0, 2);
    tcase_add_loop_test(tests, a_change_is_a_step, 0, sizeof shapes / sizeof *shapes);
    tcase_add_test(tests, recovery_from_a_change);
    tcase_add_test(tests, strangers);
    suite_add_tcase(suite, tests);
    return suite;
}
