/* record_read.c - the mapping `record:`, and the columns that it asks for. */
#include <string.h>

#include "models/decisions.h"
#include "models/readers.h"
#include "models/record_columns.h"
#include "models/tables.h"
#include "sim/io/param.h"

/* Numbers in a record at the most: they are in memory, 8 bytes each, until the study is over. */
#define CELLS_MOST 50e6
/* Names that a message lists. */
enum { LISTED_MOST = 30 };

/* A name, or a list of them; none is none at all. False after an error. */
static bool read_what(const struct reader *reader, struct node *node, struct record_spec *spec)
{
    struct node *const *items = node->kind == NODE_LIST ? node->items : &node;
    size_t count = node->kind == NODE_LIST ? node->count : 1;
    const char **what = arena_zeroed(reader->arena, count, sizeof *what);
    if (count == 0) {
        diag_error(reader->diag, node->place, "record: what: expected names of columns, or no `what` for all of them");
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        if (items[i]->kind != NODE_SCALAR) {
            diag_error(reader->diag, items[i]->place,
                       "record: what: expected the name of a column, such as waiting or codel.*, not %s",
                       node_kind_name(items[i]));
            return false;
        }
        what[i] = items[i]->text;
    }
    spec->what = what;
    spec->what_count = count;
    return true;
}

/* A file, if it is asked for; it has a name, and no other has the same. */
static bool read_file(const struct reader *reader, const struct record_keys *keys, const struct place *places, int row)
{
    const char *const files[] = {[RECORD_FILE] = keys->file,
                                 [RECORD_DECISIONS] = keys->decisions,
                                 [RECORD_AUDIT] = keys->audit,
                                 [RECORD_ALERTS] = keys->alerts};
    const char *key = record_options[row].key;
    if (!places[row].file)
        return true;
    if (!files[row][0]) {
        diag_error(reader->diag, places[row], "record: %s: expected the name of a file, such as fleet.csv", key);
        return false;
    }
    for (int other = RECORD_FILE; other < row; other++)
        if (places[other].file && strcmp(files[other], files[row]) == 0) {
            diag_error(reader->diag, places[row], "record: %s: %s has this file already (line %d): expected another",
                       key, record_options[other].key, places[other].line);
            return false;
        }
    return true;
}

/* Samples have a file and a time between them, or there are none. */
static bool check_samples(const struct reader *reader, const struct node *map, const struct place *places)
{
    const struct node *what = node_get(map, "what");
    bool file = places[RECORD_FILE].file, every = places[RECORD_EVERY].file;
    if (file && !every)
        diag_error(reader->diag, map->place, "record: needs every: %s",
                   param_expected(&record_options[RECORD_EVERY], reader->arena));
    else if (!file && (every || what))
        diag_error(reader->diag, every ? places[RECORD_EVERY] : what->place, "record: needs file: %s for the samples",
                   param_expected(&record_options[RECORD_FILE], reader->arena));
    else if (!file && !places[RECORD_DECISIONS].file && !places[RECORD_AUDIT].file && !places[RECORD_ALERTS].file)
        diag_error(reader->diag, map->place, "record: expected file and every, decisions, audit or alerts");
    else
        return true;
    return false;
}

bool record_read(const struct reader *reader, const struct node *map, const struct record_spec **record)
{
    struct record_keys keys = {0};
    struct place places[RECORD_KEYS] = {{0}};
    *record = NULL;
    if (!map)
        return true;
    param_defaults(record_options, &keys, reader->arena);
    if (!reader_expects_map(reader, map, "record") ||
        !param_read(record_options, "record", &keys, map, record_others, places, reader->arena, reader->diag) ||
        !read_file(reader, &keys, places, RECORD_FILE) || !read_file(reader, &keys, places, RECORD_DECISIONS) ||
        !read_file(reader, &keys, places, RECORD_AUDIT) || !read_file(reader, &keys, places, RECORD_ALERTS) ||
        !check_samples(reader, map, places))
        return false;
    struct record_spec *spec = arena_zeroed(reader->arena, 1, sizeof *spec);
    struct node *what = node_get(map, "what");
    *spec = (struct record_spec){.file = keys.file,
                                 .decisions = keys.decisions,
                                 .audit = keys.audit,
                                 .alerts = keys.alerts,
                                 .every = keys.every,
                                 .all_replications = keys.replications == RECORD_ALL};
    *record = spec;
    return !what || read_what(reader, what, spec);
}

/* "codel.*": how much of the name all of its columns begin with; 0: it is the name of one column. */
static size_t stem_of(const char *what)
{
    size_t length = strlen(what);
    return length > 2 && strcmp(what + length - 2, ".*") == 0 ? length - 1 : 0;
}

