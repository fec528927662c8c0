/* test_run_budget.c - run_budget on the bench at every edge: estimates, both readings, deadlines, what is released
 * when; that reservations come back to nothing in random lives; and whole runs at the door against calls held inside,
 * simulated. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "sim/engine/number.h"
#include "tests/call_bench.h"
#include "tests/model.h"
#include "tests/oracles.h"
#include "tests/suites.h"

static const char *const names[] = {"live", "batch", "other"};
enum { LIVE, BATCH, OTHER, CLASSES };

static struct bench bench;
static void *classes[CLASSES];
static double drawn = 0.5;

static double uniform(struct policy *self)
{
    (void)self;
    return drawn;
}

static const struct policy_host host = {.ln = sim_log, .exp = sim_exp, .uniform = uniform};

static void begin(void)
{
    bench.self.host = &host;
    bench.view.class_names = names;
    for (int i = 0; i < CLASSES; i++)
        classes[i] = arena_zeroed(&bench.arena, 1, bench.ops->class_size);
    ck_assert_ptr_null(bench_checked(&bench));
    bench_begins(&bench);
}

/* 6000 tokens a minute; a turn of the curve takes 100 tokens and 2 s, so a run 3000 a minute. */
#define BUDGET(...) \
    do { \
        bench = bench_of("run_budget", "quota", "6000 tokens/min", "start", "100", "period", "2 s", "turns", "10", \
                         __VA_ARGS__, NULL); \
        begin(); \
    } while (0)

/* What a run's calls have in common: the turn, and the memory of its call, which lasts over its attempts. */
struct life {
    uint64_t turn;
    void *state;
};

/* A run that names so many turns, and how many tokens it sends with them (0: it does not say). */
static struct policy_run *run_of(uint32_t klass, double turns, double input)
{
    struct policy_run *run = arena_zeroed(&bench.arena, 1, sizeof *run);
    *run = (struct policy_run){.klass = klass,
                               .turns = turns,
                               .input_tokens = input,
                               .deadline = POLICY_NONE,
                               .held_since = POLICY_NONE,
                               .run_state = arena_zeroed(&bench.arena, 1, bench.ops->run_size),
                               .agent_state = arena_zeroed(&bench.arena, 1, sizeof(struct life)),
                               .class_state = classes[klass]};
    ((struct life *)run->agent_state)->state = arena_zeroed(&bench.arena, 1, bench.ops->call_size);
    return run;
}

static struct policy_answer asks(struct policy_run *run, policy_time now)
{
    bench.view.now = now;
    run->attempt++;
    return bench.ops->run_admit(&bench.self, &bench.view, run);
}

static bool begins(struct policy_run *run, policy_time now)
{
    return asks(run, now).action == POLICY_ADMIT;
}

static void is_deferred(struct policy_run *run, policy_time now, const char *reason)
{
    struct policy_answer answer = asks(run, now);
    ck_assert_int_eq(answer.action, POLICY_DEFER);
    ck_assert_int_eq(answer.after, 90 * S);
    ck_assert_str_eq(answer.reason, reason);
}

/* A turn that is made `first`, taken by a server at `started` and ends `now`. */
static void turn_ends(struct policy_run *run, policy_time first, policy_time started, policy_time now,
                      enum policy_end end, double input, double cached, double output)
{
    struct policy_call *call = bench_call(&bench, input, cached, output);
    struct life *life = run->agent_state;
    call->turn = life->turn;
    call->state = life->state;
    call->klass = run->klass;
    call->run_state = run->run_state;
    call->class_state = run->class_state;
    call->first_attempt = first;
    call->started = started;
    ck_assert_int_eq(bench.ops->admit(&bench.self, &bench.view, call).action, POLICY_ADMIT);
    bench_ends(&bench, call, now, end);
    if (end != POLICY_DONE)
        return;
    life->turn++;
    life->state = arena_zeroed(&bench.arena, 1, bench.ops->call_size);
}

static void turn_done(struct policy_run *run, policy_time now)
{
    turn_ends(run, now, now, now, POLICY_DONE, 100, 0, 0);
}

