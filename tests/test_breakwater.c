/* test_breakwater.c - breakwater on the bench, step by step as worked out by hand, and against a loop that takes every
 * step by itself. */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "tests/limiter_bench.h"
#include "tests/model.h"
#include "tests/oracles.h"
#include "tests/suites.h"

/* A card of eight servers, all busy. */
struct lab {
    struct bench bench;
    struct policy_call head; /* of the line */
};

static void lab_begin(struct lab *lab, struct bench bench)
{
    lab->bench = bench;
    lab->head = (struct policy_call){.joined = POLICY_NONE};
    limiter_crowd(&lab->bench, 8);
    bench_begins(&lab->bench);
}

static struct bench slow(const char *key, const char *text)
{
    return bench_of("breakwater", "target", "9 s", "drop_at", "100 s", "interval", "10 s", key, text, NULL);
}

/* The head of the line joined it then; POLICY_NONE: nobody waits. */
static void lab_head(struct lab *lab, policy_time joined)
{
    lab->head.joined = joined;
    lab->bench.view.waiting.head = joined == POLICY_NONE ? NULL : &lab->head;
    lab->bench.view.waiting.calls = joined != POLICY_NONE;
}

/* A call of an agent of its own, or of the agent of another. */
static struct policy_call *lab_call(struct lab *lab, const struct policy_call *other)
{
    struct policy_call *call = bench_call(&lab->bench, 0, 0, 0);
    if (other)
        call->agent_state = other->agent_state;
    return call;
}

static struct policy_call *lab_enters(struct lab *lab, const struct policy_call *other, policy_time now)
{
    struct policy_call *call = lab_call(lab, other);
    ck_assert(bench_enters(&lab->bench, call, now));
    return call;
}

static void expect_refused(struct lab *lab, const struct policy_call *other, policy_time now, const char *reason)
{
    struct policy_answer answer = bench_attempts(&lab->bench, lab_call(lab, other), now);
    ck_assert_int_eq(answer.action, POLICY_DEFER);
    ck_assert_int_eq(answer.after, POLICY_NONE);
    ck_assert_str_eq(answer.reason, reason);
}

/* A server takes a call, and this one is the head from then on. */
static void lab_takes(struct lab *lab, policy_time now, policy_time next_head)
{
    struct policy_call call = {.joined = now};
    lab_head(lab, next_head);
    lab->bench.view.now = now;
    ck_assert_int_eq(lab->bench.ops->start(&lab->bench.self, &lab->bench.view, &call).action, POLICY_ADMIT);
}

START_TEST(who_has_a_credit_is_let_in)
{
    struct lab lab;
    struct policy_call *first = NULL, *last = NULL;
    lab_begin(&lab, slow("alpha", "0.1%"));
    for (int i = 0; i < 8; i++) {
        last = lab_enters(&lab, NULL, 0);
        first = first ? first : last;
    }
    limiter_gauge(&lab.bench, "credits", 8); /* as many as servers */
    limiter_gauge(&lab.bench, "issued", 8);
    expect_refused(&lab, NULL, 0, "credits");
    expect_refused(&lab, first, 0, "credits"); /* its credit is in use */
    bench_ends(&lab.bench, first, 5 * S, POLICY_DONE);
    limiter_gauge(&lab.bench, "issued", 8);
    expect_refused(&lab, NULL, 5 * S, "credits"); /* the agent keeps it, for what it will ask */
    lab_enters(&lab, first, 6 * S);
    expect_refused(&lab, NULL, 10 * S - 1, "credits");
    lab_enters(&lab, last, 10 * S); /* one more in ten seconds */
    limiter_gauge(&lab.bench, "credits", 9);
    limiter_gauge(&lab.bench, "issued", 9);
    limiter_gauge(&lab.bench, "agents", 11); /* those that were refused are known, too */
    limiter_gauge(&lab.bench, "refused", 4);
    bench_free(&lab.bench);
}
END_TEST

