/* regress_file.c - one scenario of a run of `weir regress`: opened, run, and put into the comparison. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "models/trial.h"
#include "sim/cli/regress.h"
#include "sim/cli/report.h"

const char *regress_words(const struct plan *plan, size_t point, size_t row, struct arena *arena)
{
    const struct plan_point *at = &plan->points[point];
    const char *words = at->scenario->chain.label;

    for (int column = TABLE_FILE_CLASS; column < TABLE_FILE_FACTORS; column++) {
        const char *scope = regress_scope(at->scenario, row, column);

        if (strcmp(scope, "all") != 0)
            words = arena_format(arena, "%s, %s", words, scope);
    }
    for (size_t i = 0; i < plan->factor_count; i++)
        if (at->factors[i])
            words = arena_format(arena, "%s, %s %s", words, report_factor(plan, i), at->factors[i]);
    return words;
}

static bool plays(const struct scenario *scenario, const struct policy_ops *ops)
{
    for (size_t i = 0; i < scenario->chain.count; i++)
        if (scenario->chain.members[i].ops == ops)
            return true;
    return false;
}

/* Which points are compared: those of the policies that were named, and those that the plug-in takes part in. */
static void choose_points(struct regress_file *file, struct regress_request *request)
{
    const struct plan *plan = &file->head.plan;

    for (size_t i = 0; i < plan->point_count; i++) {
        const struct scenario *scenario = plan->points[i].scenario;
        bool asked = request->policy_count == 0, played = !request->head.policy;

        for (size_t k = 0; k < request->policy_count; k++)
            if (strcmp(request->policies[k], scenario->chain.label) == 0)
                asked = request->policy_seen[k] = true;
        if (request->head.policy && plays(scenario, request->head.policy))
            played = request->head_seen = true;
        file->asked[i] = file->wanted[i] = asked && played;
    }
}

/* Row for row the same scenario, whatever is set. */
static bool same_points(const struct regress_file *file, struct diag *diag)
{
    const struct plan *base = &file->base.plan, *head = &file->head.plan;
    bool same = base->point_count == head->point_count;

    for (size_t i = 0; same && i < head->point_count; i++)
        same = trial_row_count(base->points[i].scenario) == trial_row_count(head->points[i].scenario);
    same = same && base->factor_count == head->factor_count && file->base.width == file->head.width;
    if (!same)
        diag_error(diag, (struct place){file->path, 0, 0},
                   "base and head have other rows: expected settings that leave the design points and classes as they "
                   "are");
    return same;
}

/* Head and base as the file says, then at the seed and with the replications that are wanted. */
static bool open_sides(struct regress_file *file, struct regress_request *request, bool paired, struct diag *diag)
{
    const char *sets[2];
    size_t count = 0;

    if (file->replications > 0)
        sets[count++] = arena_format(&file->arena, "study.replications=%u", file->replications);
    if (file->seed > 0)
        sets[count++] = arena_format(&file->arena, "study.seed=%" PRId64,
                                     file->head.plan.points[0].scenario->study.seed + file->seed);
    regress_side_close(&file->head);
    return regress_side_open(&file->head, file->path, request, &request->head, sets, count, diag) &&
           (!paired || (regress_side_open(&file->base, file->path, request, &request->base, sets, count, diag) &&
                        same_points(file, diag)));
}

static bool open_file(struct regress_file *file, struct regress_request *request, struct diag *diag)
{
    const struct regress_spec *spec;

    if (!regress_side_open(&file->head, file->path, request, &request->head, NULL, 0, diag))
        return false;
    if (!request->paired && !regress_table_open(file, request->update, diag))
        return false;
    if (file->replications == 0)
        file->replications = (unsigned)file->head.plan.points[0].scenario->study.replications;
    if (!open_sides(file, request, request->paired, diag) ||
        (file->table.row_count > 0 && !regress_table_match(file, diag)))
        return false;
    spec = file->head.plan.regress;
    file->most = request->most > 0 ? (unsigned)request->most
                 : spec->most > 0  ? (unsigned)spec->most
                 : request->paired ? 4 * file->replications
                                   : file->replications;
    file->most = file->most > file->replications ? file->most : file->replications;
    file->wanted = mem_zeroed(file->head.plan.point_count, sizeof *file->wanted);
    file->asked = mem_zeroed(file->head.plan.point_count, sizeof *file->asked);
    choose_points(file, request);
    return true;
}

void regress_file_open(struct regress_file *file, struct regress_request *request, struct diag *diag)
{
    if (!open_file(file, request, diag))
        file->status = EXIT_USAGE;
}

void regress_file_run(struct regress_file *file, unsigned upto, struct regress_request *request)
{
    if (!regress_side_run(&file->head, file->wanted, upto, request) ||
        (request->paired && !regress_side_run(&file->base, file->wanted, upto, request)))
        file->status = EXIT_USAGE;
}

static struct estimate estimate_of(const struct regress_side *side, size_t point, size_t number, unsigned replications)
{
    return output_mean(regress_side_at(side, point, 1) + number, replications, side->width);
}

