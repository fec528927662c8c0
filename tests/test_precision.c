/* test_precision.c - replications until an interval is narrow, a warm-up that is found, and what is said of numbers
 * that should not be trusted. */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/study/sequential.h"
#include "tests/command_fixture.h"
#include "tests/sheet.h"
#include "tests/suites.h"
#include "tests/transient.h"

#define LOOP(study) \
    "study: {" study "}\n" \
    "backends: {b: {kind: slots, servers: 8, service: exponential(9.0769 s)}}\n" \
    "agents: {coder: {population: 24, think: exponential(4.5 s)}}\n"
#define QUEUE(rate) \
    "study: {horizon: 10000 s, warmup: 1000 s}\n" \
    "backends: {b: {kind: slots, servers: 1, service: exponential(1 s)}}\n" \
    "agents: {a: {arrivals: poisson(" rate "/s)}}\n"

START_TEST(looks)
{
    static const unsigned expected[] = {10, 15, 23, 35, 53, 80, 120, 180, 200};
    unsigned now = expected[0];

    for (size_t i = 1; i < sizeof expected / sizeof *expected; i++) {
        now = sequential_next(now, 200);
        ck_assert_uint_eq(now, expected[i]);
    }
    ck_assert_uint_eq(sequential_next(200, 200), 200);
    ck_assert_uint_eq(sequential_looks(10, 200), sizeof expected / sizeof *expected);
    ck_assert_uint_eq(sequential_looks(7, 7), 1);
    ck_assert(sequential_precise((struct estimate){100, 2, 10}, 0.02));
    ck_assert(!sequential_precise((struct estimate){100, 2.001, 10}, 0.02));
    ck_assert(sequential_precise((struct estimate){-100, 2, 10}, 0.02));
    ck_assert(sequential_precise((struct estimate){0, 0, 10}, 0.02));
    ck_assert(!sequential_precise((struct estimate){NAN, NAN, 0}, 0.02));
    ck_assert(!sequential_precise((struct estimate){100, NAN, 1}, 0.02));
}
END_TEST

/* The table of s.yaml with these settings. */
static struct sheet *sheet_of(const char *first, const char *second)
{
    const char *out = in_folder("t.csv");

    PROGRAM_RUN(&program, NULL, "run", file.path, "-o", out, "--set", first, "--set", second);
    ck_assert_msg(program.status == 0, "%s", program.err);
    program_fini(&program);
    return sheet_read(out);
}

/* Each design point ends at its own look: narrow there, or at the most; and at the look before it was too wide. */
START_TEST(each_point_takes_what_it_needs)
{
    static const char *const names[] = {"8", "12", "24"};
    struct sheet *sheet, *before;
    unsigned counts = 0;

    plan_file_write(&file, "s.yaml",
                    LOOP("horizon: 3000 s, warmup: 200 s") "precision: {metric: wait_p99, relative: 3 %, least: 4, "
                                                           "most: 40}\n"
                                                           "sweep: {agents.coder.population: [8, 12, 24]}\n");
    sheet = sheet_of("study.seed=5", "study.seed=6");
    for (size_t i = 0; i < 3; i++) {
        size_t row = i + 1;
        double mean = sheet_cell(sheet, row, "wait_p99"), half = sheet_cell(sheet, row, "wait_p99_hw");
        unsigned count = (unsigned)sheet_cell(sheet, row, "replications"), look = 4, last = 0;

        while (look < count) {
            last = look;
            look = sequential_next(look, 40);
        }
        ck_assert_uint_eq(look, count);
        ck_assert(half <= 0.03 * mean || count == 40);
        counts |= 1u << i * (count != (unsigned)sheet_cell(sheet, 1, "replications"));
        if (last == 0)
            continue;
        before = sheet_of(arena_format(&file.arena, "study.replications=%u", last),
                          arena_format(&file.arena, "agents.coder.population=%s", names[i]));
        ck_assert_double_gt(sheet_cell(before, 1, "wait_p99_hw"), 0.03 * sheet_cell(before, 1, "wait_p99"));
        sheet_free(before);
    }
    ck_assert_uint_ne(counts, 1); /* they are not all the same */
    sheet_free(sheet);
}
END_TEST

