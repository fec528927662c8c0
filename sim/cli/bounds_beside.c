/* bounds_beside.c - what `weir bounds` prints below its first table: a row a meter of a pool, and what a cap would keep
 * out of a population past its knee. */
#include "models/balance.h"
#include "models/demand.h"
#include "models/provider_tables.h"
#include "sim/cli/bounds_tables.h"

/* clang-format off */
/* Where a population is past the knee. */
static const struct {
    const char *name, *unit, *help;
} balances[] = {
    {"inside", "calls", "L: let into the system on average, as by a cap"},
    {"thinking", "agents", "X Z, X being the capacity"},
    {"backing_off", "agents", "N - L - X Z: whoever is neither"},
    {"pause", "s", "B: mean pause of a refused attempt, by the client's own backoff"},
    {"deferred_share", "", "of attempts, so that N = L + X Z + D B, were each refused with the same chance; empty: the "
                           "client gives up before"},
};

/* A row a meter. */
static const struct {
    const char *name, *unit, *help;
} meters[] = {
    {"limit", "", "the meter and, of a limit that moves, the value that is used: its mean, or of steps the least"},
    {"given", "", "what it gives a minute, or of what is in flight at once, less what strangers take on average"},
    {"charge", "", "of a turn on average, of what is in flight while it lasts"},
    {"share", "", BOUNDS_SHARE_HELP},
    {"carries", "agents", BOUNDS_CARRIES_HELP},
};
/* clang-format on */

enum {
    METER_COLUMNS = sizeof meters / sizeof *meters,
    BALANCE_COLUMNS = sizeof balances / sizeof *balances,
};

static void add_meters(const struct plan *plan, size_t point, size_t klass, struct table *table)
{
    static const char *const taken[] = {[LIMIT_AS_IS] = "", [LIMIT_MEAN] = ", mean", [LIMIT_LEAST] = ", the least"};
    struct pool_bounds bounds;

    if (!pool_bounds_of(plan->points[point].scenario, klass, &bounds))
        return;
    for (size_t i = 0; i < bounds.meter_count; i++) {
        const struct meter_bounds *meter = &bounds.meters[i];
        size_t row = bounds_row(plan, point, klass, table), column = BOUNDS_FACTORS + plan->factor_count;

        table_text(table, row, column,
                   arena_format(&table->arena, "%s%s", meter_names[meter->spec->kind], taken[meter->taken]));
        bounds_put(table, row, column + 1, bounds_given(meter));
        bounds_put(table, row, column + 2, meter->charge);
        bounds_put(table, row, column + 3, meter->share);
        bounds_put(table, row, column + 4, meter->carries);
    }
}

/* Caps from the servers alone to three times as many, where they keep anybody out. */
static void add_balances(const struct plan *plan, size_t point, size_t klass, struct table *table)
{
    static const double caps[] = {1, 1.25, 1.5, 2, 3};
    const struct scenario *scenario = plan->points[point].scenario;
    double servers = demand_of(scenario, klass).servers;

    for (size_t i = 0; i < sizeof caps / sizeof *caps; i++) {
        struct balance balance;
        size_t row, column = BOUNDS_FACTORS + plan->factor_count;

        if (!demand_alone(scenario, klass) || !balance_of(scenario, klass, caps[i] * servers, &balance))
            continue;
        row = bounds_row(plan, point, klass, table);
        bounds_put(table, row, column, balance.inside);
        bounds_put(table, row, column + 1, balance.thinking);
        bounds_put(table, row, column + 2, balance.backing_off);
        bounds_put(table, row, column + 3, balance.pause);
        bounds_put(table, row, column + 4, balance.share);
    }
}

void bounds_meters(const struct plan *plan, struct table *table)
{
    bounds_key_columns(plan, table);
    table_column(table, meters[0].name, "", "", meters[0].help, TABLE_KEY, true);
    for (size_t i = 1; i < METER_COLUMNS; i++)
        table_column(table, meters[i].name, meters[i].unit, "", meters[i].help, TABLE_VALUE, true);
    bounds_each_row(plan, add_meters, table);
    for (size_t i = 0; i < METER_COLUMNS; i++)
        table_note(table, "%s: %s", meters[i].name, meters[i].help);
}

void bounds_balances(const struct plan *plan, struct table *table)
{
    bounds_key_columns(plan, table);
    for (size_t i = 0; i < BALANCE_COLUMNS; i++)
        table_column(table, balances[i].name, balances[i].unit, "", balances[i].help, TABLE_VALUE, true);
    bounds_each_row(plan, add_balances, table);
    if (table->row_count == 0)
        return;
    table_note(table,
               "Retrial balance, N = L + X Z + D B: where a cap keeps agents out of a busy system, they back off, "
               "and ask the more often the shorter that is.");
    for (size_t i = 0; i < BALANCE_COLUMNS; i++)
        table_note(table, "%s: %s", balances[i].name, balances[i].help);
}

const char *bounds_beside_column(size_t index, const char **unit, const char **help)
{
    size_t second = index - METER_COLUMNS;

    if (index < METER_COLUMNS) {
        *unit = meters[index].unit;
        *help = meters[index].help;
        return meters[index].name;
    }
    if (second >= BALANCE_COLUMNS)
        return NULL;
    *unit = balances[second].unit;
    *help = balances[second].help;
    return balances[second].name;
}
