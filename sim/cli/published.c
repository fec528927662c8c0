/* Published numbers beside ours. */
#include "sim/cli/published.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sim/io/csv.h"
#include "sim/io/unit.h"

#define KEYS_MOST 32

struct reading {
    const struct table *ours;
    struct table *beside;
    struct diag *diag;
    const char *path;
    size_t key_of[KEYS_MOST]; /* for each of its key columns, the column of ours */
    size_t field_of[KEYS_MOST];
    size_t keys;
    int metric, value, tolerance, source, reason; /* fields, -1: none */
    size_t reasons, compared, differing;
    size_t unexplained, unsure;
    size_t absent;       /* of design points that this run left out */
    const char *sources; /* seen so far, one a line */
    const char **reason_texts;
};

static struct place place_of(const struct reading *reading, const struct csv_row *row, size_t field)
{
    return (struct place){reading->path, row->lines[field], row->columns[field]};
}

static int column_of(const struct table *table, const char *name)
{
    for (size_t i = 0; i < table->column_count; i++)
        if (strcmp(table->columns[i].name, name) == 0)
            return (int)i;
    return -1;
}

static bool read_header(struct reading *reading, const struct csv_row *row)
{
    struct table *beside = reading->beside;

    reading->metric = reading->value = reading->tolerance = reading->source = reading->reason = -1;
    for (size_t i = 0; i < row->count; i++) {
        const char *name = row->fields[i];
        int column = column_of(reading->ours, name);

        if (strcmp(name, "metric") == 0)
            reading->metric = (int)i;
        else if (strcmp(name, "value") == 0)
            reading->value = (int)i;
        else if (strcmp(name, "tolerance") == 0)
            reading->tolerance = (int)i;
        else if (strcmp(name, "source") == 0)
            reading->source = (int)i;
        else if (strcmp(name, "reason") == 0)
            reading->reason = (int)i;
        else if (column >= 0 && reading->ours->columns[column].role == TABLE_KEY && reading->keys < KEYS_MOST) {
            reading->key_of[reading->keys] = (size_t)column;
            reading->field_of[reading->keys++] = i;
            table_column(beside, reading->ours->columns[column].heading, "", "", "", TABLE_KEY, true);
        } else {
            diag_error(reading->diag, place_of(reading, row, i),
                       "unknown column `%s`; expected a key column of the table, metric, value, tolerance, source or "
                       "reason",
                       name);
            return false;
        }
    }
    if (reading->metric < 0 || reading->value < 0 || reading->tolerance < 0) {
        diag_error(reading->diag, place_of(reading, row, 0), "expected the columns metric, value and tolerance");
        return false;
    }
    table_column(beside, "metric", "", "", "", TABLE_KEY, true);
    table_column(beside, "published", "", "", "", TABLE_KEY, true);
    table_column(beside, "ours", "", "", "", TABLE_KEY, true);
    beside->columns[beside->column_count - 1].judged = true;
    table_column(beside, "within", "", "", "", TABLE_KEY, true);
    table_column(beside, "mark", "", "", "", TABLE_KEY, true);
    beside->columns[beside->column_count - 1].judged = true;
    return true;
}

static bool is_scope(const char *column)
{
    return strcmp(column, "class") == 0 || strcmp(column, "tenant") == 0 || strcmp(column, "backend") == 0;
}

/* Our row with these keys; a class, tenant or backend that the published row does not name
 * must be "all". */
static bool find_row(const struct reading *reading, const struct csv_row *row, size_t *at)
{
    const struct table *ours = reading->ours;

    for (size_t i = 0; i < ours->row_count; i++) {
        bool same = true;

        for (size_t c = 0; same && c < ours->column_count && ours->columns[c].role == TABLE_KEY; c++) {
            const char *text = ours->cells[i * ours->column_count + c].text;
            size_t k = 0;

            while (k < reading->keys && reading->key_of[k] != c)
                k++;
            if (k < reading->keys)
                same = text && strcmp(text, row->fields[reading->field_of[k]]) == 0;
            else
                same = !is_scope(ours->columns[c].name) || strcmp(text, "all") == 0;
        }
        if (same) {
            *at = i;
            return true;
        }
    }
    return false;
}

static bool read_number(struct reading *reading, const struct csv_row *row, int field, double *number)
{
    const char *text = row->fields[field], *end, *why;
    struct number read;

    if (unit_read(text, &end, &read, &why) && *end == '\0' && read.quantity == QUANTITY_NUMBER) {
        *number = read.value;
        return true;
    }
    diag_error(reading->diag, place_of(reading, row, (size_t)field), "`%s`: expected a bare number", text);
    return false;
}

/* The number of a reason, from 1; equal reasons share one. */
static size_t reason_number(struct reading *reading, const char *text)
{
    for (size_t i = 0; i < reading->reasons; i++)
        if (strcmp(reading->reason_texts[i], text) == 0)
            return i + 1;
    reading->reason_texts = mem_resized(reading->reason_texts, reading->reasons + 1, sizeof *reading->reason_texts);
    reading->reason_texts[reading->reasons++] = arena_text(&reading->beside->arena, text);
    return reading->reasons;
}

static void note_source(struct reading *reading, const char *source)
{
    const char *seen = reading->sources ? reading->sources : "";

    if (!*source || strstr(seen, source))
        return;
    reading->sources = arena_format(&reading->beside->arena, "%s%s%s", seen, *seen ? "; " : "", source);
}

