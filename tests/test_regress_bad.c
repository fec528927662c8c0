/* test_regress_bad.c - `weir regress` with nothing to compare, with bad input and bad words: 2, and why. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "tests/regress_card.h"
#include "tests/suites.h"

#define SMALL \
    "study: {horizon: 100 s, replications: 2}\nbackends: {card: {kind: slots, servers: 8, rate: 39 tokens/s}}\n" \
    "agents: {coder: {population: 9, think: exponential(4.5 s), output: exponential(354)}}\n" \
    "policies: [unbounded, {fixed_cap: {cap: 8}}]\n"

START_TEST(nothing_compared)
{
    plan_file_write(&file, "s.yaml", SMALL);
    REGRESS(2, file.path);
    program_has(program.err, "s.yaml: error: there is no expected table: expected ");
    program_has(program.err, " --update` writes ");
    program_has(program.out, "1 file, 0 rows: ");
    REGRESS(2, in_folder("*.yml"));
    REGRESS(0, file.path, "--update");
    REGRESS(2, file.path, "-p", "unbounded,codel");
    program_has(program.err, "weir regress: `--policy codel`: no scenario names it\n");
    program_has(program.out, "1 rows: 1 same");
    /* other keys */
    plan_file_write(&file, "s.yaml", SMALL "sweep: {agents.coder.population: [9, 10]}\n");
    REGRESS(2, file.path);
    program_has(program.err, "s.regress.csv:1:1: error: no common key: expected the key columns of ");
    program_has(program.err, "policy, class, tenant, backend, agents.coder.population");
    /* no common metric */
    plan_file_write(&file, "s.yaml", SMALL "regress: {gate: wait_p50}\n");
    REGRESS(2, file.path);
    program_has(program.err, "nothing was compared: no row and gated metric of it is in ");
}
END_TEST

/* What the table has and the scenario no longer has is a failure; what is new is said. */
START_TEST(missing_rows)
{
    regress_begin(SMALL);
    plan_file_write(&file, "s.yaml", plan_file_with(&file, SMALL, "{fixed_cap: {cap: 8}}", "bounded_queue"));
    REGRESS(1, file.path);
    program_has(program.out, "1 rows of ");
    program_has(program.out, "1 missing, 1 new, 0 not reached.\n");
    REGRESS(0, file.path, "--update");
    program_has(program.out, "2 rows rewritten.\n");
    REGRESS(0, file.path, "--exact");
}
END_TEST

/* All files are run whatever fails; the worst status stands. */
START_TEST(all_files)
{
    regress_begin(SMALL);
    plan_file_write(&file, "broken.yaml", "study: 3\n");
    REGRESS(2, in_folder("broken.yaml"), file.path, in_folder("none.yaml"));
    program_has(program.err, "broken.yaml:1:8: error: ");
    program_has(program.err, "none.yaml");
    program_has(program.out, "3 files, 2 rows: 2 same,");
}
END_TEST

START_TEST(partial_table)
{
    const char *table;
    char *text;

    regress_begin(SMALL);
    text = program_file(in_folder("s.regress.csv"));
    table = plan_file_with(&file, text, "fixed_cap,all,all,all,2,", "fixed_cap,all,all,all,3,");
    plan_file_write(&file, "s.regress.csv", table);
    REGRESS(2, file.path);
    program_has(program.err,
                "s.regress.csv:3:23: error: expected a whole table, with as many replications in each row");
    plan_file_write(&file, "s.regress.csv", plan_file_with(&file, text, "all,all,all,2,0.", "all,all,all,2,x."));
    REGRESS(2, file.path);
    program_has(program.err, "s.regress.csv:2:25: error: `x.");
    free(text);
}
END_TEST

/* It ends with what is decided; where that is nothing, nothing was compared. */
START_TEST(time_limit)
{
    regress_begin(SMALL);
    REGRESS(2, file.path, "--time-limit", "1 ns");
    program_has(program.out, "2 rows were not reached within 1 ns");
    program_has(program.err, "nothing was compared");
    REGRESS(0, file.path, "--time-limit", "1 h");
    REGRESS(2, file.path, "--time-limit", "90");
    program_has(program.err, "`--time-limit 90`: expected a time, such as '90 s'");
}
END_TEST

START_TEST(bad_words)
{
    static const struct {
        const char *words[4], *said;
    } cases[] = {
        {{"--paired"}, "`--paired` without `--head` or `--head-set`"},
        {{"--update", "--other-seeds", "3"}, "`--update` writes what the scenario gives as it is"},
        {{"-r", "3"}, "`--replications` is of a paired comparison"},
        {{"--format", "csv"}, "expected text or markdown"},
        {{"--head", "./nowhere.so"}, "cannot load the plug-in"},
        {{"--other-seeds", "0"}, "--other-seeds"},
    };

    regress_begin(SMALL);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *const *words = cases[i].words;

        REGRESS(2, file.path, words[0], words[1], words[2]);
        program_has(program.err, cases[i].said);
    }
}
END_TEST

/* A policy's wrong answer ends its file, with its point and replication, and no other. */
START_TEST(wrong_answer)
{
    char plugin[300];
    const char *path = program_plugin("nonsense.so", plugin, sizeof plugin);

    regress_begin(SMALL);
    plan_file_write(&file, "t.yaml", plan_file_with(&file, SMALL, "unbounded", "{nonsense: {what: hold_too_short}}"));
    REGRESS(2, in_folder("t.yaml"), file.path, "--plugin", path, "--update");
    program_has(program.err, "t.yaml: nonsense, replication 1: ");
    program_has(program.out, "s.regress.csv: 0 rows rewritten.\n");
}
END_TEST

Suite *regress_bad_suite(void)
{
    Suite *suite = suite_create("regress_bad");
    TCase *test = tcase_create("regress_bad");

    tcase_add_checked_fixture(test, setup, teardown);
    tcase_add_test(test, nothing_compared);
    tcase_add_test(test, missing_rows);
    tcase_add_test(test, all_files);
    tcase_add_test(test, partial_table);
    tcase_add_test(test, time_limit);
    tcase_add_test(test, bad_words);
    tcase_add_test(test, wrong_answer);
    suite_add_tcase(suite, test);
    return suite;
}
