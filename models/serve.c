/* Services, from their start to their end. */
#include "models/serve.h"

#include <math.h>

#include "models/agent.h"
#include "models/cards.h"
#include "models/fan_out.h"
#include "models/gate.h"
#include "models/patience.h"
#include "models/scenario_hash.h"

static uint64_t whole_context(const struct call *call)
{
    return (uint64_t)(call->facts.input_tokens + call->facts.output_tokens);
}

static bool has_memory(const struct gate *gate)
{
    return gate->backend->kv != UINT64_MAX;
}

bool serve_ready_else(const struct gate *gate, const struct call *call)
{
    if (gate->provider)
        return true;
    if (gate->cards)
        return cards_ready(gate, call);
    return station_idle(&gate->station) > 0 &&
           (!has_memory(gate) || contexts_fit(&gate->contexts, whole_context(call)));
}

/* --- slots ---------------------------------------------------------------------------------------------------------
 */

/* How long the slot reads: what is new to the context that it has kept; everything if that is gone. */
static sim_time prefill_time(struct gate *gate, struct contexts *contexts, struct call *call)
{
    double cached = call->facts.cached_tokens;
    struct measure *measure = call->measure;

    if (has_memory(gate)) {
        double there = (double)contexts_pin(contexts, &call->agent->kept, whole_context(call));

        measure->starts++;
        measure->cold_starts += there <= 0;
        cached = cached < there ? cached : there;
    }
    call->cached = cached;
    return isinf(gate->backend->prefill)
               ? 0
               : sim_from_seconds((call->facts.input_tokens - cached) / gate->backend->prefill);
}

static void slot_takes(struct gate *gate, struct call *call)
{
    struct card *card = gate->cards ? cards_route(gate, call) : NULL;
    struct station *station = card ? &card->station : &gate->station;
    sim_time prefill = prefill_time(gate, card ? &card->contexts : &gate->contexts, call);
    sim_time answer = call->answer;

    if (!station->speed)
        call->service = prefill + answer;
    station_start_after(station, &call->job, prefill, answer, call->work);
}

static void slot_answers(void *world, struct station *station, struct station_job *job)
{
    struct gate *gate = container_of(station, struct gate, station);
    struct call *call = container_of(job, struct call, job);

    (void)world;
    if (has_memory(gate))
        contexts_unpin(&gate->contexts, call->agent ? &call->agent->kept : &call->kept);
    gate_answers(gate, call, false);
}

static void card_answers(void *world, struct station *station, struct station_job *job)
{
    struct card *card = card_of(station);
    struct call *call = container_of(job, struct call, job);

    (void)world;
    if (has_memory(card->gate))
        contexts_unpin(&card->contexts, call->agent ? &call->agent->kept : &call->kept);
    cards_freed(card->gate, card);
    gate_answers(card->gate, call, false);
}

/* --- pools ---------------------------------------------------------------------------------------------------------
 */

static struct meter_call meter_call_of(const struct gate *gate, const struct call *call)
{
    return (struct meter_call){.input = call->facts.input_tokens,
                               .cached = call->facts.cached_tokens,
                               .output = call->facts.output_tokens,
                               .max_tokens = gate->world->scenario->classes[call->facts.klass].max_tokens};
}

static void pool_ends(struct gate *gate, struct call *call, bool failed)
{
    struct meter_call real = meter_call_of(gate, call);

    if (failed)
        real.output = 0;
    provider_answers(gate->provider, call->ticket, &real);
    gate_answers(gate, call, failed);
}

static void pool_answers(void *world, struct event *event)
{
    struct call *call = container_of(event, struct call, next);

    (void)world;
    pool_ends(call->gate, call, false);
}

static void pool_fails(void *world, struct event *event)
{
    struct call *call = container_of(event, struct call, next);

    (void)world;
    pool_ends(call->gate, call, true);
}

static bool pool_takes(struct gate *gate, struct call *call, struct provider_refusal *refusal)
{
    struct world *world = gate->world;
    const struct provider_spec *spec = provider_spec(gate->provider);
    struct meter_call estimate = meter_call_of(gate, call);
    struct stream stream;

    if (!provider_ask(gate->provider, &estimate, call->ticket, refusal))
        return false;
    stream = stream_open(
        world->key, (struct stream_address){.purpose = call->is_part ? PURPOSE_PART_LATENCY : PURPOSE_LATENCY,
                                            .entity = agent_entity(agent_spec(world, call->agent), call->agent->index),
                                            .turn = call->try.turn,
                                            .attempt = (uint64_t)call->services++ << 32 | call->facts.attempt});
    call->next.fire = spec->errors > 0 && stream_uniform(&stream) < spec->errors ? pool_fails : pool_answers;
    call->service = provider_latency(spec, &estimate, &stream);
    call->cached = call->facts.cached_tokens;
    call->job.started = world_now(world);
    calendar_schedule(&world->calendar, &call->next, world_now(world) + call->service);
    return true;
}

bool serve_call_else(struct gate *gate, struct call *call, struct provider_refusal *refusal)
{
    if (gate->provider)
        return pool_takes(gate, call, refusal);
    slot_takes(gate, call);
    return true;
}

void serve_abandon(struct call *call, struct call *alive)
{
    struct provider_ticket *ticket = alive->ticket;
    struct call *next = alive->next_of_all;
    unsigned char *states = alive->states;
    struct layer_timer *timers = alive->timers;

    *alive = *call;
    alive->timers = timers;
    patience_moves(call, alive);
    alive->next_of_all = next;
    alive->ticket = ticket;
    alive->job = (struct station_job){0};
    alive->next = (struct event){0};
    call->states = states;
    if (call->is_part) {
        fan_out_moves(call, alive);
    } else {
        if (has_memory(call->gate)) {       /* else its context, if any, is at another of its backends */
            call->kept = call->agent->kept; /* for its end, which nobody will come back to */
            contexts_orphan(&call->agent->kept);
        }
        call->agent->call = alive;
    }
    call->agent = NULL;
}

/* --- the whole -----------------------------------------------------------------------------------------------------
 */

/* A pool is one, whatever gates lead to it: the first of them makes it. */
static struct provider *pool_of(struct gate *gate)
{
    struct world *world = gate->world;
    const struct backend *pool = &world->scenario->backends[gate->backend->pool];

    for (uint32_t i = 0; i < gate->index; i++)
        if (world->gates[i].backend->kind == BACKEND_PROVIDER && world->gates[i].backend->pool == gate->backend->pool)
            return world->gates[i].provider;
    return provider_new(pool->provider, &world->calendar, world->key, scenario_hash_name(pool->name), &world->arena);
}

void serve_init(struct gate *gate)
{
    struct world *world = gate->world;
    const struct backend *backend = gate->backend;

    if (backend->kind == BACKEND_PROVIDER) {
        gate->provider = pool_of(gate);
        return;
    }
    if (backend->cards) {
        cards_init(gate, card_answers);
        return;
    }
    if (backend->kv != UINT64_MAX)
        gate->contexts = (struct contexts){.limit = backend->kv, .arena = &world->arena};
    gate->plain = backend->kv == UINT64_MAX && isinf(backend->prefill);
    station_init(&gate->station, &world->calendar, backend->servers,
                 backend->speed && !backend->constant ? backend->speed : NULL, slot_answers);
}

void serve_fini(struct gate *gate)
{
    station_fini(&gate->station);
    if (gate->cards)
        cards_fini(gate);
}
