/* weir size: the largest or smallest value of a knob that meets goals, as one sentence that can be defended. */
#include <stdlib.h>
#include <string.h>

#include "sim/cli/commands.h"
#include "sim/cli/format.h"
#include "sim/cli/output.h"
#include "sim/cli/plot.h"
#include "sim/cli/sizing.h"

const struct cli_option cmd_size_options[] = {
    {"set", 0, "KEY=YAML", "change a value of the scenario; may be repeated"},
    {"policy", 'p', "A,B", "only these alternatives"},
    CLI_PLUGIN_OPTION,
    {"jobs", 'j', "N", "threads; default: as many as there are cores"},
    CLI_FORMAT_OPTIONS,
    {"plot", 0, "DIR", "draw the rungs with each goal there, as SVG and PNG"},
    {.name = NULL},
};

struct request {
    enum format format;
    const char *plot;
    long jobs;
};

static bool any_answer(const struct sizing *sizing)
{
    for (size_t i = 0; i < sizing->group_count; i++)
        if (sizing->groups[i].search.answer < sizing->groups[i].count)
            return true;
    return false;
}

/* Sentences first; in CSV they are no table of a program's. */
static int deliver(struct sizing *sizing, const struct request *request, struct table tables[2])
{
    bool csv = request->format == FORMAT_CSV, goals = sizing->spec->goal_count > 0;
    bool ranges = goals && sizing->spec->range_count > 0 && !csv;
    FILE *aside = csv ? stderr : stdout;
    int status = EXIT_DONE;

    if (goals) {
        for (size_t i = 0; i < sizing->group_count; i++)
            size_sentence(sizing, &sizing->groups[i], aside);
        size_table(sizing, &tables[0]);
    } else {
        status = size_times(sizing, &tables[0], aside);
    }
    if (status != EXIT_DONE)
        return status;
    if (!ranges)
        size_advice(sizing, &tables[0]);
    if (!csv)
        printf("\n");
    format_print(&tables[0], request->format, stdout);
    if (ranges) {
        fflush(stdout); /* what follows takes as long again for each end of each range */
        status = size_ranges(sizing, &tables[1]);
        size_advice(sizing, &tables[1]);
        printf("\n");
        if (status == EXIT_DONE)
            format_print(&tables[1], request->format, stdout);
    }
    if (!output_flush(stdout, "standard output"))
        return EXIT_USAGE;
    if (status == EXIT_DONE && request->plot && goals)
        status = size_draw(sizing, request->plot);
    return status != EXIT_DONE ? status : goals && !any_answer(sizing) ? EXIT_NO : EXIT_DONE;
}

static int size(const struct cli_words *words, const struct session *base, const struct request *request)
{
    struct arena arena = {0};
    struct node *sweep = sizing_sweep(base->plan.size, false, &arena);
    struct session_more more = {.sweep = &sweep};
    struct table tables[2] = {{.ascii = format_ascii(), .colour = format_colour(words, stdout)}};
    struct sizing sizing;
    int status = EXIT_USAGE;

    tables[1] = tables[0];
    if (sizing_open(&sizing, words, (unsigned)request->jobs, base->plan.size, &more)) {
        if (sizing.group_count == 0)
            fprintf(stderr, "weir size: no alternative has %s\n", sizing.session.plan.factor_names[0]);
        else
            status = base->plan.size->goal_count > 0 ? sizing_search(&sizing) : sizing_climb(&sizing);
        if (status == EXIT_DONE)
            status = deliver(&sizing, request, tables);
        if (status == EXIT_INTERRUPTED)
            fprintf(stderr, "weir: interrupted before there was an answer\n");
    }
    sizing_close(&sizing);
    table_fini(&tables[0]);
    table_fini(&tables[1]);
    arena_free(&arena);
    return status;
}

/* The scenario as it is written, but for its sweep. */
static bool open_base(struct session *base, const struct cli_words *words)
{
    struct node *none = NULL;
    struct session_more more = {.sweep = &none};

    if (!session_open_with(base, words, &more))
        return false;
    if (base->plan.size)
        return true;
    fprintf(
        stderr,
        "weir size: %s does not say what to vary: expected size: {vary: ADDRESS, within: 1..64, goal: wait_p99 <= 15 "
        "s}, in the file or by --set\n",
        words->operands[0]);
    return false;
}

int cmd_size(const struct cli_words *words)
{
    struct request request = {.plot = cli_value(words, "plot")};
    struct session base = {0};
    int status = EXIT_USAGE;

    if (format_read(words, &request.format) && cli_count(words, "jobs", 0, 1, 4096, &request.jobs) &&
        open_base(&base, words) && (!request.plot || plot_directory(request.plot)))
        status = size(words, &base, &request);
    session_close(&base);
    return status;
}
