/* test_shares.c - shares: its text of names, its buckets by hand, hard and lent, and the law that a class gets its
 * share over any interval in which all have demand, in random lives. */
#include <check.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "policies/class_shares.h"
#include "tests/call_bench.h"
#include "tests/model.h"
#include "tests/oracles.h"
#include "tests/suites.h"

static const char *const names[] = {"live", "batch", "other", "live2"};
enum { LIVE, BATCH, OTHER, LIVE2 };

static struct bench bench;

static void begin(void)
{
    bench.view.class_names = names;
    bench.view.classes = 4;
    bench_begins(&bench);
}

/* 60 tokens a second in all, in buckets of 10 s of it. */
#define SHARES(...) \
    do { \
        bench = bench_of("shares", "rate", "60/s", "burst", "10 s", __VA_ARGS__, NULL); \
        begin(); \
    } while (0)

static struct policy_call *call_of(uint32_t klass, double input)
{
    struct policy_call *call = bench_call(&bench, input, 0, 0);
    call->klass = klass;
    return call;
}

static struct policy_answer asks(uint32_t klass, policy_time now, double input)
{
    return bench_attempts(&bench, call_of(klass, input), now);
}

static bool enters(uint32_t klass, policy_time now, double input)
{
    return bench_enters(&bench, call_of(klass, input), now);
}

static void holds(uint32_t klass, policy_time now, double input, policy_time after)
{
    struct policy_answer answer = asks(klass, now, input);
    ck_assert_int_eq(answer.action, POLICY_HOLD);
    ck_assert_int_eq(answer.after, after);
    ck_assert_str_eq(answer.reason, "share");
}

/* What a class's bucket holds: it takes that at once, and not one more. */
static void bucket_holds(uint32_t klass, policy_time now, double tokens)
{
    if (tokens >= 1)
        ck_assert_msg(enters(klass, now, tokens), "%s has less than %g", names[klass], tokens);
    ck_assert_msg(!enters(klass, now, 1), "%s has more than %g", names[klass], tokens);
}

/* --- the text ------------------------------------------------------------------------------------------------------
 */

static void reads(const char *text, int count, ...)
{
    struct class_shares of;
    va_list shares;
    ck_assert_msg(!shares_read(text, &of), "%s: %s", text, shares_read(text, &of));
    ck_assert_int_eq(of.count, count);
    va_start(shares, count);
    for (int i = 0; i <= count; i++)
        ck_assert_int_eq(of.shares[i], va_arg(shares, int));
    va_end(shares);
}

static void expects(const char *text, const char *what)
{
    struct class_shares of;
    const char *wrong = shares_read(text, &of);
    ck_assert_msg(wrong != NULL, "%s is read", text);
    ck_assert_msg(strstr(wrong, what) != NULL, "%s: %s", text, wrong);
}

START_TEST(texts)
{
    reads(NULL, 0, 1000000);
    reads("", 0, 1000000);
    reads(" ,\n", 0, 1000000);
    reads("live 70 %", 1, 700000, 300000);
    reads("live 70%", 1, 700000, 300000);
    reads("live .7 batch 0.1", 2, 700000, 100000, 200000);
    reads("\tlive 70 %, batch 30 %\n", 2, 700000, 300000, 0);
    reads("live 1", 1, 1000000, 0);
    reads("live 100 %", 1, 1000000, 0);
    reads("live 0 batch 0 %", 2, 0, 0, 1000000);
    reads("a 33.3333 % b 33.3333 % c 33.3334 %", 3, 333333, 333333, 333334, 0);
    reads("a 0.000001 b 0.0001 %", 2, 1, 1, 999998);
    reads("70 70 %", 1, 700000, 300000); /* a name may be a number: they go by turns */
    reads("a 6% b 6% c 6% d 6% e 6% f 6% g 6% h 6% i 6% j 6% k 6% l 6% m 6% n 6% o 6%", 15, 60000, 60000, 60000, 60000,
          60000, 60000, 60000, 60000, 60000, 60000, 60000, 60000, 60000, 60000, 60000, 100000);
    expects("live", "by turns");
    expects("live 70 % batch", "by turns");
    expects("live: 70 % batch x", "by turns");
    expects("live 70 % % batch 1 %", "by turns");
    expects("live 70 %batch 1 %", "by turns");
    expects("live 0.5.5", "by turns");
    expects("live -1", "by turns");
    expects("live 1.1", "by turns"); /* of one class, already too much */
    expects("live 101 %", "by turns");
    expects("live . batch 1 %", "by turns");
    expects("live 0.0000000000000001", "by turns");
    expects("live 70 % batch 31 %", "100 % in all");
    expects("live 70 % live 1 %", "once");
    expects("a 6% b 6% c 6% d 6% e 6% f 6% g 6% h 6% i 6% j 6% k 6% l 6% m 6% n 6% o 6% p 1%", "15 names");
}
END_TEST

