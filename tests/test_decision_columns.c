/* test_decision_columns.c - columns that policies declare for the log of decisions: their names in it, and values that
 * no row may have. */
#include <check.h>
#include <math.h>

#include "models/decisions.h"
#include "models/trial.h"
#include "tests/decisions_fixture.h"
#include "tests/model.h"
#include "tests/suites.h"

static double scribbled; /* the value of the column, for one test at a time */

static void scribble(struct policy *self)
{
    self->host->row(self, &scribbled);
}

static policy_time scribble_at_tick(struct policy *self, const struct policy_view *view)
{
    (void)view;
    scribble(self);
    return POLICY_NONE;
}

static const char *const two_words[] = {"no", "yes", NULL};
static const struct policy_column yes_or_no[] = {{"word", "", "one of two", two_words}, {.name = NULL}};
static const struct policy_column in_seconds[] = {{"word", "s", "a number", NULL},
                                                  {"time", "s", "like a key", NULL},
                                                  {"other", "s", "another", NULL},
                                                  {.name = NULL}};
static const struct policy_column also_seconds[] = {
    {"other", "s", "the same", NULL}, {"word", "s", "the same as that of seconds", NULL}, {.name = NULL}};

static const struct policy_ops of_words = {POLICY_HEADER, .name = "of_words", .summary = "words", .columns = yes_or_no,
                                           .tick = scribble_at_tick};
static const struct policy_ops of_none = {POLICY_HEADER, .name = "of_none", .summary = "none",
                                          .tick = scribble_at_tick};
static const struct policy_ops of_seconds = {POLICY_HEADER, .name = "of_seconds", .summary = "s",
                                             .columns = in_seconds};
static const struct policy_ops of_others = {POLICY_HEADER, .name = "of_others", .summary = "o",
                                            .columns = also_seconds};
static const struct policy_ops *const all_four[] = {&of_words, &of_none, &of_seconds, &of_others, NULL};

static struct plan plan_of(const char *policies)
{
    return model_plan_of(two_gates(policies, ""), all_four);
}

static enum trial_end end_of(const char *policy, double value, char wrong[512])
{
    struct plan plan = plan_of(policy);
    double values[8 * METRIC_COUNT];
    struct trial_watch watch = {.wrong = wrong, .wrong_size = 512};
    enum trial_end end;

    scribbled = value;
    wrong[0] = '\0';
    ck_assert_uint_le(trial_row_count(plan.points[0].scenario), 8);
    end = trial_simulate(plan.points[0].scenario, 1, &watch, values);
    plan_fini(&plan);
    return end;
}

START_TEST(values_of_words)
{
    static const double good[] = {0, 1, NAN, -0.0}, bad[] = {2, -1, 0.5, 1.0000001, INFINITY, -INFINITY, 1e300};
    char wrong[512];

    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        ck_assert_int_eq(end_of("of_words", good[i], wrong), TRIAL_ENDED);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        ck_assert_int_eq(end_of("of_words", bad[i], wrong), TRIAL_WRONG);
        program_has(wrong, "policy `of_words`, callback `tick`, at 0.000000000 s: it wrote a row with word ");
    }
    ck_assert_int_eq(end_of("of_none", 1, wrong), TRIAL_WRONG);
    program_has(wrong, "policy `of_none`, callback `tick`, at 0.000000000 s: it wrote a row and declares no columns");
}
END_TEST

/* The same name with another unit, or of a key column, goes by the policy's name too. */
START_TEST(names_of_columns)
{
    struct plan plan = plan_of("a: [of_words, of_seconds], b: [of_others: {name: it}, of_none]");
    struct decision_columns columns = decision_columns_of(&plan, &file.arena);
    const char *names = "";
    size_t *places;

    for (size_t i = 0; i < columns.count; i++)
        names = arena_format(&file.arena, "%s%s ", names, columns.list[i].name);
    ck_assert_str_eq(names, "word of_seconds.word of_seconds.time other of_others.word ");
    places = decision_columns_places(&columns, &of_seconds, &file.arena);
    ck_assert(places[0] == 1 && places[1] == 2 && places[2] == 3);
    places = decision_columns_places(&columns, &of_others, &file.arena);
    ck_assert(places[0] == 3 && places[1] == 4);
    places = decision_columns_places(&columns, &of_words, &file.arena);
    ck_assert(places[0] == 0);
    plan_fini(&plan);
}
END_TEST

Suite *decision_columns_suite(void)
{
    Suite *suite = suite_create("decision_columns");
    TCase *tests = tcase_create("decision_columns");

    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, values_of_words);
    tcase_add_test(tests, names_of_columns);
    suite_add_tcase(suite, tests);
    return suite;
}