static void run_ends(struct policy_run *run, bool done)
{
    bench.ops->run_finish(&bench.self, &bench.view, run, done);
}

static void gauges(double reserved, double left, double inside)
{
    ck_assert_double_eq_tol(bench_gauge(&bench, "reserved"), reserved, 1e-6 * (reserved > 1 ? reserved : 1));
    ck_assert_double_eq_tol(bench_gauge(&bench, "left"), left, 1e-6 * (left > 1 ? left : 1));
    ck_assert_double_eq(bench_gauge(&bench, "inside"), inside);
}

/* A call of a turn, with a memory of its own: the turn's, or a part of it. */
static struct policy_call *calls(struct policy_run *run, uint64_t turn, policy_time now)
{
    struct policy_call *call = bench_call(&bench, 100, 0, 0);
    call->turn = turn;
    call->run_state = run->run_state;
    call->class_state = run->class_state;
    call->first_attempt = call->started = now;
    ck_assert_int_eq(bench.ops->admit(&bench.self, &bench.view, call).action, POLICY_ADMIT);
    return call;
}

/* Ten turns of 100 tokens, by the minute's reading; parts are none, and what another gate answers is over, too. */
START_TEST(turns_are_released_whatever_became_of_them)
{
    struct policy_run *run;
    struct policy_call *own, *part;
    struct policy_answer refusal = policy_defer(POLICY_NONE, "full");
    BUDGET("reading", "minute", "estimate", "history", "learn", "1");
    run = run_of(LIVE, 10, 1000);
    ck_assert(begins(run, 0));
    gauges(1000, 1000, 1);
    own = calls(run, 7, 0);
    bench_ends(&bench, own, 2 * S, POLICY_DONE);
    gauges(900, 900, 1);
    for (int i = 0; i < 5; i++) {
        part = calls(run, 7, 2 * S);
        bench_ends(&bench, part, 4 * S, POLICY_DONE);
        gauges(900, 900, 1);
    }
    own = calls(run, 8, 4 * S);
    bench_ends(&bench, own, 4 * S, POLICY_SHED); /* and answered elsewhere */
    gauges(900, 900, 1);
    part = calls(run, 8, 5 * S);
    bench_ends(&bench, part, 5 * S, POLICY_DONE);
    gauges(900, 900, 1);
    own = calls(run, 9, 6 * S);
    gauges(800, 800, 1);
    own = bench_call(&bench, 100, 0, 0);
    own->turn = 10;
    own->run_state = run->run_state;
    bench.ops->refused(&bench.self, &bench.view, own, &refusal); /* by a member before it, and answered elsewhere */
    gauges(700, 700, 1);
    bench.view.now = 12 * S;
    run_ends(run, true);
    gauges(0, 0, 0);
    /* Four turns, one answer of 100 tokens here, 12 s with the parts. */
    run = run_of(LIVE, 10, 1000);
    ck_assert(begins(run, 12 * S));
    gauges(100, 100, 1);
    own = calls(run, 11, 12 * S);
    bench_ends(&bench, own, 12 * S, POLICY_DONE);
    gauges(75, 75, 1);
    bench_free(&bench);
}
END_TEST

/* --- quota ---------------------------------------------------------------------------------------------------------
 */

START_TEST(the_sum_of_rates_is_within_the_quota)
{
    struct policy_run *a, *b, *c;
    BUDGET("estimate", "curve");
    a = run_of(LIVE, INFINITY, 0);
    b = run_of(BATCH, 3, 0);
    c = run_of(LIVE, 1, 0);
    gauges(0, 0, 0);
    ck_assert(begins(a, 0));
    gauges(3000, 1000, 1);
    ck_assert(begins(b, 0)); /* to the last token */
    gauges(6000, 2000, 2);
    is_deferred(c, 0, "quota");
    gauges(6000, 2000, 2);
    for (int i = 0; i < 9; i++) {
        turn_done(a, i * S); /* as long as it runs it uses as much a minute */
        gauges(6000, 1900 - i * 100, 2);
    }
    is_deferred(c, 20 * S, "quota");
    turn_done(a, 20 * S); /* its tenth of ten: it goes on, and keeps what one turn is */
    gauges(6000, 1100, 2);
    turn_done(a, 22 * S);
    gauges(6000, 1100, 2);
    run_ends(a, true);
    gauges(3000, 1000, 1);
    run_ends(a, true); /* once is enough */
    gauges(3000, 1000, 1);
    ck_assert(begins(c, 90 * S));
    run_ends(b, false);
    run_ends(c, false);
    gauges(0, 0, 0);
    ck_assert_double_eq(bench_gauge(&bench, "over_quota"), 2);
    run_ends(run_of(LIVE, 1, 0), false); /* of one that was never let in */
    gauges(0, 0, 0);
    bench_free(&bench);
}
END_TEST

