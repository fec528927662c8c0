/* test_pacer_ends.c - pacer on the bench: the published rules 5 to 10 but 9, what a decision leads to, each at its
 * edges by hand. */
#include <check.h>

#include "tests/pacer_bench.h"
#include "tests/suites.h"

/* --- rules 5 and 6: debit and hint ------------------------------------------------------------------------------- */

START_TEST(who_is_let_in_is_debited_then)
{
    struct policy_call *call;
    BEGIN("r_tok", "1 tokens/h");
    call = prompt(1000);
    ck_assert_int_eq(bench_attempts(&bench, call, 0).action, POLICY_ADMIT);
    gauge_is("level_tok", 500e3); /* another member may refuse yet */
    bench_refuses(&bench, call, 0, POLICY_DEFER);
    gauge_is("level_tok", 500e3);
    gauge_is("in_flight", 0);
    lets_in(call, 0);
    gauge_is("level_tok", 499e3);
    gauge_is("level_req", 29);
    gauge_is("in_flight", 1000);
}
END_TEST

START_TEST(a_denied_call_asks_again_when_its_need_has_come)
{
    BEGIN("r_tok", "100 tokens/s", "c_burst", "1000", "c_req", "2", "r_qps", "1/s");
    drain(1000, 0);
    is_held(bench_attempts(&bench, prompt(10), 0), "tokens", 250 * MS);
    is_held(bench_attempts(&bench, prompt(25), 0), "tokens", 250 * MS);
    is_held(bench_attempts(&bench, prompt(300), 0), "tokens", 3 * S);
    is_held(bench_attempts(&bench, prompt(700), 0), "tokens", 5 * S);
    client_draws(0);
    is_held(bench_attempts(&bench, prompt(300), 0), "tokens", 3 * S * 3 / 4);
    is_held(bench_attempts(&bench, prompt(1), 0), "tokens", 250 * MS * 3 / 4);
    client_draws(0.75);
    is_held(bench_attempts(&bench, prompt(900), 0), "tokens", 5 * S * 9 / 8);
    client_draws(0.5);
    lets_in(prompt(0), 0);
    is_held(bench_attempts(&bench, prompt(10), 0), "tokens", S); /* the request is further away */
    is_held(bench_attempts(&bench, prompt(10), S / 2), "requests", S / 2);
    bench_steers(&bench, S / 2, "r_tok", 9);
    is_held(bench_attempts(&bench, prompt(70), S / 2), "tokens", 2222222223); /* never a moment too early */
}
END_TEST

/* --- rule 7: settling -------------------------------------------------------------------------------------------- */

START_TEST(real_counts_settle_the_charge)
{
    struct policy_call *call;
    BEGIN("r_tok", "1 tokens/h", "c_burst", "10k", "cached_weight", "0.1");
    call = prompt(4000);
    lets_in(call, 0);
    bench_ends_with(&bench, call, 0, POLICY_DONE, 3000, 1000, 50); /* 2000 + 100: a refund */
    gauge_is("level_tok", 10e3 - 2100);
    gauge_is("in_flight", 0);
    call = prompt(7000);
    lets_in(call, 0);
    bench_ends_with(&bench, call, 0, POLICY_DONE, 9500, 0, 0); /* below zero */
    gauge_is("level_tok", 7900 - 9500);
    bench_free(&bench);
    BEGIN("r_tok", "1k tokens/s", "c_burst", "10k");
    call = prompt(4000);
    lets_in(call, 0);
    bench_ends_with(&bench, call, 3 * S, POLICY_DONE, 1, 0, 0); /* never above full */
    gauge_is("level_tok", 10e3);
}
END_TEST

START_TEST(without_counts_the_charge_stays_spent)
{
    static const enum policy_end ends[] = {POLICY_ERROR, POLICY_TIMEOUT, POLICY_ABANDONED, POLICY_SHED,
                                           POLICY_DISPLACED};
    struct policy_call *call;
    BEGIN("r_tok", "1 tokens/h");
    for (int i = 0; i < 5; i++) {
        call = prompt(1000);
        lets_in(call, 0);
        bench_ends(&bench, call, 0, ends[i]);
        gauge_is("level_tok", 500e3 - 1000 * (i + 1));
        gauge_is("in_flight", 0);
    }
    /* Some hosts know what a call took that failed; a provider's error does not tell. */
    call = prompt(1000);
    lets_in(call, 0);
    bench_ends_with(&bench, call, 0, POLICY_ERROR, 1, 0, 0);
    gauge_is("level_tok", 500e3 - 6000);
}
END_TEST

