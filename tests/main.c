/* main.c - runs the test suites: all of them, those named as arguments, or all but those named with a dash before the
 * name. WEIR names the program that the tests of the command line run, WEIR_PLUGINS the folder of the loadable
 * policies; both are set by the Makefile, and the working directory is the root of the source. The last line printed is
 * check's summary, summed over the suites.
 *
 * Each suite is run by a process of its own, as many at a time as there are processors. What one prints comes in one
 * piece when it ends. Tests are forks, and these are cheap because a suite's process has not grown by those before. */
#include <check.h>
#include <gsl/gsl_errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/suites.h"

#define ROW(name) {#name, name##_suite},

static const struct suite {
    const char *name;
    Suite *(*make)(void);
} suites[] = {TEST_SUITES(ROW){NULL, NULL}};

static bool is_suite(const char *name)
{
    for (const struct suite *suite = suites; suite->name; suite++)
        if (strcmp(suite->name, name) == 0)
            return true;
    return false;
}

/* `some`: only what is named runs. */
static bool is_wanted(const char *name, bool some, char *const *words)
{
    bool named = false;
    for (; *words; words++) {
        if ((*words)[0] == '-' && strcmp(*words + 1, name) == 0)
            return false;
        named |= strcmp(*words, name) == 0;
    }
    return named || !some;
}

static int usage(const char *wrong)
{
    fprintf(stderr, "no suite is called \"%s\"; there are:", wrong);
    for (const struct suite *suite = suites; suite->name; suite++) {
        fprintf(stderr, " %s", suite->name);
    }
    fputc('\n', stderr);
    return 2;
}

static void print_failures(SRunner *runner)
{
    int failed = srunner_ntests_failed(runner);
    TestResult **results = srunner_failures(runner);
    for (int i = 0; i < failed; i++) {
        printf("%s:%d: %s: %s\n", tr_lfile(results[i]), tr_lno(results[i]), tr_tcname(results[i]), tr_msg(results[i]));
    }
    free(results);
}

/* --- suites side by side --- */

struct counts {
    int run, failures, errors;
};

struct process {
    pid_t pid; /* 0: none */
    FILE *said;
    int told; /* where its counts come from */
    struct counts counts;
};

static struct counts count_results(SRunner *runner)
{
    struct counts counts = {.run = srunner_ntests_run(runner)};
    TestResult **results = srunner_results(runner);
    for (int i = 0; i < counts.run; i++) {
        counts.failures += tr_rtype(results[i]) == CK_FAILURE;
        counts.errors += tr_rtype(results[i]) == CK_ERROR;
    }
    free(results);
    return counts;
}

_Noreturn static void suite_runs(const struct suite *suite, FILE *said, int tell)
{
    dup2(fileno(said), STDOUT_FILENO);
    dup2(fileno(said), STDERR_FILENO);
    SRunner *runner = srunner_create(suite->make());
    srunner_run_all(runner, CK_SILENT);
    print_failures(runner);
    fflush(NULL);
    struct counts counts = count_results(runner);
    _exit(write(tell, &counts, sizeof counts) == sizeof counts ? EXIT_SUCCESS : EXIT_FAILURE);
}

/* Without memory, files or processes there is nothing to test. */
static void must(bool good, const char *what)
{
    if (good)
        return;
    perror(what);
    exit(EXIT_FAILURE);
}

static void suite_starts(const struct suite *suite, struct process *process)
{
    int ends[2];
    must((process->said = tmpfile()) != NULL, "a temporary file");
    must(pipe(ends) == 0, "a pipe");
    fflush(NULL);
    must((process->pid = fork()) >= 0, "a process");
    if (process->pid == 0) {
        close(ends[0]);
        suite_runs(suite, process->said, ends[1]);
    }
    close(ends[1]);
    process->told = ends[0];
}

/* A suite whose process did not come to its end is an error, as is one without tests. */
static void suite_ended(const struct suite *suite, struct process *process)
{
    char text[4096];
    size_t got;
    process->pid = 0;
    if (read(process->told, &process->counts, sizeof process->counts) != sizeof process->counts)
        process->counts = (struct counts){0};
    close(process->told);
    rewind(process->said);
    while ((got = fread(text, 1, sizeof text, process->said)) > 0)
        fwrite(text, 1, got, stdout);
    fclose(process->said);
    if (process->counts.run > 0)
        return;
    process->counts.errors = 1;
    printf("suite %s: it did not come to its end, or has no tests\n", suite->name);
}

static void wait_for_one(struct process *processes)
{
    pid_t ended = wait(NULL);
    must(ended > 0, "a process to wait for");
    for (size_t i = 0; suites[i].name; i++)
        if (processes[i].pid == ended)
            suite_ended(&suites[i], &processes[i]);
}

static void run_suites(const bool *wanted, struct process *processes)
{
    long most = sysconf(_SC_NPROCESSORS_ONLN), running = 0;
    for (size_t i = 0; suites[i].name; i++) {
        if (!wanted[i])
            continue;
        if (running > 0 && running >= most) {
            wait_for_one(processes);
            running--;
        }
        suite_starts(&suites[i], &processes[i]);
        running++;
    }
    for (; running > 0; running--)
        wait_for_one(processes);
}

/* As check itself would print it. */
static bool print_summary(const struct process *processes)
{
    struct counts sum = {0};
    for (size_t i = 0; suites[i].name; i++) {
        sum.run += processes[i].counts.run;
        sum.failures += processes[i].counts.failures;
        sum.errors += processes[i].counts.errors;
    }
    int good = sum.run - sum.failures - sum.errors;
    printf("%d%%: Checks: %d, Failures: %d, Errors: %d\n", sum.run > 0 && good > 0 ? 100 * good / sum.run : 0, sum.run,
           sum.failures, sum.errors);
    return sum.run > 0 && good == sum.run;
}

/* Whatever was left to us by who started this: check must hear how its tests end, and tests that abort on purpose are
 * not to fill a slow disk. */
static void settle(void)
{
    struct rlimit core;

    signal(SIGCHLD, SIG_DFL);
    if (getrlimit(RLIMIT_CORE, &core) == 0) {
        core.rlim_cur = 0;
        setrlimit(RLIMIT_CORE, &core);
    }
}

int main(int argc, char **argv)
{
    static bool wanted[sizeof suites / sizeof *suites];
    static struct process processes[sizeof suites / sizeof *suites];
    bool some = false;
    /* No test is judged by its speed: the limit is there for what never ends. */
    setenv("CK_DEFAULT_TIMEOUT", "1800", 1);
    settle();
    gsl_set_error_handler_off(); /* as the program does */
    for (int i = 1; i < argc; i++) {
        const char *name = argv[i] + (argv[i][0] == '-');
        if (!is_suite(name))
            return usage(name);
        some |= name == argv[i];
    }
    for (size_t i = 0; suites[i].name; i++)
        wanted[i] = is_wanted(suites[i].name, some, argv + 1);
    run_suites(wanted, processes);
    return print_summary(processes) ? EXIT_SUCCESS : EXIT_FAILURE;
}
