/* Where no locale with a decimal comma can be had, the tests that need one are skipped, in CI too: tests/packages.sh is
 * what asks for one. */
#include "tests/comma.h"

#include <check.h>
#include <stdlib.h>

#include "tests/suites.h"

static bool ran;

static void run(void)
{
    ran = true;
}

/* Locales are looked for in LOCPATH alone, and localedef cannot be found to make one. */
START_TEST(skipped_without_locales)
{
    ck_assert_int_eq(setenv("LOCPATH", "/nonexistent", 1), 0);
    ck_assert_int_eq(setenv("PATH", "/nonexistent", 1), 0);
    ck_assert_int_eq(setenv("CI", "true", 1), 0);
    ck_assert(!comma_run(run) && !ran);
}
END_TEST

Suite *comma_suite(void)
{
    Suite *suite = suite_create("comma");
    TCase *test = tcase_create("comma");

    tcase_add_test(test, skipped_without_locales);
    suite_add_tcase(suite, test);
    return suite;
}
