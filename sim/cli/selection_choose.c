/* selection_choose.c - which rows of a table are drawn, and against what. */
#include <math.h>
#include <string.h>

#include "sim/cli/selection.h"
#include "sim/cli/survival.h"

enum { VALUES_SHOWN = 20 };

static bool take_rows(struct selection *drawn)
{
    const struct table_file *file = drawn->file;

    drawn->rows = arena_zeroed(&drawn->arena, file->row_count, sizeof *drawn->rows);
    for (size_t i = 0; i < file->row_count; i++) {
        bool all = true;

        for (size_t k = TABLE_FILE_CLASS; k < TABLE_FILE_FACTORS; k++)
            all = all && strcmp(file->rows[i].cells[k], "all") == 0;
        if (all)
            drawn->rows[drawn->row_count++] = i;
    }
    if (drawn->row_count > 0)
        return true;
    diag_error(drawn->diag, (struct place){file->path, 0, 0}, "there is nothing to draw: no row %s",
               file->record ? "is of replication 1" : "has `all` as class, tenant and backend");
    return false;
}

/* Are all its values numbers of one kind? `odd` is the first row whose value is not; some factors do not apply to a
 * policy and are empty there. */
static bool is_numeric(const struct selection *drawn, size_t column, struct number *kind, size_t *odd)
{
    bool any = false;

    for (*odd = 0; *odd < drawn->row_count; ++*odd) {
        const char *text = selection_cell(drawn, *odd, column), *end, *why;
        struct number number;

        if (text[0] == '\0')
            continue;
        if (!unit_read(text, &end, &number, &why) || *end != '\0' || !isfinite(number.value) ||
            (any && number.quantity != kind->quantity))
            return false;
        *kind = number;
        any = true;
    }
    return any;
}

/* Does it have two values, cells aside that are empty? */
static bool varies(const struct selection *drawn, size_t column)
{
    size_t first = 0;

    while (first < drawn->row_count && !selection_cell(drawn, first, column)[0])
        first++;
    for (size_t i = first + 1; i < drawn->row_count; i++)
        if (selection_cell(drawn, i, column)[0] && !selection_same(drawn, first, i, column))
            return true;
    return false;
}

static bool is_population(const struct selection *drawn, size_t column)
{
    const char *dot = strrchr(drawn->file->names[column], '.');

    return dot && strcmp(dot, ".population") == 0;
}

static void take_x(struct selection *drawn, size_t column, struct number kind)
{
    drawn->x = column;
    drawn->quantity = kind.quantity;
    drawn->noun = kind.noun;
}

static bool choose_named_x(struct selection *drawn, const char *name)
{
    const struct table_file *file = drawn->file;
    size_t odd, column = table_file_column(file, name, TABLE_FILE_FACTORS, file->replications, drawn->diag);
    struct number kind;

    if (column == file->replications)
        return false;
    if (is_numeric(drawn, column, &kind, &odd)) {
        take_x(drawn, column, kind);
        return true;
    }
    diag_error(drawn->diag, table_file_place(file, drawn->rows[odd < drawn->row_count ? odd : 0], column),
               "cannot draw against `%s`: expected numbers of one kind in this column",
               diag_excerpt(drawn->diag, name));
    return false;
}

static bool choose_x(struct selection *drawn, bool lenient)
{
    const struct table_file *file = drawn->file;
    const char *candidates = "";
    size_t odd, count = 0;
    struct number kind;

    for (size_t column = TABLE_FILE_FACTORS; column < file->replications; column++) {
        if (!varies(drawn, column) || !is_numeric(drawn, column, &kind, &odd))
            continue;
        if (count == 0 || (is_population(drawn, column) && !is_population(drawn, drawn->x)))
            take_x(drawn, column, kind);
        candidates = arena_format(&drawn->diag->arena, "%s%s%s", candidates, count++ ? ", " : "",
                                  diag_excerpt(drawn->diag, file->names[column]));
    }
    if (count <= 1 || lenient)
        return true;
    diag_error(drawn->diag, (struct place){file->path, 1, 0},
               "several factors are numbers: %s; choose what to draw against with --x", candidates);
    return false;
}

/* Keeps the rows with this text in a column; an empty cell stays. */
static void keep(struct selection *drawn, size_t column, const char *text)
{
    size_t kept = 0;

    for (size_t i = 0; i < drawn->row_count; i++) {
        const char *own = selection_cell(drawn, i, column);

        if (own[0] == '\0' || strcmp(own, text) == 0)
            drawn->rows[kept++] = drawn->rows[i];
    }
    drawn->row_count = kept;
}

/* The different cells of a column, some of them, for messages. */
static const char *values_in(struct selection *drawn, size_t column)
{
    const char *values = "";
    size_t shown = 0;

    for (size_t i = 0; i < drawn->row_count && shown < VALUES_SHOWN; i++) {
        const char *own = selection_cell(drawn, i, column);
        bool first = own[0] != '\0';

        for (size_t k = 0; k < i && first; k++)
            first = !selection_same(drawn, k, i, column);
        if (first)
            values = arena_format(&drawn->arena, "%s%s%s", values, shown++ ? ", " : "", diag_excerpt(drawn->diag, own));
    }
    return values;
}

static bool has_value(const struct selection *drawn, size_t column, const char *text)
{
    for (size_t i = 0; i < drawn->row_count; i++)
        if (strcmp(selection_cell(drawn, i, column), text) == 0)
            return true;
    return false;
}

