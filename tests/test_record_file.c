/* test_record_file.c - the key `record:` and the file: what is asked for, what is refused, and that nothing else
 * changes. */
#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "tests/command_fixture.h"
#include "tests/suites.h"

static const char *record_path(void)
{
    return in_folder("fleet.csv");
}

/* A card under three alternatives, one factor that one of them does not have; three replications. */
static const char card[] = "study: {horizon: 400 s, warmup: 20 s, replications: 3}\n"
                           "backends: {card: {kind: slots, servers: 4, service: exponential(8 s)}}\n"
                           "agents: {coder: {population: 12, think: exponential(4.5 s)}}\n"
                           "policies:\n"
                           "  - unbounded\n"
                           "  - capped: [fixed_cap: {cap: 6}]\n"
                           "  - codel: {preset: slots, law: persist, sheds_at: submission}\n"
                           "sweep: {agents.coder.think: [\"uniform(1 s, 8 s)\", 9 s], policies.capped.cap: [5, 6]}\n";

static void write_card(const char *arguments)
{
    plan_file_write(&file, "s.yaml",
                    arena_format(&file.arena, "%srecord: {file: %s%s}\n", card, record_path(), arguments));
}

/* --- nothing else changes ----------------------------------------------------------------------------------------- */

static const char *hash_in(const char *meta)
{
    const char *hash = strstr(meta, "scenario_hash: ");
    ck_assert_ptr_nonnull(hash);
    return arena_text_of(&file.arena, hash, strcspn(hash, "\n"));
}

/* Samples come at all kinds of moments, also at those of other events. */
START_TEST(recording_changes_no_digit)
{
    static const char *const whats[] = {"20 ms, what: [waiting, codel.*]", "30 s", "1 s"};
    const char *log = in_folder("calls.csv"), *out = in_folder("out.csv");
    plan_file_write(&file, "s.yaml", card);
    const char *table = SAID("run", file.path, "--format", "csv", "--log", log, "-o", out);
    const char *calls = text_in(log), *hash = hash_in(text_in(in_folder("out.csv.meta")));
    write_card(arena_format(&file.arena, ", every: %s", whats[_i]));
    program_same(SAID("run", file.path, "--format", "csv", "--log", log, "-o", out), table);
    program_same(text_in(log), calls);
    program_same(text_in(out), table);
    ck_assert_str_eq(hash_in(text_in(in_folder("out.csv.meta"))), hash);
    ck_assert_int_gt(program_count(text_in(record_path()), "\n"), 8);
}
END_TEST

/* The first rows of points and replications, in this order. */
static void has_in_order(const char *record, const char *const *starts)
{
    for (const char *at = record; *starts; starts++) {
        at = strstr(at, arena_format(&file.arena, "\n%s,0,12,", *starts));
        ck_assert_msg(at != NULL, "no row %s in its place", *starts);
    }
}

START_TEST(rows_do_not_depend_on_threads)
{
    write_card(", every: 10 s");
    SAID("run", file.path, "-j", "1");
    const char *first = text_in(record_path());
    has_in_order(first, (const char *const[]){"unbounded,\"uniform(1 s, 8 s)\",,1", "unbounded,9 s,,1",
                                              "capped,\"uniform(1 s, 8 s)\",5,1", "capped,\"uniform(1 s, 8 s)\",6,1",
                                              "capped,9 s,5,1", "capped,9 s,6,1", "codel,\"uniform(1 s, 8 s)\",,1",
                                              "codel,9 s,,1", NULL});
    ck_assert_int_eq(program_count(first, "\n"), 1 + 8 * 41);
    program_lacks(first, ",2,0,12,");
    SAID("run", file.path, "-j", "7");
    program_same(text_in(record_path()), first);
    write_card(", every: 10 s, replications: all");
    SAID("run", file.path, "-j", "1");
    const char *all = text_in(record_path());
    has_in_order(all, (const char *const[]){"unbounded,\"uniform(1 s, 8 s)\",,1", "unbounded,\"uniform(1 s, 8 s)\",,2",
                                            "unbounded,\"uniform(1 s, 8 s)\",,3", "unbounded,9 s,,1", "codel,9 s,,2",
                                            "codel,9 s,,3", NULL});
    ck_assert_int_eq(program_count(all, "\n"), 1 + 8 * 3 * 41);
    SAID("run", file.path, "-j", "7");
    program_same(text_in(record_path()), all);
}
END_TEST

/* With --policy a name may be one of an alternative that was left out. */
START_TEST(fewer_alternatives_have_fewer_columns)
{
    write_card(", every: 100 s, what: [waiting, codel.refused]");
    SAID("run", file.path, "--policy", "capped");
    ck_assert_int_eq(strncmp(text_in(record_path()),
                             "policy,agents.coder.think,policies.capped.cap,replication,time,waiting\ncapped,", 72),
                     0);
    SAID("run", file.path, "--policy", "codel,unbounded");
    program_has(text_in(record_path()), ",replication,time,waiting,codel.refused\n");
}
END_TEST

