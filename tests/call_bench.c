/* call_bench.c - what call_bench.h says. */
#include "tests/call_bench.h"

#include <check.h>
#include <math.h>

#include "sim/io/param.h"

static void *memory(struct bench *bench, size_t size)
{
    return size > 0 ? arena_zeroed(&bench->arena, 1, size) : NULL;
}

void bench_begins(struct bench *bench)
{
    if (bench->ops->init)
        bench->ops->init(&bench->self);
}

void bench_steers(struct bench *bench, policy_time now, const char *key, double value)
{
    const struct option *option = param_find(bench->ops->params, key);
    ck_assert_msg(option && option->live, "%s is no live parameter", key);
    ck_assert_ptr_null(param_set_number(option, bench->params, value));
    ck_assert_ptr_null(bench_checked(bench));
    bench->view.now = now;
    if (bench->ops->changed)
        bench->ops->changed(&bench->self, now, key, POLICY_BY_POLICY);
}

const char *bench_checked(const struct bench *bench)
{
    return bench->ops->check ? bench->ops->check(bench->params) : NULL;
}

struct policy_call *bench_call(struct bench *bench, double input, double cached, double output)
{
    struct policy_call *call = memory(bench, sizeof *call);
    *call = (struct policy_call){.input_tokens = input,
                                 .input_chars = 4.89 * input,
                                 .cached_tokens = cached,
                                 .output_tokens = output,
                                 .deadline = POLICY_NONE,
                                 .held_since = POLICY_NONE,
                                 .hold_until = POLICY_NONE,
                                 .joined = POLICY_NONE,
                                 .started = POLICY_NONE,
                                 .state = memory(bench, bench->ops->call_size),
                                 .run_state = memory(bench, bench->ops->run_size),
                                 .agent_state = memory(bench, bench->ops->agent_size)};
    return call;
}

struct policy_answer bench_asks_again(struct bench *bench, struct policy_call *call, policy_time now)
{
    struct policy_answer answer;
    bench->view.now = now;
    answer = bench->ops->admit(&bench->self, &bench->view, call);
    if (answer.action == POLICY_ADMIT)
        return answer;
    ck_assert_ptr_nonnull(answer.reason);
    ck_assert(answer.after >= POLICY_LEAST || (answer.action != POLICY_HOLD && answer.after == POLICY_NONE));
    return answer;
}

struct policy_answer bench_attempts(struct bench *bench, struct policy_call *call, policy_time now)
{
    if (call->attempt++ == 0)
        call->first_attempt = now;
    call->last = call->ever_held = false;
    call->attempted = now;
    call->held_since = call->joined = call->started = POLICY_NONE;
    return bench_asks_again(bench, call, now);
}

policy_time bench_lets_in(struct bench *bench, struct policy_call *call, policy_time now)
{
    bench->view.now = call->joined = now;
    return bench->ops->admitted ? bench->ops->admitted(&bench->self, &bench->view, call) : 0;
}

void bench_refuses(struct bench *bench, struct policy_call *call, policy_time now, enum policy_action action)
{
    struct policy_answer answer = {action, action == POLICY_HOLD ? POLICY_SECOND : POLICY_NONE, "another"};
    bench->view.now = now;
    if (bench->ops->refused)
        bench->ops->refused(&bench->self, &bench->view, call, &answer);
}

bool bench_enters(struct bench *bench, struct policy_call *call, policy_time now)
{
    if (bench_attempts(bench, call, now).action != POLICY_ADMIT)
        return false;
    bench_lets_in(bench, call, now);
    return true;
}

void bench_serves(struct policy_call *call, policy_time now)
{
    call->started = now;
}

void bench_ends_with(struct bench *bench, struct policy_call *call, policy_time now, enum policy_end end, double input,
                     double cached, double output)
{
    struct policy_outcome outcome = {end, POLICY_NONE, input, cached, output};
    bench->view.now = now;
    if (bench->ops->finish)
        ck_assert_int_eq(bench->ops->finish(&bench->self, &bench->view, call, &outcome), POLICY_NONE);
}

void bench_ends(struct bench *bench, struct policy_call *call, policy_time now, enum policy_end end)
{
    if (end == POLICY_DONE)
        bench_ends_with(bench, call, now, end, call->input_tokens, call->cached_tokens, call->output_tokens);
    else
        bench_ends_with(bench, call, now, end, (double)NAN, (double)NAN, (double)NAN);
}
