/* test_discover_verb.c - `weir discover` as users meet it: tables, the fragment, bounds, caps, and bad input. */
#include <check.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "sim/cli/discover_report.h"
#include "tests/command_fixture.h"
#include "tests/suites.h"

/* A pool alone: no study, no agents, no policies. */
#define POOL \
    "backends:\n  api: {kind: provider, meters: {requests: {limit: 4/s, burst: 60}, input: {limit: 100k tokens/s, " \
    "burst: 2.7M, cached_weight: 0.25}}, latency: {base: 10 s}}\n"
#define FREE "backends:\n  api: {kind: provider, latency: {base: 2 s}}\n"

static void write_scenario(const char *text)
{
    plan_file_write(&file, "s.yaml", text);
}

/* What a run that ends so says on both outputs. */
static void run(int status, const char *const *arguments)
{
    program_fini(&program);
    program_start(&program, NULL, arguments);
    program_wait(&program);
    ck_assert_msg(program.status == status, "status %d: %s", program.status, program.err);
}

#define RUN(status, ...) run(status, (const char *const[]){"discover", __VA_ARGS__, NULL})

START_TEST(steps_and_seeds)
{
    write_scenario(POOL);
    RUN(0, file.path);
    ck_assert_str_eq(program.err, "");
    program_has(program.out, "\n1   burst     burst  ");
    program_has(program.out,
                "\nburst edge              2621440  tokens    measured  c_burst 1310720, k_inflight 2490368");
    program_has(program.out, "\n# Seeds of the pool api of s.yaml, by weir ");
    program_has(program.out,
                " tokens.\nseeds:\n  api:\n    pacer:\n      r_tok: 96966 tokens/s\n      c_burst: 1310720\n");
    program_has(program.out, "\n      seed_age: 0 s\n");
    for (const char *line = program.out; *line; line += strcspn(line, "\n") + 1)
        ck_assert_msg(strcspn(line, "\n") <= 100, "%.*s", (int)strcspn(line, "\n"), line);
}
END_TEST

/* A row a step, all columns; no other line. */
START_TEST(as_csv)
{
    const char *csv, *name, *unit, *help, *head = "";
    int steps = 0;

    write_scenario(POOL);
    RUN(0, file.path, "--format", "csv");
    csv = program.out;
    for (size_t i = 0; (name = discover_report_column(i, &unit, &help)); i++)
        head = arena_format(&file.arena, "%s%s%s", head, i ? "," : "", name);
    ck_assert_int_eq(strncmp(csv, head, strlen(head)), 0);
    for (const char *line = strchr(csv, '\n') + 1; *line; line = strchr(line, '\n') + 1)
        ck_assert_int_eq(strtol(line, NULL, 10), ++steps);
    ck_assert_int_gt(steps, 10);
    program_has(program.err, "the seeds are written by -o SEEDS.yaml only");
    RUN(0, file.path, "--format", "markdown");
    program_has(program.out, "| found |");
    program_has(program.out, "\n```yaml\n# Seeds of");
}
END_TEST

START_TEST(into_a_file)
{
    const char *seeds, *said;

    write_scenario(POOL);
    RUN(0, file.path);
    said = arena_text(&file.arena, strstr(program.out, "# Seeds"));
    RUN(0, file.path, "-o", in_folder("seeds.yaml"), "--format", "csv");
    ck_assert_str_eq(program.err, "");
    program_lacks(program.out, "seeds");
    char *text = program_file(in_folder("seeds.yaml"));
    seeds = arena_text(&file.arena, text);
    free(text);
    program_same(seeds, said);
    /* The fragment is a part of a scenario. */
    write_scenario(arena_format(&file.arena, "%s%s", POOL, "seeds: {api: {token_bucket: {rate: 5/s}}}\n"));
    RUN(0, file.path);
    RUN(2, file.path, "-o", in_folder("nowhere/seeds.yaml"));
    program_has(program.err, "cannot write");
    ck_assert_str_eq(program.out, ""); /* before anything is probed */
    RUN(2, file.path, "-o", arena_format(&file.arena, "%s/./s.yaml", file.folder));
    program_has(program.err, "`--output` would overwrite what the scenario is read from");
    text = program_file(file.path);
    program_has(text, POOL);
    free(text);
}
END_TEST

