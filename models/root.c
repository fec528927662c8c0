/* root.c - the document of a scenario under --set and --policy, before its design points are made. */
#include "models/root.h"

#include <string.h>

#include "models/address.h"
#include "models/alternative.h"
#include "models/changes_read.h"
#include "models/sweep.h"

struct node *root_with_sweep(const struct reader *reader, const struct node *root, struct node *sweep)
{
    struct node *copy = sweep ? map_copy(root, reader->arena) : map_without(root, "sweep", reader->arena);
    if (sweep)
        node_put(copy, "sweep", sweep->place, sweep, reader->arena);
    return copy;
}

static struct node *with_changes(const struct reader *reader, const struct node *root, struct node *changes)
{
    struct node *copy = map_copy(root, reader->arena);
    if (changes)
        node_put(copy, "changes", changes->place, changes, reader->arena);
    return copy;
}

/* Where the key of KEY=YAML ends: labels may hold a = in brackets. */
static const char *end_of_key(const char *set)
{
    int depth = 0;
    for (; *set && (*set != '=' || depth > 0); set++)
        depth += (*set == '(') - (*set == ')');
    return *set ? set : NULL;
}

/* A parameter that is set may change what labels say: what --policy, the sweep and changes name by them follows. */
static struct node *follow_labels(const struct reader *reader, const struct node *was, struct node *now,
                                  const char **only, size_t only_count)
{
    const struct node *policies = node_get(was, "policies"), *sweep = node_get(now, "sweep");
    const struct alternative *before = alternatives_of(reader, policies);
    const struct alternative *after = before ? alternatives_of(reader, node_get(now, "policies")) : NULL;
    if (!after)
        return NULL;
    for (size_t i = 0; i < only_count; i++)
        for (size_t j = 0; j < policies->count; j++)
            if (strcmp(only[i], before[j].label) == 0) {
                only[i] = after[j].label;
                break;
            }
    now = with_changes(reader, now, changes_renamed(reader, node_get(now, "changes"), before, after, policies->count));
    return sweep ? root_with_sweep(reader, now, sweep_renamed(reader, sweep, before, after, policies->count)) : now;
}

struct node *root_with_policies(const struct reader *reader, const struct node *root, struct node *policies)
{
    struct node *copy = map_copy(root, reader->arena);
    node_put(copy, "policies", policies->place, policies, reader->arena);
    return copy;
}

struct node *root_put(const struct reader *reader, const struct node *root, const char *key, struct place asked,
                      struct node *value, const char **only, size_t only_count)
{
    static const char sweeps[] = "sweep.";
    if (strcmp(key, "plugin") == 0) {
        diag_error(reader->diag, asked, "plug-ins cannot be set: expected --plugin FILE");
        return NULL;
    }
    if (strcmp(key, "include") == 0) {
        diag_error(reader->diag, asked, "files are included before --set: expected the keys that are to be set");
        return NULL;
    }
    struct node *sweep = node_get(root, "sweep");
    if (sweep && sweep->kind != NODE_MAP && strcmp(key, "sweep") != 0) {
        reader_expects_map(reader, sweep, "sweep");
        return NULL;
    }
    if (strncmp(key, sweeps, strlen(sweeps)) == 0) {
        sweep = sweep_with(reader, sweep, key + strlen(sweeps), asked, value);
        return sweep ? root_with_sweep(reader, root, sweep) : NULL;
    }
    const char *meant = address_meant(reader, root, key);
    if (meant) {
        diag_error(reader->diag, asked, "there is no key %s: did you mean %s?", key, meant);
        return NULL;
    }
    struct node *changed = address_put(reader, root, key, asked, value);
    if (changed && sweep && strcmp(key, "sweep") != 0)
        changed = root_with_sweep(reader, changed, sweep_without(reader, sweep, root, key));
    if (changed && strncmp(key, "policies.", 9) == 0)
        changed = follow_labels(reader, root, changed, only, only_count);
    if (changed && strcmp(key, "policies") == 0) {
        struct node *policies = alternatives_canonical(reader, value);
        changed = policies ? root_with_policies(reader, changed, policies) : NULL;
    }
    return changed;
}

struct node *root_set(const struct reader *reader, const struct node *root, const char *set, const char **only,
                      size_t only_count)
{
    const char *end = end_of_key(set);
    if (!end || end == set) {
        diag_error(reader->diag, (struct place){.file = "--set"}, "%s: expected KEY=VALUE", set);
        return NULL;
    }
    const char *key = arena_text_of(reader->arena, set, (size_t)(end - set));
    const char *name = arena_format(reader->arena, "--set %s", key);
    struct place asked = {.file = name, .line = 1, .column = 1};
    struct node *value = yaml_parse(name, end + 1, strlen(end + 1), reader->arena, reader->diag);
    if (!value)
        return NULL;
    if (value->kind == NODE_NULL) {
        diag_error(reader->diag, asked, "expected a value behind the =");
        return NULL;
    }
    return root_put(reader, root, key, asked, value, only, only_count);
}

struct node *root_selected(const struct reader *reader, const struct node *root, const char *const *only,
                           size_t only_count)
{
    struct sweep sweep;
    struct node *map = node_get(root, "sweep");
    struct node *policies = alternatives_only(reader, node_get(root, "policies"), only, only_count);
    if (!policies || !sweep_read(reader, map, root, &sweep))
        return NULL;
    const struct alternative *before = alternatives_of(reader, node_get(root, "policies"));
    const struct alternative *kept = before ? alternatives_of(reader, policies) : NULL;
    if (!kept)
        return NULL;
    for (size_t i = 0; i < sweep.factor_count; i++) {
        bool applies = false;
        for (size_t j = 0; j < policies->count; j++)
            applies = applies || factor_applies(&sweep.factors[i], kept[j].label);
        if (!applies)
            map = sweep_without(reader, map, root, sweep.factors[i].name);
    }
    struct node *changes = changes_selected(reader, node_get(root, "changes"), before,
                                            node_get(root, "policies")->count, kept, policies->count);
    return root_with_sweep(reader, with_changes(reader, root_with_policies(reader, root, policies), changes), map);
}
