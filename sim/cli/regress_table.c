/* regress_table.c - the expected table of a scenario: found, read, matched with it, and rewritten where asked. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "models/trial.h"
#include "sim/cli/output.h"
#include "sim/cli/regress.h"
#include "sim/cli/version.h"
#include "sim/io/quote.h"
#include "sim/io/unit.h"

static const char *beside(struct regress_file *file, const char *end)
{
    size_t stem = strlen(file->path);

    if (stem > 5 && strcmp(file->path + stem - 5, ".yaml") == 0)
        stem -= 5;
    return arena_format(&file->arena, "%.*s%s", (int)stem, file->path, end);
}

/* All rows have as many replications: a table that was cut short is no expectation. */
static bool read_replications(struct regress_file *file, struct diag *diag)
{
    const struct table_file *table = &file->table;
    const char *partial = table_file_head(table, "partial"), *decimals = table_file_head(table, "decimals");
    double first = 0, number;

    for (size_t row = 0; row < table->row_count; row++) {
        if (!table_file_number(table, row, table->replications, &number, diag))
            return false;
        first = row == 0 ? number : first;
        if (number == first && number >= 1 && number <= 100000 && !(partial && strcmp(partial, "true") == 0))
            continue;
        diag_error(diag, table_file_place(table, row, table->replications),
                   "expected a whole table, with as many replications in each row: this one is partial");
        return false;
    }
    file->replications = (unsigned)first;
    file->decimals = -1;
    if (decimals) {
        file->decimals = decimals[0] >= '0' && decimals[0] <= '9' && !decimals[1] ? decimals[0] - '0' : -1;
        if (file->decimals < 0) {
            diag_error(diag, (struct place){arena_format(&file->arena, "%s.meta", file->table_path), 0, 0},
                       "decimals: %s: expected a number from 0 to 9", decimals);
            return false;
        }
    }
    return true;
}

bool regress_table_open(struct regress_file *file, bool optional, struct diag *diag)
{
    const char *own = beside(file, ".regress.csv"), *whole = beside(file, ".expected.csv");
    bool another = file->head.plan.regress->set != NULL; /* study than that of the whole table */

    file->table_path = another || access(own, F_OK) == 0 || access(whole, F_OK) != 0 ? own : whole;
    if (access(file->table_path, F_OK) != 0) {
        if (!optional)
            diag_error(diag, (struct place){file->path, 0, 0},
                       "there is no expected table: expected %s%s%s; `weir regress %s --update` writes %s", own,
                       another ? "" : " or ", another ? ", as `regress: set` makes this another study" : whole,
                       file->path, own);
        return optional;
    }
    if (!table_file_read(file->table_path, &file->table, diag))
        return false;
    if (file->table.record || file->table.row_count == 0) {
        diag_error(diag, (struct place){file->table_path, 1, 1}, "expected a table of results with a row or more");
        return false;
    }
    return read_replications(file, diag);
}

bool regress_table_match(struct regress_file *file, struct diag *diag)
{
    const struct plan *plan = &file->head.plan;
    const struct table_file *table = &file->table;
    size_t *factors = arena_zeroed(&file->arena, plan->factor_count + 1, sizeof *factors);
    const char *version = table_file_head(table, "results_version"), *hash = table_file_head(table, "scenario_hash");
    bool good = table->replications - TABLE_FILE_FACTORS == plan->factor_count;
    const char *expected = "policy, class, tenant, backend";

    for (size_t i = 0; i < plan->factor_count; i++) {
        size_t at = TABLE_FILE_FACTORS;

        while (at < table->replications && strcmp(table->names[at], plan->factor_names[i]) != 0)
            at++;
        good = good && at < table->replications;
        factors[i] = at;
        expected = arena_format(&file->arena, "%s, %s", expected, plan->factor_names[i]);
    }
    file->factors = factors;
    file->other_results = version && atoi(version) != WEIR_RESULTS;
    file->other_scenario = hash && strcmp(hash, arena_format(&file->arena, "%016" PRIx64, plan->hash)) != 0;
    if (!good)
        diag_error(diag, (struct place){file->table_path, 1, 1},
                   "no common key: expected the key columns of %s, %s; a table of another sweep can be compared with "
                   "nothing",
                   file->path, expected);
    return good;
}

const char *regress_scope(const struct scenario *scenario, size_t row, int column)
{
    struct trial_row at = trial_row_at(scenario, row);

    if (column == TABLE_FILE_CLASS && at.scope == ROW_CLASS)
        return scenario->classes[at.index].name;
    if (column == TABLE_FILE_TENANT && at.scope == ROW_TENANT)
        return scenario->tenants[at.index];
    if (column == TABLE_FILE_BACKEND && at.scope == ROW_BACKEND)
        return scenario->backends[at.index].name;
    return "all";
}

