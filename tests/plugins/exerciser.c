/* exerciser - uses everything that a policy may use, and holds the host to policy.h.
 *
 * It answers at random, each answer with a share of its own, so that a simulation drives every path of the gate; and it
 * books each call's life from its side: no callback may come out of order, memory must be zero at first sight and stay
 * its owner's, and what the view says must agree with what the callbacks said. A broken promise is printed and ends the
 * program. `alone: true` says that it is the only member of its chain, with one copy a gate: then it hears of
 * everything, and its counts must equal the host's at each tick.
 *
 * Its books are in exerciser_books.h. It ranks the lines at random; exerciser_flows.c is the same with flows, as a
 * policy has `rank` or `pick`, and exerciser_plain.c has neither, to stand in a chain with another. */
#include <math.h>

#include "tests/plugins/exerciser_books.h"

static const char *check(const void *params)
{
    const struct params *p = params;
    return p->hold + p->defer + p->reject + p->displace > 1 || p->run_hold + p->run_defer + p->run_reject > 1
               ? "the shares of answers to one question must not sum to more than 1"
               : NULL;
}

static void init(struct policy *self)
{
    const struct params *params = self->params;
    struct vars *vars = self->vars;
    CHECK(!vars->begun && vars->held == 0 && vars->inside == 0 && vars->gates == 0);
    owned(self->shared, sizeof(struct shared_memory), 0, 0, 0, 0);
    CHECK(self->host->ln(1) == 0 && self->host->exp(0) == 1);
    CHECK(fabs(self->host->ln(self->host->exp(2)) - 2) < 1e-14);
    vars->begun = true;
    vars->first_hold = params->hold;
}

static void changed(struct policy *self, policy_time now, const char *key, enum policy_setter by)
{
    const struct params *params = self->params;
    const struct vars *vars = self->vars;
    struct stats *stats = self->stats;
    CHECK(now >= vars->now && by == POLICY_BY_POLICY);
    CHECK(strcmp(key, "hold") != 0 || stats->sets == stats->changes || params->hold == vars->wanted_hold);
    stats->changes++;
}

static void refresh(struct policy *self, policy_time now)
{
    struct vars *vars = self->vars;
    CHECK(vars->begun && now >= vars->now && now >= vars->refreshed);
    vars->refreshed = now;
}

static struct run_memory *run_memory_of(const struct policy_run *run)
{
    owned(run->run_state, sizeof(struct run_memory), run->klass, run->agent, run->run, 0);
    owned(run->agent_state, sizeof(struct owner), run->klass, run->agent, 0, 0);
    owned(run->class_state, sizeof(struct class_memory), run->klass, 0, 0, 0);
    owned(run->tenant_state, sizeof(struct owner), run->tenant, 0, 0, 0);
    return run->run_state;
}

static struct policy_answer run_admit(struct policy *self, const struct policy_view *view, struct policy_run *run)
{
    const struct params *params = self->params;
    struct run_memory *memory = run_memory_of(run);
    double u = draw(self);
    look(self, view);
    CHECK(view->held.head == NULL && view->waiting.head == NULL);
    CHECK(!memory->finished && !memory->admitted && !memory->asking);
    CHECK(run->attempt > 0 && run->turns > 0);
    CHECK(run->ever_held == (run->held_since != POLICY_NONE));
    if (u < params->run_hold)
        return policy_hold(some_wait(self), "run_hold");
    if (u < params->run_hold + params->run_defer)
        return policy_defer(chance(self, 0.5) ? some_wait(self) : POLICY_NONE, "run_defer");
    if (u < params->run_hold + params->run_defer + params->run_reject)
        return policy_reject("run_reject");
    memory->asking = true;
    return policy_admit();
}

static void run_admitted(struct policy *self, const struct policy_view *view, struct policy_run *run)
{
    struct run_memory *memory = run_memory_of(run);
    look(self, view);
    CHECK(memory->asking && !memory->admitted && !memory->finished);
    memory->asking = false;
    memory->admitted = true;
    ((struct class_memory *)run->class_state)->at_the_door = true;
}

static void run_refused(struct policy *self, const struct policy_view *view, struct policy_run *run,
                        const struct policy_answer *answer)
{
    const struct params *params = self->params;
    struct run_memory *memory = run_memory_of(run);
    look(self, view);
    CHECK(!params->alone && !memory->admitted && !memory->finished);
    CHECK(answer->action == POLICY_HOLD || answer->action == POLICY_DEFER || answer->action == POLICY_REJECT);
    memory->asking = false;
}

