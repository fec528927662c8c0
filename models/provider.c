/* provider.c - the pool: who is let in, what that costs, strangers, and how long refusals follow a drop of a limit. */
#include "models/provider.h"

#include <math.h>

#include "models/provider_guard.h"
#include "models/purpose.h"

/* From a drop on, and from each refusal: how long it must stay quiet until the episode is over. */
#define QUIET (60 * SIM_SECOND)

struct recovery {
    bool open;
    sim_time began, last; /* the drop; the last refusal, or the drop */
    struct tally tally;
};

/* A stranger's call; at the end of its latency it goes back to the pool. */
struct flight {
    struct event end;
    struct provider *provider;
    struct meter_call call;
    struct provider_ticket *ticket;
    struct flight *next_free;
};

struct provider_mark {
    sim_sum taken, offered;
};

struct provider {
    struct provider_spec now;         /* what the timeline has changed is changed here; meters know their own limits */
    const struct provider_spec *spec; /* that one */
    struct calendar *calendar;
    struct stream_key key;
    uint64_t entity;
    struct arena *arena;
    struct meter *meters;
    struct limit *limits; /* the same functions once more, for drops: meters may have been asked in between */
    struct simultaneous simultaneous;
    struct acceleration acceleration;
    struct event stranger; /* the next one */
    struct stream stranger_stream;
    uint64_t strangers;
    struct flight *free;
    struct provider_counts counts;
    struct recovery recovery;
    struct provider_mark *marks; /* of the meters, when the window began */
    sim_time window;
};

static sim_time now_of(const struct provider *provider)
{
    return calendar_now(provider->calendar);
}

/* --- recovery ----------------------------------------------------------------------------------------------------- */

static void recovery_passes(struct recovery *recovery, sim_time now)
{
    if (!recovery->open || now - recovery->last < QUIET)
        return;
    tally_add(&recovery->tally, recovery->last - recovery->began);
    recovery->open = false;
}

static void recovery_dropped(struct recovery *recovery, sim_time at)
{
    recovery_passes(recovery, at);
    if (recovery->open)
        return;
    recovery->open = true;
    recovery->began = recovery->last = at;
}

/* All drops up to now, in their order. */
static void hear_drops(struct provider *provider)
{
    sim_time now = now_of(provider);

    for (;;) {
        struct limit *first = NULL;
        sim_time at;
        int64_t before;

        for (size_t i = 0; i < provider->spec->meter_count; i++)
            if (provider->limits[i].ends <= now && (!first || provider->limits[i].ends < first->ends))
                first = &provider->limits[i];
        if (!first)
            break;
        at = first->ends;
        before = first->value;
        limit_next(first);
        if (first->value < before)
            recovery_dropped(&provider->recovery, at);
    }
    recovery_passes(&provider->recovery, now);
}

/* --- admission ---------------------------------------------------------------------------------------------------- */

static const char *meters_refuse(struct provider *provider, const struct meter_call *estimate)
{
    for (size_t i = 0; i < provider->spec->meter_count; i++) {
        struct meter *meter = &provider->meters[i];

        if (!meter_fits(meter, now_of(provider), meter_estimate(meter->spec, estimate)))
            return meter_names[meter->spec->kind];
    }
    return NULL;
}

static const char *guards_refuse(struct provider *provider, int64_t tokens)
{
    sim_time now = now_of(provider);

    if (!simultaneous_fits(&provider->simultaneous, now, tokens)) {
        simultaneous_punish(&provider->simultaneous, now);
        return "simultaneous";
    }
    return acceleration_fits(&provider->acceleration, now, tokens) ? NULL : "acceleration";
}

/* After the refusal has been charged, so that it is true. */
static sim_time retry_after(struct provider *provider, const struct meter_call *estimate, bool by_meters)
{
    const struct provider_spec *spec = provider->spec;
    sim_time longest = 0, rest;

    if (spec->retry_after == RETRY_CONSTANT)
        return spec->retry_after_constant;
    if (spec->retry_after == RETRY_NONE || !by_meters)
        return -1;
    for (size_t i = 0; i < spec->meter_count; i++) {
        struct meter *meter = &provider->meters[i];
        sim_time until = meter_until(meter, now_of(provider), meter_estimate(meter->spec, estimate));

        if (until > longest)
            longest = until;
    }
    if (longest == SIM_NEVER)
        return -1;
    rest = spec->retry_after == RETRY_ROUNDED ? longest % SIM_SECOND : 0;
    return rest > 0 ? longest - rest + SIM_SECOND : longest;
}

static bool admits(struct provider *provider, const struct meter_call *estimate, struct provider_ticket *ticket,
                   struct provider_refusal *refusal)
{
    size_t count = provider->spec->meter_count;
    sim_time now = now_of(provider);
    int64_t tokens = meter_micro(estimate->input);
    const char *meter = meters_refuse(provider, estimate), *reason = meter ? meter : guards_refuse(provider, tokens);

