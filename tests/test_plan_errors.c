/* test_plan_errors.c - what users get wrong: each mistake yields one message, at its file, line and column, that says
 * what was expected. */
#include <check.h>
#include <string.h>

#include "tests/plan_file.h"
#include "tests/suites.h"

static struct plan_file file;

static void setup(void)
{
    plan_file_init(&file);
}

static void teardown(void)
{
    plan_file_fini(&file);
}

/* The message begins with `place: ` and has the words in it. */
static void expect_said(const char *text, const char *const *sets, const char *const *only, const char *place,
                        const char *words)
{
    ck_assert_msg(!plan_file_read(&file, text, sets, only), "no message for\n%s", text);
    const char *said = plan_file_said(&file);
    ck_assert_msg(file.diag.errors == 1, "not one message but\n%s\nfor\n%s", said, text);
    size_t length = strlen(place);
    ck_assert_msg(strncmp(said, place, length) == 0 && said[length] == ':', "%s: expected it at %s", said, place);
    ck_assert_msg(strstr(said, words) != NULL, "%s: expected the words `%s`", said, words);
}

/* A card with one text replaced. */
static const struct mistake {
    const char *from, *to, *place, *words;
} mistakes[] = {
    /* numbers and units */
    {"24", "0", "s.yaml:3:30", "from 1 to 100M"},
    {"24", "-3", "s.yaml:3:30", "without a sign"},
    {"24", "nan", "s.yaml:3:30", "not nan"},
    {"24", "inf", "s.yaml:3:30", "from 1 to 100M"},
    {"24", "0x10", "s.yaml:3:30", "hexadecimal"},
    {"24", "2,5", "s.yaml:3:32", "has no value"},
    {"24", "\"2,5\"", "s.yaml:3:30", "from 1 to 100M"},
    {"24", "10000000000000000000", "s.yaml:3:30", "at most 1e18"},
    {"24", "2.5", "s.yaml:3:30", "whole number"},
    {"24", "24 s", "s.yaml:3:30", "no unit"},
    {"100 s", "100", "s.yaml:1:18", "needs its unit"},
    {"100 s", "inf", "s.yaml:1:18", "expected a time from"},
    {"39 tokens/s", "39", "s.yaml:2:50", "needs its unit"},
    {"39 tokens/s", "39 requests/s", "s.yaml:2:50", "counts something else"},
    {"39 tokens/s", "0 tokens/s", "s.yaml:2:50", "expected a rate"},
    {"output: 120", "output: 4 s", "s.yaml:3:69", "a number of tokens"},
    {"output: 120", "output: 2000000000000", "s.yaml:3:69", "at most 1099511627776 tokens"},
    {"4.5 s", "4.5", "s.yaml:3:53", "4.5 has no unit: expected a time with its unit"},
    {"4.5 s", "120 tokens", "s.yaml:3:53", "a time with its unit"},
    {"4.5 s", "4.5 sek", "s.yaml:3:57", "no unit sek: expected one of ns, us"},
    {"4.5 s", "4 s most 9 sek", "s.yaml:3:64", "no unit sek"},
    {"exponential(4.5 s)", "mixture(0.5 1 sek | 0.5 2 s)", "s.yaml:3:55", "no unit sek"},
    {"exponential(4.5 s)", "4.5 sek", "s.yaml:3:45", "a unit behind '4.5'"},
    {"output: 120", "output: lognormal(120 toks cv 1)", "s.yaml:3:83", "no unit toks: expected tokens, or none"},
    {"output: 120", "output: lognormal(120 cv -1)", "s.yaml:3:86", "cv: expected a number without a sign"},
    {"100 s", "100 sek", "s.yaml:1:18", "unit is unknown: times have"},
    {"39 tokens/s", "39 tok/s", "s.yaml:2:50", "unit is unknown: rates have"},
    /* study */
    {"horizon: 100 s", "seed: 3", "s.yaml:1:8", "expected a horizon"},
    {"100 s", "100 s, warmup: 100 s", "s.yaml:1:33", "less than the horizon"},
    {"100 s", "100 s, most: 3 h", "s.yaml:1:31", "until: done"},
    {"100 s", "100 s, replications: 0", "s.yaml:1:39", "from 1"},
    {"horizon: 100 s", "until: done", "s.yaml:3:17", "never ends"},
    {"100 s", "100 s, horizn: 4 s", "s.yaml:1:25", "did you mean horizon?"},
    /* backends */
    {"servers: 8", "servers: 0", "s.yaml:2:41", "from 1"},
    {"kind: slots", "kind: slot", "s.yaml:2:25", "did you mean slots?"},
    {"card:", "ca.rd:", "s.yaml:2:12", "letters, digits"},
    {"card:", "all:", "s.yaml:2:12", "rows of all together are called: expected another name"},
    {"coder:", "all:", "s.yaml:3:10", "rows of all together are called: expected another name"},
    {"24", "24, tenant: all", "s.yaml:3:42", "rows of all together are called: expected another name"},
    {", rate: 39 tokens/s", "", "s.yaml:2:18", "one of rate, step_time, throughput or service"},
    {"39 tokens/s", "39 tokens/s, service: 3 s", "s.yaml:2:18", "only one of"},
    {"rate: 39 tokens/s", "step_time: {per_busy_slot: 1 ms}", "s.yaml:2:55", "needs base"},
    {"rate: 39 tokens/s", "step_time: {base: 0 s}", "s.yaml:2:55", "expected more than 0"},
    {"rate: 39 tokens/s", "throughput: {1: 56 tokens/s, 9: 311 tokens/s}", "s.yaml:2:73", "from 1 to 8"},
    {"rate: 39 tokens/s", "throughput: {1.5: 56 tokens/s}", "s.yaml:2:57", "a whole number"},
    {"rate: 39 tokens/s", "throughput: {1: 9 tokens/s, 01: 8 tokens/s}", "s.yaml:2:72", "a second point"},
    {"rate: 39 tokens/s", "throughput: {1: 56 tokens/s, 8: 900 tokens/s}", "s.yaml:2:56",
     "1.28 ms faster with each further busy slot (17.86 ms with 1 busy, 8.889 ms with 8): expected at most 448"},
    {"rate: 39 tokens/s", "throughput: {8: 40 tokens/s, 1: 56 tokens/s}", "s.yaml:2:56",
     "slower the more of them are busy (56 tokens/s with 1 busy, 40 with 8"},
    {"rate: 39 tokens/s", "step_time: {base: 0 s}", "s.yaml:2:55", "with 1 of 8 slots busy"},
    {"rate: 39 tokens/s", "throughput: {}", "s.yaml:2:56", "expected points"},
    /* agents */
    {"population: 24, ", "", "s.yaml:3:17", "expected population: N"},
    {"24", "24, arrivals: poisson(3/s)", "s.yaml:3:44", "one source"},
    {"24", "24, runs: 5", "s.yaml:3:40", "expected turns"},
    {"24", "24, turns: 0.5", "s.yaml:3:41", "at least 1"},
    {"24", "24, backend: crad", "s.yaml:3:43", "did you mean card?"},
    {"24", "24, tenant: \"a b\"", "s.yaml:3:42", "letters, digits"},
    {"24", "24, populaton: 3", "s.yaml:3:34", "did you mean population?"},
    {", think: exponential(4.5 s)", "", "s.yaml:3:17", "expected think"},
    {", output: 120", "", "s.yaml:3:17", "expected output"},
    {"exponential(4.5 s)", "0 s, client: {base: 0 s}", "s.yaml:3:54", "for ever at one instant"},
    {"exponential(4.5 s)", "0 s, client: {cap: 0 s}", "s.yaml:3:54", "for ever at one instant"},
    {"120", "120, client: {jitter: 130 %}", "s.yaml:3:91", "less 25 %"},
    {"120", "120, client: [a]", "s.yaml:3:83", "expected a mapping"},
    {"population: 24", "arrivals: poisson(3)", "s.yaml:3:36", "rate above 0"},
    {"population: 24", "arrivals: poisson(0/s)", "s.yaml:3:36", "rate above 0"},
    {"population: 24", "arrivals: poison(3/s)", "s.yaml:3:28", "did you mean poisson?"},
    {"population: 24", "arrivals: all_at(0 s)", "s.yaml:3:28", "runs: N"},
    {"population: 24", "arrivals: trace(ok.csv at)", "s.yaml:3:28", "trace(FILE COLUMN UNIT)"},
    {"population: 24", "arrivals: trace(ok.csv at s), runs: 9", "s.yaml:3:54", "at most 3"},
    {"population: 24", "arrivals: trace(back.csv at s)", "back.csv:5:3", "backwards"},
    /* files */
    {"120", "empirical(no.csv n)", "s.yaml:3:79", "no.csv"},
    {"120", "empirical(empty.csv n)", "empty.csv:0:0", "names of the columns"},
    {"120", "empirical(ok.csv m)", "s.yaml:3:79", "expected one of at, n"},
    {"120", "empirical(hole.csv n)", "hole.csv:2:3", "an empty field"},
    {"120", "empirical(text.csv n)", "text.csv:3:3", "no number"},
    {"120", "empirical(ok.csv)", "s.yaml:3:69", "empirical(FILE COLUMN)"},
    {"exponential(4.5 s)", "empirical(ok.csv n)", "s.yaml:3:41", "UNIT"},
    /* distributions in their place; the rest in test_distribution.c */
    {"exponential(4.5 s)", "uniform(1 s, 3 s)", "s.yaml:3:41", "a comma inside"},
    {"120", "mixture(0.7 100 | 0.2 200)", "s.yaml:3:69", "sum to 0.9"},
};

