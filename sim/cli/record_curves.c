/* record_curves.c - rows of samples come in the order of time, so each belongs to the curve of the one before or to a
 * new one. */
#include "sim/cli/record_curves.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/io/unit.h"

static const char *const first_keys[] = {"policy", "class", "tenant", "backend"};

/* The column behind that of the replication, or 0. */
static size_t first_column(const struct csv_row *header)
{
    if (strcmp(header->fields[0], "policy") != 0)
        return 0;
    for (size_t i = 2; i < header->count; i++)
        if (strcmp(header->fields[i - 1], "replication") == 0)
            return i;
    return 0;
}

/* Do these names stand there? */
static bool has(const struct csv_row *header, size_t at, const char *const *names)
{
    for (; *names; names++, at++)
        if (at >= header->count || strcmp(header->fields[at], *names) != 0)
            return false;
    return true;
}

static const char *const decision_keys[] = {"member", "gate", "copy", NULL};

const char *record_curves_undrawn(const struct csv_row *header)
{
    static const struct {
        const char *const names[5];
        const char *what;
    } logs[] = {
        {{"time", "key", "gate", "copy", NULL}, "an audit, of texts: expected the record beside it (`record: file`)"},
        {{"time", "alert", "backend", "state", NULL},
         "a log of alerts, of texts: expected the record beside it (`record: file`), such as its column `oldest`"},
        {{"class", "tenant", "backend", "agent", NULL},
         "a log of calls: expected the table of their quantiles, by `weir run --plot DIR`"},
    };
    size_t first = first_column(header);

    for (size_t i = 0; first > 0 && i < sizeof logs / sizeof *logs; i++)
        if (has(header, first, logs[i].names))
            return logs[i].what;
    return NULL;
}

bool record_curves_head(const struct csv_row *header)
{
    size_t first = first_column(header);

    return first > 0 && strcmp(header->fields[first], "time") == 0 && !record_curves_undrawn(header);
}

/* "planner.gate": a policy has rows of several gates, and says of which. */
static bool is_gate(const char *name)
{
    const char *dot = strrchr(name, '.');

    return strcmp(dot ? dot + 1 : name, "gate") == 0;
}

void record_curves_begin(struct table_file *file, const struct csv_row *header)
{
    struct record_curves *curves = arena_zeroed(&file->arena, 1, sizeof *curves);
    size_t first = first_column(header), factors = 0;

    curves->replication = first - 1;
    curves->decisions = has(header, first + 1, decision_keys);
    curves->fields = arena_zeroed(&file->arena, header->count, sizeof *curves->fields);
    curves->keys = arena_zeroed(&file->arena, header->count, sizeof *curves->keys);
    curves->names = arena_zeroed(&file->arena, header->count, sizeof *curves->names);
    curves->words = arena_zeroed(&file->arena, header->count, sizeof *curves->words);
    file->names = arena_zeroed(&file->arena, TABLE_FILE_FACTORS + header->count, sizeof *file->names);
    for (size_t i = 0; i < TABLE_FILE_FACTORS; i++)
        file->names[i] = first_keys[i];
    for (size_t i = 1; i < header->count; i++) {
        bool key = i < curves->replication ||
                   (curves->decisions && i > first && (i <= first + 3 || is_gate(header->fields[i])));

        if (i == curves->replication)
            continue;
        if (key) {
            file->names[TABLE_FILE_FACTORS + factors] = arena_text(&file->arena, header->fields[i]);
            curves->keys[factors++] = i;
        } else {
            curves->names[curves->width] = arena_text(&file->arena, header->fields[i]);
            curves->fields[curves->width++] = i;
        }
    }
    file->replications = TABLE_FILE_FACTORS + factors;
    file->column_count = file->replications + 1;
    file->names[file->replications] = "replications";
    file->record = curves;
}

/* Does a row of samples have the keys of a curve? */
static bool is_of(const struct table_file *file, size_t curve, const struct csv_row *row)
{
    const char *const *cells = file->rows[curve].cells;
    bool same = strcmp(cells[TABLE_FILE_POLICY], row->fields[0]) == 0;

    for (size_t i = TABLE_FILE_FACTORS; i < file->replications; i++)
        same = same && strcmp(cells[i], row->fields[file->record->keys[i - TABLE_FILE_FACTORS]]) == 0;
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
        size_t field = factor ? file->record->keys[i - TABLE_FILE_FACTORS] : 0;

        kept->cells[i] = i == TABLE_FILE_POLICY || factor ? arena_text(&file->arena, row->fields[field])
                         : i == file->replications        ? "1"
                                                          : "all";
        kept->lines[i] = row->lines[0];
        kept->places[i] = row->columns[field];
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

/* A number with a sign or none, or `inf`, which no picture can show; in decisions also a word. */
static bool read_number(const struct table_file *file, const struct csv_row *row, size_t column, double *number,
                        struct diag *diag)
{
    struct record_curves *curves = file->record;
    size_t field = curves->fields[column];
    const char *text = row->fields[field], *end, *why = NULL;
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
    if (curves->decisions && column > 0) {
        curves->words[column] = true;
        return true;
    }
    diag_error(diag, (struct place){file->path, row->lines[field], row->columns[field]}, "`%s` in column `%s`: %s",
               diag_excerpt(diag, text), diag_excerpt(diag, curves->names[column]),
               why ? why : "expected a bare number");
    return false;
}

/* Samples have a time each; decisions may be of one instant. */
static bool in_order(const struct record_curves *curves, const double *numbers, bool first)
{
    double before = first ? NAN : numbers[-(ptrdiff_t)curves->width];

    return !isnan(numbers[0]) && (first || numbers[0] > before || (curves->decisions && numbers[0] == before));
}

bool record_curves_add(struct table_file *file, const struct csv_row *row, struct diag *diag)
{
    struct record_curves *curves = file->record;
    struct record_curve *curve;
    double *numbers;
    bool good = true;
    size_t place;

    if (strcmp(row->fields[curves->replication], "1") != 0)
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
    if (in_order(curves, numbers, curve->count == 1))
        return true;
    diag_error(diag, (struct place){file->path, row->lines[curves->fields[0]], row->columns[curves->fields[0]]},
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
