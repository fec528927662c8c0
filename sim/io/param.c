/* param.c - one row of a table parses, checks, stores and prints one value. Bounds and defaults are texts that take the
 * user's own way through the parser, so a message can quote them and they cannot mean something else than what they
 * say. */
#include "sim/io/param.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NANOSECONDS 1e9
#define TIME_MOST 9.2e9 /* seconds; 291 years fit into 63 bits of nanoseconds */

static bool is_number(const struct option *option)
{
    return option->type <= OPTION_SHARE;
}

/* What the number's unit ought to be, or NULL if it is that. */
static const char *wrong_quantity(const struct option *option, const struct number *number)
{
    bool other_noun = number->noun && (!option->measures || strcmp(number->noun, option->measures) != 0);
    bool bare = number->quantity == QUANTITY_NUMBER;
    switch (option->type) {
    case OPTION_TIME:
        return number->quantity == QUANTITY_TIME ? NULL : "a time needs its unit: ns us ms s min h d";
    case OPTION_RATE:
        if (number->quantity != QUANTITY_RATE)
            return "a rate needs its unit, as in 39 tokens/s or 50/min";
        return !other_noun ? NULL : option->measures ? "it counts something else" : "here it is written without a noun";
    case OPTION_SHARE:
        return bare || number->quantity == QUANTITY_SHARE ? NULL : "a share is written 0.31 or 31 %";
    case OPTION_COUNT:
        if (!bare && number->quantity != QUANTITY_COUNT)
            return "a count has no unit";
        return !other_noun ? NULL : option->measures ? "it counts something else" : "here it is written without a noun";
    default:
        return bare ? NULL : "it has no unit";
    }
}

/* What is said of a word behind a number that no unit is called. */
static const char *unknown_unit(enum option_type type)
{
    switch (type) {
    case OPTION_TIME:
        return "that unit is unknown: times have ns us ms s min h d";
    case OPTION_RATE:
        return "that unit is unknown: rates have tokens requests calls turns runs agents slots, or nothing, and then "
               "/s "
               "/min /h";
    case OPTION_COUNT:
        return "that unit is unknown: counts have k M, and tokens requests calls turns runs agents slots";
    case OPTION_SHARE:
        return "that unit is unknown: a share is written 0.31 or 31 %";
    default:
        return "that unit is unknown: it has none";
    }
}

/* A number in base units that its type can hold; NULL, or what is wrong with it. */
static const char *unfit(enum option_type type, double value)
{
    if (isnan(value) || value < 0)
        return "it is no number from 0";
    if (isinf(value))
        return NULL;
    if (type == OPTION_COUNT && (value != floor(value) || value > 1e18))
        return "a count is a whole number of at most 1e18";
    if (type == OPTION_TIME && value > TIME_MOST)
        return "times end at 9.2e9 s";
    if (type == OPTION_TIME && value > 0 && value < 1 / NANOSECONDS)
        return "a time is 0 or at least 1 ns";
    return NULL;
}

/* The whole text as the option's number, without its bounds. NULL, or what is wrong with it. */
static const char *read_number(const struct option *option, const char *text, double *value)
{
    struct number number;
    const char *end, *why;
    if (!unit_read(text, &end, &number, &why))
        return why;
    end += strspn(end, " \t\r\n");
    if (*end != '\0') {
        bool letter = (*end >= 'a' && *end <= 'z') || (*end >= 'A' && *end <= 'Z');
        return letter && number.quantity == QUANTITY_NUMBER ? unknown_unit(option->type)
                                                            : "expected one number with one unit";
    }
    *value = number.value;
    why = isinf(number.value) ? NULL : wrong_quantity(option, &number);
    return why ? why : unfit(option->type, number.value);
}

static _Noreturn void misdeclared(const struct option *option, const char *why)
{
    fprintf(stderr, "option %s: %s\n", option->key, why);
    abort();
}

static double bound(const struct option *option, const char *text, double none)
{
    double value = none;
    const char *why = text ? read_number(option, text, &value) : NULL;
    if (why)
        misdeclared(option, why);
    return value;
}

static bool within(const struct option *option, double value)
{
    return value >= bound(option, param_least(option), 0) && value <= bound(option, param_most(option), INFINITY);
}

static void *place_in(const struct option *option, void *values)
{
    return (char *)values + option->offset;
}

static const void *stored(const struct option *option, const void *values)
{
    return (const char *)values + option->offset;
}

