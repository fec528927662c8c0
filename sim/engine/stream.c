/* stream.c - streams on top of Philox, and the two ziggurats that draw from them.
 *
 * The ziggurat (Marsaglia and Tsang 2000) covers a falling density with 256 layers of equal area. One word decides
 * nearly always: its lowest 8 bits choose the layer, bit 8 the sign, and bits 12 to 63 the place across the layer, so
 * that the place is independent of layer and sign (their sharing bits was the flaw of the published code; Doornik
 * 2005). Only in the thin rest is a density evaluated, with sim_exp. */
#include "sim/engine/stream.h"

#include <Random123/philox.h>

#include "sim/engine/number.h"
#include "sim/engine/ziggurat.h"

/* Marsaglia (1964): the normal's tail beyond the base layer, by rejection from an exponential. */
static double normal_tail(struct stream *stream)
{
    const double r = ziggurat_normal.x[1];
    for (;;) {
        double x = -sim_log(stream_uniform_open(stream)) / r;
        double y = -sim_log(stream_uniform_open(stream));
        if (2 * y > x * x)
            return r + x;
    }
}

void stream_philox(const uint64_t key[2], const uint64_t counter[4], uint64_t words[4])
{
    const philox4x64_ctr_t count = {{counter[0], counter[1], counter[2], counter[3]}};
    const philox4x64_key_t secret = {{key[0], key[1]}};
    const philox4x64_ctr_t block = philox4x64_R(10, count, secret);
    for (size_t i = 0; i < 4; i++)
        words[i] = block.v[i];
}

void stream_refill(struct stream *stream)
{
    stream_philox(stream->key, stream->counter, stream->words);
    stream->counter[0]++;
    stream->left = 4;
}

double stream_exponential(struct stream *stream)
{
    const struct ziggurat *layers = &ziggurat_exponential;
    double shift = 0;
    for (;;) {
        uint64_t word = stream_next(stream);
        unsigned i = word & 255;
        double x = stream_unit_open(word) * layers->x[i];
        if (x < layers->x[i + 1])
            return shift + x;
        if (i == 0)
            shift += layers->x[1]; /* beyond r an exponential is r plus another one */
        else if (ziggurat_height(layers, i, stream_uniform(stream)) < sim_exp(-x))
            return shift + x;
    }
}

double stream_normal(struct stream *stream)
{
    const struct ziggurat *layers = &ziggurat_normal;
    for (;;) {
        uint64_t word = stream_next(stream);
        unsigned i = word & 255;
        double sign = word & 256 ? -1 : 1;
        double x = stream_unit_open(word) * layers->x[i];
        if (x < layers->x[i + 1])
            return sign * x;
        if (i == 0)
            return sign * normal_tail(stream);
        if (ziggurat_height(layers, i, stream_uniform(stream)) < sim_exp(-0.5 * x * x))
            return sign * x;
    }
}
