/* run_budget_estimate.h - what policies/run_budget.c expects of a run: turns, tokens, and time of its own. */
#ifndef POLICIES_RUN_BUDGET_ESTIMATE_H
#define POLICIES_RUN_BUDGET_ESTIMATE_H

#include <math.h>

#include "policies/policy.h"

#define MOST INT64_C(1000000000000000000) /* millionths */

enum { ESTIMATE_RUN, ESTIMATE_CLASS, ESTIMATE_CURVE, ESTIMATE_HISTORY };
enum { METER_INPUT, METER_TOTAL };

struct run_budget_params {
    double quota;
    const char *classes;
    int reading, meter, estimate;
    double turns;
    int64_t start, per_turn, output;
    policy_time period;
    int64_t learn;
    double error, factor, cached_weight;
    int late;
    policy_time retry_after;
};

/* What the finished runs of a class were. */
struct run_budget_class {
    int64_t runs;
    double turns, tokens, seconds; /* sums */
};

struct estimate {
    double turns, tokens, seconds;
};

struct run_budget_run {
    double factor; /* the drawn error; 0: not yet */
    struct estimate is;
    bool inside;
    int pool;
    int64_t reserved, left; /* millionths: in its pool; tokens of turns to come */
    bool begun;             /* a turn of it has asked here */
    uint64_t first, last;   /* those that asked first and last */
    int64_t turn;           /* that are over */
    double used, seconds;   /* tokens that its turns took, and its own time */
    policy_time since;      /* its last turn's end, or when it was let in */
};

/* The mixer of splitmix64. */
static inline uint64_t mixed(uint64_t z)
{
    z += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* Lognormal, mean 1. The normal number is by Marsaglia's polar method. */
static inline double drawn_error(const struct policy *self, uint64_t seed, const struct policy_run *run)
{
    const struct run_budget_params *params = self->params;
    const struct policy_host *host = self->host;
    uint64_t state = mixed(mixed(seed ^ ((uint64_t)run->klass << 32 | run->agent)) ^ run->run);
    double variance, x, y, square;
    if (params->error <= 0)
        return 1;
    do {
        x = (double)(int64_t)(mixed(state) >> 11) * 0x1p-52 - 1;
        y = (double)(int64_t)(mixed(state + 1) >> 11) * 0x1p-52 - 1;
        square = x * x + y * y;
        state = mixed(state + 2);
    } while (square >= 1 || square <= 0);
    variance = host->ln(1 + params->error * params->error);
    return host->exp(sqrt(variance) * x * sqrt(-2 * host->ln(square) / square) - variance / 2);
}

/* Tokens of the first n turns by the curve; of a part of a turn that part. */
static inline double curve(const struct run_budget_params *params, double n)
{
    double output = params->meter == METER_TOTAL ? (double)params->output : 0;
    double whole = floor(n), part = n - whole;
    return n * ((double)params->start + output) + (double)params->per_turn * (whole * (whole - 1) / 2 + part * whole);
}

/* Tokens that count, of what is said; -1: nothing is. */
static inline double counted(const struct run_budget_params *params, double input, double output)
{
    double named = params->meter == METER_TOTAL ? input + output : input;
    return input > 0 && isfinite(named) ? named : -1;
}

/* What the run is expected to be; a run without end, or of whom nobody says anything, is one of the curve. */
static inline struct estimate estimated(const struct run_budget_params *params, const struct policy_run *run,
                                        double error)
{
    const struct run_budget_class *history = run->class_state;
    double turns = params->turns, tokens = -1, seconds = -1;
    if (params->estimate == ESTIMATE_HISTORY && history->runs > 0 && history->runs >= params->learn) {
        turns = history->turns / (double)history->runs;
        tokens = history->tokens / (double)history->runs;
        seconds = history->seconds / (double)history->runs;
    } else if (params->estimate == ESTIMATE_RUN && run->turns_drawn > 0 && isfinite(run->turns_drawn)) {
        turns = run->turns_drawn;
        tokens = counted(params, run->input_drawn, run->output_drawn);
    } else if (params->estimate <= ESTIMATE_CLASS && run->turns > 0 && isfinite(run->turns)) {
        turns = run->turns;
        tokens = counted(params, run->input_tokens, run->output_tokens);
    }
    turns = turns * error > 1 ? turns * error : 1;
    if (turns > 1e9)
        turns = 1e9;
    tokens = tokens >= 0 ? tokens * error : curve(params, turns);
    seconds = seconds > 0 ? seconds * error : turns * ((double)params->period / 1e9);
    return (struct estimate){turns, tokens, seconds};
}

static inline int64_t millionths(double amount)
{
    return amount < (double)MOST / 1e6 ? (int64_t)(amount * 1e6 + 0.5) : MOST;
}

/* Tokens of the turns that are still to come, at least one; by the curve where that is what was estimated. */
static inline double tokens_left(const struct run_budget_params *params, const struct run_budget_run *memory,
                                 double turns)
{
    double whole = curve(params, memory->is.turns);
    if (whole <= 0)
        return memory->is.tokens * turns / memory->is.turns;
    return memory->is.tokens * (whole - curve(params, memory->is.turns - turns)) / whole;
}

#endif
