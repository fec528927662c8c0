/* csv.h - CSV in, through libcsv: rows as they come, constant memory, columns by name, physical line numbers.
 *
 * RFC 4180 with CRLF or LF, a BOM, blank lines, quoted newlines, and a last line without an end. An open quote, a NUL
 * byte, a row with another number of fields than the header, a row of more than 1 MiB, an empty file are errors with
 * their line. Blanks around a field that is not quoted are not part of it. */
#ifndef SIM_CSV_H
#define SIM_CSV_H

#include <stdint.h>

#include "sim/io/diag.h"

struct csv_row {
    const char *const *fields; /* NUL-terminated; valid during the call */
    const int *lines;          /* physical line on which each field begins */
    const int *columns;        /* character of that line */
    size_t count;
    int line; /* physical line on which the row begins */
};

/* Called for each row, the header first (row number 0). False: stop reading. */
typedef bool csv_row_fn(void *context, uint64_t row, const struct csv_row *fields);

/* False after an error (missing file included: message at `asked`, the place that named the file). */
bool csv_read(const char *path, struct place asked, csv_row_fn *each, void *context, struct diag *diag);
/* The same of a stream, to its end; `name` is what messages call it. The caller closes it. */
bool csv_read_stream(FILE *stream, const char *name, struct place asked, csv_row_fn *each, void *context,
                     struct diag *diag);
/* The same for text in memory; `name` is what messages call it. */
bool csv_read_text(const char *name, const char *text, size_t length, csv_row_fn *each, void *context,
                   struct diag *diag);

/* One column of numbers by header name. Empty fields, texts, negatives and non-finite numbers are errors with file,
 * line and column. The file without a data row or without the column (nearest named) too. */
bool csv_read_column(const char *path, const char *column, struct place asked, struct arena *arena, double **values,
                     size_t *count, struct diag *diag);

#endif
