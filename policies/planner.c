/* planner - how many tasks may run against pools whose limits nobody publishes; it stands at the door, one for all
 * gates.
 *
 * Idea: a task's calls grow with its turns, so what runs well now may not in an hour. Each tick (15 s) the load of the
 * tasks there are, each from its own turn, is projected over 90 minutes: prompts of min(a + b turn, 235,929) tokens,
 * one a turn period, in flight for latency_base + latency_per_output x output. A gate's ceiling is its tasks and the
 * largest number more whose load stays within margins of its pacer's r_tok, k_inflight and r_qps at every step; the
 * margins halve when the seed is stale. Ceilings are summed; an override replaces the sum; the static cap wins always.
 * Launches are staggered. Nothing that runs is killed: who does not fit is held.
 *
 * AIMD: an overload in the last complete minute starts a cooldown without launches, and on entry lowers r_tok and r_qps
 * to 0.85 of the rate admitted, not below half the seed. Waits block launches. A peak that was armed and passes with no
 * overload since raises the budgets by 5 %, up to 1.5 times the seed; one alias at a time.
 *
 * Source: psdhali/agent-evals, the planner of its harness dispatcher; presets from 5,511 of its calls. Beyond it: a run
 * needs room at its own gate too, as runs do not choose theirs; aliases grow by turns. Promises: with infinite budgets,
 * an own curve, no stagger and no static cap it is `unbounded`. Without a pacer budgets are infinite: it is a cap and a
 * stagger, and by a borrowed curve at most 30 tasks at each gate where runs begin.
 *
 * Known to fail: a curve is one for a gate, or for the gates of one pacer, whatever runs there. Paced turns take longer
 * than the period, so loads come later than projected. As published k_inflight only grows. Growth looks at r_tok alone:
 * where requests bind, it never comes. At the door the oldest has no precedence. Gates past the 16th are not planned
 * for. */
#include "policies/planner_aimd.h"
#include "policies/planner_demand.h"
#include "policies/planner_tables.h"

/* --- tasks ------------------------------------------------------------------------------------------------------- */

static struct planner_gate *gate_at(struct planner_vars *vars, uint32_t index)
{
    return index < PLANNER_GATES ? &vars->gates[vars->gates[index].of] : NULL;
}

static void count_turn(struct planner_gate *gate, uint64_t turn, bool comes)
{
    uint32_t place = turn < PLANNER_TURNS ? (uint32_t)turn : PLANNER_TURNS - 1;
    gate->turns[place] += comes ? 1U : UINT32_MAX;
    if (comes && place >= gate->top)
        gate->top = place + 1;
    while (gate->top > 0 && gate->turns[gate->top - 1] == 0)
        gate->top--;
    if (place == PLANNER_TURNS - 1)
        gate->beyond += comes ? (double)turn : -(double)turn;
}

/* A task boots; or leaves, from wherever it is. */
static void task_boots(struct planner_vars *vars, struct planner_run *task, uint32_t index)
{
    struct planner_gate *gate = gate_at(vars, index);
    *task = (struct planner_run){.booked = true, .gate = index};
    vars->booting++;
    if (gate)
        gate->booting++;
}

static void task_leaves(struct planner_vars *vars, struct planner_run *task)
{
    struct planner_gate *gate = gate_at(vars, task->gate);
    if (!task->booked)
        return;
    *(task->called ? &vars->running : &vars->booting) -= 1;
    if (gate && task->called)
        count_turn(gate, task->turn, false);
    if (gate)
        *(task->called ? &gate->running : &gate->booting) -= 1;
    task->booked = false;
}

static void task_calls(struct planner_vars *vars, struct planner_run *task, uint64_t turn)
{
    struct planner_gate *gate = gate_at(vars, task->gate);
    if (!task->called) {
        task->called = true;
        task->first = turn;
        vars->booting--;
        vars->running++;
        if (gate) {
            gate->booting--;
            gate->running++;
            count_turn(gate, 0, true);
        }
    } else if (turn > task->first + task->turn) {
        if (gate)
            count_turn(gate, task->turn, false);
        task->turn = turn - task->first;
        if (gate)
            count_turn(gate, task->turn, true);
    }
}

/* --- the plan ---------------------------------------------------------------------------------------------------- */

