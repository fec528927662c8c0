/* Whether a policy's table makes sense. Whoever writes a plug-in sees each mistake by its name, and nothing behind this
 * has to be prepared for one. */
#include <string.h>

#include "models/tables.h"
#include "sim/cli/plugin.h"
#include "sim/io/param.h"

/* The table, what messages begin with, and where they point. */
struct checker {
    const struct policy_ops *ops;
    const char *what;
    struct place place;
    struct diag *diag;
};

static bool is_name(const char *name)
{
    return name && name[0] && name[strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_")] == '\0';
}

static bool is_text(const char *text)
{
    return text && text[0];
}

static void check_params(const struct checker *check)
{
    const struct policy_ops *ops = check->ops;

    if (!ops->params)
        return;
    param_table_check(ops->params, check->what, ops->params_size, check->place, check->diag);
    for (const struct option *option = ops->params; option->key; option++) {
        if (param_find(host_options, option->key))
            diag_error(check->diag, check->place,
                       "%s: parameter %s: every policy has a key of that name: expected another", check->what,
                       option->key);
        if (option->type == OPTION_DIST)
            diag_error(check->diag, check->place,
                       "%s: parameter %s is a distribution, which a policy cannot draw from: expected numbers",
                       check->what, option->key);
    }
}

/* What a preset may set: parameters, and how many copies there are. */
static const struct option *settable(const struct policy_ops *ops, const char *key)
{
    const struct option *option = ops->params ? param_find(ops->params, key) : NULL;

    return option || strcmp(key, "scope") != 0 ? option : param_find(host_options, key);
}

static void check_preset(const struct checker *check, const struct policy_preset *preset)
{
    struct diag *diag = check->diag;
    const char *what = arena_format(&diag->arena, "%s: preset %s", check->what, preset->name);

    if (!preset->settings || !is_text(preset->help)) {
        diag_error(diag, check->place, "%s: expected settings and a line of help", what);
        return;
    }
    for (const char *const *pair = preset->settings; pair[0]; pair += 2) {
        const struct option *option = settable(check->ops, pair[0]);

        for (const char *const *before = preset->settings; before < pair; before += 2)
            if (strcmp(before[0], pair[0]) == 0)
                diag_error(diag, check->place, "%s sets %s twice: expected it once", what, pair[0]);
        if (!option)
            diag_error(diag, check->place, "%s: it sets '%s': expected a parameter of the policy, or scope", what,
                       diag_excerpt(diag, pair[0]));
        else if (pair[1])
            param_value_check(option, what, pair[1], check->place, diag);
        if (!pair[1]) {
            diag_error(diag, check->place, "%s: %s has no value: expected pairs of key and value", what, pair[0]);
            return;
        }
    }
}

static void check_presets(const struct checker *check)
{
    for (const struct policy_preset *preset = check->ops->presets; preset && preset->name; preset++) {
        for (const struct policy_preset *before = check->ops->presets; before < preset; before++)
            if (strcmp(before->name, preset->name) == 0)
                diag_error(check->diag, check->place, "%s: two presets are called %s: expected another name",
                           check->what, preset->name);
        if (is_name(preset->name))
            check_preset(check, preset);
        else
            diag_error(check->diag, check->place,
                       "%s: a preset is called '%s': expected lower-case letters, digits and _", check->what,
                       diag_excerpt(check->diag, preset->name));
    }
}

static const char *gauge_mistake(const struct policy_ops *ops, const struct policy_gauge *gauge, struct arena *arena)
{
    size_t size = gauge->in_stats ? ops->stats_size : ops->vars_size;

    for (const struct policy_gauge *before = ops->gauges; before < gauge; before++)
        if (strcmp(before->name, gauge->name) == 0)
            return "is there twice: expected another name";
    if (ops->params && param_find(ops->params, gauge->name))
        return "has the name of a parameter: expected another";
    if (!is_name(gauge->name))
        return "expected a name of lower-case letters, digits and _";
    if ((unsigned)gauge->type > POLICY_GAUGE_UINT64)
        return "has no type of enum policy_gauge_type";
    if (gauge->offset > size || size - gauge->offset < sizeof(double))
        return arena_format(arena, "lies at %zu to %zu of %s, which has %zu bytes: expected it inside", gauge->offset,
                            gauge->offset + sizeof(double), gauge->in_stats ? "stats" : "vars", size);
    if (gauge->offset % sizeof(double) != 0)
        return arena_format(arena, "lies at %zu: expected a multiple of 8", gauge->offset);
    return is_text(gauge->help) ? NULL : "has no help: expected a line";
}

static void check_gauges(const struct checker *check)
{
    for (const struct policy_gauge *gauge = check->ops->gauges; gauge && gauge->name; gauge++) {
        const char *wrong = gauge_mistake(check->ops, gauge, &check->diag->arena);

        if (wrong)
            diag_error(check->diag, check->place, "%s: gauge %s %s", check->what,
                       diag_excerpt(check->diag, gauge->name), wrong);
    }
}

static const char *column_mistake(const struct policy_ops *ops, const struct policy_column *column)
{
    for (const struct policy_column *before = ops->columns; before < column; before++)
        if (strcmp(before->name, column->name) == 0)
            return "is there twice: expected another name";
    if (!is_name(column->name))
        return "expected a name of lower-case letters, digits and _";
    if (column->words && !column->words[0])
        return "has no words: expected some, or a number's NULL";
    return is_text(column->help) ? NULL : "has no help: expected a line";
}

static void check_columns(const struct checker *check)
{
    for (const struct policy_column *column = check->ops->columns; column && column->name; column++) {
        const char *wrong = column_mistake(check->ops, column);

        if (wrong)
            diag_error(check->diag, check->place, "%s: column %s %s", check->what,
                       diag_excerpt(check->diag, column->name), wrong);
    }
}

static void check_whole(const struct checker *check)
{
    const struct policy_ops *ops = check->ops;
    const char *wrong = NULL;

    if (!is_text(ops->summary))
        wrong = "it has no summary: expected a line";
    else if (ops->params && ops->params[0].key && !ops->params_size)
        wrong = "it has parameters but params_size is 0: expected the size of their struct";
    else if (ops->pick && (!ops->flow || !ops->flows))
        wrong = "it has `pick`: expected `flow` and a number of `flows` beside it";
    else if (!ops->pick && (ops->flow || ops->flows))
        wrong = "it has `flow` or `flows`: expected `pick` beside them";
    else if (ops->rank && ops->pick)
        wrong = "it has `rank` and `pick`: expected one of them, as each orders the waiting line";
    if (wrong)
        diag_error(check->diag, check->place, "%s: %s", check->what, wrong);
}

bool plugin_check(const struct policy_ops *ops, const char *path, struct place place, struct diag *diag)
{
    const char *what = arena_format(&diag->arena, "plug-in `%s`", path);
    struct checker check = {.ops = ops, .what = what, .place = place, .diag = diag};
    size_t before = diag->errors;

    if (ops->magic != POLICY_MAGIC)
        diag_error(diag, place, "%s: its `weir_policy` is no policy table (wrong magic number)", what);
    else if (ops->abi != POLICY_ABI)
        diag_error(diag, place,
                   "%s was built for policy ABI %u, this weir has %u: compile it again with this weir's policy.h", what,
                   ops->abi, POLICY_ABI);
    if (diag->errors > before)
        return false; /* what else is in there is anybody's guess */
    if (!is_name(ops->name))
        diag_error(diag, place, "%s: the policy is called '%s': expected lower-case letters, digits and _", what,
                   ops->name ? diag_excerpt(diag, ops->name) : "");
    check_whole(&check);
    check_params(&check);
    if (diag->errors == before) /* presets are read by the table */
        check_presets(&check);
    check_gauges(&check);
    check_columns(&check);
    return diag->errors == before;
}
