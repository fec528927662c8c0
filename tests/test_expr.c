/* test_expr.c - expressions as trees with their places, ranges without drift, and what is refused. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/io/expr.h"
#include "tests/suites.h"

static const struct place origin = {"s.yaml", 7, 10};
static struct arena arena;
static struct diag diag;

static void setup(void)
{
    arena = (struct arena){0};
    diag = (struct diag){0};
}

static void teardown(void)
{
    arena_free(&arena);
    diag_fini(&diag);
}

static const struct expr *parse(const char *text)
{
    const struct expr *expr = expr_parse(text, origin, &arena, &diag);
    ck_assert_msg(expr != NULL, "%s: %s", text, diag.count > 0 ? diag.messages[0].text : "no message");
    ck_assert_uint_eq(diag.errors, 0);
    return expr;
}

/* One message, at that column, which says that. */
static void check_message(const char *text, int column, const char *part)
{
    ck_assert_msg(diag.errors == 1, "%s: %zu messages", text, diag.errors);
    const struct diag_message *message = &diag.messages[0];
    ck_assert_msg(strstr(message->text, part) != NULL, "%s: '%s' does not say '%s'", text, message->text, part);
    ck_assert_msg(message->place.column == column, "%s: column %d: %s", text, message->place.column, message->text);
    ck_assert_int_eq(message->place.line, origin.line);
    teardown();
    setup();
}

START_TEST(test_number_and_word)
{
    const struct expr *expr = parse(" 4.5 s ");
    ck_assert_int_eq(expr->kind, EXPR_NUMBER);
    ck_assert(expr->number.value == 4.5 && expr->number.quantity == QUANTITY_TIME);
    ck_assert_str_eq(expr->text, "4.5 s");
    ck_assert_int_eq(expr->place.column, 11);
    expr = parse("../data/think-times_2.csv");
    ck_assert_int_eq(expr->kind, EXPR_WORD);
    ck_assert_str_eq(expr->name, "../data/think-times_2.csv");
    expr = parse("'2024, it''s (here).csv'");
    ck_assert_int_eq(expr->kind, EXPR_WORD);
    ck_assert_str_eq(expr->name, "2024, it's (here).csv");
    ck_assert(parse("inf")->kind == EXPR_NUMBER);
    ck_assert(parse("infinite")->kind == EXPR_WORD);
}
END_TEST

START_TEST(test_mixture)
{
    const struct expr *mixture = parse("mixture(0.7 lognormal(120 cv 0.45) | 0.3 lognormal(900 tokens cv 35%))");
    ck_assert_int_eq(mixture->kind, EXPR_CALL);
    ck_assert_str_eq(mixture->name, "mixture");
    ck_assert_uint_eq(mixture->count, 4);
    static const size_t parts[] = {0, 0, 1, 1};
    for (size_t i = 0; i < 4; i++)
        ck_assert_uint_eq(mixture->arguments[i].part, parts[i]);
    ck_assert(mixture->arguments[2].number.value == 0.3);
    const struct expr *second = &mixture->arguments[3];
    ck_assert_str_eq(second->text, "lognormal(900 tokens cv 35%)");
    ck_assert_int_eq(second->place.column, 10 + 41);
    ck_assert_uint_eq(second->count, 3);
    ck_assert_str_eq(second->arguments[0].number.noun, "tokens");
    ck_assert_int_eq(second->arguments[1].kind, EXPR_WORD);
    ck_assert_str_eq(second->arguments[1].name, "cv");
    ck_assert(second->arguments[2].number.value == 0.35);
    ck_assert_int_eq(second->arguments[2].place.column, 10 + 65);
}
END_TEST

START_TEST(test_arguments)
{
    const struct expr *expr = parse("steps(0 s 50/min 10 min 30/min)");
    ck_assert_uint_eq(expr->count, 4);
    ck_assert(expr->arguments[1].number.quantity == QUANTITY_RATE);
    ck_assert(expr->arguments[2].number.value == 600);
    expr = parse("empirical(traces/think.csv 'the pause' s most 1 h)");
    ck_assert_uint_eq(expr->count, 5);
    ck_assert_str_eq(expr->arguments[1].name, "the pause");
    ck_assert_str_eq(expr->arguments[2].name, "s");
    expr = parse("uniform(0.5 s, 1.5 s)"); /* a comma that arrives is a blank */
    ck_assert_uint_eq(expr->count, 2);
    ck_assert_uint_eq(parse("survival(0.814 0.812 0.7 0.6 0.5 0.4 every 40)")->count, 8);
    ck_assert_uint_eq(parse("none()")->count, 0);
    expr = parse("f('\xc3\xa4\xc3\xb6' 5)"); /* columns count characters */
    ck_assert_int_eq(expr->arguments[1].place.column, 10 + 7);
}
END_TEST

