/* changes_read.c - the items of `changes:`, their order, and those that set a policy's parameter. */
#include "models/changes_read.h"

#include <stdlib.h>
#include <string.h>

#include "models/address.h"
#include "models/tables.h"
#include "sim/io/param.h"

static const char policies_prefix[] = "policies.", backends_prefix[] = "backends.", agents_prefix[] = "agents.";
static const char every[] = "*.";

const struct expr *change_expr(const struct changes_reader *changes, const struct change_text *text)
{
    struct place place = text->places[CHANGE_TO];
    place.column += text->quoted; /* the text begins behind the quote */
    return expr_parse(text->keys->to, place, changes->reader->arena, changes->reader->diag);
}

const char *change_rate_text(double rate, struct arena *arena)
{
    static const struct option option = {"rate", OPTION_RATE, 0, .initial = ""};
    return param_plain(&option, &rate, arena);
}

const char *const *change_live_keys(struct arena *arena, const char *prefix, const struct option *table,
                                    const char **keys, size_t *count)
{
    for (; table->key; table++)
        if (table->live && *count < CHANGE_LIVE_MOST)
            keys[(*count)++] = arena_format(arena, "%s%s", prefix, table->key);
    return keys;
}

/* Up to the first dot, which *rest is behind; NULL and a message where there is none. */
const char *change_name_of(const struct changes_reader *changes, const struct change_text *text, const char *address,
                           const char **rest)
{
    size_t length = strcspn(address, ".");
    *rest = address + length + 1;
    if (address[length] == '.')
        return arena_text_of(changes->reader->arena, address, length);
    diag_error(changes->reader->diag, text->places[CHANGE_SET], "%s: expected a key behind the name", text->keys->set);
    return NULL;
}

bool change_not_live(const struct changes_reader *changes, const struct change_text *text, const char *of,
                     const char *key, bool known, const char *const *live, size_t count)
{
    const struct reader *reader = changes->reader;
    const char *wrong = known ? arena_format(reader->arena, "%s of %s is not live", key, of)
                              : arena_format(reader->arena, "%s has no key %s", of, key);
    if (count == 0)
        diag_error(reader->diag, text->places[CHANGE_SET], "%s: nothing of it may be set while a run goes on", wrong);
    else
        diag_error(reader->diag, text->places[CHANGE_SET], "%s: expected one of %s%s", wrong,
                   reader_list(reader, live, count), reader_nearest(reader, key, live, count));
    return false;
}

/* --- policies ----------------------------------------------------------------------------------------------------- */

static const char *const *live_params(const struct reader *reader, const struct policy_ops *ops, size_t *count)
{
    size_t all = 0;
    while (ops->params && ops->params[all].key)
        all++;
    const char **keys = arena_zeroed(reader->arena, all + 1, sizeof *keys);
    *count = 0;
    for (size_t i = 0; i < all; i++)
        if (ops->params[i].live)
            keys[(*count)++] = ops->params[i].key;
    return keys;
}

/* MEMBER.KEY, or KEY where there is one member: its place in the chain and *key; the count of members if none. */
static size_t member_of(const struct chain *chain, const char *address, const char **key)
{
    for (size_t i = 0; i < chain->count; i++) {
        size_t length = strlen(chain->members[i].name);
        if (strncmp(address, chain->members[i].name, length) == 0 && address[length] == '.') {
            *key = address + length + 1;
            return i;
        }
    }
    *key = address;
    return chain->count == 1 ? 0 : chain->count;
}

/* `whose`: the label, or the star. */
static bool put_param(struct changes_reader *changes, const struct change_text *text, const char *whose, size_t member,
                      const char *key)
{
    const struct reader *reader = changes->reader;
    const struct chain *chain = &changes->scenario->chain;
    const struct policy_ops *ops = chain->members[member].ops;
    const struct option *option = ops->params ? param_find(ops->params, key) : NULL;
    const char *name = chain->members[member].name;
    const char *owner = arena_format(reader->arena, "policies.%s.%s", whose, name);
    if (!option || !option->live) {
        size_t count;
        const char *const *live = live_params(reader, ops, &count);
        return change_not_live(changes, text, name, key, option || param_find(host_options, key), live, count);
    }
    void *params = arena_zeroed(reader->arena, 1, ops->params_size);
    memcpy(params, changes->params[member], ops->params_size);
    if (!param_set(option, owner, params, text->keys->to, text->places[CHANGE_TO], reader->arena, reader->diag))
        return false;
    const char *wrong = member_check(ops, params);
    if (wrong) {
        diag_error(reader->diag, text->places[CHANGE_TO], "%s: %s: %s", owner, key, wrong);
        return false;
    }
    changes->change->old = param_plain(option, changes->params[member], reader->arena);
    changes->params[member] = params;
    changes->change->kind = CHANGE_POLICY;
    changes->change->index = (uint32_t)member;
    changes->change->option = option;
    changes->change->params = params;
    changes->change->text = param_plain(option, params, reader->arena);
    changes->change->key = arena_format(reader->arena, "policies.%s.%s.%s", chain->label, name, key);
    return true;
}

