/* test_provider_effective.c - the effective scenario of a provider says the same again, the hash tells what decides its
 * numbers, and the sentences say what it is. */
#include <stdlib.h>
#include <string.h>

#include "models/describe.h"
#include "models/provider_presets.h"
#include "tests/provider_fixture.h"
#include "tests/suites.h"

static const char *described(bool sentences)
{
    char *printed = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&printed, &length);
    describe_scenario(&file.plan, out);
    if (sentences)
        describe_sentences(&file.plan, out);
    fclose(out);
    const char *copy = arena_text(&file.arena, printed);
    free(printed);
    return copy;
}

/* What is printed is read to the same points; what is printed of those is the same but for the origins. */
static void check_round_trip(const char *text)
{
    read_text(text);
    uint64_t hash = file.plan.hash;
    const char *points = plan_file_points(&file), *printed = described(false), *all = described(true);
    ck_assert_msg(plan_file_read(&file, all, NULL, NULL), "%s\n%s", plan_file_said(&file), all);
    ck_assert_str_eq(plan_file_points(&file), points);
    ck_assert_msg(file.plan.hash == hash, "it means something else:\n%s", printed);
    const char *again = described(false), *line = printed;
    for (; *line && *again; line += strcspn(line, "\n") + 1, again += strcspn(again, "\n") + 1) {
        const char *origin = strstr(line, " # ");
        size_t length = strcspn(line, "\n"), own = origin ? (size_t)(origin - line) : length;
        own = own < length ? own : length;
        ck_assert_msg(strncmp(line, again, own) == 0, "%.*s", (int)length, line);
    }
    ck_assert(*line == '\0' && *again == '\0');
}

START_TEST(effective_scenario_is_the_scenario)
{
    static const char *const meters[] = {
        "requests: 50/min",
        "requests: {limit: 10k/d, fill: step, window: 1 d, burst: 7}",
        "requests: {limit: 60/min, fill: sub(1 s), counts: after}",
        "input: {limit: 105k tokens/s, cached_weight: 10 %}",
        "output: {limit: 6/s, fill: window, counts: after, settle: false}",
        "total: {limit: 6/s, settle: false, refused_count: true}",
        "in_flight: 8",
        "tokens_in_flight: 1M tokens",
        "tokens_in_flight: {limit: 1M tokens, counts: max_tokens, cached_weight: 0}",
    };
    plan_file_write(&file, "d.csv", "hour,rate\n0,60\n6,120\n12,0\n18,30\n");
    for (const struct provider_preset *preset = provider_presets; preset->name; preset++)
        check_round_trip(pool_of(arena_format(&file.arena, "preset: %s, latency: {base: 9 s}", preset->name)));
    for (size_t i = 0; i < sizeof meters / sizeof *meters; i++)
        check_round_trip(pool_of(arena_format(&file.arena, "meters: {%s}, latency: {base: 9 s}", meters[i])));
    check_round_trip("study: {horizon: 100 s}\nbackends:\n  key2: {kind: alias, of: pool}\n"
                     "  card: {kind: slots, servers: 2, step_time: {base: 9 ms}}\n"
                     "  pool: {kind: provider, latency: {base: 1 s}}\n"
                     "prices: {pool: {input: 3, hour: 2}, key2: {cached: 0.5}}\n"
                     "agents: {coder: {population: 4, think: 1 s, output: 120, backend: key2}}\n");
    check_round_trip(pool_of("preset: pilot, meters: {in_flight: 5, input: {fill: step}, requests: 7/min}"));
    check_round_trip(pool_of(
        "meters: {requests: {moves: day(d.csv rate)}, input: {moves: walk(5/s least 1/s most 9/s step 2/s every "
        "7 s)}, output: {moves: steps(0 s 5/s 1 min 0/s)}, total: {moves: two_level(5/s 9/s every 2 s)}},"
        " latency: {base: 9 s, noise: uniform(0.5 1.5)}, retry_after: constant(3 s), errors: 2 %,"
        " strangers: {calls: poisson(3/s), input: 7, output: 8}, simultaneous: {cold: 9},"
        " acceleration: {times: 3, free: 9}"));
}
END_TEST

