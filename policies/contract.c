/* contract - what a run may use: a number of tokens and of iterations, and not one more.
 *
 * Idea: an agent that goes round in circles ends by contract. Each turn of a run is an iteration, counted when it is
 * first let in; its retries are the same one. Each call sets aside its estimate (input and output) and settles on what
 * it took. A call that would make one iteration too many, or whose estimate does not fit into what is left, is rejected
 * for good, and with it its turn and its run. A call that is under way is never stopped, so a run may end above its
 * tokens, by what its last call took beyond the estimate.
 *
 * Source: agent contracts (arXiv:2601.08815): a run's resources, each with a bound; published for an agent as 50,000
 * tokens and 3 iterations, the defaults. `slots`: nine of ten recorded sessions of coding agents with a server of their
 * own have up to 92 calls; times their mean call of 45,000 tokens.
 *
 * A run without end (a population without `turns:`) has a contract for each turn, since nothing else of it ends; that
 * is known at the gate of its class only, unless the scope is all. At each gate a run has a contract of its own; with
 * `scope: all` it has one for all of them.
 *
 * Known to fail: what a run has used until it is rejected is lost: gauge `wasted`. A door that refuses the run
 * beforehand would have saved it. Tokens grow with the square of the turns, so the bound of tokens is one of turns. */
#include <math.h>

#include "policies/policy.h"

struct contract_params {
    int64_t tokens, iterations;
};

struct contract_stats {
    uint64_t rejected_tokens, rejected_iterations, broken;
    double wasted;
};

struct contract_run {
    double used; /* by its calls, and set aside for those that have not ended */
    int64_t iterations;
    uint64_t turn; /* of its last iteration, plus one */
    bool endless, broken;
};

struct contract_call {
    double reserved;
    bool inside;
};

/* Of an endless run, the contract of this turn. */
static struct contract_run *contract_of(const struct policy_call *call)
{
    struct contract_run *run = call->run_state;
    if (run->endless && run->turn != call->turn + 1)
        *run = (struct contract_run){.endless = true};
    return run;
}

static double bound(int64_t count)
{
    return count == INT64_MAX ? (double)INFINITY : (double)count;
}

static struct policy_answer contract_run_admit(struct policy *self, const struct policy_view *view,
                                               struct policy_run *run)
{
    struct contract_run *contract = run->run_state;
    (void)self;
    (void)view;
    contract->endless = isinf(run->turns);
    return policy_admit();
}

static struct policy_answer breach(struct contract_run *run, struct contract_stats *stats, uint64_t *count,
                                   const char *reason)
{
    ++*count;
    if (!run->broken) {
        stats->broken++;
        stats->wasted += run->used;
    }
    run->broken = true;
    return policy_reject(reason);
}

static struct policy_answer contract_admit(struct policy *self, const struct policy_view *view,
                                           struct policy_call *call)
{
    const struct contract_params *params = self->params;
    struct contract_stats *stats = self->stats;
    struct contract_run *run = contract_of(call);
    bool next = run->turn != call->turn + 1;
    (void)view;
    if (next && run->iterations >= params->iterations)
        return breach(run, stats, &stats->rejected_iterations, "iterations");
    if (run->used + call->input_tokens + call->output_tokens > bound(params->tokens))
        return breach(run, stats, &stats->rejected_tokens, "tokens");
    return policy_admit();
}

/* What a run that is rejected has used goes on counting as wasted while its other calls end. */
static void use(struct contract_run *run, struct contract_stats *stats, double tokens)
{
    run->used += tokens;
    if (run->broken)
        stats->wasted += tokens;
}

static policy_time contract_admitted(struct policy *self, const struct policy_view *view, struct policy_call *call)
{
    struct contract_run *run = contract_of(call);
    struct contract_call *memory = call->state;
    (void)view;
    run->iterations += run->turn != call->turn + 1;
    run->turn = call->turn + 1;
    memory->inside = true;
    memory->reserved = call->input_tokens + call->output_tokens;
    use(run, self->stats, memory->reserved);
    return 0;
}

/* Nothing was used by what no server took and what the backend refused. Where something was and nobody says how much,
 * the estimate stands. */
static double used(const struct policy_call *call, const struct policy_outcome *outcome, double reserved)
{
    double real = outcome->input_tokens + outcome->output_tokens;
    bool waited = outcome->end == POLICY_TIMEOUT || outcome->end == POLICY_ABANDONED;
    if (outcome->end == POLICY_SHED || outcome->end == POLICY_DISPLACED || outcome->end == POLICY_OVERLOAD ||
        (waited && call->started == POLICY_NONE))
        return 0;
    return isnan(real) ? reserved : real;
}

static policy_time contract_finish(struct policy *self, const struct policy_view *view, struct policy_call *call,
                                   const struct policy_outcome *outcome)
{
    struct contract_call *memory = call->state;
    (void)view;
    if (memory->inside)
        use(call->run_state, self->stats, used(call, outcome, memory->reserved) - memory->reserved);
    memory->inside = false;
    return POLICY_NONE;
}

static const struct option contract_options[] = {
    {.key = "tokens",
     .type = OPTION_COUNT,
     .offset = offsetof(struct contract_params, tokens),
     .initial = "50k",
     .least = "1",
     .most = "inf",
     .measures = "tokens",
     .live = true,
     .help = "most tokens that a run may use, input and output"},
    {.key = "iterations",
     .type = OPTION_COUNT,
     .offset = offsetof(struct contract_params, iterations),
     .initial = "3",
     .least = "1",
     .most = "inf",
     .measures = "turns",
     .live = true,
     .help = "most turns that a run may make"},
    {.key = NULL},
};

static const char *const contract_slots[] = {"tokens", "4140k", "iterations", "92", NULL};
static const struct policy_preset contract_presets[] = {
    {.name = "slots",
     .settings = contract_slots,
     .help = "nine of ten sessions of coding agents: 92 calls of 45k tokens"},
    {.name = NULL},
};

static const struct policy_gauge contract_gauges[] = {
    {.name = "wasted",
     .type = POLICY_GAUGE_DOUBLE,
     .in_stats = true,
     .offset = offsetof(struct contract_stats, wasted),
     .unit = "tokens",
     .help = "used by runs that were then rejected: what they cost"},
    {.name = "broken",
     .type = POLICY_GAUGE_UINT64,
     .in_stats = true,
     .offset = offsetof(struct contract_stats, broken),
     .unit = "runs",
     .help = "runs that would have broken their contract, and ended by that"},
    {.name = "rejected_tokens",
     .type = POLICY_GAUGE_UINT64,
     .in_stats = true,
     .offset = offsetof(struct contract_stats, rejected_tokens),
     .unit = "calls",
     .help = "calls rejected as their tokens did not fit"},
    {.name = "rejected_iterations",
     .type = POLICY_GAUGE_UINT64,
     .in_stats = true,
     .offset = offsetof(struct contract_stats, rejected_iterations),
     .unit = "calls",
     .help = "calls rejected as they were one iteration too many"},
    {.name = NULL},
};

const struct policy_ops weir_policy = {
    POLICY_HEADER,
    .name = "contract",
    .summary = "rejects the call that would take a run beyond its tokens or iterations",
    .params = contract_options,
    .presets = contract_presets,
    .gauges = contract_gauges,
    .params_size = sizeof(struct contract_params),
    .stats_size = sizeof(struct contract_stats),
    .call_size = sizeof(struct contract_call),
    .run_size = sizeof(struct contract_run),
    .run_admit = contract_run_admit,
    .admit = contract_admit,
    .admitted = contract_admitted,
    .finish = contract_finish,
};
