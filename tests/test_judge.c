/* test_judge.c - verdicts on values and rows: Holm's rule by hand, limits, edges, and how often chance is called worse.
 */
#include <check.h>
#include <gsl/gsl_cdf.h>
#include <gsl/gsl_randist.h>
#include <math.h>

#include "sim/study/judge.h"
#include "tests/suites.h"

/* Worse by its tolerance and so much more that chance does that with this probability. */
static struct judge_value worse_by_chance(double chance)
{
    return (struct judge_value){.tolerance = 3, .shift = {3 + gsl_cdf_ugaussian_Qinv(chance), 1, INFINITY}};
}

static struct judge_value of(double mean, double error, double tolerance)
{
    return (struct judge_value){.tolerance = tolerance, .shift = {mean, error, 9}};
}

/* What each of three is, at 1 %: the smallest is held against 1/3 %, the next against 1/2 %, the last against 1 %. */
START_TEST(steps_down)
{
    static const struct {
        double chances[3];
        int worse;
    } cases[] = {
        {{0.0033, 0.0049, 0.0099}, 3},
        {{0.0034, 0.0034, 0.0034}, 0}, /* the first fails, so none is looked at behind it */
        {{0.9, 0.0049, 0.0001}, 2},    /* in any order; 1/3 % for each would find one */
        {{0.0001, 0.0051, 0.0052}, 1},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct judge_value values[3];
        int worse = 0;

        for (int k = 0; k < 3; k++)
            values[k] = worse_by_chance(cases[i].chances[k]);
        judge(values, 3, 0.01, 1);
        for (int k = 0; k < 3; k++)
            worse += values[k].verdict == JUDGED_WORSE;
        ck_assert_int_eq(worse, cases[i].worse);
    }
}
END_TEST

/* Each of four looks has a quarter of the level. */
START_TEST(looks_share_the_level)
{
    struct judge_value value = worse_by_chance(0.0026);

    judge(&value, 1, 0.01, 1);
    ck_assert_int_eq(value.verdict, JUDGED_WORSE);
    judge(&value, 1, 0.01, 4);
    ck_assert_int_eq(value.verdict, JUDGED_UNDECIDED);
    value = worse_by_chance(0.0024);
    judge(&value, 1, 0.01, 4);
    ck_assert_int_eq(value.verdict, JUDGED_WORSE);
}
END_TEST

START_TEST(directions)
{
    /* t with 9 degrees: 2.821 at 1 %. */
    struct judge_value values[] = {of(+15, 1, 5), of(-15, 1, 5), of(+15, 1, 5), of(-15, 1, 5),
                                   of(2, 1, 5),   of(2.3, 1, 5), of(-2, 1, 5)};

    values[2].higher = values[3].higher = values[6].higher = true;
    judge(values, 7, 0.01, 1);
    ck_assert_int_eq(values[0].verdict, JUDGED_WORSE);
    ck_assert_int_eq(values[1].verdict, JUDGED_BETTER);
    ck_assert_int_eq(values[2].verdict, JUDGED_BETTER);
    ck_assert_int_eq(values[3].verdict, JUDGED_WORSE);
    ck_assert_int_eq(values[4].verdict, JUDGED_WITHIN);    /* 2 + 2.821 is within 5 */
    ck_assert_int_eq(values[5].verdict, JUDGED_UNDECIDED); /* 2.3 + 2.821 is not */
    ck_assert_int_eq(values[6].verdict, JUDGED_WITHIN);
}
END_TEST

START_TEST(edges)
{
    struct judge_value values[] = {
        of(5, 0, 5),     of(5.1, 0, 5),  of(-5.1, 0, 5), /* nothing varies: what is seen is so */
        of(5, NAN, 5),   of(50, NAN, 5),                 /* one replication: nobody knows */
        of(NAN, NAN, 5),                                 /* defined in one of the two only */
    };
    struct judge_value same = of(99, 1, 5);

    judge(values, 6, 0.01, 1);
    ck_assert_int_eq(values[0].verdict, JUDGED_WITHIN);
    ck_assert_int_eq(values[1].verdict, JUDGED_WORSE);
    ck_assert_int_eq(values[2].verdict, JUDGED_BETTER);
    ck_assert_int_eq(values[3].verdict, JUDGED_WITHIN);
    ck_assert_int_eq(values[4].verdict, JUDGED_UNDECIDED);
    ck_assert_int_eq(values[5].verdict, JUDGED_UNDECIDED);
    same.same = true;
    judge(&same, 1, 0.01, 1);
    ck_assert_int_eq(same.verdict, JUDGED_SAME);
    judge(NULL, 0, 0.01, 1);
    ck_assert_double_eq(judge_tolerance(-20, 0.02, 0.1), 0.4);
    ck_assert_double_eq(judge_tolerance(2, 0.02, 0.1), 0.1);
}
END_TEST

