/* test_aatb.c - aatb on the bench: each rule at its edges by hand, clients that share their telemetry, random lives
 * against slow books, and that nobody gets stuck (arXiv:2510.04516). */
#include <check.h>
#include <math.h>
#include <string.h>

#include "tests/client_bench.h"
#include "tests/oracles.h"
#include "tests/suites.h"

/* --- short ways -------------------------------------------------------------------------------------------------- */

/* A client of a backend of 50 a minute, so 1.2 s a call. `with`: one whose telemetry it shares, or NULL. */
static struct bench client(const char *rate, const struct bench *with)
{
    struct bench bench = bench_of("aatb", "server_rate", "50/min", "initial_rate", rate, NULL);
    client_init(&bench);
    if (with)
        bench.self.shared = with->self.shared;
    return bench;
}

static policy_time asks(struct bench *bench, policy_time now)
{
    return client_asks(bench, &bench->call, now);
}

/* A call goes and ends so. */
static void call(struct bench *bench, policy_time now, enum policy_end end)
{
    ck_assert_int_eq(asks(bench, now), LET_IN);
    client_ends(bench, &bench->call, now, end);
}

/* As many calls in flight, from a bucket that is full of tokens, and the first of them comes back so. */
static void calls(struct bench *bench, policy_time now, int count, enum policy_end end)
{
    for (int i = 0; i < count; i++)
        ck_assert_int_eq(asks(bench, now), LET_IN);
    client_ends(bench, &bench->call, now, end);
}

static void expect_gauge(const struct bench *bench, const char *name, double value)
{
    double found = bench_gauge(bench, name);
    ck_assert_msg(fabs(found - value) < 1e-9, "%s is %.12g, expected %.12g", name, found, value);
}

static void expect_wait(struct bench *bench, policy_time now, double seconds)
{
    double wait = (double)asks(bench, now) / S;
    ck_assert_msg(fabs(wait - seconds) < 2e-9, "held for %.12g s, expected %.12g s", wait, seconds);
}

static policy_time seconds(double value)
{
    return (policy_time)llround(value * 1e9);
}

/* --- the bucket -------------------------------------------------------------------------------------------------- */

START_TEST(begins_with_one_token)
{
    struct bench bench = client("0.67/s", NULL);
    ck_assert_int_eq(asks(&bench, 1000 * S), LET_IN); /* its time begins when it first asks */
    expect_gauge(&bench, "tokens", 0);
    expect_gauge(&bench, "rate", 0.67);
    ck_assert_int_eq(asks(&bench, 1000 * S), INT64_C(1492537314));
    expect_gauge(&bench, "held_by", 1);
    ck_assert_int_eq(asks(&bench, 1000 * S + INT64_C(1492537313)), POLICY_LEAST);
    ck_assert_int_eq(asks(&bench, 1000 * S + INT64_C(1492537314)), LET_IN);
    expect_gauge(&bench, "held_by", 0);
    for (int i = 0; i < 40; i++)
        ck_assert_int_eq(asks(&bench, 2000 * S), LET_IN);
    ck_assert_int_gt(asks(&bench, 2000 * S), 0);
    bench_free(&bench);
}
END_TEST

/* A call that lacks a token asks again after the next report, as the rate may have risen. */
START_TEST(asks_again_after_a_report)
{
    struct bench bench = client("0.01/s", NULL);
    ck_assert_int_eq(client_ticks(&bench, 0), 30 * S);
    call(&bench, 0, POLICY_DONE);
    ck_assert_int_eq(asks(&bench, 5 * S), 25 * S);
    ck_assert_int_eq(client_ticks(&bench, 30 * S), 60 * S);
    expect_gauge(&bench, "rate", 0.02);             /* a hundredth more, as 1.4 x 0.01 rounds to 0.01 */
    ck_assert_int_eq(asks(&bench, 30 * S), 30 * S); /* 0.7 tokens are 35 s away */
    ck_assert_int_eq(client_ticks(&bench, 60 * S), 90 * S);
    expect_gauge(&bench, "rate", 0.03);
    expect_gauge(&bench, "tokens", 0.9);
    ck_assert_int_eq(asks(&bench, 60 * S), INT64_C(3333333334));
    ck_assert_int_eq(asks(&bench, 60 * S + INT64_C(3333333334)), LET_IN);
    bench_free(&bench);
}
END_TEST