/* The pacer takes what was found, wherever there is one. */
START_TEST(a_scenario_takes_them)
{
    const char *seeds;

    write_scenario(POOL);
    RUN(0, file.path);
    seeds = arena_text(&file.arena, strstr(program.out, "# Seeds"));
    write_scenario(arena_format(&file.arena, "%s%s%s", POOL,
                                "study: {horizon: 60 s, replications: 2}\n"
                                "agents: {coder: {population: 2, think: 5 s, output: 100, input: {start: 20k}}}\n"
                                "policies: [pacer]\n",
                                seeds));
    program_fini(&program);
    program_has(SAID("check", file.path), "r_tok: 96966 tokens/s");
    SAID("run", file.path);
}
END_TEST

START_TEST(lower_bounds)
{
    write_scenario(FREE);
    RUN(0, file.path);
    program_has(program.out, "lower bound");
    program_has(program.out, " # lower bound: the pool let in all that were sent at once\n");
    program_has(program.out, "\n# cached_weight: not found: it is measured against r_tok, which is a lower bound\n");
    program_has(program.err,
                "weir: note: burst edge of api: lower bound: the pool let in all that were sent at once\n");
    program_has(program.err, "weir: note: rate of api: lower bound: no step was strained; it is one if the pool saves "
                             "up a minute of its limit at "
                             "most\n");
    program_has(program.err, "weir: note: requests at once of api: lower bound: ");
    program_has(program.err, "weir: note: requests of api: lower bound: ");
}
END_TEST

/* A pool that lets in less than a context, and one that lets in less than two: what a seed is raised to is said. */
START_TEST(seeds_that_are_raised)
{
    write_scenario(
        "backends:\n  api: {kind: provider, meters: {requests: 4/s, input: {limit: 1k tokens/s, burst: 30k}}, "
        "latency: {base: 2 s}}\n");
    RUN(0, file.path);
    program_has(program.out, " c_burst 262144*, k_inflight 262144*\n");
    program_has(program.out, "\n* c_burst is raised to one full context, more than was found\n* k_inflight is raised");
    program_has(program.out, "\n      c_burst: 262144 # measured; raised to one full context\n");
    program_has(program.out, "\n      k_inflight: 262144 # measured; raised to one full context\n");
    for (const char *line = program.out; *line; line += strcspn(line, "\n") + 1)
        ck_assert_msg(strcspn(line, "\n") <= 100, "%.*s", (int)strcspn(line, "\n"), line);
    write_scenario("backends:\n  api: {kind: provider, meters: {in_flight: 1}, latency: {base: 2 s}}\n");
    RUN(0, file.path);
    program_has(program.out, " c_req 1*\n");
    program_has(program.out, "; raised to one request\n");
    write_scenario(POOL);
    RUN(0, file.path);
    program_lacks(program.out, "raised");
}
END_TEST

/* What was found until then is printed, and the status says no. */
START_TEST(caps)
{
    write_scenario(POOL);
    RUN(1, file.path, "--set", "discover.spend=6M tokens");
    program_has(program.err, "weir discover: ended in phase ramp, the cap was reached: spent 5767190 tokens\n");
    program_has(program.out, "\n# Ended in phase ramp: the cap was reached. What was found until then:\n");
    program_has(program.out, "\n      c_burst: 1310720\n");
    program_lacks(program.out, "\n      r_tok");
    program_has(program.out, "\n# r_tok: not found: it was ended before a step ran clean\n");
    RUN(1, file.path, "--set", "discover.spend=10 tokens");
    program_has(program.out, "\nseeds: {}\n");
    write_scenario(arena_format(&file.arena, "%sprices: {api: {input: 3}}\n", POOL));
    RUN(1, file.path, "--set", "discover.spend=18");
    program_has(program.err, "the cap was reached: spent 5767190 tokens, 17.30 of money\n");
    program_has(program.out, "  money  result\n");
    RUN(0, file.path);
    program_has(program.out, " of money.\n");
}
END_TEST

/* Strangers without end keep it busy. */
START_TEST(interrupted)
{
    write_scenario(
        "backends:\n  api: {kind: provider, meters: {requests: 60/min}, latency: {base: 10 s}, strangers: {calls: "
        "poisson(1000000/s), input: 1, output: 1}}\n");
    program_interrupt(&program, (const char *const[]){"discover", file.path, NULL}, 50, "interrupted");
    ck_assert_int_eq(program.status, 130);
    program_has(program.out, "# Ended in phase burst: interrupted.");
}
END_TEST

