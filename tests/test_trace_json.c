/* test_trace_json.c - the scripts that make CSV of JSON: by real samples and by small ones whose table is known. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "models/trace_sum.h"
#include "tests/command_fixture.h"
#include "tests/suites.h"

static struct trace_facts facts;
static struct trace_sum sum;

static bool jq_is_there(void)
{
    bool there = system("command -v jq >/dev/null 2>&1") == 0;
    if (!there)
        fprintf(stderr, "skipped: there is no jq\n");
    return there;
}

/* What a script makes of a file, read as a trace. */
static const char *made(const char *script, const char *json)
{
    const char *csv = in_folder("made.csv");
    ck_assert_int_eq(system(arena_format(&file.arena, "jq -rn -f scenarios/traces/%s.jq %s >%s", script, json, csv)),
                     0);
    trace_sum_init(&sum);
    ck_assert_msg(trace_read(&(struct trace_spec){.path = csv}, trace_sum_call, &sum, &facts, &file.diag), "%s",
                  plan_file_said(&file));
    trace_sum_done(&sum, &facts);
    char *text = program_file(csv);
    const char *kept = arena_text(&file.arena, text);
    free(text);
    return kept;
}

static const char *made_of(const char *script, const char *json)
{
    plan_file_write(&file, "in.jsonl", json);
    return made(script, in_folder("in.jsonl"));
}

START_TEST(mooncake)
{
    if (!jq_is_there())
        return;
    program_has(made("mooncake", "tests/data/mooncake.jsonl"),
                "\"timestamp\",\"input_length\",\"output_length\",\"hash_blocks\"\n0,6758,500,14\n0,7322,490,15\n");
    ck_assert_str_eq(facts.format, "mooncake");
    ck_assert_uint_eq(facts.kept, 40);
    ck_assert_int_eq((int64_t)sum.fields[TRACE_INPUT].sum, 506280);
    ck_assert_int_eq((int64_t)sum.fields[TRACE_OUTPUT].sum, 14962);
    trace_sum_fini(&sum);
}
END_TEST

/* Sums that were counted from upstream's file by another program. */
START_TEST(kv_cache_tester)
{
    if (!jq_is_there())
        return;
    made("kv_cache_tester", "tests/data/kv_cache_tester.json");
    ck_assert_str_eq(facts.format, "claude_code");
    ck_assert_uint_eq(facts.kept, 5);
    ck_assert_int_eq((int64_t)sum.fields[TRACE_INPUT].sum, 174369);
    ck_assert_int_eq((int64_t)sum.fields[TRACE_CACHED].sum, 127168);
    ck_assert_int_eq((int64_t)sum.fields[TRACE_OUTPUT].sum, 5402);
    trace_sum_fini(&sum);
    /* a sub-agent is a session of its own, and its blocks are compared among themselves */
    program_has(
        made_of("kv_cache_tester",
                "{\"id\":\"t\",\"block_size\":64,\"requests\":[{\"t\":0,\"in\":100,\"out\":1,\"hash_ids\":[1,2]},"
                "{\"t\":1,\"agent_id\":\"a\",\"requests\":[{\"t\":0,\"in\":70,\"out\":2,\"hash_ids\":[1,2]},"
                "{\"t\":1,\"in\":70,\"out\":2,\"hash_ids\":[1,2],\"api_time\":3}]},"
                "{\"t\":2,\"in\":200,\"out\":3,\"hash_ids\":[1,3,4,5],\"think_time\":4}]}"),
        "\"t\",0,0,100,0,1,,\n\"t\",1,2,200,64,3,,4\n\"t.a\",0,0,70,0,2,,\n\"t.a\",1,1,70,70,2,3,\n");
    trace_sum_fini(&sum);
}
END_TEST