static void store_number(const struct option *option, void *values, double value)
{
    void *at = place_in(option, values);
    if (option->type == OPTION_COUNT)
        *(int64_t *)at = isinf(value) ? INT64_MAX : (int64_t)value;
    else if (option->type == OPTION_TIME)
        *(int64_t *)at = isinf(value) ? INT64_MAX : (int64_t)llround(value * NANOSECONDS);
    else
        *(double *)at = value;
}

/* Counts past 2^53 keep their last digits where they are written out: a seed is one. */
static void store_digits(const struct option *option, void *values, const char *text)
{
    if (option->type == OPTION_COUNT && text[strspn(text, "0123456789")] == '\0')
        *(int64_t *)place_in(option, values) = strtoll(text, NULL, 10);
}

static size_t choice_count(const struct option *option)
{
    size_t count = 0;
    while (option->choices[count])
        count++;
    return count;
}

static bool refuse(const struct option *option, const char *what, const char *text, const char *why, struct place place,
                   struct diag *diag)
{
    const char *wanted = param_expected(option, &diag->arena);
    diag_error(diag, place, why ? "%s: %s: expected %s, found '%s' (%s)" : "%s: %s: expected %s, found '%s'", what,
               option->key, wanted, text, why);
    return false;
}

static bool set_number(const struct option *option, const char *what, void *values, const char *text,
                       struct place place, struct diag *diag)
{
    double value;
    const char *why = read_number(option, text, &value);
    if (why || !within(option, value))
        return refuse(option, what, text, why, place, diag);
    store_number(option, values, value);
    store_digits(option, values, text);
    return true;
}

static bool set_choice(const struct option *option, const char *what, void *values, const char *text,
                       struct place place, struct diag *diag)
{
    for (int i = 0; option->choices[i]; i++)
        if (strcmp(option->choices[i], text) == 0) {
            *(int *)place_in(option, values) = i;
            return true;
        }
    const char *nearest = diag_nearest(text, option->choices, choice_count(option));
    const char *why = nearest ? arena_format(&diag->arena, "did you mean %s?", nearest) : NULL;
    return refuse(option, what, text, why, place, diag);
}

/* A path is written as seen from the file that names it. */
static const char *resolved(const char *path, struct place place, struct arena *arena)
{
    const char *slash = place.file && path[0] != '/' ? strrchr(place.file, '/') : NULL;
    if (!slash)
        return arena_text(arena, path);
    return arena_format(arena, "%.*s/%s", (int)(slash - place.file), place.file, path);
}

static bool is_listed(const char *key, const char *const *keys)
{
    for (; keys && *keys; keys++)
        if (strcmp(key, *keys) == 0)
            return true;
    return false;
}

static void unknown_key(const struct option *table, const char *what, const struct node_entry *entry,
                        const char *const *others, struct diag *diag)
{
    size_t count = 0, room = 0;
    for (const struct option *option = table; option->key; option++)
        room++;
    for (size_t i = 0; others && others[i]; i++)
        room++;
    const char **keys = arena_zeroed(&diag->arena, room, sizeof *keys);
    for (const struct option *option = table; option->key; option++)
        keys[count++] = option->key;
    for (size_t i = 0; others && others[i]; i++)
        keys[count++] = others[i];
    const char *nearest = diag_nearest(entry->key, keys, count);
    if (nearest) {
        diag_error(diag, entry->place, "%s: unknown key '%s', did you mean %s?", what, entry->key, nearest);
        return;
    }
    const char *known = count > 0 ? keys[0] : "none";
    for (size_t i = 1; i < count; i++)
        known = arena_format(&diag->arena, "%s, %s", known, keys[i]);
    diag_error(diag, entry->place, "%s: unknown key '%s', expected one of: %s", what, entry->key, known);
}

static bool read_node(const struct option *option, const char *what, void *values, const struct node *node,
                      struct arena *arena, struct diag *diag)
{
    struct place place = node->place;
    if (option->type == OPTION_COMMAND && node->kind != NODE_NULL)
        return param_set_command(option, what, values, node, place, arena, diag);
    if (node->kind == NODE_SCALAR) {
        place.column += option->type == OPTION_DIST && node->quoted; /* the text begins behind the quote */
        return param_set(option, what, values, node->text, place, arena, diag);
    }
    const char *wanted = param_expected(option, &diag->arena);
    if (node->kind == NODE_NULL)
        diag_error(diag, place, "%s: %s needs a value: %s", what, option->key, wanted);
    else
        diag_error(diag, place, "%s: %s: expected %s, found %s", what, option->key, wanted, node_kind_name(node));
    return false;
}

