/* pacer_bench.h - the pacer on a bench: prompts, the head of its line, and what its callers are told. */
#ifndef TESTS_PACER_BENCH_H
#define TESTS_PACER_BENCH_H

#include <check.h>
#include <math.h>

#include "sim/io/param.h"
#include "tests/call_bench.h"
#include "tests/client_bench.h"

static struct bench bench;

/* A fresh pacer; draws of a half, so that no time is jittered. */
#define BEGIN(...) \
    do { \
        bench = bench_of("pacer", __VA_ARGS__, NULL); \
        client_init(&bench); \
        bench_begins(&bench); \
        client_draws(0.5); \
    } while (0)

static inline void teardown(void)
{
    bench_free(&bench);
}

/* A prompt of so many tokens at 4.89 characters each, the first of its run. */
static inline struct policy_call *prompt(double tokens)
{
    return bench_call(&bench, tokens, 0, 0);
}

static inline void gauge_is(const char *name, double value)
{
    double found = bench_gauge(&bench, name);
    ck_assert_msg(fabs(found - value) <= 1e-9 * fabs(value) + 1e-9, "%s is %.17g, expected %.17g", name, found, value);
}

/* What fills the bucket's level up to there, nobody being there. */
static inline void drain(double tokens, policy_time now)
{
    ck_assert(bench_enters(&bench, prompt(tokens), now));
}

static inline void lets_in(struct policy_call *call, policy_time now)
{
    ck_assert(bench_enters(&bench, call, now));
}

static inline void asks_again_and_goes(struct policy_call *call, policy_time now)
{
    ck_assert_int_eq(bench_asks_again(&bench, call, now).action, POLICY_ADMIT);
    bench_lets_in(&bench, call, now);
}

static inline void is_held(struct policy_answer answer, const char *axis, policy_time after)
{
    ck_assert_int_eq(answer.action, POLICY_HOLD);
    ck_assert_str_eq(answer.reason, axis);
    ck_assert_int_eq(answer.after, after);
}

static inline void is_denied(struct policy_answer answer, const char *axis)
{
    ck_assert_int_eq(answer.action, POLICY_HOLD);
    ck_assert_str_eq(answer.reason, axis);
}

static inline int64_t joins_held(struct policy_call *call)
{
    call->ever_held = true;
    return bench.ops->rank(&bench.self, &bench.view, call, true);
}

/* Denied now, and the head of the held line from now on. */
static inline struct policy_call *head_of(double tokens, policy_time now)
{
    struct policy_call *call = prompt(tokens);
    ck_assert_int_eq(bench_attempts(&bench, call, now).action, POLICY_HOLD);
    joins_held(call);
    bench.view.held.head = bench.view.held.tail = call;
    bench.view.held.calls = 1;
    return call;
}

static inline struct policy_answer at_its_cap(struct policy_call *call, policy_time now)
{
    call->last = true;
    return bench_asks_again(&bench, call, now);
}

/* Ends and says what its client is told: POLICY_NONE, that the attempt is over, or the pause until it asks again. */
static inline policy_time refused_by_provider(struct policy_call *call, policy_time now, policy_time retry_after)
{
    const struct policy_outcome outcome = {POLICY_OVERLOAD, retry_after, (double)NAN, (double)NAN, (double)NAN};
    bench.view.now = now;
    return bench.ops->finish(&bench.self, &bench.view, call, &outcome);
}

static inline void store_goes(policy_time now, int choice)
{
    const struct option *option = param_find(bench.ops->params, "store");
    *(int *)(void *)((unsigned char *)bench.params + option->offset) = choice;
    bench.ops->changed(&bench.self, now, "store", POLICY_BY_OPERATOR);
}

#endif
