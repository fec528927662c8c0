/* record_curves.h - a record (record_file.h) read back: replication 1 of each design point is a curve of every column
 * over time. Part of table_file.h, where each curve is a row with its policy and factors.
 *
 * A log of decisions is read the same, as a curve for each that decided: `member`, `gate` and `copy` are factors then,
 * and so is a column of its own that says which gate a row is of. Its words have no curve. */
#ifndef CLI_RECORD_CURVES_H
#define CLI_RECORD_CURVES_H

#include <math.h>

#include "sim/cli/table_file.h"
#include "sim/io/csv.h"

struct record_curve {
    double *numbers; /* [sample][column], each sample behind its time; NAN: none, or infinite */
    size_t count, room;
};

struct record_curves {
    const char **names; /* of the columns, time first */
    size_t width;       /* time included */
    size_t *fields;     /* of the file, that each of them is in */
    size_t *keys;       /* of the file, that each factor is in */
    size_t replication; /* of the file: that of the replication */
    bool decisions;
    bool *words;               /* a column of them has some */
    struct record_curve *list; /* beside the file's rows */
};

/* Is this the head of a record or of a log of decisions: policy, factors, replication, time? */
bool record_curves_head(const struct csv_row *header);
/* What a head of rows that have no picture is of, and what to draw instead, for a message; NULL: it is none of ours. */
const char *record_curves_undrawn(const struct csv_row *header);
/* Takes the head: the file gets the columns of a table of results, without values. */
void record_curves_begin(struct table_file *file, const struct csv_row *header);
/* Takes a row of samples. False after an error. */
bool record_curves_add(struct table_file *file, const struct csv_row *row, struct diag *diag);
void record_curves_free(struct table_file *file);

static inline double record_curves_at(const struct record_curves *curves, size_t curve, size_t sample, size_t column)
{
    return curves->list[curve].numbers[sample * curves->width + column];
}

static inline bool record_curves_has(const struct record_curves *curves, size_t curve, size_t column)
{
    for (size_t i = 0; i < curves->list[curve].count; i++)
        if (!isnan(record_curves_at(curves, curve, i, column)))
            return true;
    return false;
}

#endif
