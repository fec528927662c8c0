/* scenario_hash.c - FNV-1a over what a trial reads, field by field: texts and numbers as bytes, least significant
 * first, so that the host's byte order and the padding of structs do not matter. */
#include "models/scenario_hash.h"

#include <string.h>

static uint64_t byte(uint64_t hash, unsigned value)
{
    return (hash ^ (value & 0xffu)) * UINT64_C(0x100000001b3);
}

static uint64_t word(uint64_t hash, uint64_t value)
{
    for (int shift = 0; shift < 64; shift += 8)
        hash = byte(hash, (unsigned)(value >> shift) & 0xffu);
    return hash;
}

static uint64_t real(uint64_t hash, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return word(hash, bits);
}

static uint64_t text(uint64_t hash, const char *value)
{
    for (; *value; value++)
        hash = byte(hash, (unsigned char)*value);
    return byte(hash, 0);
}

/* A column that something of the scenario reads, known by its values. */
static uint64_t column_of(uint64_t hash, const struct columns *columns, const void *values)
{
    struct column *column = columns->first;
    while (column && values != column->sorted && values != column->times && values != column->sorted_times &&
           values != column->values)
        column = column->next;
    SIM_ASSERT(NULL, column != NULL);
    if (column->hash == 0) {
        column->hash = SCENARIO_HASH_START;
        for (size_t i = 0; i < column->count; i++)
            column->hash = real(column->hash, column->values[i]);
    }
    return word(hash, column->hash);
}

static uint64_t distribution(uint64_t hash, const struct dist *dist, const struct columns *columns)
{
    if (!dist)
        return word(hash, UINT64_MAX);
    hash = word(hash, dist->kind);
    hash = real(real(real(hash, dist->a), dist->b), dist->most);
    hash = word(hash, dist->count);
    if (dist->kind == DIST_EMPIRICAL)
        hash = column_of(hash, columns, dist->values);
    for (size_t i = 0; dist->kind == DIST_SURVIVAL && i < dist->count; i++)
        hash = real(hash, dist->values[i]);
    for (size_t i = 0; dist->kind == DIST_MIXTURE && i < dist->count; i++)
        hash = distribution(real(hash, dist->weights[i]), &dist->parts[i], columns);
    return hash;
}

/* Before what was not always there, and is hashed only where it is said: the scenarios of before keep their hash. */
enum tag {
    TAG_BOOT = 1,
    TAG_CHARS,
    TAG_DIES,
    TAG_FAN_OUT,
    TAG_SPILL,
    TAG_DEADLINE = 10,
    TAG_WARMUP,
    TAG_PRECISION,
    TAG_REPLAY
};

static uint64_t layer(uint64_t hash, const struct client_layer *layer)
{
    uint64_t retry_after = (uint64_t)layer->retry_after | (uint64_t)layer->retry_after_beyond << 8;
    hash = word(word(word(hash, layer->backoff), layer->jitter), retry_after);
    hash = word(word(hash, (uint64_t)layer->base), (uint64_t)layer->cap);
    hash = word(word(hash, (uint64_t)layer->retry_after_most), (uint64_t)layer->attempts);
    hash = word(word(word(hash, (uint64_t)layer->timeout), layer->quota), layer->restarts_run);
    return real(hash, layer->jitter_share);
}

static uint64_t client(uint64_t hash, const struct client *client)
{
    hash = word(word(word(hash, client->layer_count), (uint64_t)client->hold_cap), client->bypass);
    for (uint32_t i = 0; i < client->layer_count; i++)
        hash = layer(hash, &client->layers[i]);
    return client->dies > 0 ? real(word(hash, TAG_DIES), client->dies) : hash;
}

static uint64_t input_of(uint64_t hash, const struct input_spec *input, const struct columns *columns)
{
    if (!input)
        return word(hash, 0);
    if (input->sessions) {
        hash = column_of(column_of(hash, columns, input->sessions->input), columns, input->sessions->cached);
        for (size_t i = 0; i <= input->sessions->count; i++)
            hash = word(hash, input->sessions->starts[i]);
        if (input->sessions->output || input->sessions->wait) /* their values are those of output and think */
            hash = word(word(hash, TAG_REPLAY), input->sessions->in_order);
        return hash;
    }
    hash = distribution(distribution(hash, input->start, columns), input->per_turn, columns);
    hash = real(real(real(hash, input->most), input->compact_to), input->cached_share);
    return word(hash, input->cached_previous);
}

