/* plots.h - what the tests of pictures share: a folder of their own as the working directory, the command with its
 * messages caught, and a look at the files it left. */
#ifndef TESTS_PLOTS_H
#define TESTS_PLOTS_H

#include <stdbool.h>
#include <stddef.h>

#include "sim/io/mem.h"

#define PLOTS_KEYS "policy,class,tenant,backend,"

extern struct plots {
    struct arena arena;
    char root[4096], folder[32], said[8000]; /* said: by the last command, on stderr */
} plots;

extern const char plots_knee[]; /* a table of three policies */

void plots_setup(void);
void plots_teardown(void);

void plots_write(const char *path, const char *text);
const char *plots_read(const char *path, size_t *length);
size_t plots_files(const char *path); /* how many are in a folder */
/* BASE.svg and BASE.png are there and whole; the text of the SVG. */
const char *plots_pictures(const char *base);

/* A text of an SVG is there, or not; and where it stands, in pixels from the upper left. */
struct plots_spot {
    double x, y;
};

void plots_has(const char *svg, const char *text);
void plots_lacks(const char *svg, const char *text);
struct plots_spot plots_spot_of(const char *svg, const char *text);

enum { PLOTS_POINTS_MOST = 1300 };

/* A line of an SVG, in pixels. */
struct plots_line {
    double x[PLOTS_POINTS_MOST], y[PLOTS_POINTS_MOST];
    bool moves[PLOTS_POINTS_MOST]; /* the pen is up on the way to it */
    size_t count;
    double width, dash; /* dash: the length of the first, in widths; 0: a whole line */
};

#define PLOTS_BLUE "rgb(  0, 114, 178)"
#define PLOTS_ORANGE "rgb(213,  94,   0)"
#define PLOTS_GREEN "rgb(  0, 158, 115)"

/* The n-th line of a colour; the first are those of the legend. */
void plots_line_of(const char *svg, const char *colour, int n, struct plots_line *line);

/* `weir plot` with these words, or those of a line separated by blanks. */
int plots_words(char *const *words);
int plots_command(const char *line);

#endif
