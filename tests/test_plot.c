/* test_plot.c - pictures of tables: what is drawn, and that texts stay texts. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sim/cli/arguments.h"
#include "sim/cli/gnuplot.h"
#include "sim/cli/plot.h"
#include "tests/comma.h"
#include "tests/plots.h"
#include "tests/suites.h"

static const char *const nasty[] = {
    "a`touch pwned`b",
    "$(touch pwned)",
    "\"quotes\"",
    "'single'",
    "back\\slash\\",
    "{/Symbol a}",
    "a_b^c",
    "%s %d %n",
    "@macro",
    "{",
    "}",
    "# a comment",
    "`",
    "'''",
    "\\140touch x",
    "na\u00efve \u03bb",
    "\u65e5\u672c",
    "x \"`touch pwned`",
    "!touch pwned",
    "; system 'x'",
    "<b>&amp;</b>",
};
#define NASTY (sizeof nasty / sizeof nasty[0])

static const char *find_text(const char *svg, const char *text)
{
    return strstr(svg, arena_format(&plots.arena, "<text>%s</text>", text));
}

/* The place of a text, from the transformation above it. */
static void place_of(const char *svg, const char *text, double *x, double *y)
{
    const char *found = find_text(svg, text), *above = NULL;

    ck_assert_msg(found != NULL, "no text %s", text);
    for (const char *at = strstr(svg, "translate("); at && at < found; at = strstr(at + 1, "translate("))
        above = at;
    ck_assert_ptr_nonnull(above);
    ck_assert_int_eq(sscanf(above, "translate(%lf,%lf)", x, y), 2);
}

START_TEST(draws_curves_of_a_table)
{
    const char *svg;

    plots_write("knee.csv", plots_knee);
    plots_write("knee.csv.meta",
                "title: \"Three policies: p99\"\nknee: 11.97\ncolumns:\n  - {name: wait_p99, unit: min}\n");
    ck_assert_msg(plots_command("knee.csv") == EXIT_DONE, "%s", plots.said);
    ck_assert_str_eq(plots.said, "weir: drew pictures/knee.wait_p99.svg and .png\n");
    ck_assert_uint_eq(plots_files("pictures"), 2);
    svg = plots_pictures("pictures/knee.wait_p99");
    ck_assert_ptr_nonnull(find_text(svg, "Three policies: p99"));
    ck_assert_ptr_nonnull(find_text(svg, "p99 wait (min); mean of 20 replications, with 95 % half-widths"));
    ck_assert_ptr_nonnull(find_text(svg, "agents (agents.coder.population)"));
    ck_assert_ptr_nonnull(find_text(svg, "knee 11.97"));
    ck_assert_ptr_nonnull(find_text(svg, "unbounded"));
    ck_assert_ptr_nonnull(find_text(svg, "25")); /* the row of one class, 999, is not drawn */
    ck_assert_ptr_null(find_text(svg, "50"));
}
END_TEST

START_TEST(labels_do_not_overlap_and_follow_the_curves)
{
    const char *const labels[] = {"unbounded", "fixed_cap", "codel"};
    double x[3], y[3];
    const char *svg;

    plots_write("knee.csv", plots_knee);
    ck_assert_int_eq(plots_command("knee.csv -y wait_p99,goodput -o here"), EXIT_DONE);
    ck_assert_uint_eq(plots_files("here"), 4);
    svg = plots_pictures("here/knee.wait_p99");
    for (size_t i = 0; i < 3; i++)
        place_of(svg, labels[i], &x[i], &y[i]);
    ck_assert_double_lt(y[0] + 25, y[2]);
    ck_assert_double_lt(y[2] + 100, y[1]);
    svg = plots_pictures("here/knee.goodput");
    for (size_t i = 0; i < 3; i++) {
        place_of(svg, labels[i], &x[i], &y[i]);
        ck_assert_double_gt(x[i], 900);
        for (size_t k = 0; k < i; k++)
            ck_assert_double_gt(fabs(y[i] - y[k]), 22);
    }
}
END_TEST

START_TEST(draws_bars_without_a_number_to_draw_against)
{
    const char *svg;

    plots_write("bars.csv", PLOTS_KEYS "agents.coder.think,replications,wait_p99,wait_p99_hw\n"
                                       "unbounded,all,all,all,exponential(4 s),20,27,0.3\n"
                                       "fixed_cap,all,all,all,exponential(4 s),20,12.67,0.3\n"
                                       "fixed_cap,all,all,all,constant(4 s),20,12.5,0.3\n"
                                       "unbounded,all,all,all,constant(4 s),20,,\n");
    ck_assert_msg(plots_command("bars.csv") == EXIT_DONE, "%s", plots.said);
    svg = plots_pictures("pictures/bars.wait_p99");
    ck_assert_ptr_nonnull(find_text(svg, "bars"));
    ck_assert_ptr_nonnull(find_text(svg, "p99 wait (s)"));
    ck_assert_ptr_nonnull(find_text(svg, "unbounded, think exponential(4 s)"));
    ck_assert_ptr_nonnull(find_text(svg, "fixed_cap, think constant(4 s)"));
    ck_assert_ptr_nonnull(find_text(svg, "12.67 \u00b1 0.30"));
    ck_assert_ptr_null(find_text(svg, "unbounded, think constant(4 s)"));
}
END_TEST

