/* report_notes.c - the lines below a table: what its numbers do not say by themselves. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "models/metrics.h"
#include "sim/cli/pilot.h"
#include "sim/cli/report.h"
#include "sim/stats/steady.h"
#include "sim/study/compare.h"
#include "sim/study/sequential.h"

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
    bool door = report_any_point(plan, at_the_door);

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

/* How sure the means are, and of how many replications. */
static void note_precision(const struct session *session, bool partial, struct table *table)
{
    const struct study *study = &session->plan.points[0].scenario->study;
    const struct results *results = &session->results;
    const char *sign = table->ascii ? "+-" : "\xc2\xb1";
    unsigned wide = 0;

    if (!study->precision) {
        table_note(table,
                   "%s: half-width of a 95 %% confidence interval of the mean over %s%" PRId64
                   " replications; it says nothing about whether the model is right.",
                   sign, partial ? "at most " : "", study->replications);
        return;
    }
    for (size_t point = 0; point < results->points; point++) {
        struct estimate estimate = compare_estimate(results, point, study->precision->metric);

        wide += !sequential_precise(estimate, study->precision->relative);
    }
    table_note(table,
               "%s: half-width of a 95 %% confidence interval of the mean over replications (column replications), as "
               "many as bring that of %s within %g %% of it, by Law and Kelton's sequential procedure: looked at "
               "behind %" PRId64 ", then behind half as many more each time, up to %" PRId64
               "; it says nothing about whether the model is right.",
               sign, metrics[study->precision->metric].name, 100 * study->precision->relative, study->precision->least,
               study->precision->most);
    if (wide > 0)
        table_note(table, "Not that precise: %u of %zu design points, whose %s is still wider (or undefined).", wide,
                   results->points, metrics[study->precision->metric].name);
}

static void note_warmup(const struct session *session, struct table *table)
{
    const struct study *study = &session->plan.points[0].scenario->study;
    char seconds[32];

    if (!study->warmup_auto)
        return;
    table_format(sim_seconds(study->warmup), NAN, true, seconds, sizeof seconds);
    table_note(table,
               "Warm-up: %s s, found by MSER-5 in the number in the system, held and backing off included, averaged "
               "over %d pilot replications; the longest of all design points.",
               seconds, PILOTS);
}

#define BEYOND_LEAST 20 /* observations beyond a quantile */

/* Quantiles that stand on too few observations, where that is worst. */
static void note_few(const struct session *session, struct table *table)
{
    static const struct {
        size_t metric, quality;
        double beyond;
    } quantiles[] = {{METRIC_WAIT_P99, QUALITY_WAITS, 0.01},
                     {METRIC_WAIT_P95, QUALITY_WAITS, 0.05},
                     {METRIC_TOTAL_WAIT_P99, QUALITY_TOTAL_WAITS, 0.01},
                     {METRIC_RESPONSE_P99, QUALITY_RESPONSES, 0.01},
                     {METRIC_LATENESS_P99, QUALITY_LATENESS, 0.01},
                     {METRIC_DOOR_WAIT_P95, QUALITY_DOOR_WAITS, 0.05},
                     {METRIC_RUN_TIME_P99, QUALITY_RUN_TIMES, 0.01}};
    const struct plan *plan = &session->plan;
    size_t first = session->width - QUALITY_COUNT, points = 0, worst = 0, least_of = 0;
    double least = INFINITY;
    char where[200], count[32];

    for (size_t point = 0; point < session->results.points; point++) {
        bool few = false;

        for (size_t i = 0; i < sizeof quantiles / sizeof *quantiles; i++) {
            double beyond =
                quantiles[i].beyond * compare_estimate(&session->results, point, first + quantiles[i].quality).mean;

            if (!report_shows(table, quantiles[i].metric) || !(beyond > 0 && beyond < BEYOND_LEAST))
                continue;
            few = true;
            if (beyond < least) {
                least = beyond;
                least_of = quantiles[i].metric;
                worst = point;
            }
        }
        points += few;
    }
    if (points == 0)
        return;
    session_point(plan, worst, true, where, sizeof where);
    table_format(least, NAN, true, count, sizeof count);
    table_note(table,
               "Few: at %zu of %zu design points fewer than %d observations a replication lie beyond a quantile that "
               "is shown, the fewest, %s, beyond %s (%s). A longer horizon mends that, more replications do not.",
               points, plan->point_count, BEYOND_LEAST, count, metrics[least_of].name, where);
}

/* Where the number in the system is larger in the second half of the window than in the first, and where most. */
static void note_growing(const struct session *session, struct table *table)
{
    const struct plan *plan = &session->plan;
    const struct results *results = &session->results;
    size_t first = session->width - QUALITY_COUNT + QUALITY_FIRST_HALF, points = 0, worst = 0;
    double most = 0;
    char where[200], before[32], after[32];

    for (size_t point = 0; point < results->points; point++) {
        const double *values;
        double growth;

        if (results->finished[point] == 0)
            continue;
        values = results_at(results, point, 1) + first;
        if (!steady_grows(values, values + 1, results->finished[point], results->width))
            continue;
        points++;
        growth = compare_estimate(results, point, first + 1).mean / compare_estimate(results, point, first).mean;
        if (growth > most) {
            most = growth;
            worst = point;
        }
    }
    if (points == 0)
        return;
    session_point(plan, worst, true, where, sizeof where);
    table_format(compare_estimate(results, worst, first).mean, NAN, true, before, sizeof before);
    table_format(compare_estimate(results, worst, first + 1).mean, NAN, true, after, sizeof after);
    table_note(table,
               "Grows: at %zu of %zu design points the number in the system, held and backing off included, is larger "
               "in the second half of the window than in the first (by more than 5 %%, one-sided t at 0.1 %%), most "
               "from %s to %s (%s). What is measured there depends on the horizon.",
               points, plan->point_count, before, after, where);
}

void report_notes(const struct session *session, bool partial, struct table *table)
{
    const struct plan *plan = &session->plan;
    int64_t replications = plan->points[0].scenario->study.replications;

    for (size_t i = 0; i < plan->note_count; i++)
        table_note(table, "%s", plan->notes[i]);
    if (replications > 1)
        note_precision(session, partial, table);
    else
        table_note(table, "One replication: nothing is known about how sure these numbers are.");
    note_warmup(session, table);
    if (replications > 1 && !plan->points[0].scenario->study.precision &&
        replications_needed(table, (size_t)replications) > 0)
        table_note(table,
                   "~: about %.0f replications (-r) would bring every half-width that matters under 10 %% of its "
                   "value.",
                   replications_needed(table, (size_t)replications));
    table_note(table, "wait: last admission to the start of service, 0 counts, refused attempts have none. total_wait: "
                      "first attempt to the start of the service that succeeded. goodput: completed turns, in time or "
                      "not. `weir help WORD` explains the rest.");
    note_few(session, table);
    note_growing(session, table);
    note_censored(session, table);
    note_held(session, table);
    note_lost(session, table);
    note_alerts(session, table);
    note_extrapolated(plan->points[0].scenario, table);
    if (partial)
        table_note(table, "PARTIAL: interrupted; design points and replications that were not finished are missing.");
}
