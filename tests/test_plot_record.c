/* test_plot_record.c - pictures of a record: which columns and curves, where their points are, and what is refused. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/cli/arguments.h"
#include "tests/plots.h"
#include "tests/program.h"
#include "tests/suites.h"

static struct program program;

static void setup(void)
{
    plots_setup();
}

static void teardown(void)
{
    program_fini(&program);
    plots_teardown();
}

/* Two policies of one population, one replication more; a column that is empty in part, and one that stays. */
static const char two[] = "policy,a.population,replication,time,waiting,odd,level,none\n"
                          "unbounded,8,1,0,0,,5,\n"
                          "unbounded,8,1,10,6,,5,\n"
                          "unbounded,8,1,20,8,,5,\n"
                          "unbounded,8,2,0,99,,7,\n"
                          "codel,8,1,0,0,,5,\n"
                          "codel,8,1,10,,1,5,\n"
                          "codel,8,1,20,2,2,5,\n";

static const char *draw(const char *record, const char *words, const char *base)
{
    plots_write("r.csv", record);
    ck_assert_msg(plots_command(words) == EXIT_DONE, "%s", plots.said);
    return plots_pictures(base);
}

/* A line in a panel whose axis of y goes from 0 at `bottom` to `high` at `top`, in pixels; and that of x from 0 to
 * `end`. */
static void expect_points(const struct plots_line *line, const double (*points)[2], size_t count, double end,
                          double high)
{
    const double left = 114, right = line->x[line->count - 1], height = 163;
    double bottom = line->y[0] + points[0][1] / high * height;

    ck_assert_uint_eq(line->count, count);
    for (size_t i = 0; i < count; i++) {
        ck_assert_double_eq_tol(line->x[i], left + points[i][0] / end * (right - left), 0.1);
        ck_assert_double_eq_tol(line->y[i], bottom - points[i][1] / high * height, 0.5);
    }
}

START_TEST(columns_that_vary_are_drawn)
{
    static const double waits[][2] = {{0, 0}, {10, 6}, {20, 8}}, odds[][2] = {{10, 1}, {20, 2}};
    struct plots_line line;
    const char *svg;

    plots_write("r.csv.meta", "title: \"Over time\"\ncolumns:\n  - {name: waiting, unit: calls}\n");
    svg = draw(two, "r.csv", "pictures/r.record");
    ck_assert_str_eq(plots.said, "weir: drew pictures/r.record.svg and .png\n");
    ck_assert_uint_eq(plots_files("pictures"), 2);
    plots_has(svg, "Over time");
    plots_has(svg, "replication 1, every 10 s");
    plots_has(svg, "waiting (calls)");
    plots_has(svg, "odd");
    plots_has(svg, "time (s)");
    plots_has(svg, "unbounded");
    plots_has(svg, "codel");
    plots_lacks(svg, "level");
    plots_lacks(svg, "none");
    plots_line_of(svg, PLOTS_BLUE, 1, &line);
    expect_points(&line, waits, 3, 20, 8 * 1.05);
    plots_line_of(svg, PLOTS_ORANGE, 2, &line);
    expect_points(&line, odds, 2, 20, 2 * 1.05);
    /* before and behind a gap, points that no line reaches */
    plots_line_of(svg, PLOTS_ORANGE, 1, &line);
    ck_assert(line.count == 2 && line.moves[0] && line.moves[1]);
    ck_assert_int_eq(program_count(svg, "<use xlink:href='#gpPt4'"), 2);
}
END_TEST

START_TEST(columns_stand_in_the_order_of_y)
{
    const char *svg = draw(two, "r.csv -y level,waiting,level -o here", "here/r.record");

    plots_lacks(svg, "odd");
    ck_assert_int_eq(program_count(svg, "<text>level</text>"), 2);
    ck_assert_double_lt(plots_spot_of(svg, "level").y, plots_spot_of(svg, "waiting").y);
    ck_assert_double_lt(plots_spot_of(svg, "waiting").y, plots_spot_of(svg, "time (s)").y);
}
END_TEST

/* Seven policies of two populations. */
static const char *many(void)
{
    const char *text = "policy,a.population,replication,time,waiting\n";

    for (int i = 0; i < 14; i++)
        text = arena_format(&plots.arena, "%sp%d,%d,1,0,0\np%d,%d,1,1,%d\n", text, i / 2, 8 + i % 2, i / 2, 8 + i % 2,
                            1 + i);
    return text;
}

