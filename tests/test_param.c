/* test_param.c - option tables: each type read, refused with a message that says what was expected, and printed back.
 */
#include <check.h>
#include <math.h>
#include <signal.h>
#include <stddef.h>

#include "sim/io/param.h"
#include "tests/suites.h"

struct values {
    double real, rate, share;
    int64_t count, seed, time;
    bool flag;
    int law;
    const char *text, *file;
    const struct expr *dist;
};

static const char *const laws[] = {"persist", "rfc8289", "none", NULL};

#define AT(member) offsetof(struct values, member)

static const struct option table[] = {
    {"real", OPTION_REAL, AT(real), "1.5", NULL, "10", NULL, NULL, true, "a factor"},
    {"rate", OPTION_RATE, AT(rate), "39 tokens/s", "1/h", NULL, NULL, "tokens", true, "speed of a slot"},
    {"share", OPTION_SHARE, AT(share), "31 %", NULL, NULL, NULL, NULL, true, "of all"},
    {"cap", OPTION_COUNT, AT(count), "inf", "1", NULL, NULL, "calls", true, "calls at once"},
    {"seed", OPTION_COUNT, AT(seed), "1", NULL, "1e18", NULL, NULL, false, "of the streams"},
    {"target", OPTION_TIME, AT(time), "8 s", "1 ms", "1000 s", NULL, NULL, true, "wait aimed at"},
    {"flag", OPTION_FLAG, AT(flag), "true", NULL, NULL, NULL, NULL, false, "or not"},
    {"law", OPTION_CHOICE, AT(law), "rfc8289", NULL, NULL, laws, NULL, false, "which"},
    {"title", OPTION_TEXT, AT(text), "", NULL, NULL, NULL, NULL, false, "of the table"},
    {"trace", OPTION_FILE, AT(file), "", NULL, NULL, NULL, NULL, false, "of waits"},
    {"think", OPTION_DIST, AT(dist), NULL, NULL, NULL, NULL, "time", false, "between turns"},
    {0},
};

static struct arena arena;
static struct diag diag;
static struct values values;

static void setup(void)
{
    arena = (struct arena){0};
    diag = (struct diag){0};
    values = (struct values){0};
}

static void teardown(void)
{
    arena_free(&arena);
    diag_fini(&diag);
}

static bool set(const char *key, const char *text)
{
    const struct place place = {"plans/s.yaml", 3, 9};
    return param_set(param_find(table, key), "codel", &values, text, place, &arena, &diag);
}

static void check_set(const char *key, const char *text)
{
    ck_assert_msg(set(key, text), "%s: %s", text, diag.count > 0 ? diag.messages[0].text : "");
    ck_assert_uint_eq(diag.errors, 0);
}

/* One message that says exactly this. */
static void check_message(const char *text)
{
    ck_assert_uint_eq(diag.errors, 1);
    ck_assert_str_eq(diag.messages[0].text, text);
    diag_fini(&diag);
    diag = (struct diag){0};
}

static void check_refused(const char *key, const char *text, const char *message)
{
    struct values before = values;
    ck_assert_msg(!set(key, text), "%s: %s is accepted", key, text);
    check_message(message);
    ck_assert_mem_eq(&before, &values, sizeof values);
}

/* A mapping built by hand, from key, text, key, text, ..., NULL; a text of NULL is a key without a value. */
static struct node *mapping(const char *const *pairs)
{
    struct node *map = arena_zeroed(&arena, 1, sizeof *map);
    *map = (struct node){.kind = NODE_MAP, .place = {"s.yaml", 2, 5}};
    for (int line = 3; *pairs; pairs += 2, line++) {
        const struct place place = {"s.yaml", line, 15};
        struct node *value = arena_zeroed(&arena, 1, sizeof *value);
        *value = (struct node){.kind = pairs[1] ? NODE_SCALAR : NODE_NULL, .place = place, .text = pairs[1]};
        node_put(map, pairs[0], (struct place){"s.yaml", line, 5}, value, &arena);
    }
    return map;
}

START_TEST(test_defaults)
{
    param_defaults(table, &values, &arena);
    ck_assert(values.real == 1.5);
    ck_assert(values.rate == 39);
    ck_assert(values.share == 0.31);
    ck_assert_int_eq(values.count, INT64_MAX);
    ck_assert_int_eq(values.seed, 1);
    ck_assert_int_eq(values.time, INT64_C(8000000000));
    ck_assert(values.flag);
    ck_assert_int_eq(values.law, 1);
    ck_assert_ptr_null(values.text);
    ck_assert_ptr_null(values.file);
    ck_assert_ptr_null(values.dist);
}
END_TEST

