/* test_client_schemes.c - window, atb and aatb on the bench: each rule at its edges, by hand, and random lives against
 * slow books (arXiv:2510.04516). */
#include <check.h>
#include <math.h>
#include <string.h>

#include "tests/client_bench.h"
#include "tests/oracles.h"
#include "tests/suites.h"

/* --- short ways -------------------------------------------------------------------------------------------------- */

static policy_time asks(struct bench *bench, policy_time now)
{
    return client_asks(bench, &bench->call, now);
}

static void ends(struct bench *bench, policy_time now, enum policy_end end)
{
    client_ends(bench, &bench->call, now, end);
}

/* One call goes at once and ends so. */
static void call(struct bench *bench, policy_time now, enum policy_end end)
{
    ck_assert_int_eq(asks(bench, now), LET_IN);
    ends(bench, now, end);
}

static void expect_gauge(const struct bench *bench, const char *name, double value)
{
    double found = bench_gauge(bench, name);
    ck_assert_msg(fabs(found - value) < 1e-9, "%s is %.12g, expected %.12g", name, found, value);
}

/* A call is held for so long, and goes then but not a nanosecond before. */
static void held_until(struct bench *bench, policy_time now, policy_time then)
{
    policy_time wait = asks(bench, now);
    ck_assert_msg(wait == then - now, "held for %.9f s, expected %.9f s", (double)wait / S, (double)(then - now) / S);
    ck_assert_int_eq(asks(bench, then - 1), POLICY_LEAST);
    ck_assert_int_eq(asks(bench, then), LET_IN);
}

/* --- window ------------------------------------------------------------------------------------------------------ */

START_TEST(window_waits_for_the_oldest)
{
    struct bench bench = bench_of("window", "count", "3", "span", "10 s", NULL);
    client_init(&bench);
    call(&bench, 1 * S, POLICY_DONE);
    call(&bench, 2 * S, POLICY_DONE);
    expect_gauge(&bench, "held_by", 0);
    call(&bench, 4 * S, POLICY_DONE);
    expect_gauge(&bench, "in_window", 3);
    held_until(&bench, 4 * S, 11 * S); /* the one at 1 counts until it is exactly 10 s old */
    expect_gauge(&bench, "held_by", 0);
    expect_gauge(&bench, "holds", 2);
    ends(&bench, 11 * S, POLICY_DONE);
    ck_assert_int_eq(asks(&bench, 11 * S), 1 * S); /* now that at 2 is the oldest */
    expect_gauge(&bench, "held_by", 1);
    ck_assert_int_eq(asks(&bench, 15 * S), LET_IN);
    expect_gauge(&bench, "in_window", 1);
    bench_free(&bench);
}
END_TEST

START_TEST(window_counts_answers_only)
{
    static const enum policy_end others[] = {POLICY_OVERLOAD, POLICY_SHED,  POLICY_DISPLACED,
                                             POLICY_TIMEOUT,  POLICY_ERROR, POLICY_ABANDONED};
    struct bench bench = bench_of("window", "count", "1", NULL);
    client_init(&bench);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        call(&bench, S, others[i]);
    expect_gauge(&bench, "in_window", 0);
    call(&bench, S, POLICY_DONE);
    held_until(&bench, S, 61 * S); /* the default span */
    bench_free(&bench);
}
END_TEST

START_TEST(window_is_forty_in_a_minute)
{
    struct bench bench = bench_of("window", NULL), published = bench_of("window", "count", "7", "span", "7 s", NULL);
    client_init(&bench);
    for (int i = 0; i < 40; i++)
        call(&bench, i * S, POLICY_DONE);
    held_until(&bench, 39 * S, 60 * S);
    ends(&bench, 60 * S, POLICY_DONE);
    ck_assert_int_eq(asks(&bench, 60 * S), 1 * S);
    ck_assert_ptr_null(bench.ops->presets[0].settings[6]); /* count, span, and the scope, which is the host's */
    ck_assert_str_eq(bench.ops->presets[0].settings[5], "agent");
    bench_set(&published, "count", bench.ops->presets[0].settings[1]);
    bench_set(&published, "span", bench.ops->presets[0].settings[3]);
    ck_assert_mem_eq(published.params, bench.params, bench.ops->params_size);
    bench_free(&bench);
    bench_free(&published);
}
END_TEST

