/* quantile.c - histograms and ramp histograms over the same octave cells. */
#include "sim/stats/quantile.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/io/mem.h"

#define CELLS 256

/* Starts minus ends of stretches in one cell: how many, and the sum of where. Over all cells below a value x they give
 * the time below x: sum of (x - start) - sum of (x - end) = x * open - at. */
struct ramp_cell {
    sim_sum at;
    int64_t open;
};

/* The least value of a cell; cell CELLS is the first of the next page. */
static uint64_t cell_low(unsigned page, unsigned cell)
{
    return page ? (uint64_t)(CELLS + cell) << (page - 1) : cell;
}

/* p of an amount. p * amount carries two roundings (of a decimal p to binary, and of the product) that must not lift it
 * over a whole number; four units of the last place take them back. */
static double share_of(double p, double amount)
{
    return p * amount * (1 - 4 * DBL_EPSILON);
}

static struct ramp_cell *ramp_cell_of(struct ramps *ramps, sim_time value)
{
    unsigned page = quantile_page((uint64_t)value);

    if (!ramps->pages[page])
        ramps->pages[page] = mem_zeroed(CELLS, sizeof *ramps->pages[page]);
    return &ramps->pages[page][quantile_cell((uint64_t)value, page)];
}

void histogram_page(struct histogram *histogram, unsigned page)
{
    histogram->pages[page] = mem_zeroed(CELLS, sizeof *histogram->pages[page]);
}

void histogram_merge(struct histogram *into, const struct histogram *from)
{
    for (unsigned page = 0; page < HISTOGRAM_OCTAVES; page++) {
        if (!from->pages[page])
            continue;
        if (!into->pages[page])
            histogram_page(into, page);
        for (unsigned cell = 0; cell < CELLS; cell++)
            into->pages[page][cell] += from->pages[page][cell];
    }
    into->count += from->count;
    if (from->largest > into->largest)
        into->largest = from->largest;
}

/* Pages stay: a run that begins its window anew allocates nothing for what it meets again. */
void histogram_clear(struct histogram *histogram)
{
    for (unsigned page = 0; page < HISTOGRAM_OCTAVES; page++)
        if (histogram->pages[page])
            memset(histogram->pages[page], 0, CELLS * sizeof *histogram->pages[page]);
    histogram->count = 0;
    histogram->largest = 0;
}

void histogram_fini(struct histogram *histogram)
{
    for (unsigned page = 0; page < HISTOGRAM_OCTAVES; page++)
        free(histogram->pages[page]);
    *histogram = (struct histogram){0};
}

double histogram_quantile(const struct histogram *histogram, double p)
{
    double rank = ceil(share_of(p, (double)histogram->count));
    uint64_t largest = (uint64_t)histogram->largest, before = 0;

    if (!histogram->count)
        return NAN;
    for (unsigned page = 0; page < HISTOGRAM_OCTAVES; page++) {
        for (unsigned cell = 0; histogram->pages[page] && cell < CELLS; cell++) {
            uint64_t here = histogram->pages[page][cell];
            uint64_t low = cell_low(page, cell), high = cell_low(page, cell + 1) - 1;

            if (here && (double)(before + here) >= rank) {
                double j = rank - (double)before, k = (double)here;
                if (largest <= high)
                    return (double)low + (double)(largest - low) * (j / k);
                return (double)low + (double)(high - low) * (j / (k + 1));
            }
            before += here;
        }
    }
    return (double)largest;
}

bool histogram_next(const struct histogram *histogram, sim_time after, struct histogram_cell *found)
{
    uint64_t first = (uint64_t)(after + 1);
    unsigned page = quantile_page(first), cell = quantile_cell(first, page);

    for (; page < HISTOGRAM_OCTAVES; page++, cell = 0) {
        for (; histogram->pages[page] && cell < CELLS; cell++) {
            if (!histogram->pages[page][cell])
                continue;
            *found = (struct histogram_cell){(sim_time)cell_low(page, cell), (sim_time)(cell_low(page, cell + 1) - 1),
                                             histogram->pages[page][cell]};
            return true;
        }
    }
    return false;
}

void ramps_zero(struct ramps *ramps, sim_time duration)
{
    ramps->zero += duration;
    ramps->total += duration;
}

void ramps_add(struct ramps *ramps, sim_time from, sim_time to)
{
    struct ramp_cell *start, *end;

    if (from == to)
        return;
    start = ramp_cell_of(ramps, from);
    start->open++;
    start->at += from;
    end = ramp_cell_of(ramps, to);
    end->open--;
    end->at -= to;
    ramps->total += to - from;
    if (to > ramps->largest)
        ramps->largest = to;
}

void ramps_merge(struct ramps *into, const struct ramps *from)
{
    for (unsigned page = 0; page < HISTOGRAM_OCTAVES; page++) {
        if (!from->pages[page])
            continue;
        if (!into->pages[page])
            into->pages[page] = mem_zeroed(CELLS, sizeof *into->pages[page]);
        for (unsigned cell = 0; cell < CELLS; cell++) {
            into->pages[page][cell].open += from->pages[page][cell].open;
            into->pages[page][cell].at += from->pages[page][cell].at;
        }
    }
    into->zero += from->zero;
    into->total += from->total;
    if (from->largest > into->largest)
        into->largest = from->largest;
}

void ramps_clear(struct ramps *ramps)
{
    for (unsigned page = 0; page < HISTOGRAM_OCTAVES; page++)
        if (ramps->pages[page])
            memset(ramps->pages[page], 0, CELLS * sizeof *ramps->pages[page]);
    ramps->zero = 0;
    ramps->total = 0;
    ramps->largest = 0;
}

void ramps_fini(struct ramps *ramps)
{
    for (unsigned page = 0; page < HISTOGRAM_OCTAVES; page++)
        free(ramps->pages[page]);
    *ramps = (struct ramps){0};
}

/* A page without starts and ends can still be crossed by stretches: it is one segment of constant density. */
double ramps_quantile(const struct ramps *ramps, double p)
{
    double need = share_of(p, (double)ramps->total);
    sim_sum open = 0, at = 0, below = ramps->zero; /* below: time with value <= the low edge */

    if (!ramps->total)
        return NAN;
    if ((double)below >= need)
        return 0;
    for (unsigned page = 0; page < HISTOGRAM_OCTAVES; page++) {
        const struct ramp_cell *cells = ramps->pages[page];

        for (unsigned cell = 0, step = cells ? 1 : CELLS; cell < CELLS; cell += step) {
            uint64_t low = cell_low(page, cell), high = cell_low(page, cell + step);
            sim_sum within;

            if (cells) {
                open += cells[cell].open;
                at += cells[cell].at;
            }
            within = ramps->zero + (sim_sum)high * open - at - below;
            if ((double)(below + within) >= need) {
                double part = (need - (double)below) / (double)within;
                return fmin((double)low + (double)(high - low) * part, (double)ramps->largest);
            }
            below += within;
        }
    }
    return (double)ramps->largest;
}
