/* address.c - walks addresses. A key on the way is the longest that fits, so keys may hold dots (those of `sweep`); an
 * index has one way to be written, so that equal texts are equal addresses. */
#include "models/address.h"

#include <string.h>

#include "models/tables.h"
#include "sim/io/param.h"

static const char policies_prefix[] = "policies.";

struct node *map_copy(const struct node *map, struct arena *arena)
{
    struct node *copy = arena_zeroed(arena, 1, sizeof *copy);
    *copy = *map;
    copy->entries = arena_zeroed(arena, map->count, sizeof *copy->entries);
    if (map->count > 0)
        memcpy(copy->entries, map->entries, map->count * sizeof *copy->entries);
    return copy;
}

struct node *map_without(const struct node *map, const char *key, struct arena *arena)
{
    struct node *copy = map_copy(map, arena);
    copy->count = 0;
    for (size_t i = 0; i < map->count; i++)
        if (strcmp(map->entries[i].key, key) != 0)
            copy->entries[copy->count++] = map->entries[i];
    return copy;
}

/* A copy of a list with one item replaced. */
static struct node *list_with(const struct node *list, size_t index, struct node *item, struct arena *arena)
{
    struct node *copy = arena_zeroed(arena, 1, sizeof *copy);
    *copy = *list;
    copy->items = arena_zeroed(arena, list->count, sizeof *copy->items);
    memcpy(copy->items, list->items, list->count * sizeof *copy->items);
    copy->items[index] = item;
    return copy;
}

/* Length of the key with which an address begins: the longest of the map's that fits, else up to the first dot. */
static size_t key_length(const struct node *map, const char *address)
{
    size_t longest = 0;
    for (size_t i = 0; map->kind == NODE_MAP && i < map->count; i++) {
        size_t length = strlen(map->entries[i].key);
        bool fits =
            strncmp(address, map->entries[i].key, length) == 0 && (address[length] == '.' || address[length] == '\0');
        longest = fits && length > longest ? length : longest;
    }
    return longest > 0 ? longest : strcspn(address, ".");
}

static bool is_names(const char *path)
{
    return strcmp(path, "agents") == 0 || strcmp(path, "backends") == 0;
}

static bool is_number(const char *text, size_t length)
{
    return length > 0 && strspn(text, "0123456789") >= length;
}

/* The index with which an address into a list begins, without further zeros; the count of items where there is none. */
static size_t index_of(const struct node *list, const char *address, size_t length)
{
    size_t index = 0;
    if (!is_number(address, length) || (address[0] == '0' && length > 1))
        return list->count;
    for (size_t i = 0; i < length && index < list->count; i++)
        index = 10 * index + (size_t)(address[i] - '0');
    return index < list->count ? index : list->count;
}

static void say_no_item(const struct reader *reader, const struct node *list, const char *path, const char *address,
                        size_t length, struct place asked)
{
    const char *indices =
        list->count > 1 ? arena_format(reader->arena, "an index from 0 to %zu", list->count - 1) : "the index 0";
    if (list->count == 0)
        diag_error(reader->diag, asked, "%s is an empty list: expected one with items, to have %s in it", path,
                   address);
    else if (length == 0)
        diag_error(reader->diag, asked, "%s.%s: expected %s between dots", path, address, indices);
    else if (is_number(address, length))
        diag_error(reader->diag, asked, "%s has no %.*s: expected %s, as it is a list of %zu", path, (int)length,
                   address, indices, list->count);
    else
        diag_error(reader->diag, asked, "%s is a list of %zu: expected %s before %s, such as %s.0.%s", path,
                   list->count, indices, address, path, address);
}

static struct node *put_below(const struct reader *reader, const struct node *node, const char *path,
                              const char *address, struct place asked, struct node *value);

static struct node *put_item(const struct reader *reader, const struct node *list, const char *path,
                             const char *address, struct place asked, struct node *value)
{
    size_t length = strcspn(address, "."), index = index_of(list, address, length);
    if (index == list->count) {
        say_no_item(reader, list, path, address, length, asked);
        return NULL;
    }
    if (address[length] != '\0')
        value = put_below(reader, list->items[index], arena_format(reader->arena, "%s.%zu", path, index),
                          address + length + 1, asked, value);
    return value ? list_with(list, index, value, reader->arena) : NULL;
}

