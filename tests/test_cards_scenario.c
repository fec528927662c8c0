/* test_cards_scenario.c - burst_and_cold_start as it ships: what its comment says, and what it promises. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/program.h"
#include "tests/sheet.h"
#include "tests/suites.h"

static const char *const signals[] = {"utilisation", "queue_length", "token_velocity"};

/* The text of a trace has blanks, so sheet_row is no help. */
static double cell(const struct sheet *sheet, const char *policy, bool burst, size_t signal, const char *name)
{
    size_t arrivals = sheet_column(sheet, "agents.worker.arrivals");
    size_t signal_column = sheet_column(sheet, "backends.card.cards.signal");

    for (size_t row = 1; row < sheet->rows; row++)
        if (strcmp(sheet->cells[row][0], policy) == 0 && (*sheet->cells[row][arrivals] == 't') == burst &&
            strcmp(sheet->cells[row][signal_column], signals[signal]) == 0)
            return sheet_cell(sheet, row, name);
    ck_abort_msg("no row of %s under %s", policy, signals[signal]);
}

static void near(double value, double expected, double tolerance)
{
    ck_assert_msg(value >= expected - tolerance && value <= expected + tolerance, "%g, expected %g within %g", value,
                  expected, tolerance);
}

START_TEST(burst_and_cold_start)
{
    static const double p99[] = {33.7, 29.1, 19.9}, hours[] = {1.588, 1.770, 1.787}, alone[] = {1.249, 1.249, 1.463};
    static const double spread[] = {30.3, 25.1, 19.9};
    struct sheet *sheet = sheet_as_expected("burst_and_cold_start");

    ck_assert_uint_eq(sheet->rows, 1 + 18);
    for (size_t i = 0; i < 3; i++) {
        ck_assert_double_lt(cell(sheet, "unbounded", false, i, "wait_p99"), 0.03);
        near(cell(sheet, "unbounded", false, i, "card_hours"), alone[i], 0.01);
        near(cell(sheet, "unbounded", true, i, "wait_p99"), p99[i], 0.1);
        near(cell(sheet, "unbounded", true, i, "card_hours"), hours[i], 0.01);
        /* What one card makes, and what all make. */
        near(cell(sheet, "one_card", true, i, "wait_p99"), 9.7, 0.4);
        ck_assert_double_gt(cell(sheet, "one_card", true, i, "total_wait_p99"), 190);
        ck_assert_double_lt(cell(sheet, "one_card", true, i, "card_hours"),
                            cell(sheet, "unbounded", true, i, "card_hours"));
        near(cell(sheet, "six_cards", true, i, "total_wait_p99"), spread[i], 0.1);
        /* 70 minutes, card by card, at 1.20 an hour. */
        near(cell(sheet, "unbounded", true, i, "cost"), 1.2 * hours[i] * 60 / 70, 0.01);
    }
    sheet_free(sheet);
}
END_TEST

/* The same scenario with a key set, and one policy. */
static struct sheet *sheet_with(const char *set, const char *policy)
{
    char path[] = "/tmp/weir-cards-XXXXXX", meta[64];
    struct program program = {0};
    struct sheet *sheet;

    ck_assert(mkstemp(path) >= 0);
    PROGRAM_RUN(&program, NULL, "run", "scenarios/burst_and_cold_start.yaml", "--policy", policy, "--set", set, "-o",
                path);
    ck_assert_msg(program.status == 0, "%s", program.err);
    sheet = sheet_read(path);
    snprintf(meta, sizeof meta, "%s.meta", path);
    remove(path);
    remove(meta);
    program_fini(&program);
    return sheet;
}

/* p99 waits of the bursts, by signal. */
static void waits_with(const char *set, const double *p99, double tolerance, double hours)
{
    struct sheet *sheet = sheet_with(set, "unbounded");

    for (size_t i = 0; i < 3; i++) {
        near(cell(sheet, "unbounded", true, i, "wait_p99"), p99[i], tolerance);
        ck_assert_double_le(cell(sheet, "unbounded", true, i, "card_hours"), hours);
    }
    sheet_free(sheet);
}

START_TEST(without_a_cold_start)
{
    waits_with("backends.card.cards.cold_start=0 s", (double[]){23.2, 14.2, 0.24}, 0.1, 1.8);
}
END_TEST

/* At an interval of a minute, runs that come alone cost the same under each signal, within 1 %. */
START_TEST(a_longer_interval)
{
    struct sheet *sheet = sheet_with("backends.card.cards.scrape=60 s", "unbounded");

    for (size_t i = 0; i < 3; i++)
        near(cell(sheet, "unbounded", false, i, "card_hours"), 1.198, 0.01);
    sheet_free(sheet);
}
END_TEST

