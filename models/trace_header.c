/* trace_header.c - which format a file has, and which of its columns is what: from its line of names, from what the
 * user says of it, or, where it has no names, from its number of columns. */
#include <stdlib.h>
#include <string.h>

#include "models/trace.h"
#include "sim/io/csv.h"

enum { LIST_MOST = 200 }; /* characters of names in a message */

struct search {
    const struct trace_spec *spec;
    const struct csv_row *row;
    struct diag *diag;
    struct arena *arena;
};

/* The place of a column in the file, counted from 1; 0: it is not there. */
static size_t find(const struct search *search, const char *name)
{
    for (size_t i = 0; i < search->row->count; i++)
        if (strcmp(search->row->fields[i], name) == 0)
            return i + 1;
    return 0;
}

static const char *listed(const struct search *search, const char *list, const char *name)
{
    if (strlen(list) >= LIST_MOST)
        return list;
    return *list ? arena_format(search->arena, "%s, %s", list, name) : name;
}

static const char *names_there(const struct search *search)
{
    const char *list = "";
    for (size_t i = 0; i < search->row->count; i++)
        list = listed(search, list, search->row->fields[i]);
    return diag_excerpt(search->diag, list);
}

/* Does a row of the format's list with this need, and of this field unless it is TRACE_FIELDS, have its column? */
static bool any_there(const struct search *search, const struct trace_format *format, enum trace_need need,
                      enum trace_field field)
{
    for (const struct trace_column *column = format->columns; column->name; column++)
        if (column->need == need && (field == TRACE_FIELDS || column->field == field) && find(search, column->name))
            return true;
    return false;
}

static bool has_marks(const struct trace_format *format)
{
    const struct trace_column *column = format->columns;
    while (column->name && column->need != TRACE_MARK)
        column++;
    return column->name != NULL;
}

/* Does the format need all its columns of a session (they name it together), or one of them (its names)? */
static bool joins(const struct trace_format *format)
{
    return format->by_end;
}

/* What the format lacks to be that of the file, "A, B or C"; "": nothing. *found counts the needed ones that are there.
 */
static const char *missing(const struct search *search, const struct trace_format *format, bool marks, size_t *found)
{
    const char *list = "";
    *found = 0;
    for (const struct trace_column *column = format->columns; column->name; column++) {
        bool first = true, there = find(search, column->name) != 0;
        for (const struct trace_column *other = format->columns; other < column; other++)
            first = first && (other->field != column->field || other->need != TRACE_NEEDED || joins(format));
        if (column->need != TRACE_NEEDED || !first)
            continue;
        there = there || (!joins(format) && any_there(search, format, TRACE_NEEDED, column->field));
        *found += there;
        if (there)
            continue;
        const char *names = column->name;
        for (const struct trace_column *other = column + 1; other->name && !joins(format); other++)
            if (other->field == column->field && other->need == TRACE_NEEDED)
                names = arena_format(search->arena, "%s or %s", names, other->name);
        list = listed(search, list, names);
    }
    if (!marks || !has_marks(format) || any_there(search, format, TRACE_MARK, TRACE_FIELDS))
        return list;
    const char *names = NULL;
    for (const struct trace_column *column = format->columns; column->name; column++)
        if (column->need == TRACE_MARK)
            names = names ? arena_format(search->arena, "%s or %s", names, column->name) : column->name;
    return listed(search, list, names);
}

static struct place header_place(const struct search *search)
{
    return (struct place){search->spec->path, search->row->line, 0};
}

/* Numbers where a headless format has them: else it is a line of names. */
static bool is_headless(const struct search *search, const struct trace_format *format)
{
    bool zoned;
    int64_t value;
    size_t at = 0;
    if (format->headless != search->row->count)
        return false;
    for (const struct trace_column *column = format->columns; column->name; column++, at++)
        if (trace_value_read(search->row->fields[at], column->unit, &value, &zoned))
            return false;
    return true;
}

static const struct trace_format *format_named(const struct search *search)
{
    const char *names[64] = {NULL};
    size_t count = 0;
    for (const struct trace_format *format = trace_formats; format->name; format++) {
        if (strcmp(format->name, search->spec->format) == 0)
            return format;
        names[count++] = format->name;
    }
    const char *nearest = diag_nearest(search->spec->format, names, count), *list = "";
    for (size_t i = 0; i < count; i++)
        list = listed(search, list, names[i]);
    if (nearest)
        diag_error(search->diag, search->spec->format_asked, "there is no trace format %s: did you mean %s?",
                   search->spec->format, nearest);
    else
        diag_error(search->diag, search->spec->format_asked, "there is no trace format %s: expected one of %s",
                   search->spec->format, list);
    return NULL;
}

