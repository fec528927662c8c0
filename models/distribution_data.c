/* distribution_data.c - distributions that are data: the values of a column, and the chances to survive window after
 * window. */
#include <math.h>
#include <string.h>

#include "models/maker.h"
#include "sim/engine/number.h"

bool maker_empirical(const struct maker *maker, const struct expr *call, size_t count, struct dist *dist)
{
    bool timed = maker->measure == MEASURE_TIME;
    const struct expr *words = call->arguments;
    double up_to = INFINITY;
    if (count > 2 && words[count - 2].kind == EXPR_WORD && strcmp(words[count - 2].name, "up_to") == 0) {
        count -= 2;
        if (!maker_value(maker, &words[count + 1], &up_to))
            return false;
    }
    bool fits = count == (timed ? 3 : 2);
    for (size_t i = 0; i < count; i++)
        fits = fits && words[i].kind == EXPR_WORD && words[i].part == 0;
    if (!fits) {
        diag_error(maker->diag, call->place, "%s: expected %s", call->text,
                   timed ? "empirical(FILE COLUMN UNIT), the unit one of ns, us, ms, s, min, h, d"
                         : "empirical(FILE COLUMN)");
        return false;
    }
    double unit = timed ? unit_time(words[2].name) : 1;
    if (unit <= 0) {
        diag_error(maker->diag, words[2].place, "%s: expected a unit of time: ns, us, ms, s, min, h, d", words[2].name);
        return false;
    }
    struct column *column =
        columns_get(maker->columns, words[0].name, words[1].name, unit, words[0].place, maker->diag);
    if (!column)
        return false;
    const double *values = columns_sorted(maker->columns, column);
    size_t kept = column->count;
    while (kept > 0 && values[kept - 1] > up_to)
        kept--;
    if (kept == 0) {
        diag_error(maker->diag, words[count].place, "up_to: no value of %s is so small", words[1].name);
        return false;
    }
    *dist = (struct dist){.kind = DIST_EMPIRICAL, .values = values, .count = kept};
    return true;
}

static bool read_chance(const struct maker *maker, const struct expr *expr, double *chance)
{
    const struct number *number = &expr->number;
    bool fits = expr->kind == EXPR_NUMBER &&
                (number->quantity == QUANTITY_NUMBER || number->quantity == QUANTITY_SHARE) && number->value <= 1;
    *chance = fits ? number->value : 0;
    if (!fits)
        diag_error(maker->diag, expr->place, "%s: expected a chance above 0 and at most 1, such as 0.8 or 80 %%",
                   expr->text);
    else if (*chance == 0)
        diag_error(
            maker->diag, expr->place,
            "%s: expected a chance above 0: 0 does not tell on which turn of its window a run ends; `most TURNS` "
            "as the last argument ends all runs",
            expr->text);
    return *chance > 0;
}

/* Behind the chances stands `every TURNS`, and nothing else. */
static bool read_window(const struct maker *maker, const struct expr *call, size_t chances, size_t count, double *turns)
{
    static const char example[] = "survival(0.9 0.8 every 40)";
    size_t left = count - chances;
    const struct expr *every = left > 0 ? &call->arguments[chances] : NULL;
    if (left == 0) {
        diag_error(maker->diag, call->place, "%s: expected every TURNS behind the chances, such as %s", call->text,
                   example);
    } else if (chances == 0) {
        diag_error(maker->diag, every->place, "%s: expected a chance first, such as %s", every->text, example);
    } else if (strcmp(every->name, "every") != 0) {
        diag_error(maker->diag, every->place, "%s: expected another chance, or every TURNS, such as %s", every->text,
                   example);
    } else if (left == 1) {
        diag_error(maker->diag, every->place, "every: expected a value behind it");
    } else if (left > 2) {
        if (!maker_unknown_unit(maker, every + 1, every + 2, example))
            diag_error(maker->diag, every[2].place, "%s is one too many here: expected %s", every[2].text, example);
    } else if (maker_value(maker, every + 1, turns)) {
        if (*turns >= 1 && *turns == floor(*turns))
            return true;
        diag_error(maker->diag, every[1].place, "every: %s: expected a whole number of turns, of at least 1",
                   every[1].text);
    }
    return false;
}

bool maker_survival(const struct maker *maker, const struct expr *call, size_t count, double most, struct dist *dist)
{
    const struct expr *words = call->arguments;
    double *hazards = arena_zeroed(maker->columns->arena, count + 1, sizeof *hazards), chance = 0, window;
    size_t windows = 0;
    if (maker->measure != MEASURE_TURNS) {
        diag_error(maker->diag, call->place, "survival draws a number of turns: expected a distribution of %s",
                   maker->measure == MEASURE_TIME ? "times" : "tokens");
        return false;
    }
    if (count > 0 && words[count - 1].part > 0) {
        diag_error(maker->diag, call->place, "%s: expected blanks between the chances, and no |", call->text);
        return false;
    }
    for (; windows < count && words[windows].kind != EXPR_WORD; windows++) {
        if (!read_chance(maker, &words[windows], &chance))
            return false;
        hazards[windows] = chance < 1 ? -sim_log(chance) : 0;
    }
    if (!read_window(maker, call, windows, count, &window))
        return false;
    if (chance == 1 && isinf(most)) {
        diag_error(
            maker->diag, words[windows - 1].place,
            "%s: a run that comes so far would never end: expected a last chance below 1, or `most TURNS` as the "
            "last argument",
            words[windows - 1].text);
        return false;
    }
    *dist = (struct dist){.kind = DIST_SURVIVAL, .a = window, .values = hazards, .count = windows};
    return true;
}