/* "FACTOR=VALUE", where the value is a cell's whole text. */
static bool keep_at(struct selection *drawn, const char *at)
{
    const struct table_file *file = drawn->file;
    const char *equals = strchr(at, '='), *name;
    size_t column;

    if (!equals) {
        diag_error(drawn->diag, (struct place){0}, "`--at %s`: expected FACTOR=VALUE", diag_excerpt(drawn->diag, at));
        return false;
    }
    name = arena_text_of(&drawn->arena, at, (size_t)(equals - at));
    column = table_file_column(file, name, TABLE_FILE_FACTORS, file->replications, drawn->diag);
    if (column == file->replications)
        return false;
    if (has_value(drawn, column, equals + 1)) {
        keep(drawn, column, equals + 1);
        return true;
    }
    diag_error(drawn->diag, (struct place){file->path, 0, 0}, "no row has `%s` as `%s`; there are: %s",
               diag_excerpt(drawn->diag, equals + 1), diag_excerpt(drawn->diag, name), values_in(drawn, column));
    return false;
}

static bool keep_policies(struct selection *drawn, const char *const *policies, size_t count)
{
    size_t kept = 0;

    for (size_t i = 0; i < count; i++) {
        if (has_value(drawn, TABLE_FILE_POLICY, policies[i]))
            continue;
        diag_error(drawn->diag, (struct place){drawn->file->path, 0, 0}, "there is no policy `%s`; there are: %s",
                   diag_excerpt(drawn->diag, policies[i]), values_in(drawn, TABLE_FILE_POLICY));
        return false;
    }
    for (size_t i = 0; i < drawn->row_count; i++) {
        bool named = count == 0;

        for (size_t k = 0; k < count && !named; k++)
            named = strcmp(selection_cell(drawn, i, TABLE_FILE_POLICY), policies[k]) == 0;
        if (named)
            drawn->rows[kept++] = drawn->rows[i];
    }
    drawn->row_count = kept;
    return true;
}

/* The rows with the largest value of a factor of numbers, if it has more values than `few`. */
static void keep_largest(struct selection *drawn, size_t column, size_t few)
{
    const char *largest = NULL, *end, *why;
    double most = -INFINITY;
    struct number number;
    size_t odd, different = 0;

    if (!is_numeric(drawn, column, &number, &odd))
        return;
    for (size_t i = 0; i < drawn->row_count; i++) {
        const char *text = selection_cell(drawn, i, column);
        bool first = text[0] != '\0';

        for (size_t k = 0; k < i && first; k++)
            first = !selection_same(drawn, k, i, column);
        if (!first)
            continue;
        different++;
        unit_read(text, &end, &number, &why);
        if (number.value > most) {
            most = number.value;
            largest = text;
        }
    }
    if (different > few)
        keep(drawn, column, largest);
}

/* More curves are too many to follow: one value of factors that are no numbers has to do, the first. */
static void keep_few_curves(struct selection *drawn)
{
    const struct table_file *file = drawn->file;

    for (size_t column = TABLE_FILE_FACTORS; column < file->replications; column++) {
        size_t curves = 0, first = 0;

        for (size_t i = 0; i < drawn->row_count; i++)
            curves += strcmp(selection_cell(drawn, i, drawn->x), "0") == 0;
        while (first < drawn->row_count && !selection_cell(drawn, first, column)[0])
            first++;
        if (curves > SELECTION_CURVES_FEW && first < drawn->row_count)
            keep(drawn, column, selection_cell(drawn, first, column));
    }
}

/* Populations first: with the largest of them, a factor that goes in step has one value left. */
static void choose_survival(struct selection *drawn)
{
    const struct table_file *file = drawn->file;

    for (size_t column = TABLE_FILE_FACTORS; column < file->replications; column++)
        if (is_population(drawn, column))
            keep_largest(drawn, column, 1);
    for (size_t column = TABLE_FILE_FACTORS; column < file->replications; column++)
        keep_largest(drawn, column, SELECTION_FEW);
    take_x(drawn, file->replications + 1, (struct number){.quantity = QUANTITY_TIME});
    keep_few_curves(drawn);
}

/* Bars have room for the classes too, each below all of them. */
static void take_classes(struct selection *drawn)
{
    const struct table_file *file = drawn->file;
    size_t *all = drawn->rows, count = drawn->row_count, next = 0;

    drawn->rows = arena_zeroed(&drawn->arena, file->row_count, sizeof *drawn->rows);
    drawn->row_count = 0;
    for (size_t i = 0; i < count; i++) {
        next = all[i];
        do
            drawn->rows[drawn->row_count++] = next++;
        while (next < file->row_count && strcmp(file->rows[next].cells[TABLE_FILE_CLASS], "all") != 0);
    }
}

bool selection_x_is_population(const struct selection *drawn)
{
    return is_population(drawn, drawn->x);
}

/* Each row is a curve. */
static bool choose_over_time(const struct selection *drawn)
{
    if (drawn->row_count <= SELECTION_OVER_TIME_MOST)
        return true;
    diag_error(drawn->diag, (struct place){drawn->file->path, 0, 0},
               "there are %zu curves, and more than %d nobody could tell apart: choose some with --policy A,B or --at "
               "FACTOR=VALUE",
               drawn->row_count, SELECTION_OVER_TIME_MOST);
    return false;
}

bool selection_choose(const struct selection_request *request, struct selection *drawn)
{
    if (!take_rows(drawn) || !keep_policies(drawn, request->policies, request->policy_count))
        return false;
    for (size_t i = 0; i < request->at_count; i++)
        if (!keep_at(drawn, request->at[i]))
            return false;
    if (drawn->file->record)
        return choose_over_time(drawn);
    drawn->survival = survival_is(drawn->file);
    if (drawn->survival)
        choose_survival(drawn);
    else if (!(request->x ? choose_named_x(drawn, request->x) : choose_x(drawn, request->lenient)))
        return false;
    if (!selection_has_x(drawn))
        take_classes(drawn);
    return true;
}
