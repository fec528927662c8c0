/* changes_pool.c - changes of metered pools. */
#include <math.h>
#include <string.h>

#include "models/changes_read.h"
#include "models/meter.h"
#include "models/tables.h"
#include "sim/io/param.h"
#include "sim/io/unit.h"

static const char meters_prefix[] = "meters.", latency_prefix[] = "latency.", strangers_prefix[] = "strangers.";

/* --- pools -------------------------------------------------------------------------------------------------------- */

static bool not_of_pool(const struct changes_reader *changes, const struct change_text *text, const char *pool,
                        const char *key)
{
    struct arena *arena = changes->reader->arena;
    const char **keys = arena_zeroed(arena, CHANGE_LIVE_MOST, sizeof *keys);
    size_t count = 0;
    bool known = param_find(provider_options, key) || begins(key, meters_prefix) || begins(key, latency_prefix) ||
                 begins(key, strangers_prefix);
    for (size_t i = 0; provider_others[i]; i++)
        known = known || begins(key, provider_others[i]);
    change_live_keys(arena, "meters.METER.", meter_options, keys, &count);
    change_live_keys(arena, latency_prefix, latency_options, keys, &count);
    change_live_keys(arena, "", provider_options, keys, &count);
    change_live_keys(arena, strangers_prefix, strangers_options, keys, &count);
    return change_not_live(changes, text, pool, key, known, keys, count);
}

/* The pool's spec as it is now, a copy that may be changed. */
static struct provider_spec *spec_now(struct changes_reader *changes, size_t pool)
{
    const struct provider_spec *before = changes->backends[pool].provider;
    struct provider_spec *spec = arena_zeroed(changes->reader->arena, 1, sizeof *spec);
    *spec = *before;
    for (size_t i = 0; i < changes->scenario->backend_count; i++)
        if (changes->backends[i].provider == before)
            changes->backends[i].provider = spec;
    return spec;
}

static struct meter_spec *meters_now(struct changes_reader *changes, struct provider_spec *spec)
{
    struct meter_spec *meters = arena_zeroed(changes->reader->arena, spec->meter_count, sizeof *meters);
    if (spec->meter_count > 0)
        memcpy(meters, spec->meters, spec->meter_count * sizeof *meters);
    spec->meters = meters;
    return meters;
}

/* Warns, at the change, of classes whose calls would never be let in then. */
static void check_classes(const struct changes_reader *changes, struct place place)
{
    struct scenario then = *changes->scenario;
    struct agent_class *classes = arena_zeroed(changes->reader->arena, then.class_count, sizeof *classes);
    memcpy(classes, then.classes, then.class_count * sizeof *classes);
    for (size_t i = 0; i < then.class_count; i++)
        classes[i].place = place;
    then.classes = classes;
    pools_check(changes->reader, &then);
}

