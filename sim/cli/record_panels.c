/* record_panels.c - the words of -y, `A+B,C`: a panel each, of columns that are joined by `+`. */
#include "sim/cli/record_panels.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/cli/record_curves.h"

/* Without -y so many columns. */
enum { USUAL = 4 };

static struct place nowhere_in(const struct plot *plot)
{
    return (struct place){plot->file.path, 0, 0};
}

/* Does it have two values, of all curves that are drawn? */
static bool varies(const struct plot *plot, size_t column)
{
    const struct record_curves *curves = plot->file.record;
    double first = NAN;

    for (size_t row = 0; row < plot->drawn.row_count; row++) {
        size_t curve = plot->drawn.rows[row];

        for (size_t i = 0; i < curves->list[curve].count; i++) {
            double value = record_curves_at(curves, curve, i, column);

            if (isnan(first))
                first = value;
            else if (!isnan(value) && value != first)
                return true;
        }
    }
    return false;
}

static bool any_value(const struct plot *plot, size_t column)
{
    for (size_t row = 0; row < plot->drawn.row_count; row++)
        if (record_curves_has(plot->file.record, plot->drawn.rows[row], column))
            return true;
    return false;
}

static void usual(struct plot *plot, struct record_panels *panels)
{
    for (size_t i = 1; i < plot->file.record->width && panels->count < USUAL; i++)
        if (varies(plot, i))
            panels->list[panels->count++] = (struct record_panel){.columns = {i}, .count = 1, .lefts = 1};
    if (panels->count == 0)
        diag_error(&plot->diag, nowhere_in(plot), "no column changes over time: choose what to draw with -y");
}

/* The place of a name, or the width. */
static size_t place_of(const struct record_curves *curves, const char *name)
{
    size_t column = 1;

    while (column < curves->width && strcmp(curves->names[column], name) != 0)
        column++;
    return column;
}

/* A column with a value, or 0 after an error. */
static size_t column_of(struct plot *plot, const char *name)
{
    const struct record_curves *curves = plot->file.record;
    size_t column = place_of(curves, name);
    const char *nearest = diag_nearest(name, curves->names + 1, curves->width - 1);

    if (column == curves->width)
        diag_error(&plot->diag, (struct place){plot->file.path, 1, 0}, "there is no column `%s`%s%s%s",
                   diag_excerpt(&plot->diag, name), nearest ? "; did you mean `" : "",
                   nearest ? diag_excerpt(&plot->diag, nearest) : "", nearest ? "`?" : "");
    else if (curves->words[column])
        diag_error(&plot->diag, nowhere_in(plot), "`%s` holds words: expected a column of numbers",
                   diag_excerpt(&plot->diag, name));
    else if (!any_value(plot, column))
        diag_error(&plot->diag, nowhere_in(plot), "there is nothing to draw: `%s` has no finite value",
                   diag_excerpt(&plot->diag, name));
    else
        return column;
    return 0;
}

const char *record_panels_unit(const struct plot *plot, size_t column)
{
    const char *unit = table_file_unit(&plot->file, plot->file.record->names[column]);

    return unit ? unit : "";
}

/* For a message. */
static const char *unit_named(struct plot *plot, size_t column)
{
    const char *unit = record_panels_unit(plot, column);

    return unit[0] ? arena_format(&plot->file.arena, "`%s`", diag_excerpt(&plot->diag, unit)) : "no unit";
}

static bool same_unit(const struct plot *plot, size_t a, size_t b)
{
    return strcmp(record_panels_unit(plot, a), record_panels_unit(plot, b)) == 0;
}

