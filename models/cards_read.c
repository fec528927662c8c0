/* cards_read.c - the mapping `cards:` of a slots backend. */
#include "models/readers.h"
#include "models/tables.h"
#include "sim/io/param.h"

/* So that the slots of all cards are numbers that every table can print. */
#define SLOTS_MOST 1000000

static bool numbers_fit(const struct reader *reader, const struct cards_keys *keys, const struct place *places,
                        const struct backend *backend, struct place place)
{
    if (keys->min > keys->max)
        diag_error(reader->diag, places[CARDS_MIN].file ? places[CARDS_MIN] : place,
                   "%s: cards: min is %lld and max is %lld: expected min to be at most max", backend->name,
                   (long long)keys->min, (long long)keys->max);
    else if (places[CARDS_START].file && (keys->start < keys->min || keys->start > keys->max))
        diag_error(reader->diag, places[CARDS_START],
                   "%s: cards: start is %lld: expected a number from min (%lld) to max (%lld)", backend->name,
                   (long long)keys->start, (long long)keys->min, (long long)keys->max);
    else if (keys->max * backend->servers > SLOTS_MOST)
        diag_error(reader->diag, places[CARDS_MAX],
                   "%s: cards: %lld cards of %u servers each: expected at most 1M servers in all", backend->name,
                   (long long)keys->max, (unsigned)backend->servers);
    else if (keys->signal == CARDS_TOKEN_VELOCITY && backend->service)
        diag_error(reader->diag, places[CARDS_SIGNAL],
                   "%s: cards: token_velocity is tokens admitted against what a card makes, and a card with a service "
                   "time makes none: expected utilisation or queue_length, or rate, step_time or throughput",
                   backend->name);
    else
        return true;
    return false;
}

bool cards_read(const struct reader *reader, const struct node *map, struct backend *backend)
{
    struct cards_keys keys = {0};
    struct place places[CARDS_KEYS] = {{0}};
    struct cards_spec *cards;
    struct dist *cold_start;

    param_defaults(cards_options, &keys, reader->arena);
    if (!reader_expects_map_of(reader, map, "cards", cards_options, "min: 1, max: 8") ||
        !param_read(cards_options, "cards", &keys, map, NULL, places, reader->arena, reader->diag) ||
        !numbers_fit(reader, &keys, places, backend, map->place))
        return false;
    cards = arena_zeroed(reader->arena, 1, sizeof *cards);
    cold_start = arena_zeroed(reader->arena, 1, sizeof *cold_start);
    *cards = (struct cards_spec){.min = (uint32_t)keys.min,
                                 .max = (uint32_t)keys.max,
                                 .start = (uint32_t)(places[CARDS_START].file ? keys.start : keys.min),
                                 .step = (uint32_t)keys.step,
                                 .signal = (enum cards_signal)keys.signal,
                                 .route = (enum cards_route)keys.route,
                                 .scrape = keys.scrape,
                                 .cooldown = keys.cooldown,
                                 .cooldown_up = places[CARDS_COOLDOWN_UP].file ? keys.cooldown_up : keys.cooldown,
                                 .target = (uint64_t)(keys.target * 1e6 + 0.5),
                                 .cold_start = cold_start};
    backend->cards = cards;
    return distribution_read(keys.cold_start, MEASURE_TIME, reader->columns, cold_start, reader->diag);
}
