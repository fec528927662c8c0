/* test_cli.c - the command line as users meet it: formats, files, what stands beside a table, and bounds. */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "models/metrics.h"
#include "sim/cli/version.h"
#include "sim/io/quote.h"
#include "tests/command_fixture.h"
#include "tests/suites.h"

/* Field number `at` of a line of CSV without quotes. */
static const char *field(const char *line, size_t at)
{
    while (at-- > 0)
        line += strcspn(line, ",\n") + 1;
    return arena_text_of(&file.arena, line, strcspn(line, ",\n"));
}

/* A number of the row that begins so, NAN for an empty field; the column must be there. */
static double number_in(const char *csv, const char *row, const char *column)
{
    const char *line = strstr(csv, arena_format(&file.arena, "\n%s,", row));
    size_t at = 0;
    ck_assert_msg(line != NULL, "no row %s in:\n%s", row, csv);
    while (strcmp(field(csv, at), column) != 0)
        ck_assert_msg(++at < 100, "no column %s in:\n%s", column, csv);
    const char *text = field(line + 1, at);
    return *text ? strtod(text, NULL) : strtod("nan", NULL);
}

/* Small enough to run in no time, exponential throughout. */
static const char card[] = "title: A card\n"
                           "notes: [\"A note of the scenario's.\"]\n"
                           "study: {horizon: 300 s, warmup: 20 s, replications: 3}\n"
                           "backends: {card: {kind: slots, servers: 2, service: exponential(2 s)}}\n"
                           "agents: {coder: {population: 4, think: exponential(4.5 s)}}\n"
                           "policies:\n"
                           "  - unbounded\n"
                           "  - capped: [fixed_cap: {cap: 3}]\n"
                           "sweep: {agents.coder.population: [3, 6]}\n";

START_TEST(formats)
{
    plan_file_write(&file, "s.yaml", card);
    const char *text = SAID("run", file.path), *csv = SAID("run", file.path, "--format", "csv");
    const char *markdown = SAID("run", "--format=markdown", "--", file.path);
    program_same(SAID("run", file.path, "--format", "text"), text);
    ck_assert_int_eq(strncmp(text, "A card\n\n", 8), 0);
    program_has(text, "\npolicy     population ");
    program_has(text, "\nA note of the scenario's.\n");
    ck_assert_int_eq(strncmp(csv, "policy,class,tenant,backend,agents.coder.population,replications,goodput,", 73), 0);
    ck_assert_int_eq(program_count(csv, "\n"), 1 + 4);
    program_lacks(csv, "note");
    ck_assert_int_eq(strncmp(markdown, "| policy | ", 11), 0);
    program_has(markdown, "| goodput (turns/s) |");
    program_has(markdown, "\nA note of the scenario's.\n");
}
END_TEST

START_TEST(columns_are_chosen)
{
    plan_file_write(&file, "s.yaml", card);
    const char *two = SAID("run", file.path, "--columns", "think_mean,goodput");
    program_has(two, " goodput");
    program_has(two, " think_mean");
    program_lacks(two, " utilisation");
    const char *all = SAID("run", file.path, "--columns=all", "--format", "markdown");
    for (size_t i = 0; i < METRIC_COUNT; i++)
        program_has(all, metrics[i].name);
    /* programs get every column whatever people see */
    program_same(SAID("run", file.path, "--format", "csv", "--columns", "goodput"),
                 SAID("run", file.path, "--format", "csv"));
}
END_TEST

/* The text table fits a terminal of 100 columns, its notes too. */
START_TEST(text_fits)
{
    plan_file_write(&file, "s.yaml", card);
    plan_file_write(&file, "s.published.csv",
                    "policy,metric,value,tolerance,source,reason\n"
                    "unbounded,goodput,0.1,0.01,Somebody,\"It is a long story, which "
                    "goes on and on until it is wider than any terminal ever was, and on\"\n");
    const char *text = SAID("run", file.path, "--against", "unbounded", "--verify");
    for (const char *line = text; *line; line += strcspn(line, "\n") + 1) {
        const char *one = arena_text_of(&file.arena, line, strcspn(line, "\n"));
        ck_assert_msg(quote_width(one) <= 100, "%s", one);
    }
}
END_TEST