/* policies.*.MEMBER.KEY: a member of that name is in some alternative. */
static bool somebody_has(const struct changes_reader *changes, const struct change_text *text, const char *address)
{
    const struct reader *reader = changes->reader;
    const struct changes_of *of = changes->of;
    size_t room = 0, known = 0;
    for (size_t i = 0; i < of->count; i++) {
        size_t count;
        member_names(reader, of->alternatives[i].item, &count);
        room += count;
        if (change_has_member(reader, of->alternatives[i].item, address))
            return true;
    }
    const char **all = arena_zeroed(reader->arena, room, sizeof *all);
    for (size_t i = 0; i < of->count; i++) {
        size_t count;
        const char *const *names = member_names(reader, of->alternatives[i].item, &count);
        for (size_t k = 0; k < count; k++) {
            size_t same = 0;
            while (same < known && strcmp(all[same], names[k]) != 0)
                same++;
            all[known] = names[k];
            known += same == known;
        }
    }
    const char *name = arena_text_of(reader->arena, address, strcspn(address, "."));
    for (size_t i = 0; i < known; i++) {
        if (strcmp(all[i], address) != 0)
            continue;
        diag_error(reader->diag, text->places[CHANGE_SET],
                   "%s: expected a key behind the member's name, as in MEMBER.KEY", text->keys->set);
        return false;
    }
    diag_error(reader->diag, text->places[CHANGE_SET],
               "%s: expected policies.*.MEMBER.KEY with one of the members %s%s",
               name[0] ? arena_format(reader->arena, "no alternative has a member %s", name) : text->keys->set,
               reader_list(reader, all, known), reader_nearest(reader, name, all, known));
    return false;
}

/* *applies: it is of this design point; then the change is filled in. */
static bool put_policy(struct changes_reader *changes, const struct change_text *text, const char *address,
                       bool *applies)
{
    const struct changes_of *of = changes->of;
    const struct chain *chain = &changes->scenario->chain;
    const struct reader *reader = changes->reader;
    const char *rest = address + strlen(every), *key;
    bool star = begins(address, every);
    *applies = false;
    if (star) {
        if (!somebody_has(changes, text, rest))
            return false;
        size_t member = member_of(chain, rest, &key);
        *applies = member < chain->count && key > rest;
        if (*applies && key[0] == '\0') {
            diag_error(reader->diag, text->places[CHANGE_SET],
                       "%s: expected a key behind the member's name, as in MEMBER.KEY", text->keys->set);
            return false;
        }
        return !*applies || put_param(changes, text, "*", member, key);
    }
    const struct alternative *one =
        alternative_at(reader, of->alternatives, of->count, address, text->places[CHANGE_SET], &rest);
    if (!one || strcmp(one->label, of->label) != 0)
        return one != NULL;
    *applies = true;
    if (!address_expects_key(reader, one->item, text->keys->set, rest, text->places[CHANGE_SET]))
        return false;
    size_t member = member_of(chain, rest, &key);
    return put_param(changes, text, of->label, member, key);
}

/* --- the list ----------------------------------------------------------------------------------------------------- */

static bool put_change(struct changes_reader *changes, const struct change_text *text, bool *applies)
{
    const struct reader *reader = changes->reader;
    const char *set = text->keys->set;
    *applies = true;
    if (begins(set, policies_prefix))
        return put_policy(changes, text, set + strlen(policies_prefix), applies);
    changes->change->key = set;
    if (begins(set, backends_prefix))
        return change_pool_read(changes, text, set + strlen(backends_prefix));
    if (begins(set, agents_prefix))
        return change_class_read(changes, text, set + strlen(agents_prefix));
    const char *meant = address_meant(reader, changes->of->root, set);
    if (meant)
        diag_error(reader->diag, text->places[CHANGE_SET], "there is no key %s: did you mean %s?", set, meant);
    else
        diag_error(reader->diag, text->places[CHANGE_SET],
                   "%s does not change while a run goes on: expected an address such as policies.LABEL.MEMBER.KEY, "
                   "backends.POOL.meters.METER.limit or agents.CLASS.population",
                   set);
    return false;
}

/* The rest of it is not read: what it sets may be gone, and its value with the sweep of that. */
static bool is_skipped(const struct node *item)
{
    const struct node *skip = item->kind == NODE_MAP ? node_get(item, change_options[CHANGE_SKIP].key) : NULL;
    return skip && skip->kind == NODE_SCALAR && strcmp(skip->text, "true") == 0;
}

