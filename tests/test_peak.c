/* The closed loop in constant memory: a trial that is ten times as long needs no more of it. */
#include <check.h>
#include <stdio.h>

#include "tests/heap.h"
#include "tests/model.h"
#include "tests/suites.h"

/* MB, of the trial alone. The longer one answers some 400,000 turns more, so it may not keep one byte of each; a
 * histogram's page for an octave that it meets for the first time is 2 or 8 KiB. */
#define MOST_MEMORY 1.0
#define MOST_GROWTH 0.25

static double peak(const struct plan *plan, size_t point)
{
    struct heap_watch heap = {.before = HEAP_USED};
    struct trial_watch watch = {.started = heap_look, .context = &heap};
    double values[METRIC_COUNT];

    ck_assert_int_eq(trial_simulate(plan->points[point].scenario, 1, &watch, values), TRIAL_ENDED);
    ck_assert_uint_gt(heap.most, 0);
    return (double)heap.most / 1e6;
}

static void constant_memory(const char *policy)
{
    char yaml[1024];
    struct plan plan;
    double once, longer;

    snprintf(yaml, sizeof yaml,
             "study: {horizon: 1 s}\nsweep: {study.horizon: [50000 s, 500000 s]}\n"
             "backends: {card: {kind: slots, servers: 8, rate: 39 tokens/s}}\n"
             "agents: {coder: {population: 24, think: exponential(4.5 s), output: exponential(354),\n"
             "                 client: {base: 16 s, cap: 120 s, timeout: 300 s}}}\npolicies: [%s]\n",
             policy);
    plan = model_plan(yaml);
    ck_assert_uint_eq(plan.point_count, 2);
    once = peak(&plan, 0);
    longer = peak(&plan, 1);
    ck_assert_msg(longer - once < MOST_GROWTH, "%s: %.2f MB, ten times as long %.2f MB", policy, once, longer);
    ck_assert_msg(longer < MOST_MEMORY, "%s: %.2f MB", policy, longer);
    plan_fini(&plan);
}

START_TEST(closed_loop)
{
    if (!heap_is_known())
        return;
    constant_memory("unbounded");
    constant_memory("fixed_cap: {cap: 12}");
    constant_memory("codel: {law: persist, sheds_at: submission, target: 8 s, interval: 15 s}");
    constant_memory("codel: {law: rfc8289, sheds_at: dequeue, target: 8 s, interval: 15 s}");
}
END_TEST

Suite *peak_suite(void)
{
    Suite *suite = suite_create("peak");
    TCase *test = tcase_create("peak");

    tcase_add_test(test, closed_loop);
    suite_add_tcase(suite, test);
    return suite;
}
