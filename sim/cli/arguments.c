/* Reading the command line by the command's own table. */
#include "sim/cli/arguments.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sim/io/diag.h"
#include "sim/io/mem.h"

static const struct cli_option help_option = {"help", 'h', NULL, "print this and exit"};

static const struct cli_option *option_named(const struct cli_command *command, const char *name, size_t length)
{
    if (length == 4 && strncmp(name, "help", 4) == 0)
        return &help_option;
    for (const struct cli_option *option = command->options; option && option->name; option++)
        if (strlen(option->name) == length && strncmp(option->name, name, length) == 0)
            return option;
    return NULL;
}

static const struct cli_option *option_lettered(const struct cli_command *command, char letter)
{
    if (letter == 'h')
        return &help_option;
    for (const struct cli_option *option = command->options; option && option->name; option++)
        if (letter && option->letter == letter)
            return option;
    return NULL;
}

static void unknown_option(const struct cli_command *command, const char *word)
{
    const char *names[64];
    size_t count = 0;
    const char *nearest;

    for (const struct cli_option *option = command->options; option && option->name && count < 64; option++)
        names[count++] = option->name;
    nearest = strncmp(word, "--", 2) == 0 ? diag_nearest(word + 2, names, count) : NULL;
    fprintf(stderr, "weir %s: unknown option `%s`%s%s%s\n", command->name, word, nearest ? "; did you mean `--" : "",
            nearest ? nearest : "", nearest ? "`?" : "");
    cli_usage(command, false, stderr);
}

/* One option word; *next is the word behind it, taken if the option needs a value that is not in the word. */
static bool take_option(struct cli_words *words, const char *word, const char *next, bool *took_next)
{
    const struct cli_command *command = words->command;
    const char *value = NULL;
    const struct cli_option *option;

    *took_next = false;
    if (word[1] == '-') {
        const char *equals = strchr(word, '=');

        option = option_named(command, word + 2, equals ? (size_t)(equals - word - 2) : strlen(word + 2));
        value = equals ? equals + 1 : NULL;
    } else {
        option = option_lettered(command, word[1]);
        value = word[2] ? word + 2 : NULL;
    }
    if (!option) {
        unknown_option(command, word);
        return false;
    }
    if (!option->argument && value) {
        fprintf(stderr, "weir %s: `--%s` takes no value\n", command->name, option->name);
        return false;
    }
    if (option->argument && !value) {
        if (!next) {
            fprintf(stderr, "weir %s: `%s` needs a value: %s %s\n", command->name, word, word, option->argument);
            return false;
        }
        value = next;
        *took_next = true;
    }
    words->given[words->given_count].option = option;
    words->given[words->given_count++].value = value;
    return true;
}

bool cli_parse(const struct cli_command *command, int count, char **arguments, struct cli_words *words)
{
    bool options = true;

    *words = (struct cli_words){.command = command};
    words->operands = mem_zeroed((size_t)count + 1, sizeof *words->operands);
    words->given = mem_zeroed((size_t)count + 1, sizeof *words->given);
    for (int i = 0; i < count; i++) {
        const char *word = arguments[i];
        bool took_next;

        if (options && strcmp(word, "--") == 0) {
            options = false;
        } else if (options && word[0] == '-' && word[1]) {
            if (!take_option(words, word, i + 1 < count ? arguments[i + 1] : NULL, &took_next))
                return false;
            i += took_next;
        } else {
            words->operands[words->count++] = word;
        }
    }
    if (cli_has(words, "help"))
        return true;
    if (words->count < command->least || words->count > command->most) {
        if (words->count < command->least)
            fprintf(stderr, "weir %s: expected %s\n", command->name, command->operands);
        else
            fprintf(stderr, "weir %s: `%s` is one word too many\n", command->name, words->operands[command->most]);
        cli_usage(command, false, stderr);
        return false;
    }
    return true;
}

void cli_words_fini(struct cli_words *words)
{
    free(words->operands);
    free(words->given);
}

void cli_usage(const struct cli_command *command, bool whole, FILE *out)
{
    fprintf(out, "usage: weir %s%s%s%s\n", command->name, *command->operands ? " " : "", command->operands,
            command->options ? " [options]" : "");
    if (!whole) {
        fprintf(out, "`weir %s --help` says more.\n", command->name);
        return;
    }
    fprintf(out, "\n%s\n", command->summary);
    if (command->details)
        fprintf(out, "\n%s\n", command->details);
    if (command->options)
        fprintf(out, "\noptions:\n");
    for (const struct cli_option *option = command->options; option && option->name; option++) {
        char left[64];

        snprintf(left, sizeof left, "%c%c%s--%s%s%s", option->letter ? '-' : ' ', option->letter ? option->letter : ' ',
                 option->letter ? ", " : "  ", option->name, option->argument ? " " : "",
                 option->argument ? option->argument : "");
        fprintf(out, "  %-31s  %s\n", left, option->help);
    }
}

void cli_suggest(const char *nearest, const char *hint)
{
    if (nearest)
        fprintf(stderr, "; did you mean `%s`?\n", nearest);
    else
        fprintf(stderr, "; %s\n", hint);
}

bool cli_has(const struct cli_words *words, const char *name)
{
    for (size_t i = 0; i < words->given_count; i++)
        if (strcmp(words->given[i].option->name, name) == 0)
            return true;
    return false;
}

const char *cli_value(const struct cli_words *words, const char *name)
{
    const char *value = NULL;

    for (size_t i = 0; i < words->given_count; i++)
        if (strcmp(words->given[i].option->name, name) == 0)
            value = words->given[i].value;
    return value;
}

bool cli_count(const struct cli_words *words, const char *name, long missing, long least, long most, long *value)
{
    const char *text = cli_value(words, name);
    char *end;

    *value = missing;
    if (!text)
        return true;
    errno = 0;
    *value = strtol(text, &end, 10);
    if (text[0] >= '0' && text[0] <= '9' && *end == '\0' && errno == 0 && *value >= least && *value <= most)
        return true;
    fprintf(stderr, "weir %s: `--%s %s`: expected a whole number from %ld to %ld\n", words->command->name, name, text,
            least, most);
    return false;
}

const char **cli_list(const struct cli_words *words, const char *name, bool commas, size_t *count)
{
    size_t room = 1, length = 1;
    const char **list;
    char *text;

    *count = 0;
    for (size_t i = 0; i < words->given_count; i++) {
        const char *value = words->given[i].value;

        if (strcmp(words->given[i].option->name, name) != 0)
            continue;
        room++;
        length += strlen(value) + 1;
        for (const char *at = value; commas && *at; at++)
            room += *at == ',';
    }
    /* One block: the pointers, then the texts. */
    list = mem_zeroed(1, room * sizeof *list + length);
    text = (char *)(list + room);
    for (size_t i = 0; i < words->given_count; i++) {
        if (strcmp(words->given[i].option->name, name) != 0)
            continue;
        strcpy(text, words->given[i].value);
        list[(*count)++] = text;
        for (; *text; text++) {
            if (commas && *text == ',') {
                *text = '\0';
                list[(*count)++] = text + 1;
            }
        }
        text++;
    }
    return list;
}
