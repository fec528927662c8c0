/* test_fit.c - fits find what made the data: parameters within their standard errors, which mean what they say; the
 * choice among families; correlation within sessions; and a scenario that runs. */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "models/fit_trace.h"
#include "tests/command_fixture.h"
#include "tests/suites.h"

enum { ROWS = 20000 };

static double values[2 * ROWS];
static struct fit_result result;

static void draw(const struct dist *dist, size_t count, uint32_t seed)
{
    struct stream stream =
        stream_open((struct stream_key){.seed = seed, .replication = 1}, (struct stream_address){.purpose = 1});
    for (size_t i = 0; i < count; i++)
        values[i] = dist_draw(dist, &stream);
}

static struct dist made_by(enum fit_family family)
{
    struct dist dist = family == FIT_EXPONENTIAL ? (struct dist){.kind = DIST_EXPONENTIAL, .a = 4.5}
                       : family == FIT_GEOMETRIC ? (struct dist){.kind = DIST_GEOMETRIC, .a = 8}
                       : family == FIT_LOGNORMAL ? dist_lognormal_of(400, 1.4)
                       : family == FIT_GAMMA     ? dist_gamma_of(4.5, 0.6)
                                                 : dist_weibull_of(4.5, 1.7);
    dist.most = INFINITY;
    return dist;
}

static double errors_off(double found, double truth, double error)
{
    return error > 0 ? fabs(found - truth) / error : fabs(found - truth);
}

/* At this seed within four standard errors, and the family is known again. */
START_TEST(the_maker_is_found)
{
    enum fit_family family = (enum fit_family)_i;
    struct dist dist = made_by(family);
    draw(&dist, ROWS, 1);
    ck_assert(fit_values(values, ROWS, family == FIT_GEOMETRIC, &result));
    const struct fit_part *part = &result.fits[family].parts[0];
    ck_assert_str_eq(fit_family_name(result.chosen), fit_family_name(family));
    ck_assert_double_le(errors_off(part->mean, dist_mean(&dist), part->mean_se), 4);
    ck_assert_double_le(errors_off(part->cv, dist_cv(&dist), part->cv_se), family == FIT_GEOMETRIC ? 0.01 : 4);
    ck_assert_double_lt(result.fits[family].distance, 1.95 / sqrt(ROWS)); /* Kolmogorov at 0.1 % */
}
END_TEST

/* In many samples the truth is within 1.96 standard errors 95 times of 100. */
START_TEST(errors_mean_what_they_say)
{
    static const enum fit_family families[] = {FIT_LOGNORMAL, FIT_GAMMA, FIT_WEIBULL};
    int held = 0, asked = 0;
    if (getenv("WEIR_QUICK")) /* set under sanitizers, where this would take minutes */
        return;
    for (int family = 0; family < 3; family++)
        for (uint32_t seed = 1; seed <= 50; seed++) {
            struct dist dist = made_by(families[family]);
            draw(&dist, 500, seed);
            ck_assert(fit_values(values, 500, false, &result));
            const struct fit_part *part = &result.fits[families[family]].parts[0];
            held += errors_off(part->mean, dist_mean(&dist), part->mean_se) < 1.96;
            held += errors_off(part->cv, dist_cv(&dist), part->cv_se) < 1.96;
            asked += 2;
        }
    ck_assert_int_eq(asked, 300);
    ck_assert_int_ge(held, 300 * 95 / 100 - 15); /* four standard deviations of 3.8 */
    ck_assert_int_le(held, 300 * 95 / 100 + 14);
}
END_TEST

static void is_near(const struct fit_part *part, double weight, double mean, double cv)
{
    ck_assert_double_le(fabs(part->weight / weight - 1), 0.03);
    ck_assert_double_le(fabs(part->mean / mean - 1), 0.03);
    ck_assert_double_le(fabs(part->cv / cv - 1), 0.03);
    ck_assert_double_le(errors_off(part->weight, weight, part->weight_se), 4);
    ck_assert_double_le(errors_off(part->mean, mean, part->mean_se), 4);
    ck_assert_double_le(errors_off(part->cv, cv, part->cv_se), 4);
}

/* The answers of the card: short ones and long ones. */
START_TEST(the_mixture_of_the_card)
{
    struct dist parts[2] = {dist_lognormal_of(120, 0.45), dist_lognormal_of(900, 0.35)};
    static const double weights[2] = {0.7, 1};
    parts[0].most = parts[1].most = INFINITY;
    struct dist dist = {.kind = DIST_MIXTURE, .most = INFINITY, .parts = parts, .weights = weights, .count = 2};
    draw(&dist, 2 * ROWS, 1);
    for (size_t i = 0; i < 2 * ROWS; i++)
        values[i] = floor(values[i] + 0.5); /* whole tokens, as logs have them */
    ck_assert(fit_values(values, 2 * ROWS, false, &result));
    ck_assert_int_eq(result.chosen, FIT_MIXTURE);
    is_near(&result.fits[FIT_MIXTURE].parts[0], 0.7, 120, 0.45);
    is_near(&result.fits[FIT_MIXTURE].parts[1], 0.3, 900, 0.35);
    ck_assert_double_lt(result.fits[FIT_MIXTURE].distance, 0.01);
    ck_assert_double_gt(result.fits[FIT_LOGNORMAL].distance, 0.05);
}
END_TEST

