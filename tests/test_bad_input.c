/* test_bad_input.c - bad input of every kind, as users meet it: through the program. Each mistake is one message with
 * its place and what was expected, exit status 2, nothing on standard output, and no file left where -o pointed. */
#include <check.h>
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/command_fixture.h"
#include "tests/suites.h"

static void expect_no_output(void)
{
    DIR *folder = opendir(file.folder);
    ck_assert_ptr_nonnull(folder);
    for (struct dirent *entry = readdir(folder); entry; entry = readdir(folder))
        ck_assert_msg(strncmp(entry->d_name, "out.", 4) != 0, "%s was left behind", entry->d_name);
    closedir(folder);
}

/* One message; where it has a place, it begins with that, in the folder or on the command line. */
static void expect_refused(const char *place, const char *words)
{
    const char *said = program.err;
    ck_assert_msg(program.status == 2, "exit status %d; it said:\n%s", program.status, said);
    ck_assert_msg(program.out[0] == '\0', "on standard output:\n%s", program.out);
    ck_assert_msg(program_count(said, "\n") == 1, "not one line but:\n%s", said);
    ck_assert_msg(strstr(said, words) != NULL, "%s: expected the words `%s`", said, words);
    if (strncmp(said, file.folder, strlen(file.folder)) == 0)
        said += strlen(file.folder) + 1;
    ck_assert_msg(strncmp(said, place, strlen(place)) == 0, "%s: expected it at %s", said, place);
    expect_no_output();
}

static void run_scenario(void)
{
    PROGRAM_RUN(&program, NULL, "run", file.path, "-o", in_folder("out.csv"));
}

/* A card, in lines so that places are easy to see. */
static const char card[] = "title: A card\n"
                           "study: {horizon: 100 s, warmup: 10 s, replications: 2}\n"
                           "backends:\n"
                           "  card: {kind: slots, servers: 2, rate: 39 tokens/s}\n"
                           "agents:\n"
                           "  coder:\n"
                           "    population: 4\n"
                           "    think: exponential(4.5 s)\n"
                           "    output: 120\n"
                           "policies:\n"
                           "  - unbounded\n"
                           "  - fixed_cap: {cap: 3}\n"
                           "sweep: {study.seed: [2, 4]}\n";

