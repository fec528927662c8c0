/* test_fan_out_read.c - `fan_out:` as it is written: what is said of mistakes, how it is shown, the hash. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "models/describe.h"
#include "tests/plan_file.h"
#include "tests/suites.h"

static struct plan_file file;

static void setup(void)
{
    plan_file_init(&file);
}

static void teardown(void)
{
    plan_file_fini(&file);
}

static const char *with(const char *fan_out)
{
    return arena_format(
        &file.arena,
        "study: {horizon: 100 s}\n"
        "backends: {card: {kind: slots, servers: 8, rate: 39 tokens/s, kv: 100k},\n"
        "  tool: {kind: slots, servers: 20, service: 500 ms}, crawl: {kind: slots, servers: 2, rate: 1k "
        "tokens/s}}\n"
        "agents: {coder: {population: 24, think: 4 s, output: 120, backend: card%s}}\n",
        fan_out);
}

static const struct fan_out_spec *spec_of(const char *fan_out)
{
    ck_assert_msg(plan_file_read(&file, with(arena_format(&file.arena, ", fan_out: %s", fan_out)), NULL, NULL), "%s",
                  plan_file_said(&file));
    return file.plan.points[0].scenario->classes[0].fan_out;
}

START_TEST(values)
{
    const struct fan_out_spec *spec = spec_of("{to: tool, parts: 200}");

    ck_assert_uint_eq(spec->to, 1);
    ck_assert_ptr_null(spec->tokens);
    ck_assert(spec->wait_for == UINT64_MAX && spec->parts_most == UINT64_MAX && spec->tokens_most == UINT64_MAX);
    spec = spec_of("{to: tool, parts: geometric(9), wait_for: 3, at_once: 8}");
    ck_assert(spec->wait_for == 3 && spec->parts_most == 8 && spec->tokens_most == UINT64_MAX);
    ck_assert(spec_of("{to: tool, parts: uniform(2 7.5), wait_for: 8}")->wait_for == 8); /* 7.5 are 8 */
    spec = spec_of("{to: crawl, parts: 9, tokens: lognormal(2k cv 1 most 40k), at_once: 40k tokens, wait_for: all}");
    ck_assert(spec->to == 2 && spec->parts_most == UINT64_MAX && spec->tokens_most == 40000);
    ck_assert(spec_of("{to: tool, parts: 9, tokens: mixture(0.5 10 | 0.5 uniform(3 40)), at_once: 40 tokens}"));
    ck_assert_uint_eq(spec_of("{to: tool, parts: 9, at_once: inf}")->parts_most, UINT64_MAX);
}
END_TEST

static const struct {
    const char *fan_out, *words;
} mistakes[] = {
    {"3", "fan_out: expected a mapping, such as fan_out: {to: tool, parts: 200, at_once: 8}, not"},
    {"{parts: 3}", "fan_out: needs to"},
    {"{to: tool}", "fan_out: needs parts"},
    {"{to: toll, parts: 3}", "there is no backend toll: expected one of card, tool, crawl; did you mean tool?"},
    {"{to: tool, parts: 3 s}", "3 s: expected a number of parts, such as 8"},
    {"{to: tool, parts: 3 turns}", "3 turns: expected a number of parts, such as 8"},
    {"{to: tool, parts: 1.5}", "fan_out: parts: 1.5: expected a whole number of parts"},
    {"{to: tool, parts: 3M}", "fan_out: parts: expected a mean of at most 1048576 parts a turn"},
    {"{to: tool, parts: 3, wait_for: some}", "wait_for: some: expected all, or a whole number of parts from 1 on"},
    {"{to: tool, parts: 3, wait_for: 0}", "wait_for: 0: expected all, or a whole number"},
    {"{to: tool, parts: 3, wait_for: 1.5}", "wait_for: 1.5: expected all, or a whole number"},
    {"{to: tool, parts: 3, wait_for: 2 tokens}", "wait_for: 2 tokens: expected all, or a whole number"},
    {"{to: tool, parts: 3, wait_for: 4}", "wait_for: 4: no turn has more than 3 parts: expected all, or at most so"},
    {"{to: tool, parts: uniform(2 7.4), wait_for: 8}", "wait_for: 8: no turn has more than 7 parts: expected all"},
    {"{to: tool, parts: 3, at_once: 0}", "at_once: 0: expected a whole number of parts from 1 on, such as 8, or of"},
    {"{to: tool, parts: 3, at_once: 8 s}", "at_once: 8 s: expected a whole number of parts"},
    {"{to: tool, parts: 3, at_once: 8 calls}", "at_once: 8 calls: expected a whole number of parts"},
    {"{to: tool, parts: 3, at_once: 40k tokens}", "expected tokens: of a part, since at_once counts tokens"},
    {"{to: crawl, parts: 3}", "expected tokens: of a part, which crawl takes time for"},
    {"{to: tool, parts: 3, tokens: exponential(2k), at_once: 40k tokens}", "expected a largest value, such as"},
    {"{to: tool, parts: 3, tokens: uniform(2k 50k), at_once: 40k tokens}", "of at most 40000"},
    {"{to: tool, parts: 3, tokens: mixture(0.5 9 | 0.5 41k), at_once: 40k tokens}", "of at most 40000"},
    {"{to: card, parts: 3, tokens: 5}", "card has a memory (kv), and parts have no context to keep there"},
    {"{to: tool, parts: 3, at_onec: 4}", "at_once"},
};

