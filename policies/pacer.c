/* pacer - lets the calls of a fleet start at a pace that a provider's pool bears, in one decision a call.
 *
 * Idea: pools punish what comes all at once and bear much more when it is spread. A call needs tokens (a bucket of
 * c_burst, filled at r_tok), a request (c_req, r_qps) and room in flight (k_inflight); what lacks any of them is held,
 * asks again when its need should have flowed in, and has nothing until it is let in.
 *   charge   prompt characters / kappa, of which the last prompt of the run counts cached_weight a token; settled with
 *            the real counts, which also teach kappa. Without counts (429, error) it stays spent.
 *   line     held calls by first denial - charge / r_tok, so that a large one has waited as long as its need takes to
 *            flow in. What the head needs is set aside on each axis: others take only what is above.
 *   oversize needs are cut to what a bucket holds: such a call goes alone at a full one, and leaves it below 0.
 *   429      without a retry-after it is the provider's: the call gives back its place, pauses min(30 n, 90) s +- 25 %
 *            and asks again, unseen; its client hears of it where the pause would end past the hold cap.
 *   store    unreachable: each agent by itself, one call at a time, 2.5 s x U(0.8, 1.4) between starts. Never unpaced.
 *
 * Source: psdhali/agent-evals, the gateway's pacer; its rules are numbered in the tests. The gate is its store, the
 * held line its waiters, the client's hold cap their end (then a 429 of 30 s, or of 60 s behind an overload). An outage
 * keeps what the store held: buckets fill, and calls that end meanwhile cannot say so, so they count until they expire.
 *
 * Known to fail: at a full bucket small calls still pass an oversize head. A compacted prompt is charged as cached
 * though nothing of it is. Behind a pause a call stands as if it had no charge; one that another member of the chain
 * held first keeps that place. With c_req: 1 a tenth of the requests is lost, as the head asks late. It caps nothing
 * that agents bring: beyond the budgets they wait. */
#include <string.h>

#include "policies/pacer_store.h"

#define KAPPA_NEW 0.05
#define KAPPA_LEAST 2.0
#define KAPPA_MOST 8.0
#define SLOW (2 * POLICY_SECOND)

static const char tokens_bind[] = "tokens", requests_bind[] = "requests", in_flight_binds[] = "in_flight";

struct pacer_call {
    uint32_t attempt;       /* that the rest is of */
    int64_t est, charge;    /* millionths */
    bool waits;             /* denied: in line */
    bool inside, local;     /* in flight; let go without the store */
    policy_time started;    /* in flight since */
    int64_t tries;          /* 429s that were waited out */
    policy_time asks_since; /* for the place it has or wants */
    policy_time wakes;      /* end of the last pause behind a 429; 0: none */
    policy_time due;        /* its turn while the store is down; 0: not drawn */
    int64_t rank;           /* in the held line */
};

struct pacer_run {
    double prompt; /* tokens of the last one that was answered; 0: none */
};

struct pacer_agent {
    bool begun;
    policy_time started; /* its last call */
    uint64_t inside;     /* calls of its turn: what it left there of an earlier one died with the shim that sent it */
    uint64_t turn;
};

/* --- a call's charge and place ----------------------------------------------------------------------------------- */

/* Its memory of this attempt; charge and estimate are those of the first time it is seen (rules 2 and 3). */
static struct pacer_call *assess(struct policy *self, const struct policy_call *call)
{
    const struct pacer_params *params = self->params;
    const struct pacer_vars *vars = self->vars;
    const struct pacer_run *run = call->run_state;
    struct pacer_call *memory = call->state;
    double est, cached;
    if (memory->attempt == call->attempt)
        return memory;
    est = call->input_chars / vars->kappa;
    cached = run->prompt < est ? run->prompt : est;
    *memory = (struct pacer_call){.attempt = call->attempt,
                                  .est = amount_millionths(est),
                                  .charge = amount_millionths(est - cached + cached * params->cached_weight),
                                  .asks_since = call->attempted};
    return memory;
}

/* First denied now: its place in line (rule 3). */
static int64_t priority(const struct pacer_vars *vars, const struct pacer_call *memory, policy_time now)
{
    return now - bucket_time(&vars->tokens, (parts)memory->charge * MINUTE, INT64_MAX / 2);
}

static policy_time jittered(struct policy *self, policy_time wait)
{
    return (policy_time)((double)wait * (0.75 + 0.5 * self->host->uniform(self)));
}

