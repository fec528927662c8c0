/* diag.c - collects messages, prints them so that no byte of a user's file can act on a terminal, and guesses which
 * name a typing error meant. */
#include "sim/io/diag.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_MOST 2000 /* bytes of a message that are printed */
#define EXCERPT_MOST 60
#define NAME_MOST 63 /* longer names have no nearest one */

/* The length of the UTF-8 sequence at text and its code point; 0 if it is not well-formed. */
static int utf8_decode(const unsigned char *text, uint32_t *point)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    int length = text[0] < 0x80 ? 1 : text[0] < 0xc0 ? 0 : text[0] < 0xe0 ? 2 : text[0] < 0xf0 ? 3 : 4;
    if (length == 0 || text[0] > 0xf4)
        return 0;
    *point = length == 1 ? text[0] : text[0] & (0x7fU >> length);
    for (int i = 1; i < length; i++) {
        if ((text[i] & 0xc0) != 0x80)
            return 0;
        *point = *point << 6 | (text[i] & 0x3fU);
    }
    bool surrogate = *point >= 0xd800 && *point <= 0xdfff;
    return length > 1 && (*point < least[length] || surrogate || *point > 0x10ffff) ? 0 : length;
}

/* Control characters of both sets could drive the terminal; those that turn the direction of writing could make a
 * message look like another one. */
static bool harmless(uint32_t point)
{
    bool control = point < 0x20 || (point >= 0x7f && point < 0xa0);
    bool separates = point == 0x2028 || point == 0x2029;
    bool turns = (point >= 0x202a && point <= 0x202e) || (point >= 0x2066 && point <= 0x2069);
    return !control && !separates && !turns;
}

static void print_safely(const char *text, FILE *out)
{
    const unsigned char *at = (const unsigned char *)text;
    const unsigned char *end = at + TEXT_MOST;
    while (*at != '\0' && at < end) {
        uint32_t point;
        int length = utf8_decode(at, &point);
        if (length > 0 && harmless(point)) {
            fwrite(at, 1, (size_t)length, out);
        } else {
            length = length == 0 ? 1 : length;
            for (int i = 0; i < length; i++)
                fprintf(out, "\\x%02x", at[i]);
        }
        at += length;
    }
    if (*at != '\0')
        fputs("...", out);
}

static void print_place(const struct place *place, FILE *out)
{
    if (place->file == NULL)
        return;
    print_safely(place->file, out);
    if (place->line > 0)
        fprintf(out, ":%d", place->line);
    if (place->line > 0 && place->column > 0)
        fprintf(out, ":%d", place->column);
    fputs(": ", out);
}

/* The names of files are copied too: messages outlive the scenario they complain about. */
static void add(struct diag *diag, struct place place, bool warning, const char *format, va_list arguments)
{
    char *text = arena_format_list(&diag->arena, format, arguments);
    if (diag->count == diag->room) {
        diag->room = diag->room == 0 ? 8 : 2 * diag->room;
        diag->messages = mem_resized(diag->messages, diag->room, sizeof *diag->messages);
    }
    if (place.file != NULL)
        place.file = arena_text(&diag->arena, place.file);
    diag->messages[diag->count++] = (struct diag_message){place, warning, text};
}

static int folded(char letter)
{
    return letter >= 'A' && letter <= 'Z' ? letter - 'A' + 'a' : letter == '-' ? '_' : letter;
}

/* Letters put in, left out, replaced, or swapped with their neighbour (Damerau's four); case counts nothing. */
static size_t edit_distance(const char *a, size_t a_length, const char *b, size_t b_length)
{
    size_t rows[3][NAME_MOST + 1];
    size_t *before = rows[0], *above = rows[1], *row = rows[2];
    for (size_t j = 0; j <= b_length; j++)
        above[j] = j;
    for (size_t i = 1; i <= a_length; i++) {
        row[0] = i;
        for (size_t j = 1; j <= b_length; j++) {
            int x = folded(a[i - 1]), y = folded(b[j - 1]);
            size_t least = above[j - 1] + (x != y);
            if (above[j] + 1 < least)
                least = above[j] + 1;
            if (row[j - 1] + 1 < least)
                least = row[j - 1] + 1;
            if (i > 1 && j > 1 && x == folded(b[j - 2]) && y == folded(a[i - 2]) && before[j - 2] + 1 < least)
                least = before[j - 2] + 1;
            row[j] = least;
        }
        size_t *oldest = before;
        before = above;
        above = row;
        row = oldest;
    }
    return above[b_length];
}

void diag_error(struct diag *diag, struct place place, const char *format, ...)
{
    if (diag->errors++ >= DIAG_MOST)
        return;
    va_list arguments;
    va_start(arguments, format);
    add(diag, place, false, format, arguments);
    va_end(arguments);
}

void diag_warning(struct diag *diag, struct place place, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    add(diag, place, true, format, arguments);
    va_end(arguments);
}

void diag_print(const struct diag *diag, FILE *out)
{
    for (size_t i = 0; i < diag->count; i++) {
        const struct diag_message *message = &diag->messages[i];
        print_place(&message->place, out);
        fputs(message->warning ? "warning: " : "error: ", out);
        print_safely(message->text, out);
        fputc('\n', out);
    }
    if (diag->errors > DIAG_MOST)
        fprintf(out, "and %zu more error%s\n", diag->errors - DIAG_MOST, diag->errors == DIAG_MOST + 1 ? "" : "s");
}

void diag_fini(struct diag *diag)
{
    arena_free(&diag->arena);
    free(diag->messages);
    *diag = (struct diag){0};
}

const char *diag_excerpt(struct diag *diag, const char *text)
{
    size_t length = strlen(text);
    if (length <= EXCERPT_MOST)
        return arena_text(&diag->arena, text);
    length = EXCERPT_MOST;
    while (length > 0 && ((unsigned char)text[length] & 0xc0) == 0x80)
        length--;
    return arena_format(&diag->arena, "%.*s...", (int)length, text);
}

const char *diag_nearest(const char *name, const char *const *names, size_t count)
{
    size_t length = strlen(name);
    if (length == 0 || length > NAME_MOST)
        return NULL;
    /* One mistake in three letters is a typing error; more makes it another word, as does replacing all of it. */
    size_t most = length / 3 > 1 ? length / 3 : 1;
    const char *nearest = NULL;
    size_t nearest_distance = most < length ? most + 1 : length;
    for (size_t i = 0; i < count; i++) {
        size_t other = strlen(names[i]);
        if (other > NAME_MOST)
            continue;
        size_t distance = edit_distance(name, length, names[i], other);
        if (distance < nearest_distance) {
            nearest = names[i];
            nearest_distance = distance;
        }
    }
    return nearest;
}
