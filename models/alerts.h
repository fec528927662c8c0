/* alerts.h - conditions that a scenario wants to be told of, as `alerts:` has them, at each gate or at one. Private to
 * models/.
 *
 * The age of a queue and its depth are looked at whenever they may have changed, and an alert by age is raised at the
 * very moment it comes true, if that instant ends with it: a call that is taken just when it is as old as it may be is
 * not too old, nor is a line too long that a server shortens at once. It is over when the condition is, and may come
 * again. A provider's 429 is an alert of its
 * own each time; while a policy limits what is sent to that pool, be it for other callers, it is another: the limiter
 * has let too much through, or somebody goes round it. They decide nothing: no other number depends on them. */
#ifndef MODELS_ALERTS_H
#define MODELS_ALERTS_H

#include "models/world.h"

/* Where the watch wants to hear of them. */
void alerts_begin(struct gate *gate);
/* Who is held or waiting at the gate has changed. */
void alerts_look(struct gate *gate);
/* The pool has refused a call. */
void alerts_overload(struct gate *gate);

#endif