START_TEST(plus_minus_where_it_can_be_shown)
{
    static const struct {
        const char *environment[4];
        bool shown;
    } rows[] = {
        {{"LC_ALL=C.UTF-8"}, true},
        {{"LC_ALL=en_GB.utf8"}, true},
        {{"LC_ALL=C"}, false},
        {{"LC_ALL=", "LC_CTYPE=de_DE.UTF-8", "LANG=C"}, true},
        {{"LC_ALL=", "LC_CTYPE=", "LANG=ja_JP.UTF-8"}, true},
        {{"LC_ALL=", "LC_CTYPE=POSIX", "LANG=ja_JP.UTF-8"}, false},
        {{"LC_ALL=", "LC_CTYPE=", "LANG="}, false},
    };
    plan_file_write(&file, "s.yaml", card);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        PROGRAM_RUN(&program, rows[i].environment, "run", file.path, "--verify");
        const char *text = program_taken(&program, &file.arena);
        if (rows[i].shown) {
            program_has(text, " \u00b1 ");
            program_lacks(text, "+-");
        } else {
            program_has(text, " +- ");
            program_lacks(text, "\u00b1");
        }
    }
}
END_TEST

START_TEST(output_and_its_companion)
{
    plan_file_write(&file, "s.yaml", card);
    const char *text = SAID("run", file.path), *csv = SAID("run", file.path, "--format", "csv");
    const char *out = in_folder("t.csv"), *seed = "study.seed=1";
    program_same(SAID("run", file.path, "-o", out, "--set", seed), text);
    char *table = program_file(out), *meta = program_file(in_folder("t.csv.meta"));
    program_same(table, csv);
    ck_assert_ptr_nonnull(meta);
    /* each column of the table in its order, and no other */
    struct diag diag = {0};
    const struct node *root = yaml_parse("t.csv.meta", meta, strlen(meta), &file.arena, &diag);
    ck_assert_ptr_nonnull(root);
    ck_assert_str_eq(node_get(root, "version")->text, WEIR_VERSION);
    ck_assert_str_eq(node_get(root, "seed")->text, "1");
    ck_assert_str_eq(node_get(root, "title")->text, "A card");
    ck_assert_str_eq(node_get(root, "partial")->text, "false");
    ck_assert_str_eq(node_get(root, "command")->text,
                     arena_format(&file.arena, "weir run %s --output %s --set %s", file.path, out, seed));
    const struct node *columns = node_get(root, "columns");
    ck_assert_ptr_nonnull(columns);
    for (size_t i = 0; i < columns->count; i++)
        ck_assert_str_eq(node_get(columns->items[i], "name")->text, field(csv, i));
    ck_assert_ptr_eq(strchr(csv, '\n') - strlen(field(csv, columns->count - 1)),
                     strstr(csv, arena_format(&file.arena, "%s\n", field(csv, columns->count - 1))));
    diag_fini(&diag);
    free(table);
    free(meta);
}
END_TEST

START_TEST(differences)
{
    plan_file_write(&file, "s.yaml", card);
    const char *both = SAID("run", file.path, "--format", "csv", "--against", "unbounded", "-o", in_folder("t.csv"));
    char *table = program_file(in_folder("t.csv")), *rest = program_file(in_folder("t.differences.csv"));
    ck_assert_ptr_nonnull(rest);
    program_same(both, arena_format(&file.arena, "%s\n%s", table, rest));
    ck_assert_int_eq(program_count(rest, "\n"), 1 + 2);
    for (int population = 3; population <= 6; population += 3) {
        const char *keys = arena_format(&file.arena, "all,all,all,%d", population);
        const char *capped = arena_format(&file.arena, "capped,%s", keys);
        double base = number_in(table, arena_format(&file.arena, "unbounded,%s", keys), "goodput");
        double own = number_in(table, capped, "goodput"), difference = number_in(rest, capped, "d_goodput");
        ck_assert_double_eq_tol(own - base, difference, 1e-12);
        ck_assert(population == 3 ? difference == 0 : difference < 0);
        ck_assert_double_ge(number_in(rest, capped, "d_wait_p99_hw"), 0);
    }
    free(table);
    free(rest);
    program_has(SAID("run", file.path, "--against", "unbounded"), "Differences to `unbounded`, paired by replication");
    program_has(SAID("run", file.path, "--against", "capped"), "\nunbounded  3 ");
}
END_TEST

