/* test_throttles.c - sre_throttle on the bench: by hand, and in random lives against its formula and a list. */
#include <check.h>
#include <math.h>

#include "tests/client_bench.h"
#include "tests/oracles.h"
#include "tests/suites.h"

static policy_time asks(struct bench *bench, policy_time now)
{
    return client_asks(bench, &bench->call, now);
}

static void ends(struct bench *bench, policy_time now, enum policy_end end)
{
    client_ends(bench, &bench->call, now, end);
}

/* A call goes at once and ends so. */
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

/* --- sre_throttle ------------------------------------------------------------------------------------------------ */

static struct bench throttle(const char *k, const char *window)
{
    struct bench bench = bench_of("sre_throttle", "k", k, "window", window, NULL);
    client_init(&bench);
    return bench;
}

/* The next attempt is refused with exactly this probability; afterwards it has been. */
static void expect_refusal(struct bench *bench, policy_time now, double p)
{
    double refused = bench_gauge(bench, "refused");
    client_draws(nextafter(p, 0));
    ck_assert_int_eq(asks(bench, now), REFUSED);
    expect_gauge(bench, "probability", p);
    expect_gauge(bench, "refused", refused + 1);
}

START_TEST(throttle_by_hand)
{
    struct bench bench = throttle("2", "2 min");
    client_draws(0);
    call(&bench, 0, POLICY_OVERLOAD); /* of nothing, nothing is refused */
    expect_gauge(&bench, "requests", 1);
    expect_gauge(&bench, "accepts", 0);
    expect_refusal(&bench, 0, 1 / 2.0);
    expect_refusal(&bench, 0, 2 / 3.0); /* what it refuses is a request too */
    client_draws(3 / 4.0);
    call(&bench, 0, POLICY_DONE); /* a number that is not below p */
    expect_gauge(&bench, "probability", 3 / 4.0);
    expect_refusal(&bench, 0, (4 - 2 * 1) / 5.0);
    client_draws(0.9);
    call(&bench, 0, POLICY_DONE);
    expect_gauge(&bench, "probability", (5 - 2 * 1) / 6.0);
    call(&bench, 0, POLICY_DONE);
    expect_gauge(&bench, "probability", (6 - 2 * 2) / 7.0);
    client_draws(0);
    for (int i = 0; i < 3; i++) { /* 7 requests, 3 accepts */
        client_draws(0.9);
        call(&bench, 0, POLICY_DONE);
    }
    expect_gauge(&bench, "accepts", 6);
    expect_gauge(&bench, "requests", 10);
    client_draws(0);
    call(&bench, 0, POLICY_OVERLOAD);
    expect_gauge(&bench, "probability", 0); /* 10 - 12 */
    bench_free(&bench);
}
END_TEST

START_TEST(throttle_accepts_what_is_not_refused)
{
    static const enum policy_end ends_of[] = {POLICY_DONE,     POLICY_ERROR, POLICY_TIMEOUT,  POLICY_ABANDONED,
                                              POLICY_OVERLOAD, POLICY_SHED,  POLICY_DISPLACED};
    for (size_t i = 0; i < sizeof ends_of / sizeof *ends_of; i++) {
        struct bench bench = throttle("2", "2 min");
        ck_assert_int_eq(asks(&bench, 0), LET_IN);
        expect_gauge(&bench, "accepts", 1); /* in flight */
        ends(&bench, S, ends_of[i]);
        expect_gauge(&bench, "accepts", i < 4);
        expect_gauge(&bench, "requests", 1);
        bench_free(&bench);
    }
}
END_TEST

/* Held by another member an attempt is counted and drawn for once; taken back after it was sent it is a new request. */
START_TEST(throttle_draws_once_for_an_attempt)
{
    struct bench bench = throttle("1", "2 min");
    uint64_t drawn;
    struct policy_call held = client_call(&bench);
    client_draws(0.999);
    call(&bench, 0, POLICY_OVERLOAD);
    drawn = client_drawn();
    held.attempt = 1;
    for (int i = 0; i < 5; i++) /* other members hold it: `admitted` is not told */
        ck_assert_int_eq(bench.ops->admit(&bench.self, &bench.view, &held).action, POLICY_ADMIT);
    ck_assert_uint_eq(client_drawn(), drawn + 1);
    expect_gauge(&bench, "requests", 2);
    held.ever_held = true;
    ck_assert_int_eq(client_asks(&bench, &held, 0), LET_IN);
    expect_gauge(&bench, "requests", 2);
    client_ends(&bench, &held, 0, POLICY_OVERLOAD);
    held.ever_held = true; /* the same attempt, again */
    ck_assert_int_eq(client_asks(&bench, &held, 0), LET_IN);
    expect_gauge(&bench, "requests", 3);
    ck_assert_uint_eq(client_drawn(), drawn + 2);
    client_ends(&bench, &held, 0, POLICY_DONE);
    /* given up while it was held: not sent, so neither an accept nor the loss of one */
    held.ever_held = false;
    ck_assert_int_eq(client_asks(&bench, &held, 0), LET_IN);
    client_ends(&bench, &held, 0, POLICY_DONE);
    held.attempt++;
    ck_assert_int_eq(bench.ops->admit(&bench.self, &bench.view, &held).action, POLICY_ADMIT);
    client_ends(&bench, &held, 0, POLICY_OVERLOAD);
    expect_gauge(&bench, "accepts", 2);
    bench_free(&bench);
}
END_TEST

