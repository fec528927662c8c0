/* table.c - one table, three faces. For people a value and its half-width share a cell, rounded to what the half-width
 * allows; for programs every column stands alone with all its digits. */
#include "sim/io/table.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "sim/io/quote.h"
#include "sim/io/unit.h"

#define CELL_MOST 128
#define LARGEST 1e15 /* from here on, and past so many decimals, numbers for people have an exponent */
#define DECIMALS_MOST 9
#define DIGITS_MOST 5 /* of a value with its half-width */
#define ROUGH 0.1     /* a half-width above this part of its value is marked */

static _Noreturn void misused(const char *what)
{
    fprintf(stderr, "table: %s\n", what);
    abort();
}

/* Makes room for one row more. */
static void *grown(void *rows, size_t count, size_t *room, size_t size)
{
    if (count < *room)
        return rows;
    *room = *room == 0 ? 16 : 2 * *room;
    return mem_resized(rows, *room, size);
}

static const struct table_cell *cell_of(const struct table *table, size_t row, size_t column)
{
    if (row >= table->row_count || column >= table->column_count)
        misused("no such cell");
    return &table->cells[row * table->column_count + column];
}

/* The decimal exponent of a value that was rounded to so many digits behind its first. */
static int exponent_of(double value, int digits)
{
    char text[CELL_MOST];
    unit_format(text, sizeof text, "%.*e", digits, value);
    return atoi(strchr(text, 'e') + 1);
}

/* Rounded to 10^-decimals; decimals may be negative. A zero has no sign. */
static void print_rounded(double value, int decimals, char *text, size_t size)
{
    double unit = 1;
    for (int i = decimals; i < 0; i++)
        unit *= 10;
    int behind = decimals > 0 ? decimals : 0;
    unit_format(text, size, "%.*f", behind, decimals < 0 ? round(value / unit) * unit : value);
    if (text[0] == '-' && strspn(text, "-0.") == strlen(text))
        memmove(text, text + 1, strlen(text));
}

static double rounded_up(double value, int decimals)
{
    double unit = 1;
    for (int i = 0; i < decimals; i++)
        unit *= 10;
    return ceil(value * unit * (1 - 1e-12)) / unit;
}

/* A value about whose error nothing is known: up to four digits, and all of its whole part. */
static void print_alone(double value, char *text, size_t size)
{
    bool plain = value == 0 || (fabs(value) < LARGEST && exponent_of(value, 3) >= -DECIMALS_MOST);
    if (!plain) {
        unit_format(text, size, "%.4g", value);
        return;
    }
    int exponent = value == 0 ? 0 : exponent_of(value, 3);
    print_rounded(value, exponent < 3 ? 3 - exponent : 0, text, size);
    size_t length = strlen(text);
    if (!strchr(text, '.'))
        return;
    while (text[length - 1] == '0')
        length--;
    text[text[length - 1] == '.' ? length - 1 : length] = '\0';
}

void table_column(struct table *table, const char *name, const char *unit, const char *better, const char *help,
                  enum table_role role, bool shown)
{
    if (table->row_count > 0)
        misused("a column after the first row");
    bool after_value = table->column_count > 0 && table->columns[table->column_count - 1].role == TABLE_VALUE;
    if (role == TABLE_HALF_WIDTH && !after_value)
        misused("a half-width without its value");
    table->columns = grown(table->columns, table->column_count, &table->column_room, sizeof *table->columns);
    table->columns[table->column_count++] = (struct table_column){
        .name = arena_text(&table->arena, name),
        .heading = arena_text(&table->arena, name),
        .unit = arena_text(&table->arena, unit),
        .help = arena_text(&table->arena, help),
        .better = arena_text(&table->arena, better),
        .role = role,
        .shown = shown,
    };
}

void table_heading(struct table *table, size_t column, const char *heading)
{
    if (column >= table->column_count)
        misused("no such column");
    table->columns[column].heading = arena_text(&table->arena, heading);
}

size_t table_row(struct table *table)
{
    table->cells = grown(table->cells, table->row_count, &table->row_room, table->column_count * sizeof *table->cells);
    for (size_t column = 0; column < table->column_count; column++)
        table->cells[table->row_count * table->column_count + column] = (struct table_cell){.number = NAN};
    return table->row_count++;
}

struct table_cell *table_at(struct table *table, size_t row, size_t column)
{
    cell_of(table, row, column);
    return &table->cells[row * table->column_count + column];
}

