/* test_trace_verb.c - traces through the program, and memory that does not grow with the rows. */
#include <check.h>
#include <stdlib.h>
#include <unistd.h>

#include "models/trace_sum.h"
#include "tests/command_fixture.h"
#include "tests/heap.h"
#include "tests/suites.h"

static struct trace_facts facts;
static struct trace_sum sum;

/* --- the program --- */

START_TEST(the_log_of_a_run_is_a_trace)
{
    plan_file_write(
        &file, "s.yaml",
        "study: {horizon: 2000 s, replications: 2}\n"
        "backends: {card: {kind: slots, servers: 2, rate: 40 tokens/s}}\n"
        "agents: {a: {population: 4, think: exponential(5 s), turns: constant(5), output: 80, input: {start: 100}}}\n"
        "policies: [unbounded, fixed_cap: {cap: 2}]\n");
    SAID("run", file.path, "--log", in_folder("calls.csv"));
    trace_sum_init(&sum);
    ck_assert(
        trace_read(&(struct trace_spec){.path = in_folder("calls.csv")}, trace_sum_call, &sum, &facts, &file.diag));
    trace_sum_done(&sum, &facts);
    ck_assert_str_eq(facts.format, "weir");
    ck_assert(facts.sorted);
    ck_assert_uint_gt(facts.kept, 100);
    ck_assert_uint_gt(facts.read, 2 * facts.kept);
    ck_assert_str_eq(facts.columns[TRACE_SESSION].name, "class+agent+run");
    ck_assert(sum.fields[TRACE_OUTPUT].sum == 80 * (sim_sum)facts.kept);
    ck_assert_double_eq_tol(trace_mean(&sum.waits), 5e9, 2e9);
    trace_sum_fini(&sum);
}
END_TEST

START_TEST(the_verb)
{
    const char *text = SAID("trace", "tests/data/burstgpt_3.csv");
    program_has(text, "tests/data/burstgpt_3.csv: burstgpt, BurstGPT, with or without sessions\n");
    program_has(text, "200 calls read, 199 kept, 1 dropped.\n1 dropped: 0 tokens: a call that failed\n");
    program_has(text, "Elapsed time: duration, s, from the call to the end of its answer\n");
    program_has(text, "6 calls have no session.\n");
    program_has(text, "Index of dispersion of the calls in 1 s, 10 s, 60 s, 600 s: ");
    program_has(text, "152328");
    text = SAID("trace", "tests/data/azure_conv.csv", "--format", "csv");
    program_has(text, "input,ContextTokens,tokens,1500,0,2112822,1408.548,");
    program_has(text, "kept,,calls,1500,");
    program_has(SAID("list", "traces"), "  one of    seen_prefix_tokens (cached, tokens), hash_blocks\n");
    /* nothing that a row says in words is printed */
    plan_file_write(&file, "t.csv", "session,note,output_tokens\nsecret,private,5\n");
    text = SAID("trace", in_folder("t.csv"));
    program_lacks(text, "secret");
    program_lacks(text, "private");
    PROGRAM_RUN(&program, NULL, "trace", "tests/data/mooncake.jsonl");
    ck_assert_int_eq(program.status, 2);
    ck_assert_str_eq(program.out, "");
    program_has(program.err, "scenarios/traces/SCRIPT.jq");
}
END_TEST

/* --- memory --- */

static struct heap_watch heap;

static void watched(void *context, const struct trace_call *call)
{
    heap_look(&heap, NULL, 0, 0);
    trace_sum_call(context, call);
}

/* The most memory, beside what was there before, while so many rows come through a pipe. */
static size_t most_for(const char *rows)
{
    FILE *pipe = popen(arena_format(&file.arena,
                                    "awk 'BEGIN { print \"Timestamp,Session ID,Elapsed time,Request tokens,Response "
                                    "tokens\"; for (i = 0; i < %s; i++) print i \",\" i %% 1000 \",5,\" i %% 4000 "
                                    "\",7\" }'",
                                    rows),
                       "r");
    ck_assert_ptr_nonnull(pipe);
    ck_assert_int_eq(dup2(fileno(pipe), 0), 0);
    clearerr(stdin);
    trace_sum_init(&sum);
    heap = (struct heap_watch){.before = HEAP_USED};
    ck_assert(trace_read(&(struct trace_spec){.path = "-"}, watched, &sum, &facts, &file.diag));
    trace_sum_done(&sum, &facts);
    ck_assert_uint_eq(facts.kept, strtoull(rows, NULL, 10));
    ck_assert_uint_eq(facts.sessions, 1000);
    ck_assert_double_eq_tol(trace_mean(&sum.waits), 995e9, 1);
    trace_sum_fini(&sum);
    pclose(pipe);
    return heap.most;
}

START_TEST(memory_does_not_grow_with_the_rows)
{
    bool large = getenv("WEIR_LONG") != NULL;
    if (!heap_is_known())
        return;
    size_t few = most_for("20000"), many = most_for(large ? "17000000" : "200000");
    ck_assert_uint_gt(few, 0);
    ck_assert_uint_lt(many, few + 65536); /* a few octaves of histograms that larger gaps reach */
}
END_TEST

Suite *trace_verb_suite(void)
{
    Suite *suite = suite_create("trace_verb");
    TCase *runs = tcase_create("runs");

    tcase_add_checked_fixture(runs, setup, teardown);
    tcase_set_timeout(runs, 0);
    tcase_add_test(runs, the_log_of_a_run_is_a_trace);
    tcase_add_test(runs, the_verb);
    tcase_add_test(runs, memory_does_not_grow_with_the_rows);
    suite_add_tcase(suite, runs);
    return suite;
}