START_TEST(curves_can_be_chosen)
{
    const char *svg = draw(many(), "r.csv --at a.population=9", "pictures/r.record");

    plots_has(svg, "replication 1, every 1 s; population 9");
    plots_has(svg, "p6");
    svg = draw(many(), "r.csv --policy p1,p4", "pictures/r.record");
    plots_has(svg, "p1, population 8");
    plots_has(svg, "p4, population 9");
    plots_lacks(svg, "p0, population 8");
    svg = draw(many(), "r.csv --policy p1 --at a.population=8", "pictures/r.record");
    plots_has(svg, "p1");
}
END_TEST

/* A saw of 0, 2, 4, 6, and 3 at its end, if its length is no multiple of 4. */
static const char *saw(int samples)
{
    const char *record = "policy,replication,time,saw\n";

    for (int i = 0; i < samples; i++)
        record =
            arena_format(&plots.arena, "%sp,1,%d,%d\n", record, i, i == samples - 1 && i % 4 == 0 ? 3 : 2 * (i % 4));
    return record;
}

/* In stretches of four the mean is 3; what is left at the end is one too. */
START_TEST(long_curves_are_means_and_ranges)
{
    static const char bands[] = "fill-opacity = '0.150000' points = '";
    const char *svg = draw(saw(901), "r.csv", "pictures/r.record"), *band;
    struct plots_line line;
    double x, y, least = INFINITY, greatest = -INFINITY;

    plots_has(svg, "replication 1, every 1 s; mean and range of each 4 in a row");
    plots_line_of(svg, PLOTS_BLUE, 1, &line);
    ck_assert_uint_eq(line.count, 226);
    svg = draw(saw(1200), "r.csv", "pictures/r.record");
    plots_line_of(svg, PLOTS_BLUE, 1, &line);
    ck_assert_uint_eq(line.count, 300);
    for (size_t i = 0; i < line.count; i++)
        ck_assert_double_eq_tol(line.y[i], line.y[0], 0.02);
    ck_assert_double_eq_tol(line.x[0], 114, 0.02);
    band = strstr(svg, bands);
    ck_assert_ptr_nonnull(band);
    for (band += strlen(bands); *band != '\''; band += strcspn(band, " ") + 1) {
        ck_assert_int_eq(sscanf(band, "%lf,%lf", &x, &y), 2);
        least = fmin(least, y);
        greatest = fmax(greatest, y);
        ck_assert_double_gt(fabs(y - line.y[0]), 70); /* nothing in between */
    }
    ck_assert_double_eq_tol(greatest, line.y[0] + 3 / (6 * 1.05) * 163, 0.5);
    ck_assert_double_eq_tol(least, line.y[0] - 3 / (6 * 1.05) * 163, 0.5);
    svg = draw(saw(300), "r.csv", "pictures/r.record");
    plots_line_of(svg, PLOTS_BLUE, 1, &line);
    ck_assert_uint_eq(line.count, 300);
    ck_assert_double_gt(line.y[0] - line.y[1], 10);
}
END_TEST

START_TEST(texts_stay_texts)
{
    const char *svg;

    plots_write("r.csv.meta", "title: \"a`touch pwned`$(touch pwned)\"\n");
    svg = draw("policy,replication,time,\"a`touch pwned`\",\"\"\"x; system 'touch pwned'\",@macro\n"
               "\"p`touch pwned`\",1,0,1,2,3\n\"p`touch pwned`\",1,1,2,3,4\n",
               "r.csv", "pictures/r.record");
    plots_has(svg, "a`touch pwned`$(touch pwned)");
    plots_has(svg, "p`touch pwned`");
    plots_has(svg, "a`touch pwned`");
    plots_has(svg, "\"x; system 'touch pwned'");
    plots_has(svg, "@macro");
    ck_assert_ptr_null(program_file("pwned"));
}
END_TEST

/* What `weir run` records. */
START_TEST(a_run_is_drawn)
{
    const char *svg;

    plots_write("s.yaml", "title: A card\n"
                          "study: {horizon: 600 s, replications: 2}\n"
                          "backends: {card: {kind: slots, servers: 2, service: exponential(2 s)}}\n"
                          "agents: {coder: {population: 6, think: exponential(2 s)}}\n"
                          "policies: [unbounded, codel: {preset: slots, target: 1 s}]\n"
                          "record: {every: 5 s, file: fleet.csv, replications: all}\n");
    PROGRAM_RUN(&program, NULL, "run", "s.yaml");
    ck_assert_msg(program.status == EXIT_DONE, "%s", program.err);
    ck_assert_msg(plots_command("fleet.csv") == EXIT_DONE, "%s", plots.said);
    svg = plots_pictures("pictures/fleet.record");
    plots_has(svg, "A card");
    plots_has(svg, "replication 1, every 5 s");
    plots_has(svg, "waiting (calls)");
    plots_has(svg, "oldest (s)");
    ck_assert_msg(plots_command("fleet.csv -y codel.sojourn -o here") == EXIT_DONE, "%s", plots.said);
    plots_has(plots_pictures("here/fleet.record"), "codel.sojourn (s)");
}
END_TEST

