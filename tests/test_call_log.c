/* test_call_log.c - the rows of --log: worked out by hand, and against an oracle and the table. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "models/metrics.h"
#include "models/trial.h"
#include "sim/io/csv.h"
#include "tests/call_log_fixture.h"
#include "tests/oracles.h"
#include "tests/suites.h"

enum { COLUMNS_MOST = 24, CUSTOMERS_MOST = 1 << 17, SERVERS = 4 };

/* Of a turn's own call the last column is empty; rows of parts have it. */
static bool of_part(const char *row)
{
    size_t commas = 0;
    for (; *row; row++)
        commas += *row == ',';
    return commas == 15;
}

/* Runs s.yaml with one alternative, `script` being a plug-in; its log must be these rows, without the columns policy
 * and replication. */
static void expect_log(const char *yaml, const char *policy, const char *const *rows)
{
    char library[512];
    const char *log = "policy," HEADER;
    for (; *rows; rows++)
        log = arena_format(&file.arena, "%s%s,1,%s%s\n", log, policy, *rows, of_part(*rows) ? "" : ",");
    plan_file_write(&file, "s.yaml", yaml);
    if (strcmp(policy, "script") == 0)
        SAID("run", file.path, "--log", log_path(), "--plugin", program_plugin("script.so", library, sizeof library));
    else
        SAID("run", file.path, "--log", log_path());
    program_same(text_in(log_path()), log);
}

/* Worked by hand: one server of 2 s, runs at 0, 0.5, 1, 6 s; at most one in the system. The second and the third
 * are refused; their clients sleep 1 s and 2 s, and give up after two attempts. */
START_TEST(cap_by_hand)
{
    plan_file_write(&file, "at.csv", "at\n0\n0.5\n1\n6\n");
    expect_log("study: {until: done, most: 7 s, replications: 1}\n"
               "backends: {b: {kind: slots, servers: 1, rate: 10 tokens/s}}\n"
               "agents: {a: {arrivals: trace(at.csv at s), output: 20, backend: b, tenant: x,\n"
               "    client: {backoff: constant, base: 1.5 s, jitter: none, attempts: 2}}}\n"
               "policies: [fixed_cap: {cap: 1}]\n",
               "fixed_cap",
               (const char *const[]){
                   "a,x,b,1,0,0,1,0.500000000,deferred,cap,,,0.500000000,0,20",
                   "a,x,b,2,0,0,1,1.000000000,deferred,cap,,,1.000000000,0,20",
                   "a,x,b,0,0,0,1,0.000000000,answered,,0.000000000,0.000000000,2.000000000,0,20",
                   "a,x,b,2,0,0,2,2.500000000,deferred,cap,,,2.500000000,0,20",
                   "a,x,b,1,0,0,2,2.000000000,answered,,2.000000000,2.000000000,4.000000000,0,20",
                   "a,x,b,3,0,0,1,6.000000000,unfinished,,6.000000000,6.000000000,,0,20",
                   NULL,
               });
}
END_TEST

/* A turn of two parts at a tool of one server: without their numbers two rows would be of one attempt. */
START_TEST(parts_by_hand)
{
    expect_log("study: {until: done, replications: 1}\n"
               "backends: {b: {kind: slots, servers: 1, service: 1 s}, t: {kind: slots, servers: 1, service: 2 s}}\n"
               "agents: {a: {arrivals: all_at(0 s), runs: 1, output: 20, backend: b, tenant: x,\n"
               "    fan_out: {to: t, parts: 2, tokens: 7}}}\n",
               "unbounded",
               (const char *const[]){
                   "a,x,b,0,0,0,1,0.000000000,answered,,0.000000000,0.000000000,1.000000000,0,20",
                   "a,x,t,0,0,0,1,1.000000000,answered,,1.000000000,1.000000000,3.000000000,0,7,0",
                   "a,x,t,0,0,0,1,1.000000000,answered,,1.000000000,3.000000000,5.000000000,0,7,1",
                   NULL,
               });
}
END_TEST

/* Four agents at once, one server of 5 s, patience of 3 s, one attempt each. The first is served and leaves in service
 * at 3 s, but the server is busy until 5 s; the second is held from 0 s until its cap of 2 s; the third is rejected;
 * the fourth waits until its client has had enough. */
