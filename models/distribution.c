/* distribution.c - expressions to distributions. What each function takes stands in one table; the arguments are
 * matched against it first, whatever the function, and only then made into a distribution. */
#include "models/distribution.h"

#include <math.h>
#include <string.h>

#include "models/maker.h"
#include "sim/engine/number.h"

enum { ARGUMENTS_MOST = 4 };

struct argument {
    const char *name; /* NULL ends the list */
    bool measured;    /* has the dimension of what is drawn; else a bare number above 0 */
    bool in_order;    /* may stand without its name */
};

struct function {
    const char *name;
    enum dist_kind kind;
    struct argument arguments[ARGUMENTS_MOST + 1];
    const char *usage;
};

static const struct function functions[] = {
    {"constant", DIST_CONSTANT, {{"value", true, true}}, "constant(VALUE)"},
    {"uniform", DIST_UNIFORM, {{"from", true, true}, {"to", true, true}}, "uniform(FROM TO)"},
    {"exponential", DIST_EXPONENTIAL, {{"mean", true, true}}, "exponential(MEAN)"},
    {"lognormal",
     DIST_LOGNORMAL,
     {{"mean", true, true}, {"cv", false, false}, {"median", true, false}, {"sigma", false, false}},
     "lognormal(MEAN cv C) or lognormal(median M sigma S)"},
    {"gamma", DIST_GAMMA, {{"mean", true, true}, {"cv", false, false}}, "gamma(MEAN cv C)"},
    {"weibull", DIST_WEIBULL, {{"mean", true, true}, {"cv", false, false}}, "weibull(MEAN cv C)"},
    {"pareto", DIST_PARETO, {{"least", true, true}, {"shape", false, true}}, "pareto(LEAST shape A)"},
    {"geometric", DIST_GEOMETRIC, {{"mean", true, true}}, "geometric(MEAN)"},
    {"mixture", DIST_MIXTURE, {{.name = NULL}}, "mixture(WEIGHT DISTRIBUTION | WEIGHT DISTRIBUTION)"},
    {"empirical",
     DIST_EMPIRICAL,
     {{.name = NULL}},
     "empirical(FILE COLUMN UNIT up_to LARGEST), the unit for times only; up_to leaves larger values out"},
    {"survival",
     DIST_SURVIVAL,
     {{.name = NULL}},
     "survival(CHANCE CHANCE every TURNS), for turns only; the last chance repeats for ever"},
};
enum { FUNCTIONS = sizeof functions / sizeof *functions };

static bool make(const struct maker *maker, const struct expr *expr, struct dist *dist);

static const char *measure_example(enum measure measure)
{
    static const char *const examples[] = {
        [MEASURE_TIME] = "a time with its unit, such as 4 s", [MEASURE_TOKENS] = "a number of tokens, such as 120",
        [MEASURE_TURNS] = "a number of turns, such as 8",     [MEASURE_FACTOR] = "a bare number, such as 1",
        [MEASURE_PARTS] = "a number of parts, such as 8",
    };
    return examples[measure];
}

/* What may stand behind a number. */
static const char *units_of(enum measure measure)
{
    static const char *const units[] = {
        [MEASURE_TIME] = "one of ns, us, ms, s, min, h, d",
        [MEASURE_TOKENS] = "tokens, or none",
        [MEASURE_TURNS] = "turns, or none",
        [MEASURE_FACTOR] = "none",
        [MEASURE_PARTS] = "none",
    };
    return units[measure];
}

static bool noun_fits(const char *noun, enum measure measure)
{
    return !noun || (measure != MEASURE_FACTOR && measure != MEASURE_PARTS &&
                     strcmp(noun, measure == MEASURE_TOKENS ? "tokens" : "turns") == 0);
}

