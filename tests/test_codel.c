/* test_codel.c - codel on the bench: the rules of the law `persist` one by one, and what holds whatever the law. */
#include <check.h>
#include <string.h>

#include "sim/io/param.h"
#include "tests/oracles.h"
#include "tests/policy_bench.h"
#include "tests/suites.h"

/* --- codel, law persist ------------------------------------------------------------------------------------------ */

/* Refusing from t = 115 s on: the timer has run since 100 s. */
static struct bench persist_refusing(const char *place)
{
    struct bench bench = bench_codel("persist", place, "8 s", "15 s");
    ck_assert(bench_takes(&bench, 100 * S, 8 * S, 3));
    return bench;
}

START_TEST(persist_refuses_after_exactly_one_interval)
{
    struct bench bench = bench_codel("persist", "submission", "8 s", "15 s");
    ck_assert(bench_takes(&bench, 90 * S, 8 * S - 1, 3)); /* below the target by a nanosecond: no timer */
    ck_assert(bench_asks(&bench, 1000 * S, 3));
    ck_assert(bench_takes(&bench, 1000 * S, 8 * S, 3)); /* exactly the target: the timer runs */
    ck_assert(bench_asks(&bench, 1015 * S - 1, 3));
    ck_assert(bench_takes(&bench, 1010 * S, 9 * S, 3)); /* and is not started anew */
    ck_assert(!bench_asks(&bench, 1015 * S, 3));
    ck_assert(!bench_asks(&bench, 1016 * S, 3)); /* every one */
    ck_assert(bench_takes(&bench, 1017 * S, 20 * S, 3));
    ck_assert(!bench_asks(&bench, 1018 * S, 3));
    ck_assert_double_eq(bench_gauge(&bench, "refusing"), 1);
    ck_assert_double_eq(bench_gauge(&bench, "refused"), 3);
    ck_assert_double_eq(bench_gauge(&bench, "sojourn"), 20);
    bench_free(&bench);
}
END_TEST

START_TEST(persist_is_cleared_below_the_target)
{
    struct bench bench = persist_refusing("submission");
    ck_assert(!bench_asks(&bench, 115 * S, 3));
    ck_assert(bench_takes(&bench, 116 * S, 8 * S - 1, 3));
    ck_assert_double_eq(bench_gauge(&bench, "refusing"), 0);
    ck_assert(bench_asks(&bench, 116 * S, 3));
    ck_assert(bench_takes(&bench, 117 * S, 8 * S, 3)); /* a whole interval again */
    ck_assert(bench_asks(&bench, 132 * S - 1, 3));
    ck_assert(!bench_asks(&bench, 132 * S, 3));
    bench_free(&bench);
}
END_TEST

START_TEST(persist_is_cleared_when_the_line_empties)
{
    struct bench bench = persist_refusing("submission");
    ck_assert(!bench_asks(&bench, 115 * S, 3));
    ck_assert(bench_takes(&bench, 116 * S, 30 * S, 0));
    ck_assert(bench_asks(&bench, 116 * S, 1));
    ck_assert(bench_asks(&bench, 1000 * S, 1));
    bench_free(&bench);
}
END_TEST

START_TEST(persist_is_cleared_by_a_start_without_waiting)
{
    struct bench bench = persist_refusing("submission");
    ck_assert(!bench_asks(&bench, 115 * S, 3));
    ck_assert(bench_takes(&bench, 116 * S, 0, 2));
    ck_assert(bench_asks(&bench, 116 * S, 3));
    bench_free(&bench);
}
END_TEST

/* All servers stay busy and those in line gave up: nothing is dequeued that could clear the timer. */
START_TEST(persist_is_cleared_when_those_in_line_give_up)
{
    struct bench bench = persist_refusing("submission");
    ck_assert(!bench_asks(&bench, 115 * S, 3));
    ck_assert(bench_asks(&bench, 116 * S, 0));
    ck_assert_double_eq(bench_gauge(&bench, "refusing"), 0);
    ck_assert(bench_asks(&bench, 116 * S, 1));
    ck_assert(bench_asks(&bench, 1000 * S, 2));
    bench_free(&bench);
}
END_TEST

