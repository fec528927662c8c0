/* test_station_life.c - a station's jobs, with and without first parts, started and stopped at random, beside a plain
 * array in which every job's remaining work is brought up to date at each change. */
#include <check.h>
#include <stdlib.h>

#include "sim/engine/station.h"
#include "sim/io/mem.h"
#include "tests/oracles.h"
#include "tests/suites.h"

#define JOBS 12

/* Beside each job of the station what is left of it. The station says when a job ends, this says whether it may. */
struct life {
    struct calendar calendar;
    struct station station;
    struct station_job jobs[JOBS];
    bool running[JOBS];
    long double first[JOBS], work[JOBS]; /* left, of running ones; seconds, and work */
    const double *speed;
    long double fastest;
    uint64_t random;
    sim_time then;
    size_t busy, ends, stops[2], read_while_others_worked;
};

/* Nothing ended or began a part between `then` and now, but perhaps at now, so the speed was one and the same. A first
 * part that ends on the way leaves the rest of the time for work. */
static void bring_up_to_date(struct life *life)
{
    sim_time now = calendar_now(&life->calendar);
    long double passed = (long double)(now - life->then) / 1e9L;
    for (size_t i = 0; i < JOBS; i++) {
        long double reads = life->first[i] < passed ? life->first[i] : passed;
        if (!life->running[i])
            continue;
        life->first[i] -= reads;
        life->work[i] -= (passed - reads) * (long double)life->speed[life->busy];
    }
    life->then = now;
}

/* Nobody's end may be overdue, and this one's must be due: to the nanosecond up to which ends are rounded. */
static void judge(struct life *life, size_t ended)
{
    const long double most = 1.001e-9L * life->fastest;
    for (size_t i = 0; i < JOBS; i++) {
        if (!life->running[i] || life->first[i] > 0)
            continue;
        if (life->work[i] < -most || (i == ended && life->work[i] > 1e-12L))
            ck_abort_msg("job %zu has %Lg left when job %zu ends", i, life->work[i], ended);
    }
    ck_assert(life->first[ended] <= 1e-12L);
}

static void life_ended(void *world, struct station *station, struct station_job *job)
{
    struct life *life = world;
    size_t i = (size_t)(job - life->jobs);
    bring_up_to_date(life);
    judge(life, i);
    life->running[i] = false;
    life->busy--;
    life->ends++;
    ck_assert_uint_eq(station->busy, life->busy);
}

static void run(struct calendar *calendar, void *world, sim_time until)
{
    for (struct event *event; (event = calendar_next(calendar, until)) != NULL;)
        event->fire(world, event);
}

static size_t below(struct life *life, size_t count)
{
    return (size_t)(oracle_random(&life->random) % count);
}

/* Of a coarse grid, many times are equal. */
static sim_time length_of(struct life *life, sim_time grid)
{
    return (sim_time)below(life, 8) * grid + (grid > 1000 ? 0 : (sim_time)below(life, 1000000007));
}

static void life_starts(struct life *life, size_t i, sim_time grid)
{
    sim_time first = below(life, 3) == 0 ? 0 : length_of(life, grid);
    double work = sim_seconds(length_of(life, grid));
    bring_up_to_date(life);
    life->read_while_others_worked += first > 0 && life->station.working > 0;
    station_start_after(&life->station, &life->jobs[i], first, 0, work);
    life->running[i] = true;
    life->first[i] = (long double)first / 1e9L;
    life->work[i] = work;
    life->busy++;
}

static void life_stops(struct life *life, size_t i)
{
    bring_up_to_date(life);
    life->stops[life->first[i] > 0]++;
    station_stop(&life->station, &life->jobs[i]);
    life->running[i] = false;
    life->busy--;
}

static void life_step(struct life *life, sim_time grid)
{
    size_t what = below(life, 8), i = below(life, JOBS);
    if (what < 3 && !life->running[i] && station_idle(&life->station) > 0)
        life_starts(life, i, grid);
    else if (what == 3 && life->running[i])
        life_stops(life, i);
    else if (what > 3)
        run(&life->calendar, life, calendar_now(&life->calendar) + length_of(life, grid) / 4);
}

START_TEST(remaining_work_agrees_through_a_random_life)
{
    static const double card[] = {0, 1.44, 1.40, 1.33, 1.25, 1.18, 1.12, 1.05, 1.0};
    static const double odd[] = {0, 0.7, 1.1, 0.9, 1.3};
    struct life *life = mem_zeroed(1, sizeof *life);
    life->random = (uint64_t)_i;
    life->speed = _i % 2 == 0 ? card : odd;
    life->fastest = _i % 2 == 0 ? 1.44L : 1.3L;
    calendar_init(&life->calendar, 1, 1);
    station_init(&life->station, &life->calendar, _i % 2 == 0 ? 8 : 4, life->speed, life_ended);
    for (size_t i = 0; i < 100000; i++)
        life_step(life, _i < 2 ? 1 : SIM_SECOND / 4);
    ck_assert_uint_gt(life->ends, 5000);
    ck_assert_uint_gt(life->stops[0], 500);
    ck_assert_uint_gt(life->stops[1], 500);
    ck_assert_uint_gt(life->read_while_others_worked, 1000);
    run(&life->calendar, life, SIM_NEVER - 1);
    ck_assert_uint_eq(life->busy, 0);
    ck_assert_double_eq(life->station.virtual_time, 0);
    station_fini(&life->station);
    calendar_fini(&life->calendar);
    free(life);
}
END_TEST

Suite *station_life_suite(void)
{
    Suite *suite = suite_create("station_life");
    TCase *test = tcase_create("station_life");
    tcase_add_loop_test(test, remaining_work_agrees_through_a_random_life, 0, 4);
    suite_add_tcase(suite, test);
    return suite;
}
