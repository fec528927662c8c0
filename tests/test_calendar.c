/* test_calendar.c - what happens next, by hand at the edges and against a plain array everywhere else. */
#include <check.h>
#include <signal.h>
#include <stdlib.h>

#include "sim/engine/calendar.h"
#include "sim/io/mem.h"
#include "tests/oracles.h"
#include "tests/suites.h"

#define MANY 1000 /* far above where the array becomes a heap */

static struct calendar calendar;

static void setup(void)
{
    calendar_init(&calendar, 7, 3);
}

static void teardown(void)
{
    calendar_fini(&calendar);
}

START_TEST(starts_empty_at_zero)
{
    ck_assert_int_eq(calendar_now(&calendar), 0);
    ck_assert_uint_eq(calendar.where.seed, 7);
    ck_assert_uint_eq(calendar.where.replication, 3);
    ck_assert_ptr_null(calendar_next(&calendar, 0));
    ck_assert_int_eq(calendar_now(&calendar), 0);
}
END_TEST

START_TEST(events_at_the_horizon_happen)
{
    struct event events[3] = {0};
    calendar_schedule(&calendar, &events[0], 11);
    calendar_schedule(&calendar, &events[1], 10);
    calendar_schedule(&calendar, &events[2], 10);
    ck_assert_ptr_null(calendar_next(&calendar, 9));
    ck_assert_int_eq(calendar_now(&calendar), 9);
    ck_assert_ptr_eq(calendar_next(&calendar, 10), &events[1]);
    ck_assert_ptr_eq(calendar_next(&calendar, 10), &events[2]);
    ck_assert_ptr_null(calendar_next(&calendar, 10));
    ck_assert(event_pending(&events[0]));
    ck_assert(!event_pending(&events[1]));
    ck_assert_uint_eq(calendar.where.event, 2);
}
END_TEST

START_TEST(time_stays_when_until_lies_in_the_past)
{
    struct event event = {0};
    calendar_schedule(&calendar, &event, 20);
    ck_assert_ptr_null(calendar_next(&calendar, 20 - 1));
    ck_assert_ptr_null(calendar_next(&calendar, 5));
    ck_assert_int_eq(calendar_now(&calendar), 19);
}
END_TEST

START_TEST(events_of_one_instant_are_counted)
{
    struct event events[4] = {0};
    calendar_schedule(&calendar, &events[0], 0);
    calendar_schedule(&calendar, &events[1], 0);
    calendar_schedule(&calendar, &events[2], 5);
    calendar_next(&calendar, SIM_NEVER);
    ck_assert_uint_eq(calendar.at_this_instant, 1);
    calendar_next(&calendar, SIM_NEVER);
    ck_assert_uint_eq(calendar.at_this_instant, 2);
    calendar_next(&calendar, 4);
    ck_assert_uint_eq(calendar.at_this_instant, 0);
    calendar_next(&calendar, 5);
    ck_assert_uint_eq(calendar.at_this_instant, 1);
    calendar_schedule(&calendar, &events[3], 5);
    calendar_next(&calendar, 5);
    ck_assert_uint_eq(calendar.at_this_instant, 2);
}
END_TEST

/* The structure changes on the way up and on the way down; the order of scheduling stays. */
START_TEST(ties_keep_their_order_through_both_structures)
{
    struct event *events = mem_zeroed(MANY, sizeof *events);
    for (size_t i = 0; i < MANY; i++)
        calendar_schedule(&calendar, &events[i], 42);
    ck_assert(calendar.heaped);
    for (size_t i = 0; i < MANY; i += 3)
        calendar_cancel(&calendar, &events[i]);
    for (size_t i = 0; i < MANY; i++)
        if (i % 3 != 0)
            ck_assert_ptr_eq(calendar_next(&calendar, 42), &events[i]);
    ck_assert(!calendar.heaped);
    ck_assert_ptr_null(calendar_next(&calendar, SIM_NEVER));
    free(events);
}
END_TEST

START_TEST(a_hovering_number_of_events_does_not_convert)
{
    struct event events[200] = {0};
    size_t most = 0;
    while (!calendar.heaped)
        calendar_schedule(&calendar, &events[most++], 1);
    calendar_cancel(&calendar, &events[0]);
    ck_assert(calendar.heaped);
    size_t cancelled = 1;
    while (calendar.heaped)
        calendar_cancel(&calendar, &events[cancelled++]);
    ck_assert_uint_le(most - cancelled, most / 2);
    calendar_schedule(&calendar, &events[0], 1);
    ck_assert(!calendar.heaped);
}
END_TEST

START_TEST(cancelling_an_idle_event_does_nothing)
{
    struct event events[2] = {0};
    calendar_cancel(&calendar, &events[0]);
    calendar_schedule(&calendar, &events[0], 1);
    calendar_schedule(&calendar, &events[1], 1);
    calendar_cancel(&calendar, &events[0]);
    calendar_cancel(&calendar, &events[0]);
    ck_assert_ptr_eq(calendar_next(&calendar, 1), &events[1]);
    calendar_cancel(&calendar, &events[1]);
    ck_assert_uint_eq(calendar.pending, 0);
}
END_TEST

START_TEST(scheduling_before_now_aborts)
{
    struct event event = {0};
    calendar_next(&calendar, 10);
    calendar_schedule(&calendar, &event, 9);
}
END_TEST

START_TEST(scheduling_a_scheduled_event_aborts)
{
    struct event event = {0};
    calendar_schedule(&calendar, &event, 9);
    calendar_schedule(&calendar, &event, 9);
}
END_TEST

START_TEST(agrees_with_a_plain_array)
{
    uint8_t bytes[4000];
    uint64_t random = (uint64_t)_i;
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)(oracle_random(&random) >> 56);
    ck_assert(oracle_calendar_agrees(bytes, sizeof bytes));
}
END_TEST

Suite *calendar_suite(void)
{
    Suite *suite = suite_create("calendar");
    TCase *edges = tcase_create("edges");
    tcase_add_checked_fixture(edges, setup, teardown);
    tcase_add_test(edges, starts_empty_at_zero);
    tcase_add_test(edges, events_at_the_horizon_happen);
    tcase_add_test(edges, time_stays_when_until_lies_in_the_past);
    tcase_add_test(edges, events_of_one_instant_are_counted);
    tcase_add_test(edges, ties_keep_their_order_through_both_structures);
    tcase_add_test(edges, a_hovering_number_of_events_does_not_convert);
    tcase_add_test(edges, cancelling_an_idle_event_does_nothing);
    tcase_add_test_raise_signal(edges, scheduling_before_now_aborts, SIGABRT);
    tcase_add_test_raise_signal(edges, scheduling_a_scheduled_event_aborts, SIGABRT);
    suite_add_tcase(suite, edges);
    TCase *life = tcase_create("against a plain array");
    tcase_add_loop_test(life, agrees_with_a_plain_array, 0, 40);
    suite_add_tcase(suite, life);
    return suite;
}
