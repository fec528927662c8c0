/* process.c - a pair of sockets rather than pipes: writing to a program that has gone is an error then and no signal,
 * and a socket gives up a wait by itself, so that a question costs one call to send and one to receive. The program
 * leads a group of its own: Ctrl-C on a terminal is ours to answer, and what it has started ends with it. */
#include "sim/io/process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SECOND INT64_C(1000000000)
#define GRACE SECOND /* to end by itself */

enum { FILES = 1024, LINE_SHOWN = 130, ANSWER_SHOWN = 80 };

static bool wrong(struct process *process, const char *format, ...) __attribute__((format(printf, 2, 3)));

static bool wrong(struct process *process, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(process->wrong, sizeof process->wrong, format, arguments);
    va_end(arguments);
    return false;
}

void process_quote(char *quote, size_t size, const char *line, size_t length)
{
    size_t shown = length < size ? length : size - 4;
    for (size_t i = 0; i < shown; i++)
        quote[i] = line[i] >= ' ' && line[i] <= '~' ? line[i] : '?';
    memcpy(quote + shown, "...", length < size ? 0 : 3);
    quote[shown + (length < size ? 0 : 3)] = '\0';
}

static int64_t real_time(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * SECOND + now.tv_nsec;
}

/* --- starting -----------------------------------------------------------------------------------------------------
 */

/* In the child, between fork and exec, so nothing here allocates. What stdio opened of ours closes as the program
 * begins, and so does `report`, which hears of nothing but a failure. */
static _Noreturn void become(int socket, int report, const char *folder, const char *const *words)
{
    sigset_t none;
    sigemptyset(&none);
    setpgid(0, 0);
    for (int file = 3; file < FILES; file++)
        fcntl(file, F_SETFD, FD_CLOEXEC);
    if (sigprocmask(SIG_SETMASK, &none, NULL) == 0 && signal(SIGPIPE, SIG_DFL) != SIG_ERR &&
        dup2(socket, STDIN_FILENO) >= 0 && dup2(socket, STDOUT_FILENO) >= 0 && (!folder || chdir(folder) == 0))
        execvp(words[0], (char *const *)words);
    int failure = errno;
    ssize_t told = write(report, &failure, sizeof failure);
    _exit(told == (ssize_t)sizeof failure ? 127 : 126);
}

/* Above the standard files, which the child replaces one after the other. */
static bool make_pair(int pair[2])
{
    int low[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, low) != 0)
        return false;
    for (int i = 0; i < 2; i++) {
        pair[i] = fcntl(low[i], F_DUPFD, 3);
        close(low[i]);
        if (pair[i] >= 0)
            fcntl(pair[i], F_SETFD, FD_CLOEXEC);
    }
    if (pair[0] >= 0 && pair[1] >= 0)
        return true;
    close(pair[0] >= 0 ? pair[0] : pair[1]);
    return false;
}

static int wait_for(struct process *process)
{
    int status = 0;
    while (waitpid(process->pid, &status, 0) < 0 && errno == EINTR)
        continue;
    process->pid = 0;
    return status;
}

/* The child's error, or 0: the program runs. */
static int hear_of_start(int report)
{
    int failure = 0;
    ssize_t length;
    do
        length = read(report, &failure, sizeof failure);
    while (length < 0 && errno == EINTR);
    return length == (ssize_t)sizeof failure ? failure : 0;
}

/* 0, or an errno; then there is no child, and the pairs are the caller's still. */
static int fork_program(struct process *process, int talk[2], int report[2], const char *folder,
                        const char *const *words)
{
    int failure;
    process->pid = fork();
    if (process->pid < 0) {
        failure = errno;
        process->pid = 0;
        return failure;
    }
    if (process->pid == 0)
        become(talk[1], report[1], folder, words);
    setpgid(process->pid, process->pid); /* here too, as nobody knows which of the two comes first */
    close(report[1]);
    report[1] = -1;
    failure = hear_of_start(report[0]);
    if (failure != 0)
        wait_for(process);
    return failure;
}

