/* precision_read.c - the mapping `precision:`. */
#include <string.h>

#include "models/metrics.h"
#include "models/readers.h"
#include "models/tables.h"
#include "sim/io/param.h"

struct precision_keys {
    const char *metric;
    double relative;
    int64_t least, most;
};

enum { KEY_METRIC, KEY_RELATIVE, KEY_LEAST, KEY_MOST, KEYS };

#define AT(member) .offset = offsetof(struct precision_keys, member)

const struct option precision_options[] = {
    {"metric", OPTION_TEXT, AT(metric), .initial = NULL,
     .help = "whose half-width is looked at, in the row of all classes, tenants and backends"},
    {"relative", OPTION_SHARE, AT(relative), .initial = "5 %", .least = "0.0001", .most = "1",
     .help = "half-width / mean that is narrow enough"},
    {"least", OPTION_COUNT, AT(least), .initial = "10", .least = "2", .most = "100k",
     .help =
         "replications before the first look; each further one takes half as many more (Law and Kelton's sequential "
         "procedure, at looks)"},
    {"most", OPTION_COUNT, AT(most), .initial = "200", .least = "2", .most = "100k",
     .help = "replications of a design point at the most, narrow enough or not"},
    {.key = NULL},
};

size_t metric_find(const struct reader *reader, const char *name, const char *what, struct place place)
{
    const char **names = arena_zeroed(reader->arena, METRIC_COUNT, sizeof *names);
    for (size_t i = 0; i < METRIC_COUNT; i++) {
        names[i] = metrics[i].name;
        if (strcmp(name, names[i]) == 0)
            return i;
    }
    diag_error(reader->diag, place, "%s: there is no metric %s: expected one of `weir list metrics`%s", what, name,
               reader_nearest(reader, name, names, METRIC_COUNT));
    return METRIC_COUNT;
}

bool precision_read(const struct reader *reader, const struct node *map, struct study *study)
{
    if (!map)
        return true;
    struct precision_keys keys = {0};
    struct place places[KEYS] = {{0}};
    param_defaults(precision_options, &keys, reader->arena);
    if (!reader_expects_map_of(reader, map, "precision", NULL, "metric: wait_p99") ||
        !param_read(precision_options, "precision", &keys, map, NULL, places, reader->arena, reader->diag))
        return false;
    struct diag *diag = reader->diag;
    size_t before = diag->errors, metric = metric_find(reader, keys.metric, "precision", places[KEY_METRIC]);
    const struct node *given = reader->document ? node_get(reader->document, "study") : NULL;
    given = given && given->kind == NODE_MAP ? node_get(given, "replications") : NULL;
    bool set = given && strncmp(given->place.file, "--set", 5) == 0; /* -r too: said later, it goes before the file */
    if (given && !set)
        diag_error(diag, given->place, "replications: `precision` decides how many: expected one of the two");
    if (keys.least > keys.most)
        diag_error(diag, places[KEY_LEAST].file ? places[KEY_LEAST] : places[KEY_MOST],
                   "precision: least is %lld and most %lld: expected the least not to be above the most",
                   (long long)keys.least, (long long)keys.most);
    if (set)
        return diag->errors == before;
    struct precision *precision = arena_zeroed(reader->arena, 1, sizeof *precision);
    *precision = (struct precision){metric, keys.relative, keys.least, keys.most};
    study->precision = precision;
    study->replications = keys.most;
    return diag->errors == before;
}
