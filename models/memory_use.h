/* memory_use.h - what the calls of a class take of a card's memory, in tokens, and of its time to read them, in
 * seconds.
 *
 * A call holds its whole context, input and output, while it runs, or all of kv if it is larger. Means of these sizes
 * are what a report wants; a bound wants what holds however the sizes are distributed, and has its own numbers here. */
#ifndef MODELS_MEMORY_USE_H
#define MODELS_MEMORY_USE_H

#include "models/scenario.h"

struct memory_use {
    double context;                    /* of a call, mean */
    double contexts;                   /* kv / context: as many of the mean size fit; INFINITY: no limit */
    double at_once;                    /* calls: contexts rounded down, at least 1, at most the servers */
    double at_once_most;               /* no more calls fit at once, whatever their sizes */
    double held, held_least;           /* by a call: not more than the mean; not more than the least */
    double prefill_warm, prefill_cold; /* mean seconds: of what is new to a kept context; of all input */
};
struct memory_use memory_use_of(const struct agent_class *class, const struct backend *backend);

/* The output of a class, cut at what its calls ask for; a constant 0 where it has none. */
struct dist memory_output(const struct agent_class *class);
/* The mean first call of a run: its whole input and its output. */
double memory_first_call(const struct agent_class *class);

#endif
