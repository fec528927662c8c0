/* test_textbook.c - the oracles as scenarios: short files whose --verify prints theory beside simulation. The numbers
 * of theory are computed here once more, and the table's own means and half-widths are held against them. */
#include <check.h>
#include <dirent.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/io/csv.h"
#include "sim/io/table.h"
#include "sim/stats/output.h"
#include "sim/stats/theory.h"
#include "tests/plan_file.h"
#include "tests/program.h"
#include "tests/suites.h"

#define FOLDER "scenarios/textbook"
#define CARD_SERVICE 9.0769 /* seconds, and the think time: the card's means, in mmcn.yaml */
#define CARD_THINK 4.5

enum { LINES_MOST = 15, ROWS = 16, COLUMNS = 160, REPLICATIONS = 20, ERRORS_MOST = 4 };

static struct plan_file file;
static struct program program;
static const char *cells[ROWS][COLUMNS]; /* of the table of the last run; the header is row 0 */
static size_t rows, columns;

static void setup(void)
{
    plan_file_init(&file);
}

static void teardown(void)
{
    program_fini(&program);
    plan_file_fini(&file);
}

static bool take_row(void *context, uint64_t number, const struct csv_row *row)
{
    (void)context;
    ck_assert(number < ROWS && row->count <= COLUMNS);
    for (size_t i = 0; i < row->count; i++)
        cells[number][i] = arena_text(&file.arena, row->fields[i]);
    rows = number + 1;
    columns = row->count;
    return true;
}

static void short_enough(const char *path)
{
    char *text = program_file(path);
    ck_assert_msg(text && program_count(text, "\n") <= LINES_MOST, "%s is missing or too long", path);
    free(text);
}

/* What --verify of a scenario prints, which must be agreement; the table is then in `cells`. */
static const char *verify(const char *name)
{
    struct diag diag = {0};
    const char *table = arena_format(&file.arena, "%s/table.csv", file.folder);
    const char *path = arena_format(&file.arena, "%s/%s.yaml", FOLDER, name);
    short_enough(path);
    PROGRAM_RUN(&program, NULL, "run", path, "--verify", "-o", table);
    const char *said = strstr(program_taken(&program, &file.arena), "\nPredictions: ");
    ck_assert_ptr_nonnull(said);
    ck_assert_msg(strstr(said, "agrees\n") || strstr(said, "holds\n"), "%s:%s", path, said);
    program_lacks(said, "FAR");
    program_lacks(said, "BROKEN");
    ck_assert(csv_read(table, (struct place){table, 0, 0}, take_row, NULL, &diag));
    return said;
}

static double cell(size_t row, const char *name)
{
    for (size_t i = 0; i < columns; i++)
        if (strcmp(cells[0][i], name) == 0)
            return strtod(cells[row][i], NULL);
    ck_abort_msg("no column %s", name);
}

/* A row of the table against theory, and the same number of theory in the line of --verify about it: one that has law,
 * metric, and the number side by side. */
static void exact(const char *said, const char *law, size_t row, const char *metric, double theory)
{
    double mean = cell(row, metric), hw = cell(row, arena_format(&file.arena, "%s_hw", metric));
    double error = hw / output_t(OUTPUT_LEVEL, REPLICATIONS - 1);
    char number[64];
    bool found = false;
    ck_assert_double_eq(cell(row, "replications"), REPLICATIONS);
    ck_assert_msg(fabs(mean - theory) <= ERRORS_MOST * error || fabs(mean - theory) < 1e-4 * theory,
                  "%s, row %zu: %s is %g +- %g, expected %g", law, row, metric, mean, hw, theory);
    table_format(theory, NAN, true, number, sizeof number);
    for (const char *line = strstr(said, law); line && !found; line = strstr(line + 1, law)) {
        const char *words = arena_text_of(&file.arena, line, strcspn(line, "\n"));
        const char *at = strstr(words, arena_format(&file.arena, " %s ", metric));
        at += at ? strlen(metric) + 1 : 0;
        at += at ? strspn(at, " ") : 0;
        found = at && strncmp(at, number, strlen(number)) == 0 && at[strlen(number)] == ' ';
    }
    ck_assert_msg(found, "no line `%s ... %s %s` in%s", law, metric, number, said);
}

START_TEST(mm1)
{
    const char *said = verify("mm1");
    exact(said, "X = arrivals", 1, "goodput", 0.7);
    exact(said, "U = X S / c", 1, "utilisation", 0.7);
    exact(said, "M/M/c", 1, "wait_mean", theory_mmc_wait(1, 0.7, 1));
    exact(said, "M/M/c", 1, "wait_p99", theory_mmc_wait_quantile(1, 0.7, 1, 0.99));
}
END_TEST

