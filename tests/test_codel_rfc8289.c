/* test_codel_rfc8289.c - codel's law of RFC 8289: each step worked by hand, and the whole against a second telling of
 * it. */
#include <check.h>
#include <math.h>

#include "tests/oracles.h"
#include "tests/policy_bench.h"
#include "tests/suites.h"

/* In the dropping state since 1,100 ms, count 1, drop_next 1,200 ms. */
static struct bench rfc_dropping(void)
{
    struct bench bench = bench_codel("rfc8289", "dequeue", "5 ms", "100 ms");
    ck_assert(bench_takes(&bench, 900 * MS, 5 * MS - 1, 9));
    ck_assert(bench_takes(&bench, 1000 * MS, 5 * MS, 9)); /* first_above = 1,100 ms */
    ck_assert(bench_takes(&bench, 1100 * MS - 1, 90 * MS, 9));
    ck_assert(!bench_takes(&bench, 1100 * MS, 90 * MS, 9));
    ck_assert_double_eq(bench_gauge(&bench, "refusing"), 1);
    ck_assert_double_eq(bench_gauge(&bench, "count"), 1);
    return bench;
}

/* Three refusals, count 3: at 1,100, 1,200 and 1,200 + 100/sqrt(2) ms. */
static struct bench rfc_dropped_thrice(void)
{
    struct bench bench = rfc_dropping();
    ck_assert(bench_takes(&bench, 1100 * MS, 90 * MS, 8)); /* the next one in the same dequeue is served */
    ck_assert(bench_takes(&bench, 1200 * MS - 1, 90 * MS, 9));
    ck_assert(!bench_takes(&bench, 1200 * MS, 90 * MS, 9));
    ck_assert(bench_takes(&bench, 1200 * MS, 90 * MS, 8));
    ck_assert(bench_takes(&bench, INT64_C(1270710677), 90 * MS, 9));
    ck_assert(!bench_takes(&bench, INT64_C(1270710678), 90 * MS, 9));
    ck_assert_double_eq(bench_gauge(&bench, "count"), 3);
    return bench;
}

START_TEST(rfc_refuses_faster_by_the_square_root)
{
    struct bench bench = rfc_dropped_thrice();
    /* 1,270,710,678 + 100 ms / sqrt(3) */
    ck_assert(bench_takes(&bench, INT64_C(1328445704), 90 * MS, 9));
    /* A late dequeue catches up: due at 1,328.4, 1,378.4, 1,423.2 and 1,464.0 ms; the next at 1,501,788,341 ns. */
    for (uint64_t left = 9; left > 5; left--)
        ck_assert(!bench_takes(&bench, 1500 * MS, 90 * MS, left));
    ck_assert(bench_takes(&bench, 1500 * MS, 90 * MS, 5));
    ck_assert_double_eq(bench_gauge(&bench, "count"), 7);
    ck_assert(bench_takes(&bench, INT64_C(1501788340), 90 * MS, 9));
    ck_assert(!bench_takes(&bench, INT64_C(1501788341), 90 * MS, 9));
    ck_assert_double_eq(bench_gauge(&bench, "refused"), 8);
    bench_free(&bench);
}
END_TEST

START_TEST(rfc_leaves_below_the_target_and_when_empty)
{
    struct bench bench = rfc_dropping();
    ck_assert(bench_takes(&bench, 1250 * MS, 5 * MS - 1, 9)); /* overdue, but below */
    ck_assert_double_eq(bench_gauge(&bench, "refusing"), 0);
    ck_assert(bench_takes(&bench, 1260 * MS, 90 * MS, 9));
    ck_assert(!bench_takes(&bench, 1360 * MS, 90 * MS, 9));
    ck_assert(bench_takes(&bench, 1500 * MS, 90 * MS, 0)); /* overdue, but the last in line */
    ck_assert_double_eq(bench_gauge(&bench, "refusing"), 0);
    ck_assert(bench_takes(&bench, 1600 * MS, 90 * MS, 9));
    ck_assert(bench_takes(&bench, 1700 * MS - 1, 90 * MS, 9));
    ck_assert(!bench_takes(&bench, 1700 * MS, 90 * MS, 9));
    ck_assert(bench_asks(&bench, 1701 * MS, 0)); /* the line gave up */
    ck_assert_double_eq(bench_gauge(&bench, "refusing"), 0);
    ck_assert(bench_takes(&bench, 1900 * MS, 90 * MS, 9));
    bench_free(&bench);
}
END_TEST

