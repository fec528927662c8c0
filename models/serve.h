/* serve.h - what stands behind a gate: servers with or without a memory, or a metered pool. Private to models/. The
 * gate decides who is next; this takes a call, and tells the gate of its end (gate_answers). */
#ifndef MODELS_SERVE_H
#define MODELS_SERVE_H

#include "models/world.h"

void serve_init(struct gate *gate);
void serve_fini(struct gate *gate);

/* Would it take this call now? A pool takes every call, be it to refuse it. */
bool serve_ready_else(const struct gate *gate, const struct call *call);
static inline bool serve_ready(const struct gate *gate, const struct call *call)
{
    return gate->plain ? station_idle(&gate->station) > 0 : serve_ready_else(gate, call);
}

/* Takes a call that it is ready for. False: the pool refuses it. */
bool serve_call_else(struct gate *gate, struct call *call, struct provider_refusal *refusal);
static inline bool serve_call(struct gate *gate, struct call *call, struct provider_refusal *refusal)
{
    if (!gate->plain)
        return serve_call_else(gate, call, refusal);
    call->cached = call->facts.cached_tokens;
    station_start(&gate->station, &call->job, call->service, call->work);
    return true;
}

/* The client leaves a call in service: `alive` is its call from now on, nobody's work goes on. */
void serve_abandon(struct call *call, struct call *alive);

#endif
