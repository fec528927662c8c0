/* record_file.c - rows are numbers until they are printed: of a design point only the gauges that it has. */
#include "sim/cli/record_file.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "models/record_columns.h"
#include "sim/cli/row_log.h"
#include "sim/cli/session.h"
#include "sim/io/quote.h"

enum { DIGITS_MOST = 40 };

struct record_rows {
    struct arena arena;   /* of the gauges, while the trial runs */
    struct gauges gauges; /* their number stays */
    size_t point;
    unsigned replication;
    double *values; /* [row][gauge] */
    size_t count, room;
};

struct record_file {
    const struct plan *plan;
    unsigned replications;     /* recorded, of each design point */
    struct record_rows **rows; /* [point][replication]; NULL: not finished */
};

static const struct record_spec *spec_of(const struct plan *plan)
{
    return plan->points[0].scenario->record;
}

struct record_file *record_file_new(const struct plan *plan)
{
    struct record_file *file;

    if (!plan->record)
        return NULL;
    file = mem_zeroed(1, sizeof *file);
    file->plan = plan;
    file->replications = spec_of(plan)->all_replications ? (unsigned)plan->points[0].scenario->study.replications : 1;
    file->rows = mem_zeroed(plan->point_count * file->replications, sizeof(struct record_rows *));
    return file;
}

static void rows_free(struct record_rows *rows)
{
    if (!rows)
        return;
    free(rows->values);
    free(rows);
}

void record_file_free(struct record_file *file)
{
    if (!file)
        return;
    for (size_t i = 0; i < file->plan->point_count * file->replications; i++)
        rows_free(file->rows[i]);
    free(file->rows);
    free(file);
}

/* --- a trial ------------------------------------------------------------------------------------------------------ */

struct record_rows *record_file_begin(const struct record_file *file, size_t point, unsigned replication)
{
    struct record_rows *rows;
    size_t *places;

    if (!file || replication > file->replications)
        return NULL;
    rows = mem_zeroed(1, sizeof *rows);
    rows->point = point;
    rows->replication = replication;
    rows->gauges = record_columns_gauges(file->plan->record, file->plan->points[point].scenario, &places, &rows->arena);
    return rows;
}

const struct gauges *record_rows_gauges(const struct record_rows *rows)
{
    return &rows->gauges;
}

void record_rows_add(void *context, sim_time at, const double *values)
{
    struct record_rows *rows = context;

    (void)at; /* the rows are `every` apart */
    if (rows->gauges.count == 0) {
        rows->count++;
        return;
    }
    if (rows->count == rows->room) {
        rows->room = rows->room ? 2 * rows->room : 64;
        rows->values = mem_resized(rows->values, rows->room, rows->gauges.count * sizeof *rows->values);
    }
    memcpy(rows->values + rows->count++ * rows->gauges.count, values, rows->gauges.count * sizeof *values);
}

/* Each trial has a place of its own, so there is nothing to lock. */
void record_file_end(struct record_file *file, struct record_rows *rows, bool kept)
{
    arena_free(&rows->arena);
    if (kept)
        file->rows[rows->point * file->replications + rows->replication - 1] = rows;
    else
        rows_free(rows);
}

/* --- the whole ---------------------------------------------------------------------------------------------------- */

void record_file_columns(const struct plan *plan, struct table *table)
{
    session_key_columns(plan, table);
    table_column(table, "time", "s", "", "simulated time, from the start of the replication, warm-up included",
                 TABLE_VALUE, true);
    for (size_t i = 0; i < plan->record->count; i++) {
        const struct gauge *column = &plan->record->list[i];

        table_column(table, column->name, column->unit, "", column->help, TABLE_VALUE, true);
    }
}

static void print_rows(const struct record_file *file, const struct record_rows *rows, FILE *out)
{
    const struct record_columns *columns = file->plan->record;
    struct arena arena = {0};
    const char *keys = session_keys(file->plan, rows->point, rows->replication, &arena);
    double *cells = arena_zeroed(&arena, columns->count, sizeof *cells);
    size_t *places;

    record_columns_gauges(columns, file->plan->points[rows->point].scenario, &places, &arena);
    for (size_t i = 0; i < columns->count; i++)
        cells[i] = NAN;
    for (size_t row = 0; row < rows->count; row++) {
        fprintf(out, "%s,", keys);
        row_log_time((sim_time)row * spec_of(file->plan)->every, out);
        for (size_t i = 0; i < rows->gauges.count; i++)
            cells[places[i]] = rows->values[row * rows->gauges.count + i];
        for (size_t i = 0; i < columns->count; i++) {
            char digits[DIGITS_MOST];

            table_digits(cells[i], digits, sizeof digits);
            fprintf(out, ",%s", digits);
        }
        fputc('\n', out);
    }
    arena_free(&arena);
}

void record_file_print(const struct record_file *file, const struct results *results, FILE *out)
{
    struct table columns = {0};

    record_file_columns(file->plan, &columns);
    table_print_csv(&columns, out);
    table_fini(&columns);
    for (size_t point = 0; point < results->points; point++)
        for (unsigned i = 0; i < file->replications && i < results->finished[point]; i++)
            print_rows(file, file->rows[point * file->replications + i], out);
}
