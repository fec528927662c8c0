/* arrivals_read.c - `arrivals:` of a class: when its runs come. */
#include <math.h>
#include <string.h>

#include "models/readers.h"

bool arrivals_rate_read(const struct reader *reader, const struct expr *call, double *rate)
{
    const struct expr *number = call->arguments;
    bool fits = call->count == 1 && number->kind == EXPR_NUMBER && number->number.quantity == QUANTITY_RATE &&
                number->number.value > 0 && isfinite(number->number.value) &&
                (!number->number.noun || strcmp(number->number.noun, "runs") == 0);
    if (fits)
        *rate = number->number.value;
    else
        diag_error(reader->diag, call->count > 0 ? number->place : call->place,
                   "%s: expected %s(RATE) with a rate above 0, such as %s(50/min)", call->text, call->name, call->name);
    return fits;
}

/* poisson(RATE) and even(RATE) */
static bool read_rate(const struct reader *reader, const struct expr *call, enum class_source source,
                      struct agent_class *class)
{
    class->source = source;
    return arrivals_rate_read(reader, call, &class->arrival_rate);
}

static bool read_all_at(const struct reader *reader, const struct expr *call, struct agent_class *class)
{
    const struct expr *at = call->arguments;
    bool fits = call->count == 1 && at->kind == EXPR_NUMBER && at->number.quantity == QUANTITY_TIME &&
                isfinite(at->number.value);
    if (!fits) {
        diag_error(reader->diag, call->count > 0 ? at->place : call->place,
                   "%s: expected all_at(TIME), such as all_at(0 s)", call->text);
        return false;
    }
    if (class->runs > 100 * 1000 * 1000) {
        diag_error(reader->diag, call->place, "all_at: expected runs: N beside it, at most 100M");
        return false;
    }
    sim_time *arrivals = arena_zeroed(reader->arena, class->runs, sizeof *arrivals);
    for (uint64_t i = 0; i < class->runs; i++)
        arrivals[i] = sim_from_seconds(at->number.value);
    class->source = SOURCE_ALL_AT;
    class->arrivals = arrivals;
    return true;
}

static bool read_trace(const struct reader *reader, const struct expr *call, struct place runs,
                       struct agent_class *class)
{
    const struct expr *words = call->arguments;
    bool sorts = call->count == 4 && words[3].kind == EXPR_WORD && strcmp(words[3].name, "sort") == 0;
    bool fits = call->count == 3 || sorts;
    for (size_t i = 0; i < call->count; i++)
        fits = fits && words[i].kind == EXPR_WORD;
    double unit = fits ? unit_time(words[2].name) : 0;
    if (unit <= 0) {
        diag_error(
            reader->diag, fits ? words[2].place : call->place,
            "%s: expected trace(FILE COLUMN UNIT), the unit one of ns, us, ms, s, min, h, d; and `sort` behind it "
            "where rows are in no order",
            call->text);
        return false;
    }
    struct column *column =
        columns_get(reader->columns, words[0].name, words[1].name, unit, words[0].place, reader->diag);
    if (!column)
        return false;
    class->source = SOURCE_TRACE;
    class->arrivals = sorts ? columns_sorted_times(reader->columns, column)
                            : columns_times(reader->columns, column, words[0].place, reader->diag);
    if (!class->arrivals)
        return false;
    if (runs.file && class->runs != UINT64_MAX && class->runs > column->count) {
        diag_error(reader->diag, runs, "runs: expected at most %zu, which is all that the trace has", column->count);
        return false;
    }
    if (class->runs > column->count)
        class->runs = column->count;
    return true;
}

/* --- patterns --------------------------------------------------------------------------------------------------------
 */

#define BATCH_MOST 1e6
#define BATCH_USAGE "batch(RUNS within TIME every poisson(RATE)), such as batch(40 within 5 s every poisson(2/h))"
#define SPIKE_USAGE \
    "spike(base RATE peak RATE at TIME for TIME), such as spike(base 2/min peak 40/min at 10 min for 5 min)"

static bool usage(const struct reader *reader, const struct expr *call, const char *usage)
{
    diag_error(reader->diag, call->place, "%s: expected %s", call->text, usage);
    return false;
}

