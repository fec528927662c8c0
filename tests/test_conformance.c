/* test_conformance.c - what a meter lets in, never mind how: over every interval between two admissions no more than
 * its limit gives, as inequalities of integers without a tolerance. Under each law, each fill, and each way to count.
 */
#include <check.h>

#include "models/meter.h"
#include "tests/oracles.h"
#include "tests/suites.h"

#define S SIM_SECOND
#define MICRO INT64_C(1000000)
#define CALLS 250
#define FILLS 4
#define WAYS 3

enum way { AT_ADMISSION, SETTLED, AFTER };

static const struct stream_key key = {5, 2};

/* 10 a second, more or less, but by the day as much in 3400 s: calls come once in half that time at the least. */
#define SLOW 3400
#define LAWS 5
static const struct limit_spec laws[LAWS] = {
    {.law = LIMIT_CONSTANT, .values = (const double[]){10}, .count = 1},
    {.law = LIMIT_STEPS,
     .times = (const sim_time[]){0, 7 * S, 20 * S, 33 * S},
     .values = (const double[]){10, 2.5, 0, 20},
     .count = 4},
    {.law = LIMIT_TWO_LEVEL, .values = (const double[]){15, 5}, .count = 2, .dwell = 2},
    {.law = LIMIT_WALK, .values = (const double[]){10, 1, 20}, .count = 3, .step = 7, .every = 900000007},
    {.law = LIMIT_DAY,
     .values = (const double[]){10.0 / SLOW, 2.0 / SLOW, 20.0 / SLOW, 5.0 / SLOW, 1.0 / SLOW, 14.0 / SLOW},
     .count = 6},
};

static sim_time pace_of(const struct limit_spec *law)
{
    return law->law == LIMIT_DAY ? S / 2 * SLOW : S / 2;
}

struct record {
    sim_time at, ends;
    int64_t estimate, real;
    sim_sum given; /* by the limit since t = 0 */
    bool settled;
};

struct life {
    struct meter_spec spec;
    enum way way;
    struct meter meter;
    struct limit limit; /* of the oracle, at `since` */
    sim_time since;
    sim_sum given, allowance; /* allowance: of the window that `since` is in */
    struct record calls[CALLS];
    size_t count;
};

/* What the limit has given until then, piece by piece and window by window: to a bucket that fills all the time, the
 * integral; to the others limit x window at each start, the first one left out, as a bucket is full then. */
static void given_until(struct life *life, sim_time now)
{
    const struct meter_spec *spec = &life->spec;

    while (life->since < now) {
        sim_time next = now, window = spec->window;

        if (life->limit.ends < next)
            next = life->limit.ends;
        if (spec->fill != FILL_CONTINUOUS && (life->since / window + 1) * window < next)
            next = (life->since / window + 1) * window;
        if (spec->fill == FILL_CONTINUOUS)
            life->given += (sim_sum)life->limit.value * (next - life->since);
        life->since = next;
        while (life->limit.ends <= next)
            limit_next(&life->limit);
        if (spec->fill != FILL_CONTINUOUS && next % window == 0) {
            life->allowance = (sim_sum)life->limit.value * window;
            if (spec->fill == FILL_STEP)
                life->given += life->allowance;
        }
    }
}

static void settle_until(struct life *life, sim_time now)
{
    for (;;) {
        struct record *first = NULL;

        for (size_t i = 0; i < life->count; i++)
            if (life->calls[i].ends <= now && !life->calls[i].settled && (!first || life->calls[i].ends < first->ends))
                first = &life->calls[i];
        if (!first)
            return;
        first->settled = true;
        meter_settle(&life->meter, first->ends, first->at, first->estimate, first->real);
    }
}

static bool bucket(const struct life *life)
{
    return life->spec.fill == FILL_CONTINUOUS || life->spec.fill == FILL_STEP;
}

/* Calls of 0 to 12 come at random, more than fit, a quarter of them at the instant of the one before, and fly for up to
 * six times the longest gap. */
