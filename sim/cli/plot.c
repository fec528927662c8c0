/* plot.c - titles, names of files, and drawing metric by metric. */
#include "sim/cli/plot.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "models/metrics.h"
#include "sim/cli/arguments.h"
#include "sim/cli/plot_private.h"
#include "sim/io/quote.h"

/* Without the mark of a paired difference. */
static const char *bare(const char *column)
{
    return strncmp(column, "d_", 2) == 0 ? column + 2 : column;
}

static const char difference[] = "difference";

/* "wait_p99" -> "p99 wait", "d_goodput" -> "difference in goodput" */
static const char *spoken(struct arena *arena, const char *column)
{
    const char *metric = bare(column), *last = strrchr(metric, '_');
    bool statistic = last && (strcmp(last, "_mean") == 0 || (last[1] == 'p' && last[2] >= '0' && last[2] <= '9'));
    char *text =
        statistic ? arena_format(arena, "%s %.*s", last + 1, (int)(last - metric), metric) : arena_text(arena, metric);

    for (char *at = text; *at; at++)
        *at = *at == '_' ? ' ' : *at;
    return metric == column ? text : arena_format(arena, "%s in %s", difference, text);
}

static const char *unit_of(const struct plot *plot, const char *column)
{
    const char *unit = table_file_unit(&plot->file, column);

    for (const struct metric *metric = metrics; !unit && metric->name; metric++)
        if (strcmp(metric->name, bare(column)) == 0)
            unit = metric->unit;
    return unit ? unit : "";
}

static const char *with_unit(struct plot *plot, const char *text, const char *unit)
{
    return unit[0] ? arena_format(&plot->file.arena, "%s (%s)", text, unit) : text;
}

static const char *x_title(struct plot *plot)
{
    const char *name = plot->file.names[plot->drawn.x], *noun = plot->drawn.noun ? plot->drawn.noun : "";

    if (selection_x_is_population(&plot->drawn))
        return arena_format(&plot->file.arena, "agents (%s)", name);
    switch (plot->drawn.quantity) {
    case QUANTITY_TIME:
        return with_unit(plot, name, "s");
    case QUANTITY_RATE:
        return with_unit(plot, name, arena_format(&plot->file.arena, "%s/s", noun[0] ? noun : "1"));
    default:
        return with_unit(plot, name, noun);
    }
}

const char *plot_circumstances(struct plot *plot)
{
    const char *fixed = selection_fixed(&plot->drawn);
    const char *changed = table_file_head(&plot->file, "changed");
    struct arena *arena = &plot->file.arena;
    const char *text = "";

    if (fixed[0])
        text = arena_format(arena, "; %s", fixed);
    if (changed && changed[0])
        text = arena_format(arena, "%s; run with %s", text, changed);
    return text;
}

/* Some policies may never let anybody wait: their share of waits is 0 everywhere, which has no place on the axis. */
static const char *never_waited(struct plot *plot, const struct figure *figure)
{
    struct arena *arena = &plot->file.arena;
    const char *text = "";

    for (size_t row = 0; row < plot->drawn.row_count; row++) {
        const char *label = plot->drawn.labels[row];
        bool told = row > 0 && strcmp(label, plot->drawn.labels[row - 1]) == 0;

        for (size_t i = 0; i < figure->count && !told; i++)
            told = strcmp(figure->series[i].label, label) == 0;
        if (!told)
            text = arena_format(arena, "%s%s%s", text, text[0] ? ", " : "; nobody waited: ", label);
    }
    return text;
}

