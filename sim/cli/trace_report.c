/* trace_report.c - the numbers of a trace as a table, and the formats as lists. */
#include "sim/cli/trace_report.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "sim/io/quote.h"
#include "sim/io/unit.h"

static const struct {
    const char *name, *unit, *help;
    enum table_role role;
    bool shown;
} columns[] = {
    {"what", "", "a field of the calls, the gap between them, calls in windows, sessions; read, kept, dropped rows",
     TABLE_KEY, true},
    {"column", "", "of the file, or why rows were dropped", TABLE_KEY, true},
    {"unit", "", "of the numbers in this row, whatever the unit of the column was", TABLE_KEY, true},
    {"rows", "", "that say it", TABLE_VALUE, true},
    {"unknown", "", "rows that do not, their field being empty", TABLE_VALUE, true},
    {"sum", "", "exact", TABLE_VALUE, true},
    {"mean", "", "sum / rows", TABLE_VALUE, true},
    {"cv", "", "standard deviation / mean", TABLE_VALUE, true},
    {"dispersion", "", "of calls in windows: variance / mean of their counts, 1 of a Poisson process", TABLE_VALUE,
     false},
    {"p50", "", "the smallest value that half the rows do not exceed", TABLE_VALUE, true},
    {"p90", "", "the same of 90 %", TABLE_VALUE, true},
    {"p99", "", "the same of 99 %", TABLE_VALUE, true},
    {"most", "", "the largest value", TABLE_VALUE, true},
};
enum { WHAT, COLUMN, UNIT, ROWS, UNKNOWN, SUM, MEAN, CV, DISPERSION, P50, P90, P99, MOST, COLUMNS };
_Static_assert(COLUMNS == sizeof columns / sizeof *columns, "each column has its row");

const char *trace_report_column(size_t index, const char **unit, const char **help)
{
    if (index >= COLUMNS)
        return NULL;
    *unit = columns[index].unit;
    *help = columns[index].help;
    return columns[index].name;
}

/* A whole number, or billionths as a decimal. */
static const char *exact(sim_sum sum, bool billionths, struct table *table)
{
    char text[64];
    size_t at = sizeof text, end;
    text[--at] = '\0';
    for (int digit = 0; sum != 0 || digit <= (billionths ? 9 : 0); digit++) {
        if (billionths && digit == 9)
            text[--at] = '.';
        text[--at] = (char)('0' + (int)(sum % 10));
        sum /= 10;
    }
    for (end = sizeof text - 2; billionths && text[end] == '0'; end--)
        text[end] = '\0';
    if (billionths && text[end] == '.')
        text[end] = '\0';
    return arena_text(&table->arena, text + at);
}

static size_t add(struct table *table, const char *what, const char *column, const char *unit)
{
    size_t row = table_row(table);
    table_text(table, row, WHAT, what);
    table_text(table, row, COLUMN, quote_terminal(column ? column : "", &table->arena));
    table_text(table, row, UNIT, unit);
    return row;
}

static void put_count(struct table *table, size_t row, size_t column, uint64_t count)
{
    table_text(table, row, column, arena_format(&table->arena, "%" PRIu64, count));
}

static void put_numbers(struct table *table, const char *what, const char *column, const char *unit, int64_t scale,
                        const struct trace_numbers *numbers)
{
    size_t row = add(table, what, column, unit);
    double parts = (double)scale;
    put_count(table, row, ROWS, numbers->count);
    put_count(table, row, UNKNOWN, numbers->unknown);
    if (numbers->count == 0)
        return;
    table_text(table, row, SUM, exact(numbers->sum, scale > 1, table));
    table_at(table, row, MEAN)->number = trace_mean(numbers) / parts;
    table_at(table, row, CV)->number = trace_cv(numbers);
    table_at(table, row, P50)->number = histogram_quantile(&numbers->histogram, 0.5) / parts;
    table_at(table, row, P90)->number = histogram_quantile(&numbers->histogram, 0.9) / parts;
    table_at(table, row, P99)->number = histogram_quantile(&numbers->histogram, 0.99) / parts;
    table_at(table, row, MOST)->number = (double)numbers->histogram.largest / parts;
}