/* The card with one text replaced. */
static const struct mistake {
    const char *name, *from, *to, *place, *words;
} mistakes[] = {
    {"cards without max", "39 tokens/s}", "39 tokens/s, cards: {min: 2}}", "s.yaml:4:61: error: ", "needs max"},
    {"cards, min above max", "39 tokens/s}", "39 tokens/s, cards: {min: 3, max: 2}}",
     "s.yaml:4:67: error: ", "min is 3 and max is 2: expected min to be at most max"},
    {"cards, start above max", "39 tokens/s}", "39 tokens/s, cards: {start: 3, max: 2}}",
     "s.yaml:4:69: error: ", "start is 3: expected a number from min (1) to max (2)"},
    {"cards, too many slots", "servers: 2, rate: 39 tokens/s}", "servers: 2k, rate: 39 tokens/s, cards: {max: 501}}",
     "s.yaml:4:68: error: ", "501 cards of 2000 servers each: expected at most 1M servers in all"},
    {"cards, tokens of a service time", "rate: 39 tokens/s}", "service: 9 s, cards: {max: 5, signal: token_velocity}}",
     "s.yaml:4:", "expected utilisation or queue_length"},
    {"cards, a key", "39 tokens/s}", "39 tokens/s, cards: {max: 2, drain: true}}", "s.yaml:4:70: error: ", "drain"},
    {"cards, no mapping", "39 tokens/s}", "39 tokens/s, cards: 3}", "s.yaml:4:61: error: ", "cards"},
    {"unknown key", "population: 4", "populaton: 4", "s.yaml:7:5: error: ", "did you mean population?"},
    {"repeated key", "    think", "    population: 5\n    think", "s.yaml:8:5: error: ", "stands in line 7 already"},
    {"wrong unit", "4.5 s", "4.5 tokens", "s.yaml:8:24: error: ", "a time with its unit"},
    {"wrong unit of a rate", "39 tokens/s", "39 s", "s.yaml:4:41: error: ", "expected a rate"},
    {"missing unit", "4.5 s", "4.5", "s.yaml:8:24: error: ", "a time with its unit"},
    {"missing unit of the horizon", "100 s", "100", "s.yaml:2:18: error: ", "needs its unit"},
    {"negative", "population: 4", "population: -4", "s.yaml:7:17: error: ", "without a sign"},
    {"negative time", "4.5 s", "-4.5 s", "s.yaml:8:24: error: ", "without a sign"},
    {"nan", "100 s", "nan", "s.yaml:2:18: error: ", "not nan"},
    {"nan in a distribution", "4.5 s", "nan", "s.yaml:8:24: error: ", "not nan"},
    {"inf", "population: 4", "population: inf", "s.yaml:7:17: error: ", "from 1 to 100M"},
    {"inf in a distribution", "4.5 s", "inf", "s.yaml:8:24: error: ", "a time with its unit"},
    {"hex", "servers: 2", "servers: 0x2", "s.yaml:4:32: error: ", "hexadecimal"},
    {"decimal comma", "servers: 2", "servers: 2,5", "s.yaml:4:34: error: ", "have a decimal dot"},
    {"decimal comma in a line", "4.5 s", "4,5 s", "s.yaml:8:24: error: ", "decimal dot"},
    {"10^19", "servers: 2", "servers: 10000000000000000000", "s.yaml:4:32: error: ", "at most 1e18"},
    {"10^19 s", "4.5 s", "10000000000000000000 s", "s.yaml:8:24: error: ", "at most 1e18"},
    {"a time too long for the clock", "100 s", "400 y", "s.yaml:2:18: error: ", "expected a time"},
    {"a cap of 0", "cap: 3", "cap: 0", "s.yaml:12:22: error: ", "at least 1"},
    {"no agents", "population: 4", "population: 0", "s.yaml:7:17: error: ", "from 1"},
    {"warm-up past the horizon", "warmup: 10 s", "warmup: 101 s", "s.yaml:2:33: error: ", "less than the horizon"},
    {"no replications", "replications: 2", "replications: 0", "s.yaml:2:53: error: ", "from 1"},
    {"a sweep over a mapping", "study.seed: [2, 4]", "agents.coder: [2, 4]",
     "s.yaml:13:9: error: ", "a mapping and cannot be swept"},
    {"a sweep over a list", "study.seed: [2, 4]", "policies: [2, 4]", "s.yaml:13:9: error: ", "cannot be swept"},
    {"a comma inside braces", "rate: 39 tokens/s", "service: uniform(1 s, 2 s)",
     "s.yaml:4:44: error: ", "a comma inside"},
    {"weights", "120\n", "mixture(0.7 100 | 0.2 200)\n", "s.yaml:9:13: error: ", "these sum to 0.9"},
    {"a missing file", "120\n", "empirical(none.csv n)\n", "s.yaml:9:23: error: ", "none.csv: No such file"},
    {"an empty file", "120\n", "empirical(empty.csv n)\n", "empty.csv: error: ", "names of the columns"},
    {"no rows", "120\n", "empirical(head.csv n)\n", "head.csv: error: ", "no row of data"},
    {"no such column", "120\n", "empirical(plain.csv m)\n", "s.yaml:9:23: error: ", "has no column `m`"},
    {"an empty field", "120\n", "empirical(hole.csv n)\n", "hole.csv:3:3: error: ", "an empty field"},
    {"a text", "120\n", "empirical(text.csv n)\n", "text.csv:3:3: error: ", "expected a number"},
    {"a field behind quoted newlines", "120\n", "empirical(deep.csv n)\n", "deep.csv:6:4: error: ", "no number"},
    {"think and backoff both 0", "exponential(4.5 s)", "0 s\n    client: {base: 0 s}",
     "s.yaml:9:13: error: ", "neither thinks nor backs off"},
    {"tabs", "  card:", "\tcard:", "s.yaml:4:1: error: ", "a tab"},
    {"a tag", "A card", "!!str A card", "s.yaml:1:8: error: ", "a tag"},
    {"an anchor bomb", "title: A card\n", "a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]\n",
     "s.yaml:1:4: error: ", "an anchor"},
    {"an alias", "A card", "*a", "s.yaml:1:8: error: ", "an alias"},
    {"a second document", "sweep:", "---\nsweep:", "s.yaml:13:1: error: ", "a second document"},
};

