/* planner_aimd.h - what moves the budgets of the pacers, and when nobody is launched: the reactions to overloads, to
 * waits, and to peaks that passed without one. Private to policies/planner.c.
 *
 * Aliases share a pool, so a cooldown and a block are of all gates. An episode begins with an
 * overload and ends when neither the last tick has counted one nor the cooldown goes on; at its first tick the budgets
 * of those that were overloaded are lowered, once. A window is the time from the arming of a peak until it has passed;
 * there is one at a time, of one alias, and it has at most one step up. */
#ifndef WEIR_PLANNER_AIMD_H
#define WEIR_PLANNER_AIMD_H

#include "policies/planner_state.h"

/* A gauge or a parameter of a pacer; NAN: it has none, or there is no pacer. */
static double planner_reads(struct policy *self, struct policy *of, const char *key)
{
    double value;
    return of && self->host->get(self, of, key, &value) ? value : NAN;
}

static double planner_or(double value, double other)
{
    return isnan(value) ? other : value;
}

/* NULL: none, or that of an earlier gate. */
static struct policy *planner_pacer(struct policy *self, uint32_t index)
{
    const struct planner_params *params = self->params;
    const struct planner_vars *vars = self->vars;
    return vars->gates[index].of == index ? self->host->find(self, params->pacer, index) : NULL;
}

/* A budget that the pacer does not have, or all of them without a pacer, are infinite. An unknown age is the oldest. */
static void planner_reads_budgets(struct policy *self, struct planner_gate *gate, uint32_t index, policy_time now)
{
    struct policy *pacer = planner_pacer(self, index);
    gate->paced = pacer != NULL;
    gate->budgets.r_tok = planner_or(planner_reads(self, pacer, "r_tok"), INFINITY);
    gate->budgets.k_inflight = planner_or(planner_reads(self, pacer, "k_inflight"), INFINITY);
    gate->budgets.r_qps = planner_or(planner_reads(self, pacer, "r_qps"), INFINITY);
    gate->seeds.r_tok = planner_or(planner_reads(self, pacer, "seed_r_tok"), gate->budgets.r_tok);
    gate->seeds.k_inflight = planner_or(planner_reads(self, pacer, "seed_k_inflight"), gate->budgets.k_inflight);
    gate->seeds.r_qps = planner_or(planner_reads(self, pacer, "seed_r_qps"), gate->budgets.r_qps);
    gate->seed_age = planner_or(planner_seconds(now) - planner_reads(self, pacer, "seed_at"), INFINITY);
    gate->weight = planner_or(planner_reads(self, pacer, "cached_weight"), 1);
}

/* --- the last minute --------------------------------------------------------------------------------------------- */

/* What was added since the newest sample that is a minute old, or else the oldest there is. */
static void planner_measures(struct policy *self, struct planner_gate *gate, uint32_t index, policy_time now)
{
    struct policy *pacer = planner_pacer(self, index);
    const struct planner_sample sample = {.at = now,
                                          .calls = planner_reads(self, pacer, "admitted"),
                                          .tokens = planner_reads(self, pacer, "admitted_tokens"),
                                          .slow = planner_reads(self, pacer, "slow"),
                                          .expired = planner_reads(self, pacer, "expired")};
    const struct planner_sample *from = &sample;
    uint64_t kept = gate->sampled < PLANNER_SAMPLES ? gate->sampled : PLANNER_SAMPLES;
    for (uint64_t back = 1; back <= kept && now - from->at < PLANNER_MINUTE; back++)
        from = &gate->samples[(gate->sampled - back) % PLANNER_SAMPLES];
    gate->minute =
        (struct planner_sample){sample.at - from->at, sample.calls - from->calls, sample.tokens - from->tokens,
                                sample.slow - from->slow, sample.expired - from->expired};
    gate->rate_calls = gate->rate_tokens = NAN;
    if (gate->minute.at > 0) {
        gate->rate_calls = gate->minute.calls / planner_seconds(gate->minute.at);
        gate->rate_tokens = gate->minute.tokens / planner_seconds(gate->minute.at);
    }
    gate->samples[gate->sampled++ % PLANNER_SAMPLES] = sample;
}

/* --- steps ------------------------------------------------------------------------------------------------------- */

/* What the pacer does not take, as out of its range, is left as it was. */
static void planner_sets(struct policy *self, uint32_t index, const char *key, double value, const char *reason)
{
    self->host->set(self, planner_pacer(self, index), key, value, reason);
}

/* To a share of the rate admitted, or where nothing was of the projected peak; if that is lower. */
static void planner_lowers(struct policy *self, uint32_t index, const char *key, double budget, double seed,
                           double rate, double projected)
{
    const struct planner_params *params = self->params;
    double floor = isinf(seed) ? seed : params->least_of_seed * seed;
    double wanted = params->step_down * (rate > 0 ? rate : projected);
    if (!(wanted > 0))
        return;
    if (wanted < floor)
        wanted = floor;
    if (wanted < budget)
        planner_sets(self, index, key, wanted, "overload");
}

static void planner_steps_down(struct policy *self, struct planner_gate *gate, uint32_t index)
{
    struct planner_stats *stats = self->stats;
    stats->steps_down++;
    planner_lowers(self, index, "r_tok", gate->budgets.r_tok, gate->seeds.r_tok, gate->rate_tokens, gate->peak.tokens);
    planner_lowers(self, index, "r_qps", gate->budgets.r_qps, gate->seeds.r_qps, gate->rate_calls, gate->peak.calls);
}