START_TEST(test_bad_default)
{
    static const struct option wrong[] = {
        {"target", OPTION_TIME, AT(time), "8", NULL, NULL, NULL, NULL, false, "without its unit"},
        {0},
    };
    param_defaults(wrong, &values, &arena);
}
END_TEST

START_TEST(test_numbers)
{
    check_set("real", "2e-1");
    ck_assert(values.real == 0.2);
    check_set("rate", "50 tokens/min");
    ck_assert(values.rate == 50.0 / 60);
    check_set("rate", "inf");
    ck_assert(isinf(values.rate));
    check_set("share", "0");
    check_set("share", "1");
    check_set("share", "7.5%");
    ck_assert(values.share == 0.075);
    check_set("cap", "30k calls");
    ck_assert_int_eq(values.count, 30000);
    check_set("cap", "1");
    check_set("cap", "inf");
    ck_assert_int_eq(values.count, INT64_MAX);
    check_set("seed", "0");
    check_set("seed", "123456789012345679"); /* no double */
    ck_assert_int_eq(values.seed, INT64_C(123456789012345679));
    check_set("seed", "1000000000000000000");
    check_set("target", "1 ms");
    ck_assert_int_eq(values.time, 1000000);
    check_set("target", "1000000 us");
    ck_assert_int_eq(values.time, 1000000000);
    check_set("target", "1.0000000016 s ");
    ck_assert_int_eq(values.time, 1000000002);
}
END_TEST

START_TEST(test_others)
{
    check_set("flag", "false");
    ck_assert(!values.flag);
    check_set("law", "none");
    ck_assert_int_eq(values.law, 2);
    check_set("title", "One card: $(the) `knee`");
    ck_assert_str_eq(values.text, "One card: $(the) `knee`");
    check_set("trace", "../data/t.csv");
    ck_assert_str_eq(values.file, "plans/../data/t.csv");
    check_set("trace", "/data/t.csv");
    ck_assert_str_eq(values.file, "/data/t.csv");
    ck_assert(param_set(param_find(table, "trace"), "x", &values, "t.csv", (struct place){0}, &arena, &diag));
    ck_assert_str_eq(values.file, "t.csv");
    check_set("think", "exponential(4.5 s)");
    ck_assert_str_eq(values.dist->name, "exponential");
}
END_TEST

START_TEST(test_refusals)
{
    param_defaults(table, &values, &arena);
    check_refused("target", "0.5 ms", "codel: target: expected a time from 1 ms to 1000 s, found '0.5 ms'");
    check_refused("target", "1001 s", "codel: target: expected a time from 1 ms to 1000 s, found '1001 s'");
    check_refused("target", "inf", "codel: target: expected a time from 1 ms to 1000 s, found 'inf'");
    check_refused(
        "target", "8",
        "codel: target: expected a time from 1 ms to 1000 s, found '8' (a time needs its unit: ns us ms s min "
        "h d)");
    check_refused("target", "8/s",
                  "codel: target: expected a time from 1 ms to 1000 s, found '8/s' (a time needs its unit: ns us ms s "
                  "min h d)");
    check_refused(
        "target", "1 min 30 s",
        "codel: target: expected a time from 1 ms to 1000 s, found '1 min 30 s' (expected one number with one "
        "unit)");
    check_refused("target", "5 m",
                  "codel: target: expected a time from 1 ms to 1000 s, found '5 m' (expected min for minutes, ms for "
                  "milliseconds or M for millions, not m)");
    check_refused("target", "0.5 ns",
                  "codel: target: expected a time from 1 ms to 1000 s, found '0.5 ns' (a time is 0 or at least 1 ns)");
    check_refused("target", "1e12 s",
                  "codel: target: expected a time from 1 ms to 1000 s, found '1e12 s' (times end at 9.2e9 s)");
    check_refused("cap", "0", "codel: cap: expected a whole number of calls of at least 1, or inf, found '0'");
    check_refused("cap", "1.5",
                  "codel: cap: expected a whole number of calls of at least 1, or inf, found '1.5' (a count is a whole "
                  "number of at most 1e18)");
    check_refused("cap", "5 tokens",
                  "codel: cap: expected a whole number of calls of at least 1, or inf, found '5 tokens' (it counts "
                  "something else)");
    check_refused("cap", "5 s",
                  "codel: cap: expected a whole number of calls of at least 1, or inf, found '5 s' (a count has no "
                  "unit)");
    check_refused(
        "seed", "1 run",
        "codel: seed: expected a whole number of at most 1e18, found '1 run' (here it is written without a noun)");
    check_refused("seed", "inf", "codel: seed: expected a whole number of at most 1e18, found 'inf'");
    check_refused("real", "5 s", "codel: real: expected a number of at most 10, found '5 s' (it has no unit)");
    check_refused("real", "1,5",
                  "codel: real: expected a number of at most 10, found '1,5' (expected a decimal dot, not a comma "
                  "(numbers of a list are separated by blanks))");
    check_refused("rate", "39",
                  "codel: rate: expected a rate of tokens of at least 1/h, or inf, found '39' (a rate needs its unit, "
                  "as in 39 tokens/s or 50/min)");
    check_refused("rate", "39 calls/s",
                  "codel: rate: expected a rate of tokens of at least 1/h, or inf, found '39 calls/s' (it counts "
                  "something else)");
    check_refused("share", "31", "codel: share: expected a share from 0 % to 100 %, found '31'");
    check_refused("share", "101 %", "codel: share: expected a share from 0 % to 100 %, found '101 %'");
    check_refused("flag", "yes", "codel: flag: expected a flag: true or false, found 'yes'");
    check_refused("law", "rfc829",
                  "codel: law: expected a choice of: persist, rfc8289, none, found 'rfc829' (did you mean rfc8289?)");
    check_refused("trace", "", "codel: trace: expected a file name, found ''");
    ck_assert(!set("think", "exponential(4.5 s"));
    ck_assert_int_eq(diag.messages[0].place.column, 9 + 17);
}
END_TEST

