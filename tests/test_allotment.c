/* test_allotment.c - tenant_cap, shed_by_value and priority on the bench, by hand at their edges. */
#include <check.h>
#include <math.h>
#include <string.h>

#include "tests/call_bench.h"
#include "tests/oracles.h"
#include "tests/suites.h"

static struct bench bench;

static void expect(struct policy_answer answer, enum policy_action action, policy_time after, const char *reason)
{
    ck_assert_int_eq(answer.action, action);
    ck_assert_int_eq(answer.after, after);
    if (reason)
        ck_assert_str_eq(answer.reason, reason);
}

/* --- tenant_cap ----------------------------------------------------------------------------------------------------
 */

static void *tenants[2];

static void cap_of(const char *meter, const char *cap)
{
    bench = bench_of("tenant_cap", "meter", meter, "cap", cap, NULL);
    for (int i = 0; i < 2; i++)
        tenants[i] = arena_zeroed(&bench.arena, 1, bench.ops->tenant_size);
    bench_begins(&bench);
}

static struct policy_call *sent_by(uint32_t tenant, double input)
{
    struct policy_call *call = bench_call(&bench, input, 0, 0);
    call->tenant = tenant;
    call->tenant_state = tenants[tenant];
    return call;
}

static bool sends(uint32_t tenant, policy_time now, double input)
{
    return bench_enters(&bench, sent_by(tenant, input), now);
}

static void is_refused(uint32_t tenant, policy_time now, double input)
{
    expect(bench_attempts(&bench, sent_by(tenant, input), now), POLICY_DEFER, 30 * S, "tenant");
}

START_TEST(a_tenants_minute)
{
    cap_of("input", "100/min");
    ck_assert(sends(0, 0, 60));
    is_refused(0, 0, 41);
    ck_assert(sends(0, 0, 40)); /* to the last token */
    is_refused(0, 59 * S, 1);
    ck_assert(sends(1, 0, 100)); /* another tenant's is its own */
    is_refused(1, 0, 1);
    is_refused(0, 60 * S - 1, 1);
    ck_assert(sends(0, 60 * S, 100)); /* a minute of the clock, not of the first call */
    is_refused(0, 119 * S, 1);
    ck_assert(sends(0, 100000 * S, 250)); /* larger than the cap: alone in its minute */
    is_refused(0, 100000 * S, 1);
    ck_assert(sends(1, 100000 * S, 1));
    is_refused(1, 100000 * S, 250);
    ck_assert_double_eq(bench_gauge(&bench, "refused"), 7);
    bench_free(&bench);
}
END_TEST

START_TEST(a_window_of_its_own)
{
    cap_of("input", "3600/h");
    bench_set(&bench, "window", "10 s");
    bench_set(&bench, "retry_after", "7 s");
    ck_assert(sends(0, 9 * S, 10));
    expect(bench_attempts(&bench, sent_by(0, 1), 9 * S), POLICY_DEFER, 7 * S, "tenant");
    ck_assert(sends(0, 10 * S, 10));
    bench_free(&bench);
}
END_TEST

START_TEST(tenants_settle)
{
    struct policy_call *call, *other;
    cap_of("input", "100/min");
    call = sent_by(0, 80);
    ck_assert(bench_enters(&bench, call, 0));
    bench_ends_with(&bench, call, S, POLICY_DONE, 30, 0, 9);
    bench_ends_with(&bench, call, S, POLICY_DONE, 30, 0, 9); /* once is enough */
    is_refused(0, S, 71);
    ck_assert(sends(0, S, 70));
    for (enum policy_end end = POLICY_SHED; end <= POLICY_EXPIRED; end++) {
        bool spent = end == POLICY_ERROR || end == POLICY_EXPIRED;
        policy_time now = (1 + (policy_time)end) * 60 * S;
        call = sent_by(0, 100);
        ck_assert(bench_enters(&bench, call, now));
        bench_ends(&bench, call, now, end);
        ck_assert(sends(0, now, 100) != spent);
    }
    /* a correction of a minute that is over is no matter of this one */
    call = sent_by(0, 100);
    other = sent_by(0, 60);
    ck_assert(bench_enters(&bench, call, 1200 * S));
    ck_assert(bench_enters(&bench, other, 1260 * S));
    bench_ends_with(&bench, call, 1261 * S, POLICY_DONE, 1, 0, 0);
    is_refused(0, 1262 * S, 41);
    bench_serves(other, 1262 * S);
    bench_ends(&bench, other, 1262 * S, POLICY_ABANDONED); /* a server goes on for nobody */
    is_refused(0, 1262 * S, 41);
    call = sent_by(0, 10); /* refused, so nothing was taken */
    ck_assert(sends(0, 1262 * S, 40));
    expect(bench_attempts(&bench, call, 1262 * S), POLICY_DEFER, 30 * S, "tenant");
    bench_ends(&bench, call, 1262 * S, POLICY_ABANDONED);
    is_refused(0, 1262 * S, 1);
    bench_free(&bench);
}
END_TEST