START_TEST(one_token_too_many)
{
    BUDGET("estimate", "curve");
    ck_assert(begins(run_of(LIVE, 1, 0), 0));
    bench_steers(&bench, 0, "quota", 5999.0 / 60);
    is_deferred(run_of(LIVE, 1, 0), 0, "quota");
    bench_steers(&bench, 0, "quota", 6000.0 / 60);
    ck_assert(begins(run_of(LIVE, 1, 0), 0));
    bench_steers(&bench, 0, "quota", INFINITY);
    for (int i = 0; i < 100; i++)
        ck_assert(begins(run_of(LIVE, 1, 0), 0));
    bench_free(&bench);
}
END_TEST

START_TEST(a_whole_run_in_a_minutes_budget)
{
    struct policy_run *a, *b;
    BUDGET("estimate", "curve", "reading", "minute");
    a = run_of(LIVE, 1, 0);
    b = run_of(LIVE, 1, 0);
    for (int i = 0; i < 5; i++)
        ck_assert(begins(run_of(BATCH, 1, 0), 0));
    ck_assert(begins(a, 0));
    gauges(6000, 6000, 6);
    is_deferred(b, 0, "quota");
    for (int i = 1; i <= 9; i++) {
        turn_done(a, i * S);
        gauges(6000 - i * 100, 6000 - i * 100, 6); /* released turn by turn */
        is_deferred(b, i * S, "quota");
    }
    turn_done(a, 10 * S); /* one turn stays until it ends */
    gauges(5100, 5100, 6);
    is_deferred(b, 10 * S, "quota");
    run_ends(a, true);
    ck_assert(begins(b, 11 * S));
    gauges(6000, 6000, 6);
    bench_free(&bench);
}
END_TEST

/* The published numbers: 40 turns of 30,000 tokens, 15 a minute, 2 M tokens a minute in shares of 70, 20 and 10 %. */
START_TEST(both_readings_of_what_was_published)
{
    static const char *const published[] = {"interactive", "background", "batch"};
    static const int fit[2][3] = {{1, 0, 0}, {3, 0, 0}};
    for (int normalised = 0; normalised < 2; normalised++) {
        bench = bench_of("run_budget", "classes", "interactive 70 % background 20 % batch 10 %", NULL);
        for (const char *const *pair = bench.ops->presets[normalised].settings; pair[0]; pair += 2)
            bench_set(&bench, pair[0], pair[1]);
        begin();
        bench.view.class_names = published;
        for (uint32_t klass = 0; klass < CLASSES; klass++) {
            int count = 0;
            while (begins(run_of(klass, 1, 0), 0))
                count++;
            ck_assert_int_eq(count, fit[normalised][klass]);
        }
        bench_free(&bench);
    }
    /* whole, the quota carries 4.4 of them a minute */
    bench = bench_of("run_budget", "estimate", "curve", NULL);
    begin();
    for (int i = 0; i < 4; i++)
        ck_assert(begins(run_of(LIVE, 1, 0), 0));
    is_deferred(run_of(LIVE, 1, 0), 0, "quota");
    gauges(1800000, 4800000, 4);
    bench_free(&bench);
}
END_TEST

