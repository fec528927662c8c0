/* test_limit.c - limits that move: by hand at the edges of their pieces, against theory over a long time, and the same
 * function whenever somebody looks. */
#include <check.h>
#include <math.h>
#include <stdlib.h>

#include "models/meter.h"
#include "tests/goodness.h"
#include "tests/oracles.h"
#include "tests/suites.h"

#define S SIM_SECOND
#define DAY (86400 * S)
#define MICRO INT64_C(1000000)
/* Of a limit of 1 a minute. */
#define A_DAY (1440 * MICRO)
#define UNITS(amount) ((sim_sum)((amount)*MICRO) * METER_DAY)

static const struct stream_key key = {11, 3};

/* The value at a time, by going through the pieces from the first. */
static int64_t value_at(const struct limit_spec *spec, bool level, sim_time at)
{
    struct limit limit;

    limit_init(&limit, spec, level, key, 5);
    while (limit.ends <= at)
        limit_next(&limit);
    return limit.value;
}

/* --- by hand ------------------------------------------------------------------------------------------------------ */

/* Limits are amounts a second, kept as whole micro-units a day: 2M/min are exactly that, whatever a second's share.
 */
START_TEST(quantised_once)
{
    const double amounts[] = {50 / 60.0, 2e6 / 60, 4.9e6 / 60, 1.48, 1 / 180.0, 0, 1e30};
    const int64_t rates[] = {50 * A_DAY, 2000000 * A_DAY, 4900000 * A_DAY, 127872 * MICRO, 480 * MICRO, 0, METER_MOST};

    for (size_t i = 0; i < sizeof amounts / sizeof *amounts; i++) {
        struct limit_spec spec = {.law = LIMIT_CONSTANT, .values = &amounts[i], .count = 1};

        ck_assert_int_eq(value_at(&spec, false, 0), rates[i]);
        ck_assert_int_eq(value_at(&spec, false, SIM_NEVER - 1), rates[i]);
    }
    ck_assert_int_eq(
        value_at(&(struct limit_spec){.law = LIMIT_CONSTANT, .values = &(double){1.5}, .count = 1}, true, 7), 1500000);
    ck_assert_int_eq(meter_micro(0.4e-6), 0);
    ck_assert_int_eq(meter_micro(0.6e-6), 1);
    ck_assert_int_eq(meter_micro(-1), 0);
}
END_TEST

START_TEST(steps_at_their_edges)
{
    const struct limit_spec spec = {.law = LIMIT_STEPS,
                                    .times = (const sim_time[]){0, 600 * S, 600 * S + 1},
                                    .values = (const double[]){50 / 60.0, 30 / 60.0, 1},
                                    .count = 3};

    ck_assert_int_eq(value_at(&spec, false, 0), 50 * A_DAY);
    ck_assert_int_eq(value_at(&spec, false, 600 * S - 1), 50 * A_DAY);
    ck_assert_int_eq(value_at(&spec, false, 600 * S), 30 * A_DAY);
    ck_assert_int_eq(value_at(&spec, false, 600 * S + 1), 60 * A_DAY);
    ck_assert_int_eq(value_at(&spec, false, SIM_NEVER - 1), 60 * A_DAY);
}
END_TEST

