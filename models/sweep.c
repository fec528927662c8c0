/* sweep.c - reads `sweep:` and lays out the points. */
#include "models/sweep.h"

#include <stdlib.h>
#include <string.h>

#include "models/address.h"
#include "models/changes_read.h"
#include "sim/io/expr.h"

static const char policies_prefix[] = "policies.";
enum { POINTS_MOST = 1000 * 1000 };

/* A time or a value of the timeline: changes.INDEX.at, changes.INDEX.to. */
static bool is_of_change(const char *address)
{
    static const char prefix[] = "changes.";
    if (strncmp(address, prefix, strlen(prefix)) != 0)
        return false;
    const char *index = address + strlen(prefix), *key = index + strspn(index, "0123456789");
    return key > index && (strcmp(key, ".at") == 0 || strcmp(key, ".to") == 0);
}

static bool may_be_swept(const char *address)
{
    static const char *const roots[] = {"study.", "backends.", "prices.", "agents.", policies_prefix};
    if (is_of_change(address))
        return true;
    for (size_t i = 0; i < sizeof roots / sizeof *roots; i++)
        if (strncmp(address, roots[i], strlen(roots[i])) == 0)
            return true;
    return false;
}

/* Finds whose the factor is, and that what it replaces is one value. */
static bool read_factor(const struct reader *reader, const struct node_entry *entry, const struct node *root,
                        struct sweep *sweep)
{
    struct factor *factor = &sweep->factors[sweep->factor_count];
    const struct node *now;
    *factor = (struct factor){.name = entry->key, .place = entry->place};
    for (size_t i = 0; i < sweep->factor_count; i++)
        if (address_same(reader, root, sweep->factors[i].name, entry->key)) {
            diag_error(reader->diag, entry->place, "%s is swept twice, here and on line %d", entry->key,
                       sweep->factors[i].place.line);
            return false;
        }
    const char *meant = address_meant(reader, root, entry->key);
    if (meant) {
        diag_error(reader->diag, entry->place, "there is no key %s: did you mean %s?", entry->key, meant);
        return false;
    }
    if (!may_be_swept(entry->key)) {
        diag_error(reader->diag, entry->place,
                   "%s cannot be swept: expected the address of one value, such as agents.NAME.population", entry->key);
        return false;
    }
    if (strcmp(entry->key, "study.replications") == 0) {
        diag_error(reader->diag, entry->place, "study.replications cannot be swept: all points have the same number");
        return false;
    }
    if (strncmp(entry->key, policies_prefix, strlen(policies_prefix)) == 0) {
        const struct node *policies = node_get(root, "policies");
        const struct alternative *all = alternatives_of(reader, policies), *one = NULL;
        if (all)
            one = alternative_at(reader, all, policies->count, entry->key + strlen(policies_prefix), entry->place,
                                 &factor->inner);
        if (!one || !address_expects_key(reader, one->item, entry->key, factor->inner, entry->place))
            return false;
        const char **labels = arena_zeroed(reader->arena, 2, sizeof *labels);
        labels[0] = one->label;
        factor->labels = labels;
        now = address_get_policy(one->item, factor->inner);
    } else {
        now = address_get(root, entry->key);
        if (is_of_change(entry->key))
            factor->labels = changes_labels(reader, root, entry->key);
    }
    if (now && now->kind != NODE_SCALAR && now->kind != NODE_NULL) {
        diag_error(reader->diag, entry->place, "%s is %s and cannot be swept: expected the address of one value",
                   entry->key, node_kind_name(now));
        return false;
    }
    sweep->factor_count++;
    return true;
}

static bool is_scalar(const struct reader *reader, const char *name, const struct node *value)
{
    if (value->kind == NODE_SCALAR)
        return true;
    diag_error(reader->diag, value->place, "%s: a swept value is one value, not %s", name, node_kind_name(value));
    return false;
}

