/* test_address.c - addresses into any document, lists in it: what is put is found there, and nothing else has changed.
 */
#include <check.h>
#include <string.h>

#include "models/address.h"
#include "tests/suites.h"

static const char document[] =
    "{agents: {a: {list: [x0, [x1, {k: x2, other: [y]}], ~, x3, x4, x5, x6, x7, x8, x9, x10], "
    "map: {'0': z}, empty: []}}, backends: [q]}";

static struct arena arena;
static struct diag diag;
static struct reader reader;
static struct node *root;

static void setup(void)
{
    diag = (struct diag){0};
    reader = (struct reader){.arena = &arena, .diag = &diag};
    root = yaml_parse("test", document, strlen(document), &arena, &diag);
    ck_assert_ptr_nonnull(root);
}

static void teardown(void)
{
    diag_fini(&diag);
    arena_free(&arena);
}

static const char *text_at(const struct node *node, const char *address)
{
    const struct node *found = address_get(node, address);
    return found && found->kind == NODE_SCALAR ? found->text : "";
}

static const struct stop {
    const char *address, *before; /* "": there was no value */
} stops[] = {
    {"agents.a.list.0", "x0"},       {"agents.a.list.1.0", "x1"}, {"agents.a.list.1.1.k", "x2"},
    {"agents.a.list.10", "x10"},     {"agents.a.list.9", "x9"},   {"agents.a.list.1.1.other.0", "y"},
    {"agents.a.list.1.1.new", ""},   {"agents.a.list.2", ""},     {"agents.a.list.2.k", ""},
    {"agents.a.map.0", "z"},         {"agents.a.map.1", ""},      {"agents.a.list.2.k.deeper", ""},
    {"agents.a.map.new.deeper", ""}, {"agents.a.list", ""},
};
enum { STOPS = sizeof stops / sizeof *stops };

START_TEST(what_is_put_is_found)
{
    const char *address = stops[_i].address;
    struct place asked = {"test", 7, 8};
    ck_assert_str_eq(text_at(root, address), stops[_i].before);
    struct node *changed = address_put(&reader, root, address, asked, node_scalar("new", asked, &arena));
    ck_assert_ptr_nonnull(changed);
    ck_assert_str_eq(text_at(changed, address), "new");
    for (int i = 0; i < STOPS; i++) {
        ck_assert_str_eq(text_at(root, stops[i].address), stops[i].before);
        if (strncmp(stops[i].address, address, strlen(address)) != 0)
            ck_assert_str_eq(text_at(changed, stops[i].address), stops[i].before);
    }
}
END_TEST

static const char *const nowhere[] = {
    "agents.a.list.11",
    "agents.a.list.k",
    "agents.a.list.01",
    "agents.a.list.1.2",
    "agents.a.list.0.k",
    "agents.a.list.",
    "agents.a.list..0",
    "agents.a.list.1x",
    "agents.a.list.0x1",
    "agents.a.list.-0",
    "agents.a.empty.0",
    "agents.a.list.1.",
    "backends.0",
    "backends.0.servers",
    "agents.a.list.4294967296",
    "agents.a.list.18446744073709551616",
    "agents.a.list.1.1.other.1",
    "agents.a.list.1.1.k.0",
};

START_TEST(nothing_is_put_where_no_item_is)
{
    struct place asked = {"test", 7, 8};
    ck_assert_ptr_null(address_put(&reader, root, nowhere[_i], asked, node_scalar("new", asked, &arena)));
    ck_assert_uint_eq(diag.errors, 1);
    ck_assert_int_eq(diag.messages[0].place.line, 7);
    if (strcmp(nowhere[_i], "backends.0") != 0)
        ck_assert_str_eq(text_at(root, nowhere[_i]), "");
}
END_TEST

Suite *address_suite(void)
{
    Suite *suite = suite_create("address");
    TCase *tcase = tcase_create("address");
    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_loop_test(tcase, what_is_put_is_found, 0, STOPS);
    tcase_add_loop_test(tcase, nothing_is_put_where_no_item_is, 0, (int)(sizeof nowhere / sizeof *nowhere));
    suite_add_tcase(suite, tcase);
    return suite;
}
