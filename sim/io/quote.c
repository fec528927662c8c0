/* quote.c - texts for YAML, CSV, Markdown and terminals. */
#include "sim/io/quote.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define ESCAPE_MOST 10 /* \U0010FFFF */

/* The character at `at` and how many bytes it has; 0: these are no UTF-8. */
static size_t decode(const unsigned char *at, uint32_t *point)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    size_t length = at[0] < 0x80 ? 1 : at[0] < 0xc2 ? 0 : at[0] < 0xe0 ? 2 : at[0] < 0xf0 ? 3 : at[0] < 0xf5 ? 4 : 0;
    if (length == 0)
        return 0;
    *point = length == 1 ? at[0] : at[0] & (0x7fu >> length);
    for (size_t i = 1; i < length; i++) {
        if ((at[i] & 0xc0) != 0x80)
            return 0;
        *point = *point << 6 | (at[i] & 0x3fu);
    }
    bool surrogate = *point >= 0xd800 && *point <= 0xdfff;
    return *point < least[length] || *point > 0x10ffff || surrogate ? 0 : length;
}

/* Neither a control character nor one that breaks lines or that YAML does not take. */
static bool prints(uint32_t point)
{
    bool controls = point < 0x20 || (point >= 0x7f && point < 0xa0);
    bool breaks = point == 0x2028 || point == 0x2029;
    bool never = point == 0xfeff || (point >= 0xfffe && point <= 0xffff);
    return !controls && !breaks && !never;
}

/* Does YAML 1.1 or 1.2 read this plain word as the text itself? A cautious no for most. */
static bool is_plain(const char *text)
{
    static const char *const taken[] = {"true", "false", "null", "yes", "no", "on", "off", "y", "n", "inf", "nan"};
    size_t length = strlen(text);
    bool word = (text[0] >= 'a' && text[0] <= 'z') || (text[0] >= 'A' && text[0] <= 'Z');
    for (size_t i = 0; i < length; i++) {
        bool digit = text[i] >= '0' && text[i] <= '9', small = text[i] >= 'a' && text[i] <= 'z';
        bool large = text[i] >= 'A' && text[i] <= 'Z';
        word = word && (digit || small || large || strchr("_-./", text[i]) != NULL);
    }
    for (size_t i = 0; i < sizeof taken / sizeof taken[0]; i++) {
        bool same = strlen(taken[i]) == length;
        for (size_t j = 0; same && j < length; j++)
            same = (text[j] | 0x20) == taken[i][j];
        word = word && !same;
    }
    return word;
}

/* A copy with `escape` before each byte that is in `marks`, and line ends as blanks. */
static const char *escaped(const char *text, const char *marks, char escape, struct arena *arena)
{
    char *copy = arena_zeroed(arena, 2 * strlen(text) + 1, 1), *to = copy;
    for (; *text != '\0'; text++) {
        if (strchr(marks, *text))
            *to++ = escape;
        *to++ = *text == '\n' || *text == '\r' ? ' ' : *text;
    }
    return copy;
}

const char *quote_yaml(const char *text, struct arena *arena)
{
    if (is_plain(text))
        return text;
    char *copy = arena_zeroed(arena, ESCAPE_MOST * strlen(text) + 3, 1), *to = copy;
    const unsigned char *at = (const unsigned char *)text;
    *to++ = '"';
    while (*at != '\0') {
        uint32_t point;
        size_t length = decode(at, &point);
        if (length == 0) {
            point = *at;
            length = 1;
        } else if (prints(point)) {
            if (point == '"' || point == '\\')
                *to++ = '\\';
            memcpy(to, at, length);
            to += length;
            at += length;
            continue;
        }
        const char *format = point < 0x100 ? "\\x%02X" : point < 0x10000 ? "\\u%04X" : "\\U%08X";
        to += sprintf(to, format, (unsigned)point);
        at += length;
    }
    *to = '"';
    return copy;
}

const char *quote_csv(const char *text, struct arena *arena)
{
    if (!strpbrk(text, ",\"\r\n"))
        return text;
    char *copy = arena_zeroed(arena, 2 * strlen(text) + 3, 1), *to = copy;
    *to++ = '"';
    for (; *text != '\0'; text++) {
        if (*text == '"')
            *to++ = '"';
        *to++ = *text;
    }
    *to = '"';
    return copy;
}

const char *quote_markdown(const char *text, struct arena *arena)
{
    return escaped(text, "\\`|<*", '\\', arena);
}

const char *quote_terminal(const char *text, struct arena *arena)
{
    char *copy = arena_zeroed(arena, strlen(text) + 1, 1), *to = copy;
    for (const unsigned char *at = (const unsigned char *)text; *at != '\0';) {
        uint32_t point;
        size_t length = decode(at, &point);
        if (length > 0 && prints(point)) {
            memcpy(to, at, length);
            to += length;
        } else {
            *to++ = '?';
        }
        at += length > 0 ? length : 1;
    }
    return copy;
}

size_t quote_width(const char *text)
{
    size_t width = 0;
    for (; *text != '\0'; text++)
        width += ((unsigned char)*text & 0xc0) != 0x80;
    return width;
}