START_TEST(published_numbers)
{
    plan_file_write(&file, "s.yaml", card);
    plan_file_write(&file, "s.published.csv",
                    "policy,agents.coder.population,metric,value,tolerance,source,reason\n"
                    "unbounded,3,goodput,0.5,0.25,A paper,\n"
                    "unbounded,6,goodput,7,0.1,A paper,It counted in dozens.\n"
                    "capped,6,goodput,7,0.1,Another paper,It counted in dozens.\n"
                    "capped,3,goodput,7,0.1,,\n"
                    "capped,9,goodput,7,0.1,,\n");
    const char *text = SAID("run", file.path);
    const char *beside = strstr(text, "\nPublished numbers beside ours\n");
    ck_assert_ptr_nonnull(beside);
    program_has(beside, "  same\n");
    ck_assert_int_eq(program_count(beside, "  DIFFERS [1]\n"), 2);
    program_has(beside, "  DIFFERS [?]\n");
    program_has(beside, "\n[?] No reason");
    program_has(beside, "\n[1] It counted in dozens.\n");
    program_has(beside, "Published by: A paper; Another paper.\n");
    program_has(beside, "\n3 of 4 published numbers differ");
    program_has(beside, "\n1 more ");
    program_has(SAID("run", file.path, "--format", "markdown"), "| DIFFERS [1] |");
    program_lacks(SAID("run", file.path, "--format", "csv"), "Published");
}
END_TEST

static const char *const scenarios[] = {
    card,
    "title: \"Every kind: \\\"one\\\"\"\n"
    "study: {horizon: 200 s, replications: 2, seed: 7}\n"
    "backends:\n"
    "  a: {kind: slots, servers: 3, step_time: {base: 16.9 ms, per_busy_slot: 1.1 ms}}\n"
    "  b: {kind: slots, servers: 8, throughput: {1: 56 tokens/s, 8: 311 tokens/s}}\n"
    "agents:\n"
    "  one: {population: 5, think: empirical(d.csv think ms), output: 200, backend: b, tenant: x, turns: "
    "geometric(8)}\n"
    "  two: {arrivals: trace(d.csv at s), output: empirical(d.csv n most 90), backend: a, start: 3 s}\n"
    "  six: {arrivals: poisson(20/min), turns: constant(3), think: uniform(1 s 2 s), output: gamma(90 cv 2), "
    "backend: a, client: {backoff: linear, jitter: less 25 %, attempts: 3, timeout: 90 s}}\n"
    "policies:\n"
    "  - codel: {preset: slots}\n"
    "  - both: [fixed_cap: {cap: 3, at: a, name: near}, fixed_cap: {cap: 9, name: far, scope: all}, lifo]\n"
    "sweep:\n"
    "  agents.one.output: [100, lognormal(300 cv 1)]\n"
    "  zip: [{policies.both.near.cap: 2, agents.two.backend: a}, {policies.both.near.cap: 5, agents.two.backend: b}]\n",
    "study: {until: done, most: 900 s, replications: 2}\n"
    "backends: {a: {kind: slots, servers: 1, service: weibull(1 s cv 0.5)}}\n"
    "agents: {a: {arrivals: all_at(0 s), runs: 9}}\n",
};

/* What `weir check` prints is a scenario with the same table. */
START_TEST(check_prints_a_scenario)
{
    plan_file_write(&file, "d.csv", "at,think,n\n1,900,50\n2.5,7000,100\n9,20,150\n");
    plan_file_write(&file, "s.yaml", scenarios[_i]);
    const char *csv = SAID("run", file.path, "--format", "csv");
    const char *checked = SAID("check", file.path);
    plan_file_write(&file, "checked.yaml", checked);
    program_same(SAID("run", in_folder("checked.yaml"), "--format", "csv"), csv);
    program_has(checked, "# expected run time here: ");
    program_has(checked, "# s.yaml:");
    program_has(checked, "# default\n");
}
END_TEST

START_TEST(check_shows_what_was_set)
{
    plan_file_write(&file, "s.yaml", card);
    const char *checked = SAID("check", file.path, "--set", "study.seed=9", "-r", "5", "--policy", "capped");
    program_has(checked, "  seed: 9 ");
    program_has(checked, "# --set\n");
    program_has(checked, "  replications: 5 ");
    program_lacks(checked, "unbounded");
}
END_TEST

START_TEST(replications_and_policies_are_chosen)
{
    plan_file_write(&file, "s.yaml", card);
    const char *csv =
        SAID("run", file.path, "--format", "csv", "-r2", "-p", "capped", "--set", "agents.coder.population=5");
    ck_assert_int_eq(program_count(csv, "\n"), 2);
    program_has(csv, "\ncapped,all,all,all,2,");
    const char *two = SAID("run", file.path, "--format", "csv", "--policy", "capped,unbounded");
    program_same(two, SAID("run", file.path, "--format", "csv"));
}
END_TEST

