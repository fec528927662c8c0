/* gnuplot.h - a figure as SVG and PNG, drawn by gnuplot with the scripts in plots/.
 *
 * Any bytes may stand in the texts: they are never executed nor read as markup. Pictures appear whole or not at all,
 * and nothing else is left behind. */
#ifndef CLI_GNUPLOT_H
#define CLI_GNUPLOT_H

#include <stdbool.h>
#include <stddef.h>

/* y NAN: a gap; half_width NAN: none. Panels have a range instead, from low to high. */
struct figure_point {
    double x, y, half_width, low, high;
};

struct figure_series {
    const char *label;
    const struct figure_point *points; /* by rising x; at least one with a y */
    size_t count;
    size_t colour, dash; /* places in the palette and among the kinds of line; any number */
    bool right;          /* of a panel: on its second axis */
};

struct figure_panel {
    const char *title, *right;          /* right: of the second axis, or NULL */
    const struct figure_series *series; /* those of the second axis last; some on the first */
    size_t count;
};

enum figure_form {
    FIGURE_CURVES,
    FIGURE_BARS,     /* one bar a series, its first point */
    FIGURE_SURVIVAL, /* falling curves of shares, the axis of y logarithmic; at least one y above 0 in each */
    FIGURE_PANELS,   /* curves over the same x in several panels, one below the other; some may have no y */
};

struct figure {
    const char *title, *subtitle, *x_title, *y_title; /* bars have no x_title */
    const struct figure_series *series;               /* panels have their own, and no y_title */
    size_t count;
    const struct figure_panel *panels;
    size_t panel_count;
    bool joined; /* panels of several columns have a legend each; others have the same labels, colours and dashes, and
                    one legend */
    enum figure_form form;
    bool never_negative; /* half-widths are cut at 0 */
    double knee;         /* marked on the x axis of curves; NAN: none */
};

/* Writes BASE.svg and BASE.png. EXIT_DONE; EXIT_USAGE after a message that says what the user can do (install gnuplot,
 * another folder); EXIT_FAULT after gnuplot's own message. */
int gnuplot_draw(const struct figure *figure, const char *base);

#endif
