/* test_probe.c - `weir check --plugin`: sound policies pass, each thing that a policy may not do is found and named,
 * and the questions themselves keep to the protocol. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "policies/registry.h"
#include "sim/cli/plugin.h"
#include "sim/cli/probe.h"
#include "sim/cli/rig.h"
#include "sim/io/param.h"
#include "tests/program.h"
#include "tests/suites.h"

static struct arena arena;

static void begin(void)
{
    arena = (struct arena){0};
}

static void end(void)
{
    arena_free(&arena);
}

static const struct policy_ops *loaded(const char *name)
{
    char path[512];
    struct diag diag = {0};
    const struct policy_ops *ops = plugin_load(program_plugin(name, path, sizeof path), (struct place){0}, &diag);
    ck_assert_ptr_nonnull(ops);
    diag_fini(&diag);
    return ops;
}

static const struct setting *setting_of(const char *plugin, const char *text)
{
    size_t count;
    const struct setting *settings = settings_of(loaded(plugin), &arena, &count);
    for (size_t i = 0; i < count; i++)
        if (strcmp(settings[i].text, text) == 0)
            return &settings[i];
    ck_abort_msg("%s has no setting `%s`", plugin, text);
    return NULL;
}

static void check_plugin(struct program *program, const char *plugin)
{
    char path[512];
    PROGRAM_RUN(program, NULL, "check", "--plugin", program_plugin(plugin, path, sizeof path));
}

static const char *edges(const struct setting *setting)
{
    char *fault = arena_zeroed(&arena, 1, RIG_FAULT);
    return rig_edges(setting, fault) ? NULL : fault;
}

START_TEST(built_in_policies_pass)
{
    FILE *out = tmpfile();
    unsigned found = probe_policy(policy_registry[_i], out);
    char text[4096];
    size_t length;
    rewind(out);
    length = fread(text, 1, sizeof text - 1, out);
    text[length] = '\0';
    fclose(out);
    ck_assert_msg(found == 0, "%s", text);
    program_lacks(text, "note");
}
END_TEST

START_TEST(sound_plugins_pass)
{
    static const char *const plugins[] = {"skeleton", "cap_outside", "once"};
    char path[64];
    struct program program = {0};
    snprintf(path, sizeof path, "%s.so", plugins[_i]);
    check_plugin(&program, path);
    ck_assert_str_eq(program.err, "");
    ck_assert_int_eq(program.status, 0);
    program_lacks(program.out, "found\n");
    program_has(program.out, "nothing was found in");
    program_has(program.out, "equal questions a second later");
    program_fini(&program);
}
END_TEST

START_TEST(what_it_is_tried_with)
{
    size_t count;
    const struct setting *settings = settings_of(loaded("skeleton.so"), &arena, &count);
    static const char *const texts[] = {"",          "preset: patient",   "most: 1",
                                        "most: inf", "retry_after: 1 ms", "retry_after: 1 h"};
    ck_assert_uint_eq(count, 6);
    for (size_t i = 0; i < count; i++) {
        ck_assert_str_eq(settings[i].text, texts[i]);
        ck_assert(settings[i].extreme == (i >= 2));
    }
    settings = settings_of(loaded("cap_outside.so"), &arena, &count);
    ck_assert_str_eq(settings[0].text, "cap: 8");
    ck_assert_uint_eq(count, 3);
    /* what copies share is tried with a copy an agent, where there may be one */
    ck_assert_int_eq(setting_of("exerciser_plain.so", "scope: agent")->scope, SCOPE_AGENT);
    settings = settings_of(loaded("exerciser.so"), &arena, &count);
    for (size_t i = 0; i < count; i++)
        ck_assert_int_eq(settings[i].scope, SCOPE_GATE);
}
END_TEST