static bool is_word(const struct expr *expr, const char *word)
{
    return expr->kind == EXPR_WORD && strcmp(expr->name, word) == 0;
}

static bool is_time(const struct expr *expr)
{
    return expr->kind == EXPR_NUMBER && expr->number.quantity == QUANTITY_TIME &&
           expr->number.value < sim_seconds(SIM_LONGEST);
}

static bool read_batch(const struct reader *reader, const struct expr *call, struct agent_class *class)
{
    const struct expr *a = call->arguments;
    bool fits = call->count == 5 && a[0].kind == EXPR_NUMBER && is_word(&a[1], "within") && is_time(&a[2]) &&
                is_word(&a[3], "every") && a[4].kind == EXPR_CALL &&
                (strcmp(a[4].name, "poisson") == 0 || strcmp(a[4].name, "even") == 0);
    if (!fits)
        return usage(reader, call, BATCH_USAGE);
    const struct number *runs = &a[0].number;
    if ((runs->quantity != QUANTITY_NUMBER && runs->quantity != QUANTITY_COUNT) ||
        (runs->noun && strcmp(runs->noun, "runs") != 0) || runs->value < 1 || runs->value > BATCH_MOST ||
        runs->value != floor(runs->value)) {
        diag_error(reader->diag, a[0].place, "batch: %s: expected a number of runs from 1 to 1M", a[0].text);
        return false;
    }
    struct arrivals_spec *pattern = arena_zeroed(reader->arena, 1, sizeof *pattern);
    *pattern = (struct arrivals_spec){.batch = (uint64_t)runs->value,
                                      .within = sim_from_seconds(a[2].number.value),
                                      .even = strcmp(a[4].name, "even") == 0};
    class->source = SOURCE_BATCH;
    class->pattern = pattern;
    return arrivals_rate_read(reader, &a[4], &class->arrival_rate);
}

/* 0 too, since a rate may rest. */
static bool is_rate(const struct expr *expr)
{
    return expr->kind == EXPR_NUMBER && isfinite(expr->number.value) && expr->number.value >= 0 &&
           expr->number.quantity == QUANTITY_RATE && (!expr->number.noun || strcmp(expr->number.noun, "runs") == 0);
}

static bool read_spike(const struct reader *reader, const struct expr *call, struct agent_class *class)
{
    static const char *const names[] = {"base", "peak", "at", "for"};
    double values[4] = {NAN, NAN, NAN, NAN};
    for (size_t i = 0; i + 1 < call->count; i += 2) {
        size_t at = 0;
        while (at < 4 && !(is_word(&call->arguments[i], names[at]) && isnan(values[at])))
            at++;
        const struct expr *value = &call->arguments[i + 1];
        if (at == 4 || !(at < 2 ? is_rate(value) : is_time(value)))
            return usage(reader, call, SPIKE_USAGE);
        values[at] = value->number.value;
    }
    if (call->count != 8)
        return usage(reader, call, SPIKE_USAGE);
    if (values[0] <= 0 && values[1] <= 0) {
        diag_error(reader->diag, call->place, "spike: expected a base or a peak above 0");
        return false;
    }
    struct arrivals_spec *pattern = arena_zeroed(reader->arena, 1, sizeof *pattern);
    sim_time *times = arena_zeroed(reader->arena, 3, sizeof *times);
    double *rates = arena_zeroed(reader->arena, 3, sizeof *rates);
    times[1] = sim_from_seconds(values[2]);
    times[2] = times[1] + sim_from_seconds(values[3]);
    rates[0] = rates[2] = values[0];
    rates[1] = values[1];
    *pattern =
        (struct arrivals_spec){.count = 3, .times = times, .rates = rates, .period = SIM_NEVER, .rate = (double)NAN};
    class->source = SOURCE_PROFILE;
    class->pattern = pattern;
    return true;
}

