/* series.c - the ends of parts. */
#include "sim/stats/series.h"

static sim_time end_of(const struct series *series, size_t part)
{
    return series->from +
           (sim_time)((sim_sum)(series->until - series->from) * (sim_sum)(part + 1) / (sim_sum)series->parts);
}

void series_init(struct series *series, sim_time from, sim_time until, sim_sum *areas, size_t parts)
{
    *series = (struct series){.from = from, .until = until, .parts = parts, .areas = areas, .since = from};
    series->part_end = end_of(series, 0);
}

/* Behind the last part nothing is booked: `since` is ahead of every time that is still to come. */
void series_pass(struct series *series, sim_time now)
{
    while (series->part < series->parts && now >= series->part_end) {
        series->areas[series->part] += (sim_sum)series->value * (series->part_end - series->since);
        series->since = series->part_end;
        series->part++;
        series->part_end = series->part < series->parts ? end_of(series, series->part) : SIM_NEVER;
    }
    if (series->part == series->parts)
        series->since = SIM_NEVER;
}

void series_means(struct series *series, double *means)
{
    sim_time begin = series->from;

    series_pass(series, series->until);
    for (size_t part = 0; part < series->parts; part++) {
        sim_time end = end_of(series, part);

        means[part] = end > begin ? (double)series->areas[part] / (double)(end - begin) : 0;
        begin = end;
    }
}
