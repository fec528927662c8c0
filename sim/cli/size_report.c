/* size_report.c - what a search found: a sentence, the rungs as a table, pictures. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "models/metrics.h"
#include "sim/cli/format.h"
#include "sim/cli/gnuplot.h"
#include "sim/cli/plot.h"
#include "sim/cli/report.h"
#include "sim/cli/sizing.h"
#include "sim/io/unit.h"
#include "sim/stats/steady.h"
#include "sim/study/compare.h"

static const char *const verdicts[] = {
    [SEARCH_UNTRIED] = "", [SEARCH_MEETS] = "meets", [SEARCH_MISSES] = "misses", [SEARCH_UNDECIDED] = "undecided"};

/* --- the sentence ------------------------------------------------------------------------------------------------- */

const char *sizing_value(const struct sizing *sizing, const struct size_group *group, size_t size, size_t goal,
                         struct arena *arena)
{
    const struct metric *metric = &metrics[sizing->spec->goals[goal].metric];
    struct estimate estimate =
        compare_estimate(&sizing->session.results, group->first + size, sizing->spec->goals[goal].metric);
    char text[64];

    table_format(estimate.mean, search_half_width(estimate, sizing->level), format_ascii(), text, sizeof text);
    return arena_format(arena, "%s %s%s%s", metric->name, text[0] ? text : "undefined", metric->unit[0] ? " " : "",
                        metric->unit);
}

/* "under codel, policies.codel.target 8 s": the alternative where there are several, and the knobs before the last. */
static const char *where_of(const struct sizing *sizing, const struct size_group *group, struct arena *arena)
{
    const struct plan *plan = &sizing->session.plan;
    const struct plan_point *point = &plan->points[group->first];
    const char *text = arena_format(arena, " under %s", point->scenario->chain.label);

    for (size_t i = 0; i + 1 < plan->factor_count; i++)
        if (point->factors[i])
            text = arena_format(arena, "%s, %s %s", text, plan->factor_names[i], point->factors[i]);
    return text;
}

static const char *goals_of(const struct size_spec *spec, struct arena *arena)
{
    const char *text = "";

    for (size_t i = 0; i < spec->goal_count; i++)
        text = arena_format(arena, "%s%s%s", text,
                            i == 0                     ? ""
                            : i + 1 < spec->goal_count ? ", "
                                                       : " and ",
                            spec->goals[i].text);
    return text;
}

/* The values of the goals that a rung misses, or of all. */
static const char *values_of(const struct sizing *sizing, const struct size_group *group, size_t size, uint32_t which,
                             struct arena *arena)
{
    const char *text = "";

    for (size_t i = 0; i < sizing->spec->goal_count; i++)
        if (which & UINT32_C(1) << (i % 32))
            text =
                arena_format(arena, "%s%s%s", text, text[0] ? ", " : "", sizing_value(sizing, group, size, i, arena));
    return text;
}

/* "; 13 and 14 are undecided": sizes whose interval holds the goal. */
static const char *undecided_of(const struct sizing *sizing, const struct size_group *group, struct arena *arena)
{
    const char *text = "";
    size_t count = 0;

    for (size_t i = 0; i < group->count; i++) {
        if (group->search.rungs[i].verdict != SEARCH_UNDECIDED)
            continue;
        text = arena_format(arena, "%s%s%s", text, count > 0 ? ", " : "", sizing_size(sizing, group, i));
        count++;
    }
    return count ? arena_format(arena, "; undecided%s: %s", count > 1 ? " are" : " is", text) : "";
}

