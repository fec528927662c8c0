/* test_verify.c - `weir run --verify`: which formulas it finds, what it makes of them, and where it has none. */
#include <check.h>
#include <string.h>

#include "tests/command_fixture.h"
#include "tests/suites.h"

/* Textbook queues: how many predictions agree, and which law they come from. */
static const struct textbook {
    const char *name, *backend, *agents, *law;
    int predictions;
} textbook[] = {
    /* saturated: its utilisation does not vary */
    {"M/M/8//24", "servers: 8, service: exponential(9 s)", "population: 24, think: exponential(4.5 s)", "M/M/c//N ", 5},
    {"M/M/4", "servers: 4, service: exponential(1 s)", "arrivals: poisson(2.8/s)", "M/M/c ", 4},
    {"M/M/1", "servers: 1, rate: 39 tokens/s", "arrivals: poisson(0.2/s), output: exponential(117)", "M/M/c ", 4},
    {"M/G/1", "servers: 1, service: lognormal(1 s cv 1.5)", "arrivals: poisson(0.5/s)", "M/G/1 ", 3},
    {"M/D/1", "servers: 1, service: 1 s", "arrivals: poisson(0.5/s)", "M/G/1 ", 3},
    {"M/G/8", "servers: 8, service: lognormal(1 s cv 2)", "arrivals: poisson(5/s)", "X = arrivals ", 2},
};

START_TEST(textbook_queues_agree)
{
    const struct textbook *queue = &textbook[_i];
    plan_file_write(&file, "s.yaml",
                    arena_format(&file.arena,
                                 "study: {horizon: 12000 s, warmup: 1000 s, replications: 12}\n"
                                 "backends: {a: {kind: slots, %s}}\nagents: {a: {%s}}\n",
                                 queue->backend, queue->agents));
    const char *text = SAID("run", file.path, "--verify");
    program_has(text, "Identities: in each of 12 replications");
    program_has(text, arena_format(&file.arena, "\nunbounded     %s", queue->law));
    ck_assert_msg(program_count(text, "  agrees\n") == queue->predictions,
                  "%s: "
                  "%.3000s",
                  queue->name, text);
    program_lacks(text, "FAR");
    program_lacks(text, "BROKEN");
    ck_assert_int_eq(program_count(text, "no formula holds"), strcmp(queue->name, "M/G/8") == 0);
}
END_TEST

START_TEST(it_says_where_no_formula_holds)
{
    plan_file_write(&file, "s.yaml",
                    "study: {horizon: 100 s, replications: 2}\n"
                    "backends: {a: {kind: slots, servers: 2, service: 1 s}}\n"
                    "agents: {a: {population: 2, think: 1 s}, b: {arrivals: poisson(1/s)}}\n");
    program_has(SAID("run", file.path, "--verify"), "no formula holds");
    plan_file_write(&file, "s.yaml",
                    "study: {horizon: 100 s, replications: 2}\n"
                    "backends: {a: {kind: slots, servers: 2, service: 1 s}}\n"
                    "agents: {a: {arrivals: poisson(5/s)}}\n");
    program_has(SAID("run", file.path, "--verify"), "no steady state");
}
END_TEST

/* Boots and deaths are in no law: N = X (R + Z) would be FAR. */
START_TEST(it_knows_no_law_of_fleets)
{
    static const char *const more[] = {"boot: 9 s", "client: {dies: 10 %}",
                                       "deadline: {run: 4 s}, at_deadline: gives_up",
                                       "client: [{base: 1 s}, {timeout: 9 s}]"};

    for (size_t i = 0; i < sizeof more / sizeof *more; i++) {
        plan_file_write(&file, "s.yaml",
                        arena_format(&file.arena,
                                     "study: {horizon: 900 s, warmup: 90 s, replications: 3}\n"
                                     "backends: {a: {kind: slots, servers: 2, service: 1 s}}\n"
                                     "agents: {a: {population: 2, turns: 3, think: exponential(1 s), %s}}\n",
                                     more[i]));
        const char *text = SAID("run", file.path, "--verify");
        program_lacks(text, "N = X");
        program_lacks(text, "FAR\n");
        program_has(text, "no formula holds");
    }
}
END_TEST

/* Agents whose turns are rejected come back without a service, so they wait less than the laws of a closed loop say. */
START_TEST(it_knows_no_law_of_turns_that_are_lost)
{
    static const char *const policies[] = {"deadline", "unbounded"};

    for (size_t i = 0; i < 2; i++) {
        plan_file_write(&file, "s.yaml",
                        arena_format(&file.arena,
                                     "study: {horizon: 9000 s, warmup: 900 s, replications: 3}\n"
                                     "backends: {a: {kind: slots, servers: 1, service: 10 s}}\n"
                                     "agents: {a: {population: 20, turns: 2, think: 1 s, deadline: {turn: 40 s}}}\n"
                                     "policies: [%s]\n",
                                     policies[i]));
        const char *text = SAID("run", file.path, "--verify");
        program_lacks(text, "BROKEN\n");
        program_lacks(text, "FAR\n");
        ck_assert_int_eq(program_count(text, "no formula holds"), i == 0);
    }
}
END_TEST

/* Too short and without a warm-up: agents begin thinking, so the mean wait is far below that of the steady state. */
START_TEST(it_sees_a_bias)
{
    plan_file_write(&file, "s.yaml",
                    "study: {horizon: 20 s}\n"
                    "backends: {a: {kind: slots, servers: 8, service: exponential(9 s)}}\n"
                    "agents: {a: {population: 24, think: exponential(4.5 s)}}\n");
    const char *text = SAID("run", file.path, "--verify");
    ck_assert_int_ge(program_count(text, "  FAR\n"), 2);
    ck_assert_int_eq(program_count(text, "  BROKEN\n"), 1);
    program_lacks(text, ", 0 beyond");
}
END_TEST

START_TEST(with_one_replication_it_judges_nothing)
{
    plan_file_write(&file, "s.yaml",
                    "study: {horizon: 300 s, warmup: 20 s, replications: 3}\n"
                    "backends: {card: {kind: slots, servers: 2, service: exponential(2 s)}}\n"
                    "agents: {coder: {population: 4, think: exponential(4.5 s)}}\n");
    const char *text = SAID("run", file.path, "--verify", "-r", "1");
    program_lacks(text, "agrees");
    program_lacks(text, "BROKEN");
    program_has(text, "  one replication\n");
    program_has(text, " 0 beyond four standard errors");
}
END_TEST

Suite *verify_suite(void)
{
    Suite *suite = suite_create("verify");
    TCase *tcase = tcase_create("verify");
    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_loop_test(tcase, textbook_queues_agree, 0, (int)(sizeof textbook / sizeof *textbook));
    tcase_add_test(tcase, it_says_where_no_formula_holds);
    tcase_add_test(tcase, it_knows_no_law_of_fleets);
    tcase_add_test(tcase, it_knows_no_law_of_turns_that_are_lost);
    tcase_add_test(tcase, it_sees_a_bias);
    tcase_add_test(tcase, with_one_replication_it_judges_nothing);
    suite_add_tcase(suite, tcase);
    return suite;
}