static void limit_waits(const struct process *process)
{
    const struct timeval limit = {.tv_sec = (time_t)(process->patience / SECOND),
                                  .tv_usec = (suseconds_t)(process->patience % SECOND / 1000)};
    setsockopt(process->socket, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    setsockopt(process->socket, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
}

bool process_start(struct process *process, const char *folder, const char *const *words, int64_t patience)
{
    int talk[2] = {-1, -1}, report[2] = {-1, -1}, failure = 0;
    char name[ANSWER_SHOWN], where[ANSWER_SHOWN];
    process->pid = 0;
    process->patience = patience;
    if (!make_pair(talk) || !make_pair(report))
        failure = errno;
    else
        failure = fork_program(process, talk, report, folder, words);
    for (int i = 0; i < 2; i++) {
        if (report[i] >= 0)
            close(report[i]);
        if (talk[i] >= 0 && (i == 1 || failure != 0))
            close(talk[i]);
    }
    if (failure == 0) {
        process->socket = talk[0];
        limit_waits(process);
        return true;
    }
    process_quote(name, sizeof name, words[0], strlen(words[0]));
    process_quote(where, sizeof where, folder ? folder : ".", strlen(folder ? folder : "."));
    return wrong(process, "`%s` cannot be started in folder `%s`: %s", name, where, strerror(failure));
}

/* --- ending -------------------------------------------------------------------------------------------------------
 */

/* Its exit status as of waitpid. Its group goes first, while its number is nobody else's. */
static int end_now(struct process *process)
{
    close(process->socket);
    kill(-process->pid, SIGKILL);
    return wait_for(process);
}

/* Something to read, or to write, before that time? */
static bool ready(const struct process *process, short what, int64_t until)
{
    for (;;) {
        struct pollfd one = {.fd = process->socket, .events = what};
        int64_t left = until - real_time();
        int count = left > 0 ? poll(&one, 1, (int)(left / 1000000 + 1)) : 0;
        if (count >= 0 || errno != EINTR)
            return count > 0;
    }
}

bool process_end(struct process *process)
{
    int64_t until = real_time() + GRACE;
    ssize_t got = 0;
    if (process->pid == 0)
        return true;
    shutdown(process->socket, SHUT_WR);
    if (ready(process, POLLIN, until))
        got = recv(process->socket, process->answer, sizeof process->answer, 0);
    end_now(process);
    if (got <= 0)
        return true;
    char more[ANSWER_SHOWN];
    process_quote(more, sizeof more, process->answer, strcspn(process->answer, "\n"));
    return wrong(process, "said more than it was asked: `%s`", more);
}

/* --- asking -------------------------------------------------------------------------------------------------------
 */

/* The answer does not come, and errno says why. */
static const char *owes(struct process *process, const char *line)
{
    bool late = errno == EAGAIN || errno == EWOULDBLOCK;
    char shown[LINE_SHOWN];
    int status = end_now(process);
    process_quote(shown, sizeof shown, line, strlen(line));
    if (late)
        wrong(process, "did not answer within %g s of real time (does it flush its output?) to `%s`",
              (double)process->patience / (double)SECOND, shown);
    else if (WIFEXITED(status))
        wrong(process, "ended with status %d in place of an answer to `%s`", WEXITSTATUS(status), shown);
    else if (WTERMSIG(status) == SIGKILL)
        wrong(process, "closed its output or was killed, in place of an answer to `%s`", shown);
    else
        wrong(process, "was ended by signal %d in place of an answer to `%s`", WTERMSIG(status), shown);
    return NULL;
}

static bool send_line(struct process *process, const char *line, int64_t until)
{
    char text[PROCESS_ANSWER];
    size_t length = strlen(line), sent = 0;
    errno = EMSGSIZE;
    if (length >= sizeof text)
        return false;
    memcpy(text, line, length);
    text[length++] = '\n';
    for (;;) {
        ssize_t more = send(process->socket, text + sent, length - sent, MSG_NOSIGNAL);
        if (more < 0 && errno != EINTR)
            return false;
        sent += more > 0 ? (size_t)more : 0;
        if (sent == length)
            return true;
        errno = EAGAIN;
        if (!ready(process, POLLOUT, until))
            return false;
    }
}

/* Reads up to an end of line, or as much as fits; 0: failed. */
static size_t hear(struct process *process, int64_t until)
{
    size_t length = 0;
    for (;;) {
        char *end = process->answer + length;
        ssize_t more = recv(process->socket, end, sizeof process->answer - length, 0);
        if (more == 0)
            errno = EPIPE;
        if (more == 0 || (more < 0 && errno != EINTR))
            return 0;
        length += more > 0 ? (size_t)more : 0;
        if (length == sizeof process->answer || (more > 0 && memchr(end, '\n', (size_t)more)))
            return length;
        errno = EAGAIN;
        if (!ready(process, POLLIN, until))
            return 0;
    }
}

const char *process_ask(struct process *process, const char *line)
{
    int64_t until = real_time() + process->patience;
    size_t length = send_line(process, line, until) ? hear(process, until) : 0;
    char shown[LINE_SHOWN], answer[ANSWER_SHOWN];
    char *end;
    if (length == 0)
        return owes(process, line);
    end = memchr(process->answer, '\n', length);
    if (end && end + 1 == process->answer + length) {
        *end = '\0';
        return process->answer;
    }
    end_now(process);
    process_quote(shown, sizeof shown, line, strlen(line));
    process_quote(answer, sizeof answer, process->answer, end ? (size_t)(end - process->answer) : length);
    if (end)
        wrong(process, "answered more than one line, `%s`, to `%s`", answer, shown);
    else
        wrong(process, "answered %d bytes without an end of line, `%s`, to `%s`", PROCESS_ANSWER, answer, shown);
    return NULL;
}