void size_sentence(const struct sizing *sizing, const struct size_group *group, FILE *out)
{
    const struct size_spec *spec = sizing->spec;
    const struct plan *plan = &sizing->session.plan;
    const struct search *search = &group->search;
    const char *knob = plan->factor_names[plan->factor_count - 1];
    const char *kind = search->largest ? "largest" : "smallest";
    struct arena arena = {0};
    const char *where = where_of(sizing, group, &arena), *undecided = undecided_of(sizing, group, &arena);

    if (search->answer == group->count) {
        fprintf(out, "No %s from %s to %s surely meets %s%s%s.\n", knob, sizing_size(sizing, group, 0),
                sizing_size(sizing, group, group->count - 1), goals_of(spec, &arena), where, undecided);
    } else if (search->miss == group->count) {
        fprintf(out, "%s is the %s %s that meets %s%s (%s), and none beyond it was tried that misses%s.\n",
                sizing_size(sizing, group, search->answer), kind, knob, goals_of(spec, &arena), where,
                values_of(sizing, group, search->answer, UINT32_MAX, &arena), undecided);
    } else {
        fprintf(out, "%s is the %s %s that meets %s%s (%s): %s misses with %s%s.\n",
                sizing_size(sizing, group, search->answer), kind, knob, goals_of(spec, &arena), where,
                values_of(sizing, group, search->answer, UINT32_MAX, &arena), sizing_size(sizing, group, search->miss),
                values_of(sizing, group, search->miss, search->rungs[search->miss].missed, &arena), undecided);
    }
    arena_free(&arena);
}

/* --- the table ---------------------------------------------------------------------------------------------------- */

/* Beside the goals, what a goal may have cost. */
static const size_t also[] = {METRIC_GOODPUT, METRIC_WAIT_P99, METRIC_TOTAL_WAIT_P99, METRIC_DEFERRED_SHARE};
enum { ALSO = sizeof also / sizeof *also };

/* The metrics that are shown, each once; returns how many. */
static size_t shown_metrics(const struct size_spec *spec, size_t *shown)
{
    size_t count = 0;

    for (size_t i = 0; i < spec->goal_count + ALSO; i++) {
        size_t metric = i < spec->goal_count ? spec->goals[i].metric : also[i - spec->goal_count];
        bool seen = false;

        for (size_t k = 0; k < count; k++)
            seen = seen || shown[k] == metric;
        if (!seen)
            shown[count++] = metric;
    }
    return count;
}

static void add_columns(const struct sizing *sizing, const size_t *shown, size_t count, struct table *table)
{
    const struct plan *plan = &sizing->session.plan;
    char help[120];

    table_column(table, "policy", "", "", "the alternative under `policies:`", TABLE_KEY, true);
    for (size_t i = 0; i < plan->factor_count; i++) {
        table_column(table, plan->factor_names[i], "", "", "what is varied", TABLE_KEY, true);
        table_heading(table, 1 + i, report_factor(plan, i));
    }
    table_column(table, "verdict", "", "", "whether all goals are met; undecided: an interval holds its goal",
                 TABLE_KEY, sizing->spec->goal_count > 0);
    table_column(table, "replications", "", "", "independent replications behind each mean", TABLE_KEY, true);
    snprintf(help, sizeof help, "half-width of the interval that decides, of level %.6g", sizing->level);
    for (size_t i = 0; i < count; i++) {
        const struct metric *metric = &metrics[shown[i]];
        char name[64];

        table_column(table, metric->name, metric->unit, metric->better, metric->help, TABLE_VALUE, true);
        table->columns[table->column_count - 1].never_negative = true;
        snprintf(name, sizeof name, "%s_hw", metric->name);
        table_column(table, name, metric->unit, "", help, TABLE_HALF_WIDTH, true);
    }
}

static void add_rung(const struct sizing *sizing, size_t point, enum search_verdict verdict, const size_t *shown,
                     size_t count, struct table *table)
{
    const struct plan *plan = &sizing->session.plan;
    size_t row = table_row(table), column = 0;

    table_text(table, row, column++, plan->points[point].scenario->chain.label);
    for (size_t i = 0; i < plan->factor_count; i++)
        table_text(table, row, column++, plan->points[point].factors[i] ? plan->points[point].factors[i] : "");
    table_text(table, row, column++, verdicts[verdict]);
    table_at(table, row, column++)->number = sizing->session.results.finished[point];
    for (size_t i = 0; i < count; i++) {
        struct estimate estimate = compare_estimate(&sizing->session.results, point, shown[i]);

        table_at(table, row, column++)->number = estimate.mean;
        table_at(table, row, column++)->number = search_half_width(estimate, sizing->level);
    }
}