START_TEST(whose_share_it_is)
{
    static const char *const two[] = {"liv", "live"};
    struct class_shares of;
    ck_assert_ptr_null(shares_read("live 70 % batch 10 %", &of));
    ck_assert_int_eq(shares_index(&of, names, LIVE), 0);
    ck_assert_int_eq(shares_index(&of, names, BATCH), 1);
    ck_assert_int_eq(shares_index(&of, names, OTHER), 2);
    ck_assert_int_eq(shares_index(&of, names, LIVE2), 2); /* a name that only begins like one */
    ck_assert_int_eq(shares_index(&of, two, 0), 2);
    ck_assert_int_eq(shares_index(&of, NULL, LIVE), 2); /* nobody has names */
    ck_assert_ptr_null(shares_read("live 70 % batch 30 %", &of));
    ck_assert_int_eq(shares_index(&of, names, OTHER), 1); /* nothing is left: with the last */
    ck_assert_ptr_null(shares_read("", &of));
    ck_assert_int_eq(shares_index(&of, names, OTHER), 0);
}
END_TEST

START_TEST(what_does_not_go_together)
{
    bench = bench_of("shares", "classes", "live 70 %", "tenants", "a 1 %", NULL);
    ck_assert_ptr_nonnull(strstr(bench_checked(&bench), "not both"));
    bench_free(&bench);
    bench = bench_of("shares", "tenants", "live 170 %", NULL);
    ck_assert_ptr_nonnull(strstr(bench_checked(&bench), "by turns"));
    bench_set(&bench, "tenants", "live 70 %");
    ck_assert_ptr_null(bench_checked(&bench));
    bench_set(&bench, "cached_weight", "0.1");
    ck_assert_ptr_null(bench_checked(&bench));
    bench_set(&bench, "meter", "requests");
    ck_assert_ptr_nonnull(strstr(bench_checked(&bench), "cached_weight"));
    bench_free(&bench);
    bench = bench_of("shares", "classes", "live", NULL);
    ck_assert_ptr_nonnull(strstr(bench_checked(&bench), "by turns"));
    bench_free(&bench);
}
END_TEST

/* --- hard floors ---------------------------------------------------------------------------------------------------
 */

START_TEST(each_has_its_own)
{
    SHARES("classes", "live 70 % batch 10 %");
    /* 42, 6 and 12 a second, 10 s of each */
    bucket_holds(LIVE, 0, 420);
    bucket_holds(BATCH, 0, 60);
    ck_assert(enters(OTHER, 0, 100));
    bucket_holds(LIVE2, 0, 20); /* with all others who are not named */
    holds(LIVE, 0, 420, 10 * S);
    holds(BATCH, 0, 60, 10 * S);
    holds(LIVE, 0, 21, S / 2);
    holds(LIVE, S / 2 - 1, 21, MS); /* 1 ns early */
    bucket_holds(LIVE, S / 2, 21);
    bucket_holds(BATCH, S / 2, 3);
    bucket_holds(OTHER, S / 2, 6);
    bucket_holds(BATCH, 100 * S, 60); /* what it has not used is lost */
    bucket_holds(LIVE, 100 * S, 420);
    ck_assert_double_eq(bench_gauge(&bench, "lent"), 0);
    /* of 42 and 6 a second: live is full 10 s after 0.5 s, batch too, others 10 s after */
    ck_assert_double_eq_tol(bench_gauge(&bench, "lost"), (42 + 6 + 12) * 89.5, 1e-3);
    bench_free(&bench);
}
END_TEST

