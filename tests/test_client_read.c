/* test_client_read.c - `client:` as it is written: layers, presets, what is said of mistakes, and how it is shown. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "models/client.h"
#include "models/client_presets.h"
#include "models/describe.h"
#include "models/tables.h"
#include "sim/io/param.h"
#include "tests/plan_file.h"
#include "tests/program.h"
#include "tests/suites.h"

static struct plan_file file;

static void setup(void)
{
    plan_file_init(&file);
}

static void teardown(void)
{
    plan_file_fini(&file);
}

/* The card, its agents with this client and `turns: 3`. */
static const char *card(const char *client)
{
    return plan_file_with(&file, plan_file_card, "output: 120",
                          arena_format(&file.arena, "output: 120, turns: 3, client: %s", client));
}

static const struct client *client_of(const char *client)
{
    ck_assert_msg(plan_file_read(&file, card(client), NULL, NULL), "%s: %s", client, plan_file_said(&file));
    return &file.plan.points[0].scenario->classes[0].client;
}

/* --- keys -------------------------------------------------------------------------------------------------------- */

START_TEST(a_list_is_innermost_first)
{
    const struct client *client = client_of("[{attempts: 2, hold_cap: 9 s, retries: bypass}, {base: 3 s, quota: aws, "
                                            "attempts: 4, timeout: 60 s}, {quota: grpc, restarts: run, attempts: 5}]");

    ck_assert_uint_eq(client->layer_count, 3);
    ck_assert_int_eq(client->hold_cap, 9 * SIM_SECOND);
    ck_assert(client->bypass);
    ck_assert_int_eq(client->layers[0].attempts, 2);
    ck_assert_int_eq(client->layers[1].attempts, 4);
    ck_assert_int_eq(client->layers[1].base, 3 * SIM_SECOND);
    ck_assert_int_eq(client->layers[1].timeout, 60 * SIM_SECOND);
    ck_assert_int_eq(client->layers[1].quota, QUOTA_AWS);
    ck_assert_int_eq(client->layers[2].quota, QUOTA_GRPC);
    ck_assert(client->layers[2].restarts_run && !client->layers[1].restarts_run);
    ck_assert_uint_eq(client_call_layers(client), 2);
    client = client_of("{retries: gate}");
    ck_assert_uint_eq(client->layer_count, 1);
    ck_assert_uint_eq(client_call_layers(client), 1);
    ck_assert(!client->bypass && client->layers[0].quota == QUOTA_NONE && !client->layers[0].preset);
    ck_assert(client_of("{retries: bypass}")->bypass);
    ck_assert_uint_eq(client_of("[{attempts: 2}, {attempts: 2}, {attempts: 2}, {}]")->layer_count, 4);
}
END_TEST

START_TEST(keys_go_before_those_of_the_preset)
{
    const struct client *client =
        client_of("[{preset: claude_code}, {attempts: 7, preset: openai, cap: 5 s}, {preset: ub, attempts: 2}]");

    ck_assert_int_eq(client->hold_cap, 100 * SIM_SECOND);
    ck_assert_int_eq(client->layers[0].attempts, 1);
    ck_assert_str_eq(client->layers[1].preset, "openai");
    ck_assert_int_eq(client->layers[1].attempts, 7);
    ck_assert_int_eq(client->layers[1].cap, 5 * SIM_SECOND);
    ck_assert_int_eq(client->layers[1].base, SIM_SECOND / 2);
    ck_assert_int_eq(client->layers[2].backoff, BACKOFF_UB);
    ck_assert_int_eq(client->layers[2].attempts, 2);
}
END_TEST

/* --- presets ----------------------------------------------------------------------------------------------------- */

