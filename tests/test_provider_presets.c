/* test_provider_presets.c - presets of a provider have the figures of their pages, and what the user writes goes before
 * them. */
#include <string.h>

#include "models/provider_presets.h"
#include "tests/provider_fixture.h"
#include "tests/suites.h"

/* What the pages say, a minute; typed again from them. */
static const struct published {
    const char *preset;
    struct {
        enum meter_kind kind;
        double a_minute;
        enum meter_fill fill;
        enum meter_counts counts;
        bool settle;
        double cached_weight;
        bool refused_count;
    } meters[3];
    size_t count;
    enum retry_after_law retry_after;
} published[] = {
#define CLAUDE(name, requests, input, output) \
    { \
        name, \
            {{METER_REQUESTS, requests, FILL_CONTINUOUS, COUNTS_ESTIMATE, false, 1, false}, \
             {METER_INPUT, input, FILL_CONTINUOUS, COUNTS_ESTIMATE, true, 0, false}, \
             {METER_OUTPUT, output, FILL_CONTINUOUS, COUNTS_AFTER, false, 1, false}}, \
            3, RETRY_ROUNDED \
    }
    CLAUDE("claude_tier_1", 50, 30e3, 8e3),
    CLAUDE("claude_tier_2", 1000, 450e3, 90e3),
    CLAUDE("claude_tier_3", 2000, 800e3, 160e3),
    CLAUDE("claude_tier_4", 4000, 2e6, 400e3),
    CLAUDE("claude_start", 1000, 2e6, 400e3),
    CLAUDE("claude_build", 5000, 5e6, 1e6),
    CLAUDE("claude_scale", 10000, 10e6, 2e6),
    {"openai",
     {{METER_REQUESTS, 5000, FILL_CONTINUOUS, COUNTS_ESTIMATE, false, 1, true},
      {METER_TOTAL, 1e6, FILL_CONTINUOUS, COUNTS_MAX_TOKENS, false, 1, false}},
     2,
     RETRY_ROUNDED},
    {"azure",
     {{METER_REQUESTS, 6 * 240, FILL_SUB, COUNTS_ESTIMATE, false, 1, false},
      {METER_TOTAL, 240e3, FILL_WINDOW, COUNTS_MAX_TOKENS, false, 1, false}},
     2,
     RETRY_ROUNDED},
    {"vertex", {{METER_REQUESTS, 0, FILL_CONTINUOUS, COUNTS_ESTIMATE, false, 1, false}}, 0, RETRY_NONE},
    {"gateway", {{METER_TOTAL, 100, FILL_WINDOW, COUNTS_AFTER, false, 1, false}}, 1, RETRY_EXACT},
    {"pilot",
     {{METER_REQUESTS, 60, FILL_CONTINUOUS, COUNTS_ESTIMATE, false, 1, false},
      {METER_INPUT, 105e3 * 60, FILL_CONTINUOUS, COUNTS_ESTIMATE, true, 1, false}},
     2,
     RETRY_NONE},
#define LATENCY_ALONE(name) \
    { \
        name, {{METER_REQUESTS, 0, FILL_CONTINUOUS, COUNTS_ESTIMATE, false, 1, false}}, 0, RETRY_NONE \
    }
    LATENCY_ALONE("laguna_opencode"), /* their figures: test_agent_presets.c */
    LATENCY_ALONE("laguna_claude_code"),
    LATENCY_ALONE("laguna_codex"),
    LATENCY_ALONE("laguna_custom"),
    LATENCY_ALONE("laguna_mini_swe"),
    LATENCY_ALONE("cheap_oss_mini_swe"),
    LATENCY_ALONE("cheap_oss_opencode"),
    LATENCY_ALONE("pooled"),
};
enum { PUBLISHED = sizeof published / sizeof *published };

START_TEST(presets)
{
    const struct published *row = &published[_i];
    const struct provider_spec *spec =
        read_pool(arena_format(&file.arena, "preset: %s, latency: {base: 9 s}", row->preset));
    ck_assert_str_eq(spec->preset, row->preset);
    ck_assert_uint_eq(spec->meter_count, row->count);
    for (size_t i = 0; i < row->count; i++) {
        const struct meter_spec *meter = &spec->meters[i];
        ck_assert_int_eq(meter->kind, row->meters[i].kind);
        expect_near(meter->limit.values[0], row->meters[i].a_minute / 60);
        ck_assert_int_eq(meter->fill, row->meters[i].fill);
        ck_assert_int_eq(meter->counts, row->meters[i].counts);
        ck_assert_int_eq(meter->settle, row->meters[i].settle);
        ck_assert_double_eq(meter->cached_weight, row->meters[i].cached_weight);
        ck_assert_int_eq(meter->refused_count, row->meters[i].refused_count);
        ck_assert_int_eq(meter->window, meter->fill == FILL_SUB ? 10 * SIM_SECOND : MINUTE);
    }
    ck_assert_int_eq(spec->retry_after, row->retry_after);
    ck_assert_double_eq(spec->latency.base, 9);
    ck_assert_double_eq(spec->strangers.rate + spec->acceleration.times + spec->errors, 0);
}
END_TEST

