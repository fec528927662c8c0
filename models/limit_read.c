/* limit_read.c - a limit that moves: steps, two_level, walk, day. What each takes stands in one table; the arguments
 * are matched against it first. Limits of rates become amounts a second, of what is in flight they stay amounts. */
#include <math.h>
#include <string.h>

#include "models/readers.h"
#include "models/tables.h"

enum { ARGUMENTS_MOST = 5, DAY_ROWS_MOST = 86400 };

/* As the rows of limit_options have it. */
static const double rate_most = 1e9, amount_most = 1e12;
static const double pause_least = 1e-3; /* seconds between moves */

struct argument {
    const char *name; /* "": stands without one, in order; NULL ends the list */
    bool time;        /* else a limit */
};

struct process {
    const char *name;
    enum limit_law law;
    struct argument arguments[ARGUMENTS_MOST + 1];
    const char *usage;
};

static const struct process processes[] = {
    {"steps", LIMIT_STEPS, {{NULL, false}}, "steps(TIME LIMIT TIME LIMIT ...)"},
    {"two_level", LIMIT_TWO_LEVEL, {{"", false}, {"", false}, {"every", true}}, "two_level(LIMIT LIMIT every TIME)"},
    {"walk",
     LIMIT_WALK,
     {{"", false}, {"least", false}, {"most", false}, {"step", false}, {"every", true}},
     "walk(LIMIT least LIMIT most LIMIT step LIMIT every TIME)"},
    {"day", LIMIT_DAY, {{NULL, false}}, "day(FILE COLUMN)"},
};
enum { PROCESSES = sizeof processes / sizeof *processes };

struct maker {
    const struct reader *reader;
    enum meter_kind kind;
};

static const char *limit_example(enum meter_kind kind)
{
    if (meter_is_rate(kind))
        return kind == METER_REQUESTS ? "50/min" : "2M tokens/min";
    return kind == METER_IN_FLIGHT ? "8" : "500k tokens";
}

static bool limit_of(const struct maker *maker, const struct expr *expr, double *value)
{
    const struct number *number = &expr->number;
    bool rate = meter_is_rate(maker->kind);
    bool fits = expr->kind == EXPR_NUMBER && number->value <= (rate ? rate_most : amount_most) &&
                (!number->noun || strcmp(number->noun, meter_noun(maker->kind)) == 0) &&
                (rate ? number->quantity == QUANTITY_RATE
                      : number->quantity == QUANTITY_NUMBER || number->quantity == QUANTITY_COUNT);
    if (fits)
        *value = number->value;
    else
        diag_error(maker->reader->diag, expr->place, "%s: expected a limit such as %s", expr->text,
                   limit_example(maker->kind));
    return fits;
}

static bool time_of(const struct maker *maker, const struct expr *expr, double *value)
{
    bool fits = expr->kind == EXPR_NUMBER && expr->number.quantity == QUANTITY_TIME &&
                expr->number.value < sim_seconds(SIM_LONGEST);
    if (fits)
        *value = expr->number.value;
    else
        diag_error(maker->reader->diag, expr->place, "%s: expected a time with its unit, such as 30 s", expr->text);
    return fits;
}

/* The values of a process's arguments in the order of its table. */
static bool match(const struct maker *maker, const struct process *process, const struct expr *call,
                  double values[ARGUMENTS_MOST])
{
    struct diag *diag = maker->reader->diag;
    const struct argument *arguments = process->arguments;
    for (size_t i = 0; i < ARGUMENTS_MOST; i++)
        values[i] = NAN;
    for (size_t i = 0; i < call->count; i++) {
        const struct expr *expr = &call->arguments[i];
        const char *name = expr->kind == EXPR_WORD ? expr->name : "";
        bool nameless = expr->kind == EXPR_WORD && !name[0];
        size_t at = 0;
        while (arguments[at].name && !(strcmp(arguments[at].name, name) == 0 && isnan(values[at])))
            at++;
        if (!arguments[at].name || nameless || expr->part > 0) {
            diag_error(diag, expr->place, "%s does not belong here: expected %s", expr->text, process->usage);
            return false;
        }
        if (expr->kind == EXPR_WORD && ++i == call->count) {
            diag_error(diag, expr->place, "%s: expected a value behind it", expr->name);
            return false;
        }
        const struct expr *value = &call->arguments[i];
        if (!(arguments[at].time ? time_of(maker, value, &values[at]) : limit_of(maker, value, &values[at])))
            return false;
    }
    for (size_t i = 0; arguments[i].name; i++)
        if (isnan(values[i])) {
            diag_error(diag, call->place, "%s: expected %s", call->text, process->usage);
            return false;
        }
    return true;
}

