/* chain_read.c - one alternative of `policies:` as a chain of members with their parameters. */
#include <ctype.h>
#include <string.h>

#include "models/address.h"
#include "models/readers.h"
#include "models/seeds.h"
#include "models/tables.h"
#include "sim/io/param.h"

static const struct option no_params[] = {{.key = NULL}};

static const struct option *params_of(const struct policy_ops *ops)
{
    return ops->params ? ops->params : no_params;
}

const struct policy_ops *policy_named(const struct policy_ops *const *policies, const char *name)
{
    for (; *policies; policies++)
        if (strcmp((*policies)->name, name) == 0)
            return *policies;
    return NULL;
}

static const struct policy_preset *preset_named(const struct reader *reader, const struct policy_ops *ops,
                                                const struct node *asked)
{
    if (asked->kind == NODE_SCALAR && !(ops->presets && ops->presets->name)) {
        diag_error(reader->diag, asked->place, "%s has no presets: expected its parameters", ops->name);
        return NULL;
    }
    size_t found = reader_preset(reader, asked, "preset", arena_format(reader->arena, "%s has no preset", ops->name),
                                 ops->presets ? &ops->presets->name : NULL, sizeof *ops->presets);
    return found != READER_NONE ? &ops->presets[found] : NULL;
}

struct node *member_settings(const struct reader *reader, const struct policy_ops *ops, const struct node *params)
{
    struct node *settings = map_copy(params, reader->arena);
    const struct node *seeds = seeds_of(reader->document, ops->name, params);
    for (size_t i = 0; seeds && i < seeds->count; i++)
        if (!node_get(params, seeds->entries[i].key))
            node_put(settings, seeds->entries[i].key, seeds->entries[i].place, seeds->entries[i].value, reader->arena);
    const struct node *asked = node_get(params, "preset");
    if (!asked)
        return settings;
    const struct policy_preset *preset = preset_named(reader, ops, asked);
    if (!preset)
        return NULL;
    struct place place = {.file = arena_format(reader->arena, "preset %s", preset->name)};
    for (const char *const *pair = preset->settings; pair[0]; pair += 2)
        if (!node_get(settings, pair[0]))
            node_put(settings, pair[0], place, node_scalar(pair[1], place, reader->arena), reader->arena);
    return settings;
}

/* Keys of a table, and those of a mapping that are not in it: what the other table of the two is to pass over. */
static const char **keys_of(const struct reader *reader, const struct option *table)
{
    size_t count = 0;
    while (table[count].key)
        count++;
    const char **keys = arena_zeroed(reader->arena, count + 1, sizeof *keys);
    for (size_t i = 0; i < count; i++)
        keys[i] = table[i].key;
    return keys;
}

static const char **keys_not_of(const struct reader *reader, const struct node *map, const struct option *table)
{
    const char **keys = arena_zeroed(reader->arena, map->count + 1, sizeof *keys);
    size_t count = 0;
    for (size_t i = 0; i < map->count; i++)
        if (!param_find(table, map->entries[i].key))
            keys[count++] = map->entries[i].key;
    return keys;
}

/* "cap: 12, target: 8 s": what differs from the defaults. */
static const char *differing_text(const struct reader *reader, const struct policy_ops *ops, const void *params)
{
    const char *text = "";
    void *defaults = arena_zeroed(reader->arena, 1, ops->params_size);
    param_defaults(params_of(ops), defaults, reader->arena);
    for (const struct option *option = params_of(ops); option->key; option++) {
        const char *value = param_text(option, params, reader->arena);
        if (option->initial && strcmp(value, param_text(option, defaults, reader->arena)) == 0)
            continue;
        text = arena_format(reader->arena, "%s%s%s: %s", text, text[0] ? ", " : "", option->key, value);
    }
    return text;
}

static bool read_at(const struct reader *reader, const char *name, struct place place, const struct node *backends,
                    struct member *member)
{
    member->at = -1;
    if (!name)
        return true;
    const char *const *names = reader_keys(reader, backends);
    size_t found = reader_find(reader, name, place, "at: there is no backend", names, sizeof *names, backends->count);
    member->at = (int64_t)found;
    return found != READER_NONE;
}

static void describe_check(const struct sim_record *record, struct sim_words *words)
{
    const struct policy_ops *ops = record->owner;
    sim_words_add(words, "policy `");
    sim_words_add(words, ops->name);
    sim_words_add(words, "`, callback `");
    sim_words_add(words, record->callback);
    sim_words_add(words, "`");
}

const char *member_check(const struct policy_ops *ops, const void *params)
{
    if (!ops->check)
        return NULL;
    sim_record = (struct sim_record){.callback = "check", .owner = ops, .describe = describe_check};
    const char *wrong = ops->check(params);
    sim_record = (struct sim_record){0};
    return wrong;
}

struct policy_room member_room(const struct member *member, const struct policy_view *names,
                               const struct policy_call *call)
{
    sim_record = (struct sim_record){.callback = "room", .owner = member->ops, .describe = describe_check};
    struct policy_room room = member->ops->room(member->params, names, call);
    sim_record = (struct sim_record){0};
    return room;
}