static int by_text(const void *left, const void *right)
{
    const struct node *a = *(struct node *const *)left, *b = *(struct node *const *)right;
    int order = strcmp(a->text, b->text);
    if (order == 0)
        order = a->place.line - b->place.line;
    return order ? order : a->place.column - b->place.column;
}

/* Equal values would be rows with equal keys. */
static bool all_differ(const struct reader *reader, const char *name, struct node *const *values, size_t count)
{
    struct node **sorted = arena_zeroed(reader->arena, count, sizeof *sorted);
    memcpy(sorted, values, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, by_text);
    for (size_t i = 1; i < count; i++)
        if (strcmp(sorted[i]->text, sorted[i - 1]->text) == 0) {
            diag_error(reader->diag, sorted[i]->place, "%s: %s is there twice: expected values that differ", name,
                       sorted[i]->text);
            return false;
        }
    return true;
}

/* The values of a factor of its own: a list, or a range such as 8..24 step 2. */
static bool read_values(const struct reader *reader, const struct node_entry *entry, struct group *group)
{
    const struct node *node = entry->value;
    if (node->kind == NODE_LIST && node->count > 0) {
        group->rows = node->count;
        group->values = node->items;
        for (size_t i = 0; i < node->count; i++)
            if (!is_scalar(reader, entry->key, node->items[i]))
                return false;
        return all_differ(reader, entry->key, group->values, group->rows);
    }
    size_t before = reader->diag->errors;
    const char **texts = NULL;
    if (node->kind == NODE_SCALAR)
        texts = expr_range(node->text, node->place, &group->rows, reader->arena, reader->diag);
    if (!texts) {
        if (reader->diag->errors == before)
            diag_error(reader->diag, node->place, "%s: expected a list of values, or a range such as 8..24 step 2",
                       entry->key);
        return false;
    }
    group->values = arena_zeroed(reader->arena, group->rows, sizeof *group->values);
    for (size_t i = 0; i < group->rows; i++)
        group->values[i] = node_scalar(texts[i], node->place, reader->arena);
    return true;
}

static bool read_zip(const struct reader *reader, const struct node *list, const struct node *root, struct sweep *sweep,
                     struct group *group)
{
    if (list->kind != NODE_LIST || list->count == 0) {
        diag_error(reader->diag, list->place, "zip: expected a list of mappings, such as [{a: 1, b: 3}, {a: 2, b: 4}]");
        return false;
    }
    const struct node *first = list->items[0];
    for (size_t row = 0; row < list->count; row++) {
        const struct node *item = list->items[row];
        if (!reader_expects_map(reader, item, "zip"))
            return false;
        if (item->count == 0 || item->count != first->count) {
            diag_error(reader->diag, item->place, "zip: expected the same keys in every mapping, and at least one");
            return false;
        }
    }
    group->count = first->count;
    group->rows = list->count;
    group->values = arena_zeroed(reader->arena, group->rows * group->count, sizeof *group->values);
    for (size_t column = 0; column < group->count; column++) {
        const char *name = first->entries[column].key;
        if (!read_factor(reader, &first->entries[column], root, sweep))
            return false;
        for (size_t row = 0; row < group->rows; row++) {
            struct node *value = node_get(list->items[row], name);
            if (!value) {
                diag_error(reader->diag, list->items[row]->place, "zip: expected %s here as in the first mapping",
                           name);
                return false;
            }
            if (!is_scalar(reader, name, value))
                return false;
            group->values[row * group->count + column] = value;
        }
    }
    struct node **rows = arena_zeroed(reader->arena, group->rows, sizeof *rows);
    for (size_t row = 0; row < group->rows; row++) {
        const char *text = "";
        for (size_t i = 0; i < group->count; i++)
            text = arena_format(reader->arena, "%s%s%s", text, i > 0 ? ", " : "",
                                group->values[row * group->count + i]->text);
        rows[row] = node_scalar(text, list->items[row]->place, reader->arena);
    }
    return all_differ(reader, "zip", rows, group->rows);
}