/* Zeros are apart, and what no family fits is told by its quantiles, whose mean is the data's. */
START_TEST(zeros_and_what_nothing_fits)
{
    for (size_t i = 0; i < 1000; i++)
        values[i] = i < 300 ? 0 : i < 500 ? 10 : i < 900 ? 11 : 1000 + (double)i;
    ck_assert(fit_values(values, 1000, false, &result));
    ck_assert_uint_eq(result.zeros, 300);
    ck_assert_int_eq(result.chosen, FIT_EMPIRICAL);
    struct dist parts[FIT_PARTS_MOST];
    double weights[FIT_PARTS_MOST], mean = 0;
    struct dist dist = fit_dist(&result, FIT_EMPIRICAL, parts, weights);
    for (size_t i = 300; i < 1000; i++)
        mean += values[i] / 700;
    ck_assert_double_eq_tol(dist_mean(&dist), mean, 1e-6 * mean);
    for (size_t i = 0; i < 100; i++)
        values[i] = 7;
    ck_assert(!fit_values(values, 100, false, &result)); /* a constant is none */
    ck_assert(!fit_values(values, 0, false, &result));
}
END_TEST

/* A session whose waits go up and down slowly, and one whose waits do not: an AR(1) of ln w with this coefficient. */
static double lag_of(double coefficient)
{
    struct stream stream =
        stream_open((struct stream_key){.seed = 5, .replication = 1}, (struct stream_address){.purpose = 1});
    struct dist noise = {.kind = DIST_LOGNORMAL, .a = 0, .b = 1, .most = INFINITY};
    struct fit_lag lag = {0};
    const char *text = "session,wait_before_s,output_tokens\n";
    double y = 0;
    char *rows = arena_zeroed(&file.arena, 4000, 40), *at = rows;
    for (size_t i = 0; i < 3000; i++) {
        y = coefficient * y + sqrt(1 - coefficient * coefficient) * log(dist_draw(&noise, &stream));
        at += sprintf(at, "s,%.6f,5\n", exp(5 + y));
    }
    plan_file_write(&file, "t.csv", arena_format(&file.arena, "%s%s", text, rows));
    static struct fit_trace fit;
    struct trace_facts facts;
    fit_trace_init(&fit);
    ck_assert(trace_read(&(struct trace_spec){.path = in_folder("t.csv")}, fit_trace_call, &fit, &facts, &file.diag));
    fit_trace_done(&fit, &facts);
    lag = fit.of[FIT_THINK].lag;
    fit_trace_fini(&fit);
    return fit_correlation(&lag);
}

START_TEST(correlation_within_a_session)
{
    ck_assert_double_eq_tol(lag_of(0.6), 0.6, 0.06);
    program_has(SAID("fit", in_folder("t.csv")), "large ones come together, so that independent draws understate");
    program_fini(&program);
    ck_assert_double_eq_tol(lag_of(0), 0, 4 / sqrt(3000));
    program_lacks(SAID("fit", in_folder("t.csv")), "large ones come together");
}
END_TEST

/* What is printed below the table is a scenario, of sessions and of calls that come. */
START_TEST(the_scenario_runs)
{
    static const char *const traces[] = {"tests/data/claude_code.csv", "tests/data/burstgpt_3.csv",
                                         "tests/data/vidur_lengths.csv", "scenarios/traces/azure_code.csv"};
    const char *text = SAID("fit", traces[_i]), *yaml = strstr(text, "# Fitted to");
    ck_assert_ptr_nonnull(yaml);
    plan_file_write(&file, "s.yaml", yaml);
    program_fini(&program);
    SAID("check", file.path);
    program_has(yaml, _i < 2 ? "population: 8" : "arrivals: poisson(");
    ck_assert_msg((strstr(text, "The calls come in heaps") != NULL) == (_i == 1 || _i == 3), "%s", text);
}
END_TEST

START_TEST(pictures_and_errors)
{
    PROGRAM_RUN(&program, NULL, "fit", "tests/data/servegen.csv");
    ck_assert_int_eq(program.status, 2);
    program_has(program.err, "nothing to fit: its rows are windows; expected a trace of calls");
    program_fini(&program);
    if (system("command -v gnuplot >/dev/null 2>&1") != 0) {
        fprintf(stderr, "skipped: there is no gnuplot\n");
        return;
    }
    PROGRAM_RUN(&program, NULL, "fit", "tests/data/vidur_lengths.csv", "--plot", file.folder);
    ck_assert_int_eq(program.status, 0);
    char *picture = program_file(in_folder("fit.output.svg"));
    ck_assert_ptr_nonnull(picture);
    free(picture);
}
END_TEST

Suite *fit_suite(void)
{
    Suite *suite = suite_create("fit");
    TCase *test = tcase_create("fit");
    tcase_add_checked_fixture(test, setup, teardown);
    tcase_set_timeout(test, 0);
    tcase_add_loop_test(test, the_maker_is_found, FIT_EXPONENTIAL, FIT_WEIBULL + 1);
    tcase_add_test(test, errors_mean_what_they_say);
    tcase_add_test(test, the_mixture_of_the_card);
    tcase_add_test(test, zeros_and_what_nothing_fits);
    tcase_add_test(test, correlation_within_a_session);
    tcase_add_loop_test(test, the_scenario_runs, 0, 4);
    tcase_add_test(test, pictures_and_errors);
    suite_add_tcase(suite, test);
    return suite;
}
