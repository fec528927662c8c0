/* alternative.c - the three ways to write an alternative become one; labels are found and compared. */
#include "models/alternative.h"

#include <math.h>
#include <string.h>

#include "models/tables.h"
#include "sim/io/param.h"
#include "sim/io/unit.h"

#define SAME 1e-12 /* part of a number: what its unit may round */

static struct node *new_node(const struct reader *reader, enum node_kind kind, struct place place, size_t count)
{
    struct node *node = arena_zeroed(reader->arena, 1, sizeof *node);
    *node = (struct node){.kind = kind, .place = place};
    if (kind == NODE_LIST) {
        node->items = arena_zeroed(reader->arena, count, sizeof *node->items);
        node->count = count;
    }
    return node;
}

static struct node *single_entry(const struct reader *reader, const char *key, struct place place, struct node *value)
{
    struct node *map = new_node(reader, NODE_MAP, place, 0);
    node_put(map, key, place, value, reader->arena);
    return map;
}

static bool policy_is_known(const struct reader *reader, const char *name, struct place place)
{
    if (policy_named(reader->policies, name))
        return true;
    size_t count = 0;
    while (reader->policies[count])
        count++;
    const char **names = arena_zeroed(reader->arena, count + 1, sizeof *names);
    for (size_t i = 0; i < count; i++)
        names[i] = reader->policies[i]->name;
    diag_error(reader->diag, place, "there is no policy %s: expected one of %s%s", name,
               reader_list(reader, names, count), reader_nearest(reader, name, names, count));
    return false;
}

/* `name` or `name: {parameters}`, already known to be a value or a mapping of one key. */
static struct node *canonical_member(const struct reader *reader, const struct node *node)
{
    if (node->kind == NODE_SCALAR) {
        if (!policy_is_known(reader, node->text, node->place))
            return NULL;
        return single_entry(reader, node->text, node->place, new_node(reader, NODE_MAP, node->place, 0));
    }
    const struct node_entry *entry = node->entries;
    struct node *params = entry->value;
    if (!policy_is_known(reader, entry->key, entry->place))
        return NULL;
    if (params->kind == NODE_NULL)
        params = new_node(reader, NODE_MAP, entry->place, 0);
    if (!reader_expects_map_of(reader, params, entry->key, policy_named(reader->policies, entry->key)->params, NULL))
        return NULL;
    return single_entry(reader, entry->key, entry->place, params);
}

static bool has_one_key(const struct reader *reader, const struct node *node, const char *expected)
{
    if (node->kind == NODE_SCALAR || (node->kind == NODE_MAP && node->count == 1))
        return true;
    if (node->kind == NODE_MAP && node->count > 1)
        diag_error(reader->diag, node->entries[1].place,
                   "%s is a second key of this item of policies: expected %s; are its parameters indented below its "
                   "name?",
                   node->entries[1].key, expected);
    else
        diag_error(reader->diag, node->place, "policies: expected %s, not %s", expected, node_kind_name(node));
    return false;
}

static struct node *canonical_item(const struct reader *reader, const struct node *node)
{
    if (!has_one_key(reader, node, "a policy's name, name: {parameters}, or label: [members]"))
        return NULL;
    if (node->kind == NODE_SCALAR || node->entries->value->kind != NODE_LIST)
        return canonical_member(reader, node);

    const struct node_entry *entry = node->entries;
    const struct node *members = entry->value;
    if (members->count == 0) {
        diag_error(reader->diag, members->place, "%s: expected at least one policy in the chain", entry->key);
        return NULL;
    }
    struct node *chain = new_node(reader, NODE_LIST, members->place, members->count);
    for (size_t i = 0; i < members->count; i++) {
        const struct node *member = members->items[i];
        if (!has_one_key(reader, member, "a policy's name or name: {parameters}"))
            return NULL;
        chain->items[i] = canonical_member(reader, member);
        if (!chain->items[i])
            return NULL;
    }
    return single_entry(reader, entry->key, entry->place, chain);
}

struct node *alternatives_canonical(const struct reader *reader, const struct node *policies)
{
    struct place nowhere = {0};
    if (!policies) {
        struct node *list = new_node(reader, NODE_LIST, nowhere, 1);
        list->items[0] = single_entry(reader, "unbounded", nowhere, new_node(reader, NODE_MAP, nowhere, 0));
        return policy_is_known(reader, "unbounded", nowhere) ? list : NULL;
    }
    if (policies->kind != NODE_LIST || policies->count == 0) {
        diag_error(reader->diag, policies->place,
                   "policies: expected a list, such as [unbounded, fixed_cap: {cap: 12}]");
        return NULL;
    }
    struct node *list = new_node(reader, NODE_LIST, policies->place, policies->count);
    bool good = true;
    for (size_t i = 0; i < policies->count; i++) {
        list->items[i] = canonical_item(reader, policies->items[i]);
        good = good && list->items[i];
    }
    return good ? list : NULL;
}