START_TEST(in_the_card)
{
    const struct mistake *mistake = &mistakes[_i];
    plan_file_write(&file, "ok.csv", "at,n\r\n1,5\r\n2,6\r\n3,\"7\"");
    plan_file_write(&file, "back.csv", "n,at\n\"1\n\",5\n2,6\n3,5\n");
    plan_file_write(&file, "empty.csv", "");
    plan_file_write(&file, "hole.csv", "at,n\n1,\n");
    plan_file_write(&file, "text.csv", "at,n\n1,2\n2,x\n");
    expect_said(plan_file_with(&file, plan_file_card, mistake->from, mistake->to), NULL, NULL, mistake->place,
                mistake->words);
}
END_TEST

/* A card and more lines, the first of them line 4. */
static const struct addition {
    const char *more, *place, *words;
} additions[] = {
    {"polices: [unbounded]", "s.yaml:4:1", "did you mean policies?"},
    {"includes: x.yaml", "s.yaml:4:1", "did you mean include?"},
    {"include: x.yaml", "s.yaml:4:10", "x.yaml: No such file"},
    {"change: []", "s.yaml:4:1", "did you mean changes?"},
    {"title: [a]", "s.yaml:4:8", "expected a text"},
    {"notes: {a: b}", "s.yaml:4:8", "expected a text"},
    {"plugin: x.so", "s.yaml:4:9", "plug-ins"},
    {"study: {horizon: 1 s}", "s.yaml:4:1", "line 1"},
    {"policies: unbounded", "s.yaml:4:11", "expected a list"},
    {"policies: [unbonded]", "s.yaml:4:12", "did you mean unbounded?"},
    {"policies: [[lifo]]", "s.yaml:4:12", "not a list"},
    {"policies: [fixed_cap: {cap: 0}]", "s.yaml:4:29", "at least 1"},
    {"policies: [fixed_cap]", "s.yaml:4:12", "needs cap"},
    {"policies: [fixed_cap: {cap: 3, cp: 3}]", "s.yaml:4:32", "did you mean cap?"},
    {"policies:\n  - fixed_cap:\n    cap: 3", "s.yaml:6:5", "indented"},
    {"policies: [fixed_cap: {cap: 3, at: crd}]", "s.yaml:4:36", "did you mean card?"},
    {"policies: [fixed_cap: {cap: 3, scope: gat}]", "s.yaml:4:39", "did you mean gate?"},
    {"policies: [fixed_cap: {cap: 3, preset: x}]", "s.yaml:4:40", "no presets"},
    {"policies: [codel: {preset: slot}]", "s.yaml:4:28", "did you mean slots?"},
    {"policies: [a: [unbounded],\n  a: [lifo]]", "s.yaml:5:3", "line 4"},
    {"policies: [unbounded,\n  unbounded]", "s.yaml:5:3", "line 4"},
    {"policies: [a b: [lifo]]", "s.yaml:4:12", "letters, digits"},
    {"policies: [a: []]", "s.yaml:4:15", "at least one policy"},
    {"policies: [a: [lifo, lifo: {name: b}]]", "s.yaml:4:22", "at most one"},
    {"policies: [a: [fixed_cap: {cap: 3},\n  fixed_cap: {cap: 4}]]", "s.yaml:5:3", "name:"},
    {"sweep: [1]", "s.yaml:4:8", "expected a mapping"},
    {"sweep: {agents.coder: [1]}", "s.yaml:4:9", "a mapping and cannot be swept"},
    {"sweep: {agents.coder.client.0.base: [1 s]}", "s.yaml:4:9", "client: unknown key '0'"},
    {"sweep: {agents.coder.population: 8}", "s.yaml:4:34", "8..24 step 2"},
    {"sweep: {agents.coder.population: []}", "s.yaml:4:34", "8..24 step 2"},
    {"sweep: {agents.coder.population: [[1]]}", "s.yaml:4:35", "one value"},
    {"sweep: {agents.coder.population: [8, 0]}", "s.yaml:4:38", "from 1 to 100M"},
    {"sweep: {agents.coder.population: 24..8}", "s.yaml:4:34", "ascends"},
    {"sweep: {agents.coder.popuation: [8]}", "s.yaml:4:9", "did you mean population?"},
    {"sweep: {agents.cder.population: [8]}", "s.yaml:4:9", "did you mean coder?"},
    {"sweep: {agents.coder.think.mean: [1 s]}", "s.yaml:4:9", "expected a mapping"},
    {"sweep: {agents.coder.backend: [crad]}", "s.yaml:4:32", "did you mean card?"},
    {"sweep: {title: [a]}", "s.yaml:4:9", "cannot be swept"},
    {"sweep: {study.replications: [2, 3]}", "s.yaml:4:9", "cannot be swept"},
    {"sweep: {policies.x.cap: [1]}", "s.yaml:4:9", "labels unbounded"},
    {"policies: [fixed_cap: {cap: 3}]\nsweep: {policies.fixed_cup.cap: [1]}", "s.yaml:5:9", "did you mean fixed_cap?"},
    {"policies: [fixed_cap: {cap: 3}]\nsweep: {fixed_cap.cap: [1]}", "s.yaml:5:9",
     "did you mean policies.fixed_cap.cap?"},
    {"sweep: {agents.coder.population: 8..24 step 5}", "s.yaml:4:34", "end at 23"},
    {"policies: [unbounded, a: [fixed_cap]]\nsweep: {policies.a.cap: [4, 0]}", "s.yaml:5:29", "at least 1"},
    {"sweep: {zip: 3}", "s.yaml:4:14", "list of mappings"},
    {"sweep: {zip: [{study.seed: 1}, {agents.coder.output: 2}]}", "s.yaml:4:32", "study.seed"},
    {"sweep: {study.seed: [1], zip: [{study.seed: 3}]}", "s.yaml:4:33", "swept twice"},
    {"sweep: {study.seed: [3, 1, 3]}", "s.yaml:4:28", "study.seed: 3 is there twice"},
    {"sweep: {zip: [{study.seed: 3}, {study.seed: 1}, {study.seed: 3}]}", "s.yaml:4:49", "zip: 3 is there twice"},
    {"sweep: {study.seed: 1..9999, agents.coder.population: 1..9999}", "s.yaml:4:30", "a million"},
};

