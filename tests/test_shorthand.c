/* test_shorthand.c - what people write for short is answered with what they meant, and what is seldom meant with a
 * warning. */
#include <string.h>

#include "tests/provider_fixture.h"
#include "tests/suites.h"

static const char pool[] = "study: {horizon: 100 s}\nbackends: {pool: {kind: provider, latency: {base: 1 s}}}\n"
                           "agents: {coder: {population: 4, think: 1 s, output: 120}}\n";

/* One text of the scenario replaced; the message has these words, and stands where the value does. */
static const struct shorthand {
    const char *from, *to, *place, *words;
} shorthands[] = {
    {"{base: 1 s}", "8 s", "s.yaml:2:44:", "such as latency: {base: 8 s}, not a value"},
    {"{base: 1 s}", "8", "s.yaml:2:44:", "such as latency: {base: 1.7 s, per_output: 6.31 ms}, not"},
    {"{base: 1 s}", "[8 s]", "s.yaml:2:44:", "such as latency: {base: 1.7 s, per_output: 6.31 ms}, not a list"},
    {"1 s}}}", "1 s}, meters: 50/min}}", "s.yaml:2:65:", "such as meters: {requests: 50/min"},
    {"1 s}}}", "1 s}, strangers: poisson(9/s)}}", "s.yaml:2:68:", "such as strangers: {calls: poisson(60/min)}"},
    {"1 s}}}", "1 s}, simultaneous: 2M}}", "s.yaml:2:71:", "such as simultaneous: {cold: 2M}"},
    {"1 s}}}", "1 s}, acceleration: 3}}", "s.yaml:2:71:", "such as acceleration: {times: 3}"},
    {"kind: provider, latency: {base: 1 s}", "kind: slots, servers: 2, step_time: 9 ms",
     "s.yaml:2:55:", "such as step_time: {base: 9 ms}"},
    {"output: 120", "output: 120, input: 60k", "s.yaml:3:65:", "such as input: {start: 60k}, not a value"},
    {"output: 120", "output: 120, input: lognormal(9k cv 2)", "s.yaml:3:65:", "input: {start: lognormal(9k cv 2)}"},
    {"output: 120", "output: 120, input: big", "s.yaml:3:65:", "input: {start: 20k, per_turn: 700}"},
    {"output: 120", "output: 120, client: openai", "s.yaml:3:66:", "such as client: {preset: openai}, or a list"},
    {"output: 120", "output: 120, client: nobody", "s.yaml:3:66:", "such as client: {preset: anthropic}, or a list"},
    {"output: 120", "output: 120, schedule: 800", "s.yaml:3:68:", "such as schedule: {turns: 800}"},
    {"{horizon: 100 s}", "100 s", "s.yaml:1:8:", "such as study: {horizon: 60000 s}"},
    {"120}}\n", "120}}\npolicies: [fixed_cap: 6]\n", "s.yaml:4:23:", "such as fixed_cap: {cap: 6}, not a value"},
    {"120}}\n", "120}}\npolicies: [a: [codel: 8 s]]\n", "s.yaml:4:23:", "such as codel: {target: 8 s}, not a value"},
    {"120}}\n", "120}}\npolicies: [fixed_cap: x]\n", "s.yaml:4:23:", "a mapping of keys to values, not a value"},
    {"population: 4", "population: 8..64 step 8", "s.yaml:3:30:",
     "8..64 step 8 is a range: expected one value here, and sweep: {agents.coder.population: 8..64 step 8}"},
    {"output: 120", "output: 120, client: [{attempts: 1..3}]",
     "s.yaml:3:78:", "{agents.coder.client.0.attempts: 1..3}"},
    {"base: 1 s", "base: 1 s..3 s", "s.yaml:2:51:", "sweep: {backends.pool.latency.base: 1 s..3 s}"},
};

