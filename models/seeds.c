/* seeds.c - the mapping `seeds:`, parameters of policies that somebody measured, pool by pool: {POOL: {POLICY: {KEY:
 * VALUE}}}.
 *
 * It is what `weir discover` writes. Alternatives are a list, and two lists cannot be merged; a mapping by names can,
 * so a file of seeds is included, or pasted, and every alternative that has the policy is seeded, whatever its label. A
 * member takes what its own mapping does not say, before its preset and its defaults. */
#include "models/seeds.h"

#include <string.h>

#include "models/address.h"
#include "models/tables.h"
#include "sim/io/param.h"

static const char *const *provider_names(const struct reader *reader, const struct node *backends, size_t *count)
{
    const char **names = arena_zeroed(reader->arena, backends ? backends->count + 1 : 1, sizeof *names);

    *count = 0;
    for (size_t i = 0; backends && backends->kind == NODE_MAP && i < backends->count; i++) {
        int kind = backend_kind(backends->entries[i].value);

        if (kind == KIND_PROVIDER || kind == KIND_ALIAS)
            names[(*count)++] = backends->entries[i].key;
    }
    return names;
}

/* Parameters alone are measured: where a member stands, its name and its preset are the scenario's to say. */
static bool check_keys(const struct reader *reader, const struct node_entry *policy)
{
    const struct option *options = policy_named(reader->policies, policy->key)->params;
    bool good = true;
    size_t count = 0;

    while (options && options[count].key)
        count++;
    const char **names = arena_zeroed(reader->arena, count + 1, sizeof *names);
    for (size_t i = 0; i < count; i++)
        names[i] = options[i].key;
    for (size_t i = 0; i < policy->value->count; i++) {
        const struct node_entry *entry = &policy->value->entries[i];

        if (options && param_find(options, entry->key))
            continue;
        diag_error(reader->diag, entry->place, "seeds: %s has no parameter %s: expected %s%s%s", policy->key,
                   entry->key, count > 0 ? "one of " : "a policy with parameters", reader_list(reader, names, count),
                   reader_nearest(reader, entry->key, names, count));
        good = false;
    }
    return good;
}

static bool check_policy(const struct reader *reader, const struct node_entry *policy)
{
    size_t count = 0;

    if (!policy_named(reader->policies, policy->key)) {
        while (reader->policies[count])
            count++;
        const char **names = arena_zeroed(reader->arena, count + 1, sizeof *names);
        for (size_t i = 0; i < count; i++)
            names[i] = reader->policies[i]->name;
        diag_error(reader->diag, policy->place, "seeds: there is no policy %s: expected one of %s%s", policy->key,
                   reader_list(reader, names, count), reader_nearest(reader, policy->key, names, count));
        return false;
    }
    return reader_expects_map(reader, policy->value, policy->key) && check_keys(reader, policy);
}

static bool check_pool(const struct reader *reader, const struct node_entry *pool, const struct node *backends)
{
    size_t count, at = 0;
    const char *const *names = provider_names(reader, backends, &count);
    bool good = true;

    while (at < count && strcmp(names[at], pool->key) != 0)
        at++;
    if (at == count) {
        diag_error(reader->diag, pool->place, "seeds: there is no provider %s: expected %s%s%s", pool->key,
                   count > 0 ? "one of " : "a backend of kind provider", reader_list(reader, names, count),
                   reader_nearest(reader, pool->key, names, count));
        return false;
    }
    if (!reader_expects_map(reader, pool->value, arena_format(reader->arena, "seeds of %s", pool->key)))
        return false;
    for (size_t i = 0; i < pool->value->count; i++)
        good &= check_policy(reader, &pool->value->entries[i]);
    return good;
}

