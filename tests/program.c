/* program.c - runs weir and keeps what it says. */
#include "tests/program.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { CANNOT_START = 127 };

static const char *named(const char *variable)
{
    const char *value = getenv(variable);
    ck_assert_msg(value != NULL, "%s is not set; the Makefile's check does that", variable);
    return value;
}

static char *text_of(FILE *file)
{
    ck_assert_int_eq(fseek(file, 0, SEEK_END), 0);
    long length = ftell(file);
    ck_assert_int_ge(length, 0);
    rewind(file);
    char *text = calloc((size_t)length + 1, 1);
    ck_assert_ptr_nonnull(text);
    ck_assert_uint_eq(fread(text, 1, (size_t)length, file), (size_t)length);
    fclose(file);
    return text;
}

static void set_variable(const char *assignment)
{
    const char *equals = strchr(assignment, '=');
    char name[64];
    if (equals && snprintf(name, sizeof name, "%.*s", (int)(equals - assignment), assignment) < (int)sizeof name)
        setenv(name, equals + 1, 1);
}

/* As at a terminal: who runs the tests in the background may have left signals ignored. */
static void heed_signals(void)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGPIPE, SIGALRM, SIGXFSZ};
    const struct sigaction usual = {.sa_handler = SIG_DFL};
    sigset_t none;
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        sigaction(signals[i], &usual, NULL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

/* In the child: never returns. */
static _Noreturn void become(const struct program *program, const char *path, const char *const *environment,
                             const char *const *arguments)
{
    char *words[64] = {(char *)path};
    size_t count = 1;
    heed_signals();
    setenv("LC_ALL", "C", 1);
    for (size_t i = 0; environment && environment[i]; i++)
        set_variable(environment[i]);
    for (; *arguments && count + 1 < sizeof words / sizeof *words; arguments++)
        words[count++] = (char *)*arguments;
    if (*arguments || (program->to && !freopen(program->to, "w", stdout)))
        _exit(CANNOT_START);
    if (!program->to && dup2(fileno(program->kept[0]), STDOUT_FILENO) < 0)
        _exit(CANNOT_START);
    if (dup2(fileno(program->kept[1]), STDERR_FILENO) < 0)
        _exit(CANNOT_START);
    execv(path, words);
    _exit(CANNOT_START);
}

void program_start(struct program *program, const char *const *environment, const char *const *arguments)
{
    const char *path = named("WEIR");
    for (int i = 0; i < 2; i++) {
        program->kept[i] = tmpfile();
        ck_assert_ptr_nonnull(program->kept[i]);
    }
    program->pid = fork();
    ck_assert_int_ge(program->pid, 0);
    if (program->pid == 0)
        become(program, path, environment, arguments);
}

void program_interrupt(struct program *program, const char *const *arguments, long delay, const char *words)
{
    for (bool said = false; !said && delay < 60000; delay *= 2) {
        const struct timespec time = {delay / 1000, delay % 1000 * 1000000};
        program_fini(program);
        program_start(program, NULL, arguments);
        nanosleep(&time, NULL);
        ck_assert_int_eq(kill(program->pid, SIGINT), 0);
        program_wait(program);
        said = strstr(program->out, words) || strstr(program->err, words);
    }
}

void program_wait(struct program *program)
{
    int status;
    ck_assert_int_eq(waitpid(program->pid, &status, 0), program->pid);
    program->status = WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
    program->out = text_of(program->kept[0]);
    program->err = text_of(program->kept[1]);
    ck_assert_msg(program->status != CANNOT_START, "cannot start %s", named("WEIR"));
}

void program_fini(struct program *program)
{
    free(program->out);
    free(program->err);
    *program = (struct program){.to = program->to};
}

bool program_full_disk(void)
{
    int disk = open("/dev/full", O_WRONLY);
    bool full = disk >= 0 && write(disk, "x", 1) < 0 && errno == ENOSPC;
    if (disk >= 0)
        close(disk);
    if (!full)
        fprintf(stderr, "skipped: this machine has no /dev/full\n");
    return full;
}

const char *program_taken(struct program *program, struct arena *arena)
{
    ck_assert_msg(program->status == 0, "exit status %d: %.3000s", program->status, program->err);
    const char *rest = program->err;
    while (strncmp(rest, "weir: wrote ", 12) == 0)
        rest += strcspn(rest, "\n") + 1;
    ck_assert_msg(*rest == '\0', "on standard error: %.3000s", program->err);
    const char *out = arena_text(arena, program->out);
    program_fini(program);
    return out;
}

void program_has(const char *text, const char *words)
{
    ck_assert_msg(strstr(text, words) != NULL, "expected `%s` in:\n%.3000s", words, text);
}

void program_lacks(const char *text, const char *words)
{
    ck_assert_msg(strstr(text, words) == NULL, "`%s` is in:\n%.3000s", words, text);
}

void program_same(const char *text, const char *other)
{
    size_t at = 0;
    while (text[at] && text[at] == other[at])
        at++;
    ck_assert_msg(text[at] == other[at], "they part here:\n%.200s\n---\n%.200s", text + at, other + at);
}

char *program_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    return file ? text_of(file) : NULL;
}

int program_count(const char *text, const char *words)
{
    int count = 0;
    size_t length = strlen(words);
    /* Not by strstr: under a sanitizer each call of it reads all of the text that is left. */
    while (*text) {
        bool here = *text == *words && strncmp(text, words, length) == 0;
        count += here;
        text += here ? length : 1;
    }
    return count;
}

const char *program_plugin(const char *name, char *path, size_t size)
{
    ck_assert_int_lt(snprintf(path, size, "%s/%s", named("WEIR_PLUGINS"), name), (int)size);
    return path;
}
