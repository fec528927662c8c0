/* test_pool_bounds.c - what a metered pool carries, by hand: charges, shares, agents, what binds, effective runs. */
#include <string.h>

#include "models/pool_bounds.h"
#include "tests/program.h"
#include "tests/provider_fixture.h"
#include "tests/suites.h"

/* A pool with these keys and a class `coder` with these; an answer takes 4 s unless the pool says otherwise. */
static struct pool_bounds bounds_of(const char *pool, const char *class)
{
    const char *latency = strstr(pool, "latency:") ? "" : ", latency: {base: 4 s}";
    struct pool_bounds bounds;
    const struct scenario *scenario =
        read_text(arena_format(&file.arena,
                               "study: {horizon: 100 s}\nbackends:\n  pool: {kind: provider, %s%s}\n"
                               "agents: {coder: {%s, backend: pool}}\n",
                               pool, latency, class));

    ck_assert(pool_bounds_of(scenario, 0, &bounds));
    return bounds;
}

static void expect(double value, double wanted)
{
    ck_assert_msg(fabs(value - wanted) <= 1e-9 * fabs(wanted), "%.12g, expected %.12g", value, wanted);
}

static const char *binds(const struct pool_bounds *bounds)
{
    return bounds->meter_count > 0 ? meter_names[bounds->meters[bounds->binds].spec->kind] : "none";
}

/* A turn takes 4 + 2 s: 10 a minute of each of 12 agents. It sends 1000 tokens, 600 of them cached, and gets 200. */
#define CODER "population: 12, think: exponential(2 s), input: {start: 1000, cached: 60 %}, output: 200"

START_TEST(each_meter)
{
    static const struct {
        const char *meter;
        double given, charge, share, carries; /* of what is in flight: 4 of 6 s */
    } rows[] = {
        {"requests: 60/min", 1, 1, 2, 6},
        {"input: 60k tokens/min", 1000, 1000, 2, 6},
        {"input: {limit: 60k tokens/min, cached_weight: 0.5}", 1000, 700, 1.4, 60 / 7.0},
        {"input: {limit: 60k tokens/min, cached_weight: 0}", 1000, 400, 0.8, 15},
        {"output: 60k tokens/min", 1000, 200, 0.4, 30},
        {"output: {limit: 60k tokens/min, counts: after}", 1000, 200, 0.4, 30},
        {"total: {limit: 60k tokens/min, cached_weight: 0}", 1000, 600, 1.2, 10},
        {"in_flight: 4", 4, 1, 2, 6},
        {"tokens_in_flight: 4800", 4800, 1200, 2, 6},
        {"tokens_in_flight: {limit: 4800, cached_weight: 0}", 4800, 600, 1, 12},
    };

    for (int i = 0; i < COUNT_OF(rows); i++) {
        struct pool_bounds bounds = bounds_of(arena_format(&file.arena, "meters: {%s}", rows[i].meter), CODER);

        ck_assert_uint_eq(bounds.meter_count, 1);
        expect(bounds.turns, 1 / 6.0);
        expect(bounds.meters[0].given, rows[i].given);
        expect(bounds.meters[0].charge, rows[i].charge);
        expect(bounds.meters[0].share, rows[i].share);
        expect(bounds.meters[0].carries, rows[i].carries);
        expect(bounds.carries, rows[i].carries);
        expect(bounds.goodput, fmin(12, rows[i].carries) / 6);
        ck_assert_int_eq(strncmp(rows[i].meter, binds(&bounds), strlen(binds(&bounds))), 0);
    }
}
END_TEST

/* max_tokens is charged for good only where nothing is settled. */
START_TEST(what_is_charged_in_the_end)
{
    static const struct {
        const char *meter;
        double charge;
    } rows[] = {
        {"total: {limit: 60k tokens/min, counts: max_tokens, settle: false}", 1500},
        {"total: {limit: 60k tokens/min, counts: max_tokens}", 1200},
        {"total: {limit: 60k tokens/min, settle: false}", 1200},
        {"tokens_in_flight: {limit: 60k tokens, counts: max_tokens}", 1500},
        {"output: {limit: 60k tokens/min, counts: max_tokens, settle: false}", 500},
    };

    for (int i = 0; i < COUNT_OF(rows); i++)
        expect(bounds_of(arena_format(&file.arena, "meters: {%s}", rows[i].meter), CODER ", max_tokens: 500")
                   .meters[0]
                   .charge,
               rows[i].charge);
}
END_TEST