START_TEST(rows)
{
    static const struct {
        enum judged values[3], row;
    } cases[] = {
        {{JUDGED_SAME, JUDGED_SAME, JUDGED_SAME}, JUDGED_SAME},
        {{JUDGED_SAME, JUDGED_WITHIN, JUDGED_SAME}, JUDGED_WITHIN},
        {{JUDGED_SAME, JUDGED_WITHIN, JUDGED_BETTER}, JUDGED_BETTER},
        {{JUDGED_WORSE, JUDGED_WITHIN, JUDGED_UNDECIDED}, JUDGED_WORSE},
        {{JUDGED_WORSE, JUDGED_UNDECIDED, JUDGED_BETTER}, JUDGED_TRADE},
        {{JUDGED_SAME, JUDGED_UNDECIDED, JUDGED_BETTER}, JUDGED_UNDECIDED},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct judge_value values[3] = {{0}};

        for (int k = 0; k < 3; k++)
            values[k].verdict = cases[i].values[k];
        ck_assert_int_eq(judge_row(values, 3), cases[i].row);
    }
}
END_TEST

/* Welch by hand: variances of the means 0.04 of 5 and 0.09 of 10, so 0.13^2 / (0.04^2 / 4 + 0.09^2 / 9) degrees. */
START_TEST(shifts)
{
    struct estimate base = {10, 0.2 * output_t(0.95, 4), 5}, head = {12, 0.3 * output_t(0.95, 9), 10};
    struct shift shift = shift_between(base, head);

    ck_assert_double_eq_tol(shift.mean, 2, 1e-12);
    ck_assert_double_eq_tol(shift.error, sqrt(0.13), 1e-12);
    ck_assert_double_eq_tol(shift.degrees, 0.0169 / (0.0016 / 4 + 0.0081 / 9), 1e-9);
    shift = shift_paired((struct estimate){-1, 0.5 * output_t(0.95, 7), 8});
    ck_assert_double_eq_tol(shift.error, 0.5, 1e-12);
    ck_assert_double_eq(shift.degrees, 7);
    ck_assert_double_nan(shift_paired((struct estimate){-1, NAN, 1}).error);
    ck_assert_double_nan(shift_between(base, (struct estimate){3, NAN, 1}).error);
}
END_TEST

/* Values whose means are worse by just their tolerance, in tables of ten replications that share nothing: of 4,000 runs
 * at most 1 % call one of twelve worse; and hardly fewer, or the rule would find nothing. */
START_TEST(false_alarms)
{
    enum { RUNS = 4000, VALUES = 12, REPLICATIONS = 10 };
    gsl_rng *random = gsl_rng_alloc(gsl_rng_mt19937);
    int alarms = 0;

    gsl_rng_set(random, 1);
    for (int run = 0; run < RUNS; run++) {
        struct judge_value values[VALUES];
        bool worse = false;

        for (int i = 0; i < VALUES; i++) {
            double base[REPLICATIONS], head[REPLICATIONS];

            for (int k = 0; k < REPLICATIONS; k++) {
                base[k] = gsl_ran_gaussian(random, 1);
                head[k] = 3 + gsl_ran_gaussian(random, 2);
            }
            values[i] = (struct judge_value){
                .tolerance = 3,
                .shift = shift_between(output_mean(base, REPLICATIONS, 1), output_mean(head, REPLICATIONS, 1))};
        }
        judge(values, VALUES, 0.01, 1);
        for (int i = 0; i < VALUES; i++)
            worse = worse || values[i].verdict == JUDGED_WORSE;
        alarms += worse;
    }
    gsl_rng_free(random);
    ck_assert_int_le(alarms, 40 + 4 * 6); /* four standard errors */
    ck_assert_int_ge(alarms, 20);
}
END_TEST

Suite *judge_suite(void)
{
    Suite *suite = suite_create("judge");
    TCase *test = tcase_create("judge");

    tcase_add_test(test, steps_down);
    tcase_add_test(test, looks_share_the_level);
    tcase_add_test(test, directions);
    tcase_add_test(test, edges);
    tcase_add_test(test, rows);
    tcase_add_test(test, shifts);
    tcase_add_test(test, false_alarms);
    suite_add_tcase(suite, test);
    return suite;
}
