/* regress_read.c - the mapping `regress:`. */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "models/readers.h"
#include "models/regress.h"
#include "sim/io/param.h"
#include "sim/io/unit.h"

struct regress_keys {
    int64_t most;
};

/* clang-format off */
const struct option regress_options[] = {
    {"most", OPTION_COUNT, offsetof(struct regress_keys, most), .initial = "0", .least = "0", .most = "100000",
     .measures = "replications",
     .help = "most replications of a design point, where fewer leave a row undecided; 0: those of the table, and of "
             "two versions four times those of the study"},
    {.key = NULL},
};
/* clang-format on */
const char *const regress_others[] = {"set", "gate", "tolerance", NULL};

/* METRIC_COUNT after an error. */
static size_t metric_named(const struct reader *reader, const char *name, struct place place, const char *what)
{
    const char *names[METRIC_COUNT];

    for (size_t i = 0; i < METRIC_COUNT; i++) {
        names[i] = metrics[i].name;
        if (strcmp(name, names[i]) != 0)
            continue;
        if (*metrics[i].better)
            return i;
        diag_error(reader->diag, place,
                   "regress: %s: %s has no better direction: expected a metric of which more or less is better", what,
                   name);
        return METRIC_COUNT;
    }
    diag_error(reader->diag, place, "regress: %s: there is no metric %s%s", what, name,
               reader_nearest(reader, name, names, METRIC_COUNT));
    return METRIC_COUNT;
}

static bool read_gate(const struct reader *reader, const struct node *node, struct regress_spec *spec)
{
    size_t count = node->kind == NODE_LIST ? node->count : 1;
    bool good = count > 0;

    memset(spec->gated, 0, sizeof spec->gated);
    if (count == 0)
        diag_error(reader->diag, node->place, "regress: gate: expected metrics, such as [goodput, wait_p99]");
    for (size_t i = 0; i < count; i++) {
        const struct node *item = node->kind == NODE_LIST ? node->items[i] : node;
        size_t metric = METRIC_COUNT;

        if (item->kind == NODE_SCALAR)
            metric = metric_named(reader, item->text, item->place, "gate");
        else
            diag_error(reader->diag, item->place, "regress: gate: expected a metric or a list of metrics, not %s",
                       node_kind_name(item));
        if (metric < METRIC_COUNT)
            spec->gated[metric] = true;
        else
            good = false;
    }
    return good;
}

/* 3 % is a part of the value, 0.2 s or a bare number a floor; both: [3 %, 0.2 s]. */
static bool read_tolerance(const struct reader *reader, const struct node *node, size_t metric,
                           struct regress_spec *spec)
{
    const char *end, *why;
    struct number number;

    if (node->kind != NODE_SCALAR) {
        diag_error(reader->diag, node->place,
                   "regress: tolerance: %s: expected a part, such as 3 %%, a floor in the metric's unit, such as 0.2, "
                   "or both, [3 %%, 0.2]",
                   metrics[metric].name);
        return false;
    }
    if (unit_read(node->text, &end, &number, &why) && *end == '\0' && isfinite(number.value)) {
        if (strchr(node->text, '%') && number.quantity != QUANTITY_TIME) {
            spec->tolerance[metric].relative = number.value;
            return true;
        }
        if (number.quantity == QUANTITY_NUMBER ||
            (number.quantity == QUANTITY_TIME && strcmp(metrics[metric].unit, "s") == 0)) {
            spec->tolerance[metric].absolute = number.value;
            return true;
        }
    }
    diag_error(reader->diag, node->place,
               "regress: tolerance: %s: %s: expected a part, such as 3 %%, or a floor in the metric's unit%s%s",
               metrics[metric].name, node->text, *metrics[metric].unit ? ", " : "", metrics[metric].unit);
    return false;
}

static bool read_tolerances(const struct reader *reader, const struct node *map, struct regress_spec *spec)
{
    bool good = reader_expects_map(reader, map, "regress: tolerance");

    for (size_t i = 0; good && i < map->count; i++) {
        const struct node_entry *entry = &map->entries[i];
        size_t metric = metric_named(reader, entry->key, entry->place, "tolerance");
        const struct node *value = entry->value;

        if (metric == METRIC_COUNT)
            return false;
        /* what is said replaces the table's row: a part alone has no floor, and a floor alone no part */
        spec->tolerance[metric].relative = spec->tolerance[metric].absolute = 0;
        if (value->kind == NODE_LIST && value->count == 2)
            good = read_tolerance(reader, value->items[0], metric, spec) &&
                   read_tolerance(reader, value->items[1], metric, spec);
        else
            good = read_tolerance(reader, value, metric, spec);
    }
    return good;
}

bool regress_read(const struct reader *reader, const struct node *map, struct regress_spec *spec)
{
    const struct node *set, *gate, *tolerance;
    struct regress_keys keys = {0};

    *spec = (struct regress_spec){.given = map != NULL};
    for (size_t i = 0; i < METRIC_COUNT; i++) {
        spec->gated[i] = metric_judged(&metrics[i]);
        spec->tolerance[i].relative = metrics[i].relative;
        spec->tolerance[i].absolute = metrics[i].absolute;
    }
    if (!map)
        return true;
    param_defaults(regress_options, &keys, reader->arena);
    if (!reader_expects_map_of(reader, map, "regress", NULL, "gate: [goodput, wait_p99]") ||
        !param_read(regress_options, "regress", &keys, map, regress_others, NULL, reader->arena, reader->diag))
        return false;
    spec->most = keys.most;
    spec->set = set = node_get(map, "set");
    gate = node_get(map, "gate");
    tolerance = node_get(map, "tolerance");
    return (!set || reader_expects_map(reader, set, "regress: set")) && (!gate || read_gate(reader, gate, spec)) &&
           (!tolerance || read_tolerances(reader, tolerance, spec));
}
