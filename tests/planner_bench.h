/* planner_bench.h - the planner on a bench: some gates, at each a stand-in for a pacer whose parameters and gauges are
 * plain numbers, runs made by hand, and the rows that it writes. No simulation. */
#ifndef TESTS_PLANNER_BENCH_H
#define TESTS_PLANNER_BENCH_H

#include "tests/policy_bench.h"

#define GATES 3
#define SETS 64
#define ROW 40
#define PLANNER_TICK (15 * S)
#define SEED_TOKENS 100000.0
#define SEED_IN_FLIGHT 2000000.0
#define SEED_CALLS 20.0

/* A stand-in for a pacer: what a planner reads of it and sets. */
struct stand_in {
    struct policy copy;
    bool absent;
    uint32_t with; /* that of this gate stands here instead; 0: it is its own */
    double r_tok, k_inflight, r_qps, cached_weight;
    double seed_r_tok, seed_k_inflight, seed_r_qps, seed_at;
    double admitted, admitted_tokens, slow, expired, overloads_60, head_wait;
    unsigned sets;
};

struct planner_bench {
    struct bench bench;
    struct policy_host host;
    struct stand_in pacers[GATES];
    struct policy_view views[GATES];
    uint32_t gates;
    policy_time now;
    double uniform; /* that is drawn */
    double rows[GATES][ROW];
    unsigned rows_written;
};

/* A run and the call it makes. */
struct task {
    struct policy_run run;
    struct policy_call call;
    uint32_t gate;
};

/* One gate whose pacer has no limits and fresh seeds, without stagger and cap; pairs of key and text, and a NULL. The
 * policy begins with planner_bench_begins. */
void planner_bench_init(struct planner_bench *planner, ...);
void planner_bench_begins(struct planner_bench *planner);
/* Both; the seeds of the pacer are what its budgets are. */
void planner_bench_seeds(struct planner_bench *planner, uint32_t gate, double r_tok, double k_inflight, double r_qps);
void planner_bench_free(struct planner_bench *planner);

/* A curve by which a task asks for a thousand tokens and one call a second, and has 2,000 tokens in flight. */
#define THOUSAND "a", "1000", "b", "0", "period", "1 s", "latency_base", "2 s", "latency_per_output", "0 s"

/* Seeds of 100,000 tokens/s, 2M in flight and 20 calls/s at all pacers; a pair of key and text, or NULL. */
void planner_seeded(struct planner_bench *planner, const char *key, const char *text);
/* It begins, with the first tick. */
void planner_starts(struct planner_bench *planner);

void planner_ticks(struct planner_bench *planner, policy_time now);
/* The next so many ticks, with so much admitted a second by the first pacer. */
void planner_passes(struct planner_bench *planner, int ticks, double tokens, double calls);
/* Of the last row that was written of a gate. */
double planner_cell(const struct planner_bench *planner, uint32_t gate, const char *column);
const char *planner_word(const struct planner_bench *planner, uint32_t gate, const char *column);

struct task *planner_task_new(struct planner_bench *planner, uint32_t gate);
struct policy_answer planner_asks(struct planner_bench *planner, struct task *task, policy_time now);
/* Asks and is let in, or is held for that reason. */
struct task *planner_launches(struct planner_bench *planner, uint32_t gate, policy_time now);
void planner_holds(struct planner_bench *planner, uint32_t gate, policy_time now, const char *reason);
/* Makes the call of its turn, and all before; it is let in. */
void planner_turns(struct planner_bench *planner, struct task *task, uint64_t turn);
void planner_ends(struct planner_bench *planner, struct task *task, bool done);

#endif
