/* test_tornado.c - `weir run --tornado`: each end is a run of its own, the widest swing stands first. */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/command_fixture.h"
#include "tests/suites.h"

#define CARD \
    "title: Card\n" \
    "study: {horizon: 2000 s, warmup: 200 s, replications: 4}\n" \
    "backends: {card: {kind: slots, servers: 8, service: exponential(9 s)}}\n" \
    "agents: {coder: {population: 20, think: exponential(4.5 s), client: {base: 16 s}}}\n"
#define MOVED \
    "tornado: {metric: wait_mean, ranges: {agents.coder.client.base: [1 s, 8 s], agents.coder.think: [exponential(4 " \
    "s), " \
    "exponential(5 s)], backends.card.servers: [4, 16]}}\n"
#define PAIR "policies: [unbounded, fixed_cap: {cap: 12}]\nsweep: {agents.coder.population: [8, 12]}\n"

static const char *csv(void)
{
    plan_file_write(&file, "s.yaml", CARD MOVED PAIR);
    return SAID("run", file.path, "--tornado", "--format", "csv");
}

/* The line that begins so. */
static const char *line_of(const char *text, const char *begin)
{
    const char *line = strstr(text, arena_format(&file.arena, "\n%s", begin));

    ck_assert_msg(line != NULL, "no %s in %s", begin, text);
    return line + 1;
}

/* The number in that field of a line, from 0. */
static double field(const char *line, int index)
{
    for (; index > 0; index--)
        line = strchr(line, ',') + 1;
    return *line == ',' ? (double)NAN : atof(line);
}

enum { SWING = 5, FROM = 7, TO = 9, BASE = 11 };

START_TEST(widest_first)
{
    const char *table = csv(), *servers = line_of(table, "unbounded,backends.card.servers,4,16,------------,");
    const char *think = line_of(table, "unbounded,agents.coder.think,"),
               *base = line_of(table, "unbounded,agents.coder.c");

    ck_assert(servers < think && think < base);
    ck_assert_double_eq(field(base, SWING), 0); /* nobody backs off */
    ck_assert_double_lt(field(servers, SWING), field(think, SWING));
    ck_assert_double_lt(field(think, SWING), 0);
    /* under the cap, which stands behind, the pause moves what waits */
    ck_assert_double_ne(field(line_of(table, "fixed_cap,agents.coder.client.base,"), SWING), 0);
    ck_assert_int_eq(program_count(table, "\n"), 1 + 2 * 3);
}
END_TEST

/* Without the sweep, which is put aside. */
START_TEST(each_end_is_a_run)
{
    static const char *const sets[] = {"backends.card.servers=4", "backends.card.servers=16",
                                       "backends.card.servers=8"};
    static const int fields[] = {FROM, TO, BASE};
    const char *line = line_of(csv(), "fixed_cap,backends.card.servers,");

    ck_assert_double_eq_tol(field(line, SWING), field(line, TO) - field(line, FROM), 1e-9);
    for (size_t i = 0; i < 3; i++) {
        const char *run = SAID("run", file.path, "--set", sets[i], "--set", "agents.coder.population=20", "--policy",
                               "fixed_cap", "--format", "csv");
        const char *value = arena_format(&file.arena, ",%.*s,", (int)strcspn(line, "\n"), line);
        char digits[40];

        for (int k = fields[i] + 1; k > 0; k--)
            value = strchr(value, ',') + 1;
        snprintf(digits, sizeof digits, ",%.*s,", (int)strcspn(value, ","), value);
        program_has(run, digits);
    }
}
END_TEST

START_TEST(as_people_see_it)
{
    const char *said;

    plan_file_write(&file, "s.yaml", CARD MOVED);
    said = SAID("run", file.path, "--tornado", "--plot", in_folder("pictures"));
    ck_assert_ptr_eq(strstr(said, "Card\n\nrange "), said);
    program_has(said, "\nAs the scenario has it, wait_mean is ");
    program_has(said, "wait_mean: each is moved alone, from one end to the other");
    ck_assert_int_eq(access(in_folder("pictures/s.tornado.wait_mean.svg"), F_OK), 0);
    said = SAID("run", file.path, "--tornado", "-j", "1");
    program_same(SAID("run", file.path, "--tornado", "-j", "5"), said);
}
END_TEST

START_TEST(bad_input)
{
    static const struct {
        const char *text, *option, *said;
    } cases[] = {
        {CARD, "-j1",
         " does not say what to move: expected tornado: {metric: wait_p99, ranges: {ADDRESS: [FROM, TO]}}"},
        {CARD MOVED, "--verify", "weir run: `--tornado` and `--verify`: expected one of the two\n"},
        {CARD "tornado: {metric: wait_p99}\n", "-j1", "s.yaml:5:10: error: tornado: expected what is moved, such as"},
        {CARD "tornado: {metric: wait, ranges: {study.seed: [1, 2]}}\n", "-j1",
         "s.yaml:5:19: error: tornado: there is no metric wait: expected one of"},
        {CARD "tornado: {ranges: {agents.coder.population: 8..24}}\n", "-j1",
         "s.yaml:5:45: error: tornado: ranges: agents.coder.population: expected its two ends, such as [30k, 60k]"},
        {CARD "tornado: {ranges: {agents.coder.populaton: [8, 24]}}\n", "-j1", "did you mean population?"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        plan_file_write(&file, "s.yaml", cases[i].text);
        PROGRAM_RUN(&program, NULL, "run", file.path, "--tornado", cases[i].option);
        ck_assert_int_eq(program.status, 2);
        ck_assert_str_eq(program.out, "");
        program_has(program.err, cases[i].said);
        program_fini(&program);
    }
}
END_TEST

Suite *tornado_suite(void)
{
    Suite *suite = suite_create("tornado");
    TCase *test = tcase_create("tornado");

    tcase_add_checked_fixture(test, setup, teardown);
    tcase_set_timeout(test, 0);
    tcase_add_test(test, widest_first);
    tcase_add_test(test, each_end_is_a_run);
    tcase_add_test(test, as_people_see_it);
    tcase_add_test(test, bad_input);
    suite_add_tcase(suite, test);
    return suite;
}