START_TEST(mistakes_are_told)
{
    const char *text = with(arena_format(&file.arena, ", fan_out: %s", mistakes[_i].fan_out));

    ck_assert_msg(!plan_file_read(&file, text, NULL, NULL), "no message for %s", mistakes[_i].fan_out);
    ck_assert_msg(file.diag.errors == 1 && strncmp(plan_file_said(&file), "s.yaml:4:", 9) == 0 &&
                      strstr(plan_file_said(&file), mistakes[_i].words) != NULL,
                  "%s: %s", mistakes[_i].fan_out, plan_file_said(&file));
}
END_TEST

static const char *printed(void (*print)(const struct plan *, FILE *))
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    const char *kept;

    print(&file.plan, out);
    fclose(out);
    kept = arena_text(&file.arena, text);
    free(text);
    return kept;
}

START_TEST(check_says_it)
{
    const char *said;

    spec_of("{to: tool, parts: 200, at_once: 8}");
    said = printed(describe_sentences);
    ck_assert_msg(strstr(said,
                         "coder: a turn makes 200 parts at tool and waits for all; of an agent 8 are under way at "
                         "the most.\n") != NULL,
                  "%s", said);
    ck_assert_msg(strstr(said, "coder: tool serves 40 parts/s at the most, those of 0.2 turns/s.\n") != NULL, "%s",
                  said);
    spec_of("{to: crawl, parts: geometric(4), tokens: 500, wait_for: 2, at_once: 40k tokens}");
    said = printed(describe_sentences);
    ck_assert_msg(strstr(said, "coder: a turn makes 4 parts on average at crawl and waits for 2 of them; of an agent "
                               "parts of 40000 tokens are under way at the most.\n") != NULL,
                  "%s", said);
    ck_assert_msg(strstr(said, "crawl serves 4 parts/s at the most, those of 1 turns/s.\n") != NULL, "%s", said);
}
END_TEST

/* A key may be swept; the defaults are shown; and each value decides numbers. */
START_TEST(sweeps_and_hashes)
{
    static const char *const cases[] = {
        "{to: tool, parts: 9, tokens: 10}",
        "{to: crawl, parts: 9, tokens: 10}",
        "{to: tool, parts: 8, tokens: 10}",
        "{to: tool, parts: 9, tokens: 11}",
        "{to: tool, parts: 9, tokens: 10, wait_for: 8}",
        "{to: tool, parts: 9, tokens: 10, at_once: 8}",
        "{to: tool, parts: 9, tokens: 10, at_once: 10 tokens}",
    };
    enum { CASES = sizeof cases / sizeof *cases };
    static const char *const sets[] = {"sweep.agents.coder.fan_out.at_once=[4, 40k tokens, inf]", NULL};
    uint64_t hashes[CASES + 1];

    for (size_t i = 0; i < CASES; i++) {
        spec_of(cases[i]);
        hashes[i] = file.plan.hash;
    }
    ck_assert(plan_file_read(&file, with(""), NULL, NULL));
    hashes[CASES] = file.plan.hash;
    for (size_t i = 0; i <= CASES; i++)
        for (size_t k = 0; k < i; k++)
            ck_assert_uint_ne(hashes[i], hashes[k]);
    ck_assert(plan_file_read(&file, with(", fan_out: {to: tool, parts: 9, tokens: 10}"), sets, NULL));
    ck_assert_uint_eq(file.plan.point_count, 3);
    ck_assert_uint_eq(file.plan.points[0].scenario->classes[0].fan_out->parts_most, 4);
    ck_assert_uint_eq(file.plan.points[1].scenario->classes[0].fan_out->tokens_most, 40000);
    ck_assert(strstr(printed(describe_scenario), "wait_for: all") != NULL);
}
END_TEST

Suite *fan_out_read_suite(void)
{
    Suite *suite = suite_create("fan_out_read");
    TCase *test = tcase_create("fan_out_read");

    tcase_add_checked_fixture(test, setup, teardown);
    tcase_add_test(test, values);
    tcase_add_loop_test(test, mistakes_are_told, 0, sizeof mistakes / sizeof *mistakes);
    tcase_add_test(test, check_says_it);
    tcase_add_test(test, sweeps_and_hashes);
    suite_add_tcase(suite, test);
    return suite;
}
