/* weir: picks the command. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include <gsl/gsl_errno.h>

#include "sim/cli/commands.h"
#include "sim/cli/crash.h"
#include "sim/cli/output.h"
#include "sim/cli/session.h"
#include "sim/cli/version.h"
#include "sim/io/diag.h"

static void usage(FILE *out)
{
    fprintf(out, "weir simulates admission control of LLM agents.\n\nusage: weir COMMAND ...\n\n");
    for (const struct cli_command *command = cli_commands; command->name; command++)
        fprintf(out, "  %-8s %-13s %s\n", command->name, command->operands, command->summary);
    fprintf(out, "\n`weir COMMAND --help` says more; `weir help TOPIC` explains a word.\n");
}

static int run_command(const struct cli_command *command, int count, char **arguments)
{
    struct cli_words words;
    int status = EXIT_USAGE;

    if (cli_parse(command, count, arguments, &words)) {
        if (cli_has(&words, "help")) {
            cli_usage(command, true, stdout);
            status = EXIT_DONE;
        } else {
            status = command->run(&words);
        }
    }
    cli_words_fini(&words);
    return status;
}

static int pick_command(int count, char **arguments)
{
    const char *names[16], *nearest;
    size_t known = 0;

    if (count < 2) {
        usage(stderr);
        return EXIT_USAGE;
    }
    if (strcmp(arguments[1], "--help") == 0 || strcmp(arguments[1], "-h") == 0) {
        usage(stdout);
        return EXIT_DONE;
    }
    if (strcmp(arguments[1], "--version") == 0) {
        printf("weir %s\n", WEIR_VERSION);
        return EXIT_DONE;
    }
    for (const struct cli_command *command = cli_commands; command->name; command++) {
        if (strcmp(arguments[1], command->name) == 0)
            return run_command(command, count - 2, arguments + 2);
        names[known++] = command->name;
    }
    nearest = diag_nearest(arguments[1], names, known);
    fprintf(stderr, "weir: there is no command `%s`", arguments[1]);
    cli_suggest(nearest, "`weir --help` lists them");
    return EXIT_USAGE;
}

/* A stream that was closed must not become the next file that is opened, or what is printed goes into that. */
static void keep_streams(void)
{
    for (int stream = 0; stream <= 2; stream++)
        if (fcntl(stream, F_GETFD) == -1 && open("/dev/null", O_RDONLY) == -1)
            return; /* reading only: what is printed is lost, and said so */
}

int main(int count, char **arguments)
{
    int status;

    keep_streams();
    gsl_set_error_handler_off();
    cli_catch_signals();
    cli_catch_crashes();
    status = pick_command(count, arguments);
    return status == EXIT_DONE && !output_flush(stdout, "standard output") ? EXIT_USAGE : status;
}
