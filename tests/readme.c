/* readme.c - a page is walked line by line; what is to be written instead of it grows beside. */
#include "tests/readme.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/program.h"

enum mark { MARK_NONE, MARK_NOT_RUN, MARK_OUTPUT, MARK_FILE };

static const char *const marks[] = {
    [MARK_NOT_RUN] = "<!-- not run: ", [MARK_OUTPUT] = "<!-- output of: ", [MARK_FILE] = "<!-- file: "};

struct page {
    const char *path;
    struct arena *arena;
    int line;          /* of the page, from 1 */
    const char *wrong; /* so far */
    FILE *renewed;
    char folder[32];
};

/* A comment that is about the block behind it. */
struct note {
    enum mark mark;
    const char *words;
};

static void wrong(struct page *page, const char *what)
{
    page->wrong = arena_format(page->arena, "%s%s:%d: %s\n", page->wrong, page->path, page->line, what);
}

static char *rest_of(FILE *file)
{
    char *text = NULL;
    size_t size = 0;
    FILE *kept = open_memstream(&text, &size);

    for (int c = getc(file); c != EOF; c = getc(file))
        putc(c, kept);
    fclose(kept);
    return text;
}

/* Without blank lines at its end, and with an end of its last line. */
static const char *trimmed(struct page *page, const char *text)
{
    size_t length = strlen(text);

    while (length > 0 && text[length - 1] == '\n')
        length--;
    return arena_format(page->arena, "%.*s%s", (int)length, text, length > 0 ? "\n" : "");
}

/* What sh prints on standard output; its messages are kept in a file. NULL after a failure. */
static const char *shell(struct page *page, const char *script)
{
    FILE *pipe = popen(
        arena_format(page->arena, "cd %s && exec </dev/null 2>messages || exit\n%s\n", page->folder, script), "r");
    char *printed = rest_of(pipe), *messages;
    const char *out = trimmed(page, printed);

    free(printed);
    if (pclose(pipe) == 0)
        return out;
    messages = program_file(arena_format(page->arena, "%s/messages", page->folder));
    wrong(page, arena_format(page->arena, "`%s` fails: %.1000s", script, trimmed(page, messages ? messages : "")));
    free(messages);
    return NULL;
}

static bool furnish(struct page *page)
{
    /* No Makefile: a page may tell people to `make check`, which must not run within itself. */
    static const char script[] =
        "for entry in LICENSE README.md models plots policies scenarios sim tests; do ln -s \"$ROOT/$entry\" .; done\n"
        "mkdir build\n"
        "echo '#!/bin/sh' >build/weir\n"
        "echo '[ \"$1\" != run ] || set -- \"$@\" $FEW; exec \"$WEIR\" \"$@\"' >>build/weir\n"
        "chmod +x build/weir";
    char root[4096];

    strcpy(page->folder, "/tmp/weir-page-XXXXXX");
    if (!getenv("WEIR") || !getcwd(root, sizeof root) || !mkdtemp(page->folder)) {
        wrong(page, "there is no WEIR, or no folder to run commands in");
        return false;
    }
    setenv("ROOT", root, 1);
    setenv("LC_ALL", "C.UTF-8", 1);
    return shell(page, script) != NULL;
}

/* The line that stands at `at`, without its end; *next is the one behind it. */
static const char *line_at(struct page *page, const char *at, const char **next)
{
    size_t length = strcspn(at, "\n");

    *next = at + length + (at[length] == '\n');
    return arena_text_of(page->arena, at, length);
}

static void run_lines(struct page *page, const char *body)
{
    const char *next;
    int first = page->line;

    setenv("FEW", "-r 2", 1);
    for (const char *at = body; *at; at = next) {
        const char *command = line_at(page, at, &next);

        page->line++;
        for (size_t length = strlen(command); *next && command[length - 1] == '\\'; length = strlen(command)) {
            command = arena_format(page->arena, "%s\n%s", command, line_at(page, next, &next));
            page->line++;
        }
        if (command[strspn(command, " ")] != '\0')
            shell(page, command);
    }
    page->line = first;
}

static void compare(struct page *page, const char *command, const char *shown, const char *printed)
{
    const char *ours, *theirs;
    int line = 0;

    if (strcmp(shown, printed) == 0)
        return;
    do {
        line++;
        theirs = line_at(page, shown, &shown);
        ours = line_at(page, printed, &printed);
    } while (strcmp(ours, theirs) == 0 && (*shown || *printed));
    wrong(page, arena_format(page->arena,
                             "line %d of what `%s` prints is not the one shown; `make docs` renews it\n"
                             "  shown:   %s\n  printed: %s",
                             line, command, theirs, ours));
}