/* --- rule 8: the hold cap ---------------------------------------------------------------------------------------- */

START_TEST(who_is_denied_at_its_cap_is_refused)
{
    struct policy_call *call;
    struct policy_answer answer;
    BEGIN("r_tok", "100 tokens/s", "c_burst", "1000");
    drain(1000, 0);
    call = head_of(900, 0);
    answer = at_its_cap(call, 9 * S - 1);
    ck_assert_int_eq(answer.action, POLICY_DEFER);
    ck_assert_int_eq(answer.after, 30 * S);
    ck_assert_str_eq(answer.reason, "tokens");
    gauge_is("expired", 1);
    lets_in(prompt(899), 9 * S - 1); /* it has left the line, wherever the host still shows it */
}
END_TEST

START_TEST(who_fits_at_its_cap_goes)
{
    struct policy_call *call;
    BEGIN("r_tok", "100 tokens/s", "c_burst", "1000");
    drain(1000, 0);
    call = head_of(900, 0);
    ck_assert_int_eq(at_its_cap(call, 9 * S).action, POLICY_ADMIT);
    gauge_is("expired", 0);
}
END_TEST

START_TEST(a_new_attempt_begins_anew)
{
    struct policy_call *call;
    BEGIN("r_tok", "100 tokens/s", "c_burst", "1000");
    drain(1000, 0);
    call = head_of(900, 0);
    at_its_cap(call, S);
    is_denied(bench_attempts(&bench, call, 2 * S), "tokens");
    ck_assert_int_eq(joins_held(call), 2 * S - 9 * S);
}
END_TEST

/* --- rule 10: overloads ------------------------------------------------------------------------------------------ */

START_TEST(an_overload_is_waited_out)
{
    static const int seconds[] = {30, 60, 90, 90, 90, 90};
    struct policy_call *call;
    policy_time now = S;
    BEGIN("r_tok", "1 tokens/h");
    call = prompt(1000);
    lets_in(call, 0);
    for (int i = 0; i < 6; i++) {
        ck_assert_int_eq(refused_by_provider(call, now, POLICY_NONE), seconds[i] * S);
        gauge_is("in_flight", 0); /* it gives back its place, and its charge stays spent */
        gauge_is("level_tok", 500e3 - 1000 * (i + 1) + (double)now / (3600.0 * S));
        gauge_is("overloads", i + 1);
        now += seconds[i] * S;
        is_held(bench_asks_again(&bench, call, now - 1), "overload", POLICY_LEAST);
        asks_again_and_goes(call, now);
        gauge_is("in_flight", 1000);
    }
    ck_assert_int_eq(refused_by_provider(call, now, POLICY_NONE), POLICY_NONE); /* then its client hears of it */
    gauge_is("overloads", 7);
    gauge_is("slow", 0); /* it never waited for the pacer */
    lets_in(call, now);
    ck_assert_int_eq(refused_by_provider(call, now, POLICY_NONE), 30 * S); /* a new attempt */
}
END_TEST

START_TEST(pauses_are_jittered)
{
    static const double draws[] = {0, 0.25, 0.75};
    for (int i = 0; i < 3; i++) {
        struct policy_call *call;
        BEGIN("r_tok", "1 tokens/h");
        call = prompt(1000);
        lets_in(call, 0);
        client_draws(draws[i]);
        ck_assert_int_eq(refused_by_provider(call, 0, POLICY_NONE), (policy_time)((0.75 + draws[i] / 2) * 30e9));
        bench_free(&bench);
    }
    BEGIN("r_tok", "1 tokens/h");
}
END_TEST

START_TEST(a_429_that_tells_a_time_is_the_clients)
{
    struct policy_call *call;
    BEGIN("r_tok", "1 tokens/h");
    call = prompt(1000);
    lets_in(call, 0);
    ck_assert_int_eq(refused_by_provider(call, 0, 5 * S), POLICY_NONE);
    gauge_is("overloads", 0);
    gauge_is("in_flight", 0);
}
END_TEST