/* Calls that overlap: more than `count` may be answered in a window. It waits for the count-th latest. */
static void random_window(const char *count_text, const char *span_text, size_t count, policy_time span, uint64_t seed)
{
    static policy_time answers[20000];
    struct bench bench = bench_of("window", "count", count_text, "span", span_text, NULL);
    size_t answered = 0, flying = 0, held = 0;
    policy_time now = 0;
    client_init(&bench);
    for (int step = 0; step < 20000; step++) {
        uint64_t word = oracle_random(&seed);
        now += (policy_time)(word % (uint64_t)(4 * span / (policy_time)count)) / 8;
        if (word >> 60 < 9 || flying == 0) {
            size_t in_window = 0;
            policy_time wait = asks(&bench, now), expected;
            while (in_window < answered && answers[answered - 1 - in_window] > now - span)
                in_window++;
            expected = in_window < count ? LET_IN : answers[answered - count] + span - now;
            ck_assert_int_eq(wait, expected > 0 && expected < POLICY_LEAST ? POLICY_LEAST : expected);
            ck_assert_double_eq(bench_gauge(&bench, "in_window"), (double)(in_window < 1000 ? in_window : 1000));
            flying += wait == LET_IN;
            held += wait != LET_IN;
        } else {
            flying--;
            if (word >> 40 & 3)
                answers[answered++] = now;
            ends(&bench, now, word >> 40 & 3 ? POLICY_DONE : POLICY_OVERLOAD);
        }
    }
    ck_assert_msg(held > 500 && answered > 2000, "%zu held, %zu answered", held, answered);
    bench_free(&bench);
}

START_TEST(window_against_a_list)
{
    random_window("1", "1 s", 1, S, 1);
    random_window("5", "60 s", 5, 60 * S, 2);
    random_window("1000", "10 min", 1000, 600 * S, 3);
}
END_TEST

START_TEST(window_obeys_a_live_count)
{
    struct bench bench = bench_of("window", "count", "10", "span", "10 s", NULL);
    client_init(&bench);
    for (int i = 0; i < 5; i++)
        call(&bench, i * S, POLICY_DONE);
    bench_set(&bench, "count", "2");
    ck_assert_int_eq(asks(&bench, 5 * S), 8 * S); /* until that at 3 is gone */
    bench_set(&bench, "count", "6");
    ck_assert_int_eq(asks(&bench, 5 * S), LET_IN);
    bench_free(&bench);
}
END_TEST

/* --- atb --------------------------------------------------------------------------------------------------------- */

START_TEST(atb_begins_with_one_token)
{
    struct bench bench = bench_of("atb", NULL);
    client_init(&bench);
    ck_assert_int_eq(asks(&bench, 1000 * S), LET_IN); /* its time begins when it first asks */
    expect_gauge(&bench, "tokens", 0);
    expect_gauge(&bench, "rate", 0.67);
    held_until(&bench, 1000 * S, 1000 * S + INT64_C(1492537314)); /* 1 / 0.67 s, up */
    expect_gauge(&bench, "held_by", 0);
    ck_assert_int_gt(asks(&bench, 1001 * S), POLICY_LEAST);
    expect_gauge(&bench, "held_by", 1);
    bench_free(&bench);
}
END_TEST

START_TEST(atb_bucket_holds_forty)
{
    struct bench bench = bench_of("atb", NULL);
    client_init(&bench);
    call(&bench, 0, POLICY_ERROR);
    ck_assert_int_gt(asks(&bench, S), 0);
    expect_gauge(&bench, "tokens", 0.67);
    for (int i = 0; i < 40; i++)
        ck_assert_int_eq(asks(&bench, 60 * S), LET_IN); /* 59.701 s fill it */
    held_until(&bench, 60 * S, 60 * S + INT64_C(1492537314));
    bench_free(&bench);
}
END_TEST

/* From a rate on, the rates that so many ends of a kind lead to, in hundredths. */
static void expect_rates(struct bench *bench, enum policy_end end, const int *rates)
{
    for (; *rates; rates++) {
        ends(bench, bench->view.now, end);
        expect_gauge(bench, "rate", *rates / 100.0);
    }
}

