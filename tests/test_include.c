/* test_include.c - the key `include:`: which value stands, where messages point, what is refused. */
#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "models/describe.h"
#include "tests/command_fixture.h"
#include "tests/suites.h"

static void write_in(const char *folder, const char *name, const char *text)
{
    mkdir(in_folder(folder), 0777);
    plan_file_write(&file, arena_format(&file.arena, "%s/%s", folder, name), text);
}

/* Folders are not emptied by the fixture. */
static void remove_folder(const char *folder, const char *const *names)
{
    for (; *names; names++)
        unlink(in_folder(arena_format(&file.arena, "%s/%s", folder, *names)));
    rmdir(in_folder(folder));
}

static const struct scenario *read_good(const char *text)
{
    ck_assert_msg(plan_file_read(&file, text, NULL, NULL), "%s", plan_file_said(&file));
    ck_assert_msg(file.diag.count == 0, "%s", plan_file_said(&file));
    return file.plan.points[0].scenario;
}

static void expect_said(const char *text, const char *said)
{
    ck_assert_msg(!plan_file_read(&file, text, NULL, NULL), "no message for\n%s", text);
    ck_assert_str_eq(plan_file_said(&file), said);
}

/* --- which value stands ------------------------------------------------------------------------------------------- */

START_TEST(below_the_own_keys)
{
    plan_file_write(&file, "below.yaml",
                    "study: {horizon: 100 s, warmup: 3 s, seed: 7}\n"
                    "backends:\n"
                    "  other: {kind: slots, servers: 1, rate: 1 tokens/s}\n"
                    "  card: {kind: slots, servers: 2, rate: 9 tokens/s}\n"
                    "agents: {coder: {population: 3, think: 1 s, output: 5, backend: card}}\n"
                    "policies: [fixed_cap: {cap: 1}, lifo]\n"
                    "notes: [one, two]\n");
    const struct scenario *scenario = read_good("include: below.yaml\n"
                                                "study: {warmup: 4 s}\n"
                                                "backends: {card: {servers: 8}}\n"
                                                "policies: [fixed_cap: {cap: 6}]\n"
                                                "notes: [three]\n");
    ck_assert_int_eq(scenario->study.horizon, 100 * SIM_SECOND);
    ck_assert_int_eq(scenario->study.warmup, 4 * SIM_SECOND);
    ck_assert_int_eq(scenario->study.seed, 7);
    /* the own ones first */
    ck_assert_uint_eq(scenario->backend_count, 2);
    ck_assert_str_eq(scenario->backends[0].name, "card");
    ck_assert_uint_eq(scenario->backends[0].servers, 8);
    ck_assert_double_eq(scenario->backends[0].speed[1], 9);
    ck_assert_str_eq(scenario->backends[1].name, "other");
    ck_assert_uint_eq(scenario->classes[0].population, 3);
    /* lists are not joined */
    ck_assert_str_eq(plan_file_points(&file), "fixed_cap[fixed_cap{cap: 6}]");
    ck_assert_uint_eq(file.plan.note_count, 1);
    ck_assert_str_eq(file.plan.notes[0], "three");
}
END_TEST

/* A later file before an earlier one, and what they include themselves below both. */
START_TEST(several_files)
{
    plan_file_write(&file, "a.yaml", "include: c.yaml\nstudy: {seed: 1, replications: 1}\n");
    plan_file_write(&file, "b.yaml", "include: [c.yaml]\nstudy: {seed: 2, warmup: 2 s}\n");
    plan_file_write(&file, "c.yaml", "study: {horizon: 30 s, seed: 3, replications: 3, warmup: 3 s}\n");
    const char *rest = "backends: {card: {kind: slots, servers: 8, rate: 39 tokens/s}}\n"
                       "agents: {coder: {population: 24, think: exponential(4.5 s), output: 120}}\n";
    const struct study *study = &read_good(arena_format(&file.arena, "include: [a.yaml, b.yaml]\n%s", rest))->study;
    ck_assert_int_eq(study->seed, 2);
    ck_assert_int_eq(study->replications, 3); /* of c through b, which goes before a */
    ck_assert_int_eq(study->warmup, 2 * SIM_SECOND);
    study = &read_good(arena_format(&file.arena, "include: [b.yaml, a.yaml]\n%s", rest))->study;
    ck_assert_int_eq(study->seed, 1);
    ck_assert_int_eq(study->replications, 1);
    ck_assert_int_eq(study->warmup, 3 * SIM_SECOND);
    ck_assert_uint_eq(file.plan.included_count, 4);
    read_good(arena_format(&file.arena, "include: []\n%s", plan_file_card));
}
END_TEST

