/* test_trace.c - recorded workloads: every format by a slice of the real thing with known sums, values to the last
 * nanosecond, what is dropped and what is refused. */
#include <check.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "models/trace_sum.h"
#include "sim/io/csv.h"
#include "tests/command_fixture.h"
#include "tests/suites.h"

static struct trace_facts facts;
static struct trace_sum sum;

/* The messages of a reading that failed, "" of one that went well; then the sums have to be freed. */
static const char *read_spec(const struct trace_spec *spec)
{
    diag_fini(&file.diag); /* of the trace before */
    trace_sum_init(&sum);
    bool good = trace_read(spec, trace_sum_call, &sum, &facts, &file.diag);
    if (good)
        trace_sum_done(&sum, &facts);
    const char *said = arena_text(&file.arena, plan_file_said(&file));
    ck_assert_int_eq(good, *said == '\0');
    return said;
}

static const char *read_path(const char *path)
{
    return read_spec(&(struct trace_spec){.path = path});
}

static const char *read_text_as(const char *text, const char *format, const char *columns)
{
    plan_file_write(&file, "t.csv", text);
    return read_spec(&(struct trace_spec){.path = in_folder("t.csv"),
                                          .format = format,
                                          .columns = columns,
                                          .format_asked = {.file = "--as"},
                                          .columns_asked = {.file = "--column"}});
}

static const char *read_text(const char *text)
{
    return read_text_as(text, NULL, NULL);
}

static void sum_is(enum trace_field field, int64_t value)
{
    ck_assert_msg(sum.fields[field].sum == value, "%s: %" PRId64 ", expected %" PRId64, trace_field_name(field),
                  (int64_t)sum.fields[field].sum, value);
}

/* --- real ones --- */

static const struct sample {
    const char *path, *format;
    uint64_t read, kept;
    int64_t input, output; /* -1: not there */
    enum trace_field sent; /* which `input` is the sum of */
    uint32_t sessions;
    bool sort;
} samples[] = {
    {"scenarios/traces/azure_code.csv", "azure", 2700, 2700, 5418287, 77056, TRACE_INPUT, 0, false},
    {"tests/data/azure_conv.csv", "azure", 1500, 1500, 2112822, 192021, TRACE_INPUT, 0, false},
    {"tests/data/vidur_conv.csv", "vidur", 1500, 1500, 2112822, 192021, TRACE_INPUT, 0, false},
    {"tests/data/vidur_lengths.csv", "vidur", 300, 300, 759573, 84604, TRACE_INPUT, 0, false},
    {"tests/data/burstgpt_1.csv", "burstgpt", 200, 191, 118792, 58284, TRACE_INPUT, 0, false},
    {"tests/data/burstgpt_3.csv", "burstgpt", 200, 199, 152328, 35890, TRACE_INPUT, 73, false},
    {"tests/data/mooncake.csv", "mooncake", 1000, 1000, 13732944, 349357, TRACE_INPUT, 0, false},
    {"tests/data/mooncake.csv", "mooncake", 1000, 1000, 2962776, 349357, TRACE_CACHED, 0, false},
    {"tests/data/ragpulse.csv", "ragpulse", 300, 300, 816401, 78749, TRACE_INPUT, 167, true},
    {"tests/data/splitwise.csv", "splitwise", 3, 3, 8192, 56, TRACE_INPUT, 0, false},
    {"tests/data/splitwise_perf.csv", "splitwise_perf", 105, 105, 49920, 13440, TRACE_INPUT, 0, false},
    {"tests/data/tracelab_sessions.csv", "tracelab", 8, 8, 2068, 448, TRACE_NEW, 3, false},
    {"tests/data/tracelab_sessions.csv", "tracelab", 8, 8, 5308, 448, TRACE_INPUT, 3, false},
    {"tests/data/tracelab_session.csv", "tracelab", 11, 11, 54780, 24798, TRACE_NEW, 1, false},
    {"tests/data/tracelab_claude.csv", "tracelab", 10, 10, 24125, 9423, TRACE_NEW, 1, false},
    {"tests/data/servegen.csv", "servegen", 144, 110, -1, -1, TRACE_INPUT, 0, false},
    {"tests/data/servegen_lengths.csv", "servegen_lengths", 213, 213, -1, -1, TRACE_INPUT, 0, false},
    {"tests/data/claude_code.csv", "claude_code", 600, 600, 75990832, 291975, TRACE_INPUT, 14, false},
    {"tests/data/claude_code.csv", "claude_code", 600, 600, 71994432, 291975, TRACE_CACHED, 14, false},
    {"scenarios/traces/claude.csv", "claude_code", 8279, 8279, 1320601753, 3518739, TRACE_INPUT, 224, false},
};