START_TEST(persist_at_dequeue_sheds_those_that_waited)
{
    struct bench bench = persist_refusing("dequeue");
    ck_assert(bench_asks(&bench, 115 * S, 9)); /* never at submission */
    ck_assert(bench_takes(&bench, 115 * S - 1, 9 * S, 9));
    ck_assert(!bench_takes(&bench, 115 * S, 9 * S, 9));
    ck_assert(!bench_takes(&bench, 115 * S, 8 * S, 8));
    ck_assert(bench_takes(&bench, 115 * S, 8 * S - 1, 7)); /* waited less than the target: served, and the end of it */
    ck_assert(bench_takes(&bench, 116 * S, 8 * S, 6));
    ck_assert(!bench_takes(&bench, 131 * S, 20 * S, 2));
    ck_assert(!bench_takes(&bench, 131 * S, 20 * S, 1));
    ck_assert(bench_takes(&bench, 131 * S, 20 * S, 0)); /* the last in line: servers must not run dry */
    ck_assert_double_eq(bench_gauge(&bench, "refused"), 4);
    ck_assert_double_eq(bench_gauge(&bench, "most_at_once"), 2);
    bench_free(&bench);
}
END_TEST

/* --- codel, whatever the law ------------------------------------------------------------------------------------- */

static const char *const laws[] = {"persist", "rfc8289"};
static const char *const places[] = {"submission", "dequeue"};
static const char *const edges[] = {"1 us", "1 ms", "8 s", "1000 s", "inf"};

/* A random gate of one server. It refuses nobody who finds the server idle, and never sheds the last in line. */
START_TEST(codel_keeps_servers_busy)
{
    uint64_t state = 1;
    for (int i = 0; i < 100; i++) {
        struct bench bench = bench_codel(laws[i % 2], places[i / 2 % 2], edges[i / 4 % 5], edges[i / 20]);
        policy_time line[64] = {0}, now = 0;
        size_t waiting = 0, busy = 0;
        bench.view.servers = 1;
        for (int step = 0; step < 4000; step++) {
            uint64_t word = oracle_random(&state);
            now += (policy_time)(word % (uint64_t)(4 * S));
            if (word >> 40 & 1) { /* somebody comes */
                bench.view.busy = busy;
                if (bench_asks(&bench, now, waiting)) {
                    if (waiting < 64)
                        line[waiting++] = now;
                } else {
                    ck_assert(busy == 1 && waiting > 0);
                }
            } else if (word >> 41 & 3) { /* an end of service */
                busy = 0;
            } else if (waiting > 0) { /* somebody gives up */
                waiting--;
            }
            while (busy == 0 && waiting > 0) {
                policy_time joined = line[0];
                memmove(line, line + 1, --waiting * sizeof line[0]);
                if (bench_takes(&bench, now, now - joined, waiting))
                    busy = 1;
                else
                    ck_assert(waiting > 0 && joined < now);
            }
        }
        ck_assert(bench_gauge(&bench, "refused") > 0 || i / 4 % 5 >= 3 || i / 20 >= 3);
        bench_free(&bench);
    }
}
END_TEST

/* At a metered pool nobody waits: nobody is shed, whatever another gate's line has taught a copy that serves both, and
 * that line is none the shorter for it. */
START_TEST(codel_never_sheds_at_a_metered_pool)
{
    for (int i = 0; i < 4; i++) {
        struct bench bench = bench_codel(laws[i % 2], places[i / 2], "8 s", "15 s");
        ck_assert(bench_takes(&bench, 100 * S, 9 * S, 3));
        bench.view.servers = 0;
        for (int k = 0; k < 100; k++) {
            ck_assert(bench_asks(&bench, (115 + k) * S, 0));
            ck_assert(bench_takes(&bench, (115 + k) * S, 0, 0));
        }
        ck_assert_double_eq(bench_gauge(&bench, "refused"), 0);
        ck_assert_double_eq(bench_gauge(&bench, "sojourn"), 9);
        bench.view.servers = SERVERS;
        ck_assert(!(i / 2 == 0 ? bench_asks(&bench, 215 * S, 3) : bench_takes(&bench, 215 * S, 9 * S, 3)));
        bench_free(&bench);
    }
}
END_TEST

/* However deep in the dropping state, it is over when the line is: within one interval nobody is refused again. */
START_TEST(codel_never_locks_up)
{
    for (int i = 0; i < 8; i++) {
        struct bench bench = bench_codel(laws[i % 2], places[i / 2 % 2], "8 s", "15 s");
        policy_time now = 100 * S;
        double refused;
        for (int step = 0; step < 10000; step++, now += S / 10) {
            bench_takes(&bench, now, 60 * S, 9);
            bench_asks(&bench, now, 9);
        }
        ck_assert_double_eq(bench_gauge(&bench, "refusing"), 1);
        refused = bench_gauge(&bench, "refused");
        if (i < 4)
            ck_assert(bench_takes(&bench, now, 60 * S, 0));
        else
            ck_assert(bench_asks(&bench, now, 0));
        for (int step = 0; step < 149; step++, now += S / 10) {
            ck_assert(bench_asks(&bench, now, 9));
            ck_assert(bench_takes(&bench, now, 60 * S, 9));
        }
        ck_assert_double_eq(bench_gauge(&bench, "refused"), refused);
        bench_free(&bench);
    }
}
END_TEST