START_TEST(what_a_cap_counts)
{
    static const struct {
        const char *meter;
        double takes;
    } rows[] = {{"requests", 1}, {"input", 20 + 80 * 0.5}, {"output", 7}, {"total", 67}};
    for (size_t i = 0; i < 4; i++) {
        struct policy_call *call;
        cap_of(rows[i].meter, "100/min");
        bench_set(&bench, "cached_weight", "0.5");
        call = bench_call(&bench, 100, 80, 7);
        call->tenant_state = tenants[0];
        ck_assert(bench_enters(&bench, call, 0));
        bench_set(&bench, "meter", "input");
        is_refused(0, 0, 100 - rows[i].takes + 1);
        ck_assert(sends(0, 0, 100 - rows[i].takes));
        bench_free(&bench);
    }
    cap_of("input", "inf");
    for (int i = 0; i < 100; i++)
        ck_assert(sends(0, 0, 0x1p60));
    bench_steers(&bench, 0, "cap", 1); /* what was taken counts */
    is_refused(0, 0, 1);
    ck_assert(sends(0, 60 * S, 60));
    bench_free(&bench);
}
END_TEST

/* --- shed_by_value -------------------------------------------------------------------------------------------------
 */

static int64_t rank_of(double value)
{
    struct policy_call *call = bench_call(&bench, 0, 0, 0);
    int64_t rank;
    call->value = value;
    rank = bench.ops->rank(&bench.self, &bench.view, call, false);
    ck_assert_int_eq(bench.ops->rank(&bench.self, &bench.view, call, true), rank);
    return rank;
}

static struct policy_answer of_value(double value)
{
    struct policy_call *call = bench_call(&bench, 0, 0, 0);
    call->value = value;
    return bench_attempts(&bench, call, 0);
}

START_TEST(the_dear_displace_the_cheap)
{
    struct policy_call *cheapest;
    bench = bench_of("shed_by_value", "waiting", "2", NULL);
    cheapest = bench_call(&bench, 0, 0, 0);
    cheapest->value = 5;
    expect(of_value(0), POLICY_ADMIT, POLICY_NONE, NULL); /* nobody waits, and no tail is shown */
    bench.view.waiting = (struct policy_line){.calls = 1, .head = cheapest, .tail = cheapest};
    expect(of_value(0), POLICY_ADMIT, POLICY_NONE, NULL);
    bench.view.waiting.calls = 2;
    expect(of_value(5.000001), POLICY_DISPLACE, POLICY_NONE, "value");
    expect(of_value(5), POLICY_DEFER, POLICY_NONE, "value"); /* among equals who was first */
    expect(of_value(4), POLICY_DEFER, POLICY_NONE, "value");
    expect(of_value(5.0000001), POLICY_DEFER, POLICY_NONE, "value"); /* less than a millionth more */
    ck_assert_double_eq(bench_gauge(&bench, "displaced"), 1);
    ck_assert_double_eq(bench_gauge(&bench, "refused"), 3);
    bench_steers(&bench, 0, "waiting", INFINITY);
    expect(of_value(0), POLICY_ADMIT, POLICY_NONE, NULL);
    ck_assert_int_lt(rank_of(2), rank_of(1));
    ck_assert_int_lt(rank_of(0.000002), rank_of(0.000001));
    ck_assert_int_lt(rank_of(1), rank_of(-1));
    ck_assert_int_lt(rank_of(1e300), rank_of(1));
    ck_assert_int_gt(rank_of(-1e300), rank_of(1));
    bench_free(&bench);
}
END_TEST

/* --- priority ------------------------------------------------------------------------------------------------------
 */

/* Agents 0, 1, ... of a class; with one level in a priority it does not matter which. */
static struct policy_call *urgent(double priority, uint32_t agent)
{
    struct policy_call *call = bench_call(&bench, 0, 0, 0);
    call->priority = priority;
    call->agent = agent;
    return call;
}

static bool is_let_in(double priority, uint32_t agent, policy_time now)
{
    struct policy_answer answer = bench_attempts(&bench, urgent(priority, agent), now);
    if (answer.action == POLICY_ADMIT)
        return true;
    expect(answer, POLICY_DEFER, POLICY_NONE, "priority");
    return false;
}