/* It asks anew behind its pause, and is no waiter before. */
START_TEST(who_pauses_stands_behind_those_denied_before_it_wakes)
{
    struct policy_call *call, *other;
    BEGIN("r_tok", "100 tokens/s", "c_burst", "5000");
    call = prompt(5000);
    lets_in(call, 0);
    ck_assert_int_eq(refused_by_provider(call, 0, POLICY_NONE), 30 * S);
    ck_assert_int_eq(joins_held(call), 30 * S);
    bench.view.held.head = call;
    lets_in(prompt(1000), 10 * S); /* all of the level */
    bench.view.held.head = NULL;
    other = prompt(2000);
    is_denied(bench_attempts(&bench, other, 30 * S - 1), "tokens");
    ck_assert_int_lt(joins_held(other), 30 * S);
    bench.view.held.head = call; /* the other has left */
    is_denied(bench_asks_again(&bench, call, 30 * S), "tokens");
    is_denied(bench_attempts(&bench, prompt(2000), 30 * S), "tokens"); /* now it is one */
}
END_TEST

START_TEST(behind_an_overload_it_expires_with_another_time)
{
    struct policy_call *call;
    struct policy_answer answer;
    BEGIN("r_tok", "1 tokens/h", "c_burst", "1500");
    call = prompt(1000);
    lets_in(call, 0);
    refused_by_provider(call, 0, POLICY_NONE);
    is_denied(bench_asks_again(&bench, call, 30 * S), "tokens");
    answer = at_its_cap(call, 45 * S);
    ck_assert_int_eq(answer.action, POLICY_DEFER);
    ck_assert_int_eq(answer.after, 60 * S);
    ck_assert_str_eq(answer.reason, "tokens");
    ck_assert_int_eq(bench_attempts(&bench, call, 46 * S).action, POLICY_HOLD);
    ck_assert_int_eq(at_its_cap(call, 91 * S).after, 30 * S); /* of this attempt nobody had got a 429 */
}
END_TEST

/* A pause that would end past the cap is not begun: 30 s x 0.75 at the least, 30 s here. */
START_TEST(a_pause_ends_within_the_cap)
{
    struct policy_call *call;
    BEGIN("r_tok", "1 tokens/h");
    call = prompt(1000);
    lets_in(call, 0);
    call->hold_until = 50 * S - 1;
    ck_assert_int_eq(refused_by_provider(call, 20 * S, POLICY_NONE), POLICY_NONE);
    gauge_is("overloads", 1);
    call = prompt(1000);
    lets_in(call, 30 * S);
    call->hold_until = 80 * S;
    ck_assert_int_eq(refused_by_provider(call, 50 * S, POLICY_NONE), 30 * S);
}
END_TEST

/* Its cap was not told, and comes while it pauses: not even one that fits goes on. */
START_TEST(a_pause_does_not_end_early)
{
    struct policy_call *call;
    struct policy_answer answer;
    BEGIN("r_tok", "1 tokens/h");
    call = prompt(1000);
    lets_in(call, 0);
    ck_assert_int_eq(refused_by_provider(call, 20 * S, POLICY_NONE), 30 * S);
    answer = at_its_cap(call, 45 * S);
    ck_assert_int_eq(answer.action, POLICY_DEFER);
    ck_assert_int_eq(answer.after, 60 * S);
    ck_assert_str_eq(answer.reason, "overload");
    lets_in(call, 45 * S);
    call->last = true; /* let in at its cap: no time is left to wait */
    ck_assert_int_eq(refused_by_provider(call, 46 * S, POLICY_NONE), POLICY_NONE);
}
END_TEST

static void overload_at(policy_time now)
{
    struct policy_call *call = prompt(1);
    lets_in(call, now);
    refused_by_provider(call, now, POLICY_NONE);
}