static void put_fields(const struct trace_facts *facts, const struct trace_sum *sum, struct table *table)
{
    static const enum trace_unit units[TRACE_FIELDS] = {
        [TRACE_INPUT] = TRACE_TOKENS,  [TRACE_CACHED] = TRACE_TOKENS, [TRACE_NEW] = TRACE_TOKENS,
        [TRACE_OUTPUT] = TRACE_TOKENS, [TRACE_DURATION] = TRACE_S,    [TRACE_WAIT_BEFORE] = TRACE_S,
        [TRACE_WAIT_AFTER] = TRACE_S,  [TRACE_BATCH] = TRACE_COUNT,   [TRACE_READ_TIME] = TRACE_S,
        [TRACE_STEP_TIME] = TRACE_S,   [TRACE_RATE] = TRACE_REAL,     [TRACE_GAP_CV] = TRACE_REAL,
        [TRACE_LENGTH] = TRACE_REAL,   [TRACE_CHANCE] = TRACE_REAL,
    };
    for (enum trace_field field = 0; field < TRACE_FIELDS; field++) {
        const struct trace_numbers *numbers = &sum->fields[field];
        if (units[field] && (facts->columns[field].name || numbers->count > 0))
            put_numbers(table, trace_field_name(field), facts->columns[field].name, trace_unit_name(units[field]),
                        trace_unit_scale(units[field]), numbers);
    }
}

static bool are_calls(const struct trace_facts *facts)
{
    return strcmp(facts->rows, "calls") == 0;
}

static void put_arrivals(const struct trace_facts *facts, const struct trace_sum *sum, bool whole, struct table *table)
{
    if (sum->gaps.count == 0 || !are_calls(facts))
        return;
    put_numbers(table, "gap", facts->columns[TRACE_TIME].name, "s", SIM_SECOND, &sum->gaps);
    for (size_t i = 0; whole && i < TRACE_WINDOWS; i++) {
        const struct trace_window *window = &sum->windows[i];
        size_t row;
        if (window->closed < 2)
            continue;
        row = add(table, arena_format(&table->arena, "in %" PRId64 " s", window->width / SIM_SECOND), NULL, "calls");
        put_count(table, row, ROWS, (uint64_t)window->closed);
        table_at(table, row, MEAN)->number = window->sum / (double)window->closed;
        table_at(table, row, DISPERSION)->number = trace_dispersion(window);
    }
}

static void put_sessions(const struct trace_facts *facts, const struct trace_sum *sum, struct table *table)
{
    if (facts->sessions == 0)
        return;
    put_numbers(table, "session", facts->columns[TRACE_SESSION].name, "calls", 1, &sum->sessions);
    if (facts->waits_derived)
        put_numbers(table, "wait", "from times and durations", "s", SIM_SECOND, &sum->waits);
}

static void put_rows(const struct trace_facts *facts, struct table *table)
{
    put_count(table, add(table, "read", NULL, facts->rows), ROWS, facts->read);
    put_count(table, add(table, "kept", NULL, facts->rows), ROWS, facts->kept);
    for (const struct trace_dropped *dropped = facts->dropped; dropped->reason; dropped++)
        put_count(table, add(table, "dropped", dropped->reason, facts->rows), ROWS, dropped->rows);
}

/* How each column was understood. */
static void note_columns(const struct trace_facts *facts, struct table *table)
{
    for (enum trace_field field = 0; field < TRACE_FIELDS; field++) {
        const char *unit = trace_unit_name(facts->columns[field].unit);
        if (facts->columns[field].name)
            table_note(table, "%s: %s%s%s, %s", quote_terminal(facts->columns[field].name, &table->arena),
                       trace_field_name(field), *unit ? ", " : "", unit, trace_field_help(field));
    }
    if (facts->columns[TRACE_TIME].name && facts->columns[TRACE_TIME].unit == TRACE_DATE && !facts->zones)
        table_note(table, "Dates have no zone: taken as UTC.");
    if (facts->sorted)
        table_note(table, "Rows are sorted by time.");
}