START_TEST(samples_have_their_sums)
{
    const struct sample *sample = &samples[_i];
    ck_assert_str_eq(read_spec(&(struct trace_spec){.path = sample->path, .sort = sample->sort}), "");
    ck_assert_str_eq(facts.format, sample->format);
    ck_assert_uint_eq(facts.read, sample->read);
    ck_assert_uint_eq(facts.kept, sample->kept);
    ck_assert_uint_eq(facts.sessions, sample->sessions);
    if (sample->input >= 0) {
        sum_is(sample->sent, sample->input);
        sum_is(TRACE_OUTPUT, sample->output);
    }
    trace_sum_fini(&sum);
}
END_TEST

/* The two formats of one workload agree to the nanosecond, call by call. */
struct times {
    int64_t first, times[1500];
    size_t count;
};

static void note_time(void *context, const struct trace_call *call)
{
    struct times *times = context;
    if (times->count == 0)
        times->first = call->values[TRACE_TIME];
    times->times[times->count++] = call->values[TRACE_TIME] - times->first;
}

START_TEST(two_formats_are_one_workload)
{
    static struct times one, other;
    one.count = other.count = 0;
    ck_assert(
        trace_read(&(struct trace_spec){.path = "tests/data/azure_conv.csv"}, note_time, &one, &facts, &file.diag));
    ck_assert(
        trace_read(&(struct trace_spec){.path = "tests/data/vidur_conv.csv"}, note_time, &other, &facts, &file.diag));
    ck_assert_uint_eq(one.count, other.count);
    for (size_t i = 0; i < one.count; i++)
        ck_assert_int_eq(one.times[i], other.times[i]);
    ck_assert_int_eq(one.times[1], 121809000);
}
END_TEST

START_TEST(a_step_back_is_refused)
{
    ck_assert_str_eq(
        read_path("tests/data/ragpulse.csv"),
        "tests/data/ragpulse.csv:202:0: timestamp runs backwards: 0 after 604453; expected times in ascending "
        "order, or sort to be asked for");
    trace_sum_fini(&sum);
    /* of dates, of the begins of sessions, and within a session */
    program_has(
        read_text("TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:00:00,1,1\n2023-11-16 17:59:58.5,1,1\n"),
        "t.csv:3:0: TIMESTAMP runs backwards, by 1.5 s");
    trace_sum_fini(&sum);
    program_has(read_text("session_id,arrival_time,round_idx,input_len,output_len\na,5,0,1,1\nb,4,0,1,1\n"),
                "t.csv:3:0: arrival_time runs backwards: 4 after 5");
    trace_sum_fini(&sum);
    program_has(read_text("session_id,start_ms,round_idx,input_len,output_len\na,5,0,1,1\nb,4,0,1,1\na,4.5,1,1,1\n"),
                "t.csv:4:0: start_ms runs backwards: 4.5 after 5; expected times in ascending order in a session");
    trace_sum_fini(&sum);
}
END_TEST

/* --- values --- */

