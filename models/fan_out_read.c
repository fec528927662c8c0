/* fan_out_read.c - the mapping `fan_out:` of a class. */
#include <math.h>
#include <string.h>

#include "models/readers.h"
#include "models/tables.h"
#include "sim/io/param.h"

static bool read_distribution(const struct reader *reader, const struct expr *expr, enum measure measure,
                              const struct dist **out)
{
    if (!expr)
        return true;
    struct dist *dist = arena_zeroed(reader->arena, 1, sizeof *dist);
    *out = dist;
    return distribution_read(expr, measure, reader->columns, dist, reader->diag);
}

static bool is_number(const char *text, struct number *number)
{
    const char *end, *why;
    return unit_read(text, &end, number, &why) && !*end &&
           (number->quantity == QUANTITY_NUMBER || number->quantity == QUANTITY_COUNT) && number->value >= 1 &&
           (isinf(number->value) || (number->value == floor(number->value) && number->value < 0x1p62));
}

static bool read_wait_for(const struct reader *reader, const char *text, struct place place, struct fan_out_spec *spec)
{
    struct number number;
    spec->wait_for = UINT64_MAX;
    if (strcmp(text, "all") == 0)
        return true;
    if (is_number(text, &number) && !number.noun && isfinite(number.value)) {
        spec->wait_for = (uint64_t)number.value;
        return true;
    }
    diag_error(reader->diag, place, "fan_out: wait_for: %s: expected all, or a whole number of parts from 1 on", text);
    return false;
}

/* A count that has a noun is one of tokens. */
static bool read_at_once(const struct reader *reader, const char *text, struct place place, struct fan_out_spec *spec)
{
    struct number number;
    spec->parts_most = spec->tokens_most = UINT64_MAX;
    if (!is_number(text, &number) || (number.noun && strcmp(number.noun, "tokens") != 0)) {
        diag_error(reader->diag, place,
                   "fan_out: at_once: %s: expected a whole number of parts from 1 on, such as 8, or of tokens, such as "
                   "40k tokens, or inf",
                   text);
        return false;
    }
    if (isfinite(number.value))
        *(number.noun ? &spec->tokens_most : &spec->parts_most) = (uint64_t)number.value;
    return true;
}

/* A part that is larger than what may be under way could never be made. */
static bool check_tokens(const struct reader *reader, const struct place *places, struct place map,
                         const struct fan_out_spec *spec, const struct backend *backend)
{
    struct place tokens = places[FAN_OUT_TOKENS].file ? places[FAN_OUT_TOKENS] : map;
    if (!spec->tokens && spec->tokens_most != UINT64_MAX)
        diag_error(reader->diag, tokens, "fan_out: expected tokens: of a part, since at_once counts tokens");
    else if (!spec->tokens && backend->speed)
        diag_error(reader->diag, tokens, "fan_out: expected tokens: of a part, which %s takes time for", backend->name);
    else if (spec->tokens && dist_mean(spec->tokens) > (double)TURN_TOKENS_MOST)
        diag_error(reader->diag, tokens, "fan_out: tokens: expected a mean of at most %lld tokens a part",
                   (long long)TURN_TOKENS_MOST);
    else if (spec->tokens_most != UINT64_MAX && floor(dist_end(spec->tokens) + 0.5) > (double)spec->tokens_most)
        diag_error(reader->diag, tokens,
                   "fan_out: tokens: a part may have more of them than at_once lets be under way: expected a largest "
                   "value, such as lognormal(2k cv 0.5 most %llu), of at most %llu",
                   (unsigned long long)spec->tokens_most, (unsigned long long)spec->tokens_most);
    else
        return true;
    return false;
}

bool fan_out_read(const struct reader *reader, const struct node *map, const struct scenario *scenario,
                  const struct fan_out_spec **out)
{
    struct fan_out_keys keys = {0};
    struct place places[FAN_OUT_KEYS] = {{0}};
    if (!map)
        return true;
    param_defaults(fan_out_options, &keys, reader->arena);
    if (!reader_expects_map_of(reader, map, "fan_out", NULL, "to: tool, parts: 200, at_once: 8") ||
        !param_read(fan_out_options, "fan_out", &keys, map, NULL, places, reader->arena, reader->diag))
        return false;
    struct fan_out_spec *spec = arena_zeroed(reader->arena, 1, sizeof *spec);
    *out = spec;
    bool good = backend_find(reader, keys.to, places[FAN_OUT_TO], scenario, &spec->to);
    good &= read_distribution(reader, keys.parts, MEASURE_PARTS, &spec->parts);
    good &= read_distribution(reader, keys.tokens, MEASURE_TOKENS, &spec->tokens);
    good &= read_wait_for(reader, keys.wait_for, places[FAN_OUT_WAIT_FOR], spec);
    good &= read_at_once(reader, keys.at_once, places[FAN_OUT_AT_ONCE], spec);
    if (!good)
        return false;
    const struct backend *backend = &scenario->backends[spec->to];
    double mean = dist_mean(spec->parts);
    if (dist_is_constant(spec->parts) && mean != floor(mean)) {
        diag_error(reader->diag, places[FAN_OUT_PARTS], "fan_out: parts: %g: expected a whole number of parts", mean);
        return false;
    }
    if (spec->wait_for != UINT64_MAX && (double)spec->wait_for > floor(dist_end(spec->parts) + 0.5)) {
        diag_error(reader->diag, places[FAN_OUT_WAIT_FOR],
                   "fan_out: wait_for: %s: no turn has more than %.10g parts: expected all, or at most so many",
                   keys.wait_for, floor(dist_end(spec->parts) + 0.5));
        return false;
    }
    if (mean > FAN_OUT_PARTS_MOST) {
        diag_error(reader->diag, places[FAN_OUT_PARTS], "fan_out: parts: expected a mean of at most %d parts a turn",
                   FAN_OUT_PARTS_MOST);
        return false;
    }
    if (backend->kv != UINT64_MAX) {
        diag_error(reader->diag, places[FAN_OUT_TO],
                   "fan_out: to: %s has a memory (kv), and parts have no context to keep there: expected a backend "
                   "without",
                   backend->name);
        return false;
    }
    return check_tokens(reader, places, map->place, spec, backend);
}
