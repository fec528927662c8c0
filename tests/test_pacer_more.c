/* test_pacer_more.c - pacer on the bench: variants, presets, what planners read and set; rule 9, the store is down. */
#include <check.h>
#include <string.h>

#include "tests/pacer_bench.h"
#include "tests/suites.h"

/* --- variants, presets, what planners read ----------------------------------------------------------------------- */

START_TEST(without_fairness_who_fits_goes)
{
    BEGIN("r_tok", "100 tokens/s", "c_burst", "1000", "c_req", "2", "r_qps", "1/h", "fairness", "false");
    drain(800, 0);
    head_of(900, 0);
    lets_in(prompt(200), 0); /* with the last request */
}
END_TEST

/* Of none of the three. */
START_TEST(without_reservation_nothing_is_set_aside)
{
    BEGIN("r_tok", "100 tokens/s", "c_burst", "1000", "c_req", "3", "r_qps", "1/h", "reservation", "false",
          "k_inflight", "1000");
    drain(800, 0);
    head_of(900, 0);
    lets_in(prompt(200), 0);
    lets_in(prompt(0), 0); /* the last request */
    is_denied(bench_attempts(&bench, prompt(0), 0), "requests");
}
END_TEST

START_TEST(a_plain_cap_of_calls)
{
    struct policy_call *first;
    BEGIN("law", "concurrency", "concurrency", "2", "c_burst", "10", "k_inflight", "10", "c_req", "1");
    first = prompt(5000);
    lets_in(first, 0);
    lets_in(prompt(5000), 0);
    is_held(bench_attempts(&bench, prompt(1), 0), "concurrency", 250 * MS);
    bench_steers(&bench, 0, "concurrency", 3);
    lets_in(prompt(1), 0);
    ck_assert_int_eq(refused_by_provider(first, 0, POLICY_NONE), 30 * S);
    lets_in(prompt(1), 0);
    is_denied(bench_attempts(&bench, prompt(1), 0), "concurrency");
    gauge_is("level_tok", 10);
}
END_TEST

START_TEST(trusting_retry_after_alone)
{
    struct policy_call *call;
    BEGIN("law", "retry_after", "c_burst", "10", "k_inflight", "10", "c_req", "1");
    call = prompt(5000);
    lets_in(call, 0);
    for (int i = 0; i < 10; i++)
        lets_in(prompt(5000), 0);
    ck_assert_int_eq(refused_by_provider(call, S, 7 * S), 7 * S);
    is_held(bench_asks_again(&bench, call, 7 * S), "overload", S);
    asks_again_and_goes(call, 8 * S);
    ck_assert_int_eq(refused_by_provider(call, 9 * S, POLICY_NONE), 60 * S); /* the second */
    gauge_is("overloads", 1);
    ck_assert_int_eq(at_its_cap(call, 10 * S).after, 60 * S);
}
END_TEST

START_TEST(published_is_the_default)
{
    struct bench other;
    BEGIN("r_tok", "105k tokens/s", "c_burst", "1065000", "k_inflight", "2023500", "cached_weight", "0.1", "r_qps",
          "1.48/s");
    other = bench_of("pacer", NULL);
    for (const struct policy_preset *preset = other.ops->presets; preset->name; preset++) {
        struct bench preset_bench = bench_of("pacer", NULL);
        for (const char *const *setting = preset->settings; setting[0]; setting += 2)
            bench_set(&preset_bench, setting[0], setting[1]);
        if (strcmp(preset->name, "published") == 0)
            ck_assert_mem_eq(preset_bench.params, other.params, other.ops->params_size);
        else if (strcmp(preset->name, "laguna") == 0)
            ck_assert_mem_eq(preset_bench.params, bench.params, bench.ops->params_size);
        else
            ck_assert_str_eq(preset->name, "slots");
        bench_free(&preset_bench);
    }
    bench_free(&other);
}
END_TEST

START_TEST(slow_calls_are_counted)
{
    struct policy_call *call;
    BEGIN("r_tok", "100 tokens/s", "c_burst", "1000");
    drain(1000, 0);
    call = head_of(200, 0);
    asks_again_and_goes(call, 2 * S); /* not over 2 s */
    gauge_is("slow", 0);
    call = head_of(200, 2 * S);
    asks_again_and_goes(call, 4 * S + 1);
    gauge_is("slow", 1);
    gauge_is("admitted", 3);
    gauge_is("admitted_tokens", 1400);
}
END_TEST

static void operator_sets(policy_time now, const char *key, double value)
{
    ck_assert_ptr_null(param_set_number(param_find(bench.ops->params, key), bench.params, value));
    bench.ops->changed(&bench.self, now, key, POLICY_BY_OPERATOR);
}

