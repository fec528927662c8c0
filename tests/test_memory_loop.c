/* test_memory_loop.c - contexts and a station put together to a card with a memory, in a closed loop that needs no
 * gate: no bound of theory may be passed, and where theory has the number itself the loop must come to it. */
#include <check.h>
#include <math.h>
#include <stdlib.h>

#include "models/contexts.h"
#include "models/demand.h"
#include "models/memory_bounds.h"
#include "sim/engine/queue.h"
#include "sim/engine/station.h"
#include "tests/suites.h"

#define AGENTS_MOST 64
#define SERVERS_MOST 32

/* One class at one card; every turn is a run of its own, whose input is drawn anew. */
struct card {
    double speed[SERVERS_MOST + 1];
    struct dist start, per_turn, output, think, turns;
    struct input_spec input;
    struct backend backend;
    struct agent_class class;
    struct scenario scenario;
};

struct agent {
    struct event think;
    struct queue_node place;
    struct station_job job;
    struct context *context;
    double input, output;
    sim_time asked;
};

struct loop {
    const struct card *card;
    struct calendar calendar;
    struct station station;
    struct contexts contexts;
    struct arena arena;
    struct queue line;
    struct stream stream;
    struct agent agents[AGENTS_MOST];
    sim_time warmup;
    uint64_t turns, starts, warm, whole; /* whole: calls that took all of the memory */
    double waited;
};

static void loop_thinks(struct loop *loop, struct agent *agent)
{
    calendar_schedule(&loop->calendar, &agent->think,
                      calendar_now(&loop->calendar) + sim_from_seconds(dist_draw(&loop->card->think, &loop->stream)));
}

static void loop_starts(struct loop *loop, struct agent *agent)
{
    const struct card *card = loop->card;
    sim_time now = calendar_now(&loop->calendar);
    double cached = floor(card->input.cached_share * agent->input);
    uint64_t there = contexts_pin(&loop->contexts, &agent->context, (uint64_t)(agent->input + agent->output));
    double fresh = agent->input - fmin(cached, (double)there);

    station_start_after(&loop->station, &agent->job,
                        isinf(card->backend.prefill) ? 0 : sim_from_seconds(fresh / card->backend.prefill),
                        sim_from_seconds(agent->output / card->speed[1]), agent->output);
    if (now <= loop->warmup)
        return;
    loop->starts++;
    loop->warm += there > 0;
    loop->whole += agent->input + agent->output >= (double)loop->contexts.limit;
    loop->waited += sim_seconds(now - agent->asked);
}

/* Nobody overtakes the head of the line. */
static void loop_serves(struct loop *loop)
{
    while (station_idle(&loop->station) > 0 && loop->line.head != NULL) {
        struct agent *agent = container_of(loop->line.head, struct agent, place);

        if (!contexts_fit(&loop->contexts, (uint64_t)(agent->input + agent->output)))
            return;
        queue_leave(&loop->line, &agent->place);
        loop_starts(loop, agent);
    }
}

static void loop_asks(void *world, struct event *event)
{
    struct loop *loop = world;
    struct agent *agent = container_of(event, struct agent, think);

    agent->input = floor(dist_draw(&loop->card->start, &loop->stream) + 0.5);
    agent->output = floor(dist_draw(&loop->card->output, &loop->stream) + 0.5);
    agent->asked = calendar_now(&loop->calendar);
    queue_join(&loop->line, &agent->place, 0);
    loop_serves(loop);
}

static void loop_answers(void *world, struct station *station, struct station_job *job)
{
    struct loop *loop = world;
    struct agent *agent = container_of(job, struct agent, job);

    (void)station;
    loop->turns += calendar_now(&loop->calendar) > loop->warmup;
    contexts_unpin(&loop->contexts, &agent->context);
    loop_thinks(loop, agent);
    loop_serves(loop);
    ck_assert_uint_le(loop->contexts.pinned + loop->contexts.warm, loop->contexts.limit);
}

struct outcome {
    double goodput, wait, warm, whole; /* turns/s, s, shares of calls */
};

static struct outcome simulate(const struct card *card, double seconds)
{
    static struct loop loop;
    bool constant = card->backend.constant;

