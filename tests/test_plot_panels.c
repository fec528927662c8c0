/* test_plot_panels.c - columns of a record that share a panel: which axis, which line, where the legend is, and what is
 * refused. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/cli/arguments.h"
#include "tests/plots.h"
#include "tests/program.h"
#include "tests/suites.h"

/* Heights of the axes, in pixels: of one panel, of two, three, or more. */
enum { ALONE = 428, OF_TWO = 258, OF_THREE = 198, OF_MANY = 163 };

static void setup(void)
{
    plots_setup();
}

static void teardown(void)
{
    plots_teardown();
}

/* One alternative; three units. */
static const char one[] = "policy,replication,time,m.a,b,late,tokens,none,a+b,e,f,g,h,i\n"
                          "p,1,0,0,9,0,100000,,1,1,1,1,1,1\n"
                          "p,1,10,6,9,1,0,,2,2,2,2,2,2\n"
                          "p,1,20,8,2,2,0,,3,3,3,3,3,3\n";
static const char units[] = "columns:\n"
                            "  - {name: m.a, unit: calls}\n"
                            "  - {name: b, unit: calls}\n"
                            "  - {name: late, unit: s}\n"
                            "  - {name: tokens, unit: tokens}\n";

/* Two alternatives; only one has `odd`, with a gap. */
static const char two[] = "policy,replication,time,waiting,odd\n"
                          "unbounded,1,0,0,\n"
                          "unbounded,1,10,6,\n"
                          "unbounded,1,20,8,\n"
                          "codel,1,0,0,1\n"
                          "codel,1,10,1,\n"
                          "codel,1,20,2,2\n";

static const char *draw(const char *record, const char *words)
{
    plots_write("r.csv", record);
    plots_write("r.csv.meta", units);
    ck_assert_msg(plots_command(words) == EXIT_DONE, "%s", plots.said);
    return plots_pictures("pictures/r.record");
}

/* A line in a panel whose axis of y goes from 0 at `bottom` to `high`, which is `height` pixels above. */
static void expect_points(const struct plots_line *line, const double (*points)[2], size_t count, double high,
                          double bottom, double height)
{
    double left = line->x[0], right = line->x[line->count - 1], begin = points[0][0];

    ck_assert_uint_eq(line->count, count);
    for (size_t i = 0; i < count; i++) {
        double share = (points[i][0] - begin) / (points[count - 1][0] - begin);

        ck_assert_double_eq_tol(line->x[i], left + share * (right - left), 0.1);
        ck_assert_double_eq_tol(line->y[i], bottom - points[i][1] / high * height, 0.5);
    }
}

/* Two panels; a sample is a level until the next one. */
START_TEST(joined_columns_share_a_panel)
{
    static const double a[][2] = {{0, 0}, {10, 0}, {10, 6}, {20, 6}, {20, 8}};
    static const double b[][2] = {{0, 9}, {10, 9}, {20, 9}, {20, 2}}; /* gnuplot leaves out what repeats a point */
    static const double late[][2] = {{0, 0}, {10, 0}, {10, 1}, {20, 1}, {20, 2}};
    const double first = 105 + 30 + 34 + OF_TWO, second = first + 18 + 30 + 34 + OF_TWO;
    const char *svg = draw(one, "r.csv -y m.a+b,late");
    struct plots_line line;

    ck_assert_str_eq(plots.said, "weir: drew pictures/r.record.svg and .png\n");
    plots_has(svg, "m.a");
    plots_has(svg, "b");
    plots_has(svg, "late");
    plots_has(svg, "calls");
    plots_has(svg, "s");
    plots_lacks(svg, "p");
    plots_line_of(svg, PLOTS_BLUE, 1, &line);
    expect_points(&line, a, 5, 9 * 1.05, first, OF_TWO);
    plots_line_of(svg, PLOTS_ORANGE, 1, &line);
    expect_points(&line, b, 4, 9 * 1.05, first, OF_TWO);
    plots_line_of(svg, PLOTS_BLUE, 3, &line); /* colours begin anew */
    expect_points(&line, late, 5, 2 * 1.05, second, OF_TWO);
}
END_TEST