START_TEST(test_read)
{
    static const char *const pairs[] = {"cap", "12", "preset", "slots", "think", "constant(1 s)", NULL};
    static const char *const others[] = {"preset", NULL};
    struct place places[sizeof table / sizeof table[0]] = {0};
    param_defaults(table, &values, &arena);
    ck_assert(param_read(table, "codel", &values, mapping(pairs), others, places, &arena, &diag));
    ck_assert_int_eq(values.count, 12);
    ck_assert_int_eq(places[param_find(table, "cap") - table].line, 3);
    ck_assert_ptr_null(places[param_find(table, "law") - table].file);
    ck_assert_int_eq(values.law, 1); /* untouched */
}
END_TEST

START_TEST(test_read_mistakes)
{
    static const char *const pairs[] = {"tarjet", "8 s", "zzzzzzzz", "1", "law", NULL, "real", "x", NULL};
    ck_assert(!param_read(table, "codel", &values, mapping(pairs), NULL, NULL, &arena, &diag));
    static const struct {
        int line, column;
        const char *text;
    } rows[] = {
        {3, 5, "codel: unknown key 'tarjet', did you mean target?"},
        {4, 5,
         "codel: unknown key 'zzzzzzzz', expected one of: real, rate, share, cap, seed, target, flag, law, title, "
         "trace, think"},
        {5, 15, "codel: law needs a value: a choice of: persist, rfc8289, none"},
        {6, 15, "codel: real: expected a number of at most 10, found 'x' (expected a number)"},
        {2, 5, "codel: needs think: a distribution of times"},
    };
    ck_assert_uint_eq(diag.count, sizeof rows / sizeof rows[0]);
    for (size_t i = 0; i < diag.count; i++) {
        ck_assert_str_eq(diag.messages[i].text, rows[i].text);
        ck_assert_int_eq(diag.messages[i].place.line, rows[i].line);
        ck_assert_int_eq(diag.messages[i].place.column, rows[i].column);
    }
}
END_TEST

/* A required key that a preset gave is not missing; a quoted expression begins behind its quote. */
START_TEST(test_read_details)
{
    static const char *const none[] = {NULL};
    struct place places[sizeof table / sizeof table[0]] = {0};
    places[param_find(table, "think") - table] = (struct place){"s.yaml", 9, 9};
    ck_assert(param_read(table, "codel", &values, mapping(none), NULL, places, &arena, &diag));

    static const char *const pairs[] = {"think", "f(-1)", NULL};
    struct node *map = mapping(pairs);
    map->entries[0].value->quoted = true;
    ck_assert(!param_read(table, "codel", &values, map, NULL, NULL, &arena, &diag));
    ck_assert_int_eq(diag.messages[0].place.column, 15 + 1 + 2);
}
END_TEST

START_TEST(test_read_kinds)
{
    static const char *const pairs[] = {"think", "constant(1 s)", "target", "1 s", NULL};
    struct node *map = mapping(pairs);
    map->entries[1].value->kind = NODE_LIST;
    ck_assert(!param_read(table, "codel", &values, map, NULL, NULL, &arena, &diag));
    check_message("codel: target: expected a time from 1 ms to 1000 s, found a list");
    map->kind = NODE_LIST;
    ck_assert(!param_read(table, "codel", &values, map, NULL, NULL, &arena, &diag));
    check_message("codel: expected a mapping, as in {key: value}, found a list");
}
END_TEST

