/* porter - gives every run that asks at the door the same answer, and rejects those that are not announced as told. For
 * tests of the door. */
#include "policies/policy.h"

enum answer { ADMIT, HOLD, DEFER, REJECT };

struct params {
    int answer;
    double turns, tokens;
};

static const char *const answers[] = {"admit", "hold", "defer", "reject", NULL};

static const struct option params[] = {
    {.key = "answer",
     .type = OPTION_CHOICE,
     .offset = offsetof(struct params, answer),
     .initial = "admit",
     .choices = answers,
     .help = "what it answers; held runs ask again after 10 s"},
    {.key = "turns",
     .type = OPTION_REAL,
     .offset = offsetof(struct params, turns),
     .initial = "0",
     .help = "of every run, as announced; 0: any"},
    {.key = "tokens",
     .type = OPTION_REAL,
     .offset = offsetof(struct params, tokens),
     .initial = "0",
     .help = "output of every run, as announced; 0: any"},
    {.key = NULL},
};

static struct policy_answer run_admit(struct policy *self, const struct policy_view *view, struct policy_run *run)
{
    const struct params *p = self->params;

    (void)view;
    if ((p->turns != 0 && p->turns != run->turns) || (p->tokens != 0 && p->tokens != run->output_tokens))
        return policy_reject("not as told");
    switch (p->answer) {
    case HOLD:
        return policy_hold(INT64_C(10000000000), "held");
    case DEFER:
        return policy_defer(POLICY_NONE, "deferred");
    case REJECT:
        return policy_reject("rejected");
    default:
        return policy_admit();
    }
}

const struct policy_ops weir_policy = {
    POLICY_HEADER,
    .name = "porter",
    .summary = "gives every run the same answer",
    .params = params,
    .params_size = sizeof(struct params),
    .run_admit = run_admit,
};
