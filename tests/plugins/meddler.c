/* meddler - at one moment finds another member of its chain and sets or reads one of its values, as `does` says. For
 * tests of find, get and set: when the host answers anything but what is expected it ends the program. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policies/policy.h"

enum does { SET, REFUSED, READ, NO_KEY, NOBODY, BUSY, NO_GATE };

static const char *const doings[] = {
    [SET] = "set",       [REFUSED] = "refused", [READ] = "read",       [NO_KEY] = "no_key",
    [NOBODY] = "nobody", [BUSY] = "busy",       [NO_GATE] = "no_gate", NULL};

struct params {
    int does;
    const char *of, *key;
    double value, limit;
    int64_t gate;
    policy_time when;
};

struct vars {
    policy_time changed_at;
    double half; /* of the value when it was last changed */
};

struct stats {
    uint64_t changes;
};

_Noreturn static void fail(const struct params *p, const char *what, double value)
{
    fprintf(stderr, "meddler: %s of %s at gate %" PRId64 ": %s, %.17g\n", p->key, p->of, p->gate, what, value);
    abort();
}

static const char *check(const void *params)
{
    const struct params *p = params;

    return p->value > p->limit ? "value: expected at most the limit" : NULL;
}

static void changed(struct policy *self, policy_time now, const char *key, enum policy_setter by)
{
    const struct params *p = self->params;
    struct vars *v = self->vars;
    struct stats *s = self->stats;

    if (strcmp(key, "value") != 0 || by != POLICY_BY_POLICY)
        fail(p, key, p->value);
    v->changed_at = now;
    v->half = p->value / 2;
    s->changes++;
}

static void look(struct policy *self)
{
    const struct params *p = self->params;
    const struct policy_view *view = self->host->view(self, (uint32_t)p->gate);

    if (!view != (p->does == NO_GATE))
        fail(p, view ? "a view" : "no view", 0);
    if (view && (view->gate != p->gate || (double)view->busy != p->value))
        fail(p, "busy", (double)view->busy);
}

static void act(struct policy *self)
{
    const struct params *p = self->params;
    const struct policy_host *host = self->host;
    struct policy *of = host->find(self, p->of, (uint32_t)p->gate);
    const char *expected = NULL;
    double value = 0;

    if (!of != (p->does == NOBODY))
        fail(p, of ? "found" : "not found", 0);
    switch (p->does) {
    case SET:
    case REFUSED:
        expected = host->set(self, of, p->key, p->value, "a test");
        if (!expected != (p->does == SET))
            fail(p, expected ? expected : "was set", p->value);
        break;
    case READ:
        if (!host->get(self, of, p->key, &value) || value != p->value)
            fail(p, "read", value);
        break;
    case NO_KEY:
        if (host->get(self, of, p->key, &value))
            fail(p, "read what is not there", value);
        break;
    default:
        break;
    }
}

static policy_time tick(struct policy *self, const struct policy_view *view)
{
    const struct params *p = self->params;

    if (view->now < p->when)
        return p->when;
    if (p->does == BUSY || p->does == NO_GATE)
        look(self);
    else
        act(self);
    return POLICY_NONE;
}

#define AT(member) .offset = offsetof(struct params, member)

static const struct option options[] = {
    {"does", OPTION_CHOICE, AT(does), .initial = NULL, .choices = doings, .help = "what, and how it must end"},
    {"of", OPTION_TEXT, AT(of), .initial = "it", .help = "the other member"},
    {"key", OPTION_TEXT, AT(key), .initial = "value", .help = "its parameter or gauge"},
    {"value", OPTION_REAL, AT(value), .initial = "0", .least = "0", .live = true, .help = "to set, or to be read"},
    {"limit", OPTION_REAL, AT(limit), .initial = "1000000000000", .least = "0", .help = "of the value"},
    {"gate", OPTION_COUNT, AT(gate), .initial = "0", .least = "0", .help = "whose copy"},
    {"when", OPTION_TIME, AT(when), .initial = "0 s", .least = "0 s", .help = "the moment"},
    {.key = NULL},
};

static const struct policy_gauge gauges[] = {
    {.name = "changed_at",
     .type = POLICY_GAUGE_INT64,
     .offset = offsetof(struct vars, changed_at),
     .unit = "ns",
     .help = "when the value was last changed"},
    {.name = "half",
     .type = POLICY_GAUGE_DOUBLE,
     .offset = offsetof(struct vars, half),
     .unit = "",
     .help = "of the value it was changed to"},
    {.name = "changes",
     .type = POLICY_GAUGE_UINT64,
     .in_stats = true,
     .offset = offsetof(struct stats, changes),
     .unit = "",
     .help = "how often the value was changed"},
    {.name = NULL},
};

const struct policy_ops weir_policy = {
    POLICY_HEADER,
    .name = "meddler",
    .summary = "sets or reads a value of another member",
    .params = options,
    .gauges = gauges,
    .params_size = sizeof(struct params),
    .vars_size = sizeof(struct vars),
    .stats_size = sizeof(struct stats),
    .check = check,
    .changed = changed,
    .tick = tick,
};
