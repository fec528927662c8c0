/* csv.c - rows of a CSV file through libcsv, with the places that libcsv does not tell.
 *
 * libcsv gets the text in pieces that end at a comma or at the end of a line. So when it hands over a field, the next
 * one is known to begin just behind the piece, and lines can be counted, blank ones and quoted ones included. */
#include "sim/io/csv.h"

#include <csv.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/io/file.h"

#define ROW_MOST (1 << 20) /* bytes; what an open quote may swallow before it is noticed */
#define CHUNK 65536
#define NUMBER_MOST 1e18 /* as for numbers in scenarios */

struct reader {
    struct csv_parser parser;
    const char *name;
    struct diag *diag;
    csv_row_fn *each;
    void *context;

    struct place next;  /* of the next byte */
    struct place field; /* where the field in progress began */
    struct place row;   /* where the row in progress began */
    bool in_row, in_field, after_return;
    size_t row_bytes; /* read of the row in progress */

    char *text; /* the fields of the row, each with its NUL */
    size_t text_used, text_room;
    size_t *offsets;
    const char **fields;
    int *lines, *columns;
    size_t count, room;

    size_t header_count;
    uint64_t rows;
    bool stopped, failed;
};

static void fail(struct reader *reader, struct place place, const char *message)
{
    diag_error(reader->diag, place, "%s", message);
    reader->failed = true;
}

static void row_room(struct reader *reader)
{
    reader->room = reader->room == 0 ? 16 : 2 * reader->room;
    reader->offsets = mem_resized(reader->offsets, reader->room, sizeof *reader->offsets);
    reader->fields = mem_resized(reader->fields, reader->room, sizeof *reader->fields);
    reader->lines = mem_resized(reader->lines, reader->room, sizeof *reader->lines);
    reader->columns = mem_resized(reader->columns, reader->room, sizeof *reader->columns);
}

static void on_field(void *bytes, size_t length, void *context)
{
    struct reader *reader = context;
    if (reader->count == reader->room)
        row_room(reader);
    while (reader->text_room - reader->text_used <= length) {
        reader->text_room = reader->text_room == 0 ? 256 : 2 * reader->text_room;
        reader->text = mem_resized(reader->text, reader->text_room, 1);
    }
    if (length != 0)
        memcpy(reader->text + reader->text_used, bytes, length);
    reader->text[reader->text_used + length] = '\0';

    /* A last field with nothing behind its comma, not even the end of a line, has no byte to begin at. */
    struct place place = reader->in_field ? reader->field : reader->next;
    reader->offsets[reader->count] = reader->text_used;
    reader->lines[reader->count] = place.line;
    reader->columns[reader->count] = place.column;
    reader->count++;
    reader->text_used += length + 1;
    reader->in_field = false;
}

static void on_row(int terminator, void *context)
{
    (void)terminator;
    struct reader *reader = context;
    for (size_t i = 0; i < reader->count; i++)
        reader->fields[i] = reader->text + reader->offsets[i];
    const struct csv_row row = {reader->fields, reader->lines, reader->columns, reader->count, reader->row.line};

    if (reader->rows == 0)
        reader->header_count = row.count;
    if (row.count != reader->header_count) {
        struct place place = {reader->name, row.line, 0};
        diag_error(reader->diag, place, "a row of %zu field%s: expected %zu, as in the header", row.count,
                   row.count == 1 ? "" : "s", reader->header_count);
        reader->failed = true;
    } else {
        reader->stopped = !reader->each(reader->context, reader->rows, &row);
    }
    reader->rows++;
    reader->count = reader->text_used = reader->row_bytes = 0;
    reader->in_row = reader->in_field = false;
}

/* Of a character in UTF-8: columns count characters. */
static bool is_first_byte(char byte)
{
    return ((unsigned char)byte & 0xc0) != 0x80;
}

/* Carries the place of the next byte over one byte. CRLF, LF, and CR alone end a line. */
static void advance(struct reader *reader, char byte)
{
    bool ends = byte == '\r' || (byte == '\n' && !reader->after_return);
    if (ends) {
        reader->next.line += reader->next.line < INT_MAX;
        reader->next.column = 1;
    } else if (byte != '\n' && is_first_byte(byte)) {
        reader->next.column += reader->next.column < INT_MAX;
    }
    reader->after_return = byte == '\r';
}

