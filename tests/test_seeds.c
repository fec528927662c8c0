/* test_seeds.c - the mapping `seeds:`: whose they are, what goes before them, and bad input. */
#include <check.h>
#include <string.h>

#include "tests/command_fixture.h"
#include "tests/suites.h"

static const char head[] = "study: {horizon: 100 s}\n"
                           "backends:\n"
                           "  api: {kind: provider, latency: {base: 1 s}}\n"
                           "  other: {kind: provider, latency: {base: 1 s}}\n"
                           "  key: {kind: alias, of: api}\n"
                           "  card: {kind: slots, servers: 1, rate: 1 tokens/s}\n"
                           "agents: {coder: {population: 4, think: 1 s, output: 120, backend: api}}\n";

static const char *with(const char *text)
{
    return arena_format(&file.arena, "%s%s", head, text);
}

/* The pool and another key of it, and no other backend. Lines are as many. */
static const char *alone(const char *text)
{
    return arena_format(&file.arena,
                        "study: {horizon: 100 s}\nbackends:\n\n  api: {kind: provider, latency: {base: 1 s}}\n"
                        "  key: {kind: alias, of: api}\n\n"
                        "agents: {coder: {population: 4, think: 1 s, output: 120, backend: api}}\n%s",
                        text);
}

static void expect_points(const char *text, const char *const *sets, const char *points)
{
    ck_assert_msg(plan_file_read(&file, text, sets, NULL), "%s", plan_file_said(&file));
    ck_assert_str_eq(plan_file_points(&file), points);
}

#define SEEDS_OF_API "seeds: {api: {fixed_cap: {cap: 7}}}\n"

/* Explicit keys first; every alternative, in a chain or alone, whatever its label. */
START_TEST(members_take_them)
{
    expect_points(
        alone(SEEDS_OF_API "policies: [unbounded, fixed_cap, mine: [fixed_cap, codel], own: [fixed_cap: {cap: 3}]]\n"),
        NULL,
        "unbounded[unbounded{}]; fixed_cap[fixed_cap{cap: 7}]; mine[fixed_cap{cap: 7} codel{}]; "
        "own[fixed_cap{cap: 3}]");
    expect_points(alone("policies: [fixed_cap: {cap: 2}]\nseeds: {}\n"), NULL, "fixed_cap[fixed_cap{cap: 2}]");
}
END_TEST

/* What tells alternatives apart is what they really are. */
START_TEST(labels_say_them)
{
    expect_points(alone(SEEDS_OF_API "policies: [fixed_cap, fixed_cap: {cap: 3}]\n"), NULL,
                  "fixed_cap(cap=7)[fixed_cap{cap: 7}]; fixed_cap(cap=3)[fixed_cap{cap: 3}]");
}
END_TEST

/* Those of the pool where a member stands at one, its own or of the key's pool; none at another. */
START_TEST(at_a_backend)
{
    expect_points(with("seeds: {api: {fixed_cap: {cap: 7}}, other: {fixed_cap: {cap: 5}}}\n"
                       "policies: [a: [fixed_cap: {at: api}], b: [fixed_cap: {at: other}], c: [fixed_cap: {at: key}], "
                       "d: [fixed_cap: {at: card, cap: 9}]]\n"),
                  NULL, "a[fixed_cap{cap: 7}]; b[fixed_cap{cap: 5}]; c[fixed_cap{cap: 7}]; d[fixed_cap{cap: 9}]");
    expect_points(with("seeds: {api: {fixed_cap: {cap: 7}}, key: {fixed_cap: {cap: 4}}}\n"
                       "policies: [c: [fixed_cap: {at: key}]]\n"),
                  NULL, "c[fixed_cap{cap: 4}]");
}
END_TEST

/* Before a preset, which is before the defaults. */
START_TEST(before_a_preset)
{
    expect_points(alone("seeds: {api: {codel: {target: 3 s}}}\npolicies: [codel: {preset: slots}]\n"), NULL,
                  "codel[codel{target: 3 s, interval: 15 s}]");
}
END_TEST

START_TEST(they_can_be_set)
{
    static const char *const sets[] = {"seeds.api.fixed_cap.cap=8", NULL};
    static const char *const member[] = {"policies.fixed_cap.cap=2", NULL};

    expect_points(alone(SEEDS_OF_API "policies: [fixed_cap]\n"), sets, "fixed_cap[fixed_cap{cap: 8}]");
    expect_points(alone(SEEDS_OF_API "policies: [fixed_cap]\n"), member, "fixed_cap[fixed_cap{cap: 2}]");
}
END_TEST

