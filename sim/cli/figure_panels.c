/* figure_panels.c - plots/panels.gp draws one panel each time that it is loaded; each has its data in a block of its
 * own. */
#include "sim/cli/figure_panels.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "sim/io/quote.h"

/* Characters of a title, and of an entry of a legend, that fit; and tics that leave room for their texts in a low
 * panel. */
enum { TITLE_MOST = 80, LABEL_MOST = 60, TICS = 5 };
/* Shares of the picture's width: that a row of a legend has, and what an entry has beside its text (which is smaller
 * than labels elsewhere). */
#define LEGEND_WIDTH 0.87
#define ENTRY_FRAME 0.08
#define ENTRY_CHARACTER (0.85 * SCRIPT_CHARACTER)

/* One of the two axes of a panel, and how many characters its longest number has. */
struct scale {
    struct axis axis;
    double step;
    size_t digits;
};

/* Where an entry of a legend begins: a share of the picture's width behind the left end, and a row from above. */
struct entry {
    double x;
    size_t row;
};

struct layout {
    struct scale left, right;
    struct entry *entries;
    size_t entry_rows;
};

/* From the first sample to the last. */
static struct axis time_axis(const struct figure *figure)
{
    struct axis axis = {INFINITY, -INFINITY, false};

    for (size_t panel = 0; panel < figure->panel_count; panel++) {
        for (size_t i = 0; i < figure->panels[panel].count; i++) {
            const struct figure_series *series = &figure->panels[panel].series[i];

            axis.low = fmin(axis.low, series->points[0].x);
            axis.high = fmax(axis.high, series->points[series->count - 1].x);
        }
    }
    axis.high = axis.high > axis.low ? axis.high : axis.low + 1;
    return axis;
}

/* 1, 2 or 5 times a power of 10. */
static double step_of(struct axis y)
{
    double least = (y.high - y.low) / TICS, power = pow(10, floor(log10(least))), part = least / power;

    return power * (part <= 1 ? 1 : part <= 2 ? 2 : part <= 5 ? 5 : 10);
}

/* As gnuplot prints them. */
static size_t digits_of(struct axis y, double step)
{
    size_t longest = 0;

    for (double tic = ceil(y.low / step); tic * step <= y.high; tic++) {
        char text[40];
        size_t length = (size_t)snprintf(text, sizeof text, "%g", tic * step);

        longest = length > longest ? length : longest;
    }
    return longest;
}

/* Of these series; without any, nothing has a place on it. */
static struct scale scale_of(const struct figure_series *series, size_t count)
{
    struct figure part = {.form = FIGURE_PANELS, .series = series, .count = count};
    struct scale scale = {.axis = layout_y(&part)};

    scale.step = step_of(scale.axis);
    scale.digits = count ? digits_of(scale.axis, scale.step) : 0;
    return scale;
}

static size_t lefts_of(const struct figure_panel *panel)
{
    size_t lefts = 0;

    while (lefts < panel->count && !panel->series[lefts].right)
        lefts++;
    return lefts;
}

static void put_scale(const char *name, struct scale scale, struct script *script)
{
    script_number(arena_format(script->arena, "%s_low", name), scale.axis.low, script);
    script_number(arena_format(script->arena, "%s_high", name), scale.axis.high, script);
    script_number(arena_format(script->arena, "%s_step", name), scale.step, script);
}

/* Entries one behind the other in as many rows as it takes. Returns how many. */
static size_t lay_legend(const struct figure_panel *panel, struct entry *entries)
{
    struct entry next = {0, 0};

    for (size_t i = 0; i < panel->count; i++) {
        size_t length = quote_width(panel->series[i].label);
        double width = ENTRY_FRAME + ENTRY_CHARACTER * (double)(length < LABEL_MOST ? length : LABEL_MOST + 1);

        if (next.x > 0 && next.x + width > LEGEND_WIDTH)
            next = (struct entry){0, next.row + 1};
        entries[i] = next;
        next.x += width;
    }
    return next.row + 1;
}

/* Between two gaps, so that no line shows it. */
static bool is_alone(const struct figure_series *series, size_t index)
{
    return (index == 0 || isnan(series->points[index - 1].y)) &&
           (index + 1 == series->count || isnan(series->points[index + 1].y));
}

/* A block a series, under column names, blocks apart by two blank lines: gnuplot's index. */
static void put_data(const struct figure_panel *panel, struct script *script)
{
    fputs("$table << END\n", script->file);
    for (size_t i = 0; i < panel->count; i++) {
        fputs("x y low high alone\n", script->file);
        for (size_t k = 0; k < panel->series[i].count; k++) {
            const struct figure_point *point = &panel->series[i].points[k];

            script_number("", point->x, script);
            script_number("", point->y, script);
            script_number("", point->low, script);
            script_number("", point->high, script);
            script_number("", is_alone(&panel->series[i], k) ? point->y : NAN, script);
            putc('\n', script->file);
        }
        fputs("\n\n", script->file);
    }
    fputs("END\n", script->file);
}

static void put_panel(const struct figure *figure, size_t index, const struct layout *layout, struct script *script)
{
    const struct figure_panel *panel = &figure->panels[index];

    fprintf(script->file, "panel = %zu\nentry_rows = %zu\n", index + 1, layout->entry_rows);
    script_series(panel->series, panel->count, figure->joined ? LABEL_MOST : SCRIPT_LABEL_MOST, script);
    fputs("array entry_x[count]\narray entry_row[count]\n", script->file);
    for (size_t i = 0; i < panel->count; i++) {
        script_element("entry_x", i, layout->entries[i].x, script);
        script_element("entry_row", i, (double)layout->entries[i].row, script);
    }
    script_text("panel_title", panel->title, TITLE_MOST, script);
    script_text("right_title", panel->right ? panel->right : "", TITLE_MOST, script);
    fprintf(script->file, "lefts = %zu\n", lefts_of(panel));
    put_scale("y", layout->left, script);
    put_scale("right", layout->right, script);
    put_data(panel, script);
    fputs("load scripts.\"/panels.gp\"\n", script->file);
}

static size_t greater(size_t a, size_t b)
{
    return a > b ? a : b;
}

void figure_panels(const struct figure *figure, struct script *script)
{
    struct layout *layouts = arena_zeroed(script->arena, figure->panel_count, sizeof *layouts);
    size_t longest = 0, left = 0, right = 0, rows = 0;

    for (size_t i = 0; i < figure->panel_count; i++) {
        const struct figure_panel *panel = &figure->panels[i];
        struct layout *layout = &layouts[i];
        size_t lefts = lefts_of(panel);

        layout->left = scale_of(panel->series, lefts);
        layout->right = scale_of(panel->series + lefts, panel->count - lefts);
        layout->entries = arena_zeroed(script->arena, panel->count, sizeof *layout->entries);
        layout->entry_rows = lay_legend(panel, layout->entries);
        rows += layout->entry_rows;
        longest = greater(longest, script_longest(panel->series, panel->count));
        left = greater(left, layout->left.digits);
        right = greater(right, layout->right.digits);
    }
    script_labels(longest, script);
    script_x_axis(figure, time_axis(figure), script);
    fprintf(script->file, "panels = %zu\njoined = %d\nall_entry_rows = %zu\nleft_digits = %zu\nright_digits = %zu\n",
            figure->panel_count, figure->joined, rows, left, right);
    for (size_t i = 0; i < figure->panel_count; i++)
        put_panel(figure, i, &layouts[i], script);
}
