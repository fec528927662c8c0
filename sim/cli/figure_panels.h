/* figure_panels.h - panels, one below the other, as variables and data of a script. Private to figure_script.c. */
#ifndef CLI_FIGURE_PANELS_H
#define CLI_FIGURE_PANELS_H

#include "sim/cli/gnuplot.h"
#include "sim/cli/script.h"

void figure_panels(const struct figure *figure, struct script *script);

#endif
