/* weir plot: pictures of a table that `weir run -o` wrote, of a record, or of a log of decisions. */
#include <stdlib.h>
#include <string.h>

#include "sim/cli/commands.h"
#include "sim/cli/plot.h"
#include "sim/io/mem.h"

const struct cli_option cmd_plot_options[] = {
    {"y", 'y', "A,B,...", "metrics, a picture each; or columns over time: A+B in one panel"},
    {"x", 'x', "FACTOR", "the factor to draw against; default: the only one of numbers"},
    {"at", 0, "FACTOR=VALUE", "draw only the rows with this; may be repeated"},
    {"policy", 'p', "A,B", "only these alternatives"},
    {"output", 'o', "DIR", "where the pictures go; default: pictures, beside the table"},
    {.name = NULL},
};

int cmd_plot(const struct cli_words *words)
{
    struct plot_request request = {.table = words->operands[0], .x = cli_value(words, "x")};
    struct arena arena = {0};
    const char *slash = strrchr(request.table, '/');
    int folder = slash ? (int)(slash - request.table) + 1 : 0;
    const char **asked = cli_list(words, "y", true, &request.metric_count);
    const char **at = cli_list(words, "at", false, &request.at_count);
    const char **policies = cli_list(words, "policy", true, &request.policy_count);
    int status;

    request.metrics = asked;
    request.at = at;
    request.policies = policies;
    request.directory = cli_value(words, "output");
    if (!request.directory)
        request.directory = arena_format(&arena, "%.*spictures", folder, request.table);
    status = plot_table(&request);
    free(asked);
    free(at);
    free(policies);
    arena_free(&arena);
    return status;
}