START_TEST(a_day_at_its_edges)
{
    const struct limit_spec four = {
        .law = LIMIT_DAY, .values = (const double[]){1 / 60.0, 2 / 60.0, 3 / 60.0, 4 / 60.0}, .count = 4};
    const struct limit_spec eleven = {
        .law = LIMIT_DAY, .values = (const double[]){0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, .count = 11};

    for (int day = 0; day < 3; day++)
        for (int part = 0; part < 4; part++) {
            sim_time begins = day * DAY + part * 6 * 3600 * S;

            ck_assert_int_eq(value_at(&four, false, begins), (part + 1) * A_DAY);
            ck_assert_int_eq(value_at(&four, false, begins + 6 * 3600 * S - 1), (part + 1) * A_DAY);
        }
    /* Three elevenths of a day are 23563636363636.36 ns. */
    ck_assert_int_eq(value_at(&eleven, true, INT64_C(23563636363635)), 2 * MICRO);
    ck_assert_int_eq(value_at(&eleven, true, INT64_C(23563636363636)), 3 * MICRO);
    ck_assert_int_eq(value_at(&eleven, true, DAY - 1), 10 * MICRO);
    ck_assert_int_eq(value_at(&eleven, true, DAY), 0);
    ck_assert_int_eq(value_at(&eleven, true, 400 * DAY + INT64_C(23563636363635)), 2 * MICRO);
    ck_assert_int_eq(value_at(&eleven, true, 400 * DAY + INT64_C(23563636363636)), 3 * MICRO);
}
END_TEST

/* --- by theory ---------------------------------------------------------------------------------------------------- */

START_TEST(two_levels_dwell_exponentially)
{
    const struct limit_spec spec = {
        .law = LIMIT_TWO_LEVEL, .values = (const double[]){50 / 60.0, 40 / 60.0}, .count = 2, .dwell = 30};
    const int pieces = 40000;
    struct goodness goodness = {0};
    struct limit limit;
    sim_time from = 0;
    double level = 0;
    int wrong = 0;

    limit_init(&limit, &spec, false, key, 1);
    for (int i = 0; i < pieces; i++) {
        wrong += limit.value != (i % 2 ? 40 : 50) * A_DAY || limit.ends <= from;
        goodness_add(&goodness, 1 - exp(-sim_seconds(limit.ends - from) / 30));
        level += (double)limit.value / 1440e6 * sim_seconds(limit.ends - from);
        from = limit.ends;
        limit_next(&limit);
    }
    ck_assert_int_eq(wrong, 0);
    goodness_assert(&goodness, "dwell");
    /* The mean of n dwells has a standard error of 30 / sqrt(n); the share of the time spent at one level, of about
     * 1/2 / sqrt(n). */
    ck_assert_double_eq_tol(sim_seconds(from) / pieces, 30, 4 * 30 / sqrt(pieces));
    ck_assert_double_eq_tol(level / sim_seconds(from), 45, 4 * 10 * 0.5 / sqrt(pieces));
}
END_TEST

/* A walk that is turned back at its bounds spends its time uniformly between them, whatever its step: here a fraction
 * of their distance, and more than twice of it, when it is turned back several times. */
START_TEST(a_walk_stays_inside)
{
    const double steps[] = {20 / 60.0, 170 / 60.0};
    const struct limit_spec spec = {.law = LIMIT_WALK,
                                    .values = (const double[]){40 / 60.0, 20 / 60.0, 80 / 60.0},
                                    .count = 3,
                                    .step = steps[_i],
                                    .every = 10 * S};
    const int apart = 40, samples = 20000; /* by 40 moves it has forgotten where it was */
    struct goodness goodness = {0};
    struct limit limit;
    int64_t before = 40 * A_DAY;
    double sum = 0;
    int wrong = 0;

    limit_init(&limit, &spec, false, key, 1);
    ck_assert_int_eq(limit.value, 40 * A_DAY);
    ck_assert_int_eq(limit.ends, 10 * S);
    for (int i = 1; i <= apart * samples; i++) {
        limit_next(&limit);
        wrong += limit.ends != (i + 1) * 10 * S || limit.value < 20 * A_DAY || limit.value > 80 * A_DAY;
        wrong += llabs(limit.value - before) > (int64_t)(steps[_i] * 86400e6 + 0.5);
        before = limit.value;
        if (i % apart)
            continue;
        goodness_add(&goodness, (double)(limit.value - 20 * A_DAY) / (60 * A_DAY));
        sum += (double)limit.value / 1440e6;
    }
    ck_assert_int_eq(wrong, 0);
    goodness_assert(&goodness, "walk");
    ck_assert_double_eq_tol(sum / samples, 50, 4 * 60 / sqrt(12.0 * samples));
}
END_TEST

/* Moves are uniform: far from the bounds they can be read off. */
START_TEST(a_walk_moves_uniformly)
{
    const struct limit_spec spec = {
        .law = LIMIT_WALK, .values = (const double[]){1e6, 0, 2e6}, .count = 3, .step = 1, .every = 1};
    struct goodness goodness = {0};
    struct limit limit;

    limit_init(&limit, &spec, true, key, 1);
    for (int i = 0; i < 200000; i++) {
        int64_t before = limit.value;

        limit_next(&limit);
        goodness_add(&goodness, ((double)(limit.value - before) / 1e6 + 1) / 2);
    }
    goodness_assert(&goodness, "moves");
}
END_TEST

START_TEST(a_walk_without_room)
{
    const struct limit_spec spec = {
        .law = LIMIT_WALK, .values = (const double[]){3, 3, 3}, .count = 3, .step = 1, .every = S};
    struct limit limit;

    limit_init(&limit, &spec, true, key, 1);
    for (int i = 0; i < 100; i++) {
        limit_next(&limit);
        ck_assert_int_eq(limit.value, 3 * MICRO);
    }
}
END_TEST

/* --- meters under them -------------------------------------------------------------------------------------------- */

static struct meter meter_of(const struct meter_spec *spec)
{
    struct meter meter;

    meter_init(&meter, spec, key, 1);
    return meter;
}

#define STEPS(...) \
    { \
        .law = LIMIT_STEPS, __VA_ARGS__ \
    }

/* 1 a second, 2 from 10 s on, none from 20 s on, 1 from 30 s on; the bucket holds 25. */
START_TEST(a_bucket_under_steps)
{
    const struct meter_spec spec = {.kind = METER_REQUESTS,
                                    .burst = 25,
                                    .limit = STEPS(.times = (const sim_time[]){0, 10 * S, 20 * S, 30 * S},
                                                   .values = (const double[]){1, 2, 0, 1}, .count = 4)};
    struct meter meter = meter_of(&spec), lazy;

    meter_take(&meter, 0, 25 * MICRO);
    lazy = meter;
    ck_assert_int_eq(meter_until(&meter, 5 * S, 20 * MICRO), 15 * S); /* if the limit stayed; it fits at 15 s */
    ck_assert(!meter_fits(&meter, 15 * S - 1, 20 * MICRO));
    ck_assert(meter_fits(&meter, 15 * S, 20 * MICRO));
    meter_advance(&meter, 18 * S);
    ck_assert(meter.left == UNITS(25)); /* full since 17.5 s */
    meter_take(&meter, 18 * S, 25 * MICRO);
    ck_assert_int_eq(meter_until(&meter, 18 * S, 5 * MICRO), S * 5 / 2);
    meter_advance(&meter, 29 * S);
    ck_assert(meter.left == UNITS(4));
    ck_assert_int_eq(meter_until(&meter, 29 * S, 5 * MICRO), SIM_NEVER);
    meter_advance(&meter, 32 * S);
    ck_assert(meter.left == UNITS(6));
    ck_assert(meter.offered == UNITS(10 + 20 + 2));
    meter_advance(&lazy, 32 * S);
    ck_assert(lazy.left == UNITS(25) && lazy.offered == UNITS(32));
    ck_assert_double_eq(meter_limit(&meter, 32 * S), 60);
}
END_TEST

/* Windows of 10 s, at 1, 2 from 15 s on and 3 from 30 s on: 10, 10 (15 s is too late), 20, 30, and as much in steps. */
START_TEST(windows_under_steps)
{
    const struct limit_spec limit =
        STEPS(.times = (const sim_time[]){0, 15 * S, 30 * S}, .values = (const double[]){1, 2, 3}, .count = 3);
    const struct meter_spec window = {.kind = METER_REQUESTS, .limit = limit, .fill = FILL_WINDOW, .window = 10 * S};
    const struct meter_spec step = {
        .kind = METER_REQUESTS, .limit = limit, .burst = 1000, .fill = FILL_STEP, .window = 10 * S};
    const int allowances[] = {10, 10, 20, 30, 30};
    struct meter meter = meter_of(&window), bucket = meter_of(&step), lazy;
    int sum = 0;

    meter_take(&bucket, 0, 1000 * MICRO);
    lazy = bucket;
    for (int i = 0; i < 5; i++) {
        sum += i > 0 ? allowances[i] : 0;
        meter_advance(&meter, i * 10 * S);
        ck_assert(meter.left == UNITS(allowances[i]));
        meter_advance(&meter, i * 10 * S + 9 * S);
        ck_assert(meter.left == UNITS(allowances[i]));
        meter_advance(&bucket, i * 10 * S + 9 * S);
        ck_assert(bucket.left == UNITS(sum));
    }
    meter_advance(&lazy, 49 * S);
    ck_assert(lazy.left == UNITS(sum));
    /* The next window goes by the present limit, as far as anybody can tell. */
    meter = meter_of(&window);
    meter_take(&meter, 16 * S, 10 * MICRO);
    ck_assert_int_eq(meter_until(&meter, 16 * S, 20 * MICRO), 4 * S);
    ck_assert_int_eq(meter_until(&meter, 16 * S, 20 * MICRO + 1), SIM_NEVER);
}
END_TEST

/* --- whoever looks ------------------------------------------------------------------------------------------------ */

#define LAWS 5
static const struct limit_spec laws[LAWS] = {
    {.law = LIMIT_CONSTANT, .values = (const double[]){1}, .count = 1},
    {.law = LIMIT_STEPS,
     .times = (const sim_time[]){0, 7 * S, 20 * S, 400 * S},
     .values = (const double[]){1, 0.25, 0, 2},
     .count = 4},
    {.law = LIMIT_TWO_LEVEL, .values = (const double[]){1, 0.5}, .count = 2, .dwell = 3},
    {.law = LIMIT_WALK, .values = (const double[]){1, 0.1, 2}, .count = 3, .step = 0.7, .every = 1500000000},
    {.law = LIMIT_DAY, .values = (const double[]){1, 3, 2}, .count = 3},
};

/* One meter is looked at all the time, at random moments; its twin only when both are charged. */
START_TEST(looking_changes_nothing)
{
    const enum meter_fill fills[] = {FILL_CONTINUOUS, FILL_WINDOW, FILL_STEP, FILL_SUB, FILL_CONTINUOUS};
    int law = _i / 5, fill = _i % 5;
    const struct meter_spec spec = {.kind = fill == 4 ? METER_IN_FLIGHT : METER_REQUESTS,
                                    .limit = laws[law],
                                    .burst = 7,
                                    .fill = fills[fill],
                                    .window = fills[fill] == FILL_SUB ? S : 5 * S,
                                    .settle = true,
                                    .cached_weight = 1};
    struct meter watched, twin;
    sim_time now = 0, pace = law == LAWS - 1 ? 300 * S : S / 4; /* some days, or some minutes */
    uint64_t random = 100 + (uint64_t)_i;

    meter_init(&watched, &spec, key, 9);
    meter_init(&twin, &spec, key, 9);
    for (int i = 0; i < 3000; i++) {
        now += (sim_time)(oracle_random(&random) % (uint64_t)pace);
        if (i % 17 == 0)
            now += watched.limit.ends < SIM_NEVER && watched.limit.ends > now ? watched.limit.ends - now : 0;
        meter_left(&watched, now);
        if (i % 3 == 0)
            meter_advance(&watched, now);
        if (i % 50)
            continue;
        ck_assert_int_eq(meter_fits(&watched, now, MICRO), meter_fits(&twin, now, MICRO));
        ck_assert_int_eq(meter_until(&watched, now, 2 * MICRO), meter_until(&twin, now, 2 * MICRO));
        meter_take(&watched, now, MICRO);
        meter_take(&twin, now, MICRO);
        if (i % 100 == 0) {
            meter_settle(&watched, now, now - S, MICRO, MICRO / 3);
            meter_settle(&twin, now, now - S, MICRO, MICRO / 3);
        }
        ck_assert(watched.left == twin.left && watched.offered == twin.offered && watched.taken == twin.taken);
        ck_assert(watched.flying == twin.flying && watched.opens == twin.opens && watched.at == twin.at);
        ck_assert_int_eq(watched.limit.value, twin.limit.value);
        ck_assert_uint_eq(watched.limit.piece, twin.limit.piece);
    }
    ck_assert(law == 0 || watched.limit.piece > 0);
}
END_TEST

/* Numbers are the entity's, and a replication's. */
START_TEST(limits_have_numbers_of_their_own)
{
    for (int law = 2; law < 4; law++) {
        struct limit limits[4];

        limit_init(&limits[0], &laws[law], false, key, 1);
        limit_init(&limits[1], &laws[law], false, key, 1);
        limit_init(&limits[2], &laws[law], false, key, 2);
        limit_init(&limits[3], &laws[law], false, (struct stream_key){11, 4}, 1);
        for (int i = 0; i < 4; i++) {
            limit_next(&limits[i]);
            limit_next(&limits[i]);
        }
        ck_assert(limits[0].ends == limits[1].ends && limits[0].value == limits[1].value);
        for (int i = 2; i < 4; i++)
            ck_assert(limits[0].ends != limits[i].ends || limits[0].value != limits[i].value);
    }
}
END_TEST

Suite *limit_suite(void)
{
    Suite *suite = suite_create("limit");
    TCase *tests = tcase_create("limit");

    tcase_add_test(tests, quantised_once);
    tcase_add_test(tests, steps_at_their_edges);
    tcase_add_test(tests, a_day_at_its_edges);
    tcase_add_test(tests, two_levels_dwell_exponentially);
    tcase_add_loop_test(tests, a_walk_stays_inside, 0, 2);
    tcase_add_test(tests, a_walk_moves_uniformly);
    tcase_add_test(tests, a_walk_without_room);
    tcase_add_test(tests, a_bucket_under_steps);
    tcase_add_test(tests, windows_under_steps);
    tcase_add_loop_test(tests, looking_changes_nothing, 0, LAWS * 5);
    tcase_add_test(tests, limits_have_numbers_of_their_own);
    suite_add_tcase(suite, tests);
    return suite;
}
