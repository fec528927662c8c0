/* test_fair_queue.c - fair_queue on the bench: tags worked by hand from the definition, and what is given back. */
#include <check.h>

#include "tests/line_bench.h"
#include "tests/suites.h"

static void expect_order(struct line *line, const char *order)
{
    ck_assert_str_eq(line_order(line, 1000 * S), order);
}

static void expect_virtual(const struct bench *bench, double tokens)
{
    ck_assert_double_eq(bench_gauge(bench, "virtual_time"), tokens);
}

/* Start tags: of 0: 0 100 200 300; of 1: 0 250; of 2: 0 10 20. Ties go in order of joining. */
START_TEST(tags_by_hand)
{
    struct bench bench = bench_of("fair_queue", NULL);
    struct line line = line_of(&bench);
    for (int i = 0; i < 4; i++)
        line_joins(&line, 0, 100, i);
    for (int i = 0; i < 2; i++)
        line_joins(&line, 1, 250, 10 + i);
    for (int i = 0; i < 3; i++)
        line_joins(&line, 2, 10, 20 + i);
    static const int64_t tags[] = {0, 0, 0, 10, 20, 100, 200, 250, 300};
    for (size_t i = 0; i < line.count; i++)
        ck_assert_int_eq(line.ranks[i], tags[i] * 1000000);
    expect_order(&line, "012220010");
    expect_virtual(&bench, 300);
    bench_free(&bench);
}
END_TEST

/* Who comes later starts from the virtual time, the start tag of the call taken last: no credit for the quiet time, and
 * no debt but its own last call's. */
START_TEST(virtual_time_by_hand)
{
    struct bench bench = bench_of("fair_queue", NULL);
    struct line line = line_of(&bench);
    for (int i = 0; i < 5; i++)
        line_joins(&line, 0, 100, i); /* 0 100 200 300 400 */
    for (int i = 0; i < 3; i++)
        ck_assert_uint_eq(line_takes(&line, 10 * S)->agent, 0);
    expect_virtual(&bench, 200);
    line_joins(&line, 1, 150, 11 * S); /* 200 */
    line_joins(&line, 1, 10, 11 * S);  /* 350 */
    line_joins(&line, 0, 1, 11 * S);   /* 500 */
    ck_assert_int_eq(line.ranks[0], 200 * INT64_C(1000000));
    expect_order(&line, "10100");
    expect_virtual(&bench, 500);
    line_joins(&line, 1, 1, 12 * S); /* its own finish tag, 360, has passed: 500 */
    line_joins(&line, 0, 1, 12 * S); /* 501 */
    ck_assert_int_eq(line.ranks[0], 500 * INT64_C(1000000));
    ck_assert_int_eq(line.ranks[1], 501 * INT64_C(1000000));
    bench_free(&bench);
}
END_TEST

/* When nobody is served or waits, virtual time is the largest finish tag: all begin alike again. */
START_TEST(nobody_owes_after_an_idle_time)
{
    for (int idle = 0; idle < 2; idle++) {
        struct bench bench = bench_of("fair_queue", NULL);
        struct line line = line_of(&bench);
        line_joins(&line, 0, 100, 0);
        line_joins(&line, 1, 700, 0);
        expect_order(&line, "01");
        bench.view.busy = idle ? 0 : 7; /* as a call is let in */
        line_served_at_once(&line, 2, 5, 2000 * S);
        expect_virtual(&bench, idle ? 700 : 0);
        bench.view.busy = 8;
        line_joins(&line, 1, 10, 2001 * S);
        line_joins(&line, 0, 10, 2001 * S);
        expect_order(&line, idle ? "10" : "01");
        bench_free(&bench);
    }
}
END_TEST

/* With weights 4 and 1 a flow is served four times as often; the weight is that of the call. */
START_TEST(weights_by_hand)
{
    static const char *const weights[] = {"value", "priority", "equal"};
    for (size_t k = 0; k < 3; k++) {
        struct bench bench = bench_of("fair_queue", "weights", weights[k], "by", k ? "class" : "tenant", NULL);
        struct line line = line_of(&bench);
        for (uint32_t i = 0; i < 10; i++) {
            struct policy_call *call = line_call(&line, i / 5, 60, 40);
            call->value = call->priority = i < 5 ? 4 : 1;
            line_joins_as(&line, call, i);
        }
        expect_order(&line, k < 2 ? "0100001111" : "0101010101"); /* 0 25 50 75 100, 0 100 200 300 400 */
        struct policy_call *none = line_call(&line, 2, 0, 1);
        none->value = none->priority = 0; /* counts as a thousandth */
        line_joins_as(&line, none, 1);
        line_joins(&line, 2, 1, 1);
        ck_assert_int_eq(line.ranks[1] - line.ranks[0], k < 2 ? 1000 * INT64_C(1000000) : 1000000);
        bench_free(&bench);
    }
}
END_TEST

START_TEST(meters_count_what_they_say)
{
    static const char *const meters[] = {"requests", "input", "output", "total"};
    static const int64_t costs[] = {1, 30, 7, 37};
    for (size_t k = 0; k < 4; k++) {
        struct bench bench = bench_of("fair_queue", "meter", meters[k], NULL);
        struct line line = line_of(&bench);
        line_joins_as(&line, line_call(&line, 0, 30, 7), 0);
        line_joins_as(&line, line_call(&line, 0, 30, 7), 0);
        ck_assert_int_eq(line.ranks[1] - line.ranks[0], costs[k] * 1000000);
        bench_free(&bench);
    }
}
END_TEST

