/* test_size_scenarios.c - the scenarios of studies: their tables to the last digit, and what they are to show. */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/command_fixture.h"
#include "tests/sheet.h"
#include "tests/suites.h"

static double cell(const struct sheet *sheet, const char *row, const char *column)
{
    return sheet_cell(sheet, sheet_row(sheet, row), column);
}

/* The row with this value, which may hold blanks. */
static size_t row_of(const struct sheet *sheet, const char *factor, const char *value)
{
    size_t column = sheet_column(sheet, factor), row = 1;

    while (row < sheet->rows && strcmp(sheet->cells[row][column], value) != 0)
        row++;
    ck_assert_uint_lt(row, sheet->rows);
    return row;
}

/* At about the same share of refusals a cap has the shorter p99 wait of what it lets in, and CoDel the shorter since
 * the first attempt; the work done is the same. */
START_TEST(cap_against_codel)
{
    static const struct {
        const char *cap, *target;
    } pairs[] = {{"18", "8 s"}, {"16", "6 s"}, {"20", "12 s"}};
    struct sheet *sheet = sheet_as_expected("card_study");

    for (size_t i = 0; i < 3; i++) {
        size_t cap = row_of(sheet, "policies.fixed_cap.cap", pairs[i].cap);
        size_t codel = row_of(sheet, "policies.codel.target", pairs[i].target);

        ck_assert_double_eq_tol(sheet_cell(sheet, cap, "deferred_share"), sheet_cell(sheet, codel, "deferred_share"),
                                0.016);
        ck_assert_double_lt(sheet_cell(sheet, cap, "wait_p99") + 1, sheet_cell(sheet, codel, "wait_p99"));
        if (i < 2)
            ck_assert_double_gt(sheet_cell(sheet, cap, "total_wait_p99"),
                                1.3 * sheet_cell(sheet, codel, "total_wait_p99"));
        ck_assert_double_eq_tol(sheet_cell(sheet, cap, "goodput"), sheet_cell(sheet, codel, "goodput"), 0.003);
    }
    sheet_free(sheet);
}
END_TEST

/* How many agents for each goal, and the cap that keeps both goals. */
START_TEST(sizes_of_the_card)
{
    static const struct {
        const char *goal;
        int answer;
    } goals[] = {
        {"size.goal=wait_p99 <= 10 s", 12}, {"size.goal=wait_p99 <= 15 s", 15}, {"size.goal=wait_p99 <= 20 s", 18}};
    static const char scenario[] = "scenarios/card_study.yaml";
    static const char shorter[] = "study.horizon=8000 s";

    for (size_t i = 0; i < 3; i++)
        ck_assert_int_eq(atoi(SAID("size", scenario, "--policy", "unbounded", "--set", shorter, "--set", "size.most=30",
                                   "--set", goals[i].goal)),
                         goals[i].answer);
    ck_assert_int_eq(atoi(SAID("size", scenario, "--policy", "fixed_cap", "--set", shorter, "--set",
                               "size={vary: policies.fixed_cap.cap, within: 8..24, goal: [deferred_share <= 30 %, "
                               "wait_p99 <= 22 s]}")),
                     16);
}
END_TEST

/* The share falls by more than half with the pause, and nothing else moves much. */
START_TEST(the_share_alone)
{
    static const double pauses[] = {1, 2, 4, 8, 12, 15.5, 20};
    struct sheet *sheet = sheet_as_expected("backoff_sensitivity");
    double before = 1;

    for (size_t i = 0; i < sizeof pauses / sizeof *pauses; i++) {
        size_t row = i + 1;
        double share = sheet_cell(sheet, row, "deferred_share"), x = sheet_cell(sheet, row, "goodput");
        double refusals = sheet_cell(sheet, row, "refusals_per_turn");

        ck_assert_double_lt(share, before - 0.04);
        before = share;
        ck_assert_double_eq_tol(x, 0.876, 0.004);
        ck_assert_double_eq_tol(sheet_cell(sheet, row, "wait_p99"), 12.6, 0.6);
        ck_assert_double_eq_tol(sheet_cell(sheet, row, "total_wait_mean"), 24 / x - 354 / 39.0 - 4.5, 0.2);
        /* N = L + X Z + D B */
        ck_assert_double_eq_tol(sheet_cell(sheet, row, "in_system_mean") + x * 4.5 + x * refusals * pauses[i], 24,
                                0.15);
    }
    ck_assert_double_gt(sheet_cell(sheet, 1, "deferred_share"), 0.9);
    ck_assert_double_gt(sheet_cell(sheet, 6, "deferred_share"), 0.37); /* 15.5 s are not enough */
    ck_assert_double_lt(sheet_cell(sheet, 7, "deferred_share"), 0.37);
    sheet_free(sheet);
}
END_TEST

/* Cards cost by the hour and the tier by the turn; nobody waits at the tier. */
START_TEST(buy_or_rent)
{
    static const double turn = (2000 * 3 + 18000 * 0.3 + 354 * 15) / 1e6;
    struct sheet *sheet = sheet_as_expected("buy_or_rent");

    for (size_t row = 1; row + 2 < sheet->rows; row += 3) { /* all, card, tier */
        double tier = sheet_cell(sheet, row + 2, "goodput"), cost = sheet_cell(sheet, row, "cost");
        double cards = sheet_cell(sheet, row, "backends.card.cards.max");

        ck_assert_double_eq_tol(cost, tier > 0 ? 3600 * tier * turn : 0.15 * cards, 0.02 * cost);
        if (tier > 0)
            ck_assert_double_eq(sheet_cell(sheet, row, "wait_p99"), 0);
    }
    ck_assert_double_lt(
        cell(sheet, "class=all backend=all agents.coder.population=6 agents.coder.backend=card max=1", "cost") * 50,
        cell(sheet, "class=all backend=all agents.coder.population=6 agents.coder.backend=tier", "cost"));
    sheet_free(sheet);
}
END_TEST

Suite *size_scenarios_suite(void)
{
    Suite *suite = suite_create("size_scenarios");
    TCase *test = tcase_create("size_scenarios");

    tcase_add_checked_fixture(test, setup, teardown);
    tcase_set_timeout(test, 0);
    tcase_add_test(test, cap_against_codel);
    tcase_add_test(test, sizes_of_the_card);
    tcase_add_test(test, the_share_alone);
    tcase_add_test(test, buy_or_rent);
    suite_add_tcase(suite, test);
    return suite;
}
