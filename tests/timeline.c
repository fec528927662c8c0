/* timeline.c - hears of every service start and writes it down. */
#include "tests/timeline.h"

#include <check.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static void started(void *context, const struct policy_call *call, uint32_t gate, sim_time service)
{
    struct timeline *timeline = context;
    char turn[24] = "", attempt[16] = "";
    int written;

    (void)gate;
    (void)service;
    if (call->turn > 0)
        snprintf(turn, sizeof turn, ".%" PRIu64, call->turn);
    if (call->attempt > 1)
        snprintf(attempt, sizeof attempt, "#%" PRIu32, call->attempt);
    written =
        snprintf(timeline->starts + timeline->length, sizeof timeline->starts - timeline->length,
                 "%s%s%" PRIu32 "%s@%.12g%s", timeline->length > 0 ? " " : "",
                 timeline->scenario->classes[call->klass].name, call->agent, turn, sim_seconds(call->started), attempt);
    if (timeline->length + (size_t)written < sizeof timeline->starts)
        timeline->length += (size_t)written;
    else
        timeline->starts[timeline->length] = '\0';
}

void timeline_of(const struct plan *plan, size_t point, struct timeline *timeline)
{
    char wrong[512] = "";
    struct trial_watch watch = {.wrong = wrong, .wrong_size = sizeof wrong, .started = started, .context = timeline};
    enum trial_end end;

    *timeline = (struct timeline){.scenario = plan->points[point].scenario};
    ck_assert_uint_le(trial_row_count(timeline->scenario), TIMELINE_ROWS);
    end = trial_simulate(timeline->scenario, 1, &watch, timeline->values);
    ck_assert_msg(end == TRIAL_ENDED, "%s", wrong);
}

void timeline_expect(const char *yaml, const char *plugin, const char *starts, struct timeline *timeline)
{
    struct plan plan = plugin ? model_plan_with(yaml, plugin) : model_plan(yaml);

    ck_assert_uint_eq(plan.point_count, 1);
    timeline_of(&plan, 0, timeline);
    plan_fini(&plan);
    timeline->scenario = NULL;
    ck_assert_str_eq(timeline->starts, starts);
}

void timeline_row(const struct timeline *timeline, size_t row, const struct expected *expected, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        double value = timeline->values[row * METRIC_COUNT + expected[i].metric], want = expected[i].value;
        const char *name = metrics[expected[i].metric].name;
        bool quantile = strstr(name, "_p50") || strstr(name, "_p9");

        if (isnan(want))
            ck_assert_msg(isnan(value), "row %zu, %s: %.17g, expected none", row, name, value);
        else
            ck_assert_msg(fabs(value - want) <= (quantile ? 0.004 : 1e-12) * fabs(want),
                          "row %zu, %s: %.17g, expected %.17g", row, name, value, want);
    }
}
