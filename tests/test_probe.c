/* test_probe.c - `weir check --plugin`: sound policies pass, each thing that a policy may not do is found and named,
 * and what the questions themselves are is held against the protocol by a policy that keeps books. */
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

/* --- what is asked ------------------------------------------------------------------------------------------------ */

struct tally {
    unsigned asked[POLICY_REJECT + 1]; /* verdicts of the gate */
    unsigned last, again, expired, ended[POLICY_EXPIRED + 1], ticks, refused, runs;
    unsigned runs_admitted, runs_refused, refreshed;
};

/* A policy that answers by its own stream and counts what it is asked. */
static struct tally *tally_of(const struct policy *self)
{
    return self->stats;
}

static policy_time life_wait(struct policy *self)
{
    return POLICY_SECOND + (policy_time)(self->host->uniform(self) * 3e9);
}

static struct policy_answer any_admit(struct policy *self, const struct policy_view *view, struct policy_call *call)
{
    double u = self->host->uniform(self);
    enum policy_action action = u < 0.2                              ? POLICY_HOLD
                                : u < 0.3                            ? POLICY_DEFER
                                : u < 0.33                           ? POLICY_REJECT
                                : u < 0.6 && view->waiting.calls > 0 ? POLICY_DISPLACE
                                                                     : POLICY_ADMIT;
    tally_of(self)->last += call->last;
    tally_of(self)->asked[action]++;
    return (struct policy_answer){action, life_wait(self), "any"};
}

static policy_time any_admitted(struct policy *self, const struct policy_view *view, struct policy_call *call)
{
    (void)view, (void)call;
    return self->host->uniform(self) < 0.2 ? life_wait(self) : 0;
}

static void any_refused(struct policy *self, const struct policy_view *view, struct policy_call *call,
                        const struct policy_answer *answer)
{
    (void)view, (void)call, (void)answer;
    tally_of(self)->refused++;
}

static struct policy_answer any_start(struct policy *self, const struct policy_view *view, struct policy_call *call)
{
    (void)view, (void)call;
    return self->host->uniform(self) < 0.1 ? policy_defer(POLICY_NONE, "any") : policy_admit();
}

static policy_time any_finish(struct policy *self, const struct policy_view *view, struct policy_call *call,
                              const struct policy_outcome *outcome)
{
    (void)view, (void)call;
    tally_of(self)->ended[outcome->end]++;
    if (outcome->end < POLICY_SHED || outcome->end > POLICY_ERROR || self->host->uniform(self) < 0.5)
        return POLICY_NONE;
    tally_of(self)->again++;
    return life_wait(self);
}

static policy_time any_tick(struct policy *self, const struct policy_view *view)
{
    tally_of(self)->ticks++;
    return view->now + 5 * POLICY_SECOND;
}

static void any_run_finish(struct policy *self, const struct policy_view *view, struct policy_run *run, bool done)
{
    (void)view, (void)run, (void)done;
    tally_of(self)->runs++;
}

static void any_run_admitted(struct policy *self, const struct policy_view *view, struct policy_run *run)
{
    (void)view, (void)run;
    tally_of(self)->runs_admitted++;
}

static void any_run_refused(struct policy *self, const struct policy_view *view, struct policy_run *run,
                            const struct policy_answer *answer)
{
    (void)view, (void)run;
    ck_assert_int_ne(answer->action, POLICY_ADMIT);
    tally_of(self)->runs_refused++;
}

static void any_refresh(struct policy *self, policy_time now)
{
    (void)now;
    tally_of(self)->refreshed++;
}

static const struct policy_ops any = {
    POLICY_HEADER,
    .name = "any",
    .summary = "answers anything",
    .stats_size = sizeof(struct tally),
    .admit = any_admit,
    .admitted = any_admitted,
    .refused = any_refused,
    .start = any_start,
    .finish = any_finish,
    .tick = any_tick,
    .refresh = any_refresh,
    .run_admitted = any_run_admitted,
    .run_refused = any_run_refused,
    .run_finish = any_run_finish,
};

START_TEST(a_life_has_everything_in_it)
{
    const struct setting setting = {.ops = &any, .text = "", .scope = SCOPE_GATE};
    struct rig rig;
    const struct tally *tally;
    rig_init(&rig, &setting, 7);
    for (int i = 0; i < 4000; i++)
        rig_step(&rig);
    tally = tally_of(&rig.policy);
    ck_assert_str_eq(rig.fault, "");
    for (int i = 0; i <= POLICY_REJECT; i++)
        ck_assert_msg(tally->asked[i] > 10, "verdict %d: %u", i, tally->asked[i]);
    for (int i = 0; i <= POLICY_EXPIRED; i++)
        ck_assert_msg(tally->ended[i] > 5, "end %d: %u", i, tally->ended[i]);
    ck_assert(tally->last > 10 && tally->again > 10 && tally->ticks > 100 && tally->refused > 50 && tally->runs > 50);
    ck_assert(tally->runs_admitted >= tally->runs && tally->runs_refused > 10 && tally->refreshed > 100);
    rig_fini(&rig);
    ck_assert_ptr_null(edges(&setting));
    ck_assert_ptr_null(probe_equal_answers(&setting, &arena));
}
END_TEST

/* At a metered pool there is no server and no line, and a call is in service at once. */
static struct policy_answer pool_start(struct policy *self, const struct policy_view *view, struct policy_call *call)
{
    (void)self, (void)call;
    return view->servers == 0 && view->waiting.calls == 0 ? policy_displace("pool") : policy_admit();
}

static policy_time pool_finish(struct policy *self, const struct policy_view *view, struct policy_call *call,
                               const struct policy_outcome *outcome)
{
    (void)self, (void)call;
    return view->servers == 0 && outcome->end == POLICY_OVERLOAD && view->busy > 1000 ? 1 : POLICY_NONE;
}

START_TEST(a_metered_pool_is_an_edge)
{
    static const struct policy_ops at_start = {POLICY_HEADER, .name = "pool", .summary = "wrong", .start = pool_start};
    static const struct policy_ops at_end = {POLICY_HEADER, .name = "pool", .summary = "wrong", .finish = pool_finish};
    const struct setting start = {.ops = &at_start, .text = "", .scope = SCOPE_GATE};
    const struct setting finish = {.ops = &at_end, .text = "", .scope = SCOPE_GATE};
    program_has(edges(&start), "policy `pool`, callback `start`, class 0, agent 0");
    program_has(edges(&start), "servers 0, busy 0: answered displace, which this callback may not");
    program_has(edges(&finish), "servers 0, busy 1000000: answered again after 1 ns");
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
    tcase_add_test(test, a_life_has_everything_in_it);
    tcase_add_test(test, a_metered_pool_is_an_edge);
    tcase_add_test(test, the_skeleton_refuses_nobody_at_a_metered_pool);
    tcase_add_loop_test(test, questions_keep_to_the_protocol, 0, 3);
    tcase_add_test(test, usage);
    suite_add_tcase(suite, test);
    return suite;
}