/* The first unit is at the left, whatever stands in between. */
START_TEST(another_unit_has_an_axis_of_its_own)
{
    static const double a[][2] = {{0, 0}, {10, 0}, {10, 6}, {20, 6}, {20, 8}};
    static const double late[][2] = {{0, 0}, {10, 0}, {10, 1}, {20, 1}, {20, 2}};
    const double bottom = 105 + 30 + 34 + ALONE;
    const char *svg = draw(one, "r.csv -y m.a+late+b");
    struct plots_line line;

    plots_has(svg, "late (right)");
    plots_lacks(svg, "late");
    ck_assert_double_eq_tol(plots_spot_of(svg, "calls").x, 114, 0.1);
    ck_assert_double_gt(plots_spot_of(svg, "s").x, 1000);
    ck_assert_double_eq_tol(plots_spot_of(svg, "s").y, plots_spot_of(svg, "calls").y, 0.1);
    ck_assert_double_lt(plots_spot_of(svg, "b").x, plots_spot_of(svg, "late (right)").x);
    plots_has(svg, "1.5"); /* of the axis at the right; at the left are 0, 2, 4, 6, 8 */
    plots_line_of(svg, PLOTS_BLUE, 1, &line);
    expect_points(&line, a, 5, 9 * 1.05, bottom, ALONE);
    plots_line_of(svg, PLOTS_GREEN, 1, &line);
    expect_points(&line, late, 5, 2 * 1.05, bottom, ALONE);
    svg = draw(one, "r.csv -y m.a+b");
    plots_lacks(svg, "1.5");
}
END_TEST

/* Without a .meta there are no units. */
START_TEST(unknown_units_are_one)
{
    plots_write("r.csv", one);
    ck_assert_msg(plots_command("r.csv -y m.a+late+tokens") == EXIT_DONE, "%s", plots.said);
    plots_has(plots_pictures("pictures/r.record"), "late");
}
END_TEST

/* Who sees no colours sees thickness, and from the fourth column on dashes too. */
START_TEST(columns_differ_without_colours)
{
    const char *svg = draw(one, "r.csv -y e+f+g+h+i");
    static const char *const colours[] = {PLOTS_BLUE, PLOTS_ORANGE, PLOTS_GREEN, "rgb(204, 121, 167)",
                                          "rgb(230, 159,   0)"};
    static const double widths[] = {4.5, 2.5, 1.5, 4.5, 2.5};

    for (int i = 0; i < 5; i++) {
        for (int n = 0; n < 2; n++) { /* in the legend, and in the panel */
            struct plots_line line;

            plots_line_of(svg, colours[i], n, &line);
            ck_assert_double_eq_tol(line.width, widths[i], 0.01);
            ck_assert_int_eq(line.dash > 0, i >= 3);
        }
    }
    plots_has(svg, "i");
}
END_TEST

START_TEST(dashes_tell_alternatives_apart)
{
    const char *svg = draw(two, "r.csv -y waiting+odd");
    struct plots_line line;
    double first;

    plots_has(svg, "waiting, unbounded");
    plots_has(svg, "waiting, codel");
    plots_has(svg, "odd, codel");
    plots_lacks(svg, "odd, unbounded"); /* it has no value */
    for (int n = 0; n < 4; n++) {       /* of the legend two, each a path of its own, and two curves */
        plots_line_of(svg, PLOTS_BLUE, n, &line);
        ck_assert_int_eq(line.dash > 0, n % 2 == 1);
        ck_assert_double_eq_tol(line.width, 4.5, 0.01);
    }
    first = line.dash;
    plots_line_of(svg, PLOTS_ORANGE, 1, &line);
    ck_assert_double_eq_tol(line.dash, first, 0.1); /* codel's; its own gap below */
    /* a level of one sample, then none; the last sample is at the end of the record, where only a point shows it */
    ck_assert(line.count == 3 && line.y[0] == line.y[1] && !line.moves[1] && line.moves[2]);
    ck_assert_int_eq(program_count(svg, "<use xlink:href='#gpPt4'"), 1);
}
END_TEST

/* A panel of one column beside joined ones is drawn as they are. */
START_TEST(a_lone_column_beside_joined_ones)
{
    const char *svg = draw(two, "r.csv -y waiting,waiting+odd");
    struct plots_line line;

    ck_assert_int_eq(program_count(svg, "<text>waiting, codel</text>"), 2);
    plots_line_of(svg, PLOTS_BLUE, 3, &line); /* behind two of the legend and the first alternative */
    ck_assert(line.dash > 0 && line.count == 5);
    ck_assert_double_eq_tol(line.width, 2.5, 0.01);
    svg = draw(two, "r.csv -y waiting,odd");
    ck_assert_int_eq(program_count(svg, "<text>codel</text>"), 1);
    plots_line_of(svg, PLOTS_BLUE, 1, &line);
    ck_assert_uint_eq(line.count, 3);
}
END_TEST