/* A log of decisions: a curve for each that decided, of numbers; words have none, and two rows may be of one instant.
 */
START_TEST(decisions_are_drawn)
{
    static const char log[] = "policy,replication,time,member,gate,copy,planner.gate,mode,ceiling,armed\n"
                              "p,1,0,planner,,,0,planned,4,\np,1,0,planner,,,1,planned,7,\n"
                              "p,1,15,planner,,,0,fixed,5,inf\np,1,15,planner,,,1,planned,7,\n"
                              "p,1,30,planner,,,0,fixed,6,\np,1,30,planner,,,0,fixed,2,\n"
                              "p,1,30,planner,,,1,planned,9,\np,2,0,planner,,,0,planned,99,\n";
    static const double of_first[][2] = {{0, 4}, {15, 5}, {30, 6}, {30, 2}},
                        of_second[][2] = {{0, 7}, {15, 7}, {30, 9}};
    struct plots_line line;
    const char *svg = draw(log, "r.csv", "pictures/r.record");

    plots_has(svg, "ceiling");
    plots_lacks(svg, "mode");
    plots_lacks(svg, "every");
    plots_line_of(svg, PLOTS_BLUE, 1, &line);
    expect_points(&line, of_first, 4, 30, 9 * 1.05);
    svg = draw(log, "r.csv --at planner.gate=1 -o one", "one/r.record");
    plots_line_of(svg, PLOTS_BLUE, 1, &line);
    expect_points(&line, of_second, 3, 30, 9 * 1.05);
    ck_assert_int_eq(plots_command("r.csv -y mode"), EXIT_USAGE);
    ck_assert_str_eq(plots.said, "r.csv: error: `mode` holds words: expected a column of numbers\n");
    ck_assert_int_eq(plots_command("r.csv -y armed"), EXIT_USAGE);
    ck_assert_str_eq(plots.said, "r.csv: error: there is nothing to draw: `armed` has no finite value\n");
}
END_TEST

/* --- mistakes ------------------------------------------------------------------------------------------------------
 */

#define HEAD "policy,a.population,replication,time,waiting\n"

/* One mistake: the record (NULL: that of two policies), the words, the beginning of the message. */
static const struct mistake {
    const char *record, *words, *message;
} mistakes[] = {
    {NULL, "r.csv -x a.population", "r.csv: error: a record is drawn over time: expected no --x"},
    {NULL, "r.csv -y waitin", "r.csv:1: error: there is no column `waitin`; did you mean `waiting`?"},
    {NULL, "r.csv -y time", "r.csv:1: error: there is no column `time`"},
    {NULL, "r.csv -y none", "r.csv: error: there is nothing to draw: `none` has no finite value"},
    {NULL, "r.csv --policy unbounded -y odd", "r.csv: error: there is nothing to draw: `odd` has no finite value"},
    {NULL, "r.csv --policy fixed_cap", "r.csv: error: there is no policy `fixed_cap`; there are: unbounded, codel\n"},
    {NULL, "r.csv --at a.population=9", "r.csv: error: no row has `9` as `a.population`; there are: 8\n"},
    {NULL, "r.csv -y level,level,level,level,level,level,level,level,level,level,level,level,level",
     "r.csv: error: 13 columns do not fit into a picture: expected at most 12"},
    {HEAD, "r.csv", "r.csv: error: there is nothing to draw: no row is of replication 1"},
    {HEAD "p,8,2,0,1\n", "r.csv", "r.csv: error: there is nothing to draw: no row is of replication 1"},
    {HEAD "p,8,1,0,1\np,8,1,1,1\n", "r.csv", "r.csv: error: no column changes over time: choose what to draw with -y"},
    {HEAD "p,8,1,0,1\np,8,1,1,x\n", "r.csv", "r.csv:3:9: error: `x` in column `waiting`: expected a number"},
    {HEAD "p,8,1,0,1\np,8,1,1,2 s\n", "r.csv", "r.csv:3:9: error: `2 s` in column `waiting`: expected a bare number"},
    {HEAD "p,8,1,1,1\np,8,1,1,2\n", "r.csv", "r.csv:3:7: error: expected a time after that of the row before"},
    {HEAD "p,8,1,,1\n", "r.csv", "r.csv:2:7: error: expected a time"},
    {"policy,replication,class,time\np,1,a,0\n", "r.csv", "r.csv:1:1: error: expected a table that `weir run -o`"},
    {"policy,a,replication,time,key,gate,copy,old,new,by,reason\n", "r.csv",
     "r.csv:1:1: error: there is no picture of an audit, of texts: expected the record beside it (`record: file`)"},
    {"policy,replication,time,alert,backend,state\n", "r.csv",
     "r.csv:1:1: error: there is no picture of a log of alerts, of texts: expected the record beside it"},
    {"policy,replication,class,tenant,backend,agent,run\n", "r.csv",
     "r.csv:1:1: error: there is no picture of a log of calls: expected the table"},
    {"policy,replication,time,member,gate,copy,n\np,1,1,m,,,1\np,1,0,m,,,1\n", "r.csv",
     "r.csv:3:5: error: expected a time after that of the row before"},
};

