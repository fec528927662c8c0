/* shorthand.c - what people write for short, or where it does not belong, and what they meant: a message shows it as it
 * would have to be written. */
#include <string.h>

#include "models/client_presets.h"
#include "models/readers.h"
#include "models/tables.h"
#include "sim/io/param.h"

/* A distribution's measure tells a number that it may have from one that it may not; any other word is none. */
static bool may_be_drawn(const struct expr *expr, const char *measures)
{
    if (!expr || !measures || expr->kind == EXPR_WORD)
        return false;
    bool time = expr->kind == EXPR_NUMBER && expr->number.quantity == QUANTITY_TIME;
    bool count = expr->kind == EXPR_NUMBER &&
                 (expr->number.quantity == QUANTITY_NUMBER || expr->number.quantity == QUANTITY_COUNT);
    return expr->kind == EXPR_CALL || (strcmp(measures, "time") == 0 ? time : count);
}

/* Could the text be a value of the option? Any text could be a name, so names are not asked. */
static bool fits(const struct option *option, const char *text)
{
    struct arena arena = {0};
    struct diag silent = {0};
    bool good = false;
    if (option->type == OPTION_DIST)
        good = may_be_drawn(expr_parse(text, (struct place){0}, &arena, &silent), option->measures);
    else if (option->type != OPTION_TEXT && option->type != OPTION_FILE && option->type != OPTION_COMMAND)
        good = param_value_check(option, "", text, (struct place){0}, &silent);
    diag_fini(&silent);
    arena_free(&arena);
    return good;
}

/* The key that a lone value was meant for: the required one, else the first whose value it could be. */
static const struct option *meant(const struct option *table, const char *text)
{
    const struct option *first = NULL;
    for (; table && table->key; table++) {
        if (!fits(table, text))
            continue;
        if (!table->initial)
            return table;
        first = first ? first : table;
    }
    return first;
}

bool reader_expects_map_of(const struct reader *reader, const struct node *node, const char *what,
                           const struct option *table, const char *example)
{
    const struct option *option = node->kind == NODE_SCALAR ? meant(table, node->text) : NULL;
    const char *inner = option ? arena_format(reader->arena, "%s: %s", option->key, node->text) : example;
    if (!inner || node->kind == NODE_MAP)
        return reader_expects_map(reader, node, what);
    diag_error(reader->diag, node->place, "%s: expected a mapping, such as %s: {%s}, not %s", what, what, inner,
               node_kind_name(node));
    return false;
}

bool reader_expects_client(const struct reader *reader, const struct node *node)
{
    const char *preset = "anthropic";
    if (node->kind == NODE_MAP || node->kind == NODE_LIST)
        return true;
    for (const struct client_preset *row = client_presets; row->name; row++)
        if (node->kind == NODE_SCALAR && strcmp(row->name, node->text) == 0)
            preset = row->name;
    diag_error(reader->diag, node->place,
               "client: expected a mapping, such as client: {preset: %s}, or a list of them, innermost first, not %s",
               preset, node_kind_name(node));
    return false;
}

/* Is the text a range, good or bad? */
static bool is_range(const char *text, struct place place)
{
    struct arena arena = {0};
    struct diag silent = {0};
    size_t count;
    bool range = expr_range(text, place, &count, &arena, &silent) != NULL || silent.errors > 0;
    diag_fini(&silent);
    arena_free(&arena);
    return range;
}

static bool ranges_below(const struct reader *reader, const struct node *node, const char *address)
{
    bool good = true;
    for (size_t i = 0; i < node->count && node->kind == NODE_MAP; i++)
        good &= ranges_below(reader, node->entries[i].value,
                             arena_format(reader->arena, "%s.%s", address, node->entries[i].key));
    for (size_t i = 0; i < node->count && node->kind == NODE_LIST; i++)
        good &= ranges_below(reader, node->items[i], arena_format(reader->arena, "%s.%zu", address, i));
    if (node->kind != NODE_SCALAR || !is_range(node->text, node->place))
        return good;
    diag_error(reader->diag, node->place, "%s is a range: expected one value here, and sweep: {%s: %s} for all of them",
               node->text, address, node->text);
    return false;
}

bool ranges_check(const struct reader *reader, const struct node *root)
{
    static const char *const parts[] = {"study", "backends", "agents"};
    bool good = true;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        const struct node *part = node_get(root, parts[i]);
        good &= !part || ranges_below(reader, part, parts[i]);
    }
    return good;
}
