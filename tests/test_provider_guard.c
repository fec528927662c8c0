/* test_provider_guard.c - what a pool punishes beside its meters: by hand at the edges, and against records of all that
 * was let in. */
#include <check.h>
#include <math.h>

#include "models/provider.h"
#include "models/provider_guard.h"
#include "models/purpose.h"
#include "tests/goodness.h"
#include "tests/oracles.h"
#include "tests/suites.h"

#define S SIM_SECOND
#define MICRO INT64_C(1000000)
#define WINDOW 213000.0 /* tokens of a full context */

static const struct stream_key key = {3, 1};
static const struct dist recovery = {.kind = DIST_UNIFORM, .a = 60, .b = 90, .most = INFINITY};
static const struct simultaneous_spec measured = {.cold = 2.13e6, .hot = 1e6, .within = S, .recovery = &recovery};

static struct arena arena;

static struct calendar calendar;
static struct provider *provider;
static struct provider_ticket *ticket;

static void teardown(void)
{
    calendar_fini(&calendar);
    arena_free(&arena);
}

/* --- simultaneous arrival ----------------------------------------------------------------------------------------- */

/* Lets in up to `most` calls; how many were let in before one was refused and punished. */
static int burst(struct simultaneous *simultaneous, sim_time now, double tokens, int most)
{
    int count = 0;

    for (; count < most && simultaneous_fits(simultaneous, now, meter_micro(tokens)); count++)
        simultaneous_take(simultaneous, now, meter_micro(tokens));
    if (count < most)
        simultaneous_punish(simultaneous, now);
    return count;
}

static sim_time recovery_of(uint64_t entity, uint64_t refusal)
{
    struct stream stream =
        stream_open(key, (struct stream_address){.purpose = PURPOSE_SIMULTANEOUS, .entity = entity, .turn = refusal});

    return sim_from_seconds(60 + 30 * stream_uniform(&stream));
}

/* A pool as measured: ten full contexts at once when it is cold, four when it is hot. */
START_TEST(full_contexts_at_once)
{
    struct simultaneous pool;
    sim_time hot;

    simultaneous_init(&pool, &measured, key, 8, &arena);
    ck_assert_int_eq(burst(&pool, 0, WINDOW, 12), 10); /* exactly 2.13 M */
    hot = recovery_of(8, 0);
    ck_assert(hot >= 60 * S && hot < 90 * S);
    ck_assert(!simultaneous_fits(&pool, S - 1, 1)); /* those of t = 0 still count */
    ck_assert_int_eq(burst(&pool, S, WINDOW, 4), 4);
    ck_assert(!simultaneous_fits(&pool, 2 * S - 1, meter_micro(148000) + 1)); /* hot: 1 M - 4 x 213 k */
    ck_assert(simultaneous_fits(&pool, 2 * S - 1, meter_micro(148000)));
    ck_assert_int_eq(burst(&pool, hot - 1, WINDOW, 4), 4);
    ck_assert(!simultaneous_fits(&pool, hot - 1, meter_micro(WINDOW)));
    ck_assert_int_eq(burst(&pool, hot, WINDOW, 6), 6); /* cold again: ten within a second */
    ck_assert(!simultaneous_fits(&pool, hot, 1));
    ck_assert(!simultaneous_fits(&pool, hot + S - 2, 1));
    ck_assert(simultaneous_fits(&pool, hot + S - 1, meter_micro(4 * WINDOW)));
    ck_assert(!simultaneous_fits(&pool, hot + S - 1, meter_micro(4 * WINDOW) + 1));
}
END_TEST

/* Each call that is refused begins the time anew, also while it is hot. */
START_TEST(hot_until_the_last_one_has_passed)
{
    struct simultaneous pool;

    simultaneous_init(&pool, &measured, key, 8, &arena);
    ck_assert_int_eq(burst(&pool, 0, 2.2e6, 1), 0);
    ck_assert_int_eq(burst(&pool, 50 * S, 1.1e6, 1), 0);
    ck_assert_int_eq(burst(&pool, 55 * S, 1.1e6, 1), 0);
    ck_assert_int_eq(pool.hot_until, 55 * S + recovery_of(8, 2));
    ck_assert(!simultaneous_fits(&pool, 55 * S + recovery_of(8, 2) - 1, meter_micro(1e6) + 1));
    ck_assert(simultaneous_fits(&pool, 55 * S + recovery_of(8, 2), meter_micro(1e6) + 1));
}
END_TEST

