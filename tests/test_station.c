/* test_station.c - stations of both forms, and the whole of calendar, queue and station against exact recursions. */
#include <check.h>
#include <signal.h>
#include <stdlib.h>

#include "sim/engine/queue.h"
#include "sim/engine/station.h"
#include "sim/io/mem.h"
#include "tests/oracles.h"
#include "tests/suites.h"

#define CUSTOMERS 100000
#define SHARED 20000 /* customers of the shared-speed comparison */

struct customer {
    struct event arrival;
    struct queue_node place;
    struct station_job job;
    sim_time end;
};

/* A first come, first served line before one station. Wait and end of each customer are kept. */
struct shop {
    struct calendar calendar;
    struct queue queue;
    struct station station;
    struct customer *customers;
    size_t count, changes; /* starts and ends since the station was last idle */
    sim_time *arrivals, *services;
    double *work;
    size_t *changes_at_end;
};

static void serve(struct shop *shop)
{
    while (station_idle(&shop->station) > 0 && shop->queue.head != NULL) {
        struct customer *customer = container_of(shop->queue.head, struct customer, place);
        size_t i = (size_t)(customer - shop->customers);
        queue_leave(&shop->queue, &customer->place);
        shop->changes = shop->station.busy > 0 ? shop->changes + 1 : 0;
        station_start(&shop->station, &customer->job, shop->services[i], shop->work[i]);
    }
}

static void arrive(void *world, struct event *event)
{
    struct shop *shop = world;
    struct customer *customer = container_of(event, struct customer, arrival);
    queue_join(&shop->queue, &customer->place, 0);
    serve(shop);
}

static void depart(void *world, struct station *station, struct station_job *job)
{
    struct shop *shop = world;
    struct customer *customer = container_of(job, struct customer, job);
    customer->end = calendar_now(station->calendar);
    shop->changes_at_end[customer - shop->customers] = ++shop->changes;
    serve(shop);
}

static sim_time exponential_like(uint64_t *random, sim_time mean)
{
    sim_time sum = 0; /* any spread will do: a mixture of short and long */
    do
        sum += (sim_time)(oracle_random(random) % (uint64_t)mean);
    while (oracle_random(random) % 2 == 0);
    return sum;
}

/* All times are multiples of the grid; about 0.9 of the servers' time is asked for. */
static struct shop *shop_open(size_t count, uint32_t servers, const double *speed, sim_time grid, uint64_t seed)
{
    struct shop *shop = mem_zeroed(1, sizeof *shop);
    shop->count = count;
    shop->customers = mem_zeroed(count, sizeof *shop->customers);
    shop->arrivals = mem_zeroed(count, sizeof *shop->arrivals);
    shop->services = mem_zeroed(count, sizeof *shop->services);
    shop->work = mem_zeroed(count, sizeof *shop->work);
    shop->changes_at_end = mem_zeroed(count, sizeof *shop->changes_at_end);
    calendar_init(&shop->calendar, seed, 1);
    station_init(&shop->station, &shop->calendar, servers, speed, depart);
    sim_time now = 0;
    for (size_t i = 0; i < count; i++) {
        now += exponential_like(&seed, 10 * SIM_SECOND / 9) / (sim_time)servers;
        shop->arrivals[i] = now / grid * grid;
        shop->services[i] = exponential_like(&seed, SIM_SECOND) / grid * grid;
        shop->work[i] = sim_seconds(shop->services[i]);
    }
    return shop;
}

static void run(struct calendar *calendar, void *world, sim_time until)
{
    for (struct event *event; (event = calendar_next(calendar, until)) != NULL;)
        event->fire(world, event);
}

/* Arrivals are scheduled in order of index, which is the order the oracles ask for at one instant. */
static void shop_run(struct shop *shop)
{
    for (size_t i = 0; i < shop->count; i++) {
        shop->customers[i].arrival.fire = arrive;
        calendar_schedule(&shop->calendar, &shop->customers[i].arrival, shop->arrivals[i]);
    }
    run(&shop->calendar, shop, SIM_NEVER - 1);
    ck_assert_uint_eq(shop->queue.length, 0);
    ck_assert_uint_eq(shop->station.busy, 0);
}

static void shop_close(struct shop *shop)
{
    station_fini(&shop->station);
    calendar_fini(&shop->calendar);
    free(shop->customers);
    free(shop->arrivals);
    free(shop->services);
    free(shop->work);
    free(shop->changes_at_end);
    free(shop);
}

