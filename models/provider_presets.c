/* provider_presets.c - the table of presets. A figure stands here as its page had it; what the pages say in words (when
 * a call is charged, how a bucket fills, what a 429 tells) became settings. */
#include "models/provider_presets.h"

#include <stdbool.h>
#include <string.h>

/* Input is estimated, then corrected; what is read from the cache is free; output counts as it is produced, which for a
 * call as a whole is with its answer; buckets fill continuously; retry-after is in whole seconds. */
#define CLAUDE(name, request_limit, input_limit, output_limit) \
    static const struct provider_setting claude_##name[] = { \
        {"meters.requests.limit", request_limit}, \
        {"meters.input.limit", input_limit}, \
        {"meters.input.counts", "estimate"}, \
        {"meters.input.cached_weight", "0"}, \
        {"meters.output.limit", output_limit}, \
        {"meters.output.counts", "after"}, \
        {"retry_after", "rounded"}, \
        {NULL, NULL}, \
    }

CLAUDE(tier_1, "50/min", "30k tokens/min", "8k tokens/min");
CLAUDE(tier_2, "1k/min", "450k tokens/min", "90k tokens/min");
CLAUDE(tier_3, "2k/min", "800k tokens/min", "160k tokens/min");
CLAUDE(tier_4, "4k/min", "2M tokens/min", "400k tokens/min");
CLAUDE(start, "1k/min", "2M tokens/min", "400k tokens/min");
CLAUDE(build, "5k/min", "5M tokens/min", "1M tokens/min");
CLAUDE(scale, "10k/min", "10M tokens/min", "2M tokens/min");

static const struct provider_setting openai[] = {
    {"meters.requests.limit", "5k/min"},
    {"meters.requests.refused_count", "true"},
    {"meters.total.limit", "1M tokens/min"},
    {"meters.total.counts", "max_tokens"},
    {"meters.total.settle", "false"},
    {"retry_after", "rounded"},
    {NULL, NULL},
};

static const struct provider_setting azure[] = {
    {"meters.requests.limit", "1440/min"},
    {"meters.requests.fill", "sub(10 s)"},
    {"meters.total.limit", "240k tokens/min"},
    {"meters.total.fill", "window"},
    {"meters.total.counts", "max_tokens"},
    {"meters.total.settle", "false"},
    {"retry_after", "rounded"},
    {NULL, NULL},
};

static const struct provider_setting vertex[] = {
    {"retry_after", "none"},
    {NULL, NULL},
};

static const struct provider_setting gateway[] = {
    {"meters.total.limit", "100 tokens/min"},
    {"meters.total.fill", "window"},
    {"meters.total.counts", "after"},
    {NULL, NULL},
};

/* The two levels are ours: their mean is the measured 50/min, and they change as often as its edge was seen to move.
 * The time of a token of input follows from 2.3 s for a fresh context and 13.0 to 13.4 s for one of 213k tokens. */
static const struct provider_setting pilot[] = {
    {"meters.requests.moves", "two_level(60/min 40/min every 30 s)"},
    {"meters.input.limit", "105k tokens/s"},
    {"simultaneous.cold", "2.13M"},
    {"simultaneous.hot", "1M"},
    {"simultaneous.within", "1 s"},
    {"simultaneous.recovery", "uniform(60 s 90 s)"},
    {"latency.base", "2.3 s"},
    {"latency.per_input", "51 us"},
    {"retry_after", "none"},
    {NULL, NULL},
};

/* The latency of the rows of models/agent_presets.c; of limits they say nothing. */
#define LATENCY(name, base_time, output_time) \
    static const struct provider_setting latency_##name[] = { \
        {"latency.base", base_time}, \
        {"latency.per_output", output_time}, \
        {"retry_after", "none"}, \
        {NULL, NULL}, \
    }

LATENCY(laguna_opencode, "0.577 s", "6.31 ms");
LATENCY(laguna_claude_code, "0.799 s", "6.19 ms");
LATENCY(laguna_codex, "0.784 s", "6.22 ms");
LATENCY(laguna_custom, "0.711 s", "6.05 ms");
LATENCY(laguna_mini_swe, "0.728 s", "5.84 ms");
LATENCY(cheap_oss_mini_swe, "3.909 s", "8.22 ms");
LATENCY(cheap_oss_opencode, "0.463 s", "20.16 ms");
LATENCY(pooled, "1.07 s", "8.82 ms");

