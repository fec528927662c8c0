/* param_text.c - rows and values of parameter tables as people write and read them. */
#include <math.h>
#include <string.h>

#include "sim/io/param.h"
#include "sim/io/quote.h"

#define COUNT_EXACT 9007199254740992 /* 2^53: whole numbers up to here are doubles */
#define NUMBER_TEXT 64

static const void *stored(const struct option *option, const void *values)
{
    return (const char *)values + option->offset;
}

static const char *choices_text(const struct option *option, struct arena *arena)
{
    const char *text = option->choices[0];
    for (size_t i = 1; option->choices[i]; i++)
        text = arena_format(arena, "%s, %s", text, option->choices[i]);
    return text;
}

static const char *type_name(const struct option *option, struct arena *arena)
{
    static const char *const names[] = {
        [OPTION_REAL] = "number",
        [OPTION_COUNT] = "whole number",
        [OPTION_TIME] = "time",
        [OPTION_RATE] = "rate",
        [OPTION_SHARE] = "share",
        [OPTION_FLAG] = "flag: true or false",
        [OPTION_CHOICE] = "choice",
        [OPTION_TEXT] = "text",
        [OPTION_FILE] = "file name",
        [OPTION_DIST] = "distribution",
        [OPTION_COMMAND] = "list of words",
    };
    if (option->type == OPTION_CHOICE)
        return arena_format(arena, "choice of: %s", choices_text(option, arena));
    bool measures = option->measures && !(option->type == OPTION_DIST && strcmp(option->measures, "time") == 0);
    if (measures)
        return arena_format(arena, "%s of %s", names[option->type], option->measures);
    return option->measures ? "distribution of times" : names[option->type];
}

static const char *range_text(const struct option *option, struct arena *arena)
{
    const char *least = param_least(option);
    const char *most = param_most(option);
    if (least && most)
        return arena_format(arena, "from %s to %s", least, most);
    if (most)
        return arena_format(arena, "of at most %s", most);
    return least ? arena_format(arena, "of at least %s, or inf", least) : "";
}

static bool reads_back(const char *text, double value)
{
    struct number number;
    const char *end, *why;
    return unit_read(text, &end, &number, &why) && *end == '\0' && number.value == value;
}

/* In the unit of time that needs the fewest digits: 50/min, not 0.8333333333333334/s and not 3k/h. */
static const char *rate_text(double value, const char *noun, struct arena *arena)
{
    static const char *const units[] = {"s", "min", "h"};
    const char *tail = noun ? arena_format(arena, " %s/", noun) : "/", *best = units[0];
    double shown = value;
    size_t shortest = SIZE_MAX;
    for (size_t i = 0; i < sizeof units / sizeof units[0] && isfinite(value); i++) {
        char text[NUMBER_TEXT];
        int length = unit_format(text, sizeof text, "%.15g/%s", value * unit_time(units[i]), units[i]);
        if (!reads_back(text, value) || (size_t)length >= shortest)
            continue;
        shortest = (size_t)length;
        best = units[i];
        shown = unit_decimal(text);
    }
    char digits[NUMBER_TEXT];
    unit_print_number(shown, digits, sizeof digits);
    return isinf(value) ? "inf" : arena_format(arena, "%s%s%s", digits, tail, best);
}

static const char *share_text(double value, struct arena *arena)
{
    char text[NUMBER_TEXT];
    unit_format(text, sizeof text, "%.15g %%", value * 100);
    if (!reads_back(text, value))
        unit_print_number(value, text, sizeof text);
    return arena_text(arena, text);
}

static const char *number_text(const struct option *option, const void *values, struct arena *arena)
{
    const void *at = stored(option, values);
    double value = param_get_number(option, values);
    char text[NUMBER_TEXT];
    if (option->type == OPTION_RATE)
        return rate_text(value, option->measures, arena);
    if (option->type == OPTION_SHARE)
        return share_text(value, arena);
    if (option->type == OPTION_COUNT && isfinite(value) && *(const int64_t *)at > COUNT_EXACT)
        unit_format(text, sizeof text, "%lld", (long long)*(const int64_t *)at);
    else if (option->type == OPTION_TIME)
        unit_print_time(value, text, sizeof text);
    else
        unit_print_number(value, text, sizeof text);
    return arena_text(arena, text);
}