START_TEST(answers_and_other_ends_change_nothing)
{
    static const enum policy_end others[] = {POLICY_DONE, POLICY_ERROR, POLICY_TIMEOUT, POLICY_ABANDONED};
    struct bench bench = client("0.67/s", NULL);
    for (int i = 0; i < 4; i++)
        call(&bench, i * 10 * S, others[i]);
    expect_gauge(&bench, "rate", 0.67);
    expect_gauge(&bench, "reports", 0);
    bench_free(&bench);
}
END_TEST

/* --- refusals ---------------------------------------------------------------------------------------------------- */

/* Alone: s = 1 of m = 1, then 1 of 2, which is half and not less, then 1 of 3. */
START_TEST(refused_alone)
{
    struct bench bench = client("0.67/s", NULL);
    client_draws(0.25);
    call(&bench, 10 * S, POLICY_OVERLOAD);
    expect_gauge(&bench, "rate", 0.22); /* 67 / 3 */
    expect_gauge(&bench, "tokens", 1.1);
    expect_wait(&bench, 10 * S, 1.2 + 0.25);
    expect_gauge(&bench, "held_by", 2);
    ck_assert_int_eq(asks(&bench, seconds(11.45) - 1), POLICY_LEAST);
    call(&bench, seconds(11.45), POLICY_SHED);
    expect_gauge(&bench, "rate", 0.07); /* 22 / 3 */
    expect_wait(&bench, seconds(11.45), 2 * 1.2 + 0.25);
    call(&bench, seconds(14.10), POLICY_DISPLACED);
    expect_gauge(&bench, "rate", 0.04); /* 7 / 2 */
    expect_wait(&bench, seconds(14.10), 3 * 1.2 + 0.25);
    expect_gauge(&bench, "refusals", 3);
    expect_gauge(&bench, "reports", 3);
    expect_gauge(&bench, "active", 1);
    bench_free(&bench);
}
END_TEST

/* The other sends so many in a burst; s is 5 of a mean of (5 + others) / 2. */
static void refused_beside(int others, double rate)
{
    struct bench one = client("0.67/s", NULL), other = client("0.67/s", &one), apart = client("0.67/s", NULL);
    client_draws(0);
    for (struct bench *bench = &one; bench; bench = bench == &one ? &other : bench == &other ? &apart : NULL)
        ck_assert_int_eq(client_ticks(bench, 0), 30 * S);
    calls(&other, 90 * S, others, POLICY_OVERLOAD);
    calls(&one, 90 * S, 5, POLICY_OVERLOAD);
    expect_gauge(&one, "rate", rate);
    expect_gauge(&one, "active", 2);
    expect_wait(&one, 90 * S, 2 * 1.2); /* the other's refusal counts */
    calls(&apart, 90 * S, 5, POLICY_OVERLOAD);
    expect_gauge(&apart, "rate", 0.22);
    expect_gauge(&apart, "active", 1);
    expect_wait(&apart, 90 * S, 1.2);
    bench_free(&one);
    bench_free(&other);
    bench_free(&apart);
}

START_TEST(refused_beside_others)
{
    refused_beside(15, 0.22); /* 5 is half of the mean of 10 */
    refused_beside(16, 0.34);
    refused_beside(14, 0.22);
}
END_TEST

START_TEST(refusals_count_for_half_a_minute)
{
    for (int i = 0; i < 2; i++) {
        struct bench one = client("0.67/s", NULL), other = client("0.67/s", &one);
        client_draws(0);
        call(&one, 7 * S + 900 * MS, POLICY_OVERLOAD);
        call(&other, (i ? 37 * S : 37 * S - 1), POLICY_OVERLOAD);
        expect_wait(&other, (i ? 37 * S : 37 * S - 1), i ? 1.2 : 2.4);
        bench_free(&one);
        bench_free(&other);
    }
}
END_TEST

/* Nothing is left of what lies an hour back. */
START_TEST(after_a_long_silence)
{
    struct bench one = client("0.67/s", NULL), other = client("0.67/s", &one);
    client_draws(0);
    call(&one, 7 * S, POLICY_OVERLOAD);
    call(&other, 3600 * S, POLICY_OVERLOAD);
    expect_gauge(&other, "active", 1);
    expect_gauge(&other, "rate", 0.22);
    expect_wait(&other, 3600 * S, 1.2);
    bench_free(&one);
    bench_free(&other);
}
END_TEST

