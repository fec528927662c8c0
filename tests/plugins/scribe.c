/* scribe - writes a row at each tick, and one for each call that asks: for tests of logs of decisions. Every third tick
 * it sets its own level. With `word` it writes that index in place of a word's, whether there is such a word or not. */
#include <math.h>

#include "policies/policy.h"

struct params {
    policy_time every;
    int64_t word;
    double level;
    bool asks;
};

struct vars {
    int64_t ticks;
};

enum { MODE, IN_SERVICE, LEVEL, PART, COLUMNS };

static const char *const modes[] = {"tick", "up, slowly", "call", NULL};

static void write_row(struct policy *self, const struct policy_view *view, int mode)
{
    const struct params *p = self->params;
    const struct vars *v = self->vars;
    double values[COLUMNS] = {mode, (double)view->in_service, p->level, (double)v->ticks / 3};

    if (v->ticks % 2 == 0)
        values[PART] = NAN;
    if (p->word != INT64_MAX)
        values[MODE] = (double)p->word;
    self->host->row(self, values);
}

static policy_time tick(struct policy *self, const struct policy_view *view)
{
    const struct params *p = self->params;
    struct vars *v = self->vars;

    v->ticks++;
    if (v->ticks % 3 == 0)
        self->host->set(self, self, "level", p->level + 0.5, "its third, \"again\"");
    write_row(self, view, v->ticks % 3 == 0);
    return view->now + p->every;
}

static struct policy_answer admit(struct policy *self, const struct policy_view *view, struct policy_call *call)
{
    const struct params *p = self->params;

    (void)call;
    if (p->asks)
        write_row(self, view, 2);
    return policy_admit();
}

#define AT(member) .offset = offsetof(struct params, member)

static const struct option options[] = {
    {"every", OPTION_TIME, AT(every), .initial = "1 s", .least = "1 ms", .help = "between ticks"},
    {"word", OPTION_COUNT, AT(word), .initial = "inf", .help = "index to write"},
    {"level", OPTION_REAL, AT(level), .initial = "1", .live = true, .help = "a number"},
    {"asks", OPTION_FLAG, AT(asks), .initial = "false", .help = "a row for each call too"},
    {.key = NULL},
};

static const struct policy_column columns[] = {
    [MODE] = {"mode", "", "what it is", modes},
    [IN_SERVICE] = {"in_service", "calls", "calls in service", NULL},
    [LEVEL] = {"level", "", "its level", NULL},
    [PART] = {"part", "1/3", "ticks in threes, of odd ones", NULL},
    [COLUMNS] = {.name = NULL},
};

const struct policy_ops weir_policy = {
    POLICY_HEADER,
    .name = "scribe",
    .summary = "writes down what it sees",
    .params = options,
    .columns = columns,
    .params_size = sizeof(struct params),
    .vars_size = sizeof(struct vars),
    .tick = tick,
    .admit = admit,
};