START_TEST(at_one_instant_alone)
{
    const struct simultaneous_spec spec = {.cold = 100, .hot = 100, .recovery = &recovery};
    struct simultaneous pool;

    simultaneous_init(&pool, &spec, key, 8, &arena);
    ck_assert_int_eq(burst(&pool, S, 40, 3), 2);
    ck_assert_int_eq(burst(&pool, S + 1, 100, 1), 1);
    ck_assert(!simultaneous_fits(&pool, S + 1, 1));
}
END_TEST

START_TEST(recoveries_are_uniform)
{
    struct simultaneous pool;
    struct goodness goodness = {0};

    simultaneous_init(&pool, &measured, key, 8, &arena);
    for (sim_time now = 0; now < 50000 * S; now += S) {
        simultaneous_punish(&pool, now);
        goodness_add(&goodness, (sim_seconds(pool.hot_until - now) - 60) / 30);
    }
    goodness_assert(&goodness, "recovery");
}
END_TEST

/* Against the list of all that was let in: many at one instant, few large ones within the window and then many small
 * ones, long silences. */
START_TEST(a_sliding_window)
{
    static struct arrival record[4000];
    const struct simultaneous_spec spec = {.cold = 300, .hot = 100, .within = S, .recovery = &recovery};
    struct simultaneous pool;
    uint64_t random = 17;
    size_t count = 0, room = 0, refused = 0, wrong = 0;
    sim_time now = 0;

    simultaneous_init(&pool, &spec, key, 8, &arena);
    while (count < 4000) {
        int64_t tokens = (int64_t)(oracle_random(&random) % (uint64_t)((count < 500 ? 40 : 3) * MICRO));
        sim_sum within = tokens;
        bool fits;

        if (oracle_random(&random) % 3)
            now += (sim_time)(oracle_random(&random) % (uint64_t)(S / (count < 500 ? 10 : 200)));
        if (oracle_random(&random) % 500 == 0)
            now += 100 * S;
        for (size_t i = count; i > 0 && now - record[i - 1].at < S; i--)
            within += record[i - 1].tokens;
        fits = within <= (now < pool.hot_until ? 100 : 300) * MICRO;
        wrong += simultaneous_fits(&pool, now, tokens) != fits;
        if (!fits) {
            refused++;
            if (refused % 200 == 0)
                simultaneous_punish(&pool, now);
            continue;
        }
        simultaneous_take(&pool, now, tokens);
        record[count++] = (struct arrival){now, tokens};
        if (count == 500)
            ck_assert_uint_eq(pool.room, 64);
        if (count == 2500)
            room = pool.room;
    }
    ck_assert_uint_eq(wrong, 0);
    ck_assert_uint_gt(refused, 1000);
    ck_assert_uint_gt(room, 64);
    ck_assert_uint_eq(pool.room, room); /* in steady state nothing is taken from the arena */
}
END_TEST

START_TEST(without_a_limit)
{
    const struct simultaneous_spec none = {0};
    const struct acceleration_spec neither = {0};
    struct simultaneous pool;
    struct acceleration acceleration;

    simultaneous_init(&pool, &none, key, 8, &arena);
    acceleration_init(&acceleration, &neither, &arena);
    for (int i = 0; i < 10; i++) {
        ck_assert(simultaneous_fits(&pool, 0, METER_MOST));
        ck_assert(acceleration_fits(&acceleration, 0, METER_MOST));
        simultaneous_take(&pool, 0, METER_MOST);
        acceleration_take(&acceleration, 0, METER_MOST);
    }
    ck_assert_ptr_null(arena.blocks);
}
END_TEST

