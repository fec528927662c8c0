/* meter.c - buckets, windows and what is in flight. All arithmetic that decides is on integers: see meter.h. */
#include "models/meter.h"

#include <math.h>

static bool in_flight(const struct meter_spec *spec)
{
    return !meter_is_rate(spec->kind);
}

static bool is_bucket(const struct meter_spec *spec)
{
    return spec->fill == FILL_CONTINUOUS || spec->fill == FILL_STEP;
}

static sim_sum full(const struct meter *meter)
{
    return (sim_sum)meter->burst * METER_DAY;
}

static sim_sum lesser(sim_sum a, sim_sum b)
{
    return a < b ? a : b;
}

/* What one window gives. */
static sim_sum allowance(const struct meter *meter)
{
    return (sim_sum)meter->limit.value * meter->spec->window;
}

/* --- time ------------------------------------------------------------------------------------------------------- */

/* The windows that open until then, under the present limit. */
static void windows_open(struct meter *meter, sim_time until)
{
    const struct meter_spec *spec = meter->spec;
    sim_sum windows, opens;

    if (until < meter->opens || meter->opens == SIM_NEVER)
        return;
    windows = (until - meter->opens) / spec->window + 1;
    opens = meter->opens + windows * spec->window;
    meter->opens = opens < SIM_NEVER ? (sim_time)opens : SIM_NEVER;
    if (is_bucket(spec))
        meter->left = lesser(meter->left + windows * allowance(meter), full(meter));
    else
        meter->left = allowance(meter);
}

/* Time passes, up to the end of the present piece of the limit at the most. */
static void time_passes(struct meter *meter, sim_time until)
{
    const struct meter_spec *spec = meter->spec;
    sim_time passed = until - meter->at;
    sim_sum given = (sim_sum)meter->limit.value * passed;

    SIM_ASSERT(NULL, passed >= 0);
    if (passed == 0)
        return;
    meter->at = until;
    meter->offered += given;
    if (in_flight(spec))
        meter->taken += (sim_sum)meter->flying * passed;
    else if (spec->fill == FILL_CONTINUOUS)
        meter->left = lesser(meter->left + given, full(meter));
}

/* The pieces of the limit that are over by now. */
static void pieces_pass(struct meter *meter, sim_time now)
{
    struct limit *limit = &meter->limit;

    SIM_ASSERT(NULL, now >= meter->at);
    while (limit->ends <= now) {
        sim_time end = limit->ends;
        windows_open(meter, end - 1); /* one that opens with the next piece is of that */
        time_passes(meter, end);
        limit_next(limit);
    }
}

void meter_advance(struct meter *meter, sim_time now)
{
    pieces_pass(meter, now);
    windows_open(meter, now);
    time_passes(meter, now);
}

void meter_init(struct meter *meter, const struct meter_spec *spec, struct stream_key key, uint64_t entity)
{
    *meter = (struct meter){.spec = spec, .burst = meter_micro(spec->burst), .opens = SIM_NEVER};
    limit_init(&meter->limit, &spec->limit, in_flight(spec), key, entity);
    if (in_flight(spec)) {
        SIM_ASSERT(NULL, spec->counts != COUNTS_AFTER);
        return;
    }
    if (spec->fill != FILL_CONTINUOUS) {
        SIM_ASSERT(NULL, spec->window > 0 && spec->window <= SIM_LONGEST);
        meter->opens = is_bucket(spec) ? spec->window : 0;
    }
    if (is_bucket(spec))
        meter->left = full(meter);
    meter_advance(meter, 0);
}

/* As of now, but for what opens at this instant. */
static void until_now(struct meter *meter, sim_time now)
{
    pieces_pass(meter, now);
    windows_open(meter, now - 1);
    time_passes(meter, now);
}

void meter_set_limit(struct meter *meter, sim_time now, double value)
{
    sim_sum before = allowance(meter);

    until_now(meter, now);
    limit_set(&meter->limit, value);
    /* The first window has opened when the meter was made. */
    if (now == 0 && meter->opens == meter->spec->window && !is_bucket(meter->spec) && !in_flight(meter->spec))
        meter->left += allowance(meter) - before;
}

void meter_set_burst(struct meter *meter, sim_time now, double value)
{
    bool made = now == 0; /* full at t = 0 */

    until_now(meter, now);
    meter->burst = meter_micro(value);
    meter->left = made ? full(meter) : lesser(meter->left, full(meter));
}

/* --- amounts ---------------------------------------------------------------------------------------------------- */

const char *const meter_names[] = {
    [METER_REQUESTS] = "requests", [METER_INPUT] = "input",         [METER_OUTPUT] = "output",
    [METER_TOTAL] = "total",       [METER_IN_FLIGHT] = "in_flight", [METER_TOKENS_IN_FLIGHT] = "tokens_in_flight",
    [METER_KINDS] = NULL,
};