static const char *command_text(const struct option_command *command, struct arena *arena)
{
    const char *text = "";
    for (size_t i = 0; command && command->words[i]; i++)
        text = arena_format(arena, "%s%s%s", text, i > 0 ? ", " : "[", quote_yaml(command->words[i], arena));
    return command ? arena_format(arena, "%s]", text) : text;
}

const char *param_text(const struct option *option, const void *values, struct arena *arena)
{
    const void *at = stored(option, values);
    const char *text = NULL;
    switch (option->type) {
    case OPTION_FLAG:
        return *(const bool *)at ? "true" : "false";
    case OPTION_CHOICE:
        return option->choices[*(const int *)at];
    case OPTION_TEXT:
    case OPTION_FILE:
        text = *(const char *const *)at;
        return text ? quote_yaml(text, arena) : "";
    case OPTION_COMMAND:
        return command_text(*(const struct option_command *const *)at, arena);
    case OPTION_DIST:
        return *(const struct expr *const *)at ? (*(const struct expr *const *)at)->text : "";
    default:
        return number_text(option, values, arena);
    }
}

/* --- for logs ------------------------------------------------------------------------------------------------------
 */

/* The unit of time that the default is in, behind its last `mark`. */
static const char *unit_of_default(const struct option *option, char mark, const char *otherwise)
{
    const char *unit = option->initial ? strrchr(option->initial, mark) : NULL;
    return unit && unit_time(unit + 1) > 0 ? unit + 1 : otherwise;
}

static const char *plain_digits(double value, struct arena *arena)
{
    char text[NUMBER_TEXT];
    unit_format(text, sizeof text, "%.9g", value);
    unit_digits(unit_decimal(text), text, sizeof text);
    return arena_text(arena, text);
}

const char *param_plain(const struct option *option, const void *values, struct arena *arena)
{
    double value = param_get_number(option, values);
    const char *unit;
    if (!isfinite(value) || option->type == OPTION_CHOICE || option->type == OPTION_FLAG)
        return param_text(option, values, arena);
    switch (option->type) {
    case OPTION_RATE:
        unit = unit_of_default(option, '/', "min");
        return arena_format(arena, "%s%s%s/%s", plain_digits(value * unit_time(unit), arena),
                            option->measures ? " " : "", option->measures ? option->measures : "", unit);
    case OPTION_TIME:
        unit = unit_of_default(option, ' ', "s");
        return arena_format(arena, "%s %s", plain_digits(value / unit_time(unit), arena), unit);
    case OPTION_SHARE:
        return arena_format(arena, "%s %%", plain_digits(100 * value, arena));
    case OPTION_COUNT:
        return arena_format(arena, "%lld", (long long)*(const int64_t *)stored(option, values));
    case OPTION_REAL:
        return plain_digits(value, arena);
    default:
        return param_text(option, values, arena);
    }
}

const char *param_least(const struct option *option)
{
    return !option->least && option->type == OPTION_SHARE ? "0 %" : option->least;
}

const char *param_most(const struct option *option)
{
    if (!option->most && option->type == OPTION_SHARE)
        return "100 %";
    return option->most && strcmp(option->most, "inf") == 0 ? NULL : option->most;
}

const char *param_expected(const struct option *option, struct arena *arena)
{
    const char *range = range_text(option, arena);
    return arena_format(arena, "a %s%s%s", type_name(option, arena), range[0] != '\0' ? " " : "", range);
}

const char *param_type_text(const struct option *option, struct arena *arena)
{
    const char *range = range_text(option, arena);
    const char *type = type_name(option, arena);
    return range[0] == '\0' ? type : arena_format(arena, "%s, %s", type, range);
}
