/* Crashes. Everything here must be safe in a handler of signals, whatever the program was doing. */
#include "sim/cli/crash.h"

#include <signal.h>
#include <unistd.h>

#include "sim/cli/arguments.h"
#include "sim/engine/where.h"

static const char *signal_words(int signal)
{
    switch (signal) {
    case SIGSEGV:
        return "a wrong address (SIGSEGV)";
    case SIGBUS:
        return "a wrong address (SIGBUS)";
    case SIGFPE:
        return "wrong arithmetic (SIGFPE)";
    default:
        return "a call of abort (SIGABRT)";
    }
}

static void say(const struct sim_words *words)
{
    size_t said = 0;

    while (said < words->length) {
        ssize_t more = write(STDERR_FILENO, words->text + said, words->length - said);

        if (more <= 0)
            return;
        said += (size_t)more;
    }
}

static void on_crash(int signal)
{
    struct sim_record record = sim_record;
    struct sim_words words = {.length = 0};

    sim_words_add(&words, "weir: crash by ");
    sim_words_add(&words, signal_words(signal));
    if (record.callback) {
        sim_words_add(&words, ": ");
        record.describe(&record, &words);
    }
    if (record.where) {
        sim_words_add(&words, ", ");
        sim_words_where(&words, record.where);
    }
    sim_words_add(&words, "\n");
    if (record.where || record.callback)
        say(&words);
    if (record.callback)
        _exit(EXIT_USAGE);
    raise(signal); /* with its default action again, once this handler has returned */
}

void cli_catch_crashes(void)
{
    static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGABRT};
    struct sigaction action = {.sa_handler = on_crash, .sa_flags = (int)SA_RESETHAND};

    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        sigaction(signals[i], &action, NULL);
}