/* Takes note of where a field and a row begin: at the first byte that is not blank. Lines without one are no rows. */
static void notice(struct reader *reader, char byte)
{
    bool blank = byte == ' ' || byte == '\t' || (!reader->in_row && (byte == '\r' || byte == '\n'));
    if (blank || reader->in_field)
        return;
    reader->field = reader->next;
    reader->in_field = true;
    if (!reader->in_row) {
        reader->row = reader->next;
        reader->in_row = true;
    }
}

/* One piece: no byte but the last is a comma or ends a line. */
static void feed_piece(struct reader *reader, const char *piece, size_t length)
{
    struct place place = reader->next;
    for (size_t i = 0; i < length; i++) {
        notice(reader, piece[i]);
        if (piece[i] == '\0') {
            fail(reader, reader->next, "a NUL byte: expected text in UTF-8");
            return;
        }
        advance(reader, piece[i]);
    }
    reader->row_bytes += reader->in_row ? length : 0;
    if (reader->row_bytes > ROW_MOST) {
        fail(reader, reader->field, "a row of more than 1 MiB: is a quote not closed?");
        return;
    }
    size_t done = csv_parse(&reader->parser, piece, length, on_field, on_row, reader);
    if (done == length)
        return;
    if (csv_error(&reader->parser) != CSV_EPARSE)
        mem_exhausted();
    for (size_t i = 0; i < done; i++)
        place.column += is_first_byte(piece[i]);
    fail(reader, place,
         piece[done] == '"' ? "a quote inside a field: expected quotes around the whole field and this one doubled"
                            : "text behind a closing quote: expected a comma or the end of the line");
}

static void feed(struct reader *reader, const char *text, size_t length)
{
    size_t begin = 0;
    for (size_t i = 0; i < length && !reader->failed && !reader->stopped; i++) {
        bool ends = text[i] == ',' || text[i] == '\n' || text[i] == '\r' || i + 1 == length;
        if (ends) {
            feed_piece(reader, text + begin, i + 1 - begin);
            begin = i + 1;
        }
    }
}

static void start(struct reader *reader, const char *name, csv_row_fn *each, void *context, struct diag *diag)
{
    *reader = (struct reader){.name = name, .diag = diag, .each = each, .context = context};
    reader->next = (struct place){name, 1, 1};
    if (csv_init(&reader->parser, CSV_STRICT | CSV_STRICT_FINI) != 0)
        mem_exhausted();
    csv_set_blk_size(&reader->parser, CHUNK); /* by which a field's buffer grows; 128 bytes by default */
}

static bool finish(struct reader *reader)
{
    if (!reader->failed && !reader->stopped && csv_fini(&reader->parser, on_field, on_row, reader) != 0)
        fail(reader, reader->field, "a quote that is not closed");
    if (!reader->failed && reader->rows == 0)
        fail(reader, (struct place){reader->name, 0, 0},
             "an empty file: expected a line with the names of the columns");
    csv_free(&reader->parser);
    free(reader->text);
    free(reader->offsets);
    free(reader->fields);
    free(reader->lines);
    free(reader->columns);
    return !reader->failed;
}

static size_t bom(const char *text, size_t length)
{
    return length >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
}

bool csv_read_text(const char *name, const char *text, size_t length, csv_row_fn *each, void *context,
                   struct diag *diag)
{
    struct reader reader;
    start(&reader, name, each, context, diag);
    size_t skipped = bom(text, length);
    feed(&reader, text + skipped, length - skipped);
    return finish(&reader);
}

bool csv_read_stream(FILE *file, const char *name, struct place asked, csv_row_fn *each, void *context,
                     struct diag *diag)
{
    struct reader reader;
    start(&reader, name, each, context, diag);
    char *chunk = mem_zeroed(CHUNK, 1);
    bool first = true;
    size_t length;
    while (!reader.failed && !reader.stopped && (length = fread(chunk, 1, CHUNK, file)) > 0) {
        size_t skipped = first ? bom(chunk, length) : 0;
        feed(&reader, chunk + skipped, length - skipped);
        first = false;
    }
    if (!reader.failed && ferror(file)) {
        diag_error(diag, asked, "cannot read %s to its end", name);
        reader.failed = true;
    }
    free(chunk);
    return finish(&reader);
}