void param_defaults(const struct option *table, void *values, struct arena *arena)
{
    struct diag diag = {0};
    for (const struct option *option = table; option->key; option++)
        if (option->initial && option->initial[0] != '\0')
            param_set(option, "default", values, option->initial, (struct place){0}, arena, &diag);
    if (diag.errors > 0) {
        diag_print(&diag, stderr);
        abort();
    }
    diag_fini(&diag);
}

bool param_set(const struct option *option, const char *what, void *values, const char *text, struct place place,
               struct arena *arena, struct diag *diag)
{
    void *at = place_in(option, values);
    switch (option->type) {
    case OPTION_FLAG:
        if (strcmp(text, "true") != 0 && strcmp(text, "false") != 0)
            return refuse(option, what, text, NULL, place, diag);
        *(bool *)at = text[0] == 't';
        return true;
    case OPTION_CHOICE:
        return set_choice(option, what, values, text, place, diag);
    case OPTION_TEXT:
        *(const char **)at = arena_text(arena, text);
        return true;
    case OPTION_FILE:
        if (text[0] == '\0')
            return refuse(option, what, text, NULL, place, diag);
        *(const char **)at = resolved(text, place, arena);
        return true;
    case OPTION_DIST: {
        const struct expr *expr = expr_parse(text, place, arena, diag);
        if (expr)
            *(const struct expr **)at = expr;
        return expr != NULL;
    }
    case OPTION_COMMAND: { /* a default or a preset writes it as a scenario would */
        const struct node *node = yaml_parse(place.file ? place.file : what, text, strlen(text), arena, diag);
        return node && param_set_command(option, what, values, node, place, arena, diag);
    }
    default:
        return set_number(option, what, values, text, place, diag);
    }
}

const char *param_set_number(const struct option *option, void *values, double number)
{
    if (!option->live)
        return "expected a parameter that may be set while a run goes on";
    if (!is_number(option))
        return "expected a parameter that is a number";
    const char *why = unfit(option->type, number);
    if (why)
        return why;
    if (!within(option, number))
        return "expected a number within the parameter's range";
    store_number(option, values, number);
    return NULL;
}

double param_get_number(const struct option *option, const void *values)
{
    if (!is_number(option))
        return NAN;
    const void *at = stored(option, values);
    if (option->type != OPTION_COUNT && option->type != OPTION_TIME)
        return *(const double *)at;
    int64_t whole = *(const int64_t *)at;
    if (whole == INT64_MAX)
        return INFINITY;
    return option->type == OPTION_TIME ? (double)whole / NANOSECONDS : (double)whole;
}

static size_t stored_size(enum option_type type)
{
    switch (type) {
    case OPTION_COUNT:
    case OPTION_TIME:
        return sizeof(int64_t);
    case OPTION_FLAG:
        return sizeof(bool);
    case OPTION_CHOICE:
        return sizeof(int);
    case OPTION_TEXT:
    case OPTION_FILE:
    case OPTION_DIST:
    case OPTION_COMMAND:
        return sizeof(const void *);
    default:
        return sizeof(double);
    }
}

void param_copy(const struct option *option, void *to, const void *from)
{
    memcpy(place_in(option, to), stored(option, from), stored_size(option->type));
}

bool param_read(const struct option *table, const char *what, void *values, const struct node *map,
                const char *const *others, struct place *places, struct arena *arena, struct diag *diag)
{
    if (map->kind != NODE_MAP) {
        diag_error(diag, map->place, "%s: expected a mapping, as in {key: value}, found %s", what, node_kind_name(map));
        return false;
    }
    size_t errors = diag->errors;
    for (size_t i = 0; i < map->count; i++) {
        const struct node_entry *entry = &map->entries[i];
        const struct option *option = param_find(table, entry->key);
        if (!option) {
            if (!is_listed(entry->key, others))
                unknown_key(table, what, entry, others, diag);
            continue;
        }
        if (read_node(option, what, values, entry->value, arena, diag) && places)
            places[option - table] = entry->value->place;
    }
    for (const struct option *option = table; option->key; option++) {
        bool given = node_get(map, option->key) || (places && places[option - table].file);
        if (!given && !option->initial)
            diag_error(diag, map->place, "%s: needs %s: %s", what, option->key, param_expected(option, &diag->arena));
    }
    return diag->errors == errors;
}

const struct option *param_find(const struct option *table, const char *key)
{
    for (const struct option *option = table; option->key; option++)
        if (strcmp(option->key, key) == 0)
            return option;
    return NULL;
}
