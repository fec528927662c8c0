/* trace_formats.c - the formats of traces: their columns under all the names that they have, what they hold, and the
 * units of their numbers. What a file of any of them is called and how it is understood stands here and nowhere else.
 */
#include "models/trace.h"

#include <stddef.h>

#define SESSION(name, need) \
    { \
        name, TRACE_SESSION, TRACE_TEXT, need, NULL, NULL \
    }
#define COLUMN(name, field, unit, need) \
    { \
        name, field, unit, need, NULL, NULL \
    }
#define END \
    { \
        .name = NULL \
    }

static const struct trace_column azure[] = {
    COLUMN("TIMESTAMP", TRACE_TIME, TRACE_DATE, TRACE_NEEDED),
    COLUMN("ContextTokens", TRACE_INPUT, TRACE_TOKENS, TRACE_NEEDED),
    COLUMN("GeneratedTokens", TRACE_OUTPUT, TRACE_TOKENS, TRACE_NEEDED),
    END,
};

static const struct trace_column burstgpt[] = {
    COLUMN("Timestamp", TRACE_TIME, TRACE_S, TRACE_NEEDED),
    SESSION("Session ID", TRACE_MAY),
    COLUMN("Elapsed time", TRACE_DURATION, TRACE_S, TRACE_MAY),
    COLUMN("Request tokens", TRACE_INPUT, TRACE_TOKENS, TRACE_NEEDED),
    COLUMN("Response tokens", TRACE_OUTPUT, TRACE_TOKENS, TRACE_NEEDED),
    END,
};

static const struct trace_column mooncake[] = {
    COLUMN("timestamp", TRACE_TIME, TRACE_MS, TRACE_NEEDED),
    COLUMN("input_length", TRACE_INPUT, TRACE_TOKENS, TRACE_NEEDED),
    COLUMN("output_length", TRACE_OUTPUT, TRACE_TOKENS, TRACE_NEEDED),
    COLUMN("seen_prefix_tokens", TRACE_CACHED, TRACE_TOKENS, TRACE_MARK),
    COLUMN("hash_blocks", TRACE_NONE, TRACE_COUNT, TRACE_MARK),
    END,
};

static const struct trace_column ragpulse[] = {
    COLUMN("timestamp", TRACE_TIME, TRACE_S, TRACE_NEEDED),
    SESSION("session", TRACE_NEEDED),
    SESSION("session_id", TRACE_NEEDED),
    COLUMN("input_length", TRACE_INPUT, TRACE_TOKENS, TRACE_NEEDED),
    COLUMN("output_length", TRACE_OUTPUT, TRACE_TOKENS, TRACE_NEEDED),
    END,
};

static const struct trace_column vidur[] = {
    COLUMN("arrived_at", TRACE_TIME, TRACE_S, TRACE_MAY),
    COLUMN("num_prefill_tokens", TRACE_INPUT, TRACE_TOKENS, TRACE_NEEDED),
    COLUMN("num_decode_tokens", TRACE_OUTPUT, TRACE_TOKENS, TRACE_NEEDED),
    END,
};

static const struct trace_column splitwise[] = {
    COLUMN("arrival_timestamp", TRACE_TIME, TRACE_S, TRACE_NEEDED),
    COLUMN("prompt_size", TRACE_INPUT, TRACE_TOKENS, TRACE_NEEDED),
    COLUMN("token_size", TRACE_OUTPUT, TRACE_TOKENS, TRACE_NEEDED),
    COLUMN("batch_size", TRACE_BATCH, TRACE_COUNT, TRACE_MAY),
    END,
};

static const struct trace_column splitwise_perf[] = {
    COLUMN("prompt_size", TRACE_INPUT, TRACE_TOKENS, TRACE_NEEDED),
    COLUMN("token_size", TRACE_OUTPUT, TRACE_TOKENS, TRACE_NEEDED),
    COLUMN("batch_size", TRACE_BATCH, TRACE_COUNT, TRACE_NEEDED),
    COLUMN("prompt_time", TRACE_READ_TIME, TRACE_MS, TRACE_NEEDED),
    COLUMN("token_time", TRACE_STEP_TIME, TRACE_MS, TRACE_NEEDED),
    COLUMN("e2e_time", TRACE_DURATION, TRACE_MS, TRACE_MAY),
    END,
};

static const struct trace_column tracelab[] = {
    SESSION("session_id", TRACE_NEEDED),
    SESSION("id", TRACE_NEEDED),
    COLUMN("arrival_time", TRACE_BEGIN, TRACE_MS, TRACE_MAY),
    COLUMN("start_ms", TRACE_SINCE, TRACE_MS, TRACE_MAY),
    COLUMN("end_ms", TRACE_END, TRACE_MS, TRACE_MAY),
    COLUMN("round_idx", TRACE_TURN, TRACE_COUNT, TRACE_NEEDED),
    COLUMN("prefix_len", TRACE_CACHED, TRACE_TOKENS, TRACE_MAY),
    COLUMN("input_len", TRACE_NEW, TRACE_TOKENS, TRACE_NEEDED),
    COLUMN("output_len", TRACE_OUTPUT, TRACE_TOKENS, TRACE_NEEDED),
    COLUMN("tool_wait_after_ms", TRACE_WAIT_AFTER, TRACE_MS, TRACE_MAY),
    COLUMN("tool_wait_max_ms", TRACE_WAIT_AFTER, TRACE_MS, TRACE_MAY),
    END,
};

