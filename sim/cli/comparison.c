/* comparison.c - rows and values of two versions, judged, and in words. */
#include "sim/cli/comparison.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "models/metrics.h"

size_t comparison_row(struct comparison *comparison, const char *keys, const char *policy, struct place place,
                      size_t file)
{
    struct compared_row *row;

    if (comparison->row_count == comparison->row_room) {
        comparison->row_room = comparison->row_room ? 2 * comparison->row_room : 64;
        comparison->rows = mem_resized(comparison->rows, comparison->row_room, sizeof *comparison->rows);
    }
    row = &comparison->rows[comparison->row_count];
    *row = (struct compared_row){
        .keys = arena_text(&comparison->arena, keys),
        .policy = arena_text(&comparison->arena, policy),
        .place = place,
        .file = file,
        .first = comparison->value_count,
    };
    return comparison->row_count++;
}

size_t comparison_value(struct comparison *comparison, size_t metric, double relative, double absolute,
                        struct estimate base, struct estimate head)
{
    size_t at = comparison->value_count++;

    if (at == comparison->value_room) {
        comparison->value_room = comparison->value_room ? 2 * comparison->value_room : 256;
        comparison->values = mem_resized(comparison->values, comparison->value_room, sizeof *comparison->values);
        comparison->judged = mem_resized(comparison->judged, comparison->value_room, sizeof *comparison->judged);
    }
    comparison->values[at] = (struct compared_value){metric, base, head};
    comparison->judged[at] = (struct judge_value){
        .higher = strcmp(metrics[metric].better, "higher") == 0,
        .tolerance = judge_tolerance(isnan(base.mean) ? 0 : base.mean, relative, absolute),
    };
    comparison->rows[comparison->row_count - 1].count++;
    return at;
}

void comparison_clear(struct comparison *comparison)
{
    comparison->row_count = comparison->value_count = 0;
}

void comparison_judge(struct comparison *comparison)
{
    judge(comparison->judged, comparison->value_count, COMPARISON_LEVEL, comparison->looks ? comparison->looks : 1);
    for (size_t i = 0; i < comparison->row_count; i++) {
        struct compared_row *row = &comparison->rows[i];

        row->verdict = judge_row(comparison->judged + row->first, row->count);
    }
}

void comparison_fini(struct comparison *comparison)
{
    free(comparison->rows);
    free(comparison->values);
    free(comparison->judged);
    arena_free(&comparison->arena);
    *comparison = (struct comparison){0};
}

size_t comparison_rows(const struct comparison *comparison, enum judged verdict)
{
    size_t count = 0;

    for (size_t i = 0; i < comparison->row_count; i++)
        count += comparison->rows[i].verdict == verdict;
    return count;
}

size_t comparison_values(const struct comparison *comparison, enum judged verdict)
{
    size_t count = 0;

    for (size_t i = 0; i < comparison->value_count; i++)
        count += comparison->judged[i].verdict == verdict;
    return count;
}

bool comparison_moved(const struct compared_row *row, bool exact, bool strict)
{
    return row->verdict != JUDGED_SAME && (row->verdict != JUDGED_WITHIN || exact) &&
           (row->verdict != JUDGED_UNDECIDED || exact || strict);
}