START_TEST(recursions_agree_with_a_line_counted_by_hand)
{
    const sim_time arrivals[] = {0, 0, 1, 2, 9, 20}, services[] = {5, 0, 4, 3, 1, 2};
    const sim_time one[] = {0, 5, 4, 7, 3, 0}, two[] = {0, 0, 0, 3, 0, 0};
    sim_time waits[6];
    oracle_lindley(arrivals, services, 6, waits);
    ck_assert_mem_eq(waits, one, sizeof waits);
    oracle_kiefer_wolfowitz(arrivals, services, 6, 1, waits);
    ck_assert_mem_eq(waits, one, sizeof waits);
    oracle_kiefer_wolfowitz(arrivals, services, 6, 2, waits);
    ck_assert_mem_eq(waits, two, sizeof waits);
}
END_TEST

/* Customer by customer, without tolerance; every second grid makes most of the times tie, many services are 0 then. */
START_TEST(waits_are_those_of_the_recursions)
{
    static const uint32_t servers[] = {1, 2, 8};
    uint32_t c = servers[_i / 2];
    struct shop *shop = shop_open(CUSTOMERS, c, NULL, _i % 2 == 0 ? 1 : SIM_SECOND / 4, (uint64_t)_i);
    sim_time *waits = mem_zeroed(CUSTOMERS, sizeof *waits);
    if (c == 1)
        oracle_lindley(shop->arrivals, shop->services, CUSTOMERS, waits);
    else
        oracle_kiefer_wolfowitz(shop->arrivals, shop->services, CUSTOMERS, c, waits);
    shop_run(shop);
    size_t waited = 0, wrong = 0;
    for (size_t i = 0; i < CUSTOMERS; i++) {
        const struct customer *customer = &shop->customers[i];
        sim_time started = customer->job.started;
        wrong += started - shop->arrivals[i] != waits[i] || customer->end != started + shop->services[i];
        waited += waits[i] > 0;
    }
    ck_assert_uint_eq(wrong, 0);
    ck_assert_uint_gt(waited, CUSTOMERS / 4);
    ck_assert_uint_lt(waited, CUSTOMERS);
    free(waits);
    shop_close(shop);
}
END_TEST

/* The card: 56 tokens a second for one, 311 for eight together; and speeds that rise with company. */
START_TEST(shared_ends_are_those_of_slow_processor_sharing)
{
    static const double card[] = {0, 1.44, 1.40, 1.33, 1.25, 1.18, 1.12, 1.05, 1.0};
    static const double odd[] = {0, 0.7, 1.1, 0.9, 1.3};
    uint32_t servers = _i % 2 == 0 ? 8 : 4;
    const double *speed = _i % 2 == 0 ? card : odd;
    struct shop *shop = shop_open(SHARED, servers, speed, _i < 2 ? 1 : SIM_SECOND / 4, (uint64_t)_i);
    long double *ends = mem_zeroed(SHARED, sizeof *ends);
    oracle_shared_ends(shop->arrivals, shop->work, SHARED, servers, speed, ends);
    shop_run(shop);
    size_t busiest = 0;
    for (size_t i = 0; i < SHARED; i++) {
        long double error = (long double)shop->customers[i].end - ends[i];
        long double most = 2 * (long double)(shop->changes_at_end[i] + 1);
        if (!(-most <= error && error <= most))
            ck_abort_msg("customer %zu: %Lg ns off after %zu changes", i, error, shop->changes_at_end[i]);
        busiest = shop->changes_at_end[i] > busiest ? shop->changes_at_end[i] : busiest;
    }
    ck_assert_uint_gt(busiest, 100);
    free(ends);
    shop_close(shop);
}
END_TEST

START_TEST(constant_shared_speed_is_the_fixed_form)
{
    static const double one[] = {0, 1, 1, 1, 1};
    struct shop *fixed = shop_open(SHARED, 4, NULL, SIM_SECOND / 64, 5);
    struct shop *shared = shop_open(SHARED, 4, one, SIM_SECOND / 64, 5);
    shop_run(fixed);
    shop_run(shared);
    size_t wrong = 0;
    for (size_t i = 0; i < SHARED; i++) {
        sim_time late = shared->customers[i].end - fixed->customers[i].end;
        wrong += late < -1 || late > (sim_time)shared->changes_at_end[i] + 1;
    }
    ck_assert_uint_eq(wrong, 0);
    shop_close(fixed);
    shop_close(shared);
}
END_TEST

/* --- a few jobs by hand: what ended, when, in which order */
struct bench {
    struct calendar calendar;
    struct station station;
    struct station_job jobs[8], *again; /* again: started once more by the first end */
    size_t ended[8], ends;
    sim_time at[8];
};

