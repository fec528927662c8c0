/* test_new.c - the starters of `weir new` run as they are, by the lines that weir itself prints. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "policies/registry.h"
#include "tests/command_fixture.h"
#include "tests/suites.h"

/* For a shell in the test's folder. */
static void shell(const char *line)
{
    const char *whole = arena_format(&file.arena, "cd '%s' && %s", file.folder, line);
    ck_assert_msg(system(whole) == 0, "failed: %s", whole);
}

static void expect_small(const char *text)
{
    ck_assert_int_le(program_count(text, "\n"), 25);
    ck_assert_int_eq(text[strlen(text) - 1], '\n');
    for (const char *line = text; *line; line += strcspn(line, "\n") + 1)
        ck_assert_msg(strcspn(line, "\n") <= 100, "%.*s", (int)strcspn(line, "\n"), line);
}

static const char *card(const char *name)
{
    plan_file_write(&file, "s.yaml", name ? SAID("new", "card", name) : SAID("new", "card"));
    return file.path;
}

/* Takes a plug-in of that name through the compiler line of `weir help plugin`, which is written for `mine`. */
static const char *compiled(const char *name)
{
    const char *help = SAID("help", "plugin"), *line = strstr(help, "\n  cc ");
    ck_assert_msg(line != NULL, "no compiler line in:\n%s", help);
    line = arena_text_of(&file.arena, line + 3, strcspn(line + 3, "\n"));
    program_has(line, " -o mine.so mine.c");
    plan_file_write(&file, "mine.c", SAID("new", "policy", name));
    const char *compiler = getenv("CC");
    line = arena_format(&file.arena, "%s -Werror%s", compiler && *compiler ? compiler : "cc", line + strlen("cc"));
    shell(line);
    return in_folder("mine.so");
}

START_TEST(what_there_is)
{
    const char *list = SAID("new");
    program_has(list, "weir new card [NAME] >mine.yaml ");
    program_has(list, "weir new pool [NAME] >mine.yaml ");
    program_has(list, "weir new policy NAME >mine.c ");
    ck_assert_int_eq(program_count(list, "\n"), 3);
}
END_TEST

START_TEST(card_runs)
{
    const char *text = SAID("new", "card");
    expect_small(text);
    program_has(text, "throughput: {1: 56 tokens/s, 8: 311 tokens/s}");
    program_lacks(text, "@");
    program_same(SAID("new", "card", "card"), text);

    const char *path = card(NULL), *checked = SAID("check", path); /* and no warning */
    program_has(checked, "a token takes 16.73 ms and 1.124 ms more for each busy slot");
    const char *table = SAID("run", path, "-r", "2", "--set", "study.horizon=1500 s", "--set", "study.warmup=100 s");
    ck_assert_int_eq(strncmp(table, "card: how many agents it carries\n", 33), 0);
    program_has(table, "\nunbounded  6 ");
    program_has(table, "\nfixed_cap  14 ");
    program_has(table, "\ncodel      18 ");
}
END_TEST

/* Half to twice the knee, as its last comment says. */
START_TEST(card_is_around_its_knee)
{
    const char *bounds = SAID("bounds", card(NULL), "--format", "csv");
    const char *row = strstr(bounds, "\ncoder,6,");
    ck_assert_msg(row != NULL, "%s", bounds);
    char *end;
    const char *at = row + strlen("\ncoder,6,");
    strtod(at, &end);      /* service */
    strtod(end + 1, &end); /* capacity */
    double knee = strtod(end + 1, NULL);
    ck_assert_msg(knee * 0.5 < 6 && 18 < knee * 2 && 6 < knee && knee < 18, "knee %g", knee);
}
END_TEST

START_TEST(card_takes_a_name)
{
    static const char *const names[] = {"h100", "RX_9070-XT"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *path = card(names[i]);
        program_has(SAID("check", path), arena_format(&file.arena, "# %s: 8 servers: a token takes ", names[i]));
        program_has(SAID("new", "card", names[i]), arena_format(&file.arena, "\"%s: how many", names[i]));
    }
}
END_TEST

/* Three rows below what its meters carry and one above, as its last comment says. */
START_TEST(pool_runs)
{
    const char *text = SAID("new", "pool", "team");
    expect_small(text);
    program_lacks(text, "@");
    plan_file_write(&file, "s.yaml", text);
    program_has(SAID("check", file.path), "\n# team, input: 150k tokens a minute"); /* and no warning */
    const char *table = SAID("run", file.path, "-r", "2", "--set", "study={horizon: 40 min, warmup: 5 min}");
    ck_assert_int_eq(strncmp(table, "team: how many agents it carries\n", 33), 0);
    program_has(table, "\nunbounded     8 ");
    program_has(table, "\ntoken_bucket  48 ");
    const char *bounds = SAID("bounds", file.path, "--set", "sweep={agents.coder.population: [16, 32]}");
    program_has(bounds, "\ncoder  16          input     150000    1962  0.4486    35.67\n");
    program_has(bounds, "\ncoder  32          input     150000    1962  0.8971    35.67\n");
}
END_TEST

