/* test_decisions.c - the logs that `record:` asks for beside samples: rows that policies write, and values that are
 * set. By hand, the same for any number of threads, and without any other digit being another one. */
#include <check.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "models/decisions.h"
#include "models/trial.h"
#include "policies/registry.h"
#include "tests/decisions_fixture.h"
#include "tests/model.h"
#include "tests/suites.h"

static char library[512];

static const char *decisions(void)
{
    return in_folder("decisions.csv");
}

static const char *audit(void)
{
    return in_folder("audit.csv");
}

static void run(const char *yaml)
{
    plan_file_write(&file, "s.yaml", yaml);
    SAID("run", file.path, "--plugin", program_plugin("scribe.so", library, sizeof library));
}

static const char *record(const char *more)
{
    return arena_format(&file.arena, "record: {decisions: %s%s}\n", decisions(), more);
}

/* --- decisions ---------------------------------------------------------------------------------------------------- */

START_TEST(rows_by_hand)
{
    run(two_gates("it: [scribe: {at: x, every: 1.5 s}], unbounded", record("")));
    program_same(text_in(decisions()), "policy,replication,time,member,gate,copy,mode,in_service,level,part\n"
                                       "it,1,0,scribe,x,,tick,0,1,0.3333333333333333\n"
                                       "it,1,1.5,scribe,x,,tick,1,1,\n"
                                       "it,1,3,scribe,x,,\"up, slowly\",1,1.5,1\n");
    const char *meta = text_in(in_folder("decisions.csv.meta"));
    program_has(meta, "\n  - name: in_service\n    role: value\n    unit: calls\n");
    program_has(meta, "meaning: \"what it is: tick, up, slowly, call\"\n");
    program_has(meta, "\n  - name: time\n    role: key\n    unit: s\n");
    program_lacks(meta, "    meaning: \"\"\n");
}
END_TEST

/* Rows of all copies in the order of their writing; of all replications where that is asked for. */
START_TEST(rows_of_copies)
{
    run(two_gates(
        "it: [scribe: {scope: agent, every: 10 s, asks: true}, scribe: {name: other, scope: all, every: 2 s}]",
        record(", replications: all")));
    const char *one = "it,1,0,other,,,tick,0,1,0.3333333333333333\n"
                      "it,1,0.75,scribe,x,p.0,call,0,1,\n"
                      "it,1,0.75,scribe,x,p.0,tick,1,1,0.3333333333333333\n"
                      "it,1,2,other,,,tick,0,1,\n"
                      "it,1,2.5,scribe,x,p.0,call,0,1,0.3333333333333333\n"
                      "it,1,3,scribe,y,q.0,call,0,1,\n"
                      "it,1,3,scribe,y,q.0,tick,1,1,0.3333333333333333\n"
                      "it,1,4,other,,,\"up, slowly\",0,1.5,1\n";
    const char *rows = text_in(decisions());
    program_has(rows, arena_format(&file.arena,
                                   "policy,replication,time,member,gate,copy,mode,in_service,level,part\n%s", one));
    ck_assert_int_eq(program_count(rows, "\nit,2,"), 8);
    run(two_gates("it: [scribe: {scope: tenant, at: y, every: 5 s}]", record("")));
    program_has(text_in(decisions()), "\nit,1,0,scribe,y,default,tick,0,1,");
    program_has(text_in(decisions()), "\nit,1,0,scribe,y,blue,tick,0,1,");
}
END_TEST