START_TEST(a_call_above_its_bucket_goes_when_that_is_full)
{
    SHARES("classes", "batch 10 %");
    ck_assert(enters(BATCH, 0, 200));
    holds(BATCH, 0, 1000, (200 * S + 5) / 6); /* from -140 to 60, at 6 a second */
    ck_assert(!enters(BATCH, (200 * S + 5) / 6 - 1, 1000));
    ck_assert(enters(BATCH, (200 * S + 5) / 6, 1000));
    bench_free(&bench);
}
END_TEST

START_TEST(a_share_of_nothing)
{
    struct policy_answer answer;
    SHARES("classes", "batch 0 %");
    answer = asks(BATCH, 0, 0);
    ck_assert_int_eq(answer.action, POLICY_REJECT);
    ck_assert_str_eq(answer.reason, "no share");
    ck_assert_double_eq(bench_gauge(&bench, "rejected"), 1);
    bucket_holds(LIVE, 0, 600);
    bench_free(&bench);
}
END_TEST

START_TEST(refusals)
{
    struct policy_answer answer;
    struct policy_call *call;
    SHARES("classes", "live 70 % batch 30 %", "answer", "defer");
    ck_assert(enters(OTHER, 0, 180)); /* with batch: nothing is left for others */
    answer = asks(BATCH, 0, 18);
    ck_assert_int_eq(answer.action, POLICY_DEFER);
    ck_assert_int_eq(answer.after, S); /* when it would fit */
    bench_set(&bench, "retry_after", "30 s");
    answer = asks(BATCH, 0, 18);
    ck_assert_int_eq(answer.action, POLICY_DEFER);
    ck_assert_int_eq(answer.after, 30 * S);
    ck_assert_double_eq(bench_gauge(&bench, "deferred"), 2);
    bench_free(&bench);
    /* a held call that asks for the last time is deferred */
    SHARES("classes", "batch 10 %");
    ck_assert(enters(BATCH, 0, 60));
    call = call_of(BATCH, 6);
    ck_assert_int_eq(bench_attempts(&bench, call, 0).action, POLICY_HOLD);
    call->last = true;
    answer = bench_asks_again(&bench, call, S / 2);
    ck_assert_int_eq(answer.action, POLICY_DEFER);
    ck_assert_int_eq(answer.after, S / 2);
    bench_free(&bench);
}
END_TEST

START_TEST(meters)
{
    static const struct {
        const char *meter;
        double takes;
    } rows[] = {{"requests", 1}, {"input", 100 - 80 + 80 * 0.5}, {"output", 7}, {"total", 67}};
    for (size_t i = 0; i < 4; i++) {
        bool sent = rows[i].takes >= 60;
        struct policy_call *call;
        SHARES("meter", rows[i].meter, "cached_weight", sent ? "0.5" : "1");
        call = bench_call(&bench, 100, 80, 7);
        ck_assert(bench_enters(&bench, call, 0));
        bench_set(&bench, "meter", "input");
        bucket_holds(LIVE, 0, 600 - rows[i].takes);
        bench_free(&bench);
    }
}
END_TEST

START_TEST(answers_settle)
{
    struct policy_call *call;
    SHARES("classes", "batch 10 %");
    call = call_of(BATCH, 60);
    ck_assert(bench_enters(&bench, call, 0));
    bench_ends_with(&bench, call, 0, POLICY_DONE, 50, 0, 9);
    bucket_holds(BATCH, 0, 10);
    call = call_of(BATCH, 1);
    ck_assert(bench_enters(&bench, call, 10 * S));
    bench_ends_with(&bench, call, 10 * S, POLICY_ERROR, 31, 0, 0);
    bucket_holds(BATCH, 10 * S, 29);
    for (enum policy_end end = POLICY_SHED; end <= POLICY_EXPIRED; end++) {
        bool served = end == POLICY_ERROR || end == POLICY_EXPIRED;
        policy_time now = (100 + 10 * (policy_time)end) * S;
        call = call_of(BATCH, 60);
        ck_assert(bench_enters(&bench, call, now));
        bench_ends(&bench, call, now, end);
        bench_ends(&bench, call, now, end); /* once is enough */
        bucket_holds(BATCH, now, served ? 0 : 60);
    }
    call = call_of(BATCH, 60); /* a server works on for nobody: it stays spent */
    ck_assert(bench_enters(&bench, call, 1000 * S));
    bench_serves(call, 1000 * S);
    bench_ends(&bench, call, 1000 * S, POLICY_TIMEOUT);
    bucket_holds(BATCH, 1000 * S, 0);
    call = call_of(BATCH, 60); /* one that was never let in has taken nothing */
    ck_assert_int_eq(bench_attempts(&bench, call, 1001 * S).action, POLICY_HOLD);
    bench_ends(&bench, call, 1001 * S, POLICY_ABANDONED);
    bucket_holds(BATCH, 1001 * S, 6);
    call = call_of(BATCH, 30); /* never more than the bucket */
    ck_assert(bench_enters(&bench, call, 1006 * S));
    bench_ends_with(&bench, call, 1100 * S, POLICY_DONE, 0, 0, 0);
    bucket_holds(BATCH, 1100 * S, 60);
    bench_free(&bench);
}
END_TEST