static void run_finish(struct policy *self, const struct policy_view *view, struct policy_run *run, bool done)
{
    struct run_memory *memory = run_memory_of(run);
    const struct class_memory *class = run->class_state;
    (void)done;
    look(self, view);
    CHECK(!memory->finished && !memory->asking);
    CHECK(memory->admitted || !class->at_the_door); /* it asked elsewhere */
    memory->finished = true;
}

static struct policy_answer admit(struct policy *self, const struct policy_view *view, struct policy_call *call)
{
    const struct params *params = self->params;
    struct vars *vars = self->vars;
    struct call_memory *memory = asking(self, view, call);
    double u = draw(self);
    look_at_gate(self, view);
    CHECK((!vars->asking && !vars->victim) || !params->alone);
    if (u < params->hold) {
        move(self, memory, call->last ? OVER : HELD, view->now);
        return policy_hold(some_wait(self), "hold");
    }
    if (u < params->hold + params->defer) {
        move(self, memory, OVER, view->now);
        return policy_defer(chance(self, 0.5) ? some_wait(self) : POLICY_NONE, "defer");
    }
    if (u < params->hold + params->defer + params->reject) {
        move(self, memory, OVER, view->now);
        return policy_reject("reject");
    }
    move(self, memory, ASKING, view->now);
    vars->asking = true;
    if (u < params->hold + params->defer + params->reject + params->displace && view->waiting.calls > 0) {
        vars->victim = view->waiting.tail->state;
        if (vars->victim->expired)
            vars->victim = NULL; /* nothing more is heard of it */
        return policy_displace("displace");
    }
    return policy_admit();
}

static policy_time admitted(struct policy *self, const struct policy_view *view, struct policy_call *call)
{
    const struct params *params = self->params;
    struct vars *vars = self->vars;
    struct stats *stats = self->stats;
    struct call_memory *memory = memory_of(call);
    look_at_gate(self, view);
    CHECK(memory->stage == ASKING);
    move(self, memory, INSIDE, view->now);
    memory->joined = view->now;
    memory->expired = false;
    vars->asking = false;
    stats->admitted++;
    return chance(self, params->expire) ? some_wait(self) : 0;
}

static void refused(struct policy *self, const struct policy_view *view, struct policy_call *call,
                    const struct policy_answer *answer)
{
    const struct params *params = self->params;
    struct vars *vars = self->vars;
    struct call_memory *memory = memory_of(call);
    look_at_gate(self, view);
    CHECK(!params->alone);
    CHECK(answer->action == POLICY_HOLD || answer->action == POLICY_DEFER || answer->action == POLICY_REJECT);
    if (memory->stage != ASKING)
        asking(self, view, call);
    vars->asking = false;
    move(self, memory, answer->action == POLICY_HOLD && !call->last ? HELD : OVER, view->now);
}

static struct policy_answer start(struct policy *self, const struct policy_view *view, struct policy_call *call)
{
    const struct params *params = self->params;
    struct call_memory *memory = memory_of(call);
    look_at_gate(self, view);
    CHECK(memory->stage == INSIDE);
    CHECK(call->joined == memory->joined && call->started == POLICY_NONE);
    CHECK(view->servers == 0 || view->busy < view->servers);
    if (chance(self, params->shed)) {
        move(self, memory, SHEDDING, view->now);
        memory->told = chance(self, 0.5) ? some_wait(self) : POLICY_NONE;
        if (memory->told == POLICY_NONE && chance(self, 0.2))
            return policy_reject("shed");
        return policy_defer(memory->told, "shed");
    }
    move(self, memory, STARTED, view->now);
    return policy_admit();
}

static void check_end(const struct policy *self, const struct policy_call *call, const struct call_memory *memory,
                      const struct policy_outcome *outcome)
{
    const struct params *params = self->params;
    const struct vars *vars = self->vars;
    enum stage stage = memory->stage;
    /* Offered too often, a call is served unasked: then it is done without having started. */
    bool served = stage == STARTED || stage == INSIDE;
    CHECK(!memory->expired);
    if (outcome->end == POLICY_DONE)
        CHECK(outcome->output_tokens >= 0 && outcome->input_tokens >= outcome->cached_tokens);
    else
        CHECK(isnan(outcome->output_tokens) && isnan(outcome->input_tokens) && isnan(outcome->cached_tokens));
    CHECK(outcome->retry_after == (stage == SHEDDING ? memory->told : POLICY_NONE) || !params->alone);
    switch (outcome->end) {
    case POLICY_DONE:
    case POLICY_OVERLOAD:
    case POLICY_ERROR:
        CHECK(served && call->started != POLICY_NONE && call->started >= call->joined);
        break;
    case POLICY_SHED:
        CHECK(stage == SHEDDING || (served && !params->alone));
        CHECK(call->started == POLICY_NONE);
        break;
    case POLICY_DISPLACED:
        CHECK(stage == INSIDE && call->started == POLICY_NONE);
        CHECK(memory == vars->victim || !params->alone);
        break;
    case POLICY_TIMEOUT:
    case POLICY_ABANDONED:
        CHECK(stage == HELD || served || !params->alone);
        break;
    case POLICY_EXPIRED:
        CHECK(served);
        break;
    }
    CHECK(stage == HELD || stage == OVER || call->joined == memory->joined);
}