static int64_t amount(const struct meter_spec *spec, const struct meter_call *call, double output)
{
    double input = call->input - call->cached + call->cached * spec->cached_weight;

    switch (spec->kind) {
    case METER_REQUESTS:
    case METER_IN_FLIGHT:
        return meter_micro(1);
    case METER_INPUT:
        return meter_micro(input);
    case METER_OUTPUT:
        return meter_micro(output);
    case METER_TOTAL:
    case METER_TOKENS_IN_FLIGHT:
        return meter_micro(input + output);
    case METER_KINDS:
        break;
    }
    sim_assert_failed(NULL, "the kind of meter is known", __FILE__, __LINE__);
}

int64_t meter_estimate(const struct meter_spec *spec, const struct meter_call *estimate)
{
    double output = estimate->output;

    if (spec->counts == COUNTS_AFTER)
        return 0;
    if (spec->counts == COUNTS_MAX_TOKENS && estimate->max_tokens > output && estimate->max_tokens < INFINITY)
        output = estimate->max_tokens;
    return amount(spec, estimate, output);
}

int64_t meter_real(const struct meter_spec *spec, const struct meter_call *real)
{
    return amount(spec, real, real->output);
}

/* --- calls ------------------------------------------------------------------------------------------------------ */

/* The level at which a call fits: what it takes; anything at all where that is counted afterwards. */
static sim_sum needed(const struct meter_spec *spec, int64_t estimate)
{
    return spec->counts == COUNTS_AFTER ? 1 : (sim_sum)estimate * METER_DAY;
}

static sim_sum divided_up(sim_sum a, sim_sum b)
{
    return (a + b - 1) / b;
}

bool meter_fits(struct meter *meter, sim_time now, int64_t estimate)
{
    meter_advance(meter, now);
    if (in_flight(meter->spec))
        return (sim_sum)meter->flying + estimate <= meter->limit.value;
    return meter->left >= needed(meter->spec, estimate);
}

sim_time meter_until(struct meter *meter, sim_time now, int64_t estimate)
{
    const struct meter_spec *spec = meter->spec;
    sim_sum most, gain, wait;

    if (meter_fits(meter, now, estimate))
        return 0;
    if (in_flight(spec))
        return SIM_NEVER;
    most = is_bucket(spec) ? full(meter) : allowance(meter);
    gain = spec->fill == FILL_CONTINUOUS ? meter->limit.value : allowance(meter); /* a ns, or a window */
    if (needed(spec, estimate) > most || gain == 0)
        return SIM_NEVER;
    if (spec->fill == FILL_CONTINUOUS)
        wait = divided_up(needed(spec, estimate) - meter->left, gain);
    else if (spec->fill == FILL_STEP)
        wait = meter->opens - now + (divided_up(needed(spec, estimate) - meter->left, gain) - 1) * spec->window;
    else
        wait = meter->opens - now;
    return wait <= SIM_LONGEST ? (sim_time)wait : SIM_NEVER;
}

static void charge(struct meter *meter, int64_t micro)
{
    meter->left -= (sim_sum)micro * METER_DAY;
    meter->taken += micro;
}

void meter_take(struct meter *meter, sim_time now, int64_t estimate)
{
    meter_advance(meter, now);
    if (in_flight(meter->spec))
        meter->flying += estimate;
    else
        charge(meter, estimate);
}

void meter_settle(struct meter *meter, sim_time now, sim_time since, int64_t estimate, int64_t real)
{
    const struct meter_spec *spec = meter->spec;

    meter_advance(meter, now);
    if (in_flight(spec)) {
        meter->flying -= estimate;
        SIM_ASSERT(NULL, meter->flying >= 0);
    } else if (spec->counts == COUNTS_AFTER) {
        charge(meter, real);
    } else if (!spec->settle) {
        return;
    } else if (is_bucket(spec)) {
        charge(meter, real - estimate);
        meter->left = lesser(meter->left, full(meter));
    } else if (since / spec->window == now / spec->window) {
        charge(meter, real - estimate);
    } else {
        meter->taken += real - estimate;
    }
}

void meter_refused(struct meter *meter, sim_time now, const struct meter_call *estimate)
{
    static const struct meter_call nothing = {0};
    const struct meter_spec *spec = meter->spec;

    meter_advance(meter, now);
    if (spec->refused_count && !in_flight(spec))
        charge(meter, spec->counts == COUNTS_AFTER ? meter_real(spec, &nothing) : meter_estimate(spec, estimate));
}

double meter_left(struct meter *meter, sim_time now)
{
    sim_sum left;

    meter_advance(meter, now);
    if (in_flight(meter->spec))
        left = (sim_sum)meter->limit.value - meter->flying;
    else
        left = meter->left;
    if (left <= 0)
        return 0;
    return (double)left / (in_flight(meter->spec) ? 1e6 : 1e6 * (double)METER_DAY);
}

double meter_limit(struct meter *meter, sim_time now)
{
    meter_advance(meter, now);
    return (double)meter->limit.value / 1e6 / (in_flight(meter->spec) ? 1 : 1440);
}