static bool planner_may_be(const struct planner_params *params, double wanted, double seed)
{
    return params->growth != GROWTH_BOUNDED || !(wanted > params->most_of_seed * seed);
}

static void planner_raises(struct policy *self, uint32_t index, const char *key, double wanted, double seed)
{
    const struct planner_params *params = self->params;
    if (isinf(wanted) || (params->bounds == BOUNDS_ALL && !planner_may_be(params, wanted, seed)))
        return;
    planner_sets(self, index, key, wanted, "a peak passed");
}

/* Refused as a whole if r_tok would pass its bound. */
static void planner_steps_up(struct policy *self, struct planner_gate *gate, uint32_t index)
{
    const struct planner_params *params = self->params;
    struct planner_stats *stats = self->stats;
    double k_inflight = params->step_up * gate->budgets.k_inflight;
    if (!planner_may_be(params, params->step_up * gate->budgets.r_tok, gate->seeds.r_tok))
        return;
    if (k_inflight < 1e15)
        k_inflight = (double)(int64_t)(k_inflight + 0.5); /* a count */
    stats->steps_up++;
    planner_raises(self, index, "r_tok", params->step_up * gate->budgets.r_tok, gate->seeds.r_tok);
    planner_raises(self, index, "k_inflight", k_inflight, gate->seeds.k_inflight);
    planner_raises(self, index, "r_qps", params->step_up * gate->budgets.r_qps, gate->seeds.r_qps);
}

/* --- signals ----------------------------------------------------------------------------------------------------- */

/* More than a share of the last minute's calls were slow, one ran into its hold cap, or the first has waited long. */
static bool planner_waits(struct policy *self, const struct planner_gate *gate, uint32_t index)
{
    const struct planner_params *params = self->params;
    return gate->minute.slow > params->slow_share * gate->minute.calls || gate->minute.expired > 0 ||
           planner_reads(self, planner_pacer(self, index), "head_wait") > planner_seconds(params->head_wait);
}

static void planner_reacts(struct policy *self, policy_time now)
{
    const struct planner_params *params = self->params;
    struct planner_vars *vars = self->vars;
    bool goes_on = planner_in_episode(vars, now), overloaded = false, waits = false;
    for (uint32_t i = 0; i < vars->gate_count; i++) {
        struct planner_gate *gate = &vars->gates[i];
        gate->overloaded = planner_reads(self, planner_pacer(self, i), "overloads_60") > 0;
        if (!gate->paced)
            continue;
        planner_measures(self, gate, i, now);
        overloaded |= gate->overloaded;
        waits |= planner_waits(self, gate, i);
    }
    if (overloaded) {
        vars->overloaded = true;
        vars->cooldown_until = now + params->cooldown;
    }
    vars->counted = overloaded;
    for (uint32_t i = 0; !goes_on && i < vars->gate_count; i++)
        if (vars->gates[i].overloaded)
            planner_steps_down(self, &vars->gates[i], i);
    if (waits) {
        vars->blocked = 1;
        vars->clean = 0;
    } else if (vars->blocked > 0 && ++vars->clean >= params->clean_ticks) {
        vars->blocked = 0;
    }
}

/* --- one alias at a time ----------------------------------------------------------------------------------------- */

/* So much load says something of the gate's budget. */
static bool planner_tests(const struct planner_params *params, const struct planner_gate *gate, double tokens)
{
    return tokens > params->busy_share * params->token_margin * gate->budgets.r_tok;
}

/* The next alias, in turn, whose projected peak would say something. */
static void planner_arms(const struct planner_params *params, struct planner_vars *vars, policy_time now)
{
    for (uint32_t i = 0; i < vars->gate_count; i++) {
        uint32_t index = (vars->last_armed + i) % vars->gate_count;
        policy_time wait = vars->gates[index].peak_in;
        if (!vars->gates[index].paced || !planner_tests(params, &vars->gates[index], vars->gates[index].peak.tokens))
            continue;
        wait = wait < params->peak_most ? wait : params->peak_most;
        wait = wait > params->peak_least ? wait : params->peak_least;
        vars->peak_at = now + wait;
        vars->armed = vars->last_armed = index + 1;
        return;
    }
}

/* An overload disarms. A peak that was armed has passed when its time has come without one, and has proved something if
 * the tasks that there are then do send so much. */
static void planner_grows(struct policy *self, policy_time now)
{
    const struct planner_params *params = self->params;
    struct planner_vars *vars = self->vars;
    if (planner_in_episode(vars, now))
        vars->armed = 0;
    if (planner_in_episode(vars, now) || params->growth == GROWTH_NONE ||
        (params->growth == GROWTH_TO_FIRST_429 && vars->overloaded))
        return;
    if (vars->armed > 0 && now >= vars->peak_at) {
        struct planner_gate *gate = &vars->gates[vars->armed - 1];
        if (gate->paced && planner_tests(params, gate, gate->fleet[0].tokens))
            planner_steps_up(self, gate, vars->armed - 1);
        vars->armed = 0;
    }
    if (vars->armed == 0)
        planner_arms(params, vars, now);
}

#endif
