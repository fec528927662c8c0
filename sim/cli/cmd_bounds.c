/* weir bounds: what theory says of each design point, without simulating. */
#include "models/demand.h"
#include "sim/cli/bounds_tables.h"
#include "sim/cli/commands.h"
#include "sim/cli/format.h"
#include "sim/cli/session.h"

const struct cli_option cmd_bounds_options[] = {
    CLI_PLAN_OPTIONS,
    CLI_FORMAT_OPTIONS,
    {.name = NULL},
};

const char *cmd_bounds_column(size_t index, const char **unit, const char **help)
{
    size_t first = 0;

    while (bounds_numbers_column(first, unit, help))
        first++;
    return index < first ? bounds_numbers_column(index, unit, help) : bounds_beside_column(index - first, unit, help);
}

static bool escapes(const struct plan *plan)
{
    bool any = false;

    for (size_t point = 0; point < plan->point_count; point++)
        for (size_t klass = 0; klass < plan->points[point].scenario->class_count; klass++) {
            struct demand demand = demand_of(plan->points[point].scenario, klass);

            any = any || demand.spills || demand.fans_out || demand.leaves;
        }
    return any;
}

/* A table without rows is not printed. */
static void print_below(const struct plan *plan, void (*fill)(const struct plan *, struct table *), struct table *table,
                        enum format format)
{
    fill(plan, table);
    if (table->row_count == 0)
        return;
    printf("\n");
    format_print(table, format, stdout);
}

int cmd_bounds(const struct cli_words *words)
{
    struct session session = {0};
    struct table table = {.ascii = format_ascii(),
                          .colour = format_colour(words, stdout),
                          .broadest = format_width(stdout)},
                 second = table, third = table;
    enum format format;
    bool cards;

    if (!format_read(words, &format) || !session_open(&session, words)) {
        session_close(&session);
        return EXIT_USAGE;
    }
    cards = bounds_have_cards(&session.plan);
    bounds_numbers(&session.plan, &table);
    if (cards)
        table_note(&table, "The knee is where the bounds cross, not where goodput saturates, which takes more agents.");
    table_note(&table, "Bounds take each class as if it were alone at its backend%s",
               cards ? "; exact numbers are given only where it is." : ".");
    if (escapes(&session.plan))
        table_note(
            &table,
            "Where a class spills, fans out, or gives up calls or runs, a bound that does not hold is left out.");
    for (size_t i = 0; i < session.plan.point_count; i++)
        if (scenario_moves(session.plan.points[i].scenario)) {
            table_note(&table, "They are those before the scenario's `changes` of pools and classes.");
            break;
        }
    format_print(&table, format, stdout);
    if (bounds_have_pools(&session.plan) && format != FORMAT_CSV)
        print_below(&session.plan, bounds_meters, &second, format);
    if (cards && format != FORMAT_CSV)
        print_below(&session.plan, bounds_balances, &third, format);
    table_fini(&table);
    table_fini(&second);
    table_fini(&third);
    session_close(&session);
    return EXIT_DONE;
}
