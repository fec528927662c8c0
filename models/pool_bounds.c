/* How many agents a metered pool carries. */
#include "models/pool_bounds.h"

#include <math.h>

#include "models/demand.h"
#include "models/input.h"
#include "models/memory_use.h"

static bool in_flight(enum meter_kind kind)
{
    return !meter_is_rate(kind);
}

/* Steps come once and have no mean; two levels last equally long; a walk between two walls is everywhere equally often.
 */
static double limit_of(const struct limit_spec *limit, enum limit_taken *taken)
{
    double sum = 0, least = INFINITY;

    for (size_t i = 0; i < limit->count; i++) {
        sum += limit->values[i];
        least = fmin(least, limit->values[i]);
    }
    *taken = limit->law == LIMIT_CONSTANT ? LIMIT_AS_IS : limit->law == LIMIT_STEPS ? LIMIT_LEAST : LIMIT_MEAN;
    if (limit->law == LIMIT_WALK)
        return (limit->values[1] + limit->values[2]) / 2;
    return limit->law == LIMIT_STEPS ? least : sum / (double)limit->count;
}

/* A context that grows for ever has no mean, and a meter of what is sent does not let it in for ever. */
static bool endless(const struct meter_spec *spec, const struct meter_call *mean)
{
    return isinf(mean->input) &&
           (spec->kind == METER_INPUT || spec->kind == METER_TOTAL || spec->kind == METER_TOKENS_IN_FLIGHT);
}

/* What of the mean call the meter looks at: where cached input is free, what is new, which has a mean also where the
 * context grows for ever. */
static struct meter_call seen_by(const struct meter_spec *spec, struct meter_call mean, double fresh)
{
    if (spec->cached_weight == 0) {
        mean.input = fresh;
        mean.cached = 0;
    }
    return mean;
}

/* Charges are linear in the tokens of a call, so that the mean call is charged the mean. */
static double charge_of(const struct meter_spec *spec, const struct meter_call *mean)
{
    bool corrected = spec->counts == COUNTS_AFTER || spec->settle;

    if (endless(spec, mean))
        return INFINITY;
    return (double)(corrected ? meter_real(spec, mean) : meter_estimate(spec, mean)) / 1e6;
}

/* What a call of mean size must find at admission is no more than it can ever find. */
static bool ever_fits(const struct meter_spec *spec, const struct meter_call *mean, double limit)
{
    double most = spec->burst;

    if (spec->counts == COUNTS_AFTER)
        return true;
    if (in_flight(spec->kind))
        most = limit;
    else if (spec->fill == FILL_WINDOW || spec->fill == FILL_SUB)
        most = limit * sim_seconds(spec->window);
    return (double)meter_estimate(spec, mean) / 1e6 <= most;
}

/* A second, or at once. */
static double strangers_take(const struct provider_spec *pool, const struct meter_spec *spec)
{
    const struct strangers_spec *strangers = &pool->strangers;
    struct meter_call mean;
    double taken, fresh, latency;

    if (strangers->rate <= 0)
        return 0;
    mean = (struct meter_call){
        .input = dist_mean(strangers->input), .output = dist_mean(strangers->output), .max_tokens = INFINITY};
    mean.cached = mean.input * strangers->cached;
    fresh = mean.input - mean.cached;
    taken = strangers->rate * charge_of(spec, &mean);
    latency = pool->latency.base + pool->latency.per_input * fresh + pool->latency.per_cached * mean.cached +
              pool->latency.per_output * mean.output;
    return in_flight(spec->kind) ? taken * latency : taken;
}

/* Turns a second that all agents of the class need together; NAN where that is not known. */
static double needed(const struct agent_class *class, const struct demand *demand, double turns)
{
    if (class->source == SOURCE_POPULATION)
        return (double)class->population * turns;
    if (class->source == SOURCE_SCHEDULE)
        return (double)class->schedule->turns / sim_seconds(class->schedule->over);
    return demand->arrivals;
}

/* Counts what it has let in only when that is over, and forgets it with its window: the more come at once, the more it
 * lets in. */
