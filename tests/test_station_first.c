/* test_station_first.c - jobs with a first part of a known length: a few by hand, and lines beside exact recursions. */
#include <check.h>
#include <signal.h>
#include <stdlib.h>

#include "sim/engine/queue.h"
#include "sim/engine/station.h"
#include "sim/io/mem.h"
#include "tests/oracles.h"
#include "tests/suites.h"

#define JOBS 12
#define CUSTOMERS 20000

static const double halves[] = {0, 1, 0.5, 0.25, 0.25};

/* --- a few jobs by hand: what ended, when, in which order */
struct bench {
    struct calendar calendar;
    struct station station;
    struct station_job jobs[JOBS];
    size_t ended[2 * JOBS], ends;
    sim_time at[2 * JOBS];
};

static void note(void *world, struct station *station, struct station_job *job)
{
    struct bench *bench = world;
    bench->ended[bench->ends] = (size_t)(job - bench->jobs);
    bench->at[bench->ends++] = calendar_now(station->calendar);
}

static void open_bench(struct bench *bench, uint32_t servers, const double *speed)
{
    *bench = (struct bench){0};
    calendar_init(&bench->calendar, 1, 1);
    station_init(&bench->station, &bench->calendar, servers, speed, note);
}

static void close_bench(struct bench *bench)
{
    station_fini(&bench->station);
    calendar_fini(&bench->calendar);
}

static void run(struct calendar *calendar, void *world, sim_time until)
{
    for (struct event *event; (event = calendar_next(calendar, until)) != NULL;)
        event->fire(world, event);
}

static void expect_end(const struct bench *bench, size_t i, size_t job, double seconds)
{
    ck_assert_uint_lt(i, bench->ends);
    ck_assert_uint_eq(bench->ended[i], job);
    ck_assert_int_eq(bench->at[i], sim_from_seconds(seconds));
}

/* Alone up to 1 s, then at half speed, 2 of its 3 left: job 0 ends at 5 s. Job 1 reads from 1 to 4 s, does half of its
 * work by 5 s and the rest alone. */
START_TEST(a_first_part_slows_the_others_and_does_no_work)
{
    struct bench bench;
    open_bench(&bench, 4, halves);
    station_start(&bench.station, &bench.jobs[0], 0, 3);
    run(&bench.calendar, &bench, SIM_SECOND);
    station_start_after(&bench.station, &bench.jobs[1], 3 * SIM_SECOND, 0, 1);
    ck_assert_uint_eq(bench.station.busy, 2);
    ck_assert_uint_eq(bench.station.working, 1);
    run(&bench.calendar, &bench, 20 * SIM_SECOND);
    ck_assert_uint_eq(bench.ends, 2);
    expect_end(&bench, 0, 0, 5);
    expect_end(&bench, 1, 1, 5.5);
    ck_assert_int_eq(bench.jobs[1].started, SIM_SECOND);
    ck_assert_uint_eq(bench.station.busy, 0);
    close_bench(&bench);
}
END_TEST

/* However many are busy, and whatever starts meanwhile, a first part takes its time. */
START_TEST(a_first_part_is_slowed_by_nobody)
{
    struct bench bench;
    open_bench(&bench, 4, halves);
    for (size_t i = 0; i < 3; i++)
        station_start_after(&bench.station, &bench.jobs[i], (2 + (sim_time)i) * SIM_SECOND, 0, 0);
    run(&bench.calendar, &bench, SIM_SECOND);
    station_start(&bench.station, &bench.jobs[3], 0, 100);
    run(&bench.calendar, &bench, 10 * SIM_SECOND);
    ck_assert_uint_eq(bench.ends, 3);
    for (size_t i = 0; i < 3; i++)
        expect_end(&bench, i, i, 2 + (double)i);
    close_bench(&bench);
}
END_TEST