/* Servers that are idle while others wait lack memory for a context, and change nothing. */
START_TEST(codel_admits_whoever_finds_nobody_waiting)
{
    for (int law = 0; law < 2; law++) {
        struct bench bench = bench_codel(laws[law], "submission", "8 s", "15 s");
        ck_assert(bench_takes(&bench, 100 * S, 8 * S, 3));
        ck_assert(!bench_asks(&bench, 200 * S, 3));
        bench.view.busy = SERVERS - 1;
        ck_assert(!bench_asks(&bench, 300 * S, 3));
        ck_assert(bench_asks(&bench, 300 * S, 0));
        bench_free(&bench);
    }
}
END_TEST

START_TEST(codel_of_no_bounds_never_refuses)
{
    for (int i = 0; i < 8; i++) {
        struct bench bench =
            bench_codel(laws[i % 2], places[i / 2 % 2], i < 4 ? "inf" : "1 us", i < 4 ? "1 us" : "inf");
        for (policy_time now = S; now < INT64_MAX / 4; now *= 3) {
            ck_assert(bench_takes(&bench, now, now, 9));
            ck_assert(bench_asks(&bench, now, 9));
        }
        bench_free(&bench);
    }
}
END_TEST

START_TEST(codel_obeys_live_values)
{
    for (int law = 0; law < 2; law++) {
        struct bench bench = bench_codel(laws[law], "submission", "8 s", "15 s");
        ck_assert(bench_takes(&bench, 100 * S, 8 * S, 3));
        ck_assert(!bench_asks(&bench, 115 * S, 3));
        ck_assert_ptr_null(param_set_number(param_find(bench.ops->params, "interval"), bench.params, 1000));
        ck_assert(bench_asks(&bench, 1100 * S - 1, 3));
        ck_assert_double_eq(bench_gauge(&bench, "refusing"), 0);
        ck_assert(!bench_asks(&bench, 1100 * S, 3));
        ck_assert_ptr_null(param_set_number(param_find(bench.ops->params, "target"), bench.params, 60));
        ck_assert(bench_takes(&bench, 1101 * S, 60 * S - 1, 3));
        ck_assert(bench_asks(&bench, 3000 * S, 3));
        bench_free(&bench);
    }
}
END_TEST

/* Steps of interval / sqrt(count) shrink below half a nanosecond after four million refusals: the schedule still gains
 * on the clock. */
START_TEST(codel_steps_are_at_least_a_nanosecond)
{
    struct bench bench = bench_codel("rfc8289", "submission", "1 us", "1 us");
    int64_t refusals = 0;
    ck_assert(bench_takes(&bench, S, MS, 9));
    ck_assert(!bench_asks(&bench, S + 1000, 9)); /* drop_next is 2,000 ns after 1 s */
    bench.view.now = S + 5 * MS;
    while (refusals < 6000000 &&
           bench.ops->admit(&bench.self, &bench.view, &bench.call).action == POLICY_DEFER) /* no check a step: slow */
        refusals++;
    ck_assert_int_gt(refusals, 4000000);
    ck_assert_int_lt(refusals, 6000000);
    bench_free(&bench);
}
END_TEST

Suite *codel_suite(void)
{
    Suite *suite = suite_create("codel");
    TCase *persist = tcase_create("persist");
    TCase *codel = tcase_create("either law");
    tcase_add_test(persist, persist_refuses_after_exactly_one_interval);
    tcase_add_test(persist, persist_is_cleared_below_the_target);
    tcase_add_test(persist, persist_is_cleared_when_the_line_empties);
    tcase_add_test(persist, persist_is_cleared_by_a_start_without_waiting);
    tcase_add_test(persist, persist_is_cleared_when_those_in_line_give_up);
    tcase_add_test(persist, persist_at_dequeue_sheds_those_that_waited);
    tcase_add_test(codel, codel_keeps_servers_busy);
    tcase_add_test(codel, codel_never_sheds_at_a_metered_pool);
    tcase_add_test(codel, codel_never_locks_up);
    tcase_add_test(codel, codel_admits_whoever_finds_nobody_waiting);
    tcase_add_test(codel, codel_of_no_bounds_never_refuses);
    tcase_add_test(codel, codel_obeys_live_values);
    tcase_add_test(codel, codel_steps_are_at_least_a_nanosecond);
    suite_add_tcase(suite, persist);
    suite_add_tcase(suite, codel);
    return suite;
}