static bool read_steps(const struct maker *maker, const struct process *process, const struct expr *call,
                       struct limit_spec *limit)
{
    struct diag *diag = maker->reader->diag;
    size_t count = call->count / 2;
    if (call->count == 0 || call->count % 2 != 0 || call->arguments[call->count - 1].part > 0) {
        diag_error(diag, call->place, "%s: expected %s", call->text, process->usage);
        return false;
    }
    sim_time *times = arena_zeroed(maker->reader->arena, count, sizeof *times);
    double *values = arena_zeroed(maker->reader->arena, count, sizeof *values);
    for (size_t i = 0; i < count; i++) {
        const struct expr *at = &call->arguments[2 * i];
        double seconds = 0;
        if (!time_of(maker, at, &seconds) || !limit_of(maker, at + 1, &values[i]))
            return false;
        times[i] = sim_from_seconds(seconds);
        if (i == 0 ? times[i] != 0 : times[i] <= times[i - 1]) {
            diag_error(diag, at->place,
                       i == 0 ? "steps: expected 0 s as the first time, not %s"
                              : "steps: expected times that ascend, and %s comes too early",
                       at->text);
            return false;
        }
    }
    limit->times = times;
    limit->values = values;
    limit->count = count;
    return true;
}

static bool pauses(const struct maker *maker, const struct expr *call, double every)
{
    if (every >= pause_least)
        return true;
    diag_error(maker->reader->diag, call->place, "%s: expected a time of at least 1 ms behind every", call->text);
    return false;
}

static bool read_two_level(const struct maker *maker, const struct process *process, const struct expr *call,
                           struct limit_spec *limit)
{
    double v[ARGUMENTS_MOST];
    if (!match(maker, process, call, v) || !pauses(maker, call, v[2]))
        return false;
    double *values = arena_zeroed(maker->reader->arena, 2, sizeof *values);
    memcpy(values, v, 2 * sizeof *values);
    limit->values = values;
    limit->count = 2;
    limit->dwell = v[2];
    return true;
}

/* A step that is longer than the way between the bounds could be turned back more than once. */
static bool read_walk(const struct maker *maker, const struct process *process, const struct expr *call,
                      struct limit_spec *limit)
{
    double v[ARGUMENTS_MOST];
    if (!match(maker, process, call, v) || !pauses(maker, call, v[4]))
        return false;
    double start = v[0], least = v[1], most = v[2], step = v[3];
    const char *expected = least > most                    ? "a least that is at most its most"
                           : start < least || start > most ? "a start between least and most"
                           : step <= 0                     ? "a step above 0"
                           : step > most - least           ? "a step of at most the distance from least to most"
                                                           : NULL;
    if (expected) {
        diag_error(maker->reader->diag, call->place, "%s: expected %s", call->text, expected);
        return false;
    }
    double *values = arena_zeroed(maker->reader->arena, 3, sizeof *values);
    memcpy(values, v, 3 * sizeof *values);
    limit->values = values;
    limit->count = 3;
    limit->step = step;
    limit->every = sim_from_seconds(v[4]);
    return true;
}

static bool read_day(const struct maker *maker, const struct process *process, const struct expr *call,
                     struct limit_spec *limit)
{
    const struct expr *words = call->arguments;
    struct diag *diag = maker->reader->diag;
    if (call->count != 2 || words[0].kind != EXPR_WORD || words[1].kind != EXPR_WORD || words[1].part > 0) {
        diag_error(diag, call->place, "%s: expected %s", call->text, process->usage);
        return false;
    }
    bool rate = meter_is_rate(maker->kind);
    const double unit = rate ? 1.0 / 60 : 1, most = rate ? rate_most : amount_most;
    const struct column *column =
        columns_get(maker->reader->columns, words[0].name, words[1].name, unit, words[0].place, diag);
    if (!column)
        return false;
    for (size_t i = 0; i < column->count; i++)
        if (column->values[i] > most) {
            diag_error(diag, words[1].place, "day: row %zu of %s is %.15g: expected at most %.15g", i + 1,
                       words[1].name, column->values[i] / unit, most / unit);
            return false;
        }
    if (column->count > DAY_ROWS_MOST) {
        diag_error(diag, words[1].place, "day: %zu rows: expected at most %d, one a second", column->count,
                   DAY_ROWS_MOST);
        return false;
    }
    limit->values = column->values;
    limit->count = column->count;
    return true;
}

static const struct process *process_of(const struct reader *reader, const struct expr *moves)
{
    const char *names[PROCESSES], *usages[PROCESSES];
    for (size_t i = 0; i < PROCESSES; i++) {
        names[i] = processes[i].name;
        usages[i] = processes[i].usage;
        if (moves->kind == EXPR_CALL && strcmp(names[i], moves->name) == 0)
            return &processes[i];
    }
    diag_error(reader->diag, moves->place, "moves: %s: expected one of %s%s", moves->text,
               reader_list(reader, usages, PROCESSES),
               moves->kind == EXPR_NUMBER ? "" : reader_nearest(reader, moves->name, names, PROCESSES));
    return NULL;
}

bool limit_read(const struct reader *reader, const struct expr *moves, enum meter_kind kind, struct limit_spec *limit)
{
    static bool (*const read[])(const struct maker *, const struct process *, const struct expr *,
                                struct limit_spec *) = {
        [LIMIT_STEPS] = read_steps,
        [LIMIT_TWO_LEVEL] = read_two_level,
        [LIMIT_WALK] = read_walk,
        [LIMIT_DAY] = read_day,
    };
    const struct maker maker = {reader, kind};
    const struct process *process = process_of(reader, moves);
    *limit = (struct limit_spec){.law = process ? process->law : LIMIT_CONSTANT};
    return process && read[process->law](&maker, process, moves, limit);
}