START_TEST(in_the_fixed_form_both_parts_are_one)
{
    struct bench bench;
    open_bench(&bench, 2, NULL);
    station_start_after(&bench.station, &bench.jobs[0], 2 * SIM_SECOND, 3 * SIM_SECOND, 77);
    station_start_after(&bench.station, &bench.jobs[1], 0, 4 * SIM_SECOND, 77);
    run(&bench.calendar, &bench, 20 * SIM_SECOND);
    ck_assert_uint_eq(bench.ends, 2);
    expect_end(&bench, 0, 1, 4);
    expect_end(&bench, 1, 0, 5);
    ck_assert_uint_eq(bench.calendar.where.event, 2);
    close_bench(&bench);
}
END_TEST

/* Job 1 has worked since 0 s at half speed, 1 of its 2, when job 0 begins its 1. */
START_TEST(equal_ends_come_in_order_of_starting_not_of_working)
{
    struct bench bench;
    open_bench(&bench, 4, halves);
    station_start_after(&bench.station, &bench.jobs[0], 2 * SIM_SECOND, 0, 1);
    station_start(&bench.station, &bench.jobs[1], 0, 2);
    run(&bench.calendar, &bench, 20 * SIM_SECOND);
    ck_assert_double_eq(bench.jobs[0].target, bench.jobs[1].target);
    expect_end(&bench, 0, 0, 4);
    expect_end(&bench, 1, 1, 4);
    close_bench(&bench);
}
END_TEST

START_TEST(virtual_time_stands_still_while_nobody_works)
{
    struct bench bench;
    open_bench(&bench, 4, halves);
    station_start_after(&bench.station, &bench.jobs[0], 100000000 * SIM_SECOND, 0, 1e-9);
    station_start(&bench.station, &bench.jobs[1], 0, 1e6);
    run(&bench.calendar, &bench, 50000000 * SIM_SECOND);
    ck_assert_uint_eq(bench.ends, 1);
    ck_assert_double_eq(bench.station.virtual_time, 0);
    run(&bench.calendar, &bench, 100000000 * SIM_SECOND);
    ck_assert_double_eq(bench.jobs[0].target, 1e-9);
    run(&bench.calendar, &bench, SIM_NEVER / 2);
    ck_assert_int_eq(bench.at[1], 100000000 * SIM_SECOND + 1);
    close_bench(&bench);
}
END_TEST

/* Three of them; job 1 is stopped in its first part or after it. Of job 0, 1 of 4 is done at 4 s, and with two busy the
 * rest takes 6 s; job 2 begins its 1 at 8 s, 2 s before job 0 ends, and the last half of it takes 0.5 s. */
START_TEST(stopped_in_either_part)
{
    struct bench bench;
    open_bench(&bench, 3, halves);
    station_start(&bench.station, &bench.jobs[0], 0, 4);
    station_start_after(&bench.station, &bench.jobs[1], (_i == 0 ? 7 : 2) * SIM_SECOND, 0, 90);
    station_start_after(&bench.station, &bench.jobs[2], 8 * SIM_SECOND, 0, 1.5);
    run(&bench.calendar, &bench, 4 * SIM_SECOND);
    ck_assert_uint_eq(bench.station.working, _i == 0 ? 1 : 2);
    station_stop(&bench.station, &bench.jobs[1]);
    ck_assert_uint_eq(bench.station.busy, 2);
    ck_assert_uint_eq(bench.station.working, 1);
    run(&bench.calendar, &bench, 100 * SIM_SECOND);
    ck_assert_uint_eq(bench.ends, 2);
    expect_end(&bench, 0, 0, 10);
    expect_end(&bench, 1, 2, 10.5);
    for (sim_time first = 0; first <= 2; first++) {
        station_start_after(&bench.station, &bench.jobs[1], first * SIM_SECOND, 0, 1);
        run(&bench.calendar, &bench, calendar_now(&bench.calendar) + SIM_SECOND / 2);
        station_stop(&bench.station, &bench.jobs[1]);
        ck_assert_uint_eq(bench.station.busy, 0);
        ck_assert_uint_eq(bench.calendar.pending, 0);
    }
    close_bench(&bench);
}
END_TEST