static void note(void *world, struct station *station, struct station_job *job)
{
    struct bench *bench = world;
    bench->ended[bench->ends] = (size_t)(job - bench->jobs);
    bench->at[bench->ends++] = calendar_now(station->calendar);
    if (bench->again != NULL) {
        station_start(station, bench->again, SIM_SECOND, 1);
        bench->again = NULL;
    }
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

static const double halves[] = {0, 1, 0.5, 0.25, 0.25};

START_TEST(equal_targets_end_one_event_each_in_order_of_starting)
{
    struct bench bench;
    open_bench(&bench, 4, halves);
    for (size_t i = 4; i > 0; i--)
        station_start(&bench.station, &bench.jobs[i - 1], 0, 1);
    struct event *event = calendar_next(&bench.calendar, SIM_NEVER);
    event->fire(&bench, event);
    ck_assert_uint_eq(bench.ends, 1);
    ck_assert_uint_eq(bench.station.busy, 3);
    run(&bench.calendar, &bench, 10 * SIM_SECOND);
    ck_assert_uint_eq(bench.ends, 4);
    for (size_t i = 0; i < 4; i++) {
        ck_assert_uint_eq(bench.ended[i], 3 - i);
        ck_assert_int_eq(bench.at[i], 4 * SIM_SECOND);
    }
    ck_assert_uint_eq(bench.calendar.where.event, 4);
    close_bench(&bench);
}
END_TEST

/* Now and then virtual time falls short of the target by a rounding; the second of two equal jobs is not late for it.
 */
START_TEST(equal_targets_share_an_instant_in_spite_of_rounding)
{
    static const double speed[] = {0, 0.7, 0.7};
    struct bench bench;
    open_bench(&bench, 2, speed);
    size_t split = 0;
    for (int i = 1; i <= 1000; i++) {
        bench.ends = 0;
        station_start(&bench.station, &bench.jobs[0], 0, 1e6 + i / 7.0);
        station_start(&bench.station, &bench.jobs[1], 0, 1e6 + i / 7.0);
        run(&bench.calendar, &bench, i * 2000000 * SIM_SECOND);
        ck_assert_uint_eq(bench.ends, 2);
        split += bench.at[0] != bench.at[1];
    }
    ck_assert_uint_eq(split, 0);
    close_bench(&bench);
}
END_TEST

START_TEST(ends_are_rounded_up)
{
    struct bench bench;
    open_bench(&bench, 1, halves);
    station_start(&bench.station, &bench.jobs[0], 0, 3e-9);
    run(&bench.calendar, &bench, 10);
    station_start(&bench.station, &bench.jobs[1], 0, 3.25e-9);
    run(&bench.calendar, &bench, 20);
    ck_assert_int_eq(bench.at[0], 3);
    ck_assert_int_eq(bench.at[1], 14);
    close_bench(&bench);
}
END_TEST

/* 1 s alone, then two at half speed: 1 of 2 is done at 1 s, the second job takes 2 s, the first has 0 left at 3 s. */
START_TEST(work_is_done_at_the_speed_of_its_time)
{
    struct bench bench;
    open_bench(&bench, 4, halves);
    station_start(&bench.station, &bench.jobs[0], 0, 3);
    run(&bench.calendar, &bench, SIM_SECOND);
    station_start(&bench.station, &bench.jobs[1], 0, 1);
    bench.again = &bench.jobs[2];
    run(&bench.calendar, &bench, 20 * SIM_SECOND);
    ck_assert_uint_eq(bench.ends, 3);
    ck_assert_uint_eq(bench.ended[0], 1);
    ck_assert_int_eq(bench.at[0], 3 * SIM_SECOND);
    ck_assert_uint_eq(bench.ended[1], 0);
    ck_assert_int_eq(bench.at[1], 5 * SIM_SECOND);
    ck_assert_uint_eq(bench.ended[2], 2);
    ck_assert_int_eq(bench.at[2], 5 * SIM_SECOND);
    close_bench(&bench);
}
END_TEST

START_TEST(virtual_time_begins_anew_when_idle)
{
    struct bench bench;
    open_bench(&bench, 4, halves);
    station_start(&bench.station, &bench.jobs[0], 0, 1e7);
    run(&bench.calendar, &bench, 100000000 * SIM_SECOND);
    ck_assert_uint_eq(bench.ends, 1);
    ck_assert_double_eq(bench.station.virtual_time, 0);
    station_start(&bench.station, &bench.jobs[0], 0, 1e-9);
    ck_assert_double_eq(bench.jobs[0].target, 1e-9);
    run(&bench.calendar, &bench, SIM_NEVER / 2);
    ck_assert_int_eq(bench.at[1], 100000000 * SIM_SECOND + 1);
    close_bench(&bench);
}
END_TEST

START_TEST(no_work_ends_at_once_by_an_event)
{
    struct bench bench;
    open_bench(&bench, 1, _i == 0 ? NULL : halves);
    run(&bench.calendar, &bench, 7);
    station_start(&bench.station, &bench.jobs[0], 0, 0);
    ck_assert_uint_eq(bench.ends, 0);
    run(&bench.calendar, &bench, 7);
    ck_assert_uint_eq(bench.ends, 1);
    ck_assert_uint_eq(station_idle(&bench.station), 1);
    close_bench(&bench);
}
END_TEST

/* The stopped job did 1 of its 3; the other two go on faster from then on. */
START_TEST(a_stopped_job_frees_its_server)
{
    struct bench bench;
    open_bench(&bench, 3, _i == 0 ? NULL : halves);
    for (size_t i = 0; i < 3; i++)
        station_start(&bench.station, &bench.jobs[i], (3 + (sim_time)i) * SIM_SECOND, 3 + (double)i);
    run(&bench.calendar, &bench, 4 * SIM_SECOND / (_i == 0 ? 2 : 1));
    station_stop(&bench.station, &bench.jobs[_i == 0 ? 1 : 0]);
    ck_assert_uint_eq(bench.station.busy, 2);
    run(&bench.calendar, &bench, 100 * SIM_SECOND);
    ck_assert_uint_eq(bench.ends, 2);
    ck_assert_uint_eq(bench.ended[0], _i == 0 ? 0 : 1);
    ck_assert_uint_eq(bench.ended[1], 2);
    ck_assert_int_eq(bench.at[0], (_i == 0 ? 3 : 10) * SIM_SECOND);
    ck_assert_int_eq(bench.at[1], (_i == 0 ? 5 : 11) * SIM_SECOND);
    station_start(&bench.station, &bench.jobs[0], SIM_SECOND, 1);
    station_stop(&bench.station, &bench.jobs[0]);
    ck_assert_uint_eq(bench.calendar.pending, 0);
    close_bench(&bench);
}
END_TEST

START_TEST(starting_without_an_idle_server_aborts)
{
    struct bench bench;
    open_bench(&bench, 1, _i == 0 ? NULL : halves);
    station_start(&bench.station, &bench.jobs[0], 1, 1);
    station_start(&bench.station, &bench.jobs[1], 1, 1);
}
END_TEST

START_TEST(stopping_an_idle_job_aborts)
{
    struct bench bench;
    open_bench(&bench, 1, _i == 0 ? NULL : halves);
    station_start(&bench.station, &bench.jobs[0], 1, 1);
    station_stop(&bench.station, &bench.jobs[1]);
}
END_TEST

Suite *station_suite(void)
{
    Suite *suite = suite_create("station");
    TCase *line = tcase_create("line");
    tcase_add_test(line, recursions_agree_with_a_line_counted_by_hand);
    tcase_add_loop_test(line, waits_are_those_of_the_recursions, 0, 6);
    tcase_add_loop_test(line, shared_ends_are_those_of_slow_processor_sharing, 0, 4);
    tcase_add_test(line, constant_shared_speed_is_the_fixed_form);
    suite_add_tcase(suite, line);
    TCase *jobs = tcase_create("jobs");
    tcase_add_test(jobs, equal_targets_end_one_event_each_in_order_of_starting);
    tcase_add_test(jobs, equal_targets_share_an_instant_in_spite_of_rounding);
    tcase_add_test(jobs, ends_are_rounded_up);
    tcase_add_test(jobs, work_is_done_at_the_speed_of_its_time);
    tcase_add_test(jobs, virtual_time_begins_anew_when_idle);
    tcase_add_loop_test(jobs, no_work_ends_at_once_by_an_event, 0, 2);
    tcase_add_loop_test(jobs, a_stopped_job_frees_its_server, 0, 2);
    tcase_add_loop_test_raise_signal(jobs, starting_without_an_idle_server_aborts, SIGABRT, 0, 2);
    tcase_add_loop_test_raise_signal(jobs, stopping_an_idle_job_aborts, SIGABRT, 0, 2);
    suite_add_tcase(suite, jobs);
    return suite;
}