static void unknown_metric(struct reading *reading, const struct csv_row *row, const char *name)
{
    const struct table *ours = reading->ours;
    const char **names = mem_zeroed(ours->column_count, sizeof *names), *nearest;
    size_t count = 0;

    for (size_t i = 0; i < ours->column_count; i++)
        if (ours->columns[i].role == TABLE_VALUE)
            names[count++] = ours->columns[i].name;
    nearest = diag_nearest(name, names, count);
    diag_error(reading->diag, place_of(reading, row, (size_t)reading->metric), "there is no metric `%s`%s%s%s", name,
               nearest ? "; did you mean `" : "; expected one that `weir list metrics` prints", nearest ? nearest : "",
               nearest ? "`?" : "");
    free(names);
}

/* Ours differs if all of its interval is further away than the tolerance; it is the same if it is within, and sure
 * enough to say so. */
static const char *mark_of(struct reading *reading, const struct csv_row *row, double distance, double half_width,
                           double tolerance)
{
    const char *reason = reading->reason >= 0 ? row->fields[reading->reason] : "";

    if (distance <= tolerance && half_width <= tolerance)
        return "same";
    if (distance - half_width <= tolerance && half_width > 0) {
        reading->unsure++;
        return "unsure";
    }
    reading->differing++;
    if (*reason)
        return arena_format(&reading->beside->arena, "DIFFERS [%zu]", reason_number(reading, reason));
    reading->unexplained++;
    return "DIFFERS [?]";
}

static bool compare_row(struct reading *reading, const struct csv_row *row)
{
    const struct table *ours = reading->ours;
    struct table *beside = reading->beside;
    const char *metric = row->fields[reading->metric];
    int column = column_of(ours, metric);
    double published, tolerance, value = NAN, half_width = NAN;
    char text[64], digits[64];
    size_t at, out, next = reading->keys;
    const char *mark;

    if (column < 0 || ours->columns[column].role != TABLE_VALUE) {
        unknown_metric(reading, row, metric);
        return false;
    }
    if (!read_number(reading, row, reading->value, &published) ||
        !read_number(reading, row, reading->tolerance, &tolerance))
        return false;
    if (!find_row(reading, row, &at)) {
        reading->absent++;
        return true;
    }
    value = ours->cells[at * ours->column_count + (size_t)column].number;
    half_width = ours->cells[at * ours->column_count + (size_t)column + 1].number;
    reading->compared++;
    mark = mark_of(reading, row, fabs(value - published), isnan(half_width) ? 0 : half_width, tolerance);
    if (reading->source >= 0)
        note_source(reading, row->fields[reading->source]);
    out = table_row(beside);
    for (size_t k = 0; k < reading->keys; k++)
        table_text(beside, out, k, row->fields[reading->field_of[k]]);
    table_text(beside, out, next++, metric);
    table_text(beside, out, next++, row->fields[reading->value]);
    table_format(value, half_width, ours->ascii, text, sizeof text);
    table_text(beside, out, next++, text);
    table_digits(tolerance, digits, sizeof digits);
    table_text(beside, out, next++, digits);
    table_text(beside, out, next, mark);
    return true;
}

static bool read_row(void *context, uint64_t number, const struct csv_row *row)
{
    struct reading *reading = context;

    return number == 0 ? read_header(reading, row) : compare_row(reading, row);
}

static const char *path_beside(const char *scenario, struct arena *arena)
{
    size_t stem = strlen(scenario);

    if (stem > 5 && strcmp(scenario + stem - 5, ".yaml") == 0)
        stem -= 5;
    return arena_format(arena, "%.*s.published.csv", (int)stem, scenario);
}

bool published_exists(const char *scenario)
{
    struct arena arena = {0};
    bool exists = access(path_beside(scenario, &arena), F_OK) == 0;

    arena_free(&arena);
    return exists;
}

bool published_print(const char *scenario, const struct table *ours, bool markdown, FILE *out, struct diag *diag,
                     size_t *compared, size_t *differing)
{
    struct table beside = {.ascii = ours->ascii, .colour = ours->colour, .broadest = ours->broadest};
    struct reading reading = {.ours = ours, .beside = &beside, .diag = diag};
    size_t before = diag->errors;

    reading.path = path_beside(scenario, &beside.arena);
    if (access(reading.path, F_OK) == 0)
        csv_read(reading.path, (struct place){reading.path, 0, 0}, read_row, &reading, diag);
    if (diag->errors == before && reading.compared > 0) {
        if (reading.sources)
            table_note(&beside, "Published by: %s.", reading.sources);
        table_note(&beside, "%zu of %zu published numbers differ by more than the column `within` allows.",
                   reading.differing, reading.compared);
        if (reading.unsure)
            table_note(&beside, "%zu are unsure: the half-width is too large to tell; more replications (-r) would.",
                       reading.unsure);
        if (reading.absent)
            table_note(&beside, "%zu more belong to design points that this run left out.", reading.absent);
        for (size_t i = 0; i < reading.reasons; i++)
            table_note(&beside, "[%zu] %s", i + 1, reading.reason_texts[i]);
        if (reading.unexplained)
            table_note(&beside, "[?] No reason is known.");
        fprintf(out, "\nPublished numbers beside ours\n");
        if (markdown)
            table_print_markdown(&beside, out);
        else
            table_print_text(&beside, out);
    }
    if (compared)
        *compared = reading.compared;
    if (differing)
        *differing = reading.differing;
    free(reading.reason_texts);
    table_fini(&beside);
    return diag->errors == before;
}