/* Paths are meant from the file that names them: of files, columns, plug-ins. */
START_TEST(paths)
{
    static const char *const names[] = {"one.yaml", "two.yaml", "d.csv", NULL};
    write_in("sub", "one.yaml", "include: two.yaml\nstudy: {horizon: 30 s}\n");
    write_in("sub", "two.yaml",
             "include: ../three.yaml\nagents: {coder: {population: 24, think: empirical(d.csv s s), output: 120}}\n");
    write_in("sub", "d.csv", "s\n1\n3\n");
    plan_file_write(&file, "three.yaml", "backends: {card: {kind: slots, servers: 8, rate: 39 tokens/s}}\n");
    const struct scenario *scenario = read_good("include: sub/one.yaml\n");
    ck_assert_double_eq(dist_mean(scenario->classes[0].think), 2);
    /* an absolute one too */
    read_good(arena_format(&file.arena, "include: %s/sub/one.yaml\n", file.folder));
    remove_folder("sub", names);
}
END_TEST

static const struct policy_ops *load_nothing(const char *path, struct place place, struct diag *diag)
{
    diag_error(diag, place, "asked for %s", path);
    return NULL;
}

START_TEST(plugins_of_an_included_file)
{
    static const char *const names[] = {"one.yaml", NULL};
    write_in("sub", "one.yaml", "plugin: [stub.so]\n");
    file.load = load_nothing;
    expect_said(arena_format(&file.arena, "include: sub/one.yaml\n%s", plan_file_card),
                arena_format(&file.arena, "sub/one.yaml:1:10: asked for %s/sub/stub.so", file.folder));
    remove_folder("sub", names);
}
END_TEST

/* --- beside the rest ---------------------------------------------------------------------------------------------- */

static const char *printed(void)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    ck_assert_ptr_nonnull(out);
    describe_scenario(&file.plan, out);
    fclose(out);
    const char *kept = arena_text(&file.arena, text);
    free(text);
    return kept;
}

/* The hash is that of the whole document, --set reaches all of it, and what is printed needs no other file. */
START_TEST(one_document)
{
    const char *whole = arena_format(&file.arena, "%spolicies: [fixed_cap: {cap: 3}]\n", plan_file_card);
    const char *const sets[] = {"agents.coder.population=30", "policies.fixed_cap.cap=4", NULL};
    const char *split = "include: rest.yaml\npolicies: [fixed_cap: {cap: 3}]\n";
    uint64_t hash, set_hash;

    plan_file_write(&file, "rest.yaml", plan_file_card);
    read_good(whole);
    hash = file.plan.hash;
    ck_assert(plan_file_read(&file, whole, sets, NULL));
    set_hash = file.plan.hash;
    read_good(split);
    ck_assert_uint_eq(file.plan.hash, hash);
    const char *text = printed();
    ck_assert_ptr_nonnull(strstr(text, "# rest.yaml:1\n"));
    ck_assert_ptr_nonnull(strstr(text, "# s.yaml:2\n"));
    ck_assert_ptr_null(strstr(text, "include"));
    ck_assert(plan_file_read(&file, split, sets, NULL));
    ck_assert_uint_eq(file.plan.hash, set_hash);
    plan_file_write(&file, "rest.yaml", "");
    read_good(text);
    ck_assert_uint_eq(file.plan.hash, hash);
}
END_TEST

