/* planner_state.h - what the planner is told and what it remembers. Private to policies/planner.c, as are its other
 * parts: planner_demand.h (curves and projection), planner_aimd.h (what moves the budgets), planner_tables.h. */
#ifndef WEIR_PLANNER_STATE_H
#define WEIR_PLANNER_STATE_H

#include <math.h>

#include "policies/policy.h"

#define PLANNER_GATES 16   /* those past it are not planned for: a run there is held by cap, override and stagger */
#define PLANNER_TURNS 1024 /* tasks are counted by turn; those past it together, at the mean of their turns */
#define PLANNER_STEPS 36   /* most steps of a horizon */
#define PLANNER_ROWS 32    /* most rows of a survival table */
#define PLANNER_SAMPLES 32 /* ticks back; a minute at least: one is 2 s or more */
#define PLANNER_MINUTE (60 * POLICY_SECOND)

enum planner_mode { PLANNER_PLANNED, PLANNER_FIXED, PLANNER_OVERRIDE /* in a row only */ };
enum planner_growth { GROWTH_BOUNDED, GROWTH_UNBOUNDED, GROWTH_TO_FIRST_429, GROWTH_NONE };
enum planner_bounds { BOUNDS_PUBLISHED, BOUNDS_ALL };
enum planner_hold { HOLD_NONE, HOLD_COOLDOWN, HOLD_PACED, HOLD_STATIC_CAP, HOLD_OVERRIDE, HOLD_CAPACITY };
enum planner_axis { AXIS_NONE, AXIS_TOKENS, AXIS_IN_FLIGHT, AXIS_REQUESTS };
/* What set a gate's ceiling: an axis, or one of these. */
enum planner_binding { BINDING_MOST_EXTRA = AXIS_REQUESTS + 1, BINDING_BORROWED };
enum planner_source { SOURCE_NONE, SOURCE_SEED, SOURCE_LOWERED, SOURCE_RAISED };

struct planner_params {
    /* the demand curve */
    const char *curves, *survival;
    int64_t a, b, most_tokens, output, survival_window, attempts, attempts_least, floor_tokens;
    policy_time latency_base, latency_per_output, period, latency_floor;
    bool own;
    double cached_share;
    /* the ceiling */
    const char *pacer;
    int mode;
    int64_t fleet, override, static_cap, most_extra, borrowed_cap;
    policy_time stagger, tick, horizon, step, stale_after;
    double token_margin, in_flight_margin, request_margin, stale_margin;
    /* the AIMD */
    bool aimd;
    int growth, bounds;
    policy_time cooldown, head_wait, peak_least, peak_most;
    double step_down, step_up, least_of_seed, most_of_seed, slow_share, busy_share;
    int64_t clean_ticks;
};

/* What one task, or all, ask of a pool at a step of the horizon. */
struct planner_load {
    double tokens, in_flight, calls; /* weighted tokens/s; tokens; calls/s */
};

struct planner_budgets {
    double r_tok, k_inflight, r_qps;
};

/* Counters of a pacer at a tick; NAN: it does not count that. */
struct planner_sample {
    policy_time at;
    double calls, tokens, slow, expired;
};

struct planner_gate {
    bool paced, used; /* it has a pacer; a run has asked here */
    uint32_t of;      /* the first gate of the pacer's, which is planned for all of them */
    /* its tasks */
    uint64_t running, booting;
    uint32_t turns[PLANNER_TURNS], top; /* top: nobody's place is this or above */
    double beyond;                      /* sum of the turns of those in the last place */
    /* as it was at the last tick */
    struct planner_budgets budgets, seeds;
    double weight, seed_age; /* seconds; infinite: unknown */
    struct planner_load fleet[PLANNER_STEPS + 1];
    struct planner_load peak; /* the largest of each */
    policy_time peak_in;      /* when that of tokens comes first */
    double extra, ceiling;
    enum planner_axis axis;
    int binding;
    /* AIMD */
    struct planner_sample samples[PLANNER_SAMPLES];
    uint64_t sampled;
    struct planner_sample minute;   /* what was added in the last minute; at: how long that is */
    double rate_tokens, rate_calls; /* admitted in it, a second; NAN: unknown */
    bool overloaded;                /* in the last complete minute */
};

struct planner_vars {
    double rows[PLANNER_ROWS]; /* of the survival table */
    uint32_t row_count;
    double row_turns;
    struct planner_gate gates[PLANNER_GATES];
    uint32_t gate_count;
    bool begun;
    double sum; /* of the ceilings */
    policy_time next_tick, next_launch;
    policy_time cooldown_until;
    bool overloaded;            /* the first 429 has been seen */
    bool counted;               /* at the last tick an overload was */
    int64_t clean;              /* ticks without waits, while launches are blocked for them */
    uint32_t armed, last_armed; /* a gate + 1, or 0 */
    policy_time peak_at;
    /* gauges */
    double running, booting, ceiling, ceiling_override, ceiling_static, arrival, peak, r_tok, cooling, blocked;
};

struct planner_stats {
    uint64_t launches, holds, steps_down, steps_up;
};

struct planner_run {
    bool booked, called; /* let in at the door; its first call was let in */
    uint32_t gate;
    uint64_t first, turn; /* the agent's turn with which it began; its own turn */
};

static inline double planner_seconds(policy_time time)
{
    return time == INT64_MAX ? (double)INFINITY : (double)time / POLICY_SECOND;
}

static inline double planner_count(int64_t count)
{
    return count == INT64_MAX ? (double)INFINITY : (double)count;
}

static inline bool planner_cools(const struct planner_vars *vars, policy_time now)
{
    return now < vars->cooldown_until;
}

/* The same, also of a cooldown that is shorter than a tick. */
static inline bool planner_in_episode(const struct planner_vars *vars, policy_time now)
{
    return vars->counted || planner_cools(vars, now);
}

#endif