/* --- acceleration ------------------------------------------------------------------------------------------------- */

/* Twice the mean minute of the last ten, 1000 tokens a minute being free. At 600 s ten minutes of 800 lie behind: 1600
 * are let in, as the last minute's 800 have gone by. A rest of 700 follows. */
START_TEST(twice_the_mean_minute)
{
    const struct acceleration_spec spec = {.times = 2, .over = 600 * S, .free = 1000};
    struct acceleration pool;

    acceleration_init(&pool, &spec, &arena);
    ck_assert(!acceleration_fits(&pool, 0, 1000 * MICRO + 1));
    for (sim_time minute = 0; minute < 10; minute++) {
        ck_assert(acceleration_fits(&pool, minute * 60 * S, 800 * MICRO));
        acceleration_take(&pool, minute * 60 * S, 800 * MICRO);
    }
    /* The first of ten minutes is gone at 600 s, the last one at 540 + 60. */
    ck_assert(acceleration_fits(&pool, 600 * S - 1, 800 * MICRO)); /* 800 + 800 <= 2 x 800 */
    ck_assert(!acceleration_fits(&pool, 600 * S - 1, 800 * MICRO + 1));
    ck_assert(acceleration_fits(&pool, 600 * S, 1440 * MICRO)); /* 2 x 7200 / 10 */
    ck_assert(!acceleration_fits(&pool, 600 * S, 1440 * MICRO + 1));
    acceleration_take(&pool, 600 * S, 1440 * MICRO);
    ck_assert(acceleration_fits(&pool, 601 * S, 288 * MICRO)); /* 1440 + x <= 2 x 8640 / 10 */
    ck_assert(!acceleration_fits(&pool, 601 * S, 288 * MICRO + 1));
    /* Long after, nothing is known of it. */
    ck_assert(acceleration_fits(&pool, 5000 * S, 1000 * MICRO));
    ck_assert(!acceleration_fits(&pool, 5000 * S, 1000 * MICRO + 1));
}
END_TEST

/* Against the list of all that was let in, by seconds: cells of a minute alone, of ten, and of one that is no multiple.
 */
START_TEST(the_last_minute_against_the_mean)
{
    static struct arrival record[3000];
    const sim_time overs[] = {60 * S, 600 * S, 137 * S + 1};
    const sim_time cells[] = {60, 600, 138};
    const struct acceleration_spec spec = {.times = 1.25, .over = overs[_i], .free = 100};
    struct acceleration pool;
    uint64_t random = 29 + (uint64_t)_i;
    size_t count = 0, refused = 0, above = 0;
    sim_time now = 0;

    acceleration_init(&pool, &spec, &arena);
    while (count < 3000) {
        int64_t tokens = (int64_t)(oracle_random(&random) % (uint64_t)((count % 10 ? 9 : 90) * MICRO));
        sim_sum minute = tokens, all = 0;
        bool fits;

        now += (sim_time)(oracle_random(&random) % (uint64_t)(3 * S));
        if (oracle_random(&random) % 1000 == 0)
            now += (sim_time)(oracle_random(&random) % (uint64_t)(1000 * S));
        for (size_t i = 0; i < count; i++) {
            sim_time age = now / S - record[i].at / S;

            minute += age < 60 ? record[i].tokens : 0;
            all += age < cells[_i] ? record[i].tokens : 0;
        }
        fits = minute <= 100 * MICRO || 4 * minute * cells[_i] <= 5 * 60 * all;
        ck_assert_int_eq(acceleration_fits(&pool, now, tokens), fits);
        refused += !fits;
        if (!fits)
            continue;
        above += minute > 100 * MICRO;
        acceleration_take(&pool, now, tokens);
        record[count++] = (struct arrival){now, tokens};
    }
    ck_assert_uint_gt(refused, 100);
    ck_assert_uint_gt(above, 100);
}
END_TEST

/* --- in the pool -------------------------------------------------------------------------------------------------- */

static void begin(const struct provider_spec *spec)
{
    calendar_init(&calendar, 3, 1);
    provider = provider_new(spec, &calendar, key, 8, &arena);
    ticket = arena_zeroed(&arena, 1, provider_ticket_size(spec));
}