static void write_columns(void)
{
    plan_file_write(&file, "plain.csv", "at,n\n1,5\n2,60\n3,700\n");
    plan_file_write(&file, "crlf.csv", "at,n\r\n1,5\r\n2,60\r\n3,700\r\n");
    plan_file_write(&file, "bom.csv", "\xef\xbb\xbfn,at\n5,1\n60,2\n700,3\n");
    plan_file_write(&file, "cut.csv", "at,n\n1,5\n2,60\n3,700");
    plan_file_write(&file, "quoted.csv", "\"a\nt\",n\n\"1\n\",5\n2,\"60\"\n\"3\",700\n");
    plan_file_write(&file, "empty.csv", "");
    plan_file_write(&file, "head.csv", "at,n\n");
    plan_file_write(&file, "hole.csv", "at,n\n1,5\n2,\n");
    plan_file_write(&file, "text.csv", "at,n\n1,5\n2,many\n");
    plan_file_write(&file, "deep.csv", "\"a\nt\",n\n\"1\n\n\",5\n2\xc3\xa9,x\n");
}

START_TEST(in_the_scenario)
{
    const struct mistake *mistake = &mistakes[_i];
    write_columns();
    plan_file_write(&file, "s.yaml", plan_file_with(&file, card, mistake->from, mistake->to));
    run_scenario();
    ck_assert_msg(program.status == 2, "%s: exit status %d", mistake->name, program.status);
    expect_refused(mistake->place, mistake->words);
}
END_TEST

/* What looks odd and is right gives the same table as the plain way to write it. */
static const char *const odd[] = {"crlf.csv", "bom.csv", "cut.csv", "quoted.csv"};

START_TEST(in_odd_files)
{
    write_columns();
    plan_file_write(&file, "s.yaml", plan_file_with(&file, card, "120\n", "empirical(plain.csv n)\n"));
    PROGRAM_RUN(&program, NULL, "run", file.path, "--format", "csv");
    ck_assert_msg(program.status == 0, "%s", program.err);
    const char *plain = arena_text(&file.arena, program.out);
    program_fini(&program);
    const char *column = arena_format(&file.arena, "empirical(%s n)\n", odd[_i]);
    plan_file_write(&file, "s.yaml", plan_file_with(&file, card, "120\n", column));
    PROGRAM_RUN(&program, NULL, "run", file.path, "--format", "csv");
    ck_assert_msg(program.status == 0, "%s: %s", odd[_i], program.err);
    ck_assert_str_eq(program.out, plain);
}
END_TEST

START_TEST(a_scenario_with_crlf_and_bom)
{
    const char *text = "\xef\xbb\xbf";
    for (const char *at = card; *at; at++)
        text = arena_format(&file.arena, "%s%s%c", text, *at == '\n' ? "\r" : "", *at);
    plan_file_write(&file, "s.yaml", text);
    run_scenario();
    ck_assert_msg(program.status == 0, "%s", program.err);
    ck_assert_ptr_nonnull(strstr(program.out, "A card"));
}
END_TEST

START_TEST(one_replication)
{
    plan_file_write(&file, "s.yaml", plan_file_with(&file, card, "replications: 2", "replications: 1"));
    PROGRAM_RUN(&program, NULL, "run", file.path, "--format", "csv", "--against", "unbounded", "--verify");
    ck_assert_msg(program.status == 0, "%s", program.err);
    ck_assert_ptr_null(strstr(program.out, ",nan"));
    ck_assert_ptr_null(strstr(program.out, ",inf"));
    /* goodput has a value and an empty half-width */
    const char *row = strstr(program.out, "\nunbounded,all,all,all,2,1,0.");
    ck_assert_ptr_nonnull(row);
    const char *comma = strchr(row + strlen("\nunbounded,all,all,all,2,1,0."), ',');
    ck_assert_int_eq(comma[1], ',');
}
END_TEST