START_TEST(check_says_where_they_are_from)
{
    plan_file_write(&file, "s.yaml", alone(SEEDS_OF_API "policies: [fixed_cap]\n"));
    program_has(SAID("check", file.path), "      cap: 7                                              # s.yaml:8\n");
}
END_TEST

static const char *const mistakes[][2] = {
    {"seeds: [1]\n", "s.yaml:8:8: seeds: expected a mapping of keys to values, not a list"},
    {"seeds: {apo: {fixed_cap: {cap: 7}}}\n",
     "s.yaml:8:9: seeds: there is no provider apo: expected one of api, other, key; did you mean api?"},
    {"seeds: {card: {fixed_cap: {cap: 7}}}\n",
     "s.yaml:8:9: seeds: there is no provider card: expected one of api, other, key"},
    {"seeds: {api: 7}\n", "s.yaml:8:14: seeds of api: expected a mapping of keys to values, not a value"},
    {"seeds: {api: {fixed_cup: {cap: 7}}}\n", "s.yaml:8:15: seeds: there is no policy fixed_cup: expected one of "},
    {"seeds: {api: {fixed_cap: 7}}\n", "s.yaml:8:26: fixed_cap: expected a mapping of keys to values, not a value"},
    {"seeds: {api: {fixed_cap: {cup: 7}}}\npolicies: [fixed_cap: {cap: 1}]\n",
     "s.yaml:8:27: seeds: fixed_cap has no parameter cup: expected one of cap"},
    {"seeds: {api: {fixed_cap: {at: card}}}\n",
     "s.yaml:8:27: seeds: fixed_cap has no parameter at: expected one of cap"},
    {"seeds: {api: {unbounded: {cap: 7}}}\n",
     "s.yaml:8:27: seeds: unbounded has no parameter cap: expected a policy with parameters"},
    {"seeds: {api: {fixed_cap: {cap: 7}}}\npolicies: [fixed_cap]\n",
     "s.yaml:9:12: the seeds for fixed_cap are those of api, and it stands at other too: expected at: api, and a "
     "member "
     "for each other backend that wants one"},
    {"seeds: {key: {fixed_cap: {cap: 7}}}\npolicies: [a: [codel, fixed_cap]]\n",
     "s.yaml:9:23: the seeds for fixed_cap are those of key, and it stands at other too: expected at: key, "},
    {"seeds: {api: {fixed_cap: {cap: 7}}, other: {fixed_cap: {cap: 5}}}\npolicies: [fixed_cap]\n",
     "s.yaml:9:12: there are seeds for fixed_cap of more than one pool: expected at: POOL, a member for each"},
};

START_TEST(bad_seeds)
{
    ck_assert(!plan_file_read(&file, with(mistakes[_i][0]), NULL, NULL));
    program_has(plan_file_said(&file), mistakes[_i][1]);
}
END_TEST

/* However many members take them. */
START_TEST(a_mistake_is_said_once)
{
    const char *said;

    ck_assert(!plan_file_read(&file,
                              with("seeds: {api: {fixed_cap: {cap: 5 s}}}\n"
                                   "policies: [fixed_cap: {at: api}, b: [fixed_cap: {at: api}], "
                                   "c: [fixed_cap: {at: api}, fixed_cap: {name: d, at: api, cop: 1}]]\n"),
                              NULL, NULL));
    said = plan_file_said(&file);
    program_has(said, "'5 s'");
    program_has(said, "'cop'"); /* what is wrong with one member alone */
    ck_assert_ptr_null(strstr(strstr(said, "'5 s'") + 1, "'5 s'"));
}
END_TEST

Suite *seeds_suite(void)
{
    Suite *suite = suite_create("seeds");
    TCase *tcase = tcase_create("seeds");
    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, members_take_them);
    tcase_add_test(tcase, labels_say_them);
    tcase_add_test(tcase, at_a_backend);
    tcase_add_test(tcase, before_a_preset);
    tcase_add_test(tcase, they_can_be_set);
    tcase_add_test(tcase, check_says_where_they_are_from);
    tcase_add_test(tcase, a_mistake_is_said_once);
    tcase_add_loop_test(tcase, bad_seeds, 0, (int)(sizeof mistakes / sizeof *mistakes));
    suite_add_tcase(suite, tcase);
    return suite;
}
