/* process.h - a program that runs beside this one and answers lines: one line to its standard input, one line from its
 * standard output. No shell stands between, its standard error is ours, and it sees no other file of ours.
 *
 * It is started in a folder, so that its words may name files there. Real time ends a wait that is too long and has no
 * other meaning. Nothing outlives process_end or a wrong answer: not the program, not what it has started in its group,
 * no zombie and no open file. */
#ifndef SIM_PROCESS_H
#define SIM_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { PROCESS_ANSWER = 4096, PROCESS_WRONG = 384 };

struct process {
    pid_t pid;                   /* 0: none is running; zeroed memory is that */
    int socket;                  /* its standard input and its standard output */
    int64_t patience;            /* nanoseconds of real time that an answer may take */
    char answer[PROCESS_ANSWER]; /* has fewer bytes */
    char wrong[PROCESS_WRONG];   /* what went wrong, as the end of a sentence about the program */
};

/* The first word is found by PATH, or seen from the folder where it has a slash; folder NULL: where we are. False: see
 * `wrong`. */
bool process_start(struct process *process, const char *folder, const char *const *words, int64_t patience);

/* Writes the line, which has no end of line, and returns what the program answers, without one too, good until the next
 * is asked. NULL: see `wrong`; the program is ended. */
const char *process_ask(struct process *process, const char *line);

/* The program gets an end of file, may take a second of real time to end by itself, and is killed then. False: it had
 * said more than it was asked, see `wrong`. Where none is running nothing happens. */
bool process_end(struct process *process);

/* A line as messages quote it: the first bytes, and `?` for what is no printing character of ASCII. */
void process_quote(char *quote, size_t size, const char *line, size_t length);

#endif