static struct node *put(const struct reader *reader, const struct node *map, const char *path, const char *address,
                        struct place asked, struct node *value)
{
    struct arena *arena = reader->arena;
    size_t length = key_length(map, address);
    char *key = arena_text_of(arena, address, length);
    struct node *child = node_get(map, key), *copy;
    bool last = address[length] == '\0';
    if (length == 0) {
        diag_error(reader->diag, asked, "%s%s%s: expected a key between dots", path, path[0] ? "." : "", address);
        return NULL;
    }
    if (is_names(path) && !child && !(last && value->kind == NODE_MAP)) {
        const char *const *keys = reader_keys(reader, map);
        diag_error(reader->diag, asked, "%s has no %s: expected one of %s%s", path, key,
                   reader_list(reader, keys, map->count), reader_nearest(reader, key, keys, map->count));
        return NULL;
    }
    if (!last)
        value = put_below(reader, child, path[0] ? arena_format(arena, "%s.%s", path, key) : key, address + length + 1,
                          asked, value);
    if (!value)
        return NULL;
    copy = map_copy(map, arena);
    node_put(copy, key, asked, value, arena);
    return copy;
}

/* A value somewhere below a node, which may not be there yet. Classes and backends have names, so no list holds them.
 */
static struct node *put_below(const struct reader *reader, const struct node *node, const char *path,
                              const char *address, struct place asked, struct node *value)
{
    struct node empty = {.kind = NODE_MAP, .place = asked};
    if (!node || node->kind == NODE_NULL)
        node = &empty;
    if (node->kind == NODE_MAP)
        return put(reader, node, path, address, asked, value);
    if (node->kind == NODE_LIST && !is_names(path))
        return put_item(reader, node, path, address, asked, value);
    diag_error(reader->diag, asked, "%s is %s: expected a mapping, to have %s in it", path, node_kind_name(node),
               address);
    return NULL;
}

static struct node *put_policies(const struct reader *reader, const struct node *root, const char *address,
                                 struct place asked, struct node *value)
{
    const struct node *policies = node_get(root, "policies");
    const struct alternative *all = alternatives_of(reader, policies);
    const char *rest;
    const struct alternative *one = all ? alternative_at(reader, all, policies->count, address, asked, &rest) : NULL;
    struct node *item =
        one && address_expects_key(reader, one->item, arena_format(reader->arena, "%s%s", policies_prefix, address),
                                   rest, asked)
            ? address_put_policy(reader, one->item, rest, asked, value)
            : NULL;
    if (!item)
        return NULL;
    struct node *copy = map_copy(root, reader->arena);
    node_put(copy, "policies", policies->place, list_with(policies, (size_t)(one - all), item, reader->arena),
             reader->arena);
    return copy;
}

struct node *address_put(const struct reader *reader, const struct node *root, const char *address, struct place asked,
                         struct node *value)
{
    if (strncmp(address, policies_prefix, strlen(policies_prefix)) == 0)
        return put_policies(reader, root, address + strlen(policies_prefix), asked, value);
    return put(reader, root, "", address, asked, value);
}

const struct node *address_get(const struct node *root, const char *address)
{
    const struct node *node = root;
    while (node) {
        size_t length = key_length(node, address), i = 0;
        if (node->kind == NODE_LIST) {
            i = index_of(node, address, length);
            node = i < node->count ? node->items[i] : NULL;
        } else if (node->kind == NODE_MAP) {
            while (i < node->count &&
                   !(strncmp(node->entries[i].key, address, length) == 0 && node->entries[i].key[length] == '\0'))
                i++;
            node = i < node->count ? node->entries[i].value : NULL;
        } else {
            return NULL;
        }
        if (address[length] == '\0')
            return node;
        address += length + 1;
    }
    return NULL;
}

const char *const *member_names(const struct reader *reader, const struct node *item, size_t *count)
{
    struct node *value = item->entries->value;
    bool alone = value->kind == NODE_MAP;
    *count = alone ? 1 : value->count;
    const char **names = arena_zeroed(reader->arena, *count, sizeof *names);
    for (size_t i = 0; i < *count; i++)
        names[i] = member_name(alone ? item : value->items[i]);
    return names;
}

/* Whether the only member has a parameter that is called so. */
static bool has_param(const struct reader *reader, const struct node *item, const char *key)
{
    const struct node *value = item->entries->value;
    const struct policy_ops *ops =
        policy_named(reader->policies, member_policy(value->kind == NODE_MAP ? item : value->items[0]));
    return ops && ops->params && param_find(ops->params, key);
}