START_TEST(a_warmup_in_a_terminating_study)
{
    plan_file_write(&file, "s.yaml",
                    "study: {until: done, warmup: 3 s}\n"
                    "backends: {a: {kind: slots, servers: 1, service: 1 s}}\n"
                    "agents: {a: {arrivals: all_at(0 s), runs: 2}}\n");
    run_scenario();
    expect_refused("s.yaml:1:30: error: ", "no warmup");
}
END_TEST

START_TEST(no_agents_at_all)
{
    plan_file_write(&file, "s.yaml", "study: {horizon: 1 s}\nbackends: {a: {kind: slots, servers: 1, service: 1 s}}\n");
    run_scenario();
    expect_refused("s.yaml:1:1: error: ", "no agents");
}
END_TEST

START_TEST(a_hundred_levels)
{
    char text[256] = "title: ";
    size_t length = strlen(text);
    memset(text + length, '[', 100);
    memset(text + length + 100, ']', 100);
    plan_file_write(&file, "s.yaml", text);
    run_scenario();
    expect_refused("s.yaml:1:", "at most 64 levels");
}
END_TEST

/* Neither read nor even held in memory: with 64 MB of it the program would not get that far. */
START_TEST(a_hundred_megabytes)
{
    plan_file_write(&file, "s.yaml", card);
    ck_assert_int_eq(truncate(file.path, 100 << 20), 0);
    run_scenario();
    expect_refused("s.yaml: error: ", "at most 16 MiB");
}
END_TEST

static const struct plugin {
    const char *name, *words;
} plugins[] = {
    {"wrong_abi.so", "compile it again"},
    {"wrong_magic.so", "wrong magic number"},
    {"no_symbol.so", "no symbol `weir_policy`"},
    {"absent.so", "absent.so"},
};

START_TEST(in_a_plugin)
{
    char path[4096];
    plan_file_write(&file, "s.yaml", card);
    PROGRAM_RUN(&program, NULL, "run", file.path, "-o", in_folder("out.csv"), "--plugin",
                program_plugin(plugins[_i].name, path, sizeof path));
    expect_refused("--plugin: error: ", plugins[_i].words);
    program_fini(&program);
    plan_file_write(&file, "s.yaml", arena_format(&file.arena, "plugin: %s\n%s", path, card));
    run_scenario();
    expect_refused("s.yaml:1:9: error: ", plugins[_i].words);
}
END_TEST

START_TEST(in_a_plugin_that_is_a_text)
{
    plan_file_write(&file, "s.yaml", card);
    PROGRAM_RUN(&program, NULL, "run", file.path, "--plugin", file.path);
    expect_refused("--plugin: error: ", "expected a shared object");
}
END_TEST

/* tests/plugins/nonsense.c answers what no policy may; the message names policy, callback and call. */
static const struct answer {
    const char *what, *callback;
} answers[] = {
    {"unknown_action", "admit"},    {"negative_action", "admit"},      {"hold_without_time", "admit"},
    {"hold_too_short", "admit"},    {"defer_too_short", "admit"},      {"defer_negative", "admit"},
    {"displace_nobody", "admit"},   {"displace_run", "run_admit"},     {"hold_at_start", "start"},
    {"displace_at_start", "start"}, {"negative_lifetime", "admitted"}, {"again_when_done", "finish"},
    {"tick_now", "tick"},           {"flow_outside", "flow"},          {"pick_outside", "pick"},
    {"pick_empty", "pick"},
};

START_TEST(in_an_answer)
{
    char path[4096];
    const char *policy = arena_format(&file.arena, "nonsense: {what: %s}", answers[_i].what);
    plan_file_write(&file, "s.yaml", plan_file_with(&file, card, "fixed_cap: {cap: 3}", policy));
    PROGRAM_RUN(&program, NULL, "run", file.path, "-o", in_folder("out.csv"), "--plugin",
                program_plugin("nonsense.so", path, sizeof path));
    expect_refused("weir: nonsense, study.seed 2, replication 1: ",
                   arena_format(&file.arena, "`%s`", answers[_i].callback));
    program_has(program.err, "policy `nonsense`, ");
}
END_TEST

