/* figure_script.c - numbers and escaped texts as variables and a block of data, for one of the scripts in plots/. */
#include "sim/cli/figure_script.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/cli/figure_panels.h"
#include "sim/cli/script.h"
#include "sim/io/quote.h"
#include "sim/io/table.h"
#include "sim/io/unit.h"

/* Characters that fit; and tics. */
enum { TITLE_MOST = 72, SUBTITLE_MOST = 100, TICS_MOST = 16 };
/* Shares: of the height of the axes, the least distance of two labels; of the picture's width, what is beside axes and
 * labels. */
#define LABEL_GAP 0.055
#define FRAME 0.165

/* Their texts do not touch: a tic at each x of the table. Else gnuplot chooses. */
static bool tics_fit(const double *x, size_t count, struct axis axis, double width)
{
    double before = -1;

    for (size_t i = 0; i < count && count <= TICS_MOST; i++) {
        double at = layout_share(axis, x[i]) * width, half;
        char digits[40];

        unit_digits(x[i], digits, sizeof digits);
        half = SCRIPT_CHARACTER * (double)(strlen(digits) + 1) / 2;
        if (i > 0 && at - half < before)
            return false;
        before = at + half;
    }
    return count <= TICS_MOST;
}

static void put_tics(const double *x, size_t count, struct axis axis, double width, struct script *script)
{
    bool shown = tics_fit(x, count, axis, width);

    fprintf(script->file, "tics = %zu\n", shown ? count : 0);
    if (!shown)
        return;
    fprintf(script->file, "array tic[%zu]\n", count);
    for (size_t i = 0; i < count; i++)
        script_element("tic", i, x[i], script);
}

static void put_curves(const struct figure *figure, double label_width, struct script *script)
{
    struct axis x = layout_x(figure, script->arena), y = layout_y(figure);
    double *heights = arena_zeroed(script->arena, figure->count, sizeof *heights);
    double gap = fmin(LABEL_GAP, 1 / (double)figure->count), low, high;
    size_t count;
    const double *all = layout_all_x(figure, &count, script->arena);

    low = all[0];
    high = all[count - 1];
    script_x_axis(figure, x, script);
    put_tics(all, count, x, 1 - FRAME - label_width, script);
    script_number("knee", figure->knee >= low && figure->knee <= high ? figure->knee : NAN, script);
    layout_ends(figure, y, gap, heights, script->arena);
    script_number("label_shrink", gap / LABEL_GAP, script);
    fputs("array label_at[count]\narray end_x[count]\narray end_y[count]\narray points[count]\n", script->file);
    for (size_t i = 0; i < figure->count; i++) {
        const struct figure_point *end = layout_end(&figure->series[i]);

        script_element("label_at", i, heights[i], script);
        script_element("end_x", i, end->x, script);
        script_element("end_y", i, end->y, script);
        script_element("points", i, (double)figure->series[i].count, script);
    }
}

static void put_bars(const struct figure *figure, struct script *script)
{
    fputs("array value[count]\narray end_y[count]\n", script->file);
    for (size_t i = 0; i < figure->count; i++) {
        const struct figure_point *bar = &figure->series[i].points[0];
        char name[40], text[80];

        table_format(bar->y, bar->half_width, false, text, sizeof text);
        snprintf(name, sizeof name, "value[%zu]", i + 1);
        script_text(name, text, sizeof text, script);
        script_element("end_y", i, fmax(bar->y + (isnan(bar->half_width) ? 0 : bar->half_width), 0), script);
    }
}

static void put_survival(const struct figure *figure, double label_width, struct script *script)
{
    struct axis x = layout_x(figure, script->arena), y = layout_y(figure);
    struct label_box *boxes = arena_zeroed(script->arena, figure->count, sizeof *boxes);

    for (size_t i = 0; i < figure->count; i++) {
        size_t length = quote_width(figure->series[i].label);

        boxes[i].width = fmin(SCRIPT_CHARACTER * (double)(length + 1), label_width) / (1 - FRAME);
        boxes[i].height = LABEL_GAP;
    }
    layout_beside(figure, x, y, boxes);
    script_x_axis(figure, x, script);
    fputs("array label_x[count]\narray label_y[count]\n", script->file);
    for (size_t i = 0; i < figure->count; i++) {
        script_element("label_x", i, boxes[i].x, script);
        script_element("label_y", i, boxes[i].y + boxes[i].height / 2, script);
    }
}

/* A block a series, under column names, blocks apart by two blank lines: gnuplot's index. Bars are one block. */
static void put_data(const struct figure *figure, struct script *script)
{
    bool bars = figure->form == FIGURE_BARS;

    fputs("$table << END\n", script->file);
    for (size_t i = 0; i < figure->count; i++) {
        if (!bars || i == 0)
            fprintf(script->file, "x y low high%s\n", bars ? " colour" : "");
        for (size_t k = 0; k < figure->series[i].count; k++) {
            const struct figure_point *point = &figure->series[i].points[k];
            double reach = isnan(point->half_width) ? 0 : point->half_width;

            script_number("", bars ? (double)(i + 1) : point->x, script);
            script_number("", point->y, script);
            script_number("", figure->never_negative ? fmax(point->y - reach, 0) : point->y - reach, script);
            script_number("", point->y + reach, script);
            if (bars)
                fprintf(script->file, " %zu", figure->series[i].colour % SCRIPT_COLOURS + 1);
            putc('\n', script->file);
        }
        fputs(bars ? "" : "\n\n", script->file);
    }
    fputs("END\n", script->file);
}

void figure_script(const struct figure *figure, const char *scripts, const char *format, const char *path, FILE *file,
                   struct arena *arena)
{
    static const char *const forms[] = {
        [FIGURE_CURVES] = "curves", [FIGURE_BARS] = "bars", [FIGURE_SURVIVAL] = "survival"};
    struct script to = {file, arena, strcmp(format, "png") == 0}, *script = &to;
    struct axis y;
    double label_width;

    script_bytes("scripts", scripts, script);
    script_bytes("picture", path, script);
    fprintf(file, "format = \"%s\"\n", format);
    script_text("title", figure->title, TITLE_MOST, script);
    script_text("subtitle", figure->subtitle, SUBTITLE_MOST, script);
    if (figure->form == FIGURE_PANELS) {
        figure_panels(figure, script);
        return;
    }
    label_width = script_labels(script_longest(figure->series, figure->count), script);
    script_series(figure->series, figure->count, SCRIPT_LABEL_MOST, script);
    script_text("y_title", figure->y_title, SCRIPT_AXIS_MOST, script);
    y = layout_y(figure);
    script_number("y_low", y.low, script);
    script_number("y_high", y.high, script);
    if (figure->form == FIGURE_CURVES)
        put_curves(figure, label_width, script);
    else if (figure->form == FIGURE_BARS)
        put_bars(figure, script);
    else
        put_survival(figure, label_width, script);
    put_data(figure, script);
    fprintf(file, "load scripts.\"/%s.gp\"\n", forms[figure->form]);
}
