/* program.h - runs the program that $WEIR names, as a user would: arguments, environment, both outputs, exit status. No
 * shell is between. Unless the environment says otherwise the locale is C, so texts are ASCII. */
#ifndef TESTS_PROGRAM_H
#define TESTS_PROGRAM_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

#include "sim/io/mem.h"

struct program {
    const char *to; /* set before the start: where its standard output goes; NULL: it is kept */
    pid_t pid;
    FILE *kept[2];   /* what it wrote to standard output and standard error */
    char *out, *err; /* the same as texts, after the wait */
    int status;      /* exit status; the negated number of the signal that ended it */
};

/* Arguments and `KEY=VALUE`s end with NULL; the environment may be NULL. */
void program_start(struct program *program, const char *const *environment, const char *const *arguments);
void program_wait(struct program *program);
void program_fini(struct program *program); /* the outputs; then it can be started again */

#define PROGRAM_RUN(program, environment, ...) \
    (program_start(program, environment, (const char *const[]){__VA_ARGS__, NULL}), program_wait(program))

/* Runs it anew and anew, with SIGINT after `delay` ms, twice that and so on, until it says these words before it ends:
 * however slow the machine, some delay is long enough. Behind a minute it is given up. */
void program_interrupt(struct program *program, const char *const *arguments, long delay, const char *words);

/* Is /dev/full there, as is usual on Linux? Else a line on standard error. */
bool program_full_disk(void);

/* Ends a run that must have gone well and said nothing on standard error but which files it wrote: what stood on
 * standard output, in the arena.
 */
const char *program_taken(struct program *program, struct arena *arena);

/* Assertions about long texts; check's own messages have a limit. */
void program_has(const char *text, const char *words);
void program_lacks(const char *text, const char *words);
void program_same(const char *text, const char *other);

/* The text of a file, to be freed; NULL: there is none. */
char *program_file(const char *path);
/* How often the words are in the text. */
int program_count(const char *text, const char *words);
/* The path of a file in the folder $WEIR_PLUGINS. */
const char *program_plugin(const char *name, char *path, size_t size);

#endif
