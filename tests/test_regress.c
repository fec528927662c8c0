/* test_regress.c - `weir regress` on a small card: verdicts, tables, versions, seeds; and `weir diff`. */
#include <check.h>
#include <string.h>

#include "tests/regress_card.h"
#include "tests/suites.h"

static const char *text_of(const char *name)
{
    return text_in(in_folder(name));
}

/* As it is: no digit differs, with any number of threads. */
START_TEST(unchanged)
{
    regress_begin(REGRESS_CARD);
    program_has(program.out, "s.regress.csv: 4 rows rewritten.\n");
    ck_assert_str_eq(program.err, "");
    REGRESS(0, file.path, "--strict", "--exact", "-j", "3");
    program_has(program.out,
                "1 file, 4 rows: 4 same, 0 within, 0 better, 0 undecided, 0 trade, 0 worse; 0 missing, 0 new, 0 not "
                "reached.\n");
    program_has(program.out, " values is called worse in at most 1 % of runs (Holm).\n");
    REGRESS(0, file.path, "--update");
    program_has(program.out, "s.regress.csv: 0 rows rewritten.\n");
}
END_TEST

/* Key columns and gated metrics, six decimals, a row a line. */
START_TEST(reviewable)
{
    const char *table;

    regress_begin(REGRESS_CARD);
    table = text_of("s.regress.csv");
    ck_assert_int_eq(program_count(table, "\n"), 5);
    program_has(table, "policy,class,tenant,backend,agents.coder.population,replications,goodput,goodput_hw,wait_p99,"
                       "wait_p99_hw,total_wait_p99,total_wait_p99_hw,deferred_share,deferred_share_hw,");
    program_lacks(table, "wait_mean");
    program_has(table, "\nunbounded,all,all,all,16,6,0.");
    for (const char *dot = strchr(strchr(table, '\n'), '.'); dot; dot = strchr(dot + 1, '.'))
        ck_assert_uint_eq(strspn(dot + 1, "0123456789"), 6);
    program_has(text_of("s.regress.csv.meta"), "results_version: 1\n");
    program_has(text_of("s.regress.csv.meta"), "decimals: 6\n");
}
END_TEST

START_TEST(verdicts)
{
    regress_begin(REGRESS_CARD);
    REGRESS(1, file.path, "--head-set", "backends.card.rate=30 tokens/s", "-p", "unbounded");
    program_has(program.out, "2 rows: 0 same, 0 within, 0 better, 0 undecided, 0 trade, 2 worse;");
    program_has(program.out, "s.yaml:11: unbounded, population 24: worse in goodput, wait_p99,\ntotal_wait_p99, by");
    program_has(program.out, "--head-set 'backends.card.rate=30 tokens/s' --policy unbounded\n");
    program_lacks(program.out, "--update");
    REGRESS(0, file.path, "--head-set", "backends.card.rate=50 tokens/s", "-p", "unbounded");
    program_has(program.out, "2 rows: 0 same, 0 within, 2 better, 0 undecided, 0 trade, 0 worse;");
    REGRESS(1, file.path, "--head-set", "policies.fixed_cap.cap=16");
    program_has(program.out, "2 same, 0 within, 0 better, 0 undecided, 2 trade, 0 worse;");
    program_has(program.out, "fixed_cap, population 24: a trade, better in total_wait_p99");
    program_lacks(program.out, "unbounded");
}
END_TEST

/* A change inside the tolerance passes; other digits fail where digits are asked for. */
START_TEST(within)
{
    regress_begin(REGRESS_CARD "regress: {tolerance: {goodput: 50 %, wait_p99: 50 %, total_wait_p99: 50 %}}\n");
    REGRESS(0, file.path, "--head-set", "backends.card.rate=38 tokens/s", "-p", "unbounded", "--strict");
    program_has(program.out, "2 rows: 0 same, 2 within,");
    program_lacks(program.out, "wait_p99");
    REGRESS(1, file.path, "--head-set", "backends.card.rate=38 tokens/s", "-p", "unbounded", "--exact");
    program_has(program.out, "unbounded, population 16: other digits, within the tolerance.");
}
END_TEST