START_TEST(seeds_and_their_age)
{
    BEGIN("seed_age", "2 h");
    gauge_is("seed_at", -7200);
    gauge_is("seed_r_tok", 20e3);
    gauge_is("seed_k_inflight", 1e6);
    gauge_is("seed_r_qps", 1.5);
    bench_steers(&bench, 60 * S, "r_tok", 21e3); /* a policy's rise is no news */
    bench_steers(&bench, 60 * S, "cached_weight", 0.5);
    gauge_is("seed_at", -7200);
    bench_steers(&bench, 70 * S, "r_tok", 20e3);
    gauge_is("seed_at", 70);
    bench_steers(&bench, 80 * S, "r_qps", 1);
    gauge_is("seed_at", 80);
    bench_steers(&bench, 90 * S, "k_inflight", 9e5);
    gauge_is("seed_at", 90);
    gauge_is("seed_r_tok", 20e3);
    gauge_is("seed_r_qps", 1.5);
    gauge_is("seed_k_inflight", 1e6);
    operator_sets(100 * S, "r_qps", 1.2); /* a seed, and fresh */
    gauge_is("seed_at", 100);
    gauge_is("seed_r_qps", 1.2);
    gauge_is("seed_r_tok", 20e3); /* those that others set are no seeds */
    operator_sets(110 * S, "r_tok", 30e3);
    operator_sets(120 * S, "k_inflight", 2e6);
    gauge_is("seed_r_tok", 30e3);
    gauge_is("seed_k_inflight", 2e6);
    operator_sets(130 * S, "c_req", 10);
    gauge_is("seed_at", 130);
    operator_sets(140 * S, "concurrency", 3);
    store_goes(150 * S, 1);
    gauge_is("seed_at", 130);
    bench_free(&bench);
    BEGIN("seed_age", "inf", "k_inflight", "inf");
    ck_assert_double_eq(bench_gauge(&bench, "seed_at"), (double)-INFINITY);
    ck_assert(isinf(bench_gauge(&bench, "seed_k_inflight")));
}
END_TEST

/* The new rate from then on; a level that fits stays. */
START_TEST(budgets_are_live)
{
    BEGIN("r_tok", "100 tokens/s", "c_burst", "1000", "r_qps", "1/s", "c_req", "10");
    drain(1000, 0);
    bench_steers(&bench, 2 * S, "r_tok", 10);
    gauge_is("level_tok", 200);
    bench_steers(&bench, 4 * S, "c_burst", 210);
    gauge_is("level_tok", 210);
    bench_steers(&bench, 5 * S, "c_burst", 2000);
    gauge_is("level_tok", 210);
    bench_steers(&bench, 5 * S, "r_tok", (double)INFINITY);
    bench_refreshes(&bench, 5 * S + 1);
    gauge_is("level_tok", 2000);
    bench_steers(&bench, 6 * S, "c_req", 4);
    gauge_is("level_req", 4);
    bench_steers(&bench, 6 * S, "k_inflight", 1000);
    is_denied(bench_attempts(&bench, prompt(1), 6 * S), "in_flight");
}
END_TEST

START_TEST(bounds_of_polls_go_together)
{
    BEGIN("poll_least", "6 s");
    ck_assert_ptr_nonnull(bench_checked(&bench));
    bench_set(&bench, "poll_most", "6 s");
    ck_assert_ptr_null(bench_checked(&bench));
}
END_TEST

/* --- rule 9: the store is down ----------------------------------------------------------------------------------- */

START_TEST(each_agent_paces_itself_while_the_store_is_down)
{
    struct policy_call *one, *next;
    BEGIN("r_tok", "1 tokens/h", "c_burst", "10");
    drain(10, 0);
    is_denied(bench_attempts(&bench, prompt(5), 0), "tokens");
    store_goes(S, 1);
    one = prompt(5000);
    lets_in(one, 2 * S);          /* its first: no gap yet */
    lets_in(prompt(5000), 2 * S); /* another agent's */
    next = prompt(1);
    next->agent_state = one->agent_state;
    is_held(bench_attempts(&bench, next, 10 * S), "local", 250 * MS); /* one at a time, however long ago it began */
    bench_ends(&bench, one, 10 * S, POLICY_DONE);
    asks_again_and_goes(next, 10 * S);
    bench_ends(&bench, next, 11 * S, POLICY_DONE);
    is_held(bench_attempts(&bench, next, 11 * S), "local", 1750 * MS); /* 2.5 x (0.8 + 0.6 / 2) from its last start */
    client_draws(0.9);
    is_held(bench_asks_again(&bench, next, 12750 * MS - 1), "local", POLICY_LEAST); /* drawn once */
    asks_again_and_goes(next, 12750 * MS);
    bench_ends(&bench, next, 12750 * MS, POLICY_DONE);
    client_draws(0);
    is_held(bench_attempts(&bench, next, 12750 * MS), "local", 2 * S);
    ck_assert_int_eq(at_its_cap(next, 13 * S).after, 30 * S);
    gauge_is("expired", 1);
    gauge_is("local", 4);
    gauge_is("admitted", 1);
    gauge_is("in_flight", 10);
}
END_TEST

