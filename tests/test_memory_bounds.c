/* test_memory_bounds.c - what a card with a memory carries, by hand: service, capacity, agents, and what binds. */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "models/demand.h"
#include "models/memory_bounds.h"
#include "models/memory_use.h"
#include "tests/plan_file.h"
#include "tests/program.h"
#include "tests/suites.h"

/* One class at one card, in the words of a scenario but put together by hand. */
struct card {
    double speed[65];
    struct dist start, output, think;
    struct input_spec input;
    struct backend backend;
    struct agent_class class;
    struct scenario scenario;
};

static struct card card;

static struct dist constant(double value)
{
    return (struct dist){.kind = DIST_CONSTANT, .a = value, .most = INFINITY};
}

static struct dist exponential(double mean)
{
    return (struct dist){.kind = DIST_EXPONENTIAL, .a = mean, .most = INFINITY};
}

/* Rate, think time and output mean of a study on a local server (facts of real workloads); inputs of 44,800 tokens, of
 * which 1,900 are new. */
static void setup(void)
{
    card = (struct card){
        .start = constant(44800), .output = exponential(258), .think = exponential(15.2), .backend.servers = 16};
    for (size_t i = 1; i <= 64; i++)
        card.speed[i] = 45;
    card.input = (struct input_spec){.start = &card.start, .most = INFINITY, .cached_share = 1 - 1900 / 44800.0};
    card.backend.name = "card";
    card.backend.kv = 302921;
    card.backend.prefill = 5000;
    card.backend.speed = card.speed;
    card.backend.constant = true;
    card.class.name = "coder";
    card.class.population = 24;
    card.class.runs = UINT64_MAX;
    card.class.think = &card.think;
    card.class.output = &card.output;
    card.class.input = &card.input;
    card.class.max_tokens = INFINITY;
    card.scenario.backends = &card.backend;
    card.scenario.backend_count = 1;
    card.scenario.classes = &card.class;
    card.scenario.class_count = 1;
}

static struct memory_bounds bounds_now(void)
{
    struct memory_bounds bounds;

    ck_assert(memory_bounds_of(&card.scenario, 0, &bounds));
    return bounds;
}

static void expect(double value, double wanted)
{
    ck_assert_msg(fabs(value - wanted) <= 1e-9 * fabs(wanted), "%.12g, expected %.12g", value, wanted);
}

START_TEST(the_card_of_a_study)
{
    const double answer = 258 / 45.0, warm = 0.38 + answer, cold = 8.96 + answer, z = 15.2;
    struct memory_bounds bounds = bounds_now();
    struct demand demand = demand_of(&card.scenario, 0);

    expect(bounds.contexts, 302921 / 45058.0); /* 6.7 */
    expect(bounds.service_warm, warm);
    expect(bounds.service_cold, cold);
    expect(bounds.capacity_warm, 6 / warm);
    expect(bounds.capacity_cold, 6 / cold);
    ck_assert_double_eq_tol(bounds.capacity_cold, 0.408, 0.0005);
    expect(bounds.knee_slots, 16 * (warm + z) / warm); /* 55.8 */
    expect(bounds.knee_cold, 6 * (cold + z) / cold);   /* 12.2 */
    ck_assert_str_eq(bounds.binds, "cold contexts");
    /* No seventh context fits, whatever its output. */
    expect(demand.busy_most, 6);
    expect(demand.service, warm);
    expect(demand.service_least, warm);
    expect(demand.service_most, cold);
    expect(demand.capacity, 6 / warm);
    expect(demand_knee(&demand), 6 * (warm + z) / warm);
    expect(demand_throughput_bound(&demand), 6 / warm);
    expect(demand_wait_bound(&demand), 24 * warm / 6 - warm - z);
    ck_assert(!demand.fixed && !demand.exponential_service);
}
END_TEST

