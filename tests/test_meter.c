/* test_meter.c - levels worked out by hand, at their edges: exactly what is left, the ns before and the ns at which a
 * call fits. */
#include <check.h>
#include <math.h>

#include "models/meter.h"
#include "tests/suites.h"

#define S SIM_SECOND
#define MICRO INT64_C(1000000)
#define UNITS(amount) ((sim_sum)((amount)*MICRO) * METER_DAY)

#define CONSTANT(amount) \
    { \
        .law = LIMIT_CONSTANT, .values = (const double[]){amount}, .count = 1 \
    }

static const struct stream_key key = {7, 1};

static struct meter begin(const struct meter_spec *spec)
{
    struct meter meter;

    meter_init(&meter, spec, key, 1);
    return meter;
}

/* It is refused, and let in `wait` later, not a ns before. */
static void expect_until(const struct meter *meter, sim_time now, int64_t estimate, sim_time wait)
{
    struct meter copy = *meter;

    ck_assert_int_eq(meter_until(&copy, now, estimate), wait);
    ck_assert_int_eq(meter_fits(&copy, now, estimate), wait == 0);
    if (wait == 0)
        return;
    if (wait == SIM_NEVER) {
        ck_assert(!meter_fits(&copy, now + 1000 * 86400 * S, estimate));
        return;
    }
    ck_assert(!meter_fits(&copy, now + wait - 1, estimate));
    ck_assert(meter_fits(&copy, now + wait, estimate));
}

static void take(struct meter *meter, sim_time now, int64_t estimate)
{
    ck_assert(meter_fits(meter, now, estimate));
    meter_take(meter, now, estimate);
}

/* --- each fill, each way to count --------------------------------------------------------------------------------- */

/* 10 a second; the bucket holds 20, and 20 come every 2 s; a window of 2 s has 20, the short one of 1 s has 10. A call
 * is expected to answer 4, may answer 6, and answers 5. How many are let in at t = 0 (of those counted afterwards: are
 * answered until nobody is let in any more), what is left then, and how long the next one has to wait. */
static const struct edge {
    enum meter_fill fill;
    enum meter_counts counts;
    int calls;
    int left;
    sim_time wait;
} edges[] = {
    {FILL_CONTINUOUS, COUNTS_ESTIMATE, 5, 0, S * 2 / 5},
    {FILL_CONTINUOUS, COUNTS_MAX_TOKENS, 3, 2, S * 2 / 5},
    {FILL_CONTINUOUS, COUNTS_AFTER, 4, 0, 1},
    {FILL_WINDOW, COUNTS_ESTIMATE, 5, 0, 2 * S},
    {FILL_WINDOW, COUNTS_MAX_TOKENS, 3, 2, 2 * S},
    {FILL_WINDOW, COUNTS_AFTER, 4, 0, 2 * S},
    {FILL_STEP, COUNTS_ESTIMATE, 5, 0, 2 * S},
    {FILL_STEP, COUNTS_MAX_TOKENS, 3, 2, 2 * S},
    {FILL_STEP, COUNTS_AFTER, 4, 0, 2 * S},
    {FILL_SUB, COUNTS_ESTIMATE, 2, 2, S},
    {FILL_SUB, COUNTS_MAX_TOKENS, 1, 4, S},
    {FILL_SUB, COUNTS_AFTER, 2, 0, S},
};

START_TEST(every_fill_and_count)
{
    const struct edge *edge = &edges[_i];
    const struct meter_spec spec = {.kind = METER_OUTPUT,
                                    .limit = CONSTANT(10),
                                    .burst = 20,
                                    .fill = edge->fill,
                                    .window = edge->fill == FILL_SUB ? S : 2 * S,
                                    .counts = edge->counts};
    const struct meter_call call = {.output = 4, .max_tokens = 6}, real = {.output = 5};
    struct meter meter = begin(&spec);
    int64_t estimate = meter_estimate(&spec, &call);

    ck_assert_int_eq(meter_real(&spec, &real), 5 * MICRO);
    for (int i = 0; i < edge->calls; i++) {
        take(&meter, 0, estimate);
        meter_settle(&meter, 0, 0, estimate, meter_real(&spec, &real)); /* nothing is corrected without `settle` */
    }
    ck_assert(meter.left == UNITS(edge->left));
    ck_assert_double_eq(meter_left(&meter, 0), edge->left);
    expect_until(&meter, 0, estimate, edge->wait);
    if (edge->counts != COUNTS_AFTER)
        return;
    /* One more was still on its way: a window forgets the debt, a bucket does not. */
    meter_settle(&meter, 0, 0, estimate, 5 * MICRO);
    ck_assert(meter.left == -UNITS(5));
    ck_assert_double_eq(meter_left(&meter, 0), 0);
    expect_until(&meter, 0, estimate, edge->fill == FILL_CONTINUOUS ? S / 2 + 1 : edge->wait);
    meter_advance(&meter, 2 * S);
    ck_assert(meter.left == UNITS(edge->fill == FILL_SUB                                     ? 10
                                  : edge->fill == FILL_CONTINUOUS || edge->fill == FILL_STEP ? 15
                                                                                             : 20));
}
END_TEST

