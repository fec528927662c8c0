/* test_breaker.c - the circuit breaker on the bench, in every state by every end, under random lives, and in trials;
 * and all six policies of a client's side in one chain. */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "tests/call_bench.h"
#include "tests/oracles.h"
#include "tests/suites.h"
#include "tests/timeline.h"

enum { CLOSED, HALF_OPEN, OPEN };
enum { ENDS = POLICY_EXPIRED + 1 };

static struct bench bench;

static double gauge(const char *name)
{
    return bench_gauge(&bench, name);
}

static struct policy_call *enter(policy_time now)
{
    struct policy_call *call = bench_call(&bench, 0, 0, 1);
    ck_assert(bench_enters(&bench, call, now));
    return call;
}

static void fails(policy_time now)
{
    bench_ends(&bench, enter(now), now, POLICY_ERROR);
}

static void expect_refused(policy_time now, policy_time after, const char *reason)
{
    struct policy_answer answer = bench_attempts(&bench, bench_call(&bench, 0, 0, 1), now);
    ck_assert_int_eq(answer.action, POLICY_DEFER);
    ck_assert_int_eq(answer.after, after);
    ck_assert_str_eq(answer.reason, reason);
}

/* Open since 100 s. */
static void begin_open(void)
{
    bench = bench_of("breaker", NULL);
    for (int i = 0; i < 5; i++)
        fails(100 * S);
    ck_assert_double_eq(gauge("state"), OPEN);
}

/* --- states ---------------------------------------------------------------------------------------------------------
 */

START_TEST(opens_after_five_in_a_row)
{
    bench = bench_of("breaker", NULL);
    for (int i = 0; i < 4; i++)
        fails(i);
    bench_ends(&bench, enter(5), 5, POLICY_DONE); /* not in a row */
    for (int i = 0; i < 4; i++)
        fails(i * 10000 * S); /* however far apart */
    ck_assert(gauge("state") == CLOSED && gauge("failing") == 4);
    bench_ends(&bench, enter(40000 * S), 40000 * S, POLICY_SHED); /* says nothing */
    fails(40000 * S);
    ck_assert(gauge("state") == OPEN && gauge("openings") == 1 && gauge("failing") == 0);
    bench_free(&bench);
}
END_TEST

START_TEST(refuses_for_the_cooldown)
{
    begin_open();
    expect_refused(100 * S, 30 * S, "open");
    expect_refused(110 * S, 20 * S, "open");
    expect_refused(130 * S - 1, MS, "open"); /* 1 ns early; asked again no sooner than a policy may */
    bench_set(&bench, "retry_after", "none");
    expect_refused(130 * S - 1, POLICY_NONE, "open");
    enter(130 * S);
    ck_assert_double_eq(gauge("state"), HALF_OPEN);
    expect_refused(130 * S, POLICY_NONE, "half_open");
    ck_assert(gauge("refused_open") == 4 && gauge("refused_half_open") == 1 && gauge("probing") == 1);
    bench_free(&bench);
}
END_TEST

/* The state that a probe's end leaves behind, by enum policy_end. */
START_TEST(every_end_of_a_probe)
{
    static const int states[2][ENDS] = {{[POLICY_DONE] = CLOSED,
                                         [POLICY_SHED] = HALF_OPEN,
                                         [POLICY_DISPLACED] = HALF_OPEN,
                                         [POLICY_OVERLOAD] = OPEN,
                                         [POLICY_ERROR] = OPEN,
                                         [POLICY_TIMEOUT] = OPEN,
                                         [POLICY_ABANDONED] = OPEN,
                                         [POLICY_EXPIRED] = OPEN},
                                        {[POLICY_DONE] = CLOSED,
                                         [POLICY_SHED] = OPEN,
                                         [POLICY_DISPLACED] = OPEN,
                                         [POLICY_OVERLOAD] = OPEN,
                                         [POLICY_ERROR] = OPEN,
                                         [POLICY_TIMEOUT] = OPEN,
                                         [POLICY_ABANDONED] = OPEN,
                                         [POLICY_EXPIRED] = OPEN}};
    for (int end = 0; end < 2 * ENDS; end++) {
        struct policy_call *probe;
        begin_open();
        bench_set(&bench, "sheds_fail", end < ENDS ? "false" : "true");
        probe = enter(200 * S);
        bench_ends(&bench, probe, 210 * S, (enum policy_end)(end % ENDS));
        ck_assert_msg(gauge("state") == states[end / ENDS][end % ENDS], "end %d", end);
        ck_assert_double_eq(gauge("probing"), 0);
        bench_ends(&bench, probe, 210 * S, POLICY_TIMEOUT); /* backing off and held again: it has no place to give */
        ck_assert(gauge("probing") == 0 && gauge("state") == states[end / ENDS][end % ENDS]);
        if (gauge("state") == OPEN)
            expect_refused(210 * S, 30 * S, "open");
        else
            enter(210 * S);
        bench_free(&bench);
    }
}
END_TEST

