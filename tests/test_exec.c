/* test_exec.c - policies that are programs: they decide as what is built in does, for any -j, and whatever else they do
 * ends the run with status 2 and a message that quotes the line. */
#include <check.h>
#include <math.h>
#include <string.h>

#include "tests/command_fixture.h"
#include "tests/sheet.h"
#include "tests/suites.h"

#define CARD \
    "study: {horizon: 300 s, replications: 2, seed: 1}\n" \
    "backends: {card: {kind: slots, servers: 2, rate: 39 tokens/s}}\n" \
    "agents: {coder: {population: 6, think: exponential(4.5 s), output: exponential(300)}}\n"

static const char *const sweep_digits[] = {"1", "2"};

/* The same digits behind the label; and for two threads. */
START_TEST(a_cap_in_python)
{
    const char *one = NULL;

    for (int i = 0; i < 2; i++) {
        const char *out = SAID("run", "scenarios/programs/cap.yaml", "--format", "csv", "-j", sweep_digits[i]);
        const char *built_in = strstr(out, "\nfixed_cap,"), *program_row = strstr(out, "\nprogram,");
        ck_assert(built_in && program_row && built_in < program_row);
        ck_assert_int_eq(strncmp(built_in + strlen("\nfixed_cap,"), program_row + strlen("\nprogram,"),
                                 strlen(program_row + strlen("\nprogram,"))),
                         0);
        if (one)
            ck_assert_str_eq(out, one);
        one = arena_text(&file.arena, out);
    }
}
END_TEST

/* Its own random numbers, so other digits; each interval has the other's mean in reach. */
START_TEST(a_pacer_in_lua)
{
    const char *out = in_folder("t.csv");
    struct sheet *sheet;
    static const char *const metrics[] = {"goodput",        "total_wait_mean", "total_wait_p99", "response_mean",
                                          "in_system_mean", "provider_429s",   "input_per_min",  "attempts_per_turn"};

    PROGRAM_RUN(&program, NULL, "run", "scenarios/programs/pacer.yaml", "-r", "4", "--set", "study.horizon=1 h", "-o",
                out);
    ck_assert_msg(program.status == 0, "%s", program.err);
    sheet = sheet_read(out);
    for (size_t i = 0; i < sizeof metrics / sizeof *metrics; i++) {
        const char *half = arena_format(&file.arena, "%s_hw", metrics[i]);
        double one = sheet_cell(sheet, 1, metrics[i]), other = sheet_cell(sheet, 2, metrics[i]);
        double reach = sheet_cell(sheet, 1, half) + sheet_cell(sheet, 2, half);
        ck_assert_msg(fabs(one - other) <= reach, "%s: %g and %g, not within %g", metrics[i], one, other, reach);
    }
    ck_assert_double_gt(sheet_cell(sheet, 2, "provider_429s"), 0);
    ck_assert_double_gt(sheet_cell(sheet, 2, "total_wait_mean"), 5);
    sheet_free(sheet);
}
END_TEST

static const struct {
    const char *command; /* behind `command: ` */
    const char *says;
} wrongs[] = {
    {"[no_such_program]", "`no_such_program` cannot be started in folder `/"},
    {"[/dev/null]", "`/dev/null` cannot be started in folder `/"},
    {"[cat]", "answered `begin now=0.000 protocol=1 seed="},
    {"['true']", "ended with status 0 in place of an answer to `begin now=0.000 protocol=1 seed="},
    {"[sh, -c, 'exit 3']", "ended with status 3 in place of an answer to `begin"},
    {"[sh, -c, 'kill -TERM $$']", "was ended by signal 15 in place of an answer to `begin"},
    {"[sh, -c, 'exec >&-; sleep 20']", "did not answer within 2 s of real time"},
    {"[sleep, 20]", "did not answer within 2 s of real time (does it flush its output?) to `begin now=0.000"},
    {"[sh, -c, 'printf takes; sleep 20']", "did not answer within 2 s of real time"},
    {"[yes, takes]", "answered more than one line, `takes`, to `begin"},
    {"[sh, -c, 'tr -c x x </dev/zero']", "answered 4096 bytes without an end of line, `xxxx"},
    {"[sh, -c, 'read l; echo takes breath; read l']", "answered `takes breath` to `begin now=0.000 protocol=1 "
                                                      "seed=872400893`; expected behind takes some of: run_admit"},
    {"[sh, -c, 'read l; echo takes admit; while read l; do echo hold; done']",
     "answered `hold` to `admit now=0.770454671 call=1 agent=0 class=coder est_in=0 attempt=1 est_cached="},
    {"[sh, -c, 'read l; echo takes admit; while read l; do echo hold -1; done']", "answered `hold -1` to `admit now="},
    {"[sh, -c, 'read l; echo takes admit; while read l; do echo defer cap; done']", "expected admit, hold SECONDS"},
    {"[sh, -c, 'read l; echo takes admit; while read l; do echo admit now; done']", "answered `admit now` to"},
    {"[sh, -c, 'read l; echo takes admit; while read l; do echo reject a b; done']", "answered `reject a b` to"},
    {"[sh, -c, 'read l; echo takes admit; while read l; do echo hold 0.0009; done']",
     "answered hold for 900000 ns; expected at least 1 ms"},
    {"[sh, -c, 'read l; echo takes start; while read l; do echo hold 1; done']", "answered hold, which this callback"},
    {"[sh, -c, 'read l; echo takes finish; while read l; do echo admit; done']", "answered `admit` to `finish now="},
    {"[sh, -c, 'read l; echo takes tick; while read l; do echo wake soon; done']",
     "answered `wake soon` to `tick now=0.000 gate=0 servers=2 busy=0 waiting=0 holding=0`; expected ok, or wake"},
    {"[sh, -c, 'read l; echo takes; read l; echo more']", "its program said more than it was asked: `more`"},
    {"[sh, -c, 'read l; echo takes admit; while read l; do echo defer none p$$; done']",
     "answers the same questions in two ways: `defer none p"},
};

