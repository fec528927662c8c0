/* trace_words.h - the options by which a trace is read, of all commands that read one. */
#ifndef CLI_TRACE_WORDS_H
#define CLI_TRACE_WORDS_H

#include "models/trace.h"
#include "sim/cli/arguments.h"

/* clang-format off */
#define CLI_TRACE_OPTIONS \
    {"as", 0, "FORMAT", "the format of the file; otherwise the one whose columns it has"}, \
    {"column", 0, "FIELD=COLUMN[:UNIT],...", "which column is what, before those of the format; may be repeated"}, \
    {"sort", 0, NULL, "sort rows by time; otherwise times that run backwards are an error"}
/* clang-format on */

/* The trace that the first operand names. Texts live in the arena. */
void trace_words(const struct cli_words *words, struct arena *arena, struct trace_spec *spec);

#endif