/* facts.md 1.5: M/M/8//N with S = 9.0769 s and Z = 4.5 s, to the digits printed there. */
START_TEST(bounds_are_exact_where_theory_is)
{
    static const struct {
        const char *population;
        double throughput, mean, p99;
    } rows[] = {
        {"12", 0.821, 1.04, 7.11}, {"16", 0.878, 4.64, 13.66}, {"20", 0.881, 9.12, 19.88}, {"24", 0.881, 13.65, 25.84}};
    plan_file_write(&file, "s.yaml",
                    "study: {horizon: 100 s}\n"
                    "backends: {card: {kind: slots, servers: 8, service: exponential(9.0769 s)}}\n"
                    "agents: {coder: {population: 1, think: exponential(4.5 s)}}\n"
                    "policies: [unbounded, lifo]\n"
                    "sweep: {agents.coder.population: 12..24 step 4}\n");
    const char *csv = SAID("bounds", file.path, "--format", "csv");
    ck_assert_int_eq(program_count(csv, "\n"), 1 + 4);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *row = arena_format(&file.arena, "coder,%s", rows[i].population);
        ck_assert_double_eq_tol(number_in(csv, row, "knee"), 8 * (9.0769 + 4.5) / 9.0769, 1e-9);
        ck_assert_double_eq_tol(number_in(csv, row, "capacity"), 8 / 9.0769, 1e-9);
        ck_assert_double_eq_tol(number_in(csv, row, "goodput_exact"), rows[i].throughput, 0.00051);
        ck_assert_double_eq_tol(number_in(csv, row, "wait_mean_exact"), rows[i].mean, 0.0051);
        ck_assert_double_eq_tol(number_in(csv, row, "wait_p99_exact"), rows[i].p99, 0.0051);
        ck_assert_double_ge(number_in(csv, row, "goodput_most"), number_in(csv, row, "goodput_exact"));
        ck_assert_double_le(number_in(csv, row, "wait_least"), number_in(csv, row, "wait_mean_exact"));
    }
    const char *fixed = SAID("bounds", file.path, "--format", "csv", "--set", "agents.coder.think=4.5 s");
    ck_assert_double_nan(number_in(fixed, "coder,12", "goodput_exact"));
    program_has(SAID("bounds", file.path), "The knee is where the bounds cross");
}
END_TEST

/* What a class does that no bound knows, and what is left of the bounds then; NAN: none. */
START_TEST(bounds_are_left_out_where_they_do_not_hold)
{
    static const struct {
        const char *class;
        double capacity, goodput, wait, exact;
    } cases[] = {
        {"population: 8, think: 2 s", 0.5, 0.5, 12, NAN},
        {"population: 8, think: 2 s, backend: [card, two], spill: refused", 0.5, NAN, NAN, NAN},
        {"population: 8, turns: 5, think: 2 s, deadline: {run: 9 s}, at_deadline: gives_up", 0.5, 0.5, NAN, NAN},
        {"population: 1, think: 2 s, client: {timeout: 9 s}", 0.5, 0.5, NAN, NAN},
        {"population: 8, think: 2 s, fan_out: {to: two, parts: 10}", 0.5, 0.4, NAN, NAN},
        {"population: 1, think: 2 s, fan_out: {to: two, parts: 10}", 0.5, 0.25, NAN, NAN},
        {"population: 8, think: 2 s, fan_out: {to: two, parts: 10, wait_for: 8}", 0.5, 0.5, NAN, NAN},
        {"population: 8, think: 2 s, fan_out: {to: card, parts: 2}", 1 / 6.0, 1 / 6.0, NAN, NAN},
        {"arrivals: poisson(0.4/s)", 0.5, 0.4, NAN, 8},
        {"arrivals: poisson(0.4/s), backend: [card, two], spill: wait > 1 s", 0.5, 0.4, NAN, NAN},
        {"arrivals: poisson(0.9/s), backend: [card, two], spill: wait > 1 s", 0.5, 0.9, NAN, NAN},
        {"arrivals: poisson(0.4/s), deadline: {run: 9 s}, at_deadline: gives_up", 0.5, 0.4, NAN, NAN},
        {"arrivals: poisson(0.4/s), client: {timeout: 9 s}", 0.5, 0.4, NAN, NAN},
        {"arrivals: poisson(0.2/s), fan_out: {to: card, parts: 2}", 1 / 6.0, 1 / 6.0, NAN, NAN},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        static const char *const names[] = {"capacity", "goodput_most", "wait_least", "wait_mean_exact"};
        double wanted[] = {cases[i].capacity, cases[i].goodput, cases[i].wait, cases[i].exact};

        plan_file_write(&file, "s.yaml",
                        arena_format(&file.arena,
                                     "study: {horizon: 100 s}\nbackends:\n"
                                     "  card: {kind: slots, servers: 1, service: exponential(2 s)}\n"
                                     "  two: {kind: slots, servers: 4, service: 1 s}\n"
                                     "agents: {a: {%s%s}}\n",
                                     strstr(cases[i].class, "backend:") ? "" : "backend: card, ", cases[i].class));
        const char *csv = SAID("bounds", file.path, "--format", "csv");
        for (size_t k = 0; k < 4; k++) {
            double value = number_in(csv, "a", names[k]);

            ck_assert_msg(isnan(wanted[k]) ? isnan(value) : fabs(value - wanted[k]) < 1e-9, "%s: %s is %g",
                          cases[i].class, names[k], value);
        }
    }
}
END_TEST

