/* effective.c - the effective scenario: defaults and presets filled in from the tables that the readers use, and
 * printed as YAML with where each value came from. */
#include <string.h>

#include "models/address.h"
#include "models/describe.h"
#include "models/discover.h"
#include "models/readers.h"
#include "models/regress.h"
#include "models/size.h"
#include "models/tables.h"
#include "sim/io/quote.h"

/* Appends the defaults of what a mapping leaves out; `but` is a key that does not go with what is there, or NULL. */
static struct node *with_defaults(const struct node *map, const struct option *table, const char *but,
                                  struct arena *arena)
{
    const struct place nowhere = {0};
    struct node *full = map_copy(map, arena);
    for (const struct option *option = table; option && option->key; option++) {
        bool has_default = option->initial && option->initial[0];
        if (has_default && !node_get(map, option->key) && !(but && strcmp(but, option->key) == 0))
            node_put(full, option->key, nowhere, node_scalar(option->initial, nowhere, arena), arena);
    }
    return full;
}

static struct node *effective_study(const struct node *study, struct arena *arena)
{
    const struct node empty = {.kind = NODE_MAP};
    study = study ? study : &empty; /* all that it must say may be swept */
    const struct node *until = node_get(study, "until");
    bool done = until && until->kind == NODE_SCALAR && strcmp(until->text, "done") == 0;
    return with_defaults(study, study_options, done ? "warmup" : "most", arena);
}

static bool names_below(const struct node *map, const char *address)
{
    size_t length = strlen(address);
    for (size_t i = 0; map && map->kind == NODE_MAP && i < map->count; i++) {
        const char *key = map->entries[i].key;
        if (strncmp(key, address, length) == 0 && (key[length] == '.' || key[length] == '\0'))
            return true;
    }
    return false;
}

/* Whether a key, or one below it, is a factor. What it is each point says, and what else it makes necessary too. */
static bool is_swept(const struct node *sweep, const char *address)
{
    const struct node *zip = sweep ? node_get(sweep, "zip") : NULL;
    for (size_t i = 0; zip && zip->kind == NODE_LIST && i < zip->count; i++)
        if (names_below(zip->items[i], address))
            return true;
    return names_below(sweep, address);
}

/* The defaults of a mapping below `map`, where there is one. */
static void put_defaults(struct node *map, const char *key, const struct option *table, struct arena *arena)
{
    const struct node *below = node_get(map, key);
    if (below)
        node_put(map, key, below->place, with_defaults(below, table, NULL, arena), arena);
}

static struct node *effective_meter(const struct node *meter, enum meter_kind kind, struct arena *arena)
{
    struct node *full = with_defaults(meter, meter_options, NULL, arena);
    for (int row = 0; row < METER_KEYS; row++)
        if (!meter_takes(kind, row))
            full = map_without(full, meter_options[row].key, arena);
    return full;
}

/* Meters that are swept stay as they were written, without what the preset says of them. */
static struct node *effective_meters(const struct node *meters, const struct node *written, const struct node *sweep,
                                     const char *address, struct arena *arena)
{
    struct node *full = map_copy(meters, arena);
    full->count = 0;
    for (size_t i = 0; i < meters->count; i++) {
        struct node_entry entry = meters->entries[i];
        struct node *own = written ? node_get(written, entry.key) : NULL;
        bool swept = is_swept(sweep, arena_format(arena, "%s.%s", address, entry.key));
        entry.value = swept ? own : effective_meter(entry.value, meter_named(entry.key), arena);
        if (entry.value)
            full->entries[full->count++] = entry;
    }
    return full;
}

static struct node *effective_provider(const struct reader *reader, const struct node *map, const struct node *sweep,
                                       const char *address)
{
    struct arena *arena = reader->arena;
    if (is_swept(sweep, arena_format(arena, "%s.preset", address)))
        return map_copy(map, arena);
    struct node *full = with_defaults(provider_settings(reader, map), provider_options, NULL, arena);
    const struct node *meters = node_get(full, "meters");
    if (meters)
        node_put(
            full, "meters", meters->place,
            effective_meters(meters, node_get(map, "meters"), sweep, arena_format(arena, "%s.meters", address), arena),
            arena);
    put_defaults(full, "latency", latency_options, arena);
    put_defaults(full, "strangers", strangers_options, arena);
    put_defaults(full, "simultaneous", simultaneous_options, arena);
    put_defaults(full, "acceleration", acceleration_options, arena);
    return full;
}

