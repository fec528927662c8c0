/* test_estimate.c - what weir check says that a study will take, in events, beside the events that it takes. */
#include <check.h>
#include <glob.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "policies/registry.h"
#include "sim/cli/estimate.h"
#include "tests/model.h"
#include "tests/suites.h"

/* Of the first replication of a design point. */
static double events_of(const struct plan *plan, size_t point, double *values)
{
    uint64_t events = 0;
    struct trial_watch watch = {.events = &events};

    ck_assert_int_eq(trial_simulate(plan->points[point].scenario, 1, &watch, values), TRIAL_ENDED);
    return (double)events;
}

/* All design points: their estimates, as a share of the truth, within a factor. */
static void expect_within(const struct plan *plan, const char *name, size_t step, double factor)
{
    for (size_t i = 0; i < plan->point_count; i += step) {
        const struct scenario *scenario = plan->points[i].scenario;
        double *values = mem_zeroed(trial_row_count(scenario) * METRIC_COUNT, sizeof *values);
        struct estimate estimate = estimate_of(scenario, values);
        double share = estimate.events / events_of(plan, i, values);

        ck_assert_msg(share >= 1 / factor && share <= factor, "%s, %s, point %zu: %g of the events", name,
                      scenario->chain.label, i, share);
        ck_assert(estimate.seconds >= 0);
        free(values);
    }
}

static void expect_of(const char *yaml, double factor)
{
    struct plan plan = model_plan(yaml);

    expect_within(&plan, yaml, 1, factor);
    plan_fini(&plan);
}

/* A study that ends in the stretch is known to the last event, whatever `most` is; one with a horizon goes on. */
START_TEST(ends_of_studies)
{
    static const char card[] = "backends: {card: {kind: slots, servers: 2, service: exponential(1 s)}}\n";
    struct arena arena = {0};

    expect_of(arena_format(&arena,
                           "study: {until: done, most: 25000 d, warmup: 0 s}\n%s"
                           "agents: {a: {population: 3, think: 1 s, runs: 30, turns: constant(4)}}\n",
                           card),
              1);
    expect_of(arena_format(
                  &arena, "study: {horizon: 400 s, warmup: 100 s}\n%sagents: {a: {population: 3, think: 1 s}}\n", card),
              1);
    /* longer than a stretch: a horizon; turns to come, of the class that is behind; runs that all boot first */
    expect_of(arena_format(&arena, "study: {horizon: 40000 s}\n%sagents: {a: {population: 3, think: 1 s}}\n", card),
              1.1);
    expect_of(arena_format(&arena,
                           "study: {until: done, most: 25000 d}\n%sagents:\n"
                           "  a: {population: 3, think: 1 s, runs: 4k, turns: constant(9)}\n"
                           "  b: {arrivals: poisson(1/min), runs: 40}\n",
                           card),
              1.1);
    expect_of(arena_format(&arena,
                           "study: {until: done, most: 25000 d}\n"
                           "backends: {card: {kind: slots, servers: 30k, service: exponential(1 s)}}\n"
                           "agents: {a: {arrivals: all_at(0 s), runs: 25k, turns: constant(9), boot: constant(1 h), "
                           "think: 1 s}}\n"),
              1.5);
    /* nobody is ever done */
    expect_of(arena_format(&arena,
                           "study: {until: done, most: 30000 s}\n%sagents:\n"
                           "  a: {arrivals: all_at(29999 s), runs: 1}\n  b: {population: 3, think: 1 s, runs: 100M, "
                           "turns: constant(9)}\n",
                           card),
              1.1);
    arena_free(&arena);
}
END_TEST

START_TEST(scenarios_that_ship)
{
    size_t points = getenv("WEIR_QUICK") ? 1 : 2;
    glob_t found;

    ck_assert_int_eq(glob("scenarios/*.yaml", 0, NULL, &found), 0);
    ck_assert_uint_gt(found.gl_pathc, 20);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        struct plan_request request = {.path = found.gl_pathv[i], .policies = policy_registry, .pools_taken = true};
        struct plan plan;
        struct diag diag = {0};

        ck_assert_msg(plan_read(&request, &plan, &diag) || strstr(request.path, ".seeds."), "%s", request.path);
        if (diag.errors == 0 && plan.points[0].scenario->class_count > 0)
            expect_within(&plan, request.path, (plan.point_count + points - 1) / points, 3);
        if (diag.errors == 0)
            plan_fini(&plan);
        diag_fini(&diag);
    }
    globfree(&found);
}
END_TEST

Suite *estimate_suite(void)
{
    Suite *suite = suite_create("estimate");
    TCase *tests = tcase_create("estimate");

    tcase_set_timeout(tests, 0);
    tcase_add_test(tests, ends_of_studies);
    tcase_add_test(tests, scenarios_that_ship);
    suite_add_tcase(suite, tests);
    return suite;
}
