/* Policies that find, read and set one another through the host: tests/plugins/meddler.c acts at one moment and ends
 * the program when the host answers it anything but what policies/policy.h promises. */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "models/services.h"
#include "sim/cli/rig.h"
#include "sim/engine/where.h"
#include "tests/suites.h"
#include "tests/timeline.h"

#define CLIENT "{backoff: constant, base: 3 s, jitter: none}"

/* Two servers, 10 s a call, three runs at t = 0 that ask every 3 s. */
static void three_runs(const char *members, const char *starts)
{
    struct timeline t;
    char yaml[1024];

    snprintf(yaml, sizeof yaml,
             "study: {until: done}\nbackends: {b: {kind: slots, servers: 2, service: constant(10 s)}}\n"
             "agents: {a: {arrivals: all_at(0 s), runs: 3, client: %s}}\n"
             "policies: [chain: [%s]]\n",
             CLIENT, members);
    timeline_expect(yaml, "meddler", starts, &t);
}

#define CAP_OF_ONE "a0@0 a1@12#5 a2@24#9"
#define CAP_OF_TWO_FROM_5 "a0@0 a1@6#3 a2@12#5"

START_TEST(set_changes_another_member)
{
    three_runs("fixed_cap: {cap: 1}", CAP_OF_ONE);
    three_runs("fixed_cap: {cap: 1}, meddler: {does: set, of: fixed_cap, key: cap, value: 2, when: 5 s}",
               CAP_OF_TWO_FROM_5);
    /* found by its name in the chain, wherever it stands */
    three_runs("meddler: {does: set, of: limit, key: cap, value: 2, when: 5 s}, fixed_cap: {name: limit, cap: 1}",
               CAP_OF_TWO_FROM_5);
    /* 7 s are too late for the attempt at 6 */
    three_runs("fixed_cap: {cap: 1}, meddler: {does: set, of: fixed_cap, key: cap, value: 2, when: 7 s}",
               "a0@0 a1@9#4 a2@12#5");
}
END_TEST

START_TEST(one_copy_in_all_is_found)
{
    three_runs("fixed_cap: {cap: 1, scope: all}, meddler: {does: set, of: fixed_cap, key: cap, value: 2, when: 5 s}",
               CAP_OF_TWO_FROM_5);
    three_runs("fixed_cap: {cap: 1}, meddler: {does: set, of: fixed_cap, key: cap, value: 2, when: 5 s, scope: all}",
               CAP_OF_TWO_FROM_5);
}
END_TEST

START_TEST(what_cannot_be_set)
{
    three_runs("fixed_cap: {cap: 1}, meddler: {does: refused, of: fixed_cap, key: cap, value: 0, when: 5 s}",
               CAP_OF_ONE);
    three_runs("fixed_cap: {cap: 1}, meddler: {does: refused, of: fixed_cap, key: cap, value: 2.5, when: 5 s}",
               CAP_OF_ONE);
    three_runs("fixed_cap: {cap: 1}, meddler: {does: refused, of: fixed_cap, key: refused, value: 2}", CAP_OF_ONE);
    three_runs("fixed_cap: {cap: 1}, meddler: {does: refused, of: fixed_cap, key: nothing, value: 2}", CAP_OF_ONE);
    /* not a live parameter */
    three_runs("fixed_cap: {cap: 1}, meddler: {does: refused, of: meddler, key: when, value: 2}", CAP_OF_ONE);
}
END_TEST

START_TEST(get_reads_gauges_and_parameters)
{
    /* by 7 s two attempts were refused at 0, at 3 and at 6 */
    three_runs("fixed_cap: {cap: 1}, meddler: {does: read, of: fixed_cap, key: refused, value: 6, when: 7 s}",
               CAP_OF_ONE);
    three_runs("fixed_cap: {cap: 1}, meddler: {does: read, of: fixed_cap, key: cap, value: 1, when: 7 s}", CAP_OF_ONE);
    three_runs("fixed_cap: {cap: 1}, meddler: {does: no_key, of: fixed_cap, key: nothing, when: 7 s}", CAP_OF_ONE);
    /* times are read in seconds */
    three_runs("fixed_cap: {cap: 1}, meddler: {does: read, of: meddler, key: when, value: 7, when: 7 s}", CAP_OF_ONE);
}
END_TEST

/* A member hears when it was changed; and its gauges of all types are read. */
START_TEST(changed_is_told)
{
    three_runs("fixed_cap: {cap: 1}, meddler: {name: it, does: nobody, of: nobody},"
               " meddler: {name: s, does: set, of: it, value: 7, when: 4 s},"
               " meddler: {name: a, does: read, of: it, value: 7, when: 5 s},"
               " meddler: {name: b, does: read, of: it, key: half, value: 3.5, when: 5 s},"
               " meddler: {name: c, does: read, of: it, key: changes, value: 1, when: 5 s},"
               " meddler: {name: d, does: read, of: it, key: changed_at, value: 4000000000, when: 5 s},"
               " meddler: {name: e, does: read, of: it, key: changes, value: 0, when: 3 s}",
               CAP_OF_ONE);
}
END_TEST