static bool overridden(const struct planner_params *params)
{
    return params->override != INT64_MAX;
}

/* Gates that the sum is over: those with a pacer; without any, those where runs begin. */
static bool planned(const struct planner_vars *vars, const struct planner_gate *gate)
{
    bool any = false;
    for (uint32_t i = 0; i < vars->gate_count; i++)
        any |= vars->gates[i].paced;
    return any ? gate->paced : gate->used;
}

static double tasks_planned(const struct planner_vars *vars)
{
    uint64_t tasks = 0;
    for (uint32_t i = 0; i < vars->gate_count; i++)
        if (planned(vars, &vars->gates[i]))
            tasks += vars->gates[i].running + vars->gates[i].booting;
    return (double)tasks;
}

/* The ceiling of all. While nobody is launched it is the number of tasks, where that is less. */
static void sum_up(const struct planner_params *params, struct planner_vars *vars, policy_time now)
{
    double tasks = vars->running + vars->booting;
    vars->sum = vars->arrival = vars->peak = 0;
    vars->r_tok = NAN;
    for (uint32_t i = 0; i < vars->gate_count; i++) {
        const struct planner_gate *gate = &vars->gates[i];
        if (!planned(vars, gate))
            continue;
        vars->sum += gate->ceiling;
        vars->arrival += gate->fleet[0].tokens;
        vars->peak += gate->peak.tokens;
        if (gate->paced && isnan(vars->r_tok))
            vars->r_tok = gate->budgets.r_tok;
    }
    if (params->mode == PLANNER_FIXED)
        vars->sum = planner_count(params->fleet);
    vars->cooling = planner_cools(vars, now);
    vars->ceiling_override = planner_count(params->override);
    vars->ceiling_static = planner_count(params->static_cap);
    vars->ceiling = overridden(params) ? vars->ceiling_override : vars->sum;
    if ((planner_cools(vars, now) || vars->blocked > 0) && tasks < vars->ceiling)
        vars->ceiling = tasks;
    if (vars->ceiling_static < vars->ceiling)
        vars->ceiling = vars->ceiling_static;
}

/* As far as no budget has moved since the gates were looked at. */
static void plan(struct policy *self, policy_time now)
{
    struct planner_vars *vars = self->vars;
    for (uint32_t i = 0; i < vars->gate_count; i++)
        planner_search(self, i, &vars->gates[i]);
    sum_up(self->params, vars, now);
}

/* One pacer that stands at several gates has one budget: they are planned for together. */
static void joins(struct policy *self, uint32_t index)
{
    const struct planner_params *params = self->params;
    struct planner_vars *vars = self->vars;
    const struct policy *pacer = self->host->find(self, params->pacer, index);
    vars->gates[index].of = index;
    for (uint32_t i = 0; pacer && i < index; i++) {
        if (self->host->find(self, params->pacer, i) != pacer)
            continue;
        vars->gates[index].of = i;
        return;
    }
}

static void look(struct policy *self, policy_time now)
{
    struct planner_vars *vars = self->vars;
    for (uint32_t i = vars->gate_count; i < PLANNER_GATES && self->host->view(self, i); i++)
        joins(self, i);
    for (uint32_t i = 0; i < PLANNER_GATES && self->host->view(self, i); i++) {
        planner_reads_budgets(self, &vars->gates[i], i, now);
        planner_project(self, i, &vars->gates[i]);
        vars->gate_count = i + 1;
    }
}

/* Runs may ask before the first tick, and at a gate where none has asked before. */
static void plan_early(struct policy *self, uint32_t index, policy_time now)
{
    struct planner_vars *vars = self->vars;
    struct planner_gate *gate = gate_at(vars, index);
    if (vars->begun && (!gate || gate->used))
        return;
    vars->begun = true;
    if (gate)
        gate->used = true;
    look(self, now);
    plan(self, now);
}

/* --- the door ---------------------------------------------------------------------------------------------------- */

