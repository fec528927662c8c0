/* prices_read.c - the mapping `prices:`, money for what a backend does. */
#include <string.h>

#include "models/readers.h"
#include "models/tables.h"
#include "sim/io/param.h"

static struct backend *priced(const struct reader *reader, const struct node_entry *entry, struct backend *backends,
                              size_t count)
{
    size_t found = reader_find(reader, entry->key, entry->place, "prices: there is no backend", &backends->name,
                               sizeof *backends, count);
    return found != READER_NONE ? &backends[found] : NULL;
}

static bool read_prices(const struct reader *reader, const struct node_entry *entry, struct prices *prices)
{
    struct price_keys keys = {0};
    struct place places[PRICE_KEYS] = {{0}};
    const char *what = arena_format(reader->arena, "prices of %s", entry->key);
    param_defaults(price_options, &keys, reader->arena);
    if (!reader_expects_map(reader, entry->value, what) ||
        !param_read(price_options, what, &keys, entry->value, NULL, places, reader->arena, reader->diag))
        return false;
    *prices = (struct prices){.given = true,
                              .input = keys.input,
                              .cached = places[PRICE_CACHED].file ? keys.cached : keys.input,
                              .output = keys.output,
                              .request = keys.request,
                              .hour = keys.hour};
    return true;
}

/* One bill comes for a pool, so its hours are not paid again with each key. */
static void inherit(struct backend *backends, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct prices *own = &backends[i].prices;
        if (own->given || backends[i].pool == i)
            continue;
        *own = backends[backends[i].pool].prices;
        own->hour = 0;
    }
}

bool prices_read(const struct reader *reader, const struct node *map, struct backend *backends, size_t count)
{
    size_t before = reader->diag->errors;
    if (!map)
        return true;
    if (!reader_expects_map(reader, map, "prices"))
        return false;
    for (size_t i = 0; i < map->count; i++) {
        struct backend *backend = priced(reader, &map->entries[i], backends, count);
        if (backend)
            read_prices(reader, &map->entries[i], &backend->prices);
    }
    inherit(backends, count);
    return reader->diag->errors == before;
}
