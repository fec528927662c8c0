/* planner_tables.h - the planner's parameters, presets, gauges and columns. Private to policies/planner.c. */
#ifndef WEIR_PLANNER_TABLES_H
#define WEIR_PLANNER_TABLES_H

#include "policies/planner_demand.h"

static const char *const planner_modes[] = {"planned", "fixed", NULL};
static const char *const planner_growths[] = {"bounded", "unbounded", "to_first_429", "none", NULL};
static const char *const planner_bounds[] = {"published", "all", NULL};

#define AT(member) .offset = offsetof(struct planner_params, member)

static const struct option planner_options[] = {
    {"a", OPTION_COUNT, AT(a), "17784", "0", "1M", .measures = "tokens", .help = "prompt of turn 0"},
    {"b", OPTION_COUNT, AT(b), "616", "0", "1M", .measures = "tokens", .help = "by which it grows with each turn"},
    {"most_tokens", OPTION_COUNT, AT(most_tokens), "235929", "1", "1000M", .measures = "tokens",
     .help = "prompts do not grow past it"},
    {"latency_base", OPTION_TIME, AT(latency_base), "577 ms", "0 s", "1 h", .help = "latency of a call without output"},
    {"latency_per_output", OPTION_TIME, AT(latency_per_output), "6.31 ms", "0 s", "1 min",
     .help = "by which each token of output lengthens it"},
    {"output", OPTION_COUNT, AT(output), "185", "0", "1M", .measures = "tokens", .help = "output of a call"},
    {"period", OPTION_TIME, AT(period), "4.54 s", "100 ms", "1 h", .help = "from a turn to the next, unhindered"},
    {"own", OPTION_FLAG, AT(own), "true", .help = "the curve was measured in this pool; else it is borrowed"},
    {"attempts", OPTION_COUNT, AT(attempts), "0", "0", "inf", .help = "of tasks that the survival rests on"},
    {"attempts_least", OPTION_COUNT, AT(attempts_least), "30", "0", "inf", .help = "with fewer every task survives"},
    {"survival", OPTION_TEXT, AT(survival), "0.814 0.812 0.75 0.647 0.667 every 40",
     .help = "chances to survive a window, of a task in its first 40 turns, its next, ...; the default is pooled"},
    {"survival_window", OPTION_COUNT, AT(survival_window), "20", "1", "1M", .measures = "turns",
     .help = "for which a chance of survival holds, from the task's own turn"},
    {"curves", OPTION_TEXT, AT(curves), "",
     .help = "names of presets, one a gate in their order, the last for all others; empty: that of a, b, ... at all"},
    {"latency_floor", OPTION_TIME, AT(latency_floor), "13.4 s", "0 s", "1 h",
     .help = "of a borrowed curve: latency of a long call in this pool, which none of its length is faster than"},
    {"floor_tokens", OPTION_COUNT, AT(floor_tokens), "213k", "1", "1000M", .measures = "tokens",
     .help = "prompt of that long call; shorter ones in proportion"},
    {"borrowed_cap", OPTION_COUNT, AT(borrowed_cap), "30", "0", "inf", .help = "most tasks by a borrowed curve"},
    {"cached_share", OPTION_SHARE, AT(cached_share), "0", .live = true,
     .help = "share of a prompt that is cached, and weighs what the pacer's cached_weight says"},

    {"pacer", OPTION_TEXT, AT(pacer), "pacer", .measures = "member",
     .help = "the member of the chain to steer, at each gate that it is at"},
    {"mode", OPTION_CHOICE, AT(mode), "planned", .choices = planner_modes,
     .help = "the ceiling is planned, or the number `fleet`"},
    {"fleet", OPTION_COUNT, AT(fleet), "145", "0", "inf", .live = true, .help = "of mode fixed: the ceiling"},
    {"override", OPTION_COUNT, AT(override), "inf", "0", "inf", .live = true,
     .help = "the operator's ceiling, in place of the planned one; inf: none"},
    {"static_cap", OPTION_COUNT, AT(static_cap), "145", "0", "inf", .live = true,
     .help = "most tasks, in every mode; inf: none"},
    {"stagger", OPTION_TIME, AT(stagger), "2 s", "0 s", "1 h", .live = true,
     .help = "between launches, times 0.5 to 1.5; 0 s: none"},
    {"tick", OPTION_TIME, AT(tick), "15 s", "2 s", "1 h", .help = "from a decision to the next"},
    {"horizon", OPTION_TIME, AT(horizon), "90 min", "1 s", "1 d", .help = "that is looked ahead"},
    {"step", OPTION_TIME, AT(step), "5 min", "1 s", "1 d", .help = "in which it is looked ahead"},
    {"most_extra", OPTION_COUNT, AT(most_extra), "400", "0", "10k",
     .help = "most tasks by which a ceiling passes those there are"},
    {"token_margin", OPTION_SHARE, AT(token_margin), "90%", .live = true, .help = "of r_tok that may be planned for"},
    {"in_flight_margin", OPTION_SHARE, AT(in_flight_margin), "90%", .live = true,
     .help = "of k_inflight that may be planned for"},
    {"request_margin", OPTION_SHARE, AT(request_margin), "85%", .live = true,
     .help = "of r_qps that may be planned for"},
    {"stale_after", OPTION_TIME, AT(stale_after), "6 h", "0 s", "inf",
     .help = "age past which a seed is stale; an unknown age is, unless this is inf"},
    {"stale_margin", OPTION_SHARE, AT(stale_margin), "50%", .help = "of the margins for a stale seed"},

    {"aimd", OPTION_FLAG, AT(aimd), "true", .help = "overloads, waits and clean peaks are reacted to"},
    {"cooldown", OPTION_TIME, AT(cooldown), "60 s", "0 s", "1 d",
     .help = "without launches, from the last tick at which an overload was counted"},
    {"step_down", OPTION_SHARE, AT(step_down), "85%",
     .help = "of the rate admitted in the last minute, to go on with after an overload"},
    {"least_of_seed", OPTION_SHARE, AT(least_of_seed), "50%", .help = "of its seed, below which no budget is lowered"},
    {"step_up", OPTION_REAL, AT(step_up), "1.05", "1", "2",
     .help = "by which budgets are multiplied after a clean peak"},
    {"most_of_seed", OPTION_REAL, AT(most_of_seed), "1.5", "1", "1000",
     .help = "times its seed, past which r_tok is not raised, and with it the others"},
    {"bounds", OPTION_CHOICE, AT(bounds), "published", .choices = planner_bounds,
     .help = "as published that bound is of r_tok alone; all: of every budget"},
    {"growth", OPTION_CHOICE, AT(growth), "bounded", .choices = planner_growths,
     .help = "after clean peaks: to that bound; without one; without one until the first overload of all; none"},
    {"busy_share", OPTION_SHARE, AT(busy_share), "80%",
     .help = "of the planned part of r_tok that must arrive for a peak to prove something"},
    {"peak_least", OPTION_TIME, AT(peak_least), "60 s", "1 s", "1 d", .help = "least time until a peak has passed"},
    {"peak_most", OPTION_TIME, AT(peak_most), "90 min", "1 s", "inf", .help = "most time until a peak has passed"},
    {"slow_share", OPTION_SHARE, AT(slow_share), "5%",
     .help = "of the last minute's calls that may have been slow before launches are blocked"},
    {"head_wait", OPTION_TIME, AT(head_wait), "5 s", "0 s", "inf",
     .help = "for which the first of a pacer's line may have asked before launches are blocked"},
    {"clean_ticks", OPTION_COUNT, AT(clean_ticks), "2", "1", "1k",
     .help = "without such waits, after which launches go on"},
    {.key = NULL},
};

