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
        return metric->shown == METRIC_SHOWN;
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

static bool any_point(const struct plan *plan, bool (*has)(const struct scenario *))
{
    for (size_t i = 0; i < plan->point_count; i++)
        if (has(plan->points[i].scenario))
            return true;
    return false;
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
                 any_point(plan, several_classes));
    table_column(table, "tenant", "", "", "who pays; all: all of them", TABLE_KEY, any_point(plan, several_tenants));
    table_column(table, "backend", "", "", "what serves; all: all of them", TABLE_KEY,
                 any_point(plan, several_backends));
    for (size_t i = 0; i < plan->factor_count; i++) {
        table_column(table, plan->factor_names[i], "", "", "a factor of the sweep", TABLE_KEY, true);
        table_heading(table, KEY_FACTORS + i, report_factor(plan, i));
    }
    table_column(table, "replications", "", "", "independent replications behind each mean", TABLE_KEY, false);
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

static bool at_the_door(const struct scenario *scenario)
{
    for (size_t i = 0; i < scenario->chain.count; i++)
        if (scenario->chain.members[i].ops->run_admit)
            return true;
    return false;
}

/* The design point with the most calls whose wait is not known at its end. */
static void note_censored(const struct session *session, struct table *table)
{
    const struct plan *plan = &session->plan;
    struct estimate most = {0}, age = {0};
    const char *label = NULL;
    char count[32], oldest[32];
    bool door = any_point(plan, at_the_door);

    for (size_t point = 0; point < plan->point_count; point++) {
        struct estimate censored = compare_estimate(&session->results, point, METRIC_CENSORED);

        if (censored.count == 0 || censored.mean <= most.mean)
            continue;
        most = censored;
        age = compare_estimate(&session->results, point, METRIC_CENSORED_AGE);
        label = plan->points[point].scenario->chain.label;
    }
    if (!label) {
        table_note(table, "Censored: no call was held, waiting or backing off at the end%s.",
                   door ? ", no run so at the door" : "");
        return;
    }
    table_format(most.mean, NAN, true, count, sizeof count);
    table_format(age.mean, NAN, true, oldest, sizeof oldest);
    table_note(table,
               "Censored: calls still held, waiting or backing off at the end%s are in no wait; the most are %s a "
               "replication, under `%s`, the oldest %s s old (columns censored, censored_age).",
               door ? ", and runs so at the door," : "", count, label, oldest);
}

/* How often an alert was raised at a design point, and when first. */
struct alarm_sum {
    uint64_t raised;
    sim_time first;
    uint32_t gate;
    unsigned replications, replication; /* finished ones; the one that was first */
};

static struct alarm_sum alarm_of(const struct session *session, size_t point, size_t alert)
{
    struct alarm_sum sum = {.replications = session->results.finished[point]};

    for (unsigned i = 1; i <= sum.replications; i++) {
        const struct session_alarm *alarm = &session_alarms(session, point, i)[alert];

        if (alarm->raised > 0 && (sum.raised == 0 || alarm->first < sum.first)) {
            sum.first = alarm->first;
            sum.gate = alarm->gate;
            sum.replication = i;
        }
        sum.raised += alarm->raised;
    }
    return sum;
}

enum { ALARMS_MOST = 12 }; /* notes of an alert */

static void note_alert(const struct session *session, size_t alert, struct table *table)
{
    const char *text = session->plan.points[0].scenario->alerts[alert].text;
    size_t raised = 0;

    for (size_t point = 0; point < session->plan.point_count; point++) {
        struct alarm_sum sum = alarm_of(session, point, alert);
        char where[200], often[32], first[32];

        if (sum.raised == 0 || raised++ >= ALARMS_MOST)
            continue;
        session_point(&session->plan, point, true, where, sizeof where);
        table_format((double)sum.raised / sum.replications, NAN, true, often, sizeof often);
        table_format(sim_seconds(sum.first), NAN, true, first, sizeof first);
        table_note(table, "Alert %s, %s: %s a replication, first at %s s of replication %u, at %s.", text, where, often,
                   first, sum.replication, session->plan.points[point].scenario->backends[sum.gate].name);
    }
    if (raised == 0)
        table_note(table, "Alert %s: never raised.", text);
    else if (raised > ALARMS_MOST)
        table_note(table, "Alert %s: raised at %zu design points more.", text, raised - ALARMS_MOST);
    else if (raised < session->plan.point_count)
        table_note(table, "Alert %s: never raised at the other design points.", text);
}

static void note_alerts(const struct session *session, struct table *table)
{
    for (size_t i = 0; session->alarms && i < session->plan.points[0].scenario->alert_count; i++)
        note_alert(session, i, table);
}

