/* backend_read.c - the mapping `backends:`, and the backends of kind `slots` in it.
 *
 * However the speed of a slots backend was said, it becomes one list: tokens a second of one server while i of them are
 * busy. step_time says it of one token (base + per_busy_slot * i seconds); throughput says it of all slots together, as
 * engines log it, so a token takes i / throughput(i) seconds, and through those points goes the line of least squares.
 */
#include <gsl/gsl_fit.h>
#include <math.h>
#include <string.h>

#include "models/readers.h"
#include "models/tables.h"
#include "sim/io/param.h"

static const char ways[] = "rate, step_time, throughput or service";

static const double *constant_speed(const struct reader *reader, uint32_t servers, double rate)
{
    double *speed = arena_zeroed(reader->arena, (size_t)servers + 1, sizeof *speed);
    for (uint32_t i = 1; i <= servers; i++)
        speed[i] = rate;
    return speed;
}

/* From base and per-slot seconds of a token; NULL, with a message, where a token would take no time or less. */
static const double *stepped_speed(const struct reader *reader, const struct backend *backend, struct place place)
{
    double *speed = arena_zeroed(reader->arena, (size_t)backend->servers + 1, sizeof *speed);
    for (uint32_t i = 1; i <= backend->servers; i++) {
        double step = backend->step_base + backend->step_per_busy * i;
        if (step <= 0) {
            diag_error(reader->diag, place,
                       "%s: with %u of %u slots busy a token would take %.4g ms: expected more than 0", backend->name,
                       (unsigned)i, (unsigned)backend->servers, step * 1e3);
            return NULL;
        }
        speed[i] = 1 / step;
    }
    return speed;
}

static bool read_steps(const struct reader *reader, const struct node *map, struct backend *backend)
{
    struct step_keys keys = {0};
    param_defaults(step_options, &keys, reader->arena);
    if (!reader_expects_map_of(reader, map, "step_time", step_options, "base: 16.9 ms, per_busy_slot: 1.1 ms") ||
        !param_read(step_options, "step_time", &keys, map, NULL, NULL, reader->arena, reader->diag))
        return false;
    backend->step_base = sim_seconds(keys.base);
    backend->step_per_busy = sim_seconds(keys.per_busy_slot);
    backend->constant = keys.per_busy_slot == 0;
    backend->speed = stepped_speed(reader, backend, map->place);
    return backend->speed != NULL;
}

/* A key of `throughput`: how many slots are busy. 0, with a message, if it is no such number. */
static uint32_t busy_of(const struct reader *reader, const struct node_entry *entry, uint32_t servers)
{
    uint64_t busy = 0;
    bool whole = entry->key[0] && strspn(entry->key, "0123456789") == strlen(entry->key) && strlen(entry->key) < 10;
    for (const char *digit = entry->key; whole && *digit; digit++)
        busy = busy * 10 + (uint64_t)(*digit - '0');
    if (whole && busy >= 1 && busy <= servers)
        return (uint32_t)busy;
    diag_error(reader->diag, entry->place, "throughput: %s: expected a whole number of busy slots from 1 to %u",
               entry->key, (unsigned)servers);
    return 0;
}

/* What engines log while so many slots are busy; in the order of the file. */
struct points {
    double *busy, *rate, *step; /* tokens a second of all slots together; so, seconds of a token in each */
    struct place *places;
    size_t count;
};

static bool read_point(const struct reader *reader, const struct node_entry *entry, const struct backend *backend,
                       struct points *points)
{
    double busy = busy_of(reader, entry, backend->servers), rate = 0;
    if (busy < 1)
        return false;
    for (size_t i = 0; i < points->count; i++)
        if (points->busy[i] == busy) {
            diag_error(reader->diag, entry->place, "throughput: a second point for %.0f busy slots", busy);
            return false;
        }
    if (entry->value->kind != NODE_SCALAR) {
        diag_error(reader->diag, entry->value->place, "throughput: expected a rate such as 311 tokens/s, not %s",
                   node_kind_name(entry->value));
        return false;
    }
    if (!param_set(&throughput_option, backend->name, &rate, entry->value->text, entry->value->place, reader->arena,
                   reader->diag))
        return false;
    points->busy[points->count] = busy;
    points->rate[points->count] = rate;
    points->step[points->count] = busy / rate;
    points->places[points->count++] = entry->place;
    return true;
}

