/* test_shares.c - shares: what does not go together, and its buckets by hand, hard and lent. */
#include <check.h>
#include <math.h>
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

Suite *shares_suite(void)
{
    Suite *suite = suite_create("shares");
    TCase *test = tcase_create("shares");

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
    suite_add_tcase(suite, test);
    return suite;
}