static struct node *effective_backends(const struct reader *reader, const struct node *backends,
                                       const struct node *sweep)
{
    struct arena *arena = reader->arena;
    struct node *full = map_copy(backends, arena);
    for (size_t i = 0; i < full->count; i++) {
        const struct node_entry *entry = &full->entries[i];
        const char *address = arena_format(arena, "backends.%s", entry->key);
        int kind = is_swept(sweep, arena_format(arena, "%s.kind", address)) ? -1 : backend_kind(entry->value);
        struct node *backend = map_copy(entry->value, arena);
        if (kind == KIND_PROVIDER)
            backend = effective_provider(reader, entry->value, sweep, address);
        else if (kind == KIND_SLOTS)
            backend = with_defaults(entry->value, slots_options, NULL, arena);
        if (kind == KIND_SLOTS)
            put_defaults(backend, "step_time", step_options, arena);
        if (kind == KIND_SLOTS)
            put_defaults(backend, "cards", cards_options, arena);
        node_put(full, entry->key, entry->place, backend, arena);
    }
    return full;
}

static struct node *effective_prices(const struct node *prices, struct arena *arena)
{
    struct node *full = prices ? map_copy(prices, arena) : NULL;
    for (size_t i = 0; full && i < full->count; i++)
        full->entries[i].value = with_defaults(full->entries[i].value, price_options, NULL, arena);
    return full;
}

/* A layer with its preset and defaults; some keys are of the innermost alone. */
static struct node *effective_layer(const struct reader *reader, const struct node *layer, bool innermost)
{
    struct node *full = with_defaults(layer_settings(reader, layer), client_options, NULL, reader->arena);
    if (innermost)
        return full;
    full = map_without(full, client_options[CLIENT_HOLD_CAP].key, reader->arena);
    full = map_without(full, client_options[CLIENT_DIES].key, reader->arena);
    return map_without(full, client_options[CLIENT_RETRIES].key, reader->arena);
}

static struct node *effective_client(const struct reader *reader, const struct node *client)
{
    const struct node empty = {.kind = NODE_MAP};
    if (!client || client->kind != NODE_LIST)
        return effective_layer(reader, client ? client : &empty, true);
    struct node *full = node_copy(client, reader->arena);
    for (size_t i = 0; i < full->count; i++)
        full->items[i] = effective_layer(reader, client->items[i], i == 0);
    return full;
}

/* Whether each point says what the class takes from its preset, and with it what is left to the defaults. */
static bool preset_is_swept(const struct reader *reader, const struct node_entry *class, const struct node *sweep)
{
    static const char *const deciding[] = {"preset", "schedule", "input.sessions"};
    size_t asked = node_get(class->value, "preset") ? sizeof deciding / sizeof *deciding : 1;
    for (size_t i = 0; i < asked; i++)
        if (is_swept(sweep, arena_format(reader->arena, "agents.%s.%s", class->key, deciding[i])))
            return true;
    return false;
}

static struct node *effective_class(const struct reader *reader, const struct node *map, const struct node *backends,
                                    bool open)
{
    const struct place nowhere = {0};
    struct arena *arena = reader->arena;
    const struct node *said = open ? map : class_settings(reader, map);
    const char *but = node_get(said, "schedule") ? "runs" : NULL;
    struct node *class = with_defaults(said, class_options, but, arena);
    if (!node_get(class, "backend") && backends->count == 1)
        node_put(class, "backend", nowhere, node_scalar(backends->entries[0].key, nowhere, arena), arena);
    put_defaults(class, "replay", replay_options, arena);
    put_defaults(class, "schedule", schedule_options, arena);
    put_defaults(class, "deadline", deadline_options, arena);
    put_defaults(class, "fan_out", fan_out_options, arena);
    if (open)
        return class;
    put_defaults(class, "input", input_options, arena);
    const struct node *client = node_get(class, "client");
    node_put(class, "client", client ? client->place : nowhere, effective_client(reader, client), arena);
    return class;
}