/* The same while it is closed: which ends count. */
START_TEST(every_end_of_a_call)
{
    static const bool counts[ENDS] = {[POLICY_OVERLOAD] = true,
                                      [POLICY_ERROR] = true,
                                      [POLICY_TIMEOUT] = true,
                                      [POLICY_ABANDONED] = true,
                                      [POLICY_EXPIRED] = true};
    for (int end = 0; end < ENDS; end++) {
        bench = bench_of("breaker", NULL);
        for (int i = 0; i < 5; i++)
            bench_ends(&bench, enter(0), 0, (enum policy_end)end);
        ck_assert_double_eq(gauge("state"), counts[end] ? OPEN : CLOSED);
        bench_free(&bench);
    }
}
END_TEST

START_TEST(who_is_refused_behind_takes_no_place)
{
    begin_open();
    for (int action = POLICY_HOLD; action <= POLICY_REJECT; action++) {
        struct policy_call *call = bench_call(&bench, 0, 0, 1);
        ck_assert_int_eq(bench_attempts(&bench, call, 130 * S).action, POLICY_ADMIT);
        bench_refuses(&bench, call, 130 * S, (enum policy_action)action);
        bench_ends(&bench, call, 130 * S, POLICY_TIMEOUT); /* while it is held */
        ck_assert(gauge("state") == HALF_OPEN && gauge("probing") == 0);
    }
    enter(130 * S);
    expect_refused(130 * S, POLICY_NONE, "half_open");
    bench_free(&bench);
}
END_TEST

/* Calls of an earlier state say nothing about this one. */
START_TEST(late_ends)
{
    struct policy_call *calls[4], *probes[2];
    bench = bench_of("breaker", "probes", "2", NULL);
    for (int i = 0; i < 4; i++)
        calls[i] = enter(0);
    for (int i = 0; i < 5; i++)
        fails(0);
    bench_ends(&bench, calls[0], 10 * S, POLICY_DONE);
    ck_assert_double_eq(gauge("state"), OPEN);
    probes[0] = enter(30 * S);
    probes[1] = enter(30 * S);
    expect_refused(30 * S, POLICY_NONE, "half_open");
    bench_ends(&bench, calls[1], 31 * S, POLICY_DONE);
    bench_ends(&bench, calls[2], 31 * S, POLICY_ERROR);
    ck_assert(gauge("state") == HALF_OPEN && gauge("probing") == 2);
    bench_ends(&bench, probes[0], 32 * S, POLICY_ERROR);
    bench_ends(&bench, probes[1], 33 * S, POLICY_ERROR); /* it is open since 32 s */
    expect_refused(33 * S, 29 * S, "open");
    probes[0] = enter(62 * S);
    probes[1] = enter(62 * S);
    bench_ends(&bench, probes[0], 63 * S, POLICY_DONE);
    for (int i = 0; i < 4; i++)
        fails(63 * S);
    bench_ends(&bench, probes[1], 63 * S, POLICY_ERROR);
    bench_ends(&bench, calls[3], 63 * S, POLICY_ERROR);
    ck_assert(gauge("state") == CLOSED && gauge("failing") == 4 && gauge("openings") == 2);
    bench_free(&bench);
}
END_TEST

START_TEST(a_probe_has_its_time)
{
    struct policy_call *call;
    bench = bench_of("breaker", "patience", "70 s", NULL);
    call = bench_call(&bench, 0, 0, 1);
    bench_attempts(&bench, call, 0);
    ck_assert_int_eq(bench_lets_in(&bench, call, 0), 0); /* its end is waited for */
    for (int i = 0; i < 5; i++)
        fails(0);
    call = bench_call(&bench, 0, 0, 1);
    bench_attempts(&bench, call, 30 * S);
    ck_assert_int_eq(bench_lets_in(&bench, call, 30 * S), 70 * S);
    bench_ends(&bench, call, 100 * S, POLICY_EXPIRED);
    expect_refused(100 * S, 30 * S, "open");
    bench_free(&bench);
}
END_TEST