static bool names_classes(const struct option *option)
{
    return option->type == OPTION_TEXT && option->measures &&
           (strcmp(option->measures, "classes") == 0 || strcmp(option->measures, "tenants") == 0);
}

/* Names of classes or tenants, with a value behind each, that an option's text may hold. */
static const char **names_for(const struct reader *reader, const struct option *option, const struct node *agents,
                              size_t *count)
{
    const char **names = arena_zeroed(reader->arena, agents->count + 1, sizeof *names);
    bool tenants = strcmp(option->measures, "tenants") == 0;
    for (size_t i = 0; i < agents->count; i++) {
        const struct node *tenant =
            agents->entries[i].value->kind == NODE_MAP ? node_get(agents->entries[i].value, "tenant") : NULL;
        names[i] = !tenants ? agents->entries[i].key : tenant && tenant->kind == NODE_SCALAR ? tenant->text : "default";
    }
    *count = agents->count;
    return names;
}

/* The name in the option's text that no class or tenant has; NULL: all are there. */
static const char *unknown_name(const struct reader *reader, const char *text, const char *const *names, size_t count)
{
    for (text += strspn(text, " ,\t\r\n"); *text; text += strspn(text, " ,\t\r\n")) {
        size_t length = strcspn(text, " ,\t\r\n");
        bool known = strspn(text, "0123456789.%") == length;
        const char *name = arena_text_of(reader->arena, text, length);
        for (size_t i = 0; i < count; i++)
            known = known || strcmp(names[i], name) == 0;
        if (!known)
            return name;
        text += length;
    }
    return NULL;
}

/* Names in what the user wrote are there. Those of a preset may be another fleet's: that is said. */
static bool check_names(const struct reader *reader, const struct policy_ops *ops, const void *params,
                        const struct node *written, const struct node *settings, const struct node *agents)
{
    for (const struct option *option = params_of(ops); agents && option->key; option++) {
        const struct node *value = node_get(settings, option->key);
        const char *text, **names, *name;
        size_t count;
        if (!names_classes(option) || !value)
            continue;
        names = names_for(reader, option, agents, &count);
        memcpy(&text, (const char *)params + option->offset, sizeof text);
        name = unknown_name(reader, text, names, count);
        if (name && node_get(written, option->key)) {
            diag_error(reader->diag, value->place, "%s: %s: there are no %s called %s: expected some of %s%s",
                       ops->name, option->key, option->measures, name, reader_list(reader, names, count),
                       reader_nearest(reader, name, names, count));
            return false;
        }
        if (name)
            reader_warns(reader, node_get(written, "preset")->place,
                         arena_format(reader->arena,
                                      "%s: the preset's %s are %s, and there are none called %s: whom it does not name "
                                      "has what is left; expected %s: of %s",
                                      ops->name, option->measures, text, name, option->key,
                                      reader_list(reader, names, count)));
    }
    return true;
}

/* Where the word stands in the text by itself, or NULL. */
static const char *find_word(const char *text, const char *word)
{
    size_t length = strlen(word);
    for (const char *at = strstr(text, word); at; at = strstr(at + length, word))
        if (!(at > text && (isalnum((unsigned char)at[-1]) || at[-1] == '_')) && !isalnum((unsigned char)at[length]) &&
            at[length] != '_')
            return at;
    return NULL;
}

/* Of what a policy's check says: where the last of the keys that it names was given, best on the command line. */
static struct place place_of_wrong(const struct node *settings, struct place place, const char *wrong)
{
    struct place best = place;
    for (size_t i = 0; i < settings->count; i++) {
        const struct node_entry *entry = &settings->entries[i];
        bool elsewhere = best.file != place.file && best.file && place.file && strcmp(best.file, place.file) != 0;
        if (entry->value->kind == NODE_SCALAR && !elsewhere && find_word(wrong, entry->key))
            best = entry->value->place;
    }
    return best;
}

/* What the keys are that it names: " (found least: 50, most: 40)". */
static const char *values_of_wrong(const struct reader *reader, const struct policy_ops *ops, const void *params,
                                   const char *wrong)
{
    const char *found = "";
    for (const struct option *option = params_of(ops); option->key; option++) {
        const char *value = param_text(option, params, reader->arena);
        if (value[0] && find_word(wrong, option->key))
            found = arena_format(reader->arena, "%s%s%s: %s", found, found[0] ? ", " : "", option->key, value);
    }
    return found[0] ? arena_format(reader->arena, " (found %s)", found) : "";
}