START_TEST(wrong_answers_are_named)
{
    static const struct {
        const char *what, *callback, *words;
    } rows[] = {
        {"unknown_action", "admit", "answered the unknown action 99"},
        {"negative_action", "admit", "answered the unknown action -1"},
        {"hold_without_time", "admit", "answered hold for -1 ns"},
        {"hold_too_short", "admit", "answered hold for 999999 ns"},
        {"defer_too_short", "admit", "a retry-after of 0 ns"},
        {"defer_negative", "admit", "a retry-after of -1000000000 ns"},
        {"displace_nobody", "admit", "answered displace with nobody waiting"},
        {"displace_run", "run_admit", "answered displace, which this callback may not"},
        {"hold_at_start", "start", "answered hold, which this callback may not"},
        {"displace_at_start", "start", "answered displace, which this callback may not"},
        {"negative_lifetime", "admitted", "returned -1000000000 ns"},
        {"again_when_done", "finish", "took back an attempt whose end is final"},
        {"tick_now", "tick", "asked for a wake-up at 0 ns"},
        {"tick_soon", "tick", "asked for a wake-up at 999999 ns"},
        {"flow_outside", "flow", "answered flow 2 of 2"},
        {"pick_outside", "pick", "picked flow 2, where nobody waits"},
        {"pick_empty", "pick", "picked flow 1, where nobody waits"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct setting *setting = setting_of("nonsense.so", arena_format(&arena, "what: %s", rows[i].what));
        const char *of_gate = edges(setting), *of_life = probe_equal_answers(setting, &arena);
        const char *callback = arena_format(&arena, "policy `nonsense`, callback `%s`", rows[i].callback);
        ck_assert_msg(of_gate && strstr(of_gate, callback) && strstr(of_gate, rows[i].words), "%s: %s", rows[i].what,
                      of_gate);
        ck_assert_msg(of_life && strstr(of_life, callback) && strstr(of_life, rows[i].words), "%s: %s", rows[i].what,
                      of_life);
    }
}
END_TEST

START_TEST(nonsense_is_the_answer_no)
{
    struct program program = {0};
    check_plugin(&program, "nonsense.so");
    ck_assert_int_eq(program.status, 1);
    ck_assert_int_eq(program_count(program.out, " found\n"), 17);
    program_has(program.out, "policy nonsense: 17 findings in 17 settings\n");
    program_fini(&program);
}
END_TEST

START_TEST(state_kept_elsewhere)
{
    static const struct {
        const char *text, *when;
    } kept[] = {{"by: counter", "when a fresh copy is asked the same"},
                {"by: random", "when a fresh copy is asked the same"},
                {"by: address", "when a fresh copy is asked the same"},
                {"by: last_begun", "when another copy is asked in between"}};
    ck_assert_ptr_null(probe_equal_answers(setting_of("keeper.so", ""), &arena));
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) {
        const struct setting *setting = setting_of("keeper.so", kept[i].text);
        const char *found = probe_equal_answers(setting, &arena);
        ck_assert_ptr_null(edges(setting));
        ck_assert_msg(found && strstr(found, "policy `keeper`, callback or gauge `admit`: answer ") &&
                          strstr(found, kept[i].when),
                      "%s: %s", kept[i].text, found);
    }
}
END_TEST

/* Seconds of the clock show only when one has gone by. */
START_TEST(a_clock)
{
    const char *found = probe_equal_later(setting_of("keeper.so", "by: clock"), &arena);
    ck_assert_ptr_nonnull(found);
    program_has(found, "a second later (defer for ");
    ck_assert_ptr_null(probe_equal_later(setting_of("keeper.so", ""), &arena));
}
END_TEST

START_TEST(simulations)
{
    struct probe_run run = probe_simulate(setting_of("keeper.so", "by: counter"), 0, PROBE_ALONE, &arena);
    program_has(run.finding, "policy `keeper`: a second run gives other digits");
    run = probe_simulate(setting_of("keeper.so", "by: nobody_at_all"), 1, PROBE_BEHIND, &arena);
    program_has(run.finding, "no turn was completed");
    run = probe_simulate(setting_of("keeper.so", "by: nobody_later"), 0, PROBE_IN_FRONT, &arena);
    ck_assert_ptr_null(run.finding);
    program_has(run.note, "nobody was served from 2");
    run = probe_simulate(setting_of("nonsense.so", "what: hold_at_start"), 0, PROBE_ALONE, &arena);
    program_has(run.finding, "policy `nonsense`, callback `start`, class `coder`");
    run = probe_simulate(setting_of("keeper.so", ""), 1, PROBE_IN_FRONT, &arena);
    ck_assert(!run.finding && !run.note);
}
END_TEST

