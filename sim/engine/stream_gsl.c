/* stream_gsl.c - the three functions that GSL asks of a generator. */
#include "sim/engine/stream_gsl.h"

#include <assert.h>
#include <limits.h>

#include "sim/engine/where.h"

static_assert(ULONG_MAX == UINT64_MAX, "GSL hands random numbers on as unsigned long");

static void set(void *state, unsigned long seed)
{
    struct stream *stream = state;
    *stream = stream_open((struct stream_key){.seed = seed}, (struct stream_address){0});
}

static unsigned long get(void *state)
{
    return stream_next(state);
}

static double get_double(void *state)
{
    return stream_uniform(state);
}

static const gsl_rng_type philox = {
    .name = "philox4x64-10",
    .max = ULONG_MAX,
    .min = 0,
    .size = sizeof(struct stream),
    .set = set,
    .get = get,
    .get_double = get_double,
};

const gsl_rng_type *stream_gsl_type(void)
{
    return &philox;
}

void stream_gsl_open(gsl_rng *rng, struct stream_key key, struct stream_address address)
{
    SIM_ASSERT(NULL, rng->type == &philox);
    struct stream *stream = rng->state;
    *stream = stream_open(key, address);
}
