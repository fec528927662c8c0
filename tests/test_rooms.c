/* test_rooms.c - a bucket of a class or tenant that does not hold its largest call is refused where the scenario says
 * how large that is, and told where it does not. */
#include <check.h>
#include <string.h>

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

#define LIVE "population: 4, think: 4 s, tenant: t, backend: api, "

/* 2 M a minute for 6 s are 200,000, of which live has 70 % and batch 10 %. */
static const char *with(const char *batch, const char *policy)
{
    return arena_format(&file.arena,
                        "study: {horizon: 100 s}\n"
                        "backends: {api: {kind: provider, latency: {base: 1 s}}, tool: {kind: slots, servers: 1, rate: "
                        "1k tokens/s}}\n"
                        "agents: {live: {" LIVE "input: {start: 30k}, output: 100}, batch: {" LIVE "%s}}\n"
                        "policies: [p: [%s]]\n",
                        batch, policy);
}

#define SHARES "shares: {classes: live 70 % batch 10 %"

static const struct {
    const char *batch, *policy, *words; /* NULL: it holds the largest call */
} cases[] = {
    {"input: {start: 20k}", SHARES "}", NULL},
    {"input: {start: 20001}", SHARES "}",
     "shares: the largest call of batch takes 20001 of its bucket, which holds 20000: expected one that holds it"},
    {"input: {start: 20001}", SHARES ", rate: inf}", NULL},
    {"input: {start: 20001}", SHARES ", at: tool}", NULL},
    {"input: {start: 20001}", SHARES ", at: tool, scope: all}", NULL},
    {"input: {start: 20001}", "shares: {classes: live 70 %}", NULL},           /* batch is the rest: 60,000 */
    {"input: {start: 20001}", "shares: {classes: live 99 % batch 0 %}", NULL}, /* rejected, and says so */
    {"input: {start: 9k}", "shares: {classes: live 10 %}", "the largest call of live takes 30000"},
    {"input: {start: 9k}", "shares: {tenants: t 10 %}", "the largest call of live takes 30000"},
    {"input: {start: uniform(1k 30k)}", SHARES "}", "takes 30000 of"},
    {"input: {start: mixture(0.5 1k | 0.5 uniform(2k 21k))}", SHARES "}", "takes 21000 of"},
    {"input: {start: lognormal(9k cv 1 most 20001)}", SHARES "}", "takes 20001 of"},
    {"input: {start: 9k, per_turn: 1k, most: 20001}", SHARES "}", "takes 20001 of"},
    {"input: {start: 9k, per_turn: 1k, most: 20k}", SHARES "}", NULL},
    {"input: {start: 9k, per_turn: 1k}, turns: 12", SHARES "}", NULL},
    {"input: {start: 9k, per_turn: 1k}, turns: 13", SHARES "}", "takes 21000 of"},
    {"output: 300", SHARES ", meter: output, rate: 1k/s}", NULL},
    {"output: 601", SHARES ", meter: output, rate: 1k/s}", "takes 601 of its bucket, which holds 600"},
    {"output: lognormal(300 cv 1), max_tokens: 601", SHARES ", meter: output, rate: 1k/s}", "takes 601 of"},
    {"input: {start: 500}, output: 101", SHARES ", meter: total, rate: 6k/s}", "the largest call of live takes 30100"},
    {"output: 9", SHARES ", meter: requests, rate: 1/s}", "takes 1 of its bucket, which holds 0.6"},
    {"input: {start: 40k}", "token_bucket: {meter: input, rate: 2M/min, burst: 30k}", NULL}, /* of all at the gate */
    {"input: {start: 40k}", "token_bucket: {meter: input, rate: 2M/min, burst: 30k, scope: class}",
     "token_bucket: the largest call of batch takes 40000 of its bucket, which holds 30000"},
    {"input: {start: 40k}", "gcra: {meter: input, rate: 2M/min, burst: 30k, scope: tenant}", "gcra: the largest call"},
    {"input: {start: 40k}", "token_bucket: {meter: input, rate: 2M/min, burst: 30k, scope: class, counts: after}",
     NULL},
    /* parts, at the backend that they go to */
    {"fan_out: {to: tool, parts: 3, tokens: 700}", SHARES ", meter: output, rate: 1k/s, at: tool}",
     "the largest part of batch takes 700 of"},
    {"fan_out: {to: tool, parts: 3, tokens: 700}", SHARES ", meter: output, rate: 1k/s, at: api}", NULL},
    {"input: {start: 9k}, fan_out: {to: tool, parts: 3, tokens: 500}", SHARES ", meter: total, rate: 1k/s, at: tool}",
     NULL}, /* they send nothing */
};