/* A key column's text of a row of the scenario; NULL: the column is none of keys. */
static const char *key_text(const struct regress_file *file, size_t point, size_t row, size_t column)
{
    const struct plan_point *at = &file->head.plan.points[point];

    if (column == TABLE_FILE_POLICY)
        return at->scenario->chain.label;
    if (column < TABLE_FILE_FACTORS)
        return regress_scope(at->scenario, row, (int)column);
    for (size_t i = 0; i < file->head.plan.factor_count; i++)
        if (file->factors[i] == column)
            return at->factors[i] ? at->factors[i] : "";
    return NULL;
}

size_t regress_table_row(const struct regress_file *file, size_t point, size_t row)
{
    for (size_t i = 0; i < file->table.row_count; i++) {
        bool same = true;

        for (size_t column = 0; same && column < file->table.replications; column++)
            same = strcmp(file->table.rows[i].cells[column], key_text(file, point, row, column)) == 0;
        if (same)
            return i;
    }
    return file->table.row_count;
}

static const char *digits_of(int decimals, double value, char *text, size_t size)
{
    if (decimals < 0 || isnan(value))
        table_digits(value, text, size);
    else
        unit_format(text, size, "%.*f", decimals, value == 0 ? 0.0 : value);
    return text;
}

bool regress_table_same(const struct regress_file *file, size_t row, size_t column, double value)
{
    char digits[400];

    return strcmp(digits_of(file->decimals, value, digits, sizeof digits), file->table.rows[row].cells[column]) == 0;
}

/* --- rewriting */

enum { NEW_DECIMALS = 6 };

/* The columns of a new table: keys and gated metrics, what a reviewer reads. */
static void begin_table(struct regress_file *file)
{
    static const char *const keys[] = {"policy", "class", "tenant", "backend"};
    const struct plan *plan = &file->head.plan;
    struct table_file *table = &file->table;
    size_t *factors = arena_zeroed(&file->arena, plan->factor_count + 1, sizeof *factors), count = 0;

    table->path = file->table_path;
    table->names = arena_zeroed(&table->arena, TABLE_FILE_FACTORS + plan->factor_count + 1 + 2 * METRIC_COUNT,
                                sizeof *table->names);
    for (size_t i = 0; i < TABLE_FILE_FACTORS; i++)
        table->names[count++] = keys[i];
    for (size_t i = 0; i < plan->factor_count; i++) {
        factors[i] = count;
        table->names[count++] = plan->factor_names[i];
    }
    table->replications = count;
    table->names[count++] = "replications";
    for (size_t i = 0; i < METRIC_COUNT; i++) {
        bool known = false;

        for (size_t point = 0; plan->regress->gated[i] && point < plan->point_count; point++)
            for (unsigned k = 1; !known && k <= file->head.finished[point]; k++)
                known = !isnan(regress_side_at(&file->head, point, k)[i]) &&
                        (metrics[i].shown == METRIC_SHOWN || regress_side_at(&file->head, point, k)[i] != 0);
        if (!known)
            continue;
        table->names[count++] = metrics[i].name;
        table->names[count++] = arena_format(&table->arena, "%s_hw", metrics[i].name);
    }
    table->column_count = count;
    file->factors = factors;
    file->decimals = NEW_DECIMALS;
}

static struct estimate estimate_of(const struct regress_side *side, size_t point, size_t row, size_t metric)
{
    return output_mean(regress_side_at(side, point, 1) + row * METRIC_COUNT + metric, side->finished[point],
                       side->width);
}

/* What a row of the scenario looks like in the table. NULL: a column of it is none of ours. */
static const char *cell_text(const struct regress_file *file, size_t point, size_t row, size_t column, char *digits,
                             size_t size)
{
    const char *name = file->table.names[column];

    if (column < file->table.replications)
        return key_text(file, point, row, column);
    if (column == file->table.replications) {
        unit_format(digits, size, "%u", file->head.finished[point]);
        return digits;
    }
    for (size_t i = 0; i < METRIC_COUNT; i++) {
        size_t length = strlen(metrics[i].name);

        if (strncmp(name, metrics[i].name, length) != 0 || (name[length] && strcmp(name + length, "_hw") != 0))
            continue;
        struct estimate estimate = estimate_of(&file->head, point, row, i);
        return digits_of(file->decimals, name[length] ? estimate.half_width : estimate.mean, digits, size);
    }
    return NULL;
}

