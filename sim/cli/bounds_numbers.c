/* bounds_numbers.c - the first table of `weir bounds`, a row a design point and class. */
#include <math.h>
#include <string.h>

#include "models/demand.h"
#include "models/memory_bounds.h"
#include "models/provider_tables.h"
#include "models/shared_bounds.h"
#include "sim/cli/bounds_tables.h"
#include "sim/cli/report.h"
#include "sim/stats/theory.h"

#define METER(name, noun, rate) \
    {name "_given", noun rate, "limit of the meter, less what strangers take; of one that moves see limit"}, \
        {name "_charge", noun, "mean charge of a turn"}, {name "_share", "", BOUNDS_SHARE_HELP}, \
    { \
        name "_carries", "agents", BOUNDS_CARRIES_HELP \
    }

/* clang-format off */
static const struct {
    const char *name, *unit, *help;
} numbers[] = {
    {"service", "s",
     "mean service time S, prefill of a kept context included; with all servers busy, where speed depends on how many "
     "are"},
    {"capacity", "turns/s",
     "turns that the backend makes at the most, with the parts that come to it: servers / S, or what fewer busy ones "
     "make, or memory lets run"},
    {"knee", "agents", "where the bounds cross: capacity (S + Z), S at the greatest speed"},
    {"goodput_most", "turns/s", "upper bound: min(N / (S + Z), capacity), S at the greatest speed"},
    {"wait_least", "s", "lower bound of the mean total wait: N / capacity - S - Z, at least 0"},
    {"goodput_exact", "turns/s", "M/M/c//N or Poisson arrivals; empty where no formula holds"},
    {"wait_mean_exact", "s", "M/M/c//N, M/M/c or M/G/1"},
    {"wait_p99_exact", "s", "M/M/c//N or M/M/c"},
    /* Of a backend with kv. */
    {"contexts", "", "contexts of the mean size that fit into kv: up to so many agents all keep theirs"},
    {"service_warm", "s",
     "mean service time where the context was kept, with c calls at once: contexts rounded down, from 1 to servers"},
    {"service_cold", "s", "the same where it is gone, so that all input is prefilled"},
    {"capacity_warm", "turns/s", "c / service_warm, or what fewer busy ones make"},
    {"capacity_cold", "turns/s", "c / service_cold, or what fewer busy ones make"},
    {"knee_slots", "agents", "what the slots carry if memory were no limit: servers (S + Z) / S, S of kept contexts"},
    {"knee_cold", "agents", "what memory carries if every context is gone: c (S + Z) / S, S of contexts that are gone"},
    {"binds", "",
     "slots, where knee_slots is not above the larger of contexts and knee_cold; else which of these two is larger: "
     "warm contexts or cold contexts"},
    /* Of a pool. */
    {"pool_goodput", "turns/s",
     "what the pool's meters let through: min(N, pool_carries) / (S + Z)"},
    {"pool_carries", "agents", "what the meter that binds carries; empty where none does"},
    {"runs_counted", "runs",
     "effective concurrent runs by input tokens, all counted: input_given / (input of a turn x turns a minute)"},
    {"runs_free", "runs", "the same where cached input is free"},
    {"break_even", "",
     "the cached share from which on the population fits the input meter, were cached input free"},
    {"pool_binds", "", "the meter that carries the fewest agents; empty where none binds"},
    METER("requests", "requests", "/min"), METER("input", "tokens", "/min"), METER("output", "tokens", "/min"),
    METER("total", "tokens", "/min"), METER("in_flight", "requests", ""), METER("tokens_in_flight", "tokens", ""),
    /* Shown where there is one. */
    {"erlang_c", "", "Poisson arrivals: the share of calls that wait, were service exponential"},
    {"erlang_b", "", "the same: the share that is lost, were nobody let wait"},
    {"wait_mean_lee_longton", "s", "M/G/c approximately: that of M/M/c x (1 + cv^2) / 2"},
    {"wait_mean_cosmetatos", "s", "M/G/c approximately: between M/M/c and M/D/c in proportion to cv^2"},
    {"goodput_shared", "turns/s",
     "populations that share a backend, summed over the states of the system: exact where services are exponential with one "
     "mean, else as if the servers were shared out evenly"},
    {"wait_mean_shared", "s", "the same: N / goodput_shared - S - Z"},
};
/* clang-format on */

enum {
    NUMBERS = sizeof numbers / sizeof *numbers,
    CONTEXTS = 8,
    MEMORY_BINDS = CONTEXTS + 7,
    POOL = MEMORY_BINDS + 1,
    POOL_BINDS = POOL + 5,
    METERS = POOL_BINDS + 1,
    METER_NUMBERS = 4,
    MORE = METERS + METER_NUMBERS * METER_KINDS,
};
_Static_assert(NUMBERS == MORE + 6, "each meter has its columns");