    loop = (struct loop){.card = card, .warmup = 1000 * SIM_SECOND};
    loop.contexts = (struct contexts){.limit = card->backend.kv, .arena = &loop.arena};
    loop.stream = stream_open((struct stream_key){1, 1}, (struct stream_address){.purpose = 1});
    calendar_init(&loop.calendar, 1, 1);
    station_init(&loop.station, &loop.calendar, card->backend.servers, constant ? NULL : card->speed, loop_answers);
    for (size_t i = 0; i < card->class.population; i++) {
        loop.agents[i].think.fire = loop_asks;
        loop_thinks(&loop, &loop.agents[i]);
    }
    for (struct event *event; (event = calendar_next(&loop.calendar, loop.warmup + sim_from_seconds(seconds)));)
        event->fire(&loop, event);
    station_fini(&loop.station);
    calendar_fini(&loop.calendar);
    arena_free(&loop.arena);
    ck_assert_uint_gt(loop.turns, 1000);
    return (struct outcome){.goodput = (double)loop.turns / seconds,
                            .wait = loop.waited / (double)loop.starts,
                            .warm = (double)loop.warm / (double)loop.starts,
                            .whole = (double)loop.whole / (double)loop.starts};
}

static struct card card;

static struct dist dist_of(enum dist_kind kind, double a, double b)
{
    return (struct dist){.kind = kind, .a = a, .b = b, .most = INFINITY};
}

/* A study's card: 16 slots of 45 tokens/s, 302,921 tokens, inputs of 44,800 tokens, 1,900 of them new. */
static void setup(void)
{
    card = (struct card){.start = dist_of(DIST_CONSTANT, 44800, 0),
                         .per_turn = dist_of(DIST_CONSTANT, 0, 0),
                         .output = dist_of(DIST_EXPONENTIAL, 258, 0),
                         .think = dist_of(DIST_EXPONENTIAL, 15.2, 0),
                         .turns = dist_of(DIST_CONSTANT, 1, 0)};
    for (size_t i = 1; i <= SERVERS_MOST; i++)
        card.speed[i] = 45;
    card.input = (struct input_spec){
        .start = &card.start, .per_turn = &card.per_turn, .most = INFINITY, .cached_share = 1 - 1900 / 44800.0};
    card.backend =
        (struct backend){.servers = 16, .kv = 302921, .prefill = 5000, .speed = card.speed, .constant = true};
    card.class = (struct agent_class){.population = 24,
                                      .runs = UINT64_MAX,
                                      .turns = &card.turns,
                                      .think = &card.think,
                                      .output = &card.output,
                                      .input = &card.input,
                                      .max_tokens = INFINITY};
    card.scenario =
        (struct scenario){.backends = &card.backend, .backend_count = 1, .classes = &card.class, .class_count = 1};
}

/* The loop's numbers beside the bounds, over so many turns if there were no more to it; with what chance may do to a
 * mean of them. */
static struct outcome within_bounds(double turns)
{
    struct demand demand = demand_of(&card.scenario, 0);
    double most = demand_throughput_bound(&demand), least = demand_wait_bound(&demand);
    struct outcome outcome = simulate(&card, turns / most);

    ck_assert_msg(outcome.goodput <= 1.02 * most, "%g turns/s, at most %g", outcome.goodput, most);
    ck_assert_msg(outcome.wait >= 0.96 * least - 0.01, "a wait of %g s, at least %g", outcome.wait, least);
    return outcome;
}

static void expect_near(double value, double wanted)
{
    ck_assert_msg(fabs(value - wanted) <= 0.02 * wanted, "%g, expected %g", value, wanted);
}

/* Six keep their contexts and never wait; of 60 none finds its context again, and six run at once. */
START_TEST(warm_and_cold_are_what_they_say)
{
    struct memory_bounds bounds;
    struct outcome outcome;

    ck_assert(memory_bounds_of(&card.scenario, 0, &bounds));
    card.class.population = 6;
    outcome = within_bounds(20000);
    ck_assert_double_gt(outcome.warm, 0.999);
    ck_assert_double_eq(outcome.wait, 0);
    expect_near(outcome.goodput, 6 / (bounds.service_warm + 15.2));
    card.class.population = 60;
    outcome = within_bounds(20000);
    ck_assert_double_lt(outcome.warm, 0.001);
    expect_near(outcome.goodput, bounds.capacity_cold);
    card.class.population = 24;
    within_bounds(20000);
}
END_TEST

