/* line_bench.h - a policy that orders the line, on the bench of policy_bench.h: a gate whose line is kept by hand, as
 * models/gate.c does it, without a simulation. Calls belong to owners, which are agent, class and tenant in one. */
#ifndef TESTS_LINE_BENCH_H
#define TESTS_LINE_BENCH_H

#include "tests/policy_bench.h"

enum { LINE_MOST = 64, LINE_FLOWS = 1024, LINE_OWNERS = 8 };

struct line {
    struct bench *bench;
    struct policy_call *calls[LINE_MOST]; /* that wait: by rank, or in order of joining where the policy picks */
    int64_t ranks[LINE_MOST];
    uint32_t flows[LINE_MOST];
    size_t count;
    uint64_t waiting_in_flow[LINE_FLOWS];
    void *states[LINE_OWNERS][3];
    size_t shed; /* in the last line_takes */
};

/* All servers are busy, and stay so: a server that takes a call has just become free. */
struct line line_of(struct bench *bench);

/* A call of so many tokens, not asked yet; `input` of them are sent. */
struct policy_call *line_call(struct line *line, uint32_t owner, double input, double output);
/* It asks, is let in and waits. */
struct policy_call *line_joins(struct line *line, uint32_t owner, double tokens, policy_time now);
void line_joins_as(struct line *line, struct policy_call *call, policy_time now);
/* It is let in while servers are free, and does not wait. */
struct policy_call *line_served_at_once(struct line *line, uint32_t owner, double tokens, policy_time now);
/* A server is free: the call that it serves, or NULL. */
struct policy_call *line_takes(struct line *line, policy_time now);
/* Ends: of a call that waits, or was served. Real counts are those expected. */
void line_ends(struct line *line, struct policy_call *call, policy_time now, enum policy_end end);

/* Servers take all that wait, one a second from `now` on; the owners' numbers in that order, as text. */
const char *line_order(struct line *line, policy_time now);

#endif
