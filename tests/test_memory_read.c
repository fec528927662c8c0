/* test_memory_read.c - kv and prefill of a slots backend: what is read, refused and said. */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "models/describe.h"
#include "models/memory_use.h"
#include "models/readers.h"
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

/* The card with more keys of its backend. */
static const char *card_with(const char *keys)
{
    return plan_file_with(&file, plan_file_card, "39 tokens/s", arena_format(&file.arena, "39 tokens/s, %s", keys));
}

static const struct backend *read_card(const char *keys)
{
    ck_assert_msg(plan_file_read(&file, card_with(keys), NULL, NULL), "%s", plan_file_said(&file));
    return &file.plan.points[0].scenario->backends[0];
}

static void expect_refused(const char *text, const char *const *sets, const char *place, const char *words)
{
    const char *said;

    ck_assert_msg(!plan_file_read(&file, text, sets, NULL), "no message for\n%s", text);
    said = plan_file_said(&file);
    ck_assert_msg(file.diag.errors == 1 && strncmp(said, place, strlen(place)) == 0 && strstr(said, words),
                  "%s\nexpected one message at %s with `%s`", said, place, words);
}

static void expect_sentence(const struct plan *plan, const char *words, bool there)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);

    describe_sentences(plan, out);
    fclose(out);
    ck_assert_msg((strstr(text, words) != NULL) == there, "%s\n%s `%s`", text, there ? "lacks" : "has", words);
    free(text);
}

START_TEST(memory_and_prefill_are_read)
{
    const struct backend *card = read_card("kv: 302921 tokens, prefill: 5000 tokens/s");

    ck_assert_uint_eq(card->kv, 302921);
    ck_assert_double_eq(card->prefill, 5000);
    ck_assert_int_eq(card->kv_place.line, 2);
    ck_assert_int_eq(card->kv_place.column, 67);
    card = read_card("kv: 300k, prefill: 962/s");
    ck_assert_uint_eq(card->kv, 300000);
    ck_assert_double_eq(card->prefill, 962);
    card = read_card("kv: inf, prefill: inf");
    ck_assert_uint_eq(card->kv, UINT64_MAX);
    ck_assert_double_eq(card->prefill, INFINITY);
    ck_assert(plan_file_read(&file, plan_file_card, NULL, NULL));
    card = &file.plan.points[0].scenario->backends[0];
    ck_assert_uint_eq(card->kv, UINT64_MAX);
    ck_assert_double_eq(card->prefill, INFINITY);
}
END_TEST

START_TEST(bad_values_are_refused)
{
    expect_refused(card_with("kv: 0"), NULL, "s.yaml:2:67", "of at least 1");
    expect_refused(card_with("kv: 1.5"), NULL, "s.yaml:2:67", "whole number");
    expect_refused(card_with("kv: 8 runs"), NULL, "s.yaml:2:67", "counts something else");
    expect_refused(card_with("kv: 8 s"), NULL, "s.yaml:2:67", "a count has no unit");
    expect_refused(card_with("prefill: 5000"), NULL, "s.yaml:2:72", "needs its unit");
    expect_refused(card_with("prefill: 0 tokens/s"), NULL, "s.yaml:2:72", "of at least 1 tokens/h");
    expect_refused(card_with("prefill: 50 requests/s"), NULL, "s.yaml:2:72", "counts something else");
    expect_refused(card_with("prefil: 50 tokens/s"), NULL, "s.yaml:2:63", "did you mean prefill?");
}
END_TEST

/* The card's class has an output of 120 tokens. */
START_TEST(a_memory_without_room_for_a_call_is_refused)
{
    const char *const set[] = {"backends.card.kv=119", NULL}, *const fits[] = {"backends.card.kv=120", NULL};

    expect_refused(card_with("kv: 119"), NULL, "s.yaml:2:67", "of coder takes 120 tokens on average");
    expect_refused(card_with("kv: 119"), NULL, "s.yaml:2:67", "room for 119");
    expect_refused(card_with("kv: 500"), set, "--set", "room for 119");
    ck_assert(plan_file_read(&file, card_with("kv: 119"), fits, NULL));
    expect_refused(arena_format(&file.arena, "%ssweep: {backends.card.kv: [120, 7, 200]}\n", card_with("kv: 120")),
                   NULL, "s.yaml:4:33", "room for 7:");
}
END_TEST

static const struct dist *constant(double value)
{
    struct dist *dist = arena_zeroed(&file.arena, 1, sizeof *dist);

    *dist = (struct dist){.kind = DIST_CONSTANT, .a = value, .most = INFINITY};
    return dist;
}

