/* class_settings.c - a class with its preset: what the scenario says goes before it, key by key. */
#include <string.h>

#include "models/address.h"
#include "models/agent_presets.h"
#include "models/readers.h"

static const struct agent_preset *preset_named(const struct reader *reader, const struct node *asked)
{
    size_t found =
        reader_preset(reader, asked, "preset", "there is no agent preset", &agent_presets->name, sizeof *agent_presets);
    return found != READER_NONE ? &agent_presets[found] : NULL;
}

static bool is_one_of(const char *key, const char *const *keys)
{
    while (*keys && strcmp(*keys, key) != 0)
        keys++;
    return *keys != NULL;
}

/* A schedule says when turns are due and how many there are; recorded sessions say what they send and how many. */
static bool has_room(const struct node *map, const char *key)
{
    static const char *const timed[] = {"turns", "think", NULL};
    static const char *const recorded[] = {"turns",      "input.start",  "input.per_turn",
                                           "input.most", "input.cached", NULL};
    const struct node *input = node_get(map, "input");
    if (node_get(map, "schedule") && is_one_of(key, timed))
        return false;
    return !(input && input->kind == NODE_MAP && node_get(input, "sessions") && is_one_of(key, recorded));
}

/* Below a mapping that the scenario may have begun; what it wrote in another form (layers of a client) stays alone. */
static void put_below(struct node *settings, const char *key, size_t length, struct node *value, struct arena *arena)
{
    const char *name = arena_text_of(arena, key, length);
    const struct node *below = node_get(settings, name);
    struct node *map;
    if (below && below->kind != NODE_MAP)
        return;
    if (below) {
        map = map_copy(below, arena);
    } else {
        map = arena_zeroed(arena, 1, sizeof *map);
        *map = (struct node){.kind = NODE_MAP, .place = value->place};
    }
    if (!node_get(map, key + length + 1))
        node_put(map, key + length + 1, value->place, value, arena);
    node_put(settings, name, map->place, map, arena);
}

struct node *class_settings(const struct reader *reader, const struct node *map)
{
    struct arena *arena = reader->arena;
    struct node *settings = map_copy(map, arena);
    const struct node *asked = node_get(map, "preset");
    if (!asked)
        return settings;
    const struct agent_preset *preset = preset_named(reader, asked);
    if (!preset)
        return NULL;
    struct place place = {.file = arena_format(arena, "preset %s", preset->name)};
    for (const char *const *pair = preset->settings; pair[0]; pair += 2) {
        struct node *value = node_scalar(pair[1], place, arena);
        size_t length = strcspn(pair[0], ".");
        if (!has_room(map, pair[0]))
            continue;
        if (pair[0][length] == '.')
            put_below(settings, pair[0], length, value, arena);
        else if (!node_get(map, pair[0]))
            node_put(settings, pair[0], place, value, arena);
    }
    return settings;
}