/* --- buckets ------------------------------------------------------------------------------------------------------ */

START_TEST(exactly_what_is_left)
{
    const struct meter_spec spec = {.kind = METER_INPUT, .limit = CONSTANT(0), .burst = 10};
    struct meter meter = begin(&spec);

    expect_until(&meter, 0, 10 * MICRO, 0);
    expect_until(&meter, 0, 10 * MICRO + 1, SIM_NEVER);
    take(&meter, 3, 10 * MICRO - 1);
    expect_until(&meter, 3, 1, 0);
    expect_until(&meter, 3, 2, SIM_NEVER); /* nothing ever comes */
    take(&meter, 3, 1);
    expect_until(&meter, 3, 0, 0);
    ck_assert(meter.left == 0);
}
END_TEST

/* 7 requests a minute: one comes every 8571428571.43 ns; what is left of the ns is not lost. */
START_TEST(a_bucket_to_the_ns)
{
    const struct meter_spec spec = {.kind = METER_REQUESTS, .limit = CONSTANT(7 / 60.0), .burst = 2};
    struct meter meter = begin(&spec);
    sim_time now = 0;

    take(&meter, 0, 2 * MICRO);
    expect_until(&meter, 0, MICRO, INT64_C(8571428572));
    expect_until(&meter, S, MICRO, INT64_C(7571428572));
    now += INT64_C(8571428572);
    take(&meter, now, MICRO);
    ck_assert(meter.left == 4 * 1440 * MICRO);
    expect_until(&meter, now, MICRO, INT64_C(8571428571));
    for (int i = 0; i < 6; i++) {
        now += meter_until(&meter, now, MICRO);
        take(&meter, now, MICRO);
    }
    ck_assert_int_eq(now, 60 * S);
    ck_assert(meter.left == 0);
}
END_TEST

START_TEST(never_above_burst)
{
    const struct meter_spec spec = {.kind = METER_REQUESTS, .limit = CONSTANT(1), .burst = 3, .settle = true};
    struct meter meter = begin(&spec);

    ck_assert(meter.left == UNITS(3));
    meter_advance(&meter, 100 * S);
    ck_assert(meter.left == UNITS(3));
    take(&meter, 100 * S, 2 * MICRO);
    meter_advance(&meter, 101 * S);
    ck_assert(meter.left == UNITS(2));
    meter_settle(&meter, 101 * S, 100 * S, 2 * MICRO, 0);
    ck_assert(meter.left == UNITS(3));
    expect_until(&meter, 101 * S, 3 * MICRO + 1, SIM_NEVER);
    /* Longer than a life is never. */
    ck_assert_int_eq(meter_until(&(struct meter){.spec = &spec,
                                                 .burst = 3 * MICRO,
                                                 .opens = SIM_NEVER,
                                                 .limit = {.value = 1440, .ends = SIM_NEVER}},
                                 0, MICRO),
                     60 * S * MICRO);
    ck_assert_int_eq(meter_until(&(struct meter){.spec = &spec,
                                                 .burst = 3 * MICRO,
                                                 .opens = SIM_NEVER,
                                                 .limit = {.value = 1440, .ends = SIM_NEVER},
                                                 .left = -UNITS(1000)},
                                 0, MICRO),
                     SIM_NEVER);
}
END_TEST