static bool takes(const char *what, const char *column)
{
    size_t stem = stem_of(what);
    return stem ? strncmp(what, column, stem) == 0 : strcmp(what, column) == 0;
}

/* All that could have been written: each column, and each beginning with `.*`. */
static const char *nearest_what(const struct reader *reader, const char *what, const struct record_columns *all)
{
    size_t count = 0, room = 0;
    for (size_t i = 0; i < all->count; i++)
        for (const char *at = all->list[i].name; at; at = strchr(at + 1, '.'))
            room++;
    const char **names = arena_zeroed(reader->arena, room, sizeof *names);
    for (size_t i = 0; i < all->count; i++) {
        const char *name = all->list[i].name;
        names[count++] = name;
        for (const char *dot = strchr(name, '.'); dot; dot = strchr(dot + 1, '.'))
            names[count++] = arena_format(reader->arena, "%.*s.*", (int)(dot - name), name);
    }
    for (size_t i = 0; i < count; i++)
        if (strncmp(names[i], what, strlen(what)) == 0 && strcmp(names[i] + strlen(what), ".*") == 0)
            return arena_format(reader->arena, "; did you mean %s?", names[i]);
    const char *nearest = reader_nearest(reader, what, names, count);
    if (nearest[0])
        return nearest;
    const char *list = "";
    for (size_t i = 0; i < all->count && i < LISTED_MOST; i++)
        list = arena_format(reader->arena, "%s%s%s", list, i ? ", " : "; there are: ", all->list[i].name);
    return arena_format(reader->arena, "%s%s", list, all->count > LISTED_MOST ? ", ..." : "");
}

/* Where alternatives were left out (--policy), a name may be of one of those. */
static bool choose(const struct reader *reader, const struct node *what, bool whole, const struct record_columns *all,
                   bool *wanted)
{
    struct node *const *items = what->items;
    size_t count = what->kind == NODE_LIST ? what->count : 1, before = reader->diag->errors;
    for (size_t i = 0; i < count; i++) {
        const struct node *item = what->kind == NODE_LIST ? items[i] : what;
        bool found = false;
        for (size_t k = 0; k < all->count; k++) {
            if (!takes(item->text, all->list[k].name))
                continue;
            wanted[k] = found = true;
        }
        if (!found && whole)
            diag_error(reader->diag, item->place, "record: there is no column %s%s", item->text,
                       nearest_what(reader, item->text, all));
    }
    return reader->diag->errors == before;
}

static bool read_decisions(const struct reader *reader, const struct node *asked, bool whole, struct plan *plan)
{
    struct decision_columns *columns = arena_zeroed(reader->arena, 1, sizeof *columns);
    *columns = decision_columns_of(plan, reader->arena);
    if (columns->count == 0 && whole) {
        diag_error(reader->diag, asked->place,
                   "record: decisions: expected a policy that writes some, and there is none");
        return false;
    }
    plan->decisions = columns;
    return true;
}

bool record_columns_read(const struct reader *reader, const struct node *map, bool whole, struct plan *plan)
{
    const struct node *decisions = map ? node_get(map, record_options[RECORD_DECISIONS].key) : NULL;
    const struct node *alerts = map ? node_get(map, record_options[RECORD_ALERTS].key) : NULL;
    if (alerts && plan->points[0].scenario->alert_count == 0) {
        diag_error(reader->diag, alerts->place,
                   "record: alerts: expected `alerts:` in the scenario, and there are none");
        return false;
    }
    if (decisions && !read_decisions(reader, decisions, whole, plan))
        return false;
    if (!map || !node_get(map, record_options[RECORD_FILE].key))
        return true;
    struct record_columns *columns = arena_zeroed(reader->arena, 1, sizeof *columns);
    const struct node *what = node_get(map, "what"), *every = node_get(map, "every");
    struct record_columns all = record_columns_all(plan, reader->arena);
    bool *wanted = arena_zeroed(reader->arena, all.count, sizeof *wanted);
    if (all.twice) {
        diag_error(reader->diag, map->place,
                   "record: two columns are called %s: expected another name for the policy, class, tenant or backend",
                   all.twice);
        return false;
    }
    if (what && !choose(reader, what, whole, &all, wanted))
        return false;
    *columns = what ? record_columns_some(&all, wanted, reader->arena) : all;
    double cells = record_columns_rows(plan) * (double)columns->count;
    if (cells > CELLS_MOST) {
        diag_error(
            reader->diag, every->place,
            "record: %.0f rows of %zu columns are too many, %.0f million numbers: expected at most %.0f million; "
            "a longer `every` or fewer columns (`what`) make it smaller",
            record_columns_rows(plan), columns->count, cells / 1e6, CELLS_MOST / 1e6);
        return false;
    }
    plan->record = columns;
    return true;
}
