/* describe_private.h - the parts of models/describe.c: how it says a sentence, and what it says of a pool and of a
 * class. Only models/describe*.c include it. */
#ifndef MODELS_DESCRIBE_PRIVATE_H
#define MODELS_DESCRIBE_PRIVATE_H

#include <stdio.h>

#include "models/scenario.h"
#include "sim/io/mem.h"

/* Sentences that have been said; each is said once, at the first point that it holds for. Texts that are made for them
 * are in the arena. */
struct speaker {
    struct arena arena;
    const char **said;
    size_t count, room;
    const char *where; /* how the point at hand differs from the first: "", or " (agents.coder.think = 9 s)" */
    FILE *out;
};

/* How sentences are said (models/describe_say.c). A sentence comes without its stop. */
void say(struct speaker *speaker, const char *sentence);
/* "x, service time: mean 9 s, CV 1, p99 41 s"; of no distribution nothing. */
void say_distribution(struct speaker *speaker, const char *name, const char *what, const struct dist *dist,
                      const char *unit);
/* A number of four digits, or "infinite"; and "9 s", where an infinite one has no unit. */
const char *say_digits(struct arena *arena, double value);
const char *say_with_unit(struct speaker *speaker, double value, const char *unit);

/* Of a pool by itself (models/describe_backend.c), of a class (models/describe_class.c), and what a class's pool can do
 * for it and for all who share it (models/describe_capacity.c). */
void say_backend(struct speaker *speaker, const struct scenario *scenario, const struct backend *backend);
void say_class(struct speaker *speaker, const struct scenario *scenario, size_t index);
void say_memory(struct speaker *speaker, const struct agent_class *class, const struct backend *backend);
void say_capacity(struct speaker *speaker, const struct scenario *scenario, size_t index);
void say_together(struct speaker *speaker, const struct scenario *scenario, size_t backend);

#endif
