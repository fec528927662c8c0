/* tornado.c - a study as the scenario has it, and one at each end of each range, with the same random numbers. A sweep
 * of the scenario is put aside. */
#include "sim/cli/tornado.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "models/metrics.h"
#include "models/size.h"
#include "sim/cli/gnuplot.h"
#include "sim/cli/output.h"
#include "sim/cli/plot.h"
#include "sim/io/quote.h"
#include "sim/study/compare.h"

enum { BAR_MOST = 12 }; /* characters of the widest bar */

struct tornado {
    const struct cli_words *words;
    const struct tornado_request *request;
    const struct tornado_spec *spec;
    struct session base;
    size_t alternatives, replications;
};

/* Of one alternative and one range. */
struct swing {
    const struct size_range *range;
    size_t alternative;
    struct estimate base, at[2], moved; /* moved: the second end less the first, paired by replication */
};

/* The metric of every alternative, a row of replications each; what is not there is NAN. */
static double *values_of(const struct tornado *tornado, const struct session *session, struct arena *arena)
{
    size_t room = tornado->replications;
    double *values = arena_zeroed(arena, tornado->alternatives * room, sizeof *values);

    for (size_t i = 0; i < tornado->alternatives; i++)
        for (size_t r = 0; r < room; r++)
            values[i * room + r] = i < session->results.points && r < session->results.finished[i]
                                       ? results_at(&session->results, i, (unsigned)r + 1)[tornado->spec->metric]
                                       : (double)NAN;
    return values;
}

/* The study with a value at one end of its range; NULL after a message, or when it was interrupted. */
static double *values_at(const struct tornado *tornado, const struct size_range *range, int end, struct arena *arena,
                         int *status)
{
    struct node *none = NULL;
    const char *set = arena_format(arena, "%s=%s", range->address, range->ends[end]->text);
    struct session_more more = {.sets = &set, .set_count = 1, .sweep = &none};
    struct session session = {0};
    double *values = NULL;

    *status = session_open_with(&session, tornado->words, &more) ? session_run(&session, tornado->request->threads)
                                                                 : EXIT_USAGE;
    if (*status == EXIT_DONE)
        values = values_of(tornado, &session, arena);
    session_close(&session);
    return values;
}

static int measure_swings(const struct tornado *tornado, struct swing *swings, struct arena *arena)
{
    size_t room = tornado->replications;
    const double *base = values_of(tornado, &tornado->base, arena);

    for (size_t i = 0; i < tornado->spec->range_count; i++) {
        const double *ends[2];

        for (int end = 0; end < 2; end++) {
            int status;

            ends[end] = values_at(tornado, &tornado->spec->ranges[i], end, arena, &status);
            if (!ends[end])
                return status;
        }
        for (size_t k = 0; k < tornado->alternatives; k++)
            swings[k * tornado->spec->range_count + i] =
                (struct swing){&tornado->spec->ranges[i],
                               k,
                               output_mean(base + k * room, room, 1),
                               {output_mean(ends[0] + k * room, room, 1), output_mean(ends[1] + k * room, room, 1)},
                               output_difference(ends[1] + k * room, ends[0] + k * room, room, 1)};
    }
    return EXIT_DONE;
}

/* Alternative by alternative, the widest first; one that is undefined last. */
static int widest_first(const void *left, const void *right)
{
    const struct swing *a = left, *b = right;
    double wide = isnan(a->moved.mean) ? -1 : fabs(a->moved.mean);
    double other = isnan(b->moved.mean) ? -1 : fabs(b->moved.mean);

    if (a->alternative != b->alternative)
        return a->alternative < b->alternative ? -1 : 1;
    if (wide != other)
        return wide < other ? 1 : -1;
    return a->range < b->range ? -1 : a->range > b->range;
}

static const char *bar_of(const struct swing *swing, double widest, char bar[BAR_MOST + 1])
{
    size_t length =
        widest > 0 && !isnan(swing->moved.mean) ? (size_t)(fabs(swing->moved.mean) / widest * BAR_MOST + 0.5) : 0;

    memset(bar, swing->moved.mean < 0 ? '-' : '+', length);
    bar[length] = '\0';
    return bar;
}

static void add_columns(const struct metric *metric, bool several, struct table *table)
{
    static const char *const ends[] = {"swing", "at_from", "at_to", "at_base"};
    static const char *const help[] = {"at_to - at_from, paired by replication", "the metric at one end",
                                       "the metric at the other end", "the metric as the scenario has it"};

    table_column(table, "policy", "", "", "the alternative under `policies:`", TABLE_KEY, several);
    table_column(table, "range", "", "", "what is moved", TABLE_KEY, true);
    table_column(table, "from", "", "", "one end", TABLE_KEY, true);
    table_column(table, "to", "", "", "the other end", TABLE_KEY, true);
    table_column(table, "bar", "", "", "the swing beside the widest: + up, - down", TABLE_KEY, true);
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        char name[32];

        table_column(table, ends[i], metric->unit, "", help[i], TABLE_VALUE, i < 3);
        table->columns[table->column_count - 1].never_negative = i > 0;
        table->columns[table->column_count - 1].difference = i == 0;
        snprintf(name, sizeof name, "%s_hw", ends[i]);
        table_column(table, name, metric->unit, "", "half-width of the 95 % confidence interval", TABLE_HALF_WIDTH,
                     i < 3);
    }
}