/* Not now. At its hold cap the call is refused as a 429 that the pacer makes up (rule 8). */
static struct policy_answer denied(struct policy *self, const struct policy_call *call, policy_time wait,
                                   const char *reason)
{
    const struct pacer_params *params = self->params;
    struct pacer_stats *stats = self->stats;
    struct pacer_call *memory = call->state;
    if (!call->last)
        return policy_hold(wait > POLICY_LEAST ? wait : POLICY_LEAST, reason);
    stats->expired++;
    memory->waits = false;
    return policy_defer(memory->tries > 0 ? params->overload_retry_after : params->retry_after, reason);
}

/* It asks again after so long, +- 25 % (rule 6). */
static struct policy_answer polls(struct policy *self, const struct policy_call *call, policy_time hint,
                                  const char *reason)
{
    const struct pacer_params *params = self->params;
    if (hint < params->poll_least)
        hint = params->poll_least;
    if (hint > params->poll_most)
        hint = params->poll_most;
    return denied(self, call, call->last ? hint : jittered(self, hint), reason);
}

/* --- the decision ------------------------------------------------------------------------------------------------ */

/* Rules 4 and 6. */
static struct policy_answer by_budgets(struct policy *self, const struct policy_view *view, struct policy_call *call)
{
    const struct pacer_params *params = self->params;
    const struct pacer_vars *vars = self->vars;
    const struct policy_call *first = params->fairness ? view->held.head : NULL;
    const struct pacer_call *head = first && first != call ? first->state : NULL;
    struct pacer_call *memory = call->state;
    parts most = (parts)params->k_inflight * MILLION, tokens, requests, in_flight;
    policy_time hint, other;
    const char *axis;
    if (head && !head->waits)
        head = NULL; /* it pauses, or another member holds it */
    tokens = ((parts)memory->charge + (head && params->reservation ? head->charge : 0)) * MINUTE;
    in_flight = (parts)memory->est + (head && params->reservation ? head->est : 0);
    if (tokens > bucket_full(&vars->tokens))
        tokens = bucket_full(&vars->tokens);
    if (in_flight > most)
        in_flight = most;
    requests = (head && params->reservation ? 2 : 1) * UNIT;
    if (vars->tokens.level < tokens)
        axis = tokens_bind;
    else if (vars->requests.level < requests)
        axis = requests_bind;
    else if (vars->in_flight + in_flight > most)
        axis = in_flight_binds;
    else
        return policy_admit();
    if (!memory->waits) {
        memory->waits = true;
        memory->rank = priority(vars, memory, view->now);
    }
    hint = bucket_time(&vars->tokens, tokens - vars->tokens.level, params->poll_most);
    other = bucket_time(&vars->requests, requests - vars->requests.level, params->poll_most);
    return polls(self, call, hint > other ? hint : other, axis);
}

/* The store is down: each agent by itself (rule 9). */
static struct policy_answer by_gap(struct policy *self, const struct policy_view *view, struct policy_call *call)
{
    const struct pacer_params *params = self->params;
    const struct pacer_agent *agent = call->agent_state;
    struct pacer_call *memory = call->state;
    policy_time now = view->now;
    if (memory->due == 0) {
        double gap = agent->begun ? (double)params->local_gap * (0.8 + 0.6 * self->host->uniform(self)) : 0;
        memory->due = agent->begun ? agent->started + (policy_time)gap : now;
    }
    if (agent->inside > 0 && agent->turn == call->turn)
        return polls(self, call, memory->due - now, "local");
    return now >= memory->due ? policy_admit() : denied(self, call, memory->due - now, "local");
}

static struct policy_answer pacer_admit(struct policy *self, const struct policy_view *view, struct policy_call *call)
{
    const struct pacer_params *params = self->params;
    struct pacer_vars *vars = self->vars;
    const struct pacer_call *memory = assess(self, call);
    if (view->gate < 64)
        vars->gates |= UINT64_C(1) << view->gate;
    store_refill(vars, view->now);
    if (view->now < memory->wakes) /* another member woke it, or its hold cap: its pause would end too late */
        return denied(self, call, memory->wakes - view->now, "overload");
    if (params->law == LAW_CONCURRENCY)
        return vars->calls < (uint64_t)params->concurrency ? policy_admit() : polls(self, call, 0, "concurrency");
    if (params->law == LAW_RETRY_AFTER)
        return policy_admit();
    return params->store == STORE_UP ? by_budgets(self, view, call) : by_gap(self, view, call);
}

/* Where a call of the held line stands. Who pauses stands behind all that are denied before it wakes, so that no
 * sleeper hides the first that waits. */
static int64_t pacer_rank(struct policy *self, const struct policy_view *view, struct policy_call *call, bool held)
{
    const struct pacer_params *params = self->params;
    const struct pacer_call *memory;
    if (!held || !params->fairness || params->law != LAW_BUDGETS)
        return 0;
    memory = assess(self, call);
    if (memory->waits)
        return memory->rank;
    return view->now < memory->wakes ? memory->wakes : priority(self->vars, memory, view->now);
}