/* --- bad input ---------------------------------------------------------------------------------------------------- */

static const struct mistake {
    const char *text, *arguments[4], *said;
} mistakes[] = {
    {"backends: {card: {kind: slots, servers: 1, rate: 1 tokens/s}}\n",
     {NULL},
     "s.yaml: error: there is no provider to probe: expected a backend like api: {kind: provider, ...}\n"},
    {POOL "  other: {kind: provider, latency: {base: 1 s}}\n",
     {NULL},
     "s.yaml: error: there are several providers: expected --backend NAME with one of api, other\n"},
    {POOL, {"--backend", "ap"}, "--backend: error: there is no backend ap: expected one of api\n"},
    {POOL "  card: {kind: slots, servers: 1, rate: 1 tokens/s}\n",
     {"--backend", "card"},
     "--backend: error: card is a card: expected a provider, one of api\n"},
    {POOL "discover: {backend: apo}\n", {NULL}, "s.yaml:3:21: error: there is no backend apo: expected one of api\n"},
    {POOL "discover: {phases: [burst, cache]}\n",
     {NULL},
     "s.yaml:3:20: error: discover: phases: cache stands on ramp: expected both\n"},
    {POOL "discover: {phases: [bust]}\n",
     {NULL},
     "s.yaml:3:21: error: discover: phases: bust: expected one of burst, ramp, requests, cache; did you mean burst?\n"},
    {POOL "discover: {phases: []}\n",
     {NULL},
     "s.yaml:3:20: error: discover: phases: expected a list, such as [burst, ramp]\n"},
    {POOL "discover: {spend: 5 s}\n",
     {NULL},
     "s.yaml:3:19: error: discover: spend: 5 s: expected tokens, such as 50M tokens, or money, a bare number\n"},
    {POOL "discover: {spend: 5 turns}\n", {NULL}, "s.yaml:3:19: error: discover: spend: 5 turns: expected tokens"},
    {POOL "discover: {spend: 5}\n",
     {NULL},
     "s.yaml:3:19: error: discover: spend: a bare number is money, and api has no prices: expected prices: {api: "
     "{input: 3"},
    {POOL "discover: {contxt: 5}\n", {NULL}, "did you mean context?"},
    {POOL "discover: {burst: three_step}\n", {NULL}, "double"},
    {POOL "discover: [burst]\n",
     {NULL},
     "s.yaml:3:11: error: discover: expected a mapping of keys to values, not a list\n"},
    {POOL, {"--format", "yaml"}, "weir discover: `--format yaml`: expected text, csv or markdown\n"},
    {POOL, {"--set", "discover.hits=2"}, "expected"},
};

START_TEST(bad_input)
{
    const struct mistake *mistake = &mistakes[_i];

    write_scenario(mistake->text);
    RUN(2, file.path, mistake->arguments[0], mistake->arguments[1]);
    program_has(program.err, mistake->said);
    ck_assert_str_eq(program.out, "");
}
END_TEST

/* The pool itself is asked through any of its keys, at the prices of the key. */
START_TEST(which_backend)
{
    write_scenario(POOL "  key: {kind: alias, of: api}\n  card: {kind: slots, servers: 1, rate: 1 tokens/s}\n");
    RUN(0, file.path); /* one pool, whatever its keys */
    program_has(program.out, "\n  api:\n");
    RUN(0, file.path, "--backend", "key");
    program_has(program.out, "# Seeds of the pool key of s.yaml");
    program_has(program.out, "\n  key:\n    pacer:\n      r_tok: 96966 tokens/s\n");
    write_scenario(POOL "  other: {kind: provider, latency: {base: 1 s}}\ndiscover: {backend: other, phases: burst}\n");
    RUN(0, file.path);
    program_has(program.out, "\n  other:\n");
    RUN(0, file.path, "--backend", "api");
    program_has(program.out, "\n  api:\n");
}
END_TEST

START_TEST(a_sweep_is_not_probed)
{
    write_scenario(POOL "sweep: {backends.api.meters.requests.limit: [2/s, 4/s]}\n");
    RUN(0, file.path);
    program_has(program.err, "only the first point of the sweep is probed, backends.api.meters.requests.limit = 2/s\n");
}
END_TEST

