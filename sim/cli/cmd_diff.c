/* weir diff: two tables that `weir run -o` wrote, row by row. */
#include <stdlib.h>
#include <string.h>

#include "models/metrics.h"
#include "sim/cli/commands.h"
#include "sim/cli/comparison.h"
#include "sim/cli/format.h"
#include "sim/cli/output.h"
#include "sim/cli/table_file.h"

const struct cli_option cmd_diff_options[] = {
    {"columns", 0, "A,B,...", "which metrics; default: those of a text table with a direction"},
    {"strict", 0, NULL, "undecided is 1, too"},
    {"exact", 0, NULL, "other digits are 1, whatever they mean"},
    CLI_FORMAT_OPTIONS,
    {.name = NULL},
};

struct diff {
    struct table_file base, head;
    bool wanted[METRIC_COUNT];
    struct comparison comparison;
    struct diag diag;
    size_t alone[2]; /* rows that only one of them has */
};

static bool read_wanted(const struct cli_words *words, struct diff *diff)
{
    const char *names[METRIC_COUNT];
    size_t count;
    const char **asked = cli_list(words, "columns", true, &count);
    bool good = true;

    for (size_t i = 0; i < METRIC_COUNT; i++) {
        names[i] = metrics[i].name;
        diff->wanted[i] = count == 0 && metric_judged(&metrics[i]);
    }
    for (size_t k = 0; k < count && good; k++) {
        size_t i = 0;

        while (i < METRIC_COUNT && strcmp(names[i], asked[k]) != 0)
            i++;
        good = i < METRIC_COUNT && *metrics[i].better;
        if (good) {
            diff->wanted[i] = true;
        } else if (i < METRIC_COUNT) {
            fprintf(stderr, "weir diff: `--columns %s`: of that neither more nor less is better\n", asked[k]);
        } else {
            fprintf(stderr, "weir diff: `--columns`: there is no metric `%s`", asked[k]);
            cli_suggest(diag_nearest(asked[k], names, METRIC_COUNT), "expected names that `weir list metrics` prints");
        }
    }
    free(asked);
    return good;
}

/* The column of a name; column_count: there is none. */
static size_t column_of(const struct table_file *file, const char *name)
{
    size_t at = 0;

    while (at < file->column_count && strcmp(file->names[at], name) != 0)
        at++;
    return at;
}

static bool same_keys(struct diff *diff)
{
    bool good = diff->base.replications == diff->head.replications;

    for (size_t i = 0; good && i < diff->base.replications; i++)
        good = column_of(&diff->head, diff->base.names[i]) < diff->head.replications;
    if (!good)
        diag_error(&diff->diag, (struct place){diff->head.path, 1, 1},
                   "expected the key columns of `%s`: rows of other keys cannot be compared",
                   diag_excerpt(&diff->diag, diff->base.path));
    return good;
}

static bool same_row(const struct diff *diff, size_t base, size_t head)
{
    for (size_t i = 0; i < diff->base.replications; i++)
        if (strcmp(diff->base.rows[base].cells[i],
                   diff->head.rows[head].cells[column_of(&diff->head, diff->base.names[i])]) != 0)
            return false;
    return true;
}

static bool add_values(struct diff *diff, size_t base, size_t head)
{
    bool good = true;

    for (size_t i = 0; i < METRIC_COUNT && good; i++) {
        size_t a = column_of(&diff->base, metrics[i].name), b = column_of(&diff->head, metrics[i].name), at;
        struct estimate was, is;

        if (!diff->wanted[i] || a == diff->base.column_count || b == diff->head.column_count)
            continue;
        good = table_file_estimate(&diff->base, base, a, &was, &diff->diag) &&
               table_file_estimate(&diff->head, head, b, &is, &diff->diag);
        if (!good || (was.count == 0 && is.count == 0))
            continue;
        at = comparison_value(&diff->comparison, i, metrics[i].relative, metrics[i].absolute, was, is);
        diff->comparison.judged[at].same = strcmp(diff->base.rows[base].cells[a], diff->head.rows[head].cells[b]) == 0;
        diff->comparison.judged[at].shift = shift_between(was, is);
    }
    return good;
}

