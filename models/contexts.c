/* contexts.c - warm contexts stand in one list, from the least to the most recently used. */
#include "models/contexts.h"

#include "sim/engine/where.h"

struct context {
    uint64_t tokens;
    struct context **owner;        /* where its agent keeps it; NULL: an orphan */
    struct context *older, *newer; /* warm; in the pool `newer` is the next one there */
    bool pinned;
};

static uint64_t counted(const struct contexts *contexts, uint64_t tokens)
{
    return tokens < contexts->limit ? tokens : contexts->limit;
}

static struct context *take(struct contexts *contexts)
{
    struct context *context = contexts->pool;

    if (!context)
        return arena_zeroed(contexts->arena, 1, sizeof *context);
    contexts->pool = context->newer;
    return context;
}

static void give(struct contexts *contexts, struct context *context)
{
    if (context->owner)
        *context->owner = NULL;
    context->newer = contexts->pool;
    contexts->pool = context;
}

static void warm_join(struct contexts *contexts, struct context *context)
{
    context->older = contexts->newest;
    context->newer = NULL;
    *(context->older ? &context->older->newer : &contexts->oldest) = context;
    contexts->newest = context;
    contexts->warm += context->tokens;
}

static void warm_leave(struct contexts *contexts, struct context *context)
{
    *(context->older ? &context->older->newer : &contexts->oldest) = context->newer;
    *(context->newer ? &context->newer->older : &contexts->newest) = context->older;
    contexts->warm -= context->tokens;
}

static void evict_oldest(struct contexts *contexts)
{
    struct context *context = contexts->oldest;

    warm_leave(contexts, context);
    give(contexts, context);
    contexts->evictions++;
}

bool contexts_fit(const struct contexts *contexts, uint64_t tokens)
{
    return counted(contexts, tokens) <= contexts->limit - contexts->pinned;
}

uint64_t contexts_pin(struct contexts *contexts, struct context **owner, uint64_t tokens)
{
    struct context *context = *owner;
    uint64_t there = 0;

    SIM_ASSERT(NULL, contexts_fit(contexts, tokens));
    if (context) {
        SIM_ASSERT(NULL, context->owner == owner && !context->pinned);
        there = context->tokens;
        warm_leave(contexts, context);
    } else {
        *owner = context = take(contexts);
        context->owner = owner;
    }
    context->tokens = counted(contexts, tokens);
    context->pinned = true;
    contexts->pinned += context->tokens;
    while (contexts->warm > contexts->limit - contexts->pinned)
        evict_oldest(contexts);
    return there;
}

/* Contexts without tokens would never have to make room, and so never leave. */
void contexts_unpin(struct contexts *contexts, struct context **owner)
{
    struct context *context = *owner;

    SIM_ASSERT(NULL, context != NULL && context->pinned);
    context->pinned = false;
    contexts->pinned -= context->tokens;
    if (context->owner != owner)
        *owner = NULL;
    if (context->tokens > 0)
        warm_join(contexts, context);
    else
        give(contexts, context);
}

void contexts_empty(struct contexts *contexts)
{
    SIM_ASSERT(NULL, contexts->pinned == 0);
    while (contexts->oldest) {
        struct context *context = contexts->oldest;

        warm_leave(contexts, context);
        give(contexts, context);
    }
}

void contexts_orphan(struct context **owner)
{
    if (*owner)
        (*owner)->owner = NULL;
    *owner = NULL;
}
