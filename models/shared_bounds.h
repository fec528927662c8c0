/* shared_bounds.h - closed classes that share the slots of a backend: what each gets, and how long it waits. */
#ifndef MODELS_SHARED_BOUNDS_H
#define MODELS_SHARED_BOUNDS_H

#include "models/scenario.h"

struct shared_bounds {
    double goodput, wait; /* of the class */
};

/* False: the class is alone, or not all that use its backend are populations without end whose service depends on
 * nothing, or there are too many states. */
bool shared_bounds_of(const struct scenario *scenario, size_t klass, struct shared_bounds *bounds);

#endif
