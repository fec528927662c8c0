/* selection.h - what of a table is drawn: its rows of all classes, tenants and backends, against a factor of numbers,
 * and which of them make a curve.
 *
 * A table of survival (survival.h) is drawn against its waits. There the largest population stands for the others, the
 * largest of other numbers where there are more than SELECTION_FEW, and the first value of other factors where there
 * are more than SELECTION_CURVES_FEW curves. A record has a row a curve, and at most SELECTION_OVER_TIME_MOST of them
 * are drawn. */
#ifndef CLI_SELECTION_H
#define CLI_SELECTION_H

#include "sim/cli/gnuplot.h"
#include "sim/cli/table_file.h"
#include "sim/io/unit.h"

enum { SELECTION_CURVES_MOST = 40, SELECTION_CURVES_FEW = 6, SELECTION_FEW = 3, SELECTION_OVER_TIME_MOST = 12 };

struct selection_request {
    const char *x;         /* a factor; NULL: the only one that has different numbers as values */
    bool lenient;          /* of several, take a population, else the first */
    const char *const *at; /* "FACTOR=VALUE": only these rows, and those that do not have the factor */
    size_t at_count;
    const char *const *policies; /* labels: only their rows; none: all */
    size_t policy_count;
};

struct selection {
    struct arena arena;
    const struct table_file *file;
    size_t *rows, row_count; /* of the file */
    size_t x;                /* a column; that of the replications: none */
    enum quantity quantity;  /* of its values */
    const char *noun;        /* of its values, or NULL */
    bool survival;
    bool *divides;            /* by column: it makes several curves of one policy */
    const char **labels;      /* by row: of the curve it belongs to */
    size_t *colours, *dashes; /* by row: which policy, and which of its curves; a lone policy has a colour a curve */
    struct diag *diag;
};

/* False after an error. */
bool selection_make(const struct table_file *file, const struct selection_request *request, struct selection *drawn,
                    struct diag *diag);
void selection_fini(struct selection *drawn);

bool selection_has_x(const struct selection *drawn);
bool selection_x_is_population(const struct selection *drawn);
/* The count that all rows have, or NULL. */
const char *selection_replications(const struct selection *drawn);
/* "population 24": the factors that vary in the table and not in what is drawn of it; "" if there are none. */
const char *selection_fixed(struct selection *drawn);

/* The curves of a metric's column that have a value, or NULL after an error (more than SELECTION_CURVES_MOST, a cell
 * that is no number). A policy without the factor is a level line. Without an x, one point a curve. */
const struct figure_series *selection_series(struct selection *drawn, size_t metric, size_t *count);

/* Private to the two files of this: a cell of a drawn row, and whether two rows have the same. */
static inline const char *selection_cell(const struct selection *drawn, size_t row, size_t column)
{
    return drawn->file->rows[drawn->rows[row]].cells[column];
}
bool selection_same(const struct selection *drawn, size_t a, size_t b, size_t column);
/* Chooses rows and x; and names each row's curve. */
bool selection_choose(const struct selection_request *request, struct selection *drawn);
void selection_name(struct selection *drawn);

#endif
