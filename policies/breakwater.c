/* breakwater - lets in who has a credit, and issues more or fewer of them by how long the head of the line has waited.
 *
 * Idea: a server that says who may come has few to refuse. C credits are to be out, I are. An agent has one for each
 * call of its in the system, and spares. A call whose agent has no spare gets a credit if I < C, else it is deferred.
 * Once an `interval`, d being the age of the head of the line and n the number of agents seen,
 *   d < target   C := C + max(floor(alpha n), 1)
 *   d >= target  C := floor(C max(1 - beta (d - target) / target, 1/2))
 * and then within the number of servers and 64 n. When a call ends, what its agent has is set anew:
 *   I < C  to its calls in the system and max((C - I) / n, 1) spares, but C - I more at most (overcommitment)
 *   I > C  to one less
 * and never to fewer than those calls, nor more than those and the spares, nor above 63. A spare that nobody asked for
 * speculates that its agent soon will (demand speculation). While d >= drop_at everybody is refused (the AQM).
 *
 * Source: Cho et al., Overload control for us-scale RPCs with Breakwater, OSDI 2020, and the server in the repository
 * of caladan: 0.1 %, 2 %, every 10 us; for calls of 10 us a target of 80 us and drop_at 160 us (`published`). There a
 * client keeps its calls until it has a credit; here its backoff decides when it asks again. `slots`: a target of 9 s,
 * the mean turn, drop_at 18 s, every 10 s. An agent is forgotten, with its credits, when its run ends; a call whose
 * client has died, which nobody reports, when the agent asks in its next turn.
 *
 * The loop is caught up with at each event, by the head that the last one left. It cannot lock up: while nobody waits C
 * grows, and a credit in use is of a turn that goes on. Known to fail: at 80 us each call that waits at all empties the
 * pool, and each moment without a line fills it. At a metered pool nobody waits, so C only grows. */
#include "policies/policy.h"

enum { HELD_MOST = 63, CREDITS_MOST = 64 }; /* of an agent */

struct breakwater_params {
    double alpha, beta;
    policy_time target, drop_at, interval;
    int64_t initial;
    policy_time retry_after;
};

struct breakwater_vars {
    int64_t credits, issued, agents; /* C, I, n */
    policy_time looked;              /* the last step of the loop */
    policy_time head;                /* joined when, after the last event; POLICY_NONE: nobody waits */
    double delay;
};

struct breakwater_stats {
    uint64_t raises, cuts, refused, dropped;
};

struct breakwater_agent {
    bool known;
    uint64_t turn;         /* of its calls; those of turns before are over */
    int64_t holds, inside; /* credits, calls in the system */
};

struct breakwater_call {
    bool inside;
};

/* --- the loop ---------------------------------------------------------------------------------------------------- */

static void bound(struct breakwater_vars *vars, int64_t least)
{
    int64_t most = CREDITS_MOST * (vars->agents > 0 ? vars->agents : 1);
    vars->credits = vars->credits > most ? most : vars->credits;
    vars->credits = vars->credits < least ? least : vars->credits;
}

static void grow(struct breakwater_vars *vars, struct breakwater_stats *stats, const struct breakwater_params *params,
                 int64_t least, int64_t steps)
{
    int64_t most = CREDITS_MOST * vars->agents, more = (int64_t)(params->alpha * (double)vars->agents);
    more = more > 1 ? more : 1;
    if (steps > 0 && vars->credits < most) {
        int64_t to_the_top = (most - vars->credits - 1) / more + 1;
        steps = steps < to_the_top ? steps : to_the_top;
        vars->credits += steps * more;
        stats->raises += (uint64_t)steps;
    }
    if (steps > 0)
        bound(vars, least);
}

static void cut(struct breakwater_vars *vars, struct breakwater_stats *stats, const struct breakwater_params *params,
                int64_t least, policy_time delay)
{
    int64_t before = vars->credits;
    double left = 1 - params->beta * ((double)(delay - params->target) / (double)params->target);
    vars->credits = (int64_t)((double)before * (left > 0.5 ? left : 0.5));
    bound(vars, least);
    stats->cuts += vars->credits < before;
}

/* How many of `due` steps behind `at` find that the head has not waited for the target. */
static int64_t steps_below(const struct breakwater_vars *vars, const struct breakwater_params *params, policy_time at,
                           int64_t due)
{
    policy_time left = params->target;
    if (vars->head == POLICY_NONE || params->target == INT64_MAX)
        return due;
    left -= at - vars->head;
    return left <= 0 ? 0 : (left - 1) / params->interval < due ? (left - 1) / params->interval : due;
}

/* All steps until `now`. Between two events the head of the line only ages, so first come those that add credits, all
 * alike, then those that cut, as many as there are credits to lose. */
