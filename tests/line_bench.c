/* line_bench.c - what line_bench.h says. */
#include "tests/line_bench.h"

#include <check.h>
#include <math.h>

static double host_ln(double x)
{
    return log(x);
}

static double host_exp(double x)
{
    return exp(x);
}

struct line line_of(struct bench *bench)
{
    static const struct policy_host host = {.ln = host_ln, .exp = host_exp};
    struct line line = {.bench = bench};
    const struct policy_ops *ops = bench->ops;
    const size_t sizes[] = {ops->agent_size, ops->class_size, ops->tenant_size};
    bench->self.host = &host;
    for (size_t i = 0; i < LINE_OWNERS; i++)
        for (size_t k = 0; k < 3; k++)
            line.states[i][k] = sizes[k] > 0 ? arena_zeroed(&bench->arena, 1, sizes[k]) : NULL;
    return line;
}

static struct policy_view *view_at(struct line *line, policy_time now)
{
    struct policy_line *waiting = &line->bench->view.waiting;
    line->bench->view.now = now;
    waiting->calls = line->count;
    waiting->head = line->count > 0 ? line->calls[0] : NULL;
    waiting->tail = line->count > 0 ? line->calls[line->count - 1] : NULL;
    waiting->tokens = 0;
    for (size_t i = 0; i < line->count; i++)
        waiting->tokens += line->calls[i]->input_tokens + line->calls[i]->output_tokens;
    return &line->bench->view;
}

struct policy_call *line_call(struct line *line, uint32_t owner, double input, double output)
{
    struct bench *bench = line->bench;
    struct policy_call *call = arena_zeroed(&bench->arena, 1, sizeof *call);
    ck_assert(owner < LINE_OWNERS);
    *call = (struct policy_call){.klass = owner,
                                 .tenant = owner,
                                 .agent = owner,
                                 .value = 1,
                                 .input_tokens = input,
                                 .output_tokens = output,
                                 .deadline = POLICY_NONE,
                                 .held_since = POLICY_NONE,
                                 .joined = POLICY_NONE,
                                 .started = POLICY_NONE,
                                 .agent_state = line->states[owner][0],
                                 .class_state = line->states[owner][1],
                                 .tenant_state = line->states[owner][2]};
    if (bench->ops->call_size > 0)
        call->state = arena_zeroed(&bench->arena, 1, bench->ops->call_size);
    return call;
}

static void let_in(struct line *line, struct policy_call *call, policy_time now)
{
    const struct policy_ops *ops = line->bench->ops;
    const struct policy_view *view = view_at(line, now);
    if (call->attempt++ == 0)
        call->first_attempt = now;
    call->attempted = now;
    call->joined = call->started = POLICY_NONE;
    if (ops->admit)
        ck_assert_int_eq(ops->admit(&line->bench->self, view, call).action, POLICY_ADMIT);
    call->joined = now;
    if (ops->admitted)
        ck_assert_int_eq(ops->admitted(&line->bench->self, view, call), 0);
}

void line_joins_as(struct line *line, struct policy_call *call, policy_time now)
{
    const struct policy_ops *ops = line->bench->ops;
    size_t at = line->count;
    int64_t rank;
    let_in(line, call, now);
    ck_assert(line->count < LINE_MOST);
    rank = ops->rank ? ops->rank(&line->bench->self, view_at(line, now), call, false) : 0;
    uint32_t flow = ops->flow ? ops->flow(&line->bench->self, view_at(line, now), call) : 0;
    for (; at > 0 && line->ranks[at - 1] > rank; at--) {
        line->calls[at] = line->calls[at - 1];
        line->ranks[at] = line->ranks[at - 1];
        line->flows[at] = line->flows[at - 1];
    }
    line->calls[at] = call;
    line->ranks[at] = rank;
    line->flows[at] = flow;
    line->count++;
    ck_assert(flow < LINE_FLOWS);
    line->waiting_in_flow[flow]++;
}

struct policy_call *line_joins(struct line *line, uint32_t owner, double tokens, policy_time now)
{
    struct policy_call *call = line_call(line, owner, 0, tokens);
    line_joins_as(line, call, now);
    return call;
}

static struct policy_call *leave(struct line *line, size_t at)
{
    struct policy_call *call = line->calls[at];
    line->waiting_in_flow[line->flows[at]]--;
    line->count--;
    for (; at < line->count; at++) {
        line->calls[at] = line->calls[at + 1];
        line->ranks[at] = line->ranks[at + 1];
        line->flows[at] = line->flows[at + 1];
    }
    return call;
}

static size_t next_of(struct line *line, policy_time now)
{
    const struct policy_ops *ops = line->bench->ops;
    bool newest = false;
    uint32_t flow;
    size_t at = 0;
    if (!ops->pick)
        return 0;
    flow = ops->pick(&line->bench->self, view_at(line, now), line->waiting_in_flow, &newest);
    ck_assert(flow < LINE_FLOWS && line->waiting_in_flow[flow] > 0);
    for (size_t i = line->count; i-- > 0;)
        if (line->flows[i] == flow) {
            at = i;
            if (newest)
                break;
        }
    return at;
}

static bool starts(struct line *line, struct policy_call *call, policy_time now)
{
    const struct policy_ops *ops = line->bench->ops;
    struct policy_view *view = view_at(line, now);
    uint64_t busy = view->busy;
    bool served = true;
    view->busy -= view->busy > 0;
    if (ops->start)
        served = ops->start(&line->bench->self, view, call).action == POLICY_ADMIT;
    view->busy = busy;
    if (served)
        call->started = now;
    else
        line_ends(line, call, now, POLICY_SHED);
    return served;
}

struct policy_call *line_served_at_once(struct line *line, uint32_t owner, double tokens, policy_time now)
{
    struct policy_call *call = line_call(line, owner, 0, tokens);
    ck_assert_uint_eq(line->count, 0);
    let_in(line, call, now);
    ck_assert(starts(line, call, now));
    return call;
}

struct policy_call *line_takes(struct line *line, policy_time now)
{
    line->shed = 0;
    while (line->count > 0) {
        struct policy_call *call = leave(line, next_of(line, now));
        if (starts(line, call, now))
            return call;
        line->shed++;
    }
    return NULL;
}

void line_ends(struct line *line, struct policy_call *call, policy_time now, enum policy_end end)
{
    struct policy_outcome outcome = {end, POLICY_NONE, (double)NAN, (double)NAN, (double)NAN};
    for (size_t i = 0; i < line->count; i++)
        if (line->calls[i] == call)
            leave(line, i);
    if (end == POLICY_DONE)
        outcome =
            (struct policy_outcome){end, POLICY_NONE, call->input_tokens, call->cached_tokens, call->output_tokens};
    if (line->bench->ops->finish)
        ck_assert_int_eq(line->bench->ops->finish(&line->bench->self, view_at(line, now), call, &outcome), POLICY_NONE);
}

const char *line_order(struct line *line, policy_time now)
{
    char text[LINE_MOST + 1], *at = text;
    for (struct policy_call *call; (call = line_takes(line, now)) != NULL; now += POLICY_SECOND)
        *at++ = (char)('0' + call->agent);
    *at = '\0';
    return arena_text(&line->bench->arena, text);
}