/* One row a window of 600 s. */
static const struct trace_column servegen[] = {
    COLUMN("1", TRACE_TIME, TRACE_S, TRACE_NEEDED),
    COLUMN("2", TRACE_RATE, TRACE_REAL, TRACE_NEEDED),
    COLUMN("3", TRACE_GAP_CV, TRACE_REAL, TRACE_NEEDED),
    END,
};

static const struct trace_column servegen_lengths[] = {
    COLUMN("window_s", TRACE_TIME, TRACE_S, TRACE_NEEDED),
    COLUMN("value", TRACE_LENGTH, TRACE_REAL, TRACE_NEEDED),
    COLUMN("probability", TRACE_CHANCE, TRACE_REAL, TRACE_NEEDED),
    END,
};

static const struct trace_column claude_code[] = {
    SESSION("session_id", TRACE_NEEDED),
    COLUMN("turn", TRACE_TURN, TRACE_COUNT, TRACE_MAY),
    COLUMN("start_s", TRACE_SINCE, TRACE_S, TRACE_MAY),
    COLUMN("input_tokens", TRACE_INPUT, TRACE_TOKENS, TRACE_NEEDED),
    COLUMN("prefix_tokens", TRACE_CACHED, TRACE_TOKENS, TRACE_MAY),
    COLUMN("output_tokens", TRACE_OUTPUT, TRACE_TOKENS, TRACE_NEEDED),
    COLUMN("api_time_s", TRACE_DURATION, TRACE_S, TRACE_MAY),
    COLUMN("think_time_s", TRACE_WAIT_BEFORE, TRACE_S, TRACE_NEEDED),
    COLUMN("wait_s", TRACE_WAIT_BEFORE, TRACE_S, TRACE_NEEDED),
    END,
};

static const struct trace_column litellm[] = {
    COLUMN("startTime", TRACE_TIME, TRACE_DATE, TRACE_NEEDED),
    COLUMN("endTime", TRACE_END, TRACE_DATE, TRACE_MAY),
    SESSION("session_id", TRACE_MAY),
    COLUMN("prompt_tokens", TRACE_INPUT, TRACE_TOKENS, TRACE_NEEDED),
    COLUMN("cached_tokens", TRACE_CACHED, TRACE_TOKENS, TRACE_MAY),
    COLUMN("completion_tokens", TRACE_OUTPUT, TRACE_TOKENS, TRACE_NEEDED),
    {"status", TRACE_NONE, TRACE_TEXT, TRACE_KEEPS, "success", "its status is not success"},
    END,
};

static const struct trace_column weir[] = {
    {"replication", TRACE_NONE, TRACE_TEXT, TRACE_FIRST, NULL, "of another design point or replication than the first"},
    SESSION("class", TRACE_NEEDED),
    SESSION("agent", TRACE_NEEDED),
    SESSION("run", TRACE_NEEDED),
    COLUMN("turn", TRACE_TURN, TRACE_COUNT, TRACE_NEEDED),
    COLUMN("submitted", TRACE_TIME, TRACE_S, TRACE_NEEDED),
    {"verdict", TRACE_NONE, TRACE_TEXT, TRACE_KEEPS, "answered", "an attempt that was not answered"},
    COLUMN("finished", TRACE_END, TRACE_S, TRACE_NEEDED),
    COLUMN("tokens_in", TRACE_INPUT, TRACE_TOKENS, TRACE_NEEDED),
    COLUMN("tokens_out", TRACE_OUTPUT, TRACE_TOKENS, TRACE_NEEDED),
    END,
};

static const struct trace_column calls[] = {
    COLUMN("time", TRACE_TIME, TRACE_DATE, TRACE_MARK),
    COLUMN("time_s", TRACE_TIME, TRACE_S, TRACE_MARK),
    COLUMN("since_s", TRACE_SINCE, TRACE_S, TRACE_MAY),
    SESSION("session", TRACE_MARK),
    COLUMN("turn", TRACE_TURN, TRACE_COUNT, TRACE_MAY),
    COLUMN("input_tokens", TRACE_INPUT, TRACE_TOKENS, TRACE_MAY),
    COLUMN("cached_tokens", TRACE_CACHED, TRACE_TOKENS, TRACE_MAY),
    COLUMN("new_tokens", TRACE_NEW, TRACE_TOKENS, TRACE_MAY),
    COLUMN("output_tokens", TRACE_OUTPUT, TRACE_TOKENS, TRACE_NEEDED),
    COLUMN("duration_s", TRACE_DURATION, TRACE_S, TRACE_MAY),
    COLUMN("wait_before_s", TRACE_WAIT_BEFORE, TRACE_S, TRACE_MARK),
    COLUMN("wait_after_s", TRACE_WAIT_AFTER, TRACE_S, TRACE_MARK),
    END,
};