/* Left with count 7, lastcount 1 and drop_next 1,501,788,341 ns; enters anew `after` that. */
static double count_on_entering(policy_time after)
{
    struct bench bench = rfc_dropped_thrice();
    policy_time now = INT64_C(1501788341) + after;
    double count;
    for (uint64_t left = 9; left > 5; left--)
        ck_assert(!bench_takes(&bench, 1500 * MS, 90 * MS, left));
    ck_assert(bench_takes(&bench, 1500 * MS, 90 * MS, 5));
    ck_assert(bench_takes(&bench, 1501 * MS, MS, 5));
    ck_assert(bench_takes(&bench, now - 100 * MS, 90 * MS, 9));
    ck_assert(!bench_takes(&bench, now, 90 * MS, 9));
    count = bench_gauge(&bench, "count");
    if (count > 1) { /* the schedule goes on at 100 ms / sqrt(6) */
        ck_assert(bench_takes(&bench, now + INT64_C(40824828), 90 * MS, 9));
        ck_assert(!bench_takes(&bench, now + INT64_C(40824829), 90 * MS, 9));
    } else {
        ck_assert(bench_takes(&bench, now + 100 * MS - 1, 90 * MS, 9));
        ck_assert(!bench_takes(&bench, now + 100 * MS, 90 * MS, 9));
    }
    bench_free(&bench);
    return count;
}

START_TEST(rfc_remembers_its_count_for_sixteen_intervals)
{
    ck_assert_double_eq(count_on_entering(200 * MS), 6);
    ck_assert_double_eq(count_on_entering(1600 * MS - 1), 6);
    ck_assert_double_eq(count_on_entering(1600 * MS), 1);
}
END_TEST

START_TEST(rfc_forgets_a_single_refusal)
{
    struct bench bench = rfc_dropping();
    ck_assert(!bench_takes(&bench, 1200 * MS, 90 * MS, 9));
    ck_assert_double_eq(bench_gauge(&bench, "count"), 2); /* one more than lastcount */
    ck_assert(bench_takes(&bench, 1201 * MS, MS, 9));
    ck_assert(bench_takes(&bench, 1210 * MS, 90 * MS, 9));
    ck_assert(!bench_takes(&bench, 1310 * MS, 90 * MS, 9));
    ck_assert_double_eq(bench_gauge(&bench, "count"), 1);
    bench_free(&bench);
}
END_TEST

/* The call behind a refused one ends the dropping state: drop_next has not moved on, and sixteen intervals count from
 * the refusal itself. */
START_TEST(rfc_moves_on_only_while_the_line_stands)
{
    for (policy_time early = 0; early < 2; early++) {
        struct bench bench = rfc_dropped_thrice();
        policy_time now = INT64_C(1270710678) + 1600 * MS - early;
        ck_assert(bench_takes(&bench, INT64_C(1270710678), MS, 8));
        ck_assert(bench_takes(&bench, now - 100 * MS, 90 * MS, 9));
        ck_assert(!bench_takes(&bench, now, 90 * MS, 9));
        ck_assert_double_eq(bench_gauge(&bench, "count"), early ? 2 : 1);
        bench_free(&bench);
    }
}
END_TEST

START_TEST(rfc_at_submission_gates_by_the_same_law)
{
    struct bench bench = bench_codel("rfc8289", "submission", "5 ms", "100 ms");
    ck_assert(bench_takes(&bench, 1000 * MS, 5 * MS, 9));
    ck_assert(bench_asks(&bench, 1100 * MS - 1, 9));
    ck_assert(bench_takes(&bench, 1099 * MS, 90 * MS, 9)); /* it sheds nobody that has waited */
    ck_assert(!bench_asks(&bench, 1150 * MS, 9));          /* one, and drop_next = 1,250 ms */
    ck_assert(bench_asks(&bench, 1150 * MS, 9));
    ck_assert(bench_asks(&bench, 1250 * MS - 1, 9));
    ck_assert(!bench_asks(&bench, 1250 * MS, 9));
    ck_assert(bench_asks(&bench, INT64_C(1320710677), 9));
    ck_assert(!bench_asks(&bench, INT64_C(1320710678), 9));
    ck_assert(bench_takes(&bench, 2000 * MS, 90 * MS, 9));
    ck_assert(!bench_asks(&bench, 2000 * MS, 9));
    ck_assert(bench_takes(&bench, 2000 * MS, 5 * MS - 1, 9));
    ck_assert(bench_asks(&bench, 2000 * MS, 9));
    ck_assert(bench_takes(&bench, 2100 * MS, 90 * MS, 9));
    ck_assert(!bench_asks(&bench, 2200 * MS, 9));
    ck_assert(bench_asks(&bench, 3000 * MS, 0)); /* the line emptied */
    ck_assert(bench_asks(&bench, 3000 * MS, 1));
    bench_free(&bench);
}
END_TEST

