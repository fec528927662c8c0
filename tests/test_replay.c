/* test_replay.c - runs that are what a trace recorded: by hand, from two formats of one trace, and Azure's beside a
 * Poisson stream. */
#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/command_fixture.h"
#include "tests/sheet.h"
#include "tests/suites.h"
#include "tests/timeline.h"

static struct timeline timeline;

static const char *data_folder(void)
{
    char here[4096];
    ck_assert_ptr_nonnull(getcwd(here, sizeof here));
    return arena_format(&file.arena, "%s/tests/data", here);
}

/* Starts of services at a card of many slots, 10 tokens/s each, of a class with these keys; `trace` is t.csv. */
static const char *starts(const char *trace, const char *class, const char *study)
{
    plan_file_write(&file, "t.csv", trace);
    const char *yaml =
        arena_format(&file.arena,
                     "study: {%s, replications: 1}\n"
                     "backends: {b: {kind: slots, servers: 1000, rate: 10 tokens/s}}\nagents: {a: {%s}}\n",
                     study, class);
    ck_assert_msg(plan_file_read(&file, yaml, NULL, NULL), "%s", plan_file_said(&file));
    timeline_of(&file.plan, 0, &timeline);
    return timeline.starts;
}

static const char sessions[] = "session,time_s,wait_before_s,input_tokens,cached_tokens,output_tokens\n"
                               "x,100,,10,0,20\nx,105,3,30,10,10\ny,110,,5,0,50\nx,120,7,40,30,30\ny,130,1,9,5,10\n";

START_TEST(by_hand)
{
    /* the times are those of the sessions' first calls; then they wait as recorded behind answers of 2, 1, 3 and 5, 1 s
     */
    ck_assert_str_eq(starts(sessions, "replay: {trace: t.csv}, arrivals: recorded", "until: done"),
                     "a0@0 a0.1@5 a1@10 a0.2@13 a1.1@16");
    EXPECT_ROW(&timeline, 0, {METRIC_UNFINISHED, 0});
    /* twice as fast, but for the waits */
    ck_assert_str_eq(starts(sessions, "replay: {trace: t.csv, speed: 2}, arrivals: recorded", "until: done"),
                     "a0@0 a1@5 a0.1@5 a1.1@11 a0.2@13");
    /* each call alone, at its time */
    ck_assert_str_eq(starts(sessions, "replay: {trace: t.csv, runs: calls}, arrivals: recorded", "until: done"),
                     "a0@0 a1@5 a2@10 a3@20 a4@30");
    /* two agents take sessions in turn, and begin again with the first */
    ck_assert_str_eq(starts(sessions, "replay: {trace: t.csv}, population: 1", "horizon: 24 s"),
                     "a0@0 a0.1@5 a0.2@13 a0.3@16 a0.4@22 a0.5@23");
    ck_assert_str_eq(starts(sessions, "replay: {trace: t.csv}, population: 2", "horizon: 8 s"),
                     "a0@0 a1@0 a0.1@5 a1.1@6 a1.2@7");
    /* calls of a trace without waits: the class says how long agents think */
    ck_assert_str_eq(starts("time_s,output_tokens\n0,10\n1,20\n", "replay: {trace: t.csv}, population: 1, think: 4 s",
                            "horizon: 20 s"),
                     "a0@4 a0.1@9 a0.2@15 a0.3@20");
    /* other arrivals, and the lengths of what comes in the order of the trace */
    ck_assert_str_eq(starts(sessions, "replay: {trace: t.csv}, arrivals: even(1/min)", "horizon: 61 s"),
                     "a0@0 a0.1@5 a0.2@13 a1@60");
}
END_TEST

/* Sessions are drawn whole: each with the same chance, its calls and waits as they were. */
START_TEST(drawn)
{
    const char *text = starts("session,wait_before_s,output_tokens\nx,,10\nx,5,20\ny,,30\n",
                              "replay: {trace: t.csv, order: drawn}, arrivals: even(1/min), runs: 100", "until: done");
    size_t both = 0;
    for (const char *at = text; (at = strstr(at, ".1@")); at++) {
        double second = strtod(at + 3, NULL);
        ck_assert_double_eq_tol(second - 60 * (double)(size_t)(second / 60), 6, 1e-9);
        both++;
    }
    ck_assert_uint_gt(both, 30);
    ck_assert_uint_lt(both, 70);
}
END_TEST

/* What a wait is unknown of, or an output, is left out and said; what has none at all comes from the class. */
START_TEST(unknown_is_left_out)
{
    ck_assert_str_eq(starts("session,wait_before_s,output_tokens\nx,,10\nx,,20\nx,5,\nx,1,30\n",
                            "replay: {trace: t.csv}, population: 1", "horizon: 6 s"),
                     "a0@0 a0.1@2 a0.2@5");
    program_has(plan_file_said(&file), "t.csv: of 4 rows 2 are left out: 2: its wait is unknown");
}
END_TEST

