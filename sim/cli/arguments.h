/* arguments.h - the words of a command line. One table a command yields its parser and its help. Long options are never
 * abbreviated; `--name value` and `--name=value` are the same; `--` ends options. */
#ifndef CLI_ARGUMENTS_H
#define CLI_ARGUMENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum { EXIT_DONE = 0, EXIT_NO = 1, EXIT_USAGE = 2, EXIT_FAULT = 3, EXIT_INTERRUPTED = 130 };

struct cli_option {
    const char *name;     /* NULL ends the table */
    char letter;          /* 0: none */
    const char *argument; /* what its value is called; NULL: it has none */
    const char *help;
};

struct cli_words;

struct cli_command {
    const char *name;     /* NULL ends the table */
    const char *operands; /* as shown in usage: "FILE" */
    size_t least, most;   /* operands */
    const char *summary;
    const struct cli_option *options;
    int (*run)(const struct cli_words *words);
    const char *details; /* further lines for --help, or NULL */
};

struct cli_words {
    const struct cli_command *command;
    const char **operands;
    size_t count;
    struct cli_word {
        const struct cli_option *option;
        const char *value;
    } * given;
    size_t given_count;
};

extern const struct cli_command cli_commands[];

/* False after a message on stderr. The arrays have to be freed by cli_words_fini. */
bool cli_parse(const struct cli_command *command, int count, char **arguments, struct cli_words *words);
void cli_words_fini(struct cli_words *words);
void cli_usage(const struct cli_command *command, bool whole, FILE *out);

/* Ends a message on stderr about a word that is not known: by the nearest one that is, or by the hint. */
void cli_suggest(const char *nearest, const char *hint);

bool cli_has(const struct cli_words *words, const char *name);
const char *cli_value(const struct cli_words *words, const char *name); /* the last one given, or NULL */
/* A whole number from least to most; `missing` if not given. False after a message. */
bool cli_count(const struct cli_words *words, const char *name, long missing, long least, long most, long *value);
/* All values of a repeatable option, split at commas if asked; the caller frees the array and the texts' block. */
const char **cli_list(const struct cli_words *words, const char *name, bool commas, size_t *count);

#endif