START_TEST(mistakes_are_explained)
{
    const struct mistake *mistake = &mistakes[_i];

    plots_write("r.csv", mistake->record ? mistake->record : two);
    ck_assert_int_eq(plots_command(mistake->words), EXIT_USAGE);
    ck_assert_msg(strncmp(plots.said, mistake->message, strlen(mistake->message)) == 0, "%s", plots.said);
    ck_assert_uint_eq(plots_files("."), 1);
}
END_TEST

START_TEST(too_many_curves_are_refused)
{
    plots_write("r.csv", many());
    ck_assert_int_eq(plots_command("r.csv"), EXIT_USAGE);
    ck_assert_str_eq(plots.said, "r.csv: error: there are 14 curves, and more than 12 nobody could tell apart: choose "
                                 "some with --policy A,B or --at FACTOR=VALUE\n");
    ck_assert_msg(plots_command("r.csv --policy p0,p1,p2,p3,p4,p5") == EXIT_DONE, "%s", plots.said);
}
END_TEST

/* Infinite numbers have no place, and negative ones below a line at 0. */
START_TEST(odd_numbers_are_gaps_or_below)
{
    const char *svg =
        draw("policy,replication,time,x\np,1,0,inf\np,1,1,-2\np,1,2,4\np,1,3,-inf\n", "r.csv", "pictures/r.record");
    struct plots_line line;

    plots_line_of(svg, PLOTS_BLUE, 1, &line);
    ck_assert_uint_eq(line.count, 2);
    ck_assert_double_gt(line.y[0], line.y[1]);
    plots_has(svg, "-2");
}
END_TEST

/* Results are chosen in the same way. */
START_TEST(policies_of_results_can_be_chosen)
{
    const char *svg;

    plots_write("knee.csv", plots_knee);
    ck_assert_msg(plots_command("knee.csv --policy codel,unbounded") == EXIT_DONE, "%s", plots.said);
    svg = plots_pictures("pictures/knee.wait_p99");
    plots_has(svg, "codel");
    plots_has(svg, "unbounded");
    plots_lacks(svg, "fixed_cap");
    ck_assert_int_eq(plots_command("knee.csv --policy codl"), EXIT_USAGE);
    ck_assert_str_eq(plots.said,
                     "knee.csv: error: there is no policy `codl`; there are: unbounded, fixed_cap, codel\n");
}
END_TEST

Suite *plot_record_suite(void)
{
    Suite *suite = suite_create("plot_record");
    TCase *all = tcase_create("pictures");

    tcase_add_checked_fixture(all, setup, teardown);
    tcase_add_test(all, columns_that_vary_are_drawn);
    tcase_add_test(all, columns_stand_in_the_order_of_y);
    tcase_add_test(all, decisions_are_drawn);
    tcase_add_test(all, curves_can_be_chosen);
    tcase_add_test(all, long_curves_are_means_and_ranges);
    tcase_add_test(all, texts_stay_texts);
    tcase_add_test(all, a_run_is_drawn);
    tcase_add_loop_test(all, mistakes_are_explained, 0, (int)(sizeof mistakes / sizeof mistakes[0]));
    tcase_add_test(all, too_many_curves_are_refused);
    tcase_add_test(all, odd_numbers_are_gaps_or_below);
    tcase_add_test(all, policies_of_results_can_be_chosen);
    suite_add_tcase(suite, all);
    return suite;
}
