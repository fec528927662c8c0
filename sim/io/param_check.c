/* param_check.c - tables of plug-ins come from outside, so what is a mistake of ours in a built-in one (and aborts) is
 * a message here. */
#include <math.h>
#include <string.h>

#include "sim/io/param.h"

#define TYPES (OPTION_COMMAND + 1)

static bool is_number(enum option_type type)
{
    return type <= OPTION_SHARE;
}

static size_t size_of(enum option_type type)
{
    static const size_t sizes[TYPES] = {
        [OPTION_REAL] = sizeof(double), [OPTION_COUNT] = sizeof(int64_t),  [OPTION_TIME] = sizeof(int64_t),
        [OPTION_RATE] = sizeof(double), [OPTION_SHARE] = sizeof(double),   [OPTION_FLAG] = sizeof(bool),
        [OPTION_CHOICE] = sizeof(int),  [OPTION_TEXT] = sizeof(void *),    [OPTION_FILE] = sizeof(void *),
        [OPTION_DIST] = sizeof(void *), [OPTION_COMMAND] = sizeof(void *),
    };
    return sizes[type];
}

/* A value of any type, and what its text needs. */
struct scratch {
    union {
        int64_t whole;
        double real;
        const void *pointer;
    } value;
    struct arena arena;
};

static bool reads(const struct option *option, const char *what, const char *text, struct scratch *scratch,
                  struct place place, struct diag *diag)
{
    struct option here = *option;
    here.offset = 0;
    return param_set(&here, what, &scratch->value, text, place, &scratch->arena, diag);
}

/* A bound as a number; `otherwise` if there is none. False after an error. */
static bool read_bound(const struct option *option, const char *what, const char *name, const char *text,
                       double otherwise, double *value, struct place place, struct diag *diag)
{
    struct scratch scratch = {0};
    struct option free = *option;
    free.least = NULL;
    free.most = "inf";
    free.offset = 0;
    *value = otherwise;
    if (!text)
        return true;
    bool good =
        reads(&free, arena_format(&diag->arena, "%s: %s of a parameter", what, name), text, &scratch, place, diag);
    if (good)
        *value = param_get_number(&free, &scratch.value);
    arena_free(&scratch.arena);
    return good;
}

static bool check_bounds(const struct option *option, const char *what, struct place place, struct diag *diag)
{
    double least, most;
    if (!is_number(option->type)) {
        if (!option->least && !option->most)
            return true;
        diag_error(diag, place, "%s: parameter %s has bounds: expected them of numbers only", what, option->key);
        return false;
    }
    if (!read_bound(option, what, "least", option->least, 0, &least, place, diag) ||
        !read_bound(option, what, "most", option->most, INFINITY, &most, place, diag))
        return false;
    if (least <= most)
        return true;
    diag_error(diag, place, "%s: parameter %s: expected a least that is at most its most, found %s and %s", what,
               option->key, option->least, option->most);
    return false;
}

static bool check_shape(const struct option *option, const char *what, size_t size, struct place place,
                        struct diag *diag)
{
    size_t own;
    const char *wrong = NULL;
    if ((unsigned)option->type >= TYPES) {
        diag_error(diag, place, "%s: parameter %s has the type %u: expected one of enum option_type", what, option->key,
                   (unsigned)option->type);
        return false;
    }
    own = size_of(option->type);
    if (option->offset > size || size - option->offset < own)
        wrong = arena_format(&diag->arena, "lies at %zu to %zu of a struct of %zu bytes: expected it inside",
                             option->offset, option->offset + own, size);
    else if (option->offset % own != 0)
        wrong = arena_format(&diag->arena, "lies at %zu: expected a multiple of its size, %zu", option->offset, own);
    else if (option->type == OPTION_CHOICE && (!option->choices || !option->choices[0]))
        wrong = "is a choice of nothing: expected choices";
    else if (!option->help || !option->help[0])
        wrong = "has no help: expected a line";
    if (wrong)
        diag_error(diag, place, "%s: parameter %s %s", what, option->key, wrong);
    return !wrong;
}

static bool check_key(const struct option *table, const struct option *option, const char *what, struct place place,
                      struct diag *diag)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyz0123456789_";
    if (!option->key[0] || option->key[strspn(option->key, allowed)] != '\0') {
        diag_error(diag, place, "%s: a parameter is called '%s': expected lower-case letters, digits and _", what,
                   diag_excerpt(diag, option->key));
        return false;
    }
    if (param_find(table, option->key) == option)
        return true;
    diag_error(diag, place, "%s: two parameters are called %s: expected another name", what, option->key);
    return false;
}

/* Of a table whose rows are sound. */
static void check_room(const struct option *table, const char *what, struct place place, struct diag *diag)
{
    for (const struct option *option = table; option->key; option++)
        for (const struct option *before = table; before < option; before++)
            if (before->offset < option->offset + size_of(option->type) &&
                option->offset < before->offset + size_of(before->type))
                diag_error(diag, place,
                           "%s: parameters %s and %s share bytes of the struct, at %zu: expected each in its "
                           "own",
                           what, before->key, option->key, option->offset);
}

bool param_value_check(const struct option *option, const char *what, const char *text, struct place place,
                       struct diag *diag)
{
    struct scratch scratch = {0};
    bool good = reads(option, what, text, &scratch, place, diag);
    arena_free(&scratch.arena);
    return good;
}

bool param_table_check(const struct option *table, const char *what, size_t size, struct place place, struct diag *diag)
{
    size_t before = diag->errors;
    for (const struct option *option = table; option->key; option++)
        if (check_key(table, option, what, place, diag) && check_shape(option, what, size, place, diag) &&
            check_bounds(option, what, place, diag) && option->initial && option->initial[0] != '\0')
            param_value_check(option, arena_format(&diag->arena, "%s: default of a parameter", what), option->initial,
                              place, diag);
    if (diag->errors == before)
        check_room(table, what, place, diag);
    return diag->errors == before;
}
