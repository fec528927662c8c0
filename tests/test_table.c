/* test_table.c - the three faces of a table and its companion. */
#include <check.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "sim/io/table.h"
#include "sim/io/yaml.h"
#include "tests/comma.h"
#include "tests/suites.h"

static struct table table;

static void setup(void)
{
    table = (struct table){0};
    table_column(&table, "policy", "", "", "the alternative", TABLE_KEY, true);
    table_column(&table, "agents", "", "", "population", TABLE_KEY, true);
    table_column(&table, "goodput", "turns/s", "higher", "turns a second", TABLE_VALUE, true);
    table_column(&table, "goodput_hw", "turns/s", "", "its half-width", TABLE_HALF_WIDTH, true);
    table_column(&table, "wait_p99", "s", "lower", "say \"99 %\": of waits", TABLE_VALUE, true);
    table_column(&table, "wait_p99_hw", "s", "", "its half-width", TABLE_HALF_WIDTH, true);
    table_column(&table, "calls", "", "", "how many", TABLE_VALUE, false);
}

static void row(const char *policy, double agents, double goodput, double goodput_hw, double wait, double wait_hw)
{
    size_t line = table_row(&table);
    const double numbers[] = {agents, goodput, goodput_hw, wait, wait_hw, 1000};
    table_text(&table, line, 0, policy);
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        table_at(&table, line, 1 + i)->number = numbers[i];
}

static void fill(void)
{
    row("unbounded", 8, 0.70123, 0.0012, 0, 0);
    row("codel, \"x\"", 24, 0.88, 0.00096, 24.0512, 0.31);
    row("a|b`c`", 24, 0.1 + 0.2, NAN, NAN, NAN);
    table_note(&table, "%d notes", 2);
    table_note(&table, "a `second`");
}

static void teardown(void)
{
    table_fini(&table);
}

typedef void print_fn(const struct table *table, FILE *out);

static void check_printed(print_fn *print, const char *wanted)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    print(&table, out);
    fclose(out);
    ck_assert_str_eq(text, wanted);
    free(text);
}

START_TEST(test_print_text)
{
    fill();
    check_printed(table_print_text, "policy      agents            goodput      wait_p99\n"
                                    "                              turns/s             s\n"
                                    "unbounded        8    0.7012 \u00b1 0.0012             0\n"
                                    "codel, \"x\"      24  0.88000 \u00b1 0.00096  24.05 \u00b1 0.31\n"
                                    "a|b`c`          24                0.3\n"
                                    "\n"
                                    "2 notes\n"
                                    "a `second`\n");
}
END_TEST

START_TEST(test_print_ascii)
{
    table.ascii = true;
    row("x", 8, 1, 0.1, 2, 0.2);
    check_printed(table_print_text, "policy  agents       goodput      wait_p99\n"
                                    "                     turns/s             s\n"
                                    "x            8  1.00 +- 0.10  2.00 +- 0.20\n");
}
END_TEST

START_TEST(test_print_csv)
{
    fill();
    check_printed(table_print_csv, "policy,agents,goodput,goodput_hw,wait_p99,wait_p99_hw,calls\n"
                                   "unbounded,8,0.70123,0.0012,0,0,1000\n"
                                   "\"codel, \"\"x\"\"\",24,0.88,0.00096,24.0512,0.31,1000\n"
                                   "a|b`c`,24,0.30000000000000004,,,,1000\n");
}
END_TEST

START_TEST(test_print_markdown)
{
    fill();
    check_printed(table_print_markdown, "| policy | agents | goodput (turns/s) | wait_p99 (s) |\n"
                                        "| --- | ---: | ---: | ---: |\n"
                                        "| unbounded | 8 | 0.7012 \u00b1 0.0012 | 0 |\n"
                                        "| codel, \"x\" | 24 | 0.88000 \u00b1 0.00096 | 24.05 \u00b1 0.31 |\n"
                                        "| a\\|b\\`c\\` | 24 | 0.3 |  |\n"
                                        "\n"
                                        "2 notes\n"
                                        "\n"
                                        "a \\`second\\`\n");
}
END_TEST

START_TEST(test_empty)
{
    struct table none = {0};
    teardown();
    table = none;
    check_printed(table_print_text, "");
    check_printed(table_print_markdown, "");
    check_printed(table_print_csv, "\n");
    setup();
    check_printed(table_print_csv, "policy,agents,goodput,goodput_hw,wait_p99,wait_p99_hw,calls\n");
}
END_TEST