START_TEST(test_refusals)
{
    static const struct {
        const char *text;
        int column; /* from 0 within the text */
        const char *part;
    } rows[] = {
        {"", 0, "found the end"},
        {"   ", 3, "found the end"},
        {"exponential(4.5 s", 17, "expected ) at the end of exponential("},
        {"exponential(4.5 s))", 18, "nothing behind the closing bracket, found ')'"},
        {"4.5 s 3", 6, "nothing behind '4.5', found '3'"},
        {"1 h 30 min", 4, "found '30'"},
        {"f(5 m)", 2, "expected min for minutes"},
        {"f(2 -3)", 4, "f: expected a number without a sign"},
        {"f(2 cv -3)", 7, "cv: expected a number without a sign"},
        {"f(2 .5)", 4, "digit before the dot"},
        {"f(nan)", 2, "not nan"},
        {"f(0x10)", 2, "hexadecimal"},
        {"uniform(1,5)", 8, "decimal dot"},
        {"f(2024-01.csv)", 6, "names that begin with a digit stand in single quotes"},
        {"f(8(3))", 3, "a blank behind the number"},
        {"f(8..9)", 3, "a blank behind the number"},
        {"mixture(0.5 a | )", 16, "a component of mixture"},
        {"mixture( | 0.5 a)", 9, "a component of mixture"},
        {"mixture(a || b)", 11, "a component of mixture"},
        {"f(\"a\")", 2, "found '\"'"},
        {"f('a)", 2, "a single quote that ends this name"},
        {"f((a))", 2, "found '('"},
        {"f(a ; b)", 4, "found ';'"},
        {"f(\xc3\xa4)", 2, "found '\xc3\xa4'"},
        {"a | b", 2, "found '|'"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ck_assert_msg(!expr_parse(rows[i].text, origin, &arena, &diag), "%s is accepted", rows[i].text);
        check_message(rows[i].text, origin.column + rows[i].column, rows[i].part);
    }
}
END_TEST

static void nest(char *text, int depth)
{
    char *at = text;
    for (int i = 0; i < depth; i++)
        at += sprintf(at, "f(");
    *at++ = 'x';
    memset(at, ')', (size_t)depth);
    at[depth] = '\0';
}

START_TEST(test_limits)
{
    char text[200];
    nest(text, 32);
    parse(text);
    nest(text, 33);
    ck_assert_ptr_null(expr_parse(text, origin, &arena, &diag));
    check_message(text, origin.column + 65, "at most 32 nested");

    char siblings[3 * 100 + 4] = "f(";
    for (int i = 0; i < 100; i++)
        strcat(siblings, "g()");
    parse(strcat(siblings, ")"));

    char *long_text = malloc(65538);
    memset(long_text, 'a', 65536);
    long_text[65536] = '\0';
    parse(long_text);
    memcpy(long_text + 65536, "a", 2);
    ck_assert_ptr_null(expr_parse(long_text, origin, &arena, &diag));
    check_message("long", origin.column, "at most 65536");
    free(long_text);
}
END_TEST

START_TEST(test_ranges)
{
    static const struct {
        const char *text;
        size_t count;
        const char *values; /* the first ones, and the last one behind "..." */
    } rows[] = {
        {"8..24 step 2", 9, "8, 10, 12 ... 24"},
        {"8..12", 5, "8, 9, 10 ... 12"},
        {"8 .. 24 step 4", 5, "8, 12, 16 ... 24"},
        {"5..5", 1, "5 ... 5"},
        {"0.1..0.5 step 0.1", 5, "0.1, 0.2, 0.3 ... 0.5"},
        {"0.7..1.4 step 0.1", 8, "0.7, 0.8, 0.9 ... 1.4"},
        {"0..1 step 0.001", 1001, "0, 0.001, 0.002 ... 1"},
        {"1 s..4 s step 1 s", 4, "1 s, 2 s, 3 s ... 4 s"},
        {"1s..2s step 500ms", 3, "1000ms, 1500ms, 2000ms ... 2000ms"},
        {"1 h..2 h step 30 min", 3, "60 min, 90 min, 120 min ... 120 min"},
        {"10%..30% step 10%", 3, "10%, 20%, 30% ... 30%"},
        {"20/min..60/min step 20/min", 3, "20/min, 40/min, 60/min ... 60/min"},
        {"8k..24k step 8k", 3, "8k, 16k, 24k ... 24k"},
        {"1e3..3e3 step 1e3", 3, "1e3, 2e3, 3e3 ... 3e3"},
        {"10 tokens/s..30 tokens/s step 10 tokens/s", 3, "10 tokens/s, 20 tokens/s, 30 tokens/s ... 30 tokens/s"},
        {"1..10000", 10000, "1, 2, 3 ... 10000"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        size_t count;
        const char **values = expr_range(rows[i].text, origin, &count, &arena, &diag);
        ck_assert_msg(values != NULL, "%s: %s", rows[i].text, diag.count > 0 ? diag.messages[0].text : "no range");
        ck_assert_msg(count == rows[i].count, "%s: %zu", rows[i].text, count);
        const char *text = values[0];
        for (size_t j = 1; j < count && j < 3; j++)
            text = arena_format(&arena, "%s, %s", text, values[j]);
        ck_assert_str_eq(arena_format(&arena, "%s ... %s", text, values[count - 1]), rows[i].values);
    }
}
END_TEST

START_TEST(test_no_ranges)
{
    static const char *const rows[] = {"", "8", "8 s", "fifo", "../a.csv", "8 to 24", "exponential(4.5 s)", "-1..4"};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        size_t count;
        ck_assert_ptr_null(expr_range(rows[i], origin, &count, &arena, &diag));
        ck_assert_uint_eq(diag.errors, 0);
        ck_assert_uint_eq(count, 0);
    }
}
END_TEST

START_TEST(test_bad_ranges)
{
    static const struct {
        const char *text;
        int column;
        const char *part;
    } rows[] = {
        {"24..8", 0, "ascends"},
        {"8..24 step 5", 0, "end at 23"},
        {"1 s..2 s step 300 ms", 0, "end at 1900 ms"},
        {"8..24 step 0", 0, "above 0"},
        {"5..5 step 0", 0, "above 0"},
        {"0..10000", 0, "at most 10000"},
        {"0..1e18 step 1e-9", 0, "at most 10000"},
        {"8..", 3, "expected a number, found the end"},
        {"8..24 step", 10, "expected a number, found the end"},
        {"8..24 step -2", 11, "without a sign"},
        {"8..24 by 2", 6, "expected `step`"},
        {"8..24 step 2 s", 11, "same kind of unit"},
        {"8..24 s", 3, "same kind of unit"},
        {"1 s..24 s", 9, "expected a step"},
        {"0.1..0.5", 8, "expected a step"},
        {"8..inf", 3, "finite"},
        {"inf..inf", 0, "finite"},
        {"8..24 step 2 3", 13, "the end of the range"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        size_t count;
        ck_assert_msg(!expr_range(rows[i].text, origin, &count, &arena, &diag), "%s is accepted", rows[i].text);
        ck_assert_uint_eq(count, 0);
        check_message(rows[i].text, origin.column + rows[i].column, rows[i].part);
    }
}
END_TEST

Suite *expr_suite(void)
{
    Suite *suite = suite_create("expr");
    TCase *cases = tcase_create("expr");
    tcase_add_checked_fixture(cases, setup, teardown);
    tcase_add_test(cases, test_number_and_word);
    tcase_add_test(cases, test_mixture);
    tcase_add_test(cases, test_arguments);
    tcase_add_test(cases, test_refusals);
    tcase_add_test(cases, test_limits);
    tcase_add_test(cases, test_ranges);
    tcase_add_test(cases, test_no_ranges);
    tcase_add_test(cases, test_bad_ranges);
    suite_add_tcase(suite, cases);
    return suite;
}