START_TEST(policy_runs)
{
    expect_small(SAID("new", "policy", "mine"));
    ck_assert_int_eq(strncmp(SAID("new", "policy", "mine"), "/* SPDX-License-Identifier: MIT-0 */\n", 37), 0);
    program_lacks(SAID("new", "policy", "mine"), "@");

    const char *plugin = compiled("mine"), *path = card(NULL);
    const char *table = SAID("run", path, "--plugin", plugin, "--policy", "unbounded,mine", "-r", "2", "--set",
                             "study={horizon: 3000 s, warmup: 100 s}", "--set", "agents.coder.population=18", "--set",
                             "sweep={policies.mine.patience: [1 s, 8 s]}", "--format", "csv");
    program_has(table, "\nmine,");
    program_has(table, ",1 s,");
    program_has(SAID("help", "mine", "--plugin", plugin), "default 8 s; live");
}
END_TEST

/* Also names that policy.h or C have a use for. */
START_TEST(policy_takes_a_name)
{
    static const char *const names[] = {"policy", "int", "a1234567890123456789012345678901"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        program_has(SAID("list", "policies", "--plugin", compiled(names[i])),
                    arena_format(&file.arena, "\n%s ", names[i]));
}
END_TEST

static void expect_refused(const char *kind, const char *name, const char *words)
{
    if (name)
        PROGRAM_RUN(&program, NULL, "new", kind, name);
    else
        PROGRAM_RUN(&program, NULL, "new", kind);
    ck_assert_msg(program.status == 2, "weir new %s %s: %d", kind, name ? name : "", program.status);
    ck_assert_str_eq(program.out, "");
    program_has(program.err, words);
    ck_assert_int_eq(program_count(program.err, "\n"), 1);
    program_fini(&program);
}

START_TEST(wrong_words)
{
    expect_refused("crad", NULL, "weir new: there is no starter `crad`; did you mean `card`?\n");
    expect_refused("polcy", "mine", "did you mean `policy`?\n");
    expect_refused("zzzzzzzz", NULL, "`weir new` lists them\n");
    expect_refused("policy", NULL, "weir new policy: expected a name: weir new policy NAME >mine.c\n");

    static const char *const names[] = {
        "",       "9lives", "_mine",        "Mine", "my-own",
        "my own", "a.b",    "na\xc3\xafve", "a\"b", "a12345678901234567890123456789012"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        expect_refused("policy", names[i],
                       arena_format(&file.arena,
                                    "weir new policy: `%s`: expected a name of at most 32 lower-case letters, digits "
                                    "and _ that begins with a letter\n",
                                    names[i]));
    expect_refused("card", "one card", "weir new card: `one card`: expected a name of at most 32 letters, digits, _");
    expect_refused("card", "8", "that begins with a letter\n");
    expect_refused("card", "null", "weir new card: `null` means something else in YAML; expected another name\n");
    expect_refused("policy", "true", "weir new policy: `true` means something else in YAML; expected another name\n");
    for (size_t i = 0; policy_registry[i]; i++)
        expect_refused("policy", policy_registry[i]->name, "is built in; expected another name\n");

    PROGRAM_RUN(&program, NULL, "new", "policy", "mine", "yours");
    ck_assert_int_eq(program.status, 2);
    program_has(program.err, "weir new: `yours` is one word too many\n");
}
END_TEST

/* What the program says when it stands in an installation, in a folder that a shell has to be told about. */
START_TEST(help_of_an_installed_program)
{
    const char *weir = getenv("WEIR");
    shell("mkdir -p \"it's here/bin\" \"it's here/include/weir/policies\" \"it's here/lib/pkgconfig\"");
    shell(arena_format(&file.arena, "cp '%s' \"it's here/bin\"", weir));
    shell("touch \"it's here/include/weir/policies/policy.h\"");
    shell("printf '%s\\n' 'Name: weir' 'Description: x' 'Version: 1' 'Cflags: -Ifound' >\"it's "
          "here/lib/pkgconfig/weir.pc\"");
    shell("\"it's here/bin/weir\" help plugin >help && "
          "eval \"echo $(sed -n 's/^  cc .*-fPIC \\(.*\\) -o .*/\\1/p' help)\" >flags");
    char *help = program_file(in_folder("help")), *flags = program_file(in_folder("flags"));
    program_has(help, " -fPIC $(PKG_CONFIG_PATH=");
    program_has(help, arena_format(&file.arena, "%s/it's here/include/weir/policies/policy.h", file.folder));
    program_has(help, arena_format(&file.arena, "%s/it's here/share/weir/skeleton.c", file.folder));
    ck_assert_str_eq(flags, "-Ifound\n");
    free(help);
    free(flags);
}
END_TEST

Suite *new_suite(void)
{
    Suite *suite = suite_create("new");
    TCase *words = tcase_create("words"), *runs = tcase_create("runs");

    tcase_add_checked_fixture(words, setup, teardown);
    tcase_add_test(words, what_there_is);
    tcase_add_test(words, wrong_words);
    suite_add_tcase(suite, words);

    tcase_add_checked_fixture(runs, setup, teardown);
    tcase_add_test(runs, card_runs);
    tcase_add_test(runs, card_is_around_its_knee);
    tcase_add_test(runs, card_takes_a_name);
    tcase_add_test(runs, pool_runs);
    tcase_add_test(runs, policy_runs);
    tcase_add_test(runs, policy_takes_a_name);
    tcase_add_test(runs, help_of_an_installed_program);
    suite_add_tcase(suite, runs);
    return suite;
}
