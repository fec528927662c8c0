/* changes_root.c - the list `changes:` in a document whose alternatives go or have other labels. */
#include <string.h>

#include "models/address.h"
#include "models/changes_read.h"

static const char policies_prefix[] = "policies.", every[] = "*.";

bool change_has_member(const struct reader *reader, const struct node *item, const char *address)
{
    size_t count;
    const char *const *names = member_names(reader, item, &count);
    for (size_t i = 0; i < count; i++)
        if (begins(address, names[i]) && address[strlen(names[i])] == '.')
            return true;
    return false;
}

static bool keeps(const struct reader *reader, const char *address, const struct alternative *before, size_t count,
                  const struct alternative *kept, size_t kept_count)
{
    const char *rest = address + strlen(every);
    bool had = false;
    if (begins(address, every)) {
        for (size_t i = 0; i < count; i++)
            had = had || change_has_member(reader, before[i].item, rest);
        for (size_t i = 0; i < kept_count; i++)
            if (change_has_member(reader, kept[i].item, rest))
                return true;
        return !had;
    }
    const struct alternative *one = alternative_find(before, count, address, &rest);
    for (size_t i = 0; one && i < kept_count; i++)
        if (strcmp(kept[i].label, one->label) == 0)
            return true;
    return !one;
}

/* What an item sets, if that is below `policies`; else NULL. */
static const char *policy_address(const struct node *item)
{
    const struct node *set = item->kind == NODE_MAP ? node_get(item, "set") : NULL;
    bool policy = set && set->kind == NODE_SCALAR && begins(set->text, policies_prefix);
    return policy ? set->text + strlen(policies_prefix) : NULL;
}

struct node *changes_selected(const struct reader *reader, struct node *list, const struct alternative *before,
                              size_t count, const struct alternative *kept, size_t kept_count)
{
    const struct place asked = {.file = "--policy"};
    if (!list || list->kind != NODE_LIST)
        return list;
    struct node *copy = node_copy(list, reader->arena);
    for (size_t i = 0; i < copy->count; i++) {
        const char *address = policy_address(copy->items[i]);
        if (address && !keeps(reader, address, before, count, kept, kept_count))
            node_put(copy->items[i], change_options[CHANGE_SKIP].key, asked, node_scalar("true", asked, reader->arena),
                     reader->arena);
    }
    return copy;
}

struct node *changes_renamed(const struct reader *reader, struct node *list, const struct alternative *before,
                             const struct alternative *after, size_t count)
{
    if (!list || list->kind != NODE_LIST)
        return list;
    struct node *copy = node_copy(list, reader->arena);
    for (size_t i = 0; i < copy->count; i++) {
        const char *address = policy_address(copy->items[i]), *rest;
        const struct alternative *one = address ? alternative_find(before, count, address, &rest) : NULL;
        if (one)
            node_get(copy->items[i], "set")->text =
                arena_format(reader->arena, "%s%s.%s", policies_prefix, after[one - before].label, rest);
    }
    return copy;
}

const char *const *changes_labels(const struct reader *reader, const struct node *root, const char *address)
{
    const char *dot = strrchr(address, '.');
    const char *item = dot ? arena_text_of(reader->arena, address, (size_t)(dot - address)) : address, *rest;
    const struct node *change = address_get(root, item), *policies = node_get(root, "policies");
    const char *set = change ? policy_address(change) : NULL;
    const struct alternative *all = set ? alternatives_of(reader, policies) : NULL;
    if (!all)
        return NULL;
    const char **labels = arena_zeroed(reader->arena, policies->count + 1, sizeof *labels);
    const struct alternative *one = alternative_find(all, policies->count, set, &rest);
    size_t count = 0;
    for (size_t i = 0; i < policies->count; i++)
        if (begins(set, every) ? change_has_member(reader, all[i].item, set + strlen(every)) : &all[i] == one)
            labels[count++] = all[i].label;
    return count > 0 ? labels : NULL;
}
