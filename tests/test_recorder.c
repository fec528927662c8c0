/* test_recorder.c - the recorder in a world built by hand: what no gate of cards shows. */
#include <check.h>
#include <math.h>

#include "models/gauges.h"
#include "models/recorder.h"
#include "tests/suites.h"

/* --- the last minute ---------------------------------------------------------------------------------------------- */

enum { BURSTS = 400 };

/* 429s at known times, as no gate of cards has any. */
struct burst {
    struct event event;
    sim_time at;
    uint32_t gate;
    uint64_t count;
};

struct lab {
    struct burst bursts[BURSTS];
    uint64_t samples, seen;
};

static void burst_comes(void *world_pointer, struct event *event)
{
    const struct burst *burst = container_of(event, struct burst, event);

    ((struct world *)world_pointer)->gates[burst->gate].counts.overloads += burst->count;
}

static void expect_minute(void *context, sim_time at, const double *values)
{
    struct lab *lab = context;

    for (uint32_t gate = 0; gate < 2; gate++) {
        uint64_t count = 0;

        for (size_t i = 0; i < BURSTS; i++)
            if (lab->bursts[i].gate == gate && lab->bursts[i].at > at - 60 * SIM_SECOND && lab->bursts[i].at <= at)
                count += lab->bursts[i].count;
        ck_assert_double_eq(values[gate], (double)count);
        lab->seen += count;
    }
    lab->samples++;
}

/* Exact whatever the period is: a divisor of a minute, none, more than a minute, or short. */
START_TEST(the_last_minute_is_exact)
{
    static const sim_time periods[] = {30 * SIM_SECOND, 60 * SIM_SECOND, 7 * SIM_SECOND,    45 * SIM_SECOND,
                                       90 * SIM_SECOND, SIM_SECOND / 8,  3600 * SIM_SECOND, 61 * SIM_SECOND};
    const sim_time every = periods[_i], horizon = 7200 * SIM_SECOND;
    struct record_spec spec = {.every = every};
    struct scenario scenario = {.backend_count = 2, .record = &spec};
    struct gauge list[] = {{.kind = GAUGE_OVERLOADS, .gate = 0}, {.kind = GAUGE_OVERLOADS, .gate = 1}};
    struct gauges gauges = {list, 2};
    struct gate gates[2] = {0};
    struct lab lab = {.samples = 0};
    struct trial_watch watch = {.recorded = expect_minute, .gauges = &gauges, .context = &lab};
    struct world world = {.scenario = &scenario, .watch = &watch, .gates = gates};

    calendar_init(&world.calendar, 1, 1);
    for (uint32_t i = 0; i < BURSTS; i++) {
        struct burst *burst = &lab.bursts[i];

        /* never at the time of a sample */
        *burst = (struct burst){.at = i * (INT64_C(17777777777)) + 333, .gate = i % 3 == 0, .count = 1 + i % 5};
        burst->event.fire = burst_comes;
        calendar_schedule(&world.calendar, &burst->event, burst->at);
    }
    recorder_begin(&world);
    for (struct event *event; (event = calendar_next(&world.calendar, horizon)) != NULL;)
        event->fire(&world, event);
    ck_assert_uint_eq(lab.samples, (uint64_t)(horizon / every) + 1);
    ck_assert_uint_gt(lab.seen, 0);
    calendar_fini(&world.calendar);
    arena_free(&world.arena);
}
END_TEST

/* --- meters ------------------------------------------------------------------------------------------------------- */

/* A pool of 60 requests a minute, at most 10 at once, 30 from 3 s on; and of 5 in flight. An alias of it has none. */
static const double rates[] = {1, 0.5}, flight[] = {5};
static const sim_time moves[] = {0, 3 * SIM_SECOND};
static const struct meter_spec pool_meters[] = {
    {.kind = METER_REQUESTS, .limit = {.law = LIMIT_STEPS, .times = moves, .values = rates, .count = 2}, .burst = 10},
    {.kind = METER_IN_FLIGHT, .limit = {.law = LIMIT_CONSTANT, .values = flight, .count = 1}},
};