/* What nobody can tell passes, unless it is to be told. */
START_TEST(undecided)
{
    regress_begin(REGRESS_CARD);
    REGRESS(0, file.path, "--other-seeds", "2");
    program_has(program.out, "1 file, 8 rows: 0 same, 0 within, 0 better, 8 undecided, 0 trade, 0 worse;");
    program_has(program.out, "8 rows are undecided");
    REGRESS(1, file.path, "--other-seeds", "2", "--strict");
    program_has(program.out, "Other seed: of the scenario's plus 2.\n");
    program_has(program.out, "unbounded, population 16: undecided in goodput, ");
}
END_TEST

/* Only what is gated is compared, and only what was chosen is in a new table. */
START_TEST(gate)
{
    regress_begin(REGRESS_CARD "regress: {gate: [goodput, wait_mean]}\n");
    program_has(text_of("s.regress.csv"), ",replications,goodput,goodput_hw,wait_mean,wait_mean_hw\n");
    REGRESS(0, file.path);
    program_has(program.out, " 8 values ");
    /* of a whole table, too */
    program_fini(&program);
    PROGRAM_RUN(&program, NULL, "run", file.path, "-o", in_folder("s.expected.csv"));
    remove(in_folder("s.regress.csv"));
    REGRESS(0, file.path, "--exact");
    program_has(program.out, " 8 values ");
    program_has(program.out, "4 rows: 4 same,");
}
END_TEST

/* `regress: set` is a smaller study with a table of its own; a run takes no notice. */
START_TEST(smaller)
{
    regress_begin(
        REGRESS_CARD
        "regress: {set: {study.horizon: 500 s, sweep.agents.coder.population: [24], policies.fixed_cap.cap: 10}}\n");
    program_has(program.out, "s.regress.csv: 2 rows rewritten.\n");
    REGRESS(0, file.path, "--exact");
    program_has(program.out, "2 rows: 2 same,");
    program_fini(&program);
    ck_assert_int_eq(program_count(SAID("run", file.path, "-r", "1", "--format", "csv"), "\n"), 5);
    program_has(SAID("check", file.path), "\n    sweep.agents.coder.population: [24]");
}
END_TEST

/* Only rows that changed are rewritten: of those that were not run nothing is known. */
START_TEST(update)
{
    const char *before, *after;

    regress_begin(REGRESS_CARD);
    before = text_of("s.regress.csv");
    plan_file_write(
        &file, "s.regress.csv",
        plan_file_with(&file,
                       plan_file_with(&file, before, "unbounded,all,all,all,16,6,0.", "unbounded,all,all,all,16,6,7."),
                       "fixed_cap,all,all,all,24,6,0.", "fixed_cap,all,all,all,24,6,8."));
    REGRESS(1, file.path);
    program_has(program.out, "2 worse; 0 missing");
    program_has(program.out, arena_format(&file.arena, "To accept it:     weir regress %s --update\n", file.path));
    REGRESS(0, file.path, "--update", "-p", "unbounded");
    program_has(program.out, "1 rows rewritten.\n");
    after = text_of("s.regress.csv");
    program_same(after,
                 plan_file_with(&file, before, "fixed_cap,all,all,all,24,6,0.", "fixed_cap,all,all,all,24,6,8."));
    REGRESS(0, file.path, "--update");
    program_same(text_of("s.regress.csv"), before);
}
END_TEST

/* A whole table stays one, every digit of it and its other lines too. */
START_TEST(update_whole)
{
    const char *before, *meta;

    plan_file_write(&file, "s.yaml", REGRESS_CARD);
    program_fini(&program);
    PROGRAM_RUN(&program, NULL, "run", file.path, "-o", in_folder("s.expected.csv"));
    before = text_of("s.expected.csv");
    meta = text_of("s.expected.csv.meta");
    REGRESS(0, file.path, "--update");
    program_same(text_of("s.expected.csv.meta"), meta);
    plan_file_write(&file, "s.expected.csv",
                    plan_file_with(&file, before, "unbounded,all,all,all,24,6,0.", "unbounded,all,all,all,24,6,9."));
    REGRESS(0, file.path, "--update");
    program_has(program.out, "s.expected.csv: 1 rows rewritten.\n");
    program_same(text_of("s.expected.csv"), before);
    program_has(text_of("s.expected.csv.meta"), "\nknee: ");
    program_has(text_of("s.expected.csv.meta"), " --update\"\n");
    program_has(text_of("s.expected.csv.meta"), strstr(meta, "  - name: replications\n"));
}
END_TEST