void comparison_columns(struct table *table)
{
    static const char *const names[] = {"row", "metric", "was", "is", "change", "tolerance", "verdict"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        table_column(table, names[i], "", "", "", TABLE_KEY, true);
    table->columns[table->column_count - 1].judged = true;
}

/* "+2.381 s (+9.6 %)" */
static const char *change_text(double change, double base, const char *unit, struct arena *arena)
{
    char digits[32], part[32] = "";

    if (isnan(change))
        return "?";
    table_format(fabs(change), NAN, true, digits, sizeof digits);
    if (base != 0)
        snprintf(part, sizeof part, " (%+.1f %%)", 100 * change / fabs(base));
    return arena_format(arena, "%s%s%s%s%s", change < 0 ? "-" : "+", digits, *unit ? " " : "", unit, part);
}

void comparison_print_row(const struct comparison *comparison, size_t index, struct table *table)
{
    const struct compared_row *row = &comparison->rows[index];
    struct arena arena = {0};
    bool within = row->verdict == JUDGED_WITHIN;
    const char *keys = row->keys;

    for (size_t i = row->first; i < row->first + row->count; i++) {
        const struct compared_value *value = &comparison->values[i];
        const struct judge_value *judged = &comparison->judged[i];
        const char *unit = metrics[value->metric].unit;
        char was[64], is[64], allowed[32];
        size_t at;

        if (judged->verdict == JUDGED_SAME || (judged->verdict == JUDGED_WITHIN && !within))
            continue;
        table_format(value->base.mean, value->base.half_width, table->ascii, was, sizeof was);
        table_format(value->head.mean, value->head.half_width, table->ascii, is, sizeof is);
        table_format(judged->tolerance, NAN, true, allowed, sizeof allowed);
        at = table_row(table);
        table_text(table, at, 0, keys);
        table_text(table, at, 1, metrics[value->metric].name);
        table_text(table, at, 2, was);
        table_text(table, at, 3, is);
        table_text(table, at, 4, change_text(judged->shift.mean, value->base.mean, unit, &arena));
        table_text(table, at, 5, allowed);
        table_text(table, at, 6, judged_names[judged->verdict]);
        keys = "";
    }
    arena_free(&arena);
}

/* "wait_p99, deferred_share": the metrics of a row that have the verdict. */
static const char *metrics_with(const struct comparison *comparison, const struct compared_row *row,
                                enum judged verdict, struct arena *arena)
{
    const char *list = "";

    for (size_t i = row->first; i < row->first + row->count; i++)
        if (comparison->judged[i].verdict == verdict)
            list = arena_format(arena, "%s%s%s", list, *list ? ", " : "", metrics[comparison->values[i].metric].name);
    return list;
}

const char *comparison_meaning(const struct comparison *comparison, size_t index, struct arena *arena)
{
    const struct compared_row *row = &comparison->rows[index];
    const char *worse = metrics_with(comparison, row, JUDGED_WORSE, arena);
    const char *better = metrics_with(comparison, row, JUDGED_BETTER, arena);

    switch (row->verdict) {
    case JUDGED_WORSE:
        return arena_format(arena, "%s: worse in %s, by more than the tolerance and than chance explains.", row->keys,
                            worse);
    case JUDGED_TRADE:
        return arena_format(arena,
                            "%s: a trade, better in %s and worse in %s: whether it is wanted nobody but you "
                            "can say.",
                            row->keys, better, worse);
    case JUDGED_UNDECIDED:
        return arena_format(arena,
                            "%s: undecided in %s: perhaps worse by more than the tolerance; more replications tell.",
                            row->keys, metrics_with(comparison, row, JUDGED_UNDECIDED, arena));
    case JUDGED_BETTER:
        return arena_format(arena, "%s: better in %s; once accepted it cannot be lost unseen.", row->keys, better);
    case JUDGED_WITHIN:
        return arena_format(arena, "%s: other digits, within the tolerance.", row->keys);
    case JUDGED_SAME:
    case JUDGED_COUNT:
        break;
    }
    return "";
}

const char *comparison_level(const struct comparison *comparison, struct arena *arena)
{
    return arena_format(arena,
                        "By chance alone any of these %zu values is called worse in at most %g %% of runs (Holm%s).",
                        comparison->value_count, 100 * COMPARISON_LEVEL,
                        comparison->looks > 1 ? arena_format(arena, ", %u looks", comparison->looks) : "");
}

const char *comparison_tally(const struct comparison *comparison, struct arena *arena)
{
    const char *list = "";

    for (enum judged verdict = JUDGED_SAME; verdict < JUDGED_COUNT; verdict++)
        list = arena_format(arena, "%s%s%zu %s", list, *list ? ", " : "", comparison_rows(comparison, verdict),
                            judged_names[verdict]);
    return list;
}