/* A fragment that a program prints: seeds of a policy for a scenario that gives the rest. */
START_TEST(a_fragment)
{
    plan_file_write(&file, "seeds.yaml", "# found\nbackends: {pool: {meters: {requests: {limit: 50/min}}}}\n");
    const struct scenario *scenario =
        read_good("include: seeds.yaml\nstudy: {horizon: 9 s}\n"
                  "backends: {pool: {kind: provider, latency: {base: 1 s}, meters: {requests: {burst: 7}}}}\n"
                  "agents: {coder: {population: 4, think: 1 s, output: 120}}\n");
    ck_assert_double_eq(scenario->backends[0].provider->meters[0].burst, 7);
    ck_assert_double_eq(scenario->backends[0].provider->meters[0].limit.values[0], 50.0 / 60);
}
END_TEST

START_TEST(nothing_is_written_over_it)
{
    plan_file_write(&file, "rest.yaml", plan_file_card);
    plan_file_write(&file, "s.yaml", "include: rest.yaml\n");
    PROGRAM_RUN(&program, NULL, "run", file.path, "-o", in_folder("rest.yaml"));
    ck_assert_int_eq(program.status, 2);
    program_has(program.err, "`--output` would overwrite the scenario, ");
    program_fini(&program);
    program_has(SAID("run", file.path, "-r", "2"), "unbounded");
}
END_TEST

/* --- mistakes ----------------------------------------------------------------------------------------------------- */

/* A message is about the file where the value stands, at its line and column. */
START_TEST(mistakes_in_included_files)
{
    plan_file_write(&file, "rest.yaml",
                    "# a comment\nbackends: {card: {kind: slots, servers: 0, rate: 39 tokens/s}}\n"
                    "agents: {coder: {population: 24, think: exponential(4.5), output: 120}}\n");
    expect_said(
        "study: {horizon: 1}\ninclude: rest.yaml\n",
        "s.yaml:1:18: study: horizon: expected a time from 1 ms to 25000 d, found '1' (a time needs its unit: ns us "
        "ms s min h d)\n"
        "rest.yaml:2:41: card: servers: expected a whole number from 1 to 100k, found '0'");
    plan_file_write(&file, "rest.yaml", "study: {horizn: 1 s}\n");
    expect_said(plan_file_with(&file,
                               "include: rest.yaml\nbackends: {card: {kind: slots, servers: 8, rate: 39/s}}\n"
                               "agents: {coder: {population: 24, think: 1 s, output: 120}}\n",
                               "39/s", "39 tokens/s"),
                "rest.yaml:1:9: study: unknown key 'horizn', did you mean horizon?");
    plan_file_write(&file, "rest.yaml", "studi: {horizon: 1 s}\n");
    ck_assert(!plan_file_read(&file, arena_format(&file.arena, "include: rest.yaml\n%s", plan_file_card), NULL, NULL));
    ck_assert_ptr_nonnull(strstr(plan_file_said(&file), "rest.yaml:1:1: unknown key 'studi', expected one of: "));
    plan_file_write(&file, "rest.yaml", "a: 1\na: 2\n");
    expect_said("include: rest.yaml\n", "rest.yaml:2:1: the key `a` again: it stands in line 1 already");
    plan_file_write(&file, "rest.yaml", "[1]\n");
    expect_said("include: rest.yaml\n",
                "rest.yaml:1:1: an included file: expected a mapping of keys to values, not a list");
    plan_file_write(&file, "rest.yaml", "");
    expect_said("include: rest.yaml\n",
                "rest.yaml:1:1: an included file: expected a mapping of keys to values, not nothing");
}
END_TEST

START_TEST(mistakes_of_the_key)
{
    plan_file_write(&file, "good.yaml", "title: good\n");
    expect_said("include:\n", "s.yaml:1:9: include: expected the name of a file, or a list of them, not nothing");
    expect_said("include: {a: 1}\n",
                "s.yaml:1:10: include: expected the name of a file, or a list of them, not a mapping");
    expect_said("include: \"\"\n",
                "s.yaml:1:10: include: expected the name of a file, or a list of them, not an empty one");
    /* of several files all are told of */
    expect_said("include: [good.yaml, no.yaml, [good.yaml], nor.yaml]\n",
                arena_format(&file.arena,
                             "s.yaml:1:22: cannot read %s/no.yaml: No such file or directory\n"
                             "s.yaml:1:31: include: expected the name of a file, or a list of them, not a list\n"
                             "s.yaml:1:44: cannot read %s/nor.yaml: No such file or directory",
                             file.folder, file.folder));
    expect_said(
        "include: .\n",
        arena_format(&file.arena, "s.yaml:1:10: cannot read %s/.: expected a file, this is a directory", file.folder));
    plan_file_write(&file, "next.yaml", "title: next\ninclude: [good.yaml, no.yaml]\n");
    expect_said(
        "include: next.yaml\n",
        arena_format(&file.arena, "next.yaml:2:22: cannot read %s/no.yaml: No such file or directory", file.folder));
}
END_TEST

