/* From what was observed to the numbers of a trial. Rows are merged from the measures of classes at gates, exactly:
 * counts, sums and histograms are whole numbers. Each is merged once for each kind of row, so the cost grows with
 * classes x gates and not with rows. Measures of a backend are empty where a row spans several. */
#include "models/measure.h"

#include <math.h>

#include "models/agent.h"
#include "models/cards.h"
#include "models/door.h"
#include "models/fan_out.h"
#include "models/lines.h"
#include "models/metrics.h"
#include "models/world.h"

/* A terminating study gives a p99 only from so many observations on. */
#define LEAST_FOR_P99 2000

static void measure_censored(struct measure *measure, sim_time age)
{
    measure->censored++;
    if (age > measure->censored_age)
        measure->censored_age = age;
}

static double ratio(double part, double whole)
{
    return whole > 0 ? part / whole : NAN;
}

static double quantile_seconds(const struct world *world, const struct histogram *histogram, double p)
{
    if (world->scenario->study.until_done && p > 0.95 && histogram->count < LEAST_FOR_P99)
        return NAN;
    return histogram_quantile(histogram, p) / 1e9;
}

static void report_measure(const struct world *world, const struct measure *m, double seconds, double *values)
{
    double turns = (double)m->turns;
    double refusals = (double)(m->deferred + m->rejected + m->shed + m->displaced + m->hold_expired);

    values[METRIC_GOODPUT] = ratio(turns, seconds);
    values[METRIC_GOODPUT_TOKENS] = ratio((double)m->tokens, seconds);
    values[METRIC_RUNS_PER_H] = ratio((double)m->runs * 3600, seconds);
    values[METRIC_WAIT_MEAN] = tally_mean_seconds(&m->wait);
    values[METRIC_WAIT_P50] = quantile_seconds(world, &m->waits, 0.50);
    values[METRIC_WAIT_P95] = quantile_seconds(world, &m->waits, 0.95);
    values[METRIC_WAIT_P99] = quantile_seconds(world, &m->waits, 0.99);
    values[METRIC_TOTAL_WAIT_MEAN] = tally_mean_seconds(&m->total_wait);
    values[METRIC_TOTAL_WAIT_P99] = quantile_seconds(world, &m->total_waits, 0.99);
    values[METRIC_RESPONSE_MEAN] = tally_mean_seconds(&m->response);
    values[METRIC_RESPONSE_P99] = quantile_seconds(world, &m->responses, 0.99);
    values[METRIC_DEFERRED_SHARE] = ratio(refusals, (double)m->attempts);
    values[METRIC_REFUSALS_PER_TURN] = ratio(refusals, turns);
    values[METRIC_ATTEMPTS_PER_TURN] = ratio((double)m->attempts, turns);
    values[METRIC_SHED] = ratio((double)(m->shed + m->displaced), turns);
    values[METRIC_HOLD_EXPIRED] = ratio((double)m->hold_expired, turns);
    values[METRIC_LOST_TURNS] = ratio((double)m->lost_turns * 3600, seconds);
    values[METRIC_WASTED_TOKENS] = ratio((double)m->wasted_tokens, seconds);
    values[METRIC_WASTED_SHARE] = ratio((double)m->wasted_tokens, (double)m->served_tokens);
    values[METRIC_SERVICE_MEAN] = tally_mean_seconds(&m->service);
    values[METRIC_THINK_MEAN] = tally_mean_seconds(&m->think);
    values[METRIC_RUNS_REFUSED] = ratio((double)m->runs_refused * 3600, seconds);
    values[METRIC_LATENESS_MEAN] = tally_mean_seconds(&m->late);
    values[METRIC_LATENESS_P99] = quantile_seconds(world, &m->lateness, 0.99);
    values[METRIC_COLD_SHARE] = ratio((double)m->cold_starts, (double)m->starts);
    values[METRIC_REQUESTS_PER_MIN] = ratio((double)m->served * 60, seconds);
    values[METRIC_INPUT_PER_MIN] = ratio((double)m->served_input * 60, seconds);
    values[METRIC_CACHED_PER_MIN] = ratio((double)m->served_cached * 60, seconds);
    values[METRIC_OUTPUT_PER_MIN] = ratio((double)m->served_tokens * 60, seconds);
    values[METRIC_DOOR_WAIT_MEAN] = tally_mean_seconds(&m->door);
    values[METRIC_DOOR_WAIT_P95] = quantile_seconds(world, &m->doors, 0.95);
    values[METRIC_RUN_TIME_MEAN] = tally_mean_seconds(&m->run_time);
    values[METRIC_RUN_TIME_P99] = quantile_seconds(world, &m->run_times, 0.99);
    values[METRIC_CENSORED] = (double)m->censored;
    values[METRIC_CENSORED_AGE] = sim_seconds(m->censored_age);
}

