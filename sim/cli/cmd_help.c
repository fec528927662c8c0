/* weir help: one word explained. */
#include <stdio.h>
#include <string.h>

#include "sim/cli/commands.h"
#include "sim/cli/help_plugin.h"
#include "sim/cli/session.h"
#include "sim/cli/topics.h"

const struct cli_option cmd_help_options[] = {
    CLI_PLUGIN_OPTION,
    {.name = NULL},
};

int cmd_help(const struct cli_words *words)
{
    struct arena arena = {0};
    const struct policy_ops *const *policies = session_policies(words, &arena);
    const char *nearest;
    bool known;

    if (!policies) {
        arena_free(&arena);
        return EXIT_USAGE;
    }

    if (words->count == 0) {
        printf("weir help TOPIC, where TOPIC is one of\n");
        printf("  a command: ");
        for (const struct cli_command *command = cli_commands; command->name; command++)
            printf(" %s", command->name);
        printf("\n  a policy, a metric, a distribution, a key: see `weir list`\n"
               "  a term: agent run turn call attempt gate door hold defer shed knee half-width ...\n");
        arena_free(&arena);
        return EXIT_DONE;
    }
    known = topics_explain(words->operands[0], policies, &arena, &nearest);
    if (strcmp(words->operands[0], "plugin") == 0)
        help_plugin();
    if (!known) {
        fprintf(stderr, "weir help: nothing is known about `%s`", words->operands[0]);
        cli_suggest(nearest, "`weir list` shows what there is");
    }
    arena_free(&arena);
    return known ? EXIT_DONE : EXIT_USAGE;
}
