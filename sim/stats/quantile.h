/* quantile.h - quantiles of non-negative whole numbers (nanoseconds) in constant memory.
 *
 * A histogram with 256 equal cells an octave (0.4 % wide), values below 256 in cells of their own, 0 among them; counts
 * are 64 bits and the cells reach 2^63, so nothing overflows. Pages of one octave are allocated when first met (2 KiB
 * each; 8 KiB for ramps). Merging is exact.
 *
 * The p-quantile is the ceil(p n)-th smallest observation. The j-th of the k observations in a cell is taken to be
 * where the j-th of k independent uniform ones is on average, at j/(k + 1) of the way from the least to the greatest
 * whole number of the cell; in the topmost occupied cell the greatest observation is known, and the j-th of k is at j/k
 * of the way to it. So cells of width 1 and the maximum are exact, and nothing is ever above `largest`. A p n within a
 * few roundings of a whole number is that number: 0.07 of 100 is the 7th.
 *
 * A ramp histogram is for a quantity that grows at 1 ns a ns between jumps (the age of the oldest call): each stretch
 * [from, to) of values is passed through at constant speed, so it adds density 1 over that interval of values. Starts
 * and ends are kept as counts and exact sums in the same cells, O(1) a stretch; `zero` is the time spent at 0. The time
 * with value <= x is then exact at the edges of cells, and taken as linear between them; the p-quantile is the smallest
 * x where it reaches p of all time. */
#ifndef SIM_QUANTILE_H
#define SIM_QUANTILE_H

#include <stdbool.h>

#include "sim/engine/clock.h"

#define HISTOGRAM_OCTAVES 56 /* page 0: values 0..255; page k: 2^(k+7) .. 2^(k+8) - 1 */

struct histogram {
    uint64_t count;
    sim_time largest;
    uint64_t *pages[HISTOGRAM_OCTAVES]; /* 256 counts each, or NULL */
};

/* The page of a value, and its cell in that page. */
static inline unsigned quantile_page(uint64_t value)
{
    return value < 256 ? 0 : (unsigned)(56 - __builtin_clzll(value));
}

static inline unsigned quantile_cell(uint64_t value, unsigned page)
{
    return (unsigned)(page ? value >> (page - 1) : value) & 255;
}

void histogram_page(struct histogram *histogram, unsigned page); /* allocates it */

static inline void histogram_add(struct histogram *histogram, sim_time value)
{
    unsigned page = quantile_page((uint64_t)value);
    unsigned cell = quantile_cell((uint64_t)value, page);

    if (__builtin_expect(!histogram->pages[page], 0))
        histogram_page(histogram, page);
    histogram->pages[page][cell]++;
    histogram->count++;
    if (value > histogram->largest)
        histogram->largest = value;
}

void histogram_merge(struct histogram *into, const struct histogram *from);
void histogram_clear(struct histogram *histogram);
void histogram_fini(struct histogram *histogram);
/* In ns; NAN if nothing was observed. 0 < p <= 1. */
double histogram_quantile(const struct histogram *histogram, double p);

/* A cell that holds something: it spans low to high, both included. */
struct histogram_cell {
    sim_time low, high;
    uint64_t count;
};

/* The first one above `after` (-1: of all). False if there is none. */
bool histogram_next(const struct histogram *histogram, sim_time after, struct histogram_cell *cell);

struct ramps {
    sim_sum zero;  /* time at 0 */
    sim_sum total; /* all time, zero included */
    sim_time largest;
    struct ramp_cell *pages[HISTOGRAM_OCTAVES];
};

void ramps_zero(struct ramps *ramps, sim_time duration);
void ramps_add(struct ramps *ramps, sim_time from, sim_time to); /* from <= to */
void ramps_merge(struct ramps *into, const struct ramps *from);
void ramps_clear(struct ramps *ramps);
void ramps_fini(struct ramps *ramps);
double ramps_quantile(const struct ramps *ramps, double p); /* ns; NAN over no time */

#endif