/* --- what is asked for -------------------------------------------------------------------------------------------- */

/* What stands behind the card; the message's place and words. */
static const struct mistake {
    const char *record, *place, *words;
} mistakes[] = {
    {"{every: 0 s, file: f.csv}", "s.yaml:9:17", "every: expected a time from 1 ms to 25000 d, found '0 s'"},
    {"{every: 30, file: f.csv}", "s.yaml:9:17", "needs its unit"},
    {"{file: f.csv}", "s.yaml:9:9", "needs every: a time"},
    {"{every: 30 s}", "s.yaml:9:17", "needs file"},
    {"{every: 30 s, file: \"\"}", "s.yaml:9:29", "expected the name of a file"},
    {"{every: 30 s, file: f.csv, replications: 2}", "s.yaml:9:50", "expected a choice of: first, all"},
    {"{every: 30 s, file: f.csv, wat: held}", "s.yaml:9:36", "unknown key 'wat'"},
    {"[30 s]", "s.yaml:9:9", "record: expected a mapping"},
    {"{every: 30 s, file: f.csv, what: [waiting, waitin]}", "s.yaml:9:52",
     "there is no column waitin; did you mean waiting?"},
    {"{every: 30 s, file: f.csv, what: codl.*}", "s.yaml:9:42", "there is no column codl.*; did you mean codel.*?"},
    {"{every: 30 s, file: f.csv, what: codel.sojour}", "s.yaml:9:42", "did you mean codel.sojourn?"},
    {"{every: 30 s, file: f.csv, what: codel}", "s.yaml:9:42", "there is no column codel; did you mean codel.*?"},
    {"{every: 30 s, file: f.csv, what: wait.*}", "s.yaml:9:42", "there is no column wait.*; "},
    {"{every: 30 s, file: f.csv, what: .*}", "s.yaml:9:42", "there is no column .*; there are: tasks, held, "},
    {"{every: 30 s, file: f.csv, what: []}", "s.yaml:9:42", "expected names of columns"},
    {"{every: 30 s, file: f.csv, what: [{a: 1}]}", "s.yaml:9:43", "expected the name of a column"},
    {"{every: 1 ms, file: f.csv, replications: all}", "s.yaml:9:17",
     "9600024 rows of 13 columns are too many, 125 million numbers: expected at most 50 million"},
};

START_TEST(mistakes_are_explained)
{
    const struct mistake *mistake = &mistakes[_i];
    const char *yaml = arena_format(&file.arena, "%srecord: %s\n", card, mistake->record);
    ck_assert_msg(!plan_file_read(&file, yaml, NULL, NULL), "no message for %s", mistake->record);
    const char *said = plan_file_said(&file);
    size_t length = strlen(mistake->place);
    ck_assert_msg(file.diag.errors == 1, "%s", said);
    ck_assert_msg(strncmp(said, mistake->place, length) == 0 && said[length] == ':', "%s: expected it at %s", said,
                  mistake->place);
    ck_assert_msg(strstr(said, mistake->words) != NULL, "%s: expected the words `%s`", said, mistake->words);
}
END_TEST

/* A policy whose gauges are called as a count of gates and as a key of classes; its member as a gate or a class. */
START_TEST(no_two_columns_have_one_name)
{
    static const struct policy_gauge gauges[] = {{"held", POLICY_GAUGE_UINT64, .unit = "", .help = "nothing"},
                                                 {"population", POLICY_GAUGE_UINT64, .help = "nothing"},
                                                 {.name = NULL}};
    static const struct policy_ops odd = {POLICY_HEADER, .name = "odd", .summary = "has gauges", .gauges = gauges,
                                          .vars_size = sizeof(uint64_t)};
    static const struct policy_ops *const policies[] = {&odd, NULL};
    static const struct {
        const char *gate, *name, *scope, *twice;
    } cases[] = {{"x", "x", "all", "x.held"},
                 {"x", "z", "all", NULL},
                 {"x", "x", "gate", NULL},
                 {"agents", "a", "gate", "agents.a.population"}};
    const char *yaml = arena_format(&file.arena,
                                    "study: {horizon: 9 s}\n"
                                    "backends: {%s: {kind: slots, servers: 1, service: 1 s},\n"
                                    "           y: {kind: slots, servers: 1, service: 1 s}}\n"
                                    "agents: {a: {think: 1 s, backend: y}}\n"
                                    "policies: [odd: {name: %s, scope: %s}]\n"
                                    "sweep: {agents.a.population: [1, 2]}\n"
                                    "record: {every: 1 s, file: f.csv}\n",
                                    cases[_i].gate, cases[_i].name, cases[_i].scope);
    struct plan_request request = {.path = "s.yaml", .text = yaml, .policies = policies};
    struct plan plan;
    bool good = plan_read(&request, &plan, &file.diag);
    const char *expected = cases[_i].twice
                               ? arena_format(&file.arena,
                                              "s.yaml:7:9: record: two columns are called %s: expected another name "
                                              "for the policy, class, tenant or backend",
                                              cases[_i].twice)
                               : "";
    ck_assert_str_eq(plan_file_said(&file), expected);
    if (good)
        plan_fini(&plan);
}
END_TEST