START_TEST(in_further_lines)
{
    const struct addition *addition = &additions[_i];
    const char *text = arena_format(&file.arena, "%s%s\n", plan_file_card, addition->more);
    expect_said(text, NULL, NULL, addition->place, addition->words);
}
END_TEST

/* A card with a client, and an address that does not find its way into it, in a sweep or of --set. */
static const struct lost {
    const char *client, *address, *words;
} losts[] = {
    {"[{attempts: 2}, {attempts: 3}, {}]", "agents.coder.client.3.base",
     "agents.coder.client has no 3: expected an index from 0 to 2, as it is a list of 3"},
    {"[{attempts: 2}, {attempts: 3}, {}]", "agents.coder.client.18446744073709551616.base",
     "agents.coder.client has no 18446744073709551616: expected an index from 0 to 2"},
    {"[{attempts: 2}, {attempts: 3}, {}]", "agents.coder.client.00.base", "has no 00: expected an index from 0 to 2"},
    {"[{}]", "agents.coder.client.1.base", "has no 1: expected the index 0, as it is a list of 1"},
    {"[{attempts: 2}, {}]", "agents.coder.client.base",
     "agents.coder.client is a list of 2: expected an index from 0 to 1 before base, such as "
     "agents.coder.client.0.base"},
    {"[{attempts: 2}, {}]", "agents.coder.client.-1.base", "expected an index from 0 to 1 before -1.base"},
    {"[{attempts: 2}, {}]", "agents.coder.client.1x.base", "expected an index from 0 to 1 before 1x.base"},
    {"[{attempts: 2}, {}]", "agents.coder.client..base", "agents.coder.client..base: expected an index from 0 to 1"},
    {"[{attempts: 2}, {}]", "agents.coder.client.1..base", "agents.coder.client.1..base: expected a key between dots"},
    {"[]", "agents.coder.client.0.base", "agents.coder.client is an empty list"},
    {"[{attempts: 2}, {}]", "agents.coder.client.1.bse", "client, layer 2: unknown key 'bse', did you mean base?"},
    {"[{attempts: 2}, {cap: 9 s}]", "agents.coder.client.1.cap.most", "client.1.cap is a value: expected a mapping"},
    {"{attempts: 2}", "agents.coder.client.0.base", "client: unknown key '0', expected one of: preset"},
    {"[{attempts: 2}, {}]", "coder.client.1.base", "did you mean agents.coder.client.1.base?"},
};