/* What has no limit is inf in each of the files, and a picture of them leaves it out. */
START_TEST(no_limit)
{
    static const char chain[] =
        "all: [planner, pacer: {r_tok: inf, c_burst: inf, k_inflight: inf, r_qps: inf, c_req: inf, seed_age: inf}, "
        "token_bucket: {meter: requests, rate: inf, burst: inf}, cost_bucket: {rate: inf, burst: inf}, retry_budget: "
        "{least: inf}]";
    const char *samples = in_folder("samples.csv"), *drawn = in_folder("pictures");
    const char *record = arena_format(&file.arena,
                                      "record: {every: 2 s, file: %s, decisions: %s, audit: %s}\n"
                                      "changes: [{at: 1 s, set: policies.all.planner.override, to: 9},\n"
                                      "  {at: 2 s, set: policies.all.planner.override, to: inf}]\n",
                                      samples, decisions(), audit());
    plan_file_write(&file, "s.yaml", two_gates(chain, record));
    PROGRAM_RUN(&program, NULL, "run", file.path);
    ck_assert_int_eq(program.status, 0);
    ck_assert_str_eq(program.err, arena_format(&file.arena,
                                               "weir: wrote %s and .meta\nweir: wrote %s and .meta\nweir: wrote %s and "
                                               ".meta\n",
                                               samples, decisions(), audit()));
    program_fini(&program);
    const char *const files[] = {samples, decisions(), audit()};
    for (size_t i = 0; i < 3; i++) {
        const char *text = text_in(files[i]);
        program_lacks(text, "922337203");
        ck_assert_msg(program_count(text, "inf") > 1, "%s", text);
    }
    static const char *const gauges[] = {"x.token_bucket.level", "x.cost_bucket.level", "x.retry_budget.left",
                                         "x.pacer.level_tok", "planner.ceiling_override"};
    for (size_t i = 0; i < sizeof gauges / sizeof *gauges; i++) {
        plan_file_write(&file, "s.yaml",
                        two_gates(chain, arena_format(&file.arena, "record: {every: 2 s, file: %s, what: [%s]}\n",
                                                      samples, gauges[i])));
        SAID("run", file.path);
        program_has(text_in(samples), "all,1,4,inf\n");
    }
    PROGRAM_RUN(&program, NULL, "plot", samples, "-y", "planner.ceiling_override", "-o", drawn);
    ck_assert_int_eq(program.status, 2);
    program_has(program.err, "`planner.ceiling_override` has no finite value");
}
END_TEST

/* A sweep, and alternatives of other members: cells of columns that a member does not have are empty. */
START_TEST(rows_of_points)
{
    run(two_gates("one: [scribe: {every: 4 s, at: x}], unbounded",
                  arena_format(&file.arena,
                               "%ssweep: {agents.p.think: [1 s, 2 s], policies.one.scribe.level: [3, 4]}\n",
                               record(""))));
    program_has(text_in(decisions()),
                "policy,agents.p.think,policies.one.scribe.level,replication,time,member,gate,copy,");
    program_has(text_in(decisions()), "\none,1 s,3,1,4,scribe,x,,tick,1,3,\none,1 s,4,1,0,scribe,x,,tick,0,4,");
    ck_assert_int_eq(program_count(text_in(decisions()), "\n"), 9);
}
END_TEST

/* --- audit -------------------------------------------------------------------------------------------------------- */

START_TEST(audit_by_hand)
{
    run(two_gates(
        "it: [scribe: {every: 1 s}]",
        arena_format(&file.arena,
                     "record: {audit: %s}\n"
                     "changes: [{at: 1.5 s, set: policies.it.level, to: 7, reason: \"first, \\\"by hand\\\"\"},\n"
                     "  {at: 3.25 s, set: agents.p.think, to: 2 s}]\n",
                     audit())));
    program_same(text_in(audit()), "policy,replication,time,key,gate,copy,old,new,by,reason\n"
                                   "it,1,1.5,policies.it.scribe.level,x,,1,7,operator,\"first, \"\"by hand\"\"\"\n"
                                   "it,1,1.5,policies.it.scribe.level,y,,1,7,operator,\"first, \"\"by hand\"\"\"\n"
                                   "it,1,2,policies.it.scribe.level,x,,7,7.5,scribe,\"its third, \"\"again\"\"\"\n"
                                   "it,1,2,policies.it.scribe.level,y,,7,7.5,scribe,\"its third, \"\"again\"\"\"\n"
                                   "it,1,3.25,agents.p.think,,,0.75 s,2 s,operator,\n");
    program_lacks(text_in(in_folder("audit.csv.meta")), "    meaning: \"\"\n");
}
END_TEST

/* --- nothing else changes ----------------------------------------------------------------------------------------- */

static const char *fleet(const char *rest)
{
    return arena_format(&file.arena,
                        "study: {horizon: 400 s, replications: 6}\n"
                        "backends: {pool: {kind: provider, meters: {requests: 60/min}, latency: {base: 1 s}}}\n"
                        "agents: {p: {population: 8, think: exponential(3 s), output: 1}}\n"
                        "policies: [it: [scribe: {every: 700 ms, asks: true, scope: agent}], fixed_cap: {cap: 3}]\n"
                        "sweep: {agents.p.population: [4, 8]}\n"
                        "changes: [{at: 100 s, set: policies.*.scribe.level, to: 4},\n"
                        "  {at: 200 s, set: policies.fixed_cap.cap, to: 5}]\n%s",
                        rest);
}