/* What is swept is left to the sweep, with what a preset says of it. */
START_TEST(effective_scenario_of_a_sweep)
{
    static const char *const sweeps[] = {
        "{backends.pool.preset: [claude_tier_1, claude_scale, pilot]}",
        "{backends.pool.meters.requests.limit: [50/min, 60/min]}",
        "{backends.pool.meters.requests: [50/min, 60/min]}",
        "{backends.pool.meters.requests.moves: [\"steps(0 s 5/min)\", \"steps(0 s 6/min)\"]}",
        "{backends.pool.meters.input.fill: [continuous, window, step, \"sub(9 s)\"]}",
        "{backends.pool.meters.total: [6k tokens/min, 7k tokens/min]}",
        "{backends.pool.meters.input.counts: [estimate, after]}",
        "{backends.pool.latency.base: [1 s, 2 s]}",
        "{backends.pool.simultaneous.hot: [100k, 200k]}",
        "{backends.pool.errors: [0 %, 1 %]}",
        "{prices.pool.input: [3, 4]}",
        "{zip: [{backends.pool.preset: pilot, study.seed: 3}, {backends.pool.preset: claude_start, study.seed: 4}]}",
        "{agents.coder.population: [3, 4]}",
    };
    static const char *const keys[] = {
        "preset: pilot, latency: {base: 9 s}",
        "preset: pilot, meters: {input: {cached_weight: 0.5}}, latency: {base: 9 s}",
    };
    for (size_t i = 0; i < sizeof sweeps / sizeof *sweeps; i++)
        for (size_t j = 0; j < sizeof keys / sizeof *keys; j++)
            check_round_trip(arena_format(&file.arena, "%ssweep: %s\n", pool_of(keys[j]), sweeps[i]));
    check_round_trip(arena_format(&file.arena, "%ssweep: {backends.pool.kind: [provider]}\n",
                                  plan_file_with(&file, pool_of("latency: {base: 9 s}"), "kind: provider, ", "")));
    check_round_trip(
        arena_format(&file.arena, "%ssweep: {backends.pool.preset: [openai, gateway, vertex]}\n", pool_of(keys[0])));
    ck_assert_uint_eq(file.plan.point_count, 3);
    ck_assert_str_eq(file.plan.points[1].scenario->backends[0].provider->preset, "gateway");
    ck_assert_uint_eq(file.plan.points[1].scenario->backends[0].provider->meter_count, 1);
}
END_TEST