static void attempts(double priority, unsigned count, unsigned let_in, policy_time now)
{
    unsigned found = 0;
    for (uint32_t i = 0; i < count; i++)
        found += is_let_in(priority, i, now);
    ck_assert_msg(found == let_in, "%u of %u of priority %g are let in, expected %u", found, count, priority, let_in);
}

static void waited(policy_time now, policy_time wait)
{
    struct policy_call *call = urgent(0, 0);
    bench.view.now = now;
    call->joined = now - wait;
    ck_assert_int_eq(bench.ops->start(&bench.self, &bench.view, call).action, POLICY_ADMIT);
}

static void window_ends(policy_time now, policy_time next)
{
    bench.view.now = now;
    ck_assert_int_eq(bench.ops->tick(&bench.self, &bench.view), next);
}

static void priority_of(const char *users)
{
    bench = bench_of("priority", "users", users, NULL);
    window_ends(0, S);
}

START_TEST(five_percent_less_one_percent_more)
{
    priority_of("1");
    attempts(3, 50, 50, 0);
    attempts(1, 30, 30, 0);
    attempts(2, 20, 20, 0);
    waited(0, 19 * MS);
    waited(0, 21 * MS); /* 20 ms are no overload */
    window_ends(S, 2 * S);
    ck_assert_double_eq(bench_gauge(&bench, "mean_wait"), 0.02);
    ck_assert_double_eq(bench_gauge(&bench, "open"), 1);
    attempts(3, 50, 50, S);
    attempts(2, 20, 20, S);
    attempts(1, 30, 30, S);
    waited(S, 20 * MS);
    waited(S, 20 * MS + 1);
    window_ends(2 * S, 3 * S); /* at most 95 of them: without the lowest, 70 */
    attempts(3, 50, 50, 2 * S);
    attempts(2, 20, 20, 2 * S);
    attempts(1, 30, 0, 2 * S);
    ck_assert_double_eq(bench_gauge(&bench, "refused"), 30);
    waited(2 * S, 0);
    window_ends(3 * S, 4 * S); /* at least 71 of them: all */
    attempts(1, 30, 30, 3 * S);
    attempts(3, 50, 50, 3 * S);
    attempts(2, 20, 20, 3 * S);
    waited(3 * S, S);
    window_ends(4 * S, 5 * S);
    attempts(2, 3, 3, 4 * S);
    attempts(3, 57, 57, 4 * S);
    waited(4 * S, S);
    window_ends(5 * S, 6 * S); /* at most 57: exactly the highest */
    attempts(2, 1, 0, 5 * S);
    attempts(3, 1, 1, 5 * S);
    waited(5 * S, S);
    window_ends(6 * S, 7 * S); /* at most 0.95: nobody */
    attempts(3, 10, 0, 6 * S);
    waited(6 * S, 0);
    window_ends(7 * S, 8 * S); /* 1 % of all attempts, though none was admitted */
    attempts(3, 10, 10, 7 * S);
    attempts(2, 1, 0, 7 * S);
    bench_free(&bench);
}
END_TEST

START_TEST(two_thousand_attempts_end_a_window)
{
    priority_of("1");
    attempts(1, 1, 1, 0);
    waited(0, S);
    attempts(2, 1998, 1998, S / 2);
    attempts(1, 1, 1, S / 2); /* the last of the window is still of it */
    attempts(1, 1, 0, S / 2);
    window_ends(S, S / 2 + S);
    waited(S, 0);
    window_ends(S / 2 + S, S / 2 + 2 * S);
    attempts(1, 1, 1, 2 * S);
    /* a wake-up less than 1 ms before the end of a window comes 1 ms later */
    bench.view.now = 2 * S;
    attempts(1, 1999, 1999, 2 * S);
    window_ends(3 * S - 500, 3 * S - 500 + MS);
    bench_free(&bench);
}
END_TEST

START_TEST(nobody_can_tell)
{
    priority_of("1");
    attempts(2, 10, 10, 0);
    attempts(1, 10, 10, 0);
    waited(0, S);
    window_ends(S, 2 * S);
    attempts(1, 10, 0, S);
    attempts(2, 10, 10, S);
    bench.view.waiting.calls = 3; /* no server took a call: it stays */
    window_ends(2 * S, 3 * S);
    attempts(1, 10, 0, 2 * S);
    attempts(2, 10, 10, 2 * S);
    bench.view.waiting.calls = 0; /* nobody waits either: no overload */
    window_ends(3 * S, 4 * S);
    attempts(1, 10, 10, 3 * S);
    window_ends(4 * S, 5 * S);
    window_ends(5 * S, 6 * S); /* nobody came: nothing moves */
    attempts(1, 1, 1, 5 * S);
    bench_free(&bench);
}
END_TEST

