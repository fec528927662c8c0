/* test_record.c - what a record says: worked out by hand, against what the trial tells otherwise, and its columns. */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "models/gauges.h"
#include "models/metrics.h"
#include "tests/command_fixture.h"
#include "tests/model.h"
#include "tests/suites.h"

/* Runs a scenario whose record goes to `record.csv`, which the arguments of its `record:` begin with; its record. */
static const char *record_with(const char *yaml, const char *arguments, const char *policy)
{
    char library[512];
    const char *path = in_folder("record.csv");

    plan_file_write(&file, "s.yaml", arena_format(&file.arena, "%srecord: {file: %s, %s}\n", yaml, path, arguments));
    if (policy)
        SAID("run", file.path, "--plugin", program_plugin(policy, library, sizeof library));
    else
        SAID("run", file.path);
    char *text = program_file(path);
    ck_assert_ptr_nonnull(text);
    path = arena_text(&file.arena, text);
    free(text);
    return path;
}

#define GATE "held,waiting,in_service,busy,oldest,overloads"

/* One server of 2.5 s and at most two in the system. At 0.25 s: the first is served, the second waits, the others are
 * refused, and for good at 2.25 s. The second is served from 2.75 s to 5.25 s. */
START_TEST(cap_by_hand)
{
    program_same(record_with("study: {horizon: 6 s, replications: 1}\n"
                             "backends: {b: {kind: slots, servers: 1, service: 2.5 s}}\n"
                             "agents: {a: {arrivals: all_at(0.25 s), runs: 4,\n"
                             "    client: {backoff: constant, base: 2 s, jitter: none, attempts: 2}}}\n"
                             "policies: [fixed_cap: {cap: 2}]\n",
                             "every: 1 s", NULL),
                 "policy,replication,time,tasks," GATE ",fixed_cap.refused\n"
                 "fixed_cap,1,0,0,0,0,0,0,0,0,0\n"
                 "fixed_cap,1,1,4,0,1,1,1,0.75,0,2\n"
                 "fixed_cap,1,2,4,0,1,1,1,1.75,0,2\n"
                 "fixed_cap,1,3,1,0,0,1,1,0,0,4\n"
                 "fixed_cap,1,4,1,0,0,1,1,0,0,4\n"
                 "fixed_cap,1,5,1,0,0,1,1,0,0,4\n"
                 "fixed_cap,1,6,0,0,0,0,0,0,0,4\n");
}
END_TEST

/* One server of 5 s. At 0.25 s: the first is served, and leaves at 3.25 s while the server goes on to 5.25 s; the
 * second is held to 2.25 s; the third is rejected; the fourth waits to 3.25 s. */
START_TEST(hold_and_patience_by_hand)
{
    program_same(record_with("study: {horizon: 5 s, replications: 1}\n"
                             "backends: {b: {kind: slots, servers: 1, service: 5 s}}\n"
                             "agents: {a: {arrivals: all_at(0.25 s), runs: 4,\n"
                             "    client: {attempts: 1, timeout: 3 s, hold_cap: 2 s}}}\n"
                             "policies: [script: {gate: ahra, hold: 0.75 s}]\n",
                             "every: 0.9 s", "script.so"),
                 "policy,replication,time,tasks,asking,asking_oldest," GATE "\n"
                 "script,1,0,0,0,0,0,0,0,0,0,0\n"
                 "script,1,0.9,3,0,0,1,1,1,1,0.65,0\n"
                 "script,1,1.8,3,0,0,1,1,1,1,1.55,0\n"
                 "script,1,2.7,2,0,0,0,1,1,1,2.45,0\n"
                 "script,1,3.6,0,0,0,0,0,0,1,0,0\n"
                 "script,1,4.5,0,0,0,0,0,0,1,0,0\n");
}
END_TEST

/* At the door at 0.25 s: the first is let in, the second is refused and comes back at 2.25 s, the third is held to
 * 1.5 s. */
START_TEST(the_door_by_hand)
{
    program_same(record_with("study: {horizon: 3 s, replications: 1}\n"
                             "backends: {b: {kind: slots, servers: 9, service: 0.5 s}}\n"
                             "agents: {a: {arrivals: all_at(0.25 s), runs: 3,\n"
                             "    client: {backoff: constant, base: 2 s, jitter: none}}}\n"
                             "policies: [script: {door: adh, times: 1, hold: 1.25 s, until: 1 s}]\n",
                             "every: 1 s, what: [tasks, asking, asking_oldest, oldest]", "script.so"),
                 "policy,replication,time,tasks,asking,asking_oldest,oldest\n"
                 "script,1,0,0,0,0,0\n"
                 "script,1,1,2,2,0.75,0\n"
                 "script,1,2,1,1,1.75,0\n"
                 "script,1,3,0,0,0,0\n");
}
END_TEST

