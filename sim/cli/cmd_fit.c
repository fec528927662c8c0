/* weir fit: distributions for a scenario out of a recorded workload. */
#include <string.h>

#include "sim/cli/commands.h"
#include "sim/cli/fit_report.h"
#include "sim/cli/format.h"
#include "sim/cli/trace_words.h"

const struct cli_option cmd_fit_options[] = {
    CLI_TRACE_OPTIONS,
    {"plot", 0, "DIR", "draw data against fit, a picture each"},
    CLI_FORMAT_OPTIONS,
    {.name = NULL},
};

static int report(const struct fit_report *fitted, const struct cli_words *words, enum format format)
{
    struct table table = {.ascii = format_ascii(), .colour = format_colour(words, stdout)};
    const char *directory = cli_value(words, "plot");

    fit_report_table(fitted, &table);
    format_print(&table, format, stdout);
    table_fini(&table);
    if (format != FORMAT_CSV) {
        printf(format == FORMAT_MARKDOWN ? "\n```yaml\n" : "\n");
        fit_report_scenario(fitted, stdout);
        printf(format == FORMAT_MARKDOWN ? "```\n" : "");
    }
    return directory ? fit_report_draw(fitted, directory) : EXIT_DONE;
}

int cmd_fit(const struct cli_words *words)
{
    struct trace_spec spec;
    struct trace_facts facts;
    struct fit_trace fit;
    struct diag diag = {0};
    struct arena arena = {0};
    enum format format;
    int status = EXIT_USAGE;

    trace_words(words, &arena, &spec);
    fit_trace_init(&fit);
    if (format_read(words, &format) && trace_read(&spec, fit_trace_call, &fit, &facts, &diag)) {
        if (strcmp(facts.rows, "calls") == 0) {
            fit_trace_done(&fit, &facts);
            status = report(&(struct fit_report){&spec, &facts, &fit}, words, format);
        } else {
            diag_error(&diag, (struct place){spec.path, 0, 0},
                       "nothing to fit: its rows are %s; expected a trace of calls", facts.rows);
        }
    }
    diag_print(&diag, stderr);
    fit_trace_fini(&fit);
    diag_fini(&diag);
    arena_free(&arena);
    return status;
}
