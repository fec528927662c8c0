/* Columns by name: found by halving, so that thousands of design points with the same ones cost little. */
#include "models/record_columns.h"

#include <string.h>

/* Where a name is in the order of names, or would be. */
static size_t place_of(const struct record_columns *columns, const char *name, bool *found)
{
    size_t low = 0, high = columns->count;

    *found = false;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = strcmp(columns->list[columns->by_name[middle]].name, name);

        if (order == 0) {
            *found = true;
            return middle;
        }
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void make_room(struct record_columns *columns, struct arena *arena)
{
    struct gauge *list;
    size_t *by_name;

    if (columns->count < columns->room)
        return;
    columns->room = columns->room ? 2 * columns->room : 32;
    list = arena_zeroed(arena, columns->room, sizeof *list);
    by_name = arena_zeroed(arena, columns->room, sizeof *by_name);
    if (columns->count) {
        memcpy(list, columns->list, columns->count * sizeof *list);
        memcpy(by_name, columns->by_name, columns->count * sizeof *by_name);
    }
    columns->list = list;
    columns->by_name = by_name;
}

static void insert(struct record_columns *columns, size_t place, const struct gauge *gauge, struct arena *arena)
{
    make_room(columns, arena);
    memmove(columns->by_name + place + 1, columns->by_name + place,
            (columns->count - place) * sizeof *columns->by_name);
    columns->by_name[place] = columns->count;
    columns->list[columns->count++] = (struct gauge){.name = arena_text(arena, gauge->name),
                                                     .unit = arena_text(arena, gauge->unit),
                                                     .help = arena_text(arena, gauge->help)};
}

/* Adds what a design point has and no other before it had. */
static void join(struct record_columns *columns, const struct scenario *scenario, struct arena *arena)
{
    struct record_columns own = {0};
    struct arena scratch = {0};
    struct gauges gauges = gauges_of(scenario, &scratch);

    for (size_t i = 0; i < gauges.count; i++) {
        bool known, again;
        size_t place = place_of(columns, gauges.list[i].name, &known);
        size_t own_place = place_of(&own, gauges.list[i].name, &again);

        if (!known)
            insert(columns, place, &gauges.list[i], arena);
        if (!again)
            insert(&own, own_place, &gauges.list[i], &scratch);
        else if (!columns->twice)
            columns->twice = arena_text(arena, gauges.list[i].name);
    }
    arena_free(&scratch);
}

struct record_columns record_columns_all(const struct plan *plan, struct arena *arena)
{
    struct record_columns all = {0};
    bool known;

    for (size_t i = 0; i < plan->point_count; i++)
        join(&all, plan->points[i].scenario, arena);
    for (size_t i = 0; i < plan->factor_count && !all.twice; i++) {
        place_of(&all, plan->factor_names[i], &known);
        if (known)
            all.twice = plan->factor_names[i];
    }
    return all;
}

struct record_columns record_columns_some(const struct record_columns *all, const bool *wanted, struct arena *arena)
{
    struct record_columns some = {0};
    bool known;

    for (size_t i = 0; i < all->count; i++)
        if (wanted[i])
            insert(&some, place_of(&some, all->list[i].name, &known), &all->list[i], arena);
    return some;
}

struct gauges record_columns_gauges(const struct record_columns *columns, const struct scenario *scenario,
                                    size_t **places, struct arena *arena)
{
    struct gauges gauges = gauges_of(scenario, arena);
    size_t kept = 0;

    *places = arena_zeroed(arena, gauges.count, sizeof **places);
    for (size_t i = 0; i < gauges.count; i++) {
        bool known;
        size_t place = place_of(columns, gauges.list[i].name, &known);

        if (!known)
            continue;
        (*places)[kept] = columns->by_name[place];
        gauges.list[kept++] = gauges.list[i];
    }
    gauges.count = kept;
    return gauges;
}

double record_columns_rows(const struct plan *plan)
{
    double rows = 0;

    for (size_t i = 0; i < plan->point_count; i++) {
        const struct scenario *scenario = plan->points[i].scenario;
        double samples = (double)(scenario->study.horizon / scenario->record->every + 1);

        rows += samples * (scenario->record->all_replications ? (double)scenario->study.replications : 1);
    }
    return rows;
}