START_TEST(atb_rates_by_hand)
{
    struct bench bench = bench_of("atb", NULL), low = bench_of("atb", "initial_rate", "0.01/s", NULL);
    client_init(&bench);
    client_init(&low);
    ck_assert_int_eq(asks(&bench, 0), LET_IN);
    /* 80.4, 96, 115.2, 138, 165.6, 199.2, 238.8 */
    expect_rates(&bench, POLICY_DONE, (const int[]){80, 96, 115, 138, 166, 199, 239, 0});
    /* 119.5, 60, 30, 15, 7.5, 4, 2, 1, 0.5 */
    expect_rates(&bench, POLICY_OVERLOAD, (const int[]){120, 60, 30, 15, 8, 4, 2, 1, 1, 1, 0});
    ck_assert_int_eq(asks(&low, 0), LET_IN);
    /* a hundredth more up to 5, where 1.2 x 5 = 6 is as much; then 7.2, 8.4, 9.6, 12 */
    expect_rates(&low, POLICY_DONE, (const int[]){2, 3, 4, 5, 6, 7, 8, 10, 12, 0});
    bench_free(&bench);
    bench_free(&low);
}
END_TEST

START_TEST(atb_initial_rate_is_rounded)
{
    static const char *const texts[] = {"0.014/s", "0.015/s", "40/min", "0.675/s", "1M/s"};
    static const double rates[] = {0.01, 0.02, 0.67, 0.68, 1e6};
    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++) {
        struct bench bench = bench_of("atb", "initial_rate", texts[i], NULL);
        client_init(&bench);
        asks(&bench, 0);
        expect_gauge(&bench, "rate", rates[i]);
        bench_free(&bench);
    }
}
END_TEST

START_TEST(atb_refusal_empties_the_bucket)
{
    static const enum policy_end refusals[] = {POLICY_OVERLOAD, POLICY_SHED, POLICY_DISPLACED};
    for (size_t i = 0; i < 3; i++) {
        struct bench bench = bench_of("atb", "initial_rate", "2/s", NULL);
        client_init(&bench);
        ck_assert_int_eq(asks(&bench, 0), LET_IN);
        ends(&bench, 10 * S, POLICY_TIMEOUT);
        expect_gauge(&bench, "tokens", 20);
        ck_assert_int_eq(asks(&bench, 10 * S), LET_IN);
        expect_gauge(&bench, "tokens", 19);
        ends(&bench, 11 * S, refusals[i]);
        expect_gauge(&bench, "tokens", 0);
        expect_gauge(&bench, "refusals", 1);
        held_until(&bench, 11 * S, 12 * S); /* at 1/s */
        bench_free(&bench);
    }
}
END_TEST

/* What came before a change of the rate came at the old one. */
START_TEST(atb_fills_at_the_rate_of_the_time)
{
    struct bench bench = bench_of("atb", "initial_rate", "0.1/s", NULL);
    client_init(&bench);
    ck_assert_int_eq(asks(&bench, 0), LET_IN);
    ends(&bench, 5 * S, POLICY_DONE); /* 0.5 tokens; then 0.12/s */
    expect_gauge(&bench, "tokens", 0.5);
    ck_assert_int_eq(asks(&bench, 5 * S), INT64_C(4166666667));
    bench_free(&bench);
}
END_TEST

START_TEST(atb_other_ends_change_nothing)
{
    static const enum policy_end others[] = {POLICY_ERROR, POLICY_TIMEOUT, POLICY_ABANDONED, POLICY_EXPIRED};
    struct bench bench = bench_of("atb", NULL);
    client_init(&bench);
    for (int i = 0; i < 4; i++) {
        call(&bench, i * 10 * S, others[i]);
        expect_gauge(&bench, "rate", 0.67);
    }
    expect_gauge(&bench, "refusals", 0);
    bench_free(&bench);
}
END_TEST

