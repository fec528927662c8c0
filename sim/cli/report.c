/* From results to tables: one row a design point and scope, one column a metric and one its half-width. */
#include "sim/cli/report.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "models/metrics.h"
#include "models/trial.h"
#include "sim/study/compare.h"

static bool listed(const char *list, const char *name)
{
    size_t length = strlen(name);

    for (const char *at = list; at; at = strchr(at, ',')) {
        at += *at == ',';
        if (strncmp(at, name, length) == 0 && (at[length] == ',' || at[length] == '\0'))
            return true;
    }
    return false;
}

static bool metric_shown(const struct metric *metric, const char *columns)
{
    if (!columns)
        return metric->shown == METRIC_SHOWN || metric->shown == METRIC_SHOWN_UNJUDGED;
    return strcmp(columns, "all") == 0 || listed(columns, metric->name);
}

bool report_columns(const char *columns)
{
    const char *names[METRIC_COUNT];
    char name[64];

    for (size_t i = 0; i < METRIC_COUNT; i++)
        names[i] = metrics[i].name;
    if (!columns || strcmp(columns, "all") == 0)
        return true;
    for (const char *at = columns, *comma; at; at = comma ? comma + 1 : NULL) {
        const char *nearest;

        comma = strchr(at, ',');
        snprintf(name, sizeof name, "%.*s", (int)strcspn(at, ","), at);
        for (size_t i = 0; i < METRIC_COUNT && name[0]; i++) {
            if (strcmp(name, names[i]) == 0)
                name[0] = '\0';
        }
        if (!name[0] && *at != ',' && *at)
            continue;
        nearest = diag_nearest(name, names, METRIC_COUNT);
        fprintf(stderr, "weir run: `--columns %s`: there is no metric `%s`", columns, name);
        cli_suggest(nearest, "expected names that `weir list metrics` prints, with commas between, or all");
        return false;
    }
    return true;
}

bool report_label(const struct session *session, const char *label)
{
    for (size_t i = 0; i < session->plan.label_count; i++)
        if (strcmp(session->plan.labels[i], label) == 0)
            return true;
    fprintf(stderr, "weir run: `--against %s`: there is no such alternative; expected one of", label);
    for (size_t i = 0; i < session->plan.label_count; i++)
        fprintf(stderr, "%s %s", i ? "," : "", session->plan.labels[i]);
    fprintf(stderr, "\n");
    return false;
}

enum { KEY_POLICY, KEY_CLASS, KEY_TENANT, KEY_BACKEND, KEY_FACTORS };

bool report_any_point(const struct plan *plan, bool (*has)(const struct scenario *))
{
    for (size_t i = 0; i < plan->point_count; i++)
        if (has(plan->points[i].scenario))
            return true;
    return false;
}

bool report_shows(const struct table *table, size_t metric)
{
    return table->columns[table->column_count - 2 * METRIC_COUNT + 2 * metric].shown;
}

static bool several_classes(const struct scenario *scenario)
{
    return scenario->class_count > 1;
}

static bool several_tenants(const struct scenario *scenario)
{
    return scenario->tenant_count > 1;
}

static bool several_backends(const struct scenario *scenario)
{
    return scenario->backend_count > 1;
}

const char *report_factor(const struct plan *plan, size_t factor)
{
    const char *name = plan->factor_names[factor], *last = strrchr(name, '.');

    for (size_t i = 0; last && i < plan->factor_count; i++) {
        const char *other = strrchr(plan->factor_names[i], '.');

        if (i != factor && other && strcmp(other, last) == 0)
            return name;
    }
    return last ? last + 1 : name;
}

void report_key_columns(const struct plan *plan, struct table *table)
{
    table_column(table, "policy", "", "", "the alternative under `policies:`", TABLE_KEY, true);
    table_column(table, "class", "", "", "a class of agents; all: all of them", TABLE_KEY,
                 report_any_point(plan, several_classes));
    table_column(table, "tenant", "", "", "who pays; all: all of them", TABLE_KEY,
                 report_any_point(plan, several_tenants));
    table_column(table, "backend", "", "", "what serves; all: all of them", TABLE_KEY,
                 report_any_point(plan, several_backends));
    for (size_t i = 0; i < plan->factor_count; i++) {
        table_column(table, plan->factor_names[i], "", "", "a factor of the sweep", TABLE_KEY, true);
        table_heading(table, KEY_FACTORS + i, report_factor(plan, i));
    }
    table_column(table, "replications", "", "", "independent replications behind each mean", TABLE_KEY,
                 plan->points[0].scenario->study.precision != NULL);
}

/* The keys, and for each metric a value and a half-width. */
static void add_columns(const struct plan *plan, const char *columns, bool differences, struct table *table)
{
    char name[96], help[512];

    report_key_columns(plan, table);
    for (const struct metric *metric = metrics; metric->name; metric++) {
        bool shown = metric_shown(metric, columns);

        snprintf(name, sizeof name, "%s%s", differences ? "d_" : "", metric->name);
        snprintf(help, sizeof help, "%s%s", differences ? "paired difference of: " : "", metric->help);
        table_column(table, name, metric->unit, metric->better, help, TABLE_VALUE, shown);
        table->columns[table->column_count - 1].never_negative = !differences;
        table->columns[table->column_count - 1].difference = differences;
        snprintf(name, sizeof name, "%s%s_hw", differences ? "d_" : "", metric->name);
        table_column(table, name, metric->unit, "", "half-width of the 95 % confidence interval", TABLE_HALF_WIDTH,
                     shown);
    }
}