START_TEST(mmc)
{
    const double arrivals[] = {2.8, 3.2};
    const char *said = verify("mmc");
    for (size_t i = 0; i < 2; i++) {
        exact(said, "X = arrivals", 1 + i, "goodput", arrivals[i]);
        exact(said, "M/M/c", 1 + i, "wait_mean", theory_mmc_wait(4, arrivals[i], 1));
        exact(said, "M/M/c", 1 + i, "wait_p99", theory_mmc_wait_quantile(4, arrivals[i], 1, 0.99));
    }
}
END_TEST

START_TEST(mmck)
{
    const size_t room[] = {4, 8};
    const char *said = verify("mmck");
    for (size_t i = 0; i < 2; i++) {
        double lost = theory_mmck_lost(4, room[i], 3.2);
        exact(said, "M/M/c/K", 1 + i, "deferred_share", lost);
        exact(said, "M/M/c/K", 1 + i, "goodput", 3.2 * (1 - lost));
    }
    exact(said, "M/M/c/K", 2, "wait_mean", theory_mmck_wait(4, 8, 3.2, 1));
    ck_assert_double_eq_tol(theory_mmck_lost(4, 4, 3.2), theory_erlang_b(4, 3.2), 1e-12);
}
END_TEST

START_TEST(md1)
{
    exact(verify("md1"), "M/G/1", 1, "wait_mean", theory_mmc_wait(1, 0.7, 1) / 2);
}
END_TEST

START_TEST(mg1)
{
    exact(verify("mg1"), "M/G/1", 1, "wait_mean", theory_mg1_wait(0.6, 1, 1.5));
}
END_TEST

START_TEST(mgc)
{
    const char *said = verify("mgc");
    exact(said, "X = arrivals", 1, "goodput", 0.75);
    exact(said, "U = X S / c", 1, "utilisation", 0.75 * (0.7 * 120 + 0.3 * 900) / 39 / 8);
    program_has(said, "no formula holds");
}
END_TEST

START_TEST(mmcn)
{
    const char *said = verify("mmcn");
    for (size_t row = 1; row <= 4; row++) {
        struct finite_source theory = theory_finite_source(8 + 4 * row, 8, CARD_SERVICE, CARD_THINK);
        exact(said, "M/M/c//N", row, "goodput", theory.throughput);
        exact(said, "M/M/c//N", row, "wait_mean", theory.wait_mean);
        exact(said, "M/M/c//N", row, "wait_p99", theory.wait_p99);
    }
}
END_TEST

START_TEST(priority)
{
    const double arrivals[] = {0.3, 0.4}, ones[] = {1, 1};
    const char *said = verify("priority");
    ck_assert_uint_eq(rows, 4); /* behind the header: all, urgent, patient */
    exact(said, "Cobham, urgent", 2, "wait_mean", theory_priority_wait(arrivals, ones, ones, 2, 0));
    exact(said, "Cobham, patient", 3, "wait_mean", theory_priority_wait(arrivals, ones, ones, 2, 1));
}
END_TEST

START_TEST(response_time_law)
{
    const char *said = verify("response_time_law");
    for (size_t row = 1; row <= 2; row++) {
        double agents = cell(row, "goodput") * (cell(row, "response_mean") + cell(row, "think_mean"));
        ck_assert_double_eq_tol(agents, 20, 0.005 * 20);
    }
    ck_assert_int_eq(program_count(said, " N = X (R + Z) "), 2);
}
END_TEST

#define SCENARIOS(X) X(mm1) X(mmc) X(mmck) X(md1) X(mg1) X(mgc) X(mmcn) X(priority) X(response_time_law)
#define FILE_NAME(name) #name ".yaml",
#define ADD(name) tcase_add_test(tcase, name);

START_TEST(every_scenario_has_a_test)
{
    static const char *const known[] = {SCENARIOS(FILE_NAME)};
    const size_t count = sizeof known / sizeof *known;
    DIR *folder = opendir(FOLDER);
    size_t found = 0;
    ck_assert_ptr_nonnull(folder);
    for (struct dirent *entry = readdir(folder); entry; entry = readdir(folder)) {
        size_t i = 0;
        if (!strstr(entry->d_name, ".yaml"))
            continue;
        while (i < count && strcmp(entry->d_name, known[i]) != 0)
            i++;
        ck_assert_msg(i < count, "nothing tests %s/%s", FOLDER, entry->d_name);
        found++;
    }
    closedir(folder);
    ck_assert_uint_eq(found, count);
}
END_TEST

Suite *textbook_suite(void)
{
    Suite *suite = suite_create("textbook");
    TCase *tcase = tcase_create("textbook");
    tcase_add_checked_fixture(tcase, setup, teardown);
    SCENARIOS(ADD)
    tcase_add_test(tcase, every_scenario_has_a_test);
    suite_add_tcase(suite, tcase);
    return suite;
}
