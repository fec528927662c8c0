/* Columns of decisions. A policy that stands in several design points is looked at in each, but not twice in a row; a
 * column that there is already is not added again. */
#include "models/decisions.h"

#include <string.h>

static const char *unit_of(const struct policy_column *column)
{
    return column->unit ? column->unit : "";
}

static bool is_key(const struct plan *plan, const char *name)
{
    static const char *const keys[] = {"policy", "replication", "time", "member", "gate", "copy"};

    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (strcmp(keys[i], name) == 0)
            return true;
    for (size_t i = 0; i < plan->factor_count; i++)
        if (strcmp(plan->factor_names[i], name) == 0)
            return true;
    return false;
}

static bool same_kind(const struct policy_column *one, const struct policy_column *other)
{
    return !one->words == !other->words && strcmp(unit_of(one), unit_of(other)) == 0;
}

static size_t place_of(const struct decision_columns *columns, const char *name)
{
    size_t i = 0;

    while (i < columns->count && strcmp(columns->list[i].name, name) != 0)
        i++;
    return i;
}

static void append(struct decision_columns *columns, struct decision_column column, struct arena *arena)
{
    struct decision_column *before = columns->list;

    if (columns->count == columns->room) {
        columns->room = columns->room ? 2 * columns->room : 32;
        columns->list = arena_zeroed(arena, columns->room, sizeof *columns->list);
        if (before)
            memcpy(columns->list, before, columns->count * sizeof *before);
    }
    columns->list[columns->count++] = column;
}

/* What a column of the policy is called in the log: its name, or POLICY.NAME where another has that already. */
static const char *name_in(const struct decision_columns *columns, const struct policy_ops *ops,
                           const struct policy_column *column, bool key, struct arena *arena)
{
    size_t place = place_of(columns, column->name);
    bool taken = key || (place < columns->count && !same_kind(columns->list[place].declared, column));

    return taken ? arena_format(arena, "%s.%s", ops->name, column->name) : column->name;
}

static void add_policy(struct decision_columns *columns, const struct plan *plan, const struct policy_ops *ops,
                       struct arena *arena)
{
    for (const struct policy_column *column = ops->columns; column && column->name; column++) {
        const char *name = name_in(columns, ops, column, is_key(plan, column->name), arena);

        if (place_of(columns, name) == columns->count)
            append(columns, (struct decision_column){name, column, ops}, arena);
    }
}

struct decision_columns decision_columns_of(const struct plan *plan, struct arena *arena)
{
    struct decision_columns columns = {0};
    const struct policy_ops *seen = NULL;

    for (size_t i = 0; i < plan->point_count; i++) {
        const struct chain *chain = &plan->points[i].scenario->chain;

        for (size_t k = 0; k < chain->count; k++) {
            if (chain->members[k].ops != seen)
                add_policy(&columns, plan, chain->members[k].ops, arena);
            seen = chain->members[k].ops;
        }
    }
    return columns;
}

size_t *decision_columns_places(const struct decision_columns *columns, const struct policy_ops *ops,
                                struct arena *arena)
{
    size_t count = 0, *places;

    while (ops->columns && ops->columns[count].name)
        count++;
    places = arena_zeroed(arena, count, sizeof *places);
    for (size_t i = 0; i < count; i++) {
        const struct policy_column *column = &ops->columns[i];
        size_t place = place_of(columns, column->name);

        if (place == columns->count || !same_kind(columns->list[place].declared, column))
            place = place_of(columns, arena_format(arena, "%s.%s", ops->name, column->name));
        places[i] = place;
    }
    return places;
}