static struct node *effective_agents(const struct reader *reader, const struct node *agents,
                                     const struct node *backends, const struct node *sweep)
{
    struct node *full = map_copy(agents, reader->arena);
    for (size_t i = 0; i < full->count; i++) {
        const struct node_entry *entry = &full->entries[i];
        bool open = preset_is_swept(reader, entry, sweep);
        node_put(full, entry->key, entry->place, effective_class(reader, entry->value, backends, open), reader->arena);
    }
    return full;
}

static struct node *effective_member(const struct reader *reader, const struct node *member)
{
    const struct policy_ops *ops = policy_named(reader->policies, member_policy(member));
    struct node *settings = member_settings(reader, ops, member->entries->value);
    settings = with_defaults(settings, ops->params, NULL, reader->arena);
    struct node *copy = map_copy(member, reader->arena);
    copy->entries->value = with_defaults(settings, host_options, NULL, reader->arena);
    return copy;
}

static struct node *effective_policies(const struct reader *reader, const struct node *policies)
{
    struct node *full = node_copy(policies, reader->arena);
    for (size_t i = 0; i < full->count; i++) {
        struct node *item = full->items[i], *chain = item->entries->value;
        if (chain->kind == NODE_MAP)
            full->items[i] = effective_member(reader, item);
        for (size_t j = 0; chain->kind == NODE_LIST && j < chain->count; j++)
            chain->items[j] = effective_member(reader, chain->items[j]);
    }
    return full;
}

struct node *describe_effective(const struct plan *plan, struct arena *arena)
{
    const struct place nowhere = {0};
    struct diag none = {0}; /* what is wrong was said when the plan was read */
    struct reader reader = {.arena = arena, .diag = &none, .policies = plan->policies, .document = plan->root};
    const struct node *root = plan->root, *title = node_get(root, "title"), *backends = node_get(root, "backends");
    struct node *full = arena_zeroed(arena, 1, sizeof *full);
    *full = (struct node){.kind = NODE_MAP, .place = root->place};
    const struct node *record = node_get(root, "record"), *discover = node_get(root, "discover");
    const struct node *precision = node_get(root, "precision"), *size = node_get(root, "size");
    const struct node *tornado = node_get(root, "tornado");
    const struct node *regress = node_get(root, "regress");
    const struct node *study = node_get(root, "study"), *agents = node_get(root, "agents");
    struct node *parts[] = {
        title ? node_copy(title, arena) : node_scalar(plan->title, nowhere, arena),
        study || agents ? effective_study(study, arena) : NULL, /* else pools alone */
        effective_backends(&reader, backends, node_get(root, "sweep")),
        effective_prices(node_get(root, "prices"), arena),
        agents ? effective_agents(&reader, agents, backends, node_get(root, "sweep")) : NULL,
        effective_policies(&reader, node_get(root, "policies")),
        node_get(root, "sweep"),
        node_get(root, "notes"),
        node_get(root, "plugin"),
        record ? with_defaults(record, record_options, NULL, arena) : NULL,
        discover ? with_defaults(discover, discover_options, NULL, arena) : NULL,
        node_get(root, "seeds"),
        node_get(root, "changes"),
        NULL, /* include: it is all here */
        node_get(root, "alerts"),
        precision ? with_defaults(precision, precision_options, NULL, arena) : NULL,
        size ? with_defaults(size, size_options, NULL, arena) : NULL,
        tornado ? with_defaults(tornado, tornado_options, NULL, arena) : NULL,
        regress ? with_defaults(regress, regress_options, NULL, arena) : NULL,
    };
    for (size_t i = 0; scenario_keys[i]; i++)
        if (parts[i])
            node_put(full, scenario_keys[i], parts[i]->place, parts[i], arena);
    diag_fini(&none);
    return full;
}

struct printer {
    FILE *out;
    struct arena arena;
};

