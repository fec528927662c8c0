/* audit.h - the identities of every gate and the door, the operational laws, and flow balance, as equalities of whole
 * numbers; a broken one aborts. They prove the bookkeeping, not the model. Private to models/. */
#ifndef MODELS_AUDIT_H
#define MODELS_AUDIT_H

#include "models/world.h"

void world_audit(const struct world *world);

#endif