static void closed_numbers(struct demand d, bool alone, double values[])
{
    values[3] = demand_throughput_bound(&d);
    values[4] = demand_wait_bound(&d);
    if (alone && d.exponential_service && d.exponential_think) {
        struct finite_source exact = theory_finite_source((size_t)d.population, (size_t)d.servers, d.service, d.think);

        values[5] = exact.throughput;
        values[6] = exact.wait_mean;
        values[7] = exact.wait_p99;
    }
}

static void open_numbers(struct demand d, bool alone, double values[])
{
    bool stable = d.arrivals * d.service < d.servers;

    values[3] = demand_arrivals_bound(&d);
    if (!alone || !stable || !d.fixed)
        return;
    values[5] = d.arrivals;
    values[MORE] = theory_erlang_c((size_t)d.servers, d.arrivals * d.service);
    values[MORE + 1] = theory_erlang_b((size_t)d.servers, d.arrivals * d.service);
    values[MORE + 2] = theory_mgc_wait_lee_longton((size_t)d.servers, d.arrivals, d.service, d.service_cv);
    values[MORE + 3] = theory_mgc_wait_cosmetatos((size_t)d.servers, d.arrivals, d.service, d.service_cv);
    if (d.exponential_service) {
        values[6] = theory_mmc_wait((size_t)d.servers, d.arrivals, d.service);
        values[7] = theory_mmc_wait_quantile((size_t)d.servers, d.arrivals, d.service, 0.99);
    } else if (d.servers == 1) {
        values[6] = theory_mg1_wait(d.arrivals, d.service, d.service_cv);
    }
}

/* What the memory of the backend does; of a population also how many agents it carries. Returns what binds, or "". */
static const char *memory_numbers(const struct scenario *scenario, size_t klass, bool closed, double values[])
{
    struct memory_bounds bounds;
    double *value = &values[CONTEXTS];

    if (!memory_bounds_of(scenario, klass, &bounds))
        return "";
    *value++ = bounds.contexts;
    *value++ = bounds.service_warm;
    *value++ = bounds.service_cold;
    *value++ = bounds.capacity_warm;
    *value++ = bounds.capacity_cold;
    *value++ = closed ? bounds.knee_slots : NAN;
    *value = closed ? bounds.knee_cold : NAN;
    return closed ? bounds.binds : "";
}

double bounds_given(const struct meter_bounds *meter)
{
    return meter_is_rate(meter->spec->kind) ? 60 * meter->given : meter->given;
}

static const char *pool_numbers(const struct scenario *scenario, size_t klass, double values[])
{
    struct pool_bounds bounds;

    if (!pool_bounds_of(scenario, klass, &bounds))
        return "";
    values[POOL] = bounds.goodput;
    values[POOL + 1] = bounds.carries;
    values[POOL + 2] = bounds.runs_counted;
    values[POOL + 3] = bounds.runs_free;
    values[POOL + 4] = bounds.break_even;
    for (size_t i = 0; i < bounds.meter_count; i++) {
        const struct meter_bounds *meter = &bounds.meters[i];
        double *value = &values[METERS + METER_NUMBERS * (size_t)meter->spec->kind];

        value[0] = bounds_given(meter);
        value[1] = meter->charge;
        value[2] = meter->share;
        value[3] = meter->carries;
    }
    return isinf(bounds.carries) || bounds.meter_count == 0 ? "" : meter_names[bounds.meters[bounds.binds].spec->kind];
}

size_t bounds_row(const struct plan *plan, size_t point, size_t klass, struct table *table)
{
    size_t row = table_row(table);

    table_text(table, row, BOUNDS_CLASS, plan->points[point].scenario->classes[klass].name);
    for (size_t i = 0; i < plan->factor_count; i++)
        table_text(table, row, BOUNDS_FACTORS + i,
                   plan->points[point].factors[i] ? plan->points[point].factors[i] : "");
    return row;
}

void bounds_put(struct table *table, size_t row, size_t column, double value)
{
    table_at(table, row, column)->number = isfinite(value) ? value : NAN;
}