bool maker_unknown_unit(const struct maker *maker, const struct expr *number, const struct expr *word,
                        const char *usage)
{
    if (number->kind != EXPR_NUMBER || number->number.quantity != QUANTITY_NUMBER || word->kind != EXPR_WORD ||
        word->part != number->part)
        return false;
    diag_error(maker->diag, word->place, "there is no unit %s: expected %s%s%s", word->text, units_of(maker->measure),
               usage[0] ? ", as in " : "", usage);
    return true;
}

bool maker_value(const struct maker *maker, const struct expr *expr, double *value)
{
    bool fits = false;
    if (expr->kind == EXPR_NUMBER) {
        const struct number *number = &expr->number;
        if (maker->measure == MEASURE_TIME)
            fits = number->quantity == QUANTITY_TIME;
        else
            fits = (number->quantity == QUANTITY_NUMBER || number->quantity == QUANTITY_COUNT) &&
                   noun_fits(number->noun, maker->measure);
        *value = number->value;
        fits = fits && isfinite(number->value) && number->value >= 0;
    }
    bool missing = maker->measure == MEASURE_TIME && expr->kind == EXPR_NUMBER &&
                   expr->number.quantity == QUANTITY_NUMBER && isfinite(expr->number.value);
    if (!fits)
        diag_error(maker->diag, expr->place, missing ? "%s has no unit: expected %s" : "%s: expected %s", expr->text,
                   measure_example(maker->measure));
    return fits;
}

static bool plain_of(const struct maker *maker, const struct expr *expr, const char *name, double *value)
{
    bool fits = expr->kind == EXPR_NUMBER && expr->number.quantity == QUANTITY_NUMBER && isfinite(expr->number.value) &&
                expr->number.value > 0;
    if (fits)
        *value = expr->number.value;
    else
        diag_error(maker->diag, expr->place, "%s: expected a bare number above 0 for %s", expr->text, name);
    return fits;
}

/* Takes a trailing `most VALUE` off the arguments: any distribution may be cut so. */
static bool take_most(const struct maker *maker, const struct expr *call, size_t *count, double *most)
{
    *most = INFINITY;
    *count = call->count;
    for (size_t i = 0; i < call->count; i++) {
        const struct expr *word = &call->arguments[i];
        size_t left = call->count - i;
        if (word->kind != EXPR_WORD || strcmp(word->name, "most") != 0 || left > 3)
            continue;
        if (left == 3 && maker_unknown_unit(maker, word + 1, word + 2, ""))
            return false;
        if (left == 3)
            continue;
        if (i + 1 == call->count) {
            diag_error(maker->diag, word->place, "most: expected a value behind it");
            return false;
        }
        *count = i;
        return maker_value(maker, &call->arguments[i + 1], most);
    }
    return true;
}

static bool is_argument(const struct function *function, const struct expr *word)
{
    size_t at = 0;
    while (function->arguments[at].name && word->kind == EXPR_WORD &&
           strcmp(function->arguments[at].name, word->name) != 0)
        at++;
    return function->arguments[at].name != NULL;
}

/* The values of a function's arguments in the order of its table; NAN where one is not given. */
static bool match(const struct maker *maker, const struct function *function, const struct expr *call, size_t count,
                  double values[ARGUMENTS_MOST])
{
    for (size_t i = 0; i < ARGUMENTS_MOST; i++)
        values[i] = NAN;
    for (size_t i = 0; i < count; i++) {
        const struct expr *expr = &call->arguments[i];
        size_t at = 0;
        if (expr->kind == EXPR_WORD) {
            while (function->arguments[at].name && strcmp(function->arguments[at].name, expr->name) != 0)
                at++;
        } else {
            while (function->arguments[at].name && !(function->arguments[at].in_order && isnan(values[at])))
                at++;
        }
        const struct argument *argument = &function->arguments[at];
        if (!argument->name || expr->part > 0 || !isnan(values[at])) {
            diag_error(maker->diag, expr->place, "%s is one too many here: expected %s", expr->text, function->usage);
            return false;
        }
        if (expr->kind == EXPR_WORD && ++i == count) {
            diag_error(maker->diag, expr->place, "%s: expected a value behind it", expr->name);
            return false;
        }
        const struct expr *value = &call->arguments[i];
        if (i + 1 < count && !is_argument(function, value + 1) &&
            maker_unknown_unit(maker, value, value + 1, function->usage))
            return false;
        if (argument->measured ? !maker_value(maker, value, &values[at])
                               : !plain_of(maker, value, argument->name, &values[at]))
            return false;
    }
    return true;
}