START_TEST(it_can_be_set)
{
    plan_file_write(&file, "s.yaml", card);
    const char *set = arena_format(&file.arena, "record={every: 200 s, file: %s, what: held}", record_path());
    SAID("run", file.path, "--set", set, "--policy", "codel", "--set", "record.every=400 s");
    program_same(text_in(record_path()), "policy,agents.coder.think,replication,time,held\n"
                                         "codel,\"uniform(1 s, 8 s)\",1,0,0\ncodel,\"uniform(1 s, 8 s)\",1,400,0\n"
                                         "codel,9 s,1,0,0\ncodel,9 s,1,400,0\n");
    write_card(", every: 10 s");
    program_has(SAID("check", file.path), "\n  replications: first ");
}
END_TEST

/* --- the file ----------------------------------------------------------------------------------------------------- */

START_TEST(the_meta_explains_each_column)
{
    write_card(", every: 10 s");
    SAID("run", file.path);
    const char *record = text_in(record_path()), *meta = text_in(in_folder("fleet.csv.meta"));
    program_has(meta, "partial: false\n");
    program_has(meta, "\n  - name: codel.sojourn\n    role: value\n    unit: s\n");
    int columns = 1;
    for (const char *at = record; *at != '\n'; at++)
        columns += *at == ',';
    ck_assert_int_eq(program_count(meta, "  - name: "), columns);
    program_lacks(meta, "    meaning: \"\"\n");
}
END_TEST

/* The first design point is done at once, the second takes years. However slow the machine, some delay is enough. */
START_TEST(interrupted_it_has_what_was_finished)
{
    plan_file_write(&file, "s.yaml",
                    arena_format(&file.arena,
                                 "study: {horizon: 50 s, replications: 1}\n"
                                 "backends: {card: {kind: slots, servers: 2, service: exponential(1 s)}}\n"
                                 "agents: {coder: {population: 40, think: exponential(1 s)}}\n"
                                 "policies: [fixed_cap: {cap: 2}]\n"
                                 "sweep: {study.horizon: [50 s, 20000 d]}\n"
                                 "record: {every: 50 s, file: %s, what: waiting}\n",
                                 record_path()));
    program_interrupt(&program, (const char *const[]){"run", file.path, "-j2", NULL}, 100, "PARTIAL");
    ck_assert_int_eq(program.status, 130);
    program_has(text_in(in_folder("fleet.csv.meta")), "\npartial: true\n");
    const char *record = text_in(record_path());
    ck_assert_int_eq(program_count(record, "\n"), 3);
    program_has(record, "\nfixed_cap,50 s,1,50,");
}
END_TEST

static void expect_failure(const char *words)
{
    ck_assert_int_eq(program.status, 2);
    program_has(program.err, words);
    program_fini(&program);
}

/* To the program a limit on the size of files is a full disk; what was there before stays. */
START_TEST(a_full_disk_leaves_the_old_file)
{
    struct rlimit was, limit;
    plan_file_write(&file, "fleet.csv", "old\n");
    write_card(", every: 1 s");
    ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &was), 0);
    limit = (struct rlimit){1 << 14, was.rlim_max};
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
    PROGRAM_RUN(&program, NULL, "run", file.path);
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &was), 0);
    program_has(program.out, "unbounded");
    expect_failure(arena_format(&file.arena, "cannot write `%s`: ", record_path()));
    program_same(text_in(record_path()), "old\n");
}
END_TEST

START_TEST(no_file_after_an_error)
{
    struct stat there;
    plan_file_write(&file, "s.yaml", card);
    static const char endless[] = "study.horizon=100000000 s";
    const char *nowhere = in_folder("none/fleet.csv");
    PROGRAM_RUN(&program, NULL, "run", file.path, "--set", endless, "--set",
                arena_format(&file.arena, "record={every: 25000 s, file: %s}", nowhere));
    expect_failure(arena_format(&file.arena, "cannot write `%s`: ", nowhere));
    PROGRAM_RUN(&program, NULL, "run", file.path, "--set", "record={every: 10 s, file: /dev/full}");
    expect_failure("cannot write `/dev/full`: ");
    write_card(", every: 10 s");
    PROGRAM_RUN(&program, NULL, "run", file.path, "-o", record_path());
    expect_failure("`--output` and the scenario's record name the same file");
    PROGRAM_RUN(&program, NULL, "run", file.path, "--log", record_path());
    expect_failure("`--log` and the scenario's record name the same file");
    ck_assert_int_ne(stat(record_path(), &there), 0);
    ck_assert_int_ne(stat(in_folder("fleet.csv.meta"), &there), 0);
}
END_TEST