/* Returns what is to stand in the block from now on. */
static const char *show_output(struct page *page, const char *command, const char *shown)
{
    const char *printed;

    setenv("FEW", "", 1);
    printed = shell(page, command);
    if (!printed)
        return shown;
    compare(page, command, shown, printed);
    return printed;
}

static void make_file(struct page *page, const char *name, const char *body)
{
    FILE *file = fopen(arena_format(page->arena, "%s/%s", page->folder, name), "w");

    if (!file || fputs(body, file) < 0 || fclose(file) != 0)
        wrong(page, arena_format(page->arena, "cannot write %s", name));
}

/* Returns what is to stand in the block from now on. */
static const char *take_block(struct page *page, const struct note *note, const char *language, const char *body)
{
    if (note->mark == MARK_NOT_RUN && strcmp(language, "sh") != 0)
        wrong(page, "expected a block ```sh behind `not run`");
    if (note->mark == MARK_OUTPUT && *language)
        wrong(page, "expected a block without a language behind `output of`");
    if (note->mark == MARK_FILE)
        make_file(page, note->words, body);
    if (note->mark == MARK_OUTPUT)
        return show_output(page, note->words, body);
    if (note->mark == MARK_NONE && strcmp(language, "sh") == 0)
        run_lines(page, body);
    return body;
}

static struct note note_of(struct page *page, const char *line)
{
    const char *end = strstr(line, " -->");

    for (enum mark mark = MARK_NOT_RUN; end && mark <= MARK_FILE; mark++) {
        size_t length = strlen(marks[mark]);

        if (strncmp(line, marks[mark], length) == 0)
            return (struct note){mark, arena_text_of(page->arena, line + length, (size_t)(end - line) - length)};
    }
    return (struct note){MARK_NONE, NULL};
}

static void walk(struct page *page, const char *text)
{
    struct note note = {MARK_NONE, NULL};
    const char *next;

    for (const char *at = text; *at; at = next) {
        const char *line = line_at(page, at, &next), *fence, *body;

        page->line++;
        fprintf(page->renewed, "%s\n", line);
        if (strncmp(line, "```", 3) != 0) {
            if (note.mark != MARK_NONE)
                wrong(page, "expected a block right behind the comment about it");
            note = note_of(page, line);
            continue;
        }
        fence = strncmp(next, "```", 3) == 0 ? next : strstr(next, "\n```");
        if (!fence) {
            wrong(page, "this block has no end");
            return;
        }
        fence += *fence == '\n';
        body = arena_text_of(page->arena, next, (size_t)(fence - next));
        fprintf(page->renewed, "%s```\n", take_block(page, &note, line + 3, body));
        page->line += program_count(body, "\n") + 1;
        note.mark = MARK_NONE;
        line_at(page, fence, &next);
    }
}

const char *readme_run(const char *path, bool renew, struct arena *arena)
{
    struct page page = {.path = path, .arena = arena, .wrong = ""};
    char *text = program_file(path), *renewed = NULL;
    size_t size;

    if (!text)
        return arena_format(arena, "there is no %s", path);
    page.renewed = open_memstream(&renewed, &size);
    if (furnish(&page)) {
        walk(&page, text);
        shell(&page, arena_format(arena, "rm -rf %s", page.folder));
    }
    fclose(page.renewed);
    if (renew && strcmp(text, renewed) != 0) {
        FILE *file = fopen(path, "w");

        if (!file || fputs(renewed, file) < 0 || fclose(file) != 0)
            wrong(&page, "cannot be written");
    }
    free(text);
    free(renewed);
    return page.wrong;
}

const char *readme_dead_links(const char *path, struct arena *arena)
{
    const char *slash = strrchr(path, '/'), *dead = "";
    int folder = slash ? (int)(slash - path) + 1 : 0;
    char *text = program_file(path);

    for (const char *at = text ? strstr(text, "](") : NULL; at; at = strstr(at + 2, "](")) {
        const char *target = arena_text_of(arena, at + 2, strcspn(at + 2, "#)\n"));

        if (!strstr(target, "://") && access(arena_format(arena, "%.*s%s", folder, path, target), F_OK) != 0)
            dead = arena_format(arena, "%s%s: there is no %s\n", dead, path, target);
    }
    free(text);
    return dead;
}