/* Room for many rows, and a terminal is never spoken to by a label. */
START_TEST(test_many_rows)
{
    for (int i = 0; i < 1000; i++)
        row(i == 999 ? "\033[31mred\xff" : "plain", i, i, NAN, NAN, NAN);
    ck_assert_uint_eq(table.row_count, 1000);
    for (size_t i = 0; i < 1000; i++)
        ck_assert(table_at(&table, i, 2)->number == (double)i);
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    table_print_text(&table, out);
    fclose(out);
    ck_assert_ptr_nonnull(strstr(text, "?[31mred?"));
    free(text);
}
END_TEST

static const char *value_of(const struct node *map, const char *key)
{
    const struct node *value = node_get(map, key);
    ck_assert_msg(value && value->kind == NODE_SCALAR, "%s", key);
    return value->text;
}

/* The companion is read by our own reader, whatever a title holds. */
START_TEST(test_print_meta)
{
    static const char title[] = "One card: the \"knee\" # `x` $(y)\t\001\033\n\\ \u00fc\u2028\U0001f600 {a, b]";
    struct arena arena = {0};
    struct diag diag = {0};
    const char *head[] = {"version: 1.0.2",
                          "seed: 1",
                          arena_format(&arena, "title: %s", title),
                          "marked: true",
                          "command: weir run a.yaml --set 'x=1'",
                          "hash: 123e45",
                          "empty: "};
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    table_print_meta(&table, head, sizeof head / sizeof head[0], out);
    fclose(out);
    ck_assert_ptr_nonnull(strstr(text, "\nseed: 1\n"));
    ck_assert_ptr_nonnull(strstr(text, "\nmarked: true\n"));
    ck_assert_ptr_nonnull(strstr(text, "\nhash: \"123e45\"\n"));
    const struct node *root = yaml_parse("T.csv.meta", text, size, &arena, &diag);
    ck_assert_msg(root != NULL, "%s", diag.count > 0 ? diag.messages[0].text : text);
    ck_assert_str_eq(value_of(root, "version"), "1.0.2");
    ck_assert_str_eq(value_of(root, "title"), title);
    ck_assert_str_eq(value_of(root, "command"), "weir run a.yaml --set 'x=1'");
    ck_assert_str_eq(value_of(root, "empty"), "");
    const struct node *columns = node_get(root, "columns");
    ck_assert_uint_eq(columns->count, 7);
    ck_assert_str_eq(value_of(columns->items[4], "name"), "wait_p99");
    ck_assert_str_eq(value_of(columns->items[4], "unit"), "s");
    ck_assert_str_eq(value_of(columns->items[4], "role"), "value");
    ck_assert_str_eq(value_of(columns->items[4], "better"), "lower");
    ck_assert_str_eq(value_of(columns->items[4], "meaning"), "say \"99 %\": of waits");
    ck_assert_str_eq(value_of(columns->items[5], "role"), "half-width");
    free(text);
    diag_fini(&diag);
    arena_free(&arena);
}
END_TEST

/* What does not fit a line stands below, with its keys; notes are broken at blanks. */
START_TEST(test_broad_text)
{
    struct table broad = {0};
    char *text = NULL;
    size_t size = 0;
    table_column(&broad, "policy", "", "", "", TABLE_KEY, true);
    for (int i = 0; i < 9; i++) {
        char name[32];
        snprintf(name, sizeof name, "a_metric_%d", i);
        table_column(&broad, name, i < 8 ? "s" : "", "", "", TABLE_VALUE, true);
    }
    table_text(&broad, table_row(&broad), 0, "lifo");
    for (size_t i = 1; i < 10; i++)
        table_at(&broad, 0, i)->number = (double)i;
    table_note(&broad, "%s%s", "It is a long note, in which many words follow each other until ",
               "there is no more room for the rest of it.");
    FILE *out = open_memstream(&text, &size);
    table_print_text(&broad, out);
    fclose(out);
    ck_assert_str_eq(
        text, "              a_        a_        a_        a_        a_        a_        a_        a_        a_\n"
              "policy  metric_0  metric_1  metric_2  metric_3  metric_4  metric_5  metric_6  metric_7  metric_8\n"
              "               s         s         s         s         s         s         s         s\n"
              "lifo           1         2         3         4         5         6         7         8         9\n"
              "\n"
              "It is a long note, in which many words follow each other until there is no more room for the rest of\n"
              "it.\n");
    free(text);
    table_fini(&broad);
}
END_TEST

