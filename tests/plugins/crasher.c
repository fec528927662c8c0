/* crasher - crashes by a choice of ways in a choice of callbacks. For tests of last words. */
#include <signal.h>
#include <stdlib.h>

#include "policies/policy.h"

enum how { WRONG_ADDRESS, WRONG_ARITHMETIC, ABORT };
enum in { IN_CHECK, IN_INIT, IN_CHANGED, IN_TICK, IN_RUN_ADMIT, IN_ADMIT, IN_RANK, IN_FINISH, NOWHERE };

struct params {
    int how, in;
    int64_t knob;
};

static void crash(const void *params, enum in in)
{
    const struct params *p = params;
    volatile uintptr_t address = 64; /* the compiler is not to see it */
    if (p->in != (int)in)
        return;
    switch (p->how) {
    case WRONG_ADDRESS:
        *(int *)address = 1;
        break;
    case WRONG_ARITHMETIC:
        raise(SIGFPE);
        break;
    default:
        abort();
    }
}

static const char *check(const void *params)
{
    crash(params, IN_CHECK);
    return NULL;
}

static void init(struct policy *self)
{
    crash(self->params, IN_INIT);
}

static void changed(struct policy *self, policy_time now, const char *key, enum policy_setter by)
{
    (void)now;
    (void)key;
    (void)by;
    crash(self->params, IN_CHANGED);
}

/* It sets its own knob: `changed` inside of `tick`, which then goes on. */
static policy_time tick(struct policy *self, const struct policy_view *view)
{
    self->host->set(self, self, "knob", 1, "test");
    crash(self->params, IN_TICK);
    return view->now + POLICY_SECOND;
}

static struct policy_answer run_admit(struct policy *self, const struct policy_view *view, struct policy_run *run)
{
    (void)view;
    (void)run;
    crash(self->params, IN_RUN_ADMIT);
    return policy_admit();
}

static struct policy_answer admit(struct policy *self, const struct policy_view *view, struct policy_call *call)
{
    (void)view;
    if (call->turn == 3)
        crash(self->params, IN_ADMIT);
    return policy_admit();
}

static int64_t rank(struct policy *self, const struct policy_view *view, struct policy_call *call, bool held)
{
    (void)view;
    (void)call;
    (void)held;
    crash(self->params, IN_RANK);
    return 0;
}

static policy_time finish(struct policy *self, const struct policy_view *view, struct policy_call *call,
                          const struct policy_outcome *outcome)
{
    (void)view;
    (void)call;
    (void)outcome;
    crash(self->params, IN_FINISH);
    return POLICY_NONE;
}

static const char *const hows[] = {
    [WRONG_ADDRESS] = "address", [WRONG_ARITHMETIC] = "arithmetic", [ABORT] = "abort", NULL};
static const char *const ins[] = {[IN_CHECK] = "check",         [IN_INIT] = "init",
                                  [IN_CHANGED] = "changed",     [IN_TICK] = "tick",
                                  [IN_RUN_ADMIT] = "run_admit", [IN_ADMIT] = "admit",
                                  [IN_RANK] = "rank",           [IN_FINISH] = "finish",
                                  [NOWHERE] = "nowhere",        NULL};

static const struct option options[] = {
    {.key = "how",
     .type = OPTION_CHOICE,
     .offset = offsetof(struct params, how),
     .initial = "address",
     .choices = hows,
     .help = "the way to crash"},
    {.key = "in",
     .type = OPTION_CHOICE,
     .offset = offsetof(struct params, in),
     .choices = ins,
     .help = "the callback to crash in"},
    {.key = "knob",
     .type = OPTION_COUNT,
     .offset = offsetof(struct params, knob),
     .initial = "0",
     .live = true,
     .help = "a value to set"},
    {.key = NULL},
};

const struct policy_ops weir_policy = {
    POLICY_HEADER,
    .name = "crasher",
    .summary = "crashes",
    .params = options,
    .params_size = sizeof(struct params),
    .check = check,
    .init = init,
    .changed = changed,
    .run_admit = run_admit,
    .admit = admit,
    .finish = finish,
    .tick = tick,
    .rank = rank,
};