static bool read_member(const struct reader *reader, const struct node *node, const struct node *backends,
                        const struct node *agents, struct member *member)
{
    const struct node_entry *entry = node->entries;
    const struct policy_ops *ops = policy_named(reader->policies, entry->key);
    struct diag *diag = reader->diag;
    struct host_keys host = {0};
    struct place places[HOST_KEYS] = {{0}};
    void *params = arena_zeroed(reader->arena, 1, ops->params_size > 0 ? ops->params_size : 1);
    param_defaults(params_of(ops), params, reader->arena);
    param_defaults(host_options, &host, reader->arena);

    const struct node *settings = member_settings(reader, ops, entry->value);
    if (!settings ||
        !param_read(params_of(ops), ops->name, params, settings, keys_of(reader, host_options), NULL, reader->arena,
                    diag) ||
        !param_read(host_options, ops->name, &host, settings, keys_not_of(reader, settings, host_options), places,
                    reader->arena, diag))
        return false;
    *member = (struct member){.ops = ops,
                              .name = host.name ? host.name : ops->name,
                              .place = entry->place,
                              .params = params,
                              .scope = (enum policy_scope)host.scope,
                              .text = differing_text(reader, ops, params)};
    if (!reader_expects_name(reader, member->name, places[HOST_NAME], "member") ||
        !read_at(reader, host.at, places[HOST_AT], backends, member))
        return false;
    if (ops->one_copy && !node_get(settings, "scope"))
        member->scope = SCOPE_ALL;
    if (ops->one_copy && member->scope != SCOPE_ALL) {
        diag_error(diag, places[HOST_SCOPE], "scope: %s has one copy for all gates: expected all, or no scope",
                   ops->name);
        return false;
    }
    const char *wrong = member_check(ops, params);
    if (wrong)
        diag_error(diag, place_of_wrong(settings, entry->place, wrong), "%s: %s%s", ops->name, wrong,
                   values_of_wrong(reader, ops, params, wrong));
    return !wrong && check_names(reader, ops, params, entry->value, settings, agents);
}

static bool orders(const struct member *member)
{
    return member->ops->rank || member->ops->pick;
}

/* A line has one order, so one copy that gives it. */
static bool check_order(const struct reader *reader, const struct member *members, size_t i)
{
    const struct member *member = &members[i];
    if (!orders(member))
        return true;
    if (member->scope != SCOPE_ALL && member->scope != SCOPE_GATE) {
        diag_error(reader->diag, member->place,
                   "%s orders the waiting line, which is one for all classes, tenants and agents: "
                   "expected scope: gate%s",
                   member->name, member->ops->flows > 1 ? "" : " or all");
        return false;
    }
    if (member->scope == SCOPE_ALL && member->at < 0 && member->ops->flows > 1) {
        diag_error(reader->diag, member->place,
                   "%s sorts those who wait at one gate into flows: expected scope: gate, or at: a backend",
                   member->name);
        return false;
    }
    for (size_t j = 0; j < i; j++) {
        const struct member *other = &members[j];
        if (orders(other) && (other->at < 0 || member->at < 0 || other->at == member->at)) {
            diag_error(reader->diag, member->place,
                       "%s and %s both order the waiting line: expected at most one such member at a gate", other->name,
                       member->name);
            return false;
        }
    }
    return true;
}

static const struct member *member_called(const struct member *members, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(members[i].name, name) == 0)
            return &members[i];
    return NULL;
}

static bool names_member(const struct option *option)
{
    return option->type == OPTION_TEXT && option->measures && strcmp(option->measures, "member") == 0;
}

/* A parameter that names a member has one there. The policy that it names unasked may be missing, but not be there by
 * another name. */
static bool check_named(const struct reader *reader, const struct member *members, size_t count, size_t i)
{
    const char **names = arena_zeroed(reader->arena, count + 1, sizeof *names);
    bool good = true;
    for (size_t j = 0; j < count; j++)
        names[j] = members[j].name;
    for (const struct option *option = params_of(members[i].ops); option->key; option++) {
        const char *name = names_member(option) ? param_text(option, members[i].params, reader->arena) : NULL;
        bool unasked = name && option->initial && strcmp(name, option->initial) == 0, there = false;
        if (!name || member_called(members, count, name))
            continue;
        for (size_t j = 0; j < count; j++)
            there |= strcmp(members[j].ops->name, name) == 0;
        if (unasked && !there)
            continue;
        diag_error(reader->diag, members[i].place, "%s: %s: no member of the chain is called %s: expected one of %s",
                   members[i].name, option->key, name, reader_list(reader, names, count));
        good = false;
    }
    return good;
}

static bool check_chain(const struct reader *reader, const struct member *members, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct member *member = &members[i];
        for (size_t j = 0; j < i; j++)
            if (strcmp(members[j].name, member->name) == 0) {
                diag_error(reader->diag, member->place,
                           "two members of the chain are called %s, here and on line %d: expected name: to tell them "
                           "apart",
                           member->name, members[j].place.line);
                return false;
            }
        if (!check_order(reader, members, i) || !check_named(reader, members, count, i))
            return false;
    }
    return true;
}

bool chain_read(const struct reader *reader, const struct node *chain, const char *label, const struct node *backends,
                const struct node *agents, struct chain *out)
{
    const struct node_entry *entry = chain->entries;
    bool alone = entry->value->kind == NODE_MAP, good = true;
    size_t count = alone ? 1 : entry->value->count;
    struct member *members = arena_zeroed(reader->arena, count, sizeof *members);
    for (size_t i = 0; i < count; i++)
        good &= read_member(reader, alone ? chain : entry->value->items[i], backends, agents, &members[i]);
    *out = (struct chain){.label = label, .place = entry->place, .members = members, .count = count};
    return good && check_chain(reader, members, count);
}