static double picture_height(const char *svg)
{
    double width, height;

    ck_assert_int_eq(sscanf(strstr(svg, "<svg"), "<svg width=\"%lf\" height=\"%lf\"", &width, &height), 2);
    return height;
}

/* So many joined panels; those without a + stay as low as they are. */
static const struct size {
    const char *words;
    double height;
} sizes[] = {
    {"r.csv -y e+f", 105 + 30 + 480 + 75},
    {"r.csv -y e+f,g", 105 + 2 * (30 + 310) + 75},
    {"r.csv -y e+f,g,h", 105 + 3 * (30 + 250) + 75},
    {"r.csv -y e+f,g,h,i", 105 + 4 * (30 + 215) + 75},
    {"r.csv -y e+f,g,h,i,e", 105 + 5 * (30 + 215) + 75},
    {"r.csv -y e", 105 + 205 + 85},
    {"r.csv -y e,f", 105 + 2 * 205 + 85},
};

START_TEST(few_panels_are_taller)
{
    ck_assert_double_eq(picture_height(draw(one, sizes[_i].words)), sizes[_i].height);
}
END_TEST

/* Long names take more rows above their own panel only. */
START_TEST(legends_have_as_many_rows_as_they_need)
{
    static const char columns[] = "first_of_columns_with_a_long_name,second_of_columns_with_a_long_name,"
                                  "third_of_columns_with_a_long_name";
    const char *record = arena_format(&plots.arena, "policy,replication,time,%s\np,1,0,1,2,3\np,1,1,2,3,4\n", columns);
    const char *svg = draw(record, "r.csv -y first_of_columns_with_a_long_name+second_of_columns_with_a_long_"
                                   "name+third_of_columns_with_a_long_name,first_of_columns_with_a_long_name");
    struct plots_spot first = plots_spot_of(svg, "first_of_columns_with_a_long_name");
    struct plots_spot second = plots_spot_of(svg, "second_of_columns_with_a_long_name");
    struct plots_spot third = plots_spot_of(svg, "third_of_columns_with_a_long_name");

    ck_assert_double_eq_tol(second.y, first.y, 0.1);
    ck_assert_double_gt(second.x, first.x + 400);
    ck_assert_double_eq_tol(third.x, first.x, 0.1);
    ck_assert_double_eq_tol(third.y, first.y + 30, 0.1);
    ck_assert_double_eq(picture_height(svg), 105 + 2 * 310 + 3 * 30 + 75);
}
END_TEST

/* The longest numbers of an axis, and where it begins: a digit takes 14 pixels, and 44 are beside them. */
static const struct margin {
    const char *samples, *words;
    double left;
} margins[] = {
    {"1,10000\n", "r.csv -y y", 114},
    {"1,100000\n", "r.csv -y y", 44 + 6 * 14},
    {"1,-100000\n", "r.csv -y y", 44 + 7 * 14},
    {"1,100000\n", "r.csv -y z,y", 44 + 6 * 14},
    {"1,100000\n", "r.csv -y z+y", 44 + 6 * 14},
};

START_TEST(numbers_fit_beside_the_axis)
{
    const struct margin *margin = &margins[_i];
    const char *record =
        arena_format(&plots.arena, "policy,replication,time,z,y\np,1,0,0,0\np,1,1,%s", margin->samples);
    struct plots_line line;

    plots_line_of(draw(record, margin->words), PLOTS_BLUE, 1, &line);
    ck_assert_double_eq_tol(line.x[0], margin->left, 0.1);
}
END_TEST

/* And those of the axis at the right before the picture's edge. */
START_TEST(numbers_fit_at_the_right)
{
    struct plots_line line;
    const char *svg = draw(one, "r.csv -y m.a+tokens");

    ck_assert_double_lt(plots_spot_of(svg, "100000").x + 6 * 14, 1190);
    plots_line_of(svg, PLOTS_BLUE, 1, &line);
    ck_assert_double_lt(line.x[line.count - 1], plots_spot_of(svg, "100000").x);
}
END_TEST