/* Attempts that a policy held until the client's hold cap ended it, where that was worst. */
static void note_held(const struct session *session, struct table *table)
{
    const struct plan *plan = &session->plan;
    const char *label = NULL;
    double most = 0;
    char count[32];

    for (size_t point = 0; point < plan->point_count; point++) {
        struct estimate held = compare_estimate(&session->results, point, METRIC_HOLD_EXPIRED);

        if (held.count == 0 || !(held.mean > most))
            continue;
        most = held.mean;
        label = plan->points[point].scenario->chain.label;
    }
    if (!label)
        return;
    table_format(most, NAN, true, count, sizeof count);
    table_note(table,
               "Held until the hold cap and refused: at the most %s attempts a completed turn, under `%s` (column "
               "hold_expired).",
               count, label);
}

/* Who loses what is hard looks fast: the share of turns that were given up, where it was largest. */
static void note_lost(const struct session *session, struct table *table)
{
    const struct plan *plan = &session->plan;
    const char *label = NULL;
    double most = 0;
    char share[32];

    for (size_t point = 0; point < plan->point_count; point++) {
        struct estimate lost = compare_estimate(&session->results, point, METRIC_LOST_TURNS);
        struct estimate done = compare_estimate(&session->results, point, METRIC_GOODPUT);
        double part = lost.mean / (lost.mean + 3600 * done.mean);

        if (lost.count == 0 || !(part > most))
            continue;
        most = part;
        label = plan->points[point].scenario->chain.label;
    }
    if (!label)
        return;
    table_format(100 * most, NAN, true, share, sizeof share);
    table_note(table,
               "Lost: at the most %s %% of the turns that ended were given up or rejected for good, under `%s`; their "
               "waits are in no column (column lost_turns).",
               share, label);
}

/* A half-width below what a change of the metric must exceed to matter is narrow enough, whatever part of the value. */
static double matters(const struct table_column *column)
{
    for (const struct metric *metric = metrics; metric->name; metric++)
        if (strcmp(metric->name, column->name) == 0)
            return metric->absolute;
    return 0;
}

/* As many replications as bring every shown half-width that is above a tenth of its value below it: widths fall with
 * the square root. 0: none is above. */
static double replications_needed(const struct table *table, size_t replications)
{
    double most = 0;

    for (size_t i = 0; i < table->row_count * table->column_count; i++) {
        const struct table_column *column = &table->columns[i % table->column_count];
        double part;

        if (column->role != TABLE_HALF_WIDTH || !column->shown || !(table->cells[i].number > matters(column - 1)))
            continue;
        part = table->cells[i].number / fabs(table->cells[i - 1].number);
        if (part > 0.1 && isfinite(part) && part * part > most)
            most = part * part;
    }
    return ceil(most / 0.01 * (double)replications);
}

/* A speed that was measured only so far, and where the table may go beyond. */
static void note_extrapolated(const struct scenario *scenario, struct table *table)
{
    for (size_t i = 0; i < scenario->backend_count; i++) {
        const struct backend *backend = &scenario->backends[i];

        if (backend->fit_points > 1 && backend->fit_most < backend->servers)
            table_note(table,
                       "%s: its speed was measured up to %" PRIu32 " busy slots; beyond, up to %" PRIu32
                       ", it is extrapolated.",
                       backend->name, backend->fit_most, backend->servers);
    }
}

void report_notes(const struct session *session, bool partial, struct table *table)
{
    const struct plan *plan = &session->plan;
    int64_t replications = plan->points[0].scenario->study.replications;

    for (size_t i = 0; i < plan->note_count; i++)
        table_note(table, "%s", plan->notes[i]);
    if (replications > 1)
        table_note(table,
                   "%s: half-width of a 95 %% confidence interval of the mean over %s%" PRId64
                   " replications; it says nothing about whether the model is right.",
                   table->ascii ? "+-" : "\xc2\xb1", partial ? "at most " : "", replications);
    else
        table_note(table, "One replication: nothing is known about how sure these numbers are.");
    if (replications > 1 && replications_needed(table, (size_t)replications) > 0)
        table_note(table,
                   "~: about %.0f replications (-r) would bring every half-width that matters under 10 %% of its "
                   "value.",
                   replications_needed(table, (size_t)replications));
    table_note(table, "wait: last admission to the start of service, 0 counts, refused attempts have none. total_wait: "
                      "first attempt to the start of the service that succeeded. goodput: completed turns, in time or "
                      "not. `weir help WORD` explains the rest.");
    note_censored(session, table);
    note_held(session, table);
    note_lost(session, table);
    note_alerts(session, table);
    note_extrapolated(plan->points[0].scenario, table);
    if (partial)
        table_note(table, "PARTIAL: interrupted; design points and replications that were not finished are missing.");
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
