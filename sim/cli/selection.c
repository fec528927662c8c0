/* selection.c - telling apart the curves of one policy, and collecting their points. */
#include "sim/cli/selection.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool selection_same(const struct selection *drawn, size_t a, size_t b, size_t column)
{
    return strcmp(selection_cell(drawn, a, column), selection_cell(drawn, b, column)) == 0;
}

bool selection_has_x(const struct selection *drawn)
{
    return drawn->x != drawn->file->replications;
}

const char *selection_replications(const struct selection *drawn)
{
    for (size_t i = 1; i < drawn->row_count; i++)
        if (!selection_same(drawn, 0, i, drawn->file->replications))
            return NULL;
    return selection_cell(drawn, 0, drawn->file->replications);
}

const char *selection_fixed(struct selection *drawn)
{
    const struct table_file *file = drawn->file;
    const char *fixed = "";

    for (size_t column = TABLE_FILE_FACTORS; column < file->replications; column++) {
        const char *value = NULL, *dot = strrchr(file->names[column], '.');
        bool one = column != drawn->x, several = false;

        for (size_t i = 0; i < drawn->row_count && one; i++) {
            const char *own = selection_cell(drawn, i, column);

            one = !own[0] || !value || strcmp(own, value) == 0;
            value = own[0] ? own : value;
        }
        for (size_t i = 0; i < file->row_count && one && value; i++) {
            const char *other = file->rows[i].cells[column];

            several = several || (other[0] && strcmp(other, value) != 0);
        }
        if (several)
            fixed = arena_format(&drawn->arena, "%s%s%s %s", fixed, fixed[0] ? ", " : "",
                                 dot ? dot + 1 : file->names[column], value);
    }
    return fixed;
}

static int by_x(const void *left, const void *right)
{
    const struct figure_point *a = left, *b = right;

    return (a->x > b->x) - (a->x < b->x);
}

/* A point a row; where x is empty or nothing is drawn against, it is NAN. False after an error. */
static bool read_points(struct selection *drawn, size_t metric, struct figure_point *points)
{
    const char *name = drawn->file->names[metric], *end, *why;
    bool half_widths = metric + 1 < drawn->file->column_count &&
                       strcmp(drawn->file->names[metric + 1], arena_format(&drawn->arena, "%s_hw", name)) == 0;
    bool good = true;

    for (size_t i = 0; i < drawn->row_count; i++) {
        struct number x = {.value = NAN};

        points[i].half_width = NAN;
        if (selection_has_x(drawn) && selection_cell(drawn, i, drawn->x)[0])
            unit_read(selection_cell(drawn, i, drawn->x), &end, &x, &why);
        points[i].x = x.value;
        good = table_file_number(drawn->file, drawn->rows[i], metric, &points[i].y, drawn->diag) && good;
        if (half_widths)
            good =
                table_file_number(drawn->file, drawn->rows[i], metric + 1, &points[i].half_width, drawn->diag) && good;
    }
    return good;
}

/* The curve of all rows with the label of the first, marked as used. A row without an x is a level line over the whole
 * range. */
static struct figure_series collect(struct selection *drawn, size_t first, const struct figure_point *points,
                                    bool *used)
{
    struct figure_series series = {
        .label = drawn->labels[first], .colour = drawn->colours[first], .dash = drawn->dashes[first]};
    struct figure_point *kept = arena_zeroed(&drawn->arena, 2 * drawn->row_count, sizeof *kept);
    double low = INFINITY, high = -INFINITY;

    for (size_t i = 0; i < drawn->row_count; i++) {
        low = fmin(low, points[i].x);
        high = fmax(high, points[i].x);
    }
    for (size_t i = first; i < drawn->row_count; i++) {
        if (strcmp(drawn->labels[i], series.label) != 0)
            continue;
        used[i] = true;
        kept[series.count++] = points[i];
        if (selection_has_x(drawn) && isnan(points[i].x)) {
            kept[series.count - 1].x = low;
            kept[series.count] = points[i];
            kept[series.count++].x = high;
        }
    }
    if (!selection_has_x(drawn))
        series.count = 1;
    else
        qsort(kept, series.count, sizeof *kept, by_x);
    series.points = kept;
    return series;
}

/* A share of 0 has no place on an axis of logarithms. */
static bool is_drawn(const struct selection *drawn, const struct figure_series *series)
{
    for (size_t i = 0; i < series->count; i++)
        if (drawn->survival ? series->points[i].y > 0 : !isnan(series->points[i].y))
            return true;
    return false;
}

static bool find_series(struct selection *drawn, const struct figure_point *points, struct figure_series *series,
                        size_t *count)
{
    bool *used = arena_zeroed(&drawn->arena, drawn->row_count, sizeof *used);

    *count = 0;
    for (size_t i = 0; i < drawn->row_count; i++) {
        struct figure_series found;

        if (used[i])
            continue;
        found = collect(drawn, i, points, used);
        if (!is_drawn(drawn, &found))
            continue;
        if (*count == SELECTION_CURVES_MOST) {
            diag_error(drawn->diag, (struct place){drawn->file->path, 0, 0},
                       "there are more than %d %s, nobody could tell them apart: draw fewer factors or policies",
                       SELECTION_CURVES_MOST, selection_has_x(drawn) ? "curves" : "bars");
            return false;
        }
        series[(*count)++] = found;
    }
    return true;
}

bool selection_make(const struct table_file *file, const struct selection_request *request, struct selection *drawn,
                    struct diag *diag)
{
    *drawn = (struct selection){.file = file, .x = file->replications, .diag = diag};
    if (!selection_choose(request, drawn))
        return false;
    selection_name(drawn);
    return true;
}

void selection_fini(struct selection *drawn)
{
    arena_free(&drawn->arena);
    *drawn = (struct selection){0};
}

const struct figure_series *selection_series(struct selection *drawn, size_t metric, size_t *count)
{
    struct figure_point *points = arena_zeroed(&drawn->arena, drawn->row_count, sizeof *points);
    struct figure_series *series = arena_zeroed(&drawn->arena, SELECTION_CURVES_MOST, sizeof *series);

    return read_points(drawn, metric, points) && find_series(drawn, points, series, count) ? series : NULL;
}