static const struct value {
    const char *text;
    enum trace_unit unit;
    int64_t value;
    const char *wrong;
} values[] = {
    {"1743.426729", TRACE_S, 1743426729000, NULL},
    {"3501.0602540000002", TRACE_S, 3501060254000, NULL},
    {"0.0000000005", TRACE_S, 1, NULL},
    {"0.00000000049", TRACE_S, 0, NULL},
    {"6.05e-05", TRACE_S, 60500, NULL},
    {"19440110.0", TRACE_S, 19440110000000000, NULL},
    {"1759813207532900363", TRACE_NS, 1759813207532900363, NULL},
    {"1.5", TRACE_MS, 1500000, NULL},
    {"2", TRACE_MIN, 120000000000, NULL},
    {"12.0", TRACE_TOKENS, 12, NULL},
    {"1e3", TRACE_TOKENS, 1000, NULL},
    {"-0", TRACE_TOKENS, 0, NULL},
    {"12.5", TRACE_TOKENS, 0, "no whole number"},
    {"-1", TRACE_TOKENS, 0, "a negative number"},
    {"1e400", TRACE_S, 0, "too large a number"},
    {"5e9", TRACE_S, 0, "too large a number"},
    {"0x10", TRACE_S, 0, "no number"},
    {"nan", TRACE_S, 0, "no number"},
    {"1,5", TRACE_S, 0, "no number"},
    {"1e", TRACE_S, 0, "no number"},
    {".", TRACE_S, 0, "no number"},
    {"1970-01-01 00:00:00", TRACE_DATE, 0, NULL},
    {"2023-11-16 18:17:03.9799600", TRACE_DATE, 1700158623979960000, NULL},
    {"2024-02-29T23:59:59.5Z", TRACE_DATE, 1709251199500000000, NULL},
    {"2024-03-01T01:59:59.5+02:00", TRACE_DATE, 1709251199500000000, NULL},
    {"2024-02-29 18:29:59.5-0530", TRACE_DATE, 1709251199500000000, NULL},
    {"2024-02-29 23:59:59.5 UTC", TRACE_DATE, 1709251199500000000, NULL},
    {"2023-02-29 00:00:00", TRACE_DATE, 0, "no date with a time"},
    {"2023-01-01", TRACE_DATE, 0, "no date with a time"},
    {"2023-01-01 24:00:00", TRACE_DATE, 0, "no date with a time"},
    {"2023-01-01 00:00:00 CET", TRACE_DATE, 0, "no date with a time"},
    {"2023-01-01 00:00:00.", TRACE_DATE, 0, "no date with a time"},
    {"1969-12-31 23:59:59", TRACE_DATE, 0, "a year before 1970 or after 2200"},
    {"1700158623", TRACE_DATE, 0, "no date with a time"},
};

START_TEST(values_are_exact)
{
    const struct value *value = &values[_i];
    int64_t found;
    bool zoned = false;
    const char *wrong = trace_value_read(value->text, value->unit, &found, &zoned);
    ck_assert_msg(value->wrong ? wrong && strcmp(wrong, value->wrong) == 0 : !wrong, "%s: %s", value->text,
                  wrong ? wrong : "read");
    if (!wrong)
        ck_assert_int_eq(found, value->value);
    ck_assert(wrong || !zoned || strpbrk(value->text, "Z+U") || strstr(value->text, "-0530"));
}
END_TEST

/* --- texts --- */

/* BOM, CRLF, a quoted newline, an extra column, empty fields, no end of the last line. */
START_TEST(any_csv_is_read)
{
    ck_assert_str_eq(read_text("\xef\xbb\xbfTIMESTAMP,note,ContextTokens,GeneratedTokens\r\n"
                               "\"2023-11-16 18:00:00\",\"a\r\nb, \"\"c\"\"\",10,\r\n\r\n,x,3,4\r\n"
                               "2023-11-16T18:00:02Z,,,7"),
                     "");
    ck_assert_uint_eq(facts.read, 3);
    ck_assert_uint_eq(facts.kept, 2);
    ck_assert_str_eq(facts.dropped[0].reason, "its time is unknown");
    ck_assert_uint_eq(facts.dropped[0].rows, 1);
    ck_assert_ptr_null(facts.dropped[1].reason);
    sum_is(TRACE_INPUT, 10);
    sum_is(TRACE_OUTPUT, 7);
    ck_assert_uint_eq(sum.fields[TRACE_INPUT].unknown, 1); /* and not 0 */
    ck_assert_uint_eq(sum.fields[TRACE_OUTPUT].count, 1);
    ck_assert(facts.zones);
    ck_assert_int_eq(sum.last - sum.first, 2 * SIM_SECOND);
    trace_sum_fini(&sum);
}
END_TEST

