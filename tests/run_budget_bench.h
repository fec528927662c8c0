/* run_budget_bench.h - run_budget on a bench (tests/call_bench.h): runs that ask at its door, their turns and their
 * ends, and what its gauges say. */
#ifndef TESTS_RUN_BUDGET_BENCH_H
#define TESTS_RUN_BUDGET_BENCH_H

#include <check.h>

#include "sim/engine/number.h"
#include "tests/call_bench.h"

static const char *const names[] = {"live", "batch", "other"};
enum { LIVE, BATCH, OTHER, CLASSES };

static struct bench bench;
static void *classes[CLASSES];
static double drawn = 0.5;

static inline double uniform(struct policy *self)
{
    (void)self;
    return drawn;
}

static const struct policy_host host = {.ln = sim_log, .exp = sim_exp, .uniform = uniform};

static inline void begin(void)
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
static inline struct policy_run *run_of(uint32_t klass, double turns, double input)
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

static inline struct policy_answer asks(struct policy_run *run, policy_time now)
{
    bench.view.now = now;
    run->attempt++;
    return bench.ops->run_admit(&bench.self, &bench.view, run);
}

static inline bool begins(struct policy_run *run, policy_time now)
{
    return asks(run, now).action == POLICY_ADMIT;
}

static inline void is_deferred(struct policy_run *run, policy_time now, const char *reason)
{
    struct policy_answer answer = asks(run, now);
    ck_assert_int_eq(answer.action, POLICY_DEFER);
    ck_assert_int_eq(answer.after, 90 * S);
    ck_assert_str_eq(answer.reason, reason);
}

/* A turn that is made `first`, taken by a server at `started` and ends `now`. */
static inline void turn_ends(struct policy_run *run, policy_time first, policy_time started, policy_time now,
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

static inline void turn_done(struct policy_run *run, policy_time now)
{
    turn_ends(run, now, now, now, POLICY_DONE, 100, 0, 0);
}

static inline void run_ends(struct policy_run *run, bool done)
{
    bench.ops->run_finish(&bench.self, &bench.view, run, done);
}

static inline void gauges(double reserved, double left, double inside)
{
    ck_assert_double_eq_tol(bench_gauge(&bench, "reserved"), reserved, 1e-6 * (reserved > 1 ? reserved : 1));
    ck_assert_double_eq_tol(bench_gauge(&bench, "left"), left, 1e-6 * (left > 1 ? left : 1));
    ck_assert_double_eq(bench_gauge(&bench, "inside"), inside);
}

#endif