/* Only those that never answer have little time to: a busy machine may be slow to start a program. */
START_TEST(wrong_programs)
{
    const char *within = strstr(wrongs[_i].says, "did not answer") ? "2 s" : "10 min";

    plan_file_write(&file, "s.yaml",
                    arena_format(&file.arena, CARD "policies: [exec: {answer_within: %s, command: %s}]\n", within,
                                 wrongs[_i].command));
    PROGRAM_RUN(&program, NULL, "run", file.path);
    ck_assert_msg(program.status == 2, "status %d: %s", program.status, program.err);
    program_has(program.err, "weir: exec, replication 1: policy `exec`");
    program_has(program.err, wrongs[_i].says);
    ck_assert_str_eq(program.out, "");
    ck_assert_int_eq(program_count(program.err, "\n"), 1);
}
END_TEST

/* What it writes to its standard error is seen; the words go to it as they are, since no shell reads them. */
START_TEST(words_and_standard_error)
{
    plan_file_write(&file, "s.yaml",
                    CARD
                    "policies:\n  - exec:\n      command: [sh, -c, 'echo \"$1\" >&2; read l; echo takes; read l', x, "
                    "\"$HOME;`a` 'b' *\"]\n      repeat: 0\n");
    PROGRAM_RUN(&program, NULL, "run", file.path, "-r", "1");
    ck_assert_int_eq(program.status, 0);
    ck_assert_str_eq(program.err, "$HOME;`a` 'b' *\n");
    program_fini(&program);
    PROGRAM_RUN(&program, NULL, "check", file.path);
    program_has(program.out, "        - \"-c\" ");
}
END_TEST

static const struct {
    const char *text, *says;
} unread[] = {
    {"command: sh", "5:21: error: exec: command: expected a list of words, as in [python3, policy.py], found a value"},
    {"command: []", "expected a list of words, as in [python3, policy.py], found an empty list"},
    {"command: [sh, '']", "exec: command: expected a word, found an empty one"},
    {"command: [sh, {a: 1}]", "exec: command: expected a word, found a mapping"},
    {"repeat: 3", "exec: needs command: a list of words"},
    {"command: [sh], scope: gate", "scope: exec has one copy for all gates"},
};

START_TEST(wrong_settings)
{
    plan_file_write(&file, "s.yaml", arena_format(&file.arena, CARD "policies:\n  - exec: {%s}\n", unread[_i].text));
    PROGRAM_RUN(&program, NULL, "check", file.path);
    ck_assert_int_eq(program.status, 2);
    program_has(program.err, unread[_i].says);
}
END_TEST

Suite *exec_suite(void)
{
    Suite *suite = suite_create("exec");
    TCase *test = tcase_create("exec");

    tcase_set_timeout(test, 0);
    tcase_add_checked_fixture(test, setup, teardown);
    tcase_add_test(test, a_cap_in_python);
    tcase_add_test(test, a_pacer_in_lua);
    tcase_add_loop_test(test, wrong_programs, 0, sizeof wrongs / sizeof *wrongs);
    tcase_add_test(test, words_and_standard_error);
    tcase_add_loop_test(test, wrong_settings, 0, sizeof unread / sizeof *unread);
    suite_add_tcase(suite, test);
    return suite;
}