static void live(struct life *life, uint64_t seed, const struct limit_spec *law)
{
    const sim_sum burst = (sim_sum)30 * MICRO * METER_DAY;
    sim_time now = 0, pace = pace_of(law);

    meter_init(&life->meter, &life->spec, key, seed);
    limit_init(&life->limit, law, false, key, seed);
    life->allowance = (sim_sum)life->limit.value * life->spec.window;
    while (life->count < CALLS) {
        uint64_t words[4];
        struct record call = {0};
        bool fits;

        for (int i = 0; i < 4; i++)
            words[i] = oracle_random(&seed);
        if (words[0] % 4) /* else at the same instant */
            now += (sim_time)(words[0] / 4 % (uint64_t)pace) + 1;
        call.at = now;
        call.real = (int64_t)(words[1] % (uint64_t)(12 * MICRO));
        call.estimate = life->way == AFTER ? 0 : (int64_t)(words[2] % (uint64_t)(12 * MICRO));
        call.ends = now + (sim_time)(words[3] % (uint64_t)(6 * pace)) + 1;
        settle_until(life, now);
        fits = meter_fits(&life->meter, now, call.estimate);
        given_until(life, now);
        ck_assert(life->meter.left <= (bucket(life) ? burst : life->allowance));
        if (!fits)
            continue;
        meter_take(&life->meter, now, call.estimate);
        call.given = life->given;
        life->calls[life->count++] = call;
    }
}

/* Which part of a call counts against what was given between the first and the last admission of an interval. */
static int64_t counted(const struct life *life, const struct record *call)
{
    return life->way == AT_ADMISSION ? call->estimate : call->real;
}

/* By how much more the calls from `first` to `last` may take, as some were still on their way: at `last`, when their
 * real take was not known, and, in a bucket, at `first`, when others had been charged too much. */
static sim_sum pardoned(const struct life *life, size_t first, size_t last)
{
    sim_sum sum = 0;

    for (size_t i = 0; life->way != AT_ADMISSION && i <= last; i++) {
        const struct record *call = &life->calls[i];
        int64_t debit = call->real - call->estimate;

        if (i >= first && call->ends > life->calls[last].at && debit > 0)
            sum += debit;
        if (bucket(life) && i < first && call->ends > life->calls[first].at && debit < 0)
            sum -= debit;
    }
    return sum * METER_DAY;
}

START_TEST(no_interval_gets_more_than_its_limit)
{
    static struct life life;
    const enum meter_fill fills[FILLS] = {FILL_CONTINUOUS, FILL_WINDOW, FILL_STEP, FILL_SUB};
    int way = _i % WAYS, fill = _i / WAYS % FILLS, law = _i / WAYS / FILLS;
    sim_sum tightest = (sim_sum)1 << 120, overshoot = 0;
    const sim_sum largest = (sim_sum)12 * MICRO * METER_DAY;

    life = (struct life){.way = (enum way)way,
                         .spec = {.kind = METER_TOTAL,
                                  .limit = laws[law],
                                  .burst = 30,
                                  .fill = fills[fill],
                                  .window = (fills[fill] == FILL_SUB ? 2 : 6) * pace_of(&laws[law]),
                                  .counts = way == AFTER ? COUNTS_AFTER : COUNTS_ESTIMATE,
                                  .settle = way == SETTLED}};
    live(&life, 1000 + (uint64_t)_i, &laws[law]);
    for (size_t first = 0; first < CALLS; first++) {
        sim_sum taken = 0;

        for (size_t last = first; last < CALLS; last++) {
            const struct record *a = &life.calls[first], *b = &life.calls[last];
            sim_sum most = (sim_sum)30 * MICRO * METER_DAY + b->given - a->given, spare;

            if (!bucket(&life)) {
                /* Windows are judged one by one, from the first call in each. */
                struct life oracle = {.spec = life.spec};

                if (a->at / life.spec.window != b->at / life.spec.window ||
                    (first > 0 && life.calls[first - 1].at / life.spec.window == a->at / life.spec.window))
                    break;
                limit_init(&oracle.limit, &laws[law], false, key, 1000 + (uint64_t)_i);
                oracle.allowance = (sim_sum)oracle.limit.value * oracle.spec.window;
                given_until(&oracle, a->at);
                most = oracle.allowance;
            }
            taken += (sim_sum)counted(&life, b) * METER_DAY;
            spare = most - taken;
            if (-spare > overshoot)
                overshoot = -spare;
            if (spare + pardoned(&life, first, last) < 0)
                ck_abort_msg("law %d, fill %d, way %d: calls %zu to %zu", law, fill, way, first, last);
            if (spare < tightest)
                tightest = spare;
        }
    }
    /* It was put to the test: the limit was used up, and what may overshoot did. */
    ck_assert(tightest < largest);
    ck_assert_msg((overshoot > 0) == (way != AT_ADMISSION), "law %d, fill %d, way %d: overshoot %g", law, fill, way,
                  (double)overshoot);
}
END_TEST