START_TEST(recording_changes_no_digit)
{
    program_plugin("scribe.so", library, sizeof library);
    plan_file_write(&file, "s.yaml", fleet(""));
    const char *table = SAID("run", file.path, "--plugin", library, "--format", "csv", "--columns", "all");
    plan_file_write(&file, "s.yaml",
                    fleet(arena_format(&file.arena, "record: {decisions: %s, audit: %s, replications: all}\n",
                                       decisions(), audit())));
    program_same(SAID("run", file.path, "--plugin", library, "--format", "csv", "--columns", "all"), table);
}
END_TEST

START_TEST(the_same_for_any_number_of_threads)
{
    static const char *const threads[] = {"1", "2", "5"};
    const char *rows[3], *sets[3];
    program_plugin("scribe.so", library, sizeof library);
    plan_file_write(&file, "s.yaml",
                    fleet(arena_format(&file.arena, "record: {decisions: %s, audit: %s, replications: all}\n",
                                       decisions(), audit())));
    for (size_t i = 0; i < 3; i++) {
        SAID("run", file.path, "--plugin", library, "-j", threads[i]);
        rows[i] = text_in(decisions());
        sets[i] = text_in(audit());
        program_same(rows[i], rows[0]);
        program_same(sets[i], sets[0]);
    }
    ck_assert_int_gt(program_count(rows[0], "\n"), 10000);
    ck_assert_int_gt(program_count(sets[0], "\n"), 1000);
    /* design points and replications in their order */
    const char *at = rows[0];
    for (unsigned population = 4; population <= 8; population += 4)
        for (unsigned replication = 1; replication <= 6; replication++) {
            at = strstr(at, arena_format(&file.arena, "\nit,%u,%u,", population, replication));
            ck_assert_ptr_nonnull(at);
        }
}
END_TEST

/* --- wrong answers ------------------------------------------------------------------------------------------------ */

static const struct {
    const char *word, *words;
} wrong_words[] = {
    {"3",
     "policy `scribe`, callback `tick`, at 0.000000000 s: it wrote a row with mode 3: expected the index of one of "
     "its words"},
    {"1000k", "with mode 1000000: expected the index of one of its words"},
};

/* Whether it is recorded or not. */
START_TEST(no_such_word)
{
    const char *policies = arena_format(&file.arena, "it: [scribe: {word: %s}]", wrong_words[_i].word);
    struct stat there;
    program_plugin("scribe.so", library, sizeof library);
    plan_file_write(&file, "s.yaml", two_gates(policies, record("")));
    PROGRAM_RUN(&program, NULL, "run", file.path, "--plugin", library);
    ck_assert_int_eq(program.status, 2);
    program_has(program.err, wrong_words[_i].words);
    program_fini(&program);
    ck_assert_int_ne(stat(decisions(), &there), 0);
    plan_file_write(&file, "s.yaml", two_gates(policies, ""));
    PROGRAM_RUN(&program, NULL, "run", file.path, "--plugin", library);
    ck_assert_int_eq(program.status, 2);
    program_has(program.err, wrong_words[_i].words);
    program_fini(&program);
    run(two_gates("it: [scribe: {word: 2}]", record("")));
    program_has(text_in(decisions()), ",scribe,x,,call,0,1,");
}
END_TEST

/* --- what is asked for -------------------------------------------------------------------------------------------- */

static const struct {
    const char *record, *said;
} mistakes[] = {
    {"{}", "s.yaml:10:9: record: expected file and every, decisions, audit or alerts"},
    {"{replications: all}", "s.yaml:10:9: record: expected file and every, decisions, audit or alerts"},
    {"{audit: a.csv, every: 3 s}", "s.yaml:10:31: record: needs file: a text for the samples"},
    {"{audit: a.csv, what: held}", "s.yaml:10:30: record: needs file: a text for the samples"},
    {"{audit: \"\"}", "s.yaml:10:17: record: audit: expected the name of a file, such as fleet.csv"},
    {"{audit: a.csv, decisions: a.csv}",
     "s.yaml:10:17: record: audit: decisions has this file already (line 10): expected another"},
    {"{file: a.csv, every: 1 s, audit: a.csv}",
     "s.yaml:10:42: record: audit: file has this file already (line 10): expected another"},
    {"{decisions: a.csv}", "s.yaml:10:21: record: decisions: expected a policy that writes some, and there is none"},
};