START_TEST(shorthands_are_spelled_out)
{
    const struct shorthand *one = &shorthands[_i];
    const char *text = plan_file_with(&file, pool, one->from, one->to);
    ck_assert_msg(!plan_file_read(&file, text, NULL, NULL), "no message for\n%s", text);
    const char *said = plan_file_said(&file);
    ck_assert_msg(file.diag.errors == 1, "%s", said);
    ck_assert_msg(strncmp(said, one->place, strlen(one->place)) == 0, "%s: expected it at %s", said, one->place);
    ck_assert_msg(strstr(said, one->words) != NULL, "%s: expected the words `%s`", said, one->words);
}
END_TEST

/* A range of --set is told there; one under sweep is right. */
START_TEST(ranges_elsewhere)
{
    const char *const sets[] = {"agents.coder.population=2..4", NULL};
    ck_assert(!plan_file_read(&file, pool, sets, NULL));
    const char *said = plan_file_said(&file);
    ck_assert_msg(strstr(said, "--set agents.coder.population:1:1: 2..4 is a range") == said, "%s", said);
    read_text(plan_file_with(&file, pool, "120}}\n", "120}}\nsweep: {agents.coder.population: 2..4}\ntitle: 2..4\n"));
    ck_assert_uint_eq(file.plan.point_count, 3);
}
END_TEST

/* What is said of a scenario that is read nevertheless; NULL: nothing. */
static const struct warning {
    const char *from, *to, *place, *words;
} warnings[] = {
    {"population: 4", "arrivals: all_at(101 s), runs: 3", "s.yaml:3:28:", "come after the end of the study, at 100 s"},
    {"population: 4", "arrivals: all_at(100 s), runs: 3", NULL, NULL},
    {"population: 4", "arrivals: all_at(99 s), runs: 3, start: 2 s", "s.yaml:3:28:", "come after the end"},
    {"population: 4", "arrivals: poisson(1/s), start: 200 s", "s.yaml:3:49:", "come after the end"},
    {"population: 4", "arrivals: even(1/h), start: 200 s", "s.yaml:3:46:", "come after the end"},
    {"population: 4", "population: 4, start: 100.5 s", "s.yaml:3:40:", "come after the end"},
    {"output: 120", "output: 120, client: {base: 0 s}", "s.yaml:3:66:", "never pause"},
    {"output: 120", "output: 120, client: {cap: 0 s}", "s.yaml:3:66:", "never pause"},
    {"output: 120", "output: 120, client: [{base: 0 s, attempts: 400}, {base: 0 s, attempts: 400}]",
     "s.yaml:3:66:", "never pause"},
    {"output: 120", "output: 120, client: {base: 0 s, attempts: 4}", NULL, NULL},
    {"output: 120", "output: 120, client: {base: 0 s, quota: aws}", NULL, NULL},
    {"output: 120", "output: 120, client: {base: 0 s, backoff: ub}", NULL, NULL},
    {"output: 120", "output: 120, client: [{base: 0 s, attempts: 400}, {base: 1 s}]", NULL, NULL},
};

START_TEST(seldom_meant)
{
    const struct warning *one = &warnings[_i];
    const char *text = plan_file_with(&file, pool, one->from, one->to);
    ck_assert_msg(plan_file_read(&file, text, NULL, NULL), "%s", plan_file_said(&file));
    const char *said = plan_file_said(&file);
    ck_assert_msg(file.diag.count == (one->place ? 1 : 0), "%s\n%s", said, text);
    if (!one->place)
        return;
    ck_assert_msg(strncmp(said, one->place, strlen(one->place)) == 0, "%s: expected it at %s", said, one->place);
    ck_assert_msg(strstr(said, ": coder: ") && strstr(said, one->words), "%s: expected `%s`", said, one->words);
}
END_TEST

Suite *shorthand_suite(void)
{
    Suite *suite = suite_create("shorthand");
    TCase *tcase = tcase_create("shorthand");
    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_loop_test(tcase, shorthands_are_spelled_out, 0, COUNT_OF(shorthands));
    tcase_add_test(tcase, ranges_elsewhere);
    tcase_add_loop_test(tcase, seldom_meant, 0, COUNT_OF(warnings));
    suite_add_tcase(suite, tcase);
    return suite;
}