const char *member_policy(const struct node *member)
{
    return member->entries->key;
}

const char *member_name(const struct node *member)
{
    const struct node *name = node_get(member->entries->value, "name");
    return name && name->kind == NODE_SCALAR ? name->text : member_policy(member);
}

static bool unlabelled(const struct node *item)
{
    return item->entries->value->kind == NODE_MAP;
}

/* What a key of an unlabelled item says, its default included; NULL: nothing. */
static const char *said(const struct policy_ops *ops, const struct node *settings, const char *key)
{
    const struct node *value = node_get(settings, key);
    if (value)
        return value->kind == NODE_SCALAR ? value->text : NULL;
    const struct option *option = ops->params ? param_find(ops->params, key) : NULL;
    if (!option)
        option = param_find(host_options, key);
    return option && option->initial && option->initial[0] ? option->initial : NULL;
}

/* Whether two texts say something else: "8 s" and "8000 ms" are the same. */
static bool differs(const char *one, const char *other)
{
    if (!one || !other)
        return one != other;
    struct number here, there;
    const char *end, *why;
    bool numbers = unit_read(one, &end, &here, &why) && *end == '\0' && unit_read(other, &end, &there, &why) &&
                   *end == '\0' && here.quantity == there.quantity;
    return numbers ? fabs(here.value - there.value) > SAME * fabs(there.value) : strcmp(one, other) != 0;
}

/* Whether a key says something else in another unlabelled item of the same policy. */
static bool tells_apart(const struct node *policies, struct node *const *settings, size_t self,
                        const struct policy_ops *ops, const char *key)
{
    for (size_t i = 0; i < policies->count; i++)
        if (i != self && unlabelled(policies->items[i]) && strcmp(member_policy(policies->items[i]), ops->name) == 0 &&
            differs(said(ops, settings[self], key), said(ops, settings[i], key)))
            return true;
    return false;
}

/* Keys that say what a member is called or where its parameters come from, not what it does. */
static bool is_name(const char *key)
{
    return strcmp(key, "name") == 0 || strcmp(key, "preset") == 0;
}

/* "fixed_cap", or "fixed_cap(cap=6)" where another unlabelled fixed_cap has another cap. */
static const char *derived_label(const struct reader *reader, const struct node *policies, struct node *const *settings,
                                 size_t self)
{
    const struct policy_ops *ops = policy_named(reader->policies, member_policy(policies->items[self]));
    const struct option *const tables[] = {ops->params, host_options};
    const char *inner = "";
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        for (const struct option *option = tables[i]; option && option->key; option++) {
            const char *here = said(ops, settings[self], option->key);
            if (here && !is_name(option->key) && tells_apart(policies, settings, self, ops, option->key))
                inner = arena_format(reader->arena, "%s%s%s=%s", inner, inner[0] ? " " : "", option->key, here);
        }
    return inner[0] ? arena_format(reader->arena, "%s(%s)", ops->name, inner) : ops->name;
}

/* A label as people write it; or as it is derived, "fixed_cap(cap=6)", which `weir check` prints of an alternative that
 * stands alone. */
static bool is_label(const struct reader *reader, const struct node_entry *entry)
{
    const struct node *chain = entry->value;
    const char *policy = member_policy(chain->items[0]);
    size_t length = strlen(policy), whole = strlen(entry->key);
    bool derived = chain->count == 1 && strncmp(entry->key, policy, length) == 0 && entry->key[length] == '(' &&
                   entry->key[whole - 1] == ')';
    return derived || reader_expects_name(reader, entry->key, entry->place, "label");
}

struct alternative *alternatives_of(const struct reader *reader, const struct node *policies)
{
    struct alternative *all = arena_zeroed(reader->arena, policies->count, sizeof *all);
    struct node **settings = arena_zeroed(reader->arena, policies->count, sizeof(struct node *));
    for (size_t i = 0; i < policies->count; i++) {
        const struct node *item = policies->items[i];
        if (!unlabelled(item))
            continue;
        settings[i] =
            member_settings(reader, policy_named(reader->policies, member_policy(item)), item->entries->value);
        if (!settings[i])
            return NULL;
    }
    for (size_t i = 0; i < policies->count; i++) {
        const struct node_entry *entry = policies->items[i]->entries;
        all[i] = (struct alternative){.label = entry->key, .place = entry->place, .item = policies->items[i]};
        if (unlabelled(policies->items[i]))
            all[i].label = derived_label(reader, policies, settings, i);
        else if (!is_label(reader, entry))
            return NULL;
        for (size_t j = 0; j < i; j++)
            if (strcmp(all[i].label, all[j].label) == 0) {
                diag_error(reader->diag, all[i].place,
                           "two alternatives are called %s, here and on line %d: expected label: [policy] to tell them "
                           "apart",
                           all[i].label, all[j].place.line);
                return NULL;
            }
    }
    return all;
}