bool csv_read(const char *path, struct place asked, csv_row_fn *each, void *context, struct diag *diag)
{
    FILE *file = file_open(path, asked, diag);
    if (file == NULL)
        return false;
    bool good = csv_read_stream(file, path, asked, each, context, diag);
    fclose(file);
    return good;
}

struct column {
    const char *path, *name;
    struct place asked;
    struct diag *diag;
    size_t index;
    double *values;
    size_t count, room;
    bool failed;
};

static const char *names_of(const struct csv_row *header, struct arena *arena)
{
    const char *names = header->fields[0];
    for (size_t i = 1; i < header->count && strlen(names) < 200; i++)
        names = arena_format(arena, "%s, %s", names, header->fields[i]);
    return names;
}

static bool find_column(struct column *column, const struct csv_row *header)
{
    struct place place = column->asked.file != NULL ? column->asked : (struct place){column->path, header->line, 0};
    size_t found = 0;
    for (size_t i = 0; i < header->count; i++) {
        if (strcmp(header->fields[i], column->name) == 0) {
            column->index = i;
            found++;
        }
    }
    if (found == 1)
        return true;
    column->failed = true;
    const char *nearest = diag_nearest(column->name, header->fields, header->count);
    const char *only = header->fields[0];
    if (found > 1)
        diag_error(column->diag, place, "%s has %zu columns named `%s`: expected one", column->path, found,
                   column->name);
    else if (header->count == 1 && (strchr(only, ';') != NULL || strchr(only, '\t') != NULL))
        diag_error(column->diag, place, "%s has no column `%s`: expected commas between the fields, not %s",
                   column->path, column->name, strchr(only, ';') != NULL ? "semicolons" : "tabs");
    else if (nearest != NULL)
        diag_error(column->diag, place, "%s has no column `%s`: did you mean `%s`?", column->path, column->name,
                   nearest);
    else
        diag_error(column->diag, place, "%s has no column `%s`: expected one of %s", column->path, column->name,
                   diag_excerpt(column->diag, names_of(header, &column->diag->arena)));
    return false;
}

/* Digits with a dot and an exponent, and nothing that strtod would take besides: hexadecimal, inf, nan, blanks. Returns
 * NULL or what is wrong. */
static const char *read_number(const char *text, double *value)
{
    if (*text == '\0')
        return "an empty field";
    char *end;
    *value = strtod(text, &end);
    bool plain = text[strspn(text, "+-.0123456789eE")] == '\0' && *text != '+';
    if (!plain || *end != '\0')
        return "no number";
    if (*value < 0)
        return "a negative number";
    if (!(*value <= NUMBER_MOST))
        return "too large a number";
    *value = fabs(*value); /* -0 */
    return NULL;
}

static bool on_column_row(void *context, uint64_t row_number, const struct csv_row *row)
{
    struct column *column = context;
    if (row_number == 0)
        return find_column(column, row);
    double value;
    const char *text = row->fields[column->index];
    const char *wrong = read_number(text, &value);
    if (wrong != NULL) {
        struct place place = {column->path, row->lines[column->index], row->columns[column->index]};
        diag_error(column->diag, place, "%s in column `%s`%s%s: expected a number from 0 to 1e18, such as 12 or 0.5",
                   wrong, column->name, *text == '\0' ? "" : ": ", diag_excerpt(column->diag, text));
        column->failed = true;
        return column->diag->errors < DIAG_MOST;
    }
    if (column->count == column->room) {
        column->room = column->room == 0 ? 1024 : 2 * column->room;
        column->values = mem_resized(column->values, column->room, sizeof *column->values);
    }
    column->values[column->count++] = value;
    return true;
}

bool csv_read_column(const char *path, const char *name, struct place asked, struct arena *arena, double **values,
                     size_t *count, struct diag *diag)
{
    struct column column = {.path = path, .name = name, .asked = asked, .diag = diag};
    bool done = csv_read(path, asked, on_column_row, &column, diag) && !column.failed;
    if (done && column.count == 0) {
        diag_error(diag, (struct place){path, 0, 0}, "no row of data: expected numbers in column `%s`", name);
        done = false;
    }
    *values = NULL;
    *count = 0;
    if (done) {
        *values = arena_zeroed(arena, column.count, sizeof **values);
        memcpy(*values, column.values, column.count * sizeof **values);
        *count = column.count;
    }
    free(column.values);
    return done;
}