/* The same law once more, as the RFC tells it: a loop around a line that it owns. */
struct rfc_line {
    policy_time joined[1000];
    size_t head, tail;
    policy_time target, interval, first_above, drop_next;
    uint64_t count, last_count, dropped;
    bool dropping;
};

static policy_time rfc_after(policy_time from, policy_time interval, uint64_t count)
{
    return from + (policy_time)((double)interval / sqrt((double)count) + 0.5);
}

/* Takes one; may it be dropped? */
static bool rfc_take(struct rfc_line *line, policy_time now)
{
    policy_time sojourn = now - line->joined[line->head++];
    if (sojourn < line->target || line->head == line->tail) {
        line->first_above = 0;
        return false;
    }
    if (line->first_above == 0) {
        line->first_above = now + line->interval;
        return false;
    }
    return now >= line->first_above;
}

/* The index of the call that is served. */
static size_t rfc_dequeue(struct rfc_line *line, policy_time now)
{
    bool may_drop = rfc_take(line, now);
    if (!line->dropping) {
        if (may_drop) {
            uint64_t delta = line->count - line->last_count;
            line->dropped++;
            may_drop = rfc_take(line, now);
            line->dropping = true;
            line->count = delta > 1 && now - line->drop_next < 16 * line->interval ? delta : 1;
            line->drop_next = rfc_after(now, line->interval, line->count);
            line->last_count = line->count;
        }
        return line->head - 1;
    }
    line->dropping = may_drop;
    while (line->dropping && now >= line->drop_next) {
        line->dropped++;
        line->count++;
        line->dropping = rfc_take(line, now);
        if (line->dropping)
            line->drop_next = rfc_after(line->drop_next, line->interval, line->count);
    }
    return line->head - 1;
}

/* A line that grows and empties at random: both drop the same calls at the same times. Where the call behind the first
 * one dropped is below the target, the RFC notices at the next dequeue that it has left; the policy does at once. */
START_TEST(rfc_agrees_with_a_line_of_its_own)
{
    uint64_t state = (uint64_t)_i, dropped = 0;
    for (int round = 0; round < 200; round++) {
        struct bench bench = bench_codel("rfc8289", "dequeue", "5 ms", "100 ms");
        struct rfc_line line = {.target = 5 * MS, .interval = 100 * MS};
        policy_time now = MS, arrival = MS;
        size_t head = 0;
        for (size_t served = 0; served < 400; served++) {
            policy_time pace = (policy_time)(round % 10 + 6) * MS / 10;
            now += (policy_time)(oracle_random(&state) % (uint64_t)(20 * MS));
            while (arrival <= now && line.tail < 900) {
                line.joined[line.tail++] = arrival;
                arrival += (policy_time)(oracle_random(&state) % (uint64_t)(18 * pace));
            }
            if (line.head == line.tail)
                continue;
            size_t expected = rfc_dequeue(&line, now);
            while (!bench_takes(&bench, now, now - line.joined[head], line.tail - head - 1))
                head++;
            ck_assert_uint_eq(head++, expected);
        }
        ck_assert_double_eq(bench_gauge(&bench, "refused"), (double)line.dropped);
        dropped += line.dropped;
        bench_free(&bench);
    }
    ck_assert_uint_gt(dropped, 1000);
}
END_TEST

Suite *codel_rfc8289_suite(void)
{
    Suite *suite = suite_create("codel_rfc8289");
    TCase *rfc = tcase_create("rfc8289");
    tcase_add_test(rfc, rfc_refuses_faster_by_the_square_root);
    tcase_add_test(rfc, rfc_leaves_below_the_target_and_when_empty);
    tcase_add_test(rfc, rfc_remembers_its_count_for_sixteen_intervals);
    tcase_add_test(rfc, rfc_forgets_a_single_refusal);
    tcase_add_test(rfc, rfc_moves_on_only_while_the_line_stands);
    tcase_add_test(rfc, rfc_at_submission_gates_by_the_same_law);
    tcase_add_loop_test(rfc, rfc_agrees_with_a_line_of_its_own, 1, 4);
    suite_add_tcase(suite, rfc);
    return suite;
}