/* The member that an address inside an alternative means, and what follows its name; the count of members if none. */
static size_t member_at(const struct node *item, const char *address, const char **rest)
{
    struct node *value = item->entries->value;
    bool alone = value->kind == NODE_MAP;
    size_t count = alone ? 1 : value->count;
    for (size_t i = 0; i < count; i++) {
        const char *name = member_name(alone ? item : value->items[i]);
        size_t length = strlen(name);
        if (strncmp(address, name, length) == 0 && address[length] == '.') {
            *rest = address + length + 1;
            return i;
        }
    }
    *rest = address;
    return count == 1 ? 0 : count;
}

bool address_expects_key(const struct reader *reader, const struct node *item, const char *whole, const char *address,
                         struct place asked)
{
    size_t count, named = 0;
    const char *key, *name = arena_text_of(reader->arena, address, strcspn(address, "."));
    const char *const *names = member_names(reader, item, &count);
    size_t at = member_at(item, address, &key);
    while (named < count && strcmp(names[named], name) != 0)
        named++;
    if (at < count && key[0] != '\0' && !strchr(key, '.') &&
        !(key == address && named < count && !has_param(reader, item, key)))
        return true;
    if (named < count)
        diag_error(reader->diag, asked, "%s: expected a key behind the member's name, as in MEMBER.KEY", whole);
    else
        diag_error(reader->diag, asked, "%s: expected %sMEMBER.KEY with %s %s%s", whole, count == 1 ? "KEY or " : "",
                   count == 1 ? "the member" : "one of the members", reader_list(reader, names, count),
                   reader_nearest(reader, name, names, count));
    return false;
}

/* A member with one of its parameters replaced. */
static struct node *member_with(const struct reader *reader, const struct node *member, const char *key,
                                struct place asked, struct node *value)
{
    struct node *params = put(reader, member->entries->value, member_policy(member), key, asked, value);
    struct node *copy = map_copy(member, reader->arena);
    copy->entries->value = params;
    return params ? copy : NULL;
}

struct node *address_put_policy(const struct reader *reader, const struct node *item, const char *address,
                                struct place asked, struct node *value)
{
    const struct node *members = item->entries->value;
    const char *key;
    size_t at = member_at(item, address, &key);
    if (members->kind == NODE_MAP)
        return member_with(reader, item, key, asked, value);
    struct node *member = member_with(reader, members->items[at], key, asked, value);
    if (!member)
        return NULL;
    struct node *copy = map_copy(item, reader->arena);
    copy->entries->value = list_with(members, at, member, reader->arena);
    return copy;
}

const struct node *address_get_policy(const struct node *item, const char *address)
{
    const struct node *members = item->entries->value;
    const char *key;
    size_t at = member_at(item, address, &key);
    if (members->kind == NODE_MAP)
        return address_get(members, key);
    return at < members->count ? address_get(members->items[at]->entries->value, key) : NULL;
}

const char *address_meant(const struct reader *reader, const struct node *root, const char *address)
{
    static const char *const names[] = {"agents", "backends"};
    const char *first = arena_text_of(reader->arena, address, strcspn(address, ".")), *rest;
    for (size_t i = 0; scenario_keys[i]; i++)
        if (strcmp(first, scenario_keys[i]) == 0)
            return NULL;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const struct node *map = node_get(root, names[i]);
        if (map && map->kind == NODE_MAP && node_get(map, first))
            return arena_format(reader->arena, "%s.%s", names[i], address);
    }
    if (param_find(study_options, address))
        return arena_format(reader->arena, "study.%s", address);
    const struct node *policies = node_get(root, "policies");
    const struct alternative *all = alternatives_of(reader, policies);
    return all && alternative_find(all, policies->count, address, &rest)
               ? arena_format(reader->arena, "%s%s", policies_prefix, address)
               : NULL;
}

bool address_same(const struct reader *reader, const struct node *root, const char *one, const char *other)
{
    size_t below = strlen(policies_prefix);
    if (strcmp(one, other) == 0)
        return true;
    if (strncmp(one, policies_prefix, below) != 0 || strncmp(other, policies_prefix, below) != 0)
        return false;
    const struct node *policies = node_get(root, "policies");
    const struct alternative *all = alternatives_of(reader, policies);
    if (!all)
        return false;
    const char *one_rest, *other_rest, *one_key, *other_key;
    const struct alternative *of_one = alternative_find(all, policies->count, one + below, &one_rest);
    if (!of_one || of_one != alternative_find(all, policies->count, other + below, &other_rest))
        return false;
    return member_at(of_one->item, one_rest, &one_key) == member_at(of_one->item, other_rest, &other_key) &&
           strcmp(one_key, other_key) == 0;
}