START_TEST(circles)
{
    expect_said("include: s.yaml\n",
                arena_format(&file.arena, "s.yaml:1:10: include: %s/s.yaml would include itself: expected another file",
                             file.folder));
    plan_file_write(&file, "a.yaml", "include: b.yaml\n");
    plan_file_write(&file, "b.yaml", "title: x\ninclude: [./a.yaml]\n");
    expect_said("include: a.yaml\n",
                arena_format(&file.arena,
                             "b.yaml:2:11: include: %s/./a.yaml would include itself: expected another file",
                             file.folder));
    plan_file_write(&file, "b.yaml", "include: ./s.yaml\n");
    expect_said("include: a.yaml\n",
                arena_format(&file.arena,
                             "b.yaml:1:10: include: %s/./s.yaml would include itself: expected another file",
                             file.folder));
}
END_TEST

/* File 1 includes file 2, and so on: eight below the scenario are as many as there may be. */
START_TEST(depth)
{
    for (int i = 1; i <= 8; i++)
        plan_file_write(&file, arena_format(&file.arena, "%d.yaml", i),
                        i == 8 ? plan_file_card : arena_format(&file.arena, "include: %d.yaml\n", i + 1));
    read_good("include: 1.yaml\n");
    plan_file_write(&file, "8.yaml", "include: 9.yaml\n");
    plan_file_write(&file, "9.yaml", plan_file_card);
    expect_said("include: 1.yaml\n", "8.yaml:1:10: include: expected at most 8 files that include one another");
}
END_TEST

/* Files that each include the next one many times would be read without end. */
START_TEST(width)
{
    for (int i = 1; i <= 8; i++)
        plan_file_write(&file, arena_format(&file.arena, "%d.yaml", i),
                        i == 8
                            ? "title: x\n"
                            : arena_format(&file.arena, "include: [%d.yaml, %d.yaml, %d.yaml]\n", i + 1, i + 1, i + 1));
    ck_assert(!plan_file_read(&file, "include: 1.yaml\n", NULL, NULL));
    ck_assert_ptr_nonnull(strstr(plan_file_said(&file), ": include: expected at most 256 files in all"));
}
END_TEST

START_TEST(set_from_outside)
{
    const char *const sets[] = {"include=a.yaml", NULL};
    ck_assert(!plan_file_read(&file, plan_file_card, sets, NULL));
    ck_assert_str_eq(plan_file_said(&file),
                     "--set include:1:1: files are included before --set: expected the keys that are "
                     "to be set");
    ck_assert(
        !plan_file_read(&file, arena_format(&file.arena, "%ssweep: {include: [a, b]}\n", plan_file_card), NULL, NULL));
    ck_assert_ptr_nonnull(strstr(plan_file_said(&file), "include cannot be swept"));
}
END_TEST

Suite *include_suite(void)
{
    Suite *suite = suite_create("include");
    TCase *tests = tcase_create("include");

    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, below_the_own_keys);
    tcase_add_test(tests, several_files);
    tcase_add_test(tests, paths);
    tcase_add_test(tests, plugins_of_an_included_file);
    tcase_add_test(tests, one_document);
    tcase_add_test(tests, a_fragment);
    tcase_add_test(tests, nothing_is_written_over_it);
    tcase_add_test(tests, mistakes_in_included_files);
    tcase_add_test(tests, mistakes_of_the_key);
    tcase_add_test(tests, circles);
    tcase_add_test(tests, depth);
    tcase_add_test(tests, width);
    tcase_add_test(tests, set_from_outside);
    suite_add_tcase(suite, tests);
    return suite;
}