START_TEST(same_digits_with_any_number_of_threads)
{
    const char *one;

    plan_file_write(&file, "s.yaml",
                    LOOP("horizon: 3000 s, warmup: auto") "precision: {metric: wait_p99, relative: 4 %, least: 3, "
                                                          "most: 20}\n"
                                                          "policies: [unbounded, fixed_cap: {cap: 12}]\n"
                                                          "sweep: {agents.coder.population: [8, 12, 24]}\n");
    one = SAID("run", file.path, "--format", "csv", "--against", "unbounded", "-j", "1");
    program_same(SAID("run", file.path, "--format", "csv", "--against", "unbounded", "-j", "2"), one);
    program_same(SAID("run", file.path, "--format", "csv", "--against", "unbounded", "-j", "7"), one);
}
END_TEST

/* The warm-up that a run of these alternatives says. */
static double warm_up_of(const char *policies)
{
    const char *at = strstr(SAID("run", file.path, "--policy", policies), "\nWarm-up: ");

    ck_assert_ptr_nonnull(at);
    return atof(at + strlen("\nWarm-up: "));
}

/* What is found is a warm-up as any other: said, and the longest of all design points. */
START_TEST(a_warm_up_is_found)
{
    const char *found;
    double both, one, other;

    plan_file_write(&file, "s.yaml",
                    LOOP("horizon: 4000 s, replications: 3, seed: 3, "
                         "warmup: auto") "policies: [unbounded, fixed_cap: {cap: 12}]\n");
    both = warm_up_of("unbounded,fixed_cap");
    one = warm_up_of("unbounded");
    other = warm_up_of("fixed_cap");
    ck_assert_double_eq(both, fmax(one, other));
    ck_assert_double_ne(one, other);
    ck_assert_double_gt(both, 0);
    ck_assert_double_le(both, 2000);
    found = SAID("run", file.path, "--format", "csv");
    program_same(
        SAID("run", file.path, "--format", "csv", "--set", arena_format(&file.arena, "study.warmup=%g s", both)),
        found);
}
END_TEST

/* The bias that is left in the number in the system, which theory knows without noise, beside the half-width. */
START_TEST(what_the_warm_up_leaves)
{
    const char *at;
    struct sheet *sheet;
    double warmup, bias;

    plan_file_write(&file, "s.yaml", LOOP("horizon: 6000 s, warmup: auto"));
    at = strstr(SAID("run", file.path, "-o", in_folder("t.csv")), "\nWarm-up: ");
    ck_assert_ptr_nonnull(at);
    warmup = atof(at + strlen("\nWarm-up: "));
    sheet = sheet_read(in_folder("t.csv"));
    bias = transient_excess(24, 8, 9.0769, 4.5, warmup) / (6000 - warmup);
    ck_assert_double_lt(fabs(bias), sheet_cell(sheet, 1, "in_system_mean_hw") / 10);
    sheet_free(sheet);
}
END_TEST

START_TEST(no_steady_state_no_warm_up)
{
    plan_file_write(&file, "s.yaml", QUEUE("1.2"));
    PROGRAM_RUN(&program, NULL, "run", file.path, "--set", "study.warmup=auto");
    ck_assert_int_eq(program.status, 2);
    program_has(program.err, "--set study.warmup:1:1: error: warmup: auto: the number in the system has not "
                             "settled in the first half of the horizon (unbounded)");
    ck_assert_str_eq(program.out, "");
}
END_TEST

START_TEST(a_queue_that_grows)
{
    plan_file_write(&file, "s.yaml", QUEUE("1.05"));
    program_has(SAID("run", file.path), "Grows: at 1 of 1 design points the number in the system");
    program_lacks(SAID("run", file.path, "--set", "agents.a.arrivals=poisson(0.9/s)"), "Grows:");
}
END_TEST