START_TEST(always_up)
{
    struct sheet *sheet = sheet_with("backends.card.cards.min=6", "one_card");

    near(cell(sheet, "one_card", true, 0, "total_wait_p99"), 197.8, 0.2);
    sheet_free(sheet);
    waits_with("backends.card.cards.min=6", (double[]){0, 0, 0}, 0, 7);
}
END_TEST

/* Of the first replication: turns that start within 10 s, and first turns, in percent of all of them, in a burst. */
START_TEST(in_time)
{
    static const double all[] = {86.4, 90.1, 92.3};
    char path[] = "/tmp/weir-cards-XXXXXX", line[500];
    double turns[3] = {0}, good[3] = {0}, firsts[3] = {0}, first_good[3] = {0};
    struct program program = {0};
    int made = mkstemp(path);
    FILE *log;

    ck_assert(made >= 0);
    close(made);
    PROGRAM_RUN(&program, NULL, "run", "scenarios/burst_and_cold_start.yaml", "--policy", "unbounded", "--log", path);
    ck_assert_msg(program.status == 0, "%s", program.err);
    log = fopen(path, "r"); /* another file of that name */
    ck_assert_ptr_nonnull(log);
    while (fgets(line, sizeof line, log)) {
        char *cells[24] = {line};
        size_t count = 1, signal = 0;

        for (char *comma = line; count < 24 && (comma = strchr(comma, ',')) != NULL; count++) {
            *comma++ = '\0';
            cells[count] = comma;
        }
        ck_assert_uint_eq(count, 20);
        if (*cells[1] != 't' || strcmp(cells[12], "answered") != 0)
            continue;
        while (strcmp(cells[2], signals[signal]) != 0)
            signal++;
        bool prompt = strtod(cells[15], NULL) - strtod(cells[11], NULL) <= 10, first = strcmp(cells[9], "0") == 0;

        turns[signal]++;
        good[signal] += prompt;
        firsts[signal] += first;
        first_good[signal] += first && prompt;
    }
    fclose(log);
    for (size_t i = 0; i < 3; i++) {
        near(100 * good[i] / turns[i], all[i], 0.1);
        near(100 * first_good[i] / firsts[i], 35.8, 0.1);
    }
    remove(path);
    program_fini(&program);
}
END_TEST

/* What a verb says of a card that has `cards`. */
static void said(const char *verb, const char *option, const char *cards, const char *words, int times)
{
    char path[] = "/tmp/weir-cards-XXXXXX";
    struct program program = {0};
    int made = mkstemp(path);
    FILE *file = fdopen(made, "w");

    ck_assert(made >= 0 && file);
    fprintf(file,
            "study: {horizon: 6000 s, warmup: 200 s, replications: 3}\n"
            "backends: {card: {kind: slots, servers: 2, rate: 39 tokens/s, cards: {%s}}}\n"
            "agents: {a: {arrivals: poisson(0.5/s), output: exponential(354)}}\n",
            cards);
    fclose(file);
    PROGRAM_RUN(&program, NULL, verb, path, option);
    ck_assert_msg(program.status == 0, "%s", program.err);
    ck_assert_msg(program_count(program.out, words) == times, "not %d times `%s` in\n%s", times, words, program.out);
    remove(path);
    program_fini(&program);
}

START_TEST(what_is_said)
{
    said(
        "check", NULL, "max: 6",
        "# card: 1 to 6 cards of so many servers each, by utilisation; bounds take all 6 as up, and no formula holds.\n"
        "# card, cold start of a card: always 20.32 s.\n",
        1);
    said("check", NULL, "min: 6, max: 6", "# card: 6 cards of so many servers each, all of them always up.\n", 1);
    said("check", NULL, "max: 6", "      cooldown_up: 60 s", 0); /* it stays what cooldown is */
    said("run", "--verify", "max: 4", "no formula holds", 1);
    said("run", "--verify", "min: 4, max: 4", "M/M/c", 2);
    said("run", "--verify", "min: 4, max: 4", "no formula holds", 0);
}
END_TEST

Suite *cards_scenario_suite(void)
{
    Suite *suite = suite_create("cards_scenario");
    TCase *test = tcase_create("cards_scenario");

    tcase_set_timeout(test, 60);
    tcase_add_test(test, burst_and_cold_start);
    tcase_add_test(test, without_a_cold_start);
    tcase_add_test(test, a_longer_interval);
    tcase_add_test(test, always_up);
    tcase_add_test(test, in_time);
    tcase_add_test(test, what_is_said);
    suite_add_tcase(suite, test);
    return suite;
}
