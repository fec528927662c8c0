/* diag.h - what is wrong with the input, and where.
 *
 * Messages are collected, in order, so that several mistakes are shown at once, and printed as
 * `file:line:column: error: message`. Each says what was expected. Past DIAG_MOST errors the rest are only counted. */
#ifndef SIM_DIAG_H
#define SIM_DIAG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "sim/io/mem.h"

#define DIAG_MOST 20

/* A place in the input. file NULL: nowhere in particular; line 0: the file as a whole. Lines and columns from 1. */
struct place {
    const char *file;
    int line, column;
};

struct diag_message {
    struct place place;
    bool warning;
    const char *text;
};

struct diag {
    struct arena arena; /* zeroed memory is a valid empty collection */
    struct diag_message *messages;
    size_t count, room;
    size_t errors; /* all, also those past DIAG_MOST */
};

void diag_error(struct diag *diag, struct place place, const char *format, ...) __attribute__((format(printf, 3, 4)));
void diag_warning(struct diag *diag, struct place place, const char *format, ...) __attribute__((format(printf, 3, 4)));
void diag_print(const struct diag *diag, FILE *out);
void diag_fini(struct diag *diag);

/* What a message quotes of a user's text: the whole, or its beginning and dots. It lives as long as the messages. */
const char *diag_excerpt(struct diag *diag, const char *text);

/* The name in the list that a typing error most likely meant (edit distance), or NULL if none is near. */
const char *diag_nearest(const char *name, const char *const *names, size_t count);

#endif
