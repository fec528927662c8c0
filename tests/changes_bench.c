#include "tests/changes_bench.h"

#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "policies/registry.h"
#include "sim/io/mem.h"

/* --- a policy that writes down what it is told ---------------------------------------------------------------------
 */

struct keeper_params {
    double level, most;
    int mode;
    int64_t others; /* sets `level` of the copy at gate 0 to this at its first tick after `when`, if above 0 */
    policy_time when;
};

struct keeper_vars {
    double at_begin;   /* level when the copy began */
    int64_t operators; /* how often the operator set something, and a policy */
    int64_t policies;
    int64_t last; /* when, in ns */
};

static const char *keeper_check(const void *params)
{
    const struct keeper_params *p = params;

    return p->level > p->most ? "level: expected at most `most`" : NULL;
}

static void keeper_init(struct policy *self)
{
    ((struct keeper_vars *)self->vars)->at_begin = ((const struct keeper_params *)self->params)->level;
}

static void keeper_changed(struct policy *self, policy_time now, const char *key, enum policy_setter by)
{
    struct keeper_vars *v = self->vars;

    ck_assert(strcmp(key, "level") == 0 || strcmp(key, "most") == 0 || strcmp(key, "mode") == 0);
    v->operators += by == POLICY_BY_OPERATOR;
    v->policies += by == POLICY_BY_POLICY;
    v->last = now;
}

static policy_time keeper_tick(struct policy *self, const struct policy_view *view)
{
    const struct keeper_params *p = self->params;

    if (p->others == 0)
        return POLICY_NONE;
    if (view->now < p->when)
        return p->when;
    self->host->set(self, self->host->find(self, "keeper", 0), "level", (double)p->others, "as it must");
    return POLICY_NONE;
}

static struct policy_answer keeper_admit(struct policy *self, const struct policy_view *view, struct policy_call *call)
{
    (void)self;
    (void)view;
    (void)call;
    return policy_admit();
}

static const char *const keeper_modes[] = {"up", "down", NULL};
static const struct option keeper_options[] = {
    {"level", OPTION_REAL, offsetof(struct keeper_params, level), .initial = "1", .live = true, .help = "a number"},
    {"most", OPTION_REAL, offsetof(struct keeper_params, most), .initial = "100", .live = true, .help = "of level"},
    {"mode", OPTION_CHOICE, offsetof(struct keeper_params, mode), .initial = "up", .choices = keeper_modes,
     .live = true, .help = "a choice"},
    {"others", OPTION_COUNT, offsetof(struct keeper_params, others), .initial = "0", .help = "to set"},
    {"when", OPTION_TIME, offsetof(struct keeper_params, when), .initial = "0 s", .help = "to set it"},
    {.key = NULL},
};
static const struct policy_gauge keeper_gauges[] = {
    {"at_begin", POLICY_GAUGE_DOUBLE, false, offsetof(struct keeper_vars, at_begin), "", "level at the begin"},
    {"operators", POLICY_GAUGE_INT64, false, offsetof(struct keeper_vars, operators), "", "sets of the operator"},
    {"policies", POLICY_GAUGE_INT64, false, offsetof(struct keeper_vars, policies), "", "sets of policies"},
    {"last", POLICY_GAUGE_INT64, false, offsetof(struct keeper_vars, last), "ns", "when it was set last"},
    {.name = NULL},
};
static const struct policy_ops keeper = {
    POLICY_HEADER,
    .name = "keeper",
    .summary = "writes down what it is told",
    .params = keeper_options,
    .gauges = keeper_gauges,
    .params_size = sizeof(struct keeper_params),
    .vars_size = sizeof(struct keeper_vars),
    .check = keeper_check,
    .init = keeper_init,
    .changed = keeper_changed,
    .tick = keeper_tick,
    .admit = keeper_admit,
};

/* --- what a trial tells ------------------------------------------------------------------------------------------- */

static void hear_set(void *context, const struct set_record *record)
{
    struct heard *heard = context;
    char agent[24] = "";

    if (record->copy.agent >= 0)
        snprintf(agent, sizeof agent, ".%" PRId64, record->copy.agent);
    heard->length += (size_t)snprintf(heard->sets + heard->length, sizeof heard->sets - heard->length,
                                      "%g %s [%s/%s%s] %s -> %s by %s (%s)\n", sim_seconds(record->at), record->key,
                                      record->copy.gate, record->copy.whose, agent, record->old, record->now,
                                      record->by, record->reason);
    ck_assert_uint_lt(heard->length, sizeof heard->sets);
}

static void hear_attempt(void *context, const struct attempt_record *record)
{
    struct heard *heard = context;

    if (heard->count == heard->room) {
        heard->room = heard->room ? 2 * heard->room : 1024;
        heard->attempts = mem_resized(heard->attempts, heard->room, sizeof *heard->attempts);
    }
    heard->attempts[heard->count++] =
        (struct attempt){record->call->klass, record->call->agent,     record->call->run,
                         record->call->turn,  record->call->attempted, record->call->output_tokens};
}

static enum trial_end listen(const struct plan *plan, struct heard *heard)
{
    struct trial_watch watch = {.wrong = heard->wrong,
                                .wrong_size = sizeof heard->wrong,
                                .set = hear_set,
                                .attempted = hear_attempt,
                                .events = &heard->events,
                                .context = heard};

    return trial_simulate(plan->points[0].scenario, 1, &watch, heard->values);
}

struct heard heard_of(const char *yaml)
{
    const struct policy_ops *policies[64] = {&keeper};
    struct heard heard = {.length = 0};
    struct plan plan;
    size_t count = 1;

    for (size_t i = 0; policy_registry[i]; i++)
        policies[count++] = policy_registry[i];
    plan = model_plan_of(yaml, policies);
    if (listen(&plan, &heard) != TRIAL_WRONG)
        ck_assert_str_eq(heard.wrong, "");
    plan_fini(&plan);
    return heard;
}

struct heard heard_with(const char *scenario, const char *changes)
{
    struct arena arena = {0};
    struct heard heard = heard_of(arena_format(&arena, "%schanges: [%s]\n", scenario, changes));

    arena_free(&arena);
    return heard;
}

void same_values(const struct heard *one, const struct heard *other)
{
    ck_assert_mem_eq(one->values, other->values, sizeof one->values);
    ck_assert_uint_eq(one->count, other->count);
    ck_assert_mem_eq(one->attempts, other->attempts, one->count * sizeof *one->attempts);
}