/* The same seed gives other digits in another results version: that is said, and judged by meaning. */
START_TEST(other_results)
{
    const char *table;

    regress_begin(REGRESS_CARD);
    table = text_of("s.regress.csv");
    plan_file_write(&file, "s.regress.csv.meta",
                    plan_file_with(&file, text_of("s.regress.csv.meta"), "results_version: 1", "results_version: 7"));
    REGRESS(0, file.path, "--exact"); /* the digits are the same all the same */
    plan_file_write(&file, "s.regress.csv",
                    plan_file_with(&file, table, "unbounded,all,all,all,16,6,0.", "unbounded,all,all,all,16,6,9."));
    REGRESS(1, file.path);
    program_has(program.out, "The table is of results version 7, this is 1: it is compared by meaning.\n");
}
END_TEST

/* Head against base on the same random numbers: no table is read, and undecided rows get more of them. */
START_TEST(paired)
{
    plan_file_write(&file, "s.yaml", REGRESS_CARD);
    REGRESS(1, file.path, "--paired", "--head-set", "policies.fixed_cap.cap=15", "--most", "24");
    program_has(program.out, "4 rows: 2 same, 0 within, 0 better, 0 undecided, 2 trade, 0 worse;");
    program_has(program.out, "(Holm, 3 looks)");
    REGRESS(0, file.path, "--base-set", "policies.fixed_cap.cap=12", "--exact");
    program_has(program.out, "4 rows: 4 same,");
}
END_TEST

/* Two tables; what is only in one of them is counted. */
START_TEST(diff)
{
    const char *a = in_folder("a.csv"), *b = in_folder("b.csv");

    plan_file_write(&file, "s.yaml", REGRESS_CARD);
    PROGRAM_RUN(&program, NULL, "run", file.path, "-o", a);
    program_fini(&program);
    PROGRAM_RUN(&program, NULL, "run", file.path, "-o", b, "--set", "backends.card.rate=30 tokens/s", "-p",
                "unbounded");
#define DIFF(status, ...) regress(status, (const char *const[]){"diff", __VA_ARGS__, NULL})
    DIFF(0, a, a, "--exact");
    program_has(program.out, "2 files, 4 rows: 4 same, ");
    DIFF(1, a, b);
    program_has(program.out,
                "2 files, 2 rows: 0 same, 0 within, 0 better, 0 undecided, 0 trade, 2 worse; 2 only in the "
                "first, 0 only in the second.\n");
    DIFF(0, b, a, "--columns", "wait_p99");
    program_has(program.out, "2 better,");
    DIFF(2, a, b, "--columns", "wait_p98");
    program_has(program.err, "there is no metric `wait_p98`; did you mean `wait_p95`?");
    DIFF(2, a, b, "--columns", "utilisation");
    program_has(program.err, "neither more nor less is better");
    DIFF(2, a, file.path);
}
END_TEST

Suite *regress_suite(void)
{
    Suite *suite = suite_create("regress");
    TCase *test = tcase_create("regress");

    tcase_add_checked_fixture(test, setup, teardown);
    tcase_add_test(test, unchanged);
    tcase_add_test(test, reviewable);
    tcase_add_test(test, verdicts);
    tcase_add_test(test, within);
    tcase_add_test(test, undecided);
    tcase_add_test(test, gate);
    tcase_add_test(test, smaller);
    tcase_add_test(test, update);
    tcase_add_test(test, update_whole);
    tcase_add_test(test, other_results);
    tcase_add_test(test, paired);
    tcase_add_test(test, diff);
    suite_add_tcase(suite, test);
    return suite;
}
