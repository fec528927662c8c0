/* script - answers by the book, for trials worked out by hand: each place has a text with a letter an agent (the last
 * letter stands for all further agents), good for the first `times` attempts and from `from` up to `until`; outside of
 * that it admits.
 *
 * a admit, h hold, l hold until `last` is set, d defer, r reject, x displace; at the door also s,
 * which rejects runs of three turns and more, and t, a turnstile: one run inside at a time, and nobody for `rest` after
 * a run that ended undone. It ends the program when run_finish is called for a run that is not inside, or the door
 * shows it another number of held runs than there are. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policies/policy.h"

struct params {
    const char *door, *gate, *start;
    int64_t times;
    policy_time from, until, hold, after, rest;
};

struct vars {
    uint64_t inside, held;
    policy_time shut_until;
};

struct run_state {
    bool admitted, held;
};

static void expect(bool good, const char *what)
{
    if (good)
        return;
    fprintf(stderr, "script: %s\n", what);
    abort();
}

static char letter(const struct params *p, const char *text, policy_time now, uint32_t agent, uint32_t attempt)
{
    size_t length = strlen(text);

    if (attempt > p->times || now < p->from || now >= p->until)
        return 'a';
    return text[agent < length ? agent : length - 1];
}

static struct policy_answer answer(const struct params *p, char letter, bool last)
{
    switch (letter) {
    case 'h':
        return policy_hold(p->hold, "script");
    case 'l':
        return last ? policy_admit() : policy_hold(p->hold, "script");
    case 'd':
        return policy_defer(p->after > 0 ? p->after : POLICY_NONE, "script");
    case 'r':
        return policy_reject("script");
    case 'x':
        return policy_displace("script");
    default:
        return policy_admit();
    }
}

static struct policy_answer run_admit(struct policy *self, const struct policy_view *view, struct policy_run *run)
{
    const struct params *p = self->params;
    struct vars *v = self->vars;
    struct run_state *state = run->run_state;
    char said = letter(p, p->door, view->now, run->agent, run->attempt);
    bool shut = v->inside > 0 || view->now < v->shut_until;
    struct policy_answer told;
    bool holds;

    if (said == 't')
        said = shut ? 'h' : 'a';
    else if (said == 's')
        said = run->turns < 3 ? 'a' : 'r';
    told = answer(p, said, run->last);
    holds = told.action == POLICY_HOLD && !run->last;
    expect(!state->admitted, "a run that was admitted asks again");
    expect(view->held.calls == v->held || strcmp(p->door, "a") == 0, "the door counts other runs as held");
    v->held += (uint64_t)holds - (uint64_t)state->held;
    state->held = holds;
    state->admitted = told.action == POLICY_ADMIT;
    v->inside += state->admitted;
    return told;
}

static void run_withdrawn(struct policy *self, const struct policy_view *view, struct policy_run *run)
{
    struct vars *v = self->vars;
    struct run_state *state = run->run_state;

    expect(state->held && !state->admitted, "a run has gone that was not held");
    state->held = false;
    v->held--;
    expect(view->held.calls == v->held, "a run has gone that the door still counts as held");
}

static void run_finish(struct policy *self, const struct policy_view *view, struct policy_run *run, bool done)
{
    const struct params *p = self->params;
    struct vars *v = self->vars;
    struct run_state *state = run->run_state;

    expect(state->admitted, "a run has ended that is not inside");
    state->admitted = false;
    v->inside--;
    if (!done)
        v->shut_until = view->now + p->rest;
}

static struct policy_answer admit(struct policy *self, const struct policy_view *view, struct policy_call *call)
{
    const struct params *p = self->params;

    return answer(p, letter(p, p->gate, view->now, call->agent, call->attempt), call->last);
}

static struct policy_answer start(struct policy *self, const struct policy_view *view, struct policy_call *call)
{
    const struct params *p = self->params;

    return answer(p, letter(p, p->start, view->now, call->agent, call->attempt), call->last);
}

#define AT(member) .offset = offsetof(struct params, member)

static const struct option options[] = {
    {"door", OPTION_TEXT, AT(door), .initial = "a", .help = "a letter for each agent's runs"},
    {"gate", OPTION_TEXT, AT(gate), .initial = "a", .help = "a letter for each agent's attempts"},
    {"start", OPTION_TEXT, AT(start), .initial = "a", .help = "a letter for each agent when a server takes its call"},
    {"times", OPTION_COUNT, AT(times), .initial = "inf", .least = "1", .help = "attempts that the letters are for"},
    {"from", OPTION_TIME, AT(from), .initial = "0 s", .least = "0 s", .help = "when the letters begin to hold"},
    {"until", OPTION_TIME, AT(until), .initial = "inf", .least = "0 s", .help = "when they no longer do"},
    {"hold", OPTION_TIME, AT(hold), .initial = "1 s", .least = "1 ms", .help = "until it is asked again"},
    {"after", OPTION_TIME, AT(after), .initial = "0 s", .least = "0 s", .help = "the retry-after; 0: none"},
    {"rest", OPTION_TIME, AT(rest), .initial = "0 s", .least = "0 s", .help = "of the turnstile"},
    {.key = NULL},
};

const struct policy_ops weir_policy = {
    POLICY_HEADER,
    .name = "script",
    .summary = "answers by the letter",
    .params = options,
    .params_size = sizeof(struct params),
    .vars_size = sizeof(struct vars),
    .run_size = sizeof(struct run_state),
    .run_admit = run_admit,
    .run_withdrawn = run_withdrawn,
    .run_finish = run_finish,
    .admit = admit,
    .start = start,
};
