/* test_class_shares.c - the text that says who gets which share, and whose share it is. */
#include <check.h>
#include <stdarg.h>
#include <string.h>

#include "policies/class_shares.h"
#include "tests/suites.h"

static const char *const names[] = {"live", "batch", "other", "live2"};
enum { LIVE, BATCH, OTHER, LIVE2 };

static void reads(const char *text, int count, ...)
{
    struct class_shares of;
    va_list shares;
    ck_assert_msg(!shares_read(text, false, &of), "%s: %s", text, shares_read(text, false, &of));
    ck_assert_int_eq(of.count, count);
    va_start(shares, count);
    for (int i = 0; i <= count; i++)
        ck_assert_int_eq(of.shares[i], va_arg(shares, int));
    va_end(shares);
}

static void expects(const char *text, const char *what)
{
    struct class_shares of;
    const char *wrong = shares_read(text, false, &of);
    ck_assert_msg(wrong != NULL, "%s is read", text);
    ck_assert_msg(strstr(wrong, what) != NULL, "%s: %s", text, wrong);
}

START_TEST(texts)
{
    reads(NULL, 0, 1000000);
    reads("", 0, 1000000);
    reads(" ,\n", 0, 1000000);
    reads("live 70 %", 1, 700000, 300000);
    reads("live 70%", 1, 700000, 300000);
    reads("live .7 batch 0.1", 2, 700000, 100000, 200000);
    reads("\tlive 70 %, batch 30 %\n", 2, 700000, 300000, 0);
    reads("live 1", 1, 1000000, 0);
    reads("live 100 %", 1, 1000000, 0);
    reads("live 0 batch 0 %", 2, 0, 0, 1000000);
    reads("a 33.3333 % b 33.3333 % c 33.3334 %", 3, 333333, 333333, 333334, 0);
    reads("a 0.000001 b 0.0001 %", 2, 1, 1, 999998);
    reads("70 70 %", 1, 700000, 300000); /* a name may be a number: they go by turns */
    reads("a 6% b 6% c 6% d 6% e 6% f 6% g 6% h 6% i 6% j 6% k 6% l 6% m 6% n 6% o 6%", 15, 60000, 60000, 60000, 60000,
          60000, 60000, 60000, 60000, 60000, 60000, 60000, 60000, 60000, 60000, 60000, 100000);
    expects("live", "by turns");
    expects("live 70 % batch", "by turns");
    expects("live: 70 % batch x", "by turns");
    expects("live 70 % % batch 1 %", "by turns");
    expects("live 70 %batch 1 %", "by turns");
    expects("live 0.5.5", "by turns");
    expects("live -1", "by turns");
    expects("live 1.1", "by turns"); /* of one class, already too much */
    expects("live 101 %", "by turns");
    expects("live . batch 1 %", "by turns");
    expects("live 0.0000000000000001", "by turns");
    expects("live 70 % batch 31 %", "100 % in all");
    expects("live 70 % live 1 %", "once");
    expects("a 6% b 6% c 6% d 6% e 6% f 6% g 6% h 6% i 6% j 6% k 6% l 6% m 6% n 6% o 6% p 1%", "15 names");
}
END_TEST

START_TEST(whose_share_it_is)
{
    static const char *const two[] = {"liv", "live"};
    struct class_shares of;
    ck_assert_ptr_null(shares_read("live 70 % batch 10 %", false, &of));
    ck_assert_int_eq(shares_index(&of, names, LIVE), 0);
    ck_assert_int_eq(shares_index(&of, names, BATCH), 1);
    ck_assert_int_eq(shares_index(&of, names, OTHER), 2);
    ck_assert_int_eq(shares_index(&of, names, LIVE2), 2); /* a name that only begins like one */
    ck_assert_int_eq(shares_index(&of, two, 0), 2);
    ck_assert_int_eq(shares_index(&of, NULL, LIVE), 2); /* nobody has names */
    ck_assert_ptr_null(shares_read("live 70 % batch 30 %", false, &of));
    ck_assert_int_eq(shares_index(&of, names, OTHER), 1); /* nothing is left: with the last */
    ck_assert_ptr_null(shares_read("", false, &of));
    ck_assert_int_eq(shares_index(&of, names, OTHER), 0);
}
END_TEST

Suite *class_shares_suite(void)
{
    Suite *suite = suite_create("class_shares");
    TCase *test = tcase_create("class_shares");

    tcase_add_test(test, texts);
    tcase_add_test(test, whose_share_it_is);
    suite_add_tcase(suite, test);
    return suite;
}