static bool compare(struct diff *diff)
{
    bool good = same_keys(diff);

    diff->alone[1] = diff->head.row_count;
    for (size_t base = 0; good && base < diff->base.row_count; base++) {
        const struct table_file_row *row = &diff->base.rows[base];
        size_t head = 0;
        const char *keys;

        while (head < diff->head.row_count && !same_row(diff, base, head))
            head++;
        if (head == diff->head.row_count) {
            diff->alone[0]++;
            continue;
        }
        keys = row->cells[0];
        for (size_t i = 1; i < diff->base.replications; i++)
            if (*row->cells[i] && (i >= TABLE_FILE_FACTORS || strcmp(row->cells[i], "all") != 0))
                keys = arena_format(&diff->base.arena, "%s, %s", keys, row->cells[i]);
        comparison_row(&diff->comparison, keys, row->cells[0], (struct place){0}, 0);
        diff->alone[1]--;
        good = add_values(diff, base, head);
    }
    return good;
}

static int tell(struct diff *diff, const struct cli_words *words, enum format format)
{
    const struct comparison *comparison = &diff->comparison;
    struct table table = {.ascii = format_ascii(), .colour = format_colour(words, stdout)};
    bool exact = cli_has(words, "exact"), others = false, moved = false;

    comparison_columns(&table);
    for (size_t i = 0; i < comparison->row_count; i++) {
        const char *meaning = comparison_meaning(comparison, i, &diff->comparison.arena);

        if (!comparison_moved(&comparison->rows[i], exact, cli_has(words, "strict")))
            continue;
        moved = true;
        comparison_print_row(comparison, i, &table);
        table_note(&table, "%s", meaning);
    }
    for (size_t i = 0; i < comparison->value_count; i++)
        others = others || !comparison->judged[i].same;
    if (moved)
        format_print(&table, format, stdout);
    table_fini(&table);
    fprintf(format == FORMAT_CSV ? stderr : stdout,
            "%s%s\n2 files, %zu rows: %s; %zu only in the first, %zu only in "
            "the second.\n",
            moved ? "\n" : "", comparison_level(comparison, &diff->comparison.arena), comparison->row_count,
            comparison_tally(comparison, &diff->comparison.arena), diff->alone[0], diff->alone[1]);
    if (!output_flush(stdout, "standard output"))
        return EXIT_USAGE;
    if (comparison_rows(comparison, JUDGED_WORSE) + comparison_rows(comparison, JUDGED_TRADE) > 0 ||
        (cli_has(words, "strict") && comparison_rows(comparison, JUDGED_UNDECIDED) > 0) || (exact && others))
        return EXIT_NO;
    return EXIT_DONE;
}

int cmd_diff(const struct cli_words *words)
{
    struct diff diff;
    enum format format;
    int status = EXIT_USAGE;
    bool good;

    memset(&diff, 0, sizeof diff);
    good = format_read(words, &format) && read_wanted(words, &diff) &&
           table_file_read(words->operands[0], &diff.base, &diff.diag) &&
           table_file_read(words->operands[1], &diff.head, &diff.diag);

    for (size_t i = 0; good && i < 2; i++) {
        const struct table_file *file = i ? &diff.head : &diff.base;

        good = file->record == NULL;
        if (!good)
            diag_error(&diff.diag, (struct place){file->path, 1, 1}, "expected a table of results, not a record");
    }
    good = good && compare(&diff);
    if (good && diff.comparison.value_count == 0) {
        diag_error(&diff.diag, (struct place){words->operands[1], 0, 0},
                   "nothing to compare: no row and metric of `%s` is there",
                   diag_excerpt(&diff.diag, words->operands[0]));
        good = false;
    }
    diag_print(&diff.diag, stderr);
    if (good) {
        comparison_judge(&diff.comparison);
        status = tell(&diff, words, format);
    }
    comparison_fini(&diff.comparison);
    table_file_fini(&diff.base);
    table_file_fini(&diff.head);
    diag_fini(&diff.diag);
    return status;
}
