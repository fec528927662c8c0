/* test_changes_order.c - what a change is beside others and beside the scenario: the values it finds, their order, and
 * what users are warned of. */
#include <string.h>

#include "tests/changes_fixture.h"
#include "tests/suites.h"

/* What a value is beside others: those before it in time, wherever they are written. */
START_TEST(beside_others)
{
    /* a window that holds less than a request, after the first change */
    const char *text = plan_file_with(&file, fleet, "requests: 50/min", "requests: {limit: 50/min, fill: window}");

    ck_assert(!plan_file_read(
        &file, arena_format(&file.arena, "%s  - {at: 3 s, set: backends.pool.meters.requests, to: 30/h}\n", text), NULL,
        NULL));
    ck_assert_str_eq(plan_file_said(&file),
                     "s.yaml:17:55: requests: a window holds 0.5 requests, so none would ever be "
                     "admitted: expected room for one");
    /* weights of which one is above 0: in one order there always is, in the other not */
    text = plan_file_with(&file, fleet, "token_bucket: {meter: requests, rate: 50/min, burst: 9}",
                          "cost_bucket: {rate: 1k tokens/s, input_weight: 1, cached_weight: 0, output_weight: 0}");
    ck_assert_msg(plan_file_read(&file,
                                 arena_format(&file.arena,
                                              "%s  - {at: 9 s, set: policies.*.cost_bucket.input_weight, to: 0}\n"
                                              "  - {at: 8 s, set: policies.*.cost_bucket.output_weight, to: 1}\n",
                                              text),
                                 NULL, NULL),
                  "%s", plan_file_said(&file));
    ck_assert(!plan_file_read(&file,
                              arena_format(&file.arena,
                                           "%s  - {at: 9 s, set: policies.*.cost_bucket.input_weight, to: 0}\n"
                                           "  - {at: 9 s, set: policies.*.cost_bucket.output_weight, to: 1}\n",
                                           text),
                              NULL, NULL));
    ck_assert_str_eq(plan_file_said(&file),
                     "s.yaml:17:61: policies.*.cost_bucket: input_weight: all weights are 0, so that "
                     "nothing costs anything: expected one above 0");
}
END_TEST

/* An agent that neither thinks nor backs off. */
START_TEST(asking_for_ever)
{
    const char *text =
        plan_file_with(&file, fleet, "output: 120, backend: pool", "output: 120, backend: pool, client: {base: 0 s}");

    ck_assert(!plan_file_read(
        &file, arena_format(&file.arena, "%s  - {at: 3 s, set: agents.coder.think, to: 0 s}\n", text), NULL, NULL));
    const char *said =
        strstr(plan_file_said(&file), "s.yaml:17:44: "); /* behind the warning that retries never pause */
    ck_assert_ptr_nonnull(said);
    ck_assert_str_eq(said, "s.yaml:17:44: coder would neither think nor back off: a refused agent would ask for ever "
                           "at one instant; expected a time above 0, or a client with base and cap above 0");
}
END_TEST

/* What a preset says of a class is what a change finds there. */
START_TEST(a_class_with_a_preset)
{
    ck_assert_msg(plan_file_read(&file,
                                 "study: {horizon: 9 s}\nbackends: {pool: {kind: provider, preset: laguna_opencode}}\n"
                                 "agents: {coder: {preset: laguna_opencode, population: 2}}\n"
                                 "changes: [{at: 3 s, set: agents.coder.think, to: 5 s}]\n",
                                 NULL, NULL),
                  "%s", plan_file_said(&file));
    ck_assert_str_eq(file.plan.points[0].scenario->changes[0].old, "exponential(2.79 s)");
}
END_TEST

/* --- warnings ----------------------------------------------------------------------------------------------------- */

static void expect_warned(const char *item, const char *said)
{
    ck_assert(plan_file_read(&file, with(item), NULL, NULL));
    ck_assert_str_eq(plan_file_said(&file), said);
}