/* 60 a minute: 10 come at the start of each 10 s; the bucket holds 25 and is full at first. */
START_TEST(a_bucket_in_steps)
{
    const struct meter_spec spec = {
        .kind = METER_REQUESTS, .limit = CONSTANT(1), .burst = 25, .fill = FILL_STEP, .window = 10 * S, .settle = true};
    struct meter meter = begin(&spec);

    take(&meter, 0, 25 * MICRO);
    expect_until(&meter, 0, 1, 10 * S);
    expect_until(&meter, 4 * S, 10 * MICRO, 6 * S);
    expect_until(&meter, 4 * S, 10 * MICRO + 1, 16 * S);
    expect_until(&meter, 4 * S, 25 * MICRO, 26 * S);
    expect_until(&meter, 4 * S, 25 * MICRO + 1, SIM_NEVER);
    meter_advance(&meter, 10 * S - 1);
    ck_assert(meter.left == 0);
    meter_advance(&meter, 10 * S);
    ck_assert(meter.left == UNITS(10));
    meter_advance(&meter, 39 * S);
    ck_assert(meter.left == UNITS(25));
    take(&meter, 40 * S, 5 * MICRO);
    meter_settle(&meter, 41 * S, 40 * S, 5 * MICRO, 7 * MICRO);
    ck_assert(meter.left == UNITS(18));
    meter_settle(&meter, 51 * S, 40 * S, 5 * MICRO, 0);
    ck_assert(meter.left == UNITS(25));
}
END_TEST

/* --- windows ------------------------------------------------------------------------------------------------------ */

START_TEST(a_window_begins_anew)
{
    const struct meter_spec spec = {
        .kind = METER_REQUESTS, .limit = CONSTANT(1), .fill = FILL_WINDOW, .window = 60 * S};
    struct meter meter = begin(&spec);

    expect_until(&meter, 0, 60 * MICRO, 0);
    expect_until(&meter, 0, 60 * MICRO + 1, SIM_NEVER);
    take(&meter, 59 * S, 59 * MICRO);
    expect_until(&meter, 60 * S - 1, MICRO, 0);
    expect_until(&meter, 60 * S - 1, MICRO + 1, 1);
    meter_advance(&meter, 60 * S - 1);
    ck_assert(meter.left == UNITS(1));
    take(&meter, 60 * S, 60 * MICRO); /* 119 within a ns more than a second: the fault of windows */
    expect_until(&meter, 61 * S, 1, 59 * S);
    meter_advance(&meter, 600 * S); /* nine windows that nobody used are gone */
    ck_assert(meter.left == UNITS(60));
}
END_TEST

/* A charge is corrected in its own window; later it changes what was taken, not what may be. */
START_TEST(a_window_forgets)
{
    const struct meter_spec spec = {
        .kind = METER_INPUT, .limit = CONSTANT(1), .fill = FILL_WINDOW, .window = 60 * S, .settle = true};
    struct meter meter = begin(&spec);

    take(&meter, 0, 20 * MICRO);
    take(&meter, 1 * S, 20 * MICRO);
    take(&meter, 59 * S, 20 * MICRO);
    meter_settle(&meter, 59 * S, 0, 20 * MICRO, 5 * MICRO);
    ck_assert(meter.left == UNITS(15));
    meter_settle(&meter, 60 * S - 1, S, 20 * MICRO, 40 * MICRO);
    ck_assert(meter.left == -UNITS(5));
    ck_assert(meter.taken == 65 * MICRO);
    take(&meter, 60 * S, 30 * MICRO);
    meter_settle(&meter, 61 * S, 59 * S, 20 * MICRO, 0);
    ck_assert(meter.left == UNITS(30));
    ck_assert(meter.taken == 75 * MICRO);
    meter_settle(&meter, 62 * S, 60 * S, 30 * MICRO, 31 * MICRO);
    ck_assert(meter.left == UNITS(29));
}
END_TEST

/* Published: 663 of a limit of 100 tokens a minute, with a window that counts afterwards. Seven calls of about 100
 * tokens are on their way before the first one is answered. */