/* Each has a page and a day, and all are tested above. */
START_TEST(presets_have_sources)
{
    size_t count = 0;
    for (const struct provider_preset *preset = provider_presets; preset->name; preset++, count++) {
        ck_assert_msg(strncmp(preset->source, "https://", 8) == 0, "%s", preset->name);
        ck_assert_msg(strstr(preset->read, " 202") != NULL && preset->help[0], "%s", preset->name);
        ck_assert_uint_lt(count, PUBLISHED);
        ck_assert_str_eq(preset->name, published[count].preset);
        ck_assert_ptr_eq(provider_preset_named(preset->name), preset);
    }
    ck_assert_uint_eq(count, PUBLISHED);
    ck_assert_str_eq(provider_preset_meters(provider_preset_named("claude_tier_1"), &file.arena),
                     "requests 50/min, input 30k tokens/min, output 8k tokens/min");
    ck_assert_str_eq(provider_preset_meters(provider_preset_named("vertex"), &file.arena), "none");
}
END_TEST

START_TEST(the_measured_pool)
{
    const struct provider_spec *spec = read_pool("preset: pilot");
    const struct limit_spec *limit = &spec->meters[0].limit;
    ck_assert_int_eq(limit->law, LIMIT_TWO_LEVEL);
    expect_near((limit->values[0] + limit->values[1]) / 2, 50 / 60.0);
    ck_assert_double_eq(limit->dwell, 30);
    ck_assert_double_eq(spec->simultaneous.cold, 2.13e6);
    ck_assert_double_eq(spec->simultaneous.hot, 1e6);
    ck_assert_int_eq(spec->simultaneous.within, SIM_SECOND);
    ck_assert_double_eq(dist_quantile(spec->simultaneous.recovery, 0.5), 75);
    ck_assert_double_eq(spec->latency.base, 2.3);
    double full = spec->latency.base + 213e3 * spec->latency.per_input;
    ck_assert(full > 13.0 && full < 13.4);
}
END_TEST

/* Keys beside a preset go before it, meter by meter and key by key. */
START_TEST(before_a_preset)
{
    const struct provider_spec *spec =
        read_pool("preset: claude_tier_2, latency: {base: 1 s}, retry_after: none, meters: {in_flight: 5,"
                  " input: {cached_weight: 0.25, window: 30 s}, requests: 7/min}");
    ck_assert_uint_eq(spec->meter_count, 4); /* in the preset's order, then the others */
    ck_assert_int_eq(spec->meters[0].kind, METER_REQUESTS);
    expect_near(spec->meters[0].limit.values[0], 7 / 60.0);
    ck_assert_int_eq(spec->meters[1].kind, METER_INPUT);
    expect_near(spec->meters[1].limit.values[0], 7500);
    ck_assert_double_eq(spec->meters[1].cached_weight, 0.25);
    expect_near(spec->meters[1].burst, 225e3);
    ck_assert_int_eq(spec->meters[2].kind, METER_OUTPUT);
    ck_assert_int_eq(spec->meters[2].counts, COUNTS_AFTER);
    ck_assert_int_eq(spec->meters[3].kind, METER_IN_FLIGHT);
    ck_assert_int_eq(spec->retry_after, RETRY_NONE);

    /* A limit takes the place of one that moves, and the other way round. */
    spec = read_pool("preset: pilot, meters: {requests: 55/min}, latency: {per_output: 1 ms}, simultaneous: {hot: 9k}");
    ck_assert_int_eq(spec->meters[0].limit.law, LIMIT_CONSTANT);
    expect_near(spec->meters[0].limit.values[0], 55 / 60.0);
    ck_assert_double_eq(spec->latency.base, 2.3);
    ck_assert_double_eq(spec->latency.per_output, 1e-3);
    ck_assert_double_eq(spec->simultaneous.cold, 2.13e6);
    ck_assert_double_eq(spec->simultaneous.hot, 9e3);
    spec =
        read_pool("preset: azure, meters: {requests: {moves: two_level(600/min 900/min every 9 s)}}, latency: {base: "
                  "1 s}");
    ck_assert_int_eq(spec->meters[0].limit.law, LIMIT_TWO_LEVEL);
    ck_assert_int_eq(spec->meters[0].fill, FILL_SUB);
}
END_TEST

Suite *provider_presets_suite(void)
{
    Suite *suite = suite_create("provider_presets");
    TCase *tcase = tcase_create("provider_presets");
    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_loop_test(tcase, presets, 0, PUBLISHED);
    tcase_add_test(tcase, presets_have_sources);
    tcase_add_test(tcase, the_measured_pool);
    tcase_add_test(tcase, before_a_preset);
    suite_add_tcase(suite, tcase);
    return suite;
}
