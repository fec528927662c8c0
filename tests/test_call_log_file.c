/* test_call_log_file.c - the log of calls as a file: its order, what its .meta says, and when there is none. */
#include <check.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "tests/call_log_fixture.h"
#include "tests/suites.h"

static const char card[] = "study: {horizon: 300 s, warmup: 20 s, replications: 3}\n"
                           "backends: {card: {kind: slots, servers: 2, service: exponential(2 s)}}\n"
                           "agents: {coder: {population: 4, think: exponential(4.5 s)}}\n"
                           "policies:\n"
                           "  - unbounded\n"
                           "  - capped: [fixed_cap: {cap: 3}]\n"
                           "sweep: {agents.coder.think: [\"uniform(1 s, 8 s)\", 9 s]}\n";

/* The first rows of points and replications, in this order. */
static void has_in_order(const char *log, const char *const *starts)
{
    for (const char *at = log; *starts; starts++) {
        at = strstr(at, arena_format(&file.arena, "\n%s,coder,", *starts));
        ck_assert_msg(at != NULL, "no row %s in its place", *starts);
    }
}

START_TEST(rows_do_not_depend_on_threads)
{
    plan_file_write(&file, "s.yaml", card);
    const char *table = SAID("run", file.path, "--format", "csv");
    program_same(SAID("run", file.path, "--format", "csv", "--log", log_path(), "-j", "1"), table);
    const char *first = text_in(log_path());
    ck_assert_int_eq(strncmp(first, "policy,agents.coder.think," HEADER, 26 + sizeof HEADER - 1), 0);
    has_in_order(first, (const char *const[]){"unbounded,\"uniform(1 s, 8 s)\",1", "unbounded,9 s,1",
                                              "capped,\"uniform(1 s, 8 s)\",1", "capped,9 s,1", NULL});
    program_lacks(first, ",2,coder,");
    SAID("run", file.path, "--log", log_path(), "-j", "7");
    program_same(text_in(log_path()), first);
    SAID("run", file.path, "--log", log_path(), "-j", "1", "--log-replications", "all");
    const char *all = text_in(log_path());
    has_in_order(all, (const char *const[]){"unbounded,\"uniform(1 s, 8 s)\",1", "unbounded,\"uniform(1 s, 8 s)\",2",
                                            "unbounded,\"uniform(1 s, 8 s)\",3", "unbounded,9 s,1",
                                            "capped,\"uniform(1 s, 8 s)\",1", "capped,9 s,3", NULL});
    SAID("run", file.path, "--log", log_path(), "-j", "7", "--log-replications", "all");
    program_same(text_in(log_path()), all);
}
END_TEST

START_TEST(the_meta_explains_each_column)
{
    plan_file_write(&file, "s.yaml", card);
    SAID("run", file.path, "--log", log_path());
    const char *log = text_in(log_path()), *meta = text_in(in_folder("calls.csv.meta"));
    program_has(meta, "partial: false\n");
    program_has(meta, "\n  - name: submitted\n    role: value\n    unit: s\n");
    int columns = 1;
    for (const char *at = log; *at != '\n'; at++)
        columns += *at == ',';
    ck_assert_int_eq(program_count(meta, "  - name: "), columns);
    program_lacks(meta, "    meaning: \"\"\n");
}
END_TEST

/* The first design point is done at once, the second takes years. */
START_TEST(interrupted_it_has_what_was_finished)
{
    plan_file_write(&file, "s.yaml",
                    "study: {horizon: 50 s, replications: 1}\n"
                    "backends: {card: {kind: slots, servers: 2, service: exponential(1 s)}}\n"
                    "agents: {coder: {population: 40, think: exponential(1 s)}}\n"
                    "policies: [fixed_cap: {cap: 2}]\n"
                    "sweep: {study.horizon: [50 s, 20000 d]}\n");
    program_interrupt(&program, (const char *const[]){"run", file.path, "-j2", "--log", log_path(), NULL}, 100,
                      "PARTIAL");
    ck_assert_int_eq(program.status, 130);
    program_has(text_in(in_folder("calls.csv.meta")), "\npartial: true\n");
    const char *log = text_in(log_path());
    program_has(log, "\nfixed_cap,50 s,1,coder,");
    program_lacks(log, "20000 d");
}
END_TEST

static void expect_failure(const char *words)
{
    ck_assert_int_eq(program.status, 2);
    program_has(program.err, words);
    program_fini(&program);
}

/* To the program a limit on the size of files is a disk that is full while rows still come. */
START_TEST(a_full_disk_ends_the_run)
{
    struct rlimit was, limit;
    struct stat there;
    plan_file_write(&file, "s.yaml", card);
    ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &was), 0);
    limit = (struct rlimit){1 << 20, was.rlim_max};
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
    PROGRAM_RUN(&program, NULL, "run", file.path, "--set", "study.horizon=100000 s", "--log", log_path());
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &was), 0);
    expect_failure(arena_format(&file.arena, "the log `%s` cannot be written: ", log_path()));
    ck_assert_int_ne(stat(log_path(), &there), 0);
}
END_TEST

START_TEST(no_file_after_an_error)
{
    char library[512];
    struct stat there;
    plan_file_write(&file, "s.yaml", card);
    const char *nowhere = in_folder("none/calls.csv");
    PROGRAM_RUN(&program, NULL, "run", file.path, "--set", "study.horizon=100000000 s", "--log", nowhere);
    expect_failure(arena_format(&file.arena, "cannot write `%s`: ", nowhere));
    if (program_full_disk()) {
        PROGRAM_RUN(&program, NULL, "run", file.path, "--log", "/dev/full");
        expect_failure("cannot write `/dev/full`: ");
    }
    PROGRAM_RUN(&program, NULL, "run", file.path, "--log", log_path(), "-o", log_path());
    expect_failure("`--log` and `--output` name the same file");
    PROGRAM_RUN(&program, NULL, "run", file.path, "--log", log_path(), "--log-replications", "2");
    expect_failure("`--log-replications 2`: expected 1 or all");
    PROGRAM_RUN(&program, NULL, "run", file.path, "--log-replications", "all");
    expect_failure("without `--log CALLS.csv`");
    PROGRAM_RUN(&program, NULL, "run", file.path, "--log", log_path(), "--plugin",
                program_plugin("nonsense.so", library, sizeof library), "--policy", "unbounded,nonsense");
    expect_failure("nonsense");
    ck_assert_int_ne(stat(log_path(), &there), 0);
    ck_assert_int_ne(stat(in_folder("calls.csv.meta"), &there), 0);
}
END_TEST

Suite *call_log_file_suite(void)
{
    Suite *suite = suite_create("call_log_file");
    TCase *tests = tcase_create("call_log_file");

    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, rows_do_not_depend_on_threads);
    tcase_add_test(tests, the_meta_explains_each_column);
    tcase_add_test(tests, interrupted_it_has_what_was_finished);
    tcase_add_test(tests, a_full_disk_ends_the_run);
    tcase_add_test(tests, no_file_after_an_error);
    suite_add_tcase(suite, tests);
    return suite;
}
