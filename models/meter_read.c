/* meter_read.c - one meter of a provider. Which keys have a meaning depends on what it counts, so each is refused where
 * it has none, and what does not go together is said at the place of the value that would have to change. */
#include <string.h>

#include "models/readers.h"
#include "models/tables.h"
#include "sim/io/param.h"

/* As in burst_options: 10^-6 of them must be counted in 63 bits. */
#define AMOUNT_MOST 1e12

static const sim_time window_default = 60 * SIM_SECOND;

enum meter_kind meter_named(const char *name)
{
    int kind = 0;
    while (kind < METER_KINDS && strcmp(meter_names[kind], name) != 0)
        kind++;
    return (enum meter_kind)kind;
}

/* Keys that the meter does not take. */
static bool check_keys(const struct reader *reader, const char *name, const struct node *map, enum meter_kind kind)
{
    const char *taken[METER_KEYS];
    size_t count = 0, before = reader->diag->errors;
    for (int row = 0; row < METER_KEYS; row++)
        if (meter_takes(kind, row))
            taken[count++] = meter_options[row].key;
    for (size_t i = 0; i < map->count; i++) {
        const struct option *option = param_find(meter_options, map->entries[i].key);
        if (option && !meter_takes(kind, (int)(option - meter_options)))
            diag_error(reader->diag, map->entries[i].place, "%s: %s means nothing here: expected one of %s", name,
                       option->key, reader_list(reader, taken, count));
    }
    return reader->diag->errors == before;
}

/* continuous, window, step or sub(TIME). */
static bool read_fill(const struct reader *reader, const char *name, const struct meter_keys *keys,
                      const struct place *places, struct meter_spec *meter)
{
    struct diag *diag = reader->diag;
    struct place place = places[METER_FILL];
    const struct expr *fill = expr_parse(keys->fill, place, reader->arena, diag);
    const struct option *window = &meter_options[METER_WINDOW];
    struct meter_keys sub = {0};
    size_t at = 0;
    if (!fill)
        return false;
    while (fill->kind != EXPR_NUMBER && fill_names[at] && strcmp(fill_names[at], fill->name) != 0)
        at++;
    meter->fill = (enum meter_fill)at;
    meter->window = places[METER_WINDOW].file ? keys->window : window_default;
    bool is_sub = fill->kind == EXPR_CALL && meter->fill == FILL_SUB && fill->count == 1;
    if (!is_sub && (fill->kind != EXPR_WORD || !fill_names[at] || meter->fill == FILL_SUB)) {
        const char *nearest = fill->kind == EXPR_NUMBER ? "" : reader_nearest(reader, fill->name, fill_names, FILL_SUB);
        diag_error(diag, place, "%s: fill: %s: expected continuous, window, step or sub(TIME), such as sub(1 s)%s",
                   name, fill->text, nearest);
        return false;
    }
    if (!is_sub)
        return true;
    if (places[METER_WINDOW].file) {
        diag_error(diag, places[METER_WINDOW], "%s: window: %s has a window already: expected fill: window beside it",
                   name, fill->text);
        return false;
    }
    if (!param_set(window, arena_format(reader->arena, "%s: fill", name), &sub, fill->arguments->text,
                   fill->arguments->place, reader->arena, diag))
        return false;
    meter->window = sub.window;
    return true;
}

/* A limit, or one that moves: exactly one of them. */
static bool read_limit(const struct reader *reader, const char *name, const struct node *map,
                       const struct meter_keys *keys, const struct place *places, struct meter_spec *meter)
{
    bool limit = places[METER_LIMIT].file, moves = places[METER_MOVES].file;
    const struct option *option = &limit_options[meter->kind];
    if (limit == moves) {
        diag_error(reader->diag, limit ? places[METER_MOVES] : map->place,
                   limit ? "%s: it has a limit already: expected limit or moves, not both"
                         : "%s: expected limit, a rate or a count, or moves, a limit that moves",
                   name);
        return false;
    }
    if (moves)
        return limit_read(reader, keys->moves, meter->kind, &meter->limit);
    double *value = arena_zeroed(reader->arena, 1, sizeof *value);
    int64_t count = 0;
    bool rate = meter_is_rate(meter->kind);
    meter->limit = (struct limit_spec){.law = LIMIT_CONSTANT, .values = value, .count = 1};
    if (!param_set(option, name, rate ? (void *)value : &count, keys->limit, places[METER_LIMIT], reader->arena,
                   reader->diag))
        return false;
    *value = rate ? *value : (double)count;
    return true;
}

static bool read_burst(const struct reader *reader, const char *name, const struct meter_keys *keys,
                       const struct place *places, struct meter_spec *meter)
{
    int64_t burst = 0;
    bool bucket = meter->fill == FILL_CONTINUOUS || meter->fill == FILL_STEP;
    if (!places[METER_BURST].file) {
        meter->burst = meter->limit.values[0] * sim_seconds(meter->window);
        return true;
    }
    if (!bucket) {
        diag_error(reader->diag, places[METER_BURST],
                   "%s: burst: each window begins anew: expected fill: continuous or step beside it", name);
        return false;
    }
    if (!param_set(&burst_options[meter->kind], name, &burst, keys->burst, places[METER_BURST], reader->arena,
                   reader->diag))
        return false;
    meter->burst = (double)burst;
    return true;
}