/* A shim that dies takes what it knew along: the one behind it is not held up for a call that nobody waits for. Within
 * a turn (its parts) one still waits for the other. */
START_TEST(who_died_blocks_nobody_while_the_store_is_down)
{
    struct policy_call *dead, *next, *part;
    BEGIN("store", "down");
    dead = prompt(1000);
    lets_in(dead, S);
    part = prompt(1000);
    part->agent_state = dead->agent_state;
    is_held(bench_attempts(&bench, part, 20 * S), "local", 250 * MS);
    next = prompt(1000);
    next->agent_state = dead->agent_state;
    next->turn = dead->turn + 1;
    lets_in(next, 20 * S);
    bench_ends(&bench, dead, 301 * S, POLICY_EXPIRED); /* it is not the new one's */
    part->turn = next->turn;
    is_held(bench_attempts(&bench, part, 301 * S), "local", 250 * MS);
    bench_ends(&bench, next, 301 * S, POLICY_DONE);
    asks_again_and_goes(part, 310 * S);
}
END_TEST

/* Each that an outage left in flight expires by its own time (rule 1), give or take a cell; another outage changes
 * nothing of that. */
START_TEST(what_an_outage_strands_expires_one_by_one)
{
    static const int began[] = {0, 50, 100, 110, 140};
    const policy_time cell = 300 * S / 61 + 1;
    struct policy_call *calls[5];
    BEGIN("r_tok", "inf", "c_burst", "inf", "k_inflight", "100k", "r_qps", "inf", "c_req", "inf");
    for (int i = 0; i < 5; i++)
        lets_in(calls[i] = prompt(1000 << i), began[i] * S);
    store_goes(150 * S, 1);
    for (int i = 0; i < 5; i++)
        bench_ends_with(&bench, calls[i], (151 + i) * S, POLICY_DONE, 1000, 0, 0);
    store_goes(200 * S, 0);
    store_goes(210 * S, 1);
    store_goes(290 * S, 0);
    for (int i = 0; i < 5; i++) {
        bench_refreshes(&bench, (300 + began[i]) * S); /* it still counts */
        gauge_is("in_flight", (31 - ((1 << i) - 1)) * 1000);
        bench_refreshes(&bench, (300 + began[i]) * S + cell);
        gauge_is("in_flight", (31 - ((2 << i) - 1)) * 1000);
    }
}
END_TEST

/* What it held is there when it is back: the level has filled; calls that ended meanwhile could not say so and count
 * until they expire; those of the outage were never in it. */
START_TEST(an_outage_keeps_what_the_store_held)
{
    struct policy_call *ended, *lasting, *during;
    BEGIN("r_tok", "100 tokens/s", "c_burst", "10k", "k_inflight", "10k");
    ended = prompt(3000);
    lasting = prompt(2000);
    during = prompt(9000);
    lets_in(ended, 0);
    lets_in(lasting, 0);
    store_goes(10 * S, 1);
    lets_in(during, 11 * S);
    bench_ends_with(&bench, ended, 12 * S, POLICY_DONE, 1000, 0, 0);
    gauge_is("kappa", 4.89);
    store_goes(20 * S, 0);
    gauge_is("level_tok", 7000); /* 5000 + 2000, no refund */
    gauge_is("in_flight", 5000);
    bench_ends_with(&bench, during, 30 * S, POLICY_DONE, 9000, 0, 0);
    gauge_is("in_flight", 5000);
    gauge_is("level_tok", 8000);
    bench_ends_with(&bench, lasting, 30 * S, POLICY_DONE, 1000, 0, 0);
    gauge_is("in_flight", 3000);
    gauge_is("level_tok", 9000);
    bench_refreshes(&bench, 300 * S);
    gauge_is("in_flight", 3000);
    bench_refreshes(&bench, 305 * S);
    gauge_is("in_flight", 0);
}
END_TEST

Suite *pacer_more_suite(void)
{
    Suite *suite = suite_create("pacer_more");
    TCase *test = tcase_create("pacer_more");
    tcase_add_checked_fixture(test, NULL, teardown);
    tcase_add_test(test, without_fairness_who_fits_goes);
    tcase_add_test(test, without_reservation_nothing_is_set_aside);
    tcase_add_test(test, a_plain_cap_of_calls);
    tcase_add_test(test, trusting_retry_after_alone);
    tcase_add_test(test, published_is_the_default);
    tcase_add_test(test, slow_calls_are_counted);
    tcase_add_test(test, seeds_and_their_age);
    tcase_add_test(test, budgets_are_live);
    tcase_add_test(test, bounds_of_polls_go_together);
    tcase_add_test(test, each_agent_paces_itself_while_the_store_is_down);
    tcase_add_test(test, who_died_blocks_nobody_while_the_store_is_down);
    tcase_add_test(test, what_an_outage_strands_expires_one_by_one);
    tcase_add_test(test, an_outage_keeps_what_the_store_held);
    suite_add_tcase(suite, test);
    return suite;
}
