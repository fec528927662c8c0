/* test_provider_errors.c - what users get wrong of providers, aliases and prices: each mistake yields one message, at
 * its file, line and column, that says what was expected. */
#include <string.h>

#include "tests/provider_fixture.h"
#include "tests/suites.h"

static const char pool[] = "study: {horizon: 100 s}\n"
                           "backends:\n"
                           "  pool:\n"
                           "    kind: provider\n"
                           "    meters:\n"
                           "      requests: 50/min\n"
                           "      in_flight: 8\n"
                           "    latency: {base: 2 s}\n"
                           "  key2: {kind: alias, of: pool}\n"
                           "  card: {kind: slots, servers: 8, rate: 39 tokens/s}\n"
                           "prices: {pool: {input: 3}}\n"
                           "agents: {coder: {population: 4, think: 1 s, output: 120, backend: pool}}\n";

/* The message begins with `place: ` and has the words in it. */
static void expect_said(const char *text, const char *const *sets, const char *place, const char *words)
{
    ck_assert_msg(!plan_file_read(&file, text, sets, NULL), "no message for\n%s", text);
    const char *said = plan_file_said(&file);
    ck_assert_msg(file.diag.errors == 1, "not one message but\n%s\nfor\n%s", said, text);
    size_t length = strlen(place);
    ck_assert_msg(strncmp(said, place, length) == 0 && said[length] == ':', "%s: expected it at %s", said, place);
    ck_assert_msg(strstr(said, words) != NULL, "%s: expected the words `%s`", said, words);
}

