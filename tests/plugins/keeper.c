/* keeper - refuses now and then by what no policy may go by, as `by` says. For tests of `weir check --plugin`. */
#include <stdlib.h>
#include <time.h>

#include "policies/policy.h"

enum by { NOTHING, COUNTER, LAST_BEGUN, RANDOM, CLOCK, ADDRESS, NOBODY_AT_ALL, NOBODY_LATER };

static const char *const bys[] = {[NOTHING] = "nothing",
                                  [COUNTER] = "counter",
                                  [LAST_BEGUN] = "last_begun",
                                  [RANDOM] = "random",
                                  [CLOCK] = "clock",
                                  [ADDRESS] = "address",
                                  [NOBODY_AT_ALL] = "nobody_at_all",
                                  [NOBODY_LATER] = "nobody_later",
                                  NULL};

struct params {
    int by;
};

static unsigned counter, since_begun; /* the second is sound as long as copies come one after the other */
static const struct policy_call *first;

static void init(struct policy *self)
{
    (void)self;
    since_begun = 0;
}

static struct policy_answer defer_if(bool condition)
{
    return condition ? policy_defer(POLICY_SECOND, "kept") : policy_admit();
}

static struct policy_answer admit(struct policy *self, const struct policy_view *view, struct policy_call *call)
{
    const struct params *params = self->params;
    switch (params->by) {
    case COUNTER:
        return defer_if(++counter % 7 == 0);
    case LAST_BEGUN:
        return defer_if(++since_begun % 7 == 0);
    case RANDOM:
        return defer_if(rand() % 7 == 0);
    case CLOCK:
        return call->attempt > 1 ? policy_admit()
                                 : policy_defer(POLICY_SECOND + time(NULL) % 1000 * POLICY_LEAST, "clock");
    case ADDRESS:
        first = first ? first : call;
        return defer_if(call == first);
    case NOBODY_AT_ALL:
        return policy_defer(POLICY_NONE, "never");
    case NOBODY_LATER:
        return defer_if(view->now > 200 * POLICY_SECOND);
    default:
        return policy_admit();
    }
}

static const struct option options[] = {
    {.key = "by",
     .type = OPTION_CHOICE,
     .offset = offsetof(struct params, by),
     .initial = "nothing",
     .choices = bys,
     .help = "what it goes by"},
    {.key = NULL},
};

const struct policy_ops weir_policy = {
    POLICY_HEADER,
    .name = "keeper",
    .summary = "refuses by what no policy may go by",
    .params = options,
    .params_size = sizeof(struct params),
    .init = init,
    .admit = admit,
};
