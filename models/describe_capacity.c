/* What `weir check` says of a class and its pool together: memory, capacity, the knee, and what all who share the pool
 * ask of it. */
#include <math.h>

#include "models/demand.h"
#include "models/describe_private.h"
#include "models/memory_bounds.h"
#include "models/memory_use.h"

/* What the backend's memory, and its time to read, mean to a class. */
void say_memory(struct speaker *speaker, const struct agent_class *class, const struct backend *backend)
{
    struct arena *arena = &speaker->arena;
    const struct memory_use use = memory_use_of(class, backend);
    if (isfinite(use.contexts))
        say(speaker, arena_format(arena, "%s on %s: kv holds %s contexts of the mean size, %s tokens", class->name,
                                  backend->name, say_digits(arena, use.contexts), say_digits(arena, use.context)));
    if (use.prefill_cold > 0)
        say(speaker, arena_format(arena,
                                  "%s on %s: prefill takes %s s for the new part of the mean input, and %s s for the "
                                  "whole of it",
                                  class->name, backend->name, say_digits(arena, use.prefill_warm),
                                  say_digits(arena, use.prefill_cold)));
}

/* Past what the memory keeps, the knee of kept contexts is past the cliff. */
static void say_cold(struct speaker *speaker, const struct scenario *scenario, size_t index)
{
    const struct agent_class *class = &scenario->classes[index];
    struct memory_bounds bounds;
    if (!memory_bounds_of(scenario, index, &bounds) || class->source != SOURCE_POPULATION ||
        bounds.contexts >= bounds.knee_slots || bounds.service_cold <= bounds.service_warm)
        return;
    say(speaker,
        arena_format(&speaker->arena,
                     "%s on %s: more than %s agents cannot all keep their contexts; where all are gone the "
                     "capacity is %s turns/s",
                     class->name, scenario->backends[class->backend].name, say_digits(&speaker->arena, bounds.contexts),
                     say_digits(&speaker->arena, bounds.capacity_cold)));
}

void say_capacity(struct speaker *speaker, const struct scenario *scenario, size_t index)
{
    const struct agent_class *class = &scenario->classes[index];
    const struct backend *backend = &scenario->backends[class->backend];
    struct arena *arena = &speaker->arena;
    const struct demand demand = demand_of(scenario, index);
    if (!(demand.service > 0) || isinf(demand.service))
        return;
    if (backend->provider) {
        say(speaker, arena_format(arena, "%s on %s: an answer takes %s s on average", class->name, backend->name,
                                  say_digits(arena, demand.service)));
        return;
    }
    const char *alone = demand_alone(scenario, index) ? "" : " if it is alone there";
    const char *kept = demand.service_most > demand.service ? " while contexts are kept" : "";
    const char *busy = demand.busy_most < demand.servers
                           ? arena_format(arena, "%s slots", say_digits(arena, demand.busy_most))
                           : "all slots";
    const char *parts =
        demand.parts > 0 ? arena_format(arena, ", of %s parts too", say_digits(arena, demand.parts)) : "";
    const char *greatest = !backend->service && !backend->constant
                               ? arena_format(arena, " with %s busy and %s s at the greatest speed", busy,
                                              say_digits(arena, demand.service_least))
                               : "";
    say(speaker, arena_format(arena, "%s on %s: service takes %s s on average%s%s%s, so the capacity is %s turns/s%s",
                              class->name, backend->name, say_digits(arena, demand.service), kept, greatest, parts,
                              say_digits(arena, demand.capacity), alone));
    if (class->source == SOURCE_POPULATION && isfinite(demand_knee(&demand)))
        say(speaker, arena_format(arena, "%s on %s: the knee is at %s agents%s%s", class->name, backend->name,
                                  say_digits(arena, demand_knee(&demand)), kept, alone));
    say_cold(speaker, scenario, index);
    if (isfinite(class_rate(class))) {
        double turns = class_rate(class) * (class->turns ? dist_mean(class->turns) : 1);
        say(speaker, arena_format(arena, "%s on %s: arrivals ask for %s %% of the capacity", class->name, backend->name,
                                  say_digits(arena, 100 * turns / demand.capacity)));
    }
}

/* What a class asks of its backend in units of what the backend could do for it alone, so that it adds up over classes:
 * what arrives, or what a population would ask for if nobody waited, which is 1 at its knee; or NAN. */
static double asked(const struct scenario *scenario, size_t index)
{
    const struct agent_class *class = &scenario->classes[index];
    const struct demand demand = demand_of(scenario, index);
    double share = NAN;
    if (class->source == SOURCE_POPULATION)
        share = (double)class->population / demand_knee(&demand);
    if (isfinite(class_rate(class)))
        share = class_rate(class) * (class->turns ? dist_mean(class->turns) : 1) / demand.capacity;
    return scenario->backends[class->backend].kind == BACKEND_SLOTS && isfinite(share) ? share : NAN;
}

/* Of the classes that share a backend. */
void say_together(struct speaker *speaker, const struct scenario *scenario, size_t backend)
{
    struct arena *arena = &speaker->arena;
    double open = 0, closed = 0;
    const char *names = "";
    size_t count = 0, populations = 0;
    for (size_t i = 0; i < scenario->class_count; i++) {
        bool population = scenario->classes[i].source == SOURCE_POPULATION;
        double share = scenario->classes[i].backend == backend ? asked(scenario, i) : NAN;
        if (isnan(share))
            continue;
        *(population ? &closed : &open) += share;
        populations += population;
        names = arena_format(arena, "%s%s%s", names, count++ > 0 ? ", " : "", scenario->classes[i].name);
    }
    if (count < 2)
        return;
    names = arena_format(arena, "%s on %s, together", names, scenario->backends[backend].name);
    if (populations == 0)
        say(speaker, arena_format(arena, "%s: arrivals ask for %s %% of the capacity%s", names,
                                  say_digits(arena, 100 * open), open < 1 ? "" : ", so the line grows without end"));
    else
        say(speaker, arena_format(arena, "%s: if nobody waited they would ask for %s %% of the capacity%s", names,
                                  say_digits(arena, 100 * (open + closed)),
                                  populations == count ? ""
                                                       : arena_format(arena, ", arrivals alone for %s %%",
                                                                      say_digits(arena, 100 * open))));
}
