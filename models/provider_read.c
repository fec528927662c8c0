/* provider_read.c - a backend of kind `provider`, and its aliases.
 *
 * A preset is the same mapping written by us: what the user wrote goes before it, meter by meter and key by key, and
 * only then is anything read. So a value of a preset is judged as the user's is, and shown in the effective scenario.
 */
#include <math.h>
#include <string.h>

#include "models/address.h"
#include "models/provider_presets.h"
#include "models/readers.h"
#include "models/tables.h"
#include "sim/io/param.h"

int backend_kind(const struct node *map)
{
    const struct node *kind = node_get(map, "kind");
    for (int i = 0; kind && kind->kind == NODE_SCALAR && kind_choices[i]; i++)
        if (strcmp(kind_choices[i], kind->text) == 0)
            return i;
    return -1;
}

/* `requests: 50/min` is `requests: {limit: 50/min}`. */
static struct node *full_meters(const struct node *meters, struct arena *arena)
{
    struct node *full = map_copy(meters, arena);
    for (size_t i = 0; i < full->count; i++) {
        struct node *value = full->entries[i].value;
        if (value->kind != NODE_SCALAR)
            continue;
        struct node *map = arena_zeroed(arena, 1, sizeof *map);
        *map = (struct node){.kind = NODE_MAP, .place = value->place};
        node_put(map, "limit", full->entries[i].place, value, arena);
        full->entries[i].value = map;
    }
    return full;
}

/* Puts a value below a mapping that nobody else holds. */
static void put_below(struct node *map, const char *path, struct node *value, struct arena *arena)
{
    size_t length = strcspn(path, ".");
    const char *key = arena_text_of(arena, path, length);
    if (path[length] == '\0') {
        node_put(map, key, value->place, value, arena);
        return;
    }
    struct node *below = node_get(map, key);
    if (!below) {
        below = arena_zeroed(arena, 1, sizeof *below);
        *below = (struct node){.kind = NODE_MAP, .place = value->place};
        node_put(map, key, value->place, below, arena);
    }
    put_below(below, path + length + 1, value, arena);
}

static struct node *preset_map(const struct provider_preset *preset, struct arena *arena)
{
    struct place place = {.file = arena_format(arena, "preset %s", preset->name)};
    struct node *map = arena_zeroed(arena, 1, sizeof *map);
    *map = (struct node){.kind = NODE_MAP, .place = place};
    for (const struct provider_setting *setting = preset->settings; setting->key; setting++)
        put_below(map, setting->key, node_scalar(setting->value, place, arena), arena);
    return map;
}

/* Both mappings, in the order of the first; where both have a value, that of the second. */
static struct node *overlay(const struct node *under, const struct node *over, struct arena *arena)
{
    struct node *both = map_copy(under, arena);
    if (node_get(over, "limit")) /* a meter has one limit, however it is said */
        both = map_without(both, "moves", arena);
    if (node_get(over, "moves"))
        both = map_without(both, "limit", arena);
    both->place = over->place;
    for (size_t i = 0; i < over->count; i++) {
        const struct node_entry *entry = &over->entries[i];
        const struct node *below = node_get(both, entry->key);
        bool maps = below && below->kind == NODE_MAP && entry->value->kind == NODE_MAP;
        node_put(both, entry->key, entry->place, maps ? overlay(below, entry->value, arena) : entry->value, arena);
    }
    return both;
}

static const struct provider_preset *preset_of(const struct reader *reader, const struct node *asked)
{
    size_t found = reader_preset(reader, asked, "preset", "there is no provider preset", &provider_presets->name,
                                 sizeof *provider_presets);
    return found != READER_NONE ? &provider_presets[found] : NULL;
}

struct node *provider_settings(const struct reader *reader, const struct node *map)
{
    struct arena *arena = reader->arena;
    const struct node *asked = node_get(map, "preset"), *meters = node_get(map, "meters");
    struct node *settings = map_copy(map, arena);
    if (meters && meters->kind == NODE_MAP)
        node_put(settings, "meters", meters->place, full_meters(meters, arena), arena);
    if (!asked)
        return settings;
    const struct provider_preset *preset = preset_of(reader, asked);
    if (!preset)
        return NULL;
    const struct node *under = preset_map(preset, arena);
    for (size_t i = 0; i < under->count; i++) {
        const struct node_entry *entry = &under->entries[i];
        const struct node *over = node_get(settings, entry->key);
        if (!over)
            node_put(settings, entry->key, entry->place, entry->value, arena);
        else if (over->kind == NODE_MAP && entry->value->kind == NODE_MAP)
            node_put(settings, entry->key, over->place, overlay(entry->value, over, arena), arena);
    }
    return settings;
}

