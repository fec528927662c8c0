/* Alerts of a gate. */
#include "models/alerts.h"

struct alert_state {
    const struct alert *alert;
    size_t index; /* in the scenario */
    struct gate *gate;
    struct event due;     /* the oldest call is as old as it may be */
    struct event settles; /* the instant at which it was looked at last is over */
    sim_time looked;
    bool on, wanted; /* as it was told; as it was seen last */
};

static void tell(struct alert_state *state, sim_time at, bool on)
{
    const struct gate *gate = state->gate;
    const struct trial_watch *watch = gate->world->watch;

    state->on = on;
    watch->alerted(watch->context, &(struct alert_record){at, state->index, gate->index, on});
}

static void settle(struct alert_state *state)
{
    if (state->wanted != state->on)
        tell(state, state->looked, state->wanted);
}

static void instant_over(void *world, struct event *event)
{
    struct alert_state *state = container_of(event, struct alert_state, settles);

    if (state->looked < world_now(world))
        settle(state);
}

/* What comes and goes within one instant is told of to nobody: what counts is how the instant ends. */
static void seen(struct alert_state *state, bool wanted)
{
    struct world *world = state->gate->world;
    sim_time now = world_now(world);

    if (state->looked < now)
        settle(state);
    state->looked = now;
    state->wanted = wanted;
    calendar_cancel(&world->calendar, &state->settles);
    if (wanted != state->on)
        calendar_schedule(&world->calendar, &state->settles, now + 1);
}

static void comes_due(void *world, struct event *event)
{
    (void)world;
    seen(container_of(event, struct alert_state, due), true);
}

/* On from the moment at which the oldest has that age, if it is older after that. */
static void look_at_age(struct gate *gate, struct alert_state *state)
{
    sim_time now = world_now(gate->world), due = SIM_NEVER;

    calendar_cancel(&gate->world->calendar, &state->due);
    if (gate->ages.head)
        due = container_of(gate->ages.head, struct call, age)->facts.attempted + state->alert->age;
    seen(state, now >= due);
    if (now < due && gate->ages.head)
        calendar_schedule(&gate->world->calendar, &state->due, due);
}

void alerts_look(struct gate *gate)
{
    for (size_t i = 0; i < gate->alert_count; i++) {
        struct alert_state *state = &gate->alerts[i];

        if (state->alert->kind == ALERT_QUEUE_AGE)
            look_at_age(gate, state);
        else if (state->alert->kind == ALERT_QUEUE_DEPTH)
            seen(state, gate->ages.length > state->alert->depth);
    }
}

/* Does a policy limit what its callers send to the pool, at whichever of its gates or at the door? */
static bool is_limited(const struct gate *gate)
{
    const struct world *world = gate->world;

    for (size_t i = 0; i < world->scenario->backend_count; i++) {
        const struct gate *one = &world->gates[i];

        if (one->backend->pool == gate->backend->pool && one->hooks.admit.count + one->hooks.run_admit.count > 0)
            return true;
    }
    return false;
}

void alerts_overload(struct gate *gate)
{
    for (size_t i = 0; i < gate->alert_count; i++) {
        enum alert_kind kind = gate->alerts[i].alert->kind;

        if (kind == ALERT_PROVIDER_429 || (kind == ALERT_PROVIDER_429_LIMITED && is_limited(gate)))
            tell(&gate->alerts[i], world_now(gate->world), true);
    }
}

void alerts_begin(struct gate *gate)
{
    const struct world *world = gate->world;
    const struct scenario *scenario = world->scenario;

    if (!world->watch || !world->watch->alerted)
        return;
    gate->alerts = arena_zeroed(&gate->world->arena, scenario->alert_count, sizeof *gate->alerts);
    for (size_t i = 0; i < scenario->alert_count; i++) {
        const struct alert *alert = &scenario->alerts[i];

        if (alert->at >= 0 && alert->at != (int64_t)gate->index)
            continue;
        gate->alerts[gate->alert_count++] = (struct alert_state){
            .alert = alert, .index = i, .gate = gate, .due = {.fire = comes_due}, .settles = {.fire = instant_over}};
    }
}