static const struct bad {
    const char *class, *said;
} bads[] = {
    {"replay: {trace: none.csv}, population: 1", "cannot read"},
    {"replay: {trace: t.csv, format: azur}, population: 1", "there is no trace format azur: did you mean azure?"},
    {"replay: {trace: t.csv, speed: 0}, population: 1", "speed: "},
    {"replay: {trace: t.csv}, population: 1, think: 4 s", "think: expected none beside replay, whose trace says it"},
    {"replay: {trace: t.csv}, population: 1, output: 4", "output: expected none beside replay"},
    {"replay: {trace: t.csv}, population: 1, turns: 4", "turns: expected none beside replay"},
    {"replay: {trace: t.csv}, population: 1, input: {start: 4}", "input: expected none beside replay"},
    {"replay: {trace: t.csv}", "a has no agents: expected population: N"},
    {"arrivals: recorded, output: 5",
     "arrivals: recorded: expected replay: {trace: FILE} beside it, of a trace with times"},
    {"replay: {trace: t.csv}, arrivals: recorded, runs: 3",
     "runs: expected at most 2, which is all that the trace has"},
};

START_TEST(bad_replays)
{
    plan_file_write(&file, "t.csv", sessions);
    ck_assert(!plan_file_read(&file,
                              arena_format(&file.arena,
                                           "study: {horizon: 1 h}\nbackends: {b: {kind: slots, servers: 1, rate: 10 "
                                           "tokens/s}}\nagents: {a: {%s}}\n",
                                           bads[_i].class),
                              NULL, NULL));
    program_has(plan_file_said(&file), bads[_i].said);
}
END_TEST

START_TEST(what_is_no_trace_of_calls)
{
    ck_assert(
        !plan_file_read(&file,
                        arena_format(&file.arena,
                                     "study: {horizon: 1 h}\nbackends: {b: {kind: slots, servers: 1, rate: 10 "
                                     "tokens/s}}\nagents: {a: {replay: {trace: %s/servegen.csv}, population: 1}}\n",
                                     data_folder()),
                        NULL, NULL));
    program_has(plan_file_said(&file),
                "servegen.csv cannot be replayed: its rows are windows; expected a trace of calls");
    plan_file_write(&file, "t.csv", "time_s,input_tokens,cached_tokens,output_tokens\n0,1,0,1\n\n1,4,5,1\n");
    ck_assert(!plan_file_read(&file,
                              "study: {horizon: 1 h}\nbackends: {b: {kind: slots, servers: 1, rate: 10 tokens/s}}\n"
                              "agents: {a: {replay: {trace: t.csv}, population: 1}}\n",
                              NULL, NULL));
    program_has(plan_file_said(&file), "t.csv cannot be replayed: line 4 has more cached tokens than it sends");
}
END_TEST

/* Azure's and Vidur's slices of the same calls: the same table to the last digit. */
START_TEST(two_formats_give_one_table)
{
    const char *tables[2];
    for (int i = 0; i < 2; i++) {
        plan_file_write(&file, "s.yaml",
                        arena_format(&file.arena,
                                     "title: one\nstudy: {horizon: 400 s, replications: 2}\n"
                                     "backends: {b: {kind: slots, servers: 24, rate: 30 tokens/s, prefill: 4000 "
                                     "tokens/s}}\nagents: {a: {replay: {trace: %s/%s_conv.csv}, arrivals: recorded}}\n",
                                     data_folder(), i ? "vidur" : "azure"));
        tables[i] = arena_text(&file.arena, SAID("run", file.path, "--format", "csv", "--columns", "all"));
    }
    program_same(tables[0], tables[1]);
    ck_assert_str_ne(tables[0], "");
}
END_TEST

/* As many calls, as much work, as busy: the recorded stream waits far longer. */
START_TEST(bursts_beside_poisson)
{
    struct sheet *sheet = sheet_as_expected("replay");
    double recorded = sheet_cell(sheet, 1, "wait_p99"), poisson = sheet_cell(sheet, 2, "wait_p99");
    ck_assert_double_gt(recorded, 50 * poisson);
    ck_assert_double_gt(recorded, 30);
    ck_assert_double_eq_tol(sheet_cell(sheet, 1, "utilisation"), sheet_cell(sheet, 2, "utilisation"), 1e-9);
    ck_assert_double_eq_tol(sheet_cell(sheet, 1, "goodput"), 2700 / 1100.0, 1e-9);
    ck_assert_double_eq_tol(sheet_cell(sheet, 2, "goodput"), 2700 / 1100.0, 1e-9);
    sheet_free(sheet);
}
END_TEST

Suite *replay_suite(void)
{
    Suite *suite = suite_create("replay");
    TCase *test = tcase_create("replay");
    tcase_add_checked_fixture(test, setup, teardown);
    tcase_add_test(test, by_hand);
    tcase_add_test(test, drawn);
    tcase_add_test(test, unknown_is_left_out);
    tcase_add_loop_test(test, bad_replays, 0, sizeof bads / sizeof *bads);
    tcase_add_test(test, what_is_no_trace_of_calls);
    tcase_add_test(test, two_formats_give_one_table);
    tcase_add_test(test, bursts_beside_poisson);
    suite_add_tcase(suite, test);
    return suite;
}
