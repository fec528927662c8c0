/* describe_turns.c - how many parts a turn has, how many of an agent are under way, what their backend carries; where
 * calls go on to. */
#include "models/describe_turns.h"

#include <math.h>

#include "models/describe_private.h"

static const char *exact(struct arena *arena, uint64_t value)
{
    return arena_format(arena, "%llu", (unsigned long long)value);
}

static const char *bound_of(const struct fan_out_spec *spec, struct arena *arena)
{
    if (spec->tokens_most != UINT64_MAX)
        return arena_format(arena, "parts of %s tokens are under way at the most", exact(arena, spec->tokens_most));
    if (spec->parts_most != UINT64_MAX)
        return arena_format(arena, "%s are under way at the most", exact(arena, spec->parts_most));
    return "all are under way at once";
}

/* Parts a second of a backend with servers; 0: of a pool. */
static double capacity_of(const struct fan_out_spec *spec, const struct backend *backend)
{
    if (backend->service)
        return backend->servers / dist_mean(backend->service);
    return backend->speed ? backend->servers * backend->speed[backend->servers] / dist_mean(spec->tokens) : 0;
}

const char **fan_out_sentences(const struct scenario *scenario, const struct agent_class *class, struct arena *arena)
{
    const struct fan_out_spec *spec = class->fan_out;
    const struct backend *backend = &scenario->backends[spec->to];
    const char **sentences = arena_zeroed(arena, 3, sizeof *sentences);
    double parts = dist_mean(spec->parts), capacity = capacity_of(spec, backend);
    const char *mean = dist_is_constant(spec->parts) ? "" : " on average";
    const char *enough =
        spec->wait_for == UINT64_MAX ? "all" : arena_format(arena, "%s of them", exact(arena, spec->wait_for));

    sentences[0] =
        arena_format(arena, "%s: a turn makes %s parts%s at %s and waits for %s; of an agent %s", class->name,
                     say_digits(arena, parts), mean, backend->name, enough, bound_of(spec, arena));
    if (isfinite(capacity) && capacity > 0 && parts > 0)
        sentences[1] = arena_format(arena, "%s: %s serves %s parts/s at the most, those of %s turns/s", class->name,
                                    backend->name, say_digits(arena, capacity), say_digits(arena, capacity / parts));
    return sentences;
}

const char *spill_sentence(const struct scenario *scenario, const struct agent_class *class, struct arena *arena)
{
    const char *way = scenario->backends[class->backend].name;

    for (uint32_t i = 1; i < class->backend_count; i++)
        way = arena_format(arena, "%s, then %s", way, scenario->backends[class->backends[i]].name);
    if (class->spill == SPILL_REFUSED)
        return arena_format(arena, "%s: a call that is refused goes on to the next backend: %s", class->name, way);
    return arena_format(arena, "%s: a call that has waited %s s at one backend goes on to the next: %s", class->name,
                        say_digits(arena, sim_seconds(class->spill_after)), way);
}
