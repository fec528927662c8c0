/* test_plot_errors.c - what is said when a table cannot be drawn, and that nothing is left behind then. */
#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "sim/cli/arguments.h"
#include "tests/plots.h"
#include "tests/suites.h"

/* One mistake: the table (NULL: the knee's), the words, the whole message or its beginning. */
static const struct mistake {
    const char *table, *words, *message;
} mistakes[] = {
    {NULL, "none.csv", "error: cannot read none.csv: "},
    {NULL, "t.csv -y wait_p98", "t.csv:1: error: there is no metric `wait_p98`; did you mean `wait_p99`?"},
    {NULL, "t.csv -y policy", "t.csv:1: error: there is no metric `policy`"},
    {NULL, "t.csv -x agents.codr.population",
     "t.csv:1: error: there is no factor `agents.codr.population`; did you mean"},
    {"a,b\n1,2\n", "t.csv", "t.csv:1:1: error: expected a table that `weir run -o` wrote"},
    {PLOTS_KEYS "wait_p99\np,all,all,all,1\n", "t.csv", "t.csv:1:1: error: expected a table that `weir run -o` wrote"},
    {PLOTS_KEYS "replications,wait_p99\n", "t.csv", "t.csv: error: there is nothing to draw: no row"},
    {PLOTS_KEYS "replications,wait_p99\np,all,all,all,1,\n", "t.csv",
     "t.csv: error: there is nothing to draw: `wait_p99`"},
    {PLOTS_KEYS "replications,wait_p99\np,all,all,all,1,0x1\n", "t.csv",
     "t.csv:2:17: error: `0x1` in column `wait_p99`: expected a decimal number"},
    {PLOTS_KEYS "replications,wait_p99\np,all,all,all,1,8 s\n", "t.csv",
     "t.csv:2:17: error: `8 s` in column `wait_p99`: expected a bare number"},
    {PLOTS_KEYS "a.x,b.x,replications,wait_p99\np,all,all,all,1,5,1,2\np,all,all,all,2,6,1,3\n", "t.csv",
     "t.csv:1: error: several factors are numbers: a.x, b.x; choose what to draw against with --x"},
    {PLOTS_KEYS "a.x,replications,wait_p99\np,all,all,all,1,1,2\np,all,all,all,inf,1,3\n", "t.csv -x a.x",
     "t.csv:3:15: error: cannot draw against `a.x`: expected numbers of one kind in this column"},
    {PLOTS_KEYS "a.x,replications,wait_p99\np,all,all,all,1,1,2\np,all,all,all,2 s,1,3\n", "t.csv -x a.x",
     "t.csv:3:15: error: cannot draw against `a.x`"},
    {NULL, "t.csv --at nonsense", "error: `--at nonsense`: expected FACTOR=VALUE"},
    {NULL, "t.csv --at agents.coder.population=9",
     "t.csv: error: no row has `9` as `agents.coder.population`; there are: 8, 16, 24\n"},
    {PLOTS_KEYS "replications,wait_s,wait_survival\np,all,all,all,1,0,0\n", "t.csv -y wait_survival",
     "t.csv: error: there is nothing to draw: `wait_survival` has no value above 0"},
    {NULL, "t.csv -o t.csv", "weir: cannot make the folder `t.csv`: "},
    {NULL, "t.csv -o t.csv/deep", "weir: cannot make the folder `t.csv/deep`: "},
};

START_TEST(mistakes_are_explained)
{
    const struct mistake *mistake = &mistakes[_i];

    plots_write("t.csv", mistake->table ? mistake->table : plots_knee);
    ck_assert_int_eq(plots_command(mistake->words), EXIT_USAGE);
    ck_assert_msg(strncmp(plots.said, mistake->message, strlen(mistake->message)) == 0, "%s", plots.said);
    ck_assert_uint_eq(plots_files("."), 1);
}
END_TEST

START_TEST(too_many_curves_are_refused)
{
    const char *table = PLOTS_KEYS "replications,wait_p99\n";

    for (int i = 0; i < 41; i++) {
        if (i == 40) {
            plots_write("t.csv", table);
            ck_assert_int_eq(plots_command("t.csv"), EXIT_DONE);
        }
        table = arena_format(&plots.arena, "%sp%d,all,all,all,1,%d\n", table, i, i);
    }
    plots_write("t.csv", table);
    ck_assert_int_eq(plots_command("t.csv"), EXIT_USAGE);
    ck_assert_ptr_nonnull(strstr(plots.said, "there are more than 40 bars"));
}
END_TEST

/* A program called gnuplot that does this. */
static void pretend(const char *script)
{
    mkdir("bin", 0777);
    plots_write("bin/gnuplot", arena_format(&plots.arena, "#!/bin/sh\n%s\n", script));
    ck_assert_int_eq(chmod("bin/gnuplot", 0755), 0);
    setenv("PATH", arena_format(&plots.arena, "%s/bin:/bin:/usr/bin", plots.folder), 1);
}

START_TEST(what_gnuplot_does_wrong_is_our_fault)
{
    static const char *const wrongs[] = {
        "echo boom; exit 1",
        "echo boom >&2; exit 0",
        "echo boom; for f in here/*.part; do echo '<?xml' >$f; done",
        "echo boom; kill -9 $$",
    };

    plots_write("t.csv", plots_knee);
    mkdir("here", 0777);
    plots_write("here/t.wait_p99.svg", "old");
    pretend(wrongs[_i]);
    ck_assert_int_eq(plots_command("t.csv -o here"), EXIT_FAULT);
    ck_assert_str_eq(plots.said, "weir: gnuplot did not draw `here/t.wait_p99`; it says:\n  boom\n");
    ck_assert_uint_eq(plots_files("here"), 1);
    ck_assert_str_eq(plots_read("here/t.wait_p99.svg", &(size_t){0}), "old");
}
END_TEST

START_TEST(without_gnuplot_the_package_is_named)
{
    plots_write("t.csv", plots_knee);
    setenv("PATH", "/nonexistent", 1);
    ck_assert_int_eq(plots_command("t.csv"), EXIT_USAGE);
    ck_assert_str_eq(plots.said, "weir: cannot draw: there is no gnuplot here; install it (Debian: gnuplot-nox)\n");
    setenv("PATH", "/bin:/usr/bin", 1);
    ck_assert_uint_eq(plots_files("pictures"), 0);
}
END_TEST

Suite *plot_errors_suite(void)
{
    Suite *suite = suite_create("plot_errors");
    TCase *all = tcase_create("messages");

    tcase_add_checked_fixture(all, plots_setup, plots_teardown);
    tcase_add_loop_test(all, mistakes_are_explained, 0, (int)(sizeof mistakes / sizeof mistakes[0]));
    tcase_add_test(all, too_many_curves_are_refused);
    tcase_add_loop_test(all, what_gnuplot_does_wrong_is_our_fault, 0, 4);
    tcase_add_test(all, without_gnuplot_the_package_is_named);
    suite_add_tcase(suite, all);
    return suite;
}