/* Never below a hundredth a second, and no more tokens than fit. */
START_TEST(refused_at_the_bottom)
{
    struct bench bench = bench_of("aatb", "server_rate", "inf", "initial_rate", "0.02/s", "bucket", "1", NULL);
    client_init(&bench);
    client_draws(0.5);
    for (int i = 0; i < 5; i++) {
        call(&bench, i * S, POLICY_OVERLOAD);
        expect_gauge(&bench, "rate", 0.01); /* 2 / 3, 1 / 3, 1 / 2 */
        expect_gauge(&bench, "tokens", 1);
        expect_wait(&bench, i * S, 0.5); /* an unlimited backend has forgotten the next moment */
    }
    bench_free(&bench);
}
END_TEST

/* --- regular reports --------------------------------------------------------------------------------------------- */

START_TEST(grows_alone)
{
    struct bench bench = client("0.67/s", NULL);
    static const double rates[] = {0.94, 1.32, 1.85, 2.59}; /* 93.8, 131.6, 184.8, 259 */
    ck_assert_int_eq(client_ticks(&bench, 5 * S), 35 * S);
    expect_gauge(&bench, "reports", 0);
    for (int i = 0; i < 4; i++) {
        ck_assert_int_eq(client_ticks(&bench, (35 + 30 * i) * S), (65 + 30 * i) * S);
        expect_gauge(&bench, "rate", rates[i]);
        expect_gauge(&bench, "reports", i + 1);
    }
    bench_free(&bench);
}
END_TEST

/* One sends 5 and the other so many: of a mean of (5 + s) / 2 three quarters are s = 3. */
START_TEST(grows_beside_others)
{
    static const int sent[] = {0, 2, 3, 5};
    static const double rates[] = {0.94, 0.94, 0.80, 0.80};
    for (int i = 0; i < 4; i++) {
        struct bench one = client("0.67/s", NULL), other = client("0.67/s", &one);
        client_ticks(&one, 0);
        client_ticks(&other, 0);
        calls(&one, 20 * S, 5, POLICY_DONE);
        if (sent[i])
            calls(&other, 20 * S, sent[i], POLICY_DONE);
        client_ticks(&one, 30 * S);
        expect_gauge(&one, "rate", 0.94); /* it is the first that reports, so it seems alone */
        client_ticks(&other, 30 * S);
        expect_gauge(&other, "rate", rates[i]);
        expect_gauge(&other, "active", 2);
        bench_free(&one);
        bench_free(&other);
    }
}
END_TEST

/* What was sent counts for half a minute, who has reported for a whole one. */
START_TEST(others_are_forgotten)
{
    struct bench one = client("0.67/s", NULL), other = client("0.67/s", &one);
    client_draws(0);
    client_ticks(&one, 0);
    calls(&other, 0, 1, POLICY_DONE);
    client_ticks(&other, 29 * S); /* too early for a report */
    expect_gauge(&other, "reports", 0);
    client_ticks(&other, 31 * S);
    expect_gauge(&other, "reports", 1);
    client_ticks(&one, 30 * S + 31 * S - 1);
    expect_gauge(&one, "active", 2);
    expect_gauge(&one, "rate", 0.94); /* 0 of a mean of a half: the other's call was told of at 31 s */
    client_ticks(&one, 31 * S + 60 * S - 1);
    expect_gauge(&one, "active", 2);
    expect_gauge(&one, "rate", 1.13); /* x 1.2: not alone, and nobody has sent anything */
    client_ticks(&one, 31 * S + 90 * S - 1);
    expect_gauge(&one, "active", 1);
    expect_gauge(&one, "rate", 1.58);
    bench_free(&one);
    bench_free(&other);
}
END_TEST