/* The nearest format is that which most of its needed columns speak for, two at the least. */
static void none_fits(const struct search *search)
{
    const struct trace_format *nearest = NULL;
    size_t most = 1, found;
    for (const struct trace_format *format = trace_formats; format->name; format++) {
        if (format->headless)
            continue;
        missing(search, format, true, &found);
        if (found > most) {
            most = found;
            nearest = format;
        }
    }
    if (nearest)
        diag_error(search->diag, header_place(search),
                   "no known format has these columns: %s expects %s besides; expected those of one that `weir list "
                   "traces` names, or a list such as time=arrived:ms, input=prompt_len, output=gen_len",
                   nearest->name, missing(search, nearest, true, &found));
    else
        diag_error(search->diag, header_place(search),
                   "no known format has the columns %s: expected those of one that `weir list traces` names, or a list "
                   "such as time=arrived:ms, input=prompt_len, output=gen_len",
                   names_there(search));
}

static const struct trace_format *format_of(const struct search *search)
{
    bool named = search->spec->format && *search->spec->format, listed_columns = search->spec->columns != NULL;
    const struct trace_format *chosen = NULL;
    const char *others = "";
    size_t found;
    if (named) {
        chosen = format_named(search);
        if (!chosen || chosen->headless || !*missing(search, chosen, false, &found))
            return chosen;
        if (listed_columns && *search->spec->columns)
            return chosen; /* the list may say where they are */
        diag_error(search->diag, header_place(search), "%s expects the columns %s besides: there are %s", chosen->name,
                   missing(search, chosen, false, &found), names_there(search));
        return NULL;
    }
    for (const struct trace_format *format = trace_formats; format->name; format++) {
        bool fits = format->headless ? is_headless(search, format) : !*missing(search, format, true, &found);
        if (!fits)
            continue;
        others = chosen ? listed(search, *others ? others : chosen->name, format->name) : others;
        chosen = chosen ? chosen : format;
    }
    if (*others) {
        diag_error(search->diag, header_place(search),
                   "these are the columns of several formats: expected one of %s to be named", others);
        return NULL;
    }
    return chosen;
}

/* --- the user's list -----------------------------------------------------------------------------------------------
 */

static const enum trace_unit time_units[] = {TRACE_NS, TRACE_US, TRACE_MS, TRACE_S, TRACE_MIN, TRACE_DATE};

static enum trace_unit unit_of(enum trace_field field)
{
    switch (field) {
    case TRACE_SESSION:
        return TRACE_TEXT;
    case TRACE_TURN:
    case TRACE_BATCH:
        return TRACE_COUNT;
    case TRACE_INPUT:
    case TRACE_CACHED:
    case TRACE_NEW:
    case TRACE_OUTPUT:
        return TRACE_TOKENS;
    case TRACE_RATE:
    case TRACE_GAP_CV:
    case TRACE_LENGTH:
    case TRACE_CHANCE:
        return TRACE_REAL;
    default:
        return TRACE_S; /* some unit of time, which has to be said */
    }
}

/* NAME or NAME:UNIT; the unit of times has to stand there, and of a moment none means that it is a date. */
static bool read_unit(const struct search *search, char *name, struct trace_column *column)
{
    struct place place = search->spec->columns_asked;
    char *colon = strrchr(name, ':');
    column->unit = unit_of(column->field);
    if (column->unit != TRACE_S)
        return true;
    if (!colon && (column->field == TRACE_TIME || column->field == TRACE_END || column->field == TRACE_BEGIN)) {
        column->unit = TRACE_DATE;
        return true;
    }
    for (size_t i = 0; colon && i < sizeof time_units / sizeof *time_units; i++)
        if (strcmp(colon + 1, trace_unit_name(time_units[i])) == 0) {
            column->unit = time_units[i];
            *colon = '\0';
            return true;
        }
    diag_error(search->diag, place,
               "%s=%s: expected the column and its unit, such as %s=%.*s:ms; units are ns, us, ms, s, min",
               trace_field_name(column->field), name, trace_field_name(column->field),
               colon ? (int)(colon - name) : (int)strlen(name), name);
    return false;
}

