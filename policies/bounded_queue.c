/* bounded_queue - a limit on the line: on the calls that wait, and on their tokens.
 *
 * Idea: a call that a server is free for is let in. One that would have to wait is let in while, with it, no more than
 * `calls` wait and no more than `tokens` wait (sent and answered, as expected); else it is refused.
 *
 * Source: the bounded buffer of queueing theory, and of every server with a backlog. With c servers and without a bound
 * on tokens it is fixed_cap with cap = c + calls: M/M/c becomes M/M/c/(c + calls) with retries (Erlang B at 0). A bound
 * in tokens is one in time where work is tokens: those in line are done tokens / (c * rate) from now.
 *
 * Parameters: calls (4: the knee of the card at 12 calls, less its eight slots), tokens, answer (refused with a backoff
 * of the client's own, or for good). At a metered pool nobody waits, so it lets everybody in.
 *
 * Known to fail: a call of more than `tokens` gets in only where a server is free, and may ask for ever; small calls
 * pass it meanwhile. A server that is free but lacks memory for a context is not seen: one call more than `calls` may
 * wait then. A bound says nothing of who waits: one tenant may fill it. */
#include "policies/policy.h"

enum { ANSWER_DEFER, ANSWER_REJECT };

struct bounded_queue_params {
    int64_t calls, tokens;
    int answer;
};

struct bounded_queue_stats {
    uint64_t refused_calls, refused_tokens;
};

static struct policy_answer refuse(const struct bounded_queue_params *params, uint64_t *count, const char *reason)
{
    ++*count;
    return params->answer == ANSWER_DEFER ? policy_defer(POLICY_NONE, reason) : policy_reject(reason);
}

static struct policy_answer bounded_queue_admit(struct policy *self, const struct policy_view *view,
                                                struct policy_call *call)
{
    const struct bounded_queue_params *params = self->params;
    struct bounded_queue_stats *stats = self->stats;
    double tokens = view->waiting.tokens + call->input_tokens + call->output_tokens;
    bool pool = view->servers == 0, served = view->waiting.calls == 0 && view->busy < view->servers;
    if (pool || served)
        return policy_admit();
    if (view->waiting.calls >= (uint64_t)params->calls)
        return refuse(params, &stats->refused_calls, "calls");
    if (params->tokens != INT64_MAX && tokens > (double)params->tokens)
        return refuse(params, &stats->refused_tokens, "tokens");
    return policy_admit();
}

static const char *const bounded_queue_answers[] = {[ANSWER_DEFER] = "defer", [ANSWER_REJECT] = "reject", NULL};

static const struct option bounded_queue_options[] = {
    {.key = "calls",
     .type = OPTION_COUNT,
     .offset = offsetof(struct bounded_queue_params, calls),
     .initial = "4",
     .least = "0",
     .most = "inf",
     .measures = "calls",
     .live = true,
     .help = "most calls that may wait"},
    {.key = "tokens",
     .type = OPTION_COUNT,
     .offset = offsetof(struct bounded_queue_params, tokens),
     .initial = "inf",
     .least = "0",
     .most = "inf",
     .measures = "tokens",
     .live = true,
     .help = "most tokens, sent and answered, of all calls that wait"},
    {.key = "answer",
     .type = OPTION_CHOICE,
     .offset = offsetof(struct bounded_queue_params, answer),
     .initial = "defer",
     .choices = bounded_queue_answers,
     .help = "what a call gets that does not fit: refused, without a retry-after, or rejected for good"},
    {.key = NULL},
};

static const struct policy_gauge bounded_queue_gauges[] = {
    {.name = "refused_calls",
     .type = POLICY_GAUGE_UINT64,
     .in_stats = true,
     .offset = offsetof(struct bounded_queue_stats, refused_calls),
     .unit = "attempts",
     .help = "attempts refused so far as too many calls waited"},
    {.name = "refused_tokens",
     .type = POLICY_GAUGE_UINT64,
     .in_stats = true,
     .offset = offsetof(struct bounded_queue_stats, refused_tokens),
     .unit = "attempts",
     .help = "attempts refused so far as too many tokens would have waited"},
    {.name = NULL},
};

const struct policy_ops weir_policy = {
    POLICY_HEADER,
    .name = "bounded_queue",
    .summary = "admits while the calls that wait, and their tokens, are within a bound",
    .params = bounded_queue_options,
    .gauges = bounded_queue_gauges,
    .params_size = sizeof(struct bounded_queue_params),
    .stats_size = sizeof(struct bounded_queue_stats),
    .admit = bounded_queue_admit,
};
