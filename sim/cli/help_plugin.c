/* weir help plugin: from a file in C to a row of the table. */
#include "sim/cli/help_plugin.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "policies/policy.h"
#include "sim/io/mem.h"

#define COMPILER "cc -std=c11 -Wall -Wextra -Wpedantic -O2 -shared -fPIC"
#define PKG_CONFIG(path) "$(PKG_CONFIG_PATH=" path "/lib/pkgconfig pkg-config --cflags weir)"

/* The folder of this program, without the last slash; NULL where the system does not say. */
static char *program_folder(struct arena *arena)
{
    char path[4096];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path);

    while (length > 0 && path[length - 1] != '/')
        length--;
    return length > 0 ? arena_text_of(arena, path, (size_t)length - 1) : NULL;
}

static bool parent(char *folder)
{
    char *slash = strrchr(folder, '/');

    if (slash)
        *slash = '\0';
    return slash != NULL;
}

static bool has(const char *folder, const char *file, struct arena *arena)
{
    return access(arena_format(arena, "%s/%s", folder, file), R_OK) == 0;
}

/* As one word of a shell, which single quotes make of anything but themselves. */
static const char *shell_word(const char *text, struct arena *arena)
{
    char *word = arena_zeroed(arena, 4 * strlen(text) + 3, 1), *end = word;

    if (!strpbrk(text, " \t\n\"'\\$`&|;<>()*?[]{}#~!"))
        return text;
    *end++ = '\'';
    for (; *text; text++) {
        if (*text == '\'')
            end = strcpy(end, "'\\'") + 3;
        *end++ = *text;
    }
    *end = '\'';
    return word;
}

static void print_steps(const char *program, const char *headers)
{
    printf("\nA plug-in is a policy of your own: one file in C with one table of callbacks, compiled to a shared\n"
           "object. weir loads it with --plugin, or with `plugin: ./mine.so` in a scenario, and it needs nothing\n"
           "of weir but policy.h. From nothing to a row of the table:\n\n"
           "  %s new policy mine >mine.c\n"
           "  " COMPILER " %s -o mine.so mine.c\n"
           "  %s check --plugin ./mine.so\n"
           "  %s new card >mine.yaml\n"
           "  %s run mine.yaml --plugin ./mine.so --policy unbounded,mine\n"
           "  %s help mine --plugin ./mine.so\n\n",
           program, headers, program, program, program, program);
}

static void print_sources(const char *contract, const char *skeleton)
{
    printf("The contract (policy ABI %u):     %s\n"
           "Every callback, ready to copy:   %s\n",
           POLICY_ABI, contract, skeleton);
}

void help_plugin(void)
{
    struct arena arena = {0};
    char *folder = program_folder(&arena);
    bool known = folder && parent(folder);

    if (known && has(folder, "include/weir/policies/policy.h", &arena)) {
        print_steps("weir", arena_format(&arena, PKG_CONFIG("%s"), shell_word(folder, &arena)));
        print_sources(arena_format(&arena, "%s/include/weir/policies/policy.h", folder),
                      arena_format(&arena, "%s/share/weir/skeleton.c", folder));
        arena_free(&arena);
        return;
    }
    /* In its source tree the program is in build/VARIANT. */
    while (known && !has(folder, "policies/policy.h", &arena))
        known = parent(folder);
    if (known) {
        print_steps("build/weir", arena_format(&arena, "-I%s", shell_word(folder, &arena)));
        printf("After `make install PREFIX=DIR`: " PKG_CONFIG("DIR") "\n");
        print_sources("policies/policy.h", "policies/skeleton.c");
    } else {
        print_steps("weir", PKG_CONFIG("PREFIX"));
    }
    arena_free(&arena);
}