START_TEST(hold_and_patience_by_hand)
{
    expect_log("study: {horizon: 4 s, replications: 1}\n"
               "backends: {b: {kind: slots, servers: 1, service: 5 s}}\n"
               "agents: {a: {arrivals: all_at(0 s), runs: 4, client: {attempts: 1, timeout: 3 s, hold_cap: 2 s}}}\n"
               "policies: [script: {gate: ahra, hold: 0.75 s}]\n",
               "script",
               (const char *const[]){
                   "a,default,b,2,0,0,1,0.000000000,rejected,script,,,0.000000000,0,0",
                   "a,default,b,1,0,0,1,0.000000000,hold_expired,script,,,2.000000000,0,0",
                   "a,default,b,0,0,0,1,0.000000000,abandoned,,0.000000000,0.000000000,3.000000000,0,0",
                   "a,default,b,3,0,0,1,0.000000000,abandoned,,0.000000000,,3.000000000,0,0",
                   NULL,
               });
}
END_TEST

/* The fourth displaces the third; all others lose patience after 2 s and would come again after 10 s. Then a trial in
 * which the second is shed when a server takes it, and the third is taken instead. */
START_TEST(timeout_shed_and_displaced_by_hand)
{
    expect_log("study: {horizon: 5.5 s, replications: 1}\n"
               "backends: {b: {kind: slots, servers: 1, service: 3 s}}\n"
               "agents: {a: {arrivals: all_at(0 s), runs: 4,\n"
               "    client: {attempts: 2, timeout: 2 s, backoff: constant, base: 10 s, jitter: none}}}\n"
               "policies: [script: {gate: aaax}]\n",
               "script",
               (const char *const[]){
                   "a,default,b,2,0,0,1,0.000000000,displaced,script,0.000000000,,0.000000000,0,0",
                   "a,default,b,0,0,0,1,0.000000000,timeout,,0.000000000,0.000000000,2.000000000,0,0",
                   "a,default,b,1,0,0,1,0.000000000,timeout,,0.000000000,,2.000000000,0,0",
                   "a,default,b,3,0,0,1,0.000000000,timeout,,0.000000000,,2.000000000,0,0",
                   NULL,
               });
    expect_log("study: {horizon: 4 s, replications: 1}\n"
               "backends: {b: {kind: slots, servers: 1, service: 3 s}}\n"
               "agents: {a: {arrivals: all_at(0 s), runs: 4, client: {attempts: 1}}}\n"
               "policies: [script: {start: ara}]\n",
               "script",
               (const char *const[]){
                   "a,default,b,0,0,0,1,0.000000000,answered,,0.000000000,0.000000000,3.000000000,0,0",
                   "a,default,b,1,0,0,1,0.000000000,shed,script,0.000000000,,3.000000000,0,0",
                   "a,default,b,2,0,0,1,0.000000000,unfinished,,0.000000000,3.000000000,,0,0",
                   "a,default,b,3,0,0,1,0.000000000,unfinished,,0.000000000,,,0,0",
                   NULL,
               });
}
END_TEST

/* --- read back ---------------------------------------------------------------------------------------------------- */

/* What is taken from a log, and its columns by name. */
struct reading {
    const char *names[COLUMNS_MOST];
    size_t columns, rows;
    uint64_t verdicts[ATTEMPT_VERDICTS];
    sim_time after; /* only rows that were submitted, or ended, later are counted */
    uint64_t submitted, count;
    sim_time joined[CUSTOMERS_MOST], service[CUSTOMERS_MOST], wait[CUSTOMERS_MOST], ended;
};

static struct reading reading;

static const char *cell(const struct csv_row *row, const char *name)
{
    for (size_t i = 0; i < row->count; i++)
        if (strcmp(reading.names[i], name) == 0)
            return row->fields[i];
    ck_abort_msg("no column %s", name);
}

static sim_time time_in(const struct csv_row *row, const char *name)
{
    const char *text = cell(row, name);
    char *dot, *end;
    if (!*text)
        return POLICY_NONE;
    long long seconds = strtoll(text, &dot, 10), rest = strtoll(dot + 1, &end, 10);
    ck_assert(*dot == '.' && end == dot + 10 && *end == '\0');
    return seconds * SIM_SECOND + rest;
}

