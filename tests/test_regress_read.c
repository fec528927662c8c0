/* test_regress_read.c - the mapping `regress:`: what it sets, and what it refuses. */
#include <check.h>
#include <string.h>

#include "models/regress.h"
#include "tests/plan_file.h"
#include "tests/suites.h"

static struct plan_file file;

static void setup(void)
{
    plan_file_init(&file);
}

static void teardown(void)
{
    plan_file_fini(&file);
}

static const struct regress_spec *spec_of(const char *regress)
{
    bool good =
        plan_file_read(&file, arena_format(&file.arena, "%sregress: %s\n", plan_file_card, regress), NULL, NULL);

    ck_assert_msg(good, "%s", plan_file_said(&file));
    return file.plan.regress;
}

START_TEST(defaults)
{
    const struct regress_spec *spec;

    ck_assert(plan_file_read(&file, plan_file_card, NULL, NULL));
    spec = file.plan.regress;
    ck_assert(!spec->set && spec->most == 0);
    ck_assert(spec->gated[METRIC_GOODPUT] && spec->gated[METRIC_WAIT_P99] && spec->gated[METRIC_LOST_TURNS]);
    ck_assert(!spec->gated[METRIC_WAIT_MEAN]);   /* is not shown */
    ck_assert(!spec->gated[METRIC_UTILISATION]); /* neither more nor less is better */
    ck_assert_double_eq(spec->tolerance[METRIC_WAIT_P99].relative, metrics[METRIC_WAIT_P99].relative);
    ck_assert_double_eq(spec->tolerance[METRIC_WAIT_P99].absolute, metrics[METRIC_WAIT_P99].absolute);
}
END_TEST

START_TEST(given)
{
    const struct regress_spec *spec =
        spec_of("{gate: [wait_mean, goodput], most: 80, tolerance: {wait_mean: 3 %, goodput: [0.5 %, 0.002], wait_p99: "
                "200 ms}}");

    ck_assert(spec->gated[METRIC_GOODPUT] && spec->gated[METRIC_WAIT_MEAN] && !spec->gated[METRIC_WAIT_P99]);
    ck_assert_int_eq(spec->most, 80);
    ck_assert_double_eq(spec->tolerance[METRIC_WAIT_MEAN].relative, 0.03);
    ck_assert_double_eq(spec->tolerance[METRIC_WAIT_MEAN].absolute, 0); /* a part alone has no floor */
    ck_assert_double_eq(spec->tolerance[METRIC_GOODPUT].relative, 0.005);
    ck_assert_double_eq(spec->tolerance[METRIC_GOODPUT].absolute, 0.002);
    ck_assert_double_eq(spec->tolerance[METRIC_WAIT_P99].relative, 0);
    ck_assert_double_eq(spec->tolerance[METRIC_WAIT_P99].absolute, 0.2);
}
END_TEST

START_TEST(refused)
{
    static const char *const cases[][2] = {
        {"3", "s.yaml:4:10: regress: expected a mapping, such as regress: {gate: [goodput, wait_p99]}, not a value"},
        {"{gates: goodput}", "s.yaml:4:11: regress: unknown key 'gates'"},
        {"{gate: []}", "s.yaml:4:17: regress: gate: expected metrics, such as [goodput, wait_p99]"},
        {"{gate: wait_p98}", "s.yaml:4:17: regress: gate: there is no metric wait_p98; did you mean wait_p95?"},
        {"{gate: utilisation}", "s.yaml:4:17: regress: gate: utilisation has no better direction"},
        {"{tolerance: 3 %}", "s.yaml:4:22: regress: tolerance: expected a mapping of keys to values, not a value"},
        {"{tolerance: {goodput: 3 s}}",
         "s.yaml:4:32: regress: tolerance: goodput: 3 s: expected a part, such as 3 %, or a "
         "floor in the metric's unit, turns/s"},
        {"{tolerance: {goodput: much}}", "s.yaml:4:32: regress: tolerance: goodput: much: expected"},
        {"{tolerance: {goodput: [1 %, 2, 3]}}", "or both, [3 %, 0.2]"},
        {"{set: [a]}", "s.yaml:4:16: regress: set: expected a mapping"},
        {"{most: -1}", "s.yaml:4:17: "},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bool read = plan_file_read(&file, arena_format(&file.arena, "%sregress: %s\n", plan_file_card, cases[i][0]),
                                   NULL, NULL);

        ck_assert_msg(!read, "%s", cases[i][0]);
        ck_assert_msg(strstr(plan_file_said(&file), cases[i][1]) != NULL, "%s:\n%s", cases[i][0],
                      plan_file_said(&file));
    }
}
END_TEST

/* Neither digits nor the hash of a run know of it. */
START_TEST(hash_is_another_thing)
{
    uint64_t hash;

    ck_assert(plan_file_read(&file, plan_file_card, NULL, NULL));
    hash = file.plan.hash;
    spec_of("{set: {study.horizon: 20 s}, gate: goodput}");
    ck_assert_uint_eq(file.plan.hash, hash);
    ck_assert_int_eq(file.plan.points[0].scenario->study.horizon, 100 * SIM_SECOND);
}
END_TEST

Suite *regress_read_suite(void)
{
    Suite *suite = suite_create("regress_read");
    TCase *test = tcase_create("regress_read");

    tcase_add_checked_fixture(test, setup, teardown);
    tcase_add_test(test, defaults);
    tcase_add_test(test, given);
    tcase_add_test(test, refused);
    tcase_add_test(test, hash_is_another_thing);
    suite_add_tcase(suite, test);
    return suite;
}
