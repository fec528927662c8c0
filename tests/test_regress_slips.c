/* test_regress_slips.c - slips in policies that people run, each in a plug-in of the policy's name: `weir regress`
 * calls them worse, on shorter studies than those of scenarios/. And changes of settings that are trades. */
#include <check.h>
#include <stdlib.h>

#include "tests/regress_card.h"
#include "tests/sheet.h"
#include "tests/suites.h"

static const char *plugin(const char *name)
{
    char path[300];

    return arena_text(&file.arena, program_plugin(name, path, sizeof path));
}

/* A copy of a scenario, cut short by `regress: set`, with the table that it has now. */
static void begin_short(const char *scenario, const char *shorter)
{
    char *text = program_file(scenario);

    ck_assert_ptr_nonnull(text);
    regress_begin(arena_format(&file.arena, "%s\nregress: %s\n", text, shorter));
    free(text);
    REGRESS(0, file.path, "--exact");
}

/* The line's head is passed by whoever is smaller: it is the large call that loses. */
START_TEST(pacer_without_head)
{
    begin_short("scenarios/starvation.yaml", "{set: {study.horizon: 2 h, study.replications: 4}}");
    REGRESS(1, file.path, "--head", plugin("pacer_headless.so"), "-p", "pacer");
    program_has(program.out, "pacer, large: worse in goodput");
    program_lacks(program.out, "pacer, large: a trade");
}
END_TEST

START_TEST(codel_that_stays)
{
    begin_short("scenarios/policies.yaml",
                "{set: {study.horizon: 3000 s, study.warmup: 300 s, study.replications: 4}}");
    REGRESS(1, file.path, "--head", plugin("codel_stuck.so"));
    program_has(program.out, "codel, population 24: ");
    program_has(program.out, "worse in ");
}
END_TEST

/* A pool that bears eight calls at once, and a bucket of eight in front: each answer lets in two then, the pool refuses
 * what is too many, and its clients back off from an idle pool. On a card it would be a trade, as a line is one way to
 * wait and being refused another. */
#define POOL \
    "study: {horizon: 1 h, warmup: 5 min, replications: 6, seed: 1}\n" \
    "backends: {pool: {kind: provider, latency: {base: 4 s}, meters: {in_flight: 8}, retry_after: none}}\n" \
    "agents:\n  coder:\n    population: 24\n    think: exponential(4.5 s)\n    output: exponential(354)\n" \
    "    client: {backoff: exponential, base: 16 s, cap: 120 s, jitter: full}\n" \
    "policies:\n  - unbounded\n  - token_bucket: {meter: in_flight, burst: 8, poll: 0.5 s}\n"

START_TEST(token_bucket_that_refunds_twice)
{
    regress_begin(POOL);
    REGRESS(1, file.path, "--head", plugin("token_bucket_twice.so"));
    program_has(program.out, "token_bucket: worse in goodput");
    program_has(program.out, "1 rows: 0 same, 0 within, 0 better, 0 undecided, 0 trade, 1 worse;");
}
END_TEST

/* Two plug-ins of one policy, of which one is as it should be: what is better one way is worse the other. */
START_TEST(two_versions)
{
    const char *twice = plugin("token_bucket_twice.so"), *same = plugin("token_bucket_same.so");

    regress_begin(POOL);
    REGRESS(0, file.path, "--base", twice, "--head", same);
    program_has(program.out, "1 rows: 0 same, 0 within, 1 better, 0 undecided, 0 trade, 0 worse;");
    REGRESS(1, file.path, "--base", same, "--head", twice);
    program_has(program.out, "1 rows: 0 same, 0 within, 0 better, 0 undecided, 0 trade, 1 worse;");
    REGRESS(0, file.path, "--base", twice, "--head", twice);
    program_has(program.out, "1 rows: 1 same, 0 within, 0 better, 0 undecided, 0 trade, 0 worse;");
}
END_TEST

/* Every layer of every client: as one sleeps, all sleep. */
START_TEST(backoff_without_jitter)
{
    begin_short("scenarios/retry_storm.yaml", "{set: {study.replications: 8}}");
    REGRESS(1, file.path, "-p", "no_budget", "--head-set", "agents.burst.client.0.jitter=none", "--head-set",
            "agents.burst.client.1.jitter=none", "--head-set", "agents.burst.client.2.jitter=none", "--head-set",
            "agents.steady.client.0.jitter=none", "--head-set", "agents.steady.client.1.jitter=none", "--head-set",
            "agents.steady.client.2.jitter=none");
    program_has(program.out, "no_budget, burst: worse in ");
}
END_TEST

START_TEST(trades)
{
    static const char *const settings[] = {"policies.codel.target=16 s", "policies.fixed_cap.cap=13",
                                           "policies.fixed_cap.cap=11"};

    begin_short("scenarios/policies.yaml", "{set: {study.horizon: 6000 s, study.warmup: 500 s, study.replications: 8, "
                                           "sweep.agents.coder.population: [24]}}");
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        REGRESS(1, file.path, "--paired", "--head-set", settings[i]);
        program_has(program.out, "3 rows: 2 same, 0 within, 0 better, 0 undecided, 1 trade, 0 worse;");
    }
}
END_TEST

/* What pairing is for: with eight replications at 24 agents goodput is known to a twentieth of a percent. */
START_TEST(paired_half_width)
{
    const char *out = in_folder("p.csv");
    struct sheet *table, *differences;

    PROGRAM_RUN(&program, NULL, "run", "scenarios/policies.yaml", "-r", "8", "--set",
                "sweep.agents.coder.population=[24]", "--against", "codel", "-o", out);
    ck_assert_msg(program.status == 0, "%s", program.err);
    table = sheet_read(out);
    differences = sheet_read(in_folder("p.differences.csv"));
    ck_assert_uint_eq(differences->rows, 3);
    for (size_t row = 1; row < differences->rows; row++) {
        double half = sheet_cell(differences, row, "d_goodput_hw");

        ck_assert_double_gt(half, 0);
        ck_assert_double_lt(half / sheet_cell(table, row, "goodput"), 0.0005);
    }
    sheet_free(table);
    sheet_free(differences);
}
END_TEST

START_TEST(versions)
{
    regress_begin(REGRESS_CARD);
    REGRESS(2, file.path, "--head", plugin("codel_stuck.so"));
    program_has(program.err, "no scenario names its policy, `codel`\n");
    REGRESS(2, file.path, "--base", plugin("codel_stuck.so"), "--head", plugin("pacer_headless.so"));
    program_has(program.err, "expected two versions of one policy");
}
END_TEST

Suite *regress_slips_suite(void)
{
    Suite *suite = suite_create("regress_slips");
    TCase *test = tcase_create("regress_slips");

    tcase_add_checked_fixture(test, setup, teardown);
    tcase_add_test(test, pacer_without_head);
    tcase_add_test(test, codel_that_stays);
    tcase_add_test(test, token_bucket_that_refunds_twice);
    tcase_add_test(test, two_versions);
    tcase_add_test(test, backoff_without_jitter);
    tcase_add_test(test, trades);
    tcase_add_test(test, paired_half_width);
    tcase_add_test(test, versions);
    suite_add_tcase(suite, test);
    return suite;
}
