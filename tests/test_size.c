/* test_size.c - `weir size`: the card's population, and each thing that the command says. */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/command_fixture.h"
#include "tests/suites.h"

#define CARD(horizon) \
    "study: {horizon: " horizon " s, warmup: 500 s}\n" \
    "backends: {card: {kind: slots, servers: 8, rate: 39 tokens/s}}\n" \
    "agents: {coder: {population: 24, think: exponential(4.5 s), output: mixture(0.7 lognormal(120 cv 0.45) | 0.3 " \
    "lognormal(900 cv 0.35)), client: {base: 16 s, cap: 120 s, retry_after: ignore}}}\n"
#define AGENTS(more) "size: {vary: agents.coder.population, within: 1..64" more "}\n"

static int quick(int whole, int few)
{
    return getenv("WEIR_QUICK") ? few : whole;
}

/* The card of the published tables: 12 is the largest population with a p99 wait of 10 s, whatever the seed; and a
 * sweep that looked at each of the sizes as often as this looks at the easiest ones would take three times as long. */
START_TEST(twelve_agents)
{
    int seeds = quick(10, 2), right = 0;

    plan_file_write(&file, "s.yaml", CARD("5000") AGENTS(", goal: wait_p99 <= 10 s"));
    for (int seed = 1; seed <= seeds; seed++) {
        const char *said =
            SAID("size", file.path, "--set", arena_format(&file.arena, "study.seed=%d", seed), "--color", "never");
        const char *count = strstr(said, " replications of ");
        int answer = atoi(said);

        ck_assert_ptr_nonnull(count);
        right += answer == 12;
        while (count[-1] != '\n')
            count--;
        ck_assert_int_lt(atoi(count), 64 * 10 / 3);
        ck_assert_int_ge(answer, 11); /* then 12 is undecided, and the interval holds it */
        ck_assert(answer == 12 || strstr(said, "undecided is: 12"));
    }
    ck_assert_int_ge(right, seeds - 1);
}
END_TEST

START_TEST(the_first_line_is_a_sentence)
{
    const char *said;

    plan_file_write(&file, "s.yaml", CARD("8000") AGENTS(", goal: [wait_p99 <= 10 s, deferred_share <= 30 %]"));
    said = SAID("size", file.path);
    ck_assert_ptr_eq(strstr(said, "12 is the largest agents.coder.population that meets wait_p99 <= 10 s and "
                                  "deferred_share <= 30 % under unbounded (wait_p99 "),
                     said);
    program_has(said, "s, deferred_share 0): 13 misses with wait_p99 ");
    program_has(said, " s.\n\n");
    /* nine looks at two goals, each as sure as makes 95 % of all */
    program_has(said, "a t interval of 99.7222 % over replications: 95 % over");
    program_has(said, "unbounded  13          misses ");
    program_has(said,
                "In your stack: the number of agents that may be at work at once, in whatever starts them, is 12.\n");
    program_has(said, "max_num_seqs (or the number of slots) of card is 8");
    program_has(said, "Not modelled: KV memory that runs out (kv); the time to read a prompt (prefill); that a slot");
    PROGRAM_RUN(&program, NULL, "size", file.path, "--format", "csv");
    said = program.out;
    program_has(program.err, "12 is the largest ");
    ck_assert_ptr_eq(strstr(said, "policy,agents.coder.population,verdict,replications,wait_p99,wait_p99_hw,"), said);
}
END_TEST

START_TEST(same_digits_with_any_number_of_threads)
{
    const char *one;

    plan_file_write(&file, "s.yaml",
                    "study: {horizon: 2000 s, warmup: auto}\n"
                    "backends: {card: {kind: slots, servers: 8, service: exponential(9 s)}}\n"
                    "agents: {coder: {population: 24, think: exponential(4.5 s)}}\n" AGENTS(
                        ", goal: wait_mean <= 3 s, least: 5, most: 30"));
    one = SAID("size", file.path, "-j", "1");
    program_same(SAID("size", file.path, "-j", "2"), one);
    program_same(SAID("size", file.path, "-j", "7"), one);
}
END_TEST

/* What a size is told of is the same as what a run of it is. */
START_TEST(a_rung_is_a_run)
{
    const char *rungs, *run, *at;
    char count[8], value[32];

    plan_file_write(&file, "s.yaml", CARD("2000") AGENTS(", goal: wait_p99 <= 10 s"));
    PROGRAM_RUN(&program, NULL, "size", file.path, "--format", "csv");
    rungs = arena_text(&file.arena, program.out);
    program_fini(&program);
    at = strstr(rungs, "\nunbounded,12,");
    ck_assert_ptr_nonnull(at);
    ck_assert_int_eq(sscanf(at, "\nunbounded,12,%*[a-z],%7[0-9],%31[0-9.],", count, value), 2);
    run = SAID("run", file.path, "--set", "agents.coder.population=12", "-r", count, "--format", "csv");
    program_has(run, arena_format(&file.arena, ",%s,", value));
}
END_TEST

