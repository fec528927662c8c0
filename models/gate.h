/* gate.h - the gate before a backend: attempts are admitted, held or refused; the admitted wait in one line and are
 * served. It counts everything; policies only answer. Private to models/. */
#ifndef MODELS_GATE_H
#define MODELS_GATE_H

#include "models/world.h"

void gate_init(struct gate *gate, struct world *world, uint32_t index);
void gate_fini(struct gate *gate);

/* The client makes an attempt of a call that is nowhere. */
void gate_attempt(struct call *call);

/* A layer of the client gives up on its try: whatever the call is doing ends. */
void gate_withdraw(struct call *call, uint32_t layer);

/* Servers are free: offer the waiting calls to them. */
void gate_serve(struct gate *gate);

/* Nobody wants the call any more: the same, and its client is not told. Returns what is to be given back. */
struct call *gate_abandon(struct call *call);

/* The backend has answered, or failed. */
void gate_answers(struct gate *gate, struct call *call, bool failed);

/* From the pool: idle, in no line; all else is left from before. */
struct call *call_make(struct world *world);
static inline struct call *call_take(struct world *world)
{
    struct call *call = world->free_calls;

    if (!call)
        return call_make(world);
    world->free_calls = call->next_free;
    return call;
}

static inline void call_give(struct world *world, struct call *call)
{
    WORLD_ASSERT(world, !call->kept && !event_pending(&call->next) && !event_pending(&call->timeout) &&
                            !event_pending(&call->spill) && !event_pending(&call->job.end) &&
                            !queue_holds(&call->line) && !queue_holds(&call->age) && !call->fan);
    call->agent = call->former = NULL;
    call->served = call->is_part = false;
    call->next_free = world->free_calls;
    world->free_calls = call;
}

/* The warm-up is over: integrals of the window begin here. */
void gate_window(struct gate *gate);

#endif