/* A call that nobody served costs nothing: at once if it was its flow's last, else the flow's next call makes up for
 * it. One that a server took costs what it costs, however it ended. */
START_TEST(what_nobody_served_is_given_back)
{
    static const enum policy_end ends[] = {POLICY_TIMEOUT, POLICY_ABANDONED, POLICY_DISPLACED};
    for (size_t k = 0; k < 3; k++) {
        struct bench bench = bench_of("fair_queue", NULL);
        struct line line = line_of(&bench);
        struct policy_call *first = line_joins(&line, 0, 100, 0);
        line_joins(&line, 0, 40, 0);                            /* 100 */
        struct policy_call *last = line_joins(&line, 0, 50, 0); /* 140 */
        line_ends(&line, last, 1, ends[k]);
        line_joins(&line, 0, 50, 1);
        ck_assert_int_eq(line.ranks[2], 140 * INT64_C(1000000));
        line_ends(&line, first, 2, ends[k]);
        line_joins(&line, 0, 50, 2); /* 190 - 50: not before the one that waits */
        ck_assert_int_eq(line.ranks[2], 140 * INT64_C(1000000));
        line_joins(&line, 0, 50, 2); /* 190 - 50: all of the 100 is back now */
        ck_assert_int_eq(line.ranks[3], 140 * INT64_C(1000000));
        line_joins(&line, 0, 50, 2);
        ck_assert_int_eq(line.ranks[4], 190 * INT64_C(1000000));
        bench_free(&bench);
    }
    struct bench bench = bench_of("fair_queue", NULL);
    struct line line = line_of(&bench);
    line_joins(&line, 0, 100, 0);
    line_ends(&line, line_takes(&line, 1), 2, POLICY_TIMEOUT);
    line_joins(&line, 0, 50, 3);
    ck_assert_int_eq(line.ranks[0], 100 * INT64_C(1000000));
    bench_free(&bench);
}
END_TEST

/* What is given back is no credit to keep: it is gone when virtual time has passed the flow. */
START_TEST(what_was_given_back_is_not_saved)
{
    struct bench bench = bench_of("fair_queue", NULL);
    struct line line = line_of(&bench);
    struct policy_call *first = line_joins(&line, 0, 100, 0);
    line_joins(&line, 0, 10, 0); /* 100 */
    line_ends(&line, first, 1, POLICY_TIMEOUT);
    for (int i = 0; i < 5; i++)
        line_joins(&line, 1, 500, 2); /* 0 500 1000 1500 2000 */
    for (int i = 0; i < 4; i++)
        line_takes(&line, 3);
    expect_virtual(&bench, 1000);
    line_joins(&line, 0, 10, 4);
    line_joins(&line, 0, 10, 4);
    ck_assert_int_eq(line.ranks[0], 1000 * INT64_C(1000000));
    ck_assert_int_eq(line.ranks[1], 1010 * INT64_C(1000000));
    bench_free(&bench);
}
END_TEST

/* Tags beyond what a rank can hold: they stop, and the line is first come, first served. */
START_TEST(tags_do_not_overflow)
{
    struct bench bench = bench_of("fair_queue", "weights", "value", NULL);
    struct line line = line_of(&bench);
    for (int i = 0; i < 10000; i++) {
        struct policy_call *call = line_call(&line, 0, 1e300, 1e300);
        call->value = 0;
        line_joins_as(&line, call, i);
        ck_assert_int_le(line.ranks[0], 8 * INT64_C(1000000000000000000)); /* a call's cost can still be added */
        ck_assert_ptr_eq(line_takes(&line, i), call);
    }
    line_joins(&line, 0, 5, 20000);
    line_joins(&line, 1, 5, 20000);
    line_joins(&line, 0, 5, 20000);
    expect_order(&line, "010");
    bench_free(&bench);
}
END_TEST

/* A retry that passes by the policies is only ranked; it has tags too. */
START_TEST(a_call_that_was_never_let_in_has_tags)
{
    struct bench bench = bench_of("fair_queue", NULL);
    struct line line = line_of(&bench);
    struct policy_call *call = line_joins(&line, 0, 100, 0);
    line_ends(&line, call, 1, POLICY_TIMEOUT);
    line_joins(&line, 0, 30, 2);
    call->attempt++;
    ck_assert_int_eq(bench.ops->rank(&bench.self, &bench.view, call, true), 0); /* held: in order of joining */
    ck_assert_int_eq(bench.ops->rank(&bench.self, &bench.view, call, false), 30 * INT64_C(1000000));
    ck_assert_int_eq(bench.ops->rank(&bench.self, &bench.view, call, false), 30 * INT64_C(1000000));
    bench_free(&bench);
}
END_TEST

Suite *fair_queue_suite(void)
{
    Suite *suite = suite_create("fair_queue");
    TCase *test = tcase_create("fair_queue");
    tcase_add_test(test, tags_by_hand);
    tcase_add_test(test, virtual_time_by_hand);
    tcase_add_test(test, nobody_owes_after_an_idle_time);
    tcase_add_test(test, weights_by_hand);
    tcase_add_test(test, meters_count_what_they_say);
    tcase_add_test(test, what_nobody_served_is_given_back);
    tcase_add_test(test, what_was_given_back_is_not_saved);
    tcase_add_test(test, tags_do_not_overflow);
    tcase_add_test(test, a_call_that_was_never_let_in_has_tags);
    suite_add_tcase(suite, test);
    return suite;
}
