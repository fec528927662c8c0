/* Patience of the layers above the innermost. */
#include "models/patience.h"

#include "models/client.h"
#include "models/gate.h"

static const struct client *client_of(const struct world *world, const struct call *call)
{
    return &world->classes[call->facts.klass].spec->client;
}

static void layer_times_out(void *world, struct event *event)
{
    struct layer_timer *timer = container_of(event, struct layer_timer, event);

    (void)world;
    gate_withdraw(timer->call, timer->layer);
}

void patience_ends_else(struct world *world, struct call *call, uint32_t last)
{
    uint32_t layers = client_of(world, call)->layer_count;

    for (uint32_t i = 1; call->timers && i < layers && i <= last; i++)
        calendar_cancel(&world->calendar, &call->timers[i - 1].event);
}

void patience_begins_else(struct world *world, struct call *call, uint32_t last)
{
    const struct client *client = client_of(world, call);

    for (uint32_t i = 1; i < client->layer_count && i < client_call_layers(client) && i <= last; i++) {
        if (client->layers[i].timeout >= SIM_LONGEST)
            continue;
        if (!call->timers) /* for whatever class has the call next */
            call->timers = arena_zeroed(&world->arena, CLIENT_LAYERS_MOST - 1, sizeof *call->timers);
        call->timers[i - 1].call = call;
        call->timers[i - 1].layer = i;
        call->timers[i - 1].event.fire = layer_times_out;
        calendar_schedule(&world->calendar, &call->timers[i - 1].event, world_now(world) + client->layers[i].timeout);
    }
}

void patience_moves(struct call *from, struct call *to)
{
    struct layer_timer *timers = to->timers;

    to->timers = from->timers;
    from->timers = timers;
    for (uint32_t i = 0; to->timers && i < CLIENT_LAYERS_MOST - 1; i++)
        to->timers[i].call = to;
}
