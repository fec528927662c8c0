/* test_spill_read.c - a class with several backends as a scenario has it: values, hashes, mistakes. */
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

static const char *with(const char *backend)
{
    return arena_format(&file.arena,
                        "study: {horizon: 100 s}\n"
                        "backends: {card: {kind: slots, servers: 8, rate: 39 tokens/s, kv: 9k}, tier: {kind: slots, "
                        "servers: 9, service: 1 s}, old: {kind: slots, servers: 1, rate: 9 tokens/s, kv: 9k}}\n"
                        "agents: {coder: {population: 4, think: 4 s, output: 120, %s}}\n",
                        backend);
}

static const struct {
    const char *backend, *words;
} mistakes[] = {
    {"backend: [card, tier]", "coder has several backends: expected spill: refused, or wait > 10 s"},
    {"backend: [card], spill: refused", "spill: coder has one backend: expected a list of them"},
    {"backend: card, spill: wait > 3 s", "spill: coder has one backend"},
    {"backend: [], spill: refused", "backend: expected a name, or a list of names"},
    {"backend: [card, teir], spill: refused",
     "there is no backend teir: expected one of card, tier, old; did you mean"},
    {"backend: [card, [tier]], spill: refused", "backend: expected the name of a backend, not a list"},
    {"backend: [tier, tier], spill: refused", "backend: tier is there twice"},
    {"backend: [card, tier, old], spill: refused", "backend: a second one with a memory (kv)"},
    {"backend: [card, tier], spill: always", "spill: always: expected refused, wait > a time, such as wait > 10 s"},
    {"backend: [card, tier], spill: wait 10 s", "spill: wait 10 s: expected refused, wait > a time"},
    {"backend: [card, tier], spill: wait > 10", "spill: wait > 10: expected refused, wait > a time"},
};

START_TEST(mistakes_are_told)
{
    const char *text = with(mistakes[_i].backend);

    ck_assert_msg(!plan_file_read(&file, text, NULL, NULL), "no message for %s", mistakes[_i].backend);
    ck_assert_msg(file.diag.errors == 1 && strncmp(plan_file_said(&file), "s.yaml:3:", 9) == 0 &&
                      strstr(plan_file_said(&file), mistakes[_i].words) != NULL,
                  "%s: %s", mistakes[_i].backend, plan_file_said(&file));
}
END_TEST

START_TEST(values_and_hashes)
{
    static const char *const cases[] = {
        "backend: [card, tier], spill: refused", "backend: [tier, card], spill: refused",
        "backend: [card, tier], spill: wait > 10 s", "backend: [card, tier], spill: wait > 11 s", "backend: card"};
    enum { CASES = sizeof cases / sizeof *cases };
    static const char *const sets[] = {"sweep.agents.coder.spill=[none, refused, wait > 10 s]", NULL};
    uint64_t hashes[CASES];

    for (size_t i = 0; i < CASES; i++) {
        ck_assert_msg(plan_file_read(&file, with(cases[i]), NULL, NULL), "%s", plan_file_said(&file));
        hashes[i] = file.plan.hash;
        for (size_t k = 0; k < i; k++)
            ck_assert_uint_ne(hashes[i], hashes[k]);
    }
    ck_assert_msg(plan_file_read(&file, with(cases[0]), sets, NULL), "%s", plan_file_said(&file));
    ck_assert_uint_eq(file.plan.point_count, 3);
    ck_assert_int_eq(file.plan.points[2].scenario->classes[0].spill, SPILL_WAIT);
    ck_assert_int_eq(file.plan.points[2].scenario->classes[0].spill_after, 10 * SIM_SECOND);
    ck_assert_uint_eq(file.plan.points[2].scenario->classes[0].backends[1], 1);
    /* A list of one is that one. */
    ck_assert(plan_file_read(&file, with("backend: [tier]"), NULL, NULL));
    ck_assert_uint_eq(file.plan.points[0].scenario->classes[0].backend, 1);
}
END_TEST

Suite *spill_read_suite(void)
{
    Suite *suite = suite_create("spill_read");
    TCase *test = tcase_create("spill_read");

    tcase_add_checked_fixture(test, setup, teardown);
    tcase_add_loop_test(test, mistakes_are_told, 0, sizeof mistakes / sizeof *mistakes);
    tcase_add_test(test, values_and_hashes);
    suite_add_tcase(suite, test);
    return suite;
}
