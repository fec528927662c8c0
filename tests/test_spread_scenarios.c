/* The scenarios of turns that fan out, calls that spill over and alerts: their tables to the last digit, and what they
 * are to show, so that an expected table cannot be renewed past it. */
#include <check.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/program.h"
#include "tests/sheet.h"
#include "tests/suites.h"

static double cell(const struct sheet *sheet, const char *row, const char *column)
{
    return sheet_cell(sheet, sheet_row(sheet, row), column);
}

/* The tool's line is ten times as long in time where nothing is bounded, for others too; the bound in tokens is the
 * tighter of the two that have the same mean, and what it costs is the researchers'. */
START_TEST(documents_at_a_tool)
{
    struct sheet *sheet = sheet_as_expected("fan_out");
    double free_tool = cell(sheet, "backend=tool at_once=inf", "wait_p99");
    double free_other = cell(sheet, "class=other at_once=inf", "wait_p99");

    ck_assert_double_gt(free_tool, 25);
    ck_assert_double_lt(cell(sheet, "backend=tool at_once=16", "wait_p99"), free_tool / 8);
    ck_assert_double_lt(cell(sheet, "class=other at_once=16", "wait_p99"), free_other / 8);
    ck_assert_double_gt(cell(sheet, "class=researcher at_once=16", "goodput"),
                        0.93 * cell(sheet, "class=researcher at_once=inf", "goodput"));
    sheet_free(sheet);
}
END_TEST

/* The card does what it can; the rest is the tier's, and paid for by the turn. Nobody waits for more than 10 s where
 * that is the rule. */
START_TEST(card_then_tier)
{
    struct sheet *sheet = sheet_as_expected("spill");
    size_t spill = sheet_column(sheet, "agents.coder.spill"), row = 1;

    for (; row + 2 < sheet->rows; row += 3) { /* all, card, tier */
        double population = sheet_cell(sheet, row, SHEET_POPULATION), tier = sheet_cell(sheet, row + 2, "goodput");
        bool none = strcmp(sheet->cells[row][spill], "none") == 0;
        bool refused = strcmp(sheet->cells[row][spill], "refused") == 0;

        ck_assert_double_eq_tol(sheet_cell(sheet, row, "cost"), 0.6 + 3600 * tier * (20000 * 3 + 354 * 15) / 1e6,
                                1 + 0.01 * sheet_cell(sheet, row, "cost"));
        ck_assert_double_eq_tol(sheet_cell(sheet, row, "attempts_per_turn"), 1, 0.001);
        ck_assert_double_eq(sheet_cell(sheet, row, "deferred_share"), 0);
        if (none || (refused && population <= 16))
            ck_assert_double_eq(tier, 0);
        else if (population > 16)
            ck_assert_double_eq_tol(sheet_cell(sheet, row + 1, "goodput"), 8 * 39 / 354.0, 0.01);
        if (!none && !refused)
            ck_assert_double_le(sheet_cell(sheet, row + 1, "wait_p99"), 10 * 1.004);
    }
    ck_assert_uint_eq(row, 1 + 3 * 18);
    sheet_free(sheet);
}
END_TEST

#define WAYS 10

/* Tasks by the hour, their time and their price, of each way in which sixty agents share a card and a tier; and what
 * the page says of them. */