START_TEST(test_live)
{
    param_defaults(table, &values, &arena);
    ck_assert_ptr_null(param_set_number(param_find(table, "target"), &values, 0.0025));
    ck_assert_int_eq(values.time, 2500000);
    ck_assert_ptr_null(param_set_number(param_find(table, "cap"), &values, INFINITY));
    ck_assert_int_eq(values.count, INT64_MAX);
    ck_assert(isinf(param_get_number(param_find(table, "cap"), &values)));
    ck_assert(param_get_number(param_find(table, "target"), &values) == 0.0025);
    ck_assert(param_get_number(param_find(table, "share"), &values) == 0.31);
    ck_assert(isnan(param_get_number(param_find(table, "law"), &values)));

    const struct values before = values;
    ck_assert_str_eq(param_set_number(param_find(table, "target"), &values, 1000.1),
                     "expected a number within the parameter's range");
    ck_assert_ptr_nonnull(param_set_number(param_find(table, "target"), &values, INFINITY));
    ck_assert_ptr_nonnull(param_set_number(param_find(table, "cap"), &values, 1.5));
    ck_assert_ptr_nonnull(param_set_number(param_find(table, "cap"), &values, NAN));
    ck_assert_ptr_nonnull(param_set_number(param_find(table, "cap"), &values, -1));
    ck_assert_ptr_nonnull(param_set_number(param_find(table, "cap"), &values, 2e18));
    ck_assert_ptr_nonnull(param_set_number(param_find(table, "seed"), &values, 2)); /* not live */
    ck_assert_ptr_nonnull(param_set_number(param_find(table, "law"), &values, 0));
    ck_assert_mem_eq(&before, &values, sizeof values);
}
END_TEST

/* What is printed is what was written, and reads back. */
START_TEST(test_text)
{
    static const struct {
        const char *key, *written, *printed;
    } rows[] = {
        {"real", "0.1", "0.1"},
        {"rate", "39 tokens/s", "39 tokens/s"},
        {"rate", "50/min", "50 tokens/min"},
        {"rate", "2M/min", "2M tokens/min"},
        {"rate", "0.3333333333333333/s", "20 tokens/min"},
        {"rate", "0.30000000000000004/s", "0.30000000000000004 tokens/s"},
        {"rate", "inf", "inf"},
        {"share", "0.31", "31 %"},
        {"share", "31.7%", "31.7 %"},
        {"share", "0", "0 %"},
        {"cap", "inf", "inf"},
        {"cap", "2000000", "2M"},
        {"seed", "123456789012345679", "123456789012345679"},
        {"target", "0.25 s", "250 ms"},
        {"target", "1.000000001 s", "1000000001 ns"},
        {"flag", "false", "false"},
        {"law", "persist", "persist"},
        {"title", "knee", "knee"},
        {"title", "a: \"b\"", "\"a: \\\"b\\\"\""},
        {"think", " mixture(0.5 a | 0.5 b) ", "mixture(0.5 a | 0.5 b)"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct option *option = param_find(table, rows[i].key);
        check_set(rows[i].key, rows[i].written);
        const char *text = param_text(option, &values, &arena);
        ck_assert_str_eq(text, rows[i].printed);
        if (option->type != OPTION_TEXT) {
            check_set(rows[i].key, text);
            ck_assert_str_eq(param_text(option, &values, &arena), text);
        }
    }
    ck_assert_str_eq(param_text(param_find(table, "trace"), &values, &arena), "");
}
END_TEST

START_TEST(test_type_text)
{
    static const struct {
        const char *key, *text;
    } rows[] = {
        {"target", "time, from 1 ms to 1000 s"}, {"real", "number, of at most 10"},
        {"share", "share, from 0 % to 100 %"},   {"cap", "whole number of calls, of at least 1, or inf"},
        {"flag", "flag: true or false"},         {"law", "choice of: persist, rfc8289, none"},
        {"think", "distribution of times"},      {"trace", "file name"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        ck_assert_str_eq(param_type_text(param_find(table, rows[i].key), &arena), rows[i].text);
    ck_assert_ptr_null(param_find(table, "tarjet"));
}
END_TEST

Suite *param_suite(void)
{
    Suite *suite = suite_create("param");
    TCase *cases = tcase_create("param");
    tcase_add_checked_fixture(cases, setup, teardown);
    tcase_add_test(cases, test_defaults);
    tcase_add_test_raise_signal(cases, test_bad_default, SIGABRT);
    tcase_add_test(cases, test_numbers);
    tcase_add_test(cases, test_others);
    tcase_add_test(cases, test_refusals);
    tcase_add_test(cases, test_read);
    tcase_add_test(cases, test_read_mistakes);
    tcase_add_test(cases, test_read_details);
    tcase_add_test(cases, test_read_kinds);
    tcase_add_test(cases, test_live);
    tcase_add_test(cases, test_text);
    tcase_add_test(cases, test_type_text);
    suite_add_tcase(suite, cases);
    return suite;
}