/* exact, rounded, none or constant(TIME). */
bool retry_after_read(const struct reader *reader, const char *text, struct place place, struct provider_spec *spec)
{
    static const char *const laws[] = {
        [RETRY_EXACT] = "exact", [RETRY_ROUNDED] = "rounded", [RETRY_NONE] = "none", [RETRY_CONSTANT] = "constant"};
    enum { LAWS = sizeof laws / sizeof *laws };
    const struct expr *expr = expr_parse(text, place, reader->arena, reader->diag);
    size_t at = 0;
    if (!expr)
        return false;
    while (expr->kind != EXPR_NUMBER && at < LAWS && strcmp(laws[at], expr->name) != 0)
        at++;
    const struct expr *time = expr->arguments;
    bool constant = expr->kind == EXPR_CALL && at == RETRY_CONSTANT && expr->count == 1 && time->kind == EXPR_NUMBER &&
                    time->number.quantity == QUANTITY_TIME && time->number.value < sim_seconds(SIM_LONGEST);
    if (!constant && !(expr->kind == EXPR_WORD && at < RETRY_CONSTANT)) {
        diag_error(reader->diag, place,
                   "retry_after: %s: expected exact, rounded, none or constant(TIME), such as constant(30 s)%s",
                   expr->text, expr->kind == EXPR_NUMBER ? "" : reader_nearest(reader, expr->name, laws, LAWS));
        return false;
    }
    spec->retry_after = (enum retry_after_law)at;
    spec->retry_after_constant = constant ? sim_from_seconds(time->number.value) : 0;
    return true;
}

static bool read_meters(const struct reader *reader, const struct node *map, struct provider_spec *spec)
{
    if (!map)
        return true;
    if (!reader_expects_map_of(reader, map, "meters", NULL, "requests: 50/min, input: 2M tokens/min"))
        return false;
    struct meter_spec *meters = arena_zeroed(reader->arena, map->count, sizeof *meters);
    bool good = true;
    for (size_t i = 0; i < map->count; i++)
        good &= meter_read(reader, &map->entries[i], &meters[i]);
    spec->meters = meters;
    spec->meter_count = map->count;
    return good;
}

static bool read_dist(const struct reader *reader, const struct expr *expr, enum measure measure,
                      const struct dist **out)
{
    struct dist *dist = arena_zeroed(reader->arena, 1, sizeof *dist);
    *out = dist;
    return distribution_read(expr, measure, reader->columns, dist, reader->diag);
}

static bool read_latency(const struct reader *reader, const struct node *map, const char *name, struct place place,
                         struct provider_spec *spec)
{
    const double off_most = 0.01;
    struct latency_keys keys = {0};
    struct place places[LATENCY_KEYS] = {{0}};
    if (!map) {
        diag_error(reader->diag, place, "%s: expected latency, such as latency: {base: 1.7 s, per_output: 6.31 ms}",
                   name);
        return false;
    }
    param_defaults(latency_options, &keys, reader->arena);
    if (!reader_expects_map_of(reader, map, "latency", latency_options, "base: 1.7 s, per_output: 6.31 ms") ||
        !param_read(latency_options, "latency", &keys, map, NULL, places, reader->arena, reader->diag))
        return false;
    spec->latency = (struct latency_spec){.base = sim_seconds(keys.base),
                                          .per_input = sim_seconds(keys.per_input),
                                          .per_cached = sim_seconds(keys.per_cached),
                                          .per_output = sim_seconds(keys.per_output)};
    if (!keys.noise)
        return true;
    if (!read_dist(reader, keys.noise, MEASURE_FACTOR, &spec->latency.noise))
        return false;
    double mean = dist_mean(spec->latency.noise);
    if (fabs(mean - 1) <= off_most)
        return true;
    diag_error(reader->diag, places[LATENCY_NOISE],
               "noise: its mean is %.4g: expected a factor of mean 1, such as lognormal(1 cv 0.3)", mean);
    return false;
}

bool strangers_rate_read(const struct reader *reader, const struct expr *calls, double *rate)
{
    const struct expr *number = calls->kind == EXPR_CALL && calls->count == 1 ? calls->arguments : NULL;
    const char *noun = number ? number->number.noun : NULL;
    bool fits = number && strcmp(calls->name, "poisson") == 0 && number->kind == EXPR_NUMBER &&
                number->number.quantity == QUANTITY_RATE && number->number.value > 0 &&
                (!noun || strcmp(noun, "calls") == 0 || strcmp(noun, "requests") == 0);
    if (fits)
        *rate = number->number.value;
    else
        diag_error(reader->diag, calls->place,
                   "strangers: %s: expected poisson(RATE) with a rate above 0, such as poisson(60/min)", calls->text);
    return fits;
}

static bool read_strangers(const struct reader *reader, const struct node *map, struct provider_spec *spec)
{
    struct strangers_keys keys = {0};
    if (!map)
        return true;
    param_defaults(strangers_options, &keys, reader->arena);
    if (!reader_expects_map_of(reader, map, "strangers", NULL, "calls: poisson(60/min)") ||
        !param_read(strangers_options, "strangers", &keys, map, NULL, NULL, reader->arena, reader->diag))
        return false;
    struct strangers_spec *strangers = &spec->strangers;
    bool fits = strangers_rate_read(reader, keys.calls, &strangers->rate);
    strangers->cached = keys.cached;
    fits &= read_dist(reader, keys.input, MEASURE_TOKENS, &strangers->input);
    return read_dist(reader, keys.output, MEASURE_TOKENS, &strangers->output) && fits;
}

