/* client_bench.c - what client_bench.h says. */
#include "tests/client_bench.h"

#include <check.h>
#include <string.h>

#include "sim/engine/number.h"

static double drawn_number;
static uint64_t drawn;

static double uniform(struct policy *self)
{
    (void)self;
    drawn++;
    return drawn_number;
}

static const struct policy_view *view(struct policy *self, uint32_t gate)
{
    struct bench *bench = (struct bench *)(void *)((char *)self - offsetof(struct bench, self));
    return gate == bench->view.gate ? &bench->view : NULL;
}

static const struct policy_host host = {.ln = sim_log, .exp = sim_exp, .uniform = uniform, .view = view};

void client_init(struct bench *bench)
{
    bench->self.host = &host;
    bench->view.servers = bench->view.busy = bench->view.in_service = 0;
    bench->call = client_call(bench);
}

struct policy_call client_call(struct bench *bench)
{
    size_t size = bench->ops->call_size;
    return (struct policy_call){.deadline = POLICY_NONE,
                                .held_since = POLICY_NONE,
                                .joined = POLICY_NONE,
                                .started = POLICY_NONE,
                                .state = size ? arena_zeroed(&bench->arena, 1, size) : NULL};
}

policy_time client_asks(struct bench *bench, struct policy_call *call, policy_time now)
{
    struct policy_answer answer;
    bench->view.now = now;
    if (!call->ever_held) {
        call->attempt++;
        call->attempted = now;
    }
    call->joined = call->started = POLICY_NONE;
    answer = bench->ops->admit(&bench->self, &bench->view, call);
    call->ever_held = answer.action == POLICY_HOLD;
    if (answer.action == POLICY_HOLD) {
        ck_assert_int_ge(answer.after, POLICY_LEAST);
        ck_assert_ptr_nonnull(answer.reason);
        return answer.after;
    }
    if (answer.action == POLICY_DEFER) {
        ck_assert_int_eq(answer.after, POLICY_NONE);
        ck_assert_ptr_nonnull(answer.reason);
        return REFUSED;
    }
    ck_assert_int_eq(answer.action, POLICY_ADMIT);
    call->joined = call->started = now;
    bench->view.busy++;
    if (bench->ops->admitted)
        ck_assert_int_eq(bench->ops->admitted(&bench->self, &bench->view, call), 0);
    return LET_IN;
}

/* The adaptive buckets send what was refused again themselves. */
static bool takes_back(const struct policy_ops *ops, enum policy_end end)
{
    bool refused = end == POLICY_OVERLOAD || end == POLICY_SHED || end == POLICY_DISPLACED;

    return refused && (strcmp(ops->name, "atb") == 0 || strcmp(ops->name, "aatb") == 0);
}

void client_ends(struct bench *bench, struct policy_call *call, policy_time now, enum policy_end end)
{
    const struct policy_outcome outcome = {.end = end, .retry_after = POLICY_NONE};
    bench->view.now = now;
    bench->view.busy -= call->joined != POLICY_NONE;
    call->ever_held = false;
    ck_assert_int_eq(bench->ops->finish(&bench->self, &bench->view, call, &outcome),
                     takes_back(bench->ops, end) ? POLICY_LEAST : POLICY_NONE);
}

policy_time client_ticks(struct bench *bench, policy_time now)
{
    bench->view.now = now;
    return bench->ops->tick(&bench->self, &bench->view);
}

void client_draws(double number)
{
    drawn_number = number;
}

uint64_t client_drawn(void)
{
    return drawn;
}