START_TEST(rooms)
{
    const char *words = cases[_i].words, *said;
    bool read = plan_file_read(&file, with(cases[_i].batch, cases[_i].policy), NULL, NULL);

    said = plan_file_said(&file);
    ck_assert_msg(read == !words && file.diag.count == (words ? 1 : 0), "%s, %s: %s", cases[_i].batch, cases[_i].policy,
                  said);
    ck_assert_msg(!words || (strncmp(said, "s.yaml:4:16:", 12) == 0 && strstr(said, words)), "%s: %s", cases[_i].batch,
                  said);
}
END_TEST

/* 48 turns of four agents are 12 each; of 49 somebody has 13. */
START_TEST(turns_of_a_schedule)
{
    static const char *const turns[] = {"48", "49"};

    for (size_t i = 0; i < 2; i++) {
        const char *yaml = arena_format(&file.arena,
                                        "study: {horizon: 100 s}\n"
                                        "backends: {api: {kind: provider, latency: {base: 1 s}}}\n"
                                        "agents: {batch: {population: 4, input: {start: 9k, per_turn: 1k}, schedule: "
                                        "{turns: %s, over: 60 s}}}\n"
                                        "policies: [p: [shares: {classes: batch 10 %%}]]\n",
                                        turns[i]);

        ck_assert_int_eq(plan_file_read(&file, yaml, NULL, NULL), i == 0);
        ck_assert(i == 0 || strstr(plan_file_said(&file), "takes 21000 of"));
    }
}
END_TEST

/* Of sizes without bound the p99.9 is held against the bucket, of runs that grow for a number of turns that of each;
 * of what grows for ever nothing can be said. Each is told once, however many design points there are. */
START_TEST(sizes_without_bound)
{
    static const struct {
        const char *batch, *words;
    } some[] = {
        {"input: {start: lognormal(9k cv 0.2)}", NULL},
        {"input: {start: lognormal(9k cv 0.5)}",
         "s.yaml:4:16: shares: of 1,000 calls of batch about one takes more than 34654.2 of its bucket, which holds "
         "20000: expected one that holds nearly all of them"},
        {"input: {start: exponential(9k)}", "takes more than 62169.8 of"},
        {"input: {start: 9k, per_turn: 1k}, turns: geometric(2)", NULL},
        {"input: {start: 9k, per_turn: 1k}, turns: geometric(4)", "takes more than 33000 of"},
        {"input: {start: 9k, per_turn: 1k}", NULL},
    };
    static const char *const sets[] = {"sweep.agents.batch.population=[1, 2]", NULL};

    for (size_t i = 0; i < sizeof some / sizeof *some; i++) {
        bool read = plan_file_read(&file, with(some[i].batch, SHARES "}"), sets, NULL);

        ck_assert_msg(read && file.diag.count == (some[i].words ? 1 : 0), "%s: %s", some[i].batch,
                      plan_file_said(&file));
        ck_assert_msg(!some[i].words || strstr(plan_file_said(&file), some[i].words), "%s", plan_file_said(&file));
    }
}
END_TEST

Suite *rooms_suite(void)
{
    Suite *suite = suite_create("rooms");
    TCase *test = tcase_create("rooms");

    tcase_add_checked_fixture(test, setup, teardown);
    tcase_add_loop_test(test, rooms, 0, sizeof cases / sizeof *cases);
    tcase_add_test(test, turns_of_a_schedule);
    tcase_add_test(test, sizes_without_bound);
    suite_add_tcase(suite, test);
    return suite;
}
