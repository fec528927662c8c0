/* test_yaml.c - scenario files as trees with places, and what is said about each known mistake. */
#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sim/io/yaml.h"
#include "tests/suites.h"

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

static struct node *parse(const char *text)
{
    return yaml_parse("s.yaml", text, strlen(text), &arena, &diag);
}

static struct node *parse_well(const char *text)
{
    struct node *node = parse(text);
    if (node == NULL)
        diag_print(&diag, stderr);
    ck_assert_ptr_nonnull(node);
    ck_assert_uint_eq(diag.count, 0);
    return node;
}

static void assert_place(struct place place, int line, int column)
{
    ck_assert_str_eq(place.file, "s.yaml");
    ck_assert_int_eq(place.line, line);
    ck_assert_int_eq(place.column, column);
}

static void assert_scalar(const struct node *node, const char *text)
{
    ck_assert_ptr_nonnull(node);
    ck_assert_int_eq(node->kind, NODE_SCALAR);
    ck_assert_str_eq(node->text, text);
}

START_TEST(scenario_becomes_a_tree)
{
    const struct node *root =
        parse_well("title: \"One card: the knee\"\n"
                   "study: {horizon: 60000 s, seed: 1}\n"
                   "agents:\n"
                   "  coder:\n"
                   "    think: exponential(4.5 s)\n"
                   "    output: mixture(0.7 lognormal(120 cv 0.45) | 0.3 lognormal(900 cv 0.35))\n"
                   "policies:\n"
                   "  - unbounded\n"
                   "  - fixed_cap: {cap: 12}\n"
                   "  - rfc: [codel: {law: rfc8289}]\n"
                   "sweep: {agents.coder.population: 8..24 step 2}\n"
                   "notes:\n");
    ck_assert_int_eq(root->kind, NODE_MAP);
    ck_assert_uint_eq(root->count, 6);
    ck_assert_str_eq(root->entries[1].key, "study");
    assert_place(root->entries[1].place, 2, 1);
    assert_scalar(node_get(root, "title"), "One card: the knee");
    ck_assert(node_get(root, "title")->quoted);
    const struct node *study = node_get(root, "study");
    assert_scalar(node_get(study, "horizon"), "60000 s");
    ck_assert(!node_get(study, "horizon")->quoted);
    assert_place(node_get(study, "seed")->place, 2, 33);
    const struct node *coder = node_get(node_get(root, "agents"), "coder");
    assert_scalar(node_get(coder, "think"), "exponential(4.5 s)");
    assert_place(node_get(coder, "think")->place, 5, 12);
    assert_scalar(node_get(coder, "output"), "mixture(0.7 lognormal(120 cv 0.45) | 0.3 lognormal(900 cv 0.35))");
    const struct node *policies = node_get(root, "policies");
    ck_assert_int_eq(policies->kind, NODE_LIST);
    ck_assert_uint_eq(policies->count, 3);
    assert_scalar(policies->items[0], "unbounded");
    assert_scalar(node_get(node_get(policies->items[1], "fixed_cap"), "cap"), "12");
    const struct node *chain = node_get(policies->items[2], "rfc");
    assert_scalar(node_get(node_get(chain->items[0], "codel"), "law"), "rfc8289");
    assert_scalar(node_get(node_get(root, "sweep"), "agents.coder.population"), "8..24 step 2");
    ck_assert_int_eq(node_get(root, "notes")->kind, NODE_NULL);
    ck_assert_ptr_null(node_get(root, "note"));
    ck_assert_ptr_null(node_get(policies, "rfc"));
}
END_TEST

START_TEST(scalars)
{
    const struct node *root =
        parse_well("a: ~\nb: null\nc: \"\"\nd: 'null'\ne: 12:30\nf: |\n  x\n  y\ng: a#b # c\n"
                   "h: {\"i\":1, j: \"f(1, 2\"}\nk: 50 % (of all\nl: [a) one, b) two]\nm: NULL\n");
    ck_assert_int_eq(node_get(root, "m")->kind, NODE_NULL);
    ck_assert_int_eq(node_get(root, "a")->kind, NODE_NULL);
    ck_assert_int_eq(node_get(root, "b")->kind, NODE_NULL);
    assert_scalar(node_get(root, "c"), "");
    assert_scalar(node_get(root, "d"), "null");
    assert_scalar(node_get(root, "e"), "12:30");
    assert_scalar(node_get(root, "f"), "x\ny\n");
    ck_assert(node_get(root, "f")->quoted);
    assert_scalar(node_get(root, "g"), "a#b");
    assert_scalar(node_get(node_get(root, "h"), "i"), "1");
    assert_scalar(node_get(node_get(root, "h"), "j"), "f(1, 2");
    assert_scalar(node_get(root, "k"), "50 % (of all");
    assert_scalar(node_get(root, "l")->items[1], "b) two");
}
END_TEST