START_TEST(which_meter_binds)
{
    struct pool_bounds bounds =
        bounds_of("meters: {requests: 600/min, input: 60k tokens/min, output: 30k tokens/min, in_flight: 40}", CODER);

    ck_assert_str_eq(binds(&bounds), "input");
    expect(bounds.carries, 6);
    expect(bounds.meters[2].carries, 15);
    bounds = bounds_of("meters: {requests: 50/min, input: 60k tokens/min}", CODER);
    ck_assert_str_eq(binds(&bounds), "requests");
    expect(bounds.carries, 5);
    bounds = bounds_of("meters: {requests: 60/min, input: 60k tokens/min}", CODER); /* of equal ones the first */
    ck_assert_str_eq(binds(&bounds), "requests");
    bounds = bounds_of("preset: vertex", CODER);
    ck_assert_str_eq(binds(&bounds), "none");
    ck_assert(isinf(bounds.carries) && isnan(bounds.runs_counted) && isnan(bounds.break_even));
    expect(bounds.goodput, 2);
}
END_TEST

/* 2 M a minute, 30k tokens, 15 turns a minute: 4.4, 22 and 103 runs. And 60 sessions of 122k tokens and 2.3 calls. */
START_TEST(effective_runs)
{
    static const char pool[] = "meters: {input: 2M tokens/min}, latency: {base: 1.7 s}",
                      worker[] = "population: 32, think: exponential(2.3 s), output: 400, ";
    struct pool_bounds bounds =
        bounds_of(pool, arena_format(&file.arena, "%sinput: {start: 30k, cached: 80 %%}", worker));

    expect(bounds.runs_counted, 2e6 / 450e3);
    expect(bounds.runs_free, 2e6 / 90e3);
    expect(bounds.break_even, 1 - 2e6 / (32 * 450e3));
    bounds = bounds_of(pool, arena_format(&file.arena, "%sinput: {start: 30k, cached: 95.7 %%}", worker));
    ck_assert_double_eq_tol(bounds.runs_free, 103.36, 0.005);
    bounds = bounds_of("meters: {input: {limit: 2M tokens/min, cached_weight: 0}}, latency: {base: 10 s}",
                       arena_format(&file.arena,
                                    "population: 60, think: %.9f s, input: {start: 122k, cached: 88.2 %%}, output: 9",
                                    60 / 2.3 - 10));
    ck_assert_double_eq_tol(bounds.break_even, 0.8812, 0.00005);
    ck_assert_double_gt(bounds.carries, 60);
    ck_assert_double_lt(bounds.meters[0].share, 1);
    /* What fits as it is needs no cache. */
    bounds = bounds_of(pool, "population: 4, think: 2.3 s, output: 9, input: {start: 30k}");
    ck_assert_double_eq(bounds.break_even, 0);
    bounds = bounds_of(pool, "population: 4, think: 2.3 s, output: 9");
    ck_assert(isnan(bounds.runs_counted) && isnan(bounds.runs_free) && isnan(bounds.break_even));
}
END_TEST

START_TEST(limits_that_move)
{
    static const struct {
        const char *law;
        double given;
        enum limit_taken taken;
    } rows[] = {
        {"steps(0 s 90/min 10 s 30/min 20 s 60/min)", 0.5, LIMIT_LEAST},
        {"two_level(90/min 30/min every 9 s)", 1, LIMIT_MEAN},
        {"walk(90/min least 30/min most 120/min step 6/min every 9 s)", 1.25, LIMIT_MEAN},
        {"day(d.csv a)", 1.5, LIMIT_MEAN},
    };

    plan_file_write(&file, "d.csv", "a\n60\n60\n150\n90\n");
    for (int i = 0; i < COUNT_OF(rows); i++) {
        struct pool_bounds bounds =
            bounds_of(arena_format(&file.arena, "meters: {requests: {moves: \"%s\"}}", rows[i].law), CODER);

        expect(bounds.meters[0].given, rows[i].given);
        ck_assert_int_eq(bounds.meters[0].taken, rows[i].taken);
    }
    ck_assert_int_eq(bounds_of("meters: {requests: 9/min}", CODER).meters[0].taken, LIMIT_AS_IS);
}
END_TEST

