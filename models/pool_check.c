/* pool_check.c - what would come out of classes and pools together that nobody wants. */
#include <math.h>

#include "models/meter.h"
#include "models/pool_bounds.h"
#include "models/readers.h"

static void warn(const struct reader *reader, const struct agent_class *class, const char *what, const char *backend,
                 const char *expected)
{
    reader_warns(reader, class->place,
                 arena_format(reader->arena,
                              "%s: a turn of mean size takes more of %s of %s than that ever lets in at once: "
                              "expected a larger %s",
                              class->name, what, backend, expected));
}

void pools_check(const struct reader *reader, const struct scenario *scenario)
{
    for (size_t i = 0; i < scenario->class_count; i++) {
        const struct agent_class *class = &scenario->classes[i];
        const struct backend *backend = &scenario->backends[class->backend];
        const struct simultaneous_spec *simultaneous;
        struct pool_bounds bounds;

        if (!pool_bounds_of(scenario, i, &bounds))
            continue;
        for (size_t k = 0; k < bounds.meter_count; k++)
            if (bounds.meters[k].never && bounds.meters[k].given > 0 && !bounds.meters[k].endless)
                warn(reader, class,
                     arena_format(reader->arena, "the meter %s", meter_names[bounds.meters[k].spec->kind]),
                     backend->name, "burst, window or limit");
        simultaneous = &scenario->backends[backend->pool].provider->simultaneous;
        if (simultaneous->cold > 0 && bounds.input > simultaneous->cold && isfinite(bounds.input))
            warn(reader, class, "what may arrive at one instant", backend->name, "simultaneous.cold");
    }
}
