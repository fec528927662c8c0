/* plot_private.h - what the files of the plots share: plot.c for tables of results, plot_record.c for records. */
#ifndef CLI_PLOT_PRIVATE_H
#define CLI_PLOT_PRIVATE_H

#include "sim/cli/plot.h"
#include "sim/cli/selection.h"

struct plot {
    const struct plot_request *request;
    struct table_file file;
    struct selection drawn;
    struct diag diag;
};

const char *plot_title(struct plot *plot);
const char *plot_name(struct plot *plot); /* of the pictures, without what tells them apart */
/* What is not to be seen in the picture: "; population 24; run with --policy codel", or "". */
const char *plot_circumstances(struct plot *plot);
/* Draws into DIRECTORY/NAME.END.svg and .png, and says so. */
int plot_draw(struct plot *plot, const struct figure *figure, const char *end);

/* A record, of which the curves are chosen. */
int plot_record(struct plot *plot);

#endif