START_TEST(shares_of_the_quota)
{
    struct policy_answer answer;
    struct policy_run *run;
    BUDGET("estimate", "curve", "classes", "live 50 % batch 0 %");
    run = run_of(LIVE, 1, 0);
    ck_assert(begins(run, 0));
    is_deferred(run_of(LIVE, 1, 0), 0, "quota");
    ck_assert(begins(run_of(OTHER, 1, 0), 0));
    is_deferred(run_of(OTHER, 1, 0), 0, "quota");
    answer = asks(run_of(BATCH, 1, 0), 0);
    ck_assert_int_eq(answer.action, POLICY_REJECT);
    ck_assert_str_eq(answer.reason, "no share");
    run_ends(run, true);
    is_deferred(run_of(OTHER, 1, 0), 0, "quota"); /* what live has free is not others' */
    ck_assert(begins(run_of(LIVE, 1, 0), 0));
    bench_free(&bench);
    bench = bench_of("run_budget", "classes", "live", NULL);
    ck_assert_ptr_nonnull(bench_checked(&bench));
    bench_free(&bench);
}
END_TEST

/* There is no callback that says that another member has refused: when the run asks again it begins anew. */
START_TEST(a_later_member_refuses)
{
    struct policy_run *run;
    BUDGET("estimate", "curve");
    run = run_of(LIVE, 1, 0);
    for (int i = 0; i < 5; i++) {
        ck_assert(begins(run, i * S));
        gauges(3000, 1000, 1);
    }
    bench_free(&bench);
}
END_TEST

/* --- deadlines -----------------------------------------------------------------------------------------------------
 */

START_TEST(time_left)
{
    struct policy_run *run;
    struct policy_answer answer;
    BUDGET("estimate", "run");
    run = run_of(LIVE, 10, 0); /* 20 s, so 30 are needed */
    run->deadline = 130 * S;
    is_deferred(run, 100 * S + 1, "deadline");
    ck_assert_double_eq(bench_gauge(&bench, "over_deadline"), 1);
    gauges(0, 0, 0);
    ck_assert(begins(run, 100 * S));
    is_deferred(run, 131 * S, "deadline");
    gauges(0, 0, 0); /* it asked again, so it was not let in */
    bench_steers(&bench, 0, "factor", 0);
    ck_assert(begins(run, 130 * S));
    run = run_of(LIVE, 10, 0);
    run->deadline = 0;
    is_deferred(run, 1, "deadline");
    bench_set(&bench, "late", "reject");
    answer = asks(run, 1);
    ck_assert_int_eq(answer.action, POLICY_REJECT);
    ck_assert_str_eq(answer.reason, "deadline");
    bench_free(&bench);
}
END_TEST

/* --- estimates -----------------------------------------------------------------------------------------------------
 */

START_TEST(what_the_run_names)
{
    BUDGET("estimate", "run", "reading", "minute");
    ck_assert(begins(run_of(LIVE, 3, 0), 0)); /* its turns, of the curve */
    gauges(300, 300, 1);
    ck_assert(begins(run_of(LIVE, 3, 700), 0)); /* its tokens, too */
    gauges(1000, 1000, 2);
    ck_assert(begins(run_of(LIVE, INFINITY, 0), 0)); /* without end: as the curve */
    gauges(2000, 2000, 3);
    ck_assert(begins(run_of(LIVE, 2, INFINITY), 0));
    gauges(2200, 2200, 4);
    ck_assert(begins(run_of(LIVE, 0, 0), 0)); /* nobody knows */
    gauges(3200, 3200, 5);
    struct policy_run *drawn_run = run_of(LIVE, 3, 700); /* its own word goes before its class's */
    drawn_run->turns_drawn = 5;
    drawn_run->input_drawn = 900;
    drawn_run->output_drawn = 50;
    ck_assert(begins(drawn_run, 0));
    gauges(4100, 4100, 6);
    bench_set(&bench, "estimate", "class");
    ck_assert(begins(drawn_run, 0));
    gauges(3900, 3900, 6);
    bench_set(&bench, "estimate", "run");
    bench_set(&bench, "meter", "total");
    ck_assert(begins(drawn_run, 0));
    gauges(4150, 4150, 6);
    bench_free(&bench);
    BUDGET("estimate", "run", "reading", "minute", "meter", "total", "output", "11");
    ck_assert(begins(run_of(LIVE, 3, 0), 0));
    gauges(333, 333, 1);
    bench_free(&bench);
}
END_TEST