START_TEST(failures_within_a_window)
{
    bench = bench_of("breaker", "count", "within", "failures", "3", "window", "10 s", NULL);
    fails(0);
    fails(4 * S);
    bench_ends(&bench, enter(5 * S), 5 * S, POLICY_DONE); /* takes none of them away */
    fails(10 * S + 1);                                    /* the first is 1 ns too old */
    ck_assert(gauge("state") == CLOSED && gauge("failing") == 2);
    fails(14 * S); /* exactly 10 s after the second */
    ck_assert_double_eq(gauge("state"), OPEN);
    bench_steers(&bench, 44 * S, "window", 1000);
    bench_ends(&bench, enter(44 * S), 44 * S, POLICY_DONE);
    fails(44 * S);
    fails(44 * S); /* those from before count no more */
    ck_assert_double_eq(gauge("state"), CLOSED);
    fails(44 * S);
    ck_assert_double_eq(gauge("state"), OPEN);
    bench_free(&bench);
    bench = bench_of("breaker", "count", "within", "failures", "64", "window", "1 s", NULL);
    ck_assert_ptr_null(bench_checked(&bench));
    for (int i = 0; i < 1000; i++)
        fails(i * 16 * MS);
    ck_assert(gauge("state") == CLOSED && gauge("failing") == 63);
    fails(999 * 16 * MS);
    ck_assert_double_eq(gauge("state"), OPEN);
    bench_set(&bench, "failures", "65");
    ck_assert_ptr_nonnull(strstr(bench_checked(&bench), "expected failures: of at most 64"));
    bench_set(&bench, "count", "in_a_row");
    ck_assert_ptr_null(bench_checked(&bench));
    bench_free(&bench);
}
END_TEST

START_TEST(a_steered_breaker)
{
    begin_open();
    bench_steers(&bench, 105 * S, "cooldown", 10);
    expect_refused(105 * S, 5 * S, "open");
    bench_steers(&bench, 110 * S, "probes", 3);
    for (int i = 0; i < 3; i++)
        enter(110 * S);
    expect_refused(110 * S, POLICY_NONE, "half_open");
    bench_steers(&bench, 110 * S, "probes", 2);
    expect_refused(110 * S, POLICY_NONE, "half_open");
    bench_free(&bench);
    bench = bench_of("breaker", "failures", "inf", NULL);
    for (int i = 0; i < 1000; i++)
        fails(i);
    bench_steers(&bench, 1000, "failures", 2);
    fails(1000);
    ck_assert_double_eq(gauge("state"), OPEN);
    bench_free(&bench);
}
END_TEST

/* --- random lives ---------------------------------------------------------------------------------------------------
 */

enum { CALLS = 24 };

struct life {
    struct policy_call *call;
    policy_time expires; /* 0: it does not */
    uint64_t opening;    /* of a probe, after how many openings it came; 0: no probe */
};

static uint64_t probing(const struct life *lives)
{
    uint64_t count = 0;
    for (int i = 0; i < CALLS; i++)
        count += lives[i].call && lives[i].opening > 0 && lives[i].opening == (uint64_t)gauge("openings");
    return gauge("state") == HALF_OPEN ? count : 0;
}

static void end_life(struct life *life, policy_time now, enum policy_end end)
{
    bench_ends(&bench, life->call, now, end);
    life->call = NULL;
}

/* Someone asks: refused only for a reason that will pass. */
static void ask(struct life *lives, struct life *life, uint64_t word, policy_time now, uint64_t probes)
{
    struct policy_call *call = bench_call(&bench, 0, 0, 1);
    uint64_t before = probing(lives);
    struct policy_answer answer = bench_attempts(&bench, call, now);
    if (answer.action != POLICY_ADMIT) {
        ck_assert(gauge("state") == OPEN ? answer.after <= 30 * S : before >= probes);
        return;
    }
    ck_assert(gauge("state") != OPEN && (gauge("state") == CLOSED || before < probes));
    if (word % 4 == 0) {
        bench_refuses(&bench, call, now, (enum policy_action)(POLICY_HOLD + word / 4 % 3));
        return;
    }
    life->opening = gauge("state") == HALF_OPEN ? (uint64_t)gauge("openings") : 0;
    life->expires = bench_lets_in(&bench, call, now);
    ck_assert((life->expires > 0) == (life->opening > 0));
    life->expires += life->expires ? now : 0;
    life->call = call;
}

