/* plot_record.c - columns of a record over time: in panels, one below the other.
 *
 * A panel of one column has a curve an alternative, in the colours of the other pictures. Where columns share a panel,
 * colours and thickness tell columns apart, and dashes alternatives; of one alternative, dashes the fourth column and
 * the next from the first three. There a sample is a level that lasts until the next: curves of several columns meet,
 * and slopes between samples would show crossings that never were. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/cli/arguments.h"
#include "sim/cli/plot_private.h"
#include "sim/cli/record_curves.h"
#include "sim/cli/record_panels.h"

/* Of a longer curve so many stretches, and so many levels of one with steps, which take more than a pixel each; and in
 * how many thicknesses plots/panels.gp draws joined columns. */
enum { STRETCHES = 300, LEVELS = 600, THICKNESSES = 3 };

/* How many samples make a stretch, which is drawn by its mean and its range; 1: all are drawn. */
static size_t stretch_of(const struct record_curve *curve, size_t most)
{
    return (curve->count + most - 1) / most;
}

/* Of the samples from one to before another, in the middle of their time; y NAN: none of them has a value. */
static struct figure_point point_of(const struct record_curves *curves, size_t curve, size_t column, size_t from,
                                    size_t end)
{
    double begin = record_curves_at(curves, curve, from, 0), sum = 0;
    struct figure_point point = {begin + (record_curves_at(curves, curve, end - 1, 0) - begin) / 2, NAN, NAN, INFINITY,
                                 -INFINITY};
    size_t count = 0;

    for (size_t i = from; i < end; i++) {
        double value = record_curves_at(curves, curve, i, column);

        if (isnan(value))
            continue;
        point.low = value < point.low ? value : point.low;
        point.high = value > point.high ? value : point.high;
        sum += value;
        count++;
    }
    if (count == 0)
        point.low = point.high = NAN;
    else
        point.y = sum / (double)count;
    return point;
}

static struct figure_series series_of(struct plot *plot, size_t row, size_t column)
{
    const struct record_curves *curves = plot->file.record;
    size_t curve = plot->drawn.rows[row], samples = curves->list[curve].count;
    size_t stretch = stretch_of(&curves->list[curve], STRETCHES);
    struct figure_point *points = arena_zeroed(&plot->file.arena, samples / stretch + 1, sizeof *points);
    struct figure_series series = {.label = plot->drawn.labels[row],
                                   .points = points,
                                   .colour = plot->drawn.colours[row],
                                   .dash = plot->drawn.dashes[row]};

    for (size_t from = 0; from < samples; from += stretch) {
        size_t end = from + stretch < samples ? from + stretch : samples;

        points[series.count++] = point_of(curves, curve, column, from, end);
    }
    points[0].x = record_curves_at(curves, curve, 0, 0); /* so that the axis begins and ends as the record does */
    points[series.count - 1].x = record_curves_at(curves, curve, samples - 1, 0);
    return series;
}

/* Each stretch is a level from its first sample to that of the next. */
static void make_steps(struct plot *plot, size_t curve, size_t column, struct figure_series *series)
{
    const struct record_curves *curves = plot->file.record;
    size_t samples = curves->list[curve].count, stretch = stretch_of(&curves->list[curve], LEVELS);
    struct figure_point *points = arena_zeroed(&plot->file.arena, 2 * (samples / stretch + 1), sizeof *points);

    series->points = points;
    for (size_t from = 0; from < samples; from += stretch) {
        size_t end = from + stretch < samples ? from + stretch : samples;
        size_t next = end < samples ? end : samples - 1;
        struct figure_point point = point_of(curves, curve, column, from, end);

        point.x = record_curves_at(curves, curve, from, 0);
        points[series->count++] = point;
        point.x = record_curves_at(curves, curve, next, 0);
        if (next > from)
            points[series->count++] = point;
    }
}

