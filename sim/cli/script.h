/* script.h - what the scripts of all forms of a figure are made of: numbers, escaped texts and the look of the curves,
 * as variables of gnuplot's. Private to figure_script.c and figure_panels.c. */
#ifndef CLI_SCRIPT_H
#define CLI_SCRIPT_H

#include <stdio.h>

#include "sim/cli/figure_layout.h"
#include "sim/io/mem.h"

/* Characters of a label and of a title of an axis that fit; colours in the palette; the share of the picture's width
 * that a character takes. */
enum { SCRIPT_LABEL_MOST = 38, SCRIPT_AXIS_MOST = 70, SCRIPT_COLOURS = 7 };
#define SCRIPT_CHARACTER 0.0112

struct script {
    FILE *file;
    struct arena *arena;
    bool plain; /* texts may have only what any machine's fonts can show */
};

/* NAME = "...", each byte but letters and blanks as three octal digits. */
void script_bytes(const char *name, const char *text, struct script *script);
/* The same of printable characters only, and at most so many: the rest becomes dots. */
void script_text(const char *name, const char *text, size_t most, struct script *script);
/* NAME = VALUE and a line's end; without a name a blank and the value. */
void script_number(const char *name, double value, struct script *script);
/* An element, from 0, of an array. */
void script_element(const char *array, size_t index, double value, struct script *script);

void script_x_axis(const struct figure *figure, struct axis axis, struct script *script);

/* Characters of the longest label. */
size_t script_longest(const struct figure_series *series, size_t count);
/* The size of labels' texts, smaller where the longest has many characters; and the width that it takes, as a share of
 * the picture's. Returns the width. */
double script_labels(size_t longest, struct script *script);
/* count, and one text of at most so many characters, colour and kind of line a series. */
void script_series(const struct figure_series *series, size_t count, size_t most, struct script *script);

#endif