/* Whatever decides a number is in the hash; what only says it in other words is not. */
START_TEST(hash_tells_what_decides)
{
    static const char whole[] =
        "study: {horizon: 100 s}\nbackends:\n"
        "  pool: {kind: provider, meters: {requests: {limit: 50/min, fill: step, burst: 70, window: 3 min}, total: "
        "{moves: two_level(5/s 9/s "
        "every 2 s)}, input: {moves: walk(5/s least 1/s most 9/s step 2/s every 7 s)}, output: {moves: steps(0 s 5/s "
        "3 s 9/s)}, tokens_in_flight: {moves: day(d.csv a)}}, latency: {base: 1 s, per_input: 1 us, per_cached: 1 us, "
        "per_output: 1 ms, noise: uniform(0.5 1.5)}, retry_after: constant(3 s), errors: 2 %, strangers: {calls: "
        "poisson(3/s), input: 7, cached: 10 %, output: 8}, simultaneous: {cold: 90, hot: 80, within: 1 s, recovery: 4 "
        "s}, acceleration: {times: 3, over: 5 min, free: 9}}\n"
        "  key2: {kind: alias, of: pool}\n  last: {kind: provider, latency: {base: 1 s}}\n"
        "prices: {pool: {input: 3, cached: 1, output: 15, request: 1, hour: 2}}\n"
        "agents: {coder: {population: 4, think: 1 s, output: 120, backend: pool}}\n";
    static const char *const changes[][2] = {
        {"50/min", "51/min"},
        {"fill: step", "fill: continuous"},
        {"window: 3 min", "window: 4 min"},
        {"fill: step", "fill: step, counts: after"},
        {"fill: step", "fill: step, refused_count: true"},
        {"burst: 70", "burst: 71"},
        {"total: {", "total: {settle: false, "},
        {"total: {", "total: {cached_weight: 0.5, "},
        {"total: {", "total: {burst: 7, "},
        {"two_level(5/s 9/s", "two_level(5/s 8/s"},
        {"every 2 s", "every 3 s"},
        {"least 1/s", "least 2/s"},
        {"step 2/s", "step 3/s"},
        {"every 7 s", "every 8 s"},
        {"3 s 9/s", "4 s 9/s"},
        {"3 s 9/s", "3 s 8/s"},
        {"day(d.csv a)", "day(d.csv b)"},
        {"total: {moves", "in_flight: 3, total: {moves"},
        {"base: 1 s", "base: 2 s"},
        {"per_input: 1 us", "per_input: 2 us"},
        {"per_cached: 1 us", "per_cached: 2 us"},
        {"per_output: 1 ms", "per_output: 2 ms"},
        {"uniform(0.5 1.5)", "uniform(0.4 1.6)"},
        {"constant(3 s)", "constant(4 s)"},
        {"constant(3 s)", "exact"},
        {"errors: 2 %", "errors: 3 %"},
        {"poisson(3/s)", "poisson(4/s)"},
        {"input: 7", "input: 6"},
        {"cached: 10 %", "cached: 11 %"},
        {"output: 8", "output: 9"},
        {"cold: 90", "cold: 91"},
        {"hot: 80", "hot: 81"},
        {"within: 1 s", "within: 2 s"},
        {"recovery: 4 s", "recovery: 5 s"},
        {"times: 3", "times: 4"},
        {"over: 5 min", "over: 6 min"},
        {"free: 9", "free: 8"},
        {"of: pool", "of: last"},
        {"input: 3,", "input: 4,"},
        {"cached: 1,", "cached: 2,"},
        {"output: 15", "output: 16"},
        {"request: 1", "request: 2"},
        {"hour: 2", "hour: 3"},
    };
    plan_file_write(&file, "d.csv", "a,b\n60,60\n120,121\n");
    read_text(whole);
    uint64_t hash = file.plan.hash;
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        read_text(plan_file_with(&file, whole, changes[i][0], changes[i][1]));
        ck_assert_msg(file.plan.hash != hash, "%s", changes[i][1]);
    }
    read_text(plan_file_with(&file, whole, "50/min", "3k requests/h"));
    ck_assert_uint_eq(file.plan.hash, hash);
    read_text(plan_file_with(&file, whole, "two_level(5/s 9/s", "two_level(300/min 9 tokens/s"));
    ck_assert_uint_eq(file.plan.hash, hash);
    static const char twins[] = "study: {horizon: 100 s}\nbackends: {a: {kind: provider, latency: {base: 1 s}}, b: "
                                "{kind: provider, latency: {base: 1 s}}, c: {kind: alias, of: a}}\n"
                                "agents: {coder: {population: 4, think: 1 s, output: 120, backend: c}}\n";
    read_text(twins);
    hash = file.plan.hash;
    read_text(plan_file_with(&file, twins, "of: a", "of: b"));
    ck_assert_uint_ne(file.plan.hash, hash);
    read_text("study: {horizon: 100 s}\nbackends: {pool: {kind: provider, preset: vertex, latency: {base: 1 s}}}\n"
              "agents: {coder: {population: 4, think: 1 s, output: 120}}\n");
    hash = file.plan.hash;
    read_text("study: {horizon: 100 s}\nbackends: {pool: {kind: provider, retry_after: none, latency: {base: 1 s}}}\n"
              "agents: {coder: {population: 4, think: 1 s, output: 120}}\n");
    ck_assert_uint_eq(file.plan.hash, hash);
}
END_TEST

