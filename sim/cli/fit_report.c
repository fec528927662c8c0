/* fit_report.c - each family that was tried beside the others, and the chosen ones as a scenario that runs. */
#include "sim/cli/fit_report.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/cli/arguments.h"
#include "sim/cli/gnuplot.h"
#include "sim/cli/plot.h"
#include "sim/io/quote.h"
#include "sim/io/unit.h"

enum {
    ATTRIBUTE,
    FAMILY,
    CHOSEN,
    ROWS,
    ZEROS,
    BIC,
    DISTANCE,
    PART,
    WEIGHT,
    WEIGHT_SE,
    MEAN,
    MEAN_SE,
    SPREAD,
    SPREAD_SE,
    COLUMNS
};
static const struct {
    const char *name, *help;
    enum table_role role;
} columns[COLUMNS] = {
    [ATTRIBUTE] = {"what", "a key of a class of agents", TABLE_KEY},
    [FAMILY] = {"family", "of distributions", TABLE_KEY},
    [CHOSEN] = {"chosen",
                "the least bic; empirical where even that is more than 0.05, and than chance explains, from the data",
                TABLE_KEY},
    [ROWS] = {"rows", "values", TABLE_VALUE},
    [ZEROS] = {"zeros", "of them 0, which are a part of their own", TABLE_VALUE},
    [BIC] = {"bic", "p ln n - 2 ln L of the values above 0: the less, the better", TABLE_VALUE},
    [DISTANCE] = {"distance", "the largest between the distribution functions of data and fit", TABLE_VALUE},
    [PART] = {"part", "of a mixture, by rising means", TABLE_VALUE},
    [WEIGHT] = {"weight", "of the part", TABLE_VALUE},
    [WEIGHT_SE] = {"weight_hw", "its standard error", TABLE_HALF_WIDTH},
    [MEAN] = {"mean", "of the part, s or tokens or turns", TABLE_VALUE},
    [MEAN_SE] = {"mean_hw", "its standard error", TABLE_HALF_WIDTH},
    [SPREAD] = {"cv", "of the part", TABLE_VALUE},
    [SPREAD_SE] = {"cv_hw", "its standard error", TABLE_HALF_WIDTH},
};

static void put_part(const struct fit_part *part, size_t number, size_t row, struct table *table)
{
    table_text(table, row, PART, arena_format(&table->arena, "%zu", number));
    table_at(table, row, WEIGHT)->number = part->weight;
    table_at(table, row, WEIGHT_SE)->number = part->weight_se > 0 ? part->weight_se : NAN;
    table_at(table, row, MEAN)->number = part->mean;
    table_at(table, row, MEAN_SE)->number = part->mean_se > 0 ? part->mean_se : NAN;
    table_at(table, row, SPREAD)->number = part->cv > 0 ? part->cv : NAN;
    table_at(table, row, SPREAD_SE)->number = part->cv_se > 0 ? part->cv_se : NAN;
}

static void put_fit(const char *what, const struct fit_result *result, enum fit_family family, struct table *table)
{
    const struct fit *fit = &result->fits[family];
    size_t parts = family == FIT_EMPIRICAL ? 1 : fit->count;
    for (size_t i = 0; i < parts; i++) {
        size_t row = table_row(table);
        table_text(table, row, ATTRIBUTE, what);
        table_text(table, row, FAMILY, fit_family_name(family));
        table_text(table, row, CHOSEN, family == result->chosen ? "chosen" : "");
        table_text(table, row, ROWS, arena_format(&table->arena, "%zu", result->count));
        table_text(table, row, ZEROS, arena_format(&table->arena, "%zu", result->zeros));
        table_at(table, row, BIC)->number = fit->bic;
        table_at(table, row, DISTANCE)->number = fit->distance;
        if (family != FIT_EMPIRICAL)
            put_part(&fit->parts[i], i + 1, row, table);
    }
}

static void note_lag(const struct fit_trace *fit, struct table *table)
{
    static const enum fit_attribute within[] = {FIT_THINK, FIT_OUTPUT, FIT_GROWTH};
    for (size_t i = 0; i < 3; i++) {
        const struct fit_lag *lag = &fit->of[within[i]].lag;
        double correlation = fit_correlation(lag), sure = 3 / sqrt((double)lag->pairs);
        char text[40], bound[40];
        if (isnan(correlation))
            continue;
        unit_format(text, sizeof text, "%.3f", correlation);
        unit_format(bound, sizeof bound, "%.3f", sure);
        table_note(table,
                   "%s: lag-1 correlation within sessions %s (of ln(1 + x), %" PRIu64
                   " pairs, three standard errors %s)%s",
                   fit_attribute_name(within[i]), text, lag->pairs, bound,
                   correlation > sure && correlation > 0.1 ? ": large ones come together, so that independent draws "
                                                             "understate how long they last; replay keeps it."
                                                           : ".");
    }
}