static const char *saw(int samples)
{
    const char *record = "policy,replication,time,saw,x\n";

    for (int i = 0; i < samples; i++)
        record = arena_format(&plots.arena, "%sp,1,%d,%d,1\n", record, i, 2 * (i % 2));
    return record;
}

/* Up to 600 levels; of more samples, the mean of two in a row from the first of them to the next pair. */
START_TEST(long_curves_are_levels_of_means)
{
    struct plots_line line;
    const char *svg = draw(saw(600), "r.csv -y saw+x");

    plots_has(svg, "replication 1, every 1 s");
    plots_line_of(svg, PLOTS_BLUE, 1, &line);
    ck_assert_uint_eq(line.count, 2 * 599 + 1);
    svg = draw(saw(602), "r.csv -y saw+x");
    plots_has(svg, "replication 1, every 1 s; mean and range of each 2 in a row");
    plots_line_of(svg, PLOTS_BLUE, 1, &line);
    ck_assert_uint_eq(line.count, 301 + 1);
    for (size_t i = 0; i < line.count; i++)
        ck_assert_double_eq_tol(line.y[i], line.y[0], 0.02);
    ck_assert_double_eq_tol(line.x[1] - line.x[0], (line.x[line.count - 1] - line.x[0]) * 2 / 601, 0.1);
    ck_assert_ptr_nonnull(strstr(svg, "fill-opacity = '0.150000' points = '"));
}
END_TEST

/* A name may have a + itself. */
START_TEST(a_plus_may_be_of_a_name)
{
    const char *svg = draw(one, "r.csv -y a+b,b");
    struct plots_line line;

    plots_has(svg, "a+b");
    plots_has(svg, "b (calls)");
    plots_line_of(svg, PLOTS_BLUE, 1, &line);
    ck_assert_uint_eq(line.count, 3);
}
END_TEST

/* So many alternatives. */
static const char *many(int count)
{
    const char *text = "policy,replication,time,x,y,z\n";

    for (int i = 0; i < count; i++)
        text = arena_format(&plots.arena, "%sp%d,1,0,0,1,2\np%d,1,1,3,4,5\n", text, i, i);
    return text;
}

/* --- mistakes ------------------------------------------------------------------------------------------------------
 */

static const struct mistake {
    int alternatives; /* 0: of the first record above */
    const char *words, *message;
} mistakes[] = {
    {0, "r.csv -y m.a+bb", "r.csv:1: error: there is no column `bb`; did you mean `b`?\n"},
    {0, "r.csv -y b,late+lat", "r.csv:1: error: there is no column `lat`; did you mean `late`?\n"},
    {0, "r.csv -y x+y", "r.csv:1: error: there is no column `x`"},
    {0, "r.csv -y b+time", "r.csv:1: error: there is no column `time`"},
    {0, "r.csv -y b+none", "r.csv: error: there is nothing to draw: `none` has no finite value\n"},
    {0, "r.csv -y b+,late", "r.csv: error: -y `b+`: expected a column on both sides of each `+`\n"},
    {0, "r.csv -y +b", "r.csv: error: -y `+b`: expected a column on both sides of each `+`\n"},
    {0, "r.csv -y e++f", "r.csv: error: -y `e++f`: expected a column on both sides of each `+`\n"},
    {0, "r.csv -y +", "r.csv: error: -y `+`: expected a column on both sides of each `+`\n"},
    {0, "r.csv -y b+e,", "r.csv:1: error: there is no column ``"},
    {0, "r.csv -y b+m.a+b", "r.csv: error: `b` is twice in a panel: expected each column once\n"},
    {0, "r.csv -y b+late+m.a+tokens",
     "r.csv: error: `tokens` is in `tokens`, a third unit in its panel: expected `calls` or `s`, as there are two "
     "axes\n"},
    {0, "r.csv -y b+e+late",
     "r.csv: error: `late` is in `s`, a third unit in its panel: expected `calls` or no unit, as there are two axes\n"},
    {0, "r.csv -y b+late+e",
     "r.csv: error: `e` is in no unit, a third unit in its panel: expected `calls` or `s`, as there are two axes\n"},
    {0, "r.csv -y e+f+g+h+i+e+f+g", "r.csv: error: 8 columns do not fit into a panel: expected at most 7\n"},
    {0, "r.csv -y e+f,e,e,e,e,e,e,e,e,e,e,e,e",
     "r.csv: error: 13 panels do not fit into a picture: expected at most 12\n"},
    {6, "r.csv -y x+y",
     "r.csv: error: there are 6 curves of each column, and more than 5 kinds of dashes nobody could tell apart: choose "
     "some with --policy A,B or --at FACTOR=VALUE\n"},
    {5, "r.csv -y x+y+z",
     "r.csv: error: 3 columns of 5 curves each do not fit into a panel: expected at most 12 curves; choose some with "
     "--policy A,B or --at FACTOR=VALUE\n"},
};