static bool forgets(const struct meter_spec *spec)
{
    return spec->counts == COUNTS_AFTER && (spec->fill == FILL_WINDOW || spec->fill == FILL_SUB);
}

static struct meter_bounds meter_bounds_of(const struct agent_class *class, const struct provider_spec *pool,
                                           const struct meter_spec *spec, const struct demand *demand,
                                           const struct meter_call *mean)
{
    struct meter_bounds bounds = {.spec = spec, .endless = endless(spec, mean), .carries = NAN};
    double turns = 1 / (demand->service + demand->think), limit = limit_of(&spec->limit, &bounds.taken), turn;

    bounds.given = fmax(0, limit - strangers_take(pool, spec));
    bounds.charge = charge_of(spec, mean);
    turn = bounds.charge * (in_flight(spec->kind) ? demand->service : 1);
    bounds.share = needed(class, demand, turns) * turn / bounds.given;
    bounds.never = bounds.endless || !ever_fits(spec, mean, limit);
    if (forgets(spec))
        bounds.carries = INFINITY;
    else if (class->source == SOURCE_POPULATION)
        bounds.carries = bounds.never ? 0 : bounds.given / (turns * turn);
    return bounds;
}

static bool scarcer(const struct meter_bounds *meter, const struct meter_bounds *other)
{
    if (isinf(meter->carries) || isinf(other->carries))
        return !isinf(meter->carries);
    return isnan(meter->carries) ? meter->share > other->share : meter->carries < other->carries;
}

static void effective_runs(const struct agent_class *class, double sent, double fresh, struct pool_bounds *bounds)
{
    const struct meter_bounds *input = NULL;

    bounds->runs_counted = bounds->runs_free = bounds->break_even = NAN;
    for (size_t i = 0; i < bounds->meter_count; i++)
        if (bounds->meters[i].spec->kind == METER_INPUT)
            input = &bounds->meters[i];
    if (!input || class->source != SOURCE_POPULATION || sent <= 0 || isinf(sent))
        return;
    bounds->runs_counted = input->given / (sent * bounds->turns);
    bounds->runs_free = input->given / (fresh * bounds->turns);
    bounds->break_even = fmax(0, 1 - bounds->runs_counted / (double)class->population);
}

bool pool_bounds_of(const struct scenario *scenario, size_t klass, struct pool_bounds *bounds)
{
    const struct agent_class *class = &scenario->classes[klass];
    const struct backend *backend = &scenario->backends[class->backend];
    const struct provider_spec *pool;
    struct dist output = memory_output(class);
    struct demand demand;
    struct meter_call mean = {.input = input_mean(class), .max_tokens = class->max_tokens};
    double fresh = input_new_mean(class);

    if (backend->kind != BACKEND_PROVIDER)
        return false;
    pool = scenario->backends[backend->pool].provider;
    demand = demand_of(scenario, klass);
    mean.cached = isinf(mean.input) ? 0 : mean.input - fresh;
    mean.output = dist_mean(&output);
    *bounds = (struct pool_bounds){.turns = 1 / (demand.service + demand.think),
                                   .input = mean.input,
                                   .meter_count = pool->meter_count,
                                   .carries = class->source == SOURCE_POPULATION ? INFINITY : NAN,
                                   .goodput = NAN};
    for (size_t i = 0; i < pool->meter_count; i++) {
        struct meter_bounds *meter = &bounds->meters[i];
        struct meter_call call = seen_by(&pool->meters[i], mean, fresh);

        *meter = meter_bounds_of(class, pool, &pool->meters[i], &demand, &call);
        if (i == 0 || scarcer(meter, &bounds->meters[bounds->binds]))
            bounds->binds = i;
    }
    if (bounds->meter_count > 0)
        bounds->carries = bounds->meters[bounds->binds].carries; /* INFINITY: none of them binds */
    if (class->source == SOURCE_POPULATION)
        bounds->goodput = fmin((double)class->population, bounds->carries) * bounds->turns;
    effective_runs(class, mean.input, fresh, bounds);
    return true;
}
