/* test_colour.c - colour repeats what a mark or a word says, on a terminal that wants it, and nowhere else. */
#define _XOPEN_SOURCE 700 /* a terminal of our own */

#include <check.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "sim/io/table.h"
#include "tests/command_fixture.h"
#include "tests/suites.h"

#define BOLD "\033[1m"
#define RED "\033[31m"
#define YELLOW "\033[33m"
#define PLAIN "\033[0m"

/* Wide intervals, a wrong number, one that is unsure. */
static void write_study(void)
{
    plan_file_write(&file, "s.yaml",
                    "study: {horizon: 200 s, replications: 2}\n"
                    "backends: {card: {kind: slots, servers: 2, service: exponential(1 s)}}\n"
                    "agents: {a: {population: 5, think: exponential(1 s)}}\n");
    plan_file_write(&file, "s.published.csv",
                    "policy,metric,value,tolerance\nunbounded,goodput,70,0.1\nunbounded,wait_p99,5,0.01\n");
}

/* The text without what sets colours. */
static const char *colourless(const char *text)
{
    char *copy = arena_text(&file.arena, text), *to = copy;
    for (const char *at = copy; *at; at++) {
        if (*at == '\033')
            at = strchr(at, 'm');
        else
            *to++ = *at;
    }
    *to = '\0';
    return copy;
}

START_TEST(repeats_words)
{
    write_study();
    const char *plain = SAID("run", file.path, "--verify", "--color", "never");
    const char *text = SAID("run", file.path, "--verify", "--color", "always");
    program_lacks(plain, "\033");
    program_same(colourless(text), plain);
    program_has(text, "\n" BOLD "policy" PLAIN " ");
    program_has(text, " " BOLD "goodput" PLAIN);
    program_has(text, BOLD "verdict" PLAIN "\n");
    program_has(text, RED "DIFFERS [?]" PLAIN "\n");
    program_has(text, YELLOW "unsure" PLAIN "\n");
    program_has(text, " " YELLOW "~");
    program_has(text, "  agrees\n");
    program_has(text, "\nunbounded ");
    program_lacks(text, BOLD "turns/s");
    program_has(SAID("bounds", file.path, "--color", "always"), BOLD "service" PLAIN);
}
END_TEST