/* The pool with one text replaced. */
static const struct mistake {
    const char *from, *to, *place, *words;
} mistakes[] = {
    /* kinds and keys */
    {"kind: provider", "kind: provder", "s.yaml:4:11",
     "slots, provider, alias, found 'provder' (did you mean provider?)"},
    {"    kind: provider\n", "", "s.yaml:4:5", "pool: needs kind: a choice of: slots, provider, alias"},
    {"kind: provider", "kind: [provider]", "s.yaml:4:11", "pool: needs kind: a choice"},
    {"latency:", "latencies: {base: 1 s}\n    latency:", "s.yaml:8:5",
     "pool: unknown key 'latencies', did you mean latency?"},
    {"latency:", "meter: {}\n    latency:", "s.yaml:8:5", "pool: unknown key 'meter', did you mean meters?"},
    {"latency:", "servers: 8\n    latency:", "s.yaml:8:5",
     "pool: unknown key 'servers', expected one of: kind, preset"},
    /* preset */
    {"kind: provider", "kind: provider\n    preset: claude_tier4", "s.yaml:5:13",
     "there is no provider preset claude_tier4: expected one of claude_tier_1, claude_tier_2, "},
    {"kind: provider", "kind: provider\n    preset: claude_tier4", "s.yaml:5:13", "; did you mean claude_tier_4?"},
    {"kind: provider", "kind: provider\n    preset: {a: b}", "s.yaml:5:13", "preset: expected a name, not a mapping"},
    /* which meter */
    {"requests: 50", "request: 50", "s.yaml:6:7",
     "there is no meter request: expected one of requests, input, output, total, in_flight, tokens_in_flight; did you "
     "mean requests?"},
    {"in_flight: 8", "requests: 60/min", "s.yaml:7:7", "stands in line 6 already"},
    {"50/min", "[50/min]", "s.yaml:6:17",
     "requests: expected a limit, or a mapping such as {limit: 50/min}, not a list"},
    {"50/min\n", "\n", "s.yaml:6:16", "not nothing"},
    {"meters:\n      requests: 50/min\n      in_flight: 8\n", "meters: 50/min\n", "s.yaml:5:13",
     "meters: expected a mapping"},
    {"50/min", "{limit: 50/min, brust: 4}", "s.yaml:6:33", "requests: unknown key 'brust', did you mean burst?"},
    /* its limit */
    {"50/min", "0/min", "s.yaml:6:17", "requests: limit: expected a rate of requests from 1 requests/d to"},
    {"50/min", "0 requests/min", "s.yaml:6:17", "expected a rate of requests from 1 requests/d"},
    {"50/min", "-50/min", "s.yaml:6:17", "without a sign"},
    {"50/min", "inf", "s.yaml:6:17", "expected a rate of requests"},
    {"50/min", "50", "s.yaml:6:17", "a rate needs its unit"},
    {"50/min", "50 s", "s.yaml:6:17", "a rate needs its unit"},
    {"50/min", "50 tokens/min", "s.yaml:6:17", "requests: limit: expected a rate of requests"},
    {"50/min", "50 tokens/min", "s.yaml:6:17", "it counts something else"},
    {"requests: 50/min", "total: 50 requests/min", "s.yaml:6:14", "expected a rate of tokens"},
    {"in_flight: 8", "in_flight: 8/s", "s.yaml:7:18", "in_flight: limit: expected a whole number of requests"},
    {"in_flight: 8", "in_flight: 8/s", "s.yaml:7:18", "a count has no unit"},
    {"in_flight: 8", "in_flight: 0", "s.yaml:7:18", "from 1 to 1000000M"},
    {"in_flight: 8", "in_flight: 8 tokens", "s.yaml:7:18", "it counts something else"},
    {"in_flight: 8", "in_flight: 1.5", "s.yaml:7:18", "a whole number"},
    {"in_flight: 8", "tokens_in_flight: 8k requests", "s.yaml:7:25", "expected a whole number of tokens"},
    {"50/min", "{burst: 4}", "s.yaml:6:17", "requests: expected limit, a rate or a count, or moves"},
    {"50/min", "{}", "s.yaml:6:17", "requests: expected limit"},
    {"50/min", "{limit: 50/min, moves: steps(0 s 50/min)}", "s.yaml:6:40", "expected limit or moves, not both"},
    /* how it is filled */
    {"50/min", "{limit: 50/min, fill: bucket}", "s.yaml:6:39", "expected continuous, window, step or sub(TIME)"},
    {"50/min", "{limit: 50/min, fill: windw}", "s.yaml:6:39", "did you mean window?"},
    {"50/min", "{limit: 50/min, fill: sub}", "s.yaml:6:39", "sub(TIME), such as sub(1 s)"},
    {"50/min", "{limit: 50/min, fill: window(1 s)}", "s.yaml:6:39", "sub(TIME), such as sub(1 s)"},
    {"50/min", "{limit: 50/min, fill: 1 s}", "s.yaml:6:39", "sub(TIME), such as sub(1 s)"},
    {"50/min", "{limit: 50/min, fill: sub(0 s)}", "s.yaml:6:43", "expected a time from 1 ms to 366 d, found '0 s'"},
    {"50/min", "{limit: 50/min, fill: sub(1)}", "s.yaml:6:43", "a time needs its unit"},
    {"50/min", "{limit: 50/min, fill: sub(2 s), window: 1 min}", "s.yaml:6:57", "sub(2 s) has a window already"},
    {"50/min", "{limit: 50/min, window: 0 s}", "s.yaml:6:41", "window: expected a time from 1 ms to 366 d"},
    {"50/min", "{limit: 50/min, fill: window, burst: 9}", "s.yaml:6:54", "expected fill: continuous or step beside it"},
    {"50/min", "{limit: 50/min, burst: 0}", "s.yaml:6:40", "burst: expected a whole number of requests from 1"},
    {"50/min", "{limit: 50/min, burst: 9 tokens}", "s.yaml:6:40", "it counts something else"},
    {"50/min", "{limit: 50/min, fill: sub(1 s)}", "s.yaml:6:7", "a window holds 0.833 requests, so none would ever be"},
    {"50/min", "{limit: 50/min, window: 1 s}", "s.yaml:6:7", "a full bucket holds 0.833 requests"},
    {"requests: 50/min", "total: {limit: 100M tokens/s, window: 366 d}", "s.yaml:6:7", "at most 1000000M"},
    /* what it charges */
    {"50/min", "{limit: 50/min, counts: answer}", "s.yaml:6:41", "estimate, max_tokens, after"},
    {"50/min", "{limit: 50/min, counts: max_tokens}", "s.yaml:6:41", "max_tokens are of output"},
    {"50/min", "{limit: 50/min, settle: true}", "s.yaml:6:33",
     "requests: settle means nothing here: expected one of limit, moves, burst, fill, window, counts, refused_count"},
    {"50/min", "{limit: 50/min, cached_weight: 0.5}", "s.yaml:6:33", "cached_weight means nothing here"},
    {"requests: 50/min", "output: {limit: 9 tokens/s, cached_weight: 0}", "s.yaml:6:35", "means nothing here"},
    {"requests: 50/min", "input: {limit: 9 tokens/s, cached_weight: 1.5}", "s.yaml:6:49", "a share from 0 % to 100 %"},
    {"requests: 50/min", "input: {limit: 9 tokens/s, cached_weight: -1}", "s.yaml:6:49", "without a sign"},
    {"requests: 50/min", "input: {limit: 9 tokens/s, counts: max_tokens}", "s.yaml:6:42", "max_tokens are of output"},
    {"requests: 50/min", "total: {limit: 9 tokens/s, counts: after, settle: true}", "s.yaml:6:57",
     "expected counts: estimate or max_tokens beside it"},
    {"requests: 50/min", "total: {limit: 9 tokens/s, settle: maybe}", "s.yaml:6:42", "a flag: true or false"},
    {"in_flight: 8", "in_flight: {limit: 8, burst: 8}", "s.yaml:7:29",
     "burst means nothing here: expected one of limit, moves"},
    {"in_flight: 8", "in_flight: {limit: 8, fill: window}", "s.yaml:7:29", "fill means nothing here"},
    {"in_flight: 8", "tokens_in_flight: {limit: 8, counts: after}", "s.yaml:7:44", "a call is no longer in flight"},
    /* limits that move */
    {"50/min", "{moves: 50/min}", "s.yaml:6:25", "moves: 50/min: expected one of steps(TIME LIMIT"},
    {"50/min", "{moves: wakl(50/min)}", "s.yaml:6:25", "did you mean walk?"},
    {"50/min", "{moves: walk}", "s.yaml:6:25", "walk(LIMIT least LIMIT most LIMIT step LIMIT every TIME)"},
    {"50/min", "{moves: steps()}", "s.yaml:6:25", "expected steps(TIME LIMIT"},
    {"50/min", "{moves: steps(0 s 50/min 10 min)}", "s.yaml:6:25", "expected steps(TIME LIMIT"},
    {"50/min", "{moves: steps(1 s 50/min)}", "s.yaml:6:31", "expected 0 s as the first time, not 1 s"},
    {"50/min", "{moves: steps(0 s 50/min 9 s 4/min 9 s 5/min)}", "s.yaml:6:52", "9 s comes too early"},
    {"50/min", "{moves: steps(0 s 50/min 9 s 4/min 8 s 5/min)}", "s.yaml:6:52", "expected times that ascend"},
    {"50/min", "{moves: steps(0 s 50/min 9 s 4)}", "s.yaml:6:46", "4: expected a limit such as 50/min"},
    {"50/min", "{moves: steps(0 50/min)}", "s.yaml:6:31", "0: expected a time with its unit"},
    {"50/min", "{moves: steps(0 s -50/min)}", "s.yaml:6:35", "without a sign"},
    {"50/min", "{moves: steps(0 s 50 tokens/min)}", "s.yaml:6:35", "expected a limit such as 50/min"},
    {"50/min", "{moves: steps(0 s 0/min)}", "s.yaml:6:25", "it is 0 for ever"},
    {"50/min", "{moves: steps(0 s 0/min 9 s 50/min)}", "s.yaml:6:25", "expected burst beside it"},
    {"50/min", "{moves: two_level(50/min every 30 s)}", "s.yaml:6:25", "expected two_level(LIMIT LIMIT every TIME)"},
    {"50/min", "{moves: two_level(50/min 40/min every)}", "s.yaml:6:49", "every: expected a value behind it"},
    {"50/min", "{moves: two_level(5/min 4/min 3/min every 1 s)}", "s.yaml:6:47", "3/min does not belong here"},
    {"50/min", "{moves: two_level(50/min 40/min every 0 s)}", "s.yaml:6:25", "at least 1 ms behind every"},
    {"50/min", "{moves: two_level(50/min 40/min each 30 s)}", "s.yaml:6:49", "each does not belong here"},
    {"50/min", "{moves: two_level('' 40/min 50/min every 3 s)}", "s.yaml:6:35", "does not belong here"},
    {"50/min", "{moves: walk(5/min least 6/min most 9/min step 1/min every 3 s)}", "s.yaml:6:25",
     "a start between least and most"},
    {"50/min", "{moves: walk(5/min least 1/min most 4/min step 1/min every 3 s)}", "s.yaml:6:25",
     "a start between least and most"},
    {"50/min", "{moves: walk(5/min least 9/min most 1/min step 1/min every 3 s)}", "s.yaml:6:25",
     "a least that is at most its most"},
    {"50/min", "{moves: walk(5/min least -1/min most 9/min step 1/min every 3 s)}", "s.yaml:6:42", "without a sign"},
    {"50/min", "{moves: walk(5/min least 1/min most 9/min step 0/min every 3 s)}", "s.yaml:6:25", "a step above 0"},
    {"50/min", "{moves: walk(5/min least 1/min most 9/min step 9/min every 3 s)}", "s.yaml:6:25", "a step of at most"},
    {"50/min", "{moves: walk(5/min least 1/min most 9/min every 3 s)}", "s.yaml:6:25", "expected walk(LIMIT least"},
    {"50/min", "{moves: walk(5/min least 1/min most 9/min step 1/min every 0 s)}", "s.yaml:6:25", "at least 1 ms"},
    {"50/min", "{moves: day(d.csv)}", "s.yaml:6:25", "expected day(FILE COLUMN)"},
    {"50/min", "{moves: day(no.csv rate)}", "s.yaml:6:29", "no.csv"},
    {"50/min", "{moves: day(d.csv rat)}", "s.yaml:6:29", "no column `rat`"},
    {"50/min", "{moves: day(d.csv less)}", "d.csv:3:4", "a negative number in column `less`"},
    {"50/min", "{moves: day(d.csv big)}", "s.yaml:6:35", "day: row 1 of big is 1e+17: expected at most 60000000000"},
    {"in_flight: 8", "in_flight: {moves: steps(0 s 8/s)}", "s.yaml:7:36", "expected a limit such as 8"},
    /* the rest of a provider */
    {"    latency: {base: 2 s}\n", "", "s.yaml:4:5",
     "pool: expected latency, such as latency: {base: 1.7 s, per_output: 6.31 ms}"},
    {"base: 2 s", "per_output: 6 ms", "s.yaml:8:14", "latency: needs base: a time from 0 s to 1 d"},
    {"base: 2 s", "base: 2", "s.yaml:8:21", "a time needs its unit"},
    {"base: 2 s", "base: 2 s, per_token: 1 ms", "s.yaml:8:26", "latency: unknown key 'per_token'"},
    {"base: 2 s", "base: 2 s, noise: lognormal(2 cv 0.3)", "s.yaml:8:33",
     "noise: its mean is 2: expected a factor of mean 1"},
    {"base: 2 s", "base: 2 s, noise: lognormal(1 s cv 0.3)", "s.yaml:8:43", "a bare number, such as 1"},
    {"base: 2 s", "base: 2 s, noise: lognormal(1 tokens cv 0.3)", "s.yaml:8:43", "a bare number, such as 1"},
    {"base: 2 s}", "base: 2 s}\n    retry_after: 30 s", "s.yaml:9:18",
     "expected exact, rounded, none or constant(TIME)"},
    {"base: 2 s}", "base: 2 s}\n    retry_after: rouded", "s.yaml:9:18", "did you mean rounded?"},
    {"base: 2 s}", "base: 2 s}\n    retry_after: constant", "s.yaml:9:18", "constant(30 s)"},
    {"base: 2 s}", "base: 2 s}\n    retry_after: constant(3)", "s.yaml:9:18", "constant(30 s)"},
    {"base: 2 s}", "base: 2 s}\n    retry_after: exact(3 s)", "s.yaml:9:18", "constant(30 s)"},
    {"base: 2 s}", "base: 2 s}\n    errors: 120 %", "s.yaml:9:13", "a share from 0 % to 100 %"},
    {"base: 2 s}", "base: 2 s}\n    strangers: {calls: poisson(0/s), input: 9, output: 9}", "s.yaml:9:24",
     "expected poisson(RATE) with a rate above 0"},
    {"base: 2 s}", "base: 2 s}\n    strangers: {calls: 60/min, input: 9, output: 9}", "s.yaml:9:24", "poisson(60/min)"},
    {"base: 2 s}", "base: 2 s}\n    strangers: {calls: poisson(9 tokens/s), input: 9, output: 9}", "s.yaml:9:24",
     "poisson(60/min)"},
    {"base: 2 s}", "base: 2 s}\n    strangers: {calls: poisson(9/s), output: 9}", "s.yaml:9:16",
     "strangers: needs input"},
    {"base: 2 s}", "base: 2 s}\n    strangers: {calls: poisson(9/s), input: 9 s, output: 9}", "s.yaml:9:45",
     "a number of tokens"},
    {"base: 2 s}", "base: 2 s}\n    simultaneous: {hot: 1M}", "s.yaml:9:19", "simultaneous: needs cold"},
    {"base: 2 s}", "base: 2 s}\n    simultaneous: {cold: 1M, hot: 2M}", "s.yaml:9:35", "expected at most cold"},
    {"base: 2 s}", "base: 2 s}\n    simultaneous: {cold: 1M, within: 0 s}", "s.yaml:9:38", "from 1 ms to 1 h"},
    {"base: 2 s}", "base: 2 s}\n    acceleration: {times: 2}", "s.yaml:9:19", "acceleration: needs free"},
    {"base: 2 s}", "base: 2 s}\n    acceleration: {times: 0.5, free: 9k}", "s.yaml:9:27", "from 1 to"},
    /* aliases */
    {"alias, of: pool", "alias", "s.yaml:9:9", "key2: needs of"},
    {"of: pool", "of: poll", "s.yaml:9:27", "of: there is no provider poll: expected one of pool; did you mean pool?"},
    {"of: pool", "of: key2", "s.yaml:9:27", "of: key2 is of kind alias: expected a provider"},
    {"of: pool", "of: card", "s.yaml:9:27", "of: card is of kind slots: expected a provider"},
    {"of: pool", "of: pool, meters: {}", "s.yaml:9:33", "key2: unknown key 'meters', expected one of: kind, of"},
    {"of: pool", "of: pool, latency: {base: 1 s}", "s.yaml:9:33", "key2: unknown key 'latency'"},
    /* prices */
    {"{pool: {input", "{poll: {input", "s.yaml:11:10",
     "prices: there is no backend poll: expected one of pool, key2, card; did you mean pool?"},
    {"input: 3", "inptu: 3", "s.yaml:11:17", "prices of pool: unknown key 'inptu', did you mean input?"},
    {"input: 3", "input: -3", "s.yaml:11:24", "without a sign"},
    {"input: 3", "input: 3/s", "s.yaml:11:24", "it has no unit"},
    {"prices: {pool: {input: 3}}", "prices: {pool: 3}", "s.yaml:11:16", "prices of pool: expected a mapping"},
    {"prices: {pool: {input: 3}}", "prices: 3", "s.yaml:11:9", "prices: expected a mapping"},
};