/* C := C + max(floor(alpha n), 1), up to 64 n. */
START_TEST(credits_grow_while_nobody_waits)
{
    struct lab lab;
    lab_begin(&lab, slow("alpha", "50%"));
    for (int i = 0; i < 5; i++)
        lab_enters(&lab, NULL, 0);
    lab_takes(&lab, 10 * S - 1, POLICY_NONE);
    limiter_gauge(&lab.bench, "credits", 8);
    lab_takes(&lab, 10 * S, POLICY_NONE);
    limiter_gauge(&lab.bench, "credits", 10);
    lab_takes(&lab, 59 * S, POLICY_NONE);
    limiter_gauge(&lab.bench, "credits", 18);
    lab_takes(&lab, 1550 * S, POLICY_NONE);
    limiter_gauge(&lab.bench, "credits", 318);
    limiter_gauge(&lab.bench, "raises", 155);
    lab_takes(&lab, 100000 * S, POLICY_NONE);
    limiter_gauge(&lab.bench, "credits", 320);
    limiter_gauge(&lab.bench, "raises", 156);
    limiter_gauge(&lab.bench, "cuts", 0);
    bench_free(&lab.bench);
}
END_TEST

/* C := floor(C max(1 - 0.02 (d - 9 s) / 9 s, 1/2)), down to the servers, at 10 s, 20 s and so on. */
START_TEST(credits_are_cut_while_the_head_waits)
{
    struct lab lab;
    lab_begin(&lab, slow("initial", "100"));
    lab_enters(&lab, NULL, 0);
    lab_enters(&lab, NULL, 0);
    lab_takes(&lab, 0, 1 * S);
    lab_takes(&lab, 10 * S, 12 * S); /* 9 s: no more than the target, times 1 */
    limiter_gauge(&lab.bench, "credits", 100);
    lab_takes(&lab, 20 * S, 12 * S); /* 8 s */
    limiter_gauge(&lab.bench, "credits", 101);
    lab_takes(&lab, 30 * S, 12 * S); /* 18 s: 101 x 0.98 = 98.98 */
    limiter_gauge(&lab.bench, "credits", 98);
    lab_takes(&lab, 50 * S, 12 * S); /* 28 s: 93.86; 38 s: 93 x 0.9356 = 87.01 */
    limiter_gauge(&lab.bench, "credits", 87);
    limiter_gauge(&lab.bench, "cuts", 3);
    lab_takes(&lab, 50 * S, 50 * S - 500 * S);
    lab_takes(&lab, 60 * S, POLICY_NONE); /* 510 s: by a half at most */
    limiter_gauge(&lab.bench, "credits", 43);
    lab_takes(&lab, 60 * S, -1000 * S);
    lab_takes(&lab, 600 * S, POLICY_NONE); /* 21, 10, and not below the servers */
    limiter_gauge(&lab.bench, "credits", 8);
    limiter_gauge(&lab.bench, "cuts", 7);
    bench_free(&lab.bench);
}
END_TEST

/* A call that joins an empty line is its head from then on. */
START_TEST(who_joins_an_empty_line_is_its_head)
{
    struct lab lab;
    lab_begin(&lab, slow("initial", "100"));
    lab_enters(&lab, NULL, 0);
    lab_enters(&lab, NULL, 2 * S); /* all servers are busy */
    lab_takes(&lab, 30 * S, POLICY_NONE);
    limiter_gauge(&lab.bench, "credits", 93); /* 8 s: 101; 18 s: 98; 28 s: 93.86 */
    bench_free(&lab.bench);
    lab_begin(&lab, slow("initial", "100"));
    lab_enters(&lab, NULL, 0);
    lab.bench.view.busy = 6; /* and there is no memory for another context */
    lab_enters(&lab, NULL, 2 * S);
    lab_takes(&lab, 30 * S, POLICY_NONE);
    limiter_gauge(&lab.bench, "credits", 93);
    bench_free(&lab.bench);
}
END_TEST

START_TEST(an_old_head_refuses_everybody)
{
    struct lab lab;
    struct policy_call *call;
    lab_begin(&lab, slow("drop_at", "20 s"));
    call = lab_enters(&lab, NULL, 0);
    bench_ends(&lab.bench, call, 0, POLICY_DONE);
    lab_head(&lab, 0);
    lab_enters(&lab, call, 20 * S - 1);
    expect_refused(&lab, NULL, 20 * S, "delay");
    limiter_gauge(&lab.bench, "delay", 20);
    limiter_gauge(&lab.bench, "dropped", 1);
    limiter_gauge(&lab.bench, "refused", 0);
    lab_head(&lab, POLICY_NONE);
    lab_enters(&lab, NULL, 21 * S);
    bench_free(&lab.bench);
}
END_TEST

