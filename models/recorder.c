/* The recorder: one event, which notes and samples, each in its time. */
#include "models/recorder.h"

#include <string.h>

#include "models/gauges.h"

#define MINUTE (60 * SIM_SECOND)

struct recorder {
    struct event event;
    sim_time sample, note; /* when the next ones are; note SIM_NEVER: none are needed */
    const struct gauges *gauges;
    sim_time every;
    double *values;
    uint64_t *counts;          /* [room][gate]: notes whose sample is still to come, from `first` on, around */
    size_t room, first, noted; /* noted: since t = 0, by the event; first: the next one that a sample takes */
};

static uint64_t *note_at(const struct world *world, const struct recorder *recorder, size_t index)
{
    return recorder->counts + index % recorder->room * world->scenario->backend_count;
}

static void take_note(struct world *world, struct recorder *recorder)
{
    uint64_t *counts = note_at(world, recorder, recorder->noted++);

    for (size_t i = 0; i < world->scenario->backend_count; i++)
        counts[i] = world->gates[i].counts.overloads;
    recorder->note += recorder->every;
}

static void take_sample(struct world *world, struct recorder *recorder)
{
    bool noted = recorder->room > 0 && world_now(world) >= MINUTE; /* before that the count began at 0 */
    const uint64_t *before = noted ? note_at(world, recorder, recorder->first++) : NULL;

    for (size_t i = 0; i < recorder->gauges->count; i++) {
        const struct gauge *gauge = &recorder->gauges->list[i];

        recorder->values[i] = gauge_value(world, gauge);
        if (gauge->kind == GAUGE_OVERLOADS && before)
            recorder->values[i] -= (double)before[gauge->gate];
    }
    world->watch->recorded(world->watch->context, world_now(world), recorder->values);
    recorder->sample += recorder->every;
}

static void await(struct world *world, struct recorder *recorder)
{
    calendar_schedule(&world->calendar, &recorder->event,
                      recorder->note < recorder->sample ? recorder->note : recorder->sample);
}

/* What else is due at this instant comes first, and what that leads to: the event goes behind it until nothing is left.
 */
static void look(void *world_pointer, struct event *event)
{
    struct world *world = world_pointer;
    struct recorder *recorder = container_of(event, struct recorder, event);

    if (!calendar_instant_goes_on(&world->calendar)) {
        if (recorder->note == world_now(world))
            take_note(world, recorder);
        if (recorder->sample == world_now(world))
            take_sample(world, recorder);
    }
    await(world, recorder);
}

static bool looks_back(const struct gauges *gauges)
{
    for (size_t i = 0; i < gauges->count; i++)
        if (gauges->list[i].kind == GAUGE_OVERLOADS)
            return true;
    return false;
}

void recorder_begin(struct world *world)
{
    const struct trial_watch *watch = world->watch;
    struct recorder *recorder;
    sim_time every;

    if (!watch || !watch->recorded)
        return;
    every = world->scenario->record->every;
    recorder = arena_zeroed(&world->arena, 1, sizeof *recorder);
    recorder->gauges = watch->gauges;
    recorder->every = every;
    recorder->values = arena_zeroed(&world->arena, watch->gauges->count, sizeof(double));
    recorder->event.fire = look;
    recorder->note = SIM_NEVER;
    if (looks_back(watch->gauges)) {
        sim_time samples = (MINUTE + every - 1) / every; /* in a minute: the first of them that one ends before */

        recorder->room = (size_t)samples + 1;
        recorder->counts =
            arena_zeroed(&world->arena, recorder->room * world->scenario->backend_count, sizeof *recorder->counts);
        recorder->note = samples * every - MINUTE;
    }
    await(world, recorder);
}
