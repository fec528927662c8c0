/* test_crash.c - last words: a crash in a policy's callback names policy, callback, call and moment and is the user's
 * to mend; elsewhere the moment is all there is, and the program dies of its signal. */
#include <check.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/cli/crash.h"
#include "sim/engine/queue.h"
#include "sim/engine/where.h"
#include "tests/plan_file.h"
#include "tests/program.h"
#include "tests/suites.h"

static void crash(struct plan_file *file, struct program *program, const char *how, const char *in)
{
    char path[512];
    plan_file_write(file, "s.yaml",
                    arena_format(&file->arena,
                                 "study: {horizon: 1000 s, seed: 9, replications: 1}\n"
                                 "backends: {card: {kind: slots, servers: 1, rate: 39 tokens/s}}\n"
                                 "agents: {coder: {population: 4, think: exponential(4.5 s), output: 120}}\n"
                                 "policies: [last: [crasher: {how: %s, in: %s, name: mine}]]\n",
                                 how, in));
    PROGRAM_RUN(program, NULL, "run", file->path, "--plugin", program_plugin("crasher.so", path, sizeof path));
}

START_TEST(a_policy_is_named)
{
    static const struct {
        const char *how, *in, *words;
    } rows[] = {
        {"address", "admit",
         "weir: crash by a wrong address (SIGSEGV): policy `mine`, callback `admit`, class `coder`, agent "},
        {"arithmetic", "admit",
         "weir: crash by wrong arithmetic (SIGFPE): policy `mine`, callback `admit`, class `coder`, agent "},
        {"abort", "admit",
         "weir: crash by a call of abort (SIGABRT): policy `mine`, callback `admit`, class `coder`, agent "},
        {"abort", "admit", ", turn 3, attempt 1, at "},
        {"address", "finish", "callback `finish`, class `coder`, agent "},
        {"address", "rank", "callback `rank`, class `coder`, agent "},
        {"address", "run_admit",
         "callback `run_admit`, class `coder`, agent 0, run 0, attempt 1, at 0.000000000 s, event 2, seed 9, "
         "replication 1\n"},
        {"address", "init", "callback `init`, at 0.000000000 s, event 0, seed 9, replication 1\n"},
        {"address", "changed", "callback `changed`, at 0.000000000 s, event 1, seed 9, replication 1\n"},
        {"address", "tick", "callback `tick`, at 0.000000000 s, event 1, seed 9, replication 1\n"},
        {"address", "check", "weir: crash by a wrong address (SIGSEGV): policy `crasher`, callback `check`\n"},
    };
    struct plan_file file;
    struct program program = {0};
    plan_file_init(&file);
    crash(&file, &program, rows[_i].how, rows[_i].in);
    program_has(program.err, rows[_i].words);
    ck_assert_int_eq(program_count(program.err, "\n"), 1);
    ck_assert_str_eq(program.out, "");
    ck_assert_int_eq(program.status, 2);
    program_fini(&program);
    plan_file_fini(&file);
}
END_TEST

/* What a process of its own says on standard error before it dies of a signal, which is returned. */
static int dying_words(void (*die)(void), char *text, size_t size)
{
    FILE *kept = tmpfile();
    int status;
    size_t length;
    ck_assert_ptr_nonnull(kept);
    pid_t pid = fork();
    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        dup2(fileno(kept), STDERR_FILENO);
        die();
        _exit(0);
    }
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert(WIFSIGNALED(status));
    rewind(kept);
    length = fread(text, 1, size - 1, kept);
    text[length] = '\0';
    fclose(kept);
    return WTERMSIG(status);
}

static const struct sim_where where = {-1500000000, UINT64_MAX, 7, 3};

static void leave_a_line_in_a_trial(void)
{
    struct queue queue = {0};
    struct queue_node node = {0};
    sim_record.where = &where;
    queue_leave(&queue, &node);
}

static void leave_a_line(void)
{
    struct queue queue = {0};
    struct queue_node node = {0};
    queue_leave(&queue, &node);
}

/* queue.c knows no replication; the thread's record does. */
START_TEST(an_assert_without_a_moment_takes_the_records)
{
    char text[1024];
    ck_assert_int_eq(dying_words(leave_a_line_in_a_trial, text, sizeof text), SIGABRT);
    program_has(text, "weir: at -1.500000000 s, event 18446744073709551615, seed 7, replication 3\n");
    ck_assert_int_eq(dying_words(leave_a_line, text, sizeof text), SIGABRT);
    program_has(text, "assertion failed");
    program_lacks(text, "replication");
}
END_TEST

static void crash_in_a_trial(void)
{
    cli_catch_crashes();
    sim_record.where = &where;
    raise(SIGFPE);
}

static void crash_outside(void)
{
    cli_catch_crashes();
    raise(SIGBUS);
}

/* The message of an assert is all that is said. */
static void assert_in_a_callback(void)
{
    cli_catch_crashes();
    sim_record.callback = "admit";
    leave_a_line_in_a_trial();
}

START_TEST(nobody_is_blamed_elsewhere)
{
    char text[1024];
    ck_assert_int_eq(dying_words(crash_in_a_trial, text, sizeof text), SIGFPE);
    ck_assert_str_eq(text, "weir: crash by wrong arithmetic (SIGFPE), at -1.500000000 s, event 18446744073709551615, "
                           "seed 7, replication 3\n");
    ck_assert_int_eq(dying_words(crash_outside, text, sizeof text), SIGBUS);
    ck_assert_str_eq(text, "");
    ck_assert_int_eq(dying_words(assert_in_a_callback, text, sizeof text), SIGABRT);
    program_has(text, "assertion failed");
    program_lacks(text, "crash");
}
END_TEST

START_TEST(words_are_cut_at_their_end)
{
    struct sim_words words = {.length = 0};
    for (int i = 0; i < 1000; i++)
        sim_words_number(&words, 10);
    ck_assert_uint_eq(words.length, sizeof words.text - 1);
    ck_assert_uint_eq(strlen(words.text), words.length);
    words.length = 0;
    sim_words_time(&words, INT64_MIN);
    ck_assert_str_eq(words.text, "-9223372036.854775808 s");
}
END_TEST

Suite *crash_suite(void)
{
    Suite *suite = suite_create("crash");
    TCase *test = tcase_create("crash");
    tcase_add_loop_test(test, a_policy_is_named, 0, 11);
    tcase_add_test(test, nobody_is_blamed_elsewhere);
    tcase_add_test(test, an_assert_without_a_moment_takes_the_records);
    tcase_add_test(test, words_are_cut_at_their_end);
    suite_add_tcase(suite, test);
    return suite;
}
