/* memory_read.c - what does not go together of a card's memory and the calls that it is for. */
#include "models/memory_use.h"
#include "models/readers.h"

/* A larger call would have the whole memory to itself, as those do that grow so large; where even first calls are, kv
 * or the class is a mistake. */
bool memory_check(const struct reader *reader, const struct scenario *scenario)
{
    size_t before = reader->diag->errors;

    for (size_t i = 0; i < scenario->class_count; i++) {
        const struct agent_class *class = &scenario->classes[i];
        double call = memory_first_call(class);

        for (uint32_t k = 0; k < class->backend_count; k++) {
            const struct backend *backend = &scenario->backends[class->backends[k]];

            if (backend->kv != UINT64_MAX && call > (double)backend->kv)
                diag_error(reader->diag, backend->kv_place,
                           "%s: the first call of a run of %s takes %.10g tokens on average, input and output, and kv "
                           "has room for %.10g: expected at least as many",
                           backend->name, class->name, call, (double)backend->kv);
        }
    }
    return reader->diag->errors == before;
}