START_TEST(crashes_are_named)
{
    struct program program = {0};
    check_plugin(&program, "crasher.so");
    ck_assert_int_eq(program.status, 2);
    program_has(program.err, "weir: crash by a wrong address (SIGSEGV): policy `crasher`, callback `check`");
    program_has(program.out, "policy crasher: crashes\n");
    program_fini(&program);
    check_plugin(&program, "meddler.so");
    ck_assert_int_eq(program.status, 2);
    program_has(program.out, "with does: set\n  callbacks at the edges of gate and call ");
    program_has(program.err, "policy `meddler`, callback `tick`, at 0.000000000 s");
    program_fini(&program);
}
END_TEST

START_TEST(the_skeleton_refuses_nobody_at_a_metered_pool)
{
    struct rig rig;
    rig_init(&rig, setting_of("skeleton.so", "most: 1"), 7);
    rig.servers = 0;
    rig.others = 100;
    ck_assert_int_eq(rig_admit(&rig, &rig.agents[0]).action, POLICY_ADMIT);
    rig_fini(&rig);
}
END_TEST

/* The exerciser ends the program when it is shown or told what the protocol does not allow. */
START_TEST(questions_keep_to_the_protocol)
{
    static const char *const plugins[] = {"exerciser_flows.so", "exerciser_plain.so", "exerciser.so"};
    static const char *const keys[] = {"hold", "again", "expire", "displace", "shed"};
    const struct policy_ops *ops = loaded(plugins[_i]);
    struct option options[32];
    struct policy_ops unsteered = *ops;
    size_t count = 0;
    for (; ops->params[count].key; count++) {
        options[count] = ops->params[count];
        options[count].live = options[count].live && strcmp(options[count].key, "hold") == 0;
    }
    options[count] = (struct option){.key = NULL};
    unsteered.params = options;
    unsteered.tick = NULL; /* it counts on nobody else to set its values */
    unsteered.changed = NULL;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        struct setting setting = {.ops = &unsteered, .text = keys[i], .scope = SCOPE_GATE};
        void *params = arena_zeroed(&arena, 1, ops->params_size);
        param_defaults(options, params, &arena);
        ck_assert_ptr_null(param_set_number(param_find(ops->params, keys[i]), params, 0.4));
        setting.params = params;
        ck_assert_ptr_null(edges(&setting));
        ck_assert_ptr_null(probe_equal_answers(&setting, &arena));
    }
}
END_TEST

START_TEST(usage)
{
    struct program program = {0};
    PROGRAM_RUN(&program, NULL, "check");
    ck_assert_int_eq(program.status, 2);
    program_has(program.err, "weir check: expected FILE, or --plugin F.so");
    program_fini(&program);
    PROGRAM_RUN(&program, NULL, "check", "-r", "3");
    ck_assert_int_eq(program.status, 2);
    program_has(program.err, "`--replications` is about a scenario: expected FILE");
    program_fini(&program);
    PROGRAM_RUN(&program, NULL, "check", "--plugin", "nowhere/mine.so");
    ck_assert_int_eq(program.status, 2);
    program_has(program.err, "cannot load the plug-in");
    program_fini(&program);
}
END_TEST

Suite *probe_suite(void)
{
    Suite *suite = suite_create("probe");
    TCase *test = tcase_create("probe");
    size_t built_in = 0;
    while (policy_registry[built_in])
        built_in++;
    tcase_add_checked_fixture(test, begin, end);
    tcase_add_loop_test(test, built_in_policies_pass, 0, (int)built_in);
    tcase_add_loop_test(test, sound_plugins_pass, 0, 3);
    tcase_add_test(test, what_it_is_tried_with);
    tcase_add_test(test, wrong_answers_are_named);
    tcase_add_test(test, nonsense_is_the_answer_no);
    tcase_add_test(test, state_kept_elsewhere);
    tcase_add_test(test, a_clock);
    tcase_add_test(test, simulations);
    tcase_add_test(test, crashes_are_named);
    tcase_add_test(test, the_skeleton_refuses_nobody_at_a_metered_pool);
    tcase_add_loop_test(test, questions_keep_to_the_protocol, 0, 3);
    tcase_add_test(test, usage);
    suite_add_tcase(suite, test);
    return suite;
}