/* A bucket or window that never holds what a turn takes; after the answer anything is let in. */
START_TEST(turns_that_never_fit)
{
    static const struct {
        const char *meter;
        double carries;
    } rows[] = {
        {"input: {limit: 60k tokens/min, burst: 999}", 0},
        {"input: {limit: 60k tokens/min, burst: 1000}", 6},
        {"input: {limit: 60k tokens/min, burst: 400, cached_weight: 0}", 15},
        {"input: {limit: 60k tokens/min, fill: sub(900 ms)}", 0},
        {"input: {limit: 60k tokens/min, fill: sub(1 s)}", 6},
        {"total: {limit: 60k tokens/min, burst: 9, counts: after}", 5},
        {"tokens_in_flight: 1199", 0},
    };

    for (int i = 0; i < COUNT_OF(rows); i++)
        expect(bounds_of(arena_format(&file.arena, "meters: {%s}", rows[i].meter), CODER).carries, rows[i].carries);
}
END_TEST

/* It is said beforehand, of arrivals too; not of contexts that grow into it, and not where only what is new counts. */
START_TEST(what_never_fits_is_a_warning)
{
    static const struct {
        const char *pool, *class, *warning;
    } rows[] = {
        {"meters: {requests: 60/min, input: {limit: 60k tokens/min, burst: 999}}", CODER, "the meter input of pool"},
        {"meters: {input: {limit: 60k tokens/min, burst: 999}}", "arrivals: poisson(9/h), input: {start: 1000}",
         "the meter input of pool"},
        {"meters: {input: {limit: 60k tokens/min, burst: 1000}}", CODER, NULL},
        {"meters: {input: {limit: 60k tokens/min, burst: 400, cached_weight: 0}}", CODER, NULL},
        {"meters: {input: {limit: 60k tokens/min, fill: sub(100 ms), counts: after}}", CODER, NULL},
        {"meters: {input: 9k tokens/min}", "population: 2, think: 2 s, output: 9, input: {start: 10, per_turn: 10}",
         NULL},
        {"meters: {requests: 60/min}, simultaneous: {cold: 999, hot: 900}", CODER, "one instant of pool"},
        {"meters: {requests: 60/min}, simultaneous: {cold: 1000, hot: 900}", CODER, NULL},
    };

    for (int i = 0; i < COUNT_OF(rows); i++) {
        const char *said;

        bounds_of(rows[i].pool, rows[i].class);
        said = plan_file_said(&file);
        ck_assert_msg((strstr(said, "a turn of mean size takes more of ") != NULL) == (rows[i].warning != NULL),
                      "%d: %s", i, said);
        if (rows[i].warning)
            program_has(said, rows[i].warning);
    }
}
END_TEST

/* 6 calls a minute of strangers, each of 2000 tokens, half of them cached, and 100 of output, in 3 s. */
START_TEST(strangers_have_their_part)
{
    static const char strangers[] =
        ", latency: {base: 1 s, per_input: 1 ms, per_output: 10 ms}, strangers: {calls: poisson(6/min), "
        "input: 2000, cached: 50 %, output: 100}";
    static const struct {
        const char *meter;
        double given;
    } rows[] = {
        {"requests: 60/min", 0.9},     {"input: {limit: 60k tokens/min, cached_weight: 0}", 900},
        {"input: 6k tokens/min", 0},   {"in_flight: 4", 4 - 0.3},
        {"output: 6k tokens/min", 90},
    };

    for (int i = 0; i < COUNT_OF(rows); i++)
        expect(bounds_of(arena_format(&file.arena, "meters: {%s}%s", rows[i].meter, strangers), CODER).meters[0].given,
               rows[i].given);
}
END_TEST

