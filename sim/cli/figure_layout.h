/* figure_layout.h - what gnuplot cannot work out: the ranges of the axes, and labels beside curves that cover neither
 * each other nor a curve. Private to figure_script.c. */
#ifndef CLI_FIGURE_LAYOUT_H
#define CLI_FIGURE_LAYOUT_H

#include "sim/cli/gnuplot.h"
#include "sim/io/mem.h"

struct axis {
    double low, high;
    bool log;
};

/* In shares of the width and the height of the axes; x, y: the lower left corner. */
struct label_box {
    double x, y, width, height;
};

/* All different x of a figure, rising. */
const double *layout_all_x(const struct figure *figure, size_t *count, struct arena *arena);

struct axis layout_x(const struct figure *figure, struct arena *arena);
struct axis layout_y(const struct figure *figure);
/* 0 at the low end of the axis, 1 at the high one. */
double layout_share(struct axis axis, double value);

/* The last point with a y. */
const struct figure_point *layout_end(const struct figure_series *series);
/* Heights of the labels that stand right of the ends of the curves: at least `gap` apart, moved as little as possible.
 */
void layout_ends(const struct figure *figure, struct axis y, double gap, double *heights, struct arena *arena);
/* A place beside each falling curve. Sizes of the boxes are given. */
void layout_beside(const struct figure *figure, struct axis x, struct axis y, struct label_box *boxes);

#endif