START_TEST(nothing_is_no_error)
{
    static const char *const texts[] = {"", "\n\n", "# only a comment", "---\n", "\xef\xbb\xbf"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        const struct node *node = parse_well(texts[i]);
        ck_assert_int_eq(node->kind, NODE_NULL);
        ck_assert_str_eq(node_kind_name(node), "nothing");
    }
    ck_assert_str_eq(node_kind_name(parse_well("1")), "a value");
    ck_assert_str_eq(node_kind_name(parse_well("[]")), "a list");
    ck_assert_str_eq(node_kind_name(parse_well("{}")), "a mapping");
}
END_TEST

/* Columns count characters, a BOM is none of them, CRLF is one line end. */
START_TEST(places_are_those_of_an_editor)
{
    const struct node *root =
        parse_well("\xef\xbb\xbf\xc3\xa9t\xc3\xa9: 1\r\n\r\nb: \xc2\xb1 x\r\nc: {\xc3\xa9: 4}\r\n");
    assert_place(root->entries[0].place, 1, 1);
    assert_place(root->entries[0].value->place, 1, 6);
    assert_place(root->entries[1].value->place, 3, 4);
    assert_place(root->entries[2].value->entries[0].value->place, 4, 8);
}
END_TEST

static const struct mistake {
    const char *text;
    int line, column;
    const char *says; /* a part of the first message */
} mistakes[] = {
    /* what must stand in quotes */
    {"title: One card: the knee\n", 1, 16, "second colon"},
    {"a: b:\n", 1, 5, "second colon"},
    {"a: {b: c: d}\n", 1, 9, "value with a colon needs quotes"},
    {"a: 1\nb: @x\n", 2, 4, "'@' must stand in quotes"},
    {"a: `x`\n", 1, 4, "'`' must stand in quotes"},
    {"a: %x\n", 1, 4, "'%' must stand in quotes"},
    {"%x: 1\n", 1, 1, "'%' must stand in quotes"},
    {"a: >= 3\n", 1, 4, "'>' must stand in quotes"},
    {"a: {b: >= 3}\n", 1, 8, "'>' must stand in quotes"},
    {"a: |x\n", 1, 4, "'|' must stand in quotes"},
    {"a: * 3\n", 1, 4, "'*' must stand in quotes"},
    {"a: & 3\n", 1, 4, "'&' must stand in quotes"},
    {"a: ! 3\n", 1, 4, "`!` must stand in quotes"},
    {"a: , x\n", 1, 4, "not ','; a text that begins so must stand in quotes"},
    {"a: ]\n", 1, 4, "']'"},
    {"a: [x] y\n", 1, 8, "closing ']'"},
    {"a: \"x\" y\n", 1, 8, "closing '\"'"},
    {"a: 'it's'\n", 1, 8, "closing '''"},
    {"a: ? b\n", 1, 4, "`?` must stand in quotes"},
    {"a: \"x\\d\"\n", 1, 6, "escape"},
    {"b: 1\na: \"x\n\n", 2, 4, "quote that opens here is not closed"},
    /* blanks, brackets and columns */
    {"{cap:6}", 1, 2, "a blank is missing after the colon"},
    {"{a: 1, b}", 1, 8, "`b` has no value"},
    {"{a: , b: 1}", 1, 2, "`a` has no value"},
    {"a: {b:[1]}\n", 1, 6, "a blank is missing after the colon"},
    {"a: 1\ncap:6\n", 2, 4, "a blank is missing after the colon"},
    {"cap:6\na: 1\n", 1, 4, "a blank is missing after the colon"},
    {"x:\n  cap:6 # b: c\n\n  # d: e\n  a: 1\n", 2, 6, "a blank is missing after the colon"},
    {"a: 1\nsentence\n", 2, 1, "a key without a colon"},
    {"a: 1\n  b: 2\n", 2, 4, "in the column of the key above"},
    {"  a: 1\nb: 2\n", 2, 1, "in the column of the first one"},
    {"a:\n    b: 1\n  c: 2\n", 3, 3, "next key in column 1, as in line 1"},
    {"a:\n  - b\n  c: 3\n", 3, 3, "further item"},
    {"a: - b\n", 1, 4, "a list cannot begin here"},
    {": 3\n", 1, 1, "a key is missing"},
    {"{: 3}\n", 1, 2, "a key is missing"},
    {"a: {b: 1\nc: 3\n", 2, 2, "is the '{' of line 1, column 4 not closed?"},
    {"a: [1, 2\nb: 3\n", 2, 2, "is the '[' of line 1, column 4 not closed?"},
    {"a: {b: 1 c: 3}\n", 1, 11, "a comma is missing"},
    {"a: [1}\n", 1, 6, "expected ',' or ']'"},
    {"{a: uniform(1 s, 2 s)}", 1, 5,
     "a comma inside {...} ended this value, `uniform(1 s`: separate arguments by blanks"},
    {"{a: [uniform(1 s, 2 s), 3]}", 1, 6, "a comma inside [...] ended this value"},
    /* what a scenario may not contain */
    {"a: &x 3\n", 1, 4, "an anchor"},
    {"a: &x [1]\n", 1, 4, "an anchor"},
    {"&x a: 3\n", 1, 1, "an anchor"},
    {"a: *x\n", 1, 4, "an alias"},
    {"*x : 1\n", 1, 1, "an alias"},
    {"a: !!int 3\n", 1, 4, "a tag"},
    {"a: !t {b: 1}\n", 1, 4, "a tag"},
    {"a: !e!t 3\n", 1, 4, "must stand in quotes"},
    {"a: {<<: 3}\n", 1, 5, "a merge key"},
    {"? [a]\n: 3\n", 1, 3, "as a key"},
    {"a: 1\nb: 2\na: 3\n", 3, 1, "the key `a` again: it stands in line 1 already"},
    {"a: 1\n---\nb: 2\n", 2, 1, "a second document"},
    {"a: 1\n\tb: 2\n", 2, 1, "a tab: expected blanks"},
    {"a: 1 \t# x\n", 1, 6, "a tab: expected blanks"},
    {"a: \"x\\0y\"\n", 1, 4, "NUL"},
    /* bytes */
    {"a: 1\n\xc3\xa9: \xff\n", 2, 4, "not UTF-8"},
    {"a: x\xc2", 1, 5, "not UTF-8"},
    {"\xff\xfe"
     "a",
     1, 1, "UTF-16"},
    {"a: 1\r\nb: \x01\n", 2, 4, "control character U+0001"},
};