START_TEST(live_values)
{
    SHARES("classes", "batch 10 %");
    ck_assert(enters(BATCH, 0, 30));
    bench_steers(&bench, S, "rate", 600); /* the level stays: 36 of 600 */
    bucket_holds(BATCH, S, 36);
    bucket_holds(BATCH, 2 * S, 60);
    bench_steers(&bench, 100 * S, "burst", 1); /* and is cut to what a bucket holds */
    bucket_holds(BATCH, 100 * S, 60);
    bucket_holds(BATCH, 101 * S, 60);
    bench_steers(&bench, 101 * S, "burst", 100);
    bench_steers(&bench, 101 * S, "rate", 60);
    bucket_holds(BATCH, 103 * S, 12);
    bench_free(&bench);
}
END_TEST

START_TEST(tenants)
{
    bench = bench_of("shares", "rate", "60/s", "burst", "10 s", "tenants", "batch 10 %", NULL);
    bench.view.tenant_names = names;
    bench_begins(&bench);
    for (uint32_t tenant = LIVE; tenant <= BATCH; tenant++) {
        struct policy_call *call = call_of(OTHER, tenant == BATCH ? 60 : 540);
        call->tenant = tenant;
        ck_assert(bench_enters(&bench, call, 0));
        call = call_of(OTHER, 1);
        call->tenant = tenant;
        ck_assert(!bench_enters(&bench, call, 0));
    }
    bench_free(&bench);
}
END_TEST

START_TEST(without_an_end)
{
    bench = bench_of("shares", "classes", "live 70 %", "rate", "inf", NULL);
    begin();
    for (int i = 0; i < 1000; i++)
        ck_assert(enters(i % 2 ? LIVE : OTHER, 0, 0x1p50));
    bench_free(&bench);
}
END_TEST

START_TEST(published)
{
    bench = bench_of("shares", NULL);
    for (const char *const *setting = bench.ops->presets[0].settings; setting[0]; setting += 2)
        bench_set(&bench, setting[0], setting[1]);
    ck_assert_ptr_null(bench_checked(&bench));
    bench.view.class_names = (const char *const[]){"interactive", "background", "batch"};
    bench_begins(&bench);
    for (uint32_t klass = 0; klass < 3; klass++) {
        struct policy_answer answer;
        ck_assert(enters(klass, 0, (const double[]){1400000, 400000, 200000}[klass]));
        answer = asks(klass, 0, 1);
        ck_assert_int_eq(answer.action, POLICY_DEFER);
        ck_assert_int_eq(answer.after, 30 * S);
    }
    bench_free(&bench);
}
END_TEST

/* --- lent shares ---------------------------------------------------------------------------------------------------
 */

#define LENT(...) SHARES("borrow", "true", __VA_ARGS__)

