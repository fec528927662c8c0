/* goodness.h - does a sample follow its distribution? For the tests of streams and distributions.
 *
 * Every draw is turned into a number that is uniform if the draw is right (cdf of the draw), and those are counted in
 * cells of equal chance. Seeds are fixed, so a verdict never changes from run to run; 10^-4 is asked for. */
#ifndef TESTS_GOODNESS_H
#define TESTS_GOODNESS_H

#include <check.h>
#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#define GOODNESS_CELLS 500

struct goodness {
    uint64_t cells[GOODNESS_CELLS], count;
};

static inline void goodness_add(struct goodness *goodness, double u)
{
    unsigned cell = (unsigned)(u * GOODNESS_CELLS);
    goodness->cells[cell < GOODNESS_CELLS ? cell : GOODNESS_CELLS - 1]++;
    goodness->count++;
}

/* Pearson's chi-square: the chance of counts at least as uneven as these. */
static inline double goodness_chance(const struct goodness *goodness)
{
    double expected = (double)goodness->count / GOODNESS_CELLS, sum = 0;
    for (unsigned i = 0; i < GOODNESS_CELLS; i++) {
        double off = (double)goodness->cells[i] - expected;
        sum += off * off / expected;
    }
    return gsl_cdf_chisq_Q(sum, GOODNESS_CELLS - 1);
}

/* Neither too uneven for chance nor too even. */
static inline void goodness_assert(const struct goodness *goodness, const char *what)
{
    double chance = goodness_chance(goodness);
    ck_assert_msg(chance > 1e-4 && chance < 1 - 1e-4, "%s: chi-square chance %g", what, chance);
}

/* A count of n trials with chance p each, within four standard deviations. */
static inline void goodness_assert_count(uint64_t count, double n, double p, const char *what)
{
    double z = ((double)count - n * p) / sqrt(n * p * (1 - p));
    ck_assert_msg(fabs(z) < 4, "%s: %g of %g, z = %g", what, (double)count, n, z);
}

/* FNV-1a over the bytes of 64-bit words: pins every bit of a sequence. Start with GOODNESS_DIGEST. */
#define GOODNESS_DIGEST UINT64_C(0xcbf29ce484222325)

static inline uint64_t goodness_digest(uint64_t digest, uint64_t word)
{
    for (int shift = 0; shift < 64; shift += 8)
        digest = (digest ^ (word >> shift & 255)) * UINT64_C(0x100000001b3);
    return digest;
}

static inline uint64_t goodness_digest_double(uint64_t digest, double value)
{
    uint64_t word;
    memcpy(&word, &value, sizeof word);
    return goodness_digest(digest, word);
}

#endif