/* The rate has no upper bound but that of the numbers: what its essay says of an easy hour. */
START_TEST(atb_grows_far)
{
    struct bench bench = bench_of("atb", NULL);
    int refusals = 0;
    client_init(&bench);
    ck_assert_int_eq(asks(&bench, 0), LET_IN);
    for (int i = 0; i < 100; i++)
        ends(&bench, i * S, POLICY_DONE);
    for (; bench_gauge(&bench, "rate") >= 1; refusals++)
        ends(&bench, 100 * S, POLICY_OVERLOAD);
    ck_assert_int_eq(refusals, 26);
    for (int i = 0; i < 5000; i++) {
        double before = bench_gauge(&bench, "rate");
        ends(&bench, (100 + i) * S, POLICY_DONE);
        ck_assert_double_ge(bench_gauge(&bench, "rate"), before);
        ck_assert_double_le(bench_gauge(&bench, "tokens"), 40);
    }
    ck_assert_double_eq(bench_gauge(&bench, "rate"), 0x1p50 / 100);
    bench_free(&bench);
}
END_TEST

/* Rates and tokens in decimals, by the words of the rules; waits that are at most that of a token, and enough. */
START_TEST(atb_against_decimals)
{
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct bench bench = bench_of("atb", "bucket", seed % 2 ? "40" : "3", NULL);
        long double rate = 0.67L, tokens = 1, most = seed % 2 ? 40 : 3;
        policy_time now = 0, last = 0;
        uint64_t state = seed;
        unsigned sent = 0;
        client_init(&bench);
        for (int step = 0; step < 3000; step++) {
            uint64_t word = oracle_random(&state);
            enum policy_end end = word >> 32 & 7 ? word >> 35 & 1 ? POLICY_DONE : POLICY_OVERLOAD : POLICY_ERROR;
            policy_time wait = asks(&bench, now);
            if (step > 0)
                tokens = fminl(most, tokens + (long double)(now - last) / 1e9L * rate);
            last = now;
            if (wait != LET_IN) {
                ck_assert_double_lt((double)tokens, 1 + 1e-9);
                ck_assert_int_le(wait, (policy_time)(1e9L / rate) + POLICY_LEAST);
                now += wait;
                ck_assert_int_eq(asks(&bench, now), LET_IN); /* never stuck: nothing else has happened */
                tokens = fminl(most, tokens + (long double)wait / 1e9L * rate);
                last = now;
            }
            ck_assert_double_gt((double)tokens, 1 - 1e-9);
            tokens -= 1;
            now += (policy_time)(word % (uint64_t)(3 * S));
            ends(&bench, now, end);
            tokens = fminl(most, tokens + (long double)(now - last) / 1e9L * rate);
            last = now;
            if (end == POLICY_DONE) {
                rate = floorl(fmaxl(rate + 0.01L, 1.2L * rate) * 100 + 0.5L + 1e-9L) / 100;
            } else if (end == POLICY_OVERLOAD) {
                rate = fmaxl(0.01L, floorl(rate / 2 * 100 + 0.5L + 1e-9L) / 100);
                tokens = 0;
            }
            expect_gauge(&bench, "rate", (double)rate);
            expect_gauge(&bench, "tokens", (double)tokens);
            sent++;
        }
        ck_assert_uint_eq(sent, 3000);
        bench_free(&bench);
    }
}
END_TEST

Suite *client_schemes_suite(void)
{
    Suite *suite = suite_create("client_schemes");
    TCase *window = tcase_create("window");
    TCase *atb = tcase_create("atb");
    tcase_add_test(window, window_waits_for_the_oldest);
    tcase_add_test(window, window_counts_answers_only);
    tcase_add_test(window, window_is_forty_in_a_minute);
    tcase_add_test(window, window_against_a_list);
    tcase_add_test(window, window_obeys_a_live_count);
    tcase_add_test(atb, atb_begins_with_one_token);
    tcase_add_test(atb, atb_bucket_holds_forty);
    tcase_add_test(atb, atb_rates_by_hand);
    tcase_add_test(atb, atb_initial_rate_is_rounded);
    tcase_add_test(atb, atb_refusal_empties_the_bucket);
    tcase_add_test(atb, atb_fills_at_the_rate_of_the_time);
    tcase_add_test(atb, atb_other_ends_change_nothing);
    tcase_add_test(atb, atb_grows_far);
    tcase_add_test(atb, atb_against_decimals);
    suite_add_tcase(suite, window);
    suite_add_tcase(suite, atb);
    return suite;
}