START_TEST(sentences)
{
    static const char *const expected[] = {
        "    preset: openai                                        # s.yaml:4\n",
        "        limit: 5k/min                                     # preset openai\n",
        "        burst: 30                                         # s.yaml:4\n",
        "        fill: continuous                                  # default\n",
        "\n# key2: another key of pool, with a gate of its own.\n",
        "\n# pool: preset openai, OpenAI API, gpt-6.1-sol, tier Build; charged by max_tokens, and refused requests "
        "count "
        "(https://developers.openai.com/api/docs/models/gpt-6.1-sol, as of 2026-10-08).\n",
        "\n# pool, requests: 5000 requests a minute, in a bucket of 30 that fills all the time; refused calls are "
        "charged "
        "too.\n",
        "\n# pool, total: 1M tokens a minute, in a bucket of 1M that fills all the time; charged at admission by the "
        "larger of the expected output and max_tokens.\n",
        "\n# pool, in_flight: at most 8 requests in flight.\n",
        "\n# pool, input: 60k tokens a minute, from 600 s on 30k, in a bucket of 100k that is filled every 60 s; "
        "charged "
        "at admission by the estimate and settled with the answer; cached input counts 10 %.\n",
        "\n# pool, output: 300 tokens a minute at first, then a walk between 60 and 540 by at most 120 every 7 s, "
        "counted "
        "in windows of 500 ms; charged after the answer, and admitted while anything is left.\n",
        "\n# pool: its 429s tell when to come back, in whole seconds, rounded up.\n",
        "\n# pool: an answer takes 2 s, and 50 us for each token of input, times a factor of CV 0.5.\n",
        "\n# pool: 1 % of admitted calls fail.\n",
        "\n# pool: at most 2.13M tokens are admitted within 1 s, and 1M until it has not refused so for 75 s on "
        "average.\n",
        "\n# pool: costs 3 for a million tokens of input, 3 for a million of cached input, 0.5 for an hour.\n",
        "\n# coder on key2: an answer takes 2 s on average.\n",
    };
    read_text(
        "study: {horizon: 100 s}\nbackends:\n  key2: {kind: alias, of: pool}\n"
        "  pool: {kind: provider, preset: openai, meters: {requests: {burst: 30}, in_flight: 8, input: {moves: "
        "steps(0 s 60k/min 10 min 30k/min), burst: 100k, fill: step, cached_weight: 0.1}, output: {moves: "
        "walk(5/s least 1/s most 9/s step 2/s every 7 s), fill: sub(500 ms), counts: after}}, latency: {base: 2 s, "
        "per_input: 50 us, noise: gamma(1 cv 0.5)}, errors: 1 %, simultaneous: {cold: 2.13M, hot: 1M}}\n"
        "prices: {pool: {input: 3, hour: 0.5}}\n"
        "agents: {coder: {population: 4, think: 1 s, output: 120, backend: key2}}\n");
    const char *printed = described(true);
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
        ck_assert_msg(strstr(printed, expected[i]) != NULL, "no `%s` in\n%s", expected[i], printed);
    read_pool("preset: vertex, latency: {base: 1 s}");
    ck_assert_ptr_nonnull(strstr(described(true), "\n# pool: it has no limits, so every call is admitted.\n"));
}
END_TEST

Suite *provider_effective_suite(void)
{
    Suite *suite = suite_create("provider_effective");
    TCase *tcase = tcase_create("provider_effective");
    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, effective_scenario_is_the_scenario);
    tcase_add_test(tcase, effective_scenario_of_a_sweep);
    tcase_add_test(tcase, hash_tells_what_decides);
    tcase_add_test(tcase, sentences);
    suite_add_tcase(suite, tcase);
    return suite;
}