    if (reason) {
        for (size_t i = 0; i < count; i++)
            meter_refused(&provider->meters[i], now, estimate);
        if (refusal)
            *refusal = (struct provider_refusal){retry_after(provider, estimate, meter != NULL), reason};
        return false;
    }
    ticket->at = now;
    for (size_t i = 0; i < count; i++) {
        ticket->charges[i] = meter_estimate(provider->meters[i].spec, estimate);
        meter_take(&provider->meters[i], now, ticket->charges[i]);
    }
    simultaneous_take(&provider->simultaneous, now, tokens);
    acceleration_take(&provider->acceleration, now, tokens);
    return true;
}

/* --- strangers ---------------------------------------------------------------------------------------------------- */

static double whole_draw(const struct dist *dist, struct stream *stream)
{
    return dist ? floor(dist_draw(dist, stream) + 0.5) : 0;
}

/* Its stream gives first the gap before it, then its input, its output and its latency. */
static void stranger_next(struct provider *provider)
{
    sim_time gap;

    provider->stranger_stream = stream_open(provider->key, (struct stream_address){.purpose = PURPOSE_STRANGER,
                                                                                   .entity = provider->entity,
                                                                                   .turn = provider->strangers++});
    gap = sim_from_seconds(stream_exponential(&provider->stranger_stream) / provider->spec->strangers.rate);
    calendar_schedule(provider->calendar, &provider->stranger, now_of(provider) + gap);
}

static void stranger_answered(void *world, struct event *event)
{
    struct flight *flight = container_of(event, struct flight, end);
    struct provider *provider = flight->provider;

    (void)world;
    provider_answers(provider, flight->ticket, &flight->call);
    flight->next_free = provider->free;
    provider->free = flight;
}

static struct flight *flight_take(struct provider *provider)
{
    struct flight *flight = provider->free;

    if (flight) {
        provider->free = flight->next_free;
        return flight;
    }
    flight = arena_zeroed(provider->arena, 1, sizeof *flight);
    flight->ticket = arena_zeroed(provider->arena, 1, provider_ticket_size(provider->spec));
    flight->provider = provider;
    flight->end.fire = stranger_answered;
    return flight;
}

static void stranger_comes(void *world, struct event *event)
{
    struct provider *provider = container_of(event, struct provider, stranger);
    const struct strangers_spec *spec = &provider->spec->strangers;
    struct stream stream = provider->stranger_stream;
    struct flight *flight = flight_take(provider);

    (void)world;
    stranger_next(provider);
    flight->call.input = whole_draw(spec->input, &stream);
    flight->call.output = whole_draw(spec->output, &stream);
    flight->call.cached = flight->call.input * spec->cached;
    flight->call.max_tokens = INFINITY;
    provider->counts.strangers_asked++;
    if (admits(provider, &flight->call, flight->ticket, NULL)) {
        sim_time latency = provider_latency(provider->spec, &flight->call, &stream);

        calendar_schedule(provider->calendar, &flight->end, now_of(provider) + latency);
        return;
    }
    provider->counts.strangers_refused++;
    flight->next_free = provider->free;
    provider->free = flight;
}

/* --- the pool ----------------------------------------------------------------------------------------------------- */

/* A meter's part of addresses: FNV-1a, begun at its pool's, over its name and its number among those of its name. */
static uint64_t meter_entity(uint64_t pool, const char *name, size_t nth)
{
    const uint64_t prime = UINT64_C(0x100000001b3);

    for (; *name; name++)
        pool = (pool ^ (unsigned char)*name) * prime;
    return (pool * prime ^ nth) * prime;
}

static void meters_init(struct provider *provider)
{
    const struct provider_spec *spec = provider->spec;
    size_t seen[METER_KINDS] = {0};

    provider->meters = arena_zeroed(provider->arena, spec->meter_count, sizeof *provider->meters);
    provider->limits = arena_zeroed(provider->arena, spec->meter_count, sizeof *provider->limits);
    provider->marks = arena_zeroed(provider->arena, spec->meter_count, sizeof *provider->marks);
    for (size_t i = 0; i < spec->meter_count; i++) {
        enum meter_kind kind = spec->meters[i].kind;
        uint64_t entity = meter_entity(provider->entity, meter_names[kind], seen[kind]++);

        meter_init(&provider->meters[i], &spec->meters[i], provider->key, entity);
        limit_init(&provider->limits[i], &spec->meters[i].limit, provider->meters[i].limit.level, provider->key,
                   entity);
    }
}

