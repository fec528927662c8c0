/* provider_pool.h - a pool on a bench: a calendar, and callers whose calls are numbered tickets. */
#ifndef TESTS_PROVIDER_POOL_H
#define TESTS_PROVIDER_POOL_H

#include <check.h>

#include "models/provider.h"

#define POOL_TICKETS 8

#define LIMIT_OF(amount) \
    { \
        .law = LIMIT_CONSTANT, .values = (const double[]){amount}, .count = 1 \
    }

/* Three requests at once, 1 a second; 1000 tokens of input at once, 100 a second; 2 in flight. */
#define POOL_METERS \
    (const struct meter_spec[]) \
    { \
        {.kind = METER_REQUESTS, .limit = LIMIT_OF(1), .burst = 3}, \
            {.kind = METER_INPUT, .limit = LIMIT_OF(100), .burst = 1000, .settle = true, .cached_weight = 0.5}, \
        { \
            .kind = METER_IN_FLIGHT, .limit = LIMIT_OF(2) \
        } \
    }

struct pool {
    struct calendar calendar;
    struct arena arena;
    struct provider *provider;
    struct provider_ticket *tickets[POOL_TICKETS];
    struct provider_refusal refusal; /* the last one */
};

void pool_begin(struct pool *pool, const struct provider_spec *spec, uint64_t entity);
void pool_end(struct pool *pool);
void pool_until(struct pool *pool, sim_time until); /* strangers come and go */
bool pool_asks(struct pool *pool, sim_time at, int ticket, struct meter_call call);
void pool_answers(struct pool *pool, sim_time at, int ticket, struct meter_call real);

#endif
