/* table_file.c - reading what table_print_csv and table_print_meta wrote. */
#include "sim/cli/table_file.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sim/cli/record_curves.h"
#include "sim/io/unit.h"

struct reading {
    struct table_file *file;
    struct diag *diag;
};

static bool read_header(struct reading *reading, const struct csv_row *header)
{
    static const char *const keys[] = {"policy", "class", "tenant", "backend"};
    struct table_file *file = reading->file;
    bool good = header->count > TABLE_FILE_FACTORS;

    if (record_curves_head(header)) {
        record_curves_begin(file, header);
        return true;
    }
    if (record_curves_undrawn(header)) {
        diag_error(reading->diag, (struct place){file->path, header->line, 1}, "there is no picture of %s",
                   record_curves_undrawn(header));
        return false;
    }
    file->column_count = header->count;
    file->names = arena_zeroed(&file->arena, header->count, sizeof *file->names);
    for (size_t i = 0; i < header->count; i++) {
        file->names[i] = arena_text(&file->arena, header->fields[i]);
        if (i < TABLE_FILE_FACTORS)
            good = good && strcmp(file->names[i], keys[i]) == 0;
        else if (file->replications == 0 && strcmp(file->names[i], "replications") == 0)
            file->replications = i;
    }
    if (good && file->replications > 0)
        return true;
    diag_error(reading->diag, (struct place){file->path, header->line, 1},
               "expected a table that `weir run -o` wrote, with the columns policy, class, tenant, backend, the "
               "factors, replications and the metrics; or a record or a log of decisions, with policy, the factors, "
               "replication and time");
    return false;
}

static bool read_row(void *context, uint64_t number, const struct csv_row *row)
{
    struct reading *reading = context;
    struct table_file *file = reading->file;
    struct table_file_row *kept;

    if (number == 0)
        return read_header(reading, row);
    if (file->record)
        return record_curves_add(file, row, reading->diag);
    if (file->row_count == file->row_room) {
        file->row_room = file->row_room ? 2 * file->row_room : 64;
        file->rows = mem_resized(file->rows, file->row_room, sizeof *file->rows);
    }
    kept = &file->rows[file->row_count++];
    kept->cells = arena_zeroed(&file->arena, row->count, sizeof *kept->cells);
    kept->lines = arena_zeroed(&file->arena, row->count, sizeof *kept->lines);
    kept->places = arena_zeroed(&file->arena, row->count, sizeof *kept->places);
    for (size_t i = 0; i < row->count; i++) {
        kept->cells[i] = arena_text(&file->arena, row->fields[i]);
        kept->lines[i] = row->lines[i];
        kept->places[i] = row->columns[i];
    }
    return true;
}

bool table_file_read(const char *path, struct table_file *file, struct diag *diag)
{
    struct reading reading = {file, diag};
    size_t errors = diag->errors;
    const char *meta;

    *file = (struct table_file){.path = path};
    csv_read(path, (struct place){0}, read_row, &reading, diag);
    meta = arena_format(&file->arena, "%s.meta", path);
    if (diag->errors == errors && access(meta, F_OK) == 0)
        file->meta = yaml_read(meta, &file->arena, diag);
    return diag->errors == errors;
}

void table_file_fini(struct table_file *file)
{
    record_curves_free(file);
    free(file->rows);
    arena_free(&file->arena);
    *file = (struct table_file){0};
}

size_t table_file_column(const struct table_file *file, const char *name, size_t first, size_t last, struct diag *diag)
{
    const char *nearest;

    for (size_t i = first; i < last; i++)
        if (strcmp(file->names[i], name) == 0)
            return i;
    nearest = diag_nearest(name, file->names + first, last - first);
    diag_error(diag, (struct place){file->path, 1, 0}, "there is no %s `%s`%s%s%s",
               first == TABLE_FILE_FACTORS ? "factor" : "metric", diag_excerpt(diag, name),
               nearest ? "; did you mean `" : "", nearest ? diag_excerpt(diag, nearest) : "", nearest ? "`?" : "");
    return last;
}

struct place table_file_place(const struct table_file *file, size_t row, size_t column)
{
    return (struct place){file->path, file->rows[row].lines[column], file->rows[row].places[column]};
}

bool table_file_number(const struct table_file *file, size_t row, size_t column, double *number, struct diag *diag)
{
    const char *text = file->rows[row].cells[column], *end, *why = "expected a number";
    bool negative = text[0] == '-';
    struct number read;

    *number = NAN;
    if (text[0] == '\0')
        return true;
    if (unit_read(text + negative, &end, &read, &why) && *end == '\0' && read.quantity == QUANTITY_NUMBER &&
        isfinite(read.value)) {
        *number = negative ? -read.value : read.value;
        return true;
    }
    diag_error(diag, table_file_place(file, row, column), "`%s` in column `%s`: %s", diag_excerpt(diag, text),
               diag_excerpt(diag, file->names[column]), why ? why : "expected a bare number");
    return false;
}

bool table_file_estimate(const struct table_file *file, size_t row, size_t column, struct estimate *estimate,
                         struct diag *diag)
{
    size_t length = strlen(file->names[column]);
    bool spread = column + 1 < file->column_count &&
                  strncmp(file->names[column + 1], file->names[column], length) == 0 &&
                  strcmp(file->names[column + 1] + length, "_hw") == 0;
    double replications;

    *estimate = (struct estimate){NAN, NAN, 0};
    if (!table_file_number(file, row, column, &estimate->mean, diag) ||
        (spread && !table_file_number(file, row, column + 1, &estimate->half_width, diag)) ||
        !table_file_number(file, row, file->replications, &replications, diag))
        return false;
    if (!(replications >= 1 && replications <= 1e9)) {
        diag_error(diag, table_file_place(file, row, file->replications), "expected a number of replications");
        return false;
    }
    if (!isnan(estimate->mean))
        estimate->count = isnan(estimate->half_width) ? 1 : (size_t)replications;
    return true;
}

static const char *text_under(const struct node *map, const char *key)
{
    const struct node *value = map && map->kind == NODE_MAP ? node_get(map, key) : NULL;

    return value && value->kind == NODE_SCALAR ? value->text : NULL;
}

const char *table_file_head(const struct table_file *file, const char *key)
{
    return text_under(file->meta, key);
}

const char *table_file_unit(const struct table_file *file, const char *column)
{
    const struct node *columns = file->meta && file->meta->kind == NODE_MAP ? node_get(file->meta, "columns") : NULL;

    for (size_t i = 0; columns && columns->kind == NODE_LIST && i < columns->count; i++) {
        const char *name = text_under(columns->items[i], "name");

        if (name && strcmp(name, column) == 0)
            return text_under(columns->items[i], "unit");
    }
    return NULL;
}
