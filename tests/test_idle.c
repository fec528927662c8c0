/* test_idle.c - `weir check` says where a policy leaves servers idle, whichever policy it is. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "sim/cli/idle.h"
#include "tests/command_fixture.h"
#include "tests/model.h"
#include "tests/suites.h"

static const char *checked(const char *policies)
{
    plan_file_write(&file, "s.yaml",
                    arena_format(&file.arena,
                                 "study: {horizon: 9 s}\n"
                                 "backends:\n"
                                 "  card: {kind: slots, servers: 8, rate: 39 tokens/s}\n"
                                 "  tool: {kind: slots, servers: 2, service: 1 s}\n"
                                 "agents:\n"
                                 "  coder: {population: 24, think: 4.5 s, output: 120, backend: card}\n"
                                 "  builder: {population: 3, think: 1 s, backend: tool}\n"
                                 "%s\n",
                                 policies));
    return SAID("check", file.path);
}

static void expect(const char *policies, const char *sentences)
{
    const char *text = checked(policies), *found = "";
    for (const char *line = text; *line; line += strcspn(line, "\n") + 1) {
        const char *one = arena_text_of(&file.arena, line, strcspn(line, "\n"));
        if (strstr(one, "turned away"))
            found = arena_format(&file.arena, "%s%s\n", found, one);
    }
    ck_assert_str_eq(found, sentences);
}

START_TEST(a_cap_below_the_servers)
{
    expect("policies: [fixed_cap: {cap: 7}]", "# fixed_cap at card: calls are turned away with 7 of 8 servers busy.\n");
    expect("policies: [fixed_cap: {cap: 8}]", "");
    expect("policies: [fixed_cap: {cap: 1}]", "# fixed_cap at card: calls are turned away with 1 of 8 servers busy.\n"
                                              "# fixed_cap at tool: calls are turned away with 1 of 2 servers busy.\n");
}
END_TEST

START_TEST(where_and_by_whom)
{
    expect("policies: [fixed_cap: {cap: 1, at: tool}]",
           "# fixed_cap at tool: calls are turned away with 1 of 2 servers busy.\n");
    expect("policies: [unbounded, both: [lifo, fixed_cap: {cap: 5, name: narrow, at: card}]]",
           "# both, narrow at card: calls are turned away with 5 of 8 servers busy.\n");
}
END_TEST

START_TEST(each_once)
{
    expect("policies: [fixed_cap: {cap: 9, at: card}]\n"
           "sweep: {policies.fixed_cap.cap: [6, 9, 12], agents.coder.population: [8, 16]}",
           "# fixed_cap at card: calls are turned away with 6 of 8 servers busy.\n");
    expect("policies: [fixed_cap: {cap: 9, at: card}]\nsweep: {backends.card.servers: [8, 10]}",
           "# fixed_cap at card: calls are turned away with 9 of 10 servers busy.\n");
}
END_TEST

START_TEST(none_that_leaves_none_idle)
{
    expect("policies: [unbounded, lifo, codel: {preset: slots},\n"
           "           rfc: [codel: {law: rfc8289, target: 1 ms, interval: 1 ms}]]",
           "");
}
END_TEST

/* A plug-in that weir has never heard of; it knows a cap, too. */
START_TEST(a_plugin)
{
    char path[4096];
    program_plugin("cap_outside.so", path, sizeof path);
    expect(arena_format(&file.arena, "policies: [cap_outside: {cap: 3, at: card}]\nplugin: %s", path),
           "# cap_outside at card: calls are turned away with 3 of 8 servers busy.\n");
}
END_TEST

/* It makes its limit of the servers that it finds, and asks for runs to be let in first. */
struct finder {
    uint64_t limit;
    bool let_in;
};

static void finder_init(struct policy *self)
{
    struct finder *finder = self->vars;
    finder->limit = self->host->view(self, 0)->servers;
}

static struct policy_answer finder_run_admit(struct policy *self, const struct policy_view *view,
                                             struct policy_run *run)
{
    struct finder *finder = self->vars;
    (void)view, (void)run;
    finder->let_in = true;
    return policy_admit();
}

static struct policy_answer finder_admit(struct policy *self, const struct policy_view *view, struct policy_call *call)
{
    const struct finder *finder = self->vars;
    (void)call;
    return finder->let_in && view->busy < finder->limit ? policy_admit() : policy_defer(POLICY_NONE, "found");
}

static struct policy_answer never(struct policy *self, const struct policy_view *view, struct policy_run *run)
{
    (void)self, (void)view, (void)run;
    return policy_defer(POLICY_NONE, "never");
}

static const char *sentences_about(const struct policy_ops *ops)
{
    const struct policy_ops *const known[] = {ops, NULL};
    struct plan plan = model_plan_of("study: {horizon: 9 s}\n"
                                     "backends: {card: {kind: slots, servers: 8, rate: 39 tokens/s}}\n"
                                     "agents: {coder: {population: 24, think: 4.5 s, output: 120}}\n"
                                     "policies: [finder]\n",
                                     known);
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    idle_sentences(&plan, out);
    fclose(out);
    const char *said = arena_text(&file.arena, text);
    free(text);
    plan_fini(&plan);
    return said;
}

START_TEST(a_copy_begins_as_in_a_run)
{
    struct policy_ops finder = {POLICY_HEADER,
                                .name = "finder",
                                .summary = "finds its limit",
                                .vars_size = sizeof(struct finder),
                                .init = finder_init,
                                .run_admit = finder_run_admit,
                                .admit = finder_admit};
    ck_assert_str_eq(sentences_about(&finder), "");
    finder.run_admit = never; /* nobody comes as far as the gate */
    ck_assert_str_eq(sentences_about(&finder), "");
    finder.run_admit = NULL;
    ck_assert_str_eq(sentences_about(&finder), "# finder at card: calls are turned away with 0 of 8 servers busy.\n");
}
END_TEST

START_TEST(a_wrong_answer_is_no_refusal)
{
    char path[4096];
    program_plugin("nonsense.so", path, sizeof path);
    expect(arena_format(&file.arena, "policies: [nonsense: {what: defer_negative}]\nplugin: %s", path), "");
}
END_TEST

Suite *idle_suite(void)
{
    Suite *suite = suite_create("idle");
    TCase *tcase = tcase_create("idle");
    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, a_cap_below_the_servers);
    tcase_add_test(tcase, where_and_by_whom);
    tcase_add_test(tcase, each_once);
    tcase_add_test(tcase, none_that_leaves_none_idle);
    tcase_add_test(tcase, a_plugin);
    tcase_add_test(tcase, a_copy_begins_as_in_a_run);
    tcase_add_test(tcase, a_wrong_answer_is_no_refusal);
    suite_add_tcase(suite, tcase);
    return suite;
}