/* A cap of one before each of two backends with a server to spare. */
static void two_gates(const char *members, const char *starts)
{
    struct timeline t;
    char yaml[2048];

    snprintf(yaml, sizeof yaml,
             "study: {until: done}\n"
             "backends:\n"
             "  x: {kind: slots, servers: 2, service: constant(10 s)}\n"
             "  y: {kind: slots, servers: 2, service: constant(10 s)}\n"
             "agents:\n"
             "  p: {arrivals: all_at(0 s), runs: 2, backend: x, client: %s}\n"
             "  q: {arrivals: all_at(0 s), runs: 2, backend: y, client: %s}\n"
             "policies: [chain: [%s]]\n",
             CLIENT, CLIENT, members);
    timeline_expect(yaml, "meddler", starts, &t);
}

START_TEST(each_gate_has_its_copy)
{
    two_gates("fixed_cap: {cap: 1}", "p0@0 q0@0 p1@12#5 q1@12#5");
    /* from one gate, a copy at the other */
    two_gates("fixed_cap: {cap: 1}, meddler: {at: x, does: set, of: fixed_cap, key: cap, value: 2, gate: 1, when: 5 s}",
              "p0@0 q0@0 q1@6#3 p1@12#5");
    two_gates("fixed_cap: {cap: 1}, meddler: {at: y, does: set, of: fixed_cap, key: cap, value: 2, gate: 0, when: 5 s}",
              "p0@0 q0@0 p1@6#3 q1@12#5");
    /* one copy in all stands at both, whoever asks and for whichever gate */
    two_gates("fixed_cap: {cap: 1, scope: all},"
              " meddler: {at: x, does: set, of: fixed_cap, key: cap, value: 2, gate: 1, when: 5 s}",
              "p0@0 q0@0 p1@6#3 q1@6#3");
}
END_TEST

START_TEST(who_is_not_there_is_not_found)
{
    two_gates("fixed_cap: {cap: 1}, meddler: {does: nobody, of: lifo}", "p0@0 q0@0 p1@12#5 q1@12#5");
    two_gates("fixed_cap: {cap: 1}, meddler: {does: nobody, of: fixed_cap, gate: 2}", "p0@0 q0@0 p1@12#5 q1@12#5");
    /* a member of one gate serves no other */
    two_gates("fixed_cap: {cap: 1, at: x}, meddler: {does: nobody, of: fixed_cap, gate: 1}", "p0@0 q0@0 q1@0 p1@12#5");
    two_gates("fixed_cap: {cap: 1, at: x, scope: all}, meddler: {does: nobody, of: fixed_cap, gate: 1}",
              "p0@0 q0@0 q1@0 p1@12#5");
    two_gates("fixed_cap: {cap: 1, at: x}, meddler: {at: y, does: set, of: fixed_cap, key: cap, value: 2, when: 5 s}",
              "p0@0 q0@0 q1@0 p1@6#3");
}
END_TEST

/* A value that does not go with the others is refused, and nothing has changed. */
START_TEST(set_is_checked)
{
    three_runs("fixed_cap: {cap: 1}, meddler: {name: it, does: nobody, of: nobody, value: 1, limit: 5},"
               " meddler: {name: s, does: refused, value: 7, when: 4 s},"
               " meddler: {name: a, does: read, value: 1, when: 5 s},"
               " meddler: {name: b, does: read, key: changes, value: 0, when: 5 s},"
               " meddler: {name: t, does: set, value: 5, when: 6 s},"
               " meddler: {name: c, does: read, value: 5, when: 7 s}",
               CAP_OF_ONE);
}
END_TEST

/* Copies a class: only a member that has such copies too finds one, that of its own class. */
START_TEST(copies_of_a_class)
{
    two_gates("fixed_cap: {cap: 1, scope: class}, meddler: {does: nobody, of: fixed_cap}", "p0@0 q0@0 p1@12#5 q1@12#5");
    two_gates("fixed_cap: {cap: 1, scope: class},"
              " meddler: {at: y, scope: class, does: set, of: fixed_cap, key: cap, value: 2, gate: 1, when: 5 s}",
              "p0@0 q0@0 q1@6#3 p1@12#5");
    two_gates("fixed_cap: {cap: 1, scope: class},"
              " meddler: {at: y, scope: class, does: set, of: fixed_cap, key: cap, value: 2, gate: 0, when: 5 s}",
              "p0@0 q0@0 p1@6#3 q1@12#5");
}
END_TEST

START_TEST(any_gate_can_be_looked_at)
{
    two_gates("fixed_cap: {cap: 1, at: x}, meddler: {name: a, does: busy, value: 1, gate: 0, when: 5 s},"
              " meddler: {name: b, does: busy, value: 2, gate: 1, when: 5 s},"
              " meddler: {name: c, does: no_gate, gate: 2}",
              "p0@0 q0@0 q1@0 p1@12#5");
}
END_TEST

