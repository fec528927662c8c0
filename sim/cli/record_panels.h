/* record_panels.h - which columns of a record stand in which panel. Private to plot_record.c. */
#ifndef CLI_RECORD_PANELS_H
#define CLI_RECORD_PANELS_H

#include "sim/cli/plot_private.h"

/* Panels of a picture; in a panel of several columns: columns, and curves (of one column, alternatives). */
enum { RECORD_PANELS_MOST = 12, RECORD_COLUMNS_MOST = 7, RECORD_CURVES_MOST = 12, RECORD_DASHES_MOST = 5 };

struct record_panel {
    size_t columns[RECORD_COLUMNS_MOST], count; /* those of the first unit, then those of a second */
    size_t lefts;                               /* of the first unit */
};

struct record_panels {
    struct record_panel list[RECORD_PANELS_MOST];
    size_t count;
    bool joined; /* some panel was asked for with a `+` */
};

/* Those of -y, or without it the first few columns that vary. False after an error. */
bool record_panels_choose(struct plot *plot, struct record_panels *panels);
/* Of a column; "": none, or the record has no .meta. */
const char *record_panels_unit(const struct plot *plot, size_t column);

#endif
