/* client_presets.c - the table of presets for layers of `client:`.
 *
 * The two SDKs differ in a retry-after that they find too long. openai-python fails the call since 2.52.0; before, it
 * did as anthropic-sdk-python does, which pauses as if none had come. gRFC A6 has no defaults: the numbers are those of
 * its example; its pauses were U(0, m) until 2024, and begin anew after a retry-after, which ours do not. AWS is the
 * standard mode as it is without AWS_NEW_RETRIES_2026; that one has the same numbers for throttled calls, but hears a
 * retry-after. The quota's price of 10 for a retry after a timeout is left out. */
#include "models/client_presets.h"

#include <stddef.h>

#define SETTINGS(...) ((const char *const[]){__VA_ARGS__, NULL})
#define SDK "attempts", "3", "backoff", "exponential", "base", "0.5 s", "cap", "8 s", "jitter", "less 25 %"
#define SHIM "the pacer's shim: one attempt, held for at most "
#define SHIM_AGENTS "; what retries is the layer around it"
#define SHIM_SOURCE "psdhali/agent-evals 1.0", "2026-09-12"

const struct client_preset client_presets[] = {
    {"openai", "the OpenAI SDK: two retries; a retry-after above 2 min is not waited for, the call has failed",
     SETTINGS(SDK, "retry_after", "honour", "retry_after_most", "120 s", "retry_after_beyond", "give_up", "timeout",
              "10 min"),
     "openai-python 2.52.0, src/openai/_base_client.py and _constants.py", "2026-07-31"},
    {"anthropic", "the Anthropic SDK: two retries; a retry-after above 1 min is passed over",
     SETTINGS(SDK, "retry_after", "honour", "retry_after_most", "60 s", "retry_after_beyond", "ignore", "timeout",
              "10 min"),
     "anthropic-sdk-python 0.111.0, src/anthropic/_base_client.py and _constants.py", "2026-06-18"},
    {"grpc", "a gRPC channel with the retry policy and the throttle that its design shows",
     SETTINGS("attempts", "4", "backoff", "exponential", "base", "0.1 s", "cap", "1 s", "jitter", "20 %", "retry_after",
              "honour", "quota", "grpc"),
     "gRFC A6, client retries", "2024-08"},
    {"aws", "AWS SDKs, standard mode: two retries within a quota",
     SETTINGS("attempts", "3", "backoff", "exponential", "base", "1 s", "cap", "20 s", "jitter", "full", "retry_after",
              "ignore", "quota", "aws"),
     "botocore, retries/standard.py and quota.py", "2026-05"},
    {"ub", "the scheme UB: tries until it is answered, after ever longer pauses",
     SETTINGS("attempts", "inf", "backoff", "ub", "retry_after", "ignore"), "arXiv:2510.04516", "2025-10"},
    {"unknown", SHIM "45 s" SHIM_AGENTS, SETTINGS("attempts", "1", "hold_cap", "45 s"), SHIM_SOURCE},
    {"claude_code", SHIM "100 s" SHIM_AGENTS, SETTINGS("attempts", "1", "hold_cap", "100 s"), SHIM_SOURCE},
    {"custom", SHIM "100 s" SHIM_AGENTS, SETTINGS("attempts", "1", "hold_cap", "100 s"), SHIM_SOURCE},
    {"mini_swe", SHIM "240 s" SHIM_AGENTS, SETTINGS("attempts", "1", "hold_cap", "240 s"), SHIM_SOURCE},
    {"codex", SHIM "240 s" SHIM_AGENTS, SETTINGS("attempts", "1", "hold_cap", "240 s"), SHIM_SOURCE},
    {"opencode", SHIM "240 s" SHIM_AGENTS, SETTINGS("attempts", "1", "hold_cap", "240 s"), SHIM_SOURCE},
    {"none", "one attempt", SETTINGS("attempts", "1"), NULL, NULL},
    {.name = NULL},
};