/* All arguments that have no other reading must be there. */
static bool complete(const struct function *function, const double values[ARGUMENTS_MOST])
{
    if (function->kind == DIST_LOGNORMAL)
        return isnan(values[0]) != isnan(values[2]) && isnan(values[1]) != isnan(values[3]);
    for (size_t i = 0; function->arguments[i].name; i++)
        if (isnan(values[i]))
            return false;
    return true;
}

static struct dist lognormal(const double v[ARGUMENTS_MOST])
{
    double mean = v[0], cv = v[1], median = v[2], sigma = v[3];
    if (!isnan(mean) && !isnan(cv))
        return dist_lognormal_of(mean, cv);
    if (isnan(sigma))
        sigma = sqrt(sim_log(1 + cv * cv));
    double mu = isnan(median) ? sim_log(mean) - sigma * sigma / 2 : sim_log(median);
    return (struct dist){.kind = DIST_LOGNORMAL, .a = mu, .b = sigma};
}

static bool make_simple(const struct maker *maker, const struct function *function, const struct expr *call,
                        size_t count, struct dist *dist)
{
    double v[ARGUMENTS_MOST];
    if (!match(maker, function, call, count, v))
        return false;
    if (!complete(function, v)) {
        diag_error(maker->diag, call->place, "%s: expected %s", call->text, function->usage);
        return false;
    }
    bool zero = function->kind != DIST_CONSTANT && function->kind != DIST_UNIFORM && (v[0] <= 0 || v[2] <= 0);
    if (zero || (function->kind == DIST_GEOMETRIC && v[0] < 1)) {
        diag_error(maker->diag, call->place, "%s: expected %s", call->text,
                   zero ? "a mean above 0" : "a mean of at least 1");
        return false;
    }
    if (function->kind == DIST_UNIFORM && v[0] > v[1]) {
        diag_error(maker->diag, call->place, "%s: expected the smaller end first", call->text);
        return false;
    }
    if (function->kind == DIST_GEOMETRIC && maker->measure == MEASURE_TIME) {
        diag_error(maker->diag, call->place, "geometric draws whole numbers: expected a distribution of times");
        return false;
    }
    switch (function->kind) {
    case DIST_LOGNORMAL:
        *dist = lognormal(v);
        break;
    case DIST_GAMMA:
        *dist = dist_gamma_of(v[0], v[1]);
        break;
    case DIST_WEIBULL:
        *dist = dist_weibull_of(v[0], v[1]);
        break;
    case DIST_PARETO:
        *dist = (struct dist){.kind = DIST_PARETO, .a = v[1], .b = v[0]};
        break;
    default:
        *dist = (struct dist){.kind = function->kind, .a = v[0], .b = function->kind == DIST_UNIFORM ? v[1] : 0};
        break;
    }
    if (!isfinite(dist->a) || !isfinite(dist->b)) {
        diag_error(maker->diag, call->place, "%s: these numbers are out of the range that can be drawn", call->text);
        return false;
    }
    return true;
}

static bool make_part(const struct maker *maker, const struct expr *call, size_t at, size_t end, double *weight,
                      struct dist *part)
{
    const struct expr *first = &call->arguments[at];
    bool weighted = first->kind == EXPR_NUMBER &&
                    (first->number.quantity == QUANTITY_NUMBER || first->number.quantity == QUANTITY_SHARE) &&
                    first->number.value > 0 && first->number.value <= 1;
    if (weighted && end - at == 3 && maker_unknown_unit(maker, first + 1, first + 2, ""))
        return false;
    if (!weighted || end - at != 2) {
        diag_error(maker->diag, first->place, "expected a weight above 0, then one distribution, then | and the next");
        return false;
    }
    *weight = first->number.value;
    return make(maker, &call->arguments[at + 1], part);
}