START_TEST(nothing_meets)
{
    plan_file_write(&file, "s.yaml", CARD("2000") AGENTS(", goal: goodput >= 2/s"));
    PROGRAM_RUN(&program, NULL, "size", file.path);
    ck_assert_int_eq(program.status, 1);
    program_has(program.out, "No agents.coder.population from 1 to 64 surely meets goodput >= 2/s under unbounded.\n");
    program_lacks(program.out, "In your stack");
    program_fini(&program);
    /* and when the last of them does */
    program_has(SAID("size", file.path, "--set", "size.goal=goodput <= 2/s"),
                "64 is the largest agents.coder.population that meets goodput <= 2/s under unbounded");
}
END_TEST

/* The smallest of a list that is no population, of the alternative that has it. */
START_TEST(a_cap)
{
    const char *said;

    plan_file_write(&file, "s.yaml",
                    CARD("4000") "policies: [unbounded, fixed_cap: {cap: 12}]\n"
                                 "size: {vary: policies.fixed_cap.cap, within: [8, 10, 12, 16, 20, 24], goal: "
                                 "deferred_share <= 35 %}\n");
    said = SAID("size", file.path);
    ck_assert_ptr_eq(strstr(said, "16 is the smallest policies.fixed_cap.cap that meets deferred_share <= 35 % under "
                                  "fixed_cap (deferred_share 0."),
                     said);
    program_has(said, "): 12 misses with deferred_share 0.");
    program_has(said, "the limit of requests in flight in the gateway before the engine, which answers");
    program_lacks(said, "\nunbounded ");
}
END_TEST

START_TEST(a_frontier)
{
    const char *said;

    plan_file_write(&file, "s.yaml",
                    CARD("4000") "policies: [fixed_cap: {cap: 12}]\n"
                                 "size: {vary: [policies.fixed_cap.cap, agents.coder.population], within: "
                                 "{policies.fixed_cap.cap: [8, 12], agents.coder.population: 12..24}, goal: "
                                 "deferred_share <= 25 %}\n");
    said = SAID("size", file.path);
    program_has(said, " is the largest agents.coder.population that meets deferred_share <= 25 % under fixed_cap, "
                      "policies.fixed_cap.cap 8 (");
    program_has(said, " under fixed_cap, policies.fixed_cap.cap 12 (");
    ck_assert_int_lt(atoi(said), atoi(strchr(said, '\n') + 1)); /* a larger cap carries more */
}
END_TEST

START_TEST(ranges_and_break_even)
{
    const char *said, *servers, *think;

    plan_file_write(&file, "s.yaml",
                    CARD("2000") AGENTS(
                        ", resolution: 5 %, goal: wait_p99 <= 10 s, ranges: {agents.coder.think: [exponential(4 s), "
                        "exponential(5 s)], backends.card.servers: [6, 16]}"));
    said = SAID("size", file.path);
    program_has(said, "Ranges, widest swing first");
    servers = strstr(said, "\nunbounded  backends.card.servers  6");
    think = strstr(said, "\nunbounded  agents.coder.think ");
    ck_assert(servers && think && servers < think); /* the wider swing is first */
    program_has(said, "the scenario asks for agents.coder.population 24, which does not surely meet");
    /* 24 agents are carried from 13 or 14 slots on: the knee is c x 13.6 / 9.08 */
    ck_assert(strstr(servers, " 13 to 14 ") || strstr(servers, " 14 to 15 "));
    said = SAID("size", file.path, "--set", "agents.coder.population=10");
    program_lacks(said, "break_even");
}
END_TEST

/* Sizes whose order is not that of what they do. */
START_TEST(not_monotone)
{
    plan_file_write(&file, "s.yaml",
                    CARD("3000") "size: {vary: backends.card.servers, within: [6, 16, 10, 4], goal: wait_p99 <= 0 s, "
                                 "least: 5}\n");
    PROGRAM_RUN(&program, NULL, "size", file.path);
    ck_assert_int_eq(program.status, 1);
    program_has(program.out, "Not monotone: wait_p99 rises from 16 to 4 and falls from 6 to 16 (unbounded)");
    program_fini(&program);
    PROGRAM_RUN(&program, NULL, "size", file.path, "--set", "size.within=[4, 6, 10]");
    program_lacks(program.out, "Not monotone");
}
END_TEST

START_TEST(without_a_goal)
{
    const char *said;

    plan_file_write(&file, "s.yaml", CARD("3000") "size: {vary: agents.coder.population, within: 1..32, least: 4}\n");
    said = SAID("size", file.path);
    ck_assert_ptr_eq(strstr(said, "No goal: at agents.coder.population 32 a task takes 2."), said);
    program_has(said, "unbounded  1                      4 ");
    program_has(said, " 1\n"); /* alone it is itself, to the last digit */
    /* 16 slots more carry them all: a rung that is no population has one agent alone at the same rung */
    said = SAID("size", file.path, "--set", "size={vary: backends.card.servers, within: [8, 24], least: 4}");
    ck_assert_ptr_eq(strstr(said, "No goal: at backends.card.servers 24 a task takes "), said);
}
END_TEST

