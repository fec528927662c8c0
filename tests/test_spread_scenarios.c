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
    tcase_add_test(test, age_and_depth);
    suite_add_tcase(suite, test);
    return suite;
}