START_TEST(mistakes_are_explained)
{
    const struct mistake *mistake = &mistakes[_i];

    plots_write("r.csv", mistake->alternatives ? many(mistake->alternatives) : one);
    plots_write("r.csv.meta", units);
    ck_assert_int_eq(plots_command(mistake->words), EXIT_USAGE);
    ck_assert_msg(strncmp(plots.said, mistake->message, strlen(mistake->message)) == 0, "%s", plots.said);
    ck_assert_uint_eq(plots_files("."), 2);
}
END_TEST

/* As much as fits: 7 columns, 12 panels, 5 alternatives, 12 curves. */
START_TEST(as_much_as_fits_is_drawn)
{
    draw(many(5), "r.csv -y x+y,z");
    draw(many(4), "r.csv -y x+y+z");
    draw(one, "r.csv -y m.a+b+e+f+g+h+i");
    draw(one, "r.csv -y e+f,e,e,e,e,e,e,e,e,e,e,e");
}
END_TEST

/* Several mistakes are told at once. */
START_TEST(all_mistakes_are_told)
{
    plots_write("r.csv", one);
    ck_assert_int_eq(plots_command("r.csv -y b+,x+b+y"), EXIT_USAGE);
    ck_assert_int_eq(program_count(plots.said, "error:"), 3);
}
END_TEST

START_TEST(texts_stay_texts)
{
    const char *svg;

    plots_write("r.csv", "policy,replication,time,\"a`touch pwned`\",@macro\n"
                         "\"p`touch pwned`\",1,0,1,2\n\"p`touch pwned`\",1,1,2,3\nq,1,0,1,2\nq,1,1,3,4\n");
    plots_write("r.csv.meta", "columns:\n  - {name: \"@macro\", unit: \"s`touch pwned`\"}\n");
    ck_assert_msg(plots_words((char *[]){"r.csv", "-y", "a`touch pwned`+@macro", NULL}) == EXIT_DONE, "%s", plots.said);
    svg = plots_pictures("pictures/r.record");
    plots_has(svg, "a`touch pwned`, p`touch pwned`");
    plots_has(svg, "@macro, q (right)");
    plots_has(svg, "s`touch pwned`");
    ck_assert_ptr_null(program_file("pwned"));
}
END_TEST

Suite *plot_panels_suite(void)
{
    Suite *suite = suite_create("plot_panels");
    TCase *all = tcase_create("panels");

    tcase_add_checked_fixture(all, setup, teardown);
    tcase_add_test(all, joined_columns_share_a_panel);
    tcase_add_test(all, another_unit_has_an_axis_of_its_own);
    tcase_add_test(all, unknown_units_are_one);
    tcase_add_test(all, columns_differ_without_colours);
    tcase_add_test(all, dashes_tell_alternatives_apart);
    tcase_add_test(all, a_lone_column_beside_joined_ones);
    tcase_add_loop_test(all, few_panels_are_taller, 0, (int)(sizeof sizes / sizeof sizes[0]));
    tcase_add_test(all, legends_have_as_many_rows_as_they_need);
    tcase_add_loop_test(all, numbers_fit_beside_the_axis, 0, (int)(sizeof margins / sizeof margins[0]));
    tcase_add_test(all, numbers_fit_at_the_right);
    tcase_add_test(all, long_curves_are_levels_of_means);
    tcase_add_test(all, a_plus_may_be_of_a_name);
    tcase_add_loop_test(all, mistakes_are_explained, 0, (int)(sizeof mistakes / sizeof mistakes[0]));
    tcase_add_test(all, as_much_as_fits_is_drawn);
    tcase_add_test(all, all_mistakes_are_told);
    tcase_add_test(all, texts_stay_texts);
    suite_add_tcase(suite, all);
    return suite;
}
