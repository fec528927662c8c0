/* sheet.h - a table as texts by name, and the scenarios as they ship: their runs to the last digit. */
#ifndef TESTS_SHEET_H
#define TESTS_SHEET_H

#include <stddef.h>

#include "sim/io/mem.h"

enum { SHEET_ROWS = 2000, SHEET_COLUMNS = 160 };
#define SHEET_POPULATION "agents.coder.population"

struct sheet {
    struct arena arena;
    const char *cells[SHEET_ROWS][SHEET_COLUMNS];
    size_t rows, columns; /* the header is row 0 */
};

/* What cannot be read or found fails the test. Free with sheet_free. */
struct sheet *sheet_read(const char *path);
void sheet_free(struct sheet *sheet);

/* The run of a scenario, and its expected table, are the same bytes: that table. */
struct sheet *sheet_as_expected(const char *scenario);
/* The same of one with a `record:`, which goes to record.csv, decisions.csv, audit.csv and alerts.csv in this folder
 * and not where the scenario says. */
struct sheet *sheet_as_expected_recorded(const char *scenario, const char *folder);

size_t sheet_column(const struct sheet *sheet, const char *name);
double sheet_cell(const struct sheet *sheet, size_t row, const char *name);

/* The first row of a policy at so many agents, in a table where the population of `coder` is swept. */
double sheet_value(const struct sheet *sheet, const char *policy, int population, const char *name);
void sheet_near(const struct sheet *sheet, const char *policy, int population, const char *name, double expected,
                double tolerance);

/* The only row whose cells are these, written "policy=ub class=all population=10"; a column's name is its whole name or
 * what follows a dot of it. Several rows, or none, fail the test. */
size_t sheet_row(const struct sheet *sheet, const char *cells);

#endif
