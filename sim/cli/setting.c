/* Settings to try a policy with. Each is a list of texts on top of the defaults, read by the policy's own table. */
#include "sim/cli/setting.h"

#include <string.h>

#include "models/tables.h"
#include "sim/engine/where.h"
#include "sim/io/param.h"

#define NOWHERE ((struct place){0})

struct collection {
    const struct policy_ops *ops;
    struct arena *arena;
    struct setting *settings;
    size_t count, room;
};

static void describe_check(const struct sim_record *record, struct sim_words *words)
{
    const struct setting *setting = record->owner;

    sim_words_add(words, "policy `");
    sim_words_add(words, setting->ops->name);
    sim_words_add(words, "`, callback `check`, with ");
    sim_words_add(words, setting->text[0] ? setting->text : "its defaults");
}

static bool accepted(const struct setting *setting)
{
    const char *wrong;

    if (!setting->ops->check)
        return true;
    sim_record = (struct sim_record){.callback = "check", .owner = setting, .describe = describe_check};
    wrong = setting->ops->check(setting->params);
    sim_record = (struct sim_record){0};
    return !wrong;
}

/* Is the text a value of the option? Then it is set. */
static bool set(const struct collection *all, const struct option *option, const char *text, void *params)
{
    struct diag diag = {0};
    bool good = text && param_set(option, "", params, text, NOWHERE, all->arena, &diag);

    diag_fini(&diag);
    return good;
}

/* Bounds where the table has none, in the unit of the type. */
static const char *least_of(const struct option *option)
{
    static const char *const zeros[] = {[OPTION_REAL] = "0",
                                        [OPTION_COUNT] = "0",
                                        [OPTION_TIME] = "0 s",
                                        [OPTION_RATE] = "0/s",
                                        [OPTION_SHARE] = "0 %"};

    return option->least || option->type > OPTION_SHARE ? option->least : zeros[option->type];
}

static const char *most_of(const struct option *option)
{
    if (option->most || option->type > OPTION_SHARE)
        return option->most;
    return option->type == OPTION_SHARE ? "100 %" : option->type == OPTION_REAL ? NULL : "inf";
}

/* A program that everybody has, in the language of policies/exec.c: it wants no questions. */
static const char answerer[] = "[sh, -c, 'read -r line; echo takes; read -r line']";

/* The value that it got is told in `given`. */
static void set_everyday(const struct collection *all, const struct option *option, void *params, const char **given)
{
    static const char *const everyday[] = {[OPTION_REAL] = "1",   [OPTION_COUNT] = "8",    [OPTION_TIME] = "1 s",
                                           [OPTION_RATE] = "1/s", [OPTION_SHARE] = "50 %", [OPTION_FLAG] = "true"};
    const char *text = option->type <= OPTION_FLAG      ? everyday[option->type]
                       : option->type == OPTION_CHOICE  ? option->choices[0]
                       : option->type == OPTION_COMMAND ? answerer
                                                        : "text";

    if (!set(all, option, text, params) && !set(all, option, option->least, params))
        set(all, option, option->most, params);
    *given = arena_format(all->arena, "%s%s%s: %s", *given, *given[0] ? ", " : "", option->key,
                          param_text(option, params, all->arena));
}

static void *defaults(const struct collection *all, const char **given)
{
    void *params = arena_zeroed(all->arena, 1, all->ops->params_size);

    *given = "";
    if (!all->ops->params)
        return params;
    param_defaults(all->ops->params, params, all->arena);
    for (const struct option *option = all->ops->params; option->key; option++)
        if (!option->initial)
            set_everyday(all, option, params, given);
    return params;
}

static bool is_there(const struct collection *all, const struct setting *setting)
{
    for (size_t i = 0; i < all->count; i++)
        if (all->settings[i].scope == setting->scope &&
            memcmp(all->settings[i].params, setting->params, all->ops->params_size) == 0)
            return true;
    return false;
}

static void keep(struct collection *all, struct setting setting)
{
    setting.ops = all->ops;
    if ((all->ops->params_size && is_there(all, &setting)) || !accepted(&setting))
        return;
    if (all->count == all->room) {
        struct setting *more = arena_zeroed(all->arena, all->room ? all->room * 2 : 16, sizeof *more);

        if (all->count)
            memcpy(more, all->settings, all->count * sizeof *more);
        all->settings = more;
        all->room = all->room ? all->room * 2 : 16;
    }
    all->settings[all->count++] = setting;
}

/* As the scenario's reader has it, where none is asked for. */
static enum policy_scope scope_of(const struct policy_ops *ops)
{
    return ops->one_copy ? SCOPE_ALL : SCOPE_GATE;
}

static void keep_one(struct collection *all, const struct option *option, const char *text, bool extreme)
{
    const char *given;
    void *params = defaults(all, &given);

    if (set(all, option, text, params))
        keep(all, (struct setting){.text = arena_format(all->arena, "%s: %s", option->key, text),
                                   .params = params,
                                   .scope = scope_of(all->ops),
                                   .extreme = extreme});
}

static void keep_preset(struct collection *all, const struct policy_preset *preset)
{
    struct host_keys host = {0};
    const char *given;
    void *params = defaults(all, &given);

    param_defaults(host_options, &host, all->arena);
    for (const char *const *pair = preset->settings; pair[0]; pair += 2) {
        const struct option *option = all->ops->params ? param_find(all->ops->params, pair[0]) : NULL;

        if (option)
            set(all, option, pair[1], params);
        else
            set(all, &host_options[HOST_SCOPE], pair[1], &host);
    }
    keep(all, (struct setting){.text = arena_format(all->arena, "preset: %s", preset->name),
                               .params = params,
                               .scope = all->ops->one_copy ? SCOPE_ALL : (enum policy_scope)host.scope});
}

/* What copies share is tried with several of them at a gate. */
static void keep_shared(struct collection *all)
{
    const char *given;

    if (all->ops->shared_size && !all->ops->one_copy && !all->ops->rank && !all->ops->pick)
        keep(all, (struct setting){.text = "scope: agent", .params = defaults(all, &given), .scope = SCOPE_AGENT});
}

struct setting *settings_of(const struct policy_ops *ops, struct arena *arena, size_t *count)
{
    struct collection all = {.ops = ops, .arena = arena};
    const char *given;
    void *params = defaults(&all, &given);

    keep(&all, (struct setting){.text = given, .params = params, .scope = scope_of(ops)});
    for (const struct policy_preset *preset = ops->presets; preset && preset->name; preset++)
        keep_preset(&all, preset);
    keep_shared(&all);
    for (const struct option *option = ops->params; option && option->key; option++) {
        if (option->type == OPTION_CHOICE) {
            for (const char *const *choice = option->choices; *choice; choice++)
                keep_one(&all, option, *choice, false);
        } else if (option->type == OPTION_FLAG) {
            keep_one(&all, option, "false", false);
            keep_one(&all, option, "true", false);
        } else {
            keep_one(&all, option, least_of(option), true);
            keep_one(&all, option, most_of(option), true);
        }
    }
    *count = all.count;
    return all.settings;
}