static const char claude_page[] = "https://platform.claude.com/docs/en/api/rate-limits";
static const char openai_page[] = "https://developers.openai.com/api/docs/models/gpt-6.1-sol";
static const char azure_page[] = "https://learn.microsoft.com/en-us/azure/ai-foundry/openai/how-to/quota";
static const char vertex_page[] = "https://cloud.google.com/vertex-ai/generative-ai/docs/error-code-429";
static const char gateway_page[] = "https://aigateway.envoyproxy.io/docs/0.1/capabilities/usage-based-ratelimiting";
static const char pilot_page[] = "https://github.com/psdhali/agent-evals";

#define MEASURED(name, whose) \
    { \
#name, "the latency of " whose "; give meters, as no limit is known", pilot_page, "as collected 2026-11", \
            latency_##name \
    }

const struct provider_preset provider_presets[] = {
    {"claude_tier_1", "Claude API, Sonnet 4.x or Opus 4.x, tier 1", claude_page, "as of 2025-11-08", claude_tier_1},
    {"claude_tier_2", "Claude API, Sonnet 4.x or Opus 4.x, tier 2", claude_page, "as of 2025-11-08", claude_tier_2},
    {"claude_tier_3", "Claude API, Sonnet 4.x or Opus 4.x, tier 3", claude_page, "as of 2025-11-08", claude_tier_3},
    {"claude_tier_4", "Claude API, Sonnet 4.x or Opus 4.x, tier 4", claude_page, "as of 2025-11-08", claude_tier_4},
    {"claude_start", "Claude API, Opus 5 or Sonnet 5, tier Start", claude_page, "as of 2026-09-12", claude_start},
    {"claude_build", "Claude API, Opus 5 or Sonnet 5, tier Build", claude_page, "as of 2026-09-12", claude_build},
    {"claude_scale", "Claude API, Opus 5 or Sonnet 5, tier Scale", claude_page, "as of 2026-09-12", claude_scale},
    {"openai", "OpenAI API, gpt-6.1-sol, tier Build; charged by max_tokens, and refused requests count", openai_page,
     "as of 2026-10-08", openai},
    {"azure", "Azure OpenAI, a deployment of 240k tokens/min, with 6 requests for each 1,000 tokens", azure_page,
     "as of 2025-07-31", azure},
    {"vertex", "Vertex AI: its 429s tell no retry-after; capacity is shared and no limit is published, so give meters",
     vertex_page, "as collected 2026-11", vertex},
    {"gateway",
     "a gateway such as LiteLLM or Envoy AI: minute windows, counted after the answer; the limit is an example",
     gateway_page, "as collected 2026-11", gateway},
    {"pilot", "a shared pool as measured with a fleet of coding agents: 50 requests/min to one key, in two levels",
     pilot_page, "as collected 2026-11", pilot},
    MEASURED(laguna_opencode, "laguna under opencode: 0.577 s and 6.31 ms an output token"),
    MEASURED(laguna_claude_code, "laguna under Claude Code: 0.799 s and 6.19 ms an output token"),
    MEASURED(laguna_codex, "laguna under codex: 0.784 s and 6.22 ms an output token"),
    MEASURED(laguna_custom, "laguna under a harness of one's own: 0.711 s and 6.05 ms an output token"),
    MEASURED(laguna_mini_swe, "laguna under mini-swe: 0.728 s and 5.84 ms an output token"),
    MEASURED(cheap_oss_mini_swe, "a cheap pool of open models under mini-swe: 3.909 s and 8.22 ms an output token"),
    MEASURED(cheap_oss_opencode, "a cheap pool of open models under opencode: 0.463 s and 20.16 ms an output token"),
    MEASURED(pooled, "all these pooled: 1.07 s and 8.82 ms an output token"),
    {.name = NULL},
};

const struct provider_preset *provider_preset_named(const char *name)
{
    const struct provider_preset *preset = provider_presets;
    while (preset->name && strcmp(preset->name, name) != 0)
        preset++;
    return preset->name ? preset : NULL;
}

const char *provider_preset_meters(const struct provider_preset *preset, struct arena *arena)
{
    static const char meters[] = "meters.";
    const char *words = "";
    for (const struct provider_setting *setting = preset->settings; setting->key; setting++) {
        const char *dot = strrchr(setting->key, '.');
        bool limit = dot && (strcmp(dot, ".limit") == 0 || strcmp(dot, ".moves") == 0);
        if (!limit || strncmp(setting->key, meters, strlen(meters)) != 0)
            continue;
        const char *name = setting->key + strlen(meters);
        words =
            arena_format(arena, "%s%s%.*s %s", words, words[0] ? ", " : "", (int)(dot - name), name, setting->value);
    }
    return words[0] ? words : "none";
}
