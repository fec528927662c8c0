/* test_plugin.c - a table of a plug-in with one mistake in it yields one message that names the plug-in, and the
 * built-in tables have none. */
#include <check.h>
#include <string.h>

#include "policies/registry.h"
#include "sim/cli/plugin.h"
#include "tests/suites.h"

struct params {
    int64_t cap;
    double share;
    int law;
};

struct vars {
    uint64_t seen;
};

enum { OPTIONS = 3 };

/* A sound table; each case spoils a copy of it. */
struct table {
    struct policy_ops ops;
    struct option options[OPTIONS + 1];
    struct policy_preset presets[3];
    struct policy_gauge gauges[3];
    const char *settings[7];
};

static const char *const laws[] = {"first", "second", NULL};
static const char *const nothing[] = {NULL};

static struct table table;

static void sound(void)
{
    table = (struct table){
        .options = {{"cap", OPTION_COUNT, offsetof(struct params, cap), .initial = "8", .least = "1", .most = "inf",
                     .help = "calls"},
                    {"share", OPTION_SHARE, offsetof(struct params, share), .initial = "50 %", .help = "of them"},
                    {"law", OPTION_CHOICE, offsetof(struct params, law), .initial = "second", .choices = laws,
                     .help = "which"}},
        .settings = {"cap", "12", "law", "first", "scope", "agent", NULL},
        .presets = {{"published", table.settings, "as in the paper"}, {"small", nothing, "the defaults"}},
        .gauges = {{"seen", POLICY_GAUGE_UINT64, false, offsetof(struct vars, seen), "calls", "admitted"}},
    };
    table.ops = (struct policy_ops){POLICY_HEADER,
                                    .name = "bad",
                                    .summary = "a policy with mistakes",
                                    .params = table.options,
                                    .presets = table.presets,
                                    .gauges = table.gauges,
                                    .params_size = sizeof(struct params),
                                    .vars_size = sizeof(struct vars)};
}

static uint32_t any_flow(struct policy *self, const struct policy_view *view, struct policy_call *call)
{
    (void)self, (void)view, (void)call;
    return 0;
}

static uint32_t any_pick(struct policy *self, const struct policy_view *view, const uint64_t *waiting, bool *newest)
{
    (void)self, (void)view, (void)waiting, (void)newest;
    return 0;
}

static int64_t any_rank(struct policy *self, const struct policy_view *view, struct policy_call *call, bool held)
{
    (void)self, (void)view, (void)call, (void)held;
    return 0;
}

/* The table as it is now has this one mistake, or none (NULL). */
static void expect(const char *words)
{
    struct diag diag = {0};
    bool good = plugin_check(&table.ops, "./bad.so", (struct place){"--plugin", 0, 0}, &diag);
    const char *said = diag.count > 0 ? diag.messages[0].text : "nothing";

    ck_assert_msg(good == !words && diag.errors == (words != NULL), "%zu messages, the first: %s; expected `%s`",
                  diag.errors, said, words ? words : "none");
    ck_assert_msg(!words || (strstr(said, words) && strncmp(said, "plug-in `./bad.so`", 18) == 0), "%s: expected `%s`",
                  said, words ? words : "");
    diag_fini(&diag);
    sound();
}

START_TEST(a_sound_table)
{
    expect(NULL);
    table.ops.params = NULL;
    table.ops.presets = NULL;
    table.ops.gauges = NULL;
    expect(NULL);
    table.ops.flow = any_flow;
    table.ops.flows = 2;
    table.ops.pick = any_pick;
    expect(NULL);
}
END_TEST

START_TEST(its_head)
{
    table.ops.magic++;
    expect("wrong magic number");
    table.ops.abi++;
    expect("was built for policy ABI");
    table.ops.name = "My Policy";
    expect("called 'My Policy': expected lower-case letters");
    table.ops.name = NULL;
    expect("called '': expected");
    table.ops.summary = NULL;
    expect("no summary");
    table.ops.summary = "";
    expect("no summary");
    table.ops.flow = any_flow;
    expect("`flow` or `flows`: expected `pick`");
    table.ops.flows = 3;
    expect("`flow` or `flows`: expected `pick`");
    table.ops.pick = any_pick;
    expect("`pick`: expected `flow` and a number of `flows`");
    table.ops.pick = any_pick;
    table.ops.flows = 3;
    expect("`pick`: expected `flow` and a number of `flows`");
    table.ops.pick = any_pick;
    table.ops.flow = any_flow;
    expect("`pick`: expected `flow` and a number of `flows`");
    table.ops.pick = any_pick;
    table.ops.flow = any_flow;
    table.ops.flows = 1;
    table.ops.rank = any_rank;
    expect("`rank` and `pick`");
}
END_TEST

