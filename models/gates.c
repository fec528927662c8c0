/* Gates as a whole: their making, their windows, and the pool of calls. */
#include "models/alerts.h"
#include "models/cards.h"
#include "models/gate.h"
#include "models/lines.h"
#include "models/serve.h"

struct call *call_make(struct world *world)
{
    struct call *call = arena_zeroed(&world->arena, 1, sizeof *call);

    call->states = world->call_bytes ? arena_zeroed(&world->arena, world->call_gates, world->call_bytes) : NULL;
    call->ticket = world->ticket_bytes ? arena_zeroed(&world->arena, 1, world->ticket_bytes) : NULL;
    call->next_of_all = world->calls;
    world->calls = call;
    return call;
}

void gate_window(struct gate *gate)
{
    sim_time now = world_now(gate->world);

    gate->queue_area = level_area(&gate->queue_level, now);
    gate->busy_area = level_area(&gate->busy_level, now);
    gate->system_area = level_area(&gate->system_level, now);
    gate_book_age(gate);
    ramps_clear(&gate->age_ramps);
    if (gate->provider)
        provider_window(gate->provider);
    if (gate->cards)
        cards_window(gate);
}

static const char *const *class_names(struct world *world)
{
    const struct scenario *scenario = world->scenario;
    const char **names = arena_zeroed(&world->arena, scenario->class_count, sizeof *names);

    for (size_t i = 0; i < scenario->class_count; i++)
        names[i] = scenario->classes[i].name;
    return names;
}

void gate_init(struct gate *gate, struct world *world, uint32_t index)
{
    const struct scenario *scenario = world->scenario;

    gate->world = world;
    gate->index = index;
    gate->logged = world->watch && world->watch->attempted;
    gate->backend = &scenario->backends[index];
    gate->view = (struct policy_view){
        .gate = index,
        .classes = (uint32_t)scenario->class_count,
        .tenants = (uint32_t)scenario->tenant_count,
        .class_names = class_names(world),
        .tenant_names = scenario->tenants,
        .held = totals_init(world, &gate->held_totals),
        .waiting = totals_init(world, &gate->waiting_totals),
    };
    if (gate->hooks.pick) {
        gate->flow_count = gate->hooks.pick->ops->flows;
        gate->flows = arena_zeroed(&world->arena, gate->flow_count, sizeof *gate->flows);
        gate->waiting_in_flow = arena_zeroed(&world->arena, gate->flow_count, sizeof(uint64_t));
    }
    serve_init(gate);
    alerts_begin(gate);
    gate->in_order = gate->hooks.admit.count == 0 && gate->hooks.finish.count == 0 && !gate->hooks.rank &&
                     gate->alert_count == 0 && !scenario_spills(scenario);
}

void gate_fini(struct gate *gate)
{
    serve_fini(gate);
    ramps_fini(&gate->age_ramps);
}