/* The other was refused within half a minute: `report` - 2 s + 4 s x U, in which nothing is sent. */
START_TEST(pauses_for_others)
{
    static const double draws[] = {0, 0.5, 0.75};
    for (int i = 0; i < 3; i++) {
        struct bench one = client("0.67/s", NULL), other = client("0.67/s", &one);
        policy_time until = (58 + 4 * (policy_time)(4 * draws[i]) / 4) * S;
        client_draws(draws[i]);
        client_ticks(&one, 0);
        call(&other, 29 * S, POLICY_OVERLOAD);
        client_ticks(&one, 30 * S);
        expect_gauge(&one, "rate", 0.67);
        ck_assert_int_eq(asks(&one, 30 * S), until - 30 * S);
        expect_gauge(&one, "held_by", 3);
        ck_assert_int_eq(asks(&one, until - 1), POLICY_LEAST);
        ck_assert_int_eq(asks(&one, until), LET_IN);
        client_ticks(&one, 62 * S); /* the refusal is over; it has sent all of a mean of a half */
        expect_gauge(&one, "rate", 0.80);
        bench_free(&one);
        bench_free(&other);
    }
}
END_TEST

START_TEST(the_later_end_of_two_pauses_counts)
{
    struct bench one = client("0.67/s", NULL), other = client("0.67/s", &one);
    client_draws(0);
    client_ticks(&one, 0);
    calls(&other, 0, 1, POLICY_OVERLOAD);
    for (int i = 0; i < 98; i++)
        client_ends(&other, &other.call, 0, POLICY_OVERLOAD);
    call(&one, S, POLICY_OVERLOAD);
    expect_wait(&one, S, 100 * 1.2);
    client_ends(&other, &other.call, 59 * S, POLICY_OVERLOAD);
    client_ticks(&one, 60 * S); /* would be over at 88 s */
    expect_wait(&one, 60 * S, 61);
    expect_gauge(&one, "held_by", 2);
    client_ends(&other, &other.call, 119 * S, POLICY_OVERLOAD);
    client_ticks(&one, 120 * S);
    expect_wait(&one, 120 * S, 28);
    expect_gauge(&one, "held_by", 3);
    bench_free(&one);
    bench_free(&other);
}
END_TEST

START_TEST(no_regular_report_after_a_refusal)
{
    struct bench bench = client("0.67/s", NULL);
    client_draws(0);
    client_ticks(&bench, 0);
    call(&bench, 10 * S, POLICY_OVERLOAD);
    client_ticks(&bench, 30 * S); /* 20 s later */
    expect_gauge(&bench, "reports", 1);
    expect_gauge(&bench, "rate", 0.22);
    call(&bench, 30 * S, POLICY_OVERLOAD);
    expect_gauge(&bench, "rate", 0.07); /* 1 of a mean of 2 */
    client_ticks(&bench, 60 * S);       /* exactly 30 s later; the refusal is as old and not counted any more */
    expect_gauge(&bench, "reports", 3);
    expect_gauge(&bench, "rate", 0.10);
    bench_free(&bench);
}
END_TEST

START_TEST(published_is_the_default)
{
    struct bench bench = client("0.67/s", NULL), other = bench_of("aatb", "server_rate", "50/min", "bucket", "3",
                                                                  "initial_rate", "7/s", "report", "7 s", NULL);
    const struct policy_preset *published = &bench.ops->presets[0];
    bool for_agents = false;
    for (const char *const *setting = published->settings; setting[0]; setting += 2)
        if (strcmp(setting[0], "scope") != 0)
            bench_set(&other, setting[0], setting[1]);
        else
            for_agents = strcmp(setting[1], "agent") == 0;
    ck_assert(for_agents);
    ck_assert_mem_eq(bench.params, other.params, bench.ops->params_size);
    bench_free(&bench);
    bench_free(&other);
}
END_TEST

Suite *aatb_suite(void)
{
    Suite *suite = suite_create("aatb");
    TCase *rules = tcase_create("rules");
    tcase_add_test(rules, begins_with_one_token);
    tcase_add_test(rules, asks_again_after_a_report);
    tcase_add_test(rules, answers_and_other_ends_change_nothing);
    tcase_add_test(rules, refused_alone);
    tcase_add_test(rules, refused_beside_others);
    tcase_add_test(rules, refusals_count_for_half_a_minute);
    tcase_add_test(rules, after_a_long_silence);
    tcase_add_test(rules, refused_at_the_bottom);
    tcase_add_test(rules, grows_alone);
    tcase_add_test(rules, grows_beside_others);
    tcase_add_test(rules, others_are_forgotten);
    tcase_add_test(rules, pauses_for_others);
    tcase_add_test(rules, the_later_end_of_two_pauses_counts);
    tcase_add_test(rules, no_regular_report_after_a_refusal);
    tcase_add_test(rules, published_is_the_default);
    suite_add_tcase(suite, rules);
    return suite;
}
