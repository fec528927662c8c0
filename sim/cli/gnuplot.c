/* gnuplot.c - finds the scripts, starts gnuplot and looks at what it drew.
 *
 * gnuplot executes what stands between backquotes in double quotes, expands @words, and loses count of a quote that is
 * doubled at the start of single quotes. So no text is quoted: each byte but letters and blanks is an octal escape, and
 * its parser never sees a character of a user's that means anything. Names of files are made absolute, as one that
 * began with | or < would be a command. It is started without a shell, without the user's start-up file, and reads from
 * a file that has no name. It ends with 0 where it drew nothing or the disk was full, hence the look at the end of each
 * picture. */
#include "sim/cli/gnuplot.h"

#include <errno.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/cli/arguments.h"
#include "sim/cli/figure_script.h"
#include "sim/cli/output.h"
#include "sim/io/quote.h"

extern char **environ;

enum { PATH_MOST = 4096, MESSAGE_MOST = 2000 };

struct picture {
    const char *format; /* also the end of its name */
    const char *last;   /* what a whole file ends with */
    struct output output;
};

static const char *absolute(const char *path, struct arena *arena)
{
    char folder[PATH_MOST];

    if (path[0] == '/' || !getcwd(folder, sizeof folder))
        return path;
    return arena_format(arena, "%s/%s", folder, path);
}

/* The folder of the running program, or NULL. */
static const char *program_folder(struct arena *arena)
{
    char path[PATH_MOST];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path);

    while (length > 0 && length < PATH_MOST && path[length - 1] != '/')
        length--;
    return length > 1 && length < PATH_MOST ? arena_text_of(arena, path, (size_t)length - 1) : NULL;
}

/* The folder of the scripts: as told, as installed, or in the source tree above build/weir and build/VARIANT/weir. NULL
 * after a message. */
static const char *find_scripts(struct arena *arena)
{
    static const char *const beside[] = {"../share/weir/plots", "../plots", "../../plots"};
    const char *told = getenv("WEIR_PLOTS"), *program = program_folder(arena);
    const char *looked = "";

    for (size_t i = 0; i <= sizeof beside / sizeof beside[0]; i++) {
        const char *folder = told;

        if (i > 0)
            folder = program ? arena_format(arena, "%s/%s", program, beside[i - 1]) : NULL;
        if (!folder)
            continue;
        folder = absolute(folder, arena);
        if (access(arena_format(arena, "%s/style.gp", folder), R_OK) == 0)
            return folder;
        looked = arena_format(arena, "%s\n  %s", looked, quote_terminal(folder, arena));
    }
    fprintf(stderr, "weir: cannot draw: style.gp, curves.gp and bars.gp are in none of these folders:%s\n%s\n", looked,
            told ? "WEIR_PLOTS names the first." : "Set WEIR_PLOTS to the folder that has them.");
    return NULL;
}