static void note_arrivals(const struct fit_report *report, struct table *table)
{
    const struct trace_sum *sum = &report->fit->sum;
    char text[40];
    if (sum->last == TRACE_UNKNOWN || sum->last == sum->first)
        return;
    for (size_t i = 0; i < TRACE_WINDOWS; i++) {
        double dispersion = trace_dispersion(&sum->windows[i]);
        if (isnan(dispersion))
            continue;
        unit_format(text, sizeof text, "%.4g", dispersion);
        table_note(table, "Index of dispersion of the calls in %" PRId64 " s: %s.", sum->windows[i].width / SIM_SECOND,
                   text);
    }
    table_note(table,
               fit_is_poisson(sum)
                   ? "The calls come as a Poisson process does."
                   : "The calls come in heaps: poisson understates waits; replay with arrivals: recorded keeps them.");
}

void fit_report_table(const struct fit_report *report, struct table *table)
{
    for (size_t i = 0; i < COLUMNS; i++)
        table_column(table, columns[i].name, "", "", columns[i].help, columns[i].role, true);
    for (enum fit_attribute attribute = 0; attribute < FIT_ATTRIBUTES; attribute++) {
        const struct fit_numbers *numbers = &report->fit->of[attribute];
        for (enum fit_family family = 0; numbers->fits && family < FIT_FAMILIES; family++)
            if (numbers->result.fits[family].made)
                put_fit(fit_attribute_name(attribute), &numbers->result, family, table);
    }
    table_note(
        table,
        "+- is one standard error here. bic = p ln n - 2 ln L of the values above 0; the least is chosen, but the "
        "data's own quantiles (empirical) where its distance is above 0.05 and above what chance explains.");
    note_lag(report->fit, table);
    if (report->fit->shrunk > 0)
        table_note(table,
                   "%" PRIu64 " calls sent less than their session's call before (compaction): not in input.per_turn.",
                   report->fit->shrunk);
    note_arrivals(report, table);
}

/* --- the scenario --------------------------------------------------------------------------------------------------
 */

static const char *number(double value, struct arena *arena)
{
    char text[40];
    unit_format(text, sizeof text, "%.4g", value);
    unit_digits(unit_decimal(text), text, sizeof text);
    return arena_text(arena, text);
}

static const char *part_text(enum fit_family family, const struct fit_part *part, const char *unit, struct arena *arena)
{
    const char *mean = number(part->mean, arena);
    if (family == FIT_EXPONENTIAL || family == FIT_GEOMETRIC)
        return arena_format(arena, "%s(%s%s)", fit_family_name(family), mean, unit);
    if (family == FIT_EMPIRICAL)
        return part->high - part->low > 1e-9 * part->mean
                   ? arena_format(arena, "uniform(%s%s %s%s)", number(part->low, arena), unit,
                                  number(part->high, arena), unit)
                   : arena_format(arena, "%s%s", mean, unit);
    return arena_format(arena, "%s(%s%s cv %s)",
                        family == FIT_GAMMA     ? "gamma"
                        : family == FIT_WEIBULL ? "weibull"
                                                : "lognormal",
                        mean, unit, number(part->cv, arena));
}

/* The chosen distribution as a scenario writes it, zeros included; weights of four decimals, which sum to 1. */
static const char *expression(const struct fit_result *result, const char *unit, struct arena *arena)
{
    const struct fit *fit = &result->fits[result->chosen];
    int left = 10000, zeros = (int)(10000.0 * (double)result->zeros / (double)result->count + 0.5);
    const char *list = "";
    if (zeros == 0 && fit->count == 1)
        return part_text(result->chosen, &fit->parts[0], unit, arena);
    if (zeros > 0)
        list = arena_format(arena, "0.%04d 0%s | ", zeros, unit);
    left -= zeros;
    for (size_t i = 0; i < fit->count; i++) {
        int weight = i + 1 == fit->count ? left : (int)((10000 - zeros) * fit->parts[i].weight + 0.5);
        if (weight <= 0)
            continue;
        left -= weight;
        const char *share = weight == 10000 ? "1" : arena_format(arena, "0.%04d", weight);
        list = arena_format(arena, "%s%s %s", list, share, part_text(result->chosen, &fit->parts[i], unit, arena));
        if (left > 0)
            list = arena_format(arena, "%s | ", list);
    }
    return arena_format(arena, "mixture(%s)", list);
}

static const char *chosen(const struct fit_report *report, enum fit_attribute attribute, struct arena *arena)
{
    const struct fit_numbers *numbers = &report->fit->of[attribute];
    if (numbers->fits)
        return expression(&numbers->result, attribute == FIT_THINK ? " s" : "", arena);
    return arena_format(arena, "%s%s", number(numbers->count ? numbers->result.mean : 0, arena),
                        attribute == FIT_THINK ? " s" : "");
}

