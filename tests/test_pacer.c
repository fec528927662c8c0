/* test_pacer.c - pacer on the bench: the published rules 1 to 4, buckets, charge, line and what is needed, each at its
 * edges by hand. */
#include <check.h>

#include "tests/pacer_bench.h"
#include "tests/suites.h"

/* --- rule 1: buckets and places ---------------------------------------------------------------------------------- */

START_TEST(buckets_refill_up_to_their_size)
{
    BEGIN("r_tok", "100 tokens/s", "c_burst", "1000", "r_qps", "2/s", "c_req", "3");
    gauge_is("level_tok", 1000); /* missing is full */
    gauge_is("level_req", 3);
    drain(900, 0);
    gauge_is("level_tok", 100);
    gauge_is("level_req", 2);
    bench_refreshes(&bench, 4 * S);
    gauge_is("level_tok", 500);
    gauge_is("level_req", 3);
    bench_refreshes(&bench, 9 * S - 1);
    ck_assert_double_lt(bench_gauge(&bench, "level_tok"), 1000);
    bench_refreshes(&bench, 9 * S);
    gauge_is("level_tok", 1000);
    bench_refreshes(&bench, 900 * S);
    gauge_is("level_tok", 1000);
}
END_TEST

/* A place of exactly 300 s still counts, the charge stays spent. */
START_TEST(a_place_expires)
{
    struct policy_call *call;
    BEGIN("r_tok", "1 tokens/s", "k_inflight", "2000");
    call = prompt(1500);
    ck_assert_int_eq(bench_attempts(&bench, call, 0).action, POLICY_ADMIT);
    ck_assert_int_eq(bench_lets_in(&bench, call, 0), 300 * S + 1);
    is_held(bench_attempts(&bench, prompt(501), 300 * S), "in_flight", 250 * MS);
    bench_ends(&bench, call, 300 * S + 1, POLICY_EXPIRED);
    gauge_is("in_flight", 0);
    gauge_is("level_tok", 500e3 - 1500 + 300);
    lets_in(prompt(2000), 300 * S + 1);
}
END_TEST

START_TEST(places_may_live_for_ever)
{
    struct policy_call *call;
    BEGIN("expires", "inf");
    call = prompt(1);
    bench_attempts(&bench, call, 0);
    ck_assert_int_eq(bench_lets_in(&bench, call, 0), 0);
}
END_TEST

/* --- rule 2: the charge ------------------------------------------------------------------------------------------ */

START_TEST(an_estimate_is_by_kappa)
{
    struct policy_call *call;
    BEGIN("cached_weight", "0.1");
    call = prompt(1000);
    call->input_chars = 2 * 4890;
    lets_in(call, 0);
    gauge_is("in_flight", 2000);
    gauge_is("admitted_tokens", 2000); /* a first call has nothing in the cache */
    gauge_is("admitted", 1);
}
END_TEST

/* Cached is what the last prompt of the run really was. */
START_TEST(the_last_prompt_is_cached)
{
    struct policy_call *first, *second, *third;
    BEGIN("cached_weight", "0.1");
    first = prompt(1000);
    lets_in(first, 0);
    bench_ends_with(&bench, first, S, POLICY_DONE, 1000, 0, 10);
    second = prompt(1500);
    second->run_state = first->run_state;
    lets_in(second, 2 * S);
    gauge_is("admitted_tokens", 1000 + 500 + 100);
    gauge_is("in_flight", 1500);
    bench_ends_with(&bench, second, 3 * S, POLICY_DONE, 1500, 1000, 10);
    third = prompt(400); /* was compacted: all of it seems to be cached */
    third->run_state = first->run_state;
    lets_in(third, 4 * S);
    gauge_is("admitted_tokens", 1600 + 40);
    bench_ends(&bench, third, 5 * S, POLICY_TIMEOUT); /* nobody counted it */
    third = prompt(1600);
    third->run_state = first->run_state;
    lets_in(third, 6 * S);
    gauge_is("admitted_tokens", 1640 + 100 + 150);
}
END_TEST