START_TEST(a_context_that_grows)
{
    struct policy_run *run;
    BUDGET("estimate", "curve", "reading", "minute", "per_turn", "10");
    run = run_of(LIVE, 1, 0);
    ck_assert(begins(run, 0));
    gauges(1450, 1450, 1); /* 100 + 110 + ... + 190 */
    turn_done(run, 0);
    gauges(1350, 1350, 1);
    turn_done(run, 0);
    gauges(1240, 1240, 1);
    for (int i = 0; i < 7; i++)
        turn_done(run, 0);
    gauges(190, 190, 1);
    turn_done(run, 0);
    gauges(190, 190, 1);
    run_ends(run, true);
    gauges(0, 0, 0);
    bench_free(&bench);
    BUDGET("estimate", "run", "reading", "minute", "per_turn", "10");
    ck_assert(begins(run_of(LIVE, 2.5, 0), 0)); /* a half turn: 100 + 110 + 60 */
    gauges(270, 270, 1);
    bench_free(&bench);
    BUDGET("estimate", "run", "per_turn", "10"); /* what is left of it a minute rises */
    run = run_of(LIVE, 10, 0);
    ck_assert(begins(run, 0));
    gauges(1450 * 3, 1450, 1);
    for (int i = 0; i < 8; i++)
        turn_done(run, 0);
    gauges((180 + 190) * 15, 180 + 190, 1);
    bench_free(&bench);
}
END_TEST

static void live_run(uint32_t klass, int turns, double tokens, policy_time period, bool done)
{
    struct policy_run *run = run_of(klass, 1, 0);
    ck_assert(begins(run, 0));
    for (policy_time i = 0; i < turns; i++) /* half of the time is service, and as much again it waited */
        turn_ends(run, i * 2 * period + period / 2, i * 2 * period + period / 2 + period, (i + 1) * 2 * period,
                  POLICY_DONE, tokens, 0, 7);
    run_ends(run, done);
}

START_TEST(what_the_class_has_done)
{
    BUDGET("estimate", "history", "reading", "minute", "learn", "3");
    live_run(LIVE, 4, 50, S, true);
    live_run(LIVE, 2, 100, S, true);
    ck_assert(begins(run_of(LIVE, 1, 0), 0)); /* of two runs nobody learns: the curve */
    gauges(1000, 1000, 1);
    live_run(LIVE, 7, 999, S, false);   /* not done: no history */
    live_run(BATCH, 7, 999, S, true);   /* another class's */
    run_ends(run_of(LIVE, 1, 0), true); /* never let in */
    ck_assert(begins(run_of(LIVE, 1, 0), 0));
    gauges(2000, 2000, 2);
    live_run(LIVE, 3, 80, S, true);
    ck_assert(begins(run_of(LIVE, 1, 0), 0)); /* the mean of 200, 200 and 240, 3 turns */
    gauges(2000 + 640.0 / 3, 2000 + 640.0 / 3, 3);
    ck_assert(begins(run_of(BATCH, 1, 0), 0));
    gauges(3000 + 640.0 / 3, 3000 + 640.0 / 3, 4);
    bench_free(&bench);
}
END_TEST

/* Its own time, not what it has waited: a crowd would make runs look cheap. */
START_TEST(how_long_a_run_takes)
{
    struct policy_run *run;
    BUDGET("estimate", "history", "learn", "1", "cached_weight", "0.5");
    run = run_of(LIVE, 1, 0);
    ck_assert(begins(run, 10 * S));
    /* thinks 1 s, waits 50 s, is served 2 s; then 3, 0 and 4 s: 10 s and 300 tokens in 2 turns */
    turn_ends(run, 11 * S, 61 * S, 63 * S, POLICY_DONE, 200, 100, 9);
    turn_ends(run, 66 * S, 66 * S, 67 * S, POLICY_OVERLOAD, 0, 0, 0); /* not done: nothing of it is over */
    turn_ends(run, 66 * S, 66 * S, 70 * S, POLICY_DONE, 150, 0, 9);
    run_ends(run, true);
    run = run_of(LIVE, 1, 0);
    ck_assert(begins(run, 0));
    gauges(300 * 6, 300, 1);
    turn_done(run, 0);
    gauges(300 * 6, 150, 1);
    bench_free(&bench);
}
END_TEST

