#include "sim/cli/format.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* The place of an option's value among its choices, 0 where it is not given. False after a message. */
static bool choose(const struct cli_words *words, const char *option, const char *const choices[3], size_t *chosen)
{
    const char *value = cli_value(words, option);

    *chosen = 0;
    if (!value)
        return true;
    for (size_t i = 0; i < 3; i++)
        if (strcmp(value, choices[i]) == 0) {
            *chosen = i;
            return true;
        }
    fprintf(stderr, "weir %s: `--%s %s`: expected %s, %s or %s\n", words->command->name, option, value, choices[0],
            choices[1], choices[2]);
    return false;
}

bool format_read(const struct cli_words *words, enum format *format)
{
    static const char *const formats[] = {[FORMAT_TEXT] = "text", [FORMAT_CSV] = "csv", [FORMAT_MARKDOWN] = "markdown"};
    static const char *const colours[] = {"auto", "always", "never"};
    size_t chosen, colour;

    if (!choose(words, "format", formats, &chosen) || !choose(words, "color", colours, &colour))
        return false;
    *format = (enum format)chosen;
    return true;
}

static bool has_text(const char *variable)
{
    const char *value = getenv(variable);

    return value && *value;
}

bool format_colour(const struct cli_words *words, FILE *out)
{
    const char *wish = cli_value(words, "color");

    if (wish && strcmp(wish, "auto") != 0)
        return strcmp(wish, "always") == 0;
    return isatty(fileno(out)) && !has_text("NO_COLOR") && has_text("TERM") && strcmp(getenv("TERM"), "dumb") != 0;
}

/* As setlocale would find it, which is never called: the first of these that is set decides. */
bool format_ascii(void)
{
    static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *value = getenv(names[i]);

        if (!value || !*value)
            continue;
        for (const char *at = value; *at; at++)
            if (strncasecmp(at, "UTF-8", 5) == 0 || strncasecmp(at, "UTF8", 4) == 0)
                return false;
        return true;
    }
    return true;
}

size_t format_width(FILE *out)
{
    const size_t least = 40, usual = 100;
    struct winsize size;

    if (!isatty(fileno(out)) || ioctl(fileno(out), TIOCGWINSZ, &size) != 0 || size.ws_col == 0 || size.ws_col >= usual)
        return 0;
    return size.ws_col > least ? size.ws_col : least;
}

void format_print(const struct table *table, enum format format, FILE *out)
{
    if (format == FORMAT_CSV)
        table_print_csv(table, out);
    else if (format == FORMAT_MARKDOWN)
        table_print_markdown(table, out);
    else
        table_print_text(table, out);
}