struct pool_lab {
    struct event ask;
    struct provider *provider;
    struct provider_ticket *tickets[4];
    size_t samples;
};

/* Four requests at 0.5 s. */
static void four_ask(void *world, struct event *event)
{
    struct pool_lab *lab = container_of(event, struct pool_lab, ask);
    const struct meter_call call = {.input = 1, .output = 1, .max_tokens = INFINITY};
    struct provider_refusal refusal;

    (void)world;
    for (size_t i = 0; i < 4; i++)
        ck_assert(provider_ask(lab->provider, &call, lab->tickets[i], &refusal));
}

static void expect_meters(void *context, sim_time at, const double *values)
{
    static const double expected[][4] = {{10, 60, 5, 5},  {6.5, 60, 1, 5}, {7.5, 60, 1, 5},
                                         {8.5, 30, 1, 5}, {9, 30, 1, 5},   {9.5, 30, 1, 5}};
    struct pool_lab *lab = context;

    ck_assert_int_eq(at, (sim_time)lab->samples * SIM_SECOND);
    for (size_t i = 0; i < 4; i++)
        ck_assert_double_eq_tol(values[i], expected[lab->samples][i], 1e-9);
    lab->samples++;
}

START_TEST(meters_by_hand)
{
    static const char *const names[] = {"pool.meter.requests.left", "pool.meter.requests.limit",
                                        "pool.meter.in_flight.left", "pool.meter.in_flight.limit"};
    static const char *const units[] = {"requests", "requests/min", "requests", "requests"};
    static const struct provider_spec spec = {.meters = pool_meters, .meter_count = 2};
    static const struct backend backends[] = {{.name = "other", .kind = BACKEND_PROVIDER, .provider = &spec, .pool = 1},
                                              {.name = "pool", .kind = BACKEND_PROVIDER, .provider = &spec, .pool = 1}};
    static const struct record_spec every_second = {.every = SIM_SECOND};
    static const struct scenario scenario = {.backends = backends, .backend_count = 2, .record = &every_second};
    struct gate gates[2] = {0};
    struct pool_lab lab = {.samples = 0};
    struct trial_watch watch = {.recorded = expect_meters, .context = &lab};
    struct world world = {.scenario = &scenario, .watch = &watch, .gates = gates};
    struct gauges gauges = gauges_of(&scenario, &world.arena);

    ck_assert_uint_eq(gauges.count, 1 + 2 * 6 + 4);
    gauges.list += 13;
    gauges.count = 4;
    for (size_t i = 0; i < 4; i++) {
        ck_assert_str_eq(gauges.list[i].name, names[i]);
        ck_assert_str_eq(gauges.list[i].unit, units[i]);
    }
    watch.gauges = &gauges;
    calendar_init(&world.calendar, 1, 1);
    lab.provider = provider_new(&spec, &world.calendar, (struct stream_key){1, 1}, 1, &world.arena);
    for (size_t i = 0; i < 4; i++)
        lab.tickets[i] = arena_zeroed(&world.arena, 1, provider_ticket_size(&spec));
    gates[0].provider = gates[1].provider = lab.provider;
    lab.ask.fire = four_ask;
    calendar_schedule(&world.calendar, &lab.ask, SIM_SECOND / 2);
    recorder_begin(&world);
    for (struct event *event; (event = calendar_next(&world.calendar, 5 * SIM_SECOND)) != NULL;)
        event->fire(&world, event);
    ck_assert_uint_eq(lab.samples, 6);
    calendar_fini(&world.calendar);
    arena_free(&world.arena);
}
END_TEST

Suite *recorder_suite(void)
{
    Suite *suite = suite_create("recorder");
    TCase *tests = tcase_create("recorder");
    tcase_add_loop_test(tests, the_last_minute_is_exact, 0, 8);
    tcase_add_test(tests, meters_by_hand);
    suite_add_tcase(suite, tests);
    return suite;
}