/* A heading broader than its column takes two lines; what cannot be negative begins at 0; a key has a name for people.
 */
START_TEST(test_headings)
{
    struct table broad = {0};
    char *text = NULL;
    size_t size = 0;
    table_column(&broad, "agents.coder.population", "", "", "", TABLE_KEY, true);
    table_heading(&broad, 0, "population");
    table_column(&broad, "refusals_per_turn", "", "", "", TABLE_VALUE, true);
    table_column(&broad, "refusals_per_turn_hw", "", "", "", TABLE_HALF_WIDTH, true);
    broad.columns[1].never_negative = true;
    table_column(&broad, "d_wait", "s", "", "", TABLE_VALUE, true);
    table_column(&broad, "d_wait_hw", "s", "", "", TABLE_HALF_WIDTH, true);
    for (int i = 0; i < 5; i++) {
        char name[32];
        snprintf(name, sizeof name, "a_metric_that_is_%d", i);
        table_column(&broad, name, "", "", "", TABLE_VALUE, true);
    }
    table_text(&broad, table_row(&broad), 0, "12");
    table_at(&broad, 0, 1)->number = 0.25;
    table_at(&broad, 0, 2)->number = 0.5;
    table_at(&broad, 0, 3)->number = 0.25;
    table_at(&broad, 0, 4)->number = 0.5;
    broad.ascii = true;
    FILE *out = open_memstream(&text, &size);
    table_print_text(&broad, out);
    fclose(out);
    ck_assert_str_eq(text,
                     "             refusals_                 a_metric_  a_metric_  a_metric_  a_metric_  a_metric_\n"
                     "population    per_turn         d_wait  that_is_0  that_is_1  that_is_2  that_is_3  that_is_4\n"
                     "                                    s\n"
                     "12          ~0 to 0.75  ~0.25 +- 0.50\n");
    free(text);
    table_fini(&broad);
}
END_TEST

static void under_comma(void)
{
    row("x", 8.5, 0.70123, 0.0012, 24.0512, NAN);
    check_printed(table_print_csv, "policy,agents,goodput,goodput_hw,wait_p99,wait_p99_hw,calls\n"
                                   "x,8.5,0.70123,0.0012,24.0512,,1000\n");
    check_printed(table_print_markdown, "| policy | agents | goodput (turns/s) | wait_p99 (s) |\n"
                                        "| --- | ---: | ---: | ---: |\n"
                                        "| x | 8.5 | 0.7012 \u00b1 0.0012 | 24.05 |\n");
}

START_TEST(test_comma_locale)
{
    comma_run(under_comma);
}
END_TEST

START_TEST(test_half_width_alone)
{
    table_column(&table, "key", "", "", "", TABLE_KEY, true);
    table_column(&table, "key_hw", "", "", "", TABLE_HALF_WIDTH, true);
}
END_TEST

START_TEST(test_late_column)
{
    table_row(&table);
    table_column(&table, "x", "", "", "", TABLE_VALUE, true);
}
END_TEST

START_TEST(test_no_such_cell)
{
    table_at(&table, 0, 0);
}
END_TEST

Suite *table_suite(void)
{
    Suite *suite = suite_create("table");
    TCase *cases = tcase_create("table");
    tcase_add_checked_fixture(cases, setup, teardown);
    tcase_add_test(cases, test_print_text);
    tcase_add_test(cases, test_print_ascii);
    tcase_add_test(cases, test_print_csv);
    tcase_add_test(cases, test_print_markdown);
    tcase_add_test(cases, test_print_meta);
    tcase_add_test(cases, test_empty);
    tcase_add_test(cases, test_many_rows);
    tcase_add_test(cases, test_broad_text);
    tcase_add_test(cases, test_headings);
    tcase_add_test(cases, test_comma_locale);
    tcase_add_test_raise_signal(cases, test_half_width_alone, SIGABRT);
    tcase_add_test_raise_signal(cases, test_late_column, SIGABRT);
    tcase_add_test_raise_signal(cases, test_no_such_cell, SIGABRT);
    suite_add_tcase(suite, cases);
    return suite;
}