START_TEST(stopped_in_the_fixed_form)
{
    struct bench bench;
    open_bench(&bench, 2, NULL);
    for (sim_time until = 1; until <= 3; until += 2) {
        station_start_after(&bench.station, &bench.jobs[0], 2 * SIM_SECOND, 2 * SIM_SECOND, 0);
        run(&bench.calendar, &bench, calendar_now(&bench.calendar) + until * SIM_SECOND);
        station_stop(&bench.station, &bench.jobs[0]);
        ck_assert_uint_eq(bench.station.busy, 0);
        ck_assert_uint_eq(bench.calendar.pending, 0);
    }
    ck_assert_uint_eq(bench.ends, 0);
    close_bench(&bench);
}
END_TEST

START_TEST(wrong_use_aborts)
{
    struct bench bench;
    open_bench(&bench, 2, halves);
    station_start_after(&bench.station, &bench.jobs[0], SIM_SECOND, 0, 1);
    if (_i == 0) {
        station_start(&bench.station, &bench.jobs[0], 0, 1); /* is in its first part */
    } else if (_i == 1) {
        station_start_after(&bench.station, &bench.jobs[1], SIM_SECOND, 0, 1);
        station_start_after(&bench.station, &bench.jobs[2], SIM_SECOND, 0, 1); /* no server is idle */
    } else if (_i == 2) {
        station_stop(&bench.station, &bench.jobs[0]);
        station_stop(&bench.station, &bench.jobs[0]); /* is stopped */
    } else {
        station_start_after(&bench.station, &bench.jobs[1], SIM_SECOND, 0, -1); /* less than no work */
    }
}
END_TEST

/* --- a first come, first served line */

struct customer {
    struct event arrival;
    struct queue_node place;
    struct station_job job;
    sim_time first, duration, end;
};

struct shop {
    struct calendar calendar;
    struct queue queue;
    struct station station;
    struct customer *customers;
    bool after; /* start them with a first part, even where it takes no time */
};

static void serve(struct shop *shop)
{
    while (station_idle(&shop->station) > 0 && shop->queue.head != NULL) {
        struct customer *customer = container_of(shop->queue.head, struct customer, place);
        queue_leave(&shop->queue, &customer->place);
        if (shop->after)
            station_start_after(&shop->station, &customer->job, customer->first, customer->duration,
                                sim_seconds(customer->duration));
        else
            station_start(&shop->station, &customer->job, customer->first + customer->duration,
                          sim_seconds(customer->duration));
    }
}

static void arrive(void *world, struct event *event)
{
    struct shop *shop = world;
    queue_join(&shop->queue, &container_of(event, struct customer, arrival)->place, 0);
    serve(shop);
}

static void depart(void *world, struct station *station, struct station_job *job)
{
    container_of(job, struct customer, job)->end = calendar_now(station->calendar);
    serve(world);
}

static void shop_open(struct shop *shop, uint32_t servers, const double *speed, bool first, bool after)
{
    uint64_t random = servers;
    sim_time now = 0;
    *shop = (struct shop){.after = after};
    shop->customers = mem_zeroed(CUSTOMERS, sizeof *shop->customers);
    calendar_init(&shop->calendar, 1, 1);
    station_init(&shop->station, &shop->calendar, servers, speed, depart);
    for (size_t i = 0; i < CUSTOMERS; i++) {
        struct customer *customer = &shop->customers[i];
        now += (sim_time)(oracle_random(&random) % (uint64_t)(2 * SIM_SECOND / servers));
        customer->first = first ? (sim_time)(oracle_random(&random) % (uint64_t)(SIM_SECOND)) : 0;
        customer->duration = (sim_time)(oracle_random(&random) % (uint64_t)(first ? SIM_SECOND * 4 / 5 : SIM_SECOND));
        customer->arrival.fire = arrive;
        calendar_schedule(&shop->calendar, &customer->arrival, now);
    }
}

