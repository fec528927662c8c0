/* table_print.c - a table for people: text for a terminal and Markdown for a page. Text fits 100 characters a line:
 * headings are broken over two lines, values that do not fit follow below with the keys again, notes are wrapped. */
#include <math.h>
#include <string.h>

#include "sim/io/quote.h"
#include "sim/io/table.h"
#include "sim/io/unit.h"

#define CELL_MOST 128
#define HEADS 3      /* two lines of names, one of units */
#define BROADEST 100 /* characters of a line of text, unless the table says otherwise */
#define GAP 2        /* blanks between columns */

/* The table as people see it: shown columns, half-widths within their value's cell, everything as text. */
struct grid {
    struct arena arena;
    size_t width, height; /* height counts the heads */
    size_t broadest;      /* characters of a line */
    bool coloured;
    const struct table_column **columns;
    bool *right;        /* aligned to the right: numbers */
    size_t *broad;      /* characters of the broadest cell */
    const char **cells; /* row-major */
};

typedef const char *quote_fn(const char *text, struct arena *arena);

static bool has_half_width(const struct table *table, size_t column)
{
    return column + 1 < table->column_count && table->columns[column + 1].role == TABLE_HALF_WIDTH;
}

/* Of what cannot be negative the interval begins at 0. */
static void format_from_zero(double upper, char *text, size_t size)
{
    char digits[CELL_MOST];

    table_format(upper, NAN, false, digits, sizeof digits);
    unit_format(text, size, "~0 to %s", digits);
}

/* Of a difference what matters is whether 0 lies in the interval: that is marked, not a broad interval. */
static void format_difference(double value, double half_width, bool ascii, char *text, size_t size)
{
    char plain[CELL_MOST];

    table_format(value, half_width, ascii, plain, sizeof plain);
    unit_format(text, size, "%s%s", fabs(value) <= half_width ? "~" : "", plain[0] == '~' ? plain + 1 : plain);
}

static const char *cell_text(const struct table *table, size_t row, size_t column, quote_fn *quote, struct arena *arena)
{
    const struct table_cell *cell = &table->cells[row * table->column_count + column];
    if (cell->text)
        return quote(cell->text, arena);
    char text[CELL_MOST];
    if (table->columns[column].role == TABLE_KEY) {
        table_digits(cell->number, text, sizeof text);
    } else {
        double half_width =
            has_half_width(table, column) ? table->cells[row * table->column_count + column + 1].number : NAN;
        if (table->columns[column].never_negative && cell->number - half_width < 0)
            format_from_zero(cell->number + half_width, text, sizeof text);
        else if (table->columns[column].difference)
            format_difference(cell->number, half_width, table->ascii, text, sizeof text);
        else
            table_format(cell->number, half_width, table->ascii, text, sizeof text);
    }
    return arena_text(arena, text);
}

static bool is_right(const struct table *table, size_t column)
{
    bool text = false;
    for (size_t row = 0; row < table->row_count; row++)
        text = text || table->cells[row * table->column_count + column].text != NULL;
    return !text;
}

/* A heading that is broader than all of its column is broken at the underscore that leaves the least breadth. */
static size_t break_of(const char *heading, size_t broad)
{
    size_t best = 0, least = strlen(heading);

    if (least <= broad)
        return 0;
    for (size_t i = 1; heading[i]; i++) {
        size_t left = i + 1, right = strlen(heading + i + 1), larger = left > right ? left : right;

        if (heading[i] == '_' && right > 0 && larger < least) {
            least = larger;
            best = i + 1;
        }
    }
    return best;
}

static void put_heading(struct grid *grid, size_t column, const char *heading, bool breaks)
{
    size_t at = breaks ? break_of(heading, grid->broad[column]) : 0;
    const char *upper = at ? arena_text_of(&grid->arena, heading, at) : "", *lower = heading + at;
    size_t broad = quote_width(upper) > quote_width(lower) ? quote_width(upper) : quote_width(lower);

    grid->cells[column] = upper;
    grid->cells[grid->width + column] = lower;
    if (broad > grid->broad[column])
        grid->broad[column] = broad;
}

static size_t broadest_of(const struct table *table)
{
    return table->broadest > 0 ? table->broadest : BROADEST;
}

static struct grid grid_of(const struct table *table, quote_fn *quote, bool breaks)
{
    struct grid grid = {.height = HEADS + table->row_count, .broadest = broadest_of(table), .coloured = table->colour};
    grid.columns = arena_zeroed(&grid.arena, table->column_count, sizeof *grid.columns);
    grid.right = arena_zeroed(&grid.arena, table->column_count, sizeof *grid.right);
    grid.broad = arena_zeroed(&grid.arena, table->column_count, sizeof *grid.broad);
    for (size_t column = 0; column < table->column_count; column++)
        if (table->columns[column].shown && table->columns[column].role != TABLE_HALF_WIDTH)
            grid.columns[grid.width++] = &table->columns[column];
    grid.cells = arena_zeroed(&grid.arena, grid.height * grid.width, sizeof *grid.cells);
    for (size_t i = 0; i < grid.width; i++) {
        size_t column = (size_t)(grid.columns[i] - table->columns);
        grid.right[i] = is_right(table, column);
        for (size_t line = HEADS - 1; line < grid.height; line++) {
            const char *text = line < HEADS ? quote(grid.columns[i]->unit, &grid.arena)
                                            : cell_text(table, line - HEADS, column, quote, &grid.arena);
            grid.cells[line * grid.width + i] = text;
            size_t broad = quote_width(text);
            grid.broad[i] = broad > grid.broad[i] ? broad : grid.broad[i];
        }
        put_heading(&grid, i, quote(grid.columns[i]->heading, &grid.arena), breaks);
    }
    return grid;
}