static bool read_simultaneous(const struct reader *reader, const struct node *map, struct provider_spec *spec)
{
    struct simultaneous_keys keys = {0};
    struct place places[SIMULTANEOUS_KEYS] = {{0}};
    if (!map)
        return true;
    param_defaults(simultaneous_options, &keys, reader->arena);
    if (!reader_expects_map_of(reader, map, "simultaneous", simultaneous_options, "cold: 2.13M, hot: 1.0M") ||
        !param_read(simultaneous_options, "simultaneous", &keys, map, NULL, places, reader->arena, reader->diag))
        return false;
    int64_t hot = places[SIMULTANEOUS_HOT].file ? keys.hot : keys.cold;
    if (hot > keys.cold) {
        diag_error(reader->diag, places[SIMULTANEOUS_HOT],
                   "simultaneous: hot: a pool that refused admits less: expected at most cold");
        return false;
    }
    spec->simultaneous =
        (struct simultaneous_spec){.cold = (double)keys.cold, .hot = (double)hot, .within = keys.within};
    return read_dist(reader, keys.recovery, MEASURE_TIME, &spec->simultaneous.recovery);
}

static bool read_acceleration(const struct reader *reader, const struct node *map, struct provider_spec *spec)
{
    struct acceleration_keys keys = {0};
    if (!map)
        return true;
    param_defaults(acceleration_options, &keys, reader->arena);
    if (!reader_expects_map_of(reader, map, "acceleration", acceleration_options, "times: 2, over: 10 min") ||
        !param_read(acceleration_options, "acceleration", &keys, map, NULL, NULL, reader->arena, reader->diag))
        return false;
    spec->acceleration = (struct acceleration_spec){.times = keys.times, .over = keys.over, .free = (double)keys.free};
    return true;
}

bool provider_read(const struct reader *reader, const struct node *map, struct backend *backend)
{
    struct provider_keys keys = {0};
    struct place places[PROVIDER_KEYS] = {{0}};
    const struct node *settings = provider_settings(reader, map);
    param_defaults(provider_options, &keys, reader->arena);
    if (!settings || !param_read(provider_options, backend->name, &keys, settings, provider_others, places,
                                 reader->arena, reader->diag))
        return false;
    struct provider_spec *spec = arena_zeroed(reader->arena, 1, sizeof *spec);
    *spec = (struct provider_spec){.preset = keys.preset, .errors = keys.errors};

    /* Each is read whatever the others say, so that all mistakes are shown at once. */
    bool good = retry_after_read(reader, keys.retry_after, places[PROVIDER_RETRY_AFTER], spec);
    good &= read_meters(reader, node_get(settings, "meters"), spec);
    good &= read_latency(reader, node_get(settings, "latency"), backend->name, map->place, spec);
    good &= read_strangers(reader, node_get(settings, "strangers"), spec);
    good &= read_simultaneous(reader, node_get(settings, "simultaneous"), spec);
    good &= read_acceleration(reader, node_get(settings, "acceleration"), spec);
    backend->kind = BACKEND_PROVIDER;
    backend->provider = spec;
    return good;
}

bool alias_read(const struct reader *reader, const struct node *map, const struct node *backends,
                const struct backend *others, struct backend *alias)
{
    struct alias_keys keys = {0};
    struct place places[ALIAS_KEYS] = {{0}};
    struct diag *diag = reader->diag;
    const char **pools = arena_zeroed(reader->arena, backends->count, sizeof *pools);
    size_t count = 0;
    param_defaults(alias_options, &keys, reader->arena);
    if (!param_read(alias_options, alias->name, &keys, map, NULL, places, reader->arena, diag))
        return false;
    alias->kind = BACKEND_PROVIDER;
    for (size_t i = 0; i < backends->count; i++) {
        const struct node_entry *entry = &backends->entries[i];
        int kind = backend_kind(entry->value);
        bool named = strcmp(entry->key, keys.of) == 0;
        if (kind == KIND_PROVIDER)
            pools[count++] = entry->key;
        if (named && kind == KIND_PROVIDER) {
            alias->pool = (uint32_t)i;
            alias->provider = others[i].provider;
            return true;
        }
        if (named && kind >= 0)
            diag_error(diag, places[ALIAS_OF], "of: %s is of kind %s: expected a provider", keys.of,
                       kind_choices[kind]);
        if (named) /* what else is wrong with its kind was said */
            return false;
    }
    diag_error(diag, places[ALIAS_OF], "of: there is no provider %s: expected %s%s%s", keys.of,
               count > 0 ? "one of " : "a backend of kind provider", reader_list(reader, pools, count),
               reader_nearest(reader, keys.of, pools, count));
    return false;
}
