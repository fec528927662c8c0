/* contexts.h - the memory of a card that keeps what it has read: contexts of agents, in tokens.
 *
 * A running call's context is pinned. When it ends the context stays, warm, until the least recently used ones make
 * room. pinned + warm <= limit, always. One agent has one context; O(1) a call and O(1) an eviction. Contexts come from
 * a pool of the arena, at most one a token that fits, so in steady state nothing is allocated. Where there is no limit
 * nothing is ever evicted, and there is nothing to keep here. */
#ifndef MODELS_CONTEXTS_H
#define MODELS_CONTEXTS_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/io/mem.h"

struct context;

struct contexts {                    /* zeroed but for limit and arena it is a valid empty memory */
    uint64_t limit, pinned, warm;    /* tokens */
    struct context *oldest, *newest; /* of the warm ones */
    struct context *pool;
    struct arena *arena;
    uint64_t evictions; /* since t = 0 */
};

/* Would a call of so many tokens find room, once all that is warm has gone? More than the whole memory counts as the
 * whole. */
bool contexts_fit(const struct contexts *contexts, uint64_t tokens);
/* A call that fits begins: its context is pinned with `tokens`, others are evicted as need be. `owner` is where its
 * agent keeps its context (NULL in it: none); an eviction writes NULL there. Returns the tokens of it that were still
 * there, 0: it was gone. */
uint64_t contexts_pin(struct contexts *contexts, struct context **owner, uint64_t tokens);
/* The call has ended: its context stays as the most recently used. One that was orphaned while it was pinned is named
 * by any other pointer to it, which becomes NULL. */
void contexts_unpin(struct contexts *contexts, struct context **owner);
/* Nobody comes back to it: it stays until it is evicted, and then tells no one. Nothing happens where there is none. */
void contexts_orphan(struct context **owner);
/* The memory is gone, with all that is warm in it; nothing is pinned. */
void contexts_empty(struct contexts *contexts);

#endif
