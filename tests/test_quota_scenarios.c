/* test_quota_scenarios.c - what the quota of a provider carries: the scenarios as they ship, what they promise, and the
 * bounds beside them. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/io/csv.h"
#include "tests/program.h"
#include "tests/sheet.h"
#include "tests/suites.h"

/* What `weir bounds` prints as CSV, read again. */
static struct sheet *bounds_of(const char *yaml)
{
    char path[] = "/tmp/weir-bounds-XXXXXX";
    struct program program = {0};
    struct sheet *sheet;
    int made = mkstemp(path);
    FILE *out = fdopen(made, "w");

    ck_assert(made >= 0 && out);
    PROGRAM_RUN(&program, NULL, "bounds", yaml, "--format", "csv");
    ck_assert_msg(program.status == 0, "%s", program.err);
    fputs(program.out, out);
    fclose(out);
    sheet = sheet_read(path);
    remove(path);
    program_fini(&program);
    return sheet;
}

static void within(double value, double expected, double share, const char *what)
{
    ck_assert_msg(fabs(value - expected) <= share * expected, "%s is %g, expected %g within %g %%", what, value,
                  expected, 100 * share);
}

/* Turns completed a minute / 15: 4.4 where cached input counts, 22 at 80 % hits free, all of up to 103 at 95.7 %. */
START_TEST(effective_runs)
{
    static const struct {
        const char *row;
        double most;
    } readings[] = {
        {"cached_weight=1", 2e6 / 450e3},
        {"cached_weight=0", 2e6 / 90e3},
        {"cached_weight=0", 2e6 / (450e3 * 0.043)},
    };
    struct sheet *sheet = sheet_as_expected("effective_runs"), *bounds = bounds_of("scenarios/effective_runs.yaml");
    size_t cached = sheet_column(sheet, "agents.worker.input.cached");
    size_t weight = sheet_column(sheet, "backends.pool.meters.input.cached_weight"), rows = 0;

    ck_assert_uint_eq(bounds->rows, sheet->rows);
    for (size_t row = 1; row < sheet->rows; row++) {
        double workers = sheet_cell(sheet, row, "agents.worker.population");
        size_t reading = *sheet->cells[row][weight] == '1' ? 0 : strcmp(sheet->cells[row][cached], "80 %") == 0 ? 1 : 2;
        double runs = 60 * sheet_cell(sheet, row, "goodput") / 15;

        within(runs, fmin(workers, readings[reading].most), 0.05, "effective runs");
        if (workers > readings[reading].most) /* they level off */
            within(runs, readings[reading].most, 0.001, "effective runs");
        ck_assert_double_eq(sheet_cell(bounds, row, "agents.worker.population"), workers);
        within(runs, 60 * sheet_cell(bounds, row, "pool_goodput") / 15, 0.05, "effective runs, to bounds");
        within(sheet_cell(bounds, row, "pool_carries"), readings[reading].most, 1e-9, "bounds");
        if (reading < 2)
            within(sheet_cell(bounds, row, reading == 0 ? "runs_counted" : "runs_free"), readings[reading].most, 1e-9,
                   "runs of bounds");
        rows++;
    }
    ck_assert_uint_eq(rows, 18);
    sheet_free(sheet);
    sheet_free(bounds);
}
END_TEST

/* What the recorded calls say themselves. */
struct slice {
    double calls, input, cached, time, pauses, paused;
    size_t columns[4];
};

static bool take_call(void *context, uint64_t number, const struct csv_row *row)
{
    static const char *const names[] = {"input_tokens", "prefix_tokens", "api_time_s", "wait_s"};
    struct slice *slice = context;
    double pause;

    for (size_t i = 0; number == 0 && i < 4; i++)
        while (strcmp(row->fields[slice->columns[i]], names[i]) != 0)
            slice->columns[i]++;
    if (number == 0)
        return true;
    slice->calls++;
    slice->input += strtod(row->fields[slice->columns[0]], NULL);
    slice->cached += strtod(row->fields[slice->columns[1]], NULL);
    slice->time += strtod(row->fields[slice->columns[2]], NULL);
    pause = strtod(row->fields[slice->columns[3]], NULL);
    if (pause <= 120) {
        slice->pauses++;
        slice->paused += pause;
    }
    return true;
}

/* One agent alone makes the requests and sends the tokens of the file, within 10 %; and requests and new tokens are
 * those that are known of all sessions. */
