/* table.h - a table of results and its three faces: text for people, CSV for programs, Markdown for pages.
 *
 * A column is a key, a value, or the half-width that belongs to the value before it. An undefined value is an empty
 * field (NAN here). Numbers are printed with a dot whatever the locale. CSV is RFC 4180 without comment lines; numbers
 * there have the fewest digits that read back as the same double, so a table can be compared digit by digit. */
#ifndef SIM_TABLE_H
#define SIM_TABLE_H

#include <stdbool.h>
#include <stdio.h>

#include "sim/io/mem.h"

enum table_role { TABLE_KEY, TABLE_VALUE, TABLE_HALF_WIDTH };

struct table_column {
    const char *name;    /* as in CSV: "wait_p99", "wait_p99_hw" */
    const char *heading; /* as in text and Markdown; the name, unless table_heading said otherwise */
    const char *unit;    /* "s", "turns/s", "" */
    const char *help;
    const char *better; /* "higher", "lower", "" */
    enum table_role role;
    bool shown;          /* in text and Markdown; CSV has every column */
    bool difference;     /* ~ marks those whose interval holds 0 */
    bool never_negative; /* an interval that would cross 0 is printed as a range from 0 */
    bool judged;         /* a key whose words are a judgement or a value, so that colour may repeat what they say */
};

struct table_cell {
    const char *text; /* keys; NULL: a number */
    double number;    /* NAN: undefined */
};

struct table {
    struct table_column *columns;
    size_t column_count, column_room;
    struct table_cell *cells; /* row-major */
    size_t row_count, row_room;
    const char **notes; /* lines printed below text and Markdown */
    size_t note_count, note_room;
    bool ascii;      /* write +- instead of ± */
    bool colour;     /* text for a terminal that has colours; they only repeat what a mark or a word says */
    size_t broadest; /* characters of a line of text; 0: 100 */
    struct arena arena;
};

/* Zeroed memory is a valid empty table. All columns are added before the first row; texts are copied. */
void table_column(struct table *table, const char *name, const char *unit, const char *better, const char *help,
                  enum table_role role, bool shown);
void table_heading(struct table *table, size_t column, const char *heading);
size_t table_row(struct table *table); /* a new row of undefined cells; returns its index */
struct table_cell *table_at(struct table *table, size_t row, size_t column);
void table_text(struct table *table, size_t row, size_t column, const char *text);
void table_note(struct table *table, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Value and half-width in one cell. Values that do not fit a line follow below, with the keys again.
 */
void table_print_text(const struct table *table, FILE *out);
void table_print_csv(const struct table *table, FILE *out);
void table_print_markdown(const struct table *table, FILE *out);
/* The companion of a CSV: YAML with the given head lines ("key: value"; what is no number, true or false becomes a
 * text) and each column's unit, direction, meaning. */
void table_print_meta(const struct table *table, const char *const *head, size_t heads, FILE *out);
void table_fini(struct table *table);

/* "12.190 ± 0.070": rounded to the half-width's second digit, but to five digits at the most (the half-width then
 * upwards);
 * "~12.0 ± 2.0" where it exceeds 10 % of the value; NAN
 * half-width: four digits; NAN value: "". */
void table_format(double value, double half_width, bool ascii, char *text, size_t size);
/* Fewest digits that read back as the same double; NAN: "". At least 32 bytes. */
void table_digits(double value, char *text, size_t size);

#endif
