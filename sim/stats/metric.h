/* metric.h - a row of the one table of metrics: it yields columns, legend, help and the reference page. */
#ifndef SIM_METRIC_H
#define SIM_METRIC_H

/* In the text table, where nobody asked for other columns. */
enum metric_shown { METRIC_HIDDEN, METRIC_SHOWN, METRIC_SHOWN_WHERE_KNOWN /* where a row has one but 0 */ };

struct metric {
    const char *name; /* NULL ends the table */
    const char *unit;
    const char *better;        /* "higher", "lower" or "" */
    double relative, absolute; /* what a change must exceed to matter, in parts of the value and in units */
    enum metric_shown shown;
    const char *help; /* one line: what is counted over what */
};

#endif