/* One message on two lines, and a second that reads the first from the cache; a line without a message; an agent. */
START_TEST(claude_code)
{
    if (!jq_is_there())
        return;
    const char *csv = made_of(
        "claude_code",
        "{\"type\":\"summary\",\"summary\":\"secret\"}\n"
        "{\"type\":\"user\",\"sessionId\":\"s\",\"timestamp\":\"2025-01-01T00:00:00.000Z\",\"message\":{\"role\":"
        "\"user\","
        "\"content\":\"secret\"}}\n"
        "{\"type\":\"assistant\",\"sessionId\":\"s\",\"timestamp\":\"2025-01-01T00:00:02.500Z\",\"message\":{\"id\":"
        "\"m1\","
        "\"usage\":{\"input_tokens\":5,\"cache_creation_input_tokens\":100,\"output_tokens\":1},\"content\":\"secret\"}"
        "}\n"
        "{\"type\":\"user\",\"sessionId\":\"s\",\"agentId\":\"a\",\"timestamp\":\"2025-01-01T00:00:03Z\"}\n"
        "{\"type\":\"assistant\",\"sessionId\":\"s\",\"timestamp\":\"2025-01-01T00:00:03.250Z\",\"message\":{\"id\":"
        "\"m1\","
        "\"usage\":{\"input_tokens\":5,\"cache_creation_input_tokens\":100,\"output_tokens\":40}}}\n"
        "{\"type\":\"assistant\",\"sessionId\":\"s\",\"agentId\":\"a\",\"timestamp\":\"2025-01-01T00:00:05Z\","
        "\"message\":"
        "{\"id\":\"m3\",\"usage\":{\"input_tokens\":50,\"output_tokens\":4}}}\n"
        "{\"type\":\"system\",\"sessionId\":\"s\",\"timestamp\":\"2025-01-01T00:00:09Z\",\"message\":\"secret\"}\n"
        "{\"type\":\"user\",\"sessionId\":\"s\",\"timestamp\":\"2025-01-01T00:00:10Z\",\"message\":{\"content\":[]}}\n"
        "{\"type\":\"assistant\",\"sessionId\":\"s\",\"timestamp\":\"2025-01-01T00:00:14Z\",\"message\":{\"id\":\"m2\","
        "\"usage\":{\"input_tokens\":7,\"cache_read_input_tokens\":105,\"output_tokens\":9}}}\n");
    program_same(csv, "\"time\",\"session\",\"input_tokens\",\"cached_tokens\",\"output_tokens\",\"duration_s\"\n"
                      "\"2025-01-01T00:00:00.000Z\",\"s.\",105,0,40,3.25\n"
                      "\"2025-01-01T00:00:03Z\",\"s.a\",50,0,4,2\n"
                      "\"2025-01-01T00:00:10Z\",\"s.\",112,105,9,4\n");
    ck_assert_str_eq(facts.format, "calls");
    ck_assert_uint_eq(facts.sessions, 2);
    ck_assert_int_eq((int64_t)sum.waits.sum, 6750000000); /* 10 - 3.25: the tool */
    trace_sum_fini(&sum);
}
END_TEST

START_TEST(aiperf)
{
    if (!jq_is_there())
        return;
#define RECORD(start, turn, phase, error, metrics) \
    "{\"metadata\":{\"request_start_ns\":" start ",\"x_correlation_id\":\"c\",\"turn_index\":" turn \
    ",\"benchmark_phase\":\"" phase "\",\"was_cancelled\":false},\"metrics\":" metrics ",\"error\":" error "}\n"
#define METRICS(in, out, latency) \
    "{\"input_sequence_length\":{\"value\":" in ",\"unit\":\"tokens\"},\"output_sequence_length\":{\"value\":" out \
    ",\"unit\":\"tokens\"},\"request_latency\":{\"value\":" latency ",\"unit\":\"ms\"}}"
    const char *csv =
        made_of("aiperf", RECORD("1759813209000000000", "1", "profiling", "null", METRICS("600", "7", "250"))
                              RECORD("1759813207500000000", "0", "profiling", "null", METRICS("550", "9", "297.5"))
                                  RECORD("1759813206000000000", "0", "warmup", "null", METRICS("1", "1", "1"))
                                      RECORD("1759813208000000000", "0", "profiling", "{\"code\":499}", "{}"));
    program_same(csv, "\"time_s\",\"session\",\"turn\",\"input_tokens\",\"output_tokens\",\"duration_s\"\n"
                      "1759813207.5,\"c\",0,550,9,0.2975\n1759813209,\"c\",1,600,7,0.25\n");
    ck_assert_int_eq((int64_t)sum.waits.sum, 1202500000);
    trace_sum_fini(&sum);
}
END_TEST

START_TEST(guidellm)
{
    if (!jq_is_there())
        return;
    const char *csv = made_of(
        "guidellm", "{\"benchmarks\":[{\"requests\":{\"successful\":[{\"request_start_time\":20.5,\"prompt_tokens\":"
                    "128,\"output_tokens\":64,\"request_latency\":1.5,\"output\":\"secret\"}],\"errored\":[{}]}},"
                    "{\"requests\":{\"successful\":[{\"start_time\":10,\"prompt_tokens\":1,\"output_tokens\":2,"
                    "\"request_latency\":0.5}]}}]}");
    program_same(csv, "\"time_s\",\"input_tokens\",\"output_tokens\",\"duration_s\"\n10,1,2,0.5\n20.5,128,64,1.5\n");
    trace_sum_fini(&sum);
}
END_TEST

Suite *trace_json_suite(void)
{
    Suite *suite = suite_create("trace_json");
    TCase *test = tcase_create("trace_json");
    tcase_add_checked_fixture(test, setup, teardown);
    tcase_set_timeout(test, 0);
    tcase_add_test(test, mooncake);
    tcase_add_test(test, kv_cache_tester);
    tcase_add_test(test, claude_code);
    tcase_add_test(test, aiperf);
    tcase_add_test(test, guidellm);
    suite_add_tcase(suite, test);
    return suite;
}
