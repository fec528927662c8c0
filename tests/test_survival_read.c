/* test_survival_read.c - turns by survival in a scenario: the expression, what is said about wrong ones, and the class
 * that has such turns. */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "models/describe.h"
#include "models/distribution.h"
#include "tests/plan_file.h"
#include "tests/suites.h"

static struct plan_file file;
static struct columns columns;
static struct diag diag;

static void setup(void)
{
    plan_file_init(&file);
    columns = (struct columns){.arena = &file.arena};
    diag = (struct diag){0};
}

static void teardown(void)
{
    diag_fini(&diag);
    plan_file_fini(&file);
}

static bool read_it(const char *text, enum measure measure, struct dist *dist)
{
    const struct expr *expr = expr_parse(text, (struct place){file.path, 3, 10}, &file.arena, &diag);
    return expr && distribution_read(expr, measure, &columns, dist, &diag);
}

START_TEST(an_expression_becomes_hazards)
{
    struct dist dist;
    ck_assert(read_it("survival(0.814 81.2 % 1 0.647 every 40 turns most 1k)", MEASURE_TURNS, &dist));
    ck_assert_int_eq(dist.kind, DIST_SURVIVAL);
    ck_assert_uint_eq(dist.count, 4);
    ck_assert(dist.a == 40 && dist.most == 1000);
    static const double chances[] = {0.814, 0.812, 1, 0.647};
    for (size_t i = 0; i < 4; i++)
        ck_assert_double_eq_tol(dist.values[i], -log(chances[i]), 1e-15);
    ck_assert(!signbit(dist.values[2]));
    ck_assert(read_it("survival(0.5 every 1)", MEASURE_TURNS, &dist));
    ck_assert(dist.count == 1 && dist.a == 1 && isinf(dist.most) && dist_mean(&dist) == 2);
    ck_assert(read_it("survival(0.5, 1 every 10 most 12)", MEASURE_TURNS, &dist));
    ck_assert(dist.count == 2 && dist_quantile(&dist, 0.9) == 12);
    ck_assert(read_it("mixture(0.5 survival(0.5 every 1) | 0.5 4)", MEASURE_TURNS, &dist));
    ck_assert_double_eq_tol(dist_mean(&dist), 3, 1e-15);
}
END_TEST

static const struct bad {
    const char *text;
    enum measure measure;
    int column;
    const char *words;
} bads[] = {
    {"survival()", MEASURE_TURNS, 10, "expected every TURNS behind the chances, such as survival(0.9 0.8 every 40)"},
    {"survival(0.8 0.7)", MEASURE_TURNS, 10, "survival(0.8 0.7): expected every TURNS behind the chances"},
    {"survival(0.8 most 9)", MEASURE_TURNS, 10, "expected every TURNS behind the chances"},
    {"survival(every 40)", MEASURE_TURNS, 19, "every: expected a chance first"},
    {"survival(every 40 0.8)", MEASURE_TURNS, 19, "every: expected a chance first"},
    {"survival(0.8 evry 40)", MEASURE_TURNS, 23, "evry: expected another chance, or every TURNS"},
    {"survival(0.8 every)", MEASURE_TURNS, 23, "every: expected a value behind it"},
    {"survival(0.8 every 40 0.7)", MEASURE_TURNS, 32, "0.7 is one too many here: expected survival("},
    {"survival(0.8 every 40 sek)", MEASURE_TURNS, 32, "no unit sek: expected turns, or none"},
    {"survival(0.8 every 40 every 40)", MEASURE_TURNS, 32, "no unit every"},
    {"survival(0.8 every 40 s)", MEASURE_TURNS, 29, "a number of turns"},
    {"survival(0.8 every 40 tokens)", MEASURE_TURNS, 29, "a number of turns"},
    {"survival(0.8 every inf)", MEASURE_TURNS, 29, "a number of turns"},
    {"survival(0.8 every 0)", MEASURE_TURNS, 29, "every: 0: expected a whole number of turns, of at least 1"},
    {"survival(0.8 every 2.5)", MEASURE_TURNS, 29, "every: 2.5: expected a whole number of turns, of at least 1"},
    {"survival(0.8 1.2 every 40)", MEASURE_TURNS, 23, "1.2: expected a chance above 0 and at most 1"},
    {"survival(0.8 inf every 40)", MEASURE_TURNS, 23, "at most 1"},
    {"survival(0.8 120 % 0.3 every 40)", MEASURE_TURNS, 23, "120 %: expected a chance above 0 and at most 1"},
    {"survival(-0.8 every 40)", MEASURE_TURNS, 19, "without a sign"},
    {"survival(0.8 0 every 40)", MEASURE_TURNS, 23, "0: expected a chance above 0"},
    {"survival(0 0.8 every 40 most 50)", MEASURE_TURNS, 19, "`most TURNS`"},
    {"survival(0.8 s every 40)", MEASURE_TURNS, 19, "0.8 s: expected a chance"},
    {"survival(0.8 constant(1) every 40)", MEASURE_TURNS, 23, "constant(1): expected a chance"},
    {"survival(0.8 1 every 40)", MEASURE_TURNS, 23, "1: a run that comes so far would never end"},
    {"survival(100 % every 40)", MEASURE_TURNS, 19, "a last chance below 1, or `most TURNS`"},
    {"survival(0.8 | 0.7 every 40)", MEASURE_TURNS, 10, "no |"},
    {"survival(0.8 every 40 most)", MEASURE_TURNS, 32, "most: expected a value behind it"},
    {"survival(0.8 every 40 most 5 s)", MEASURE_TURNS, 37, "a number of turns"},
    {"survival(0.8 every 40)", MEASURE_TIME, 10, "survival draws a number of turns: expected a distribution of times"},
    {"survival(0.8 every 40)", MEASURE_TOKENS, 10, "expected a distribution of tokens"},
    {"mixture(0.5 1 s | 0.5 survival(0.8 every 40))", MEASURE_TIME, 32, "survival draws a number of turns"},
    {"survivl(0.8 every 40)", MEASURE_TURNS, 10, "did you mean survival?"},
    {"lifetimes(0.8 every 40)", MEASURE_TURNS, 10, "empirical or survival"},
};
#define BADS ((int)(sizeof bads / sizeof *bads))