/* What an agent has when its call ends. */
START_TEST(spares)
{
    struct lab lab;
    struct policy_call *a, *b, *c;
    lab_begin(&lab, slow("initial", "20"));
    a = lab_enters(&lab, NULL, 0);
    b = lab_enters(&lab, NULL, 0);
    c = lab_enters(&lab, b, 0); /* a second one of the same agent */
    limiter_gauge(&lab.bench, "agents", 2);
    limiter_gauge(&lab.bench, "issued", 3);
    bench_ends(&lab.bench, a, 0, POLICY_DONE); /* (20 - 3) / 2 spares */
    limiter_gauge(&lab.bench, "issued", 8 + 2);
    bench_ends(&lab.bench, b, 0, POLICY_ERROR); /* one inside and (20 - 10) / 2 */
    limiter_gauge(&lab.bench, "issued", 8 + 6);
    bench_ends(&lab.bench, c, 0, POLICY_TIMEOUT); /* (20 - 14) / 2 */
    limiter_gauge(&lab.bench, "issued", 8 + 3);
    for (int i = 0; i < 8; i++)
        lab_enters(&lab, a, 0);
    limiter_gauge(&lab.bench, "issued", 8 + 3);
    bench_free(&lab.bench);
}
END_TEST

START_TEST(an_agent_has_no_more_than_63)
{
    struct lab lab;
    struct policy_call *call;
    lab_begin(&lab, slow("initial", "1000"));
    call = lab_enters(&lab, NULL, 0);
    bench_ends(&lab.bench, call, 0, POLICY_DONE);
    limiter_gauge(&lab.bench, "issued", 63);
    bench_free(&lab.bench);
}
END_TEST

/* Nothing is open: with no more spares than what is beyond the pool, one credit goes with each call that ends. */
START_TEST(credits_come_back)
{
    struct lab lab;
    struct policy_call *calls[12], *again;
    lab_begin(&lab, slow("initial", "12"));
    for (int i = 0; i < 12; i++)
        calls[i] = lab_enters(&lab, NULL, 0);
    lab_takes(&lab, 0, -100 * S);
    lab_takes(&lab, 10 * S, POLICY_NONE); /* 12 x 0.777 */
    limiter_gauge(&lab.bench, "credits", 9);
    for (int i = 0; i < 3; i++) {
        bench_ends(&lab.bench, calls[i], 11 * S, POLICY_DONE);
        limiter_gauge(&lab.bench, "issued", 11 - i);
    }
    bench_ends(&lab.bench, calls[3], 11 * S, POLICY_DONE); /* 9 of 9: it keeps its own */
    limiter_gauge(&lab.bench, "issued", 9);
    expect_refused(&lab, calls[0], 12 * S, "credits");
    again = lab_enters(&lab, calls[3], 12 * S);
    bench_ends(&lab.bench, again, 13 * S, POLICY_DONE);
    lab.bench.ops->run_finish(&lab.bench.self, &lab.bench.view, &(struct policy_run){.agent_state = again->agent_state},
                              true);
    limiter_gauge(&lab.bench, "issued", 8); /* its spare is not wasted */
    limiter_gauge(&lab.bench, "agents", 11);
    lab_enters(&lab, calls[0], 14 * S);
    bench_free(&lab.bench);
}
END_TEST

/* Nothing is heard of who dies, but its turn, or its run, is over then. */
START_TEST(the_dead_are_forgotten)
{
    struct lab lab;
    struct policy_call *dead = NULL, *next;
    lab_begin(&lab, slow("alpha", "0.1%"));
    for (int i = 0; i < 8; i++)
        dead = lab_enters(&lab, NULL, 0);
    expect_refused(&lab, dead, S, "credits"); /* the same turn: a part of it, which has none */
    for (uint64_t turn = 1; turn < 100; turn++) {
        next = lab_call(&lab, dead);
        next->turn = turn;
        ck_assert(bench_enters(&lab.bench, next, S)); /* by the credit of the one before */
        limiter_gauge(&lab.bench, "issued", 8);
    }
    next = lab_call(&lab, dead);
    next->turn = 99;
    ck_assert_int_eq(bench_attempts(&lab.bench, next, S).action, POLICY_DEFER);
    lab.bench.ops->run_finish(&lab.bench.self, &lab.bench.view, &(struct policy_run){.agent_state = dead->agent_state},
                              false);
    limiter_gauge(&lab.bench, "issued", 7);
    limiter_gauge(&lab.bench, "agents", 7);
    lab_enters(&lab, NULL, S);
    bench_free(&lab.bench);
}
END_TEST