START_TEST(sixty_agents)
{
    struct sheet *sheet = sheet_as_expected("card_and_tier");
    double time[WAYS], price[WAYS], tasks[WAYS], cold[WAYS];
    enum { SPLIT_1, SPLIT_12, SPLIT_24, SPLIT_36, SPLIT_48, SPLIT_59, REFUSED, WAIT_10, WAIT_60, TIER_FIRST };
    size_t rows = (sheet->rows - 1) / WAYS;

    ck_assert_uint_eq(rows, 5); /* all; two classes; two backends */
    for (size_t way = 0; way < WAYS; way++) {
        size_t all = 1 + way * rows;

        ck_assert_double_eq(sheet_cell(sheet, all, "agents.card_first.population") +
                                sheet_cell(sheet, all, "agents.tier_first.population"),
                            60);
        tasks[way] = sheet_cell(sheet, all, "runs_per_h");
        time[way] = sheet_cell(sheet, all, "run_time_mean");
        price[way] = sheet_cell(sheet, all, "cost") / tasks[way];
        cold[way] = sheet_cell(sheet, all + 3, "cold_share"); /* of the card */
    }
    /* the tier alone, the card alone */
    ck_assert_double_eq_tol(sheet_cell(sheet, 1 + 2, "runs_per_h"), 600, 6);
    ck_assert_double_eq_tol(sheet_cell(sheet, 1 + 2, "cost") / sheet_cell(sheet, 1 + 2, "runs_per_h"), 0.27, 0.005);
    ck_assert_double_eq_tol(time[SPLIT_1], 332, 3.5);
    ck_assert_double_eq_tol(time[SPLIT_59], 842, 9);
    ck_assert_double_eq_tol(price[SPLIT_59], 0.027, 0.001);
    for (size_t way = SPLIT_12; way <= SPLIT_59; way++)
        ck_assert_double_eq_tol(sheet_cell(sheet, 1 + way * rows + 1, "runs_per_h"), 207, 9);
    /* by time: 12 to 24, or the tier first */
    ck_assert_double_eq_tol(time[SPLIT_12], 250, 2.5);
    ck_assert_double_eq_tol(time[SPLIT_24], 250, 2.5);
    ck_assert_double_eq_tol(time[TIER_FIRST], 250, 2.5);
    ck_assert_double_gt(time[SPLIT_36], time[SPLIT_24] * 1.1);
    /* of what a task costs at the tier, its share of the tokens; more where contexts move */
    for (size_t way = 0; way < WAYS; way++) {
        double more = price[way] / (0.275 * sheet_cell(sheet, 1 + way * rows + 4, "provider_share"));

        ck_assert_double_gt(more, 0.94);
        if (way < REFUSED)
            ck_assert_double_lt(more, 1.06);
    }
    ck_assert_double_eq_tol(price[WAIT_60] / (0.275 * sheet_cell(sheet, 1 + WAIT_60 * rows + 4, "provider_share")),
                            4 / 3.0, 0.03);
    /* contexts stay behind */
    ck_assert_double_gt(cold[REFUSED], cold[SPLIT_24] + 0.1);
    ck_assert_double_gt(cold[WAIT_10], 0.999);
    ck_assert_double_gt(cold[WAIT_60], 0.999);
    ck_assert_double_eq_tol(time[REFUSED], 268, 3);
    ck_assert_double_eq_tol(price[REFUSED], 0.21, 0.005);
    ck_assert_double_gt(time[REFUSED], 1.05 * time[SPLIT_24]);
    ck_assert_double_eq_tol(time[WAIT_60], 656, 7);
    ck_assert_double_eq_tol(price[WAIT_60], 0.165, 0.001);
    ck_assert_double_eq_tol(time[SPLIT_48], 441, 5);
    ck_assert_double_eq_tol(price[SPLIT_48], 0.146, 0.001);
    sheet_free(sheet);
}
END_TEST

/* Depth wakes somebody for the line that is gone in 20 s; age for the other, at nine minutes, and for that alone. */
START_TEST(age_and_depth)
{
    char folder[] = "/tmp/weir-alerts-XXXXXX", path[64], meta[80], set[96];
    struct program program = {0};
    struct sheet *sheet;

    ck_assert_ptr_nonnull(mkdtemp(folder));
    sheet = sheet_as_expected_recorded("age_not_depth", folder);
    ck_assert_double_lt(cell(sheet, "backend=wide", "queue_age_p99"), 20);
    ck_assert_double_gt(cell(sheet, "backend=stuck", "queue_age_p99"), 9 * 60);
    sheet_free(sheet);
    snprintf(path, sizeof path, "%s/alerts.csv", folder);
    snprintf(meta, sizeof meta, "%s.meta", path);
    sheet = sheet_read(path);
    ck_assert_uint_eq(sheet->rows, 4);
    ck_assert_double_eq(sheet_cell(sheet, sheet_row(sheet, "backend=wide state=raised"), "time"), 60);
    ck_assert_double_eq(sheet_cell(sheet, sheet_row(sheet, "backend=wide state=over"), "time"), 77); /* 1,000 left */
    ck_assert_double_eq(sheet_cell(sheet, sheet_row(sheet, "backend=stuck state=raised"), "time"), 540);
    sheet_free(sheet);
    snprintf(set, sizeof set, "record.alerts=%s", path);
    PROGRAM_RUN(&program, NULL, "run", "scenarios/age_not_depth.yaml", "--set", set);
    ck_assert_msg(program.status == 0, "%s", program.err);
    program_has(program.out,
                "Alert queue_depth > 1000, unbounded: 1 a replication, first at 60 s of replication 1, at wide.");
    program_has(program.out,
                "Alert queue_age > 9 min, unbounded: 1 a replication, first at 540 s of replication 1, at stuck.");
    program_fini(&program);
    remove(path);
    remove(meta);
    rmdir(folder);
}
END_TEST

Suite *spread_scenarios_suite(void)
{
    Suite *suite = suite_create("spread_scenarios");
    TCase *test = tcase_create("spread_scenarios");

    tcase_set_timeout(test, 60);
    tcase_add_test(test, documents_at_a_tool);
    tcase_add_test(test, card_then_tier);
    tcase_add_test(test, sixty_agents);
    tcase_add_test(test, age_and_depth);
    suite_add_tcase(suite, test);
    return suite;
}
