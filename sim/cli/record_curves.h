/* record_curves.h - a record (record_file.h) read back: replication 1 of each design point is a curve of every column
 * over time. Part of table_file.h, where each curve is a row with its policy and factors. */
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
    const char **names;        /* of the columns, time first */
    size_t width;              /* time included */
    size_t first;              /* of the file's columns: that of the time */
    struct record_curve *list; /* beside the file's rows */
};

/* Is this the head of a record: policy, factors, replication, time? */
bool record_curves_head(const struct csv_row *header);
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
