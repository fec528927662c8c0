/* CoDel never locks up, whatever its law and where it sheds: it keeps the goodput of `unbounded`, at its defaults for
 * slots and at every edge of target and interval, and refuses nobody who finds a server idle. */
#include <check.h>
#include <stdio.h>

#include "tests/model.h"
#include "tests/suites.h"

enum { POPULATIONS = 17, FORMS = 5 };

/* `unbounded` and the four forms of CoDel, each behind a witness that ends the program when somebody is refused while a
 * server is idle. */
static void keeps_goodput(const char *horizon, const char *target, const char *interval, double share)
{
    char yaml[2048], times[128];
    double goodput[FORMS][POPULATIONS], v[METRIC_COUNT];
    struct plan plan;

    snprintf(times, sizeof times, "target: %s, interval: %s", target, interval);
    snprintf(yaml, sizeof yaml,
             "study: {horizon: %s, warmup: 1000 s, replications: 1}\n"
             "backends: {card: {kind: slots, servers: 8, rate: 39 tokens/s}}\n"
             "agents: {coder: {population: 24, think: exponential(4.5 s),\n"
             "  output: mixture(0.7 lognormal(120 cv 0.45) | 0.3 lognormal(900 cv 0.35)),\n"
             "  client: {base: 16 s, cap: 120 s, retry_after: ignore}}}\n"
             "policies:\n"
             "  - unbounded\n"
             "  - ps: [witness, codel: {law: persist, sheds_at: submission, %s}]\n"
             "  - pd: [witness, codel: {law: persist, sheds_at: dequeue, %s}]\n"
             "  - rs: [witness, codel: {law: rfc8289, sheds_at: submission, %s}]\n"
             "  - rd: [witness, codel: {law: rfc8289, sheds_at: dequeue, %s}]\n"
             "sweep: {agents.coder.population: 8..40 step 2}\n",
             horizon, times, times, times, times);
    plan = model_plan_with(yaml, "witness");
    for (size_t point = 0; point < plan.point_count; point++) {
        model_trial(&plan, point, 1, v);
        goodput[point / POPULATIONS][point % POPULATIONS] = v[METRIC_GOODPUT];
    }
    for (size_t form = 1; form < FORMS; form++)
        for (size_t i = 0; i < POPULATIONS; i++)
            ck_assert_double_ge(goodput[form][i], share * goodput[0][i]);
    plan_fini(&plan);
}

START_TEST(at_eight_and_fifteen_seconds)
{
    keeps_goodput("41000 s", "8 s", "15 s", 0.99);
}
END_TEST

START_TEST(at_every_edge)
{
    keeps_goodput("21000 s", "1 ms", "1 ms", 0.95);
    keeps_goodput("21000 s", "1 ms", "1000 s", 0.95);
    keeps_goodput("21000 s", "1000 s", "1 ms", 0.95);
    keeps_goodput("21000 s", "1000 s", "1000 s", 0.95);
}
END_TEST

Suite *lockup_suite(void)
{
    Suite *suite = suite_create("lockup");
    TCase *test = tcase_create("lockup");

    tcase_add_test(test, at_eight_and_fifteen_seconds);
    tcase_add_test(test, at_every_edge);
    suite_add_tcase(suite, test);
    return suite;
}
