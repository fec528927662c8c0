/* reference.c - the closed loop and nothing but it: what a good programmer writes for one question on one afternoon,
 * and so the practical limit for a simulator that answers more. Whole nanoseconds, a sorted array of pending events, a
 * ring of waiting agents, xoshiro256++ (Blackman and Vigna 2021) under a ziggurat; it keeps turns and the sum of waits.
 */
#include <math.h>
#include <stdbool.h>

#include "sim/engine/ziggurat.h"
#include "tests/bench/bench.h"

#define RING 32 /* a power of two, at least BENCH_AGENTS */

struct pending {
    int64_t at;
    uint32_t agent;
};

struct loop {
    uint64_t random[4];
    struct pending list[BENCH_AGENTS]; /* latest first */
    unsigned count, busy, waiting, first;
    uint32_t ring[RING]; /* agents in line, from `first` on */
    int64_t joined[BENCH_AGENTS];
    bool served[BENCH_AGENTS];
    uint64_t events, turns, starts;
    int64_t waits; /* of all starts, ns; enough for 290 years of waiting */
};

static inline uint64_t rotated(uint64_t x, int by)
{
    return x << by | x >> (64 - by);
}

static inline uint64_t random_word(struct loop *loop)
{
    uint64_t *s = loop->random, word = rotated(s[0] + s[3], 23) + s[0], t = s[1] << 17;

    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotated(s[3], 45);
    return word;
}

static void random_init(struct loop *loop, uint64_t seed)
{
    for (int i = 0; i < 4; i++) { /* splitmix64 */
        uint64_t x = seed += UINT64_C(0x9e3779b97f4a7c15);

        x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
        x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
        loop->random[i] = x ^ x >> 31;
    }
}

static inline double uniform(uint64_t word)
{
    return (double)(word >> 11) * 0x1p-53;
}

static inline double exponential(struct loop *loop)
{
    const struct ziggurat *z = &ziggurat_exponential;

    for (double shift = 0;;) {
        uint64_t word = random_word(loop);
        unsigned layer = word & 255;
        double x = uniform(word) * z->x[layer];

        if (__builtin_expect(x < z->x[layer + 1], 1))
            return shift + x;
        if (layer == 0)
            shift += z->x[1];
        else if (z->f[layer] + (z->f[layer + 1] - z->f[layer]) * uniform(random_word(loop)) < exp(-x))
            return shift + x;
    }
}

static inline void schedule(struct loop *loop, int64_t now, double mean, uint32_t agent)
{
    int64_t at = now + (int64_t)(exponential(loop) * (mean * 1e9));
    struct pending *hole = loop->list + loop->count++;

    for (; hole > loop->list && hole[-1].at <= at; hole--)
        hole[0] = hole[-1];
    *hole = (struct pending){at, agent};
}

static inline void serve(struct loop *loop, int64_t now, uint32_t agent, int64_t wait)
{
    loop->starts++;
    loop->waits += wait;
    loop->served[agent] = true;
    schedule(loop, now, BENCH_SERVICE, agent);
}

static inline void think_over(struct loop *loop, int64_t now, uint32_t agent)
{
    if (loop->busy < BENCH_SERVERS) {
        loop->busy++;
        serve(loop, now, agent, 0);
        return;
    }
    loop->joined[agent] = now;
    loop->ring[(loop->first + loop->waiting++) % RING] = agent;
}

static inline void service_over(struct loop *loop, int64_t now, uint32_t agent)
{
    loop->turns++;
    loop->served[agent] = false;
    if (loop->waiting > 0) {
        uint32_t next = loop->ring[loop->first];

        loop->first = (loop->first + 1) % RING;
        loop->waiting--;
        serve(loop, now, next, now - loop->joined[next]);
    } else {
        loop->busy--;
    }
    schedule(loop, now, BENCH_THINK, agent);
}

struct run reference_run(double horizon, uint64_t seed)
{
    double begun = processor_seconds();
    int64_t end = (int64_t)(horizon * 1e9);
    struct loop loop = {0};

    random_init(&loop, seed);
    for (uint32_t agent = 0; agent < BENCH_AGENTS; agent++)
        schedule(&loop, 0, BENCH_THINK, agent);
    for (;;) { /* an agent has one event at the most, and one that serves or thinks is always there */
        struct pending next = loop.list[--loop.count];

        if (next.at > end)
            break;
        loop.events++;
        if (loop.served[next.agent])
            service_over(&loop, next.at, next.agent);
        else
            think_over(&loop, next.at, next.agent);
    }
    return (struct run){.events = (double)loop.events,
                        .seconds = processor_seconds() - begun,
                        .throughput = (double)loop.turns / horizon,
                        .wait_mean = (double)loop.waits / 1e9 / (double)loop.starts};
}
