/* stream.h - counter-based random numbers (Philox4x64-10 of Random123; Salmon et al., SC'11).
 *
 * A draw is a function of whose it is and what it is for, never of how many draws came before: the key is (seed,
 * replication), the counter is (purpose, kind and block; entity; turn; attempt). So two policies see the same agents,
 * turns and think times, a larger population changes nobody's draws, and replication 3 of 8 is replication 3 of 20. An
 * entity that has a name is best addressed by a hash of it, which does not depend on what else there is.
 *
 * One block is four 64-bit words. A sampler that rejects takes further words and, by the block count in the purpose
 * word, further blocks, 2^32 of them. Opening computes nothing: the first block is made by the first draw. */
#ifndef SIM_STREAM_H
#define SIM_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/engine/where.h"
#include "sim/engine/ziggurat.h"

struct stream_key {
    uint64_t seed, replication;
};

/* Where a stream begins. purpose < 2^16, kind < 2^16 (of entity; 0 where the entity says all). */
struct stream_address {
    uint32_t purpose, kind;
    uint64_t entity, turn, attempt;
};

struct stream {
    uint64_t key[2], counter[4]; /* counter[0] = purpose << 48 | kind << 32 | next block */
    uint64_t words[4];
    unsigned left; /* words not yet used; they are taken from words[4 - left] on */
};

/* The first word of a counter: block 0 of an address. */
static inline uint64_t stream_counter(struct stream_address address)
{
    SIM_ASSERT(NULL, address.purpose < 1u << 16 && address.kind < 1u << 16);
    return (uint64_t)address.purpose << 48 | (uint64_t)address.kind << 32;
}

/* The generator itself. */
void stream_philox(const uint64_t key[2], const uint64_t counter[4], uint64_t words[4]);

/* One block of four words, without a stream around it: for several attributes drawn together. */
static inline void stream_block(struct stream_key key, struct stream_address address, uint64_t words[4])
{
    const uint64_t secret[2] = {key.seed, key.replication};
    const uint64_t counter[4] = {stream_counter(address), address.entity, address.turn, address.attempt};

    stream_philox(secret, counter, words);
}

/* A stream whose first `given` words (0 to 4) were drawn already, as lanes of a shared block; its own blocks follow,
 * from block 0 of its address. Inline and word by word, as a copy of what was just written in smaller pieces stalls the
 * processor for longer than a draw takes. */
static inline struct stream stream_open_with(struct stream_key key, struct stream_address address,
                                             const uint64_t *words, unsigned given)
{
    struct stream stream;

    SIM_ASSERT(NULL, given <= 4);
    stream.key[0] = key.seed;
    stream.key[1] = key.replication;
    stream.counter[0] = stream_counter(address);
    stream.counter[1] = address.entity;
    stream.counter[2] = address.turn;
    stream.counter[3] = address.attempt;
    for (unsigned i = 0; i < 4; i++)
        stream.words[i] = i < 4 - given ? 0 : words[i - (4 - given)];
    stream.left = given;
    return stream;
}

/* A stream from block 0 of its address. */
static inline struct stream stream_open(struct stream_key key, struct stream_address address)
{
    return stream_open_with(key, address, NULL, 0);
}

void stream_refill(struct stream *stream);

static inline uint64_t stream_next(struct stream *stream)
{
    if (stream->left == 0)
        stream_refill(stream);
    return stream->words[4 - stream->left--];
}

/* A word as a number in [0, 1): its upper 53 bits. */
static inline double stream_unit(uint64_t word)
{
    return (double)(word >> 11) * 0x1p-53;
}

/* A word as a number in (0, 1): its upper 52 bits, in the middle of their cell. */
static inline double stream_unit_open(uint64_t word)
{
    return ((double)(word >> 12) + 0.5) * 0x1p-52;
}

/* Uniform in [0, 1). */
static inline double stream_uniform(struct stream *stream)
{
    return stream_unit(stream_next(stream));
}

/* Uniform in (0, 1). */
static inline double stream_uniform_open(struct stream *stream)
{
    return stream_unit_open(stream_next(stream));
}

/* The exponential that a stream gives whose next word this is, if no other word is needed; else false. */
static inline bool stream_exponential_quick(uint64_t word, double *value)
{
    unsigned i = word & 255;

    *value = stream_unit_open(word) * ziggurat_exponential.x[i];
    return *value < ziggurat_exponential.x[i + 1];
}

double stream_exponential(struct stream *stream); /* mean 1, never 0; ziggurat, 1.03 words on average */
double stream_normal(struct stream *stream);      /* mean 0, variance 1, never 0; ziggurat, 1.02 words on average */

#endif