/* A backend that is neither that pool nor another key of it; NULL: there is none. */
static const char *another_backend(const struct node *backends, const char *pool)
{
    const struct node *seeded = node_get(backends, pool);
    const struct node *of = seeded && seeded->kind == NODE_MAP ? node_get(seeded, "of") : NULL;
    const char *owner = of && of->kind == NODE_SCALAR ? of->text : pool;

    for (size_t i = 0; i < backends->count; i++) {
        const struct node *map = backends->entries[i].value;

        of = map->kind == NODE_MAP ? node_get(map, "of") : NULL;
        if (strcmp(backends->entries[i].key, owner) != 0 &&
            !(of && of->kind == NODE_SCALAR && strcmp(of->text, owner) == 0))
            return backends->entries[i].key;
    }
    return NULL;
}

/* A member that stands at every gate takes seeds where all gates are of the one pool that they are of. */
static bool check_member(const struct reader *reader, const struct node *member, const struct node *seeds,
                         const struct node *backends)
{
    const char *policy = member_policy(member), *pool = NULL, *other;
    size_t pools = 0;

    if (node_get(member->entries->value, "at"))
        return true;
    for (size_t i = 0; i < seeds->count; i++) {
        if (!node_get(seeds->entries[i].value, policy))
            continue;
        pools++;
        pool = seeds->entries[i].key;
    }
    other = pools == 1 && backends && backends->kind == NODE_MAP ? another_backend(backends, pool) : NULL;
    if (pools > 1)
        diag_error(reader->diag, member->entries->place,
                   "there are seeds for %s of more than one pool: expected at: POOL, a member for each", policy);
    else if (other)
        diag_error(reader->diag, member->entries->place,
                   "the seeds for %s are those of %s, and it stands at %s too: expected at: %s, and a member for each "
                   "other backend that wants one",
                   policy, pool, other, pool);
    return pools <= 1 && !other;
}

static bool check_members(const struct reader *reader, const struct node *policies, const struct node *seeds,
                          const struct node *backends)
{
    bool good = true;

    for (size_t i = 0; i < policies->count; i++) {
        const struct node *item = policies->items[i], *members = item->entries->value;

        if (members->kind == NODE_MAP)
            good &= check_member(reader, item, seeds, backends);
        for (size_t k = 0; members->kind == NODE_LIST && k < members->count; k++)
            good &= check_member(reader, members->items[k], seeds, backends);
    }
    return good;
}

bool seeds_check(const struct reader *reader, const struct node *root)
{
    const struct node *seeds = node_get(root, "seeds");
    bool good = true;

    if (!seeds)
        return true;
    if (!reader_expects_map(reader, seeds, "seeds"))
        return false;
    for (size_t i = 0; i < seeds->count; i++)
        good &= check_pool(reader, &seeds->entries[i], node_get(root, "backends"));
    return good && check_members(reader, node_get(root, "policies"), seeds, node_get(root, "backends"));
}

/* The seeds of a policy at a backend, or those of the pool that it is a key of. */
static const struct node *seeds_at(const struct node *document, const char *backend, const char *policy)
{
    const struct node *seeds = node_get(document, "seeds"), *backends = node_get(document, "backends");
    const struct node *own = node_get(seeds, backend);
    const struct node *map = backends && backends->kind == NODE_MAP ? node_get(backends, backend) : NULL;
    const struct node *of = map && map->kind == NODE_MAP ? node_get(map, "of") : NULL;

    if (!own && of && of->kind == NODE_SCALAR)
        own = node_get(seeds, of->text);
    return own && own->kind == NODE_MAP ? node_get(own, policy) : NULL;
}

const struct node *seeds_of(const struct node *document, const char *policy, const struct node *params)
{
    const struct node *seeds = document ? node_get(document, "seeds") : NULL, *at = node_get(params, "at");
    const struct node *found = NULL;

    if (!seeds || seeds->kind != NODE_MAP)
        return NULL;
    if (at && at->kind == NODE_SCALAR)
        found = seeds_at(document, at->text, policy);
    for (size_t i = 0; !at && !found && i < seeds->count; i++)
        found = seeds_at(document, seeds->entries[i].key, policy);
    return found && found->kind == NODE_MAP ? found : NULL;
}
