/* series.h - what has a value at all times, as its means over equal parts of a window.
 *
 * The integral over each part is exact, and memory is that of the parts, however long the window is and however often
 * the value changes. Parts end at whole nanoseconds, so their lengths may differ by one. */
#ifndef SIM_SERIES_H
#define SIM_SERIES_H

#include <stddef.h>

#include "sim/engine/clock.h"

struct series {
    sim_time from, until; /* the window; what happens before or after it is in no part */
    size_t parts, part;   /* how many; that of the last change */
    sim_time part_end;
    sim_sum *areas; /* [part]: integral of the value, value * ns */
    int64_t value;
    sim_time since; /* of the last change, or the begin of the window */
};

/* `areas` are zeroed and the caller's. The value is 0 at first. */
void series_init(struct series *series, sim_time from, sim_time until, sim_sum *areas, size_t parts);
void series_pass(struct series *series, sim_time now); /* private: books up to now, over ends of parts */

/* Times never go back. */
static inline void series_change(struct series *series, sim_time now, int64_t by)
{
    if (now >= series->part_end)
        series_pass(series, now);
    if (now > series->since) {
        series->areas[series->part] += (sim_sum)series->value * (now - series->since);
        series->since = now;
    }
    series->value += by;
}

/* The means of all parts, when the window is over. */
void series_means(struct series *series, double *means);

#endif