/* The row, after those before it; whether it is another than the table had. */
static bool print_row(const struct regress_file *file, size_t point, size_t row, FILE *out)
{
    size_t old = regress_table_row(file, point, row);
    bool done = file->head.finished[point] >= file->replications && file->asked[point], changed = false;
    struct arena arena = {0};
    char digits[400];

    if (!done && old == file->table.row_count)
        return false;
    for (size_t column = 0; column < file->table.column_count; column++) {
        const char *was = old < file->table.row_count ? file->table.rows[old].cells[column] : NULL;
        const char *text = done ? cell_text(file, point, row, column, digits, sizeof digits) : was;

        text = text ? text : was ? was : "";
        changed = changed || !was || strcmp(text, was) != 0;
        fprintf(out, "%s%s", column ? "," : "", quote_csv(text, &arena));
    }
    fputc('\n', out);
    arena_free(&arena);
    return changed;
}

/* What columns mean, for the .meta. */
static void describe(const struct regress_file *file, struct table *table)
{
    for (size_t column = 0; column < file->table.column_count; column++) {
        const char *name = file->table.names[column];
        const struct metric *metric = metrics;
        size_t length = 0;

        if (column <= file->table.replications) {
            table_column(table, name, "", "",
                         column == file->table.replications ? "independent replications behind each mean"
                         : column < TABLE_FILE_FACTORS      ? "a key of the row"
                                                            : "a factor of the sweep",
                         TABLE_KEY, true);
            continue;
        }
        while (metric->name && (length = strlen(metric->name), strncmp(name, metric->name, length) != 0 ||
                                                                   (name[length] && strcmp(name + length, "_hw") != 0)))
            metric++;
        if (metric->name && !name[length])
            table_column(table, name, metric->unit, metric->better, metric->help, TABLE_VALUE, true);
        else
            table_column(table, name, metric->name ? metric->unit : "", "",
                         "half-width of the 95 % confidence interval", TABLE_HALF_WIDTH, true);
    }
}

enum { HEADS_MOST = 64 };

/* The head of the .meta: that of the old one, with what is new. */
static bool write_meta(struct regress_file *file)
{
    const struct plan *plan = &file->head.plan;
    const char *fresh[][2] = {
        {"version", WEIR_VERSION},
        {"results_version", arena_format(&file->arena, "%d", WEIR_RESULTS)},
        {"seed", arena_format(&file->arena, "%" PRId64, plan->points[0].scenario->study.seed)},
        {"scenario_hash", arena_format(&file->arena, "%016" PRIx64, plan->hash)},
        {"command", arena_format(&file->arena, "weir regress %s --update", file->path)},
        {"title", plan->title},
        {"partial", "false"},
        {"decimals", file->decimals < 0 ? NULL : arena_format(&file->arena, "%d", file->decimals)},
    };
    enum { FRESH = sizeof fresh / sizeof *fresh };
    const struct node *old = file->table.meta;
    const char *heads[HEADS_MOST];
    struct table columns = {0};
    struct output output;
    size_t count = 0;
    bool good;

    for (size_t i = 0; i < FRESH; i++)
        if (fresh[i][1])
            heads[count++] = arena_format(&file->arena, "%s: %s", fresh[i][0], fresh[i][1]);
    for (size_t i = 0; old && old->kind == NODE_MAP && i < old->count && count < HEADS_MOST; i++) {
        bool known = old->entries[i].value->kind != NODE_SCALAR;

        for (size_t k = 0; k < FRESH; k++)
            known = known || strcmp(old->entries[i].key, fresh[k][0]) == 0;
        if (!known)
            heads[count++] = arena_format(&file->arena, "%s: %s", old->entries[i].key, old->entries[i].value->text);
    }
    describe(file, &columns);
    good = output_open(&output, arena_format(&file->arena, "%s.meta", file->table_path));
    if (good) {
        table_print_meta(&columns, heads, count, output.file);
        good = output_close(&output);
    }
    table_fini(&columns);
    return good;
}

bool regress_table_update(struct regress_file *file, size_t *rows)
{
    const struct plan *plan = &file->head.plan;
    struct arena arena = {0};
    struct output output;
    bool good;

    *rows = 0;
    if (file->table.column_count == 0)
        begin_table(file);
    if (!output_open(&output, file->table_path))
        return false;
    for (size_t column = 0; column < file->table.column_count; column++)
        fprintf(output.file, "%s%s", column ? "," : "", quote_csv(file->table.names[column], &arena));
    fputc('\n', output.file);
    for (size_t point = 0; point < plan->point_count; point++)
        for (size_t row = 0; row < trial_row_count(plan->points[point].scenario); row++)
            *rows += print_row(file, point, row, output.file);
    *rows += file->missing;
    arena_free(&arena);
    if (*rows == 0) { /* a table that says all is left alone, its companion too */
        output_discard(&output);
        return true;
    }
    good = output_close(&output) && write_meta(file);
    return good;
}
