/* param_command.c - a program and its arguments, from a list of words. No shell will read them: each is one argument,
 * whatever stands in it. */
#include <string.h>

#include "sim/io/param.h"

static bool is_word(const struct node *node)
{
    return node->kind == NODE_SCALAR && node->text[0] != '\0';
}

bool param_set_command(const struct option *option, const char *what, void *values, const struct node *node,
                       struct place place, struct arena *arena, struct diag *diag)
{
    const struct option_command **at = (const struct option_command **)(void *)((char *)values + option->offset);
    const char **words = arena_zeroed(arena, node->count + 1, sizeof *words);
    struct option_command *command = arena_zeroed(arena, 1, sizeof *command);
    const char *slash = place.file ? strrchr(place.file, '/') : NULL;
    if (node->kind != NODE_LIST || node->count == 0) {
        diag_error(diag, place, "%s: %s: expected %s, as in [python3, policy.py], found %s", what, option->key,
                   param_expected(option, &diag->arena),
                   node->kind == NODE_LIST ? "an empty list" : node_kind_name(node));
        return false;
    }
    for (size_t i = 0; i < node->count; i++) {
        const struct node *item = node->items[i];
        if (is_word(item)) {
            words[i] = arena_text(arena, item->text);
            continue;
        }
        diag_error(diag, item->place, "%s: %s: expected a word, found %s", what, option->key,
                   item->kind == NODE_SCALAR ? "an empty one" : node_kind_name(item));
        return false;
    }
    command->folder = slash ? arena_text_of(arena, place.file, (size_t)(slash - place.file) + 1) : NULL;
    command->words = words;
    *at = command;
    return true;
}