/* gnuplot's exit status as of waitpid, or -1 after a message. */
static int run_gnuplot(FILE *script, FILE *messages)
{
    char name[] = "gnuplot", defaults[] = "-d", from_input[] = "-";
    char *const words[] = {name, defaults, from_input, NULL};
    posix_spawn_file_actions_t actions;
    int status = 0, failure;
    pid_t child;

    if (posix_spawn_file_actions_init(&actions) != 0 ||
        posix_spawn_file_actions_adddup2(&actions, fileno(script), STDIN_FILENO) != 0 ||
        posix_spawn_file_actions_adddup2(&actions, fileno(messages), STDOUT_FILENO) != 0 ||
        posix_spawn_file_actions_adddup2(&actions, fileno(messages), STDERR_FILENO) != 0)
        mem_exhausted();
    failure = posix_spawnp(&child, name, &actions, NULL, words, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (failure == ENOENT)
        fprintf(stderr, "weir: cannot draw: there is no gnuplot here; install it (Debian: gnuplot-nox)\n");
    else if (failure != 0)
        fprintf(stderr, "weir: cannot start gnuplot: %s\n", strerror(failure));
    if (failure != 0)
        return -1;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        continue;
    return status;
}

/* Does the file end with this text, line ends aside? */
static bool is_whole(const char *path, const char *last)
{
    char tail[64];
    size_t length = 0, wanted = strlen(last);
    FILE *file = fopen(path, "rb");

    if (!file)
        return false;
    if (fseek(file, -(long)sizeof tail, SEEK_END) == 0)
        length = fread(tail, 1, sizeof tail, file);
    fclose(file);
    while (length > 0 && tail[length - 1] == '\n')
        length--;
    return length >= wanted && memcmp(tail + length - wanted, last, wanted) == 0;
}

static void pass_on(FILE *messages, const char *base, struct arena *arena)
{
    char text[MESSAGE_MOST];
    size_t length;

    rewind(messages);
    length = fread(text, 1, sizeof text - 1, messages);
    text[length] = '\0';
    fprintf(stderr, "weir: gnuplot did not draw `%s`%s\n", quote_terminal(base, arena), length ? "; it says:" : "");
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
        fprintf(stderr, "  %s\n", quote_terminal(line, arena));
}

static int draw(const struct figure *figure, const char *base, const char *scripts, struct picture *pictures,
                size_t count, struct arena *arena)
{
    FILE *script = tmpfile(), *messages = tmpfile();
    int status = EXIT_USAGE, ended;
    bool good;

    good = script && messages;
    if (good) {
        for (size_t i = 0; i < count; i++)
            figure_script(figure, scripts, pictures[i].format, absolute(pictures[i].output.temporary, arena), script,
                          arena);
        good = fflush(script) == 0 && fseek(script, 0, SEEK_SET) == 0;
    }
    if (!good) {
        fprintf(stderr, "weir: cannot write a script for gnuplot: %s\n", strerror(errno));
    } else if ((ended = run_gnuplot(script, messages)) >= 0) {
        good = ended == 0;
        for (size_t i = 0; i < count; i++)
            good = good && is_whole(pictures[i].output.temporary, pictures[i].last);
        status = good ? EXIT_DONE : EXIT_FAULT;
        if (!good)
            pass_on(messages, base, arena);
    }
    if (script)
        fclose(script);
    if (messages)
        fclose(messages);
    return status;
}

/* All or none. */
static int open_pictures(const char *base, struct picture *pictures, size_t count, struct arena *arena)
{
    for (size_t i = 0; i < count; i++) {
        const char *path = arena_format(arena, "%s.%s", base, pictures[i].format);
        bool opened = output_open(&pictures[i].output, path);

        if (opened && pictures[i].output.temporary)
            continue;
        if (opened) {
            fprintf(stderr, "weir: cannot draw `%s`: expected the name of a file\n", quote_terminal(path, arena));
            output_discard(&pictures[i].output);
        }
        while (i-- > 0)
            output_discard(&pictures[i].output);
        return EXIT_USAGE;
    }
    return EXIT_DONE;
}

int gnuplot_draw(const struct figure *figure, const char *base)
{
    struct picture pictures[] = {
        {.format = "svg", .last = "</svg>"},
        {.format = "png", .last = "IEND\xae\x42\x60\x82"},
    };
    size_t count = sizeof pictures / sizeof pictures[0];
    struct arena arena = {0};
    const char *scripts = find_scripts(&arena);
    int status = scripts ? open_pictures(base, pictures, count, &arena) : EXIT_USAGE;

    if (status == EXIT_DONE) {
        status = draw(figure, base, scripts, pictures, count, &arena);
        for (size_t i = 0; i < count; i++) {
            if (status != EXIT_DONE)
                output_discard(&pictures[i].output);
            else if (!output_close(&pictures[i].output))
                status = EXIT_USAGE;
        }
    }
    arena_free(&arena);
    return status;
}
