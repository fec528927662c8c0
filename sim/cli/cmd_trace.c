/* weir trace: how a recorded workload is understood, and what is in it. */
#include "sim/cli/commands.h"
#include "sim/cli/format.h"
#include "sim/cli/trace_report.h"
#include "sim/cli/trace_words.h"

const struct cli_option cmd_trace_options[] = {
    CLI_TRACE_OPTIONS,
    CLI_FORMAT_OPTIONS,
    {.name = NULL},
};

int cmd_trace(const struct cli_words *words)
{
    struct trace_spec spec;
    struct trace_facts facts;
    struct trace_sum sum;
    struct diag diag = {0};
    struct arena arena = {0};
    struct table table = {.ascii = format_ascii(), .colour = format_colour(words, stdout)};
    enum format format;
    bool good = format_read(words, &format);

    trace_words(words, &arena, &spec);
    trace_sum_init(&sum);
    if (good && (good = trace_read(&spec, trace_sum_call, &sum, &facts, &diag))) {
        trace_sum_done(&sum, &facts);
        trace_report(&spec, &facts, &sum, format == FORMAT_CSV, &table);
        format_print(&table, format, stdout);
    }
    diag_print(&diag, stderr);
    table_fini(&table);
    trace_sum_fini(&sum);
    diag_fini(&diag);
    arena_free(&arena);
    return good ? EXIT_DONE : EXIT_USAGE;
}
