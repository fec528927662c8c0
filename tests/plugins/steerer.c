/* steerer - two members of this policy in one chain, `hand` and `puppet`: the hand finds the puppet's copy of every
 * gate and steers it; the puppet admits nobody before it has been steered as its gate, and whom the scope divides by,
 * demand. A broken promise of the host ends the program. */
#include <stdio.h>
#include <stdlib.h>

#include "policies/policy.h"

enum by { BY_ALL, BY_GATE, BY_CLASS, BY_TENANT, BY_AGENT };

struct params {
    int by;         /* the scope it stands in */
    int64_t absent; /* the number, from 1, of a gate where the puppet does not stand; 0: it is everywhere */
    bool puppet;
    int64_t mark, most;
};

struct vars {
    uint64_t changes;
};

#define CHECK(condition) ((condition) ? (void)0 : broken(__LINE__, #condition))

static void broken(int line, const char *condition)
{
    fprintf(stderr, "steerer: line %d: this does not hold: %s\n", line, condition);
    abort();
}

static const char *check(const void *params)
{
    const struct params *p = params;
    return p->mark > p->most ? "a mark of at most `most`" : NULL;
}

static void changed(struct policy *self, policy_time now, const char *key, enum policy_setter by)
{
    struct vars *vars = self->vars;
    (void)now;
    (void)key;
    (void)by;
    CHECK(self->host->view(self, 0) != NULL); /* binds memory of its own, which the asker must not see */
    vars->changes++;
}

/* The mark of the copy that serves the call at a gate. */
static double mark_of(const struct params *params, uint32_t gate, const struct policy_call *call)
{
    double mark = params->by == BY_ALL ? 1 : 1 + gate;
    switch (params->by) {
    case BY_CLASS:
        return mark + 10 * (1.0 + call->klass);
    case BY_TENANT:
        return mark + 10 * (1.0 + call->tenant);
    case BY_AGENT:
        return mark + 10 * (1.0 + call->klass) + 100 * (1.0 + call->agent);
    default:
        return mark;
    }
}

static void steer(struct policy *self, uint32_t gate, const struct policy_call *call)
{
    const struct params *params = self->params;
    struct policy *puppet = self->host->find(self, "puppet", gate);
    double mark = mark_of(params, gate, call), seen = -1;
    const void *state = call->state;
    CHECK((puppet == NULL) == (params->absent == (int64_t)gate + 1));
    if (!puppet)
        return;
    CHECK(puppet != self);
    CHECK(self->host->get(self, puppet, "mark", &seen) && (seen == 0 || seen == mark));
    CHECK(self->host->set(self, puppet, "mark", mark, "test") == NULL);
    CHECK(self->host->get(self, puppet, "mark", &seen) && seen == mark);
    CHECK(self->host->set(self, puppet, "mark", 1e9, "test") != NULL); /* its check */
    CHECK(self->host->get(self, puppet, "mark", &seen) && seen == mark);
    CHECK(self->host->get(self, puppet, "changes", &seen) && seen > 0);
    CHECK(call->state == state);
}

static struct policy_answer admit(struct policy *self, const struct policy_view *view, struct policy_call *call)
{
    const struct params *params = self->params;
    uint64_t *whose = call->state;
    CHECK(*whose == 0 || *whose == 1 + (uint64_t)params->puppet);
    *whose = 1 + (uint64_t)params->puppet;
    for (uint32_t gate = 0; !params->puppet && self->host->view(self, gate); gate++)
        steer(self, gate, call);
    CHECK(self->host->find(self, "puppet", 1000) == NULL && self->host->view(self, 1000) == NULL);
    for (size_t i = 0; i < 2; i++) {
        const struct policy_call *seen = i == 0 ? view->waiting.head : view->held.head;
        CHECK(seen == NULL || *(uint64_t *)seen->state == 1 + (uint64_t)params->puppet);
    }
    if (params->puppet)
        CHECK((double)params->mark == mark_of(params, view->gate, call));
    return view->waiting.calls > 2 ? policy_hold(POLICY_SECOND, "line") : policy_admit();
}

static const char *const bys[] = {
    [BY_ALL] = "all", [BY_GATE] = "gate", [BY_CLASS] = "class", [BY_TENANT] = "tenant", [BY_AGENT] = "agent", NULL};

static const struct option options[] = {
    {.key = "by",
     .type = OPTION_CHOICE,
     .offset = offsetof(struct params, by),
     .choices = bys,
     .help = "the scope it stands in"},
    {.key = "absent",
     .type = OPTION_COUNT,
     .offset = offsetof(struct params, absent),
     .initial = "0",
     .least = "0",
     .help = "the number, from 1, of a gate where the puppet does not stand; 0: none"},
    {.key = "puppet",
     .type = OPTION_FLAG,
     .offset = offsetof(struct params, puppet),
     .initial = "false",
     .help = "it is steered, else it steers"},
    {.key = "mark",
     .type = OPTION_COUNT,
     .offset = offsetof(struct params, mark),
     .initial = "0",
     .live = true,
     .help = "what the hand sets"},
    {.key = "most",
     .type = OPTION_COUNT,
     .offset = offsetof(struct params, most),
     .initial = "1M",
     .help = "the largest mark"},
    {.key = NULL},
};

static const struct policy_gauge gauges[] = {
    {"changes", POLICY_GAUGE_UINT64, false, offsetof(struct vars, changes), "", "how often it was steered"},
    {.name = NULL},
};

const struct policy_ops weir_policy = {
    POLICY_HEADER,
    .name = "steerer",
    .summary = "steers another member, and holds the host to what it promises about that",
    .params = options,
    .gauges = gauges,
    .params_size = sizeof(struct params),
    .vars_size = sizeof(struct vars),
    .call_size = sizeof(uint64_t),
    .check = check,
    .changed = changed,
    .admit = admit,
};