/* What the pool refused its callers, and its meters beside their limits. Utilisation is that of the meter that binds.
 */
static void report_pool(struct gate *gate, double seconds, double *values)
{
    if (gate->backend->pool != gate->index) /* of an alias: they stand in the pool's own row */
        return;
    const struct provider_spec *spec = gate->world->scenario->backends[gate->backend->pool].provider;

    for (size_t i = 0; i < spec->meter_count; i++) {
        enum meter_kind kind = spec->meters[i].kind;
        double per = meter_is_rate(kind) ? 60 / seconds : 1;
        double taken, offered;

        provider_use(gate->provider, i, &taken, &offered);
        values[METRIC_CHARGED + 2 * kind] = taken * per;
        values[METRIC_CHARGED + 2 * kind + 1] = offered * per;
        values[METRIC_UTILISATION] = fmax(values[METRIC_UTILISATION], ratio(taken, offered));
    }
    values[METRIC_RECOVERY_TIME] = tally_mean_seconds(provider_recovery(gate->provider));
}

/* Money an hour for what one class had served at one gate. */
static double usage_cost(const struct prices *prices, const struct measure *m, double seconds)
{
    double tokens = prices->input * (double)(m->served_input - m->served_cached) +
                    prices->cached * (double)m->served_cached + prices->output * (double)m->served_tokens;

    return ratio((tokens / 1e6 + prices->request * (double)m->served) * 3600, seconds);
}

/* Seconds that cards were paid for in the window. */
static double paid_seconds(const struct gate *gate)
{
    return sim_sum_seconds(level_area(&gate->cards->paid_level, world_now(gate->world)) - gate->cards->paid_area);
}

/* Returns the slots there were, summed over the seconds of the window. */
static double report_cards(const struct gate *gate, double seconds, double *values)
{
    const struct cards *cards = gate->cards;
    sim_time now = world_now(gate->world);

    values[METRIC_CARDS_UP] = ratio(sim_sum_seconds(level_area(&cards->up_level, now) - cards->up_area), seconds);
    values[METRIC_CARDS_COLD] = ratio(sim_sum_seconds(level_area(&cards->cold_level, now) - cards->cold_area), seconds);
    values[METRIC_CARD_HOURS] = paid_seconds(gate) / 3600;
    return sim_sum_seconds(level_area(&cards->slots_level, now) - cards->slots_area);
}

static void report_gate(struct gate *gate, double seconds, double *values)
{
    sim_time now = world_now(gate->world);
    double busy = sim_sum_seconds(level_area(&gate->busy_level, now) - gate->busy_area);
    double present = sim_sum_seconds(level_area(&gate->system_level, now) - gate->system_area);

    gate_book_age(gate);
    if (gate->provider)
        report_pool(gate, seconds, values);
    else
        values[METRIC_UTILISATION] =
            ratio(busy, gate->cards ? report_cards(gate, seconds, values) : seconds * gate->backend->servers);
    values[METRIC_IN_SYSTEM_MEAN] = ratio(present, seconds);
    values[METRIC_QUEUE_AGE_P99] = ramps_quantile(&gate->age_ramps, 0.99) / 1e9;
}

/* --- rows ----------------------------------------------------------------------------------------------------------
 */

/* Turns and runs that are still open and past their deadline have missed it, whatever becomes of them. */
static void book_overdue(struct world *world)
{
    sim_time now = world_now(world);

    for (const struct agent *agent = world->agents; agent; agent = agent->next_of_all) {
        struct measure *measure = world->classes[agent->klass].measure;
        policy_time due = agent->place == AGENT_CALLING       ? agent->call->facts.deadline
                          : agent->place == AGENT_FANNING_OUT ? agent->fan->deadline
                                                              : POLICY_NONE;

        measure->runs_due += agent->run_due > 0 && now > agent->run_due;
        measure->turns_due += due != POLICY_NONE && now > due;
    }
}

/* What still waits at the end is in no other number. */
static void book_censored(struct world *world)
{
    sim_time now = world_now(world);

    for (const struct call *call = world->calls; call; call = call->next_of_all)
        if (call->agent && call->place != CALL_IN_SERVICE)
            measure_censored(call->measure, now - call->facts.first_attempt);
    for (const struct agent *agent = world->agents; agent; agent = agent->next_of_all)
        if (agent->place == AGENT_AT_DOOR)
            measure_censored(&world->gates[agent_spec(world, agent)->backend].measures[agent->klass],
                             now - door_first_attempt(agent));
}

