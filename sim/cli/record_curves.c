/* record_curves.c - rows of samples come in the order of time, so each belongs to the curve of the one before or to a
 * new one. */
#include "sim/cli/record_curves.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/io/unit.h"

static const char *const first_keys[] = {"policy", "class", "tenant", "backend"};

/* The column of the time, or 0. */
static size_t time_column(const struct csv_row *header)
{
    if (strcmp(header->fields[0], "policy") != 0)
        return 0;
    for (size_t i = 2; i < header->count; i++)
        if (strcmp(header->fields[i - 1], "replication") == 0)
            return strcmp(header->fields[i], "time") == 0 ? i : 0;
    return 0;
}

bool record_curves_head(const struct csv_row *header)
{
    return time_column(header) > 0;
}

void record_curves_begin(struct table_file *file, const struct csv_row *header)
{
    struct record_curves *curves = arena_zeroed(&file->arena, 1, sizeof *curves);
    size_t factors = time_column(header) - 2;

    curves->first = time_column(header);
    curves->width = header->count - curves->first;
    curves->names = arena_zeroed(&file->arena, curves->width, sizeof *curves->names);
    for (size_t i = 0; i < curves->width; i++)
        curves->names[i] = arena_text(&file->arena, header->fields[curves->first + i]);
    file->replications = TABLE_FILE_FACTORS + factors;
    file->column_count = file->replications + 1;
    file->names = arena_zeroed(&file->arena, file->column_count, sizeof *file->names);
    for (size_t i = 0; i < TABLE_FILE_FACTORS; i++)
        file->names[i] = first_keys[i];
    for (size_t i = 0; i < factors; i++)
        file->names[TABLE_FILE_FACTORS + i] = arena_text(&file->arena, header->fields[1 + i]);
    file->names[file->replications] = "replications";
    file->record = curves;
}

/* Does a row of samples have the keys of a curve? */
static bool is_of(const struct table_file *file, size_t curve, const struct csv_row *row)
{
    const char *const *cells = file->rows[curve].cells;
    bool same = strcmp(cells[TABLE_FILE_POLICY], row->fields[0]) == 0;

    for (size_t i = TABLE_FILE_FACTORS; i < file->replications; i++)
        same = same && strcmp(cells[i], row->fields[1 + i - TABLE_FILE_FACTORS]) == 0;
    return same;
}

static size_t new_curve(struct table_file *file, const struct csv_row *row)
{
    struct table_file_row *kept;

    if (file->row_count == file->row_room) {
        file->row_room = file->row_room ? 2 * file->row_room : 64;
        file->rows = mem_resized(file->rows, file->row_room, sizeof *file->rows);
        file->record->list = mem_resized(file->record->list, file->row_room, sizeof *file->record->list);
    }
    kept = &file->rows[file->row_count];
    kept->cells = arena_zeroed(&file->arena, file->column_count, sizeof *kept->cells);
    kept->lines = arena_zeroed(&file->arena, file->column_count, sizeof *kept->lines);
    kept->places = arena_zeroed(&file->arena, file->column_count, sizeof *kept->places);
    for (size_t i = 0; i < file->column_count; i++) {
        bool factor = i >= TABLE_FILE_FACTORS && i < file->replications;

        kept->cells[i] = i == TABLE_FILE_POLICY    ? arena_text(&file->arena, row->fields[0])
                         : factor                  ? arena_text(&file->arena, row->fields[1 + i - TABLE_FILE_FACTORS])
                         : i == file->replications ? "1"
                                                   : "all";
        kept->lines[i] = row->lines[0];
        kept->places[i] = row->columns[factor ? 1 + i - TABLE_FILE_FACTORS : 0];
    }
    file->record->list[file->row_count] = (struct record_curve){.count = 0};
    return file->row_count++;
}

static size_t curve_of(struct table_file *file, const struct csv_row *row)
{
    for (size_t i = file->row_count; i-- > 0;)
        if (is_of(file, i, row))
            return i;
    return new_curve(file, row);
}

/* A number with a sign or none, or `inf`, which no picture can show. */
static bool read_number(const struct table_file *file, const struct csv_row *row, size_t column, double *number,
                        struct diag *diag)
{
    const char *text = row->fields[file->record->first + column], *end, *why = NULL;
    bool negative = text[0] == '-';
    struct number read;

    *number = NAN;
    if (text[0] == '\0')
        return true;
    if (unit_read(text + negative, &end, &read, &why) && *end == '\0' && read.quantity == QUANTITY_NUMBER) {
        if (isfinite(read.value))
            *number = negative ? -read.value : read.value;
        return true;
    }
    diag_error(diag,
               (struct place){file->path, row->lines[file->record->first + column],
                              row->columns[file->record->first + column]},
               "`%s` in column `%s`: %s", diag_excerpt(diag, text), diag_excerpt(diag, file->record->names[column]),
               why ? why : "expected a bare number");
    return false;
}

bool record_curves_add(struct table_file *file, const struct csv_row *row, struct diag *diag)
{
    struct record_curves *curves = file->record;
    struct record_curve *curve;
    double *numbers;
    bool good = true;
    size_t place;

    if (strcmp(row->fields[curves->first - 1], "1") != 0)
        return true;
    place = curve_of(file, row); /* the list may move */
    curve = &curves->list[place];
    if (curve->count == curve->room) {
        curve->room = curve->room ? 2 * curve->room : 64;
        curve->numbers = mem_resized(curve->numbers, curve->room, curves->width * sizeof *curve->numbers);
    }
    numbers = curve->numbers + curve->count++ * curves->width;
    for (size_t i = 0; i < curves->width && good; i++)
        good = read_number(file, row, i, &numbers[i], diag);
    if (!good)
        return false;
    if (!isnan(numbers[0]) && (curve->count == 1 || numbers[0] > numbers[-(ptrdiff_t)curves->width]))
        return true;
    diag_error(diag, (struct place){file->path, row->lines[curves->first], row->columns[curves->first]},
               "expected a time after that of the row before");
    return false;
}

void record_curves_free(struct table_file *file)
{
    for (size_t i = 0; file->record && i < file->row_count; i++)
        free(file->record->list[i].numbers);
    if (file->record)
        free(file->record->list);
}
