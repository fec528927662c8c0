/* columns.c - the cache of CSV columns. */
#include "models/columns.h"

#include <stdlib.h>
#include <string.h>

#include "sim/io/csv.h"
#include "sim/io/mem.h"
#include "sim/io/quote.h"

static const char *path_beside(const char *file, struct place asked, struct arena *arena)
{
    const char *slash = asked.file ? strrchr(asked.file, '/') : NULL;
    if (file[0] == '/' || !slash)
        return arena_text(arena, file);
    return arena_format(arena, "%.*s/%s", (int)(slash - asked.file), asked.file, file);
}

static int compare_doubles(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

struct column *columns_get(struct columns *columns, const char *file, const char *name, double unit, struct place asked,
                           struct diag *diag)
{
    const char *path = path_beside(file, asked, columns->arena);
    for (struct column *column = columns->first; column; column = column->next)
        if (strcmp(column->path, path) == 0 && strcmp(column->name, name) == 0 && column->unit == unit)
            return column;

    double *values = NULL;
    size_t count = 0;
    if (!csv_read_column(path, name, asked, columns->arena, &values, &count, diag))
        return NULL;
    for (size_t i = 0; i < count; i++)
        values[i] *= unit;
    struct column *column = arena_zeroed(columns->arena, 1, sizeof *column);
    *column = (struct column){.path = path,
                              .name = arena_text(columns->arena, name),
                              .unit = unit,
                              .values = values,
                              .count = count,
                              .next = columns->first};
    columns->first = column;
    return column;
}

const double *columns_sorted(struct columns *columns, struct column *column)
{
    if (!column->sorted) {
        double *sorted = arena_zeroed(columns->arena, column->count, sizeof *sorted);
        memcpy(sorted, column->values, column->count * sizeof *sorted);
        qsort(sorted, column->count, sizeof *sorted, compare_doubles);
        column->sorted = sorted;
    }
    return column->sorted;
}

struct backwards {
    const char *name;
    size_t column;
    uint64_t row; /* of the file, its header is 0 */
    struct place place;
};

/* Finds the line of a row that is known to be wrong: a second reading, so that the first keeps no lines. */
static bool find_backwards(void *context, uint64_t row, const struct csv_row *fields)
{
    struct backwards *wrong = context;
    if (row == 0) {
        while (wrong->column < fields->count && strcmp(fields->fields[wrong->column], wrong->name) != 0)
            wrong->column++;
        return wrong->column < fields->count;
    }
    if (row < wrong->row)
        return true;
    wrong->place.line = fields->lines[wrong->column];
    wrong->place.column = fields->columns[wrong->column];
    return false;
}

const sim_time *columns_times(struct columns *columns, struct column *column, struct place asked, struct diag *diag)
{
    if (column->times)
        return column->times;
    sim_time *times = arena_zeroed(columns->arena, column->count, sizeof *times);
    for (size_t i = 0; i < column->count; i++) {
        if (i > 0 && column->values[i] < column->values[i - 1]) {
            struct backwards wrong = {.name = column->name, .row = i + 1, .place = {.file = column->path}};
            csv_read(column->path, asked, find_backwards, &wrong, diag);
            diag_error(
                diag, wrong.place,
                "%s runs backwards: %.15g after %.15g; a trace expects times in ascending order, or `sort` behind "
                "its unit",
                column->name, column->values[i] / column->unit, column->values[i - 1] / column->unit);
            return NULL;
        }
        times[i] = sim_from_seconds(column->values[i] - column->values[0]);
    }
    column->times = times;
    return times;
}

const sim_time *columns_sorted_times(struct columns *columns, struct column *column)
{
    if (!column->sorted_times) {
        const double *sorted = columns_sorted(columns, column);
        sim_time *times = arena_zeroed(columns->arena, column->count, sizeof *times);
        for (size_t i = 0; i < column->count; i++)
            times[i] = sim_from_seconds(sorted[i] - sorted[0]);
        column->sorted_times = times;
    }
    return column->sorted_times;
}

/* The groups of a file while it is read; the last text is kept for comparison. */
struct grouping {
    const char *name;
    size_t column;
    struct arena texts;
    const char *last;
    size_t *starts, count, room;
    uint64_t rows;
    bool found;
};

static bool group_row(void *context, uint64_t row, const struct csv_row *fields)
{
    struct grouping *grouping = context;
    if (row == 0) {
        while (grouping->column < fields->count && strcmp(fields->fields[grouping->column], grouping->name) != 0)
            grouping->column++;
        grouping->found = grouping->column < fields->count;
        return grouping->found;
    }
    const char *text = fields->fields[grouping->column];
    grouping->rows = row;
    if (grouping->last && strcmp(text, grouping->last) == 0)
        return true;
    arena_free(&grouping->texts);
    grouping->last = arena_text(&grouping->texts, text);
    if (grouping->count == grouping->room) {
        grouping->room = grouping->room ? 2 * grouping->room : 64;
        grouping->starts = mem_resized(grouping->starts, grouping->room, sizeof *grouping->starts);
    }
    grouping->starts[grouping->count++] = (size_t)row - 1;
    return true;
}

const struct row_groups *columns_groups(struct columns *columns, const char *file, const char *name, struct place asked,
                                        struct diag *diag)
{
    const char *path = path_beside(file, asked, columns->arena);
    for (struct row_groups *groups = columns->groups; groups; groups = groups->next)
        if (strcmp(groups->path, path) == 0 && strcmp(groups->name, name) == 0)
            return groups;

    struct grouping grouping = {.name = name};
    size_t before = diag->errors;
    if (csv_read(path, asked, group_row, &grouping, diag) && grouping.count == 0)
        diag_error(diag, asked, grouping.found ? "%s: expected a row below the header" : "%s: expected a column %s",
                   quote_terminal(path, columns->arena), name);
    struct row_groups *groups = NULL;
    if (diag->errors == before) {
        size_t *starts = arena_zeroed(columns->arena, grouping.count + 1, sizeof *starts);
        memcpy(starts, grouping.starts, grouping.count * sizeof *starts);
        starts[grouping.count] = (size_t)grouping.rows;
        groups = arena_zeroed(columns->arena, 1, sizeof *groups);
        *groups = (struct row_groups){.path = path,
                                      .name = arena_text(columns->arena, name),
                                      .starts = starts,
                                      .count = grouping.count,
                                      .next = columns->groups};
        columns->groups = groups;
    }
    free(grouping.starts);
    arena_free(&grouping.texts);
    return groups;
}