/* "planner.ceiling, codel (right)" */
static const char *joined_label(struct plot *plot, size_t row, size_t column, bool right)
{
    return arena_format(&plot->file.arena, "%s%s%s%s", plot->file.record->names[column],
                        plot->drawn.row_count > 1 ? ", " : "", plot->drawn.row_count > 1 ? plot->drawn.labels[row] : "",
                        right ? " (right)" : "");
}

static void joined_panel(struct plot *plot, const struct record_panel *chosen, struct figure_panel *panel)
{
    size_t curves = plot->drawn.row_count;
    struct figure_series *series = arena_zeroed(&plot->file.arena, chosen->count * curves, sizeof *series);

    panel->series = series;
    panel->title = record_panels_unit(plot, chosen->columns[0]);
    if (chosen->lefts < chosen->count)
        panel->right = record_panels_unit(plot, chosen->columns[chosen->lefts]);
    for (size_t i = 0; i < chosen->count; i++) {
        for (size_t row = 0; row < curves; row++) {
            struct figure_series *next = &series[panel->count];

            if (!record_curves_has(plot->file.record, plot->drawn.rows[row], chosen->columns[i]))
                continue;
            next->right = i >= chosen->lefts;
            next->label = joined_label(plot, row, chosen->columns[i], next->right);
            next->colour = i;
            next->dash = curves > 1 ? row : i / THICKNESSES;
            make_steps(plot, plot->drawn.rows[row], chosen->columns[i], next);
            panel->count++;
        }
    }
}

static void single_panel(struct plot *plot, size_t column, struct figure_panel *panel)
{
    struct arena *arena = &plot->file.arena;
    const char *name = plot->file.record->names[column], *unit = record_panels_unit(plot, column);
    struct figure_series *series = arena_zeroed(arena, plot->drawn.row_count, sizeof *series);

    panel->title = unit[0] ? arena_format(arena, "%s (%s)", name, unit) : name;
    panel->series = series;
    for (; panel->count < plot->drawn.row_count; panel->count++)
        series[panel->count] = series_of(plot, panel->count, column);
}

static const char *subtitle(struct plot *plot, size_t most)
{
    const struct record_curves *curves = plot->file.record;
    struct arena *arena = &plot->file.arena;
    const char *text = "replication 1";
    size_t stretch = 1;

    for (size_t row = 0; row < plot->drawn.row_count; row++) {
        const struct record_curve *curve = &curves->list[plot->drawn.rows[row]];

        stretch = stretch_of(curve, most) > stretch ? stretch_of(curve, most) : stretch;
        if (row > 0 || curve->count < 2 || curves->decisions)
            continue;
        char period[64];

        unit_print_time(curve->numbers[curves->width] - curve->numbers[0], period, sizeof period);
        text = arena_format(arena, "%s, every %s", text, period);
    }
    if (stretch > 1)
        text = arena_format(arena, "%s; mean and range of each %zu in a row", text, stretch);
    return arena_format(arena, "%s%s", text, plot_circumstances(plot));
}

int plot_record(struct plot *plot)
{
    struct figure figure = {.form = FIGURE_PANELS, .x_title = "time (s)", .knee = NAN};
    struct figure_panel *panels;
    struct record_panels chosen;

    if (plot->request->x) {
        diag_error(&plot->diag, (struct place){plot->file.path, 0, 0}, "a record is drawn over time: expected no --x");
        return EXIT_USAGE;
    }
    if (!record_panels_choose(plot, &chosen))
        return EXIT_USAGE;
    panels = arena_zeroed(&plot->file.arena, chosen.count, sizeof *panels);
    for (size_t i = 0; i < chosen.count; i++) {
        if (chosen.joined)
            joined_panel(plot, &chosen.list[i], &panels[i]);
        else
            single_panel(plot, chosen.list[i].columns[0], &panels[i]);
    }
    figure.panels = panels;
    figure.panel_count = chosen.count;
    figure.joined = chosen.joined;
    figure.title = plot_title(plot);
    figure.subtitle = subtitle(plot, chosen.joined ? LEVELS : STRETCHES);
    return plot_draw(plot, &figure, "record");
}
