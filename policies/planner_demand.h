/* planner_demand.h - what tasks ask of a pool: growth curves, survival, the projection over the horizon, and how many
 * tasks more would fit. Private to policies/planner.c.
 *
 * A projection costs (distinct turns of the running tasks) x (steps + windows of survival); a search up to 85 tries of
 * all steps. */
#ifndef WEIR_PLANNER_DEMAND_H
#define WEIR_PLANNER_DEMAND_H

#include <string.h>

#include "policies/decimal.h"
#include "policies/planner_state.h"

/* Measured curves by pool and harness, 5,511 calls: X(name, a, b, output, latency base and per output in milliseconds,
 * turn period in seconds, own). */
#define PLANNER_CURVES(X) \
    X(laguna_opencode, 17784, 616, 185, 577, 6.31, 4.54, true) \
    X(laguna_claude_code, 34388, 719, 150, 799, 6.19, 3.73, true) \
    X(laguna_codex, 29115, 271, 73, 784, 6.22, 6.10, true) \
    X(laguna_custom, 21314, 934, 255, 711, 6.05, 7.68, true) \
    X(laguna_mini_swe, 3609, 850, 123, 728, 5.84, 6.01, true) \
    X(cheap_oss_mini_swe, 4419, 1089, 258, 3909, 8.22, 7.50, true) \
    X(cheap_oss_opencode, 15003, 997, 236, 463, 20.16, 7.58, true) \
    X(pooled, 25948, 482, 132, 1070, 8.82, 5.81, false)

struct planner_curve {
    double a, b, most; /* tokens(turn) = min(a + b turn, most) */
    double latency, period;
    double floor,
        floor_tokens; /* latency of a call of so many tokens, which this pool is not faster than; 0: unknown */
    bool borrowed;
    const double *rows; /* survival of a window that begins in row i: from turn i row_turns; NULL: 1 */
    uint32_t row_count;
    double row_turns, window;
};

struct planner_measured {
    const char *name;
    int64_t a, b, output, latency_base, latency_per_output, period;
    bool own;
};

#define PLANNER_NANOSECONDS(number, unit) ((policy_time)((number) * (unit) + 0.5))
#define PLANNER_MEASURED(name, a, b, output, base, per_output, period, own) \
    {#name, \
     a, \
     b, \
     output, \
     PLANNER_NANOSECONDS(base, 1e6), \
     PLANNER_NANOSECONDS(per_output, 1e6), \
     PLANNER_NANOSECONDS(period, 1e9), \
     own},
static const struct planner_measured planner_measured[] = {PLANNER_CURVES(PLANNER_MEASURED){.name = NULL}};

/* --- texts ------------------------------------------------------------------------------------------------------- */

/* "CHANCE CHANCE ... every TURNS" into rows; NULL, or what was expected. An empty text has no rows. */
static const char *planner_read_survival(const char *text, double *rows, uint32_t *count, double *turns)
{
    static const char expected[] = "survival: expected up to 32 chances and a width, such as 0.814 0.75 every 40";
    *count = 0;
    *turns = 0;
    if (text[strspn(text, " ")] == '\0')
        return NULL;
    for (text += strspn(text, " "); strncmp(text, "every ", 6) != 0; text += strspn(text, " ")) {
        double value;
        if (*count == PLANNER_ROWS || !decimal_read(&text, &value) || value > 1 || *text != ' ')
            return expected;
        rows[(*count)++] = value;
    }
    text += 6;
    text += strspn(text, " ");
    if (!decimal_read(&text, turns) || *count == 0 || *turns < 1 || *turns > 1e9)
        return expected;
    return text[strspn(text, " ")] == '\0' ? NULL : expected;
}

/* The name at a place in a text of names parted by blanks, the last one repeating; NULL: it is no curve's. */
static const struct planner_measured *planner_named(const char *names, uint32_t place)
{
    const char *name = names + strspn(names, " ");
    size_t length = strcspn(name, " ");
    for (; place > 0; place--) {
        const char *next = name + length + strspn(name + length, " ");
        if (*next == '\0')
            break;
        name = next;
        length = strcspn(name, " ");
    }
    for (const struct planner_measured *curve = planner_measured; curve->name; curve++)
        if (strlen(curve->name) == length && strncmp(curve->name, name, length) == 0)
            return curve;
    return NULL;
}