/* A memory with room for all: the slots' own capacity, contexts kept. */
START_TEST(slots_are_what_they_say)
{
    struct memory_bounds bounds;

    card.backend.kv = 4000000;
    card.class.population = 64;
    ck_assert(memory_bounds_of(&card.scenario, 0, &bounds));
    ck_assert_str_eq(bounds.binds, "slots");
    expect_near(within_bounds(20000).goodput, bounds.capacity_warm);
}
END_TEST

/* Sizes of all kinds, memories of all sizes; prefill that costs nothing, little and most of the time. */
START_TEST(no_bound_is_passed)
{
    static const struct {
        struct dist input, output;
    } sizes[] = {
        {{.kind = DIST_CONSTANT, .a = 5000, .most = INFINITY}, {.kind = DIST_CONSTANT, .a = 300, .most = INFINITY}},
        {{.kind = DIST_EXPONENTIAL, .a = 5000, .most = INFINITY},
         {.kind = DIST_EXPONENTIAL, .a = 300, .most = INFINITY}},
        {{.kind = DIST_UNIFORM, .a = 0, .b = 10000, .most = INFINITY},
         {.kind = DIST_EXPONENTIAL, .a = 2000, .most = INFINITY}},
        {{.kind = DIST_LOGNORMAL, .a = 7, .b = 1.6, .most = INFINITY},
         {.kind = DIST_LOGNORMAL, .a = 6, .b = 1.2, .most = INFINITY}},
    };
    static const double memories[] = {6000, 12000, 25000, 200000}, prefills[] = {INFINITY, 5000, 500};
    static const double shares[] = {0, 0.9};
    double whole = 0;

    card.start = sizes[_i / 2].input;
    card.output = sizes[_i / 2].output;
    card.backend.constant = _i % 2 == 0;
    for (size_t i = 1; i <= SERVERS_MOST && _i % 2 == 1; i++)
        card.speed[i] = 1 / (0.017 + 0.0011 * (double)i);
    card.backend.servers = 8;
    card.think = dist_of(DIST_EXPONENTIAL, 5, 0);
    for (size_t i = 0; i < 4; i++)
        for (size_t j = 0; j < 3; j++)
            for (size_t k = 0; k < 2; k++) {
                card.backend.kv = (uint64_t)memories[i];
                card.backend.prefill = prefills[j];
                card.input.cached_share = shares[k];
                whole = fmax(whole, within_bounds(10000).whole);
            }
    if (_i >= 2)
        ck_assert_double_gt(whole, 0.05);
}
END_TEST

/* Why the bound does not count calls of the mean size: where sizes vary, more of them are served than c / S says. */
START_TEST(calls_of_the_mean_size_are_no_bound)
{
    struct memory_bounds bounds;
    struct outcome outcome;

    card.start = dist_of(DIST_EXPONENTIAL, 5000, 0);
    card.output = dist_of(DIST_EXPONENTIAL, 100, 0);
    card.backend.kv = 10000;
    card.backend.prefill = INFINITY;
    card.class.population = 60;
    ck_assert(memory_bounds_of(&card.scenario, 0, &bounds));
    outcome = within_bounds(20000);
    ck_assert_double_gt(outcome.goodput, 1.05 * bounds.capacity_warm);
}
END_TEST

Suite *memory_loop_suite(void)
{
    Suite *suite = suite_create("memory_loop");
    TCase *test = tcase_create("memory_loop");

    tcase_add_checked_fixture(test, setup, NULL);
    tcase_add_test(test, warm_and_cold_are_what_they_say);
    tcase_add_test(test, slots_are_what_they_say);
    tcase_add_loop_test(test, no_bound_is_passed, 0, 8);
    tcase_add_test(test, calls_of_the_mean_size_are_no_bound);
    suite_add_tcase(suite, test);
    return suite;
}
