/* test_readme.c - the pages people read first: every command in them is run, every output shown is compared, links lead
 * somewhere, and the reference is that of this program. With WEIR_RENEW set they are written anew: `make docs`. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "models/distribution.h"
#include "models/metrics.h"
#include "models/provider_presets.h"
#include "models/tables.h"
#include "policies/registry.h"
#include "sim/cli/arguments.h"
#include "sim/cli/topics.h"
#include "tests/program.h"
#include "tests/readme.h"
#include "tests/suites.h"

enum { ROOT_LINES_MOST = 320 };

static const char *const pages[] = {"README.md", "scenarios/README.md", "policies/README.md", "tests/README.md",
                                    "scenarios/traces/README.md"};
enum { PAGES = sizeof pages / sizeof *pages };

static struct arena arena;

static void teardown(void)
{
    arena_free(&arena);
}

static bool renewing(void)
{
    return getenv("WEIR_RENEW") != NULL;
}

START_TEST(every_command_does_what_is_shown)
{
    const char *wrong = readme_run(pages[_i], renewing(), &arena);
    /* What was renewed is judged as it stands now. */
    if (renewing() && *wrong)
        wrong = readme_run(pages[_i], false, &arena);
    ck_assert_msg(*wrong == '\0', "%.6000s", wrong);
}
END_TEST

START_TEST(links_lead_somewhere)
{
    const char *dead = readme_dead_links(pages[_i], &arena);
    ck_assert_msg(*dead == '\0', "%.6000s", dead);
}
END_TEST

START_TEST(the_first_page_is_short)
{
    char *text = program_file("README.md");
    ck_assert_ptr_nonnull(text);
    ck_assert_int_lt(program_count(text, "\n"), ROOT_LINES_MOST);
    free(text);
}
END_TEST

static const char *reference(void)
{
    struct program program = {0};
    PROGRAM_RUN(&program, NULL, "list", "reference");
    return program_taken(&program, &arena);
}

START_TEST(the_reference_is_that_of_this_program)
{
    const char *printed = reference();
    if (renewing()) {
        FILE *file = fopen("REFERENCE.md", "w");
        ck_assert(file && fputs(printed, file) >= 0 && fclose(file) == 0);
    }
    char *kept = program_file("REFERENCE.md");
    ck_assert_msg(kept && strcmp(kept, printed) == 0, "REFERENCE.md is not what `weir list reference` prints; "
                                                      "`make docs` renews it");
    free(kept);
}
END_TEST

static void has_rows(const char *page, const struct option *option)
{
    for (; option && option->key; option++)
        program_has(page, arena_format(&arena, "\n| `%s` | ", option->key));
}

START_TEST(the_reference_names_everything)
{
    const char *page = reference(), *word, *means;
    for (const struct cli_command *command = cli_commands; command->name; command++) {
        program_has(page, arena_format(&arena, "\n### weir %s\n", command->name));
        for (const struct cli_option *option = command->options; option && option->name; option++)
            program_has(page, arena_format(&arena, "`--%s%s", option->name, option->argument ? " " : "`"));
    }
    for (size_t i = 0; scenario_keys[i]; i++)
        program_has(page, arena_format(&arena, "\n| `%s` | ", scenario_keys[i]));
    for (const struct options_room *room = scenario_rooms; room->name; room++) {
        program_has(page, arena_format(&arena, "\n### %s\n", room->name));
        has_rows(page, room->table);
    }
    for (size_t i = 0; slots_others[i]; i++)
        program_has(page, arena_format(&arena, "\n| `%s` | ", slots_others[i]));
    for (size_t i = 0; class_others[i]; i++)
        program_has(page, arena_format(&arena, "\n| `%s` | ", class_others[i]));
    for (size_t i = 0; provider_others[i]; i++)
        program_has(page, arena_format(&arena, "\n| `%s` | ", provider_others[i]));
    for (const struct provider_preset *preset = provider_presets; preset->name; preset++) {
        program_has(page, arena_format(&arena, "\n| `%s` | ", preset->name));
        program_has(page, arena_format(&arena, " | <%s> | %s |\n", preset->source, preset->read));
    }
    for (size_t i = 0; distribution_form(i); i++)
        program_has(page, distribution_form(i));
    for (size_t i = 0; policy_registry[i]; i++) {
        program_has(page, arena_format(&arena, "\n### %s\n", policy_registry[i]->name));
        has_rows(page, policy_registry[i]->params);
        for (const struct policy_preset *preset = policy_registry[i]->presets; preset && preset->name; preset++)
            program_has(page, arena_format(&arena, "\n| `%s` | ", preset->name));
        for (const struct policy_gauge *gauge = policy_registry[i]->gauges; gauge && gauge->name; gauge++)
            program_has(page, arena_format(&arena, "\n| `%s` | ", gauge->name));
    }
    for (size_t i = 0; i < METRIC_COUNT; i++)
        program_has(page,
                    arena_format(&arena, "\n| `%s` | %s | %s | ", metrics[i].name, metrics[i].unit, metrics[i].better));
    for (size_t i = 0; (word = topics_term(i, &means)); i++)
        program_has(page, arena_format(&arena, "\n* **%s**: ", word));
}
END_TEST

/* A row of a table has as many cells as its head, so no text has broken out of its own. */
START_TEST(tables_of_the_reference_are_whole)
{
    int cells = 0;
    for (const char *line = reference(); *line; line += strcspn(line, "\n") + 1) {
        int bars = 0;
        for (const char *at = line; *at != '\n'; at++)
            bars += *at == '|' && (at == line || at[-1] != '\\');
        bool row = *line == '|', head = row && cells == 0;
        if (row && !head)
            ck_assert_msg(bars == cells, "%d bars for %d: %.*s", bars, cells, (int)strcspn(line, "\n"), line);
        cells = row ? bars : 0;
    }
}
END_TEST

Suite *readme_suite(void)
{
    Suite *suite = suite_create("readme");
    TCase *tcase = tcase_create("readme");
    tcase_add_checked_fixture(tcase, NULL, teardown);
    tcase_add_test(tcase, the_reference_is_that_of_this_program);
    tcase_add_loop_test(tcase, every_command_does_what_is_shown, 0, PAGES);
    tcase_add_loop_test(tcase, links_lead_somewhere, 0, PAGES);
    tcase_add_test(tcase, the_first_page_is_short);
    tcase_add_test(tcase, the_reference_names_everything);
    tcase_add_test(tcase, tables_of_the_reference_are_whole);
    suite_add_tcase(suite, tcase);
    return suite;
}
