/* test_plan_rules.c - what a scenario is taken to mean where it could be taken otherwise, and what is said of it. */
#include <check.h>
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

static const char *card_and(const char *more)
{
    return arena_format(&file.arena, "%s%s\n", plan_file_card, more);
}

/* A plan of the card with one text replaced. */
static void read_card(const char *from, const char *to)
{
    ck_assert_msg(plan_file_read(&file, plan_file_with(&file, plan_file_card, from, to), NULL, NULL), "%s",
                  plan_file_said(&file));
}

static const char *sentences(void)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    describe_sentences(&file.plan, out);
    fclose(out);
    const char *copy = arena_text(&file.arena, text);
    free(text);
    return copy;
}

static void expect_words(const char *said, const char *words)
{
    ck_assert_msg(strstr(said, words) != NULL, "%s\nexpected the words `%s`", said, words);
}

/* What does not go together is told at the key that the words name. */
START_TEST(a_policys_check_points_at_a_key)
{
    static const char *const wrong[][2] = {
        {"folly_codel: {target: 8 s, interval: 5 s}", ":4:53: folly_codel: "},
        {"folly_codel: {target: 8 s, interval: 5 s}", "longer than target: (found target: 8 s, interval: 5 s)"},
        {"aimd: {least: 50, most: 40}", ":4:40: aimd: no limit is left"},
        {"folly_codel: {target: 800 s}", "longer than target: (found target: 800 s, interval: 0.1 s)"},
        {"shares: {rate: 9/min, classes: coder 70 % other 40 %}",
         ": shares: classes: expected shares of 100 % in all, or less (found classes: \"coder 70 % other 40 %\")"},
        {"shares: {tenants: a 70 % a 10 %}",
         ":4:34: shares: tenants: expected each name once (found tenants: \"a 70 %"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        const char *text = arena_format(&file.arena, "policies: [c: [%s]]", wrong[i][0]);
        ck_assert(!plan_file_read(&file, card_and(text), NULL, NULL));
        expect_words(plan_file_said(&file), wrong[i][1]);
    }
}
END_TEST

/* A preset may name another fleet's classes: that is a warning, and none where the scenario names its own. */
START_TEST(names_of_a_preset)
{
    ck_assert(plan_file_read(&file, card_and("policies: [c: [shares: {preset: published, rate: inf}]]"), NULL, NULL));
    expect_words(plan_file_said(&file), ":4:33: shares: the preset's classes are interactive 70 % background");
    expect_words(plan_file_said(&file), "there are none called interactive: whom it does not name has what is left; "
                                        "expected classes: of coder");
    ck_assert(plan_file_read(
        &file, card_and("policies: [c: [shares: {preset: published, rate: inf, classes: coder 9 %}]]"), NULL, NULL));
    ck_assert_str_eq(plan_file_said(&file), "");
}
END_TEST

/* The planner has one copy, whoever says so; and finds the member that it steers, or says so. */
START_TEST(a_planner_and_its_pacer)
{
    static const char *const wrong[][2] = {
        {"planner: {scope: gate}", ":4:33: scope: planner has one copy for all gates: expected all, or no scope"},
        {"pacer: {name: slow}, planner",
         "planner: pacer: no member of the chain is called pacer: expected one of slow"},
        {"pacer, planner: {pacer: slow}",
         "planner: pacer: no member of the chain is called slow: expected one of pacer"},
        {"planner: {pacer: slow}", "planner: pacer: no member of the chain is called slow: expected one of planner"}};
    static const char *const right[] = {"planner", "planner: {preset: pooled}", "planner: {scope: all}",
                                        "pacer, planner", "pacer: {name: slow}, planner: {pacer: slow}"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        const char *text = arena_format(&file.arena, "policies: [c: [%s]]", wrong[i][0]);
        ck_assert(!plan_file_read(&file, card_and(text), NULL, NULL));
        expect_words(plan_file_said(&file), wrong[i][1]);
    }
    for (size_t i = 0; i < sizeof right / sizeof *right; i++) {
        const char *text = arena_format(&file.arena, "policies: [c: [%s]]", right[i]);
        ck_assert_msg(plan_file_read(&file, card_and(text), NULL, NULL), "%s", plan_file_said(&file));
        const struct chain *chain = &file.plan.points[0].scenario->chain;
        ck_assert_int_eq(chain->members[chain->count - 1].scope, SCOPE_ALL);
    }
}
END_TEST

START_TEST(a_zip_that_lost_a_column_has_no_row_twice)
{
    const char *set[] = {"policies.fixed_cap.cap=3", NULL};
    const char *text = card_and("policies: [fixed_cap: {cap: 5}]\n"
                                "sweep: {zip: [{policies.fixed_cap.cap: 2, study.seed: 1}, {policies.fixed_cap.cap: 4, "
                                "study.seed: 1}, {policies.fixed_cap.cap: 6, study.seed: 2}]}");
    ck_assert(plan_file_read(&file, text, NULL, NULL));
    ck_assert_uint_eq(file.plan.point_count, 3);
    ck_assert(plan_file_read(&file, text, set, NULL));
    ck_assert_str_eq(plan_file_points(&file), "fixed_cap[fixed_cap{cap: 3}] 1; fixed_cap[fixed_cap{cap: 3}] 2");
}
END_TEST

/* Two columns that differ in the second smallest of many values only. */
START_TEST(every_value_of_a_file_counts)
{
    const char *text = "a,b\n";
    uint64_t hashes[2];
    for (int i = 1; i <= 200; i++)
        text = arena_format(&file.arena, "%s%d,%s\n", text, i, i == 2 ? "2.5" : arena_format(&file.arena, "%d", i));
    plan_file_write(&file, "t.csv", text);
    for (int i = 0; i < 2; i++) {
        /* The first class reads both, so that they are known in the same order. */
        const char *yaml =
            arena_format(&file.arena,
                         "study: {horizon: 9 s}\nbackends: {s: {kind: slots, servers: 1, rate: 9 "
                         "tokens/s}}\nagents:\n"
                         "  x: {population: 1, think: empirical(t.csv a s), output: empirical(t.csv b)}\n"
                         "  y: {population: 1, think: empirical(t.csv b s), output: 9}\n"
                         "  z: {population: 1, think: empirical(t.csv %s s), output: empirical(t.csv %s)}\n",
                         i ? "b" : "a", "a");
        ck_assert_msg(plan_file_read(&file, yaml, NULL, NULL), "%s", plan_file_said(&file));
        hashes[i] = file.plan.hash;
    }
    ck_assert_uint_ne(hashes[0], hashes[1]);
}
END_TEST

START_TEST(classes_do_not_share_a_stream)
{
    /* These two names have one address. */
    ck_assert(!plan_file_read(
        &file,
        plan_file_with(&file, plan_file_card, "{coder: {", "{c99: {population: 1, think: 1 s, output: 9}, c95827: {"),
        NULL, NULL));
    expect_words(plan_file_said(&file), "c99 and c95827 would draw the same random numbers");
}
END_TEST

START_TEST(a_poor_fit_is_a_warning)
{
    read_card("servers: 8, rate: 39 tokens/s",
              "servers: 3, throughput: {1: 10 tokens/s, 2: 20 tokens/s, 3: 15 tokens/s}");
    ck_assert_uint_eq(file.diag.count, 1);
    ck_assert(file.diag.messages[0].warning);
    expect_words(plan_file_said(&file), "misses that of 2 busy slots by 33.3 %");
    expect_words(sentences(), "3 points of throughput with a largest error of 33.33 %");
    /* Once, however many points there are. */
    const char *swept = plan_file_with(&file, card_and("sweep: {study.seed: [1, 2, 3]}"), "rate: 39 tokens/s",
                                       "throughput: {1: 10 tokens/s, 2: 20 tokens/s, 4: 20 tokens/s}");
    ck_assert(plan_file_read(&file, swept, NULL, NULL));
    ck_assert_uint_eq(file.diag.count, 1);
}
END_TEST

START_TEST(a_fit_says_how_far_it_reaches)
{
    read_card("rate: 39 tokens/s", "throughput: {1: 56 tokens/s, 8: 311 tokens/s}");
    ck_assert_uint_eq(file.diag.count, 0);
    expect_words(sentences(), "two points of throughput, which always fit exactly");
    ck_assert_ptr_null(strstr(sentences(), "extrapolated"));
    read_card("rate: 39 tokens/s", "throughput: {1: 56 tokens/s, 4: 190 tokens/s}");
    ck_assert_uint_eq(file.diag.count, 0);
    expect_words(sentences(), "measured up to 4 busy slots; from 5 on it is extrapolated");
    read_card("rate: 39 tokens/s", "throughput: {1: 56 tokens/s, 3: 150 tokens/s}");
    ck_assert_uint_eq(file.diag.count, 1);
    expect_words(plan_file_said(&file), "up to 3 busy slots only, and extrapolated to 8");
    read_card("rate: 39 tokens/s", "throughput: {8: 312 tokens/s}");
    ck_assert_uint_eq(file.diag.count, 0);
    expect_words(sentences(), "one point, taken as a constant rate");
    /* Points on a line through 0, but for rounding. */
    read_card("rate: 39 tokens/s", "throughput: {1: 9.7 tokens/s, 3: 29.1 tokens/s, 7: 67.9 tokens/s}");
    ck_assert(file.plan.points[0].scenario->backends[0].constant);
}
END_TEST

/* Capacity and knee as in models/demand.h: 8 slots at 25.7 ms a token, 18 ms alone; (2.16 + 4.5) s x 8 / 3.084 s. */
START_TEST(the_knee_counts_service_at_the_greatest_speed)
{
    read_card("rate: 39 tokens/s", "step_time: {base: 16.9 ms, per_busy_slot: 1.1 ms}");
    expect_words(sentences(), "service takes 3.084 s on average with all slots busy and 2.16 s at the greatest speed");
    expect_words(sentences(), "the capacity is 2.594 turns/s");
    expect_words(sentences(), "the knee is at 17.28 agents");
}
END_TEST

/* A backend's classes, and what is said of them together; NULL: nothing. */
static void expect_together(const char *backends, const char *agents, const char *words)
{
    ck_assert_msg(plan_file_read(&file,
                                 arena_format(&file.arena, "study: {horizon: 9 s}\nbackends: {%s}\nagents: {%s}\n",
                                              backends, agents),
                                 NULL, NULL),
                  "%s", plan_file_said(&file));
    if (words)
        expect_words(sentences(), words);
    else
        ck_assert_ptr_null(strstr(sentences(), "together"));
}

#define CARD "card: {kind: slots, servers: 8, rate: 39 tokens/s}"
#define CODER "coder: {population: 24, think: 4.5 s, output: 120"
#define VISITOR "visitor: {arrivals: poisson(1/s), output: 156"
#define REVIEWER "reviewer: {arrivals: poisson(12/min), turns: constant(5), think: 1 s, output: 156"

/* Of 312 tokens/s: 24 coders at their knee of 2.6 x (120 / 39 + 4.5) = 19.7 agents ask for 121.8 %, a visitor a second
 * for 50 %, and so do reviewers; at another speed of their own, capacity and service at the greatest speed count. */
START_TEST(classes_that_share_a_backend_add_up)
{
    expect_together(
        CARD, CODER "}, " VISITOR "}",
        "\n# coder, visitor on card, together: if nobody waited they would ask for 171.8 % of the capacity, "
        "arrivals alone for 50 %.\n");
    expect_together(
        CARD, CODER "}, other: {population: 12, think: 4.5 s, output: 120}",
        "\n# coder, other on card, together: if nobody waited they would ask for 182.7 % of the capacity.\n");
    expect_together(
        CARD, VISITOR "}, " REVIEWER "}",
        "\n# visitor, reviewer on card, together: arrivals ask for 100 % of the capacity, so the line grows "
        "without end.\n");
    expect_together("card: {kind: slots, servers: 9, rate: 39 tokens/s}", VISITOR "}, " REVIEWER "}",
                    "\n# visitor, reviewer on card, together: arrivals ask for 88.89 % of the capacity.\n");
    expect_together("card: {kind: slots, servers: 8, step_time: {base: 16.9 ms, per_busy_slot: 1.1 ms}}",
                    CODER "}, other: {population: 5, think: 4.5 s, output: 120}",
                    "together: if nobody waited they would ask for 167.9 % of the capacity.\n");
    expect_together(CARD, CODER "}", NULL);
    expect_together(CARD ", tool: {kind: slots, servers: 1, service: 1 s}",
                    CODER ", backend: card}, " VISITOR ", backend: tool}", NULL);
    expect_together(CARD, CODER "}, batch: {arrivals: all_at(0 s), runs: 4, output: 9}", NULL);
}
END_TEST

START_TEST(no_policies_means_unbounded)
{
    const char *only[] = {"lifo", NULL};
    ck_assert(plan_file_read(&file, plan_file_card, NULL, NULL));
    expect_words(sentences(), "there is no `policies:`, so everything is admitted");
    ck_assert(plan_file_read(&file, card_and("policies: [unbounded]"), NULL, NULL));
    ck_assert_ptr_null(strstr(sentences(), "there is no"));
    ck_assert(plan_file_read(&file, plan_file_card, NULL, only));
    ck_assert_ptr_null(strstr(sentences(), "there is no"));
}
END_TEST

/* What a sweep replaces is read all the same; what is left to it is not asked for. */
START_TEST(a_base_value_under_a_sweep_is_checked)
{
    const char *swept = card_and("sweep: {agents.coder.population: [8, 9]}");
    ck_assert(plan_file_read(&file, plan_file_with(&file, swept, "population: 24, ", ""), NULL, NULL));
    ck_assert(!plan_file_read(&file, plan_file_with(&file, swept, "24", "-4"), NULL, NULL));
    ck_assert_uint_eq(file.diag.errors, 1);
    expect_words(plan_file_said(&file), "s.yaml:3:30: coder: population");
    ck_assert(!plan_file_read(
        &file, card_and("policies: [fixed_cap: {cap: 0}]\nsweep: {policies.fixed_cap.cap: [3, 4]}"), NULL, NULL));
    expect_words(plan_file_said(&file), "s.yaml:4:29: fixed_cap: cap");
    ck_assert(
        plan_file_read(&file, card_and("policies: [fixed_cap]\nsweep: {policies.fixed_cap.cap: [3, 4]}"), NULL, NULL));
}
END_TEST

Suite *plan_rules_suite(void)
{
    Suite *suite = suite_create("plan_rules");
    TCase *tcase = tcase_create("plan_rules");
    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, a_policys_check_points_at_a_key);
    tcase_add_test(tcase, names_of_a_preset);
    tcase_add_test(tcase, a_planner_and_its_pacer);
    tcase_add_test(tcase, a_zip_that_lost_a_column_has_no_row_twice);
    tcase_add_test(tcase, every_value_of_a_file_counts);
    tcase_add_test(tcase, classes_do_not_share_a_stream);
    tcase_add_test(tcase, a_poor_fit_is_a_warning);
    tcase_add_test(tcase, a_fit_says_how_far_it_reaches);
    tcase_add_test(tcase, the_knee_counts_service_at_the_greatest_speed);
    tcase_add_test(tcase, classes_that_share_a_backend_add_up);
    tcase_add_test(tcase, no_policies_means_unbounded);
    tcase_add_test(tcase, a_base_value_under_a_sweep_is_checked);
    suite_add_tcase(suite, tcase);
    return suite;
}
