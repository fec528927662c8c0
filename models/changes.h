/* changes.h - the timeline of a replication: each of the scenario's changes is an event of the calendar.
 *
 * They are scheduled before everything else, so a change comes before all other events of its instant, the begin of the
 * replication included, and changes of one instant in the order in which they are written. Private to models/. */
#ifndef MODELS_CHANGES_H
#define MODELS_CHANGES_H

#include "models/world.h"

/* Before anything else is scheduled. */
void changes_begin(struct world *world);

#endif
