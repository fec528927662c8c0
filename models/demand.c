/* A class's demand on its backend, as theory wants it. */
#include "models/demand.h"

#include <math.h>

#include "models/input.h"
#include "models/memory_use.h"
#include "sim/stats/theory.h"

struct answers demand_answers(const struct agent_class *class, const struct backend *backend, double servers)
{
    struct dist output = memory_output(class);
    double tokens = dist_mean(&output);
    struct answers answers = {.servers = servers, .fastest = INFINITY};

    if (backend->service) {
        answers.slowest = answers.fastest = dist_mean(backend->service);
        answers.most = theory_capacity(servers, answers.slowest);
        return answers;
    }
    for (uint32_t busy = 1; busy <= servers; busy++) {
        answers.most = fmax(answers.most, busy * backend->speed[busy] / tokens);
        answers.fastest = fmin(answers.fastest, tokens / backend->speed[busy]);
    }
    answers.slowest = tokens / backend->speed[(uint32_t)servers];
    return answers;
}

double demand_turns(const struct answers *answers, double prefill)
{
    return prefill > 0 ? answers->servers / (prefill + answers->servers / answers->most) : answers->most;
}

/* The mean time of an answer, and what of it no input adds to. What the meters let through is not known here. */
static void provider_demand(const struct agent_class *spec, const struct latency_spec *latency, struct demand *demand)
{
    struct dist output = memory_output(spec);
    double fresh = input_new_mean(spec), cached = input_mean(spec) - fresh;

    demand->servers = demand->capacity = demand->capacity_busy = INFINITY;
    demand->service_cv = NAN;
    demand->service_least = latency->base + latency->per_output * dist_mean(&output);
    demand->service = demand->service_least;
    demand->service += latency->per_input > 0 ? latency->per_input * fresh : 0;
    demand->service += latency->per_cached > 0 ? latency->per_cached * cached : 0;
    demand->service_most = demand->service;
}

double demand_knee(const struct demand *demand)
{
    return demand->spills ? NAN : demand->capacity * (demand->service_least + demand->think);
}

double demand_throughput_bound(const struct demand *demand)
{
    double agents = demand->leaves ? INFINITY : demand->population / (demand->service_least + demand->think);

    return demand->spills ? NAN : fmin(agents, fmin(demand->capacity, demand->parts_capacity));
}

double demand_arrivals_bound(const struct demand *demand)
{
    return demand->spills ? demand->arrivals : fmin(demand->arrivals, fmin(demand->capacity, demand->parts_capacity));
}

double demand_wait_bound(const struct demand *demand)
{
    double n = demand->population, z = demand->think;

    if (demand->spills || demand->leaves || demand->fans_out)
        return NAN;
    return fmax(0, fmax(n / demand->capacity_busy - demand->service, n / demand->capacity - demand->service_most) - z);
}

/* --- parts ----------------------------------------------------------------------------------------------------------
 */

/* Services that a turn's parts come for, at the least: those it waits for, which are known where their number is. */
static double parts_served(const struct fan_out_spec *fan_out)
{
    double mean = dist_mean(fan_out->parts);

    if (dist_is_constant(fan_out->parts))
        return fmin(floor(mean + 0.5), (double)fan_out->wait_for);
    return fan_out->wait_for == UINT64_MAX ? mean : 0;
}

/* Parts a second of all slots together. */
static double parts_rate(const struct fan_out_spec *fan_out, const struct backend *backend)
{
    double slots = backend_slots(backend), rate = 0;

    if (backend->kind == BACKEND_PROVIDER || (!backend->service && !fan_out->tokens))
        return INFINITY;
    if (backend->service)
        return theory_capacity(slots, dist_mean(backend->service));
    for (uint32_t busy = 1; busy <= backend->servers; busy++)
        rate = fmax(rate, busy * backend->speed[busy] / dist_mean(fan_out->tokens));
    return backend->cards ? rate * backend->cards->max : rate;
}

/* What its parts leave of the capacity where they come to the turn's own backend, or take at another. */
static void fan_out_demand(const struct scenario *scenario, const struct agent_class *spec, struct demand *demand)
{
    const struct fan_out_spec *fan_out = spec->fan_out;
    double parts = parts_served(fan_out), rate = parts_rate(fan_out, &scenario->backends[fan_out->to]);

    if (fan_out->to != spec->backend) {
        demand->parts_capacity = parts > 0 ? rate / parts : INFINITY;
        return;
    }
    demand->parts = parts;
    demand->capacity_busy = 1 / (1 / demand->capacity_busy + parts / rate);
    demand->capacity = fmin(demand->capacity, demand->capacity_busy);
}

