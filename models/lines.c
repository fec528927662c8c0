/* Joining and leaving a gate's lines, each with its double entry for the operational laws. */
#include "models/lines.h"

#include "models/alerts.h"
#include "models/host.h"

struct policy_line totals_init(struct world *world, struct line_totals *totals)
{
    size_t classes = world->scenario->class_count, tenants = world->scenario->tenant_count;

    totals->calls_by_class = arena_zeroed(&world->arena, classes, sizeof(uint64_t));
    totals->calls_by_tenant = arena_zeroed(&world->arena, tenants, sizeof(uint64_t));
    totals->tokens_by_class = arena_zeroed(&world->arena, classes, sizeof(double));
    totals->tokens_by_tenant = arena_zeroed(&world->arena, tenants, sizeof(double));
    return (struct policy_line){.calls_by_class = totals->calls_by_class,
                                .calls_by_tenant = totals->calls_by_tenant,
                                .tokens_by_class = totals->tokens_by_class,
                                .tokens_by_tenant = totals->tokens_by_tenant};
}

static inline void totals_join(const struct world *world, struct line_totals *totals, struct call *call)
{
    if (!world->looked_at)
        return;
    call->line_tokens = call->facts.input_tokens + call->facts.output_tokens;
    totals->calls_by_class[call->facts.klass]++;
    totals->calls_by_tenant[call->facts.tenant]++;
    totals->tokens += call->line_tokens;
    totals->tokens_by_class[call->facts.klass] += call->line_tokens;
    totals->tokens_by_tenant[call->facts.tenant] += call->line_tokens;
}

static inline void totals_leave(const struct world *world, struct line_totals *totals, const struct call *call)
{
    if (!world->looked_at)
        return;
    totals->calls_by_class[call->facts.klass]--;
    totals->calls_by_tenant[call->facts.tenant]--;
    totals->tokens -= call->line_tokens;
    totals->tokens_by_class[call->facts.klass] -= call->line_tokens;
    totals->tokens_by_tenant[call->facts.tenant] -= call->line_tokens;
}

void gate_book_age(struct gate *gate)
{
    sim_time now = world_now(gate->world);
    const struct call *oldest = gate_oldest(gate);

    if (oldest) {
        ramps_add(&gate->age_ramps, gate->age_since - oldest->facts.attempted, now - oldest->facts.attempted);
    } else {
        ramps_zero(&gate->age_ramps, now - gate->age_since);
    }
    gate->age_since = now;
}

/* Where it may go on to another backend, it does so when it has been here for long enough. */
static void spill_joins(struct gate *gate, struct call *call)
{
    const struct agent_class *spec = &gate->world->scenario->classes[call->facts.klass];
    sim_time now = world_now(gate->world), due;

    if (spec->spill != SPILL_WAIT || call->is_part || call->backend + 1 >= spec->backend_count)
        return;
    due = call->arrived + spec->spill_after;
    calendar_schedule(&gate->world->calendar, &call->spill, due > now ? due : now);
}

static void age_join(struct gate *gate, struct call *call)
{
    if (queue_holds(&call->age))
        return;
    spill_joins(gate, call);
    if (!gate->ages.head || container_of(gate->ages.head, struct call, age)->facts.attempted > call->facts.attempted)
        gate_book_age(gate);
    queue_join(&gate->ages, &call->age, call->facts.attempted);
    if (gate->alert_count > 0)
        alerts_look(gate);
}

void lines_leave_else(struct gate *gate, struct call *call)
{
    if (gate->ages.head == &call->age)
        gate_book_age(gate);
    queue_leave(&gate->ages, &call->age);
    calendar_cancel(&gate->world->calendar, &call->spill);
    if (gate->alert_count > 0)
        alerts_look(gate);
}

void held_join(struct gate *gate, struct call *call)
{
    call->place = CALL_HELD;
    call->facts.held_since = call->facts.ever_held ? call->facts.held_since : world_now(gate->world);
    call->facts.ever_held = true;
    queue_join(&gate->held, &call->line, host_rank(gate, call, true));
    totals_join(gate->world, &gate->held_totals, call);
    age_join(gate, call);
}

void held_leave(struct gate *gate, struct call *call)
{
    call->place = CALL_NOWHERE;
    queue_leave(&gate->held, &call->line);
    totals_leave(gate->world, &gate->held_totals, call);
}

void waiting_join(struct gate *gate, struct call *call)
{
    int64_t rank = host_rank(gate, call, false);

    call->flow_index = gate->flow_count ? host_flow(gate, call) : 0;
    call->place = CALL_WAITING;
    if (gate->in_order && !gate->waiting.head)
        gate_book_age(gate);
    queue_join(&gate->waiting, &call->line, rank);
    if (gate->flow_count) {
        queue_join(&gate->flows[call->flow_index], &call->flow, 0);
        gate->waiting_in_flow[call->flow_index]++;
    }
    totals_join(gate->world, &gate->waiting_totals, call);
    level_change(&gate->queue_level, world_now(gate->world), 1);
    if (!gate->in_order)
        age_join(gate, call);
}

void waiting_leave(struct gate *gate, struct call *call)
{
    sim_time now = world_now(gate->world);

    call->place = CALL_NOWHERE;
    if (gate->picked == call)
        gate->picked = NULL;
    if (gate->in_order && gate->waiting.head == &call->line)
        gate_book_age(gate);
    queue_leave(&gate->waiting, &call->line);
    if (gate->flow_count) {
        queue_leave(&gate->flows[call->flow_index], &call->flow);
        gate->waiting_in_flow[call->flow_index]--;
    }
    totals_leave(gate->world, &gate->waiting_totals, call);
    level_change(&gate->queue_level, now, -1);
    gate->waited += now - call->facts.joined;
}

void system_leave(struct gate *gate, const struct call *call)
{
    sim_time now = world_now(gate->world);

    level_change(&gate->system_level, now, -1);
    gate->stayed += now - call->facts.joined;
    gate->joined_of_present -= call->facts.joined;
}

static void line_view(struct policy_line *view, const struct queue *line, double tokens)
{
    view->calls = line->length;
    view->tokens = tokens;
    view->head = line->head ? &container_of(line->head, struct call, line)->facts : NULL;
    view->tail = line->tail ? &container_of(line->tail, struct call, line)->facts : NULL;
}

const struct policy_view *gate_view(struct gate *gate)
{
    struct policy_view *view = &gate->view;

    view->now = world_now(gate->world);
    view->servers = gate->station.servers;
    view->busy = (uint64_t)gate->busy_level.value;
    view->in_service = gate->in_service;
    line_view(&view->held, &gate->held, gate->held_totals.tokens);
    line_view(&view->waiting, &gate->waiting, gate->waiting_totals.tokens);
    return view;
}