START_TEST(kappa_is_learned_within_bounds)
{
    struct policy_call *call;
    BEGIN("c_burst", "500k");
    gauge_is("kappa", 4.89);
    call = prompt(1000);
    call->input_chars = 3000;
    lets_in(call, 0);
    bench_ends_with(&bench, call, S, POLICY_DONE, 1000, 0, 0);
    gauge_is("kappa", 0.95 * 4.89 + 0.05 * 3);
    for (int i = 0; i < 200; i++) {
        call = prompt(1000);
        call->input_chars = 100;
        lets_in(call, (2 + i) * S);
        bench_ends_with(&bench, call, (2 + i) * S, POLICY_DONE, 1000, 0, 0);
        ck_assert_double_ge(bench_gauge(&bench, "kappa"), 2);
    }
    gauge_is("kappa", 2);
    call = prompt(1000);
    call->input_chars = 125e3; /* 0.95 x 2 + 0.05 x 125 = 8.15 */
    lets_in(call, 300 * S);
    bench_ends_with(&bench, call, 300 * S, POLICY_DONE, 1000, 0, 0);
    gauge_is("kappa", 8);
    for (int i = 0; i < 4; i++) {
        static const enum policy_end ends[] = {POLICY_ERROR, POLICY_TIMEOUT, POLICY_ABANDONED, POLICY_DONE};
        call = prompt(1000);
        lets_in(call, (400 + i) * S); /* without counts nothing is learned */
        bench_ends_with(&bench, call, (400 + i) * S, ends[i], (double)NAN, (double)NAN, (double)NAN);
        gauge_is("kappa", 8);
    }
}
END_TEST

/* --- rule 3: the line -------------------------------------------------------------------------------------------- */

START_TEST(a_large_call_has_waited_longer)
{
    struct policy_call *large, *small;
    BEGIN("r_tok", "100 tokens/s", "c_burst", "1000");
    drain(1000, 0);
    small = prompt(200);
    large = prompt(900);
    is_denied(bench_attempts(&bench, small, 0), "tokens");
    is_denied(bench_attempts(&bench, large, S), "tokens");
    ck_assert_int_eq(joins_held(small), -2 * S);
    ck_assert_int_eq(joins_held(large), S - 9 * S);
    bench_steers(&bench, S, "r_tok", 1); /* it keeps what it had at its first denial */
    is_denied(bench_asks_again(&bench, large, 2 * S), "tokens");
    large->input_chars = 1;
    is_denied(bench_asks_again(&bench, large, 3 * S), "tokens");
    ck_assert_int_eq(joins_held(large), -8 * S);
}
END_TEST

/* Equal priorities stand in order of joining, which is that of first denial: 1 s is 100 tokens. */
START_TEST(ties_go_by_first_denial)
{
    struct policy_call *first, *second;
    BEGIN("r_tok", "100 tokens/s", "c_burst", "1000");
    drain(1000, 0);
    first = prompt(200);
    second = prompt(300);
    bench_attempts(&bench, first, 0);
    bench_attempts(&bench, second, S);
    ck_assert_int_eq(joins_held(first), joins_held(second));
}
END_TEST

START_TEST(the_line_is_that_of_held_calls)
{
    struct policy_call *call;
    BEGIN("r_tok", "inf", "c_req", "1", "r_qps", "1/h");
    drain(1, 0);
    call = prompt(900e3);
    is_denied(bench_attempts(&bench, call, 5 * S), "requests");
    ck_assert_int_eq(joins_held(call), 5 * S); /* at a rate without end nothing takes time */
    ck_assert_int_eq(bench.ops->rank(&bench.self, &bench.view, call, false), 0);
    bench_free(&bench);
    BEGIN("fairness", "false", "c_burst", "1000");
    drain(1000, 0);
    ck_assert_int_eq(joins_held(head_of(200, 3 * S / 1000)), 0); /* as they come */
}
END_TEST

/* --- rule 4: what is needed -------------------------------------------------------------------------------------- */

/* A charge of exactly the level goes, a nanosecond earlier it does not. */
START_TEST(a_charge_of_exactly_the_level)
{
    BEGIN("r_tok", "100 tokens/s", "c_burst", "1000");
    drain(1000, 0);
    is_denied(bench_attempts(&bench, prompt(300), 3 * S - 1), "tokens");
    lets_in(prompt(300), 3 * S);
    gauge_is("level_tok", 0);
    gauge_is("admitted", 2);
}
END_TEST