/* Behind those of its unit. A panel has an axis at the left and one at the right. */
static void add_column(struct plot *plot, struct record_panel *panel, size_t column)
{
    const char *name = diag_excerpt(&plot->diag, plot->file.record->names[column]);
    bool left = panel->count == 0 || same_unit(plot, column, panel->columns[0]);
    size_t place = left ? panel->lefts : panel->count;

    for (size_t i = 0; i < panel->count; i++) {
        if (panel->columns[i] != column)
            continue;
        diag_error(&plot->diag, nowhere_in(plot), "`%s` is twice in a panel: expected each column once", name);
        return;
    }
    if (!left && panel->lefts < panel->count && !same_unit(plot, column, panel->columns[panel->lefts])) {
        diag_error(&plot->diag, nowhere_in(plot),
                   "`%s` is in %s, a third unit in its panel: expected %s or %s, as there are two axes", name,
                   unit_named(plot, column), unit_named(plot, panel->columns[0]),
                   unit_named(plot, panel->columns[panel->lefts]));
        return;
    }
    memmove(panel->columns + place + 1, panel->columns + place, (panel->count - place) * sizeof panel->columns[0]);
    panel->columns[place] = column;
    panel->count++;
    panel->lefts += left;
}

/* "A+B"; each `+` has a name on both sides. */
static void join(struct plot *plot, const char *word, struct record_panel *panel)
{
    size_t length = strlen(word), parts = 1;

    for (const char *at = word; *at; at++)
        parts += *at == '+';
    if (word[0] == '+' || word[length - 1] == '+' || strstr(word, "++")) {
        diag_error(&plot->diag, nowhere_in(plot), "-y `%s`: expected a column on both sides of each `+`",
                   diag_excerpt(&plot->diag, word));
        return;
    }
    if (parts > RECORD_COLUMNS_MOST) {
        diag_error(&plot->diag, nowhere_in(plot), "%zu columns do not fit into a panel: expected at most %d", parts,
                   RECORD_COLUMNS_MOST);
        return;
    }
    for (const char *at = word; parts-- > 0; at += strcspn(at, "+") + 1) {
        size_t column = column_of(plot, arena_text_of(&plot->file.arena, at, strcspn(at, "+")));

        if (column > 0)
            add_column(plot, panel, column);
    }
}

/* Is there a `+` in it that is not in the name of a column? */
static bool is_joined(const struct plot *plot, const char *word)
{
    return strchr(word, '+') && place_of(plot->file.record, word) == plot->file.record->width;
}

/* Where colours tell columns apart, only dashes are left for the alternatives. */
static void check_curves(struct plot *plot, const struct record_panels *panels)
{
    size_t curves = plot->drawn.row_count;
    static const char hint[] = "choose some with --policy A,B or --at FACTOR=VALUE";

    if (curves > RECORD_DASHES_MOST) {
        diag_error(&plot->diag, nowhere_in(plot),
                   "there are %zu curves of each column, and more than %d kinds of dashes nobody could tell apart: %s",
                   curves, RECORD_DASHES_MOST, hint);
        return;
    }
    for (size_t i = 0; i < panels->count; i++) {
        if (panels->list[i].count * curves <= RECORD_CURVES_MOST)
            continue;
        diag_error(&plot->diag, nowhere_in(plot),
                   "%zu columns of %zu curves each do not fit into a panel: expected at most %d curves; %s",
                   panels->list[i].count, curves, RECORD_CURVES_MOST, hint);
    }
}

static void asked(struct plot *plot, struct record_panels *panels)
{
    size_t count = plot->request->metric_count;

    for (size_t i = 0; i < count; i++)
        panels->joined = panels->joined || is_joined(plot, plot->request->metrics[i]);
    if (count > RECORD_PANELS_MOST) {
        diag_error(&plot->diag, nowhere_in(plot), "%zu %s do not fit into a picture: expected at most %d", count,
                   panels->joined ? "panels" : "columns", RECORD_PANELS_MOST);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        const char *word = plot->request->metrics[i];
        struct record_panel *panel = &panels->list[panels->count++];

        if (is_joined(plot, word))
            join(plot, word, panel);
        else
            *panel = (struct record_panel){.columns = {column_of(plot, word)}, .count = 1, .lefts = 1};
    }
    if (panels->joined)
        check_curves(plot, panels);
}

bool record_panels_choose(struct plot *plot, struct record_panels *panels)
{
    size_t errors = plot->diag.errors;

    *panels = (struct record_panels){.count = 0};
    if (plot->request->metric_count)
        asked(plot, panels);
    else
        usual(plot, panels);
    return plot->diag.errors == errors;
}