START_TEST(on_the_way_into_lists)
{
    const struct lost *lost = &losts[_i];
    const char *client = arena_format(&file.arena, "120, client: %s", lost->client);
    const char *text = plan_file_with(&file, plan_file_card, "120", client);
    const char *const sets[] = {arena_format(&file.arena, "%s=2 s", lost->address), NULL};
    const char *swept = arena_format(&file.arena, "%ssweep: {%s: [2 s, 3 s]}\n", text, lost->address);
    expect_said(text, sets, NULL, arena_format(&file.arena, "--set %s:1:1", lost->address), lost->words);
    expect_said(swept, NULL, NULL, "s.yaml:4:9", lost->words);
}
END_TEST

static const struct argument {
    const char *set, *only, *place, *words;
} arguments[] = {
    {"x", NULL, "--set:0:0", "KEY=VALUE"},
    {"study.seed=", NULL, "--set study.seed:1:1", "expected a value"},
    {"study.seed=[1]", NULL, "--set study.seed:1:1", "whole number"},
    {"study={horizon: 1}", NULL, "--set study:1:11", "needs its unit"},
    {"study={horizon: 1 s", NULL, "--set study:2:1", "not closed"},
    {"study.sed=1", NULL, "--set study.sed:1:1", "did you mean seed?"},
    {"agents.x.population=4", NULL, "--set agents.x.population:1:1", "expected one of coder"},
    {"agents..x=4", NULL, "--set agents..x:1:1", "agents..x: expected a key between dots"},
    {"sweep.study.seed=3", NULL, "--set sweep.study.seed:1:1", "8..24 step 2"},
    {"policies.lifo.x=3", NULL, "--set policies.lifo.x:1:1", "labels unbounded"},
    {"unbounded.x=3", NULL, "--set unbounded.x:1:1", "did you mean policies.unbounded.x?"},
    {"coder.population=3", NULL, "--set coder.population:1:1", "did you mean agents.coder.population?"},
    {"card.servers=3", NULL, "--set card.servers:1:1", "did you mean backends.card.servers?"},
    {"seed=3", NULL, "--set seed:1:1", "did you mean study.seed?"},
    {"policies.unbounded.x=3", NULL, "--set policies.unbounded.x:1:1", "unknown key"},
    {"plugin=x", NULL, "--set plugin:1:1", "--plugin"},
    {NULL, "unbonded", "--policy:0:0", "did you mean unbounded?"},
    {NULL, "fixed_cap", "--policy:0:0", "needs cap"},
};

