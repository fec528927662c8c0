/* pacer_store.h - what the pacer's store holds, brought up to date: buckets, what is in flight, 429s of the last
 * minute, and what its budgets were set to. Included by policies/pacer.c alone. */
#ifndef POLICIES_PACER_STORE_H
#define POLICIES_PACER_STORE_H

#include "policies/pacer_tables.h"

static inline void store_show(struct pacer_vars *vars)
{
    vars->level_tok = bucket_shown(&vars->tokens);
    vars->level_req = bucket_shown(&vars->requests);
    vars->tokens_in_flight = (double)vars->in_flight / 1e6;
}

/* Whose time is in a cell that has passed. */
static inline void store_expire(struct pacer_vars *vars, policy_time now)
{
    int64_t cell = vars->width > 0 ? now / vars->width : 0;
    int64_t last = cell - vars->freed > PACER_STRANDED ? vars->freed + PACER_STRANDED : cell;
    for (int64_t i = vars->freed; i < last; i++) {
        vars->in_flight -= vars->stranded[i % PACER_STRANDED];
        vars->stranded[i % PACER_STRANDED] = 0;
    }
    vars->freed = cell;
}

/* It stays in flight until then, and at that time still counts. With no end to its life it stays for ever. */
static inline void store_strand(struct pacer_vars *vars, int64_t est, policy_time until)
{
    if (vars->width > 0)
        vars->stranded[until / vars->width % PACER_STRANDED] += est;
}

static inline void store_refill(struct pacer_vars *vars, policy_time now)
{
    bucket_refill(&vars->tokens, now);
    bucket_refill(&vars->requests, now);
    store_expire(vars, now);
    store_show(vars);
}

/* Cells of overloads up to now; the running one is not shown. */
static inline void store_roll(struct pacer_vars *vars, policy_time now)
{
    int64_t cell = now / PACER_CELL, last = cell - vars->cell > PACER_CELLS ? vars->cell + PACER_CELLS : cell;
    for (int64_t i = vars->cell + 1; i <= last; i++)
        vars->cells[i % PACER_CELLS] = 0;
    vars->cell = cell;
    vars->overloads_60 = 0;
    for (int64_t i = 0; i < PACER_CELLS; i++)
        vars->overloads_60 += i == cell % PACER_CELLS ? 0 : vars->cells[i];
}

static inline void store_renew(struct pacer_vars *vars, const struct pacer_params *params)
{
    bucket_renew(&vars->tokens, params->r_tok, params->c_burst);
    bucket_renew(&vars->requests, params->r_qps, params->c_req);
    bucket_give(&vars->tokens, 0);
    bucket_give(&vars->requests, 0);
    vars->before = *params;
    store_show(vars);
}

static inline double store_counted(int64_t count)
{
    return count == INT64_MAX ? (double)INFINITY : (double)count;
}

static inline void store_seed(struct pacer_vars *vars, const struct pacer_params *params)
{
    vars->seed_r_tok = params->r_tok;
    vars->seed_k_inflight = store_counted(params->k_inflight);
    vars->seed_r_qps = params->r_qps;
}

static inline bool store_lowered(const struct pacer_params *params, const struct pacer_params *before)
{
    return params->r_tok < before->r_tok || params->c_burst < before->c_burst ||
           params->k_inflight < before->k_inflight || params->r_qps < before->r_qps || params->c_req < before->c_req;
}

#endif
