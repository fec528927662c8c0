/* provider_guard.c - a window that slides by calls, and one by seconds. */
#include "models/provider_guard.h"

#include <string.h>

#include "models/purpose.h"

#define CELLS_A_MINUTE 60
#define TIMES_MOST 1e6 /* a larger factor is cut to it, so that products fit into 128 bits */

/* --- simultaneous arrival ---------------------------------------------------------------------------------------- */

void simultaneous_init(struct simultaneous *simultaneous, const struct simultaneous_spec *spec, struct stream_key key,
                       uint64_t entity, struct arena *arena)
{
    *simultaneous = (struct simultaneous){.spec = spec,
                                          .key = key,
                                          .entity = entity,
                                          .cold = meter_micro(spec->cold),
                                          .hot = meter_micro(spec->hot),
                                          .arena = arena};
}

static void simultaneous_forget(struct simultaneous *simultaneous, sim_time now)
{
    while (simultaneous->count > 0) {
        const struct arrival *oldest = &simultaneous->arrivals[simultaneous->first];

        if (oldest->at == now || now - oldest->at < simultaneous->spec->within) /* within 0: of this instant alone */
            return;
        simultaneous->tokens -= oldest->tokens;
        simultaneous->first = (simultaneous->first + 1) % simultaneous->room;
        simultaneous->count--;
    }
}

bool simultaneous_fits(struct simultaneous *simultaneous, sim_time now, int64_t tokens)
{
    if (simultaneous->cold == 0)
        return true;
    simultaneous_forget(simultaneous, now);
    return simultaneous->tokens + tokens <= (now < simultaneous->hot_until ? simultaneous->hot : simultaneous->cold);
}

/* The old ring is left to the arena: all rings together are less than twice the last one. */
static void simultaneous_grow(struct simultaneous *simultaneous)
{
    size_t room = simultaneous->room ? 2 * simultaneous->room : 64;
    struct arrival *arrivals = arena_zeroed(simultaneous->arena, room, sizeof *arrivals);

    for (size_t i = 0; i < simultaneous->count; i++)
        arrivals[i] = simultaneous->arrivals[(simultaneous->first + i) % simultaneous->room];
    simultaneous->arrivals = arrivals;
    simultaneous->first = 0;
    simultaneous->room = room;
}

void simultaneous_take(struct simultaneous *simultaneous, sim_time now, int64_t tokens)
{
    if (simultaneous->cold == 0)
        return;
    simultaneous_forget(simultaneous, now);
    if (simultaneous->count == simultaneous->room)
        simultaneous_grow(simultaneous);
    simultaneous->arrivals[(simultaneous->first + simultaneous->count++) % simultaneous->room] =
        (struct arrival){now, tokens};
    simultaneous->tokens += tokens;
}

void simultaneous_punish(struct simultaneous *simultaneous, sim_time now)
{
    struct stream stream = stream_open(simultaneous->key, (struct stream_address){.purpose = PURPOSE_SIMULTANEOUS,
                                                                                  .entity = simultaneous->entity,
                                                                                  .turn = simultaneous->refusals++});

    simultaneous->hot_until = now + sim_from_seconds(dist_draw(simultaneous->spec->recovery, &stream));
}

/* --- acceleration ------------------------------------------------------------------------------------------------ */

void acceleration_init(struct acceleration *acceleration, const struct acceleration_spec *spec, struct arena *arena)
{
    *acceleration = (struct acceleration){.times = meter_micro(spec->times < TIMES_MOST ? spec->times : TIMES_MOST),
                                          .free = meter_micro(spec->free)};
    if (acceleration->times == 0)
        return;
    acceleration->count = spec->over / SIM_SECOND + (spec->over % SIM_SECOND > 0);
    if (acceleration->count < CELLS_A_MINUTE)
        acceleration->count = CELLS_A_MINUTE;
    acceleration->cells = arena_zeroed(arena, (size_t)acceleration->count, sizeof *acceleration->cells);
}

static void acceleration_advance(struct acceleration *acceleration, sim_time now)
{
    sim_time cell = now / SIM_SECOND;

    if (cell - acceleration->cell >= acceleration->count) {
        memset(acceleration->cells, 0, (size_t)acceleration->count * sizeof *acceleration->cells);
        acceleration->minute = acceleration->over = 0;
        acceleration->cell = cell;
    }
    while (acceleration->cell < cell) {
        sim_sum *reused;

        acceleration->cell++;
        reused = &acceleration->cells[acceleration->cell % acceleration->count];
        /* A ring is at least a minute: 60 cells ago, also where that is the cell to be reused. */
        acceleration->minute -=
            acceleration->cells[(acceleration->cell + acceleration->count - CELLS_A_MINUTE) % acceleration->count];
        acceleration->over -= *reused;
        *reused = 0;
    }
}

bool acceleration_fits(struct acceleration *acceleration, sim_time now, int64_t tokens)
{
    sim_sum minute;

    if (acceleration->count == 0)
        return true;
    acceleration_advance(acceleration, now);
    minute = acceleration->minute + tokens;
    return minute <= acceleration->free ||
           minute * acceleration->count * 1000000 <= acceleration->over * CELLS_A_MINUTE * acceleration->times;
}

void acceleration_take(struct acceleration *acceleration, sim_time now, int64_t tokens)
{
    if (acceleration->count == 0)
        return;
    acceleration_advance(acceleration, now);
    acceleration->cells[acceleration->cell % acceleration->count] += tokens;
    acceleration->minute += tokens;
    acceleration->over += tokens;
}