static bool asks(sim_time at, double input, struct provider_refusal *refusal)
{
    const struct meter_call call = {.input = input, .cached = input, .output = 1e6};
    struct event clock = {0};

    calendar_schedule(&calendar, &clock, at);
    calendar_next(&calendar, at);
    return provider_ask(provider, &call, ticket, refusal);
}

/* The order: meters, simultaneous, acceleration; a later one is not asked, and hears of what all let in alone. */
START_TEST(asked_after_the_meters)
{
    const struct provider_spec spec = {
        .meters = (const struct meter_spec[]){{.kind = METER_REQUESTS,
                                               .limit = {.law = LIMIT_CONSTANT, .values = &(double){1}, .count = 1},
                                               .burst = 4,
                                               .refused_count = true}},
        .meter_count = 1,
        .retry_after = RETRY_EXACT,
        .simultaneous = {.cold = 500, .hot = 300, .within = S, .recovery = &recovery},
        .acceleration = {.times = 2, .over = 600 * S, .free = 450}};
    static const struct {
        sim_time at;
        double input;
        const char *reason;
        sim_time retry_after;
    } asked[] = {
        {0, 200, NULL, 0},
        {0, 301, "simultaneous", -1}, /* hot, and 200 of 300 are used */
        {1, 101, "simultaneous", -1},
        {2, 100, NULL, 0}, /* the last request */
        {3, 1, "requests", 2 * S - 3},
        {4, 1000, "requests", 3 * S - 4},
        {100 * S, 301, NULL, 0}, /* cold again */
        {100 * S, 150, "acceleration", -1},
        {100 * S, 149, NULL, 0}, /* what was refused counts for neither of the two */
        {100 * S, 51, "simultaneous", -1},
    };

    begin(&spec);
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
        struct provider_refusal refusal = {0, NULL};

        ck_assert_msg(asks(asked[i].at, asked[i].input, &refusal) == !asked[i].reason, "call %zu", i);
        if (!asked[i].reason)
            continue;
        ck_assert_str_eq(refusal.reason, asked[i].reason);
        ck_assert_int_eq(refusal.retry_after, asked[i].retry_after);
    }
}
END_TEST

/* Too much for both, at 30 s, but a meter refuses it: nothing is punished, and at 60 s the pool is cold. */
START_TEST(not_asked_when_a_meter_refuses)
{
    const struct provider_spec spec = {
        .meters =
            (const struct meter_spec[]){{.kind = METER_REQUESTS,
                                         .limit = {.law = LIMIT_CONSTANT, .values = &(double){1 / 60.0}, .count = 1},
                                         .burst = 1}},
        .meter_count = 1,
        .simultaneous = {.cold = 500, .hot = 300, .within = S, .recovery = &recovery}};
    static const double input[] = {400, 600, 400};
    struct provider_refusal refusal = {0, NULL};

    begin(&spec);
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(asks(i * 30 * S, input[i], &refusal), i != 1);
    ck_assert_str_eq(refusal.reason, "requests");
}
END_TEST

Suite *provider_guard_suite(void)
{
    Suite *suite = suite_create("provider_guard");
    TCase *tests = tcase_create("provider_guard");

    tcase_add_checked_fixture(tests, NULL, teardown);
    tcase_add_test(tests, full_contexts_at_once);
    tcase_add_test(tests, hot_until_the_last_one_has_passed);
    tcase_add_test(tests, at_one_instant_alone);
    tcase_add_test(tests, recoveries_are_uniform);
    tcase_add_test(tests, a_sliding_window);
    tcase_add_test(tests, without_a_limit);
    tcase_add_test(tests, twice_the_mean_minute);
    tcase_add_loop_test(tests, the_last_minute_against_the_mean, 0, 3);
    tcase_add_test(tests, asked_after_the_meters);
    tcase_add_test(tests, not_asked_when_a_meter_refuses);
    suite_add_tcase(suite, tests);
    return suite;
}
