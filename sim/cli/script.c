/* script.c - texts are the user's: printed, never evaluated (gnuplot.c says how). */
#include "sim/cli/script.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "sim/io/quote.h"
#include "sim/io/unit.h"

/* Labels longer than this are written smaller. */
enum { LABEL_LONG = 24 };
#define LABEL_SMALLEST 0.65

void script_bytes(const char *name, const char *text, struct script *script)
{
    fprintf(script->file, "%s = \"", name);
    for (; *text; text++) {
        unsigned char byte = (unsigned char)*text;
        bool letter = (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z');

        fprintf(script->file, letter || byte == ' ' ? "%c" : "\\%03o", byte);
    }
    fputs("\"\n", script->file);
}

/* Cairo draws what no font has as black shapes all over the picture, and of fonts DejaVu's or the like is all that
 * gnuplot brings along: Latin, Greek, Cyrillic, accents, some signs. Of an SVG the viewer takes care. */
static bool is_plain(uint32_t point)
{
    static const struct {
        uint32_t first, last;
    } shown[] = {{0x20, 0x7e},     {0xa0, 0x24f},    {0x300, 0x34f},   {0x38e, 0x3a1},   {0x3a3, 0x4ff},
                 {0x2010, 0x2027}, {0x20ac, 0x20ac}, {0x2190, 0x2193}, {0x2212, 0x2212}, {0x2260, 0x2265}};
    bool found = false;

    for (size_t i = 0; i < sizeof shown / sizeof shown[0]; i++)
        found = found || (point >= shown[i].first && point <= shown[i].last);
    return found;
}

/* The other characters of a text of UTF-8 become `?`. */
static const char *plain(const char *text, struct arena *arena)
{
    char *copy = arena_zeroed(arena, strlen(text) + 1, 1), *to = copy;

    while (*text) {
        unsigned char first = (unsigned char)*text;
        size_t length = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
        uint32_t point = length == 1 ? first : first & (0x7fu >> length);

        for (size_t i = 1; i < length; i++)
            point = point << 6 | ((unsigned char)text[i] & 0x3fu);
        if (is_plain(point)) {
            memcpy(to, text, length);
            to += length;
        } else {
            *to++ = '?';
        }
        text += length;
    }
    return copy;
}

void script_text(const char *name, const char *text, size_t most, struct script *script)
{
    const char *shown = quote_terminal(text, script->arena);

    if (script->plain)
        shown = plain(shown, script->arena);
    if (quote_width(shown) > most) {
        size_t length = 0, characters = 0;

        for (; characters < most || ((unsigned char)shown[length] & 0xc0) == 0x80; length++)
            characters += ((unsigned char)shown[length] & 0xc0) != 0x80;
        shown = arena_format(script->arena, "%.*s\u2026", (int)length, shown);
    }
    script_bytes(name, shown, script);
}

void script_number(const char *name, double value, struct script *script)
{
    char digits[40] = "NaN";

    if (!isnan(value))
        unit_digits(value, digits, sizeof digits);
    fprintf(script->file, "%s%s%s", name, *name ? " = " : " ", digits);
    if (*name)
        putc('\n', script->file);
}

void script_element(const char *array, size_t index, double value, struct script *script)
{
    char name[40];

    snprintf(name, sizeof name, "%s[%zu]", array, index + 1);
    script_number(name, value, script);
}

void script_x_axis(const struct figure *figure, struct axis axis, struct script *script)
{
    script_text("x_title", figure->x_title, SCRIPT_AXIS_MOST, script);
    script_number("x_log", axis.log, script);
    script_number("x_low", axis.low, script);
    script_number("x_high", axis.high, script);
}

size_t script_longest(const struct figure_series *series, size_t count)
{
    size_t longest = 0;

    for (size_t i = 0; i < count; i++) {
        size_t length = quote_width(series[i].label);

        longest = length > longest ? length : longest;
    }
    return longest;
}

double script_labels(size_t longest, struct script *script)
{
    double size, width;

    longest = longest < SCRIPT_LABEL_MOST ? longest : SCRIPT_LABEL_MOST + 1;
    size = longest <= LABEL_LONG ? 1 : fmax((double)LABEL_LONG / (double)longest, LABEL_SMALLEST);
    width = SCRIPT_CHARACTER * size * (double)longest;
    script_number("label_size", size, script);
    script_number("label_width", width, script);
    return width;
}

void script_series(const struct figure_series *series, size_t count, size_t most, struct script *script)
{
    fprintf(script->file, "count = %zu\narray label[count]\narray colour_of[count]\narray dash_of[count]\n", count);
    for (size_t i = 0; i < count; i++) {
        char name[40];

        snprintf(name, sizeof name, "label[%zu]", i + 1);
        script_text(name, series[i].label, most, script);
        fprintf(script->file, "colour_of[%zu] = %zu\ndash_of[%zu] = %zu\n", i + 1, series[i].colour, i + 1,
                series[i].dash + series[i].colour / SCRIPT_COLOURS);
    }
}