START_TEST(in_arguments)
{
    const char *const sets[] = {arguments[_i].set, NULL}, *const only[] = {arguments[_i].only, NULL};
    expect_said(plan_file_card, sets, only, arguments[_i].place, arguments[_i].words);
}
END_TEST

START_TEST(in_whole_documents)
{
    expect_said("", NULL, NULL, "s.yaml:1:1", "not nothing");
    expect_said("[1]", NULL, NULL, "s.yaml:1:1", "not a list");
    expect_said("study: {horizon: 1 s}\nbackends: {a: {kind: slots, servers: 1, service: 1 s}}\n", NULL, NULL,
                "s.yaml:1:1", "no agents");
    expect_said("study: {horizon: 1 s}\nagents: {a: {population: 1}}\n", NULL, NULL, "s.yaml:1:1", "no backends");
    expect_said("study: {until: done, warmup: 3 s}\nbackends: {a: {kind: slots, servers: 1, service: 1 s}}\n"
                "agents: {a: {arrivals: all_at(0 s), runs: 2}}\n",
                NULL, NULL, "s.yaml:1:30", "no warmup");
    expect_said("study: {until: done, horizon: 3 s}\nbackends: {a: {kind: slots, servers: 1, service: 1 s}}\n"
                "agents: {a: {arrivals: all_at(0 s), runs: 2}}\n",
                NULL, NULL, "s.yaml:1:31", "no horizon");
    expect_said("study: {until: done}\nbackends: {a: {kind: slots, servers: 1, service: 1 s}}\n"
                "agents: {a: {arrivals: poisson(1/s)}}\n",
                NULL, NULL, "s.yaml:3:13", "never ends");
}
END_TEST