/* A goal's measure that goes surely up between two neighbouring rungs and surely down between two others, by paired
 * differences: then more than one place may be where the verdict turns. */
static void note_not_monotone(const struct sizing *sizing, const struct size_group *group, size_t goal,
                              struct table *table)
{
    const struct results *results = &sizing->session.results;
    size_t metric = sizing->spec->goals[goal].metric, before = group->count, turns[2][2] = {{0}};
    bool seen[2] = {false, false};

    for (size_t i = 0; i < group->count; i++) {
        struct estimate more;
        int down;

        if (results->finished[group->first + i] == 0)
            continue;
        if (before < group->count) {
            more = compare_difference(results, group->first + i, group->first + before, metric);
            down = more.mean < 0;
            if (fabs(more.mean) > search_half_width(more, sizing->level)) {
                seen[down] = true;
                turns[down][0] = before;
                turns[down][1] = i;
            }
        }
        before = i;
    }
    if (seen[0] && seen[1])
        table_note(
            table,
            "Not monotone: %s rises from %s to %s and falls from %s to %s (%s), so the verdict may turn more than "
            "once; sizes between the rungs were not tried.",
            metrics[metric].name, sizing_size(sizing, group, turns[0][0]), sizing_size(sizing, group, turns[0][1]),
            sizing_size(sizing, group, turns[1][0]), sizing_size(sizing, group, turns[1][1]),
            sizing->session.plan.points[group->first].scenario->chain.label);
}

/* Sizes whose number in the system has no steady state that was seen. */
static void note_growing(const struct sizing *sizing, struct table *table)
{
    const struct results *results = &sizing->session.results;
    size_t first = sizing->session.width - QUALITY_COUNT + QUALITY_FIRST_HALF;
    struct arena arena = {0};
    const char *text = "";

    for (size_t g = 0; g < sizing->group_count; g++)
        for (size_t i = 0; i < sizing->groups[g].count; i++) {
            size_t point = sizing->groups[g].first + i;
            const double *values = results->finished[point] > 0 ? results_at(results, point, 1) + first : NULL;

            if (values && (sizing->unsettled[point] ||
                           steady_grows(values, values + 1, results->finished[point], results->width)))
                text = arena_format(&arena, "%s%s%s", text, text[0] ? ", " : "",
                                    sizing_size(sizing, &sizing->groups[g], i));
        }
    if (text[0])
        table_note(table,
                   "Grows: at %s the number in the system, held and backing off included, has not settled; what is "
                   "measured there depends on the horizon.",
                   text);
    arena_free(&arena);
}

void size_table(const struct sizing *sizing, struct table *table)
{
    const struct size_spec *spec = sizing->spec;
    size_t shown[64], count = shown_metrics(spec, shown), sizes = 0;

    add_columns(sizing, shown, count, table);
    for (size_t g = 0; g < sizing->group_count; g++)
        for (size_t i = 0; i < sizing->groups[g].count; i++) {
            const struct size_group *group = &sizing->groups[g];

            if (sizing->session.results.finished[group->first + i] == 0)
                continue;
            sizes++;
            add_rung(sizing, group->first + i, group->search.rungs ? group->search.rungs[i].verdict : SEARCH_UNTRIED,
                     shown, count, table);
        }
    table_note(table,
               "%s: half-width of the interval that decides, a t interval of %.6g %% over replications: 95 %% over all "
               "looks and goals (Bonferroni), behind %" PRId64 " replications and then half as many more each time, up "
               "to %" PRId64 ". undecided: it holds the goal and is within %g %% of it to either side, or there are no "
               "more. All sizes have the same random numbers.",
               table->ascii ? "+-" : "\xc2\xb1", 100 * sizing->level, spec->least, spec->most, 100 * spec->resolution);
    table_note(table, "%u replications of %zu of the %zu sizes.", sizing_replications(sizing), sizes,
               sizing->session.plan.point_count);
    for (size_t g = 0; g < sizing->group_count; g++)
        for (size_t i = 0; i < spec->goal_count; i++)
            note_not_monotone(sizing, &sizing->groups[g], i, table);
    note_growing(sizing, table);
}