START_TEST(its_parameters)
{
    static const char *const taken[] = {"at", "scope", "name", "preset"};

    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++) {
        table.ops.presets = NULL;
        table.options[1].key = taken[i];
        expect("every policy has a key of that name");
    }
    table.options[0].initial = "8 calls s";
    expect("default of a parameter: cap: expected a whole number");
    table.options[0].initial = "0";
    expect("default of a parameter: cap: expected a whole number of at least 1, or inf, found '0'");
    table.options[0].least = "one";
    expect("least of a parameter: cap");
    table.options[0].most = "-1";
    expect("most of a parameter: cap");
    table.options[0].least = "20";
    table.options[0].most = "10";
    expect("a least that is at most its most, found 20 and 10");
    table.options[1].initial = "120 %";
    expect("share: expected a share from 0 % to 100 %");
    table.options[2].initial = "third";
    expect("law: expected a choice of: first, second, found 'third'");
    table.options[2].choices = NULL;
    expect("law is a choice of nothing");
    table.options[2].choices = nothing;
    expect("law is a choice of nothing");
    table.options[2].least = "1";
    expect("law has bounds");
    table.options[1].key = "cap";
    expect("two parameters are called cap");
    table.options[1].key = "a.b";
    expect("called 'a.b'");
    table.options[0].offset = sizeof(struct params);
    expect("cap lies at 24 to 32 of a struct of 24 bytes");
    table.options[0].offset = sizeof(struct params) - 4;
    expect("cap lies at 20 to 28");
    table.options[0].offset = SIZE_MAX;
    expect("of a struct of 24 bytes");
    table.options[0].offset = 4;
    expect("a multiple of its size, 8");
    table.options[1].offset = table.options[0].offset;
    expect("parameters cap and share share bytes of the struct, at 0: expected each in its own");
    table.options[2].offset = offsetof(struct params, share) + 4;
    expect("parameters share and law share bytes of the struct, at 12");
    table.options[0].help = NULL;
    expect("cap has no help");
    table.options[0].type = (enum option_type)77;
    expect("has the type 77");
    table.options[0].type = OPTION_DIST;
    table.options[0].least = table.options[0].most = NULL;
    table.settings[1] = "4 s";
    expect("is a distribution, which a policy cannot draw from");
}
END_TEST

START_TEST(its_presets_and_gauges)
{
    table.settings[0] = "cup";
    expect("preset published: it sets 'cup'");
    table.settings[0] = "preset";
    expect("preset published: it sets 'preset'");
    table.settings[1] = "0";
    expect("preset published: cap: expected a whole number of at least 1");
    table.settings[5] = "everybody";
    expect("preset published: scope: expected a choice");
    table.settings[2] = "cap";
    table.settings[3] = "3";
    expect("sets cap twice");
    table.settings[3] = NULL;
    expect("law has no value");
    table.presets[1].settings = NULL;
    expect("preset small: expected settings");
    table.presets[1].name = "published";
    expect("two presets are called published");
    table.presets[1].name = "of ours";
    expect("called 'of ours'");
    table.gauges[0].in_stats = true;
    expect("gauge seen lies at 0 to 8 of stats, which has 0 bytes");
    table.gauges[0].offset = 8;
    expect("gauge seen lies at 8 to 16 of vars, which has 8 bytes");
    table.gauges[0].offset = SIZE_MAX;
    expect("of vars, which has 8 bytes");
    table.gauges[0].name = "cap";
    expect("gauge cap has the name of a parameter");
    table.gauges[1] = table.gauges[0];
    expect("gauge seen is there twice");
    table.gauges[0].help = NULL;
    expect("gauge seen has no help");
}
END_TEST

START_TEST(its_columns)
{
    static const char *const words[] = {"up", "down", NULL}, *const none[] = {NULL};
    struct policy_column columns[] = {
        {"mode", "", "where to", words}, {"level", "calls", "how many", NULL}, {.name = NULL}};

    table.ops.columns = columns;
    expect(NULL);
    table.ops.columns = columns;
    columns[0].words = none;
    expect("column mode has no words");
    table.ops.columns = columns;
    columns[0].words = words;
    columns[1].name = "mode";
    expect("column mode is there twice");
    table.ops.columns = columns;
    columns[1].name = "of it";
    expect("column of it expected a name of lower-case letters");
    table.ops.columns = columns;
    columns[1].name = "level";
    columns[1].help = NULL;
    expect("column level has no help");
}
END_TEST

START_TEST(several_mistakes_at_once)
{
    struct diag diag = {0};

    table.ops.summary = NULL;
    table.options[0].initial = "x";
    table.options[1].help = "";
    table.gauges[0].offset = 1;
    ck_assert(!plugin_check(&table.ops, "bad.so", (struct place){0}, &diag));
    ck_assert_uint_eq(diag.errors, 4);
    diag_fini(&diag);
}
END_TEST

START_TEST(built_in_tables_are_sound)
{
    for (size_t i = 0; policy_registry[i]; i++) {
        struct diag diag = {0};

        plugin_check(policy_registry[i], policy_registry[i]->name, (struct place){0}, &diag);
        diag_print(&diag, stderr);
        ck_assert_uint_eq(diag.count, 0);
        diag_fini(&diag);
    }
}
END_TEST

Suite *plugin_suite(void)
{
    Suite *suite = suite_create("plugin");
    TCase *test = tcase_create("plugin");

    tcase_add_checked_fixture(test, sound, NULL);
    tcase_add_test(test, a_sound_table);
    tcase_add_test(test, its_head);
    tcase_add_test(test, its_parameters);
    tcase_add_test(test, its_presets_and_gauges);
    tcase_add_test(test, its_columns);
    tcase_add_test(test, several_mistakes_at_once);
    tcase_add_test(test, built_in_tables_are_sound);
    suite_add_tcase(suite, test);
    return suite;
}
