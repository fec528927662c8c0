/* figure_layout.c - ranges by what is drawn, labels by trying. */
#include "sim/cli/figure_layout.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The x axis of survival curves is logarithmic where the longest curve is so many times as long as it takes the
 * shortest to lose nine tenths of its height: on a linear axis that one would be a wall. It then begins where the first
 * curve has lost this share, but not further than so many times below the end. */
#define LONG_CURVE 40.0
#define LOST 0.03
#define LOG_WIDEST 1e6

/* Heights that a label beside a curve tries; samples of a curve under a label; air between the two. */
enum { HEIGHTS = 40, SAMPLES = 16 };
#define BESIDE_X 0.010
#define BESIDE_Y 0.012
#define LEFT_BAD 0.1 /* right is where a reader looks for it */

struct spot {
    double at; /* share of the height of the axes */
    size_t series;
};

static int by_number(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;

    return (a > b) - (a < b);
}

const double *layout_all_x(const struct figure *figure, size_t *count, struct arena *arena)
{
    size_t room = 0, kept = 0, next = 0;
    double *all;

    for (size_t i = 0; i < figure->count; i++)
        room += figure->series[i].count;
    all = arena_zeroed(arena, room, sizeof *all);
    for (size_t i = 0; i < figure->count; i++)
        for (size_t k = 0; k < figure->series[i].count; k++)
            all[next++] = figure->series[i].points[k].x;
    qsort(all, room, sizeof *all, by_number);
    for (size_t i = 0; i < room; i++)
        if (i == 0 || all[i] != all[kept - 1])
            all[kept++] = all[i];
    *count = kept;
    return all;
}

/* The first x at which the curve is at most at this share of its height at 0, or its last above 0. */
static double falls_to(const struct figure_series *series, double share)
{
    double x = 0;

    for (size_t i = 0; i < series->count && series->points[i].y > 0; i++) {
        x = series->points[i].x;
        if (series->points[i].y <= share * series->points[0].y && x > 0)
            break;
    }
    return x;
}

static struct axis survival_x(const struct figure *figure)
{
    double longest = 0, shortest = INFINITY, first = INFINITY;

    for (size_t i = 0; i < figure->count; i++) {
        longest = fmax(longest, falls_to(&figure->series[i], 0));
        if (falls_to(&figure->series[i], 0.1) > 0)
            shortest = fmin(shortest, falls_to(&figure->series[i], 0.1));
        if (falls_to(&figure->series[i], 1 - LOST) > 0)
            first = fmin(first, falls_to(&figure->series[i], 1 - LOST));
    }
    if (longest > LONG_CURVE * shortest)
        return (struct axis){fmax(first, longest / LOG_WIDEST), 1.25 * longest, true};
    return (struct axis){0, longest > 0 ? 1.04 * longest : 1, false};
}

/* Logarithmic from two decades on. */
struct axis layout_x(const struct figure *figure, struct arena *arena)
{
    size_t count;
    const double *x;
    double low, high, air;

    if (figure->form == FIGURE_SURVIVAL)
        return survival_x(figure);
    x = layout_all_x(figure, &count, arena);
    low = x[0];
    high = x[count - 1];
    air = high > low ? 0.03 * (high - low) : 1;
    if (low > 0 && high >= 100 * low)
        return (struct axis){low * 0.8, high * 1.25, true};
    return (struct axis){low - air, high + air, false};
}

/* From 1 to where the lowest curve ends. */
static struct axis survival_y(const struct figure *figure)
{
    double low = 0.1;

    for (size_t i = 0; i < figure->count; i++)
        for (size_t k = 0; k < figure->series[i].count; k++)
            if (figure->series[i].points[k].y > 0)
                low = fmin(low, figure->series[i].points[k].y);
    return (struct axis){0.8 * low, 1, true};
}

/* From 0, whatever the sign; half-widths, ranges and a little air included. */
struct axis layout_y(const struct figure *figure)
{
    struct axis axis = {0, 0, false};
    double air;

    if (figure->form == FIGURE_SURVIVAL)
        return survival_y(figure);
    for (size_t i = 0; i < figure->count; i++) {
        for (size_t k = 0; k < figure->series[i].count; k++) {
            const struct figure_point *point = &figure->series[i].points[k];
            double reach = isnan(point->half_width) ? 0 : point->half_width;
            bool panels = figure->form == FIGURE_PANELS;

            if (!figure->never_negative)
                axis.low = fmin(axis.low, panels ? point->low : point->y - reach);
            axis.high = fmax(axis.high, panels ? point->high : point->y + reach);
        }
    }
    if (axis.low == axis.high)
        axis.high = 1;
    air = 0.05 * (axis.high - axis.low);
    axis.low -= axis.low < 0 ? air : 0;
    axis.high += axis.high > 0 ? air : 0;
    return axis;
}

double layout_share(struct axis axis, double value)
{
    if (axis.log)
        return log(fmax(value, axis.low) / axis.low) / log(axis.high / axis.low);
    return (value - axis.low) / (axis.high - axis.low);
}

const struct figure_point *layout_end(const struct figure_series *series)
{
    size_t last = series->count - 1;

    while (last > 0 && isnan(series->points[last].y))
        last--;
    return &series->points[last];
}

static int by_place(const void *left, const void *right)
{
    const struct spot *a = left, *b = right;

    if (a->at != b->at)
        return a->at < b->at ? -1 : 1;
    return (a->series > b->series) - (a->series < b->series);
}

/* Moves sorted spots at least `gap` apart within [0, 1], with the least sum of squares: what is left of each place when
 * the gaps below it are taken off has only to rise, which pooling neighbours out of order does (isotonic regression).
 */