/* --- errors --------------------------------------------------------------------------------------------------------
 */

static double tokens_of(uint32_t klass, uint32_t agent, uint64_t number)
{
    struct policy_run *run = run_of(klass, 1000, 0);
    double tokens;
    run->agent = agent;
    run->run = number;
    ck_assert(begins(run, 0));
    tokens = bench_gauge(&bench, "left");
    run_ends(run, false);
    return tokens;
}

START_TEST(errors_are_lognormal_with_mean_1)
{
    enum { RUNS = 100000 };
    double sum = 0, squares = 0, logs = 0, log_squares = 0, variance = log(1.04);
    unsigned below = 0;
    BUDGET("estimate", "run", "quota", "inf", "error", "0.2");
    for (uint32_t i = 0; i < RUNS; i++) {
        double factor = tokens_of(i % CLASSES, i / 7, i % 7) / 100000, ln = log(factor);
        sum += factor;
        squares += factor * factor;
        logs += ln;
        log_squares += ln * ln;
        below += ln < -variance / 2 - sqrt(variance);
    }
    /* four standard errors; a normal number is below -1 with 0.158655 */
    ck_assert_double_eq_tol(sum / RUNS, 1, 4 * 0.2 / sqrt(RUNS));
    ck_assert_double_eq_tol(logs / RUNS, -variance / 2, 4 * sqrt(variance / RUNS));
    ck_assert_double_eq_tol(log_squares / RUNS - logs / RUNS * logs / RUNS, variance, 4 * variance * sqrt(2.0 / RUNS));
    ck_assert_double_eq_tol(sqrt(squares / RUNS - sum / RUNS * sum / RUNS), 0.2, 0.003);
    ck_assert_double_eq_tol((double)below / RUNS, 0.158655, 4 * sqrt(0.158655 * 0.841345 / RUNS));
    bench_free(&bench);
}
END_TEST

/* Whose run it is decides, and the copy's first number; not who came before, nor how often it asked. */
START_TEST(errors_are_a_runs_own)
{
    double first[3], other;
    BUDGET("estimate", "run", "quota", "inf", "error", "0.2");
    for (uint32_t i = 0; i < 3; i++)
        first[i] = tokens_of(i, 5, 2);
    ck_assert(first[0] != first[1] && first[1] != first[2]);
    ck_assert(tokens_of(0, 4, 2) != first[0] && tokens_of(0, 5, 1) != first[0]);
    bench_free(&bench);
    BUDGET("estimate", "run", "quota", "inf", "error", "0.2");
    for (uint32_t i = 3; i-- > 0;)
        ck_assert_double_eq(tokens_of(i, 5, 2), first[i]);
    bench_free(&bench);
    drawn = 0.75;
    BUDGET("estimate", "run", "quota", "inf", "error", "0.2");
    other = tokens_of(0, 5, 2);
    ck_assert(other != first[0]);
    bench_free(&bench);
    drawn = 0.5;
    /* a run that asks again is as wrong as before, and what is learned in between counts */
    BUDGET("estimate", "history", "learn", "1", "error", "0.2", "reading", "minute");
    struct policy_run *run = run_of(LIVE, 1, 0);
    double wrong, again;
    ck_assert(begins(run, 0));
    wrong = bench_gauge(&bench, "left") / 1000;
    ck_assert(wrong != 1);
    ck_assert(begins(run, 0));
    ck_assert_double_eq(bench_gauge(&bench, "left"), wrong * 1000);
    run_ends(run, false);
    live_run(LIVE, 5, 60, S, true);
    ck_assert(begins(run, 0));
    again = bench_gauge(&bench, "left") / 300;
    ck_assert_double_eq_tol(again, wrong, 1e-6);
    bench_free(&bench);
}
END_TEST