START_TEST(several_at_once)
{
    const char *text = "study: {horizon: 1}\nbackends: {a: {kind: slots, servers: 0, service: 1 s}, "
                       "b: {kind: slots, servers: 1, service: 1 s}}\nagents: {a: {population: 1}}\n"
                       "policies: [fixed_cap: {cap: 0}, codel: {target: 3}]\n";
    ck_assert(!plan_file_read(&file, text, NULL, NULL));
    ck_assert_uint_eq(file.diag.errors, 4);
}
END_TEST

#define COUNT_OF(array) ((int)(sizeof(array) / sizeof *(array)))

Suite *plan_errors_suite(void)
{
    Suite *suite = suite_create("plan_errors");
    TCase *tcase = tcase_create("plan_errors");
    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_loop_test(tcase, in_the_card, 0, COUNT_OF(mistakes));
    tcase_add_loop_test(tcase, in_further_lines, 0, COUNT_OF(additions));
    tcase_add_loop_test(tcase, on_the_way_into_lists, 0, COUNT_OF(losts));
    tcase_add_loop_test(tcase, in_arguments, 0, COUNT_OF(arguments));
    tcase_add_test(tcase, in_whole_documents);
    tcase_add_test(tcase, several_at_once);
    suite_add_tcase(suite, tcase);
    return suite;
}