START_TEST(mistakes)
{
    const struct bad *bad = &bads[_i];
    struct dist dist;
    ck_assert_msg(!read_it(bad->text, bad->measure, &dist), "%s: no message", bad->text);
    ck_assert_uint_eq(diag.errors, 1);
    const struct diag_message *message = &diag.messages[0];
    ck_assert_msg(message->place.line == 3 && message->place.column == bad->column, "%s: %s, at column %d", bad->text,
                  message->text, message->place.column);
    ck_assert_msg(strstr(message->text, bad->words) != NULL, "%s: %s: expected `%s`", bad->text, message->text,
                  bad->words);
}
END_TEST

static const struct agent_class *class_with(const char *turns)
{
    const char *to = arena_format(&file.arena, "population: 24, turns: %s", turns);
    ck_assert_msg(plan_file_read(&file, plan_file_with(&file, plan_file_card, "population: 24", to), NULL, NULL), "%s",
                  plan_file_said(&file));
    return file.plan.points[0].scenario->classes;
}

START_TEST(the_hash_tells_chances_and_windows)
{
    static const char *const others[] = {
        "survival(0.9 0.8 every 41)",         "survival(0.9 0.81 every 40)",
        "survival(0.91 0.8 every 40)",        "survival(0.8 0.9 every 40)",
        "survival(0.9 0.8 0.8 every 40)",     "survival(0.9 every 40)",
        "survival(0.9 0.8 every 40 most 90)", "geometric(40)",
    };
    class_with("survival(0.9 0.8 every 40)");
    uint64_t hash = file.plan.hash;
    class_with("survival(90 % 80 % every 40 turns)");
    ck_assert_uint_eq(file.plan.hash, hash);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        class_with(others[i]);
        ck_assert_msg(file.plan.hash != hash, "%s", others[i]);
    }
}
END_TEST

START_TEST(a_class_has_such_turns)
{
    const struct agent_class *class = class_with("survival(0.5 every 1 most 12)");
    ck_assert(class->turns->kind == DIST_SURVIVAL && class->turns->most == 12);
    ck_assert_double_eq(dist_mean(class->turns), 2 - 0x1p-11);
    class_with("survival(0.5 0.25 every 1 most 12)");
    char *printed = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&printed, &length);
    describe_sentences(&file.plan, out);
    fclose(out);
    /* 1 + 1/2 + 1/8 + 1/32 + ..., of which `most` takes less than 10^-6 */
    ck_assert_msg(strstr(printed, "coder, turns a run: mean 1.667 turns, CV ") != NULL, "%s", printed);
    free(printed);
}
END_TEST

Suite *survival_read_suite(void)
{
    Suite *suite = suite_create("survival_read");
    TCase *tcase = tcase_create("survival_read");
    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, an_expression_becomes_hazards);
    tcase_add_loop_test(tcase, mistakes, 0, BADS);
    tcase_add_test(tcase, the_hash_tells_chances_and_windows);
    tcase_add_test(tcase, a_class_has_such_turns);
    suite_add_tcase(suite, tcase);
    return suite;
}
