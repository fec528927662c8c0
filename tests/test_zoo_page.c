/* test_zoo_page.c - what policies/README.md says of each policy in the zoo: every number stands in an expected table.
 *
 * The section is a list, an entry a policy. Within an entry `published`, or another word in backquotes, says of which
 * alternative the numbers behind it are (NAME_published, or one of that name; before the first it is NAME itself), and
 * "40 agents" of how many agents. A number is followed by one of the phrases below, which names its column, and is
 * that of the table as rounded to the digits it has. */
#include <check.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policies/registry.h"
#include "tests/program.h"
#include "tests/sheet.h"
#include "tests/suites.h"

static const struct {
    const char *words, *column;
    double times;
} phrases[] = {
    {"turns/s", "goodput", 1},
    {"s in line", "wait_p99", 1},
    {"s in all", "total_wait_p99", 1},
    {"% refused", "deferred_share", 100},
    {"% of the slots busy", "utilisation", 100},
    {"% cold", "cold_share", 100},
    {"lost an hour", "lost_turns", 1},
    {"s old", "queue_age_p99", 1},
    {"s unanswered", "censored_age", 1},
};

struct reader {
    struct sheet *card, *memory;
    struct arena arena;
    const char *policy, *label;
    int population;
    int numbers;     /* of this entry */
    const char *all; /* the policies that have one */
};

static bool has_rows(const struct reader *reader, const char *label)
{
    for (size_t row = 1; row < reader->card->rows; row++)
        if (strcmp(reader->card->cells[row][0], label) == 0)
            return true;
    return false;
}

static void take_label(struct reader *reader, const char *word)
{
    reader->label = arena_format(&reader->arena, "%s_%s", reader->policy, word);
    if (!has_rows(reader, reader->label))
        reader->label = word;
    ck_assert_msg(has_rows(reader, reader->label), "%s: nothing in the zoo is called `%s`", reader->policy, word);
}

/* `text` is how the number is written, `behind` what follows it. */
static void take_number(struct reader *reader, const char *text, const char *behind)
{
    const struct sheet *sheet = reader->population == 60 ? reader->memory : reader->card;
    const char *dot = strchr(text, '.');
    const char *expected;
    for (size_t i = 0, row; i < sizeof phrases / sizeof *phrases; i++) {
        if (strncmp(behind, phrases[i].words, strlen(phrases[i].words)) != 0)
            continue;
        ck_assert_msg(reader->population, "%s: %s of how many agents?", reader->policy, text);
        row = sheet_row(sheet,
                        arena_format(&reader->arena, "policy=%s population=%d", reader->label, reader->population));
        expected = arena_format(&reader->arena, "%.*f", dot ? (int)strlen(dot + 1) : 0,
                                phrases[i].times * sheet_cell(sheet, row, phrases[i].column));
        ck_assert_msg(strcmp(text, expected) == 0, "%s, %s at %d agents: %s is %s in the table, not %s", reader->policy,
                      reader->label, reader->population, phrases[i].column, expected, text);
        reader->numbers++;
        return;
    }
    ck_abort_msg("%s: %s %.30s: not a number that could be looked up", reader->policy, text, behind);
}

static void take_entry(struct reader *reader, const char *text)
{
    while (*text) {
        size_t length;
        if (*text == '`') {
            length = strcspn(++text, "`");
            take_label(reader, arena_text_of(&reader->arena, text, length));
            text += length + 1;
        } else if (isdigit((unsigned char)*text)) {
            const char *number = text;
            length = strspn(text, "0123456789.");
            text += length + (text[length] == ' ');
            if (strncmp(text, "agents", 6) == 0)
                reader->population = atoi(number);
            else
                take_number(reader, arena_text_of(&reader->arena, number, length), text);
        } else {
            text++;
        }
    }
}

/* The section, with one blank in place of a line's end and indentation. */
static char *section(const char *page)
{
    char *text = program_file(page), *from, *to;
    ck_assert_ptr_nonnull(text);
    from = strstr(text, "\n## How they did in the zoo\n");
    ck_assert_ptr_nonnull(from);
    to = strstr(from + 4, "\n## ");
    ck_assert_ptr_nonnull(to);
    *to = '\0';
    memmove(text, from, strlen(from) + 1);
    for (to = from = text; *from; from++)
        if (*from == '\n' && from[1] == ' ') {
            *to++ = ' ';
            from += strspn(from + 1, " ");
        } else {
            *to++ = *from;
        }
    *to = '\0';
    return text;
}

static void take_line(struct reader *reader, char *line)
{
    char *end = strstr(line, "**: ");
    if (strncmp(line, "* **", 4) != 0) {
        ck_assert_msg(strncmp(line, "* Not there: ", 13) == 0, "%.60s", line);
        reader->all = arena_format(&reader->arena, "%s%s", reader->all, line);
        return;
    }
    ck_assert_ptr_nonnull(end);
    *end = '\0';
    reader->policy = line + 4;
    reader->population = 0;
    reader->numbers = 0;
    reader->label = reader->policy;
    take_entry(reader, end + 4);
    ck_assert_msg(reader->numbers >= 2, "%s: of %d numbers", reader->policy, reader->numbers);
    reader->all = arena_format(&reader->arena, "%s**%s**, ", reader->all, reader->policy);
}

START_TEST(every_number_stands_in_a_table)
{
    struct reader reader = {.card = sheet_read("scenarios/zoo_card.expected.csv"),
                            .memory = sheet_read("scenarios/zoo_memory.expected.csv"),
                            .all = ""};
    char *text = section("policies/README.md"), *line, *next;
    for (line = strstr(text, "\n* "); line; line = next) {
        next = strstr(line + 1, "\n* ");
        if (next)
            *next = '\0';
        take_line(&reader, line + 1);
        if (next)
            *next = '\n';
    }
    for (size_t i = 0; policy_registry[i]; i++) /* each is there, or said not to be */
        program_has(reader.all, arena_format(&reader.arena, "**%s**", policy_registry[i]->name));
    free(text);
    sheet_free(reader.card);
    sheet_free(reader.memory);
    arena_free(&reader.arena);
}
END_TEST

Suite *zoo_page_suite(void)
{
    Suite *suite = suite_create("zoo_page");
    TCase *test = tcase_create("zoo_page");
    tcase_add_test(test, every_number_stands_in_a_table);
    suite_add_tcase(suite, test);
    return suite;
}