static void note_rows(const struct trace_spec *spec, const struct trace_facts *facts, struct table *table)
{
    table_note(table, "%s: %s, %s",
               quote_terminal(strcmp(spec->path, "-") == 0 ? "standard input" : spec->path, &table->arena),
               facts->format, facts->help);
    table_note(table, "%" PRIu64 " %s read, %" PRIu64 " kept, %" PRIu64 " dropped.", facts->read, facts->rows,
               facts->kept, facts->read - facts->kept);
    for (const struct trace_dropped *dropped = facts->dropped; dropped->reason; dropped++)
        table_note(table, "%" PRIu64 " dropped: %s", dropped->rows, dropped->reason);
}

static void note_time(const struct trace_facts *facts, const struct trace_sum *sum, struct table *table)
{
    char text[40];
    const char *windows = "", *values = "";
    if (sum->last == TRACE_UNKNOWN || sum->last == sum->first || !are_calls(facts))
        return;
    unit_format(text, sizeof text, "%.4g", (double)facts->kept / sim_seconds(sum->last - sum->first));
    table_note(table, "%s s from the first call to the last, %s calls/s.", exact(sum->last - sum->first, true, table),
               text);
    for (size_t i = 0; i < TRACE_WINDOWS; i++) {
        double dispersion = trace_dispersion(&sum->windows[i]);
        const char *comma = *windows ? ", " : "";
        if (isnan(dispersion))
            continue;
        unit_format(text, sizeof text, "%.4g", dispersion);
        windows = arena_format(&table->arena, "%s%s%" PRId64 " s", windows, comma, sum->windows[i].width / SIM_SECOND);
        values = arena_format(&table->arena, "%s%s%s", values, comma, text);
    }
    if (*windows)
        table_note(table, "Index of dispersion of the calls in %s: %s; a Poisson process has 1.", windows, values);
}

void trace_report(const struct trace_spec *spec, const struct trace_facts *facts, const struct trace_sum *sum,
                  bool whole, struct table *table)
{
    for (size_t i = 0; i < COLUMNS; i++)
        table_column(table, columns[i].name, columns[i].unit, "", columns[i].help, columns[i].role, columns[i].shown);
    put_fields(facts, sum, table);
    put_arrivals(facts, sum, whole, table);
    put_sessions(facts, sum, table);
    if (whole)
        put_rows(facts, table);
    note_rows(spec, facts, table);
    note_columns(facts, table);
    if (sum->alone > 0 && facts->columns[TRACE_SESSION].name)
        table_note(table, "%" PRIu64 " calls have no session.", sum->alone);
    note_time(facts, sum, table);
}

/* --- the formats ---------------------------------------------------------------------------------------------------
 */

static void print_column(const struct trace_column *column)
{
    const char *unit = trace_unit_name(column->unit);
    if (column->need == TRACE_KEEPS)
        printf("%s (%s)", column->name, column->word);
    else if (column->field == TRACE_NONE)
        printf("%s", column->name);
    else
        printf("%s (%s%s%s)", column->name, trace_field_name(column->field), *unit ? ", " : "", unit);
}

static void print_columns(const struct trace_format *format, enum trace_need need, const char *head)
{
    bool any = false;
    for (const struct trace_column *column = format->columns; column->name; column++) {
        if (column->need != need)
            continue;
        printf("%s", any ? ", " : head);
        print_column(column);
        any = true;
    }
    if (any)
        printf("\n");
}

void trace_report_formats(void)
{
    for (const struct trace_format *format = trace_formats; format->name; format++) {
        printf("%s: %s; a row is one of its %s\n", format->name, format->help, format->rows);
        print_columns(format, TRACE_NEEDED, "  needs     ");
        print_columns(format, TRACE_MARK, "  one of    ");
        print_columns(format, TRACE_MAY, "  may have  ");
        print_columns(format, TRACE_KEEPS, "  only rows ");
        printf("  source: %s\n", format->source);
    }
}

void trace_report_reference(void)
{
    printf("\n| format | what | columns, what they are and their unit | source |\n|---|---|---|---|\n");
    for (const struct trace_format *format = trace_formats; format->name; format++) {
        printf("| `%s` | %s | ", format->name, format->help);
        for (const struct trace_column *column = format->columns; column->name; column++) {
            printf("%s", column == format->columns ? "" : ", ");
            print_column(column);
        }
        printf(" | %s |\n", format->source);
    }
}