/* A sample is behind all that happens at its instant, whenever that was scheduled: four runs come at 0 s, and each
 * makes its call then; the first end, at 1 s, was scheduled before the first sample, that at 2 s behind the sample that
 * schedules the next; and what comes at 2 s leads to a call. The instant that ends a study has no sample. */
START_TEST(a_sample_is_behind_its_instant)
{
    program_same(record_with("study: {until: done, replications: 1}\n"
                             "backends: {b: {kind: slots, servers: 2, rate: 4 tokens/s}}\n"
                             "agents: {first: {arrivals: all_at(0 s), runs: 4, output: 4, client: {attempts: 1}},\n"
                             "    second: {arrivals: all_at(2 s), runs: 3, output: 4}}\n"
                             "policies: [unbounded, cap: [fixed_cap: {cap: 3}]]\n",
                             "every: 1 s, what: [tasks, busy, waiting, fixed_cap.refused]", NULL),
                 "policy,replication,time,tasks,waiting,busy,fixed_cap.refused\n"
                 "unbounded,1,0,4,2,2,\n"
                 "unbounded,1,1,2,0,2,\n"
                 "unbounded,1,2,3,1,2,\n"
                 "unbounded,1,3,1,0,1,\n"
                 "cap,1,0,3,1,2,1\n"
                 "cap,1,1,1,0,1,1\n"
                 "cap,1,2,3,1,2,1\n"
                 "cap,1,3,1,0,1,1\n");
}
END_TEST

/* The last sample may be at the horizon, and none is after it; times are exact. */
START_TEST(times_are_exact)
{
    static const struct {
        const char *horizon, *every, *last, *but_one;
        int rows;
    } cases[] = {
        {"1 s", "100 ms", "1", "0.9", 11},
        {"1.05 s", "100 ms", "1", "0.9", 11},
        {"1 s", "2 s", "0", NULL, 1},
        {"7 s", "3.000000001 s", "6.000000002", "3.000000001", 3},
        {"20000 d", "1700 d", "1615680000", "1468800000", 12},
    };
    const char *yaml = "backends: {b: {kind: slots, servers: 1, service: 2.5 s}}\n"
                       "agents: {a: {arrivals: all_at(0 s), runs: 1}}\n";

    const char *study = arena_format(&file.arena, "study: {horizon: %s, replications: 1}\n", cases[_i].horizon);
    const char *record = record_with(arena_format(&file.arena, "%s%s", study, yaml),
                                     arena_format(&file.arena, "every: %s, what: held", cases[_i].every), NULL);
    ck_assert_int_eq(program_count(record, "\nunbounded,1,"), cases[_i].rows);
    if (cases[_i].but_one)
        program_has(record, arena_format(&file.arena, "\nunbounded,1,%s,0\nunbounded,1,%s,0\n", cases[_i].but_one,
                                         cases[_i].last));
    else
        program_has(record, arena_format(&file.arena, "\nunbounded,1,%s,0\n", cases[_i].last));
}
END_TEST

/* --- columns ------------------------------------------------------------------------------------------------------ */

static const char *header_of(const char *yaml, const char *arguments)
{
    const char *record = record_with(yaml, arguments, NULL);

    return arena_text_of(&file.arena, record, strcspn(record, "\n"));
}

#define TWO_BACKENDS \
    "study: {horizon: 9 s, replications: 1}\n" \
    "backends: {x: {kind: slots, servers: 2, rate: 10 tokens/s}, y: {kind: slots, servers: 1, service: 4 s}}\n" \
    "agents: {p: {arrivals: all_at(0.5 s), runs: 3, output: 20, backend: x, tenant: red,\n" \
    "             client: {attempts: 1}},\n" \
    "         q: {arrivals: all_at(1.5 s), runs: 4, backend: y, tenant: blue, client: {attempts: 1}}}\n"

/* On x the first two are served from 0.5 to 2.5 s and the third waits to 2.5 s; on y one is served from 1.5 s on, one
 * waits, and two are refused. */