/* METER.limit, METER, which is the same, or METER.burst. */
static bool read_meter(struct changes_reader *changes, const struct change_text *text, size_t pool, const char *address)
{
    const struct reader *reader = changes->reader;
    struct provider_spec *spec = spec_now(changes, pool);
    struct meter_spec *meters = meters_now(changes, spec);
    const char *name = arena_text_of(reader->arena, address, strcspn(address, "."));
    const char *key = address[strlen(name)] == '.' ? address + strlen(name) + 1 : meter_options[METER_LIMIT].key;
    const char **names = arena_zeroed(reader->arena, spec->meter_count + 1, sizeof *names);
    struct change *change = changes->change;
    for (size_t i = 0; i < spec->meter_count; i++)
        names[i] = meter_names[meters[i].kind];
    const char *no = arena_format(reader->arena, "%s has no meter", changes->scenario->backends[pool].name);
    size_t found = reader_find(reader, name, text->places[CHANGE_SET], no, names, sizeof *names, spec->meter_count);
    if (found == READER_NONE)
        return false;
    struct meter_spec *meter = &meters[found];
    change->row = (uint32_t)found;
    bool limit = strcmp(key, meter_options[METER_LIMIT].key) == 0, rate = limit && meter_is_rate(meter->kind);
    bool burst = strcmp(key, meter_options[METER_BURST].key) == 0 && meter_is_rate(meter->kind);
    if (!limit && !burst)
        return not_of_pool(changes, text, changes->scenario->backends[pool].name,
                           arena_format(reader->arena, "meters.%s.%s", name, key));
    if (limit && meter->limit.law != LIMIT_CONSTANT) {
        diag_error(reader->diag, text->places[CHANGE_SET],
                   "%s: its limit moves by itself: expected a meter with a constant limit", text->keys->set);
        return false;
    }
    if (burst && meter->fill != FILL_CONTINUOUS && meter->fill != FILL_STEP) {
        diag_error(reader->diag, text->places[CHANGE_SET],
                   "%s: each window begins anew: expected a meter with fill: continuous or step", text->keys->set);
        return false;
    }
    const struct option *option = limit ? &limit_options[meter->kind] : &burst_options[meter->kind];
    const char *owner =
        arena_format(reader->arena, "backends.%s.meters.%s", changes->scenario->backends[pool].name, name);
    double *value = arena_zeroed(reader->arena, 1, sizeof *value),
           before = limit ? meter->limit.values[0] : meter->burst;
    int64_t count = 0, count_before = (int64_t)before;
    if (!param_set(option, owner, rate ? (void *)value : &count, text->keys->to, text->places[CHANGE_TO], reader->arena,
                   reader->diag))
        return false;
    change->old = param_plain(option, rate ? (void *)&before : &count_before, reader->arena);
    change->text = param_plain(option, rate ? (void *)value : &count, reader->arena);
    *value = rate ? *value : (double)count;
    if (limit)
        meter->limit.values = value;
    else
        meter->burst = *value;
    change->kind = limit ? CHANGE_LIMIT : CHANGE_BURST;
    change->number = *value;
    change->key = arena_format(reader->arena, "%s.%s", owner, key);
    if (!meter_check(reader, name, text->places[CHANGE_TO], meter))
        return false;
    check_classes(changes, text->places[CHANGE_TO]);
    return true;
}

static bool read_latency(struct changes_reader *changes, const struct change_text *text, size_t pool, const char *key)
{
    struct arena *arena = changes->reader->arena;
    struct provider_spec *spec = spec_now(changes, pool);
    const struct option *option = param_find(latency_options, key);
    const struct {
        int row;
        enum latency_part part;
        double *now;
    } parts[] = {{LATENCY_BASE, LATENCY_OF_ALL, &spec->latency.base},
                 {LATENCY_PER_INPUT, LATENCY_OF_INPUT, &spec->latency.per_input},
                 {LATENCY_PER_CACHED, LATENCY_OF_CACHED, &spec->latency.per_cached},
                 {LATENCY_PER_OUTPUT, LATENCY_OF_OUTPUT, &spec->latency.per_output}};
    size_t at = 0;
    const size_t known = sizeof parts / sizeof *parts;
    while (at < known && option != &latency_options[parts[at].row])
        at++;
    if (at == known)
        return not_of_pool(changes, text, changes->scenario->backends[pool].name,
                           arena_format(arena, "%s%s", latency_prefix, key));
    struct latency_keys before = {0}, keys = {0};
    *(sim_time *)(void *)((char *)&before + option->offset) = sim_from_seconds(*parts[at].now);
    if (!param_set(option, arena_format(arena, "backends.%s.latency", changes->scenario->backends[pool].name), &keys,
                   text->keys->to, text->places[CHANGE_TO], arena, changes->reader->diag))
        return false;
    *parts[at].now = param_get_number(option, &keys);
    changes->change->kind = CHANGE_LATENCY;
    changes->change->row = parts[at].part;
    changes->change->number = *parts[at].now;
    changes->change->old = param_plain(option, &before, arena);
    changes->change->text = param_plain(option, &keys, arena);
    return true;
}

static const char *retry_after_text(const struct provider_spec *spec, struct arena *arena)
{
    static const char *const laws[] = {[RETRY_EXACT] = "exact", [RETRY_ROUNDED] = "rounded", [RETRY_NONE] = "none"};
    char time[40];
    if (spec->retry_after != RETRY_CONSTANT)
        return laws[spec->retry_after];
    unit_print_time(sim_seconds(spec->retry_after_constant), time, sizeof time);
    return arena_format(arena, "constant(%s)", time);
}

