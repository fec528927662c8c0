/* Records of attempts, made from what the call says at its end. */
#include "models/attempt.h"

#include <stdlib.h>

const char *const attempt_verdicts[ATTEMPT_VERDICTS] = {
    [ATTEMPT_ANSWERED] = "answered",
    [ATTEMPT_DEFERRED] = "deferred",
    [ATTEMPT_REJECTED] = "rejected",
    [ATTEMPT_HOLD_EXPIRED] = "hold_expired",
    [ATTEMPT_SHED] = "shed",
    [ATTEMPT_DISPLACED] = "displaced",
    [ATTEMPT_OVERLOAD] = "overload",
    [ATTEMPT_ERROR] = "error",
    [ATTEMPT_TIMEOUT] = "timeout",
    [ATTEMPT_ABANDONED] = "abandoned",
    [ATTEMPT_UNFINISHED] = "unfinished",
};

void attempt_tell(const struct gate *gate, const struct call *call, enum attempt_verdict verdict, const char *reason)
{
    const struct trial_watch *watch = gate->world->watch;
    struct attempt_record record = {
        .call = &call->facts,
        .part = call->is_part ? (int64_t)call->part : -1,
        .gate = gate->index,
        .verdict = verdict,
        .reason = reason,
        .finished = verdict == ATTEMPT_UNFINISHED ? POLICY_NONE : world_now(gate->world),
    };

    watch->attempted(watch->context, &record);
}

static bool unfinished(const struct call *call)
{
    return call->agent && call->place != CALL_BACKING_OFF;
}

/* An agent has one call, or parts with their numbers, so no two are equal. */
static int by_submission(const void *one, const void *other)
{
    const struct call *first = *(const struct call *const *)one, *second = *(const struct call *const *)other;
    const struct policy_call *a = &first->facts, *b = &second->facts;

    if (a->attempted != b->attempted)
        return a->attempted < b->attempted ? -1 : 1;
    if (a->klass != b->klass)
        return a->klass < b->klass ? -1 : 1;
    if (a->agent != b->agent)
        return a->agent < b->agent ? -1 : 1;
    return first->part < second->part ? -1 : 1;
}

void attempts_unfinished(struct world *world)
{
    const struct call **calls;
    size_t count = 0;

    if (!world->watch || !world->watch->attempted)
        return;
    calls = arena_zeroed(&world->arena, world->agents_calling + world->parts_open, sizeof *calls);
    for (const struct call *call = world->calls; call; call = call->next_of_all)
        if (unfinished(call))
            calls[count++] = call;
    if (count > 0)
        qsort(calls, count, sizeof *calls, by_submission);
    for (size_t i = 0; i < count; i++)
        attempt_tell(calls[i]->gate, calls[i], ATTEMPT_UNFINISHED, NULL);
}