START_TEST(in_the_pool)
{
    const struct mistake *mistake = &mistakes[_i];
    plan_file_write(&file, "d.csv", "rate,less,big\n50,5,100000000000000000\n40,-5,1\n");
    expect_said(plan_file_with(&file, pool, mistake->from, mistake->to), NULL, mistake->place, mistake->words);
}
END_TEST

START_TEST(an_alias_without_a_provider)
{
    expect_said(
        "study: {horizon: 9 s}\nbackends: {a: {kind: alias, of: pool}}\nagents: {x: {population: 1, think: 1 s, "
        "output: 9}}\n",
        NULL, "s.yaml:2:33", "of: there is no provider pool: expected a backend of kind provider");
}
END_TEST

START_TEST(more_rows_than_a_day_has_seconds)
{
    char *rows = arena_zeroed(&file.arena, 86401 * 2 + 3, 1);
    strcpy(rows, "n\n");
    for (int i = 0; i < 86401; i++)
        memcpy(rows + 2 + 2 * i, "7\n", 2);
    plan_file_write(&file, "d.csv", rows);
    expect_said(plan_file_with(&file, pool, "50/min", "{moves: day(d.csv n)}"), NULL, "s.yaml:6:35",
                "day: 86401 rows: expected at most 86400");
}
END_TEST

