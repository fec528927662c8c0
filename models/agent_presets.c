/* agent_presets.c - the table of measured agents: growth curves of 5,511 calls, by pool and harness.
 *
 * A row of the page has: tokens = a + b t; the median of the output; latency = i + s x output; the period of a turn;
 * the time of its tools. Here a is what the first turn sends, t = 0, and each further one sends b more: turns count
 * from 0, as in policies/policy.h, and the page does not say whether it counts from 0 or from 1. The latency is the
 * pool's, so it stands in the provider preset of the same name (models/provider_presets.c).
 *
 * What the page leaves open. Of the output only the median is known, and i + s x median + tools is the period in every
 * row, to within 0.012 s, which is what rounding leaves: there is no rest. So the output is constant, at the median:
 * anything skewed about it would have a larger mean and a longer turn than was measured (recorded sessions in
 * scenarios/traces have a mean of 1.74 medians; `output: lognormal(median 185 cv 1.39)` beside a preset has it, and a
 * turn that is s x 0.71 medians longer). Tool time is the think time, exponential about the row's figure: that needs no
 * number which nobody published, and keeps agents that begin together from marching in step. Survival is that of all
 * rows pooled, in windows of 40 turns, and repeats its last chance. */
#include "models/agent_presets.h"

#include <stddef.h>

#define SETTINGS(...) ((const char *const[]){__VA_ARGS__, NULL})
#define PAGE "https://github.com/psdhali/agent-evals", "as collected 2026-11"

/* The row's figures, then the client preset with the hold cap of the harness. 235,929 is 0.9 of a window of 262,144. */
#define AGENT(name, who, a, b, output, tools, period, harness) \
    { \
        name, who "; with the provider preset of the same name a turn lasts " period " on average", \
            SETTINGS("turns", "survival(0.814 0.812 0.75 0.647 0.667 every 40)", "think", "exponential(" tools ")", \
                     "output", output, "input.start", a, "input.per_turn", b, "input.most", "235929", "input.cached", \
                     "previous", "client.preset", harness), \
            PAGE \
    }

const struct agent_preset agent_presets[] = {
    AGENT("laguna_opencode", "opencode on the pool laguna", "17784", "616", "185", "2.79 s", "4.54 s", "opencode"),
    AGENT("laguna_claude_code", "Claude Code on the pool laguna", "34388", "719", "150", "2 s", "3.73 s",
          "claude_code"),
    AGENT("laguna_codex", "codex on the pool laguna", "29115", "271", "73", "4.87 s", "6.1 s", "codex"),
    AGENT("laguna_custom", "a harness of one's own on the pool laguna", "21314", "934", "255", "5.43 s", "7.68 s",
          "custom"),
    AGENT("laguna_mini_swe", "mini-swe on the pool laguna", "3609", "850", "123", "4.56 s", "6.01 s", "mini_swe"),
    AGENT("cheap_oss_mini_swe", "mini-swe on a cheap pool of open models", "4419", "1089", "258", "1.47 s", "7.5 s",
          "mini_swe"),
    AGENT("cheap_oss_opencode", "opencode on a cheap pool of open models", "15003", "997", "236", "2.37 s", "7.58 s",
          "opencode"),
    AGENT("pooled", "all of them pooled, with the hold cap of an unknown harness", "25948", "482", "132", "3.57 s",
          "5.81 s", "unknown"),
    {.name = NULL},
};
