/* patience.h - how long the layers of a client above the innermost wait for a try; the innermost layer's patience is
 * the gate's affair. Each call has its own. Private to models/. */
#ifndef MODELS_PATIENCE_H
#define MODELS_PATIENCE_H

#include "models/world.h"

/* The tries of the layers up to `last` begin, or end, so nobody waits for them. */
void patience_begins(struct world *world, struct call *call, uint32_t last);
void patience_ends(struct world *world, struct call *call, uint32_t last);

/* The call goes on at another address; what was there has no patience of its own. */
void patience_moves(struct call *from, struct call *to);

#endif