struct provider *provider_new(const struct provider_spec *spec, struct calendar *calendar, struct stream_key key,
                              uint64_t entity, struct arena *arena)
{
    struct provider *provider = arena_zeroed(arena, 1, sizeof *provider);

    provider->now = *spec;
    provider->spec = &provider->now;
    provider->calendar = calendar;
    provider->key = key;
    provider->entity = entity;
    provider->arena = arena;
    meters_init(provider);
    simultaneous_init(&provider->simultaneous, &spec->simultaneous, key, entity, arena);
    acceleration_init(&provider->acceleration, &spec->acceleration, arena);
    provider->stranger.fire = stranger_comes;
    if (spec->strangers.rate > 0)
        stranger_next(provider);
    return provider;
}

const struct provider_spec *provider_spec(const struct provider *provider)
{
    return provider->spec;
}

/* --- the timeline ------------------------------------------------------------------------------------------------- */

void provider_set_limit(struct provider *provider, size_t meter, double value)
{
    struct limit *limit = &provider->limits[meter];
    int64_t before;

    hear_drops(provider);
    before = limit->value;
    limit_set(limit, value);
    meter_set_limit(&provider->meters[meter], now_of(provider), value);
    if (limit->value < before)
        recovery_dropped(&provider->recovery, now_of(provider));
}

void provider_set_burst(struct provider *provider, size_t meter, double value)
{
    meter_set_burst(&provider->meters[meter], now_of(provider), value);
}

void provider_set_latency(struct provider *provider, const struct latency_spec *latency)
{
    provider->now.latency = *latency;
}

void provider_set_retry_after(struct provider *provider, enum retry_after_law law, sim_time constant)
{
    provider->now.retry_after = law;
    provider->now.retry_after_constant = constant;
}

void provider_set_errors(struct provider *provider, double share)
{
    provider->now.errors = share;
}

void provider_set_strangers(struct provider *provider, double rate)
{
    sim_time now = now_of(provider), rest = provider->stranger.at - now;
    double before = provider->now.strangers.rate;

    provider->now.strangers.rate = rate;
    if (rate == before)
        return;
    calendar_cancel(provider->calendar, &provider->stranger);
    calendar_schedule(provider->calendar, &provider->stranger,
                      now + sim_from_seconds(sim_seconds(rest) * before / rate));
}

/* --- callers ------------------------------------------------------------------------------------------------------ */

size_t provider_ticket_size(const struct provider_spec *spec)
{
    return sizeof(struct provider_ticket) + spec->meter_count * sizeof(int64_t);
}

bool provider_ask(struct provider *provider, const struct meter_call *estimate, struct provider_ticket *ticket,
                  struct provider_refusal *refusal)
{
    provider->counts.asked++;
    if (admits(provider, estimate, ticket, refusal))
        return true;
    provider->counts.refused++;
    hear_drops(provider);
    if (provider->recovery.open)
        provider->recovery.last = now_of(provider);
    return false;
}

void provider_answers(struct provider *provider, const struct provider_ticket *ticket, const struct meter_call *real)
{
    for (size_t i = 0; i < provider->spec->meter_count; i++) {
        struct meter *meter = &provider->meters[i];

        meter_settle(meter, now_of(provider), ticket->at, ticket->charges[i], meter_real(meter->spec, real));
    }
}

sim_time provider_latency(const struct provider_spec *spec, const struct meter_call *real, struct stream *stream)
{
    const struct latency_spec *latency = &spec->latency;
    double seconds = latency->base + latency->per_input * (real->input - real->cached) +
                     latency->per_cached * real->cached + latency->per_output * real->output;

    return sim_from_seconds(latency->noise ? seconds * dist_draw(latency->noise, stream) : seconds);
}

struct meter *provider_meters(struct provider *provider)
{
    return provider->meters;
}

const struct provider_counts *provider_counts(const struct provider *provider)
{
    return &provider->counts;
}

const struct tally *provider_recovery(struct provider *provider)
{
    hear_drops(provider);
    return &provider->recovery.tally;
}

void provider_window(struct provider *provider)
{
    hear_drops(provider);
    provider->recovery.tally = (struct tally){0};
    provider->window = now_of(provider);
    for (size_t i = 0; i < provider->spec->meter_count; i++) {
        meter_advance(&provider->meters[i], provider->window);
        provider->marks[i] = (struct provider_mark){provider->meters[i].taken, provider->meters[i].offered};
    }
}

void provider_use(struct provider *provider, size_t meter, double *taken, double *offered)
{
    const struct provider_mark *mark = &provider->marks[meter];
    struct meter *of = &provider->meters[meter];
    sim_time now = now_of(provider);
    double length = (double)(now - provider->window);

    meter_advance(of, now);
    *taken = (double)(of->taken - mark->taken) / 1e6;
    *offered = (double)(of->offered - mark->offered) / 1e6;
    if (!of->limit.level) {
        *offered /= (double)METER_DAY;
        return;
    }
    *taken = length > 0 ? *taken / length : NAN;
    *offered = length > 0 ? *offered / length : NAN;
}
