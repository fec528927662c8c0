/* companion - for scope `agent`: it leaves something in every place that a copy has, and ends the program when it finds
 * what another agent left there. It rejects a call with the probability one half. For tests of copies that come and go
 * with their agents. */
#include <stdio.h>
#include <stdlib.h>

#include "policies/policy.h"

#define PERIOD INT64_C(60000000000) /* one minute */

struct params {
    double mark; /* 1: in use */
};

struct state {
    bool begun;
    uint64_t agent; /* plus one; 0: none yet */
};

static const struct option params[] = {
    {.key = "mark",
     .type = OPTION_REAL,
     .offset = offsetof(struct params, mark),
     .initial = "0",
     .live = true,
     .help = "not to be set"},
    {.key = NULL},
};

static void expect(bool condition, const char *what)
{
    if (condition)
        return;
    fprintf(stderr, "companion: %s\n", what);
    abort();
}

static void init(struct policy *self)
{
    struct state *vars = self->vars, *stats = self->stats;

    expect(!vars->begun && !stats->begun, "begun twice, or with another's memory");
    expect(!self->shared, "memory to share that nobody asked for");
    vars->begun = stats->begun = true;
}

static struct policy_answer admit(struct policy *self, const struct policy_view *view, struct policy_call *call)
{
    const struct params *p = self->params;
    struct state *vars = self->vars, *stats = self->stats;
    uint64_t agent = (uint64_t)call->agent + 1;
    bool new = vars->agent == 0;

    (void)view;
    expect(vars->begun && stats->begun, "not begun");
    expect(vars->agent == stats->agent && (new || vars->agent == agent), "another's memory");
    expect(p->mark == (new ? 0 : 1), "another's parameters");
    vars->agent = stats->agent = agent;
    if (new)
        expect(!self->host->set(self, self, "mark", 1, "in use"), "cannot be set");
    return self->host->uniform(self) < 0.5 ? policy_reject("by chance") : policy_admit();
}

static policy_time tick(struct policy *self, const struct policy_view *view)
{
    const struct state *vars = self->vars;

    expect(vars->begun, "woken before it began");
    return view->now + PERIOD;
}

const struct policy_ops weir_policy = {
    POLICY_HEADER,
    .name = "companion",
    .summary = "rejects half of the calls; ends the program when it finds another agent's memory",
    .params = params,
    .params_size = sizeof(struct params),
    .vars_size = sizeof(struct state),
    .stats_size = sizeof(struct state),
    .init = init,
    .admit = admit,
    .tick = tick,
};