static bool take_row(void *context, uint64_t number, const struct csv_row *row)
{
    (void)context;
    if (number == 0) {
        ck_assert(row->count <= COLUMNS_MOST);
        for (size_t i = 0; i < row->count; i++)
            reading.names[i] = arena_text(&file.arena, row->fields[i]);
        return true;
    }
    sim_time submitted = time_in(row, "submitted"), admitted = time_in(row, "admitted");
    sim_time started = time_in(row, "started"), finished = time_in(row, "finished");
    reading.rows++;
    reading.submitted += submitted > reading.after;
    for (size_t i = 0; i < ATTEMPT_VERDICTS; i++)
        if (strcmp(cell(row, "verdict"), attempt_verdicts[i]) == 0)
            reading.verdicts[i] += finished > reading.after;
    ck_assert(finished == POLICY_NONE || finished >= reading.ended);
    if (finished != POLICY_NONE)
        reading.ended = finished;
    if (finished != POLICY_NONE && started != POLICY_NONE && reading.count < CUSTOMERS_MOST) {
        reading.joined[reading.count] = admitted;
        reading.wait[reading.count] = started - admitted;
        reading.service[reading.count++] = finished - started;
    }
    return true;
}

static void read_log(sim_time after)
{
    struct diag diag = {0};
    memset(&reading, 0, sizeof reading);
    reading.after = after;
    ck_assert(csv_read(log_path(), (struct place){0}, take_row, NULL, &diag));
    diag_fini(&diag);
}

/* The same attempts as the simulation has them, to the nanosecond. */
static void same_as_read(void *context, const struct attempt_record *record)
{
    size_t *at = context;
    const struct policy_call *call = record->call;
    if (record->verdict == ATTEMPT_UNFINISHED)
        return;
    ck_assert_int_eq(reading.joined[*at], call->joined);
    ck_assert_int_eq(reading.wait[*at], call->started - call->joined);
    ck_assert_int_eq(reading.service[(*at)++], record->finished - call->started);
}

static int by_arrival(const void *a, const void *b)
{
    sim_time x = reading.joined[*(const size_t *)a], y = reading.joined[*(const size_t *)b];
    return (x > y) - (x < y);
}

/* M/M/4: from the rows alone Kiefer and Wolfowitz know every wait to the nanosecond. The last few customers have not
 * ended, so those that arrived after the first of them are left out. */
START_TEST(waits_are_the_oracles)
{
    static size_t order[CUSTOMERS_MOST];
    static sim_time arrivals[CUSTOMERS_MOST], services[CUSTOMERS_MOST], waits[CUSTOMERS_MOST];
    size_t known, same = 0;
    double values[METRIC_COUNT];
    struct trial_watch watch = {.attempted = same_as_read, .context = &same};
    ck_assert(plan_file_read(&file,
                             "study: {horizon: 8000 s, replications: 1}\n"
                             "backends: {b: {kind: slots, servers: 4, service: exponential(1 s)}}\n"
                             "agents: {a: {arrivals: poisson(3.6/s)}}\n",
                             NULL, NULL));
    SAID("run", file.path, "--log", log_path());
    read_log(0);
    ck_assert(reading.count > 28000 && reading.count < CUSTOMERS_MOST);
    ck_assert_int_eq(trial_simulate(file.plan.points[0].scenario, 1, &watch, values), TRIAL_ENDED);
    ck_assert_uint_eq(same, reading.count);
    for (size_t i = 0; i < reading.count; i++)
        order[i] = i;
    qsort(order, reading.count, sizeof *order, by_arrival);
    for (size_t i = 0; i < reading.count; i++) {
        arrivals[i] = reading.joined[order[i]];
        services[i] = reading.service[order[i]];
    }
    oracle_kiefer_wolfowitz(arrivals, services, reading.count, SERVERS, waits);
    known = reading.count - 200; /* far more than were in the system */
    uint64_t waited = 0;
    for (size_t i = 0; i < known; i++) {
        ck_assert_int_eq(reading.wait[order[i]], waits[i]);
        waited += waits[i] > 0;
    }
    ck_assert(waited > known / 2);
}
END_TEST