START_TEST(past_the_horizon)
{
    expect_warned(
        "{at: 61 min, set: policies.*.fixed_cap.cap, to: 3}",
        "s.yaml:17:10: changes: policies.*.fixed_cap.cap is set when the study is over: expected a time up to "
        "study.horizon");
    expect_read("{at: 60 min, set: policies.*.fixed_cap.cap, to: 3}");
}
END_TEST

START_TEST(never_let_in)
{
    const char *text = plan_file_with(&file, fleet, "population: 24,", "population: 24, input: {start: 5k, most: 9k},");

    ck_assert(plan_file_read(
        &file, arena_format(&file.arena, "%s  - {at: 3 s, set: backends.pool.meters.input, to: 1k/min}\n", text), NULL,
        NULL));
    ck_assert_str_eq(
        plan_file_said(&file),
        "s.yaml:17:52: coder: a turn of mean size takes more of the meter input of pool than that ever lets "
        "in at once: expected a larger burst, window or limit");
}
END_TEST

/* --- the order, and whose they are ------------------------------------------------------------------------------- */

START_TEST(in_their_order)
{
    expect_read("{at: 2 min, set: agents.coder.think, to: 3 s, reason: late}\n"
                "  - {at: 1 min, set: policies.*.fixed_cap.cap, to: 9}\n"
                "  - {at: 1 min, set: policies.both.token_bucket.rate, to: 2/s}\n"
                "  - {at: 30 s, set: policies.codel.codel.interval, to: 9 s}\n"
                "  - {at: 1 min, set: agents.coder.think, to: exponential(1 s), reason: early}\n"
                "  - {at: 1 min, set: policies.both.fixed_cap.cap, to: 8}\n"
                "  - {at: 1 min, set: backends.pool.meters.requests, to: 40/min}\n"
                "  - {at: 3 min, set: backends.pool.meters.requests.limit, to: 30/min}\n"
                "  - {at: 4 min, set: backends.pool.meters.requests.burst, to: 30}\n"
                "  - {at: 5 min, set: backends.pool.retry_after, to: constant(5 s)}\n"
                "  - {at: 6 min, set: backends.pool.retry_after, to: none}\n"
                "  - {at: 7 min, set: backends.pool.meters.in_flight, to: 5}");
#define OF_ALL "60 agents.coder.think exponential(4.5 s)->exponential(1 s) early\n"
#define OF_POOL "60 backends.pool.meters.requests.limit 50 requests/min->40 requests/min\n"
#define OF_REST \
    "120 agents.coder.think exponential(1 s)->3 s late\n" \
    "180 backends.pool.meters.requests.limit 40 requests/min->30 requests/min\n" \
    "240 backends.pool.meters.requests.burst 50->30\n" \
    "300 backends.pool.retry_after exact->constant(5 s)\n" \
    "360 backends.pool.retry_after constant(5 s)->none\n" \
    "420 backends.pool.meters.in_flight.limit 9->5\n"
    ck_assert_str_eq(changes_of(0), OF_ALL OF_POOL OF_REST);
    ck_assert_str_eq(changes_of(1), "60 policies.capped.fixed_cap.cap 3->9\n" OF_ALL OF_POOL OF_REST);
    ck_assert_str_eq(changes_of(2), "30 policies.codel.codel.interval 100 ms->9000 ms\n" OF_ALL OF_POOL OF_REST);
    ck_assert_str_eq(changes_of(3), "60 policies.both.fixed_cap.cap 6->9\n"
                                    "60 policies.both.token_bucket.rate 0.833333333/s->2/s\n" OF_ALL
                                    "60 policies.both.fixed_cap.cap 9->8\n" OF_POOL OF_REST);
}
END_TEST

Suite *changes_order_suite(void)
{
    Suite *suite = suite_create("changes_order");
    TCase *tests = tcase_create("changes_order");

    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, beside_others);
    tcase_add_test(tests, asking_for_ever);
    tcase_add_test(tests, a_class_with_a_preset);
    tcase_add_test(tests, past_the_horizon);
    tcase_add_test(tests, never_let_in);
    tcase_add_test(tests, in_their_order);
    suite_add_tcase(suite, tests);
    return suite;
}