START_TEST(a_policy_without_the_factor_is_a_level_line)
{
    const char *svg;

    plots_write("edge.csv",
                PLOTS_KEYS "policies.codel.codel.target,agents.a.population,replications,wait_p99,wait_p99_hw\n"
                           "unbounded,all,all,all,,16,20,9,\n"
                           "codel,all,all,all,1 ms,16,20,1,\n"
                           "codel,all,all,all,8 s,16,20,2,\n"
                           "codel,all,all,all,1000 s,16,20,3,\n"
                           "unbounded,all,all,all,,20,20,12,\n"
                           "codel,all,all,all,1 ms,20,20,4,\n"
                           "codel,all,all,all,1000 s,20,20,6,\n");
    ck_assert_msg(plots_command("edge.csv --x policies.codel.codel.target") == EXIT_DONE, "%s", plots.said);
    svg = plots_pictures("pictures/edge.wait_p99");
    ck_assert_ptr_nonnull(find_text(svg, "policies.codel.codel.target (s)"));
    ck_assert_ptr_nonnull(find_text(svg, "unbounded, population 20"));
    ck_assert_ptr_nonnull(find_text(svg, "codel, population 16"));
    ck_assert_ptr_nonnull(find_text(svg, "0.001"));
    ck_assert_ptr_nonnull(find_text(svg, "1000"));
}
END_TEST

/* As gnuplot writes it: > needs no escape. */
static const char *as_xml(const char *text)
{
    char *copy = arena_zeroed(&plots.arena, 6 * strlen(text) + 1, 1), *to = copy;

    for (; *text; text++)
        to += sprintf(to, *text == '&' ? "&amp;" : *text == '<' ? "&lt;" : "%c", *text);
    return copy;
}

START_TEST(texts_stay_texts)
{
    static const struct figure_point point = {.x = 1, .y = 1, .half_width = 0.5};
    struct figure_series series[NASTY];
    struct figure figure = {.series = series, .count = NASTY, .knee = NAN, .form = (enum figure_form)(_i % 3)};
    const char *texts[4], *svg;

    for (size_t i = 0; i < NASTY; i++)
        series[i] = (struct figure_series){.label = nasty[i], .points = &point, .count = 1, .colour = i, .dash = i};
    for (size_t i = 0; i < 4; i++)
        texts[i] = arena_format(&plots.arena, "%zu%s", i, nasty[(4 * (size_t)_i + i) % NASTY]);
    figure.title = texts[0];
    figure.subtitle = texts[1];
    figure.y_title = texts[2];
    figure.x_title = texts[3];
    ck_assert_int_eq(gnuplot_draw(&figure, "nasty"), EXIT_DONE);
    ck_assert_uint_eq(plots_files("."), 2);
    svg = plots_pictures("nasty");
    for (size_t i = 0; i < NASTY; i++)
        ck_assert_msg(find_text(svg, as_xml(nasty[i])) != NULL, "%s", nasty[i]);
    for (size_t i = 0; i < (figure.form == FIGURE_BARS ? 3 : 4); i++)
        ck_assert_msg(find_text(svg, as_xml(texts[i])) != NULL, "%s", texts[i]);
}
END_TEST

START_TEST(long_texts_and_control_characters_are_cut_out)
{
    static const struct figure_point point = {.x = 1, .y = 1, .half_width = 0.5};
    struct figure_series series = {.label = "a\nb\033[31m\x01\xff", .points = &point, .count = 1};
    char *title = arena_zeroed(&plots.arena, 10001, 1);
    struct figure figure = {
        .title = title, .subtitle = "", .x_title = "", .y_title = "", .series = &series, .count = 1, .knee = NAN};
    const char *svg;

    memset(title, '`', 10000);
    ck_assert_int_eq(gnuplot_draw(&figure, "long"), EXIT_DONE);
    svg = plots_pictures("long");
    title[72] = '\0';
    ck_assert_ptr_nonnull(find_text(svg, arena_format(&plots.arena, "%s\u2026", title)));
    ck_assert_ptr_nonnull(find_text(svg, "a?b?[31m??"));
    ck_assert_ptr_null(strstr(svg, "knee"));
}
END_TEST

