/* selection_name.c - a name, a colour and a kind of line for each curve.
 *
 * A policy has one colour in all pictures of a study, also in those of differences, where one policy is missing. */
#include <stdlib.h>
#include <string.h>

#include "sim/cli/selection.h"
#include "sim/io/quote.h"

/* Longer names are made of short values. */
enum { NAME_LONG = 30 };

/* A factor divides a policy where its value is not told by x: factors that go in step with x do not. */
static void find_divisions(struct selection *drawn)
{
    drawn->divides = arena_zeroed(&drawn->arena, drawn->file->column_count, sizeof *drawn->divides);
    for (size_t column = TABLE_FILE_CLASS; column < drawn->file->replications; column++) {
        if (column == drawn->x)
            continue;
        for (size_t i = 0; i < drawn->row_count && !drawn->divides[column]; i++)
            for (size_t k = i + 1; k < drawn->row_count && !drawn->divides[column]; k++)
                drawn->divides[column] = selection_same(drawn, i, k, TABLE_FILE_POLICY) &&
                                         !selection_same(drawn, i, k, column) &&
                                         (!selection_has_x(drawn) || selection_same(drawn, i, k, drawn->x));
    }
}

/* How much all values of a column begin with, in whole words. */
static size_t common_front(const struct selection *drawn, size_t column)
{
    const char *first = NULL;
    size_t front = 0;

    for (size_t i = 0; i < drawn->row_count; i++) {
        const char *value = selection_cell(drawn, i, column);
        size_t same = 0;

        if (!value[0])
            continue;
        if (!first) {
            first = value;
            front = strlen(value);
        }
        while (same < front && value[same] == first[same])
            same++;
        front = same;
    }
    while (front > 0 && !strchr(" (|/", first[front - 1]))
        front--;
    return front;
}

/* "empirical(a.csv wait_s s)" among others of that file: "…wait_s s". The brackets that are opened in front are no
 * longer closed at the end. */
static const char *short_value(struct selection *drawn, size_t row, size_t column)
{
    const char *value = selection_cell(drawn, row, column);
    size_t front = common_front(drawn, column), length = strlen(value), open = 0;

    if (front == 0 || front >= length)
        return value;
    for (size_t i = 0; i < front; i++)
        open += value[i] == '(';
    while (open-- > 0 && length > front && value[length - 1] == ')')
        length--;
    return arena_format(&drawn->arena, "\u2026%.*s", (int)(length - front), value + front);
}

/* The values of the factors that divide a policy: "target 8 s". */
static const char *division_of(struct selection *drawn, size_t row, bool shortly)
{
    const char *text = "";

    for (size_t column = TABLE_FILE_CLASS; column < drawn->file->replications; column++) {
        const char *name = drawn->file->names[column], *dot = strrchr(name, '.');
        const char *value = selection_cell(drawn, row, column), *word = dot ? dot + 1 : name;

        if (!drawn->divides[column] || !value[0])
            continue;
        value = shortly ? short_value(drawn, row, column) : value;
        word = column < TABLE_FILE_FACTORS || value != selection_cell(drawn, row, column)
                   ? ""
                   : arena_format(&drawn->arena, "%s ", word);
        text = arena_format(&drawn->arena, "%s%s%s%s", text, text[0] ? ", " : "", word, value);
    }
    return text;
}

/* Places in order of first appearance. */
static size_t place_among(const char *text, const char **known, size_t *count)
{
    for (size_t i = 0; i < *count; i++)
        if (strcmp(known[i], text) == 0)
            return i;
    known[*count] = text;
    return (*count)++;
}

/* Policies of the file, whatever is drawn of it; in a table of differences their base keeps its place. */
static size_t policy_places(struct selection *drawn, size_t *places)
{
    const struct table_file *file = drawn->file;
    const char **known = arena_zeroed(&drawn->arena, file->row_count, sizeof *known);
    const char *text = table_file_head(file, "against_place");
    size_t base = text ? strtoul(text, NULL, 10) : file->row_count, count = 0;

    for (size_t i = 0; i < file->row_count; i++) {
        places[i] = place_among(file->rows[i].cells[TABLE_FILE_POLICY], known, &count);
        places[i] += places[i] >= base;
    }
    return count;
}

/* Labels, and as dashes the places of what divides; the width of the longest label. */
static size_t name_rows(struct selection *drawn, bool shortly)
{
    const char **known = arena_zeroed(&drawn->arena, drawn->row_count, sizeof *known);
    size_t divisions = 0, longest = 0;

    for (size_t row = 0; row < drawn->row_count; row++) {
        const char *policy = selection_cell(drawn, row, TABLE_FILE_POLICY);
        const char *division = division_of(drawn, row, shortly);
        size_t width;

        drawn->labels[row] = division[0] ? arena_format(&drawn->arena, "%s, %s", policy, division) : policy;
        drawn->dashes[row] = place_among(division, known, &divisions);
        width = quote_width(drawn->labels[row]);
        longest = width > longest ? width : longest;
    }
    return longest;
}

void selection_name(struct selection *drawn)
{
    size_t *places = arena_zeroed(&drawn->arena, drawn->file->row_count, sizeof *places);
    bool lone = policy_places(drawn, places) == 1 && !table_file_head(drawn->file, "against_place");

    drawn->labels = arena_zeroed(&drawn->arena, drawn->row_count, sizeof *drawn->labels);
    drawn->colours = arena_zeroed(&drawn->arena, drawn->row_count, sizeof *drawn->colours);
    drawn->dashes = arena_zeroed(&drawn->arena, drawn->row_count, sizeof *drawn->dashes);
    find_divisions(drawn);
    if (name_rows(drawn, false) > NAME_LONG)
        name_rows(drawn, true);
    for (size_t row = 0; row < drawn->row_count; row++) {
        drawn->colours[row] = lone ? drawn->dashes[row] : places[drawn->rows[row]];
        drawn->dashes[row] = lone ? 0 : drawn->dashes[row];
    }
}
