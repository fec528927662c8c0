/* node.c - the tree of a scenario file, once it is read. */
#include <string.h>

#include "sim/io/yaml.h"

static struct node_entry *find(const struct node *map, const char *key)
{
    for (size_t i = 0; map->kind == NODE_MAP && i < map->count; i++) {
        if (strcmp(map->entries[i].key, key) == 0)
            return &map->entries[i];
    }
    return NULL;
}

struct node *node_get(const struct node *map, const char *key)
{
    const struct node_entry *entry = find(map, key);
    return entry != NULL ? entry->value : NULL;
}

void node_put(struct node *map, const char *key, struct place key_place, struct node *value, struct arena *arena)
{
    struct node_entry *entry = find(map, key);
    if (entry == NULL) {
        struct node_entry *entries = arena_zeroed(arena, map->count + 1, sizeof *entries);
        if (map->count != 0)
            memcpy(entries, map->entries, map->count * sizeof *entries);
        map->kind = NODE_MAP;
        map->entries = entries;
        entry = &entries[map->count++];
        entry->key = arena_text(arena, key);
    }
    entry->place = key_place;
    entry->value = value;
}

struct node *node_copy(const struct node *node, struct arena *arena)
{
    struct node *copy = arena_zeroed(arena, 1, sizeof *copy);
    *copy = *node;
    if (node->kind == NODE_LIST) {
        copy->items = arena_zeroed(arena, node->count, sizeof(struct node *));
        for (size_t i = 0; i < node->count; i++)
            copy->items[i] = node_copy(node->items[i], arena);
    } else if (node->kind == NODE_MAP) {
        copy->entries = arena_zeroed(arena, node->count, sizeof *copy->entries);
        for (size_t i = 0; i < node->count; i++) {
            copy->entries[i] = node->entries[i];
            copy->entries[i].value = node_copy(node->entries[i].value, arena);
        }
    }
    return copy;
}

struct node *node_scalar(const char *text, struct place place, struct arena *arena)
{
    struct node *node = arena_zeroed(arena, 1, sizeof *node);
    node->kind = NODE_SCALAR;
    node->place = place;
    node->text = arena_text(arena, text);
    return node;
}

const char *node_kind_name(const struct node *node)
{
    switch (node->kind) {
    case NODE_SCALAR:
        return "a value";
    case NODE_LIST:
        return "a list";
    case NODE_MAP:
        return "a mapping";
    case NODE_NULL:
        break;
    }
    return "nothing";
}
