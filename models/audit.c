/* Bookkeeping held against itself. */
#include "models/audit.h"

#include "models/agent.h"
#include "models/cards.h"
#include "models/door.h"
#include "models/fan_out.h"
#include "models/serve.h"

static void gate_audit(const struct gate *gate)
{
    const struct gate_counts *n = &gate->counts;
    const struct world *world = gate->world;
    sim_time now = world_now(world);
    sim_sum still = 0;

    WORLD_ASSERT(world, n->attempts + n->agains == n->admitted + n->deferred + n->rejected + n->withdrawn +
                                                       n->hold_expired + n->spilled + gate->held.length);
    WORLD_ASSERT(world, n->admitted == n->done + n->shed + n->displaced + n->overloads + n->errors + n->timeouts +
                                           n->abandoned + n->spilled_waiting + gate->waiting.length + gate->in_service);
    /* Little's law for the line, customer by customer; for the system; the utilisation law. */
    for (const struct queue_node *node = gate->waiting.head; node; node = node->next)
        still += now - container_of(node, struct call, line)->facts.joined;
    WORLD_ASSERT(world, level_area(&gate->queue_level, now) == gate->waited + still);
    WORLD_ASSERT(world, level_area(&gate->system_level, now) ==
                            gate->stayed + (sim_sum)gate->system_level.value * now - gate->joined_of_present);
    WORLD_ASSERT(world, level_area(&gate->busy_level, now) ==
                            gate->served + (sim_sum)gate->busy_level.value * now - gate->started_of_busy);
    WORLD_ASSERT(world, gate->system_level.value == (int64_t)(gate->waiting.length + gate->in_service));
    WORLD_ASSERT(world, gate->queue_level.value == (int64_t)gate->waiting.length);
    WORLD_ASSERT(world, gate->provider || gate->busy_level.value == gate->station.busy);
    WORLD_ASSERT(world, gate->contexts.pinned + gate->contexts.warm <= gate->contexts.limit);
    if (gate->cards)
        cards_audit(gate);
    /* Work is conserved: nobody waits while a server idles and has the memory. */
    if (gate->waiting.length > 0)
        WORLD_ASSERT(world, !serve_ready(gate, gate->picked ? gate->picked
                                                            : container_of(gate->waiting.head, struct call, line)));
}

/* What is wasted was served; of a run it is booked at its first backend, wherever it was served. */
static void class_audit(const struct world *world, size_t klass)
{
    sim_sum wasted = 0, served = 0;

    for (size_t i = 0; i < world->scenario->backend_count; i++) {
        const struct gate *gate = &world->gates[i];

        wasted += gate->measures[klass].wasted_tokens + (gate->parts ? gate->parts[klass].wasted_tokens : 0);
        served += gate->measures[klass].served_tokens + (gate->parts ? gate->parts[klass].served_tokens : 0);
    }
    WORLD_ASSERT(world, wasted <= served);
}

/* The parts of one agent, as they stand in its list. */
static uint64_t fan_audit(const struct world *world, const struct agent *agent)
{
    const struct fan *fan = agent->fan;
    uint64_t open = 0, tokens = 0;

    if (agent->place != AGENT_FANNING_OUT) {
        WORLD_ASSERT(world, !fan || (fan->open == 0 && !fan->first));
        return 0;
    }
    for (const struct call *part = fan->first; part; part = part->part_behind) {
        WORLD_ASSERT(world, part->agent == agent && part->fan == fan && part->is_part);
        open++;
        tokens += (uint64_t)part->facts.output_tokens;
    }
    WORLD_ASSERT(world, open == fan->open && tokens == fan->open_tokens && !fan->at_work);
    WORLD_ASSERT(world, fan->made == fan->open + fan->back + fan->lost && fan->made <= fan->parts);
    WORLD_ASSERT(world, fan->open <= agent_spec(world, agent)->fan_out->parts_most &&
                            tokens <= agent_spec(world, agent)->fan_out->tokens_most);
    return open;
}

/* Every agent that calls has one call, of its turn; one that fans out has its parts; and every call is where its gate
 * says. */
void world_audit(const struct world *world)
{
    uint64_t calling = 0, parts = 0, places[CALL_BACKING_OFF + 1] = {0}, held = 0, waiting = 0, in_service = 0;
    uint64_t agents[AGENT_FANNING_OUT + 1] = {0}, alive, fanned = 0;

    for (const struct agent *agent = world->agents; agent; agent = agent->next_of_all) {
        agents[agent->place]++;
        fanned += fan_audit(world, agent);
        WORLD_ASSERT(world, (agent->place == AGENT_CALLING) == (agent->call != NULL));
    }
    alive = agents[AGENT_AT_DOOR] + agents[AGENT_BOOTING] + agents[AGENT_THINKING] + agents[AGENT_CALLING] +
            agents[AGENT_FANNING_OUT];
    for (const struct call *call = world->calls; call; call = call->next_of_all) {
        if (!call->agent)
            continue;
        if (call->is_part)
            parts++;
        else
            calling++;
        places[call->place]++;
    }
    for (size_t i = 0; i < world->scenario->backend_count; i++) {
        gate_audit(&world->gates[i]);
        held += world->gates[i].held.length;
        waiting += world->gates[i].waiting.length;
        in_service += world->gates[i].in_service;
    }
    for (size_t i = 0; i < world->scenario->class_count; i++)
        class_audit(world, i);
    door_audit(world);
    WORLD_ASSERT(world, alive == world->agents_alive && agents[AGENT_BOOTING] == world->agents_booting);
    WORLD_ASSERT(world, calling == world->agents_calling && calling == agents[AGENT_CALLING]);
    WORLD_ASSERT(world, parts == world->parts_open && parts == fanned);
    WORLD_ASSERT(world, places[CALL_NOWHERE] == 0 && places[CALL_HELD] == held && places[CALL_WAITING] == waiting &&
                            places[CALL_IN_SERVICE] == in_service);
}