START_TEST(concurrent_calls_overshoot)
{
    const struct meter_spec spec = {.kind = METER_TOTAL,
                                    .limit = CONSTANT(100 / 60.0),
                                    .fill = FILL_WINDOW,
                                    .window = 60 * S,
                                    .counts = COUNTS_AFTER,
                                    .cached_weight = 1};
    const int tokens[] = {95, 94, 95, 95, 94, 95, 95};
    struct meter meter = begin(&spec);

    for (int i = 0; i < 7; i++)
        take(&meter, i * S, meter_estimate(&spec, &(struct meter_call){.input = 60, .output = 40}));
    for (int i = 0; i < 7; i++) {
        struct meter_call real = {.input = 60, .output = tokens[i] - 60};

        meter_settle(&meter, 10 * S + i, i * S, 0, meter_real(&spec, &real));
        ck_assert_int_eq(meter_fits(&meter, 10 * S + i, 0), i == 0);
    }
    ck_assert(meter.taken == 663 * MICRO);
    ck_assert(meter.left == -UNITS(563));
    expect_until(&meter, 11 * S, 0, 49 * S);
    meter_advance(&meter, 60 * S);
    ck_assert(meter.left == UNITS(100));
}
END_TEST

/* --- what is in flight -------------------------------------------------------------------------------------------- */

START_TEST(calls_in_flight)
{
    const struct meter_spec spec = {
        .kind = METER_IN_FLIGHT,
        .limit = {
            .law = LIMIT_STEPS, .times = (const sim_time[]){0, 100 * S}, .values = (const double[]){3, 1}, .count = 2}};
    struct meter meter = begin(&spec);
    const struct meter_call call = {.input = 99};
    int64_t one = meter_estimate(&spec, &call);

    ck_assert_int_eq(one, MICRO);
    for (int i = 0; i < 3; i++)
        take(&meter, i * S, one);
    expect_until(&meter, 3 * S, one, SIM_NEVER);
    ck_assert_double_eq(meter_left(&meter, 3 * S), 0);
    meter_settle(&meter, 10 * S, 0, one, one);
    expect_until(&meter, 10 * S, one, 0);
    ck_assert_double_eq(meter_left(&meter, 10 * S), 1);
    /* 1, 2, 3 in flight for a second each, 3 until 10 s, 2 until 20 s: 1 + 2 + 8 x 3 + 10 x 2 call seconds */
    meter_advance(&meter, 20 * S);
    ck_assert(meter.taken == (sim_sum)47 * MICRO * S);
    ck_assert(meter.offered == (sim_sum)60 * MICRO * S);
    /* From 100 s on one may fly, and two do. */
    ck_assert_double_eq(meter_left(&meter, 100 * S - 1), 1);
    ck_assert_double_eq(meter_left(&meter, 100 * S), 0);
    meter_settle(&meter, 101 * S, S, one, one);
    ck_assert(!meter_fits(&meter, 101 * S, one));
    meter_settle(&meter, 102 * S, 2 * S, one, one);
    ck_assert(meter_fits(&meter, 102 * S, one));
    ck_assert_double_eq(meter_limit(&meter, 102 * S), 1);
}
END_TEST

START_TEST(tokens_in_flight)
{
    const struct meter_spec spec = {
        .kind = METER_TOKENS_IN_FLIGHT, .limit = CONSTANT(1000), .counts = COUNTS_MAX_TOKENS, .cached_weight = 1};
    struct meter meter = begin(&spec);
    const struct meter_call call = {.input = 300, .cached = 200, .output = 10, .max_tokens = 200};

    take(&meter, 0, meter_estimate(&spec, &call));
    expect_until(&meter, 0, 500 * MICRO, 0);
    expect_until(&meter, 0, 500 * MICRO + 1, SIM_NEVER);
    take(&meter, 1, 500 * MICRO);
    meter_settle(&meter, 5, 0, 500 * MICRO, 310 * MICRO); /* leaves with what it was taken with */
    ck_assert_int_eq(meter.flying, 500 * MICRO);
}
END_TEST

/* --- amounts ------------------------------------------------------------------------------------------------------ */

