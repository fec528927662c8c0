/* shared_bounds.c - which classes share a backend, and what each of them gets of it. */
#include "models/shared_bounds.h"

#include <math.h>
#include <stdlib.h>

#include "models/demand.h"
#include "sim/io/mem.h"
#include "sim/stats/theory.h"

/* Calls of it go to one backend and nowhere else. */
static bool stays(const struct agent_class *class)
{
    return class->backend_count == 1 && !class->fan_out;
}

bool shared_bounds_of(const struct scenario *scenario, size_t klass, struct shared_bounds *bounds)
{
    uint32_t backend = scenario->classes[klass].backend;
    struct shared_class *classes = mem_zeroed(scenario->class_count, sizeof *classes);
    double *throughputs = mem_zeroed(scenario->class_count, sizeof *throughputs);
    size_t count = 0, own = 0;
    bool good = scenario->backends[backend].kind == BACKEND_SLOTS;

    for (size_t i = 0; i < scenario->class_count && good; i++) {
        struct demand demand;

        good = stays(&scenario->classes[i]);
        if (scenario->classes[i].backend != backend || !good)
            continue;
        demand = demand_of(scenario, i);
        good = demand.closed && demand.fixed;
        own = i == klass ? count : own;
        classes[count++] = (struct shared_class){(size_t)demand.population, demand.service, demand.think};
    }
    good = good && count > 1 &&
           theory_shared((size_t)backend_slots(&scenario->backends[backend]), classes, count, throughputs);
    if (good) {
        bounds->goodput = throughputs[own];
        bounds->wait = (double)classes[own].population / throughputs[own] - classes[own].think - classes[own].service;
    }
    free(classes);
    free(throughputs);
    return good;
}