/* No change is made while a pool is probed, and that is said, once one would be. */
START_TEST(the_timeline_is_not_probed)
{
    write_scenario(POOL "  other: {kind: provider, latency: {base: 1 s}}\n  key: {kind: alias, of: api}\n"
                        "changes: [{at: 1 s, set: backends.api.meters.requests.limit, to: 1/s},\n"
                        "  {at: 2 s, set: backends.api.meters.input.burst, to: 1M}]\n");
    RUN(0, file.path, "--backend", "api");
    program_has(program.err, "weir: note: api is probed as it begins: of `changes` 2 concern it, and none is made\n");
    program_has(program.out, "r_tok: 96966 tokens/s\n");
    RUN(0, file.path, "--backend", "key");
    program_has(program.err, "weir: note: key is probed as it begins: of `changes` 2 concern it");
    RUN(0, file.path, "--backend", "other");
    program_lacks(program.err, "changes"); /* nor a warning that they come too late */
}
END_TEST

/* A pool alone is a scenario that can be checked, but none that can be run; half of one is neither. */
START_TEST(a_pool_is_checked)
{
    write_scenario(POOL "discover: {context: 100k}\n");
    program_has(SAID("check", file.path), "\n# no study and no agents: something to probe by `weir discover`");
    program_has(SAID("check", file.path), "\n  context: 100k");
    PROGRAM_RUN(&program, NULL, "run", file.path);
    ck_assert_int_eq(program.status, 2);
    program_fini(&program);
    write_scenario(POOL "study: {horizon: 60 s}\n");
    PROGRAM_RUN(&program, NULL, "check", file.path);
    ck_assert_int_eq(program.status, 2);
    program_has(program.err, "agents");
    program_fini(&program);
    write_scenario(POOL "agents: {coder: {population: 2, think: 5 s, output: 100}}\n");
    PROGRAM_RUN(&program, NULL, "check", file.path);
    ck_assert_int_eq(program.status, 2);
    program_has(program.err, "horizon");
}
END_TEST

/* A slip in what a run takes no notice of is found all the same. */
START_TEST(a_run_reads_it)
{
    write_scenario(arena_format(&file.arena, "%s%s", plan_file_card, "discover: {context: 100k, target: 4}\n"));
    program_has(SAID("check", file.path), "\ndiscover:\n  context: 100k");
    write_scenario(arena_format(&file.arena, "%s%s", plan_file_card, "discover: {contxt: 100k}\n"));
    PROGRAM_RUN(&program, NULL, "run", file.path);
    ck_assert_int_eq(program.status, 2);
    program_has(program.err, "did you mean context?");
}
END_TEST

/* --- scenarios/discovery.yaml ------------------------------------------------------------------------------------- */

START_TEST(as_it_ships)
{
    char *kept = program_file("scenarios/discovery.seeds.yaml"), *written;

    RUN(0, "scenarios/discovery.yaml", "-o", in_folder("seeds.yaml"));
    written = program_file(in_folder("seeds.yaml"));
    program_same(written, kept);
    program_has(kept, "      c_burst: 1065000\n      k_inflight: 2023500\n      c_req: 30\n");
    free(kept);
    free(written);
    program_has(program.err, "upper bound: requests bound before cached input did");
    RUN(0, "scenarios/discovery.yaml", "--set", "backends.laguna.meters.requests.limit=8/s");
    program_has(program.out, "cached_weight: 0.091\n");
}
END_TEST

#define TEST(name) tcase_add_test(tcase, name)

Suite *discover_verb_suite(void)
{
    Suite *suite = suite_create("discover_verb");
    TCase *tcase = tcase_create("discover_verb");
    tcase_add_checked_fixture(tcase, setup, teardown);
    TEST(steps_and_seeds);
    TEST(as_csv);
    TEST(into_a_file);
    TEST(a_scenario_takes_them);
    TEST(lower_bounds);
    TEST(seeds_that_are_raised);
    TEST(caps);
    TEST(interrupted);
    tcase_add_loop_test(tcase, bad_input, 0, (int)(sizeof mistakes / sizeof *mistakes));
    TEST(which_backend);
    TEST(a_sweep_is_not_probed);
    TEST(the_timeline_is_not_probed);
    TEST(a_pool_is_checked);
    TEST(a_run_reads_it);
    TEST(as_it_ships);
    suite_add_tcase(suite, tcase);
    return suite;
}
