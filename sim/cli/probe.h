/* probe.h - `weir check --plugin F.so` without a scenario: a policy asked at its edges, held against itself, and
 * simulated on small scenarios. */
#ifndef CLI_PROBE_H
#define CLI_PROBE_H

#include <stdio.h>

#include "sim/cli/setting.h"

/* A line for each part: `ok`, or what was found. Returns how much was found. What is printed is flushed before each
 * part, so a crash stands behind the name of what led to it. */
unsigned probe_policy(const struct policy_ops *ops, FILE *out);

/* The parts, each until the first finding, whose words they return in the arena; NULL: none. */
const char *probe_equal_answers(const struct setting *setting, struct arena *arena);
const char *probe_equal_later(const struct setting *setting, struct arena *arena); /* takes a little more than 1 s */

/* Simulations of built-in scenarios, by their number. The policy is alone, or a cap stands behind it or in front. */
enum probe_chain { PROBE_ALONE, PROBE_IN_FRONT, PROBE_BEHIND, PROBE_CHAINS };
struct probe_run {
    const char *finding, *note; /* NULL: none; a note where servers were idle for long */
};
size_t probe_scenarios(void);
const char *probe_scenario_name(size_t scenario);
struct probe_run probe_simulate(const struct setting *setting, size_t scenario, enum probe_chain chain,
                                struct arena *arena);

#endif