static const char *const *labels_of(const struct reader *reader, const struct alternative *alternatives, size_t count)
{
    const char **labels = arena_zeroed(reader->arena, count + 1, sizeof *labels);
    for (size_t i = 0; i < count; i++)
        labels[i] = alternatives[i].label;
    return labels;
}

const struct alternative *alternative_find(const struct alternative *alternatives, size_t count, const char *address,
                                           const char **rest)
{
    const struct alternative *best = NULL;
    size_t longest = 0;
    for (size_t i = 0; i < count; i++) {
        size_t length = strlen(alternatives[i].label);
        if (length > longest && strncmp(address, alternatives[i].label, length) == 0 && address[length] == '.') {
            best = &alternatives[i];
            longest = length;
        }
    }
    *rest = best ? address + longest + 1 : address;
    return best;
}

const struct alternative *alternative_at(const struct reader *reader, const struct alternative *alternatives,
                                         size_t count, const char *address, struct place place, const char **rest)
{
    const struct alternative *one = alternative_find(alternatives, count, address, rest);
    if (one)
        return one;
    for (size_t i = 0; i < count; i++) {
        const struct node *chain = alternatives[i].item->entries->value;
        if (strcmp(alternatives[i].label, address) != 0)
            continue;
        diag_error(reader->diag, place, "policies.%s: expected a key behind the label, as in policies.LABEL.%sKEY",
                   address, chain->kind == NODE_LIST && chain->count > 1 ? "MEMBER." : "");
        return NULL;
    }
    const char *const *labels = labels_of(reader, alternatives, count);
    const char *label = arena_text_of(reader->arena, address, strcspn(address, "."));
    diag_error(reader->diag, place, "policies.%s: expected policies.LABEL.KEY with one of the labels %s%s", address,
               reader_list(reader, labels, count), reader_nearest(reader, label, labels, count));
    return NULL;
}

struct node *alternatives_with(const struct reader *reader, const struct node *policies, const char *const *names,
                               size_t count)
{
    struct place asked = {.file = "--policy"};
    const struct alternative *all = alternatives_of(reader, policies);
    if (!all)
        return NULL;
    struct node *list = new_node(reader, NODE_LIST, policies->place, policies->count + count);
    list->count = 0;
    for (size_t i = 0; i < policies->count; i++)
        list->items[list->count++] = policies->items[i];
    for (size_t j = 0; j < count; j++) {
        bool label = false;
        for (size_t i = 0; i < policies->count; i++)
            label = label || strcmp(names[j], all[i].label) == 0;
        if (label)
            continue;
        if (!policy_named(reader->policies, names[j])) {
            diag_error(reader->diag, asked, "there is no alternative %s: expected some of %s%s", names[j],
                       reader_list(reader, labels_of(reader, all, policies->count), policies->count),
                       reader_nearest(reader, names[j], labels_of(reader, all, policies->count), policies->count));
            return NULL;
        }
        list->items[list->count++] = single_entry(reader, names[j], asked, new_node(reader, NODE_MAP, asked, 0));
    }
    return list;
}

/* An item that keeps its label when those that it differs from are gone. */
static struct node *labelled(const struct reader *reader, const struct alternative *one)
{
    if (strcmp(one->label, one->item->entries->key) == 0)
        return one->item;
    struct node *chain = new_node(reader, NODE_LIST, one->place, 1);
    chain->items[0] = one->item;
    return single_entry(reader, one->label, one->place, chain);
}

struct node *alternatives_only(const struct reader *reader, const struct node *policies, const char *const *names,
                               size_t count)
{
    const struct node *with = alternatives_with(reader, policies, names, count);
    const struct alternative *all = with ? alternatives_of(reader, with) : NULL;
    if (!all)
        return NULL;
    struct node *list = new_node(reader, NODE_LIST, policies->place, with->count);
    list->count = 0;
    for (size_t i = 0; i < with->count; i++) {
        bool kept = false;
        for (size_t j = 0; j < count; j++)
            kept = kept || strcmp(names[j], all[i].label) == 0;
        if (kept)
            list->items[list->count++] = labelled(reader, &all[i]);
    }
    return list;
}