static void print_padding(size_t count, FILE *out)
{
    while (count-- > 0)
        fputc(' ', out);
}

/* Sets a colour, or NULL: headings stand out, marked values and what is unsure are yellow, what is wrong is red. */
static const char *colour_of(const struct grid *grid, size_t line, size_t column)
{
    static const char *const wrong[] = {"DIFFERS", "FAR", "BROKEN"};
    const char *text = grid->cells[line * grid->width + column];

    if (line < HEADS - 1)
        return "\033[1m";
    if (line < HEADS || (grid->columns[column]->role == TABLE_KEY && !grid->columns[column]->judged))
        return NULL;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        if (strncmp(text, wrong[i], strlen(wrong[i])) == 0)
            return "\033[31m";
    return text[0] == '~' || strcmp(text, "unsure") == 0 ? "\033[33m" : NULL;
}

/* Columns 0 to keys - 1 and first to end - 1. Blanks are written when something follows, so no line ends in one. */
static void print_line(const struct grid *grid, size_t line, size_t keys, size_t first, size_t end, FILE *out)
{
    size_t pending = 0;
    for (size_t i = keys > 0 ? 0 : first; i < end; i = i + 1 == keys ? first : i + 1) {
        const char *text = grid->cells[line * grid->width + i];
        size_t padding = grid->broad[i] - quote_width(text);
        pending += i > 0 && i != (keys > 0 ? 0 : first) ? GAP : 0;
        if (text[0] == '\0') {
            pending += padding;
            continue;
        }
        print_padding(pending + (grid->right[i] ? padding : 0), out);
        const char *colour = grid->coloured ? colour_of(grid, line, i) : NULL;
        fprintf(out, "%s%s%s", colour ? colour : "", text, colour ? "\033[0m" : "");
        pending = grid->right[i] ? 0 : padding;
    }
    fputc('\n', out);
}

/* How many columns from the first on stand beside the keys without a line becoming too broad; at least one. */
static size_t fitting(const struct grid *grid, size_t keys, size_t first)
{
    size_t end = first + 1, broad = grid->broad[first];
    for (size_t i = 0; i < keys; i++)
        broad += grid->broad[i] + GAP;
    while (end < grid->width && broad + GAP + grid->broad[end] <= grid->broadest)
        broad += GAP + grid->broad[end++];
    return end - first;
}

/* Broken at blanks where it would become too broad. */
static void print_wrapped(const char *text, size_t broadest, FILE *out)
{
    struct arena arena = {0};
    size_t column = 0;
    while (*text) {
        size_t length = strcspn(text, " ");
        const char *word = arena_text_of(&arena, text, length);
        size_t broad = quote_width(word);
        bool breaks = column > 0 && column + 1 + broad > broadest;
        fprintf(out, "%s%s", breaks ? "\n" : column > 0 ? " " : "", word);
        column = breaks || column == 0 ? broad : column + 1 + broad;
        text += text[length] == ' ' ? length + 1 : length;
    }
    fputc('\n', out);
    arena_free(&arena);
}

static void print_notes(const struct table *table, quote_fn *quote, const char *between, FILE *out)
{
    struct arena arena = {0};
    for (size_t i = 0; i < table->note_count; i++) {
        const char *note = quote(table->notes[i], &arena);
        fputs(i == 0 ? "\n" : between, out);
        if (quote == quote_terminal)
            print_wrapped(note, broadest_of(table), out);
        else
            fprintf(out, "%s\n", note);
    }
    arena_free(&arena);
}

static bool fits(const struct grid *grid)
{
    return grid->width == 0 || fitting(grid, 0, 0) == grid->width;
}

/* Heads are left out where they are empty. */
static bool is_empty(const struct grid *grid, size_t line, size_t keys, size_t first, size_t end)
{
    for (size_t i = 0; i < end; i++)
        if ((i < keys || i >= first) && grid->cells[line * grid->width + i][0] != '\0')
            return false;
    return true;
}

void table_print_text(const struct table *table, FILE *out)
{
    struct grid grid = grid_of(table, quote_terminal, false);
    size_t keys = 0;
    if (!fits(&grid)) {
        arena_free(&grid.arena);
        grid = grid_of(table, quote_terminal, true);
    }
    while (keys < grid.width && grid.columns[keys]->role == TABLE_KEY)
        keys++;
    if (keys == grid.width) /* nothing but words: they stay together, however broad */
        keys = 0;
    for (size_t first = keys, end; first < grid.width; first = end) {
        end = keys == 0 ? grid.width : first + fitting(&grid, keys, first);
        if (first > keys)
            fputc('\n', out);
        for (size_t line = 0; line < grid.height; line++)
            if (line >= HEADS || !is_empty(&grid, line, keys, first, end))
                print_line(&grid, line, keys, first, end, out);
    }
    print_notes(table, quote_terminal, "", out);
    arena_free(&grid.arena);
}

void table_print_markdown(const struct table *table, FILE *out)
{
    struct grid grid = grid_of(table, quote_markdown, false);
    for (size_t line = 1; line < grid.height && grid.width > 0; line++) {
        for (size_t i = 0; i < grid.width; i++) {
            const char *text = grid.cells[line * grid.width + i];
            if (line == HEADS - 1)
                fputs(grid.right[i] ? "| ---: " : "| --- ", out);
            else if (line == 1 && grid.columns[i]->unit[0] != '\0')
                fprintf(out, "| %s (%s) ", text, grid.cells[(HEADS - 1) * grid.width + i]);
            else
                fprintf(out, "| %s ", text);
        }
        fputs("|\n", out);
    }
    print_notes(table, quote_markdown, "\n", out);
    arena_free(&grid.arena);
}