START_TEST(presets_as_published)
{
    static const struct {
        const char *name;
        double base, cap;
        enum jitter_law jitter;
        double share;
        enum retry_after_use use;
        double most;
        enum retry_after_beyond beyond;
        int64_t attempts;
        double timeout;
        enum retry_quota quota;
        double hold_cap;
    } presets[] = {
        {"openai", 0.5, 8, JITTER_LESS, 0.25, RETRY_AFTER_HONOUR, 120, BEYOND_GIVE_UP, 3, 600, QUOTA_NONE, 3600},
        {"anthropic", 0.5, 8, JITTER_LESS, 0.25, RETRY_AFTER_HONOUR, 60, BEYOND_IGNORE, 3, 600, QUOTA_NONE, 3600},
        {"grpc", 0.1, 1, JITTER_SHARE, 0.2, RETRY_AFTER_HONOUR, 0, BEYOND_CUT, 4, 0, QUOTA_GRPC, 3600},
        {"aws", 1, 20, JITTER_FULL, 0, RETRY_AFTER_IGNORE, 0, BEYOND_CUT, 3, 0, QUOTA_AWS, 3600},
        {"ub", 1, 60, JITTER_FULL, 0, RETRY_AFTER_IGNORE, 0, BEYOND_CUT, INT64_MAX, 0, QUOTA_NONE, 3600},
        {"unknown", 1, 60, JITTER_FULL, 0, RETRY_AFTER_HONOUR, 0, BEYOND_CUT, 1, 0, QUOTA_NONE, 45},
        {"claude_code", 1, 60, JITTER_FULL, 0, RETRY_AFTER_HONOUR, 0, BEYOND_CUT, 1, 0, QUOTA_NONE, 100},
        {"custom", 1, 60, JITTER_FULL, 0, RETRY_AFTER_HONOUR, 0, BEYOND_CUT, 1, 0, QUOTA_NONE, 100},
        {"mini_swe", 1, 60, JITTER_FULL, 0, RETRY_AFTER_HONOUR, 0, BEYOND_CUT, 1, 0, QUOTA_NONE, 240},
        {"codex", 1, 60, JITTER_FULL, 0, RETRY_AFTER_HONOUR, 0, BEYOND_CUT, 1, 0, QUOTA_NONE, 240},
        {"opencode", 1, 60, JITTER_FULL, 0, RETRY_AFTER_HONOUR, 0, BEYOND_CUT, 1, 0, QUOTA_NONE, 240},
        {"none", 1, 60, JITTER_FULL, 0, RETRY_AFTER_HONOUR, 0, BEYOND_CUT, 1, 0, QUOTA_NONE, 3600},
    };
    const size_t count = sizeof presets / sizeof *presets;

    for (size_t i = 0; i < count; i++) {
        const struct client *client = client_of(arena_format(&file.arena, "{preset: %s}", presets[i].name));
        const struct client_layer *layer = client->layers;

        ck_assert_str_eq(client_presets[i].name, presets[i].name);
        ck_assert_str_eq(layer->preset, presets[i].name);
        ck_assert_double_eq(sim_seconds(layer->base), presets[i].base);
        ck_assert_double_eq(sim_seconds(layer->cap), presets[i].cap);
        ck_assert_int_eq(layer->jitter, presets[i].jitter);
        ck_assert_double_eq(layer->jitter_share, presets[i].share);
        ck_assert_int_eq(layer->retry_after, presets[i].use);
        ck_assert_int_eq(layer->retry_after_beyond, presets[i].beyond);
        ck_assert_int_eq(layer->attempts, presets[i].attempts);
        ck_assert_int_eq(layer->quota, presets[i].quota);
        ck_assert_int_eq(layer->retry_after_most, presets[i].most > 0 ? sim_from_seconds(presets[i].most) : SIM_NEVER);
        ck_assert_int_eq(layer->timeout, presets[i].timeout > 0 ? sim_from_seconds(presets[i].timeout) : SIM_NEVER);
        ck_assert_double_eq(sim_seconds(client->hold_cap), presets[i].hold_cap);
        ck_assert_int_eq(layer->backoff, i == 4 ? BACKOFF_UB : BACKOFF_EXPONENTIAL);
    }
    ck_assert_ptr_null(client_presets[count].name);
}
END_TEST

/* A preset sets keys of the table, each once, and says where its numbers are from. */
START_TEST(presets_are_whole)
{
    for (const struct client_preset *preset = client_presets; preset->name; preset++) {
        ck_assert(preset->help && *preset->help && !preset->source == !preset->date);
        for (const char *const *setting = preset->settings; setting[0]; setting += 2) {
            ck_assert_ptr_nonnull(setting[1]);
            ck_assert_msg(param_find(client_options, setting[0]) != NULL, "%s: %s", preset->name, setting[0]);
            for (const char *const *other = preset->settings; other < setting; other += 2)
                ck_assert_str_ne(setting[0], other[0]);
        }
    }
}
END_TEST

/* --- mistakes ---------------------------------------------------------------------------------------------------- */