static void catch_up(struct policy *self, const struct policy_view *view)
{
    const struct breakwater_params *params = self->params;
    struct breakwater_vars *vars = self->vars;
    int64_t least = view->servers > 0 ? (int64_t)view->servers : 1;
    int64_t due = (view->now - vars->looked) / params->interval;
    int64_t below = steps_below(vars, params, vars->looked, due);
    policy_time at = vars->looked + below * params->interval;
    if (vars->credits == 0) /* it begins */
        vars->credits = least;
    vars->looked += due * params->interval;
    grow(vars, self->stats, params, least, below);
    for (due -= below; due > 0 && vars->credits > least && params->beta > 0; due--) {
        at += params->interval;
        cut(vars, self->stats, params, least, at - vars->head);
    }
}

static policy_time head_of(const struct policy_view *view)
{
    return view->waiting.head ? view->waiting.head->joined : POLICY_NONE;
}

/* --- credits ----------------------------------------------------------------------------------------------------- */

static void meet(struct breakwater_vars *vars, struct breakwater_agent *agent)
{
    vars->agents += !agent->known;
    agent->known = true;
}

static int64_t lesser(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t greater(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* Calls of the agent have ended. */
static void set_anew(struct breakwater_vars *vars, struct breakwater_agent *agent)
{
    int64_t open = vars->credits - vars->issued, spares = greater(open / greater(vars->agents, 1), 1);
    int64_t holds = agent->holds;
    if (open > 0)
        holds = lesser(agent->inside + spares, holds + open);
    else if (open < 0)
        holds--;
    holds = lesser(lesser(greater(holds, agent->inside), agent->inside + spares), greater(HELD_MOST, agent->inside));
    vars->issued += holds - agent->holds;
    agent->holds = holds;
}

/* A turn begins when all calls of the one before are over, so those of which no end was heard have died. */
static void forget_the_dead(struct breakwater_vars *vars, struct breakwater_agent *agent, uint64_t turn)
{
    if (agent->turn != turn && agent->inside > 0) {
        agent->inside = 0;
        set_anew(vars, agent);
    }
    agent->turn = turn;
}

/* --- callbacks --------------------------------------------------------------------------------------------------- */

static void breakwater_init(struct policy *self)
{
    const struct breakwater_params *params = self->params;
    struct breakwater_vars *vars = self->vars;
    vars->credits = params->initial;
    vars->head = POLICY_NONE;
}

static struct policy_answer breakwater_admit(struct policy *self, const struct policy_view *view,
                                             struct policy_call *call)
{
    const struct breakwater_params *params = self->params;
    struct breakwater_vars *vars = self->vars;
    struct breakwater_stats *stats = self->stats;
    struct breakwater_agent *agent = call->agent_state;
    policy_time refusal = params->retry_after > 0 ? params->retry_after : POLICY_NONE, delay;
    meet(vars, agent);
    catch_up(self, view);
    forget_the_dead(vars, agent, call->turn);
    vars->head = head_of(view);
    delay = vars->head == POLICY_NONE ? 0 : view->now - vars->head;
    vars->delay = (double)delay / (double)POLICY_SECOND;
    if (delay >= params->drop_at) {
        stats->dropped++;
        return policy_defer(refusal, "delay");
    }
    if (agent->holds > agent->inside || vars->issued < vars->credits)
        return policy_admit();
    stats->refused++;
    return policy_defer(refusal, "credits");
}

static policy_time breakwater_admitted(struct policy *self, const struct policy_view *view, struct policy_call *call)
{
    struct breakwater_vars *vars = self->vars;
    struct breakwater_agent *agent = call->agent_state;
    struct breakwater_call *memory = call->state;
    memory->inside = true;
    agent->inside++;
    if (agent->inside > agent->holds) {
        agent->holds++;
        vars->issued++;
    }
    if (view->waiting.calls == 0 && view->servers > 0)
        vars->head = view->now; /* it will be that, or a server takes it at once */
    return 0;
}

static struct policy_answer breakwater_start(struct policy *self, const struct policy_view *view,
                                             struct policy_call *call)
{
    struct breakwater_vars *vars = self->vars;
    (void)call;
    catch_up(self, view);
    vars->head = head_of(view);
    return policy_admit();
}

static policy_time breakwater_finish(struct policy *self, const struct policy_view *view, struct policy_call *call,
                                     const struct policy_outcome *outcome)
{
    struct breakwater_vars *vars = self->vars;
    struct breakwater_agent *agent = call->agent_state;
    struct breakwater_call *memory = call->state;
    (void)outcome;
    catch_up(self, view);
    vars->head = head_of(view);
    if (memory->inside && agent->inside > 0) {
        memory->inside = false;
        agent->inside--;
        set_anew(vars, agent);
    }
    return POLICY_NONE;
}

static void breakwater_run_finish(struct policy *self, const struct policy_view *view, struct policy_run *run,
                                  bool done)
{
    struct breakwater_vars *vars = self->vars;
    struct breakwater_agent *agent = run->agent_state;
    (void)view;
    (void)done;
    vars->issued -= agent->holds;
    vars->agents -= agent->known;
    *agent = (struct breakwater_agent){.known = false};
}

static const struct option breakwater_options[] = {
    {.key = "alpha",
     .type = OPTION_SHARE,
     .offset = offsetof(struct breakwater_params, alpha),
     .initial = "0.1%",
     .least = "0",
     .most = "1",
     .live = true,
     .help = "credits more in an interval, of the agents"},
    {.key = "beta",
     .type = OPTION_SHARE,
     .offset = offsetof(struct breakwater_params, beta),
     .initial = "2%",
     .least = "0",
     .most = "1",
     .live = true,
     .help = "credits fewer in an interval, where the delay is twice the target"},
    {.key = "target",
     .type = OPTION_TIME,
     .offset = offsetof(struct breakwater_params, target),
     .initial = "80 us",
     .least = "1 us",
     .most = "inf",
     .live = true,
     .help = "the age of the head of the line that is aimed at"},
    {.key = "drop_at",
     .type = OPTION_TIME,
     .offset = offsetof(struct breakwater_params, drop_at),
     .initial = "160 us",
     .least = "1 us",
     .most = "inf",
     .live = true,
     .help = "while the head of the line is so old nobody is let in"},
    {.key = "interval",
     .type = OPTION_TIME,
     .offset = offsetof(struct breakwater_params, interval),
     .initial = "10 us",
     .least = "1 us",
     .most = "30 d",
     .live = true,
     .help = "how often credits are added or taken away"},
    {.key = "initial",
     .type = OPTION_COUNT,
     .offset = offsetof(struct breakwater_params, initial),
     .initial = "",
     .least = "1",
     .most = "inf",
     .measures = "calls",
     .help = "credits at the start; without it as many as servers"},
    {.key = "retry_after",
     .type = OPTION_TIME,
     .offset = offsetof(struct breakwater_params, retry_after),
     .initial = "",
     .least = "1 ms",
     .most = "1 d",
     .live = true,
     .help = "what a refusal says; without it nothing"},
    {.key = NULL},
};

static const char *const breakwater_published[] = {"alpha",   "0.1%",   "beta",     "2%",    "target", "80 us",
                                                   "drop_at", "160 us", "interval", "10 us", NULL};
static const char *const breakwater_slots[] = {"target", "9 s", "drop_at", "18 s", "interval", "10 s", NULL};
static const struct policy_preset breakwater_presets[] = {
    {.name = "published", .settings = breakwater_published, .help = "Breakwater, for calls of 10 us"},
    {.name = "slots", .settings = breakwater_slots, .help = "for eight slots that serve turns of some ten seconds"},
    {.name = NULL},
};

static const struct policy_gauge breakwater_gauges[] = {
    {.name = "credits",
     .type = POLICY_GAUGE_INT64,
     .offset = offsetof(struct breakwater_vars, credits),
     .unit = "calls",
     .help = "credits that there are to be, at the last event"},
    {.name = "issued",
     .type = POLICY_GAUGE_INT64,
     .offset = offsetof(struct breakwater_vars, issued),
     .unit = "calls",
     .help = "credits that agents hold, those of calls in the system included"},
    {.name = "agents",
     .type = POLICY_GAUGE_INT64,
     .offset = offsetof(struct breakwater_vars, agents),
     .unit = "agents",
     .help = "agents seen whose runs go on"},
    {.name = "delay",
     .type = POLICY_GAUGE_DOUBLE,
     .offset = offsetof(struct breakwater_vars, delay),
     .unit = "s",
     .help = "age of the head of the line when the last attempt was made"},
    {.name = "raises",
     .type = POLICY_GAUGE_UINT64,
     .in_stats = true,
     .offset = offsetof(struct breakwater_stats, raises),
     .unit = "",
     .help = "steps that have added credits"},
    {.name = "cuts",
     .type = POLICY_GAUGE_UINT64,
     .in_stats = true,
     .offset = offsetof(struct breakwater_stats, cuts),
     .unit = "",
     .help = "steps that have taken some away"},
    {.name = "refused",
     .type = POLICY_GAUGE_UINT64,
     .in_stats = true,
     .offset = offsetof(struct breakwater_stats, refused),
     .unit = "attempts",
     .help = "attempts refused for want of a credit"},
    {.name = "dropped",
     .type = POLICY_GAUGE_UINT64,
     .in_stats = true,
     .offset = offsetof(struct breakwater_stats, dropped),
     .unit = "attempts",
     .help = "attempts refused because the head of the line was too old"},
    {.name = NULL},
};

const struct policy_ops weir_policy = {
    POLICY_HEADER,
    .name = "breakwater",
    .summary = "admits who holds a credit; how many there are follows the age of the head of the line",
    .params = breakwater_options,
    .presets = breakwater_presets,
    .gauges = breakwater_gauges,
    .params_size = sizeof(struct breakwater_params),
    .vars_size = sizeof(struct breakwater_vars),
    .stats_size = sizeof(struct breakwater_stats),
    .call_size = sizeof(struct breakwater_call),
    .agent_size = sizeof(struct breakwater_agent),
    .init = breakwater_init,
    .admit = breakwater_admit,
    .admitted = breakwater_admitted,
    .start = breakwater_start,
    .finish = breakwater_finish,
    .run_finish = breakwater_run_finish,
};