bool sweep_read(const struct reader *reader, const struct node *map, const struct node *root, struct sweep *sweep)
{
    *sweep = (struct sweep){0};
    if (!map)
        return true;
    if (!reader_expects_map(reader, map, "sweep"))
        return false;
    size_t most = map->count;
    const struct node *zip = node_get(map, "zip");
    if (zip && zip->kind == NODE_LIST && zip->count > 0 && zip->items[0]->kind == NODE_MAP)
        most += zip->items[0]->count;
    sweep->factors = arena_zeroed(reader->arena, most, sizeof *sweep->factors);
    sweep->groups = arena_zeroed(reader->arena, map->count, sizeof *sweep->groups);
    bool good = true;
    for (size_t i = 0; i < map->count; i++) {
        const struct node_entry *entry = &map->entries[i];
        struct group *group = &sweep->groups[sweep->group_count++];
        *group = (struct group){.first = sweep->factor_count, .count = 1};
        good &= entry->value == zip ? read_zip(reader, zip, root, sweep, group)
                                    : read_factor(reader, entry, root, sweep) && read_values(reader, entry, group);
    }
    return good;
}

bool factor_applies(const struct factor *factor, const char *label)
{
    const char *const *labels = factor->labels;
    while (labels && *labels && strcmp(*labels, label) != 0)
        labels++;
    return !labels || *labels;
}

static bool same_row(const struct sweep *sweep, const struct group *group, const char *label, size_t one, size_t other)
{
    for (size_t i = 0; i < group->count; i++)
        if (factor_applies(&sweep->factors[group->first + i], label) &&
            strcmp(group->values[one * group->count + i]->text, group->values[other * group->count + i]->text) != 0)
            return false;
    return true;
}

/* The rows of a group that an alternative tells apart. */
static size_t distinct_rows(const struct sweep *sweep, const struct group *group, const char *label, size_t *rows)
{
    bool whole = true;
    for (size_t i = 0; i < group->count; i++)
        whole = whole && factor_applies(&sweep->factors[group->first + i], label);
    size_t count = 0;
    for (size_t row = 0; row < group->rows; row++) {
        bool seen = false;
        for (size_t i = 0; i < count && !whole && !seen; i++)
            seen = same_row(sweep, group, label, rows[i], row);
        if (!seen)
            rows[count++] = row;
    }
    return count;
}

size_t sweep_points(const struct reader *reader, const struct sweep *sweep, const char *label, struct node ***values)
{
    size_t points = 1;
    size_t **rows = arena_zeroed(reader->arena, sweep->group_count, sizeof *rows);
    size_t *counts = arena_zeroed(reader->arena, sweep->group_count, sizeof *counts);
    for (size_t g = 0; g < sweep->group_count; g++) {
        rows[g] = arena_zeroed(reader->arena, sweep->groups[g].rows, sizeof **rows);
        counts[g] = distinct_rows(sweep, &sweep->groups[g], label, rows[g]);
        points *= counts[g];
        if (points > POINTS_MOST) {
            diag_error(reader->diag, sweep->factors[sweep->groups[g].first].place,
                       "the sweep has more than a million design points: expected fewer values");
            return 0;
        }
    }
    struct node **out = arena_zeroed(reader->arena, points * sweep->factor_count + 1, sizeof *out);
    for (size_t point = 0; point < points; point++) {
        size_t left = point;
        for (size_t g = sweep->group_count; g-- > 0; left /= counts[g]) {
            const struct group *group = &sweep->groups[g];
            size_t row = rows[g][left % counts[g]];
            for (size_t i = 0; i < group->count; i++)
                if (factor_applies(&sweep->factors[group->first + i], label))
                    out[point * sweep->factor_count + group->first + i] = group->values[row * group->count + i];
        }
    }
    *values = out;
    return points;
}