/* --- reservations come back ----------------------------------------------------------------------------------------
 */

START_TEST(nothing_is_left_when_all_have_ended)
{
    enum { RUNS = 40, STEPS = 20000 };
    static const char *const readings[] = {"rate", "minute"}, *const sources[] = {"run", "curve", "history"};
    uint64_t random = (uint64_t)_i;
    struct policy_run *runs[RUNS] = {0};
    uint64_t inside = 0;
    BUDGET("estimate", sources[_i % 3], "reading", readings[_i / 3], "error", "0.7", "per_turn", "33", "quota",
           "12k tokens/min", "classes", "live 50 % batch 20 %", "learn", "4");
    for (int step = 0; step < STEPS; step++) {
        size_t which = oracle_random(&random) % RUNS;
        policy_time now = step * S;
        struct policy_run *run = runs[which];
        if (!run) {
            run = run_of((uint32_t)(oracle_random(&random) % CLASSES), (double)(oracle_random(&random) % 30), 0);
            run->agent = (uint32_t)which;
            run->run = (uint64_t)step;
            if (begins(run, now)) {
                runs[which] = run;
                inside++;
            }
        } else if (oracle_random(&random) % 8 == 0) {
            run_ends(run, oracle_random(&random) % 2);
            runs[which] = NULL;
            inside--;
        } else {
            turn_ends(run, now, now, now, oracle_random(&random) % 3 ? POLICY_DONE : POLICY_SHED, 77, 0, 0);
        }
        ck_assert_double_eq(bench_gauge(&bench, "inside"), (double)inside);
        ck_assert((bench_gauge(&bench, "reserved") > 0) == (inside > 0));
    }
    ck_assert_double_gt(bench_gauge(&bench, "over_quota"), 100);
    for (size_t i = 0; i < RUNS; i++)
        if (runs[i])
            run_ends(runs[i], true);
    ck_assert_double_eq(bench_gauge(&bench, "reserved"), 0);
    ck_assert_double_eq(bench_gauge(&bench, "left"), 0);
    ck_assert_double_eq(bench_gauge(&bench, "inside"), 0);
    bench_free(&bench);
}
END_TEST

/* --- simulated -----------------------------------------------------------------------------------------------------
 */

/* 1.5 times what 2 M tokens a minute carry. A call is held for a minute at most and tried three times; then its run is
 * lost. At the door a run tries three times, too. */
static const char load[] =
    "study: {horizon: 5 h, warmup: 2 h, replications: 1, seed: 1}\n"
    "backends: {pool: {kind: provider, meters: {input: {limit: 2M tokens/min, burst: 200k}}, latency: {base: 1.7 s}}}\n"
    "agents: {run: {arrivals: poisson(150/h), turns: lognormal(40 cv 0.5), think: exponential(2.3 s), output: 400,\n"
    "               input: {start: 30k}, client: {attempts: 3, hold_cap: 1 min}}}\n"
    "policies:\n"
    "  - inside: [token_bucket: {meter: input, rate: 2M/min, burst: 200k}]\n"
    "  - door: [run_budget: {}, token_bucket: {meter: input, rate: 2M/min, burst: 200k}]\n"
    "  - history: [run_budget: {estimate: history, error: 0.2}, token_bucket: {meter: input, rate: 2M/min, burst: "
    "200k}]\n"
    "  - minute: [run_budget: {reading: minute}, token_bucket: {meter: input, rate: 2M/min, burst: 200k}]\n";