static bool read_day(const struct reader *reader, const struct expr *call, struct agent_class *class)
{
    enum { ROWS_MOST = 86400 };
    const struct expr *words = call->arguments;
    if (call->count != 2 || words[0].kind != EXPR_WORD || words[1].kind != EXPR_WORD)
        return usage(reader, call, "day(FILE COLUMN), rates of equal parts of a day in runs a minute");
    const struct column *column =
        columns_get(reader->columns, words[0].name, words[1].name, 1.0 / 60, words[0].place, reader->diag);
    if (!column)
        return false;
    if (column->count > ROWS_MOST) {
        diag_error(reader->diag, words[1].place, "day: %zu rows: expected at most %d, one a second", column->count,
                   ROWS_MOST);
        return false;
    }
    struct arrivals_spec *pattern = arena_zeroed(reader->arena, 1, sizeof *pattern);
    sim_time *times = arena_zeroed(reader->arena, column->count, sizeof *times);
    const sim_time day = 86400 * SIM_SECOND;
    double sum = 0;
    for (size_t i = 0; i < column->count; i++) {
        times[i] = (sim_time)i * (day / (sim_time)column->count) +
                   (sim_time)i * (day % (sim_time)column->count) / (sim_time)column->count;
        sum += column->values[i];
    }
    if (!(sum > 0)) {
        diag_error(reader->diag, words[1].place, "day: %s: expected a rate above 0 in some row", words[1].name);
        return false;
    }
    *pattern = (struct arrivals_spec){.count = column->count,
                                      .times = times,
                                      .rates = column->values,
                                      .period = day,
                                      .of_day = true,
                                      .rate = sum / (double)column->count};
    class->source = SOURCE_PROFILE;
    class->pattern = pattern;
    return true;
}

double arrivals_expected(const struct agent_class *class)
{
    const struct arrivals_spec *pattern = class->pattern;
    double sum = 0;
    if (class->source != SOURCE_PROFILE || pattern->period != SIM_NEVER || pattern->rates[pattern->count - 1] > 0)
        return INFINITY;
    for (size_t i = 0; i + 1 < pattern->count; i++)
        sum += pattern->rates[i] * sim_seconds(pattern->times[i + 1] - pattern->times[i]);
    return sum;
}

/* At the times of a replay's trace. */
static bool read_recorded(const struct reader *reader, const struct expr *word, struct place runs,
                          struct agent_class *class)
{
    const struct session_spec *sessions = class->input ? class->input->sessions : NULL;
    if (!sessions || !sessions->times) {
        diag_error(reader->diag, word->place,
                   "arrivals: recorded: expected replay: {trace: FILE} beside it, of a trace with times");
        return false;
    }
    if (runs.file && class->runs != UINT64_MAX && class->runs > sessions->count) {
        diag_error(reader->diag, runs, "runs: expected at most %zu, which is all that the trace has", sessions->count);
        return false;
    }
    if (class->runs > sessions->count)
        class->runs = sessions->count;
    class->source = SOURCE_TRACE;
    class->arrivals = sessions->times;
    return true;
}

bool arrivals_read(const struct reader *reader, const struct expr *arrivals, struct place runs,
                   struct agent_class *class)
{
    if (is_word(arrivals, "recorded"))
        return read_recorded(reader, arrivals, runs, class);
    static const char *const sources[] = {"poisson", "even", "all_at", "trace", "batch", "day", "spike"};
    enum { SOURCES = sizeof sources / sizeof *sources };
    size_t at = 0;
    while (at < SOURCES && !(arrivals->kind == EXPR_CALL && strcmp(arrivals->name, sources[at]) == 0))
        at++;
    switch (at) {
    case 0:
        return read_rate(reader, arrivals, SOURCE_POISSON, class);
    case 1:
        return read_rate(reader, arrivals, SOURCE_EVEN, class);
    case 2:
        return read_all_at(reader, arrivals, class);
    case 3:
        return read_trace(reader, arrivals, runs, class);
    case 4:
        return read_batch(reader, arrivals, class);
    case 5:
        return read_day(reader, arrivals, class);
    case 6:
        return read_spike(reader, arrivals, class);
    default:
        break;
    }
    diag_error(reader->diag, arrivals->place,
               "arrivals: %s: expected poisson(RATE), even(RATE), all_at(TIME), trace(FILE COLUMN UNIT), batch(...), "
               "day(FILE COLUMN) or spike(...)%s",
               arrivals->text,
               arrivals->kind == EXPR_CALL ? reader_nearest(reader, arrivals->name, sources, SOURCES) : "");
    return false;
}