void table_text(struct table *table, size_t row, size_t column, const char *text)
{
    table_at(table, row, column)->text = arena_text(&table->arena, text);
}

void table_note(struct table *table, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    if (length < 0)
        misused("a note that cannot be formatted");
    char *text = arena_zeroed(&table->arena, (size_t)length + 1, 1);
    va_start(arguments, format);
    vsnprintf(text, (size_t)length + 1, format, arguments);
    va_end(arguments);
    table->notes = grown(table->notes, table->note_count, &table->note_room, sizeof *table->notes);
    table->notes[table->note_count++] = text;
}

void table_print_csv(const struct table *table, FILE *out)
{
    struct arena arena = {0};
    for (size_t column = 0; column < table->column_count; column++)
        fprintf(out, "%s%s", column > 0 ? "," : "", quote_csv(table->columns[column].name, &arena));
    fputc('\n', out);
    for (size_t row = 0; row < table->row_count; row++) {
        for (size_t column = 0; column < table->column_count; column++) {
            const struct table_cell *cell = cell_of(table, row, column);
            char digits[CELL_MOST];
            table_digits(cell->number, digits, sizeof digits);
            fprintf(out, "%s%s", column > 0 ? "," : "", cell->text ? quote_csv(cell->text, &arena) : digits);
        }
        fputc('\n', out);
    }
    arena_free(&arena);
}

void table_print_meta(const struct table *table, const char *const *head, size_t heads, FILE *out)
{
    static const char *const roles[] = {"key", "value", "half-width"};
    struct arena arena = {0};
    for (size_t i = 0; i < heads; i++) {
        const char *colon = strstr(head[i], ": ");
        if (!colon)
            misused("a head line without a value");
        const char *value = colon + 2, *end, *why;
        struct number number;
        bool flag = strcmp(value, "true") == 0 || strcmp(value, "false") == 0;
        bool bare = flag || (unit_read(value, &end, &number, &why) && *end == '\0' &&
                             strspn(value, "0123456789.") == strlen(value));
        fprintf(out, "%.*s: %s\n", (int)(colon - head[i]), head[i], bare ? value : quote_yaml(value, &arena));
    }
    fputs("columns:\n", out);
    for (size_t i = 0; i < table->column_count; i++) {
        const struct table_column *column = &table->columns[i];
        fprintf(out, "  - name: %s\n    role: %s\n", quote_yaml(column->name, &arena), roles[column->role]);
        fprintf(out, "    unit: %s\n", quote_yaml(column->unit, &arena));
        fprintf(out, "    better: %s\n", quote_yaml(column->better, &arena));
        fprintf(out, "    meaning: %s\n", quote_yaml(column->help, &arena));
    }
    arena_free(&arena);
}

void table_fini(struct table *table)
{
    free(table->columns);
    free(table->cells);
    free(table->notes);
    arena_free(&table->arena);
    *table = (struct table){0};
}

void table_format(double value, double half_width, bool ascii, char *text, size_t size)
{
    const char *sign = ascii ? "+-" : "\u00b1", *mark = half_width > ROUGH * fabs(value) ? "~" : "";
    if (isnan(value)) {
        unit_format(text, size, "%s", "");
        return;
    }
    if (!isfinite(value) || !isfinite(half_width) || !(half_width > 0)) {
        print_alone(value, text, size);
        return;
    }
    int exponent = exponent_of(half_width, 1);
    int decimals = 1 - exponent;
    if (decimals > DECIMALS_MOST || fabs(value) >= LARGEST || half_width >= LARGEST) {
        int digits = value == 0 ? 0 : exponent_of(value, 0) - exponent + 1;
        unit_format(text, size, "%s%.*e %s %.1e", mark,
                    digits < 0    ? 0
                    : digits > 15 ? 15
                                  : digits,
                    value, sign, half_width);
        return;
    }
    char left[CELL_MOST], right[CELL_MOST];
    int most = value == 0 ? decimals : DIGITS_MOST - 1 - exponent_of(value, DIGITS_MOST - 1);
    if (decimals > most && decimals > 0) {
        decimals = most > 0 ? most : 0;
        half_width = rounded_up(half_width, decimals);
    }
    print_rounded(value, decimals, left, sizeof left);
    print_rounded(half_width, decimals, right, sizeof right);
    unit_format(text, size, "%s%s %s %s", mark, left, sign, right);
}

void table_digits(double value, char *text, size_t size)
{
    if (isnan(value))
        unit_format(text, size, "%s", "");
    else
        unit_digits(value, text, size);
}