START_TEST(a_plugin_stands_in_the_table)
{
    char path[4096];
    plan_file_write(&file, "s.yaml", plan_file_with(&file, card, "fixed_cap: {cap: 3}", "once: {after: 1 s}"));
    const char *csv =
        SAID("run", file.path, "--format", "csv", "--plugin", program_plugin("once.so", path, sizeof path));
    ck_assert_double_gt(number_in(csv, "capped,all,all,all,6", "deferred_share"), 0.3);
    plan_file_write(&file, "s.yaml",
                    arena_format(&file.arena, "plugin: %s\n%s", path,
                                 plan_file_with(&file, card, "fixed_cap: {cap: 3}", "once: {after: 1 s}")));
    program_same(SAID("run", file.path, "--format", "csv"), csv);
}
END_TEST

/* What waits at the door is said where a policy answers there. */
/* One of three calls at one instant is served; the others are refused once and given up. */
START_TEST(what_is_lost_is_said)
{
    const char *text = "study: {until: done, most: 1 h, replications: 2}\n"
                       "backends: {card: {kind: slots, servers: 1, service: 2 s}}\n"
                       "agents: {burst: {arrivals: all_at(0 s), runs: 3, client: {attempts: 1}}}\n"
                       "policies: [unbounded, fixed_cap: {cap: 1}]\n";
    plan_file_write(&file, "s.yaml", text);
    const char *table = SAID("run", file.path);
    program_has(table, "\nLost: at the most 66.67 % of the turns that ended were given up or rejected for good, under\n"
                       "`fixed_cap`; ");
    program_has(table, " 3600 "); /* an hour, at the pace of one in 2 s: the column is there */
    table = SAID("run", file.path, "--policy", "unbounded");
    program_lacks(table, "Lost");
    program_lacks(table, "lost_");
}
END_TEST

START_TEST(the_door_is_censored_too)
{
    char plugin[512];
    plan_file_write(&file, "s.yaml", card);
    program_plugin("skeleton.so", plugin, sizeof plugin);
    program_lacks(SAID("run", file.path), "at the door");
    program_has(SAID("run", file.path, "--plugin", plugin, "--policy", "skeleton"), " at the door");
}
END_TEST

#define COUNT_OF(array) ((int)(sizeof(array) / sizeof *(array)))

Suite *cli_suite(void)
{
    Suite *suite = suite_create("cli");
    TCase *tcase = tcase_create("cli");
    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, formats);
    tcase_add_test(tcase, columns_are_chosen);
    tcase_add_test(tcase, text_fits);
    tcase_add_test(tcase, plus_minus_where_it_can_be_shown);
    tcase_add_test(tcase, output_and_its_companion);
    tcase_add_test(tcase, differences);
    tcase_add_test(tcase, published_numbers);
    tcase_add_loop_test(tcase, check_prints_a_scenario, 0, COUNT_OF(scenarios));
    tcase_add_test(tcase, check_shows_what_was_set);
    tcase_add_test(tcase, replications_and_policies_are_chosen);
    tcase_add_test(tcase, bounds_are_exact_where_theory_is);
    tcase_add_test(tcase, bounds_are_left_out_where_they_do_not_hold);
    tcase_add_test(tcase, a_plugin_stands_in_the_table);
    tcase_add_test(tcase, what_is_lost_is_said);
    tcase_add_test(tcase, the_door_is_censored_too);
    suite_add_tcase(suite, tcase);
    return suite;
}
