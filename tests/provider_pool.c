/* provider_pool.c - a pool on a bench. */
#include "tests/provider_pool.h"

#include <math.h>

void pool_begin(struct pool *pool, const struct provider_spec *spec, uint64_t entity)
{
    *pool = (struct pool){0};
    calendar_init(&pool->calendar, 9, 1);
    pool->provider = provider_new(spec, &pool->calendar, (struct stream_key){9, 1}, entity, &pool->arena);
    for (int i = 0; i < POOL_TICKETS; i++)
        pool->tickets[i] = arena_zeroed(&pool->arena, 1, provider_ticket_size(spec));
}

void pool_end(struct pool *pool)
{
    calendar_fini(&pool->calendar);
    arena_free(&pool->arena);
}

void pool_until(struct pool *pool, sim_time until)
{
    struct event *event;

    while ((event = calendar_next(&pool->calendar, until)))
        event->fire(NULL, event);
}

bool pool_asks(struct pool *pool, sim_time at, int ticket, struct meter_call call)
{
    pool_until(pool, at);
    call.max_tokens = INFINITY;
    return provider_ask(pool->provider, &call, pool->tickets[ticket], &pool->refusal);
}

void pool_answers(struct pool *pool, sim_time at, int ticket, struct meter_call real)
{
    pool_until(pool, at);
    provider_answers(pool->provider, pool->tickets[ticket], &real);
}