static void move_apart(struct spot *spots, size_t count, double gap, struct arena *arena)
{
    struct pool {
        double sum;
        size_t size;
    } *pools = arena_zeroed(arena, count, sizeof *pools);
    size_t used = 0, spot = 0;
    double highest = 1 - gap * (double)(count - 1);

    for (size_t i = 0; i < count; i++) {
        pools[used++] = (struct pool){spots[i].at - gap * (double)i, 1};
        while (used > 1 && pools[used - 2].sum * (double)pools[used - 1].size >
                               pools[used - 1].sum * (double)pools[used - 2].size) {
            used--;
            pools[used - 1].sum += pools[used].sum;
            pools[used - 1].size += pools[used].size;
        }
    }
    for (size_t i = 0; i < used; i++) {
        double place = fmin(fmax(pools[i].sum / (double)pools[i].size, 0), highest);

        for (size_t k = 0; k < pools[i].size; k++, spot++)
            spots[spot].at = place + gap * (double)spot;
    }
}

void layout_ends(const struct figure *figure, struct axis y, double gap, double *heights, struct arena *arena)
{
    struct spot *spots = arena_zeroed(arena, figure->count, sizeof *spots);

    for (size_t i = 0; i < figure->count; i++)
        spots[i] = (struct spot){layout_share(y, layout_end(&figure->series[i])->y), i};
    qsort(spots, figure->count, sizeof *spots, by_place);
    move_apart(spots, figure->count, gap, arena);
    for (size_t i = 0; i < figure->count; i++)
        heights[spots[i].series] = spots[i].at;
}

/* Of a point of the curve, in shares; past its end it is at the bottom. */
static double height_at(const struct figure_series *series, struct axis x, struct axis y, double share)
{
    double before_x = 0, before_y = layout_share(y, series->points[0].y);

    for (size_t i = 0; i < series->count && series->points[i].y > 0; i++) {
        double next_x = layout_share(x, series->points[i].x), next_y = layout_share(y, series->points[i].y);

        if (next_x >= share)
            return next_x > before_x ? before_y + (next_y - before_y) * (share - before_x) / (next_x - before_x)
                                     : next_y;
        before_x = next_x;
        before_y = next_y;
    }
    return -1;
}

/* Where the curve comes down to a height, in shares. */
static double place_at(const struct figure_series *series, struct axis x, struct axis y, double height)
{
    double before_x = 0, before_y = layout_share(y, series->points[0].y);

    for (size_t i = 0; i < series->count && series->points[i].y > 0; i++) {
        double next_x = layout_share(x, series->points[i].x), next_y = layout_share(y, series->points[i].y);

        if (next_y <= height)
            return next_y < before_y ? before_x + (next_x - before_x) * (before_y - height) / (before_y - next_y)
                                     : next_x;
        before_x = next_x;
        before_y = next_y;
    }
    return before_x;
}

static double overlap(double low, double high, double other_low, double other_high)
{
    return fmax(0, fmin(high, other_high) - fmax(low, other_low));
}

/* How bad a place is: outside of the axes, on a label, on a curve; and a little for each step from the middle. */
static double badness(const struct figure *figure, struct axis x, struct axis y, const struct label_box *boxes,
                      size_t index)
{
    const struct label_box *box = &boxes[index];
    double bad = 100 * (fmax(0, box->x + box->width - 1) + fmax(0, box->y + box->height - 1)) +
                 100 * (fmax(0, -box->x) + fmax(0, -box->y)) + 0.1 * fabs(box->y + box->height / 2 - 0.5);

    for (size_t i = 0; i < index; i++) {
        double wide = overlap(box->x, box->x + box->width, boxes[i].x, boxes[i].x + boxes[i].width);
        double high = overlap(box->y, box->y + box->height, boxes[i].y, boxes[i].y + boxes[i].height);

        bad += 50 * (wide / box->width) * (high / box->height);
    }
    for (size_t i = 0; i < figure->count; i++) {
        for (int k = 0; i != index && k <= SAMPLES; k++) {
            double height = height_at(&figure->series[i], x, y, box->x + box->width * k / SAMPLES);

            bad += height > box->y - BESIDE_Y && height < box->y + box->height + BESIDE_Y ? 10.0 / SAMPLES : 0;
        }
    }
    return bad;
}

/* A falling curve leaves the room above and right of each of its points, and that below and left of it. */
static void stand_beside(const struct figure_series *series, struct axis x, struct axis y, double height, bool left,
                         struct label_box *box)
{
    double place = place_at(series, x, y, height);

    box->x = left ? place - BESIDE_X - box->width : place + BESIDE_X;
    box->y = left ? height - BESIDE_Y - box->height : height + BESIDE_Y;
}

void layout_beside(const struct figure *figure, struct axis x, struct axis y, struct label_box *boxes)
{
    for (size_t i = 0; i < figure->count; i++) {
        double top = layout_share(y, figure->series[i].points[0].y), least = INFINITY;
        struct label_box best = boxes[i];

        for (int k = 2; k < 2 * HEIGHTS; k++) {
            double height = (double)(k / 2) / HEIGHTS, bad;
            bool left = k % 2 == 1;

            if (height > top && k > 3)
                break;
            stand_beside(&figure->series[i], x, y, height, left, &boxes[i]);
            bad = badness(figure, x, y, boxes, i) + (left ? LEFT_BAD : 0);
            if (bad < least) {
                least = bad;
                best = boxes[i];
            }
        }
        boxes[i] = best;
    }
}
