/* weir new: a starter to redirect into a file. */
#include <stdio.h>
#include <string.h>

#include "policies/registry.h"
#include "sim/cli/commands.h"
#include "sim/cli/starters.h"
#include "sim/io/diag.h"
#include "sim/io/quote.h"

#define LOWER "abcdefghijklmnopqrstuvwxyz"
#define UPPER "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define DIGITS "0123456789"

enum { NAME_MOST = 32 };

static const struct starter {
    const char *kind, *usage, *what, *text;
    const char *unnamed;      /* the name it has when none is given; NULL: one must be */
    const char *first, *rest; /* characters of a name */
    const char *expected;     /* the same in words */
} starters[] = {
    {"card", "card [NAME] >mine.yaml", "a scenario: one card, its agents, three policies", starter_card, "card",
     LOWER UPPER, LOWER UPPER DIGITS "_-", "letters, digits, _ and -"},
    {"pool", "pool [NAME] >mine.yaml", "a scenario: a provider's quota, its agents, two policies", starter_pool, "pool",
     LOWER UPPER, LOWER UPPER DIGITS "_-", "letters, digits, _ and -"},
    {"policy", "policy NAME >mine.c", "a policy of your own as a plug-in, in C", starter_policy, NULL, LOWER,
     LOWER DIGITS "_", "lower-case letters, digits and _"},
};
enum { STARTERS = sizeof starters / sizeof *starters };

/* null, true: in a scenario such a name would be something else. */
static bool yaml_takes(const char *name)
{
    struct arena arena = {0};
    bool same = strcmp(quote_yaml(name, &arena), name) == 0;

    arena_free(&arena);
    return same;
}

static bool name_fits(const struct starter *starter, const char *name)
{
    size_t length = strlen(name);

    if (!length || length > NAME_MOST || !strchr(starter->first, name[0]) || strspn(name, starter->rest) != length) {
        fprintf(stderr, "weir new %s: `%s`: expected a name of at most %d %s that begins with a letter\n",
                starter->kind, name, NAME_MOST, starter->expected);
        return false;
    }
    if (!yaml_takes(name)) {
        fprintf(stderr, "weir new %s: `%s` means something else in YAML; expected another name\n", starter->kind, name);
        return false;
    }
    for (size_t i = 0; starter->text == starter_policy && policy_registry[i]; i++) {
        if (strcmp(policy_registry[i]->name, name) == 0) {
            fprintf(stderr, "weir new policy: `%s` is built in; expected another name\n", name);
            return false;
        }
    }
    return true;
}

static int print_starter(const struct starter *starter, const char *name)
{
    if (!name) {
        fprintf(stderr, "weir new %s: expected a name: weir new %s\n", starter->kind, starter->usage);
        return EXIT_USAGE;
    }
    if (!name_fits(starter, name))
        return EXIT_USAGE;
    for (const char *at = starter->text; *at; at++) {
        if (*at == STARTER_NAME)
            fputs(name, stdout);
        else
            putchar(*at);
    }
    return EXIT_DONE;
}

int cmd_new(const struct cli_words *words)
{
    const char *kinds[STARTERS];

    if (words->count == 0) {
        for (size_t i = 0; i < STARTERS; i++)
            printf("weir new %-24s %s\n", starters[i].usage, starters[i].what);
        return EXIT_DONE;
    }
    for (size_t i = 0; i < STARTERS; i++) {
        if (strcmp(words->operands[0], starters[i].kind) == 0)
            return print_starter(&starters[i], words->count > 1 ? words->operands[1] : starters[i].unnamed);
        kinds[i] = starters[i].kind;
    }
    fprintf(stderr, "weir new: there is no starter `%s`", words->operands[0]);
    cli_suggest(diag_nearest(words->operands[0], kinds, STARTERS), "`weir new` lists them");
    return EXIT_USAGE;
}
