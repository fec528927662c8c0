/* figure_script.h - a figure as a script for gnuplot that draws one picture. Private to gnuplot.c. */
#ifndef CLI_FIGURE_SCRIPT_H
#define CLI_FIGURE_SCRIPT_H

#include <stdio.h>

#include "sim/cli/gnuplot.h"
#include "sim/io/mem.h"

/* `scripts`: the folder of plots/, `path`: the picture's file, both absolute; `format`: svg or png. Several may follow
 * each other in a file. */
void figure_script(const struct figure *figure, const char *scripts, const char *format, const char *path, FILE *file,
                   struct arena *arena);

#endif
