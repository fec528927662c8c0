/* memory_bounds.h - how many agents a card with a memory carries, by three things that may be short.
 *
 * With contexts of the mean size, K = kv / context of them fit and c = min(servers, K rounded down) calls run at once.
 * Slots: all contexts are kept, and servers / S_warm turns a second are the limit; the bounds cross at servers (S_warm
 * + Z) / S_warm agents. Warm contexts: up to K agents all keep theirs. Cold ones: with more agents than that somebody's
 * context is gone at every turn; in the worst case everybody's, c / S_cold turns a second, and c (S_cold + Z) / S_cold
 * agents. The card carries the larger of the last two, but no more than its slots. Means, not bounds: calls that are
 * smaller than the mean fit in larger numbers (models/demand.h has bounds). */
#ifndef MODELS_MEMORY_BOUNDS_H
#define MODELS_MEMORY_BOUNDS_H

#include "models/scenario.h"

struct memory_bounds {
    double contexts;                     /* K */
    double service_warm, service_cold;   /* S with c calls at once: prefill of what is new, of all input; then output */
    double capacity_warm, capacity_cold; /* turns a second: c / S, or where fewer busy ones make more */
    double knee_slots, knee_cold;        /* agents; by warm contexts: K */
    const char *binds;                   /* "slots", "warm contexts" or "cold contexts" */
};

/* False: the backend of the class has no limit of tokens. */
bool memory_bounds_of(const struct scenario *scenario, size_t klass, struct memory_bounds *bounds);

#endif