static const struct words {
    const char *words[6], *place, *said;
} arguments[] = {
    {{"--set", "study.sed=3"}, "--set study.sed:1:1: error: ", "did you mean seed?"},
    {{"--set", "study.seed"}, "--set: error: ", "KEY=VALUE"},
    {{"--set", "study.seed=many"}, "--set study.seed:1:1: error: ", "whole number"},
    {{"--set", "study.horizon=5 parsecs"}, "--set study.horizon:1:1: error: ", "parsecs"},
    {{"--set", "agents.codr.output=3"}, "--set agents.codr.output:1:1: error: ", "did you mean coder?"},
    {{"--policy", "unbonded"}, "--policy: error: ", "did you mean unbounded?"},
    {{"-p", "unbounded,zero"}, "--policy: error: ", "zero"},
    {{"-r", "0"}, "weir run: ", "`--replications 0`: expected a whole number from 1"},
    {{"-r", "2x"}, "weir run: ", "whole number"},
    {{"-j", "0"}, "weir run: ", "`--jobs 0`: expected a whole number from 1"},
    {{"-j", "-1"}, "weir run: ", "whole number"},
    {{"--jobs="}, "weir run: ", "whole number"},
    {{"--format", "nonsense"}, "weir run: ", "expected text, csv or markdown"},
    {{"--columns", "nonsense"}, "weir run: ", "no metric `nonsense`"},
    {{"--columns", "goodput,wait_p9"}, "weir run: ", "did you mean `wait_p95`?"},
    {{"--columns", "goodput,"}, "weir run: ", "expected"},
    {{"--against", "nonsense"}, "weir run: ", "expected one of unbounded, fixed_cap"},
    {{"--verify=yes"}, "weir run: ", "`--verify` takes no value"},
    {{"-o", "/"}, "weir: ", "cannot write `/`: Is a directory"},
    {{"-o", "/nowhere/out.csv"}, "weir: ", "cannot write `/nowhere/out.csv`: No such file or directory"},
    {{"-o", ""}, "weir: ", "cannot write ``: No such file or directory"},
};

START_TEST(in_arguments)
{
    const char *const *given = arguments[_i].words;
    plan_file_write(&file, "s.yaml", card);
    PROGRAM_RUN(&program, NULL, "run", file.path, given[0], given[1]);
    expect_refused(arguments[_i].place, arguments[_i].said);
}
END_TEST

START_TEST(in_the_name_of_the_scenario)
{
    PROGRAM_RUN(&program, NULL, "run", in_folder("none.yaml"), "-o", in_folder("out.csv"));
    expect_refused("error: cannot read ", "none.yaml: No such file");
    program_fini(&program);
    PROGRAM_RUN(&program, NULL, "run", file.folder, "-o", in_folder("out.csv"));
    expect_refused("", "expected a file, this is a directory");
    program_fini(&program);
    plan_file_write(&file, "s.yaml", "");
    run_scenario();
    expect_refused("s.yaml:1:1: error: ", "not nothing");
}
END_TEST

/* Several mistakes of one reading are all shown, in the order of the file. */
START_TEST(several_at_once)
{
    plan_file_write(&file, "s.yaml",
                    plan_file_with(&file, plan_file_with(&file, card, "servers: 2", "servers: 0"), "cap: 3", "cap: 0"));
    run_scenario();
    ck_assert_int_eq(program.status, 2);
    ck_assert_str_eq(program.out, "");
    ck_assert_int_eq(program_count(program.err, "\n"), 2);
    const char *first = strstr(program.err, "s.yaml:4:32: error: ");
    ck_assert_msg(first && strstr(first, "s.yaml:12:22: error: "), "%s", program.err);
    expect_no_output();
}
END_TEST