START_TEST(what_binds)
{
    static const struct {
        double kv, prefill, think;
        uint32_t servers;
        const char *binds;
    } rows[] = {
        {302921, 5000, 15.2, 16, "cold contexts"}, /* 55.8 by slots, 6.7 warm, 12.2 cold */
        {302921, 5000, 15.2, 1, "slots"},          /* 3.5 by slots, 6.7 warm */
        {302921, 5000, 0.1, 16, "warm contexts"},  /* 16.3 by slots, 6.72 warm, 6.04 cold */
        {4e6, 5000, 15.2, 16, "slots"},            /* 55.8 by slots, 88.8 warm */
        {2e6, 5000, 15.2, 16, "warm contexts"},    /* 55.8 by slots, 44.4 warm, 32.5 cold */
        {8e5, INFINITY, 15.2, 16, "slots"},        /* no prefill: with 16 at once memory costs nothing */
        {5e5, INFINITY, 15.2, 16, "cold contexts"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct memory_bounds bounds;

        card.backend.kv = (uint64_t)rows[i].kv;
        card.backend.prefill = rows[i].prefill;
        card.backend.servers = rows[i].servers;
        card.think = exponential(rows[i].think);
        bounds = bounds_now();
        ck_assert_msg(strcmp(bounds.binds, rows[i].binds) == 0, "row %zu: %s; %g by slots, %g warm, %g cold", i,
                      bounds.binds, bounds.knee_slots, bounds.contexts, bounds.knee_cold);
    }
}
END_TEST

/* Base 10 ms and 1 ms a busy slot: 11 ms alone, 13 ms for three, 18 ms for eight. 1000 tokens of input are read in 2 s,
 * 500 new ones in 1 s; an answer has 100. Three contexts fit. */
START_TEST(speed_that_depends_on_company)
{
    struct memory_bounds bounds;
    struct demand demand;

    card.start = constant(1000);
    card.output = constant(100);
    card.think = constant(4);
    card.input.cached_share = 0.5;
    card.backend.prefill = 500;
    card.backend.servers = 8;
    card.backend.kv = 3500;
    card.backend.constant = false;
    for (size_t i = 1; i <= 8; i++)
        card.speed[i] = 1 / (0.010 + 0.001 * (double)i);
    bounds = bounds_now();
    demand = demand_of(&card.scenario, 0);
    expect(bounds.service_warm, 1 + 1.3);
    expect(bounds.service_cold, 2 + 1.3);
    expect(bounds.capacity_warm, 3 / 2.3);
    expect(bounds.capacity_cold, 3 / 3.3);
    expect(bounds.knee_slots, 8 / 2.8 * (1 + 1.1 + 4));
    expect(bounds.knee_cold, 3 / 3.3 * (2 + 1.1 + 4));
    expect(demand.service, 2.3);
    expect(demand.service_least, 2.1);
    expect(demand.service_most, 3.3);
    expect(demand.capacity_busy, 3 / 2.3);
    /* By tokens: 1100 for 1.1 s at the least, and 1100 for 1 s of prefill: 3500 / 2310 = 1.515, which is no limit. */
    expect(demand.capacity, 3 / 2.3);
    expect(demand_knee(&demand), 3 / 2.3 * 6.1);
}
END_TEST

/* The largest speed of all together is that of two: more busy ones are of no use to answers, only to prefill. */
START_TEST(more_busy_slots_that_make_less)
{
    const double speed[] = {0, 10, 9, 4, 3};
    struct answers answers;

    card.output = constant(18);
    card.backend.constant = false;
    card.backend.speed = speed;
    answers = demand_answers(&card.class, &card.backend, 4);
    expect(answers.most, 1);
    expect(answers.fastest, 1.8);
    expect(answers.slowest, 6);
    expect(demand_turns(&answers, 0), 1);
    expect(demand_turns(&answers, 4), 0.5); /* each turn is worth 4 + 4 s of 4 slots */
}
END_TEST

START_TEST(bounds_where_sizes_vary)
{
    struct demand demand;
    struct memory_use use;

    /* Nothing is known of the least call: no count of calls is a limit, tokens are. */
    card.start = exponential(44800);
    use = memory_use_of(&card.class, &card.backend);
    demand = demand_of(&card.scenario, 0);
    expect(use.at_once, 6);
    expect(use.at_once_most, 16);
    expect(use.held_least, 0);
    /* Cut in proportion at 302921 tokens, input and output lose the same share: exp(-302921 / 45058). */
    expect(use.held, 45058 * (1 - exp(-302921 / 45058.0)));
    expect(demand.capacity_busy, 16 / (0.38 + 258 / 45.0));
    expect(demand.capacity, 302921 / (use.held * 258 / 45.0));
    demand.population = 100;
    expect(demand_wait_bound(&demand), 100 / demand.capacity - 8.96 - 258 / 45.0 - 15.2);

    /* Outputs alone: a third of them is larger than the memory. */
    card.class.input = NULL;
    card.output = exponential(1000);
    card.backend.kv = 1000;
    use = memory_use_of(&card.class, &card.backend);
    expect(use.contexts, 1);
    expect(use.held, 1000 * (1 - exp(-1)));
    expect(use.prefill_cold, 0);
    card.class.max_tokens = 500; /* which none of them is then */
    use = memory_use_of(&card.class, &card.backend);
    expect(use.held, 1000 * (1 - exp(-0.5)));
    expect(use.context, use.held);
    expect(use.at_once, 2);
}
END_TEST

START_TEST(the_least_call)
{
    card.output = constant(200);
    card.start = constant(1000.9); /* which is counted as 1000 or 1001 tokens */
    card.backend.kv = 4799;
    expect(memory_use_of(&card.class, &card.backend).at_once_most, 3);
    card.backend.kv = 4800;
    expect(memory_use_of(&card.class, &card.backend).at_once_most, 4);
    card.input.most = 700;
    expect(memory_use_of(&card.class, &card.backend).at_once_most, 5);
    card.input.compact_to = 100;
    expect(memory_use_of(&card.class, &card.backend).at_once_most, 16);
    expect(memory_use_of(&card.class, &card.backend).held_least, 300);
    card.backend.kv = 250; /* less than that: one at a time */
    expect(memory_use_of(&card.class, &card.backend).at_once_most, 1);
    expect(memory_use_of(&card.class, &card.backend).held_least, 250);
    expect(memory_use_of(&card.class, &card.backend).at_once, 1);
}
END_TEST

START_TEST(without_a_limit)
{
    struct memory_bounds bounds;
    struct demand demand;

    card.backend.kv = UINT64_MAX;
    ck_assert(!memory_bounds_of(&card.scenario, 0, &bounds));
    demand = demand_of(&card.scenario, 0);
    expect(demand.service, 0.38 + 258 / 45.0);
    expect(demand.service_most, demand.service); /* nothing is ever gone */
    expect(demand.capacity, 16 / demand.service);
    ck_assert(!demand.fixed && !demand.exponential_service); /* prefill is no part of the exponential answer */
    card.backend.prefill = INFINITY;
    demand = demand_of(&card.scenario, 0);
    expect(demand.service, 258 / 45.0);
    ck_assert(demand.fixed && demand.exponential_service);
    card.class.input = NULL;
    card.backend.prefill = 5000;
    ck_assert(demand_of(&card.scenario, 0).exponential_service);
    card.backend.kv = 302921;
    ck_assert(!demand_of(&card.scenario, 0).exponential_service);
}
END_TEST

START_TEST(a_service_time_has_prefill_before_it)
{
    struct memory_bounds bounds;
    struct dist service = constant(2);

    card.backend.speed = NULL;
    card.backend.service = &service;
    bounds = bounds_now();
    expect(bounds.service_warm, 2.38);
    expect(bounds.capacity_cold, 6 / 10.96);
    expect(demand_of(&card.scenario, 0).capacity, 6 / 2.38);
}
END_TEST

/* Meters are what its bounds are made of: models/pool_bounds.h. */
START_TEST(a_provider_has_no_servers)
{
    const struct provider_spec pool = {
        .latency = {.base = 2, .per_input = 1e-3, .per_cached = 1e-4, .per_output = 0.01}};
    struct demand demand;
    struct memory_bounds bounds;

    card.backend = (struct backend){.kind = BACKEND_PROVIDER, .kv = UINT64_MAX, .prefill = INFINITY, .provider = &pool};
    demand = demand_of(&card.scenario, 0);
    expect(demand.service, 2 + 1.9 + 4.29 + 2.58);
    expect(demand.service_least, 2 + 2.58);
    ck_assert(isinf(demand.capacity) && isnan(demand.arrivals) && demand.closed && !demand.fixed);
    ck_assert(!memory_bounds_of(&card.scenario, 0, &bounds));
}
END_TEST

/* --- the command */

static const char *bounds_of(struct plan_file *file, const char *backend, const char *agents, const char *format)
{
    struct program program = {0};

    plan_file_write(file, "s.yaml",
                    arena_format(&file->arena,
                                 "study: {horizon: 9 s}\nbackends: {card: {kind: slots, servers: 4, rate: 10 "
                                 "tokens/s%s}}\nagents: {coder: {%s, output: 100}}\n",
                                 backend, agents));
    PROGRAM_RUN(&program, NULL, "bounds", file->path, "--format", format);
    return program_taken(&program, &file->arena);
}

/* Answers of 100 tokens take 10 s; three of them fit. 3 slots carry 3 (10 + 5) / 10 agents, 4 would 6. */
START_TEST(columns_of_the_command)
{
    static const char population[] = "population: 12, think: 5 s",
                      heads[] =
                          ",contexts,service_warm,service_cold,capacity_warm,capacity_cold,knee_slots,knee_cold,binds,";
    struct plan_file file;
    const char *said;

    plan_file_init(&file);
    said = bounds_of(&file, ", kv: 320", population, "csv");
    program_has(said, heads);
    program_has(said, "\ncoder,10,0.3,4.5,0.3,25,,,,3.2,10,10,0.3,0.3,6,4.5,cold contexts,");
    said = bounds_of(&file, ", kv: 320", population, "text");
    program_has(said, "cold contexts\n");
    program_has(said, "\nbinds: slots, where");
    said = bounds_of(&file, ", kv: 320", "arrivals: poisson(6/min)", "csv"); /* which nobody carries */
    program_has(said, "\ncoder,10,0.3,,0.1,,,,,3.2,10,10,0.3,0.3,,,,");
    said = bounds_of(&file, "", population, "csv");
    program_has(said, heads);
    program_has(said, "\ncoder,10,0.4,6,0.4,15,,,,,,,,,,,,");
    said = bounds_of(&file, "", population, "text"); /* no words about what is not there */
    program_lacks(said, "contexts");
    program_lacks(said, "binds");
    plan_file_fini(&file);
}
END_TEST

Suite *memory_bounds_suite(void)
{
    Suite *suite = suite_create("memory_bounds");
    TCase *test = tcase_create("memory_bounds");

    tcase_add_checked_fixture(test, setup, NULL);
    tcase_add_test(test, the_card_of_a_study);
    tcase_add_test(test, what_binds);
    tcase_add_test(test, speed_that_depends_on_company);
    tcase_add_test(test, more_busy_slots_that_make_less);
    tcase_add_test(test, bounds_where_sizes_vary);
    tcase_add_test(test, the_least_call);
    tcase_add_test(test, without_a_limit);
    tcase_add_test(test, a_service_time_has_prefill_before_it);
    tcase_add_test(test, a_provider_has_no_servers);
    tcase_add_test(test, columns_of_the_command);
    suite_add_tcase(suite, test);
    return suite;
}