const struct trace_format trace_formats[] = {
    {"azure", "calls", "Azure LLM inference trace 2023", "github:Azure/AzurePublicDataset", azure, 0, NULL, false},
    {"burstgpt", "calls", "BurstGPT, with or without sessions", "github:HPMLL/BurstGPT", burstgpt, 0,
     "0 tokens: a call that failed", false},
    {"mooncake", "calls", "Mooncake FAST'25 traces", "github:kvcache-ai/Mooncake", mooncake, 0, NULL, false},
    {"ragpulse", "calls", "RAGPulse", "github:flashserve/RAGPulse", ragpulse, 0, NULL, false},
    {"vidur", "calls", "Vidur processed traces, lengths alone too", "github:microsoft/vidur", vidur, 0, NULL, false},
    {"splitwise", "calls", "Splitwise-sim traces", "github:Mutinifni/splitwise-sim", splitwise, 0, NULL, false},
    {"splitwise_perf", "measurements", "Splitwise-sim service times, a row a batch that was measured",
     "github:Mutinifni/splitwise-sim", splitwise_perf, 0, NULL, false},
    {"tracelab", "calls", "TraceLab session workloads", "github:uw-syfi/TraceLab", tracelab, 0, NULL, false},
    {"servegen", "windows", "ServeGen clients, a row a window; the file has no line of names",
     "github:alibaba/ServeGen", servegen, 6, "rate 0: an idle window", false},
    {"servegen_lengths", "lengths", "ServeGen lengths, a row a length of a window", "github:alibaba/ServeGen",
     servegen_lengths, 0, NULL, false},
    {"claude_code", "calls", "Claude Code sessions of kv-cache-tester", "github:callanjfox/kv-cache-tester",
     claude_code, 0, NULL, false},
    {"litellm", "calls", "LiteLLM's spend log, exported from its database", "github:BerriAI/litellm", litellm, 0, NULL,
     false},
    {"weir", "calls", "the log of `weir run --log`", "weir", weir, 0, NULL, true},
    {"calls", "calls", "what the scripts under scenarios/traces/ make of JSON", "weir", calls, 0, NULL, false},
    {.name = NULL},
};

static const struct {
    const char *name, *help;
} fields[] = {
    [TRACE_TIME] = {"time", "when the call was made, or its window began"},
    [TRACE_BEGIN] = {"begin", "when its session began"},
    [TRACE_SINCE] = {"since", "when the call was made, since its session began"},
    [TRACE_SESSION] = {"session", "which session the call is of"},
    [TRACE_TURN] = {"turn", "number of the call in its session"},
    [TRACE_INPUT] = {"input", "the whole prompt"},
    [TRACE_CACHED] = {"cached", "of the prompt, what was sent before"},
    [TRACE_NEW] = {"new", "of the prompt, what was not"},
    [TRACE_OUTPUT] = {"output", "what was generated"},
    [TRACE_DURATION] = {"duration", "from the call to the end of its answer"},
    [TRACE_END] = {"end", "when its answer ended"},
    [TRACE_WAIT_BEFORE] = {"wait_before", "from the end of the session's call before to this one"},
    [TRACE_WAIT_AFTER] = {"wait_after", "from the end of this call to the session's next"},
    [TRACE_BATCH] = {"batch", "calls that were measured together"},
    [TRACE_READ_TIME] = {"read_time", "of the prompts of a batch"},
    [TRACE_STEP_TIME] = {"step_time", "of one token of each call of a batch"},
    [TRACE_RATE] = {"rate", "calls a second in the window"},
    [TRACE_GAP_CV] = {"gap_cv", "spread of the gaps between the calls of the window"},
    [TRACE_LENGTH] = {"length", "tokens of a call in the window"},
    [TRACE_CHANCE] = {"chance", "of that length"},
};
_Static_assert(sizeof fields / sizeof *fields == TRACE_FIELDS, "each field has its row");

const char *trace_field_name(enum trace_field field)
{
    return fields[field].name;
}

const char *trace_field_help(enum trace_field field)
{
    return fields[field].help;
}

static const struct {
    const char *name;
    int64_t scale;
} units[] = {
    [TRACE_TEXT] = {"", 0},
    [TRACE_TOKENS] = {"tokens", 1},
    [TRACE_COUNT] = {"", 1},
    [TRACE_REAL] = {"", 1000000000},
    [TRACE_DATE] = {"date", SIM_SECOND},
    [TRACE_NS] = {"ns", 1},
    [TRACE_US] = {"us", 1000},
    [TRACE_MS] = {"ms", 1000000},
    [TRACE_S] = {"s", SIM_SECOND},
    [TRACE_MIN] = {"min", 60 * SIM_SECOND},
};

const char *trace_unit_name(enum trace_unit unit)
{
    return units[unit].name;
}

int64_t trace_unit_scale(enum trace_unit unit)
{
    return units[unit].scale;
}