START_TEST(a_new_priority)
{
    priority_of("1");
    attempts(5, 10, 10, 0);
    attempts(3, 10, 10, 0);
    waited(0, S);
    window_ends(S, 2 * S);
    attempts(4, 1, 0, S); /* between: below the threshold, as that is right above the 3 */
    attempts(6, 1, 1, S);
    attempts(2, 1, 0, S);
    attempts(5, 1, 1, S);
    attempts(3, 1, 0, S);
    bench_free(&bench);
    priority_of("1"); /* all is open: so are new ones */
    for (int i = 0; i < 32; i++)
        attempts(100 - i, 1, 1, 0);
    attempts(200, 1, 1, 0); /* one too many is the nearest above, or the highest */
    attempts(1, 1, 1, 0);
    waited(0, S);
    window_ends(S, 2 * S); /* of 34, 32.3: the last row has two */
    attempts(1, 1, 0, S);
    attempts(69, 1, 0, S);
    attempts(70, 1, 1, S);
    attempts(200, 1, 1, S);
    bench_free(&bench);
}
END_TEST

/* A class is cut in the middle, by agent, and alike for all calls of one until the next shuffle. */
START_TEST(agents_have_levels)
{
    enum { AGENTS = 12800 };
    static bool before[AGENTS];
    unsigned let_in = 0, same = 0;
    priority_of("128");
    bench_set(&bench, "calls", "inf");
    attempts(1, AGENTS, AGENTS, 0);
    waited(0, S);
    window_ends(S, 2 * S);
    for (uint32_t i = 0; i < AGENTS; i++)
        let_in += before[i] = is_let_in(1, i, S);
    /* the levels of 1 / 128 that hold at most 95 %: a level is 100 +- 10 agents */
    ck_assert_uint_le(let_in, AGENTS * 95 / 100);
    ck_assert_uint_gt(let_in, AGENTS * 95 / 100 - 150);
    for (uint32_t i = 0; i < AGENTS; i++)
        ck_assert_int_eq(is_let_in(1, i, S), before[i]);
    for (uint32_t i = 0; i < AGENTS; i++)
        same += !before[i] && !is_let_in(1, i, 3600 * S);
    /* an hour later as many others: of those refused some 5 % again */
    ck_assert_uint_lt(same, (AGENTS - let_in) / 8);
    bench_free(&bench);
}
END_TEST

START_TEST(an_attempt_counts_once)
{
    struct policy_call *call;
    priority_of("1");
    bench_set(&bench, "calls", "3");
    call = urgent(1, 0);
    expect(bench_attempts(&bench, call, 0), POLICY_ADMIT, POLICY_NONE, NULL);
    waited(0, S);
    for (int i = 0; i < 5; i++) /* held by another member, it asks again */
        expect(bench_asks_again(&bench, call, 0), POLICY_ADMIT, POLICY_NONE, NULL);
    attempts(2, 1, 1, 0);
    expect(bench_attempts(&bench, call, 0), POLICY_ADMIT, POLICY_NONE, NULL); /* the third: the window is over */
    expect(bench_asks_again(&bench, call, 0), POLICY_DEFER, POLICY_NONE, "priority");
    attempts(2, 1, 1, 0); /* at most 2.85 of 3: without the two of priority 1 one is left */
    bench_free(&bench);
}
END_TEST

START_TEST(presets_of_priority)
{
    struct bench initial = bench_of("priority", NULL), dagor = bench_of("priority", NULL);
    ck_assert_str_eq(initial.ops->presets[0].name, "dagor");
    for (const char *const *setting = initial.ops->presets[0].settings; setting[0]; setting += 2)
        bench_set(&dagor, setting[0], setting[1]);
    ck_assert_mem_eq(initial.params, dagor.params, initial.ops->params_size);
    bench_free(&initial);
    bench_free(&dagor);
}
END_TEST

Suite *allotment_suite(void)
{
    Suite *suite = suite_create("allotment");
    TCase *test = tcase_create("allotment");

    tcase_add_test(test, a_tenants_minute);
    tcase_add_test(test, a_window_of_its_own);
    tcase_add_test(test, tenants_settle);
    tcase_add_test(test, what_a_cap_counts);
    tcase_add_test(test, the_dear_displace_the_cheap);
    tcase_add_test(test, five_percent_less_one_percent_more);
    tcase_add_test(test, two_thousand_attempts_end_a_window);
    tcase_add_test(test, nobody_can_tell);
    tcase_add_test(test, a_new_priority);
    tcase_add_test(test, agents_have_levels);
    tcase_add_test(test, an_attempt_counts_once);
    tcase_add_test(test, presets_of_priority);
    suite_add_tcase(suite, test);
    return suite;
}
