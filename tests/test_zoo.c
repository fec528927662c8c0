/* test_zoo.c - all call-level policies side by side, as the two scenarios ship: their tables to the last digit, who is
 * the same as whom, who starves somebody, and what becomes of published values, each by a gauge of the record. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/program.h"
#include "tests/sheet.h"
#include "tests/suites.h"

static size_t row_of(const struct sheet *sheet, const char *label, int population)
{
    char cells[96];
    snprintf(cells, sizeof cells, "policy=%s population=%d", label, population);
    return sheet_row(sheet, cells);
}

/* Two rows are the same but for the label. */
static void same_rows(const struct sheet *sheet, size_t a, size_t b)
{
    for (size_t column = 1; column < sheet->columns; column++)
        ck_assert_msg(strcmp(sheet->cells[a][column], sheet->cells[b][column]) == 0, "%s and %s: %s",
                      sheet->cells[a][0], sheet->cells[b][0], sheet->cells[0][column]);
}

/* Somebody has no answer for over forty minutes, held, in line or backing off. By overload and backoff alone nobody is
 * late for more than half an hour here. */
static bool starves(const struct sheet *sheet, size_t row)
{
    return fmax(sheet_cell(sheet, row, "queue_age_p99"), sheet_cell(sheet, row, "censored_age")) > 2500;
}

static void starve_somebody(const struct sheet *sheet, int population, const char *expected)
{
    char found[512] = "";
    for (size_t row = 1; row < sheet->rows; row++)
        if ((int)sheet_cell(sheet, row, SHEET_POPULATION) == population && starves(sheet, row)) {
            strcat(found, sheet->cells[row][0]);
            strcat(found, " ");
        }
    ck_assert_str_eq(found, expected);
}

/* The response time law: where nobody is lost or starved the mean since the first attempt is N / X - S - Z, whatever
 * the policy. */
static void only_moves_the_waiting(const struct sheet *sheet)
{
    for (size_t row = 1; row < sheet->rows; row++) {
        double expected = sheet_cell(sheet, row, SHEET_POPULATION) / sheet_cell(sheet, row, "goodput") -
                          sheet_cell(sheet, row, "service_mean") - sheet_cell(sheet, row, "think_mean");
        if (starves(sheet, row) || sheet_cell(sheet, row, "lost_turns") > 0)
            continue;
        ck_assert_msg(fabs(sheet_cell(sheet, row, "total_wait_mean") - expected) < 0.03 * expected, "%s: %g, not %g",
                      sheet->cells[row][0], sheet_cell(sheet, row, "total_wait_mean"), expected);
    }
}

static struct sheet *table_of(const char *scenario)
{
    char path[64];
    snprintf(path, sizeof path, "scenarios/%s.expected.csv", scenario);
    return getenv("WEIR_QUICK") ? sheet_read(path) : sheet_as_expected(scenario);
}

START_TEST(zoo_card)
{
    static const int populations[] = {24, 40};
    struct sheet *sheet = table_of("zoo_card");
    only_moves_the_waiting(sheet);
    starve_somebody(sheet, 24, "lifo token_bucket_slots gcra_slots shares ");
    starve_somebody(sheet, 40, "lifo adaptive_lifo priority_slots token_bucket_slots gcra_slots shares ");
    for (size_t i = 0; i < 2; i++) {
        static const char *const same[][2] = {{"bounded_queue", "fixed_cap"},
                                              {"shed_by_value", "fixed_cap"},
                                              {"gcra", "unbounded"},
                                              {"gcra_slots", "token_bucket_slots"},
                                              {"token_bucket", "unbounded"},
                                              {"cost_bucket_session", "unbounded"},
                                              {"pacer_published", "unbounded"},
                                              {"envoy_admission_published", "unbounded"},
                                              {"envoy_admission_slots", "unbounded"}};
        for (size_t k = 0; k < sizeof same / sizeof *same; k++)
            same_rows(sheet, row_of(sheet, same[k][0], populations[i]), row_of(sheet, same[k][1], populations[i]));
    }
    /* Nobody does more turns than the card can, but who picks the short ones; nobody refuses everybody. */
    for (size_t row = 1; row < sheet->rows; row++) {
        ck_assert_double_gt(sheet_cell(sheet, row, "goodput"), 0.4);
        if (!starves(sheet, row) && strcmp(sheet->cells[row][0], "deadline") != 0)
            ck_assert_double_lt(sheet_cell(sheet, row, "goodput"), 1.01 * 8 * 39 / 354.0);
    }
    sheet_free(sheet);
}
END_TEST