/* --- demand ---------------------------------------------------------------------------------------------------------
 */

static bool class_asks(const struct agent_class *class, uint32_t backend)
{
    for (uint32_t i = 0; i < class->backend_count; i++)
        if (class->backends[i] == backend)
            return true;
    return false;
}

bool demand_alone(const struct scenario *scenario, size_t klass)
{
    for (size_t i = 0; i < scenario->class_count; i++) {
        const struct agent_class *other = &scenario->classes[i];
        uint32_t backend = scenario->classes[klass].backend;

        if (i != klass && (class_asks(other, backend) || (other->fan_out && other->fan_out->to == backend)))
            return false;
    }
    return true;
}

/* Each call holds so many tokens for as long as it is served, and all of them together never more than kv: X times the
 * mean product is at most kv. The length of an answer and what it holds grow together, so the mean product of these is
 * at least that of the means; of prefill nothing of the kind is known, it is taken with the least that a call holds. */
static double most_by_tokens(const struct backend *backend, const struct memory_use *use, double answer)
{
    return (double)backend->kv / (use->held * answer + use->held_least * use->prefill_warm);
}

/* Service and capacity, from answers, prefill and memory. */
static void serve(const struct agent_class *class, const struct backend *backend, struct demand *demand)
{
    struct memory_use use = memory_use_of(class, backend);
    struct answers answers = demand_answers(class, backend, use.at_once_most);
    bool limited = backend->kv != UINT64_MAX;

    demand->busy_most = use.at_once_most;
    demand->service = use.prefill_warm + answers.slowest;
    demand->service_least = use.prefill_warm + answers.fastest;
    if (backend->cards) { /* all of them up: what they can do at the most */
        answers.servers *= backend->cards->max;
        answers.most *= backend->cards->max;
        demand->busy_most *= backend->cards->max;
    }
    demand->service_most = (limited ? use.prefill_cold : use.prefill_warm) + answers.slowest;
    demand->capacity_busy = demand_turns(&answers, use.prefill_warm);
    demand->capacity = demand->capacity_busy;
    if (limited)
        demand->capacity = fmin(demand->capacity, most_by_tokens(backend, &use, answers.fastest) *
                                                      (backend->cards ? backend->cards->max : 1));
    demand->fixed = (!backend->cards || backend->cards->min == backend->cards->max) &&
                    (backend->service || backend->constant) && !limited && use.prefill_cold == 0;
}

static bool leaves(const struct agent_class *class)
{
    bool patient = !class->gives_up;

    for (uint32_t i = 0; i < class->client.layer_count; i++)
        patient = patient && class->client.layers[i].timeout >= SIM_LONGEST;
    return !patient;
}

double demand_think(const struct agent_class *class)
{
    double think = class->think ? dist_mean(class->think) : 0;

    if (class->boot && class->input && class->input->sessions)
        think += dist_mean(class->boot) / input_session_turns(class->input->sessions);
    else if (class->boot && class->turns)
        think += dist_mean(class->boot) / dist_mean(class->turns);
    return think;
}

struct demand demand_of(const struct scenario *scenario, size_t klass)
{
    const struct agent_class *spec = &scenario->classes[klass];
    const struct backend *backend = &scenario->backends[spec->backend];
    const struct dist output = memory_output(spec), *answer = backend->service ? backend->service : &output;
    struct demand demand = {.servers = backend_slots(backend),
                            .arrivals = NAN,
                            .parts_capacity = INFINITY,
                            .spills = spec->spill != SPILL_NONE,
                            .fans_out = spec->fan_out != NULL,
                            .leaves = leaves(spec)};

    if (backend->kind == BACKEND_PROVIDER) {
        provider_demand(spec, &scenario->backends[backend->pool].provider->latency, &demand);
    } else {
        serve(spec, backend, &demand);
        demand.fixed = demand.fixed && !demand.spills && !demand.fans_out && !demand.leaves && spec->client.dies <= 0;
        demand.service_cv = dist_cv(answer);
        demand.exponential_service = dist_is_exponential(answer) && demand.fixed;
        demand.constant_service = dist_is_constant(answer) && demand.fixed;
    }
    if (spec->fan_out)
        fan_out_demand(scenario, spec, &demand);
    demand.think = demand_think(spec);
    demand.exponential_think = spec->think && !spec->boot && dist_is_exponential(spec->think);
    demand.closed = spec->source == SOURCE_POPULATION && spec->runs == UINT64_MAX;
    if (demand.closed)
        demand.population = (double)spec->population;
    else if (spec->source == SOURCE_POISSON && !spec->turns && spec->runs == UINT64_MAX)
        demand.arrivals = spec->arrival_rate;
    return demand;
}