static struct node *without(const struct reader *reader, const struct node *map, const struct node *root,
                            const char *address)
{
    struct node *copy = map_copy(map, reader->arena);
    for (size_t i = 0; i < map->count; i++)
        if (address_same(reader, root, map->entries[i].key, address))
            copy = map_without(copy, map->entries[i].key, reader->arena);
    return copy;
}

static bool same_values(const struct node *one, const struct node *other)
{
    for (size_t i = 0; i < one->count; i++) {
        const struct node *here = one->entries[i].value, *there = node_get(other, one->entries[i].key);
        if (!there || here->kind != NODE_SCALAR || there->kind != NODE_SCALAR || strcmp(here->text, there->text) != 0)
            return false;
    }
    return one->count == other->count;
}

/* A row of a zip without one of its keys; NULL if nothing is left, or nothing that another row does not say. */
static struct node *row_without(const struct reader *reader, struct node *row, const struct node *root,
                                const char *address, const struct node *others)
{
    struct node *left = row->kind == NODE_MAP ? without(reader, row, root, address) : row;
    bool lost = row->kind == NODE_MAP && left->count < row->count, said = lost && left->count == 0;
    for (size_t i = 0; i < others->count && lost; i++)
        said = said || same_values(left, others->items[i]);
    return said ? NULL : left;
}

struct node *sweep_without(const struct reader *reader, const struct node *map, const struct node *root,
                           const char *address)
{
    struct node *copy = without(reader, map, root, address);
    struct node *zip = node_get(copy, "zip");
    if (zip && zip->kind == NODE_LIST && zip->count > 0) {
        struct node *list = arena_zeroed(reader->arena, 1, sizeof *list);
        *list = (struct node){.kind = NODE_LIST, .place = zip->place};
        list->items = arena_zeroed(reader->arena, zip->count, sizeof *list->items);
        for (size_t i = 0; i < zip->count; i++) {
            struct node *row = row_without(reader, zip->items[i], root, address, list);
            if (row)
                list->items[list->count++] = row;
        }
        if (list->count > 0)
            node_put(copy, "zip", list->place, list, reader->arena);
        else
            copy = map_without(copy, "zip", reader->arena);
    }
    return copy->count > 0 ? copy : NULL;
}

struct node *sweep_renamed(const struct reader *reader, const struct node *map, const struct alternative *before,
                           const struct alternative *after, size_t count)
{
    size_t below = strlen(policies_prefix);
    struct node *copy = map_copy(map, reader->arena);
    for (size_t i = 0; i < copy->count; i++) {
        struct node_entry *entry = &copy->entries[i];
        const char *rest;
        const struct alternative *one = strncmp(entry->key, policies_prefix, below) == 0
                                            ? alternative_find(before, count, entry->key + below, &rest)
                                            : NULL;
        if (one)
            entry->key = arena_format(reader->arena, "%s%s.%s", policies_prefix, after[one - before].label, rest);
        if (strcmp(entry->key, "zip") != 0 || entry->value->kind != NODE_LIST)
            continue;
        entry->value = node_copy(entry->value, reader->arena);
        for (size_t row = 0; row < entry->value->count; row++)
            if (entry->value->items[row]->kind == NODE_MAP)
                entry->value->items[row] = sweep_renamed(reader, entry->value->items[row], before, after, count);
    }
    return copy;
}

struct node *sweep_with(const struct reader *reader, const struct node *map, const char *name, struct place asked,
                        struct node *values)
{
    const struct node *zip = map ? node_get(map, "zip") : NULL;
    if (zip && zip->kind == NODE_LIST && zip->count > 0 && zip->items[0]->kind == NODE_MAP &&
        node_get(zip->items[0], name)) {
        diag_error(reader->diag, asked, "%s is swept in a zip: expected sweep.zip=[...] to replace the whole of it",
                   name);
        return NULL;
    }
    const struct node empty = {.kind = NODE_MAP, .place = asked};
    struct node *copy = map_copy(map ? map : &empty, reader->arena);
    node_put(copy, name, asked, values, reader->arena);
    return copy;
}