/* The line of least squares; what rounding leaves of a slope or a base of 0 is taken away. */
static void fit(const struct points *points, struct backend *backend)
{
    const double rounding = 1e-12;
    double cov00, cov01, cov11, sum_of_squares, *base = &backend->step_base, *slope = &backend->step_per_busy;
    *base = points->step[0];
    *slope = 0;
    if (points->count == 1)
        return;
    gsl_fit_linear(points->busy, 1, points->step, 1, points->count, base, slope, &cov00, &cov01, &cov11,
                   &sum_of_squares);
    *slope = fabs(*slope) < rounding * points->step[0] ? 0 : *slope;
    *base = fabs(*base) < rounding * points->step[0] ? 0 : *base;
}

/* A line that no card follows: more busy slots would make each of them faster, or all together slower. */
static bool line_makes_sense(const struct reader *reader, const struct backend *backend, const struct points *points,
                             struct place place)
{
    size_t few = 0, many = 0;
    for (size_t i = 1; i < points->count; i++) {
        few = points->busy[i] < points->busy[few] ? i : few;
        many = points->busy[i] > points->busy[many] ? i : many;
    }
    if (backend->step_per_busy < 0)
        diag_error(reader->diag, place,
                   "throughput: a token would get %.3g ms faster with each further busy slot (%.4g ms with %.0f busy, "
                   "%.4g ms with %.0f): expected at most %.4g tokens/s with %.0f busy",
                   -1e3 * backend->step_per_busy, 1e3 * points->step[few], points->busy[few], 1e3 * points->step[many],
                   points->busy[many], points->rate[few] / points->busy[few] * points->busy[many], points->busy[many]);
    else if (backend->step_base < 0)
        diag_error(reader->diag, place,
                   "throughput: all slots together would get slower the more of them are busy (%.4g tokens/s with %.0f "
                   "busy, %.4g with %.0f; a token's base would be %.3g ms): expected the output of all to grow, or to "
                   "stay the same",
                   points->rate[few], points->busy[few], points->rate[many], points->busy[many],
                   1e3 * backend->step_base);
    else
        return true;
    return false;
}

/* How far the line is from its points, and whether it reaches as far as it is used. */
static void judge_fit(const struct reader *reader, struct backend *backend, const struct points *points)
{
    const double error_most = 0.05;
    size_t worst = 0, many = 0;
    for (size_t i = 0; i < points->count; i++) {
        double fitted = backend->step_base + backend->step_per_busy * points->busy[i];
        double error = fabs(fitted - points->step[i]) / points->step[i];
        worst = error > backend->fit_error ? i : worst;
        backend->fit_error = fmax(backend->fit_error, error);
        many = points->busy[i] > points->busy[many] ? i : many;
    }
    backend->fit_points = (uint32_t)points->count;
    backend->fit_most = (uint32_t)points->busy[many];
    if (backend->fit_error > error_most)
        reader_warns(reader, points->places[worst],
                     arena_format(reader->arena,
                                  "throughput: the line through the points misses that of %.0f busy slots by %.3g %%: "
                                  "expected at most %.0f %%; do these points belong to one card?",
                                  points->busy[worst], 100 * backend->fit_error, 100 * error_most));
    if (backend->servers > 2 * backend->fit_most)
        reader_warns(reader, points->places[many],
                     arena_format(reader->arena,
                                  "throughput: measured up to %u busy slots only, and extrapolated to %u: expected a "
                                  "point for at least half of the slots",
                                  (unsigned)backend->fit_most, (unsigned)backend->servers));
}

static bool read_throughput(const struct reader *reader, const struct node *map, struct backend *backend)
{
    if (!reader_expects_map(reader, map, "throughput"))
        return false;
    if (map->count == 0) {
        diag_error(reader->diag, map->place, "throughput: expected points, such as {1: 56 tokens/s, 8: 311 tokens/s}");
        return false;
    }
    struct points points = {.busy = arena_zeroed(reader->arena, map->count, sizeof *points.busy),
                            .rate = arena_zeroed(reader->arena, map->count, sizeof *points.rate),
                            .step = arena_zeroed(reader->arena, map->count, sizeof *points.step),
                            .places = arena_zeroed(reader->arena, map->count, sizeof *points.places)};
    for (size_t i = 0; i < map->count; i++)
        if (!read_point(reader, &map->entries[i], backend, &points))
            return false;
    fit(&points, backend);
    if (!line_makes_sense(reader, backend, &points, map->place))
        return false;
    judge_fit(reader, backend, &points);
    backend->constant = backend->step_per_busy == 0;
    backend->speed = stepped_speed(reader, backend, map->place);
    return backend->speed != NULL;
}