START_TEST(onto_a_full_disk)
{
    if (!program_full_disk())
        return;
    plan_file_write(&file, "s.yaml", card);
    PROGRAM_RUN(&program, NULL, "run", file.path, "-o", "/dev/full");
    ck_assert_int_eq(program.status, 2);
    ck_assert_msg(strstr(program.err, "cannot write `/dev/full`: No space left on device") != NULL, "%s", program.err);
    ck_assert_int_ne(access("/dev/full.meta", F_OK), 0);
    program_fini(&program);

    program.to = "/dev/full";
    PROGRAM_RUN(&program, NULL, "run", file.path, "-o", in_folder("out.csv"));
    ck_assert_int_eq(program.status, 2);
    ck_assert_str_eq(program.err, "weir: cannot write `standard output`: No space left on device\n");
    /* the file that was asked for is whole all the same: it was written first */
    ck_assert_int_eq(access(in_folder("out.csv"), F_OK), 0);
    ck_assert_int_eq(remove(in_folder("out.csv")) + remove(in_folder("out.csv.meta")), 0);
}
END_TEST

static const char *const others[][3] = {{"check"}, {"bounds"}, {"list", "metrics"}, {"help", "unbounded"}, {"--help"}};

START_TEST(other_commands_onto_a_full_disk)
{
    const char *const *words = others[_i];
    if (!program_full_disk())
        return;
    plan_file_write(&file, "s.yaml", card);
    program.to = "/dev/full";
    PROGRAM_RUN(&program, NULL, words[0], _i < 2 ? file.path : words[1]);
    ck_assert_int_eq(program.status, 2);
    ck_assert_str_eq(program.err, "weir: cannot write `standard output`: No space left on device\n");
}
END_TEST

/* An older table survives a run that fails, and a run that is refused. */
START_TEST(an_older_table_stays)
{
    plan_file_write(&file, "s.yaml", plan_file_with(&file, card, "cap: 3", "cap: 0"));
    plan_file_write(&file, "old.csv", "precious\n");
    PROGRAM_RUN(&program, NULL, "run", file.path, "-o", in_folder("old.csv"));
    ck_assert_int_eq(program.status, 2);
    char *text = program_file(in_folder("old.csv"));
    ck_assert_str_eq(text, "precious\n");
    free(text);
}
END_TEST

START_TEST(in_the_published_numbers)
{
    plan_file_write(&file, "s.yaml", card);
    plan_file_write(&file, "s.published.csv", "policy,metric,value,tolerance\nunbounded,goodput,many,1\n");
    run_scenario();
    expect_refused("s.published.csv:2:19: error: ", "expected a bare number");
    program_fini(&program);
    plan_file_write(&file, "s.published.csv", "policy,metrics,value,tolerance\n");
    run_scenario();
    expect_refused("s.published.csv:1:8: error: ", "unknown column `metrics`");
}
END_TEST

#define COUNT_OF(array) ((int)(sizeof(array) / sizeof *(array)))

Suite *bad_input_suite(void)
{
    Suite *suite = suite_create("bad_input");
    TCase *tcase = tcase_create("bad_input");
    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_loop_test(tcase, in_the_scenario, 0, COUNT_OF(mistakes));
    tcase_add_loop_test(tcase, in_odd_files, 0, COUNT_OF(odd));
    tcase_add_test(tcase, a_scenario_with_crlf_and_bom);
    tcase_add_test(tcase, one_replication);
    tcase_add_test(tcase, a_warmup_in_a_terminating_study);
    tcase_add_test(tcase, no_agents_at_all);
    tcase_add_test(tcase, a_hundred_levels);
    tcase_add_test(tcase, a_hundred_megabytes);
    tcase_add_loop_test(tcase, in_a_plugin, 0, COUNT_OF(plugins));
    tcase_add_test(tcase, in_a_plugin_that_is_a_text);
    tcase_add_loop_test(tcase, in_an_answer, 0, COUNT_OF(answers));
    tcase_add_loop_test(tcase, in_arguments, 0, COUNT_OF(arguments));
    tcase_add_test(tcase, in_the_name_of_the_scenario);
    tcase_add_test(tcase, several_at_once);
    tcase_add_test(tcase, onto_a_full_disk);
    tcase_add_loop_test(tcase, other_commands_onto_a_full_disk, 0, COUNT_OF(others));
    tcase_add_test(tcase, an_older_table_stays);
    tcase_add_test(tcase, in_the_published_numbers);
    suite_add_tcase(suite, tcase);
    return suite;
}