START_TEST(an_oversize_call_goes_alone_at_a_full_bucket)
{
    struct policy_call *large, *sibling;
    BEGIN("r_tok", "100 tokens/s", "c_burst", "1000");
    drain(100, 0);
    large = head_of(2500, S - 1);
    asks_again_and_goes(large, S);
    gauge_is("level_tok", -1500); /* the debt is paid by those behind */
    bench.view.held.head = NULL;
    is_held(bench_attempts(&bench, prompt(100), 2 * S), "tokens", 5 * S);
    is_denied(bench_attempts(&bench, prompt(100), 17 * S - 1), "tokens");
    lets_in(prompt(100), 17 * S);
    /* The hole of the published rule: what is set aside for an oversize head is cut to a full bucket, too. */
    bench_free(&bench);
    BEGIN("r_tok", "100 tokens/s", "c_burst", "1000");
    drain(100, 0);
    large = head_of(2500, 0);
    sibling = prompt(10);
    is_denied(bench_attempts(&bench, sibling, S - 1), "tokens");
    asks_again_and_goes(sibling, S);
}
END_TEST

/* The head needs its own, others what is above. */
START_TEST(tokens_are_set_aside_for_the_head)
{
    struct policy_call *head;
    BEGIN("r_tok", "100 tokens/s", "c_burst", "1000");
    drain(1000, 0);
    head = head_of(300, 0);
    is_held(bench_attempts(&bench, prompt(200), 3 * S), "tokens", 2 * S); /* 500 - 300 */
    is_denied(bench_attempts(&bench, prompt(200), 5 * S - 1), "tokens");
    lets_in(prompt(200), 5 * S);
    asks_again_and_goes(head, 5 * S);
    gauge_is("level_tok", 0);
}
END_TEST

START_TEST(one_request_is_left_for_two)
{
    struct policy_call *head, *other;
    BEGIN("r_qps", "1/s", "c_req", "2");
    drain(1, 0);
    drain(1, 0);
    head = head_of(1, 0);
    other = prompt(1);
    is_held(bench_attempts(&bench, other, S), "requests", S); /* it needs two */
    asks_again_and_goes(head, S);                             /* and the head one */
    gauge_is("level_req", 0);
    bench.view.held.head = other; /* now it is the head itself, which does not lock it out */
    is_denied(bench_asks_again(&bench, other, 2 * S - 1), "requests");
    asks_again_and_goes(other, 2 * S);
}
END_TEST

START_TEST(room_in_flight_is_set_aside_for_the_head)
{
    struct policy_call *running, *head;
    BEGIN("k_inflight", "1000");
    running = prompt(600);
    lets_in(running, 0);
    lets_in(prompt(100), 0);
    is_held(bench_attempts(&bench, prompt(301), S), "in_flight", 250 * MS);
    lets_in(prompt(300), S); /* exactly */
    gauge_is("in_flight", 1000);
    head = head_of(500, 2 * S);
    bench_ends(&bench, running, 3 * S, POLICY_DONE);
    is_denied(bench_attempts(&bench, prompt(101), 3 * S), "in_flight"); /* 400 + 101 + 500 */
    lets_in(prompt(100), 3 * S);
    asks_again_and_goes(head, 3 * S);
    gauge_is("in_flight", 1000);
}
END_TEST

START_TEST(an_oversize_call_goes_when_nothing_is_in_flight)
{
    struct policy_call *running, *large;
    BEGIN("k_inflight", "1000");
    running = prompt(1);
    lets_in(running, 0);
    large = head_of(5000, 0);
    bench_ends(&bench, running, S, POLICY_DONE);
    asks_again_and_goes(large, S);
    gauge_is("in_flight", 5000);
    is_denied(bench_attempts(&bench, prompt(0), S), "in_flight");
}
END_TEST

