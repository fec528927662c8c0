/* taken.c - what taken.h says. */
#include "tests/taken.h"

#include <check.h>
#include <stdlib.h>

#include "models/metrics.h"
#include "models/trial.h"

struct taken taken_calls[TAKEN_MOST];
size_t taken_count, taken_starts;
struct taken_event taken_events[2 * TAKEN_MOST];
size_t taken_event_count;

static size_t serving[TAKEN_CLASSES][TAKEN_AGENTS]; /* each agent's call in service */

static void write_call(const struct policy_call *call, policy_time started)
{
    ck_assert(taken_count < TAKEN_MOST);
    taken_calls[taken_count++] = (struct taken){.klass = call->klass,
                                                .tenant = call->tenant,
                                                .agent = call->agent,
                                                .tokens = call->input_tokens + call->output_tokens,
                                                .score = call->input_tokens + 2 * call->output_tokens,
                                                .joined = call->joined,
                                                .started = started,
                                                .deadline = call->deadline,
                                                .finished = POLICY_NONE,
                                                .order = started == POLICY_NONE ? TAKEN_NEVER : (int)taken_starts++};
}

static void call_starts(void *context, const struct policy_call *call, uint32_t gate, sim_time service)
{
    (void)context;
    (void)gate;
    (void)service;
    ck_assert(call->klass < TAKEN_CLASSES);
    write_call(call, call->started);
    if (call->agent < TAKEN_AGENTS)
        serving[call->klass][call->agent] = taken_count - 1;
    taken_events[taken_event_count++] = (struct taken_event){true, taken_count - 1};
}

/* Ends of agents beyond those that there is room for are not kept. */
static void call_ends(void *context, const struct attempt_record *record)
{
    const struct policy_call *call = record->call;
    (void)context;
    if (record->verdict == ATTEMPT_UNFINISHED && call->joined != POLICY_NONE && call->started == POLICY_NONE)
        write_call(call, POLICY_NONE);
    if (record->verdict != ATTEMPT_ANSWERED || call->agent >= TAKEN_AGENTS)
        return;
    size_t served = serving[call->klass][call->agent];
    taken_calls[served].finished = record->finished;
    taken_events[taken_event_count++] = (struct taken_event){false, served};
}

void taken_keep(const struct plan *plan, size_t point)
{
    static double values[METRIC_COUNT * 64];
    char wrong[512] = "";
    struct trial_watch watch = {
        .started = call_starts, .attempted = call_ends, .wrong = wrong, .wrong_size = sizeof wrong};
    ck_assert(trial_row_count(plan->points[point].scenario) <= 64);
    taken_count = taken_starts = taken_event_count = 0;
    ck_assert_msg(trial_simulate(plan->points[point].scenario, 1, &watch, values) == TRIAL_ENDED, "%s", wrong);
    ck_assert(taken_starts > 1000);
}

static int by_joining(const void *a, const void *b)
{
    const struct taken *x = &taken_calls[*(const size_t *)a], *y = &taken_calls[*(const size_t *)b];
    return x->joined != y->joined ? (x->joined > y->joined) - (x->joined < y->joined)
                                  : (x->order > y->order) - (x->order < y->order);
}

void taken_by_joining(size_t *joining)
{
    for (size_t i = 0; i < taken_count; i++)
        joining[i] = i;
    qsort(joining, taken_count, sizeof *joining, by_joining);
}
