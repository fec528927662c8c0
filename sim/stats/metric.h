/* metric.h - a row of the one table of metrics: it yields columns, legend, help and the reference page. */
#ifndef SIM_METRIC_H
#define SIM_METRIC_H

#include <stdbool.h>

/* In the text table, where nobody asked for other columns. */
enum metric_shown {
    METRIC_HIDDEN,
    METRIC_SHOWN,
    METRIC_SHOWN_WHERE_KNOWN, /* where a row has one but 0 */
    METRIC_SHOWN_UNJUDGED     /* to read beside the others: weir regress and weir diff judge it where it is named */
};

struct metric {
    const char *name; /* NULL ends the table */
    const char *unit;
    const char *better;        /* "higher", "lower" or "" */
    double relative, absolute; /* what a change must exceed to matter, in parts of the value and in units */
    enum metric_shown shown;
    const char *help; /* one line: what is counted over what */
};

/* Judged unless the user names others. */
static inline bool metric_judged(const struct metric *metric)
{
    return *metric->better && (metric->shown == METRIC_SHOWN || metric->shown == METRIC_SHOWN_WHERE_KNOWN);
}

#endif