/* The charge may be small where the estimate is not: each axis has its own of the head. */
START_TEST(the_head_keeps_charge_and_estimate)
{
    struct policy_call *first, *head;
    BEGIN("r_tok", "100 tokens/s", "c_burst", "1000", "cached_weight", "0.1", "k_inflight", "1500");
    first = prompt(900);
    lets_in(first, 0);
    bench_ends(&bench, first, 0, POLICY_DONE);
    drain(90, 0);
    head = prompt(1000);
    head->run_state = first->run_state;
    is_denied(bench_attempts(&bench, head, 0), "tokens"); /* 100 + 0.1 x 900 of 10 */
    ck_assert_int_eq(joins_held(head), -19 * S / 10);
    bench.view.held.head = head;
    is_denied(bench_attempts(&bench, prompt(410), 59 * S / 10 - 1), "tokens");
    is_denied(bench_attempts(&bench, prompt(411), 60 * S), "in_flight"); /* 90 + 411 + 1000 */
    lets_in(prompt(410), 59 * S / 10 + 60 * S);
}
END_TEST

START_TEST(the_first_axis_that_fails_is_named)
{
    BEGIN("r_tok", "1 tokens/s", "c_burst", "1000", "c_req", "1", "r_qps", "1/h", "k_inflight", "1000");
    drain(1000, 0);
    is_denied(bench_attempts(&bench, prompt(500), 499 * S), "tokens");
    is_denied(bench_attempts(&bench, prompt(500), 500 * S), "requests");
    is_denied(bench_attempts(&bench, prompt(500), 3600 * S), "in_flight");
}
END_TEST

/* A head that pauses behind a 429, or is held by another member, waits for nothing of ours. */
START_TEST(only_who_was_denied_is_a_waiter)
{
    struct policy_call *other;
    BEGIN("r_tok", "100 tokens/s", "c_burst", "1000");
    drain(800, 0);
    other = prompt(150);
    other->attempt = 1;
    bench.view.now = 0;
    ck_assert_int_eq(joins_held(other), -3 * S / 2); /* yet its place is that of its charge */
    bench.view.held.head = other;
    lets_in(prompt(200), 0);
}
END_TEST

START_TEST(whoever_left_the_line_is_forgotten)
{
    static const enum policy_end ends[] = {POLICY_TIMEOUT, POLICY_ABANDONED};
    for (int i = 0; i < 2; i++) {
        struct policy_call *head;
        BEGIN("r_tok", "100 tokens/s", "c_burst", "1000");
        drain(800, 0);
        head = head_of(900, 0);
        bench_ends(&bench, head, 0, ends[i]);
        gauge_is("level_tok", 200); /* it had nothing */
        lets_in(prompt(200), 0);
        bench_free(&bench);
    }
    BEGIN("r_tok", "100 tokens/s"); /* for teardown */
}
END_TEST

Suite *pacer_suite(void)
{
    Suite *suite = suite_create("pacer");
    TCase *test = tcase_create("pacer");
    tcase_add_checked_fixture(test, NULL, teardown);
    tcase_add_test(test, buckets_refill_up_to_their_size);
    tcase_add_test(test, a_place_expires);
    tcase_add_test(test, places_may_live_for_ever);
    tcase_add_test(test, an_estimate_is_by_kappa);
    tcase_add_test(test, the_last_prompt_is_cached);
    tcase_add_test(test, kappa_is_learned_within_bounds);
    tcase_add_test(test, a_large_call_has_waited_longer);
    tcase_add_test(test, ties_go_by_first_denial);
    tcase_add_test(test, the_line_is_that_of_held_calls);
    tcase_add_test(test, a_charge_of_exactly_the_level);
    tcase_add_test(test, an_oversize_call_goes_alone_at_a_full_bucket);
    tcase_add_test(test, tokens_are_set_aside_for_the_head);
    tcase_add_test(test, one_request_is_left_for_two);
    tcase_add_test(test, room_in_flight_is_set_aside_for_the_head);
    tcase_add_test(test, an_oversize_call_goes_when_nothing_is_in_flight);
    tcase_add_test(test, the_head_keeps_charge_and_estimate);
    tcase_add_test(test, the_first_axis_that_fails_is_named);
    tcase_add_test(test, only_who_was_denied_is_a_waiter);
    tcase_add_test(test, whoever_left_the_line_is_forgotten);
    suite_add_tcase(suite, test);
    return suite;
}