/* What would hold a task that asks at the gate now, but for the stagger. */
static enum planner_hold held_by(const struct planner_params *params, const struct planner_vars *vars,
                                 const struct planner_gate *gate, policy_time now)
{
    double tasks = vars->running + vars->booting;
    if (planner_cools(vars, now))
        return HOLD_COOLDOWN;
    if (vars->blocked > 0)
        return HOLD_PACED;
    if (tasks >= planner_count(params->static_cap))
        return HOLD_STATIC_CAP;
    if (overridden(params))
        return tasks >= planner_count(params->override) ? HOLD_OVERRIDE : HOLD_NONE;
    if (!gate || !planned(vars, gate))
        return HOLD_NONE;
    if (tasks_planned(vars) >= vars->sum)
        return HOLD_CAPACITY;
    if (params->mode == PLANNER_PLANNED && (double)(gate->running + gate->booting) >= gate->ceiling)
        return HOLD_CAPACITY;
    return HOLD_NONE;
}

static struct policy_answer planner_run_admit(struct policy *self, const struct policy_view *view,
                                              struct policy_run *run)
{
    const struct planner_params *params = self->params;
    struct planner_vars *vars = self->vars;
    struct planner_stats *stats = self->stats;
    policy_time now = view->now, wait;
    uint32_t index = view->gate;
    enum planner_hold hold;
    (void)run;
    plan_early(self, index, now);
    hold = held_by(params, vars, gate_at(vars, index), now);
    if (hold == HOLD_NONE && now >= vars->next_launch)
        return policy_admit();
    stats->holds++;
    wait = (hold == HOLD_NONE ? vars->next_launch : vars->next_tick) - now;
    return policy_hold(wait > POLICY_LEAST ? wait : POLICY_LEAST, hold == HOLD_NONE ? "stagger" : hold_words[hold]);
}

static void planner_run_admitted(struct policy *self, const struct policy_view *view, struct policy_run *run)
{
    const struct planner_params *params = self->params;
    struct planner_vars *vars = self->vars;
    struct planner_stats *stats = self->stats;
    task_boots(vars, run->run_state, view->gate);
    stats->launches++;
    if (params->stagger > 0)
        vars->next_launch = view->now + (policy_time)((double)params->stagger * (0.5 + self->host->uniform(self)));
}

static void planner_run_finish(struct policy *self, const struct policy_view *view, struct policy_run *run, bool done)
{
    (void)view;
    (void)done;
    task_leaves(self->vars, run->run_state);
}

static policy_time planner_admitted(struct policy *self, const struct policy_view *view, struct policy_call *call)
{
    struct planner_run *task = call->run_state;
    (void)view;
    if (task->booked)
        task_calls(self->vars, task, call->turn);
    return 0;
}

/* --- ticks ------------------------------------------------------------------------------------------------------- */

static enum planner_source source_of(const struct planner_gate *gate)
{
    if (!gate->paced)
        return SOURCE_NONE;
    if (gate->budgets.r_tok < gate->seeds.r_tok || gate->budgets.r_qps < gate->seeds.r_qps ||
        gate->budgets.k_inflight < gate->seeds.k_inflight)
        return SOURCE_LOWERED;
    return gate->budgets.r_tok > gate->seeds.r_tok || gate->budgets.r_qps > gate->seeds.r_qps ||
                   gate->budgets.k_inflight > gate->seeds.k_inflight
               ? SOURCE_RAISED
               : SOURCE_SEED;
}