START_TEST(mistake_is_told_where_it_is)
{
    const struct mistake *mistake = &mistakes[_i];
    ck_assert_ptr_null(parse(mistake->text));
    ck_assert_uint_eq(diag.errors, 1);
    const struct diag_message *message = &diag.messages[0];
    ck_assert_msg(strstr(message->text, mistake->says) != NULL, "%s\nsays: %s", mistake->text, message->text);
    ck_assert_msg(message->place.line == mistake->line && message->place.column == mistake->column, "%s\n%d:%d: %s",
                  mistake->text, message->place.line, message->place.column, message->text);
    ck_assert_str_eq(message->place.file, "s.yaml");
}
END_TEST

START_TEST(several_mistakes_are_told_at_once)
{
    ck_assert_ptr_null(parse("a: {b, c:1}\na: 1\nd: [f(1, 2), g(3, 4)]\ne: {h: i(1, 2, 3), j: 1, j: 2}\n"));
    ck_assert_uint_eq(diag.errors, 7);
    int lines[] = {1, 1, 3, 3, 4, 4, 2};
    for (size_t i = 0; i < diag.count; i++)
        ck_assert_int_eq(diag.messages[i].place.line, lines[i]);
}
END_TEST

START_TEST(nul_byte)
{
    ck_assert_ptr_null(yaml_parse("s.yaml", "a: 1\nb: \0", 9, &arena, &diag));
    assert_place(diag.messages[0].place, 2, 4);
}
END_TEST

static char *nested(int levels)
{
    char *text = mem_zeroed(2 * (size_t)levels + 2, 1);
    memset(text, '[', (size_t)levels);
    text[levels] = 'x';
    memset(text + levels + 1, ']', (size_t)levels);
    return text;
}

START_TEST(levels_are_bounded)
{
    char *fits = nested(64), *deep = nested(65);
    parse_well(fits);
    char beside[3 * 70 + 3] = "[";
    for (size_t i = 0; i < 70; i++)
        strcat(beside, "[],");
    parse_well(strcat(beside, "]"));
    ck_assert_ptr_null(parse(deep));
    ck_assert_uint_eq(diag.errors, 1);
    assert_place(diag.messages[0].place, 1, 65);
    free(fits);
    free(deep);
}
END_TEST

START_TEST(values_are_bounded)
{
    size_t items = 1000000; /* and the list itself */
    char *text = mem_zeroed(2 * items + 2, 1);
    text[0] = '[';
    for (size_t i = 0; i < items; i++)
        memcpy(text + 1 + 2 * i, "a,", 2);
    text[2 * items] = ']';
    ck_assert_ptr_null(parse(text));
    ck_assert_ptr_nonnull(strstr(diag.messages[0].text, "at most 1000000 values"));
    free(text);
}
END_TEST