/* All that wait in line are cold; a cap of as many calls as there is room for gets half as much again done. */
START_TEST(zoo_memory)
{
    struct sheet *sheet = table_of("zoo_memory");
    size_t all = row_of(sheet, "unbounded", 60), six = row_of(sheet, "cap_6", 60);
    size_t vegas = row_of(sheet, "vegas_published", 60), deadline = row_of(sheet, "deadline", 60);
    starve_somebody(sheet, 60, "lifo adaptive_lifo breakwater_slots priority_slots ");
    ck_assert_double_gt(sheet_cell(sheet, six, "goodput"), 1.5 * sheet_cell(sheet, all, "goodput"));
    ck_assert_double_lt(sheet_cell(sheet, six, "cold_share"), 0.4);
    for (size_t row = 1; row < sheet->rows; row++) {
        double share = row == vegas || row == deadline ? 1 : row == six ? 2 : 0.7;
        ck_assert_msg(sheet_cell(sheet, row, "goodput") < share * sheet_cell(sheet, six, "goodput"), "%s",
                      sheet->cells[row][0]);
    }
    /* Slots that lack memory are no free slots: these two refused nobody when they took them for that. */
    ck_assert_double_gt(sheet_cell(sheet, row_of(sheet, "codel_persist", 60), "deferred_share"), 0.5);
    ck_assert_double_gt(sheet_cell(sheet, row_of(sheet, "pid_slots", 60), "deferred_share"), 0.01);
    sheet_free(sheet);
}
END_TEST

/* --- what is left out -------------------------------------------------------------------------------------------- */

/* Each of them is `unbounded` there. */
START_TEST(those_left_out_change_nothing)
{
    static const char policies[] =
        "policies=[unbounded, by_priority, breaker, window: {preset: published}, atb: {preset: published}, "
        "aatb: {preset: published, server_rate: 0.88/s}, sre_throttle, aws_adaptive]";
    static const char *const scenarios[] = {"scenarios/zoo_card.yaml", "scenarios/zoo_memory.yaml"};
    for (size_t i = 0; i < 2; i++) {
        char fresh[] = "/tmp/weir-zoo-XXXXXX", meta[64];
        struct program program = {0};
        struct sheet *sheet;
        ck_assert_int_ge(close(mkstemp(fresh)), 0);
        PROGRAM_RUN(&program, NULL, "run", scenarios[i], "-r", "1", "--set", policies, "--set", "study.horizon=6000 s",
                    "-o", fresh);
        ck_assert_msg(program.status == 0, "%s", program.err);
        sheet = sheet_read(fresh);
        ck_assert_uint_eq(sheet->rows, i == 0 ? 17 : 9);
        for (size_t row = 1; row < sheet->rows; row++)
            same_rows(sheet, row, row_of(sheet, "unbounded", (int)sheet_cell(sheet, row, SHEET_POPULATION)));
        sheet_free(sheet);
        program_fini(&program);
        remove(fresh);
        snprintf(meta, sizeof meta, "%s.meta", fresh);
        remove(meta);
    }
}
END_TEST

/* --- by the gauges ----------------------------------------------------------------------------------------------- */

enum stat { LAST, LEAST, MOST, MEAN };

struct gauge_fact {
    const char *label;
    int population;
    const char *gauge, *over; /* the one through the other, at the end, where there is one */
    enum stat stat;
    double least, most;
};

/* One replication of one alternative, a sample every 20 s. */
static struct sheet *record_of(const char *label, int population)
{
    char folder[] = "/tmp/weir-zoo-XXXXXX", file[64], record[128], agents[64];
    struct program program = {0};
    struct sheet *sheet;
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(file, sizeof file, "%s/record.csv", folder);
    snprintf(record, sizeof record, "record={every: 20 s, file: %s}", file);
    snprintf(agents, sizeof agents, "agents.coder.population=%d", population);
    PROGRAM_RUN(&program, NULL, "run", "scenarios/zoo_card.yaml", "-r", "1", "--policy", label, "--set", agents,
                "--set", record);
    ck_assert_msg(program.status == 0, "%s", program.err);
    program_fini(&program);
    sheet = sheet_read(file);
    ck_assert_uint_eq(sheet->rows, 1 + 601);
    remove(file);
    strcat(file, ".meta");
    remove(file);
    rmdir(folder);
    return sheet;
}