static double greatest(const struct limit_spec *limit)
{
    double most = 0;
    for (size_t i = 0; i < limit->count; i++)
        most = limit->values[i] > most ? limit->values[i] : most;
    return most;
}

/* A meter that never lets anything through, or more than can be counted. */
static bool check_amounts(const struct reader *reader, const char *name, struct place place, const struct place *places,
                          const struct meter_spec *meter)
{
    const double rounding = 1e-9;
    bool bucket = meter->fill == FILL_CONTINUOUS || meter->fill == FILL_STEP;
    double most = greatest(&meter->limit), window = most * sim_seconds(meter->window);
    double room = bucket ? meter->burst : window;
    struct diag *diag = reader->diag;
    if (most <= 0)
        diag_error(diag, places[METER_MOVES], "%s: moves: it is 0 for ever: expected a limit above 0", name);
    else if (!meter_is_rate(meter->kind))
        return true;
    else if (meter->burst <= 0 && bucket)
        diag_error(diag, places[METER_MOVES],
                   "%s: moves: it begins with 0, so a full bucket would hold nothing: expected burst beside it", name);
    else if (room > AMOUNT_MOST || window > AMOUNT_MOST)
        diag_error(diag, place, "%s: a window of it holds %.4g: expected at most 1000000M", name,
                   room > window ? room : window);
    else if (meter->kind == METER_REQUESTS && room < 1 - rounding)
        diag_error(diag, place, "%s: %s holds %.3g requests, so none would ever be admitted: expected room for one",
                   name, bucket ? "a full bucket" : "a window", room);
    else
        return true;
    return false;
}

bool meter_check(const struct reader *reader, const char *name, struct place place, const struct meter_spec *meter)
{
    struct place places[METER_KEYS];
    for (size_t i = 0; i < METER_KEYS; i++)
        places[i] = place;
    return check_amounts(reader, name, place, places, meter);
}

/* What is charged has to be known at admission where a limit is one of what is in flight, and max_tokens are output. */
static bool check_counts(const struct reader *reader, const char *name, const struct meter_keys *keys,
                         const struct place *places, enum meter_kind kind)
{
    const char *expected = NULL;
    if (keys->counts == COUNTS_MAX_TOKENS && (kind == METER_REQUESTS || kind == METER_INPUT))
        expected = "max_tokens are of output: expected estimate or after";
    if (keys->counts == COUNTS_AFTER && !meter_is_rate(kind))
        expected = "with its answer a call is no longer in flight: expected estimate or max_tokens";
    if (expected) {
        diag_error(reader->diag, places[METER_COUNTS], "%s: counts: %s", name, expected);
        return false;
    }
    if (keys->counts == COUNTS_AFTER && places[METER_SETTLE].file && keys->settle) {
        diag_error(reader->diag, places[METER_SETTLE],
                   "%s: settle: what is charged after the answer is right already: expected counts: estimate or "
                   "max_tokens beside it",
                   name);
        return false;
    }
    return true;
}

bool meter_read(const struct reader *reader, const struct node_entry *entry, struct meter_spec *meter)
{
    const char *name = entry->key;
    const struct node *map = entry->value;
    struct meter_keys keys = {0};
    struct place places[METER_KEYS] = {{0}};
    enum meter_kind kind = meter_named(name);
    if (kind == METER_KINDS) {
        diag_error(reader->diag, entry->place, "there is no meter %s: expected one of %s%s", name,
                   reader_list(reader, meter_names, METER_KINDS),
                   reader_nearest(reader, name, meter_names, METER_KINDS));
        return false;
    }
    if (map->kind != NODE_MAP) {
        diag_error(reader->diag, map->place, "%s: expected a limit, or a mapping such as {limit: 50/min}, not %s", name,
                   node_kind_name(map));
        return false;
    }
    param_defaults(meter_options, &keys, reader->arena);
    if (!check_keys(reader, name, map, kind) ||
        !param_read(meter_options, name, &keys, map, NULL, places, reader->arena, reader->diag))
        return false;
    *meter = (struct meter_spec){.kind = kind,
                                 .place = entry->place,
                                 .counts = (enum meter_counts)keys.counts,
                                 .settle = meter_takes(kind, METER_SETTLE) && keys.counts != COUNTS_AFTER &&
                                           (keys.settle || !places[METER_SETTLE].file),
                                 .cached_weight = keys.cached_weight,
                                 .refused_count = keys.refused_count};
    if (!read_limit(reader, name, map, &keys, places, meter) || !check_counts(reader, name, &keys, places, kind))
        return false;
    if (meter_is_rate(kind) &&
        !(read_fill(reader, name, &keys, places, meter) && read_burst(reader, name, &keys, places, meter)))
        return false;
    return check_amounts(reader, name, entry->place, places, meter);
}