START_TEST(mistakes_are_explained)
{
    ck_assert(!plan_file_read(
        &file, two_gates("fixed_cap: {cap: 3}", arena_format(&file.arena, "\nrecord: %s\n", mistakes[_i].record)), NULL,
        NULL));
    ck_assert_str_eq(plan_file_said(&file), mistakes[_i].said);
}
END_TEST

/* Of an alternative that has none the log has no rows, and where it was chosen with --policy no columns either. */
START_TEST(fewer_alternatives)
{
    plan_file_write(&file, "s.yaml", two_gates("it: [scribe], fixed_cap: {cap: 3}", record("")));
    PROGRAM_RUN(&program, NULL, "run", file.path, "--plugin", program_plugin("scribe.so", library, sizeof library),
                "--policy", "fixed_cap");
    ck_assert_int_eq(program.status, 0);
    program_fini(&program);
    program_same(text_in(decisions()), "policy,replication,time,member,gate,copy\n");
}
END_TEST

static void expect_failure(const char *words)
{
    ck_assert_int_eq(program.status, 2);
    program_has(program.err, words);
    program_fini(&program);
}

START_TEST(files_that_cannot_be)
{
    const char *nowhere = in_folder("none/audit.csv");
    struct stat there;
    program_plugin("scribe.so", library, sizeof library);
    plan_file_write(&file, "s.yaml",
                    two_gates("it: [scribe]", arena_format(&file.arena, "record: {audit: %s}\n", nowhere)));
    PROGRAM_RUN(&program, NULL, "run", file.path, "--plugin", library);
    expect_failure(arena_format(&file.arena, "cannot write `%s`: ", nowhere));
    plan_file_write(&file, "s.yaml", two_gates("it: [scribe]", record("")));
    PROGRAM_RUN(&program, NULL, "run", file.path, "--plugin", library, "--log", decisions());
    expect_failure("`--log` and the scenario's log of decisions name the same file");
    PROGRAM_RUN(&program, NULL, "run", file.path, "--plugin", library, "--set",
                arena_format(&file.arena, "record={audit: %s}", file.path));
    expect_failure("the scenario's audit would overwrite the scenario");
    ck_assert_int_ne(stat(decisions(), &there), 0);
}
END_TEST

/* To the program a limit on the size of files is a full disk; what was there before stays. */
START_TEST(a_full_disk_leaves_the_old_file)
{
    struct rlimit was, limit;
    program_plugin("scribe.so", library, sizeof library);
    plan_file_write(&file, "decisions.csv", "old\n");
    plan_file_write(&file, "s.yaml",
                    fleet(arena_format(&file.arena, "record: {decisions: %s, replications: all}\n", decisions())));
    ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &was), 0);
    limit = (struct rlimit){1 << 14, was.rlim_max};
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
    PROGRAM_RUN(&program, NULL, "run", file.path, "--plugin", library);
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &was), 0);
    expect_failure(arena_format(&file.arena, "the log of decisions `%s` cannot be written: ", decisions()));
    program_same(text_in(decisions()), "old\n");
}
END_TEST

#define COUNT_OF(array) ((int)(sizeof(array) / sizeof *(array)))

Suite *decisions_suite(void)
{
    Suite *suite = suite_create("decisions");
    TCase *tests = tcase_create("decisions");

    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, rows_by_hand);
    tcase_add_test(tests, rows_of_copies);
    tcase_add_test(tests, no_limit);
    tcase_add_test(tests, rows_of_points);
    tcase_add_test(tests, audit_by_hand);
    tcase_add_test(tests, recording_changes_no_digit);
    tcase_add_test(tests, the_same_for_any_number_of_threads);
    tcase_add_loop_test(tests, no_such_word, 0, COUNT_OF(wrong_words));
    tcase_add_loop_test(tests, mistakes_are_explained, 0, COUNT_OF(mistakes));
    tcase_add_test(tests, fewer_alternatives);
    tcase_add_test(tests, files_that_cannot_be);
    tcase_add_test(tests, a_full_disk_leaves_the_old_file);
    suite_add_tcase(suite, tests);
    return suite;
}