/* Columns are those of the text behind `client: `, from 1. */
static const struct mistake {
    const char *client;
    int column;
    const char *words;
} mistakes[] = {
    {"[]", 1, "expected 1 to 4 layers, innermost first, found 0"},
    {"[{}, {}, {}, {}, {}]", 1, "expected 1 to 4 layers, innermost first, found 5"},
    {"12", 1,
     "client: expected a mapping, such as client: {preset: anthropic}, or a list of them, innermost first, not a "
     "value"},
    {"[{attempts: 2}, 3]", 17, "client, layer 2: expected a mapping"},
    {"[{attempts: 2}, {atempts: 3}]", 18, "client, layer 2: unknown key 'atempts', did you mean attempts?"},
    {"{preset: opneai}", 10, "there is no preset opneai: expected one of openai, anthropic, grpc"},
    {"{preset: opneai}", 10, "; did you mean openai?"},
    {"{preset: [a]}", 10, "preset: expected a name, not a list"},
    {"[{attempts: 2}, {hold_cap: 9 s}]", 28, "hold_cap is of the attempts at the gate: expected it in the first layer"},
    {"[{attempts: 2}, {preset: codex}]", 17, "hold_cap is of the attempts at the gate"},
    {"[{attempts: 2}, {retries: gate}]", 27, "retries is of the attempts at the gate"},
    {"[{attempts: 2}, {dies: 1 %}]", 24, "dies is of the attempts at the gate"},
    {"{dies: 101 %}", 8, "from 0 % to 100 %"},
    {"[{attempts: 2}, {restarts: run, attempts: 2}, {}]", 28, "restarts: run: expected it in the last layer"},
    {"{restarts: run}", 12, "expected a list, in which a layer before this one makes the calls"},
    {"[{}, {attempts: 3}]", 2, "this layer never gives up"},
    {"[{attempts: 2}, {attempts: inf}, {}]", 28, "this layer never gives up"},
    {"[{retry_after_beyond: give_up}, {}]", 2, "this layer never gives up"},
    {"{quota: gprc}", 9, "did you mean grpc?"},
    {"{retries: bypas}", 11, "did you mean bypass?"},
    {"[{attempts: 3}, {jitter: 130 %}]", 26, "less 25 %"},
};

START_TEST(mistakes_are_told)
{
    const struct mistake *mistake = &mistakes[_i];
    const char *text = card(mistake->client), *line = strstr(text, "agents:");
    const char *client = strstr(text, "client: ") + strlen("client: ");

    ck_assert_msg(!plan_file_read(&file, text, NULL, NULL), "no message for %s", mistake->client);
    const char *said = plan_file_said(&file);
    ck_assert_msg(file.diag.errors == 1, "%s: %s", mistake->client, said);
    const char *place = arena_format(&file.arena, "s.yaml:3:%d:", (int)(client - line) + mistake->column);
    ck_assert_msg(strncmp(said, place, strlen(place)) == 0, "%s: expected it at %s", said, place);
    ck_assert_msg(strstr(said, mistake->words) != NULL, "%s: expected the words `%s`", said, mistake->words);
}
END_TEST

START_TEST(restarts_need_turns)
{
    static const char list[] = "output: 120, client: [{preset: none}, {attempts: 3, restarts: run}]";

    ck_assert(!plan_file_read(&file, plan_file_with(&file, plan_file_card, "output: 120", list), NULL, NULL));
    ck_assert_msg(strstr(plan_file_said(&file), "restarts: run: expected turns in this class") != NULL, "%s",
                  plan_file_said(&file));
}
END_TEST

/* What ends a layer without a count of its own: a quota, an impatient layer around it, a retry-after too long, a run.
 */
START_TEST(layers_that_end_otherwise)
{
    client_of("[{quota: grpc}, {}]");
    client_of("[{}, {attempts: 2, timeout: 60 s}]");
    client_of("[{attempts: 2}, {}, {timeout: 60 s}]");
    client_of("[{}, {attempts: 2}, {timeout: 60 s}]");
    client_of("[{retry_after_most: 60 s, retry_after_beyond: give_up}, {}]");
    client_of("[{}, {restarts: run}]");
}
END_TEST