/* Whatever ends in whatever order: places taken are those of probes under way, and it always closes again. */
START_TEST(is_never_stuck)
{
    uint64_t state = 8;
    for (int config = 0; config < 60; config++) {
        struct life lives[CALLS] = {{0}};
        uint64_t probes = config % 3 ? 1 : 1 + (uint64_t)config % 5;
        char text[16];
        policy_time now = 0;
        snprintf(text, sizeof text, "%d", (int)probes);
        bench = bench_of("breaker", "failures", "3", "probes", text, "count", config % 2 ? "within" : "in_a_row",
                         "patience", "2 min", "sheds_fail", config % 4 < 2 ? "false" : "true", NULL);
        for (int step = 0; step < 1500; step++) {
            uint64_t word = oracle_random(&state);
            struct life *life = &lives[word % CALLS];
            now += (policy_time)(word >> 8 & 0x1ffffffff);
            for (int i = 0; i < CALLS; i++)
                if (lives[i].call && lives[i].expires > 0 && lives[i].expires <= now)
                    end_life(&lives[i], now, POLICY_EXPIRED);
            if (!life->call)
                ask(lives, life, word >> 42, now, probes);
            else if (word >> 60 < 13) /* the others go on; probes until they expire */
                end_life(life, now, word >> 44 & 1 ? POLICY_DONE : (enum policy_end)((word >> 45) % POLICY_EXPIRED));
            ck_assert_uint_eq((uint64_t)gauge("probing"), probing(lives));
        }
        for (int i = 0; i < CALLS; i++)
            if (lives[i].call)
                end_life(&lives[i], now, lives[i].expires ? POLICY_EXPIRED : POLICY_SHED);
        ck_assert_double_eq(gauge("probing"), 0);
        bench_ends(&bench, enter(now + 30 * S), now + 30 * S, POLICY_DONE);
        ck_assert_double_eq(gauge("state"), CLOSED);
        ck_assert_double_gt(gauge("openings"), 3);
        bench_free(&bench);
    }
}
END_TEST

/* --- in trials ------------------------------------------------------------------------------------------------------
 */

/* Calls of 10 s whose clients have 5 s. All five time out at 5; it is open until 35. At 8 they are told 27 s, so all
 * come at 35: the first is the probe, the others are refused then, and at 38, and told 29 s at 41, as the probe has
 * timed out at 40. */
START_TEST(a_backend_that_is_too_slow)
{
    struct timeline t;
    timeline_expect("study: {horizon: 71 s}\nbackends: {b: {kind: slots, servers: 20, service: constant(10 s)}}\n"
                    "agents: {a: {arrivals: all_at(0 s), runs: 5,\n"
                    "         client: {backoff: constant, base: 3 s, jitter: none, timeout: 5 s}}}\n"
                    "policies: [breaker]\n",
                    NULL, "a0@0 a1@0 a2@0 a3@0 a4@0 a0@35#3 a1@70#6", &t);
}
END_TEST

/* Those of `a` give up for good at 5 s; c0 is the probe at 35, answered at 45, and c1 comes every 4 s. */
START_TEST(a_backend_that_recovers)
{
    struct timeline t;
    timeline_expect("study: {until: done}\nbackends: {b: {kind: slots, servers: 20, service: constant(10 s)}}\n"
                    "agents: {a: {arrivals: all_at(0 s), runs: 5, client: {timeout: 5 s, attempts: 1}},\n"
                    "         c: {arrivals: all_at(20 s), runs: 2,\n"
                    "             client: {backoff: constant, base: 4 s, jitter: none}}}\n"
                    "policies: [c: [breaker,\n"
                    "  meddler: {name: one, does: read, of: breaker, key: state, value: 1, when: 44 s},\n"
                    "  meddler: {name: two, does: read, of: breaker, key: state, value: 0, when: 46 s}]]\n",
                    "meddler", "a0@0 a1@0 a2@0 a3@0 a4@0 c0@35#2 c1@47#5", &t);
    /* One for each class: c never hears of it. */
    timeline_expect("study: {until: done}\nbackends: {b: {kind: slots, servers: 20, service: constant(10 s)}}\n"
                    "agents: {a: {arrivals: all_at(0 s), runs: 5, client: {timeout: 5 s, attempts: 1}},\n"
                    "         c: {arrivals: all_at(20 s), runs: 2}}\npolicies: [breaker: {scope: class}]\n",
                    NULL, "a0@0 a1@0 a2@0 a3@0 a4@0 c0@20 c1@20", &t);
}
END_TEST

Suite *breaker_suite(void)
{
    Suite *suite = suite_create("breaker");
    TCase *states = tcase_create("states"), *lives = tcase_create("lives"), *trials = tcase_create("trials");
    tcase_add_test(states, opens_after_five_in_a_row);
    tcase_add_test(states, refuses_for_the_cooldown);
    tcase_add_test(states, every_end_of_a_probe);
    tcase_add_test(states, every_end_of_a_call);
    tcase_add_test(states, who_is_refused_behind_takes_no_place);
    tcase_add_test(states, late_ends);
    tcase_add_test(states, a_probe_has_its_time);
    tcase_add_test(states, failures_within_a_window);
    tcase_add_test(states, a_steered_breaker);
    tcase_add_test(lives, is_never_stuck);
    tcase_add_test(trials, a_backend_that_is_too_slow);
    tcase_add_test(trials, a_backend_that_recovers);
    suite_add_tcase(suite, states);
    suite_add_tcase(suite, lives);
    suite_add_tcase(suite, trials);
    return suite;
}