/* Waits stand before a call, behind it, or follow from times and durations; then they are never below 0. */
START_TEST(waits_before_and_behind)
{
    ck_assert_str_eq(read_text("session,wait_before_s,output_tokens\na,,1\na,2,1\nb,5,1\na,3,1\n"), "");
    ck_assert_uint_eq(sum.waits.count, 3);
    ck_assert_uint_eq(sum.waits.unknown, 1);
    ck_assert(sum.waits.sum == 10 * SIM_SECOND);
    trace_sum_fini(&sum);
    ck_assert_str_eq(
        read_text("id,input_len,output_len,round_idx,tool_wait_after_ms\na,1,1,0,2000\nb,1,1,0,9000\na,1,1,1,0\n"), "");
    ck_assert(sum.waits.sum == 2 * SIM_SECOND && sum.waits.count == 1);
    ck_assert(!facts.waits_derived);
    trace_sum_fini(&sum);
    ck_assert_str_eq(read_text("Timestamp,Session ID,Elapsed time,Request tokens,Response tokens\n"
                               "0,a,3,1,1\n4,b,1,1,1\n10,a,5,1,1\n12,a,1,1,1\n20,,1,1,1\n"),
                     "");
    ck_assert(sum.waits.sum == 7 * SIM_SECOND && sum.waits.count == 2); /* 10 - 3, and 12 - 15 is 0 */
    ck_assert(facts.waits_derived);
    ck_assert_uint_eq(sum.alone, 1);
    trace_sum_fini(&sum);
}
END_TEST

START_TEST(tokens_follow_from_one_another)
{
    ck_assert_str_eq(read_text("time_s,input_tokens,cached_tokens,output_tokens\n0,10,4,1\n1,10,,1\n2,,4,1\n"), "");
    sum_is(TRACE_NEW, 6);
    trace_sum_fini(&sum);
    ck_assert_str_eq(read_text("time_s,new_tokens,cached_tokens,output_tokens\n0,10,4,1\n1,10,,1\n"), "");
    sum_is(TRACE_INPUT, 14); /* of the second call nobody knows */
    ck_assert_uint_eq(sum.fields[TRACE_INPUT].unknown, 1);
    trace_sum_fini(&sum);
}
END_TEST

START_TEST(sorting_keeps_the_order_of_equal_times)
{
    plan_file_write(&file, "t.csv", "time_s,session,output_tokens,wait_after_s\n5,a,1,20\n3,a,2,10\n5,a,3,0\n");
    ck_assert_str_eq(read_spec(&(struct trace_spec){.path = in_folder("t.csv"), .sort = true}), "");
    ck_assert(sum.waits.sum == 30 * SIM_SECOND); /* 10 behind the second row, 20 behind the first */
    trace_sum_fini(&sum);
    program_has(read_spec(&(struct trace_spec){.path = "tests/data/vidur_lengths.csv", .sort = true}),
                "there is no time to sort by");
    trace_sum_fini(&sum);
}
END_TEST

/* Counts of windows by hand: calls at 0, 1, 2 and 5 s of 2 s windows; the third window is not over when the last comes.
 */
START_TEST(dispersion_by_hand)
{
    ck_assert_str_eq(read_text("time_s,output_tokens\n7,1\n7.5,1\n8,1\n8.9,1\n9,1\n10,1\n"), "");
    ck_assert_int_eq(sum.windows[0].closed, 3); /* 2, 2, 1 calls, and the last one opens a fourth */
    ck_assert_double_eq_tol(trace_dispersion(&sum.windows[0]), (9.0 / 3 - 25.0 / 9) / (5.0 / 3), 1e-12);
    ck_assert(isnan(trace_dispersion(&sum.windows[1])));
    ck_assert_double_eq_tol(trace_mean(&sum.gaps), 0.6e9, 1e-3);
    trace_sum_fini(&sum);
    ck_assert_str_eq(read_text("time_s,output_tokens\n0,1\n5.5,1\n"), "");
    ck_assert_int_eq(sum.windows[0].closed, 5); /* four of them empty */
    trace_sum_fini(&sum);
}
END_TEST

/* --- columns --- */

START_TEST(a_list_of_columns)
{
    static const char text[] = "when,who,len in,len out,pause\n5,x,10,1,7\n9,x,20,2,8\n";
    ck_assert_str_eq(read_text_as(text, NULL, "time=when:ms, session=who,input=len in, output= len out"),
                     "--column:0:0: there is no column ` len out`: did you mean `len out`?");
    trace_sum_fini(&sum);
    ck_assert_str_eq(
        read_text_as(text, NULL, "time=when:ms, session=who,input=len in, output=len out,wait_before=pause:min"), "");
    ck_assert_str_eq(facts.format, "columns");
    sum_is(TRACE_INPUT, 30);
    ck_assert(sum.waits.sum == 15 * 60 * SIM_SECOND);
    ck_assert_int_eq(sum.last, 9000000);
    trace_sum_fini(&sum);
    /* before those of a format */
    ck_assert_str_eq(
        read_text_as("TIMESTAMP,ContextTokens,GeneratedTokens,real\n2023-11-16 18:00:00,1,1,5\n", NULL, "output=real"),
        "");
    ck_assert_str_eq(facts.format, "azure");
    sum_is(TRACE_OUTPUT, 5);
    trace_sum_fini(&sum);
    /* a moment without a unit is a date */
    ck_assert_str_eq(read_text_as("startTime,n\n2023-11-16 18:00:00,1\n", NULL, "time=startTime,output=n"), "");
    trace_sum_fini(&sum);
}
END_TEST