/* Texts that mean the same with and without quotes, wherever they stand: they are left as people write them. */
static bool is_plain(const char *text)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
    static const char inside[] = "_./%()|+-= ";
    if (!text[0] || !strchr(letters, text[0]) || text[strlen(text) - 1] == ' ' || strcmp(text, "null") == 0 ||
        strcmp(text, "Null") == 0 || strcmp(text, "NULL") == 0)
        return false;
    while (*text && (strchr(letters, *text) || strchr(inside, *text)))
        text++;
    return *text == '\0';
}

static const char *scalar(struct printer *printer, const char *text)
{
    return is_plain(text) ? text : quote_yaml(text, &printer->arena);
}

/* Where a value came from, and the end of its line. */
static void print_origin(struct printer *printer, struct place place, int width)
{
    static const char set[] = "--set";
    const char *slash = place.file ? strrchr(place.file, '/') : NULL;
    fprintf(printer->out, "%*s# ", width < 58 ? 58 - width : 1, "");
    if (!place.file)
        fputs("default\n", printer->out);
    else if (strncmp(place.file, set, strlen(set)) == 0)
        fprintf(printer->out, "%s\n", set);
    else if (place.line > 0)
        fprintf(printer->out, "%s:%d\n", quote_terminal(slash ? slash + 1 : place.file, &printer->arena), place.line);
    else
        fprintf(printer->out, "%s\n", quote_terminal(place.file, &printer->arena));
}

static bool fits_a_line(const struct node *list)
{
    size_t length = 0;
    for (size_t i = 0; i < list->count; i++) {
        if (list->items[i]->kind != NODE_SCALAR || !is_plain(list->items[i]->text))
            return false;
        length += strlen(list->items[i]->text) + 2;
    }
    return length < 90;
}

static void print_node(struct printer *printer, const struct node *node, int indent, int width);

/* `begun`: the first key follows a dash on its line. */
static void print_map(struct printer *printer, const struct node *map, int indent, bool begun)
{
    for (size_t i = 0; i < map->count; i++) {
        const char *key = scalar(printer, map->entries[i].key);
        fprintf(printer->out, "%*s%s:", begun && i == 0 ? 0 : indent, "", key);
        print_node(printer, map->entries[i].value, indent, indent + (int)strlen(key) + 1);
    }
}

static void print_list(struct printer *printer, const struct node *list, int indent)
{
    for (size_t i = 0; i < list->count; i++) {
        const struct node *item = list->items[i];
        bool map = item->kind == NODE_MAP && item->count > 0;
        fprintf(printer->out, "%*s-%s", indent, "", map ? " " : "");
        if (map)
            print_map(printer, item, indent + 2, true);
        else
            print_node(printer, item, indent, indent + 1);
    }
}

/* Behind a key or a dash; width is how much of the line is written. */
static void print_node(struct printer *printer, const struct node *node, int indent, int width)
{
    FILE *out = printer->out;
    if (node->kind == NODE_SCALAR) {
        const char *text = scalar(printer, node->text);
        fprintf(out, " %s", text);
        print_origin(printer, node->place, width + 1 + (int)quote_width(text));
    } else if (node->kind == NODE_LIST && fits_a_line(node)) {
        width += fprintf(out, " [");
        for (size_t i = 0; i < node->count; i++)
            width += fprintf(out, "%s%s", i > 0 ? ", " : "", node->items[i]->text);
        width += fprintf(out, "]");
        print_origin(printer, node->place, width);
    } else if (node->count == 0) {
        fputs(node->kind == NODE_MAP ? " {}" : "", out);
        print_origin(printer, node->place, width + (node->kind == NODE_MAP ? 3 : 0));
    } else {
        fputc('\n', out);
        if (node->kind == NODE_MAP)
            print_map(printer, node, indent + 2, false);
        else
            print_list(printer, node, indent + 2);
    }
}

void describe_scenario(const struct plan *plan, FILE *out)
{
    struct printer printer = {.out = out};
    print_map(&printer, describe_effective(plan, &printer.arena), 0, false);
    arena_free(&printer.arena);
}