/* --- the rule of `set`, apart from a simulation ------------------------------------------------------------------- */

struct pair {
    int64_t low, high;
};

struct heard {
    policy_time changed_at;
    int64_t low; /* as `changed` found it */
    uint64_t changes;
    enum policy_setter by;
};

static const struct option pair_options[] = {
    {.key = "low",
     .type = OPTION_COUNT,
     .offset = offsetof(struct pair, low),
     .initial = "1",
     .live = true,
     .help = "l"},
    {.key = "high", .type = OPTION_COUNT, .offset = offsetof(struct pair, high), .initial = "9", .help = "h"},
    {.key = NULL},
};

static const char *pair_check(const void *params)
{
    const struct pair *pair = params;
    return pair->low > pair->high ? "low at most high" : NULL;
}

static void pair_changed(struct policy *self, policy_time now, const char *key, enum policy_setter by)
{
    struct heard *heard = self->vars;
    const struct pair *pair = self->params;
    ck_assert_str_eq(key, "low");
    *heard = (struct heard){now, pair->low, heard->changes + 1, by};
}

static const struct policy_ops pair_ops = {
    POLICY_HEADER,
    .name = "pair",
    .summary = "has two numbers",
    .params = pair_options,
    .params_size = sizeof(struct pair),
    .vars_size = sizeof(struct heard),
    .check = pair_check,
    .changed = pair_changed,
};

static void asked(const void *host, const char *callback)
{
    char *said = *(char *const *)host;
    strcat(strcat(said, callback), " ");
}

START_TEST(the_rule_of_set)
{
    struct pair params = {1, 9}, wanted = {0};
    struct heard heard = {0};
    char words[64] = "", *said = words;
    struct policy copy = {.params = &params, .vars = &heard};
    const struct services_target target = {&pair_ops,        &copy, &params, &wanted, 7 * POLICY_SECOND,
                                           POLICY_BY_POLICY, asked, NULL,    &said};
    ck_assert_str_eq(services_set(&target, "high", 5), "the name of a live parameter");
    ck_assert_str_eq(services_set(&target, "nothing", 5), "the name of a live parameter");
    ck_assert_ptr_nonnull(services_set(&target, "low", 2.5));
    ck_assert_str_eq(words, "");
    ck_assert_str_eq(services_set(&target, "low", 10), "low at most high");
    ck_assert_str_eq(words, "check ");
    ck_assert_int_eq(params.low, 1);
    ck_assert_uint_eq(heard.changes, 0);
    ck_assert_ptr_null(services_set(&target, "low", 9));
    ck_assert_str_eq(words, "check check changed ");
    ck_assert_int_eq(params.low, 9);
    ck_assert_int_eq(heard.changed_at, 7 * POLICY_SECOND);
    ck_assert_int_eq(heard.low, 9);
    ck_assert_int_eq(heard.by, POLICY_BY_POLICY);
    ck_assert_uint_eq(heard.changes, 1);
}
END_TEST

/* The bench of `weir check --plugin` has the same rule, at its own time, and the record of callbacks is as before. */
START_TEST(the_rule_of_set_on_the_bench)
{
    const struct pair params = {1, 9};
    const struct setting setting = {.ops = &pair_ops, .text = "", .params = &params};
    const struct heard *heard;
    struct rig rig;
    rig_init(&rig, &setting, 1);
    heard = rig.policy.vars;
    rig.view.now = 3 * POLICY_SECOND;
    sim_record.callback = "of before";
    rig_changes(&rig, &pair_options[0], 10);
    ck_assert_uint_eq(heard->changes, 0);
    rig_changes(&rig, &pair_options[0], 4);
    ck_assert_str_eq(sim_record.callback, "of before");
    sim_record.callback = NULL;
    ck_assert_uint_eq(heard->changes, 1);
    ck_assert_int_eq(heard->changed_at, 3 * POLICY_SECOND);
    ck_assert_int_eq(heard->by, POLICY_BY_OPERATOR);
    ck_assert_int_eq(((const struct pair *)rig.policy.params)->low, 4);
    rig_fini(&rig);
}
END_TEST

Suite *steer_suite(void)
{
    Suite *suite = suite_create("steer");
    TCase *test = tcase_create("steer");

    tcase_add_test(test, set_changes_another_member);
    tcase_add_test(test, one_copy_in_all_is_found);
    tcase_add_test(test, what_cannot_be_set);
    tcase_add_test(test, get_reads_gauges_and_parameters);
    tcase_add_test(test, changed_is_told);
    tcase_add_test(test, each_gate_has_its_copy);
    tcase_add_test(test, who_is_not_there_is_not_found);
    tcase_add_test(test, set_is_checked);
    tcase_add_test(test, copies_of_a_class);
    tcase_add_test(test, any_gate_can_be_looked_at);
    tcase_add_test(test, the_rule_of_set);
    tcase_add_test(test, the_rule_of_set_on_the_bench);
    suite_add_tcase(suite, test);
    return suite;
}