START_TEST(idle_shares_are_lent)
{
    LENT("classes", "live 70 % batch 10 % other 20 %");
    bucket_holds(BATCH, 0, 60);
    holds(BATCH, 0, 30, S / 2); /* both others are full: all 60 a second are batch's */
    bucket_holds(BATCH, S / 2, 30);
    bucket_holds(LIVE, S / 2, 420); /* who comes back has all that is its own */
    bucket_holds(OTHER, S / 2, 120);
    bucket_holds(BATCH, 3 * S / 2, 6); /* nothing is idle now */
    bucket_holds(LIVE, 3 * S / 2, 42);
    bucket_holds(OTHER, 3 * S / 2, 12);
    ck_assert_double_eq_tol(bench_gauge(&bench, "lent"), 27, 1e-3);
    ck_assert_double_eq_tol(bench_gauge(&bench, "lost"), 0, 1e-3);
    bench_free(&bench);
}
END_TEST

START_TEST(in_proportion_to_the_shares)
{
    LENT("classes", "live 70 % batch 10 % other 20 %");
    bucket_holds(BATCH, 0, 60);
    bucket_holds(OTHER, 0, 120);
    holds(BATCH, 0, 20, S); /* live's 42 in proportion 1 : 2: 20 and 40 a second */
    holds(OTHER, 0, 40, S);
    bucket_holds(BATCH, S, 20);
    bucket_holds(OTHER, S, 40);
    bench_free(&bench);
}
END_TEST

START_TEST(rates_change_as_a_bucket_gets_full)
{
    LENT("classes", "live 70 % batch 10 % other 20 %");
    bucket_holds(BATCH, 0, 60);
    ck_assert(enters(OTHER, 0, 40));
    /* 20 and 40 a second until others are full after 1 s, then all 60 are batch's: 20 + 40 */
    holds(BATCH, 0, 60, S + (40 * S + 59) / 60);
    holds(BATCH, 0, 10, S / 2);
    holds(BATCH, S / 2, 60, S / 2 + (40 * S + 59) / 60);
    ck_assert(!enters(BATCH, S + (40 * S + 59) / 60 - 1, 60));
    bucket_holds(BATCH, S + (40 * S + 59) / 60, 60);
    bench_free(&bench);
}
END_TEST

START_TEST(nobody_named_lends_too)
{
    LENT("classes", "batch 10 %");
    bucket_holds(BATCH, 0, 60);
    bucket_holds(BATCH, S, 60);
    bucket_holds(LIVE, S, 540);
    bucket_holds(BATCH, 2 * S, 6);
    bench_free(&bench);
}
END_TEST

START_TEST(all_full)
{
    LENT("classes", "batch 10 %");
    bucket_holds(BATCH, 0, 60);
    bucket_holds(BATCH, 10 * S, 60); /* full after 1 s; then nobody has room */
    ck_assert_double_eq_tol(bench_gauge(&bench, "lost"), 540, 1e-3);
    ck_assert_double_eq_tol(bench_gauge(&bench, "lent"), 54, 1e-3);
    bench_free(&bench);
}
END_TEST

/* What a bucket holds does not depend on when somebody asked: two copies, one asked all the time. */
START_TEST(questions_change_nothing)
{
    static const char *const rates[] = {"60/s", "7/min", "13/h"};
    for (int borrow = 0; borrow < 2; borrow++)
        for (int i = 0; i < 3; i++) {
            policy_time found[2];
            for (int asked = 0; asked < 2; asked++) {
                bench = bench_of("shares", "rate", rates[i], "burst", "1 h", "classes", "live 31.7 % batch 11.9 %",
                                 "borrow", borrow ? "true" : "false", NULL);
                begin();
                for (uint32_t klass = LIVE; klass <= OTHER; klass++)
                    ck_assert(enters(klass, 0, 1e5 + 1000 * klass));
                for (policy_time now = 0; asked && now < 1000 * S; now += 777777777)
                    asks(LIVE, now, 1);
                found[asked] = asks(BATCH, 1000 * S, 1e6).after;
                bench_free(&bench);
            }
            ck_assert_int_eq(found[0], found[1]);
        }
}
END_TEST

/* --- the law --------------------------------------------------------------------------------------------------------
 *
 * Callers that always have a call, each held and asking again when it was told to, as a gate would do it. */

enum { CALLERS = 4, CLASSES = 3, EVERYBODY = CALLERS * CLASSES };

static const double rate_of[CLASSES] = {42, 6, 12}, bucket[CLASSES] = {420, 60, 120};