/* Cells of a second: what was asked within the running one and the 119 before it. */
START_TEST(throttle_forgets)
{
    struct bench bench = throttle("2", "2 min"), other = throttle("2", "2 min");
    client_draws(0);
    call(&bench, 500 * MS, POLICY_OVERLOAD);
    expect_refusal(&bench, 120 * S - 1, 1 / 2.0);
    expect_refusal(&bench, 120 * S, 1 / 2.0); /* only that at 119 s is left */
    bench_free(&bench);
    ck_assert_int_eq(asks(&other, 500 * MS), LET_IN);
    ends(&other, 120 * S, POLICY_SHED); /* its accept has left the window already */
    expect_gauge(&other, "accepts", 0);
    expect_gauge(&other, "requests", 0);
    bench_free(&other);
}
END_TEST

START_TEST(throttle_of_no_bounds_never_refuses)
{
    struct bench bench = throttle("inf", "2 min");
    client_draws(0);
    for (int i = 0; i < 1000; i++)
        call(&bench, i * MS, i % 3 ? POLICY_OVERLOAD : POLICY_DONE);
    for (int i = 0; i < 1000; i++)
        call(&bench, 1000 * S + i * MS, POLICY_OVERLOAD);
    bench_free(&bench);
}
END_TEST

enum { CALLS = 16, STEPS = 6000 };

struct entry {
    policy_time at;
    bool accept, counts;
};

static double sum_of(const struct entry *entries, size_t count, bool accept, policy_time now, policy_time cell)
{
    double sum = 0;
    for (size_t i = count; i-- > 0 && entries[i].at / cell > now / cell - 120;)
        sum += entries[i].counts && entries[i].accept == accept;
    return sum;
}

/* Calls that overlap, of which many are refused late; what counts is looked up in a list. */
static void random_throttle(const char *k_text, double k, const char *window, policy_time cell, uint64_t seed)
{
    static struct entry entries[2 * STEPS];
    struct bench bench = throttle(k_text, window);
    struct policy_call calls[CALLS];
    size_t entry_of[CALLS], count = 0;
    bool flying[CALLS] = {false};
    policy_time now = 0;
    unsigned refused = 0, let_in = 0;
    for (int i = 0; i < CALLS; i++)
        calls[i] = client_call(&bench);
    for (int step = 0; step < STEPS; step++) {
        uint64_t word = oracle_random(&seed);
        size_t i = word >> 32 & (CALLS - 1);
        double u = (double)(oracle_random(&seed) >> 11) * 0x1p-53, requests, accepts, p;
        now += word & 63 ? (policy_time)((word >> 8) % (uint64_t)cell) : (word >> 40 & 1 ? 30 : 200) * cell;
        if (flying[i]) {
            bool refuse = word >> 60 < (step / 500 % 2 ? 13 : 2); /* good times and bad */
            client_ends(&bench, &calls[i], now, refuse ? POLICY_OVERLOAD : POLICY_DONE);
            entries[entry_of[i]].counts = !refuse;
            flying[i] = false;
        } else {
            policy_time answer;
            requests = sum_of(entries, count, false, now, cell);
            accepts = sum_of(entries, count, true, now, cell);
            p = fmax(0, (requests - k * accepts) / (requests + 1));
            client_draws(u);
            answer = client_asks(&bench, &calls[i], now);
            ck_assert_int_eq(answer, u < p ? REFUSED : LET_IN);
            ck_assert_double_eq(bench_gauge(&bench, "probability"), p);
            entries[count++] = (struct entry){now, false, true};
            entry_of[i] = count;
            flying[i] = answer == LET_IN;
            if (flying[i])
                entries[count++] = (struct entry){now, true, true};
            refused += answer == REFUSED;
            let_in += answer == LET_IN;
        }
        ck_assert_double_eq(bench_gauge(&bench, "requests"), sum_of(entries, count, false, now, cell));
        ck_assert_double_eq(bench_gauge(&bench, "accepts"), sum_of(entries, count, true, now, cell));
    }
    ck_assert_msg(refused > 200 && let_in > 200, "%u refused, %u let in", refused, let_in);
    bench_free(&bench);
}

START_TEST(throttle_against_its_formula)
{
    random_throttle("2", 2, "2 min", S, 1);
    random_throttle("1.1", 1.1, "2 min", S, 2);
    random_throttle("1", 1, "1 s", S / 120, 3);
    random_throttle("1.5", 1.5, "1 h", 30 * S, 4);
}
END_TEST

Suite *throttles_suite(void)
{
    Suite *suite = suite_create("throttles");
    TCase *sre = tcase_create("sre_throttle");
    tcase_add_test(sre, throttle_by_hand);
    tcase_add_test(sre, throttle_accepts_what_is_not_refused);
    tcase_add_test(sre, throttle_draws_once_for_an_attempt);
    tcase_add_test(sre, throttle_forgets);
    tcase_add_test(sre, throttle_of_no_bounds_never_refuses);
    tcase_add_test(sre, throttle_against_its_formula);
    suite_add_tcase(suite, sre);
    return suite;
}