static uint64_t input(uint64_t hash, const struct input_spec *input, const struct columns *columns)
{
    hash = input_of(hash, input, columns);
    if (input && !(dist_is_constant(input->chars_per_token) && dist_mean(input->chars_per_token) == INPUT_CHARS))
        hash = distribution(word(hash, TAG_CHARS), input->chars_per_token, columns);
    return hash;
}

static uint64_t schedule(uint64_t hash, const struct schedule_spec *schedule)
{
    if (!schedule)
        return word(hash, 0);
    hash = word(word(word(hash, schedule->turns), (uint64_t)schedule->over), schedule->even);
    return word(word(hash, (uint64_t)schedule->offset), (uint64_t)schedule->offset_wraps);
}

static uint64_t pattern(uint64_t hash, const struct arrivals_spec *pattern)
{
    hash = word(word(word(hash, pattern->batch), (uint64_t)pattern->within), pattern->even);
    hash = word(word(word(hash, pattern->count), (uint64_t)pattern->period), pattern->of_day);
    for (size_t i = 0; i < pattern->count; i++)
        hash = real(word(hash, (uint64_t)pattern->times[i]), pattern->rates[i]);
    return hash;
}

static uint64_t fan_out(uint64_t hash, const struct fan_out_spec *spec, const struct columns *columns)
{
    hash = distribution(distribution(word(hash, spec->to), spec->parts, columns), spec->tokens, columns);
    return word(word(word(hash, spec->wait_for), spec->parts_most), spec->tokens_most);
}

static uint64_t class_of_agents(uint64_t hash, const struct agent_class *class, const struct columns *columns)
{
    hash = text(hash, class->name);
    hash = word(word(word(hash, class->tenant), class->backend), class->source);
    hash = word(word(hash, class->population), class->runs);
    hash = real(real(real(hash, class->arrival_rate), class->priority), class->value);
    if (class->source == SOURCE_ALL_AT)
        hash = word(hash, (uint64_t) class->arrivals[0]);
    if (class->source == SOURCE_TRACE)
        hash = column_of(hash, columns, class->arrivals);
    if (class->pattern)
        hash = pattern(hash, class->pattern);
    hash = distribution(hash, class->turns, columns);
    hash = distribution(hash, class->think, columns);
    hash = real(distribution(hash, class->output, columns), class->max_tokens);
    hash = schedule(input(hash, class->input, columns), class->schedule);
    if (class->boot)
        hash = distribution(word(hash, TAG_BOOT), class->boot, columns);
    if (class->turn_within < SIM_LONGEST || class->run_within < SIM_LONGEST)
        hash = word(word(word(word(hash, TAG_DEADLINE), (uint64_t) class->turn_within), (uint64_t) class->run_within),
                    class->gives_up);
    if (class->spill != SPILL_NONE) {
        hash = word(word(word(hash, TAG_SPILL), class->spill), (uint64_t) class->spill_after);
        for (uint32_t i = 0; i < class->backend_count; i++)
            hash = word(hash, class->backends[i]);
    }
    if (class->fan_out)
        hash = fan_out(word(hash, TAG_FAN_OUT), class->fan_out, columns);
    return client(word(hash, (uint64_t) class->start), &class->client);
}

static uint64_t limit(uint64_t hash, const struct limit_spec *limit, const struct columns *columns)
{
    hash = word(word(word(hash, limit->law), limit->count), (uint64_t)limit->every);
    hash = real(real(hash, limit->dwell), limit->step);
    if (limit->law == LIMIT_DAY)
        return column_of(hash, columns, limit->values);
    for (size_t i = 0; i < limit->count; i++)
        hash = real(limit->times ? word(hash, (uint64_t)limit->times[i]) : hash, limit->values[i]);
    return hash;
}

static uint64_t meter(uint64_t hash, const struct meter_spec *meter, const struct columns *columns)
{
    hash = limit(word(hash, meter->kind), &meter->limit, columns);
    hash = word(real(hash, meter->burst), meter->fill);
    hash = word(word(word(hash, (uint64_t)meter->window), meter->counts), meter->settle);
    return word(real(hash, meter->cached_weight), meter->refused_count);
}