static bool same_numbers(const struct regress_file *file, size_t point, size_t number, unsigned replications)
{
    for (unsigned i = 1; i <= replications; i++) {
        double a = regress_side_at(&file->base, point, i)[number], b = regress_side_at(&file->head, point, i)[number];

        if (a != b && !(isnan(a) && isnan(b)))
            return false;
    }
    return true;
}

static void compare_paired(const struct regress_file *file, size_t point, size_t row, struct comparison *comparison)
{
    const struct regress_spec *spec = file->head.plan.regress;
    unsigned replications = file->head.finished[point];

    if (file->base.finished[point] < replications)
        replications = file->base.finished[point];
    for (size_t i = 0; i < METRIC_COUNT; i++) {
        size_t number = row * METRIC_COUNT + i, at;
        struct estimate base = estimate_of(&file->base, point, number, replications);
        struct estimate head = estimate_of(&file->head, point, number, replications);

        if (!spec->gated[i] || (base.count == 0 && head.count == 0))
            continue;
        at = comparison_value(comparison, i, spec->tolerance[i].relative, spec->tolerance[i].absolute, base, head);
        comparison->judged[at].same = same_numbers(file, point, number, replications);
        comparison->judged[at].shift = shift_paired(output_difference(regress_side_at(&file->head, point, 1) + number,
                                                                      regress_side_at(&file->base, point, 1) + number,
                                                                      replications, file->head.width));
    }
}

/* The same digits are asked of as many replications as the table has; what they mean, of all that there are. */
static bool compare_table(const struct regress_file *file, size_t point, size_t row, size_t expected,
                          struct comparison *comparison, struct diag *diag)
{
    const struct regress_spec *spec = file->head.plan.regress;
    const struct table_file *table = &file->table;

    for (size_t column = table->replications + 1; column < table->column_count; column++) {
        struct estimate base, head;
        size_t i = 0, number, at;
        bool same, spread;

        while (i < METRIC_COUNT && strcmp(metrics[i].name, table->names[column]) != 0)
            i++;
        if (i == METRIC_COUNT || !spec->gated[i])
            continue;
        if (!table_file_estimate(table, expected, column, &base, diag))
            return false;
        number = row * METRIC_COUNT + i;
        head = estimate_of(&file->head, point, number, file->replications);
        if (base.count == 0 && head.count == 0)
            continue;
        spread = column + 1 < table->column_count && !isnan(base.half_width);
        same = regress_table_same(file, expected, column, head.mean) &&
               (!spread || regress_table_same(file, expected, column + 1, head.half_width));
        if (!same)
            head = estimate_of(&file->head, point, number, file->head.finished[point]);
        at = comparison_value(comparison, i, spec->tolerance[i].relative, spec->tolerance[i].absolute, base, head);
        comparison->judged[at].same = same;
        comparison->judged[at].shift = shift_between(base, head);
    }
    return true;
}

/* Rows that the table has and the scenario no longer; of policies that were not asked for nothing is said. */
static void count_missing(struct regress_file *file, const struct regress_request *request)
{
    const struct plan *plan = &file->head.plan;
    bool *matched = mem_zeroed(file->table.row_count + 1, sizeof *matched);

    file->missing = 0;
    for (size_t point = 0; point < plan->point_count; point++)
        for (size_t row = 0; row < trial_row_count(plan->points[point].scenario); row++)
            matched[regress_table_row(file, point, row)] = true;
    for (size_t i = 0; i < file->table.row_count; i++) {
        bool asked = request->policy_count == 0 && !request->head.policy;

        for (size_t k = 0; k < request->policy_count; k++)
            asked = asked || strcmp(file->table.rows[i].cells[TABLE_FILE_POLICY], request->policies[k]) == 0;
        file->missing += asked && !matched[i];
    }
    free(matched);
}

void regress_file_compare(struct regress_file *file, size_t index, const struct regress_request *request,
                          struct comparison *comparison, struct diag *diag)
{
    const struct plan *plan = &file->head.plan;

    file->fresh = file->unreached = 0;
    if (file->table.row_count > 0)
        count_missing(file, request);
    for (size_t point = 0; point < plan->point_count; point++) {
        const struct scenario *scenario = plan->points[point].scenario;
        size_t rows = trial_row_count(scenario);

        if (!file->asked[point])
            continue;
        if (file->head.finished[point] < file->replications ||
            (request->paired && file->base.finished[point] < file->replications)) {
            file->unreached += rows;
            continue;
        }
        for (size_t row = 0; row < rows; row++) {
            size_t expected = request->paired ? 0 : regress_table_row(file, point, row), at;
            struct place place = scenario->chain.place;

            if (!request->paired && expected == file->table.row_count) {
                file->fresh++;
                continue;
            }
            at = comparison_row(comparison, regress_words(plan, point, row, &file->arena), scenario->chain.label, place,
                                index);
            comparison->rows[at].point = point;
            if (request->paired)
                compare_paired(file, point, row, comparison);
            else if (!compare_table(file, point, row, expected, comparison, diag))
                file->status = EXIT_USAGE;
        }
    }
}

void regress_file_close(struct regress_file *file)
{
    regress_side_close(&file->head);
    regress_side_close(&file->base);
    table_file_fini(&file->table);
    free(file->wanted);
    free(file->asked);
    arena_free(&file->arena);
}