START_TEST(folders_may_have_any_name)
{
    const char *const names[] = {"|touch pwned", "< touch pwned", "a/b/c", "~", "%s `touch pwned` '\"\\\u00e9"};

    plots_write("knee.csv", plots_knee);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char *words[] = {arena_text(&plots.arena, "knee.csv"), arena_text(&plots.arena, "-o"),
                         arena_text(&plots.arena, names[i]), NULL};

        ck_assert_int_eq(plots_words(words), EXIT_DONE);
        plots_pictures(arena_format(&plots.arena, "%s/knee.wait_p99", names[i]));
        ck_assert_uint_eq(plots_files(names[i]), 2);
    }
    ck_assert_int_ne(access("pwned", F_OK), 0);
}
END_TEST

static void draw_with_commas(void)
{
    const char *svg;

    setenv("LC_ALL", "de_DE.UTF-8", 1);
    ck_assert_int_eq(plots_command("knee.csv -y deferred_share"), EXIT_DONE);
    svg = plots_pictures("pictures/knee.deferred_share");
    ck_assert_ptr_nonnull(find_text(svg, "0.1"));
    ck_assert_ptr_null(find_text(svg, "0,1"));
    unsetenv("LC_ALL");
}

START_TEST(a_comma_locale_changes_nothing)
{
    size_t length, again;
    const char *svg;

    plots_write("knee.csv", plots_knee);
    ck_assert_int_eq(plots_command("knee.csv -y deferred_share"), EXIT_DONE);
    svg = plots_read("pictures/knee.deferred_share.svg", &length);
    if (comma_run(draw_with_commas))
        ck_assert_str_eq(plots_read("pictures/knee.deferred_share.svg", &again), svg);
    draw_with_commas();
}
END_TEST

/* As `weir run --plot` draws. */
static int draw_leniently(const char *table)
{
    struct plot_request request = {.table = table, .directory = "run", .name = "s", .lenient = true};

    return plot_table(&request);
}

START_TEST(a_run_draws_what_it_can)
{
    const char *table = PLOTS_KEYS "a.cap,a.population,replications,goodput,wait_p99,total_wait_p99,deferred_share\n"
                                   "p,all,all,all,1,5,1,2,2,2,\n"
                                   "p,all,all,all,2,6,1,3,3,3,\n";

    plots_write("t.csv", table);
    plots_write("t.csv.meta", "title: title\nknee: 5.5\nchanged: --policy p\n");
    ck_assert_int_eq(draw_leniently("t.csv"), EXIT_DONE);
    ck_assert_uint_eq(plots_files("run"), 6);
    ck_assert_ptr_nonnull(find_text(plots_pictures("run/s.total_wait_p99"), "agents (a.population)"));
    ck_assert_ptr_nonnull(find_text(plots_pictures("run/s.goodput"), "knee 5.5"));
    ck_assert_ptr_nonnull(find_text(plots_pictures("run/s.goodput"), "p"));
    ck_assert_ptr_nonnull(strstr(plots_pictures("run/s.goodput"), "; run with --policy p<"));
}
END_TEST

START_TEST(what_is_0_everywhere_is_drawn_only_if_asked_for)
{
    plots_write("t.csv", PLOTS_KEYS "replications,goodput,wait_p99,total_wait_p99,deferred_share\n"
                                    "p,all,all,all,1,2,0,0,0\n");
    ck_assert_int_eq(draw_leniently("t.csv"), EXIT_DONE);
    ck_assert_uint_eq(plots_files("run"), 2);
    ck_assert_int_eq(plots_command("t.csv -y deferred_share"), EXIT_DONE);
    plots_pictures("pictures/t.deferred_share");
}
END_TEST

START_TEST(classes_have_bars_of_their_own)
{
    const char *svg;

    plots_write("t.csv", PLOTS_KEYS "replications,wait_p99\n"
                                    "p,all,all,all,1,2\n"
                                    "p,urgent,all,all,1,1\n"
                                    "p,all,company,all,1,7\n");
    ck_assert_int_eq(plots_command("t.csv"), EXIT_DONE);
    svg = plots_pictures("pictures/t.wait_p99");
    ck_assert_ptr_nonnull(find_text(svg, "p, all"));
    ck_assert_ptr_nonnull(find_text(svg, "p, urgent"));
    ck_assert_ptr_null(find_text(svg, "7"));
}
END_TEST