static void shop_run(struct shop *shop)
{
    run(&shop->calendar, shop, SIM_NEVER - 1);
    ck_assert_uint_eq(shop->queue.length, 0);
    ck_assert_uint_eq(shop->station.busy, 0);
}

static void shop_close(struct shop *shop)
{
    station_fini(&shop->station);
    calendar_fini(&shop->calendar);
    free(shop->customers);
}

/* Without tolerance: a first part of no length is no part, and the fixed form knows no parts. */
START_TEST(what_is_no_part_changes_no_nanosecond)
{
    static const double card[] = {0, 1.3, 1.2, 1.1, 1};
    struct shop plain, after;
    bool fixed = _i == 0;
    shop_open(&plain, 4, fixed ? NULL : card, fixed, false);
    shop_open(&after, 4, fixed ? NULL : card, fixed, true);
    shop_run(&plain);
    shop_run(&after);
    size_t wrong = 0;
    for (size_t i = 0; i < CUSTOMERS; i++)
        wrong += plain.customers[i].end != after.customers[i].end;
    ck_assert_uint_eq(wrong, 0);
    ck_assert_uint_eq(plain.calendar.where.event, after.calendar.where.event);
    shop_close(&plain);
    shop_close(&after);
}
END_TEST

/* The two forms are one where company slows nobody: exact workloads are the judge of both. */
START_TEST(at_a_constant_speed_waits_are_those_of_the_recursion)
{
    static const double one[] = {0, 1, 1, 1};
    sim_time *arrivals = mem_zeroed(CUSTOMERS, sizeof *arrivals), *services = mem_zeroed(CUSTOMERS, sizeof *services);
    sim_time *waits = mem_zeroed(CUSTOMERS, sizeof *waits);
    size_t waited = 0;
    struct shop shop;
    shop_open(&shop, 3, _i == 0 ? NULL : one, true, true);
    for (size_t i = 0; i < CUSTOMERS; i++) {
        arrivals[i] = shop.customers[i].arrival.at;
        services[i] = shop.customers[i].first + shop.customers[i].duration;
    }
    oracle_kiefer_wolfowitz(arrivals, services, CUSTOMERS, 3, waits);
    shop_run(&shop);
    for (size_t i = 0; i < CUSTOMERS; i++) {
        sim_time late = shop.customers[i].end - arrivals[i] - waits[i] - services[i];
        ck_assert_msg(late >= (_i == 0 ? 0 : -1) && late <= (_i == 0 ? 0 : 1000), "customer %zu: %ld ns late", i,
                      (long)late);
        waited += waits[i] > 0;
    }
    ck_assert_uint_gt(waited, CUSTOMERS / 4);
    shop_close(&shop);
    free(arrivals);
    free(services);
    free(waits);
}
END_TEST

Suite *station_first_suite(void)
{
    Suite *suite = suite_create("station_first");
    TCase *test = tcase_create("station_first");
    tcase_add_test(test, a_first_part_slows_the_others_and_does_no_work);
    tcase_add_test(test, a_first_part_is_slowed_by_nobody);
    tcase_add_test(test, in_the_fixed_form_both_parts_are_one);
    tcase_add_test(test, equal_ends_come_in_order_of_starting_not_of_working);
    tcase_add_test(test, virtual_time_stands_still_while_nobody_works);
    tcase_add_loop_test(test, stopped_in_either_part, 0, 2);
    tcase_add_test(test, stopped_in_the_fixed_form);
    tcase_add_loop_test_raise_signal(test, wrong_use_aborts, SIGABRT, 0, 4);
    tcase_add_loop_test(test, what_is_no_part_changes_no_nanosecond, 0, 2);
    tcase_add_loop_test(test, at_a_constant_speed_waits_are_those_of_the_recursion, 0, 2);
    suite_add_tcase(suite, test);
    return suite;
}