START_TEST(one_agent_alone)
{
    char path[] = "/tmp/weir-alone-XXXXXX", meta[64];
    struct program program = {0};
    struct slice slice = {0};
    struct diag diag = {0};
    struct sheet *sheet;
    double requests, fresh;

    ck_assert(mkstemp(path) >= 0);
    ck_assert(csv_read("scenarios/traces/claude.csv", (struct place){0}, take_call, &slice, &diag));
    requests = 60 / (slice.time / slice.calls + slice.paused / slice.pauses);
    PROGRAM_RUN(&program, NULL, "run", "scenarios/claude_tiers.yaml", "--set", "sweep={agents.coder.population: [1]}",
                "--set", "backends.api.preset=claude_scale", "--set",
                "backends.api.meters.input.limit=1000M tokens/min", "--set", "study.horizon=1000 h", "-r", "4", "-o",
                path);
    ck_assert_msg(program.status == 0, "%s", program.err);
    sheet = sheet_read(path);
    ck_assert_double_eq(sheet_cell(sheet, 1, "provider_429s"), 0);
    within(sheet_cell(sheet, 1, "requests_per_min"), requests, 0.1, "requests a minute");
    within(sheet_cell(sheet, 1, "input_per_min"), requests * slice.input / slice.calls, 0.1, "tokens a minute");
    fresh = sheet_cell(sheet, 1, "input_per_min") - sheet_cell(sheet, 1, "cached_per_min");
    within(fresh, requests * (slice.input - slice.cached) / slice.calls, 0.1, "new tokens a minute");
    within(sheet_cell(sheet, 1, "service_mean"), slice.time / slice.calls, 0.02, "the fit of the latency");
    within(requests, 2.3, 0.3 / 2.3, "requests of the file");
    within(requests * (slice.input - slice.cached) / slice.calls, 9000, 1.0 / 9, "new tokens of the file");
    snprintf(meta, sizeof meta, "%s.meta", path);
    remove(path);
    remove(meta);
    sheet_free(sheet);
    program_fini(&program);
}
END_TEST

/* The largest population with a p99 total wait of 10 s at the most and at most 5 % of sessions lost; 0: none. */
static double carried(const struct sheet *sheet, const char *preset, const char *weight)
{
    size_t tier = sheet_column(sheet, "backends.api.preset");
    size_t counted = sheet_column(sheet, "backends.api.meters.input.cached_weight");
    double most = 0;

    for (size_t row = 1; row < sheet->rows; row++) {
        double lost = sheet_cell(sheet, row, "lost_turns"), done = sheet_cell(sheet, row, "runs_per_h");

        if (strcmp(sheet->cells[row][tier], preset) == 0 && strcmp(sheet->cells[row][counted], weight) == 0 &&
            sheet_cell(sheet, row, "total_wait_p99") <= 10 && lost <= 0.05 * (lost + done))
            most = fmax(most, sheet_cell(sheet, row, SHEET_POPULATION));
    }
    return most;
}

START_TEST(claude_tiers)
{
    static const struct {
        const char *preset;
        double counted, freed;               /* carried */
        double counted_bounds, freed_bounds; /* rounded, as the file says */
    } tiers[] = {
        {"claude_tier_1", 0, 0, 0, 3.1},        {"claude_tier_2", 0, 40, 1.3, 46},
        {"claude_tier_3", 0, 80, 2.3, 81.7},    {"claude_tier_4", 4, 208, 5.6, 204},
        {"claude_start", 4, 208, 5.6, 204},     {"claude_build", 12, 512, 14.1, 511},
        {"claude_scale", 28, 1024, 28.2, 1022},
    };
    struct sheet *sheet, *bounds;

    if (getenv("WEIR_QUICK")) /* set under sanitizers, where this would take minutes */
        return;
    sheet = sheet_as_expected("claude_tiers");
    bounds = bounds_of("scenarios/claude_tiers.yaml");
    ck_assert_uint_eq(bounds->rows, sheet->rows);
    for (size_t i = 0; i < sizeof tiers / sizeof *tiers; i++) {
        ck_assert_double_eq(carried(sheet, tiers[i].preset, "1"), tiers[i].counted);
        ck_assert_double_eq(carried(sheet, tiers[i].preset, "0"), tiers[i].freed);
        if (tiers[i].freed >= 200)
            within(tiers[i].freed, tiers[i].freed_bounds, 0.05, tiers[i].preset);
        for (size_t row = 1; row < bounds->rows; row++) {
            bool free =
                strcmp(bounds->cells[row][sheet_column(bounds, "backends.api.meters.input.cached_weight")], "0") == 0;
            double expected = free ? tiers[i].freed_bounds : tiers[i].counted_bounds;

            if (strcmp(bounds->cells[row][sheet_column(bounds, "backends.api.preset")], tiers[i].preset) != 0)
                continue;
            ck_assert_double_eq_tol(sheet_cell(bounds, row, "pool_carries"), expected, expected < 100 ? 0.05 : 0.5);
            ck_assert_str_eq(bounds->cells[row][sheet_column(bounds, "pool_binds")], "input");
        }
    }
    sheet_free(sheet);
    sheet_free(bounds);
}
END_TEST

Suite *quota_scenarios_suite(void)
{
    Suite *suite = suite_create("quota_scenarios");
    TCase *test = tcase_create("quota_scenarios");

    tcase_add_test(test, effective_runs);
    tcase_add_test(test, one_agent_alone);
    tcase_add_test(test, claude_tiers);
    suite_add_tcase(suite, test);
    return suite;
}