/* --- pictures ----------------------------------------------------------------------------------------------------- */

static double number_of(const char *text, size_t place)
{
    struct number number;
    const char *end, *why;

    return unit_read(text, &end, &number, &why) && !*end ? number.value : (double)place;
}

/* A curve a group, and the goal as one that is level; sizes that are no numbers are drawn by their places. */
static int draw_goal(const struct sizing *sizing, size_t index, const char *base, struct arena *arena)
{
    const struct size_goal *goal = &sizing->spec->goals[index];
    const struct plan *plan = &sizing->session.plan;
    struct figure_series *series = arena_zeroed(arena, sizing->group_count + 1, sizeof *series);
    struct figure_point *line = arena_zeroed(arena, 2, sizeof *line);
    const struct metric *metric = &metrics[goal->metric];
    struct figure figure = {.title = plan->title,
                            .subtitle = "the sizes that were tried, and the goal; with the intervals that decide",
                            .x_title = plan->factor_names[plan->factor_count - 1],
                            .y_title =
                                arena_format(arena, "%s%s%s", metric->name, metric->unit[0] ? ", " : "", metric->unit),
                            .series = series,
                            .form = FIGURE_CURVES,
                            .never_negative = true,
                            .knee = NAN};
    double low = INFINITY, high = -INFINITY;

    for (size_t g = 0; g < sizing->group_count; g++) {
        const struct size_group *group = &sizing->groups[g];
        struct figure_point *points = arena_zeroed(arena, group->count, sizeof *points);
        size_t count = 0;

        for (size_t i = 0; i < group->count; i++) {
            struct estimate estimate = compare_estimate(&sizing->session.results, group->first + i, goal->metric);
            double x = number_of(sizing_size(sizing, group, i), i);

            if (estimate.count == 0)
                continue;
            points[count++] = (struct figure_point){
                .x = x, .y = estimate.mean, .half_width = search_half_width(estimate, sizing->level)};
            low = fmin(low, x);
            high = fmax(high, x);
        }
        if (count > 0)
            series[figure.count++] = (struct figure_series){.label = where_of(sizing, group, arena) + strlen(" under "),
                                                            .points = points,
                                                            .count = count,
                                                            .colour = g};
    }
    line[0] = (struct figure_point){.x = low, .y = goal->value, .half_width = NAN};
    line[1] = (struct figure_point){.x = high, .y = goal->value, .half_width = NAN};
    series[figure.count++] = (struct figure_series){
        .label = goal->text, .points = line, .count = low < high ? 2 : 1, .colour = sizing->group_count, .dash = 1};
    return gnuplot_draw(&figure, base);
}

int size_draw(const struct sizing *sizing, const char *folder)
{
    const char *path = sizing->words->operands[0], *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    size_t stem = strlen(name);
    struct arena arena = {0};
    int status = EXIT_DONE;

    if (stem > 5 && strcmp(name + stem - 5, ".yaml") == 0)
        stem -= 5;
    for (size_t i = 0; i < sizing->spec->goal_count && status == EXIT_DONE; i++)
        status = draw_goal(sizing, i,
                           arena_format(&arena, "%s/%.*s.size.%s", folder, (int)stem, name,
                                        metrics[sizing->spec->goals[i].metric].name),
                           &arena);
    arena_free(&arena);
    return status;
}