/* In a simulation: of 12 agents on 8 slots one attempt in ten dies, and as many turns are answered as at an open door.
 */
static double goodput(const char *turns, const char *policy)
{
    char yaml[512];
    double v[METRIC_COUNT];
    struct plan plan;
    snprintf(yaml, sizeof yaml,
             "study: {horizon: 20000 s, warmup: 10000 s, replications: 1}\n"
             "backends: {card: {kind: slots, servers: 8, rate: 39 tokens/s}}\n"
             "agents: {coder: {population: 12, %s think: exponential(4.5 s), output: lognormal(350 cv 1.1),\n"
             "  client: {dies: 10 %%}}}\n"
             "policies: [%s]\n",
             turns, policy);
    plan = model_plan(yaml);
    model_trial(&plan, 0, 1, v);
    plan_fini(&plan);
    return v[METRIC_GOODPUT];
}

START_TEST(it_does_not_lock_up_where_clients_die)
{
    ck_assert_double_ge(goodput("", "breakwater: {preset: slots}"), 0.95 * goodput("", "unbounded"));
    ck_assert_double_ge(goodput("turns: geometric(10),", "breakwater: {preset: slots}"),
                        0.95 * goodput("turns: geometric(10),", "unbounded"));
}
END_TEST

/* The steps that are taken together are those that a loop takes one by one. */
START_TEST(steps_against_a_loop)
{
    for (uint64_t seed = 1; seed <= 30; seed++) {
        uint64_t state = seed;
        struct lab lab;
        policy_time now = 0, at = 0, head = POLICY_NONE;
        int64_t credits = 8, agents = 1 + (int64_t)(oracle_random(&state) % 5);
        lab_begin(&lab, bench_of("breakwater", "target", "1 s", "drop_at", "inf", "interval", "70 ms", NULL));
        for (int64_t i = 0; i < agents; i++)
            lab_enters(&lab, NULL, 0);
        head = 0;
        for (int event = 0; event < 300; event++) {
            policy_time next = now + (policy_time)(oracle_random(&state) % (uint64_t)(3 * S));
            for (; at + 70 * MS <= next; at += 70 * MS) {
                policy_time delay = head == POLICY_NONE ? 0 : at + 70 * MS - head;
                double left = 1 - 0.02 * ((double)(delay - S) / (double)S);
                credits = delay < S ? credits + 1 : (int64_t)((double)credits * (left > 0.5 ? left : 0.5));
                credits = credits > 64 * agents ? 64 * agents : credits < 8 ? 8 : credits;
            }
            now = next;
            head = oracle_random(&state) % 3 == 0
                       ? POLICY_NONE
                       : now - (policy_time)(oracle_random(&state) % (uint64_t)(oracle_random(&state) % 2 ? S : 9 * S));
            lab_takes(&lab, now, head);
            ck_assert_int_eq((int64_t)bench_gauge(&lab.bench, "credits"), credits);
        }
        bench_free(&lab.bench);
    }
}
END_TEST

Suite *breakwater_suite(void)
{
    Suite *suite = suite_create("breakwater");
    TCase *test = tcase_create("breakwater");
    tcase_add_test(test, who_has_a_credit_is_let_in);
    tcase_add_test(test, credits_grow_while_nobody_waits);
    tcase_add_test(test, credits_are_cut_while_the_head_waits);
    tcase_add_test(test, who_joins_an_empty_line_is_its_head);
    tcase_add_test(test, an_old_head_refuses_everybody);
    tcase_add_test(test, spares);
    tcase_add_test(test, an_agent_has_no_more_than_63);
    tcase_add_test(test, credits_come_back);
    tcase_add_test(test, the_dead_are_forgotten);
    tcase_add_test(test, it_does_not_lock_up_where_clients_die);
    tcase_add_test(test, steps_against_a_loop);
    suite_add_tcase(suite, test);
    return suite;
}