/* Of a class that backs off, what is not at the gate is in the system too: a cap keeps that level and hides the rest.
 */
START_TEST(what_backs_off_is_in_the_system)
{
    plan_file_write(&file, "s.yaml", QUEUE("1.2") "policies: [fixed_cap: {cap: 4}]\n");
    program_has(SAID("run", file.path, "--set", "study={horizon: 1500 s, warmup: 100 s, replications: 10}"),
                "Grows: at 1 of 1 design points");
}
END_TEST

START_TEST(few_observations_beyond_a_quantile)
{
    plan_file_write(&file, "s.yaml", LOOP("horizon: 2000 s, warmup: 100 s, replications: 4"));
    program_has(SAID("run", file.path), "Few: at 1 of 1 design points fewer than 20 observations a replication lie "
                                        "beyond a quantile that is\nshown, the fewest, ");
    program_lacks(SAID("run", file.path, "--columns", "goodput,wait_mean"), "Few:");
    program_lacks(SAID("run", file.path, "--set", "study.horizon=3000 s"), "Few:");
}
END_TEST

/* -r and --set go before the file, as ever. */
START_TEST(replications_that_are_asked_for)
{
    plan_file_write(&file, "s.yaml", LOOP("horizon: 300 s") "precision: {metric: wait_p99}\n");
    program_has(SAID("run", file.path, "-r", "3", "--format", "csv"), "\nunbounded,all,all,all,3,");
    program_has(
        SAID("run", file.path, "--set", "precision.most=12", "--set", "precision.relative=0.1%", "--format", "csv"),
        "\nunbounded,all,all,all,12,");
    program_has(SAID("check", file.path), "relative: 5 %");
    program_has(SAID("check", file.path), "1 design point x at most 200 replications x 300 s");
}
END_TEST

START_TEST(bad_input)
{
    static const struct {
        const char *text, *said;
    } cases[] = {
        {LOOP("horizon: 300 s") "precision: {metric: wait_p97}\n",
         "s.yaml:4:21: precision: there is no metric wait_p97: expected one of `weir list metrics`; did you "
         "mean "
         "wait_p95?"},
        {LOOP("horizon: 300 s") "precision: {relative: 2 %}\n", "s.yaml:4:12: precision: needs metric"},
        {LOOP("horizon: 300 s") "precision: {metric: wait_p99, least: 20, most: 10}\n",
         "s.yaml:4:38: precision: least is 20 and most 10: expected the least not to be above the most"},
        {LOOP("horizon: 300 s, replications: 5") "precision: {metric: wait_p99}\n",
         "s.yaml:1:39: replications: `precision` decides how many: expected one of the two"},
        {LOOP("until: done, warmup: auto"), "expected no warmup"},
        {LOOP("horizon: 300 s, warmup: automatic"), "s.yaml:1:33: study: warmup"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ck_assert(!plan_file_read(&file, cases[i].text, NULL, NULL));
        program_has(plan_file_said(&file), cases[i].said);
    }
}
END_TEST

Suite *precision_suite(void)
{
    Suite *suite = suite_create("precision");
    TCase *test = tcase_create("precision");

    tcase_add_checked_fixture(test, setup, teardown);
    tcase_set_timeout(test, 0);
    tcase_add_test(test, looks);
    tcase_add_test(test, each_point_takes_what_it_needs);
    tcase_add_test(test, same_digits_with_any_number_of_threads);
    tcase_add_test(test, a_warm_up_is_found);
    tcase_add_test(test, what_the_warm_up_leaves);
    tcase_add_test(test, no_steady_state_no_warm_up);
    tcase_add_test(test, a_queue_that_grows);
    tcase_add_test(test, what_backs_off_is_in_the_system);
    tcase_add_test(test, few_observations_beyond_a_quantile);
    tcase_add_test(test, replications_that_are_asked_for);
    tcase_add_test(test, bad_input);
    suite_add_tcase(suite, test);
    return suite;
}