/* An agent that does not think must pause somewhere; a layer of one try never does. */
START_TEST(some_layer_pauses)
{
    static const char *const good[] = {"[{attempts: 2, base: 0 s}, {base: 1 s}]",
                                       "[{preset: none}, {backoff: ub, base: 0 s}]", "{attempts: 1, base: 0 s}"};
    static const char *const bad[] = {"[{attempts: 2, base: 0 s}, {cap: 0 s}]", "[{preset: none}, {base: 0 s}]",
                                      "[{attempts: 2, base: 0 s}, {restarts: run}]"};
    for (size_t i = 0; i < 3; i++) {
        const char *text = plan_file_with(&file, card(good[i]), "exponential(4.5 s)", "0 s");

        ck_assert_msg(plan_file_read(&file, text, NULL, NULL), "%s", plan_file_said(&file));
        text = plan_file_with(&file, card(bad[i]), "exponential(4.5 s)", "0 s");
        ck_assert(!plan_file_read(&file, text, NULL, NULL));
        ck_assert_msg(strstr(plan_file_said(&file), "for ever at one instant") != NULL, "%s", plan_file_said(&file));
    }
}
END_TEST

/* --- what is shown ----------------------------------------------------------------------------------------------- */

static const char *printed(void (*describe)(const struct plan *plan, FILE *out))
{
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);

    describe(&file.plan, out);
    fclose(out);
    const char *kept = arena_text(&file.arena, text);
    free(text);
    return kept;
}

START_TEST(the_effective_client_is_the_client)
{
    static const char *const clients[] = {
        "{preset: openai}", "{preset: codex, retries: bypass}", "[{preset: mini_swe, retries: bypass}, {preset: aws}]",
        "[{preset: none}, {preset: grpc, jitter: less 10 %}, {attempts: 4, restarts: run}]"};

    for (size_t i = 0; i < sizeof clients / sizeof *clients; i++) {
        client_of(clients[i]);
        uint64_t hash = file.plan.hash;
        const char *text = printed(describe_scenario);

        ck_assert_ptr_nonnull(strstr(text, "# preset "));
        ck_assert_msg(plan_file_read(&file, text, NULL, NULL), "%s\n%s", plan_file_said(&file), text);
        ck_assert_uint_eq(file.plan.hash, hash);
        ck_assert_int_eq(program_count(text, "hold_cap:"), 1);
        ck_assert_int_eq(program_count(text, "retries:"), 1);
    }
}
END_TEST

START_TEST(the_hash_knows_every_key)
{
    static const char *const clients[] = {
        "[{attempts: 9}, {attempts: 9}]",
        "[{attempts: 9}, {attempts: 9}, {attempts: 9}]",
        "[{attempts: 9}, {attempts: 8}]",
        "[{attempts: 8}, {attempts: 9}]",
        "[{attempts: 9, retries: bypass}, {attempts: 9}]",
        "[{attempts: 9, hold_cap: 9 s}, {attempts: 9}]",
        "[{attempts: 9}, {attempts: 9, quota: grpc}]",
        "[{attempts: 9}, {attempts: 9, quota: aws}]",
        "[{attempts: 9}, {attempts: 9, retry_after_beyond: ignore}]",
        "[{attempts: 9}, {attempts: 9, retry_after_beyond: give_up}]",
        "[{attempts: 9}, {attempts: 9, retry_after: ignore}]",
        "[{attempts: 9}, {attempts: 9, restarts: run}]",
    };
    uint64_t hashes[sizeof clients / sizeof *clients];

    for (size_t i = 0; i < sizeof clients / sizeof *clients; i++) {
        client_of(clients[i]);
        hashes[i] = file.plan.hash;
        for (size_t j = 0; j < i; j++)
            ck_assert_msg(hashes[i] != hashes[j], "%s and %s", clients[i], clients[j]);
    }
    client_of("[{attempts: 9, retry_after_beyond: cut, preset: none}, {attempts: 9, quota: none}]");
    ck_assert_uint_eq(file.plan.hash, hashes[0]);
}
END_TEST