START_TEST(the_door_makes_no_zombies)
{
    struct plan plan = model_plan(load);
    double rows[4][METRIC_COUNT * 4];
    for (size_t i = 0; i < 4; i++) {
        model_trial(&plan, i, 1, rows[i]);
        ck_assert_double_eq(rows[i][METRIC_PROVIDER_429S], 0);
    }
    ck_assert_double_gt(rows[0][METRIC_WASTED_SHARE], 0.2);
    ck_assert_double_eq(rows[0][METRIC_RUNS_REFUSED], 0);
    ck_assert_double_gt(rows[0][METRIC_TOTAL_WAIT_P99], 60);
    for (size_t i = 1; i < 4; i++) {
        ck_assert_double_eq(rows[i][METRIC_WASTED_SHARE], 0);
        ck_assert_double_gt(rows[i][METRIC_RUNS_REFUSED], 0);
        ck_assert_double_lt(rows[i][METRIC_TOTAL_WAIT_P99], 5); /* held for a moment, until the bucket is full again */
    }
    /* four runs of 15 turns a minute are the most that fit into 2 M: a turn a second, if the fourth is always there */
    ck_assert_double_gt(rows[1][METRIC_GOODPUT], 0.8);
    ck_assert_double_lt(rows[1][METRIC_GOODPUT], 1.02);
    ck_assert_double_gt(rows[1][METRIC_RUNS_PER_H], rows[0][METRIC_RUNS_PER_H]);
    ck_assert_double_lt(rows[3][METRIC_GOODPUT], 0.8 * rows[1][METRIC_GOODPUT]); /* the word of the code wastes quota */
    plan_fini(&plan);
}
END_TEST

/* With limits that never bind each of them is `unbounded`, digit for digit: here, where nobody has to be told apart. */
START_TEST(infinite_parameters_equal_unbounded)
{
    static const char *const none[] = {"shares: {rate: inf}",     "shares: {rate: inf, borrow: true, answer: defer}",
                                       "tenant_cap: {cap: inf}",  "shed_by_value: {waiting: inf}",
                                       "priority: {target: inf}", "run_budget: {quota: inf, error: 0.3}"};
    char yaml[1024];
    struct plan plan;
    double free_of[METRIC_COUNT * 8], bound[METRIC_COUNT * 8];
    size_t rows;
    snprintf(yaml, sizeof yaml,
             "study: {horizon: 4000 s, warmup: 100 s}\nbackends: {b: {kind: slots, servers: 4, rate: 39 tokens/s}}\n"
             "agents: {a: {population: 12, think: exponential(4.5 s), output: exponential(354), tenant: x},\n"
             "         c: {arrivals: poisson(200/h), turns: constant(3), think: constant(1 s), output: "
             "exponential(100), tenant: y}}\n"
             "policies: [unbounded, %s]\n",
             none[_i]);
    plan = model_plan(yaml);
    rows = trial_row_count(plan.points[0].scenario);
    ck_assert_uint_le(rows, 8);
    model_trial(&plan, 0, 1, free_of);
    model_trial(&plan, 1, 1, bound);
    ck_assert_mem_eq(free_of, bound, rows * METRIC_COUNT * sizeof *bound);
    plan_fini(&plan);
}
END_TEST

Suite *run_budget_suite(void)
{
    Suite *suite = suite_create("run_budget");
    TCase *test = tcase_create("run_budget");

    tcase_add_test(test, turns_are_released_whatever_became_of_them);
    tcase_add_test(test, the_sum_of_rates_is_within_the_quota);
    tcase_add_test(test, one_token_too_many);
    tcase_add_test(test, a_whole_run_in_a_minutes_budget);
    tcase_add_test(test, both_readings_of_what_was_published);
    tcase_add_test(test, shares_of_the_quota);
    tcase_add_test(test, a_later_member_refuses);
    tcase_add_test(test, time_left);
    tcase_add_test(test, what_the_run_names);
    tcase_add_test(test, a_context_that_grows);
    tcase_add_test(test, what_the_class_has_done);
    tcase_add_test(test, how_long_a_run_takes);
    tcase_add_test(test, errors_are_lognormal_with_mean_1);
    tcase_add_test(test, errors_are_a_runs_own);
    tcase_add_loop_test(test, nothing_is_left_when_all_have_ended, 0, 6);
    suite_add_tcase(suite, test);
    test = tcase_create("simulated");
    tcase_set_timeout(test, 120);
    tcase_add_test(test, the_door_makes_no_zombies);
    tcase_add_loop_test(test, infinite_parameters_equal_unbounded, 0, 6);
    suite_add_tcase(suite, test);
    return suite;
}