START_TEST(a_picture)
{
    plan_file_write(&file, "s.yaml", CARD("1500") AGENTS(", goal: wait_p99 <= 10 s, most: 10"));
    PROGRAM_RUN(&program, NULL, "size", file.path, "--plot", in_folder("pictures"));
    ck_assert_int_eq(program.status, 0);
    ck_assert_int_eq(access(in_folder("pictures/s.size.wait_p99.svg"), F_OK), 0);
    ck_assert_int_eq(access(in_folder("pictures/s.size.wait_p99.png"), F_OK), 0);
}
END_TEST

/* Open arrivals past what the server makes: no warm-up is found there, and the number grows. */
START_TEST(sizes_without_a_steady_state)
{
    plan_file_write(&file, "s.yaml",
                    "study: {horizon: 5000 s, warmup: auto}\n"
                    "backends: {b: {kind: slots, servers: 1, service: exponential(1 s)}}\n"
                    "agents: {a: {arrivals: poisson(0.5/s)}}\n"
                    "size: {vary: agents.a.arrivals, within: [poisson(0.5/s), poisson(0.7/s), poisson(1.3/s)], prefer: "
                    "largest, goal: wait_mean <= 5 s}\n");
    program_has(SAID("size", file.path), "poisson(0.7/s) is the largest agents.a.arrivals that meets wait_mean <= 5 s");
    program_has(SAID("size", file.path), "Grows: at poisson(1.3/s) the number in the system");
}
END_TEST

START_TEST(bad_input)
{
    static const struct {
        const char *size, *said;
    } cases[] = {
        {"", " does not say what to vary: expected size: {vary: ADDRESS, within: 1..64, goal: wait_p99 <= 15 s}"},
        {"size: {vary: agents.coder.population}\n", "s.yaml:4:7: error: size: expected what is varied and its values, "
                                                    "such as {vary: agents.coder.population, within: "
                                                    "1..64, goal: wait_p99 <= 15 s}"},
        {AGENTS(", goal: wait_p99 < 15 s"),
         "s.yaml:4:60: error: size: goal: expected METRIC <= VALUE or METRIC >= VALUE, such as wait_p99 <= 15 s"},
        {AGENTS(", goal: wait_p9 <= 15 s"), "error: size: goal: there is no metric wait_p9: expected one of"},
        {AGENTS(", goal: wait_p99 <= 15"),
         "error: size: goal: wait_p99 <= 15: expected a value of wait_p99 in s, such as 15 s"},
        {AGENTS(", goal: goodput >= 0.5"),
         "error: size: goal: goodput >= 0.5: expected a value of goodput in turns/s, such as 2 turns/s"},
        {AGENTS(", goal: deferred_share <= 3 s"), "expected a value of deferred_share, such as 30 %"},
        {"size: {vary: agents.coder.populaton, within: 1..64}\n", "did you mean population?"},
        {"size: {vary: agents.coder.population, within: 64..1}\n", "s.yaml:4:47: error: expected a range that ascends"},
        {"size: {vary: [a, b, c], within: 1..64}\n",
         "s.yaml:4:14: error: size: vary: expected the address of a value, or a list of two"},
        {"size: {vary: [agents.coder.population, backends.card.servers], within: 1..64}\n",
         "error: size: within: expected a mapping with the values of each: {agents.coder.population: 1..64, ...}"},
        {AGENTS(", least: 30, most: 20"), "error: size: least is 30 and most 20: expected the least not to be above"},
        {AGENTS(", ranges: {agents.coder.think: 4 s}"),
         "error: size: ranges: agents.coder.think: expected its two ends, such as [30k, 60k]"},
        {AGENTS(", gaol: wait_p99 <= 15 s"), "did you mean goal?"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        plan_file_write(&file, "s.yaml", arena_format(&file.arena, "%s%s", CARD("2000"), cases[i].size));
        PROGRAM_RUN(&program, NULL, "size", file.path);
        ck_assert_msg(program.status == 2, "%s: %d %s", cases[i].size, program.status, program.out);
        program_has(program.err, cases[i].said);
        ck_assert_str_eq(program.out, "");
        program_fini(&program);
    }
}
END_TEST

Suite *size_suite(void)
{
    Suite *suite = suite_create("size");
    TCase *test = tcase_create("size");

    tcase_add_checked_fixture(test, setup, teardown);
    tcase_set_timeout(test, 0);
    tcase_add_test(test, twelve_agents);
    tcase_add_test(test, the_first_line_is_a_sentence);
    tcase_add_test(test, same_digits_with_any_number_of_threads);
    tcase_add_test(test, a_rung_is_a_run);
    tcase_add_test(test, nothing_meets);
    tcase_add_test(test, a_cap);
    tcase_add_test(test, a_frontier);
    tcase_add_test(test, ranges_and_break_even);
    tcase_add_test(test, not_monotone);
    tcase_add_test(test, without_a_goal);
    tcase_add_test(test, a_picture);
    tcase_add_test(test, sizes_without_a_steady_state);
    tcase_add_test(test, bad_input);
    suite_add_tcase(suite, test);
    return suite;
}