/* Of what the numbers are, and how sure. */
static const char *subtitle(struct plot *plot, const struct figure *figure)
{
    const char *replications = selection_replications(&plot->drawn), *base = table_file_head(&plot->file, "against");
    const char *rest = plot_circumstances(plot), *what = figure->y_title;
    bool one = replications && strcmp(replications, "1") == 0;
    struct arena *arena = &plot->file.arena;

    replications =
        replications ? arena_format(arena, "%s replication%s", replications, one ? "" : "s") : "the replications";
    if (figure->form == FIGURE_SURVIVAL)
        return arena_format(arena, "calls of %s%s%s%s", replications, one ? "" : " together", rest,
                            never_waited(plot, figure));
    if (base && strncmp(what, difference, strlen(difference)) == 0)
        what = arena_format(arena, "difference to %s%s", base, what + strlen(difference));
    if (one)
        return arena_format(arena, "%s; one replication, so no half-widths%s", what, rest);
    return arena_format(arena, "%s; mean of %s, with 95 %% half-widths%s", what, replications, rest);
}

/* Of the .meta; only a population has one. */
static double knee_of(const struct plot *plot)
{
    const char *text = table_file_head(&plot->file, "knee"), *end, *why;
    struct number number;

    if (!text || !selection_has_x(&plot->drawn) || !selection_x_is_population(&plot->drawn) ||
        !unit_read(text, &end, &number, &why) || *end != '\0')
        return NAN;
    return number.value;
}

const char *plot_name(struct plot *plot)
{
    const char *slash = strrchr(plot->request->table, '/'), *base = slash ? slash + 1 : plot->request->table;
    size_t stem = strlen(base);

    if (plot->request->name)
        return plot->request->name;
    stem -= stem > 4 && strcmp(base + stem - 4, ".csv") == 0 ? 4 : 0;
    return arena_text_of(&plot->file.arena, base, stem);
}

const char *plot_title(struct plot *plot)
{
    const char *title = table_file_head(&plot->file, "title");

    return title && title[0] ? title : plot_name(plot);
}

static void set_titles(struct plot *plot, const char *metric, struct figure *figure)
{
    struct arena *arena = &plot->file.arena;

    figure->title = plot_title(plot);
    if (figure->form == FIGURE_SURVIVAL) {
        const char *wait = strncmp(metric, "total", 5) == 0 ? "total wait" : "wait";

        figure->y_title = arena_format(arena, "calls with a longer %s", wait);
        figure->x_title = arena_format(arena, "%s (s)", wait);
    } else {
        figure->y_title = with_unit(plot, spoken(arena, metric), unit_of(plot, metric));
        figure->x_title = figure->form == FIGURE_BARS ? NULL : x_title(plot);
    }
    figure->subtitle = subtitle(plot, figure);
}

static bool all_zero(const struct figure *figure)
{
    for (size_t i = 0; i < figure->count; i++)
        for (size_t k = 0; k < figure->series[i].count; k++)
            if (figure->series[i].points[k].y != 0 && !isnan(figure->series[i].points[k].y))
                return false;
    return true;
}

/* Is there nothing to see? It is an error where somebody asked for this metric. */
static bool is_empty(struct plot *plot, const char *metric, const struct figure *figure)
{
    bool zero = plot->request->lenient && plot->request->metric_count == 0 && figure->count > 0 && all_zero(figure);

    if (figure->count > 0 && !zero)
        return false;
    if (plot->request->lenient)
        fprintf(stderr, "weir: `%s` %s and is not drawn\n", metric, zero ? "is 0 everywhere" : "has no value");
    else
        diag_error(&plot->diag, (struct place){plot->file.path, 0, 0}, "there is nothing to draw: `%s` has no value%s",
                   diag_excerpt(&plot->diag, metric), plot->drawn.survival ? " above 0" : "");
    return true;
}

/* "wait_survival" -> "wait", after a name that says already what it is. */
static const char *end_of(struct plot *plot, const char *metric)
{
    const char *end = plot->drawn.survival ? strstr(metric, "_survival") : NULL;

    return arena_text_of(&plot->file.arena, metric, end ? (size_t)(end - metric) : strlen(metric));
}