/* A value of a preset that does not go with what the user wrote is said at the user's value, where there is one. */
START_TEST(beside_a_preset)
{
    const char *azure = plan_file_with(&file, pool, "kind: provider", "kind: provider\n    preset: azure");
    expect_said(plan_file_with(&file, azure, "50/min", "{window: 1 min}"), NULL, "s.yaml:7:26",
                "sub(10 s) has a window already");
    const char *vertex = plan_file_with(&file, pool, "kind: provider", "kind: provider\n    preset: vertex");
    expect_said(plan_file_with(&file, vertex, "    latency: {base: 2 s}\n", ""), NULL, "s.yaml:4:5",
                "pool: expected latency");
    expect_said(plan_file_with(&file, vertex, "50/min", "{burst: 9}"), NULL, "s.yaml:7:17", "requests: expected limit");
}
END_TEST

/* In a sweep and on the command line the place is theirs. */
START_TEST(elsewhere)
{
    const char *const sets[] = {"backends.pool.meters.requests=0/min", NULL};
    const char *const typo[] = {"prices.poll.input=3", NULL};
    expect_said(pool, sets, "--set backends.pool.meters.requests:1:1", "expected a rate of requests from");
    expect_said(pool, typo, "--set prices.poll.input:1:1", "there is no backend poll");
    expect_said(arena_format(&file.arena, "%ssweep: {backends.pool.meters.requests: [50/min, 0/min]}\n", pool), NULL,
                "s.yaml:13:49", "expected a rate of requests from");
}
END_TEST

/* All mistakes of a provider are shown at once. */
START_TEST(several_at_once)
{
    const char *text = plan_file_with(&file, pool, "50/min", "0/min");
    text = plan_file_with(&file, text, "in_flight: 8", "in_flight: 0");
    text = plan_file_with(&file, text, "base: 2 s", "base: 2");
    text = plan_file_with(&file, text, "input: 3", "input: -3");
    text = plan_file_with(&file, text, "of: pool", "of: card");
    ck_assert(!plan_file_read(&file, text, NULL, NULL));
    ck_assert_msg(file.diag.errors == 5, "%s", plan_file_said(&file));
}
END_TEST

Suite *provider_errors_suite(void)
{
    Suite *suite = suite_create("provider_errors");
    TCase *tcase = tcase_create("provider_errors");
    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_loop_test(tcase, in_the_pool, 0, COUNT_OF(mistakes));
    tcase_add_test(tcase, an_alias_without_a_provider);
    tcase_add_test(tcase, more_rows_than_a_day_has_seconds);
    tcase_add_test(tcase, beside_a_preset);
    tcase_add_test(tcase, elsewhere);
    tcase_add_test(tcase, several_at_once);
    suite_add_tcase(suite, tcase);
    return suite;
}
