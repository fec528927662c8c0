/* client_read.c - `client:` of a class: a mapping, or a list of them, one for each layer from the innermost out. */
#include <string.h>

#include "models/address.h"
#include "models/client_presets.h"
#include "models/readers.h"
#include "models/tables.h"
#include "sim/io/param.h"

/* A share such as "30 %", at least 0 and at most 1. */
static bool read_share(const char *text, double *share)
{
    struct number number;
    const char *end, *why;
    if (!unit_read(text, &end, &number, &why) || *end || number.quantity != QUANTITY_SHARE || !(number.value <= 1))
        return false;
    *share = number.value;
    return true;
}

static bool read_jitter(const char *text, struct client_layer *layer)
{
    static const char *const words[] = {[JITTER_NONE] = "none", [JITTER_EQUAL] = "equal", [JITTER_FULL] = "full"};
    for (enum jitter_law law = JITTER_NONE; law <= JITTER_FULL; law++)
        if (strcmp(text, words[law]) == 0) {
            layer->jitter = law;
            return true;
        }
    bool less = strncmp(text, "less ", 5) == 0;
    layer->jitter = less ? JITTER_LESS : JITTER_SHARE;
    return read_share(less ? text + 5 : text, &layer->jitter_share);
}

static const struct client_preset *preset_named(const struct reader *reader, const struct node *asked)
{
    size_t found = reader_preset(reader, asked, "client: preset", "client: there is no preset", &client_presets->name,
                                 sizeof *client_presets);
    return found != READER_NONE ? &client_presets[found] : NULL;
}

struct node *layer_settings(const struct reader *reader, const struct node *layer)
{
    struct node *settings = map_copy(layer, reader->arena);
    const struct node *asked = node_get(layer, "preset");
    if (!asked)
        return settings;
    const struct client_preset *preset = preset_named(reader, asked);
    if (!preset)
        return NULL;
    struct place place = {.file = arena_format(reader->arena, "preset %s", preset->name)};
    for (const char *const *pair = preset->settings; pair[0]; pair += 2)
        if (!node_get(layer, pair[0]))
            node_put(settings, pair[0], place, node_scalar(pair[1], place, reader->arena), reader->arena);
    return settings;
}

/* A layer as it is read: its keys, and where each stands. */
struct layer {
    const struct node *map; /* or NULL: there is no `client:` */
    struct client_keys keys;
    struct place places[CLIENT_KEYS];
};

/* A key's place; the layer's where the key is of its preset. */
static struct place place_of(const struct layer *layer, int key)
{
    const struct node *value = node_get(layer->map, client_options[key].key);
    return value ? value->place : layer->map->place;
}

static bool read_layer(const struct reader *reader, const char *what, struct layer *layer, struct client_layer *out)
{
    struct client_keys *keys = &layer->keys;
    param_defaults(client_options, keys, reader->arena);
    if (layer->map) {
        const struct node *settings =
            reader_expects_map(reader, layer->map, what) ? layer_settings(reader, layer->map) : NULL;
        if (!settings ||
            !param_read(client_options, what, keys, settings, NULL, layer->places, reader->arena, reader->diag))
            return false;
    }
    *out = (struct client_layer){.preset = keys->preset,
                                 .backoff = (enum backoff_law)keys->backoff,
                                 .base = keys->base,
                                 .cap = keys->cap,
                                 .retry_after = (enum retry_after_use)keys->retry_after,
                                 .retry_after_most = keys->retry_after_most,
                                 .retry_after_beyond = (enum retry_after_beyond)keys->retry_after_beyond,
                                 .attempts = keys->attempts,
                                 .timeout = keys->timeout,
                                 .quota = (enum retry_quota)keys->quota,
                                 .restarts_run = keys->restarts == RESTARTS_RUN};
    if (read_jitter(keys->jitter, out))
        return true;
    diag_error(reader->diag, layer->places[CLIENT_JITTER],
               "jitter: %s: expected none, equal, full, a percentage such as 30 %%, or less 25 %%", keys->jitter);
    return false;
}