/* At each admission no more is in flight than the limit of the moment. */
START_TEST(never_more_in_flight)
{
    static struct life life;
    int64_t most = 0;

    life = (struct life){.spec = {.kind = METER_TOKENS_IN_FLIGHT, .limit = laws[_i]}};
    live(&life, 77, &laws[_i]);
    for (size_t last = 0; last < CALLS; last++) {
        struct limit limit;
        sim_sum flying = 0;

        limit_init(&limit, &laws[_i], true, key, 77);
        while (limit.ends <= life.calls[last].at)
            limit_next(&limit);
        for (size_t i = 0; i <= last; i++)
            if (life.calls[i].ends > life.calls[last].at)
                flying += life.calls[i].estimate;
        ck_assert(flying <= limit.value);
        if (limit.value - flying < 2 * MICRO)
            most++;
    }
    ck_assert_int_gt(most, 0);
}
END_TEST

/* In whatever state: refused until the ns that was named, and let in at it. */
START_TEST(until_is_the_first_ns)
{
    uint64_t random = 4000 + (uint64_t)_i;
    int refused = 0, never = 0, wrong = 0;

    for (int n = 0; n < 3000; n++) {
        const double limit = (double)(oracle_random(&random) % 100000) / (n % 10 ? 977 : 1e9) * (n % 20 != 0);
        const struct meter_spec spec = {.kind = METER_TOTAL,
                                        .limit = {.law = LIMIT_CONSTANT, .values = &limit, .count = 1},
                                        .burst = (double)(oracle_random(&random) % 50000) / 1000,
                                        .fill = (enum meter_fill)(_i % FILLS),
                                        .window = (sim_time)(oracle_random(&random) % (5 * S)) + 1,
                                        .counts = _i / FILLS == AFTER ? COUNTS_AFTER : COUNTS_ESTIMATE,
                                        .settle = _i / FILLS == SETTLED};
        sim_time now = 0, until;
        struct meter meter;

        meter_init(&meter, &spec, key, 1);
        for (int i = 0; i < 20; i++) {
            int64_t estimate = _i / FILLS == AFTER ? 0 : (int64_t)(oracle_random(&random) % (uint64_t)(9 * MICRO));

            now += (sim_time)(oracle_random(&random) % (uint64_t)(S / 5));
            until = meter_until(&meter, now, estimate);
            wrong += (until == 0) != meter_fits(&meter, now, estimate);
            if (until == 0) {
                meter_take(&meter, now, estimate);
                meter_settle(&meter, now, now, estimate, (int64_t)(oracle_random(&random) % (uint64_t)(9 * MICRO)));
                continue;
            }
            struct meter before = meter, then = meter;

            if (until == SIM_NEVER) {
                never++;
                wrong += meter_fits(&then, now + 100000 * S, estimate);
                continue;
            }
            refused++;
            wrong += meter_fits(&before, now + until - 1, estimate) || !meter_fits(&then, now + until, estimate);
        }
    }
    ck_assert_int_eq(wrong, 0);
    ck_assert_int_gt(refused, 1000);
    ck_assert_int_gt(never, 100);
}
END_TEST

Suite *conformance_suite(void)
{
    Suite *suite = suite_create("conformance");
    TCase *tests = tcase_create("conformance");

    tcase_add_loop_test(tests, no_interval_gets_more_than_its_limit, 0, WAYS * FILLS * LAWS);
    tcase_add_loop_test(tests, never_more_in_flight, 0, LAWS - 1);
    tcase_add_loop_test(tests, until_is_the_first_ns, 0, FILLS * WAYS);
    suite_add_tcase(suite, tests);
    return suite;
}
