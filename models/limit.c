/* limit.c - a limit as a function of time that is constant in pieces. A piece follows from its number and, for the
 * walk, from the value before it, never from when somebody looked. */
#include "models/meter.h"
#include "models/purpose.h"

#define DAY (86400 * SIM_SECOND)

static sim_time later(sim_time at, sim_time by)
{
    return by < SIM_NEVER - at ? at + by : SIM_NEVER;
}

static int64_t quantised(const struct limit *limit, double amount)
{
    return meter_micro(limit->level ? amount : 86400 * amount);
}

static struct stream piece_stream(const struct limit *limit)
{
    return stream_open(
        limit->key, (struct stream_address){.purpose = PURPOSE_LIMIT, .entity = limit->entity, .turn = limit->piece});
}

/* Turned back at the bounds, as often as it takes. */
static int64_t folded(sim_sum value, int64_t least, int64_t most)
{
    sim_sum width = (sim_sum)most - least, off;

    if (width == 0)
        return least;
    off = (value - least) % (2 * width);
    if (off < 0)
        off = -off;
    return (int64_t)(least + (off <= width ? off : 2 * width - off));
}

static int64_t walked(const struct limit *limit)
{
    const struct limit_spec *spec = limit->spec;
    struct stream stream = piece_stream(limit);
    double move = (2 * stream_uniform(&stream) - 1) * (double)quantised(limit, spec->step);

    return folded((sim_sum)limit->value + (int64_t)(move < 0 ? move - 0.5 : move + 0.5),
                  quantised(limit, spec->values[1]), quantised(limit, spec->values[2]));
}

/* When the n-th part of all days begins: parts of a day that cannot be told in whole ns are cut down to them. */
static sim_time part_of_day(uint64_t n, size_t count)
{
    sim_sum at = (sim_sum)(n / count) * DAY + (sim_sum)(n % count) * DAY / (sim_sum)count;

    return at < SIM_NEVER ? (sim_time)at : SIM_NEVER;
}

static void piece_begins(struct limit *limit, sim_time from)
{
    const struct limit_spec *spec = limit->spec;

    switch (spec->law) {
    case LIMIT_CONSTANT:
        limit->value = quantised(limit, spec->values[0]);
        limit->ends = SIM_NEVER;
        return;
    case LIMIT_STEPS:
        limit->value = quantised(limit, spec->values[limit->piece]);
        limit->ends = limit->piece + 1 < spec->count ? spec->times[limit->piece + 1] : SIM_NEVER;
        return;
    case LIMIT_TWO_LEVEL: {
        struct stream stream = piece_stream(limit);
        sim_time dwell = sim_from_seconds(spec->dwell * stream_exponential(&stream));

        limit->value = quantised(limit, spec->values[limit->piece & 1]);
        limit->ends = later(from, dwell > 0 ? dwell : 1); /* so that time goes on, however short the mean */
        return;
    }
    case LIMIT_WALK:
        limit->value = limit->piece == 0 ? quantised(limit, spec->values[0]) : walked(limit);
        limit->ends = later(from, spec->every);
        return;
    case LIMIT_DAY:
        limit->value = quantised(limit, spec->values[limit->piece % spec->count]);
        limit->ends = part_of_day(limit->piece + 1, spec->count);
        return;
    }
    sim_assert_failed(NULL, "the law of the limit is known", __FILE__, __LINE__);
}

void limit_init(struct limit *limit, const struct limit_spec *spec, bool level, struct stream_key key, uint64_t entity)
{
    SIM_ASSERT(NULL, spec->law != LIMIT_WALK || (spec->every > 0 && spec->values[1] <= spec->values[2]));
    *limit = (struct limit){.spec = spec, .key = key, .entity = entity, .level = level};
    piece_begins(limit, 0);
}

void limit_set(struct limit *limit, double value)
{
    SIM_ASSERT(NULL, limit->spec->law == LIMIT_CONSTANT);
    limit->value = quantised(limit, value);
}

void limit_next(struct limit *limit)
{
    SIM_ASSERT(NULL, limit->ends < SIM_NEVER);
    limit->piece++;
    piece_begins(limit, limit->ends);
}
