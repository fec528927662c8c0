/* How many agents a card with a memory carries. */
#include "models/memory_bounds.h"

#include <math.h>

#include "models/demand.h"
#include "models/memory_use.h"

/* Where the bounds cross: capacity (S + Z), S at the greatest speed, as in demand_knee. */
static double knee(const struct answers *answers, double prefill, double think)
{
    return demand_turns(answers, prefill) * (prefill + answers->fastest + think);
}

static const char *shortest(const struct memory_bounds *bounds)
{
    if (bounds->knee_slots <= fmax(bounds->contexts, bounds->knee_cold))
        return "slots";
    return bounds->contexts >= bounds->knee_cold ? "warm contexts" : "cold contexts";
}

bool memory_bounds_of(const struct scenario *scenario, size_t klass, struct memory_bounds *bounds)
{
    const struct agent_class *class = &scenario->classes[klass];
    const struct backend *backend = &scenario->backends[class->backend];
    double think = demand_think(class);
    struct memory_use use;
    struct answers slots, fitting;

    if (backend->kv == UINT64_MAX || backend->servers == 0 || backend->cards)
        return false;
    use = memory_use_of(class, backend);
    slots = demand_answers(class, backend, backend->servers);
    fitting = demand_answers(class, backend, use.at_once);
    *bounds = (struct memory_bounds){.contexts = use.contexts,
                                     .service_warm = use.prefill_warm + fitting.slowest,
                                     .service_cold = use.prefill_cold + fitting.slowest,
                                     .capacity_warm = demand_turns(&fitting, use.prefill_warm),
                                     .capacity_cold = demand_turns(&fitting, use.prefill_cold),
                                     .knee_slots = knee(&slots, use.prefill_warm, think),
                                     .knee_cold = knee(&fitting, use.prefill_cold, think)};
    bounds->binds = shortest(bounds);
    return true;
}
