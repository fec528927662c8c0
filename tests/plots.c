/* plots.c - see plots.h. */
#include "tests/plots.h"

#include <check.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sim/cli/commands.h"

struct plots plots;

/* The card's published p99 waits and deferred shares; the goodputs of all policies are the same here. */
const char plots_knee[] = PLOTS_KEYS
    "agents.coder.population,replications,goodput,goodput_hw,wait_p99,wait_p99_hw,total_wait_p99,total_wait_p99_hw,"
    "deferred_share,deferred_share_hw\n"
    "unbounded,all,all,all,8,20,0.589,0.002,0,0,0,0,0,0\n"
    "unbounded,all,all,all,16,20,0.878,0.002,15.5,0.1,,,0,0\n"
    "unbounded,all,all,all,24,20,0.881,0.002,27,0.2,,,0,0\n"
    "fixed_cap,all,all,all,8,20,0.589,0.002,0,0,,,0,0\n"
    "fixed_cap,all,all,all,16,20,0.878,0.002,11.74,0.1,,,0.2,0.01\n"
    "fixed_cap,all,all,all,24,20,0.881,0.002,12.67,0.1,,,0.37,0.01\n"
    "codel,all,all,all,8,20,0.589,0.002,0,0,,,0,0\n"
    "codel,all,all,all,16,20,0.878,0.002,15.55,0.1,,,0.02,0.01\n"
    "codel,all,all,all,24,20,0.881,0.002,24.74,0.2,,,0.23,0.01\n"
    "codel,coder,all,all,24,20,9,9,999,9,9,9,9,9\n";

void plots_setup(void)
{
    plots = (struct plots){.folder = "/tmp/weir-plot-XXXXXX"};
    ck_assert_ptr_nonnull(getcwd(plots.root, sizeof plots.root));
    setenv("WEIR_PLOTS", arena_format(&plots.arena, "%s/plots", plots.root), 1);
    ck_assert_ptr_nonnull(mkdtemp(plots.folder));
    ck_assert_int_eq(chdir(plots.folder), 0);
}

void plots_teardown(void)
{
    ck_assert_int_eq(system("rm -r -- \"$PWD\"/*"), 0);
    ck_assert_int_eq(chdir(plots.root), 0);
    ck_assert_int_eq(rmdir(plots.folder), 0);
    arena_free(&plots.arena);
}

void plots_write(const char *path, const char *text)
{
    FILE *file = fopen(path, "wb");

    ck_assert_ptr_nonnull(file);
    ck_assert_int_ge(fputs(text, file), 0);
    ck_assert_int_eq(fclose(file), 0);
}

const char *plots_read(const char *path, size_t *length)
{
    FILE *file = fopen(path, "rb");
    char *text;

    ck_assert_msg(file != NULL, "there is no %s", path);
    fseek(file, 0, SEEK_END);
    *length = (size_t)ftell(file);
    rewind(file);
    text = arena_zeroed(&plots.arena, *length + 1, 1);
    ck_assert_uint_eq(fread(text, 1, *length, file), *length);
    fclose(file);
    return text;
}

static int run(char *const *arguments)
{
    static const struct cli_command command = {"plot", "TABLE.csv", 1, 1, "", cmd_plot_options, cmd_plot, NULL};
    char *copy[8];
    struct cli_words words;
    int count = 0, status = EXIT_USAGE;

    for (; arguments[count]; count++)
        copy[count] = arguments[count];
    if (cli_parse(&command, count, copy, &words))
        status = command.run(&words);
    cli_words_fini(&words);
    return status;
}

void plots_has(const char *svg, const char *text)
{
    ck_assert_msg(strstr(svg, arena_format(&plots.arena, "<text>%s</text>", text)) != NULL, "no text %s", text);
}

void plots_lacks(const char *svg, const char *text)
{
    ck_assert_msg(strstr(svg, arena_format(&plots.arena, "<text>%s</text>", text)) == NULL, "a text %s", text);
}

struct plots_spot plots_spot_of(const char *svg, const char *text)
{
    const char *found = strstr(svg, arena_format(&plots.arena, "<text>%s</text>", text)), *above = NULL;
    struct plots_spot spot;

    ck_assert_msg(found != NULL, "no text %s", text);
    for (const char *at = strstr(svg, "translate("); at && at < found; at = strstr(at + 1, "translate("))
        above = at;
    ck_assert_int_eq(sscanf(above, "translate(%lf,%lf)", &spot.x, &spot.y), 2);
    return spot;
}

void plots_line_of(const char *svg, const char *colour, int n, struct plots_line *line)
{
    const char *start = arena_format(&plots.arena, "<path stroke='%s' ", colour), *at = svg, *width = NULL;
    static const char dashes[] = "stroke-dasharray='", place[] = " d='", thick[] = "stroke-width=\"";

    for (int i = 0; i <= n; i++) {
        at = strstr(i ? at + 1 : at, start);
        ck_assert_msg(at != NULL, "no line %d of %s", n, colour);
    }
    for (const char *next = strstr(svg, thick); next && next < at; next = strstr(next + 1, thick))
        width = next;
    line->width = width ? strtod(width + strlen(thick), NULL) : 0;
    at += strlen(start);
    line->dash = strncmp(at, dashes, strlen(dashes)) == 0 ? strtod(at + strlen(dashes), NULL) / line->width : 0;
    at = strstr(at, place) + strlen(place);
    line->count = 0;
    for (int used; sscanf(at, " %*1[ML]%lf,%lf%n", &line->x[line->count], &line->y[line->count], &used) == 2;
         at += used) {
        ck_assert_uint_lt(line->count, PLOTS_POINTS_MOST - 1);
        line->moves[line->count++] = at[strspn(at, " ")] == 'M';
    }
}

int plots_words(char *const *words)
{
    FILE *heard = tmpfile();
    int before = dup(STDERR_FILENO), status;

    fflush(stderr);
    dup2(fileno(heard), STDERR_FILENO);
    status = run(words);
    fflush(stderr);
    dup2(before, STDERR_FILENO);
    close(before);
    rewind(heard);
    plots.said[fread(plots.said, 1, sizeof plots.said - 1, heard)] = '\0';
    fclose(heard);
    return status;
}

int plots_command(const char *line)
{
    char *words[8] = {0}, *text = arena_text(&plots.arena, line);
    size_t count = 0;

    for (char *word = strtok(text, " "); word; word = strtok(NULL, " "))
        words[count++] = word;
    return plots_words(words);
}

size_t plots_files(const char *path)
{
    DIR *entries = opendir(path);
    size_t count = 0;

    ck_assert_msg(entries != NULL, "there is no %s", path);
    for (struct dirent *entry = readdir(entries); entry; entry = readdir(entries))
        count += entry->d_name[0] != '.';
    closedir(entries);
    return count;
}

const char *plots_pictures(const char *base)
{
    size_t length;
    const char *png = plots_read(arena_format(&plots.arena, "%s.png", base), &length), *svg;

    ck_assert_uint_gt(length, 1000);
    ck_assert_mem_eq(png, "\x89PNG\r\n\x1a\n", 8);
    ck_assert_mem_eq(png + length - 8, "IEND\xae\x42\x60\x82", 8);
    svg = plots_read(arena_format(&plots.arena, "%s.svg", base), &length);
    ck_assert_uint_gt(length, 1000);
    ck_assert_int_eq(strncmp(svg, "<?xml", 5), 0);
    ck_assert_ptr_nonnull(strstr(svg, "</svg>"));
    return svg;
}