static void add_row(const struct plan *plan, size_t point, size_t klass, struct table *table)
{
    const struct scenario *scenario = plan->points[point].scenario;
    struct demand demand = demand_of(scenario, klass);
    struct shared_bounds shared;
    double values[NUMBERS];
    size_t row = bounds_row(plan, point, klass, table), first = BOUNDS_FACTORS + plan->factor_count;

    for (size_t i = 0; i < NUMBERS; i++)
        values[i] = NAN;
    values[0] = demand.service;
    values[1] = demand.capacity;
    if (demand.closed) {
        values[2] = demand_knee(&demand);
        closed_numbers(demand, demand_alone(scenario, klass), values);
    } else if (!isnan(demand.arrivals)) {
        open_numbers(demand, demand_alone(scenario, klass), values);
    }
    if (shared_bounds_of(scenario, klass, &shared)) {
        values[MORE + 4] = shared.goodput;
        values[MORE + 5] = shared.wait;
    }
    table_text(table, row, first + MEMORY_BINDS, memory_numbers(scenario, klass, demand.closed, values));
    table_text(table, row, first + POOL_BINDS, pool_numbers(scenario, klass, values));
    for (size_t i = 0; i < NUMBERS; i++)
        if (i != MEMORY_BINDS && i != POOL_BINDS)
            bounds_put(table, row, first + i, values[i]);
}

void bounds_key_columns(const struct plan *plan, struct table *table)
{
    table_column(table, "class", "", "", "a class of agents", TABLE_KEY, true);
    for (size_t i = 0; i < plan->factor_count; i++)
        table_column(table, plan->factor_names[i], "", "", "a factor of the sweep", TABLE_KEY, true);
    for (size_t i = 0; i < plan->factor_count; i++)
        table_heading(table, BOUNDS_FACTORS + i, report_factor(plan, i));
}

/* Bounds know no policies: the design points of one alternative say it all. */
void bounds_each_row(const struct plan *plan, bounds_row_fn *add, struct table *table)
{
    for (size_t point = 0; point < plan->point_count; point++)
        for (size_t klass = 0; klass < plan->points[point].scenario->class_count; klass++)
            if (strcmp(plan->points[point].scenario->chain.label, plan->points[0].scenario->chain.label) == 0)
                add(plan, point, klass, table);
}

/* Which columns have anything to say. */
struct rooms {
    bool cards, memory, pools;
};

static struct rooms rooms_of(const struct plan *plan)
{
    struct rooms rooms = {0};

    for (size_t point = 0; point < plan->point_count; point++)
        for (size_t klass = 0; klass < plan->points[point].scenario->class_count; klass++) {
            struct memory_bounds memory;
            struct pool_bounds pool;
            bool pooled = pool_bounds_of(plan->points[point].scenario, klass, &pool);

            rooms.pools |= pooled;
            rooms.cards |= !pooled;
            rooms.memory |= memory_bounds_of(plan->points[point].scenario, klass, &memory);
        }
    return rooms;
}

/* CSV has all columns. Of pools alone nothing is known of servers but the service time. */
static bool shown(size_t i, struct rooms rooms)
{
    if (i < CONTEXTS)
        return rooms.cards || i == 0;
    if (i >= MORE)
        return false;
    if (i <= MEMORY_BINDS)
        return rooms.memory;
    return rooms.pools && i <= POOL_BINDS;
}

/* Columns that few scenarios have a number for. */
static void reveal(const struct plan *plan, struct table *table)
{
    for (size_t i = MORE; i < NUMBERS; i++)
        for (size_t row = 0; row < table->row_count; row++) {
            size_t column = BOUNDS_FACTORS + plan->factor_count + i;

            if (!isnan(table_at(table, row, column)->number))
                table->columns[column].shown = true;
        }
}

bool bounds_have_cards(const struct plan *plan)
{
    return rooms_of(plan).cards;
}

bool bounds_have_pools(const struct plan *plan)
{
    return rooms_of(plan).pools;
}

const char *bounds_numbers_column(size_t index, const char **unit, const char **help)
{
    if (index >= NUMBERS)
        return NULL;
    *unit = numbers[index].unit;
    *help = numbers[index].help;
    return numbers[index].name;
}

void bounds_numbers(const struct plan *plan, struct table *table)
{
    struct rooms rooms = rooms_of(plan);

    bounds_key_columns(plan, table);
    for (size_t i = 0; i < NUMBERS; i++)
        table_column(table, numbers[i].name, numbers[i].unit, "", numbers[i].help, TABLE_VALUE, shown(i, rooms));
    bounds_each_row(plan, add_row, table);
    reveal(plan, table);
    for (size_t i = 0; i < NUMBERS; i++)
        if (table->columns[BOUNDS_FACTORS + plan->factor_count + i].shown)
            table_note(table, "%s: %s", numbers[i].name, numbers[i].help);
}