START_TEST(without_a_population)
{
    struct pool_bounds bounds =
        bounds_of("meters: {requests: 60/min, input: 9k tokens/min}", "arrivals: poisson(30/min), input: {start: 450}");

    expect(bounds.meters[0].share, 0.5);
    expect(bounds.meters[1].share, 1.5);
    ck_assert_str_eq(binds(&bounds), "input");
    ck_assert(isnan(bounds.carries) && isnan(bounds.goodput) && isnan(bounds.meters[0].carries));
    bounds =
        bounds_of("meters: {requests: 50/min}", "population: 10, schedule: {turns: 800, over: 600 s, times: uniform}");
    expect(bounds.meters[0].share, 1.6);
    bounds = bounds_of("meters: {requests: 50/min}", "arrivals: all_at(0 s), runs: 9");
    ck_assert(isnan(bounds.meters[0].share));
    /* A finite job's population works as one without end does. */
    bounds = bounds_of("meters: {requests: 60/min}", CODER ", runs: 40, turns: constant(5)");
    expect(bounds.carries, 6);
}
END_TEST

/* A context that grows for ever has no mean, but what is new in it has: 1500 tokens and the answer before, 20 a minute.
 */
START_TEST(a_context_that_grows_for_ever)
{
    static const char endless[] = "population: 12, think: 0 s, output: 200, input: {start: 20k, per_turn: 1500}";
    static const struct {
        const char *meters, *binds;
        double carries;
    } rows[] = {
        {"requests: 90/min, input: {limit: 90k tokens/min, cached_weight: 0}", "input", 3},
        {"requests: 40/min, input: {limit: 90k tokens/min, cached_weight: 0}", "requests", 2},
        {"requests: 90/min, input: 90k tokens/min", "input", 0},
        {"requests: 90/min, total: {limit: 102k tokens/min, cached_weight: 0}", "total", 3},
        {"requests: 90/min, output: 8k tokens/min", "output", 2},
    };

    for (int i = 0; i < COUNT_OF(rows); i++) {
        const char *keys = arena_format(&file.arena, "meters: {%s}, latency: {base: 3 s}", rows[i].meters);
        struct pool_bounds bounds = bounds_of(keys, endless);

        expect(bounds.carries, rows[i].carries);
        ck_assert_str_eq(binds(&bounds), rows[i].binds);
        ck_assert_int_eq(bounds.meters[1].endless, rows[i].carries == 0);
        ck_assert_int_eq(isinf(bounds.meters[1].share) != 0, rows[i].carries == 0);
        ck_assert(isnan(bounds.runs_counted) && isnan(bounds.runs_free) && isnan(bounds.break_even));
    }
}
END_TEST

/* Counted when it is over, and forgotten with the window: nobody is kept out. A bucket keeps the debt. */
START_TEST(meters_that_forget)
{
    static const struct {
        const char *meters, *binds;
        double carries;
    } rows[] = {
        {"input: {limit: 60k tokens/min, fill: window, counts: after}", "input", INFINITY},
        {"input: {limit: 60k tokens/min, fill: sub(1 s), counts: after}", "input", INFINITY},
        {"input: {limit: 50k tokens/min, counts: after}", "input", 5},
        {"requests: 60/min, input: {limit: 6k tokens/min, fill: window, counts: after}", "requests", 6},
    };

    for (int i = 0; i < COUNT_OF(rows); i++) {
        struct pool_bounds bounds = bounds_of(arena_format(&file.arena, "meters: {%s}", rows[i].meters), CODER);

        if (isinf(rows[i].carries))
            ck_assert(isinf(bounds.carries) && isinf(bounds.meters[0].carries));
        else
            expect(bounds.carries, rows[i].carries);
        ck_assert_str_eq(binds(&bounds), rows[i].binds);
    }
}
END_TEST