static bool read_item(const struct search *search, char *item, struct trace_column *column)
{
    const char *names[TRACE_FIELDS];
    struct place place = search->spec->columns_asked;
    char *equals = strchr(item, '=');
    if (!equals) {
        diag_error(search->diag, place, "%s: expected FIELD=COLUMN, such as time=arrived:ms", item);
        return false;
    }
    *equals = '\0';
    for (enum trace_field field = 0; field < TRACE_FIELDS; field++) {
        names[field] = trace_field_name(field);
        if (strcmp(names[field], item) != 0)
            continue;
        *column = (struct trace_column){.name = equals + 1, .field = field};
        if (!read_unit(search, equals + 1, column))
            return false;
        if (find(search, column->name))
            return true;
        const char *nearest = diag_nearest(column->name, search->row->fields, search->row->count);
        diag_error(search->diag, place,
                   nearest ? "there is no column `%s`: did you mean `%s`?"
                           : "there is no column `%s`: expected one of %s",
                   column->name, nearest ? nearest : names_there(search));
        return false;
    }
    const char *nearest = diag_nearest(item, names, TRACE_FIELDS);
    diag_error(search->diag, place, "there is no field %s: %s%s", item, nearest ? "did you mean " : "expected one of ",
               nearest ? nearest : "time, session, input, output, wait_before, ...");
    return false;
}

/* The items as columns, ended by one without a name; NULL after an error. */
static struct trace_column *list_read(const struct search *search)
{
    char *text = arena_text(search->arena, search->spec->columns ? search->spec->columns : ""), *rest = text, *item;
    size_t count = 1;
    for (const char *at = text; *at; at++)
        count += *at == ',';
    struct trace_column *columns = arena_zeroed(search->arena, count + 1, sizeof *columns);
    count = 0;
    while ((item = strtok_r(rest, ",", &rest))) {
        item += strspn(item, " ");
        for (size_t end = strlen(item); end > 0 && item[end - 1] == ' ';)
            item[--end] = '\0';
        if (*item && !read_item(search, item, &columns[count++]))
            return NULL;
    }
    return columns;
}

/* --- both together -------------------------------------------------------------------------------------------------
 */

static bool is_listed(const struct trace_column *list, enum trace_field field)
{
    while (list->name && list->field != field)
        list++;
    return list->name != NULL;
}

static void add_part(struct trace_header *header, const struct trace_column *column, size_t at)
{
    header->parts = mem_resized(header->parts, header->count + 1, sizeof *header->parts);
    header->parts[header->count++] = (struct trace_part){column, at};
}

/* Of several columns of one field the first that is there; all of a session where they name it together. */
static bool is_taken(const struct trace_header *header, const struct trace_column *column)
{
    if (column->field == TRACE_NONE || (column->field == TRACE_SESSION && joins(header->format)))
        return false;
    for (size_t i = 0; i < header->count; i++)
        if (header->parts[i].column->field == column->field)
            return true;
    return false;
}

bool trace_header_read(const struct trace_spec *spec, const struct csv_row *row, struct trace_header *header,
                       struct diag *diag)
{
    struct search search = {spec, row, diag, &diag->arena};
    static const struct trace_column none = {.name = NULL};
    static const struct trace_format own = {"columns", "calls", "the columns that were named", "", &none, 0,
                                            NULL,      false};
    size_t errors = diag->errors;
    const struct trace_column *list = list_read(&search);
    if (!list)
        return false;
    header->format = format_of(&search);
    if (!header->format && diag->errors == errors && list->name)
        header->format = &own;
    if (!header->format) {
        if (diag->errors == errors)
            none_fits(&search);
        return false;
    }
    header->first_is_data = header->format->headless > 0;
    for (const struct trace_column *column = list; column->name; column++)
        add_part(header, column, find(&search, column->name) - 1);
    size_t position = 0;
    for (const struct trace_column *column = header->format->columns; column->name; column++, position++) {
        size_t at = header->first_is_data ? position + 1 : find(&search, column->name);
        if (at && !is_listed(list, column->field) && !is_taken(header, column))
            add_part(header, column, at - 1);
    }
    return true;
}
