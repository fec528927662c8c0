/* limiter.h - what limits on the number in the system share: their bounds, who is let in, and what an end says. For
 * aimd, vegas, gradient2 and envoy_gradient, which differ in how the limit moves.
 *
 * Such a policy's parameters begin with struct limiter_params, and its memory of a call is a struct limiter_call. */
#ifndef POLICIES_LIMITER_H
#define POLICIES_LIMITER_H

#include "policies/policy.h"

struct limiter_params {
    int64_t initial; /* the first limit; for those that have the option */
    int64_t least, most;
    policy_time retry_after;
};

struct limiter_call {
    bool inside;
    policy_time admitted;
    uint64_t number; /* in the system when it was let in, itself included */
};

/* The end of a call that was let in. */
struct limiter_sample {
    policy_time rtt;
    uint64_t number;
    bool drop; /* shed, displaced, refused by the backend or timed out, not answered */
};

/* Samples that are taken as one. */
struct limiter_window {
    policy_time ends;
    int64_t count;
    policy_time sum; /* of their times */
    uint64_t number; /* the largest */
    bool drop;       /* there was one */
};

/* The callback `check`. */
static inline const char *limiter_check(const void *given)
{
    const struct limiter_params *params = given;
    if (params->least > params->most)
        return "no limit is left: expected least: of at most what most: says";
    return NULL;
}

static inline int64_t limiter_within(int64_t limit, const struct limiter_params *params)
{
    if (limit > params->most)
        limit = params->most;
    return limit < params->least ? params->least : limit;
}

/* Where fewer than half the limit are in the system it is not in use; half an odd one is rounded up. */
static inline uint64_t limiter_half(int64_t limit)
{
    return (uint64_t)(limit / 2 + limit % 2);
}

static inline uint64_t limiter_inside(const struct policy_view *view)
{
    return view->waiting.calls + view->busy;
}

/* Lets in while fewer than `limit` wait or are served, and counts the others. */
static inline struct policy_answer limiter_admit(const struct limiter_params *params, const struct policy_view *view,
                                                 uint64_t limit, uint64_t *refused, const char *reason)
{
    if (limiter_inside(view) < limit)
        return policy_admit();
    ++*refused;
    return policy_defer(params->retry_after > 0 ? params->retry_after : POLICY_NONE, reason);
}

/* The callback `admitted`. */
static inline policy_time limiter_admitted(struct policy *self, const struct policy_view *view,
                                           struct policy_call *call)
{
    struct limiter_call *memory = call->state;
    (void)self;
    *memory = (struct limiter_call){true, view->now, limiter_inside(view) + 1};
    return 0;
}

/* False where the end says nothing: the call was not let in, the backend failed, or its client gave up. */
static inline bool limiter_end(const struct policy_view *view, struct policy_call *call, enum policy_end end,
                               struct limiter_sample *sample)
{
    struct limiter_call *memory = call->state;
    bool inside = memory->inside;
    memory->inside = false;
    *sample = (struct limiter_sample){view->now - memory->admitted, memory->number, end != POLICY_DONE};
    return inside && end != POLICY_ERROR && end != POLICY_ABANDONED;
}

/* A sample joins the window. True: it came behind the window's end and closes it; the next one lasts for `length`. */
static inline bool limiter_closes(struct limiter_window *window, const struct limiter_sample *sample, policy_time now,
                                  policy_time length)
{
    window->count++;
    window->sum += sample->rtt;
    window->number = sample->number > window->number ? sample->number : window->number;
    window->drop = window->drop || sample->drop;
    if (now <= window->ends)
        return false;
    window->ends = now + length;
    return true;
}

/* After a window has been looked at. */
static inline void limiter_clear(struct limiter_window *window)
{
    *window = (struct limiter_window){.ends = window->ends};
}

/* --- of the rows in the tables of options and gauges -------------------------------------------------------------- */

#define LIMITER_COUNT(member, value) \
    .key = #member, .type = OPTION_COUNT, .offset = offsetof(struct limiter_params, member), .initial = (value), \
    .least = "1", .most = "inf", .measures = "calls"

#define LIMITER_RETRY_AFTER \
    .key = "retry_after", .type = OPTION_TIME, .offset = offsetof(struct limiter_params, retry_after), .initial = "", \
    .least = "1 ms", .most = "1 d", .live = true, .help = "what a refusal says; without it nothing"

#define LIMITER_REFUSED(stats) \
    .name = "refused", .type = POLICY_GAUGE_UINT64, .in_stats = true, .offset = offsetof(stats, refused), \
    .unit = "attempts", .help = "attempts refused so far"

#endif
