#include "sim/cli/trace_words.h"

#include <stdlib.h>

void trace_words(const struct cli_words *words, struct arena *arena, struct trace_spec *spec)
{
    size_t count;
    const char **lists = cli_list(words, "column", false, &count), *columns = NULL;

    for (size_t i = 0; i < count; i++)
        columns = columns ? arena_format(arena, "%s, %s", columns, lists[i]) : arena_text(arena, lists[i]);
    free(lists);
    *spec = (struct trace_spec){.path = words->operands[0],
                                .format = cli_value(words, "as"),
                                .columns = columns,
                                .sort = cli_has(words, "sort"),
                                .format_asked = {.file = "--as"},
                                .columns_asked = {.file = "--column"}};
}
