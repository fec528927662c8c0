/* sheet.c - reads tables, and runs scenarios to compare theirs. */
#include "tests/sheet.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sim/io/csv.h"
#include "tests/program.h"

static bool take_row(void *context, uint64_t number, const struct csv_row *row)
{
    struct sheet *sheet = context;

    ck_assert(number < SHEET_ROWS && row->count <= SHEET_COLUMNS);
    for (size_t i = 0; i < row->count; i++)
        sheet->cells[number][i] = arena_text(&sheet->arena, row->fields[i]);
    sheet->rows = number + 1;
    sheet->columns = row->count;
    return true;
}

struct sheet *sheet_read(const char *path)
{
    struct sheet *sheet = calloc(1, sizeof *sheet);
    struct diag diag = {0};

    ck_assert(csv_read(path, (struct place){path, 0, 0}, take_row, sheet, &diag));
    return sheet;
}

void sheet_free(struct sheet *sheet)
{
    arena_free(&sheet->arena);
    free(sheet);
}

size_t sheet_column(const struct sheet *sheet, const char *name)
{
    for (size_t i = 0; i < sheet->columns; i++)
        if (strcmp(sheet->cells[0][i], name) == 0)
            return i;
    ck_abort_msg("no column %s", name);
}

double sheet_cell(const struct sheet *sheet, size_t row, const char *name)
{
    const char *text = sheet->cells[row][sheet_column(sheet, name)];

    ck_assert_msg(*text, "row %zu: %s is empty", row, name);
    return strtod(text, NULL);
}

double sheet_value(const struct sheet *sheet, const char *policy, int population, const char *name)
{
    size_t at = sheet_column(sheet, name), factor = sheet_column(sheet, SHEET_POPULATION);

    for (size_t row = 1; row < sheet->rows; row++)
        if (strcmp(sheet->cells[row][0], policy) == 0 && atoi(sheet->cells[row][factor]) == population)
            return strtod(sheet->cells[row][at], NULL);
    ck_abort_msg("no row %s %d", policy, population);
}

void sheet_near(const struct sheet *sheet, const char *policy, int population, const char *name, double expected,
                double tolerance)
{
    double ours = sheet_value(sheet, policy, population, name);

    ck_assert_msg(fabs(ours - expected) <= tolerance, "%s, %d agents: %s is %g, expected %g within %g", policy,
                  population, name, ours, expected, tolerance);
}

/* The column that is named so, or ends so after a dot. */
static size_t short_column(const struct sheet *sheet, const char *name, size_t length)
{
    for (size_t i = 0; i < sheet->columns; i++) {
        const char *whole = sheet->cells[0][i];
        size_t before = strlen(whole) < length ? 0 : strlen(whole) - length;

        if (strlen(whole) >= length && strncmp(whole + before, name, length) == 0 &&
            (before == 0 || whole[before - 1] == '.'))
            return i;
    }
    ck_abort_msg("no column %.*s", (int)length, name);
}

static bool row_is(const struct sheet *sheet, size_t row, const char *cells)
{
    while (*cells) {
        size_t name = strcspn(cells, "="), value = strcspn(cells + name + 1, " ");
        const char *cell = sheet->cells[row][short_column(sheet, cells, name)];

        if (strlen(cell) != value || strncmp(cell, cells + name + 1, value) != 0)
            return false;
        cells += name + 1 + value;
        cells += strspn(cells, " ");
    }
    return true;
}

size_t sheet_row(const struct sheet *sheet, const char *cells)
{
    size_t found = 0;

    for (size_t row = 1; row < sheet->rows; row++)
        if (row_is(sheet, row, cells)) {
            ck_assert_msg(!found, "rows %zu and %zu are %s", found, row, cells);
            found = row;
        }
    ck_assert_msg(found, "no row %s", cells);
    return found;
}

struct sheet *sheet_as_expected_recorded(const char *scenario, const char *folder)
{
    static const char *const logs[] = {"file", "decisions", "audit", "alerts"};
    char yaml[256], expected[256], sets[4][300], fresh[] = "/tmp/weir-scenario-XXXXXX", meta[300];
    const char *words[16] = {"run", yaml, "-o", fresh}; /* and NULL */
    size_t count = 4;
    struct program program = {0};
    char *ours, *theirs, *written;
    struct sheet *sheet;
    int made = mkstemp(fresh);

    ck_assert(made >= 0);
    close(made);
    snprintf(yaml, sizeof yaml, "scenarios/%s.yaml", scenario);
    snprintf(expected, sizeof expected, "scenarios/%s.expected.csv", scenario);
    written = program_file(yaml);
    ck_assert_msg(written != NULL, "no %s", yaml);
    for (size_t i = 0; folder && i < 4; i++) {
        snprintf(sets[i], sizeof sets[i], "%s: %s.", logs[i], scenario);
        if (!strstr(written, sets[i]))
            continue;
        snprintf(sets[i], sizeof sets[i], "record.%s=%s/%s.csv", logs[i], folder, i == 0 ? "record" : logs[i]);
        words[count++] = "--set";
        words[count++] = sets[i];
    }
    free(written);
    program_start(&program, NULL, words);
    program_wait(&program);
    ck_assert_msg(program.status == 0, "%s", program.err);
    ours = program_file(fresh);
    theirs = program_file(expected);
    ck_assert_msg(theirs && strcmp(ours, theirs) == 0, "%s: the table is not the expected one; see `diff %s %s`", yaml,
                  fresh, expected);
    remove(fresh);
    snprintf(meta, sizeof meta, "%s.meta", fresh);
    remove(meta);
    sheet = sheet_read(expected);
    free(ours);
    free(theirs);
    program_fini(&program);
    return sheet;
}

struct sheet *sheet_as_expected(const char *scenario)
{
    return sheet_as_expected_recorded(scenario, NULL);
}