/* What a turn may come to, worked by hand. */
START_TEST(bounds_of_a_turn)
{
    static const struct {
        const char *client, *words;
    } cases[] = {
        {"{}", "# coder: a turn makes any number of attempts.\n"},
        {"{preset: none}", "# coder: a turn makes at most 1 attempt.\n"},
        {"{preset: none, timeout: 9 s}", "makes at most 1 attempt and takes at most 9 s.\n"},
        /* 3 x 600 s, pauses 0.5 and 1 s or a retry-after of 120 s */
        {"{preset: openai, retry_after: ignore}", "at most 3 attempts and takes at most 1802 s.\n"},
        {"{preset: openai}", "at most 3 attempts and takes at most 2040 s.\n"},
        {"{attempts: 3, timeout: 10 s, base: 1 s, jitter: none}",
         "at most 3 attempts.\n"}, /* a retry-after may be long */
        /* 4 x 10 s, pauses 2, 4, 5 */
        {"{attempts: 4, timeout: 10 s, base: 2 s, cap: 5 s, retry_after: ignore}", "and takes at most 51 s.\n"},
        {"{attempts: 4, timeout: 10 s, base: 2 s, cap: 5 s, jitter: 50 %, retry_after: ignore}",
         "takes at most 56.5 s.\n"},
        {"{attempts: 4, timeout: 10 s, backoff: linear, base: 2 s, retry_after: ignore}", "and takes at most 52 s.\n"},
        {"{attempts: 4, timeout: 10 s, backoff: ub, retry_after: ignore}", "and takes at most 51 s.\n"}, /* 1, 3, 7 */
        {"{attempts: 1001, timeout: 1 s, backoff: constant, base: 2 s, retry_after: ignore}",
         "takes at most 3001 s.\n"},
        {"{quota: grpc}", "at most 5 attempts.\n"}, /* 9, 8, 7, 6, then 5 tokens */
        {"{quota: aws}", "at most 101 attempts.\n"},
        {"{attempts: 50, quota: grpc}", "at most 5 attempts.\n"},
        {"{preset: aws}", "at most 3 attempts.\n"},
        {"[{attempts: 3}, {attempts: 3}, {attempts: 3}]", "at most 27 attempts (3 x 3 x 3).\n"},
        /* 2 x 10 + 1 = 21; cut to 15; 3 x 15 + 4 + 8 */
        {"[{attempts: 2, timeout: 10 s, retry_after: ignore}, {attempts: 3, timeout: 15 s, base: 4 s, retry_after: "
         "ignore}]",
         "at most 6 attempts (2 x 3) and takes at most 57 s.\n"},
        {"[{}, {attempts: 2, timeout: 60 s, base: 5 s, retry_after: ignore}]",
         "makes any number of attempts (infinite x 2) and takes at most 125 s.\n"},
        {"[{attempts: 2}, {attempts: 4, restarts: run}]", "at most 2 attempts; a run may begin 4 times at most.\n"},
        {"[{attempts: 2}, {restarts: run}]", "at most 2 attempts; a run may begin any number of times.\n"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        client_of(cases[i].client);
        const char *said = printed(describe_sentences);

        ck_assert_msg(strstr(said, cases[i].words) != NULL, "%s: expected `%s` in\n%s", cases[i].client, cases[i].words,
                      said);
    }
}
END_TEST

START_TEST(presets_are_listed)
{
    struct program program = {0};

    PROGRAM_RUN(&program, NULL, "list", "clients");
    const char *list = program_taken(&program, &file.arena);
    PROGRAM_RUN(&program, NULL, "list", "reference");
    const char *page = program_taken(&program, &file.arena);
    for (const struct client_preset *preset = client_presets; preset->name; preset++) {
        program_has(list, arena_format(&file.arena, "%s: %s\n", preset->name, preset->help));
        program_has(list, arena_format(&file.arena, " %s %s", preset->settings[0], preset->settings[1]));
        program_has(page, arena_format(&file.arena, "\n| `%s` | %s | `", preset->name, preset->help));
        if (preset->source)
            program_has(list, arena_format(&file.arena, "  source: %s (%s)\n", preset->source, preset->date));
    }
}
END_TEST

Suite *client_read_suite(void)
{
    Suite *suite = suite_create("client_read");
    TCase *test = tcase_create("client_read");

    tcase_add_checked_fixture(test, setup, teardown);
    tcase_add_test(test, a_list_is_innermost_first);
    tcase_add_test(test, keys_go_before_those_of_the_preset);
    tcase_add_test(test, presets_as_published);
    tcase_add_test(test, presets_are_whole);
    tcase_add_loop_test(test, mistakes_are_told, 0, (int)(sizeof mistakes / sizeof *mistakes));
    tcase_add_test(test, restarts_need_turns);
    tcase_add_test(test, layers_that_end_otherwise);
    tcase_add_test(test, some_layer_pauses);
    tcase_add_test(test, the_effective_client_is_the_client);
    tcase_add_test(test, the_hash_knows_every_key);
    tcase_add_test(test, bounds_of_a_turn);
    tcase_add_test(test, presets_are_listed);
    suite_add_tcase(suite, test);
    return suite;
}