START_TEST(two_backends_by_hand)
{
    program_same(record_with(TWO_BACKENDS "policies: [mixed: [fixed_cap: {cap: 2, at: y}]]\n",
                             "every: 1 s, what: [tasks, x.*, y.waiting, y.busy, y.oldest, y.fixed_cap.*]", NULL),
                 "policy,replication,time,tasks,x.held,x.waiting,x.in_service,x.busy,x.oldest,x.overloads,y.waiting,"
                 "y.busy,y.oldest,y.fixed_cap.refused\n"
                 "mixed,1,0,0,0,0,0,0,0,0,0,0,0,0\n"
                 "mixed,1,1,3,0,1,2,2,0.5,0,0,0,0,0\n"
                 "mixed,1,2,5,0,1,2,2,1.5,0,1,1,0.5,2\n"
                 "mixed,1,3,3,0,0,1,1,0,0,1,1,1.5,2\n"
                 "mixed,1,4,3,0,0,1,1,0,0,1,1,2.5,2\n"
                 "mixed,1,5,2,0,0,0,0,0,0,1,1,3.5,2\n"
                 "mixed,1,6,1,0,0,0,0,0,0,0,1,0,2\n"
                 "mixed,1,7,1,0,0,0,0,0,0,0,1,0,2\n"
                 "mixed,1,8,1,0,0,0,0,0,0,0,1,0,2\n"
                 "mixed,1,9,1,0,0,0,0,0,0,0,1,0,2\n");
}
END_TEST

/* A member by its name in the chain; its copies by gate, and class or tenant. */
START_TEST(scopes_have_their_names)
{
    static const struct {
        const char *members, *columns;
    } cases[] = {
        {"fixed_cap: {cap: 2, scope: all}", "fixed_cap.refused"},
        {"fixed_cap: {cap: 2, scope: all, at: y, name: cap}", "cap.refused"},
        {"fixed_cap: {cap: 2}", "x.fixed_cap.refused,y.fixed_cap.refused"},
        {"fixed_cap: {cap: 2, at: x}, fixed_cap: {cap: 3, name: other, at: y}", "x.fixed_cap.refused,y.other.refused"},
        {"fixed_cap: {cap: 2, scope: class}",
         "x.fixed_cap.p.refused,x.fixed_cap.q.refused,y.fixed_cap.p.refused,y.fixed_cap.q.refused"},
        {"fixed_cap: {cap: 2, scope: tenant, at: y}", "y.fixed_cap.red.refused,y.fixed_cap.blue.refused"},
        {"fixed_cap: {cap: 2, scope: agent, at: y}",
         "y.fixed_cap.refused.min,y.fixed_cap.refused.mean,y.fixed_cap.refused.max"},
    };
    const char *members = cases[_i].members, *chain = "";
    /* a list of mappings of one key */
    for (const char *at = strstr(members, "}, "); at; at = strstr(members, "}, ")) {
        chain = arena_format(&file.arena, "%s%.*s, ", chain, (int)(at + 1 - members), members);
        members = at + 3;
    }
    chain = arena_format(&file.arena, TWO_BACKENDS "policies: [c: [%s%s]]\n", chain, members);
    program_same(header_of(chain, "every: 1 s"),
                 arena_format(&file.arena,
                              "policy,replication,time,tasks,x.held,x.waiting,x.in_service,x.busy,x.oldest,x.overloads,"
                              "y.held,y.waiting,y.in_service,y.busy,y.oldest,y.overloads,%s",
                              cases[_i].columns));
}
END_TEST

/* Of classes at one gate: two of q's four are refused, none of p's three. */
START_TEST(copies_of_classes_by_hand)
{
    const char *record = record_with("study: {horizon: 3 s, replications: 1}\n"
                                     "backends: {b: {kind: slots, servers: 4, service: 10 s}}\n"
                                     "agents: {p: {arrivals: all_at(0.5 s), runs: 3, client: {attempts: 1}},\n"
                                     "         q: {arrivals: all_at(1.5 s), runs: 4, client: {attempts: 1}}}\n"
                                     "policies: [fixed_cap: {cap: 5, scope: class}]\n",
                                     "every: 1 s, what: [fixed_cap.p.refused, fixed_cap.q.*]", NULL);

    program_same(record, "policy,replication,time,fixed_cap.p.refused,fixed_cap.q.refused\n"
                         "fixed_cap,1,0,0,0\nfixed_cap,1,1,0,0\nfixed_cap,1,2,0,2\nfixed_cap,1,3,0,2\n");
}
END_TEST

/* One server of 10 s, one in the system. x is served from 0.25 to 10.25 s; both of y are refused at 0.25, 1.25, 2.25
 * and 3.25 s, and z at 2.25 and 3.25 s. Those that have left are not counted; where there is nobody, there is no
 * number.
 */