/* The first of the line has asked since it came, or since its pause ended; and who pauses is no waiter. */
START_TEST(how_long_the_head_has_asked)
{
    struct policy_call *head, *other;
    BEGIN("r_tok", "100 tokens/s", "c_burst", "1000", "expires", "inf", "r_qps", "inf");
    bench_refreshes(&bench, S);
    gauge_is("head_wait", 0);
    other = prompt(1000);
    lets_in(other, 2 * S);
    head = head_of(900, 4 * S);
    bench_refreshes(&bench, 7 * S);
    gauge_is("head_wait", 3);
    is_denied(bench_asks_again(&bench, head, 8 * S), "tokens");
    bench_refreshes(&bench, 9 * S);
    gauge_is("head_wait", 5);
    bench.view.held.head = bench.view.held.tail = other; /* a pause of 30 s from 10 s on */
    ck_assert_int_eq(refused_by_provider(other, 10 * S, POLICY_NONE), 30 * S);
    joins_held(other);
    bench_refreshes(&bench, 40 * S);
    gauge_is("head_wait", 0);
    bench_refreshes(&bench, 41 * S);
    gauge_is("head_wait", 1);
    bench.view.held.head = bench.view.held.tail = NULL;
    bench_refreshes(&bench, 42 * S);
    gauge_is("head_wait", 0);
    bench.view.held.head = prompt(1); /* which another member of the chain held before it was asked */
    ((struct policy_call *)(uintptr_t)bench.view.held.head)->attempt = 1;
    bench_refreshes(&bench, 50 * S);
    gauge_is("head_wait", 0);
}
END_TEST

/* After 300 s its place is free; when it ends, it is settled. */
START_TEST(a_late_end_settles)
{
    const struct policy_outcome outcome = {POLICY_DONE, POLICY_NONE, 600, 0, 1};
    struct policy_call *call;
    BEGIN("r_tok", "1 tokens/h", "c_burst", "1000");
    call = prompt(900);
    lets_in(call, 0);
    bench_ends(&bench, call, 300 * S + 1, POLICY_EXPIRED);
    gauge_is("in_flight", 0);
    bench.view.now = 300 * S + 1;
    bench.ops->late(&bench.self, &bench.view, call, &outcome);
    gauge_is("in_flight", 0);
    ck_assert_double_eq_tol(bench_gauge(&bench, "level_tok"), 400, 0.1);
    gauge_is("kappa", 0.95 * 4.89 + 0.05 * 4.89 * 900 / 600);
}
END_TEST

START_TEST(overloads_are_counted_in_cells)
{
    BEGIN("c_req", "inf");
    bench_refreshes(&bench, 0);
    overload_at(0);
    overload_at(10 * S - 1);
    gauge_is("overloads_60", 0); /* the running cell is not whole */
    bench_refreshes(&bench, 10 * S);
    gauge_is("overloads_60", 2);
    overload_at(10 * S);
    gauge_is("overloads_60", 2);
    bench_refreshes(&bench, 20 * S);
    gauge_is("overloads_60", 3);
    bench_refreshes(&bench, 60 * S);
    gauge_is("overloads_60", 3);
    bench_refreshes(&bench, 70 * S); /* cells 1 to 6 */
    gauge_is("overloads_60", 1);
    bench_refreshes(&bench, 80 * S);
    gauge_is("overloads_60", 0);
    overload_at(89 * S);
    bench_refreshes(&bench, 1000 * S);
    gauge_is("overloads_60", 0);
    gauge_is("overloads", 4);
}
END_TEST

Suite *pacer_ends_suite(void)
{
    Suite *suite = suite_create("pacer_ends");
    TCase *test = tcase_create("pacer_ends");
    tcase_add_checked_fixture(test, NULL, teardown);
    tcase_add_test(test, who_is_let_in_is_debited_then);
    tcase_add_test(test, a_denied_call_asks_again_when_its_need_has_come);
    tcase_add_test(test, real_counts_settle_the_charge);
    tcase_add_test(test, without_counts_the_charge_stays_spent);
    tcase_add_test(test, who_is_denied_at_its_cap_is_refused);
    tcase_add_test(test, who_fits_at_its_cap_goes);
    tcase_add_test(test, a_new_attempt_begins_anew);
    tcase_add_test(test, an_overload_is_waited_out);
    tcase_add_test(test, pauses_are_jittered);
    tcase_add_test(test, a_429_that_tells_a_time_is_the_clients);
    tcase_add_test(test, who_pauses_stands_behind_those_denied_before_it_wakes);
    tcase_add_test(test, behind_an_overload_it_expires_with_another_time);
    tcase_add_test(test, a_pause_ends_within_the_cap);
    tcase_add_test(test, a_pause_does_not_end_early);
    tcase_add_test(test, how_long_the_head_has_asked);
    tcase_add_test(test, a_late_end_settles);
    tcase_add_test(test, overloads_are_counted_in_cells);
    suite_add_tcase(suite, test);
    return suite;
}