static uint64_t provider(uint64_t hash, const struct provider_spec *spec, const struct columns *columns)
{
    const struct latency_spec *latency = &spec->latency;
    const struct strangers_spec *strangers = &spec->strangers;
    const struct simultaneous_spec *simultaneous = &spec->simultaneous;
    hash = word(hash, spec->meter_count);
    for (size_t i = 0; i < spec->meter_count; i++)
        hash = meter(hash, &spec->meters[i], columns);
    hash = real(real(hash, latency->base), latency->per_input);
    hash = distribution(real(real(hash, latency->per_cached), latency->per_output), latency->noise, columns);
    hash = word(word(hash, spec->retry_after), (uint64_t)spec->retry_after_constant);
    hash = distribution(real(hash, strangers->rate), strangers->input, columns);
    hash = distribution(real(hash, strangers->cached), strangers->output, columns);
    hash = word(real(real(hash, simultaneous->cold), simultaneous->hot), (uint64_t)simultaneous->within);
    hash = distribution(hash, simultaneous->recovery, columns);
    hash = word(real(hash, spec->acceleration.times), (uint64_t)spec->acceleration.over);
    return real(real(hash, spec->acceleration.free), spec->errors);
}

static uint64_t prices(uint64_t hash, const struct prices *prices)
{
    hash = real(real(word(hash, prices->given), prices->input), prices->cached);
    return real(real(real(hash, prices->output), prices->request), prices->hour);
}

/* Only where there are some: without them the hash is what it was. */
static uint64_t cards(uint64_t hash, const struct cards_spec *spec, const struct columns *columns)
{
    hash = word(word(word(word(text(hash, "cards"), spec->min), spec->max), spec->start), spec->step);
    hash = word(word(word(hash, spec->signal), spec->route), (uint64_t)spec->scrape);
    return distribution(word(word(word(hash, (uint64_t)spec->cooldown), (uint64_t)spec->cooldown_up), spec->target),
                        spec->cold_start, columns);
}

static uint64_t backend(uint64_t hash, const struct backend *backend, const struct columns *columns)
{
    hash = word(text(hash, backend->name), backend->servers);
    hash = real(word(hash, backend->kv), backend->prefill);
    hash = distribution(hash, backend->service, columns);
    uint32_t speeds = !backend->speed ? 0 : backend->constant ? 1 : backend->servers;
    for (uint32_t i = 1; i <= speeds; i++)
        hash = real(hash, backend->speed[i]);
    hash = prices(real(word(hash, backend->kv), backend->prefill), &backend->prices);
    hash = word(word(hash, backend->kind), backend->pool);
    if (backend->cards)
        hash = cards(hash, backend->cards, columns);
    return backend->provider ? provider(hash, backend->provider, columns) : hash;
}

static uint64_t member(uint64_t hash, const struct member *member)
{
    hash = text(text(hash, member->ops->name), member->name);
    hash = word(word(hash, member->scope), (uint64_t)member->at);
    return text(hash, member->text);
}

/* The value as its text has all its digits. */
static uint64_t change(uint64_t hash, const struct change *change, const struct columns *columns)
{
    hash = text(text(word(hash, (uint64_t)change->at), change->key), change->text);
    return change->think ? distribution(hash, change->think, columns) : hash;
}

static uint64_t study_of(uint64_t hash, const struct study *study)
{
    const struct precision *precision = study->precision;
    hash = word(word(word(hash, study->until_done), (uint64_t)study->horizon), (uint64_t)study->warmup);
    hash = word(word(hash, (uint64_t)study->replications), (uint64_t)study->seed);
    if (study->warmup_auto)
        hash = word(hash, TAG_WARMUP);
    if (precision)
        hash = word(real(word(word(hash, TAG_PRECISION), precision->metric), precision->relative),
                    (uint64_t)precision->least);
    return hash;
}

uint64_t scenario_hash(uint64_t hash, const struct scenario *scenario, const struct columns *columns)
{
    hash = study_of(hash, &scenario->study);
    for (size_t i = 0; i < scenario->backend_count; i++)
        hash = backend(hash, &scenario->backends[i], columns);
    for (size_t i = 0; i < scenario->tenant_count; i++)
        hash = text(hash, scenario->tenants[i]);
    for (size_t i = 0; i < scenario->class_count; i++)
        hash = class_of_agents(hash, &scenario->classes[i], columns);
    hash = text(hash, scenario->chain.label);
    for (size_t i = 0; i < scenario->chain.count; i++)
        hash = member(hash, &scenario->chain.members[i]);
    for (size_t i = 0; i < scenario->change_count; i++)
        hash = change(hash, &scenario->changes[i], columns);
    return hash;
}

uint64_t scenario_hash_name(const char *name)
{
    return text(SCENARIO_HASH_START, name);
}