static bool read_retry_after(struct changes_reader *changes, const struct change_text *text, size_t pool)
{
    struct arena *arena = changes->reader->arena;
    struct provider_spec *spec = spec_now(changes, pool);
    struct place place = text->places[CHANGE_TO];
    place.column += text->quoted;
    changes->change->old = retry_after_text(spec, arena);
    if (!retry_after_read(changes->reader, text->keys->to, place, spec))
        return false;
    changes->change->kind = CHANGE_RETRY_AFTER;
    changes->change->row = spec->retry_after;
    changes->change->time = spec->retry_after_constant;
    changes->change->text = retry_after_text(spec, arena);
    return true;
}

static bool read_errors(struct changes_reader *changes, const struct change_text *text, size_t pool)
{
    struct arena *arena = changes->reader->arena;
    struct provider_spec *spec = spec_now(changes, pool);
    const struct option *option = &provider_options[PROVIDER_ERRORS];
    struct provider_keys before = {.errors = spec->errors}, keys = {0};
    if (!param_set(option, arena_format(arena, "backends.%s", changes->scenario->backends[pool].name), &keys,
                   text->keys->to, text->places[CHANGE_TO], arena, changes->reader->diag))
        return false;
    changes->change->kind = CHANGE_ERRORS;
    changes->change->number = spec->errors = keys.errors;
    changes->change->old = param_plain(option, &before, arena);
    changes->change->text = param_plain(option, &keys, arena);
    return true;
}

static bool read_strangers(struct changes_reader *changes, const struct change_text *text, size_t pool)
{
    struct arena *arena = changes->reader->arena;
    struct provider_spec *spec = spec_now(changes, pool);
    if (!(spec->strangers.rate > 0)) {
        diag_error(changes->reader->diag, text->places[CHANGE_SET], "%s has no strangers: expected a pool that has",
                   changes->scenario->backends[pool].name);
        return false;
    }
    const struct expr *calls = change_expr(changes, text);
    changes->change->old = arena_format(arena, "poisson(%s)", change_rate_text(spec->strangers.rate, arena));
    if (!calls || !strangers_rate_read(changes->reader, calls, &spec->strangers.rate))
        return false;
    changes->change->kind = CHANGE_STRANGERS;
    changes->change->number = spec->strangers.rate;
    changes->change->text = arena_format(arena, "poisson(%s)", change_rate_text(spec->strangers.rate, arena));
    return true;
}

bool change_pool_read(struct changes_reader *changes, const struct change_text *text, const char *address)
{
    const struct reader *reader = changes->reader;
    const struct scenario *scenario = changes->scenario;
    const char *key, *name = change_name_of(changes, text, address, &key);
    if (!name)
        return false;
    size_t pool = reader_find(reader, name, text->places[CHANGE_SET], "there is no backend", &scenario->backends->name,
                              sizeof *scenario->backends, scenario->backend_count);
    if (pool == READER_NONE)
        return false;
    const struct backend *backend = &scenario->backends[pool];
    if (backend->kind != BACKEND_PROVIDER) {
        diag_error(reader->diag, text->places[CHANGE_SET],
                   "%s: nothing of a backend of kind slots changes while a run goes on: expected a provider",
                   text->keys->set);
        return false;
    }
    if (backend->pool != pool) {
        diag_error(reader->diag, text->places[CHANGE_SET], "%s is another key of %s: expected backends.%s.%s", name,
                   scenario->backends[backend->pool].name, scenario->backends[backend->pool].name, key);
        return false;
    }
    changes->change->index = (uint32_t)pool;
    if (begins(key, meters_prefix))
        return read_meter(changes, text, pool, key + strlen(meters_prefix));
    if (begins(key, latency_prefix))
        return read_latency(changes, text, pool, key + strlen(latency_prefix));
    if (strcmp(key, provider_options[PROVIDER_RETRY_AFTER].key) == 0)
        return read_retry_after(changes, text, pool);
    if (strcmp(key, provider_options[PROVIDER_ERRORS].key) == 0)
        return read_errors(changes, text, pool);
    if (begins(key, strangers_prefix) &&
        strcmp(key + strlen(strangers_prefix), strangers_options[STRANGERS_CALLS].key) == 0)
        return read_strangers(changes, text, pool);
    return not_of_pool(changes, text, name, key);
}