START_TEST(copies_of_agents_by_hand)
{
    program_same(record_with("study: {horizon: 11 s, replications: 1}\n"
                             "backends: {b: {kind: slots, servers: 1, service: 10 s}}\n"
                             "agents:\n"
                             "  x: {arrivals: all_at(0.25 s), runs: 1}\n"
                             "  y: {arrivals: all_at(0.25 s), runs: 2,\n"
                             "      client: {backoff: constant, base: 1 s, jitter: none, attempts: 4}}\n"
                             "  z: {arrivals: all_at(2.25 s), runs: 1,\n"
                             "      client: {backoff: constant, base: 1 s, jitter: none, attempts: 2}}\n"
                             "policies: [fixed_cap: {cap: 1, scope: agent}]\n",
                             "every: 1 s, what: fixed_cap.*", NULL),
                 "policy,replication,time,fixed_cap.refused.min,fixed_cap.refused.mean,fixed_cap.refused.max\n"
                 "fixed_cap,1,0,,,\n"
                 "fixed_cap,1,1,0,0.6666666666666666,1\n"
                 "fixed_cap,1,2,0,1.3333333333333333,2\n"
                 "fixed_cap,1,3,0,1.75,3\n"
                 "fixed_cap,1,4,0,0,0\n"
                 "fixed_cap,1,5,0,0,0\n"
                 "fixed_cap,1,6,0,0,0\n"
                 "fixed_cap,1,7,0,0,0\n"
                 "fixed_cap,1,8,0,0,0\n"
                 "fixed_cap,1,9,0,0,0\n"
                 "fixed_cap,1,10,0,0,0\n"
                 "fixed_cap,1,11,,,\n");
}
END_TEST

/* Alternatives have other columns, and a factor has one too; what one does not have is empty there. */
START_TEST(columns_of_all_alternatives)
{
    program_same(record_with("study: {horizon: 2 s, replications: 1}\n"
                             "backends: {b: {kind: slots, servers: 1, service: 10 s}}\n"
                             "agents: {a: {arrivals: all_at(0.5 s), runs: 3, client: {attempts: 1}}}\n"
                             "policies: [unbounded, lid: [fixed_cap: {cap: 1}], codel: {}, fixed_cap: {cap: 9}]\n"
                             "sweep: {policies.lid.cap: [1, 2]}\n",
                             "every: 1 s, what: [fixed_cap.refused, codel.refusing, waiting]", NULL),
                 "policy,policies.lid.cap,replication,time,waiting,fixed_cap.refused,codel.refusing\n"
                 "unbounded,,1,0,0,,\nunbounded,,1,1,2,,\nunbounded,,1,2,2,,\n"
                 "lid,1,1,0,0,0,\nlid,1,1,1,0,2,\nlid,1,1,2,0,2,\n"
                 "lid,2,1,0,0,0,\nlid,2,1,1,1,1,\nlid,2,1,2,1,1,\n"
                 "codel,,1,0,0,,0\ncodel,,1,1,2,,0\ncodel,,1,2,2,,0\n"
                 "fixed_cap,,1,0,0,0,\nfixed_cap,,1,1,2,0,\nfixed_cap,,1,2,2,0,\n");
}
END_TEST

/* --- against what a trial tells otherwise ------------------------------------------------------------------------- */

struct heard {
    const struct gauges *gauges;
    uint64_t refused, samples;
    double sojourn;
};

static void hear_start(void *context, const struct policy_call *call, uint32_t gate, sim_time service)
{
    (void)gate;
    (void)service;
    ((struct heard *)context)->sojourn = sim_seconds(call->started - call->joined);
}

static void hear_attempt(void *context, const struct attempt_record *record)
{
    ((struct heard *)context)->refused += record->reason && strcmp(record->reason, "codel") == 0;
}

static double value_of(const struct heard *heard, const double *values, const char *name)
{
    for (size_t i = 0; i < heard->gauges->count; i++)
        if (strcmp(heard->gauges->list[i].name, name) == 0)
            return values[i];
    ck_abort_msg("no gauge %s", name);
}

static void compare(void *context, sim_time at, const double *values)
{
    struct heard *heard = context;

    ck_assert_int_eq(at, (sim_time)heard->samples++ * SIM_SECOND);
    ck_assert_double_eq(value_of(heard, values, "codel.sojourn"), heard->sojourn);
    ck_assert_double_eq(value_of(heard, values, "codel.refused"), (double)heard->refused);
}

