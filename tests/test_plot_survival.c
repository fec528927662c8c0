/* test_plot_survival.c - how many waited longer: the table that `weir run --plot` leaves, and its pictures. */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/cli/arguments.h"
#include "sim/stats/quantile.h"
#include "tests/plots.h"
#include "tests/program.h"
#include "tests/suites.h"

enum { ROWS_MOST = 400 };

struct row {
    double wait, survival, total_survival;
};

static struct program program;

static void setup(void)
{
    plots_setup();
}

static void teardown(void)
{
    program_fini(&program);
    plots_teardown();
}

/* Runs a scenario with --plot pictures and the words after it, and reads the survival table's rows that begin so. */
static size_t run(const char *scenario, const char *const *more, const char *key, struct row *rows)
{
    const char *words[12] = {"run", "s.yaml", "--plot", "pictures"}, *line;
    size_t count = 0;

    for (size_t i = 0; more && more[i]; i++)
        words[4 + i] = more[i];
    plots_write("s.yaml", scenario);
    program_fini(&program);
    program_start(&program, NULL, words);
    program_wait(&program);
    ck_assert_msg(program.status == EXIT_DONE, "%s", program.err);
    line = strchr(plots_read("pictures/s.survival.csv", &(size_t){0}), '\n') + 1;
    for (; *line; line = strchr(line, '\n') + 1) {
        ck_assert_uint_lt(count, ROWS_MOST);
        if (strncmp(line, key, strlen(key)) == 0)
            ck_assert_int_eq(sscanf(line + strlen(key), "%lf,%lf,%lf", &rows[count].wait, &rows[count].survival,
                                    &rows[count].total_survival),
                             3);
        count += strncmp(line, key, strlen(key)) == 0;
    }
    return count;
}

/* Three runs at once at one server: they wait 0, 2 and 4 s. */
static const char three[] = "title: \"a`touch pwned`$(touch pwned)\"\n"
                            "study: {until: done, most: 1 h, replications: 1}\n"
                            "backends: {server: {kind: slots, servers: 1, service: constant(2 s)}}\n"
                            "agents: {customer: {arrivals: all_at(0 s), runs: 3}}\n"
                            "policies: [unbounded]\n";

static double of_three(double wait)
{
    return (double)((wait < 2) + (wait < 4)) / 3;
}

START_TEST(three_waits_by_hand)
{
    const char *const again[] = {"-r", _i == 0 ? "1" : "3", NULL};
    const char *key = arena_format(&plots.arena, "unbounded,all,all,all,%s,", again[1]);
    struct row rows[ROWS_MOST];
    size_t count = run(three, again, key, rows);

    ck_assert_uint_eq(count, 5); /* the start, and both sides of two steps */
    for (size_t i = 0; i < count; i++) {
        ck_assert_double_eq(rows[i].survival, of_three(rows[i].wait));
        ck_assert_double_eq(rows[i].total_survival, of_three(rows[i].wait));
    }
    ck_assert_double_eq(rows[0].wait, 0);
    for (size_t i = 1; i < count; i++)
        ck_assert_double_eq_tol(rows[i].wait, i < 3 ? 2 : 4, 0.004 * 4);
    ck_assert_double_lt(rows[1].wait, 2);
    ck_assert_double_ge(rows[2].wait, 2);
    ck_assert_double_lt(rows[3].wait, 4);
    ck_assert_double_ge(rows[4].wait, 4);
}
END_TEST

START_TEST(pictures_are_drawn_and_texts_stay_texts)
{
    struct row rows[ROWS_MOST];
    const char *svg;

    run(three, NULL, "unbounded,all,all,all,1,", rows);
    svg = plots_pictures("pictures/s.survival.wait");
    ck_assert_ptr_nonnull(strstr(svg, "<text>a`touch pwned`$(touch pwned)</text>"));
    ck_assert_ptr_nonnull(strstr(svg, "<text>calls of 1 replication</text>"));
    ck_assert_ptr_nonnull(strstr(svg, "<text>calls with a longer wait</text>"));
    ck_assert_ptr_nonnull(strstr(svg, "<text>unbounded</text>"));
    svg = plots_pictures("pictures/s.survival.total_wait");
    ck_assert_ptr_nonnull(strstr(svg, "<text>total wait (s)</text>"));
    ck_assert_ptr_null(program_file("pwned"));
}
END_TEST

/* Two populations, a policy that lets nobody wait. */
static const char card[] = "title: A card\n"
                           "study: {horizon: 400 s, warmup: 20 s, replications: 5}\n"
                           "backends: {card: {kind: slots, servers: 2, service: exponential(2 s)}}\n"
                           "agents: {coder: {population: 4, think: exponential(4.5 s)}}\n"
                           "policies: [unbounded, strict: [fixed_cap: {cap: 2}]]\n"
                           "sweep: {agents.coder.population: [8, 4, 6]}\n";