/* --- in flight --------------------------------------------------------------------------------------------------- */

/* Rule 5. A place of exactly `expires` still counts. */
static policy_time pacer_admitted(struct policy *self, const struct policy_view *view, struct policy_call *call)
{
    const struct pacer_params *params = self->params;
    struct pacer_vars *vars = self->vars;
    struct pacer_stats *stats = self->stats;
    struct pacer_call *memory = assess(self, call);
    struct pacer_agent *agent = call->agent_state;
    store_refill(vars, view->now);
    memory->waits = false;
    memory->inside = true;
    memory->due = 0;
    memory->local = params->law == LAW_BUDGETS && params->store == STORE_DOWN;
    memory->started = view->now;
    vars->calls++;
    agent->inside = agent->turn == call->turn ? agent->inside + 1 : 1;
    agent->turn = call->turn;
    agent->begun = true;
    agent->started = view->now;
    if (memory->local) {
        stats->local++;
    } else {
        vars->in_flight += memory->est;
        stats->admitted++;
        stats->admitted_tokens += (double)memory->charge / 1e6;
        stats->slow += view->now - memory->asks_since > SLOW;
        if (params->law == LAW_BUDGETS) {
            bucket_give(&vars->tokens, -(parts)memory->charge);
            bucket_give(&vars->requests, -(parts)MILLION);
        }
    }
    store_show(vars);
    return params->expires < INT64_MAX ? params->expires + 1 : 0;
}

static void release(struct pacer_vars *vars, const struct pacer_params *params, const struct pacer_call *memory,
                    enum policy_end end)
{
    if (memory->local)
        return;
    if (params->store == STORE_UP || params->law != LAW_BUDGETS || end == POLICY_EXPIRED) {
        vars->in_flight -= memory->est;
        return;
    }
    store_strand(vars, memory->est, memory->started + params->expires);
}

/* Rules 2 and 7. */
static void settle(struct policy *self, const struct policy_call *call, const struct policy_outcome *outcome)
{
    const struct pacer_params *params = self->params;
    struct pacer_vars *vars = self->vars;
    const struct pacer_call *memory = call->state;
    struct pacer_run *run = call->run_state;
    double input = outcome->input_tokens, cached = outcome->cached_tokens, kappa;
    if (outcome->end != POLICY_DONE || !(input > 0))
        return;
    run->prompt = input;
    if (params->store == STORE_DOWN)
        return;
    kappa = (1 - KAPPA_NEW) * vars->kappa + KAPPA_NEW * (call->input_chars / input);
    vars->kappa = kappa < KAPPA_LEAST ? KAPPA_LEAST : kappa < KAPPA_MOST ? kappa : KAPPA_MOST;
    if (memory->local || params->law != LAW_BUDGETS)
        return;
    cached = cached > 0 ? cached : 0;
    bucket_give(&vars->tokens,
                (parts)memory->charge - amount_millionths(input - cached + cached * params->cached_weight));
}

/* Rule 10: how long the call pauses, or that its client hears of the 429. */
static policy_time pauses(struct policy *self, policy_time now, const struct policy_call *call,
                          const struct policy_outcome *outcome)
{
    const struct pacer_params *params = self->params;
    struct pacer_vars *vars = self->vars;
    struct pacer_stats *stats = self->stats;
    struct pacer_call *memory = call->state;
    policy_time wait = outcome->retry_after;
    if (outcome->end != POLICY_OVERLOAD)
        return POLICY_NONE;
    if (wait == POLICY_NONE) {
        store_roll(vars, now);
        vars->cells[vars->cell % PACER_CELLS]++;
        stats->overloads++;
    } else if (params->law != LAW_RETRY_AFTER) {
        return POLICY_NONE;
    }
    if (call->last || memory->tries >= params->tries)
        return POLICY_NONE;
    memory->tries++;
    if (wait == POLICY_NONE) {
        wait = memory->tries * params->overload_wait;
        wait = jittered(self, wait < params->overload_most ? wait : params->overload_most);
    }
    if (wait < POLICY_LEAST)
        wait = POLICY_LEAST;
    if (call->hold_until != POLICY_NONE && now + wait > call->hold_until) /* it would end too late: handed on at once */
        return POLICY_NONE;
    memory->wakes = memory->asks_since = now + wait;
    return wait;
}

