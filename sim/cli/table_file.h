/* table_file.h - a table of results read back from its CSV, and what its .meta says if that is there. A record is read
 * as a table with a row for each of its curves. */
#ifndef CLI_TABLE_FILE_H
#define CLI_TABLE_FILE_H

#include "sim/io/diag.h"
#include "sim/io/yaml.h"
#include "sim/stats/output.h"

enum { TABLE_FILE_POLICY, TABLE_FILE_CLASS, TABLE_FILE_TENANT, TABLE_FILE_BACKEND, TABLE_FILE_FACTORS };

struct table_file_row {
    const char **cells;
    int *lines, *places; /* line and character of each cell */
};

struct record_curves;

struct table_file {
    struct arena arena; /* zeroed memory is a valid empty table */
    const char *path;
    const char **names; /* of columns: four keys, the factors, replications, then values */
    size_t column_count, replications;
    struct table_file_row *rows;
    size_t row_count, row_room;
    struct record_curves *record; /* NULL: a table of results */
    const struct node *meta;      /* NULL: none */
};

/* False after an error. */
bool table_file_read(const char *path, struct table_file *file, struct diag *diag);
void table_file_fini(struct table_file *file);

/* The index of a column from `first` to before `last`, or `last` after an error that names the nearest one. */
size_t table_file_column(const struct table_file *file, const char *name, size_t first, size_t last, struct diag *diag);
struct place table_file_place(const struct table_file *file, size_t row, size_t column);
/* A number with a sign or none; an empty cell is NAN. False after an error. */
bool table_file_number(const struct table_file *file, size_t row, size_t column, double *number, struct diag *diag);

/* A metric's value and, if its half-width follows, how sure that is; an empty cell counts nothing. Where a metric was
 * undefined in some replications, fewer were counted than the row says: the half-width, read so, is the safe side. */
bool table_file_estimate(const struct table_file *file, size_t row, size_t column, struct estimate *estimate,
                         struct diag *diag);

/* From the .meta, or NULL: one of its head lines; the unit of a column. */
const char *table_file_head(const struct table_file *file, const char *key);
const char *table_file_unit(const struct table_file *file, const char *column);

#endif