static policy_time finish(struct policy *self, const struct policy_view *view, struct policy_call *call,
                          const struct policy_outcome *outcome)
{
    const struct params *params = self->params;
    struct vars *vars = self->vars;
    struct stats *stats = self->stats;
    struct call_memory *memory = memory_of(call);
    enum policy_end end = outcome->end;
    look_at_gate(self, view);
    CHECK(!vars->asking || !params->alone);
    /* Its record had expired when another member took the attempt back: it has not heard of that. */
    if (memory->expired && !params->alone) {
        memory->expired = false;
        move(self, memory, HELD, view->now);
    }
    check_end(self, call, memory, outcome);
    if (memory == vars->victim)
        vars->victim = NULL;
    if (end == POLICY_EXPIRED) {
        memory->expired = true;
        stats->expired++;
        return POLICY_NONE;
    }
    move(self, memory, OVER, view->now);
    if (end == POLICY_DONE || end == POLICY_TIMEOUT || end == POLICY_ABANDONED || !chance(self, params->again))
        return POLICY_NONE;
    move(self, memory, HELD, view->now);
    return some_wait(self);
}

static void late(struct policy *self, const struct policy_view *view, struct policy_call *call,
                 const struct policy_outcome *outcome)
{
    struct call_memory *memory = memory_of(call);
    look_at_gate(self, view);
    CHECK(memory->expired && outcome->end != POLICY_EXPIRED);
}

/* Reads itself, and sets one of its own values to and fro. */
static void steer(struct policy *self, const struct policy_view *view)
{
    const struct params *params = self->params;
    struct vars *vars = self->vars;
    struct stats *stats = self->stats;
    double value = -1;
    CHECK(self->host->find(self, "nobody of this name", view->gate) == NULL);
    if (self->host->find(self, NAME, view->gate) != self)
        return;
    CHECK(self->host->get(self, self, "admitted", &value) && value == (double)stats->admitted);
    CHECK(vars->refreshed == view->now);
    CHECK(self->host->get(self, self, "inside", &value) && value == (double)vars->inside);
    CHECK(self->host->get(self, self, "wanted_hold", &value) && value == vars->wanted_hold);
    CHECK(self->host->get(self, self, "wait", &value) && value == (double)params->wait / (double)POLICY_SECOND);
    CHECK(!self->host->get(self, self, "nothing of this name", &value));
    CHECK(self->host->set(self, self, "nothing of this name", 1, "test") != NULL);
    CHECK(self->host->set(self, self, "period", 1, "test") != NULL); /* not live */
    CHECK(self->host->set(self, self, "hold", 2, "test") != NULL);   /* no share */
    CHECK(params->hold <= 1 && stats->changes == stats->sets);
    vars->wanted_hold = stats->ticks % 2 ? vars->first_hold : vars->first_hold / 2;
    stats->sets++;
    CHECK(self->host->set(self, self, "hold", vars->wanted_hold, "test") == NULL);
    CHECK(params->hold == vars->wanted_hold && stats->changes == stats->sets);
}

static policy_time tick(struct policy *self, const struct policy_view *view)
{
    const struct params *params = self->params;
    struct vars *vars = self->vars;
    struct stats *stats = self->stats;
    look_at_gate(self, view);
    CHECK(!vars->asking && (!vars->victim || !params->alone));
    look_at_gates(self, view);
    CHECK(view->now == vars->next_tick || (stats->ticks == 0 && !params->alone));
    if (params->alone && stats->expired == 0) {
        CHECK(vars->held == (int64_t)view->held.calls);
        CHECK(vars->inside == (int64_t)(view->waiting.calls + view->in_service));
    }
    steer(self, view);
    stats->ticks++;
    vars->next_tick = view->now + params->period;
    return vars->next_tick;
}