static policy_time pacer_finish(struct policy *self, const struct policy_view *view, struct policy_call *call,
                                const struct policy_outcome *outcome)
{
    struct pacer_vars *vars = self->vars;
    struct pacer_call *memory = call->state;
    struct pacer_agent *agent = call->agent_state;
    memory->waits = false;
    if (!memory->inside)
        return POLICY_NONE;
    memory->inside = false;
    vars->calls--;
    agent->inside -= agent->turn == call->turn && agent->inside > 0;
    store_refill(vars, view->now);
    release(vars, self->params, memory, outcome->end);
    settle(self, call, outcome);
    store_show(vars);
    return pauses(self, view->now, call, outcome);
}

/* Its place in flight has expired (rule 1); what it was charged is settled all the same (rule 7). */
static void pacer_late(struct policy *self, const struct policy_view *view, struct policy_call *call,
                       const struct policy_outcome *outcome)
{
    store_refill(self->vars, view->now);
    settle(self, call, outcome);
    store_show(self->vars);
}

/* --- the rest ---------------------------------------------------------------------------------------------------- */

static const char *pacer_check(const void *given)
{
    const struct pacer_params *params = given;
    if (params->poll_most < params->poll_least)
        return "poll_most is below poll_least: expected at least as much";
    return NULL;
}

static void pacer_init(struct policy *self)
{
    const struct pacer_params *params = self->params;
    struct pacer_vars *vars = self->vars;
    vars->kappa = params->kappa_start;
    vars->width = params->expires < INT64_MAX ? params->expires / (PACER_STRANDED - 3) + 1 : 0;
    store_seed(vars, params);
    vars->seed_at = params->seed_age < INT64_MAX ? -(double)params->seed_age / POLICY_SECOND : (double)-INFINITY;
    store_renew(vars, params);
    vars->tokens.level = bucket_full(&vars->tokens); /* rule 1: a bucket that nobody has used is full */
    vars->requests.level = bucket_full(&vars->requests);
    store_show(vars);
}

/* An operator's value is a seed, and fresh; a policy's is neither, but that a budget was too high is news. */
static void pacer_changed(struct policy *self, policy_time now, const char *key, enum policy_setter by)
{
    const struct pacer_params *params = self->params;
    struct pacer_vars *vars = self->vars;
    bool constant = strcmp(key, "store") != 0 && strcmp(key, "concurrency") != 0;
    store_refill(vars, now);
    if (by == POLICY_BY_POLICY ? store_lowered(params, &vars->before) : constant)
        vars->seed_at = (double)now / POLICY_SECOND;
    if (by == POLICY_BY_OPERATOR && strcmp(key, "r_tok") == 0)
        vars->seed_r_tok = params->r_tok;
    else if (by == POLICY_BY_OPERATOR && strcmp(key, "k_inflight") == 0)
        vars->seed_k_inflight = store_counted(params->k_inflight);
    else if (by == POLICY_BY_OPERATOR && strcmp(key, "r_qps") == 0)
        vars->seed_r_qps = params->r_qps;
    store_renew(vars, params);
}

/* For how long the first of the line has asked, of the gates that this copy serves; who pauses does not wait. */
static double head_wait(struct policy *self, policy_time now)
{
    const struct pacer_vars *vars = self->vars;
    policy_time longest = 0;
    for (uint32_t i = 0; i < 64 && vars->gates >> i; i++) {
        bool serves = vars->gates >> i & 1;
        const struct policy_call *head = serves ? self->host->view(self, i)->held.head : NULL;
        const struct pacer_call *memory = head ? head->state : NULL;
        if (memory && memory->attempt == head->attempt && now - memory->asks_since > longest)
            longest = now - memory->asks_since;
    }
    return (double)longest / POLICY_SECOND;
}

static void pacer_refresh(struct policy *self, policy_time now)
{
    struct pacer_vars *vars = self->vars;
    vars->head_wait = head_wait(self, now);
    store_refill(vars, now);
    store_roll(vars, now);
}

const struct policy_ops weir_policy = {
    POLICY_HEADER,
    .name = "pacer",
    .summary = "holds calls until budgets of tokens, requests and what is in flight let them start",
    .params = pacer_options,
    .presets = pacer_presets,
    .gauges = pacer_gauges,
    .params_size = sizeof(struct pacer_params),
    .vars_size = sizeof(struct pacer_vars),
    .stats_size = sizeof(struct pacer_stats),
    .call_size = sizeof(struct pacer_call),
    .run_size = sizeof(struct pacer_run),
    .agent_size = sizeof(struct pacer_agent),
    .check = pacer_check,
    .init = pacer_init,
    .changed = pacer_changed,
    .refresh = pacer_refresh,
    .admit = pacer_admit,
    .admitted = pacer_admitted,
    .finish = pacer_finish,
    .late = pacer_late,
    .rank = pacer_rank,
};