/* The classes by their tenants: those of tenant i are at starts[i] to starts[i + 1] - 1. */
struct tenancy {
    size_t *classes, *starts;
};

static struct tenancy tenancy_of(struct world *world)
{
    const struct scenario *scenario = world->scenario;
    struct tenancy tenancy = {arena_zeroed(&world->arena, scenario->class_count, sizeof(size_t)),
                              arena_zeroed(&world->arena, scenario->tenant_count + 2, sizeof(size_t))};
    size_t *next = tenancy.starts + 1; /* of tenant i: next[i], which ends as starts[i + 1] */

    for (size_t i = 0; i < scenario->class_count; i++)
        next[scenario->classes[i].tenant + 1]++;
    for (size_t i = 0; i < scenario->tenant_count; i++)
        next[i + 1] += next[i];
    for (size_t i = 0; i < scenario->class_count; i++)
        tenancy.classes[next[scenario->classes[i].tenant]++] = i;
    return tenancy;
}

/* The classes and gates that a row spans. */
struct span {
    const size_t *classes;
    size_t class_count, first_gate, gate_count;
};

static struct span row_span(const struct world *world, const struct tenancy *tenancy, const struct trial_row *row)
{
    struct span span = {tenancy->classes, world->scenario->class_count, 0, world->scenario->backend_count};

    switch (row->scope) {
    case ROW_CLASS:
        span.classes = &row->index;
        span.class_count = 1;
        break;
    case ROW_TENANT:
        span.classes = tenancy->classes + tenancy->starts[row->index];
        span.class_count = tenancy->starts[row->index + 1] - tenancy->starts[row->index];
        break;
    case ROW_BACKEND:
        span.first_gate = row->index;
        span.gate_count = 1;
        break;
    case ROW_ALL:
        break;
    }
    return span;
}

/* Runs that have not ended, of the classes whose backend is in the span. */
static uint64_t runs_unfinished(const struct world *world, const struct span *span)
{
    uint64_t unfinished = 0;

    for (size_t i = 0; i < span->class_count; i++) {
        const struct class_state *klass = &world->classes[span->classes[i]];

        if (klass->spec->runs != UINT64_MAX && klass->spec->backend - span->first_gate < span->gate_count)
            unfinished += klass->spec->runs - klass->over;
    }
    return unfinished;
}

static bool has_deadlines(const struct world *world, const struct span *span)
{
    for (size_t i = 0; i < span->class_count; i++) {
        const struct agent_class *class = &world->scenario->classes[span->classes[i]];

        if (class->turn_within < SIM_LONGEST || class->run_within < SIM_LONGEST)
            return true;
    }
    return false;
}

/* Of all that was served, parts as well, whoever still wanted it: input and output. */
static double tokens_served(const struct world *world, const struct span *span)
{
    double tokens = 0;

    for (size_t gate = 0; gate < span->gate_count; gate++)
        for (size_t i = 0; i < span->class_count; i++) {
            const struct gate *of = &world->gates[span->first_gate + gate];
            const struct measure *m = &of->measures[span->classes[i]];

            tokens += (double)m->served_input + (double)m->served_tokens;
            if (of->parts)
                tokens += (double)of->parts[span->classes[i]].served_tokens;
        }
    return tokens;
}

/* Jain, Chiu and Hawe (DEC TR-301, 1984): (sum x)^2 / (n sum x^2) over tenants. What is shared out is the backends'
 * work, so x is tokens served and not turns: a tenant of long turns takes more. */
static double jain(const struct world *world, const struct tenancy *tenancy)
{
    size_t tenants = world->scenario->tenant_count;
    double sum = 0, squares = 0;

    for (size_t i = 0; i < tenants; i++) {
        struct trial_row row = {ROW_TENANT, i};
        struct span span = row_span(world, tenancy, &row);
        double tokens = tokens_served(world, &span);

        sum += tokens;
        squares += tokens * tokens;
    }
    return tenants < 2 ? NAN : ratio(sum * sum, (double)tenants * squares);
}

