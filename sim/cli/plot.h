/* plot.h - the table that `weir run -o` wrote, as pictures: one a metric, DIRECTORY/NAME.METRIC.svg and .png.
 *
 * A curve a policy against a numeric factor, or a bar a policy (and one for each of its classes) where there is none.
 * Other factors divide a policy into several curves; a policy that does not have the factor is a level line. Curves are
 * of the rows of all classes, tenants and backends. Of a table of survival (survival.h) falling curves are drawn.
 *
 * Of a record (record_file.h) one picture is drawn, NAME.record: columns over time, a panel each below the other, with
 * a curve for replication 1 of each policy and combination of factors. Columns that are joined, A+B, share a panel. */
#ifndef CLI_PLOT_H
#define CLI_PLOT_H

#include <stdbool.h>
#include <stddef.h>

struct plot_request {
    const char *table;            /* path of the CSV; its .meta gives title, units and knee, where it is there */
    const char *directory, *name; /* made where it is missing; name NULL: that of the table */
    const char *x;                /* a factor; NULL: the only numeric one */
    /* Names of columns; none: wait_p99, or if lenient the usual four; of survival both; of a record the first four that
     * vary. */
    const char *const *metrics;
    size_t metric_count;
    const char *const *at; /* "FACTOR=VALUE": only the rows with these */
    size_t at_count;
    const char *const *policies; /* labels: only these; none: all */
    size_t policy_count;
    bool lenient; /* of several numeric factors take the population, else the first; leave out, with a note, metrics
                     without a value, and of the usual four those that are 0 everywhere */
};

/* EXIT_DONE and the names of the pictures on stderr, or an exit status after a message. */
int plot_table(const struct plot_request *request);

/* Makes the folder and those above it. False after a message. */
bool plot_directory(const char *directory);

#endif