static bool planner_same_for_all(const struct planner_params *params)
{
    return !params->curves || params->curves[strspn(params->curves, " ")] == '\0';
}

/* --- the curve of a gate ----------------------------------------------------------------------------------------- */

static struct planner_curve planner_curve_of(const struct planner_params *params, const struct planner_vars *vars,
                                             uint32_t gate)
{
    struct planner_measured own = {
        NULL,           params->a,  params->b, params->output, params->latency_base, params->latency_per_output,
        params->period, params->own};
    const struct planner_measured *from = planner_same_for_all(params) ? &own : planner_named(params->curves, gate);
    struct planner_curve curve = {.a = (double)from->a,
                                  .b = (double)from->b,
                                  .most = planner_count(params->most_tokens),
                                  .latency = planner_seconds(from->latency_base) +
                                             planner_seconds(from->latency_per_output) * (double)from->output,
                                  .period = planner_seconds(from->period),
                                  .borrowed = !from->own};
    if (curve.borrowed) {
        curve.floor = planner_seconds(params->latency_floor);
        curve.floor_tokens = (double)params->floor_tokens;
    }
    if (!curve.borrowed && params->attempts >= params->attempts_least && vars->row_count > 0) {
        curve.rows = vars->rows;
        curve.row_count = vars->row_count;
        curve.row_turns = vars->row_turns;
        curve.window = (double)params->survival_window;
    }
    return curve;
}

static double planner_row(const struct planner_curve *curve, double turn)
{
    double row = turn / curve->row_turns;
    return curve->rows[row < curve->row_count ? (uint32_t)row : curve->row_count - 1];
}

/* A call's latency. A borrowed curve's is at least that of this pool's long calls, in proportion to the prompt. */
static double planner_latency(const struct planner_curve *curve, double tokens)
{
    double share = tokens < curve->floor_tokens ? tokens / curve->floor_tokens : 1;
    return curve->floor * share > curve->latency ? curve->floor * share : curve->latency;
}

static double planner_larger(double one, double other)
{
    return one > other ? one : other;
}

/* A call does not begin before the last has ended: what its latency is longer, the period is too. */
static double planner_period(const struct planner_curve *curve, double latency)
{
    double longer = planner_larger(curve->period - curve->latency, 0) + latency;
    return latency > curve->latency ? planner_larger(longer, curve->period) : curve->period;
}

static double planner_tokens(const struct planner_curve *curve, double turn)
{
    double tokens = curve->a + curve->b * turn;
    return tokens < curve->most ? tokens : curve->most;
}

/* Of a window of the row at that turn, or a part of it, the share that survives. */
static double planner_survives(const struct policy *self, const struct planner_curve *curve, double turn, double part)
{
    double row = planner_row(curve, turn);
    if (part <= 0 || row >= 1)
        return 1;
    return row > 0 ? self->host->exp(part * self->host->ln(row)) : 0;
}

/* Adds `count` tasks that are at a turn now. A row of survival holds for a window that begins at the task's own turn,
 * and the next one's for the next. */
static void planner_add(const struct policy *self, const struct planner_curve *curve, double turn, double count,
                        double weighted, struct planner_load *loads)
{
    const struct planner_params *params = self->params;
    double begun = turn, alive_then = 1;
    double pace = planner_period(curve, planner_latency(curve, planner_tokens(curve, turn)));
    for (int64_t i = 0; i <= params->horizon / params->step; i++) {
        double then = turn + (double)i * planner_seconds(params->step) / pace, alive = 1;
        double tokens = planner_tokens(curve, then), latency = planner_latency(curve, tokens), rate;
        if (curve->rows) {
            for (; then - begun >= curve->window; begun += curve->window)
                alive_then *= planner_row(curve, begun);
            alive = alive_then * planner_survives(self, curve, begun, (then - begun) / curve->window);
        }
        rate = count * alive / planner_period(curve, latency);
        loads[i].tokens += rate * tokens * weighted;
        loads[i].in_flight += rate * tokens * latency;
        loads[i].calls += rate;
    }
}

static double planner_weighted(const struct planner_params *params, const struct planner_gate *gate)
{
    return 1 - params->cached_share * (1 - gate->weight);
}

