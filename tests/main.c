/* main.c - runs the test suites: all of them, those named as arguments, or all but those named with a dash before the
 * name. WEIR names the program that the tests of the command line run, WEIR_PLUGINS the folder of the loadable
 * policies; both are set by the Makefile, and the working directory is the root of the source. check's summary is the
 * last line printed. */
#include <check.h>
#include <gsl/gsl_errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

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
    /* No test is judged by its speed: the limit is there for what never ends. */
    setenv("CK_DEFAULT_TIMEOUT", "1800", 1);
    settle();
    gsl_set_error_handler_off(); /* as the program does */
    bool some = false;
    for (int i = 1; i < argc; i++) {
        const char *name = argv[i] + (argv[i][0] == '-');
        if (!is_suite(name))
            return usage(name);
        some |= name == argv[i];
    }
    SRunner *runner = srunner_create(NULL);
    for (const struct suite *suite = suites; suite->name; suite++)
        if (is_wanted(suite->name, some, argv + 1))
            srunner_add_suite(runner, suite->make());
    srunner_run_all(runner, CK_SILENT);
    print_failures(runner);
    srunner_print(runner, CK_MINIMAL);
    bool good = srunner_ntests_run(runner) > 0 && srunner_ntests_failed(runner) == 0;
    srunner_free(runner);
    return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