/* Nothing is written over the scenario. */
START_TEST(the_scenario_is_spared)
{
    const char *yaml =
        arena_format(&file.arena, "study: {horizon: 50 s, replications: 1}\n"
                                  "backends: {card: {kind: slots, servers: 2, service: exponential(1 s)}}\n"
                                  "agents: {coder: {population: 4, think: exponential(1 s)}}\n");
    const char *set;
    plan_file_write(&file, "s.yaml", yaml);
    set = arena_format(&file.arena, "record={every: 10 s, file: %s}", file.path);
    PROGRAM_RUN(&program, NULL, "run", file.path, "--set", set);
    ck_assert_int_eq(program.status, 2);
    program_has(program.err, "record would overwrite the scenario");
    program_fini(&program);
    PROGRAM_RUN(&program, NULL, "run", file.path, "-o", file.path);
    ck_assert_int_eq(program.status, 2);
    program_has(program.err, "`--output` would overwrite the scenario");
    ck_assert_str_eq(text_in(file.path), yaml);
}
END_TEST

/* However a file is called: two outputs do not go into one, and none into one that is read; also companions. */
START_TEST(files_are_spared_by_any_name)
{
    const char *folder = strrchr(file.folder, '/') + 1;
    const char *round = arena_format(&file.arena, "%s/../%s/t.csv", file.folder, folder);
    const char *data = in_folder("data.csv");
    plan_file_write(&file, "data.csv", "v\n3\n4\n");
    plan_file_write(&file, "s.yaml",
                    "study: {horizon: 50 s, replications: 1}\n"
                    "backends: {card: {kind: slots, servers: 2, service: exponential(1 s)}}\n"
                    "agents: {coder: {population: 4, think: empirical(data.csv v s)}}\n");
    PROGRAM_RUN(&program, NULL, "run", file.path, "-o", in_folder("t.csv"), "--log", round);
    expect_failure("`--output` and `--log` name the same file");
    PROGRAM_RUN(&program, NULL, "run", file.path, "-o", in_folder("t.csv"), "--set",
                arena_format(&file.arena, "record={every: 10 s, file: %s.meta}", round));
    expect_failure("`--output` and the scenario's record name the same file");
    PROGRAM_RUN(&program, NULL, "run", file.path, "-o", data);
    expect_failure("`--output` would overwrite data of the scenario");
    ck_assert_str_eq(text_in(data), "v\n3\n4\n");
}
END_TEST

/* What is printed goes into no file that is opened where standard output was. */
START_TEST(a_closed_output_spoils_no_file)
{
    write_card(", every: 10 s");
    const char *log = in_folder("calls.csv");
    const char *line =
        arena_format(&file.arena, "\"$WEIR\" run '%s' --log '%s' 2>'%s' >&-", file.path, log, in_folder("err.txt"));
    ck_assert_int_eq(WEXITSTATUS(system(line)), 2);
    program_has(text_in(in_folder("err.txt")), "cannot write `standard output`");
    program_lacks(text_in(log), "goodput");
    program_lacks(text_in(record_path()), "goodput");
}
END_TEST

Suite *record_file_suite(void)
{
    Suite *suite = suite_create("record_file");
    TCase *tests = tcase_create("record_file");
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_loop_test(tests, recording_changes_no_digit, 0, 3);
    tcase_add_test(tests, rows_do_not_depend_on_threads);
    tcase_add_test(tests, fewer_alternatives_have_fewer_columns);
    tcase_add_loop_test(tests, mistakes_are_explained, 0, (int)(sizeof mistakes / sizeof *mistakes));
    tcase_add_loop_test(tests, no_two_columns_have_one_name, 0, 4);
    tcase_add_test(tests, it_can_be_set);
    tcase_add_test(tests, the_meta_explains_each_column);
    tcase_add_test(tests, interrupted_it_has_what_was_finished);
    tcase_add_test(tests, a_full_disk_leaves_the_old_file);
    tcase_add_test(tests, no_file_after_an_error);
    tcase_add_test(tests, the_scenario_is_spared);
    tcase_add_test(tests, files_are_spared_by_any_name);
    tcase_add_test(tests, a_closed_output_spoils_no_file);
    suite_add_tcase(suite, tests);
    return suite;
}