START_TEST(amounts_by_kind)
{
    const struct meter_call call = {.input = 1000, .cached = 900, .output = 50, .max_tokens = 200};
    const struct meter_call unsaid = {.input = 1000, .cached = 900, .output = 50, .max_tokens = INFINITY};
    const struct meter_call modest = {.input = 1000, .cached = 900, .output = 50, .max_tokens = 20};
    const double by_estimate[METER_KINDS] = {1, 190, 50, 240, 1, 240};
    const double by_most[METER_KINDS] = {1, 190, 200, 390, 1, 390};

    for (int kind = 0; kind < METER_KINDS; kind++) {
        struct meter_spec spec = {.kind = (enum meter_kind)kind, .cached_weight = 0.1};

        ck_assert_int_eq(meter_estimate(&spec, &call), (int64_t)(by_estimate[kind] * 1e6));
        ck_assert_int_eq(meter_real(&spec, &call), (int64_t)(by_estimate[kind] * 1e6));
        spec.counts = COUNTS_MAX_TOKENS;
        ck_assert_int_eq(meter_estimate(&spec, &call), (int64_t)(by_most[kind] * 1e6));
        ck_assert_int_eq(meter_estimate(&spec, &unsaid), (int64_t)(by_estimate[kind] * 1e6));
        ck_assert_int_eq(meter_estimate(&spec, &modest), (int64_t)(by_estimate[kind] * 1e6));
        ck_assert_int_eq(meter_real(&spec, &call), (int64_t)(by_estimate[kind] * 1e6));
        spec.counts = COUNTS_AFTER;
        ck_assert_int_eq(meter_estimate(&spec, &call), 0);
        ck_assert_int_eq(meter_real(&spec, &call), (int64_t)(by_estimate[kind] * 1e6));
    }
    /* Cached input that is free. */
    ck_assert_int_eq(meter_real(&(struct meter_spec){.kind = METER_INPUT}, &call), 100 * MICRO);
    ck_assert_str_eq(meter_names[METER_REQUESTS], "requests");
    ck_assert_str_eq(meter_names[METER_INPUT], "input");
    ck_assert_str_eq(meter_names[METER_OUTPUT], "output");
    ck_assert_str_eq(meter_names[METER_TOTAL], "total");
    ck_assert_str_eq(meter_names[METER_IN_FLIGHT], "in_flight");
    ck_assert_str_eq(meter_names[METER_TOKENS_IN_FLIGHT], "tokens_in_flight");
}
END_TEST

/* A refused call is charged where those count; what counts afterwards charges the request, and no tokens. */
START_TEST(refused_calls_may_count)
{
    const struct meter_call call = {.input = 4, .output = 2, .max_tokens = INFINITY};

    for (int counts = 0; counts < 3; counts++)
        for (int kind = 0; kind < METER_TOKENS_IN_FLIGHT; kind++)
            for (int count = 0; count < 2; count++) {
                const struct meter_spec spec = {.kind = (enum meter_kind)kind,
                                                .limit = CONSTANT(1),
                                                .burst = 3,
                                                .counts = (enum meter_counts)counts,
                                                .cached_weight = 1,
                                                .refused_count = count == 1};
                const int amounts[] = {1, 4, 2, 6, 0};
                struct meter meter;
                int charged = count == 0 ? 0 : counts == COUNTS_AFTER && kind > 0 ? 0 : amounts[kind];

                if (kind == METER_IN_FLIGHT && counts == COUNTS_AFTER)
                    continue;
                meter = begin(&spec);
                meter_refused(&meter, 0, &call);
                ck_assert(meter.taken == charged * MICRO);
                ck_assert(meter.left == (kind == METER_IN_FLIGHT ? 0 : UNITS(3 - charged)));
                ck_assert_int_eq(meter.flying, 0);
            }
}
END_TEST

Suite *meter_suite(void)
{
    Suite *suite = suite_create("meter");
    TCase *tests = tcase_create("meter");

    tcase_add_loop_test(tests, every_fill_and_count, 0, (int)(sizeof edges / sizeof *edges));
    tcase_add_test(tests, exactly_what_is_left);
    tcase_add_test(tests, a_bucket_to_the_ns);
    tcase_add_test(tests, never_above_burst);
    tcase_add_test(tests, a_bucket_in_steps);
    tcase_add_test(tests, a_window_begins_anew);
    tcase_add_test(tests, a_window_forgets);
    tcase_add_test(tests, concurrent_calls_overshoot);
    tcase_add_test(tests, calls_in_flight);
    tcase_add_test(tests, tokens_in_flight);
    tcase_add_test(tests, amounts_by_kind);
    tcase_add_test(tests, refused_calls_may_count);
    suite_add_tcase(suite, tests);
    return suite;
}