static double number_of(const char *csv, const char *column)
{
    const char *names = csv, *cells = strchr(csv, '\n') + 1;
    while (strncmp(names, column, strlen(column)) != 0 || names[strlen(column)] != ',') {
        names = strchr(names, ',') + 1;
        cells = strchr(cells, ',') + 1;
    }
    return strtod(cells, NULL);
}

/* The table of replication 1 counts what the rows behind the warm-up say. */
START_TEST(counts_are_the_tables)
{
    plan_file_write(&file, "s.yaml",
                    "study: {horizon: 2000 s, warmup: 200 s, replications: 1}\n"
                    "backends: {b: {kind: slots, servers: 2, service: exponential(2 s)}}\n"
                    "agents: {a: {population: 9, think: exponential(3 s), client: {backoff: exponential, base: 1 s,\n"
                    "    attempts: 4, timeout: 9 s}}}\n"
                    "policies: [fixed_cap: {cap: 4}]\n");
    const char *csv = SAID("run", file.path, "--format", "csv", "--log", log_path());
    read_log(200 * SIM_SECOND);
    const uint64_t *n = reading.verdicts;
    uint64_t refused =
        n[ATTEMPT_DEFERRED] + n[ATTEMPT_REJECTED] + n[ATTEMPT_HOLD_EXPIRED] + n[ATTEMPT_SHED] + n[ATTEMPT_DISPLACED];
    ck_assert(n[ATTEMPT_TIMEOUT] > 0 && n[ATTEMPT_ABANDONED] > 0 && refused > 100);
    ck_assert_double_eq(number_of(csv, "goodput"), (double)n[ATTEMPT_ANSWERED] / 1800);
    ck_assert_double_eq(number_of(csv, "deferred_share"), (double)refused / (double)reading.submitted);
    ck_assert_double_eq(number_of(csv, "attempts_per_turn"), (double)reading.submitted / (double)n[ATTEMPT_ANSWERED]);
}
END_TEST

/* Slots without a memory have a shorter way through the code (models/serve.h): a memory that never fills and reading
 * that takes no time are the same card, call by call. */
START_TEST(a_memory_that_never_fills)
{
    static const char *const speeds[] = {"rate: 10 tokens/s", "step_time: {base: 60 ms, per_busy_slot: 15 ms}"};
    const char *logs[2];

    for (int way = 0; way < 2; way++) {
        plan_file_write(&file, "s.yaml",
                        arena_format(&file.arena,
                                     "study: {horizon: 2000 s, replications: 2}\n"
                                     "backends: {card: {kind: slots, servers: 4, %s%s}}\n"
                                     "agents:\n"
                                     "  coder: {population: 12, think: exponential(4 s), output: lognormal(80 cv 1), "
                                     "input: {start: 900}, client: {attempts: 3, timeout: 30 s, base: 2 s}}\n"
                                     "  other: {arrivals: poisson(2/min), output: exponential(60)}\n"
                                     "policies: [unbounded, fixed_cap: {cap: 7}, lifo, "
                                     "codel: {preset: slots, law: rfc8289, sheds_at: dequeue}]\n",
                                     speeds[_i], way ? ", kv: 1000M" : ""));
        SAID("run", file.path, "--log", log_path());
        logs[way] = text_in(log_path());
    }
    ck_assert_int_gt(program_count(logs[0], ",timeout,"), 10);
    ck_assert_int_gt(program_count(logs[0], ",shed,"), 10);
    program_same(logs[1], logs[0]);
}
END_TEST

Suite *call_log_suite(void)
{
    Suite *suite = suite_create("call_log");
    TCase *tests = tcase_create("call_log");
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, cap_by_hand);
    tcase_add_test(tests, parts_by_hand);
    tcase_add_test(tests, hold_and_patience_by_hand);
    tcase_add_test(tests, timeout_shed_and_displaced_by_hand);
    tcase_add_test(tests, waits_are_the_oracles);
    tcase_add_test(tests, counts_are_the_tables);
    tcase_add_loop_test(tests, a_memory_that_never_fills, 0, 2);
    suite_add_tcase(suite, tests);
    return suite;
}