static bool read_service(const struct reader *reader, const struct expr *expr, struct backend *backend)
{
    struct dist *service = arena_zeroed(reader->arena, 1, sizeof *service);
    backend->service = service;
    return distribution_read(expr, MEASURE_TIME, reader->columns, service, reader->diag);
}

static bool read_slots(const struct reader *reader, const struct node *map, struct backend *backend)
{
    struct slots_keys keys = {0};
    struct place places[SLOTS_KEYS] = {{0}};
    param_defaults(slots_options, &keys, reader->arena);
    if (!param_read(slots_options, backend->name, &keys, map, slots_others, places, reader->arena, reader->diag))
        return false;
    backend->servers = (uint32_t)keys.servers;
    backend->kv = keys.kv == INT64_MAX ? UINT64_MAX : (uint64_t)keys.kv;
    backend->kv_place = places[SLOTS_KV];
    backend->prefill = keys.prefill;

    const struct node *steps = node_get(map, "step_time"), *throughput = node_get(map, "throughput");
    const struct node *cards = node_get(map, "cards");
    bool rate = places[SLOTS_RATE].file, service = places[SLOTS_SERVICE].file;
    int said = rate + service + (steps != NULL) + (throughput != NULL);
    if (said != 1) {
        diag_error(reader->diag, map->place, "%s: expected %s of %s", backend->name, said == 0 ? "one" : "only one",
                   ways);
        return false;
    }
    bool good = true;
    if (steps) {
        good = read_steps(reader, steps, backend);
    } else if (throughput) {
        good = read_throughput(reader, throughput, backend);
    } else if (service) {
        good = read_service(reader, keys.service, backend);
    } else {
        backend->constant = true;
        backend->speed = constant_speed(reader, backend->servers, keys.rate);
    }
    return good && (!cards || cards_read(reader, cards, backend));
}

/* Its keys are known once its kind is. */
static bool read_backend(const struct reader *reader, const struct node *map, struct backend *backend)
{
    const struct option *option = &slots_options[SLOTS_KIND];
    const struct node *kind = node_get(map, option->key);
    struct slots_keys keys = {0};
    switch (backend_kind(map)) {
    case KIND_SLOTS:
        return read_slots(reader, map, backend);
    case KIND_PROVIDER:
        return provider_read(reader, map, backend);
    case KIND_ALIAS:
        return true; /* after all others */
    default:
        break;
    }
    if (kind && kind->kind == NODE_SCALAR)
        return param_set(option, backend->name, &keys, kind->text, kind->place, reader->arena, reader->diag);
    diag_error(reader->diag, kind ? kind->place : map->place, "%s: needs kind: %s", backend->name,
               param_expected(option, reader->arena));
    return false;
}

bool backends_read(const struct reader *reader, const struct node *map, const struct node *prices, struct place file,
                   struct scenario *scenario)
{
    if (!map || (map->kind == NODE_MAP && map->count == 0)) {
        diag_error(reader->diag, map ? map->place : file,
                   "no backends: expected backends: {NAME: {kind: slots, servers: 8, rate: 39 tokens/s}}");
        return false;
    }
    if (!reader_expects_map(reader, map, "backends"))
        return false;
    size_t before = reader->diag->errors;
    struct backend *backends = arena_zeroed(reader->arena, map->count, sizeof *backends);
    for (size_t i = 0; i < map->count; i++) {
        const struct node_entry *entry = &map->entries[i];
        backends[i] = (struct backend){.name = entry->key,
                                       .place = entry->place,
                                       .pool = (uint32_t)i,
                                       .kv = UINT64_MAX,
                                       .prefill = INFINITY,
                                       .step_base = NAN,
                                       .step_per_busy = NAN};
        if (reader_expects_row(reader, entry->key, entry->place, "backend") &&
            reader_expects_map(reader, entry->value, entry->key))
            read_backend(reader, entry->value, &backends[i]);
    }
    for (size_t i = 0; i < map->count; i++)
        if (backend_kind(map->entries[i].value) == KIND_ALIAS)
            alias_read(reader, map->entries[i].value, map, backends, &backends[i]);
    prices_read(reader, prices, backends, map->count);
    scenario->backends = backends;
    scenario->backend_count = map->count;
    return reader->diag->errors == before;
}
