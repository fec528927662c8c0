/* trace_words.h - the options by which a trace is read, of all commands that read one. */
#ifndef CLI_TRACE_WORDS_H
#define CLI_TRACE_WORDS_H

#include "models/trace.h"
#include "sim/cli/arguments.h"

/* clang-format off */
#define CLI_TRACE_OPTIONS \
    {"as", 0, "FORMAT", "its format; otherwise the one whose columns it has"}, \
    {"column", 0, "FIELD=COLUMN[:UNIT],...", "which column is what, before the format's; may be repeated"}, \
    {"sort", 0, NULL, "sort rows by time; otherwise a step back is an error"}
/* clang-format on */

/* The trace that the first operand names. Texts live in the arena. */
void trace_words(const struct cli_words *words, struct arena *arena, struct trace_spec *spec);

#endif