size_t report_keys(const struct plan *plan, size_t point, struct trial_row row, unsigned replications,
                   struct table *table)
{
    const struct scenario *scenario = plan->points[point].scenario;
    size_t at = table_row(table), last = KEY_FACTORS + plan->factor_count;

    table_text(table, at, KEY_POLICY, scenario->chain.label);
    table_text(table, at, KEY_CLASS, row.scope == ROW_CLASS ? scenario->classes[row.index].name : "all");
    table_text(table, at, KEY_TENANT, row.scope == ROW_TENANT ? scenario->tenants[row.index] : "all");
    table_text(table, at, KEY_BACKEND, row.scope == ROW_BACKEND ? scenario->backends[row.index].name : "all");
    for (size_t i = 0; i < plan->factor_count; i++)
        table_text(table, at, KEY_FACTORS + i, plan->points[point].factors[i] ? plan->points[point].factors[i] : "");
    table_at(table, at, last)->number = replications;
    return at;
}

static void put(struct table *table, size_t row, size_t column, struct estimate estimate)
{
    table_at(table, row, column)->number = estimate.mean;
    table_at(table, row, column + 1)->number = estimate.half_width;
}

/* Columns that say nothing of most scenarios are shown where they say something. */
static void reveal(const char *columns, struct table *table)
{
    size_t first = table->column_count - 2 * METRIC_COUNT;

    for (size_t i = 0; !columns && i < METRIC_COUNT; i++) {
        bool known = false;

        if (metrics[i].shown != METRIC_SHOWN_WHERE_KNOWN)
            continue;
        for (size_t row = 0; row < table->row_count; row++)
            known = known || fabs(table_at(table, row, first + 2 * i)->number) > 0;
        table->columns[first + 2 * i].shown = table->columns[first + 2 * i + 1].shown = known;
    }
}

void report_table(const struct session *session, const char *columns, struct table *table)
{
    const struct plan *plan = &session->plan;
    size_t first = KEY_FACTORS + plan->factor_count + 1;

    add_columns(plan, columns, false, table);
    for (size_t point = 0; point < session->results.points; point++) {
        const struct scenario *scenario = plan->points[point].scenario;
        unsigned finished = session->results.finished[point];

        for (size_t row = 0; finished > 0 && row < trial_row_count(scenario); row++) {
            size_t at = report_keys(plan, point, trial_row_at(scenario, row), finished, table);

            for (size_t i = 0; i < METRIC_COUNT; i++)
                put(table, at, first + 2 * i, compare_estimate(&session->results, point, row * METRIC_COUNT + i));
        }
    }
    reveal(columns, table);
}

/* The point of the base alternative with the same factors. Factors that one of the two does not have do not count. */
static bool find_partner(const struct plan *plan, size_t point, const char *base, size_t *partner)
{
    for (size_t i = 0; i < plan->point_count; i++) {
        bool same = strcmp(plan->points[i].scenario->chain.label, base) == 0;

        for (size_t k = 0; same && k < plan->factor_count; k++) {
            const char *a = plan->points[i].factors[k], *b = plan->points[point].factors[k];

            same = !a || !b || strcmp(a, b) == 0;
        }
        if (same) {
            *partner = i;
            return true;
        }
    }
    return false;
}

void report_differences(const struct session *session, const char *base, const char *columns, struct table *table)
{
    const struct plan *plan = &session->plan;
    size_t first = KEY_FACTORS + plan->factor_count + 1, comparisons = 0;

    add_columns(plan, columns, true, table);
    for (size_t point = 0; point < plan->point_count; point++) {
        const struct scenario *scenario = plan->points[point].scenario;
        unsigned finished = session->results.finished[point];
        size_t partner;

        if (strcmp(scenario->chain.label, base) == 0 || !find_partner(plan, point, base, &partner))
            continue;
        if (session->results.finished[partner] < finished)
            finished = session->results.finished[partner];
        if (trial_row_count(plan->points[partner].scenario) != trial_row_count(scenario))
            continue;
        for (size_t row = 0; finished > 0 && row < trial_row_count(scenario); row++) {
            size_t at = report_keys(plan, point, trial_row_at(scenario, row), finished, table);

            comparisons++;
            for (size_t i = 0; i < METRIC_COUNT; i++)
                put(table, at, first + 2 * i,
                    compare_difference(&session->results, point, partner, row * METRIC_COUNT + i));
        }
    }
    table_note(table,
               "Differences to `%s`, paired by replication: both had the same agents, turns and think times. %zu rows "
               "are %zu comparisons a column: at 95 %% each, about one in twenty misses by chance. ~: the interval "
               "holds 0.",
               base, comparisons, comparisons);
}