static bool read_text(const struct reader *reader, const struct node *item, struct change_text *text)
{
    text->keys = arena_zeroed(reader->arena, 1, sizeof *text->keys);
    text->keys->reason = "";
    param_defaults(change_options, text->keys, reader->arena);
    if (!param_read(change_options, "changes", text->keys, item, NULL, text->places, reader->arena, reader->diag))
        return false;
    text->quoted = node_get(item, "to")->quoted;
    return true;
}

/* Of one instant in the order of the file, which is that of their memory. */
static int by_time(const void *left, const void *right)
{
    const struct change_text *a = *(const struct change_text *const *)left;
    const struct change_text *b = *(const struct change_text *const *)right;
    if (a->keys->at != b->keys->at)
        return a->keys->at < b->keys->at ? -1 : 1;
    return (a > b) - (a < b);
}

static void check_time(const struct reader *reader, const struct change_text *text, const struct study *study)
{
    if (text->keys->at <= study->horizon || study->horizon == 0) /* 0: pools alone are wanted, and no study */
        return;
    reader_warns(reader, text->places[CHANGE_AT],
                 arena_format(reader->arena, "changes: %s is set when the study is over: expected a time up to %s",
                              text->keys->set, study->until_done ? "study.most" : "study.horizon"));
}

/* What the changes read so far have made of pools and classes: copies, as the scenario's own are what it begins with.
 */
static struct changes_reader begin(const struct reader *reader, const struct changes_of *of,
                                   const struct scenario *scenario)
{
    struct arena *arena = reader->arena;
    struct scenario *then = arena_zeroed(arena, 1, sizeof *then);
    struct changes_reader changes = {.reader = reader, .of = of, .scenario = then};
    changes.backends = arena_zeroed(arena, scenario->backend_count, sizeof *changes.backends);
    changes.classes = arena_zeroed(arena, scenario->class_count, sizeof *changes.classes);
    changes.params = arena_zeroed(arena, scenario->chain.count, sizeof(*changes.params));
    changes.think = arena_zeroed(arena, scenario->class_count, sizeof(*changes.think));
    memcpy(changes.backends, scenario->backends, scenario->backend_count * sizeof *changes.backends);
    if (scenario->class_count > 0) /* a pool may stand alone */
        memcpy(changes.classes, scenario->classes, scenario->class_count * sizeof *changes.classes);
    for (size_t i = 0; i < scenario->chain.count; i++)
        changes.params[i] = scenario->chain.members[i].params;
    *then = *scenario;
    then->backends = changes.backends;
    then->classes = changes.classes;
    return changes;
}

static bool read_changes(const struct reader *reader, const struct changes_of *of, const struct node *list,
                         struct scenario *scenario)
{
    struct arena *arena = reader->arena;
    if (list->kind != NODE_LIST) {
        diag_error(reader->diag, list->place,
                   "changes: expected a list, such as [{at: 10 min, set: agents.coder.population, to: 40}], not %s",
                   node_kind_name(list));
        return false;
    }
    struct change_text *texts = arena_zeroed(arena, list->count, sizeof *texts);
    const struct change_text **order = arena_zeroed(arena, list->count, sizeof(*order));
    size_t count = 0;
    bool good = true;
    for (size_t i = 0; i < list->count; i++) {
        if (is_skipped(list->items[i]))
            continue;
        if (read_text(reader, list->items[i], &texts[i]))
            order[count++] = &texts[i];
        else
            good = false;
    }
    if (count > 1)
        qsort(order, count, sizeof(*order), by_time);
    struct change *changes = arena_zeroed(arena, count, sizeof *changes);
    struct changes_reader state = begin(reader, of, scenario);
    for (size_t i = 0; i < count; i++) {
        bool applies;
        state.change = &changes[scenario->change_count];
        *state.change = (struct change){
            .at = order[i]->keys->at, .place = order[i]->places[CHANGE_SET], .reason = order[i]->keys->reason};
        check_time(reader, order[i], &scenario->study);
        good &= put_change(&state, order[i], &applies);
        scenario->change_count += applies;
    }
    scenario->changes = changes;
    return good;
}

bool changes_read(const struct reader *reader, const struct changes_of *of, struct scenario *scenario)
{
    const struct node *list = node_get(of->root, "changes");
    scenario->changes = NULL;
    scenario->change_count = 0;
    if (!list)
        return true;
    struct diag said = {0};
    struct reader own = *reader;
    own.diag = &said;
    bool good = read_changes(&own, of, list, scenario);
    reader_repeats(reader, &said);
    diag_fini(&said);
    return good;
}
