/* output.h - files that appear whole or not at all. */
#ifndef CLI_OUTPUT_H
#define CLI_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>

struct output {
    FILE *file;
    char *path, *temporary; /* temporary NULL: the target is no regular file and is written as it is */
};

/* Do both paths lead to one file, there already or not? */
bool output_same(const char *one, const char *other);
/* Could it be opened? Before a long run, which leaves no trace of having asked. False after a message on stderr. */
bool output_possible(const char *path);
/* False after a message on stderr. */
bool output_open(struct output *output, const char *path);
bool output_close(struct output *output); /* puts the file in its place; false after a message (a full disk) */
void output_discard(struct output *output);

/* Was everything printed? Flushes; a full disk or a closed pipe is a message and false. */
bool output_flush(FILE *file, const char *name);

#endif
