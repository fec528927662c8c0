/* test_labels.c - what alternatives without a label of their own are called, in outputs and in addresses. */
#include <check.h>
#include <string.h>

#include "tests/plan_file.h"
#include "tests/suites.h"

static struct plan_file file;

static void setup(void)
{
    plan_file_init(&file);
}

static void teardown(void)
{
    plan_file_fini(&file);
}

#define TWO "policies:\n  - fixed_cap: {cap: 6}\n  - fixed_cap: {cap: 12}\n"

static const char *card_and(const char *more)
{
    return arena_format(&file.arena, "%s%s\n", plan_file_card, more);
}

static const char *points(const char *more, const char *const *sets, const char *const *only)
{
    ck_assert_msg(plan_file_read(&file, card_and(more), sets, only), "%s", plan_file_said(&file));
    return plan_file_points(&file);
}

/* All labels, with blanks between. */
static const char *labels(const char *more)
{
    const char *all = "";
    points(more, NULL, NULL);
    for (size_t i = 0; i < file.plan.label_count; i++)
        all = arena_format(&file.arena, "%s%s%s", all, i > 0 ? "; " : "", file.plan.labels[i]);
    return all;
}

START_TEST(what_differs)
{
    static const char *const rows[][2] = {
        {"[fixed_cap: {cap: 6}, unbounded]", "fixed_cap; unbounded"},
        {"[fixed_cap: {cap: 6}, fixed_cap: {cap: 12}]", "fixed_cap(cap=6); fixed_cap(cap=12)"},
        {"[fixed_cap: {cap: 6}, fixed_cap: {cap: 12}, fixed_cap: {cap: inf}]",
         "fixed_cap(cap=6); fixed_cap(cap=12); fixed_cap(cap=inf)"},
        {"[fixed_cap: {cap: 6}, a: [fixed_cap: {cap: 6}]]", "fixed_cap; a"},
        /* A default is said where another has another value. */
        {"[fixed_cap: {cap: 6}, fixed_cap: {cap: 6, scope: all}]", "fixed_cap(scope=gate); fixed_cap(scope=all)"},
        {"[fixed_cap: {cap: 6}, fixed_cap: {cap: 9}, fixed_cap: {cap: 9, scope: all}]",
         "fixed_cap(cap=6 scope=gate); fixed_cap(cap=9 scope=gate); fixed_cap(cap=9 scope=all)"},
        /* A preset is what it sets. */
        {"[codel, codel: {preset: slots}]", "codel(target=5 ms interval=100 ms); codel(target=8 s interval=15 s)"},
        {"[codel: {preset: slots}, codel: {preset: slots, target: 4 s}]", "codel(target=8 s); codel(target=4 s)"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        ck_assert_str_eq(labels(arena_format(&file.arena, "policies: %s", rows[i][0])), rows[i][1]);
}
END_TEST

/* The message stands at the second and names the line of the first. */
START_TEST(the_same_twice)
{
    static const char *const rows[] = {
        "policies:\n  - fixed_cap: {cap: 6}\n  - fixed_cap: {cap: 6}\n",
        "policies:\n  - codel: {target: 8 s}\n  - codel: {target: 8000 ms}\n",
        "policies:\n  - codel: {preset: slots}\n  - codel: {target: 8 s, interval: 15 s}\n",
        "policies:\n  - fixed_cap: {cap: 6}\n  - fixed_cap: {cap: 6, scope: gate}\n",
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        ck_assert(!plan_file_read(&file, card_and(rows[i]), NULL, NULL));
        const char *said = plan_file_said(&file);
        ck_assert_msg(strncmp(said, "s.yaml:6:5: two alternatives are called ", 40) == 0, "%s", said);
        ck_assert_msg(strstr(said, ", here and on line 5: ") != NULL, "%s", said);
    }
}
END_TEST

START_TEST(addresses)
{
    static const char *const set[] = {"policies.fixed_cap(cap=6).cap=8", NULL};
    ck_assert_str_eq(points(TWO, set, NULL),
                     "fixed_cap(cap=8)[fixed_cap{cap: 8}]; fixed_cap(cap=12)[fixed_cap{cap: 12}]");
    ck_assert_str_eq(points(TWO "sweep: {policies.fixed_cap(cap=6).cap: [3, 4]}", NULL, NULL),
                     "fixed_cap(cap=6)[fixed_cap{cap: 3}] 3; fixed_cap(cap=6)[fixed_cap{cap: 4}] 4; "
                     "fixed_cap(cap=12)[fixed_cap{cap: "
                     "12}] -");
    ck_assert_str_eq(file.plan.factor_names[0], "policies.fixed_cap(cap=6).cap");
    /* A swept key that is set: the sweep goes. */
    ck_assert_str_eq(points(TWO "sweep: {policies.fixed_cap(cap=6).cap: [3, 4]}", set, NULL),
                     "fixed_cap(cap=8)[fixed_cap{cap: 8}]; fixed_cap(cap=12)[fixed_cap{cap: 12}]");
}
END_TEST

/* An alternative keeps its label, and the factors that are addressed by it, where --policy leaves it alone. */
START_TEST(one_of_them)
{
    static const char *const only[] = {"fixed_cap(cap=6)", NULL}, *const set[] = {"policies.fixed_cap(cap=6).cap=8",
                                                                                  NULL};
    ck_assert_str_eq(points(TWO, NULL, only), "fixed_cap(cap=6)[fixed_cap{cap: 6}]");
    ck_assert_str_eq(points(TWO "sweep: {policies.fixed_cap(cap=6).cap: [3, 4]}", NULL, only),
                     "fixed_cap(cap=6)[fixed_cap{cap: 3}] 3; fixed_cap(cap=6)[fixed_cap{cap: 4}] 4");
    ck_assert_str_eq(points(TWO "sweep: {policies.fixed_cap(cap=12).cap: [3, 4]}", NULL, only),
                     "fixed_cap(cap=6)[fixed_cap{cap: 6}]");
    ck_assert_str_eq(points(TWO, set, only), "fixed_cap(cap=8)[fixed_cap{cap: 8}]");
    /* As `weir check` prints what is left. */
    ck_assert_str_eq(points("policies: [fixed_cap(cap=6): [fixed_cap: {cap: 6}]]\n"
                            "sweep: {policies.fixed_cap(cap=6).cap: [3]}",
                            NULL, NULL),
                     "fixed_cap(cap=6)[fixed_cap{cap: 3}] 3");
    ck_assert(!plan_file_read(&file, card_and("policies: [fixed_cap(cap=6): [lifo]]"), NULL, NULL));
}
END_TEST

/* A --set that makes other labels: the sweep's addresses follow. */
START_TEST(labels_change)
{
    static const char *const set[] = {"policies.fixed_cap(cap=12).scope=all", NULL};
    static const char *const wanted =
        "fixed_cap(cap=6 scope=gate)[fixed_cap{cap: 3}] 3; fixed_cap(cap=6 scope=gate)[fixed_cap{cap: 4}] 4; "
        "fixed_cap(cap=12 scope=all)[fixed_cap{cap: 12}] -";
    ck_assert_str_eq(points(TWO "sweep: {policies.fixed_cap(cap=6).cap: [3, 4]}", set, NULL), wanted);
    ck_assert_str_eq(
        points(TWO "sweep: {zip: [{policies.fixed_cap(cap=6).cap: 3}, {policies.fixed_cap(cap=6).cap: 4}]}", set, NULL),
        wanted);
    static const char *const same[] = {"policies.fixed_cap(cap=12).cap=6", NULL};
    ck_assert(!plan_file_read(&file, card_and(TWO), same, NULL));
}
END_TEST

Suite *labels_suite(void)
{
    Suite *suite = suite_create("labels");
    TCase *tcase = tcase_create("labels");
    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, what_differs);
    tcase_add_test(tcase, the_same_twice);
    tcase_add_test(tcase, addresses);
    tcase_add_test(tcase, one_of_them);
    tcase_add_test(tcase, labels_change);
    suite_add_tcase(suite, tcase);
    return suite;
}