START_TEST(threads_change_no_byte)
{
    const char *const one[] = {"-j", "1", NULL}, *const seven[] = {"-j", "7", NULL};
    struct row rows[ROWS_MOST];
    size_t length, again;
    const char *table, *other;

    ck_assert_uint_gt(run(card, one, "unbounded,all,all,all,8,5,", rows), 20);
    table = plots_read("pictures/s.survival.csv", &length);
    run(card, seven, "unbounded,all,all,all,8,5,", rows);
    other = plots_read("pictures/s.survival.csv", &again);
    ck_assert_uint_eq(length, again);
    ck_assert_mem_eq(table, other, length);
}
END_TEST

START_TEST(curves_fall_and_meet_the_mean)
{
    const char *const more[] = {"-r", "2", "--format", "csv", NULL};
    struct row rows[ROWS_MOST];
    size_t count = run(card, more, "unbounded,all,all,all,8,2,", rows);
    double area = 0, mean;
    const char *row;

    ck_assert_double_eq(rows[0].wait, 0);
    ck_assert_double_eq(rows[count - 1].survival, 0);
    for (size_t i = 1; i < count; i++) {
        ck_assert_double_gt(rows[i].wait, rows[i - 1].wait);
        ck_assert_double_le(rows[i].survival, rows[i - 1].survival);
        area += (rows[i].wait - rows[i - 1].wait) * (rows[i].survival + rows[i - 1].survival) / 2;
    }
    row = strstr(program.out, "unbounded,all,all,all,8,2,");
    ck_assert_ptr_nonnull(row);
    for (int i = 0; i < 12; i++) /* five keys and replications, three metrics and half-widths, wait_mean */
        row = strchr(row, ',') + 1;
    mean = strtod(row, NULL);
    ck_assert_double_eq_tol(area, mean, 0.01 * mean);
}
END_TEST

START_TEST(the_largest_population_is_drawn_unless_told)
{
    struct row rows[ROWS_MOST];
    const char *svg;

    run(card, NULL, "unbounded,all,all,all,8,5,", rows);
    svg = plots_pictures("pictures/s.survival.wait");
    ck_assert_ptr_nonnull(strstr(svg, "<text>calls of 5 replications together; population 8; nobody waited: strict<"));
    ck_assert_ptr_null(strstr(svg, "<text>strict</text>"));
    svg = plots_pictures("pictures/s.survival.total_wait");
    ck_assert_ptr_nonnull(strstr(svg, "<text>strict</text>"));
    ck_assert_int_eq(plots_command("pictures/s.survival.csv --at agents.coder.population=6 -o six"), EXIT_DONE);
    ck_assert_ptr_nonnull(strstr(plots_pictures("six/s.survival.wait"), "; population 6; "));
    ck_assert_int_eq(plots_command("pictures/s.survival.csv -o again"), EXIT_DONE);
    ck_assert_str_eq(plots_pictures("again/s.survival.total_wait"), svg);
}
END_TEST

START_TEST(the_columns_asked_for_are_drawn)
{
    const char *const more[] = {"--columns", "wait_mean,utilisation", "--against", "unbounded", NULL};
    struct row rows[ROWS_MOST];

    run(card, more, "unbounded,all,all,all,8,5,", rows);
    plots_pictures("pictures/s.wait_mean");
    plots_pictures("pictures/s.utilisation");
    plots_pictures("pictures/s.differences.d_wait_mean");
    plots_pictures("pictures/s.differences.d_utilisation");
    plots_pictures("pictures/s.survival.wait");
    ck_assert_uint_eq(plots_files("pictures"), 6 * 2 + 3 * 2);
}
END_TEST

START_TEST(cells_are_met_in_order)
{
    static const sim_time values[] = {0, 0, 255, 256, 1000000, 2000000000, 2000000001};
    struct histogram histogram = {0};
    struct histogram_cell cell = {.high = -1};
    uint64_t count = 0;
    size_t cells = 0;

    ck_assert(!histogram_next(&histogram, -1, &cell));
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++)
        histogram_add(&histogram, values[i]);
    while (histogram_next(&histogram, cell.high, &cell)) {
        ck_assert(cell.low <= values[count] && values[count] <= cell.high);
        count += cell.count;
        cells++;
    }
    ck_assert_uint_eq(count, histogram.count);
    ck_assert_uint_eq(cells, 5);
    histogram_fini(&histogram);
}
END_TEST

Suite *plot_survival_suite(void)
{
    Suite *suite = suite_create("plot_survival");
    TCase *all = tcase_create("survival"), *cells = tcase_create("cells");

    tcase_add_checked_fixture(all, setup, teardown);
    tcase_add_loop_test(all, three_waits_by_hand, 0, 2);
    tcase_add_test(all, pictures_are_drawn_and_texts_stay_texts);
    tcase_add_test(all, threads_change_no_byte);
    tcase_add_test(all, curves_fall_and_meet_the_mean);
    tcase_add_test(all, the_largest_population_is_drawn_unless_told);
    tcase_add_test(all, the_columns_asked_for_are_drawn);
    tcase_add_test(cells, cells_are_met_in_order);
    suite_add_tcase(suite, all);
    suite_add_tcase(suite, cells);
    return suite;
}