struct life {
    uint64_t random;
    struct policy_call *calls[EVERYBODY];
    policy_time alarms[EVERYBODY];
    double taken[CLASSES], largest[CLASSES];
    /* Of what was taken beyond rate times time, since the phase began: at every moment before and after a call. */
    double most[CLASSES], least[CLASSES];
};

static double drawn(struct life *life, double most)
{
    return floor((double)(oracle_random(&life->random) >> 11) * 0x1p-53 * most) + 1;
}

static void next_call(struct life *life, int caller, double part)
{
    uint32_t klass = (uint32_t)(caller % CLASSES);
    life->calls[caller] = call_of(klass, drawn(life, part * bucket[klass]));
}

static void note(struct life *life, int klass, policy_time since)
{
    double beyond = life->taken[klass] - rate_of[klass] * (double)since / 1e9;
    life->most[klass] = fmax(life->most[klass], beyond);
    life->least[klass] = fmin(life->least[klass], beyond);
}

static int first_of(const struct life *life, unsigned classes)
{
    int first = -1;
    for (int i = 0; i < EVERYBODY; i++)
        if (classes >> i % CLASSES & 1 && (first < 0 || life->alarms[i] < life->alarms[first]))
            first = i;
    return first;
}

/* From one time to another these classes have demand. Calls are as large as this part of their bucket. */
static void phase(struct life *life, policy_time from, policy_time to, unsigned classes, double part)
{
    for (int k = 0; k < CLASSES; k++)
        life->taken[k] = life->most[k] = life->least[k] = life->largest[k] = 0;
    for (int i = 0; i < EVERYBODY; i++) {
        life->alarms[i] = from;
        next_call(life, i, part);
    }
    for (int i = first_of(life, classes); life->alarms[i] < to; i = first_of(life, classes)) {
        policy_time now = life->alarms[i];
        int klass = i % CLASSES;
        bool held = life->calls[i]->ever_held;
        struct policy_answer answer =
            held ? bench_asks_again(&bench, life->calls[i], now) : bench_attempts(&bench, life->calls[i], now);
        if (answer.action == POLICY_HOLD) {
            life->calls[i]->ever_held = true;
            life->alarms[i] = now + answer.after;
            continue;
        }
        ck_assert_int_eq(answer.action, POLICY_ADMIT);
        note(life, klass, now - from);
        life->taken[klass] += life->calls[i]->input_tokens;
        life->largest[klass] = fmax(life->largest[klass], life->calls[i]->input_tokens);
        note(life, klass, now - from);
        bench_lets_in(&bench, life->calls[i], now);
        bench_ends(&bench, life->calls[i], now, POLICY_DONE);
        next_call(life, i, part);
    }
    for (int k = 0; k < CLASSES; k++)
        note(life, k, to - from);
}

/* All have demand: between any two moments, so also the furthest apart in what they have, the law holds. */
static void expect_law(const struct life *life, double seconds, bool within_bucket)
{
    for (int k = 0; k < CLASSES; k++) {
        double range = life->most[k] - life->least[k], one = life->taken[k] / (rate_of[k] * seconds);
        ck_assert_msg(range <= bucket[k] + life->largest[k] + 1e-3, "%s: %g beyond its share", names[k], range);
        ck_assert_msg(!within_bucket || range <= bucket[k] + 1e-3, "%s: %g beyond its share", names[k], range);
        ck_assert_msg(seconds < 3600 || (one > 0.99 && one < 1.01), "%s: %g of its share", names[k], one);
    }
}

START_TEST(the_law)
{
    bool borrow = _i % 2;
    double part = _i < 2 ? 0.3 : _i < 4 ? 1 : 1.7; /* of a bucket: the largest call */
    struct life life = {.random = (uint64_t)_i};
    SHARES("classes", "live 70 % batch 10 % other 20 %", "borrow", borrow ? "true" : "false");
    phase(&life, 0, 3600 * S, 7, part);
    expect_law(&life, 3600, part <= 1);
    /* live has no demand: its share is lost, or goes to the others by theirs */
    phase(&life, 4000 * S, 5000 * S, 6, part);
    ck_assert_double_eq(life.taken[LIVE], 0);
    for (int k = BATCH; k < CLASSES; k++) {
        double lent = borrow ? 42 * rate_of[k] / 18 : 0, flowed = (rate_of[k] + lent) * 1000;
        ck_assert_double_le(fabs(life.taken[k] - flowed), bucket[k] + life.largest[k]);
    }
    /* and is its own again from the moment that it comes back */
    phase(&life, 5000 * S, 9000 * S, 7, part);
    expect_law(&life, 4000, part <= 1);
    ck_assert_double_ge(life.most[LIVE], part < 1 ? 420 - life.largest[LIVE] : 0);
    phase(&life, 9000 * S, 9060 * S, 7, part);
    expect_law(&life, 60, part <= 1);
    bench_free(&bench);
}
END_TEST

