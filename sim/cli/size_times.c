/* size_times.c - without goals: how long a task takes at each rung, against one agent alone.
 *
 * A task is a run where runs have an end, else a turn with the think time before it. Alone is the same scenario with
 * one agent in each population, and the same random numbers, so the ratio is paired. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "models/metrics.h"
#include "sim/cli/format.h"
#include "sim/cli/report.h"
#include "sim/cli/sizing.h"
#include "sim/study/compare.h"

static bool has_runs(const struct scenario *scenario)
{
    for (size_t i = 0; i < scenario->class_count; i++)
        if (scenario->classes[i].turns)
            return true;
    return false;
}

static double task_time(const double *values, bool runs)
{
    double think = isnan(values[METRIC_THINK_MEAN]) ? 0 : values[METRIC_THINK_MEAN];

    return runs ? values[METRIC_RUN_TIME_MEAN] : think + values[METRIC_RESPONSE_MEAN];
}

/* The point of the other plan with the same alternative and the same values of the factors that it has. */
static size_t partner(const struct plan *plan, const struct plan_point *of, const struct plan *ofs)
{
    for (size_t point = 0; point < plan->point_count; point++) {
        bool same = strcmp(plan->points[point].scenario->chain.label, of->scenario->chain.label) == 0;

        for (size_t i = 0; same && i < plan->factor_count; i++)
            for (size_t k = 0; k < ofs->factor_count; k++)
                if (strcmp(plan->factor_names[i], ofs->factor_names[k]) == 0)
                    same = (!plan->points[point].factors[i] && !of->factors[k]) ||
                           (plan->points[point].factors[i] && of->factors[k] &&
                            strcmp(plan->points[point].factors[i], of->factors[k]) == 0);
        if (same)
            return point;
    }
    return 0;
}

/* The scenario with one agent in each population. */
static bool open_alone(const struct sizing *sizing, struct sizing *alone, struct arena *arena)
{
    const struct scenario *scenario = sizing->session.plan.points[0].scenario;
    struct node *sweep = sizing_sweep(sizing->spec, true, arena);
    const char **sets = arena_zeroed(arena, scenario->class_count, sizeof *sets);
    struct session_more more = {.sets = sets, .sweep = &sweep};

    for (size_t i = 0; i < scenario->class_count; i++)
        if (scenario->classes[i].source == SOURCE_POPULATION)
            sets[more.set_count++] = arena_format(arena, "agents.%s.population=1", scenario->classes[i].name);
    return sizing_open(alone, sizing->words, sizing->threads, sizing->spec, &more);
}

struct times {
    struct estimate time, alone, ratio;
};

static struct times times_of(const struct sizing *sizing, const struct sizing *alone, size_t point, size_t other)
{
    const struct results *results = &sizing->session.results, *singles = &alone->session.results;
    bool runs = has_runs(sizing->session.plan.points[point].scenario);
    unsigned count =
        results->finished[point] < singles->finished[other] ? results->finished[point] : singles->finished[other];
    double *values = mem_zeroed(count, 3 * sizeof *values);
    struct times times;

    for (unsigned i = 0; i < count; i++) {
        values[3 * i] = task_time(results_at(results, point, i + 1), runs);
        values[3 * i + 1] = task_time(results_at(singles, other, i + 1), runs);
        values[3 * i + 2] = values[3 * i] / values[3 * i + 1];
    }
    times = (struct times){output_mean(values, count, 3), output_mean(values + 1, count, 3),
                           output_mean(values + 2, count, 3)};
    free(values);
    return times;
}

static void put(struct table *table, size_t row, size_t *column, struct estimate estimate)
{
    table_at(table, row, (*column)++)->number = estimate.mean;
    table_at(table, row, (*column)++)->number = estimate.half_width;
}

static void add_columns(const struct plan *plan, struct table *table)
{
    static const struct {
        const char *name, *unit, *help;
    } numbers[] = {
        {"task_time", "s", "of a run, or where runs have no end of a turn with the think time before it"},
        {"alone", "s", "the same of one agent in each population"},
        {"times", "", "task_time / alone, paired by replication"},
    };
    char name[32];

    table_column(table, "policy", "", "", "the alternative under `policies:`", TABLE_KEY, true);
    for (size_t i = 0; i < plan->factor_count; i++) {
        table_column(table, plan->factor_names[i], "", "", "what is varied", TABLE_KEY, true);
        table_heading(table, 1 + i, report_factor(plan, i));
    }
    table_column(table, "replications", "", "", "independent replications behind each mean", TABLE_KEY, true);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        table_column(table, numbers[i].name, numbers[i].unit, "lower", numbers[i].help, TABLE_VALUE, true);
        snprintf(name, sizeof name, "%s_hw", numbers[i].name);
        table_column(table, name, numbers[i].unit, "", "half-width of the 95 % confidence interval", TABLE_HALF_WIDTH,
                     true);
    }
}

static void say(const struct sizing *sizing, const struct size_group *group, struct times times, FILE *out)
{
    char text[64];

    table_format(times.ratio.mean, times.ratio.half_width, format_ascii(), text, sizeof text);
    fprintf(out, "No goal: at %s %s a task takes %s times as long as alone under %s.\n",
            sizing->session.plan.factor_names[sizing->session.plan.factor_count - 1],
            sizing_size(sizing, group, group->count - 1), text,
            sizing->session.plan.points[group->first].scenario->chain.label);
}

int size_times(struct sizing *sizing, struct table *table, FILE *out)
{
    const struct plan *plan = &sizing->session.plan;
    struct arena arena = {0};
    struct sizing alone;
    int status = open_alone(sizing, &alone, &arena) ? EXIT_DONE : EXIT_USAGE;

    add_columns(plan, table);
    for (size_t g = 0; g < sizing->group_count && status == EXIT_DONE; g++)
        for (size_t i = 0; i < sizing->groups[g].count && status == EXIT_DONE; i++) {
            size_t point = sizing->groups[g].first + i, other, row, column = 0;
            struct times times;

            if (sizing->session.results.finished[point] == 0)
                continue;
            other = partner(&alone.session.plan, &plan->points[point], plan);
            status = sizing_extend(&alone, other, (unsigned)sizing->spec->least);
            if (status != EXIT_DONE)
                break;
            times = times_of(sizing, &alone, point, other);
            row = table_row(table);
            table_text(table, row, column++, plan->points[point].scenario->chain.label);
            for (size_t k = 0; k < plan->factor_count; k++)
                table_text(table, row, column++, plan->points[point].factors[k] ? plan->points[point].factors[k] : "");
            table_at(table, row, column++)->number = sizing->session.results.finished[point];
            put(table, row, &column, times.time);
            put(table, row, &column, times.alone);
            put(table, row, &column, times.ratio);
            if (i == sizing->groups[g].count - 1)
                say(sizing, &sizing->groups[g], times, out);
        }
    table_note(table, "A task is a run where runs have an end, else a turn with the think time before it. alone: one "
                      "agent in each population, the same random numbers.");
    sizing_close(&alone);
    arena_free(&arena);
    return status;
}