/* Behind the first minute, when every counter is 0 and limits are what they begin with. */
static double stat_of(const struct sheet *record, const char *gauge, enum stat stat)
{
    double least = INFINITY, most = -INFINITY, sum = 0, value = 0;
    for (size_t row = 5; row < record->rows; row++) {
        value = sheet_cell(record, row, gauge);
        least = fmin(least, value);
        most = fmax(most, value);
        sum += value;
    }
    return stat == LEAST ? least : stat == MOST ? most : stat == MEAN ? sum / (double)(record->rows - 5) : value;
}

static void expect_facts(const struct gauge_fact *facts, size_t count)
{
    struct sheet *record = NULL;
    for (size_t i = 0; i < count; i++) {
        const struct gauge_fact *fact = &facts[i], *before = i > 0 ? &facts[i - 1] : NULL;
        double value;
        if (!before || strcmp(before->label, fact->label) != 0 || before->population != fact->population) {
            if (record)
                sheet_free(record);
            record = record_of(fact->label, fact->population);
        }
        value = stat_of(record, fact->gauge, fact->stat);
        if (fact->over)
            value /= stat_of(record, fact->over, LAST);
        ck_assert_msg(value >= fact->least && value <= fact->most, "%s at %d: %s%s%s is %g, expected %g to %g",
                      fact->label, fact->population, fact->gauge, fact->over ? " / " : "", fact->over ? fact->over : "",
                      value, fact->least, fact->most);
    }
    sheet_free(record);
}

/* A least limit of 20 never binds where 20 agents are all there are. With more it does: 8 in slots and 12 in line are
 * fewer than come, so it is a cap of 20 that cannot move. */
static const struct gauge_fact least_limits[] = {
    {"aimd_published", 20, "aimd.refused", NULL, LAST, 0, 0},
    {"aimd_published", 20, "aimd.limit", NULL, LEAST, 20, 20},
    {"aimd_published", 24, "aimd.limit", NULL, LEAST, 20, 20},
    {"aimd_published", 24, "aimd.limit", NULL, MOST, 20, 21},
    {"aimd_published", 24, "aimd.refused", NULL, LAST, 1000, 3000},
    {"aimd_published", 40, "aimd.limit", NULL, MOST, 20, 20},
    {"aimd_slots", 40, "aimd.limit", NULL, LEAST, 8, 12},
    {"aimd_slots", 40, "aimd.limit", NULL, MOST, 40, 100},
    {"gradient2_published", 20, "gradient2.refused", NULL, LAST, 0, 0},
    {"gradient2_published", 24, "gradient2.refused", NULL, LAST, 1000, 3000},
};

/* 5 s are less than a turn takes that waits, so that nearly every answer is a drop. */
static const struct gauge_fact timeouts[] = {
    {"aimd_published", 24, "aimd.late", "aimd.answers", LAST, 0.99, 1},
    {"aimd_published", 40, "aimd.late", "aimd.answers", LAST, 0.99, 1},
    {"aimd_slots", 40, "aimd.late", "aimd.answers", LAST, 0.2, 0.5},
};

/* A second never has ten answers. */
static const struct gauge_fact windows[] = {
    {"gradient2_published", 24, "gradient2.updates", NULL, LAST, 0, 0},
    {"gradient2_published", 24, "gradient2.windows", NULL, LAST, 5000, 12000},
    {"gradient2_published", 24, "gradient2.limit", NULL, MOST, 20, 20},
    {"gradient2_published", 40, "gradient2.updates", NULL, LAST, 0, 0},
    {"gradient2_published", 40, "gradient2.limit", NULL, LEAST, 20, 20},
    {"gradient2_slots", 40, "gradient2.updates", "gradient2.windows", LAST, 0.98, 1},
    {"gradient2_slots", 40, "gradient2.limit", NULL, MEAN, 12, 16},
};