/* What the row's classes, tenants or backends are of the whole. */
static void report_shares(const struct world *world, const struct tenancy *tenancy, const struct trial_row *row,
                          const struct span *span, const struct measure *sum, double seconds, double *values)
{
    const struct trial_row all = {ROW_ALL, 0};
    struct span everything = row_span(world, tenancy, &all);

    if (has_deadlines(world, span)) {
        values[METRIC_GOODPUT_IN_TIME] = ratio((double)sum->turns_in_time, seconds);
        values[METRIC_DEADLINE_MET_SHARE] = ratio((double)sum->turns_in_time, (double)sum->turns_due);
        values[METRIC_RUNS_IN_TIME_SHARE] = ratio((double)sum->runs_in_time, (double)sum->runs_due);
    }
    if (row->scope == ROW_ALL)
        values[METRIC_JAIN] = jain(world, tenancy);
    else
        values[METRIC_PROVIDER_SHARE] = ratio(tokens_served(world, span), tokens_served(world, &everything));
}

/* Empty where no backend of the span has a price. */
static double row_cost(const struct world *world, const struct span *span, bool hours, double seconds)
{
    double cost = NAN;

    for (size_t gate = span->first_gate; gate < span->first_gate + span->gate_count; gate++) {
        const struct prices *prices = &world->gates[gate].backend->prices;
        double cards = world->gates[gate].cards ? ratio(paid_seconds(&world->gates[gate]), seconds) : 1;

        if (!prices->given)
            continue;
        if (isnan(cost))
            cost = 0;
        cost += hours ? prices->hour * cards : 0;
        for (size_t i = 0; i < span->class_count; i++) {
            cost += usage_cost(prices, &world->gates[gate].measures[span->classes[i]], seconds);
            if (world->gates[gate].parts)
                cost += usage_cost(prices, &world->gates[gate].parts[span->classes[i]], seconds);
        }
    }
    return cost;
}

static bool has_pool(const struct world *world, const struct span *span)
{
    for (size_t gate = 0; gate < span->gate_count; gate++)
        if (world->gates[span->first_gate + gate].provider)
            return true;
    return false;
}

/* Waits of parts are none of turns: they stand in rows of their backend alone. */
static void merge_parts(struct measure *sum, const struct world *world, const struct span *span)
{
    for (size_t gate = span->first_gate; gate < span->first_gate + span->gate_count; gate++)
        for (size_t i = 0; world->gates[gate].parts && i < span->class_count; i++)
            (span->gate_count == 1 ? measure_merge : measure_merge_counts)(sum,
                                                                           &world->gates[gate].parts[span->classes[i]]);
}

static void report_row(struct world *world, const struct tenancy *tenancy, struct trial_row row, double seconds,
                       double *values)
{
    struct span span = row_span(world, tenancy, &row);
    struct measure sum = {0};
    double cost;

    for (size_t gate = 0; gate < span.gate_count; gate++)
        for (size_t i = 0; i < span.class_count; i++)
            measure_merge(&sum, &world->gates[span.first_gate + gate].measures[span.classes[i]]);
    merge_parts(&sum, world, &span);
    cost = row_cost(world, &span, row.scope == ROW_ALL || row.scope == ROW_BACKEND, seconds);
    if (row.scope == ROW_ALL && world->watch && world->watch->observed)
        measure_merge(world->watch->observed, &sum);
    for (size_t i = 0; i < METRIC_COUNT; i++)
        values[i] = NAN;
    if (span.gate_count == world->scenario->backend_count)
        sum.attempts -= sum.spilled; /* one attempt, at whatever gates */
    report_measure(world, &sum, seconds, values);
    values[METRIC_COST] = cost;
    report_shares(world, tenancy, &row, &span, &sum, seconds, values);
    if (has_pool(world, &span)) {
        values[METRIC_PROVIDER_429S] = ratio((double)sum.overloads * 3600, seconds);
        values[METRIC_429S_PER_TURN] = ratio((double)sum.overloads, (double)sum.turns);
        values[METRIC_ERRORS] = ratio((double)sum.errors * 3600, seconds);
    }
    if (row.scope == ROW_BACKEND || (row.scope == ROW_ALL && span.gate_count == 1))
        report_gate(&world->gates[span.first_gate], seconds, values);
    if (world->scenario->study.until_done) {
        uint64_t unfinished = runs_unfinished(world, &span);

        values[METRIC_UNFINISHED] = (double)unfinished;
        if (unfinished == 0 && row.scope == ROW_ALL)
            values[METRIC_MAKESPAN] = sim_seconds(world->last_run_over);
    }
    measure_fini(&sum);
}

void measure_report(struct world *world, double *values)
{
    double seconds = sim_seconds(world_now(world) - world->window_start);
    size_t rows = trial_row_count(world->scenario);
    struct tenancy tenancy = tenancy_of(world);

    book_censored(world);
    book_overdue(world);
    for (size_t row = 0; row < rows; row++)
        report_row(world, &tenancy, trial_row_at(world->scenario, row), seconds, values + row * METRIC_COUNT);
}