/* The check of a class that sends so much, and answers 120 tokens. */
static bool fits(double start, double most, double max_tokens)
{
    struct input_spec spec = {.start = constant(start), .per_turn = constant(0), .most = most, .cached_share = 1};
    struct reader reader = {.arena = &file.arena, .diag = &file.diag};
    struct scenario scenario = *file.plan.points[0].scenario;
    struct agent_class class = scenario.classes[0];

    class.input = &spec;
    class.max_tokens = max_tokens;
    scenario.classes = &class;
    return memory_check(&reader, &scenario);
}

START_TEST(input_counts_up_to_what_is_cut)
{
    read_card("kv: 1000");
    ck_assert(fits(880, INFINITY, INFINITY));
    ck_assert(!fits(881, INFINITY, INFINITY));
    ck_assert(fits(5000, 880, INFINITY));
    ck_assert(fits(990, INFINITY, 10));
    ck_assert(!fits(991, INFINITY, 10));
}
END_TEST

START_TEST(the_hash_tells_memory_and_prefill)
{
    static const char *const keys[] = {"kv: 999", "kv: 998", "kv: 999, prefill: 5000/s", "kv: 999, prefill: 5001/s",
                                       "prefill: 5000/s"};
    uint64_t hashes[6];

    ck_assert(plan_file_read(&file, plan_file_card, NULL, NULL));
    hashes[5] = file.plan.hash;
    for (size_t i = 0; i < 5; i++) {
        read_card(keys[i]);
        hashes[i] = file.plan.hash;
    }
    for (size_t i = 0; i < 6; i++)
        for (size_t j = 0; j < i; j++)
            ck_assert_uint_ne(hashes[i], hashes[j]);
    read_card("kv: inf, prefill: inf"); /* which are the defaults */
    ck_assert_uint_eq(file.plan.hash, hashes[5]);
}
END_TEST

START_TEST(check_says_what_fits)
{
    struct input_spec spec = {.start = constant(880), .per_turn = constant(0), .most = INFINITY, .cached_share = 0.75};
    struct scenario scenario;
    struct agent_class class;
    struct plan_point point;
    struct plan plan;

    read_card("kv: 999");
    expect_sentence(&file.plan, "# coder on card: kv holds 8.325 contexts of the mean size, 120 tokens.", true);
    expect_sentence(&file.plan, "prefill", false);
    expect_sentence(&file.plan, "cannot all keep their contexts", false); /* it costs nothing */
    expect_sentence(&file.plan, "service takes 3.077 s on average, so the capacity is 2.6 turns/s.", true);
    ck_assert(plan_file_read(&file, plan_file_card, NULL, NULL));
    expect_sentence(&file.plan, "kv holds", false);

    read_card("kv: 3000, prefill: 1000 tokens/s");
    plan = file.plan;
    scenario = *plan.points[0].scenario;
    point = plan.points[0];
    class = scenario.classes[0];
    class.input = &spec;
    scenario.classes = &class;
    point.scenario = &scenario;
    plan.points = &point;
    expect_sentence(&plan, "# coder on card: kv holds 3 contexts of the mean size, 1000 tokens.", true);
    expect_sentence(&plan,
                    "# coder on card: prefill takes 0.22 s for the new part of the mean input, and 0.88 s for "
                    "the whole of it.",
                    true);
    /* 0.22 + 120 / 39 s, three at once */
    expect_sentence(
        &plan, "service takes 3.297 s on average while contexts are kept, so the capacity is 0.9099 turns/s.", true);
    expect_sentence(&plan,
                    "coder on card: more than 3 agents cannot all keep their contexts; where all are gone the "
                    "capacity is 0.7582 turns/s.",
                    true); /* 3 / (0.88 + 120 / 39) */
}
END_TEST

Suite *memory_read_suite(void)
{
    Suite *suite = suite_create("memory_read");
    TCase *test = tcase_create("memory_read");

    tcase_add_checked_fixture(test, setup, teardown);
    tcase_add_test(test, memory_and_prefill_are_read);
    tcase_add_test(test, bad_values_are_refused);
    tcase_add_test(test, a_memory_without_room_for_a_call_is_refused);
    tcase_add_test(test, input_counts_up_to_what_is_cut);
    tcase_add_test(test, the_hash_tells_memory_and_prefill);
    tcase_add_test(test, check_says_what_fits);
    suite_add_tcase(suite, test);
    return suite;
}