/* The metric where nothing is moved, of each alternative. */
static void note_bases(const struct tornado *tornado, const struct swing *swings, size_t count, struct table *table)
{
    const struct metric *metric = &metrics[tornado->spec->metric];
    char text[64];

    for (size_t i = 0; i < count; i++) {
        if (i > 0 && swings[i].alternative == swings[i - 1].alternative)
            continue;
        table_format(swings[i].base.mean, swings[i].base.half_width, table->ascii, text, sizeof text);
        table_note(table, "As the scenario has it, %s is %s%s%s under %s.", metric->name, text,
                   metric->unit[0] ? " " : "", metric->unit,
                   tornado->base.plan.points[swings[i].alternative].scenario->chain.label);
    }
}

static void fill(const struct tornado *tornado, const struct swing *swings, size_t count, struct table *table)
{
    const struct metric *metric = &metrics[tornado->spec->metric];
    double widest = 0;

    for (size_t i = 0; i < count; i++)
        widest = fmax(widest, fabs(swings[i].moved.mean));
    add_columns(metric, tornado->alternatives > 1, table);
    for (size_t i = 0; i < count; i++) {
        const struct estimate numbers[] = {swings[i].moved, swings[i].at[0], swings[i].at[1], swings[i].base};
        size_t row = table_row(table), column = 0;
        char bar[BAR_MOST + 1];

        table_text(table, row, column++, tornado->base.plan.points[swings[i].alternative].scenario->chain.label);
        table_text(table, row, column++, swings[i].range->address);
        table_text(table, row, column++, swings[i].range->ends[0]->text);
        table_text(table, row, column++, swings[i].range->ends[1]->text);
        table_text(table, row, column++, bar_of(&swings[i], widest, bar));
        for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++) {
            table_at(table, row, column++)->number = numbers[k].mean;
            table_at(table, row, column++)->number = numbers[k].half_width;
        }
    }
    note_bases(tornado, swings, count, table);
    table_note(table,
               "%s: each is moved alone, from one end to the other, all else as the scenario has it and a sweep put "
               "aside; the same random numbers throughout. ~: the interval of the swing holds 0.",
               metric->name);
}

/* A bar a range, of each alternative. */
static int draw(const struct tornado *tornado, const struct swing *swings, size_t count, struct arena *arena)
{
    const struct metric *metric = &metrics[tornado->spec->metric];
    const char *path = tornado->words->operands[0], *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    struct figure_series *series = arena_zeroed(arena, count, sizeof *series);
    struct figure figure = {
        .title = tornado->base.plan.title,
        .subtitle = "what each value does to the metric from one end of its range to the other",
        .y_title = arena_format(arena, "swing of %s%s%s", metric->name, metric->unit[0] ? ", " : "", metric->unit),
        .series = series,
        .form = FIGURE_BARS,
        .knee = NAN};
    size_t stem = strlen(name);

    if (stem > 5 && strcmp(name + stem - 5, ".yaml") == 0)
        stem -= 5;
    for (size_t i = 0; i < count; i++) {
        struct figure_point *point = arena_zeroed(arena, 1, sizeof *point);
        const char *label = tornado->base.plan.points[swings[i].alternative].scenario->chain.label;

        if (isnan(swings[i].moved.mean))
            continue;
        *point = (struct figure_point){.x = 0, .y = swings[i].moved.mean, .half_width = swings[i].moved.half_width};
        series[figure.count++] = (struct figure_series){
            .label = arena_format(arena, "%s%s%s", tornado->alternatives > 1 ? label : "",
                                  tornado->alternatives > 1 ? ": " : "", swings[i].range->address),
            .points = point,
            .count = 1,
            .colour = swings[i].alternative};
    }
    return gnuplot_draw(
        &figure, arena_format(arena, "%s/%.*s.tornado.%s", tornado->request->plot, (int)stem, name, metric->name));
}

static int show(const struct tornado *tornado, struct arena *arena)
{
    size_t count = tornado->alternatives * tornado->spec->range_count;
    struct swing *swings = arena_zeroed(arena, count, sizeof *swings);
    struct table table = {.ascii = format_ascii(), .colour = format_colour(tornado->words, stdout)};
    enum format format = tornado->request->format;
    int status = measure_swings(tornado, swings, arena);

    if (status == EXIT_DONE) {
        qsort(swings, count, sizeof *swings, widest_first);
        fill(tornado, swings, count, &table);
        if (format == FORMAT_TEXT)
            printf("%s\n\n", quote_terminal(tornado->base.plan.title, arena));
        format_print(&table, format, stdout);
        if (!output_flush(stdout, "standard output"))
            status = EXIT_USAGE;
    }
    if (status == EXIT_DONE && tornado->request->plot)
        status = draw(tornado, swings, count, arena);
    table_fini(&table);
    return status;
}

int tornado_run(const struct cli_words *words, const struct tornado_request *request)
{
    struct tornado tornado = {.words = words, .request = request};
    struct node *none = NULL;
    struct session_more more = {.sweep = &none};
    struct arena arena = {0};
    int status = EXIT_USAGE;

    if (session_open_with(&tornado.base, words, &more)) {
        tornado.spec = tornado.base.plan.tornado;
        tornado.alternatives = tornado.base.plan.point_count;
        tornado.replications = (size_t)tornado.base.plan.points[0].scenario->study.replications;
        if (!tornado.spec)
            fprintf(stderr,
                    "weir run: `--tornado`: %s does not say what to move: expected tornado: {metric: wait_p99, ranges: "
                    "{ADDRESS: [FROM, TO]}}, in the file or by --set\n",
                    words->operands[0]);
        else if (!request->plot || plot_directory(request->plot))
            status = session_run(&tornado.base, request->threads);
        if (status == EXIT_DONE)
            status = show(&tornado, &arena);
        if (status == EXIT_INTERRUPTED)
            fprintf(stderr, "weir: interrupted before there was a table\n");
    }
    session_close(&tornado.base);
    arena_free(&arena);
    return status;
}
