/* format.h - how a table is printed: --format, --color, and the terminal's character set. */
#ifndef CLI_FORMAT_H
#define CLI_FORMAT_H

#include "sim/cli/arguments.h"
#include "sim/io/table.h"

enum format { FORMAT_TEXT, FORMAT_CSV, FORMAT_MARKDOWN };

/* clang-format off */
#define CLI_FORMAT_OPTIONS \
    {"format", 0, "text|csv|markdown", "how stdout looks; default text"}, \
    {"color", 0, "auto|always|never", "of text; auto: on a terminal, unless NO_COLOR is set"}
/* clang-format on */

/* From --format; --color is checked too. False after a message on stderr. */
bool format_read(const struct cli_words *words, enum format *format);
/* Whether a text table that goes there has colours: by --color, else a terminal has, but for TERM=dumb and NO_COLOR. */
bool format_colour(const struct cli_words *words, FILE *out);
bool format_ascii(void); /* the locale has no UTF-8: write +- */
/* Characters of a line there: those of a narrow terminal, else 0, as many as a table has by itself. */
size_t format_width(FILE *out);
void format_print(const struct table *table, enum format format, FILE *out);

#endif