START_TEST(an_alias_has_the_meters_of_its_pool)
{
    struct pool_bounds bounds;
    const struct scenario *scenario =
        read_text("study: {horizon: 100 s}\nbackends:\n  key2: {kind: alias, of: pool}\n"
                  "  pool: {kind: provider, meters: {requests: 60/min}, latency: {base: 4 s}}\n"
                  "  card: {kind: slots, servers: 2, rate: 9 tokens/s}\n"
                  "agents:\n  coder: {" CODER ", backend: key2}\n  other: {" CODER ", backend: card}\n");

    ck_assert(pool_bounds_of(scenario, 0, &bounds));
    expect(bounds.carries, 6);
    ck_assert(!pool_bounds_of(scenario, 1, &bounds));
}
END_TEST

/* --- the command */

static const char *said(const char *text, const char *format)
{
    struct program program = {0};

    plan_file_write(&file, "s.yaml", text);
    PROGRAM_RUN(&program, NULL, "bounds", file.path, "--format", format);
    return program_taken(&program, &file.arena);
}

START_TEST(columns_of_the_command)
{
    static const char pools[] = "study: {horizon: 100 s}\nbackends:\n  pool: {kind: provider, meters: {requests: "
                                "{moves: \"two_level(80/min 40/min every 9 s)\"}, input: 30k tokens/min}, latency: "
                                "{base: 4 s}}\nagents: {coder: {" CODER ", backend: pool}}\n",
                      forgets[] =
                          "study: {horizon: 100 s}\nbackends:\n  pool: {kind: provider, meters: {input: {limit: "
                          "30k tokens/min, fill: window, counts: after}}, latency: {base: 4 s}}\n"
                          "agents: {coder: {" CODER ", backend: pool}}\n",
                      card[] = "study: {horizon: 9 s}\nbackends: {card: {kind: slots, servers: 4, rate: 10 "
                               "tokens/s}}\nagents: {coder: {population: 9, think: 5 s, output: 100}}\n";
    const char *out = said(pools, "csv");

    program_has(out, ",binds,pool_goodput,pool_carries,runs_counted,runs_free,break_even,pool_binds,requests_given,"
                     "requests_charge,requests_share,requests_carries,input_given,");
    program_has(out, "\ncoder,4,,,2,0,,,,,,,,,,,,0.5,3,3,7.500000000000001,0.75,input,60,1,2,6,30000,1000,4,3,,,,,,,,,,"
                     ",,,,,,,,,,,,\n");
    ck_assert_int_eq(program_count(out, "\n"), 2);
    out = said(pools, "text");
    program_has(out, "\nclass  limit           given  charge  share  carries\n");
    program_has(out, "\ncoder  requests, mean     60       1      2        6\n");
    program_has(out, "\ncoder  input           30000    1000      4        3\n");
    program_has(out, "\npool_binds: ");
    program_lacks(out, "knee");
    out = said(forgets, "csv"); /* nothing binds, and nothing is named */
    program_has(out, "\ncoder,4,,,2,0,,,,,,,,,,,,2,,3,7.500000000000001,0.75,,,,,,30000,1000,4,,,");
    out = said(card, "text"); /* no words about what is not there */
    program_has(out, "knee");
    program_lacks(out, "pool");
    program_lacks(out, "charge");
}
END_TEST

Suite *pool_bounds_suite(void)
{
    Suite *suite = suite_create("pool_bounds");
    TCase *test = tcase_create("pool_bounds");

    tcase_add_checked_fixture(test, setup, teardown);
    tcase_add_test(test, each_meter);
    tcase_add_test(test, what_is_charged_in_the_end);
    tcase_add_test(test, which_meter_binds);
    tcase_add_test(test, effective_runs);
    tcase_add_test(test, limits_that_move);
    tcase_add_test(test, turns_that_never_fit);
    tcase_add_test(test, what_never_fits_is_a_warning);
    tcase_add_test(test, strangers_have_their_part);
    tcase_add_test(test, without_a_population);
    tcase_add_test(test, a_context_that_grows_for_ever);
    tcase_add_test(test, meters_that_forget);
    tcase_add_test(test, an_alias_has_the_meters_of_its_pool);
    tcase_add_test(test, columns_of_the_command);
    suite_add_tcase(suite, test);
    return suite;
}
