/* survival.c - choosing where to tell the height of falling curves. */
#include "sim/cli/survival.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "models/measure.h"
#include "sim/cli/report.h"

/* Two rows for each step of each of two curves, their ends, and the start are less than SURVIVAL_ROWS. */
enum { STEPS = 96 };

static const char wait_column[] = "wait_s";

/* A sorted list of times, which both curves add to. */
struct times {
    sim_time *at;
    size_t count;
};

static int by_time(const void *left, const void *right)
{
    sim_time a = *(const sim_time *)left, b = *(const sim_time *)right;

    return (a > b) - (a < b);
}

/* How far a curve has come on its way from (0, 1) to (largest, one of all), from 0 to 1: half of it is the logarithm of
 * its height, half the root of the time, as that is between a linear and a logarithmic axis. */
static double way(const struct histogram *histogram, uint64_t above, sim_time time)
{
    double n = (double)histogram->count;
    double down = n > 1 ? log(n / (double)above) / log(n) : 0;

    return down / 2 + sqrt((double)time / (double)histogram->largest) / 2;
}

/* A time wherever the curve has come a step further: the end of that cell, and the end of the one before if the curve
 * falls so far in this one that it is a step of a stair; and in the end, where nobody has waited longer. */
static void add_times(const struct histogram *histogram, struct times *times)
{
    uint64_t above = histogram->count;
    struct histogram_cell cell = {.high = -1};
    double kept = 0;

    while (histogram_next(histogram, cell.high, &cell)) {
        uint64_t before = above;

        above -= cell.count;
        if (above && way(histogram, above, cell.high) - kept < 1.0 / STEPS)
            continue;
        if (cell.low > 0 &&
            (!above || way(histogram, above, cell.low) - way(histogram, before, cell.low) >= 0.5 / STEPS))
            times->at[times->count++] = cell.low - 1;
        times->at[times->count++] = cell.high;
        kept = above ? way(histogram, above, cell.high) : 1;
    }
}

/* P(W > time) at each of the times, which rise and are ends of cells; NAN of nothing. */
static void put_curve(const struct histogram *histogram, const struct times *times, struct table *table, size_t row,
                      size_t column)
{
    struct histogram_cell cell = {.high = -1};
    bool more = histogram_next(histogram, -1, &cell);
    uint64_t above = histogram->count;

    for (size_t i = 0; i < times->count; i++) {
        for (; more && cell.high <= times->at[i]; more = histogram_next(histogram, cell.high, &cell))
            above -= cell.count;
        table_at(table, row + i, column)->number = histogram->count ? (double)above / (double)histogram->count : NAN;
    }
}

static void put_point(const struct session *session, size_t point, struct table *table)
{
    const struct session_sum *sum = &session->sums[point];
    struct times times = {.at = mem_zeroed(SURVIVAL_ROWS, sizeof *times.at), .count = 1};
    size_t kept = 0, first = table->row_count, last = table->column_count;

    add_times(&sum->observed.waits, &times);
    add_times(&sum->observed.total_waits, &times);
    qsort(times.at, times.count, sizeof *times.at, by_time);
    for (size_t i = 0; i < times.count; i++)
        if (i == 0 || times.at[i] != times.at[kept - 1])
            times.at[kept++] = times.at[i];
    times.count = kept;
    for (size_t i = 0; i < times.count; i++) {
        size_t row = report_keys(&session->plan, point, (struct trial_row){ROW_ALL, 0}, sum->replications, table);

        table_at(table, row, last - 3)->number = sim_seconds(times.at[i]);
    }
    put_curve(&sum->observed.waits, &times, table, first, last - 2);
    put_curve(&sum->observed.total_waits, &times, table, first, last - 1);
    free(times.at);
}

void survival_table(const struct session *session, struct table *table)
{
    report_key_columns(&session->plan, table);
    table_column(table, wait_column, "s", "", "a wait: the other columns tell how many waited longer", TABLE_VALUE,
                 true);
    table_column(table, "wait_survival", "", "lower",
                 "share of the calls that waited longer from their last admission to the start of service; 0 counts",
                 TABLE_VALUE, true);
    table_column(table, "total_wait_survival", "", "lower",
                 "share of the calls that waited longer from their first attempt to the start of the service that "
                 "succeeded",
                 TABLE_VALUE, true);
    for (size_t point = 0; point < session->plan.point_count; point++)
        if (session->sums[point].replications > 0)
            put_point(session, point, table);
}

bool survival_is(const struct table_file *file)
{
    return file->replications + 1 < file->column_count && strcmp(file->names[file->replications + 1], wait_column) == 0;
}