/* --- simulated ------------------------------------------------------------------------------------------------------
 */

/* A job of 50 workers beside live runs that use 6 % of the quota: 2 M input tokens a minute, in buckets of 6 s. */
START_TEST(a_job_beside_live_runs)
{
    struct plan plan =
        model_plan("study: {horizon: 130 min, warmup: 10 min}\n"
                   "backends: {pool: {kind: provider, meters: {input: {limit: 2M tokens/min, burst: 200k}},\n"
                   "                  latency: {base: 1.7 s}}}\n"
                   "agents:\n"
                   "  live: {arrivals: poisson(30/h), turns: constant(8), think: exponential(2.3 s), input: {start: "
                   "30k}, output: 400}\n"
                   "  batch: {population: 50, think: exponential(2.3 s), input: {start: 12k}, output: 400}\n"
                   "policies: [hard: [shares: {classes: live 70 % batch 10 %}],\n"
                   "           lent: [shares: {classes: live 70 % batch 10 %, borrow: true}]]\n");
    enum { ALL, OF_LIVE, OF_BATCH, ROWS };
    double hard[ROWS][METRIC_COUNT], lent[ROWS][METRIC_COUNT];
    ck_assert_uint_eq(trial_row_count(plan.points[0].scenario), ROWS);
    model_trial(&plan, 0, 1, hard[0]);
    model_trial(&plan, 1, 1, lent[0]);
    /* 120 min at 200k: at most a bucket and a call away */
    ck_assert_double_eq_tol(hard[OF_BATCH][METRIC_INPUT_PER_MIN], 200000, 32000 / 120.0);
    ck_assert_double_eq(hard[ALL][METRIC_PROVIDER_429S], 0); /* all the buckets together are the pool's */
    ck_assert_double_eq(lent[ALL][METRIC_PROVIDER_429S], 0);
    ck_assert_double_eq_tol(lent[ALL][METRIC_INPUT_PER_MIN], 2e6, 2e6 * 0.01);
    ck_assert_double_gt(lent[OF_BATCH][METRIC_INPUT_PER_MIN], 1.8e6);
    ck_assert_double_eq(hard[OF_LIVE][METRIC_TOTAL_WAIT_P99], 0);
    ck_assert_double_eq(lent[OF_LIVE][METRIC_TOTAL_WAIT_P99], 0); /* lending costs live nothing */
    plan_fini(&plan);
}
END_TEST

Suite *shares_suite(void)
{
    Suite *suite = suite_create("shares");
    TCase *test = tcase_create("shares");

    tcase_add_test(test, texts);
    tcase_add_test(test, whose_share_it_is);
    tcase_add_test(test, what_does_not_go_together);
    tcase_add_test(test, each_has_its_own);
    tcase_add_test(test, a_call_above_its_bucket_goes_when_that_is_full);
    tcase_add_test(test, a_share_of_nothing);
    tcase_add_test(test, refusals);
    tcase_add_test(test, meters);
    tcase_add_test(test, answers_settle);
    tcase_add_test(test, live_values);
    tcase_add_test(test, tenants);
    tcase_add_test(test, without_an_end);
    tcase_add_test(test, published);
    tcase_add_test(test, idle_shares_are_lent);
    tcase_add_test(test, in_proportion_to_the_shares);
    tcase_add_test(test, rates_change_as_a_bucket_gets_full);
    tcase_add_test(test, nobody_named_lends_too);
    tcase_add_test(test, all_full);
    tcase_add_test(test, questions_change_nothing);
    tcase_add_loop_test(test, the_law, 0, 6);
    tcase_add_test(test, a_job_beside_live_runs);
    suite_add_tcase(suite, test);
    return suite;
}