/* Names of one's own have no colour, whatever they are; a judgement has. */
START_TEST(words_of_a_judgement)
{
    static const struct {
        const char *word, *printed;
    } rows[] = {
        {"FAR", RED "FAR" PLAIN},
        {"FAR: see censored", RED "FAR: see censored" PLAIN},
        {"BROKEN", RED "BROKEN" PLAIN},
        {"unsure", YELLOW "unsure" PLAIN},
        {"~1", YELLOW "~1" PLAIN},
        {"same", "same"},
        {"holds", "holds"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct table table = {.colour = true};
        char *text = NULL;
        size_t size = 0;
        FILE *out = open_memstream(&text, &size);
        table_column(&table, "name", "", "", "", TABLE_KEY, true);
        table_column(&table, "mark", "", "", "", TABLE_KEY, true);
        table.columns[1].judged = true;
        table_row(&table);
        table_text(&table, 0, 0, rows[i].word);
        table_text(&table, 0, 1, rows[i].word);
        table_print_text(&table, out);
        fclose(out);
        program_has(text, arena_format(&file.arena, "\n%s ", rows[i].word));
        program_has(text, arena_format(&file.arena, "  %s\n", rows[i].printed));
        free(text);
        table_fini(&table);
    }
}
END_TEST

START_TEST(never_in_files)
{
    write_study();
    const char *csv = in_folder("out.csv");
    const char *text = SAID("run", file.path, "--color", "always", "--format", "csv", "--output", csv);
    program_lacks(text, "\033");
    char *written = program_file(csv);
    program_same(written, text);
    free(written);
    program_lacks(SAID("run", file.path, "--color", "always", "--format", "markdown", "--verify"), "\033");
}
END_TEST

/* Both ends of a terminal of our own. Containers without devpts have none, or one that cannot be opened. */
static bool terminal_open(int *ours, int *theirs)
{
    *ours = posix_openpt(O_RDWR | O_NOCTTY);
    *theirs = *ours >= 0 && grantpt(*ours) == 0 && unlockpt(*ours) == 0 ? open(ptsname(*ours), O_RDWR | O_NOCTTY) : -1;
    if (*theirs >= 0)
        return true;
    close(*ours);
    fprintf(stderr, "skipped: this machine gives no pseudo-terminal\n");
    return false;
}

/* All that was printed so far: up to a mark that is written behind it, as the kernel hands it on when it likes. */
static const char *terminal_said(int ours, int theirs)
{
    static const char mark[] = "<end>";
    const char *text = "";
    ck_assert_int_eq(write(theirs, mark, strlen(mark)), (ssize_t)strlen(mark));
    while (!strstr(text, mark)) {
        char more[256];
        ssize_t length = read(ours, more, sizeof more - 1);
        ck_assert_int_gt(length, 0);
        more[length] = '\0';
        text = arena_format(&file.arena, "%s%s", text, more);
    }
    return text;
}

START_TEST(asked_for)
{
    static const struct {
        const char *environment[3];
        const char *wish;
        bool coloured;
    } rows[] = {
        {{"TERM=xterm", "NO_COLOR="}, "auto", true},   {{"TERM=xterm", "NO_COLOR=1"}, "auto", false},
        {{"TERM=dumb", "NO_COLOR="}, "auto", false},   {{"TERM=", "NO_COLOR="}, "auto", false},
        {{"TERM=xterm", "NO_COLOR="}, "never", false}, {{"TERM=dumb", "NO_COLOR=1"}, "always", true},
    };
    int ours, theirs;
    write_study();
    for (size_t i = 0; i < sizeof rows / sizeof *rows && terminal_open(&ours, &theirs); i++) {
        program.to = arena_text(&file.arena, ptsname(ours));
        PROGRAM_RUN(&program, rows[i].environment, "bounds", file.path, "--color", rows[i].wish);
        ck_assert_int_eq(program.status, 0);
        const char *said = terminal_said(ours, theirs);
        program_has(said, "capacity");
        ck_assert_msg((strchr(said, '\033') != NULL) == rows[i].coloured, "row %zu", i);
        close(theirs);
        close(ours);
        program_fini(&program);
    }
    /* What is no terminal has none. */
    program.to = NULL;
    PROGRAM_RUN(&program, rows[0].environment, "bounds", file.path);
    program_lacks(program_taken(&program, &file.arena), "\033");
}
END_TEST

/* A line is no longer than a narrow terminal is wide, and nothing is lost; it is as elsewhere in a broad one. */
START_TEST(folded_to_the_terminal)
{
    static const unsigned short widths[] = {60, 80, 99, 100, 200, 0};
    int ours, theirs;
    write_study();
    ck_assert_int_eq(unlink(in_folder("s.published.csv")), 0); /* words alone, which are not folded */
    const char *plain = SAID("run", file.path);
    for (size_t i = 0; i < sizeof widths / sizeof *widths && terminal_open(&ours, &theirs); i++) {
        struct winsize size = {.ws_row = 24, .ws_col = widths[i]};
        size_t longest = 0;
        ck_assert_int_eq(ioctl(theirs, TIOCSWINSZ, &size), 0);
        program.to = arena_text(&file.arena, ptsname(ours));
        PROGRAM_RUN(&program, NULL, "run", file.path, "--color", "never");
        ck_assert_int_eq(program.status, 0);
        const char *said = terminal_said(ours, theirs);
        for (const char *at = said; *at; at += strcspn(at, "\r\n"), at += strspn(at, "\r\n"))
            longest = strcspn(at, "\r\n") > longest ? strcspn(at, "\r\n") : longest;
        ck_assert_msg(longest <= (widths[i] && widths[i] < 100 ? widths[i] : 100), "%u: %zu", widths[i], longest);
        for (const char *at = plain; *at; at += strcspn(at, " \n"), at += strspn(at, " \n"))
            program_has(said, arena_text_of(&file.arena, at, strcspn(at, " \n_")));
        close(theirs);
        close(ours);
        program_fini(&program);
        program.to = NULL;
    }
}
END_TEST

START_TEST(no_such_wish)
{
    write_study();
    PROGRAM_RUN(&program, NULL, "run", file.path, "--color", "yes");
    ck_assert_int_eq(program.status, 2);
    ck_assert_str_eq(program.out, "");
    ck_assert_str_eq(program.err, "weir run: `--color yes`: expected auto, always or never\n");
}
END_TEST

Suite *colour_suite(void)
{
    Suite *suite = suite_create("colour");
    TCase *tcase = tcase_create("colour");
    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, repeats_words);
    tcase_add_test(tcase, words_of_a_judgement);
    tcase_add_test(tcase, never_in_files);
    tcase_add_test(tcase, asked_for);
    tcase_add_test(tcase, folded_to_the_terminal);
    tcase_add_test(tcase, no_such_wish);
    suite_add_tcase(suite, tcase);
    return suite;
}
