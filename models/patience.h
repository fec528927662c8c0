/* patience.h - how long the layers of a client above the innermost wait for a try; the innermost layer's patience is
 * the gate's affair. Each call has its own. Private to models/. */
#ifndef MODELS_PATIENCE_H
#define MODELS_PATIENCE_H

#include "models/world.h"

/* The tries of the layers up to `last` begin, or end, so nobody waits for them. */
void patience_begins_else(struct world *world, struct call *call, uint32_t last);
void patience_ends_else(struct world *world, struct call *call, uint32_t last);

static inline bool patience_is_known(const struct world *world, const struct call *call)
{
    return world->classes[call->facts.klass].spec->client.layer_count > 1;
}

static inline void patience_begins(struct world *world, struct call *call, uint32_t last)
{
    if (patience_is_known(world, call))
        patience_begins_else(world, call, last);
}

static inline void patience_ends(struct world *world, struct call *call, uint32_t last)
{
    if (patience_is_known(world, call))
        patience_ends_else(world, call, last);
}

/* The call goes on at another address; what was there has no patience of its own. */
void patience_moves(struct call *from, struct call *to);

#endif