START_TEST(codel_shows_its_inside)
{
    struct plan plan = model_plan("study: {horizon: 3000 s}\n"
                                  "backends: {b: {kind: slots, servers: 8, service: exponential(8 s)}}\n"
                                  "agents: {a: {population: 24, think: exponential(4.5 s)}}\n"
                                  "policies: [codel: {law: persist, sheds_at: submission, preset: slots}]\n"
                                  "record: {every: 1 s, file: unwritten.csv}\n");
    struct arena arena = {0};
    struct gauges gauges = gauges_of(plan.points[0].scenario, &arena);
    struct heard heard = {.gauges = &gauges};
    struct trial_watch watch = {
        .started = hear_start, .attempted = hear_attempt, .recorded = compare, .gauges = &gauges, .context = &heard};
    double values[METRIC_COUNT];

    ck_assert_int_eq(trial_simulate(plan.points[0].scenario, 1, &watch, values), TRIAL_ENDED);
    ck_assert_uint_eq(heard.samples, 3001);
    ck_assert_uint_gt(heard.refused, 100);
    arena_free(&arena);
    plan_fini(&plan);
}
END_TEST

static void fills(void *context, sim_time at, const double *values)
{
    struct heard *heard = context;

    heard->samples++;
    if (at > 0)
        ck_assert_double_eq_tol(value_of(heard, values, "pacer.level_req"), 8 + 0.5 * sim_seconds(at), 1e-6);
}

/* Between two events of a policy: what changes by time alone is as it is now. */
START_TEST(gauges_are_up_to_date)
{
    struct plan plan = model_plan("study: {horizon: 3 s}\n"
                                  "backends: {b: {kind: slots, servers: 8, service: constant(100 s)}}\n"
                                  "agents: {a: {arrivals: all_at(0 s), runs: 2}}\n"
                                  "policies: [pacer: {r_qps: 0.5/s, c_req: 10}]\n"
                                  "record: {every: 0.25 s, file: unwritten.csv}\n");
    struct arena arena = {0};
    struct gauges gauges = gauges_of(plan.points[0].scenario, &arena);
    struct heard heard = {.gauges = &gauges};
    struct trial_watch watch = {.recorded = fills, .gauges = &gauges, .context = &heard};
    double values[METRIC_COUNT];

    ck_assert_int_eq(trial_simulate(plan.points[0].scenario, 1, &watch, values), TRIAL_ENDED);
    ck_assert_uint_eq(heard.samples, 13);
    arena_free(&arena);
    plan_fini(&plan);
}
END_TEST

static void learns_late(void *context, sim_time at, const double *values)
{
    struct heard *heard = context;
    double kappa = value_of(heard, values, "pacer.kappa");

    heard->samples++;
    ck_assert(at < 10 * SIM_SECOND ? kappa == 8 : at == 10 * SIM_SECOND || kappa < 8);
    ck_assert(at <= 5 * SIM_SECOND || value_of(heard, values, "pacer.in_flight") == 0);
}

/* A call of 10 s whose record expires after 5: its policy hears of both. */
START_TEST(a_late_end_is_heard)
{
    struct plan plan = model_plan("study: {horizon: 12 s}\n"
                                  "backends: {b: {kind: provider, latency: {base: 10 s}}}\n"
                                  "agents: {a: {arrivals: all_at(0 s), runs: 1, input: {start: 1k}, output: 1}}\n"
                                  "policies: [pacer: {expires: 5 s, kappa_start: 8}]\n"
                                  "record: {every: 1 s, file: unwritten.csv}\n");
    struct arena arena = {0};
    struct gauges gauges = gauges_of(plan.points[0].scenario, &arena);
    struct heard heard = {.gauges = &gauges};
    struct trial_watch watch = {.recorded = learns_late, .gauges = &gauges, .context = &heard};
    double values[METRIC_COUNT];

    ck_assert_int_eq(trial_simulate(plan.points[0].scenario, 1, &watch, values), TRIAL_ENDED);
    ck_assert_uint_eq(heard.samples, 13);
    arena_free(&arena);
    plan_fini(&plan);
}
END_TEST

Suite *record_suite(void)
{
    Suite *suite = suite_create("record");
    TCase *tests = tcase_create("record");
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, cap_by_hand);
    tcase_add_test(tests, hold_and_patience_by_hand);
    tcase_add_test(tests, the_door_by_hand);
    tcase_add_test(tests, a_sample_is_behind_its_instant);
    tcase_add_loop_test(tests, times_are_exact, 0, 5);
    tcase_add_test(tests, two_backends_by_hand);
    tcase_add_loop_test(tests, scopes_have_their_names, 0, 7);
    tcase_add_test(tests, copies_of_classes_by_hand);
    tcase_add_test(tests, copies_of_agents_by_hand);
    tcase_add_test(tests, columns_of_all_alternatives);
    tcase_add_test(tests, codel_shows_its_inside);
    tcase_add_test(tests, gauges_are_up_to_date);
    tcase_add_test(tests, a_late_end_is_heard);
    suite_add_tcase(suite, tests);
    return suite;
}