static struct node *read_file(const char *path)
{
    return yaml_read(path, &arena, &diag);
}

START_TEST(files)
{
    char folder[] = "/tmp/weir-yaml-XXXXXX";
    ck_assert_ptr_nonnull(mkdtemp(folder));
    char *path = arena_format(&arena, "%s/s.yaml", folder);
    FILE *file = fopen(path, "w");
    fputs("a: 1\nb: {c: 2}\n", file);
    fclose(file);
    const struct node *root = read_file(path);
    ck_assert_ptr_nonnull(root);
    ck_assert_str_eq(node_get(root, "a")->place.file, path);
    assert_scalar(node_get(node_get(root, "b"), "c"), "2");

    /* 100 MB, of which no more than 16 MiB are read */
    ck_assert_int_eq(truncate(path, 100000000), 0);
    ck_assert_ptr_null(read_file(path));
    ck_assert_ptr_nonnull(strstr(diag.messages[0].text, "at most 16 MiB"));

    ck_assert_ptr_null(read_file(folder));
    ck_assert_ptr_nonnull(strstr(diag.messages[1].text, "a directory"));
    char *pipe_path = arena_format(&arena, "%s/pipe", folder);
    ck_assert_int_eq(mkfifo(pipe_path, 0600), 0);
    ck_assert_ptr_null(read_file(pipe_path));
    ck_assert_ptr_nonnull(strstr(diag.messages[2].text, "a pipe"));
    ck_assert_ptr_null(read_file("/dev/zero"));
    ck_assert_ptr_nonnull(strstr(diag.messages[3].text, "a device"));
    ck_assert_int_eq(unlink(path), 0);
    ck_assert_ptr_null(read_file(path));
    ck_assert_ptr_nonnull(strstr(diag.messages[4].text, "No such file"));
    ck_assert_int_eq(unlink(pipe_path), 0);
    ck_assert_int_eq(rmdir(folder), 0);
}
END_TEST

START_TEST(put_and_copy)
{
    struct node *root = parse_well("a: 1\nb: {c: 2, d: [x, y]}\n");
    struct node *copy = node_copy(root, &arena);
    struct place place = {"--set", 1, 1};
    node_put(node_get(root, "b"), "c", place, node_scalar("3", place, &arena), &arena);
    node_put(root, "e", place, node_scalar("4", place, &arena), &arena);
    node_get(node_get(root, "b"), "d")->items[1]->text = "z";

    assert_scalar(node_get(node_get(root, "b"), "c"), "3");
    ck_assert_uint_eq(node_get(root, "b")->count, 2);
    ck_assert_str_eq(node_get(node_get(root, "b"), "c")->place.file, "--set");
    ck_assert_uint_eq(root->count, 3);
    ck_assert_str_eq(root->entries[2].key, "e");
    ck_assert_str_eq(root->entries[2].place.file, "--set");

    ck_assert_uint_eq(copy->count, 2);
    assert_scalar(node_get(node_get(copy, "b"), "c"), "2");
    assert_scalar(node_get(node_get(copy, "b"), "d")->items[1], "y");
    assert_place(node_get(copy, "b")->place, 2, 4);

    struct node *nothing = parse_well("");
    node_put(nothing, "a", place, node_scalar("5", place, &arena), &arena);
    assert_scalar(node_get(nothing, "a"), "5");
}
END_TEST

Suite *yaml_suite(void)
{
    Suite *suite = suite_create("yaml");
    TCase *trees = tcase_create("trees");
    tcase_add_checked_fixture(trees, setup, teardown);
    tcase_add_test(trees, scenario_becomes_a_tree);
    tcase_add_test(trees, scalars);
    tcase_add_test(trees, nothing_is_no_error);
    tcase_add_test(trees, places_are_those_of_an_editor);
    tcase_add_test(trees, put_and_copy);
    suite_add_tcase(suite, trees);

    TCase *wrong = tcase_create("mistakes");
    tcase_add_checked_fixture(wrong, setup, teardown);
    tcase_add_loop_test(wrong, mistake_is_told_where_it_is, 0, (int)(sizeof mistakes / sizeof *mistakes));
    tcase_add_test(wrong, several_mistakes_are_told_at_once);
    tcase_add_test(wrong, nul_byte);
    tcase_add_test(wrong, levels_are_bounded);
    tcase_add_test(wrong, values_are_bounded);
    tcase_add_test(wrong, files);
    suite_add_tcase(suite, wrong);
    return suite;
}