int plot_draw(struct plot *plot, const struct figure *figure, const char *end)
{
    struct arena *arena = &plot->file.arena;
    const char *base = arena_format(arena, "%s/%s.%s", plot->request->directory, plot_name(plot), end);
    int status;

    if (!plot_directory(plot->request->directory))
        return EXIT_USAGE;
    status = gnuplot_draw(figure, base);
    if (status == EXIT_DONE)
        fprintf(stderr, "weir: drew %s.svg and .png\n", quote_terminal(base, arena));
    return status;
}

static int draw_metric(struct plot *plot, const char *metric)
{
    size_t values = plot->file.column_count, column;
    struct figure figure = {.form = FIGURE_CURVES, .never_negative = metric == bare(metric), .knee = knee_of(plot)};

    if (plot->drawn.survival)
        figure.form = FIGURE_SURVIVAL;
    else if (!selection_has_x(&plot->drawn))
        figure.form = FIGURE_BARS;
    column = table_file_column(&plot->file, metric, plot->file.replications + 1, values, &plot->diag);
    if (column == values)
        return EXIT_USAGE;
    figure.series = selection_series(&plot->drawn, column, &figure.count);
    if (!figure.series)
        return EXIT_USAGE;
    if (is_empty(plot, metric, &figure))
        return plot->request->lenient ? EXIT_DONE : EXIT_USAGE;
    set_titles(plot, metric, &figure);
    return plot_draw(plot, &figure, end_of(plot, metric));
}

static int draw_metrics(struct plot *plot, const char *const *names, size_t count)
{
    int status = EXIT_DONE;

    for (size_t i = 0; status == EXIT_DONE && i < count; i++)
        status = draw_metric(plot, names[i]);
    return status;
}

/* What was asked for, or the usual. */
static int draw_results(struct plot *plot)
{
    static const char *const usual[] = {"wait_p99", "total_wait_p99", "deferred_share", "goodput"};
    static const char *const differences[] = {"d_wait_p99", "d_total_wait_p99", "d_deferred_share", "d_goodput"};
    static const char *const survival[] = {"wait_survival", "total_wait_survival"};
    size_t count = plot->request->lenient ? sizeof usual / sizeof usual[0] : 1;

    if (plot->request->metric_count)
        return draw_metrics(plot, plot->request->metrics, plot->request->metric_count);
    if (plot->drawn.survival)
        return draw_metrics(plot, survival, sizeof survival / sizeof survival[0]);
    return draw_metrics(plot, table_file_head(&plot->file, "against") ? differences : usual, count);
}

int plot_table(const struct plot_request *request)
{
    struct plot plot = {.request = request};
    struct selection_request chosen = {request->x,        request->lenient,  request->at,
                                       request->at_count, request->policies, request->policy_count};
    int status = EXIT_USAGE;

    if (table_file_read(request->table, &plot.file, &plot.diag) &&
        selection_make(&plot.file, &chosen, &plot.drawn, &plot.diag))
        status = plot.file.record ? plot_record(&plot) : draw_results(&plot);
    diag_print(&plot.diag, stderr);
    diag_fini(&plot.diag);
    selection_fini(&plot.drawn);
    table_file_fini(&plot.file);
    return status;
}

bool plot_directory(const char *directory)
{
    struct arena arena = {0};
    char *path = arena_text(&arena, directory);
    struct stat found;
    bool good = path[0] != '\0';

    for (char *at = path; good && *at; at++) {
        char next = at[1];

        if (next != '/' && next != '\0')
            continue;
        at[1] = '\0';
        good = mkdir(path, 0777) == 0 || errno == EEXIST || errno == EISDIR;
        at[1] = next;
    }
    if (good && stat(path, &found) == 0 && !S_ISDIR(found.st_mode)) {
        errno = ENOTDIR;
        good = false;
    }
    if (!good)
        fprintf(stderr, "weir: cannot make the folder `%s`: %s\n", quote_terminal(directory, &arena),
                path[0] ? strerror(errno) : "it has no name");
    arena_free(&arena);
    return good;
}