START_TEST(rows_are_chosen_by_a_value)
{
    const char *svg;

    plots_write("knee.csv", plots_knee);
    ck_assert_int_eq(plots_command("knee.csv --at agents.coder.population=16"), EXIT_DONE);
    svg = plots_pictures("pictures/knee.wait_p99");
    ck_assert_ptr_nonnull(strstr(svg, "half-widths; population 16<"));
    ck_assert_ptr_nonnull(find_text(svg, "11.74 \u00b1 0.10"));
    ck_assert_ptr_null(find_text(svg, "12.67 \u00b1 0.10"));
}
END_TEST

START_TEST(long_values_are_shortened_to_what_tells_them_apart)
{
    const char *svg;

    plots_write("t.csv", PLOTS_KEYS "a.think,replications,wait_p99\n"
                                    "unbounded,all,all,all,empirical(traces/long.csv wait_s s),1,2\n"
                                    "unbounded,all,all,all,empirical(traces/long.csv wait_s s most 1 h),1,3\n"
                                    "unbounded,all,all,all,empirical(traces/long.csv clean_s s),1,4\n");
    ck_assert_int_eq(plots_command("t.csv"), EXIT_DONE);
    svg = plots_pictures("pictures/t.wait_p99");
    ck_assert_ptr_nonnull(find_text(svg, "unbounded, \u2026wait_s s"));
    ck_assert_ptr_nonnull(find_text(svg, "unbounded, \u2026wait_s s most 1 h"));
    ck_assert_ptr_nonnull(find_text(svg, "unbounded, \u2026clean_s s"));
}
END_TEST

/* Of a text: the last one set before it. */
static const char *colour_of(const char *svg, const char *text)
{
    const char *found = find_text(svg, text), *colour = NULL, *end;

    ck_assert_msg(found != NULL, "no text %s", text);
    for (const char *at = strstr(svg, "fill=\""); at && at < found; at = strstr(at + 1, "fill=\""))
        colour = at;
    ck_assert_ptr_nonnull(colour);
    end = strchr(colour + 6, '"');
    return arena_text_of(&plots.arena, colour, (size_t)(end - colour));
}

START_TEST(a_policy_has_one_colour_also_in_differences)
{
    const char *svg, *fixed_cap, *codel;

    plots_write("t.csv", plots_knee);
    ck_assert_int_eq(plots_command("t.csv"), EXIT_DONE);
    svg = plots_pictures("pictures/t.wait_p99");
    fixed_cap = colour_of(svg, "fixed_cap");
    codel = colour_of(svg, "codel");
    ck_assert_str_ne(fixed_cap, codel);
    plots_write("t.differences.csv", PLOTS_KEYS "a.population,replications,d_wait_p99,d_wait_p99_hw\n"
                                                "fixed_cap,all,all,all,8,5,0,0\n"
                                                "fixed_cap,all,all,all,9,5,-1,0.1\n"
                                                "codel,all,all,all,8,5,0,0\n"
                                                "codel,all,all,all,9,5,-2,0.1\n");
    plots_write("t.differences.csv.meta", "against: unbounded\nagainst_place: 0\n");
    ck_assert_int_eq(plots_command("t.differences.csv"), EXIT_DONE);
    svg = plots_pictures("pictures/t.differences.d_wait_p99");
    ck_assert_str_eq(colour_of(svg, "fixed_cap"), fixed_cap);
    ck_assert_str_eq(colour_of(svg, "codel"), codel);
    ck_assert_ptr_nonnull(strstr(svg, "<text>difference to unbounded in p99 wait (s); mean of 5 replications"));
}
END_TEST

Suite *plot_suite(void)
{
    Suite *suite = suite_create("plot");
    TCase *all = tcase_create("pictures");

    tcase_add_checked_fixture(all, plots_setup, plots_teardown);
    tcase_add_test(all, draws_curves_of_a_table);
    tcase_add_test(all, labels_do_not_overlap_and_follow_the_curves);
    tcase_add_test(all, draws_bars_without_a_number_to_draw_against);
    tcase_add_test(all, a_policy_without_the_factor_is_a_level_line);
    tcase_add_loop_test(all, texts_stay_texts, 0, (int)(NASTY + 3) / 4);
    tcase_add_test(all, what_is_0_everywhere_is_drawn_only_if_asked_for);
    tcase_add_test(all, classes_have_bars_of_their_own);
    tcase_add_test(all, rows_are_chosen_by_a_value);
    tcase_add_test(all, long_values_are_shortened_to_what_tells_them_apart);
    tcase_add_test(all, a_policy_has_one_colour_also_in_differences);
    tcase_add_test(all, long_texts_and_control_characters_are_cut_out);
    tcase_add_test(all, folders_may_have_any_name);
    tcase_add_test(all, a_comma_locale_changes_nothing);
    tcase_add_test(all, a_run_draws_what_it_can);
    suite_add_tcase(suite, all);
    return suite;
}