/* 50 answers of 9.08 s, three at a time, take 151 s, and longer, as nobody asks the moment that one leaves. */
static const struct gauge_fact probes[] = {
    {"envoy_gradient_published", 24, "envoy_gradient.probe_time", "envoy_gradient.probes", LAST, 151, 200},
    {"envoy_gradient_published", 24, "envoy_gradient.probing", NULL, MEAN, 0.7, 0.85},
    {"envoy_gradient_published", 24, "busy", NULL, MEAN, 3, 4},
    {"envoy_gradient_published", 40, "envoy_gradient.probe_time", "envoy_gradient.probes", LAST, 151, 200},
    {"envoy_gradient_published", 40, "envoy_gradient.probing", NULL, MEAN, 0.7, 0.85},
    {"envoy_gradient_slots", 40, "envoy_gradient.probing", NULL, MEAN, 0.01, 0.06},
};

/* 5 ms / 100 ms shed the line to its last call at once: 12 of 24 agents, and over 50 calls where so many wait. */
static const struct gauge_fact drops[] = {
    {"codel_published", 24, "codel.most_at_once", NULL, LAST, 10, 16},
    {"codel_published", 40, "codel.most_at_once", NULL, LAST, 18, 32},
    {"codel_published", 120, "codel.most_at_once", NULL, LAST, 50, 112},
    {"codel_slots", 24, "codel.most_at_once", NULL, LAST, 1, 4},
    {"folly_codel_published", 24, "folly_codel.overloaded", NULL, MEAN, 0.8, 1},
    {"folly_codel_published", 24, "folly_codel.most_at_once", NULL, LAST, 12, 16},
    {"folly_codel_published", 40, "folly_codel.most_at_once", NULL, LAST, 26, 32},
};

/* Others that were made for many calls a second, or see what a card has not. */
static const struct gauge_fact others[] = {
    {"vegas_published", 40, "vegas.limit", NULL, MEAN, 6, 7.5}, /* of eight slots; a long turn is no line */
    {"vegas_published", 40, "vegas.rtt0", NULL, MEAN, 0.5, 2},
    {"vegas_slots", 40, "vegas.limit", NULL, MEAN, 9, 13},
    {"envoy_admission_published", 40, "envoy_admission.probability", NULL, MOST, 0, 0},
    {"envoy_admission_slots", 40, "envoy_admission.probability", NULL, MOST, 0, 0},
    {"pid_published", 40, "pid.quiet", "pid.intervals", LAST, 0.35, 0.5},
    {"pid_published", 40, "pid.share", NULL, MEAN, 0, 0.05},
    {"pid_slots", 40, "pid.quiet", "pid.intervals", LAST, 0, 0.01},
    {"breakwater_published", 24, "breakwater.credits", NULL, LEAST, 8, 8},
    {"breakwater_published", 24, "breakwater.credits", NULL, MOST, 64 * 24, 64 * 24},
    {"breakwater_published", 24, "breakwater.refused", "breakwater.dropped", LAST, 0, 0.01},
    {"breakwater_slots", 40, "breakwater.credits", NULL, MEAN, 15, 25},
    {"priority_dagor", 40, "priority.open", NULL, LEAST, 0, 0.1},
    {"priority_dagor", 40, "priority.open", NULL, MOST, 0.9, 1},
    {"token_bucket", 40, "token_bucket.held", NULL, LAST, 0, 0},
    {"gcra", 40, "gcra.held", NULL, LAST, 0, 0},
};

#define FACTS(name) \
    START_TEST(name##_as_recorded) \
    { \
        expect_facts(name, sizeof name / sizeof *name); \
    } \
    END_TEST

FACTS(least_limits)
FACTS(timeouts)
FACTS(windows)
FACTS(probes)
FACTS(drops)
FACTS(others)

Suite *zoo_suite(void)
{
    Suite *suite = suite_create("zoo");
    TCase *tables = tcase_create("tables"), *gauges = tcase_create("gauges");
    tcase_set_timeout(tables, 120);
    tcase_add_test(tables, zoo_card);
    tcase_add_test(tables, zoo_memory);
    tcase_add_test(tables, those_left_out_change_nothing);
    suite_add_tcase(suite, tables);
    tcase_set_timeout(gauges, 120);
    tcase_add_test(gauges, least_limits_as_recorded);
    tcase_add_test(gauges, timeouts_as_recorded);
    tcase_add_test(gauges, windows_as_recorded);
    tcase_add_test(gauges, probes_as_recorded);
    tcase_add_test(gauges, drops_as_recorded);
    tcase_add_test(gauges, others_as_recorded);
    suite_add_tcase(suite, gauges);
    return suite;
}