/* The tasks of a gate, each from its own turn, those that boot from turn 0; and when they ask for most. */
static void planner_project(const struct policy *self, uint32_t index, struct planner_gate *gate)
{
    const struct planner_params *params = self->params;
    struct planner_curve curve = planner_curve_of(params, self->vars, index);
    double weighted = planner_weighted(params, gate);
    memset(gate->fleet, 0, sizeof gate->fleet);
    if (gate->booting > 0)
        planner_add(self, &curve, 0, (double)gate->booting, weighted, gate->fleet);
    for (uint32_t turn = 0; turn < gate->top; turn++) {
        uint32_t count = gate->turns[turn];
        if (count > 0)
            planner_add(self, &curve, turn < PLANNER_TURNS - 1 ? turn : gate->beyond / count, count, weighted,
                        gate->fleet);
    }
    gate->peak = gate->fleet[0];
    gate->peak_in = 0;
    for (int64_t i = 1; i <= params->horizon / params->step; i++) {
        const struct planner_load *load = &gate->fleet[i];
        if (load->tokens > gate->peak.tokens)
            gate->peak_in = i * params->step;
        gate->peak.tokens = planner_larger(gate->peak.tokens, load->tokens);
        gate->peak.in_flight = planner_larger(gate->peak.in_flight, load->in_flight);
        gate->peak.calls = planner_larger(gate->peak.calls, load->calls);
    }
}

/* --- the ceiling of a gate --------------------------------------------------------------------------------------- */

static double planner_limit(double budget, double margin)
{
    return isinf(budget) ? budget : budget * margin;
}

/* The axis that `extra` tasks more break, at the first step at which one is broken. */
static enum planner_axis planner_breaks(const struct planner_load *fleet, const struct planner_load *one, double extra,
                                        int64_t steps, const struct planner_load *limit)
{
    for (int64_t i = 0; i <= steps; i++) {
        if (fleet[i].tokens + extra * one[i].tokens > limit->tokens)
            return AXIS_TOKENS;
        if (fleet[i].in_flight + extra * one[i].in_flight > limit->in_flight)
            return AXIS_IN_FLIGHT;
        if (fleet[i].calls + extra * one[i].calls > limit->calls)
            return AXIS_REQUESTS;
    }
    return AXIS_NONE;
}

/* The largest number of tasks more, found in steps of 5 and then of 1; and which axis one more would break. */
static void planner_search(const struct policy *self, uint32_t index, struct planner_gate *gate)
{
    const struct planner_params *params = self->params;
    static const struct planner_load nothing = {0};
    struct planner_load one[PLANNER_STEPS + 1] = {nothing};
    struct planner_curve curve = planner_curve_of(params, self->vars, index);
    double stale = gate->seed_age > planner_seconds(params->stale_after) ? params->stale_margin : 1;
    const struct planner_load limit = {planner_limit(gate->budgets.r_tok, params->token_margin * stale),
                                       planner_limit(gate->budgets.k_inflight, params->in_flight_margin * stale),
                                       planner_limit(gate->budgets.r_qps, params->request_margin * stale)};
    int64_t steps = params->horizon / params->step, extra = 0;
    double tasks = (double)(gate->running + gate->booting), most;
    planner_add(self, &curve, 0, 1, planner_weighted(params, gate), one);
    gate->axis = AXIS_NONE;
    gate->binding = AXIS_NONE;
    gate->extra = INFINITY;
    if (!isinf(limit.tokens) || !isinf(limit.in_flight) || !isinf(limit.calls)) {
        while (extra + 5 <= params->most_extra &&
               planner_breaks(gate->fleet, one, (double)(extra + 5), steps, &limit) == AXIS_NONE)
            extra += 5;
        while (extra < params->most_extra &&
               planner_breaks(gate->fleet, one, (double)(extra + 1), steps, &limit) == AXIS_NONE)
            extra++;
        gate->axis = planner_breaks(gate->fleet, one, (double)(extra + 1), steps, &limit);
        gate->binding = extra == params->most_extra ? BINDING_MOST_EXTRA : (int)gate->axis;
        gate->extra = (double)extra;
    }
    gate->ceiling = tasks + gate->extra;
    most = planner_larger(planner_count(params->borrowed_cap), tasks);
    if (curve.borrowed && gate->ceiling > most) {
        gate->ceiling = most;
        gate->binding = BINDING_BORROWED;
    }
}

#endif