static void write_row(struct policy *self, uint32_t index, policy_time now)
{
    const struct planner_params *params = self->params;
    const struct planner_vars *vars = self->vars;
    const struct planner_gate *gate = &vars->gates[index];
    const double row[COLUMNS] = {
        [COLUMN_GATE] = index,
        [COLUMN_MODE] = overridden(params) ? PLANNER_OVERRIDE : params->mode,
        [COLUMN_HOLD] = held_by(params, vars, gate, now),
        [COLUMN_AXIS] = gate->axis,
        [COLUMN_BINDING] = gate->binding,
        [COLUMN_CEILING] = vars->ceiling,
        [COLUMN_GATE_CEILING] = gate->ceiling,
        [COLUMN_EXTRA] = gate->extra,
        [COLUMN_OVERRIDE] = vars->ceiling_override,
        [COLUMN_STATIC_CAP] = vars->ceiling_static,
        [COLUMN_RUNNING] = (double)gate->running,
        [COLUMN_BOOTING] = (double)gate->booting,
        [COLUMN_ARRIVAL] = gate->fleet[0].tokens,
        [COLUMN_PEAK] = gate->peak.tokens,
        [COLUMN_PEAK_IN] = planner_seconds(gate->peak_in),
        [COLUMN_IN_FLIGHT] = gate->fleet[0].in_flight,
        [COLUMN_IN_FLIGHT_PEAK] = gate->peak.in_flight,
        [COLUMN_CALLS] = gate->fleet[0].calls,
        [COLUMN_CALLS_PEAK] = gate->peak.calls,
        [COLUMN_RATE_TOKENS] = gate->paced ? gate->rate_tokens : (double)NAN,
        [COLUMN_RATE_CALLS] = gate->paced ? gate->rate_calls : (double)NAN,
        [COLUMN_R_TOK] = gate->budgets.r_tok,
        [COLUMN_K_INFLIGHT] = gate->budgets.k_inflight,
        [COLUMN_R_QPS] = gate->budgets.r_qps,
        [COLUMN_SOURCE] = source_of(gate),
        [COLUMN_SEED_AGE] = gate->seed_age,
        [COLUMN_COOLDOWN] = planner_cools(vars, now) ? planner_seconds(vars->cooldown_until - now) : 0,
        [COLUMN_ARMED] = vars->armed == index + 1 ? planner_seconds(vars->peak_at - now) : (double)NAN,
    };
    self->host->row(self, row);
}

static policy_time planner_tick(struct policy *self, const struct policy_view *view)
{
    const struct planner_params *params = self->params;
    struct planner_vars *vars = self->vars;
    policy_time now = view->now;
    vars->begun = true;
    vars->next_tick = now + params->tick;
    look(self, now);
    if (params->aimd) {
        planner_reacts(self, now);
        planner_grows(self, now);
    }
    for (uint32_t i = 0; i < vars->gate_count; i++)
        planner_reads_budgets(self, &vars->gates[i], i, now); /* they may have moved */
    plan(self, now);
    for (uint32_t i = 0; i < vars->gate_count; i++)
        if (planned(vars, &vars->gates[i]))
            write_row(self, i, now);
    return vars->next_tick;
}

/* --- the table --------------------------------------------------------------------------------------------------- */

static void planner_init(struct policy *self)
{
    const struct planner_params *params = self->params;
    struct planner_vars *vars = self->vars;
    planner_read_survival(params->survival, vars->rows, &vars->row_count, &vars->row_turns);
    for (uint32_t i = 0; i < PLANNER_GATES; i++)
        vars->gates[i].of = i;
    sum_up(params, vars, 0);
}

static void planner_changed(struct policy *self, policy_time now, const char *key, enum policy_setter by)
{
    (void)key;
    (void)by;
    sum_up(self->params, self->vars, now); /* what else is live is read at the next tick */
}

static const char *planner_check(const void *checked)
{
    const struct planner_params *params = checked;
    double rows[PLANNER_ROWS], turns;
    uint32_t count;
    const char *expected = planner_read_survival(params->survival, rows, &count, &turns);
    if (params->horizon / params->step > PLANNER_STEPS)
        return "horizon: expected at most 36 steps";
    if (params->peak_least > params->peak_most)
        return "peak_least: expected at most peak_most";
    for (uint32_t i = 0; i < PLANNER_GATES && !planner_same_for_all(params); i++)
        if (!planner_named(params->curves, i))
            return "curves: expected names of presets parted by blanks, such as laguna_opencode pooled";
    return expected;
}

const struct policy_ops weir_policy = {
    POLICY_HEADER,
    .name = "planner",
    .summary = "holds runs at the door while those that run would outgrow the pools, and steers their pacers",
    .params = planner_options,
    .presets = planner_presets,
    .gauges = planner_gauges,
    .columns = planner_columns,
    .params_size = sizeof(struct planner_params),
    .vars_size = sizeof(struct planner_vars),
    .stats_size = sizeof(struct planner_stats),
    .run_size = sizeof(struct planner_run),
    .one_copy = true,
    .check = planner_check,
    .init = planner_init,
    .changed = planner_changed,
    .run_admit = planner_run_admit,
    .run_admitted = planner_run_admitted,
    .run_finish = planner_run_finish,
    .admitted = planner_admitted,
    .tick = planner_tick,
};