#undef AT

/* --- presets ----------------------------------------------------------------------------------------------------- */

#define PLANNER_SETTINGS(name, a, b, output, base, per_output, period, own) \
    static const char *const planner_##name[] = {"a", \
                                                 #a, \
                                                 "b", \
                                                 #b, \
                                                 "output", \
                                                 #output, \
                                                 "latency_base", \
                                                 #base " ms", \
                                                 "latency_per_output", \
                                                 #per_output " ms", \
                                                 "period", \
                                                 #period " s", \
                                                 "own", \
                                                 #own, \
                                                 NULL};
PLANNER_CURVES(PLANNER_SETTINGS)

#define PLANNER_PRESET(preset, a, b, output, base, per_output, period, own) \
    {.name = #preset, .settings = planner_##preset, .help = "measured: " #a " + " #b " tokens a turn"},
static const struct policy_preset planner_presets[] = {PLANNER_CURVES(PLANNER_PRESET){.name = NULL}};

/* --- gauges ------------------------------------------------------------------------------------------------------ */

#define GAUGE(member) #member, POLICY_GAUGE_DOUBLE, false, offsetof(struct planner_vars, member)
#define COUNTER(member) #member, POLICY_GAUGE_UINT64, true, offsetof(struct planner_stats, member)

static const struct policy_gauge planner_gauges[] = {
    {GAUGE(running), "tasks", "let in at the door, and a call of theirs was let in"},
    {GAUGE(booting), "tasks", "let in at the door, without such a call yet"},
    {GAUGE(ceiling), "tasks", "most tasks, after override and static cap"},
    {GAUGE(ceiling_override), "tasks", "the operator's ceiling; inf: none"},
    {GAUGE(ceiling_static), "tasks", "most tasks in every mode"},
    {GAUGE(arrival), "tokens/s", "that the tasks there are will send now, as projected, in all"},
    {GAUGE(peak), "tokens/s", "the most that they will send within the horizon, in all"},
    {GAUGE(r_tok), "tokens/s", "of the first pacer"},
    {GAUGE(cooling), "", "1 in a cooldown, else 0"},
    {GAUGE(blocked), "", "1 while launches are blocked for waits, else 0"},
    {COUNTER(launches), "tasks", "let in so far"},
    {COUNTER(holds), "", "answers of hold so far"},
    {COUNTER(steps_down), "", "of budgets, after overloads"},
    {COUNTER(steps_up), "", "of budgets, after clean peaks"},
    {.name = NULL},
};

/* --- columns ----------------------------------------------------------------------------------------------------- */

static const char *const mode_words[] = {"planned", "fixed", "override", NULL};
static const char *const hold_words[] = {"none",        "cooldown", "paced", "static_cap", "ceiling_override",
                                         "at_capacity", NULL};
static const char *const axis_words[] = {"none", "tokens", "in_flight", "requests", NULL};
static const char *const binding_words[] = {"none",       "tokens",         "in_flight", "requests",
                                            "most_extra", "borrowed_curve", NULL};
static const char *const source_words[] = {"none", "seed", "lowered", "raised", NULL};

/* In the order of the columns. */
enum planner_column {
    COLUMN_GATE,
    COLUMN_MODE,
    COLUMN_HOLD,
    COLUMN_AXIS,
    COLUMN_BINDING,
    COLUMN_CEILING,
    COLUMN_GATE_CEILING,
    COLUMN_EXTRA,
    COLUMN_OVERRIDE,
    COLUMN_STATIC_CAP,
    COLUMN_RUNNING,
    COLUMN_BOOTING,
    COLUMN_ARRIVAL,
    COLUMN_PEAK,
    COLUMN_PEAK_IN,
    COLUMN_IN_FLIGHT,
    COLUMN_IN_FLIGHT_PEAK,
    COLUMN_CALLS,
    COLUMN_CALLS_PEAK,
    COLUMN_RATE_TOKENS,
    COLUMN_RATE_CALLS,
    COLUMN_R_TOK,
    COLUMN_K_INFLIGHT,
    COLUMN_R_QPS,
    COLUMN_SOURCE,
    COLUMN_SEED_AGE,
    COLUMN_COOLDOWN,
    COLUMN_ARMED,
    COLUMNS
};

#define NUMBER(column, name, unit, help) [column] = {name, unit, help, NULL}
#define WORDS(column, name, help, words) [column] = {name, "", help, words}

static const struct policy_column planner_columns[] = {
    NUMBER(COLUMN_GATE, "gate", "", "index of the backend, from 0"),
    WORDS(COLUMN_MODE, "mode", "how the ceiling of all came about", mode_words),
    WORDS(COLUMN_HOLD, "hold", "why the next task would be held at the door of this gate", hold_words),
    WORDS(COLUMN_AXIS, "axis", "the first budget that one more task than planned for would break", axis_words),
    WORDS(COLUMN_BINDING, "binding", "what set the ceiling of this gate", binding_words),
    NUMBER(COLUMN_CEILING, "ceiling", "tasks", "of all gates, after override and static cap"),
    NUMBER(COLUMN_GATE_CEILING, "gate_ceiling", "tasks", "of this gate"),
    NUMBER(COLUMN_EXTRA, "extra", "tasks", "that would fit beside those there are"),
    NUMBER(COLUMN_OVERRIDE, "override", "tasks", "the operator's ceiling; inf: none"),
    NUMBER(COLUMN_STATIC_CAP, "static_cap", "tasks", "most in every mode; inf: no limit"),
    NUMBER(COLUMN_RUNNING, "running", "tasks", "of this gate"),
    NUMBER(COLUMN_BOOTING, "booting", "tasks", "of this gate: no call of theirs was let in yet"),
    NUMBER(COLUMN_ARRIVAL, "arrival", "tokens/s", "projected of them, now"),
    NUMBER(COLUMN_PEAK, "peak", "tokens/s", "the most projected"),
    NUMBER(COLUMN_PEAK_IN, "peak_in", "s", "until it comes"),
    NUMBER(COLUMN_IN_FLIGHT, "in_flight", "tokens", "projected, now"),
    NUMBER(COLUMN_IN_FLIGHT_PEAK, "in_flight_peak", "tokens", "the most projected"),
    NUMBER(COLUMN_CALLS, "calls", "calls/s", "projected, now"),
    NUMBER(COLUMN_CALLS_PEAK, "calls_peak", "calls/s", "the most projected"),
    NUMBER(COLUMN_RATE_TOKENS, "rate_tokens", "tokens/s", "admitted in the last minute"),
    NUMBER(COLUMN_RATE_CALLS, "rate_calls", "calls/s", "admitted in the last minute"),
    NUMBER(COLUMN_R_TOK, "r_tok", "tokens/s", "budget; inf: without a pacer, or no limit"),
    NUMBER(COLUMN_K_INFLIGHT, "k_inflight", "tokens", "budget; inf: without a pacer, or no limit"),
    NUMBER(COLUMN_R_QPS, "r_qps", "calls/s", "budget; inf: without a pacer, or no limit"),
    WORDS(COLUMN_SOURCE, "source", "of these budgets", source_words),
    NUMBER(COLUMN_SEED_AGE, "seed_age", "s", "since they were set or lowered; inf: unknown"),
    NUMBER(COLUMN_COOLDOWN, "cooldown", "s", "left of it"),
    NUMBER(COLUMN_ARMED, "armed", "s", "until this gate's armed peak has passed; empty: none is"),
    [COLUMNS] = {.name = NULL},
};

#undef GAUGE
#undef COUNTER
#undef NUMBER
#undef WORDS

#endif