#if defined EXERCISER_FLOWS
static uint32_t flow(struct policy *self, const struct policy_view *view, struct policy_call *call)
{
    look_at_gate(self, view);
    CHECK(memory_of(call)->stage == INSIDE);
    return (uint32_t)(draw(self) * FLOWS);
}

static uint32_t pick(struct policy *self, const struct policy_view *view, const uint64_t *waiting_in_flow, bool *newest)
{
    uint64_t waiting = 0;
    uint32_t picked = (uint32_t)(draw(self) * FLOWS);
    look_at_gate(self, view);
    for (uint32_t i = 0; i < FLOWS; i++)
        waiting += waiting_in_flow[i];
    CHECK(waiting == view->waiting.calls && waiting > 0);
    CHECK(view->busy < view->servers);
    while (waiting_in_flow[picked] == 0)
        picked = (picked + 1) % FLOWS;
    *newest = chance(self, 0.5);
    return picked;
}
#elif !defined EXERCISER_PLAIN
static int64_t rank(struct policy *self, const struct policy_view *view, struct policy_call *call, bool held)
{
    const struct params *params = self->params;
    struct call_memory *memory = memory_of(call);
    look_at_gate(self, view);
    CHECK(memory->stage == (held ? HELD : INSIDE) || (held && !params->alone));
    move(self, memory, held ? HELD : INSIDE, view->now);
    return (int64_t)(draw(self) * 9) - 4;
}
#endif

#define SHARE(member, text) \
    { \
        .key = #member, .type = OPTION_SHARE, .offset = offsetof(struct params, member), .initial = text, \
        .live = true, .help = "the share of this answer" \
    }

static const struct option options[] = {
    SHARE(hold, "0.2"),
    SHARE(defer, "0.1"),
    SHARE(reject, "0.02"),
    SHARE(displace, "0.1"),
    SHARE(shed, "0.1"),
    SHARE(again, "0.5"),
    SHARE(expire, "0"),
    SHARE(run_hold, "0.2"),
    SHARE(run_defer, "0.1"),
    SHARE(run_reject, "0"),
    {.key = "wait",
     .type = OPTION_TIME,
     .offset = offsetof(struct params, wait),
     .initial = "2 s",
     .least = "1 ms",
     .most = "1 h",
     .live = true,
     .help = "the time in its answers, or half of it"},
    {.key = "period",
     .type = OPTION_TIME,
     .offset = offsetof(struct params, period),
     .initial = "10 s",
     .least = "1 ms",
     .most = "1 h",
     .help = "between wake-ups"},
    {.key = "alone",
     .type = OPTION_FLAG,
     .offset = offsetof(struct params, alone),
     .initial = "false",
     .help = "it is the only member of its chain, with one copy a gate"},
    {.key = NULL},
};

static const struct policy_gauge gauges[] = {
    {"admitted", POLICY_GAUGE_UINT64, true, offsetof(struct stats, admitted), "calls", "calls admitted so far"},
    {"inside", POLICY_GAUGE_INT64, false, offsetof(struct vars, inside), "calls", "calls admitted and not ended"},
    {"wanted_hold", POLICY_GAUGE_DOUBLE, false, offsetof(struct vars, wanted_hold), "", "the live value it has set"},
    {.name = NULL},
};

const struct policy_ops weir_policy = {
    POLICY_HEADER,
    .name = NAME,
    .summary = "uses everything, at random, and checks the host",
    .params = options,
    .gauges = gauges,
    .params_size = sizeof(struct params),
    .vars_size = sizeof(struct vars),
    .stats_size = sizeof(struct stats),
    .shared_size = sizeof(struct shared_memory),
    .call_size = sizeof(struct call_memory),
    .run_size = sizeof(struct run_memory),
    .agent_size = sizeof(struct owner),
    .class_size = sizeof(struct class_memory),
    .tenant_size = sizeof(struct owner),
    .check = check,
    .init = init,
    .changed = changed,
    .refresh = refresh,
    .run_admit = run_admit,
    .run_admitted = run_admitted,
    .run_refused = run_refused,
    .run_finish = run_finish,
    .admit = admit,
    .admitted = admitted,
    .refused = refused,
    .start = start,
    .finish = finish,
    .late = late,
    .tick = tick,
#if defined EXERCISER_FLOWS
    .flows = FLOWS,
    .flow = flow,
    .pick = pick,
#elif !defined EXERCISER_PLAIN
    .rank = rank,
#endif
};