static bool check_innermost(const struct reader *reader, const struct layer *layer, size_t index)
{
    static const int keys[] = {CLIENT_HOLD_CAP, CLIENT_RETRIES, CLIENT_DIES};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (index > 0 && layer->places[keys[i]].file) {
            diag_error(reader->diag, place_of(layer, keys[i]),
                       "%s is of the attempts at the gate: expected it in the first layer, the innermost",
                       client_options[keys[i]].key);
            return false;
        }
    return true;
}

static bool check_restarts(const struct reader *reader, const struct layer *layer, size_t index, size_t count,
                           bool turns)
{
    const char *wrong = NULL;
    if (layer->keys.restarts != RESTARTS_RUN)
        return true;
    if (index + 1 < count)
        wrong = "expected it in the last layer, the outermost";
    else if (count == 1)
        wrong = "expected a list, in which a layer before this one makes the calls, such as {preset: none}";
    else if (!turns)
        wrong = "expected turns in this class, as a run without them has no end or only one call";
    if (wrong)
        diag_error(reader->diag, place_of(layer, CLIENT_RESTARTS), "restarts: run: %s", wrong);
    return !wrong;
}

/* A layer that never gives up keeps those around it from ever trying again, unless one of them cuts it short. */
static bool check_reached(const struct reader *reader, const struct layer *layer, const struct client_layer *own,
                          size_t outer)
{
    bool ends = outer == 0 || own->attempts != INT64_MAX || own->quota != QUOTA_NONE ||
                (own->retry_after != RETRY_AFTER_IGNORE && own->retry_after_beyond == BEYOND_GIVE_UP &&
                 own->retry_after_most != SIM_NEVER);
    for (size_t i = 1; i <= outer && !ends; i++)
        ends = own[i].timeout != SIM_NEVER || own[i].restarts_run;
    if (!ends)
        diag_error(reader->diag, place_of(layer, CLIENT_ATTEMPTS),
                   "attempts: this layer never gives up, so those after it would never try again: expected attempts: N "
                   "here, or a timeout there");
    return ends;
}

bool client_read(const struct reader *reader, const struct node *node, bool turns, struct client *client)
{
    bool list = node && node->kind == NODE_LIST, good = true;
    size_t count = list ? node->count : 1, before = reader->diag->errors;
    if (node && !reader_expects_client(reader, node))
        return false;
    if (count == 0 || count > CLIENT_LAYERS_MOST) {
        diag_error(reader->diag, node->place, "client: expected 1 to %d layers, innermost first, found %zu",
                   CLIENT_LAYERS_MOST, count);
        return false;
    }
    struct layer *layers = arena_zeroed(reader->arena, count, sizeof *layers);
    struct client_layer *out = arena_zeroed(reader->arena, count, sizeof *out);
    for (size_t i = 0; i < count; i++) {
        layers[i].map = list ? node->items[i] : node;
        good &= read_layer(reader, list ? arena_format(reader->arena, "client, layer %zu", i + 1) : "client",
                           &layers[i], &out[i]);
    }
    for (size_t i = 0; i < count && good; i++)
        if (check_innermost(reader, &layers[i], i) && check_restarts(reader, &layers[i], i, count, turns))
            check_reached(reader, &layers[i], &out[i], count - 1 - i);
    *client = (struct client){.layers = out,
                              .layer_count = (uint32_t)count,
                              .hold_cap = layers[0].keys.hold_cap,
                              .bypass = layers[0].keys.retries == RETRIES_BYPASS,
                              .dies = layers[0].keys.dies};
    for (uint32_t i = 0; i < client->layer_count; i++)
        client->quotas = client->quotas || client->layers[i].quota != QUOTA_NONE;
    return reader->diag->errors == before;
}