static bool make_mixture(const struct maker *maker, const struct expr *call, size_t count, struct dist *dist)
{
    if (count == 0) {
        diag_error(maker->diag, call->place, "%s is empty: expected mixture(0.7 A | 0.3 B)", call->text);
        return false;
    }
    size_t parts = call->arguments[count - 1].part + 1, made = 0;
    struct dist *part = arena_zeroed(maker->columns->arena, parts, sizeof *part);
    double *weights = arena_zeroed(maker->columns->arena, parts, sizeof *weights);
    double sum = 0;
    for (size_t at = 0, end; at < count; at = end) {
        end = at + 1;
        while (end < count && call->arguments[end].part == call->arguments[at].part)
            end++;
        double weight = 0;
        if (!make_part(maker, call, at, end, &weight, &part[made]))
            return false;
        sum += weight;
        weights[made++] = sum;
    }
    if (fabs(sum - 1) > 1e-9) {
        diag_error(maker->diag, call->place, "the weights of a mixture must sum to 1; these sum to %.10g", sum);
        return false;
    }
    weights[made - 1] = 1;
    *dist = (struct dist){.kind = DIST_MIXTURE, .parts = part, .weights = weights, .count = made};
    return true;
}

static const struct function *function_of(const struct maker *maker, const struct expr *call)
{
    const char *names[FUNCTIONS];
    for (size_t i = 0; i < FUNCTIONS; i++) {
        if (strcmp(functions[i].name, call->name) == 0)
            return &functions[i];
        names[i] = functions[i].name;
    }
    const char *nearest = diag_nearest(call->name, names, FUNCTIONS);
    if (nearest)
        diag_error(maker->diag, call->place, "there is no distribution %s; did you mean %s?", call->name, nearest);
    else
        diag_error(maker->diag, call->place,
                   "there is no distribution %s: expected constant, uniform, exponential, lognormal, gamma, weibull, "
                   "pareto, geometric, mixture, empirical or survival",
                   call->name);
    return NULL;
}

static bool make(const struct maker *maker, const struct expr *expr, struct dist *dist)
{
    if (expr->kind == EXPR_NUMBER) {
        *dist = (struct dist){.kind = DIST_CONSTANT, .most = INFINITY};
        return maker_value(maker, expr, &dist->a);
    }
    if (expr->kind == EXPR_WORD) {
        diag_error(maker->diag, expr->place, "%s: expected %s, or a distribution such as exponential(MEAN)", expr->text,
                   measure_example(maker->measure));
        return false;
    }
    const struct function *function = function_of(maker, expr);
    double most;
    size_t count;
    if (!function || !take_most(maker, expr, &count, &most))
        return false;
    bool made = function->kind == DIST_MIXTURE     ? make_mixture(maker, expr, count, dist)
                : function->kind == DIST_EMPIRICAL ? maker_empirical(maker, expr, count, dist)
                : function->kind == DIST_SURVIVAL  ? maker_survival(maker, expr, count, most, dist)
                                                   : make_simple(maker, function, expr, count, dist);
    dist->most = most;
    return made;
}

bool distribution_read(const struct expr *expr, enum measure measure, struct columns *columns, struct dist *dist,
                       struct diag *diag)
{
    struct maker maker = {.measure = measure, .columns = columns, .diag = diag};
    *dist = (struct dist){.kind = DIST_CONSTANT};
    return make(&maker, expr, dist);
}

const char *distribution_name(size_t index)
{
    return index < FUNCTIONS ? functions[index].name : NULL;
}

const char *distribution_form(size_t index)
{
    return index < FUNCTIONS ? functions[index].usage : NULL;
}
