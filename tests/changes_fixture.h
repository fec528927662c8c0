/* changes_fixture.h - what tests of the list `changes:` as it is read have: a scenario of two pools, a card and four
 * alternatives, whose file ends where the first item of the list goes. */
#ifndef TESTS_CHANGES_FIXTURE_H
#define TESTS_CHANGES_FIXTURE_H

#include <check.h>

#include "tests/plan_file.h"

static struct plan_file file;

static inline void setup(void)
{
    plan_file_init(&file);
}

static inline void teardown(void)
{
    plan_file_fini(&file);
}

/* Sixteen lines. */
static const char fleet[] =
    "study: {horizon: 1 h}\n"
    "backends:\n"
    "  pool: {kind: provider, meters: {requests: 50/min, input: {limit: 1M/min, fill: window},\n"
    "      total: {moves: \"two_level(1M/min 2M/min every 30 s)\"}, in_flight: 9}, latency: {base: 2 s}}\n"
    "  key2: {kind: alias, of: pool}\n"
    "  card: {kind: slots, servers: 2, rate: 39 tokens/s}\n"
    "agents:\n"
    "  coder: {population: 24, think: exponential(4.5 s), output: 120, backend: pool}\n"
    "  guest: {arrivals: poisson(2/min), output: 120, backend: card}\n"
    "  batch: {population: 4, schedule: {turns: 8, over: 9 s}, output: 120, backend: key2}\n"
    "policies:\n"
    "  - unbounded\n"
    "  - capped: [fixed_cap: {cap: 3}]\n"
    "  - codel: {target: 8 s}\n"
    "  - both: [fixed_cap: {cap: 6}, token_bucket: {meter: requests, rate: 50/min, burst: 9}]\n"
    "changes:\n";

static inline const char *with(const char *item)
{
    return arena_format(&file.arena, "%s  - %s\n", fleet, item);
}

static inline void expect_read(const char *item)
{
    ck_assert_msg(plan_file_read(&file, with(item), NULL, NULL), "%s", plan_file_said(&file));
    ck_assert_msg(file.diag.count == 0, "%s", plan_file_said(&file));
}

/* Of a point: time, key, old and new value. */
static inline const char *changes_of(size_t point)
{
    const struct scenario *scenario = file.plan.points[point].scenario;
    const char *words = "";

    for (size_t i = 0; i < scenario->change_count; i++) {
        const struct change *change = &scenario->changes[i];

        words = arena_format(&file.arena, "%s%g %s %s->%s%s%s\n", words, sim_seconds(change->at), change->key,
                             change->old, change->text, change->reason[0] ? " " : "", change->reason);
    }
    return words;
}

#endif