static const struct bad {
    const char *text, *format, *columns, *said;
} bads[] = {
    {"a,b\n1,2\n", NULL, NULL, "t.csv:1:0: no known format has the columns a, b: expected those of one"},
    {"TIMESTAMP,ContextTokens\n", NULL, NULL,
     "t.csv:1:0: no known format has these columns: azure expects GeneratedTokens besides"},
    {"timestamp,input_length,output_length\n0,1,1\n", NULL, NULL, "expects seen_prefix_tokens or hash_blocks besides"},
    {"TIMESTAMP,ContextTokens\n", "azure", NULL,
     "azure expects the columns GeneratedTokens besides: there are TIMESTAMP, ContextTokens"},
    {"a\n1\n", "azur", NULL, "--as:0:0: there is no trace format azur: did you mean azure?"},
    {"a\n1\n", "xyzzyx", NULL, "there is no trace format xyzzyx: expected one of azure, burstgpt,"},
    {"a\n1\n", NULL, "time=a", "t.csv:2:1: no date with a time in the column a: 1: expected a date such as"},
    {"a\n1\n", NULL, "duration=a", "--column:0:0: duration=a: expected the column and its unit, such as duration=a:ms"},
    {"a\n1\n", NULL, "time=a:weeks", "--column:0:0: time=a:weeks: expected the column and its unit, such as time=a:ms"},
    {"a\n1\n", NULL, "tim=a:s", "--column:0:0: there is no field tim: did you mean time"},
    {"a\n1\n", NULL, "time", "--column:0:0: time: expected FIELD=COLUMN"},
    {"alpha\n1\n", NULL, "output=alpa", "there is no column `alpa`: did you mean `alpha`?"},
    {"time_s,output_tokens\n1,x\n", NULL, NULL,
     "t.csv:2:3: no number in the column output_tokens: x: expected a whole number of tokens"},
    {"time_s,output_tokens\n1,2\n-1,2\n", NULL, NULL,
     "t.csv:3:1: a negative number in the column time_s: -1: expected a number of s"},
    {"time_s,output_tokens\n", NULL, NULL, "t.csv:0:0: no row counts: expected one below the names"},
    {"time_s,output_tokens\n,1\n", NULL, NULL, "t.csv:0:0: no row counts: its time is unknown"},
    {"time_s,output_tokens\n1\n", NULL, NULL, "t.csv:2:0: a row of 1 field: expected 2, as in the header"},
    {"{\"timestamp\": 0}\n", NULL, NULL, "t.csv:0:0: this is JSON: expected CSV, which jq makes of it"},
};

START_TEST(bad_traces)
{
    const struct bad *bad = &bads[_i];
    program_has(read_text_as(bad->text, bad->format, bad->columns), bad->said);
    trace_sum_fini(&sum);
}
END_TEST

Suite *trace_suite(void)
{
    Suite *suite = suite_create("trace");
    TCase *reads = tcase_create("reads");
    tcase_add_checked_fixture(reads, setup, teardown);
    tcase_add_loop_test(reads, samples_have_their_sums, 0, sizeof samples / sizeof *samples);
    tcase_add_test(reads, two_formats_are_one_workload);
    tcase_add_test(reads, a_step_back_is_refused);
    tcase_add_loop_test(reads, values_are_exact, 0, sizeof values / sizeof *values);
    tcase_add_test(reads, any_csv_is_read);
    tcase_add_test(reads, waits_before_and_behind);
    tcase_add_test(reads, tokens_follow_from_one_another);
    tcase_add_test(reads, sorting_keeps_the_order_of_equal_times);
    tcase_add_test(reads, dispersion_by_hand);
    tcase_add_test(reads, a_list_of_columns);
    tcase_add_loop_test(reads, bad_traces, 0, sizeof bads / sizeof *bads);
    suite_add_tcase(suite, reads);
    return suite;
}