void fit_report_scenario(const struct fit_report *report, FILE *out)
{
    const struct fit_trace *fit = report->fit;
    const struct trace_sum *sum = &fit->sum;
    struct arena arena = {0};
    bool sessions = fit->of[FIT_THINK].count > 0;
    double calls = (double)report->facts->kept, span = sim_seconds(sum->last - sum->first);

    fprintf(out, "# Fitted to %s (%s, %" PRIu64 " calls). The card is a placeholder: say what yours does.\n",
            quote_terminal(strcmp(report->spec->path, "-") == 0 ? "standard input" : report->spec->path, &arena),
            report->facts->format, report->facts->kept);
    fprintf(out, "study: {horizon: 20000 s, warmup: 2000 s, replications: 5}\n");
    fprintf(out, "backends:\n  card: {kind: slots, servers: 8, rate: 39 tokens/s}\nagents:\n  fitted:\n");
    if (sessions) {
        fprintf(out, "    population: 8 # yours to say\n    think: %s\n", chosen(report, FIT_THINK, &arena));
        fprintf(out, "    turns: %s\n", chosen(report, FIT_TURNS, &arena));
    } else if (sum->last != TRACE_UNKNOWN && span > 0) {
        fprintf(out, "    arrivals: poisson(%s/s)%s\n", number(calls / span, &arena),
                fit_is_poisson(sum) ? "" : " # they come in heaps, which this does not show: see replay");
    } else {
        fprintf(out, "    arrivals: poisson(1/s) # the trace has no times: yours to say\n");
    }
    fprintf(out, "    output: %s\n", chosen(report, FIT_OUTPUT, &arena));
    if (fit->of[FIT_START].count > 0) {
        fprintf(out, "    input:\n      start: %s\n", chosen(report, FIT_START, &arena));
        if (sessions && fit->of[FIT_GROWTH].count > 0)
            fprintf(out, "      per_turn: %s\n      most: %.0f # the longest that was sent\n",
                    chosen(report, FIT_GROWTH, &arena), fit->most);
    }
    arena_free(&arena);
}

/* --- pictures ------------------------------------------------------------------------------------------------------
 */

enum { POINTS = 120 };

/* Shares above x of the data and of the chosen fit, at quantiles of the data that the eye tells apart. */
static size_t curves(const struct fit_numbers *numbers, struct figure_point *data, struct figure_point *fitted)
{
    struct dist parts[FIT_PARTS_MOST];
    double weights[FIT_PARTS_MOST], zeros = (double)numbers->result.zeros / (double)numbers->count;
    struct dist dist = fit_dist(&numbers->result, numbers->result.chosen, parts, weights);
    size_t count = 0, n = numbers->count;
    for (size_t i = 0; i < POINTS; i++) {
        double above = pow((double)n, -(double)i / (POINTS - 1)); /* from all to one row */
        size_t at = (size_t)((1 - above) * (double)(n - 1));
        double x = numbers->values[at];
        if (x <= 0 || (count > 0 && x <= data[count - 1].x))
            continue;
        while (at + 1 < n && numbers->values[at + 1] == x)
            at++;
        double share = (double)(n - 1 - at) / (double)n, left = (1 - zeros) * (1 - dist_cdf(&dist, x));
        data[count] = (struct figure_point){.x = x, .y = share > 0 ? share : (double)NAN, .half_width = NAN};
        fitted[count++] = (struct figure_point){.x = x, .y = left > 1e-9 ? left : (double)NAN, .half_width = NAN};
    }
    return count;
}

int fit_report_draw(const struct fit_report *report, const char *directory)
{
    struct figure_point data[POINTS], fitted[POINTS];
    int status = plot_directory(directory) ? EXIT_DONE : EXIT_USAGE;
    for (enum fit_attribute attribute = 0; attribute < FIT_ATTRIBUTES && status == EXIT_DONE; attribute++) {
        const struct fit_numbers *numbers = &report->fit->of[attribute];
        const char *name = fit_attribute_name(attribute);
        struct arena arena = {0};
        size_t count = numbers->fits ? curves(numbers, data, fitted) : 0;
        if (count < 3)
            continue;
        const struct figure_series series[] = {{.label = "data", .points = data, .count = count, .colour = 0},
                                               {.label = fit_family_name(numbers->result.chosen),
                                                .points = fitted,
                                                .count = count,
                                                .colour = 1,
                                                .dash = 1}};
        const struct figure figure = {.title = arena_format(&arena, "%s: data and fit", name),
                                      .subtitle =
                                          arena_format(&arena, "%s, %zu values", report->facts->format, numbers->count),
                                      .x_title = attribute == FIT_THINK   ? "s"
                                                 : attribute == FIT_TURNS ? "turns"
                                                                          : "tokens",
                                      .y_title = "share above",
                                      .series = series,
                                      .count = 2,
                                      .form = FIGURE_SURVIVAL,
                                      .knee = NAN};
        const char *base = arena_format(&arena, "%s/fit.%s", directory, name);
        status = gnuplot_draw(&figure, base);
        if (status == EXIT_DONE)
            fprintf(stderr, "%s.svg\n%s.png\n", base, base);
        arena_free(&arena);
    }
    return status;
}
