/* fit_trace.c - collects the values of a trace, fits them, and looks at what independent draws would lose. */
#include "models/fit_trace.h"

#include <math.h>
#include <stdlib.h>

#include <gsl/gsl_cdf.h>

#include "sim/io/mem.h"

static const char *const names[FIT_ATTRIBUTES] = {
    [FIT_THINK] = "think",           [FIT_OUTPUT] = "output", [FIT_START] = "input.start",
    [FIT_GROWTH] = "input.per_turn", [FIT_TURNS] = "turns",
};

const char *fit_attribute_name(enum fit_attribute attribute)
{
    return names[attribute];
}

void fit_trace_init(struct fit_trace *fit)
{
    *fit = (struct fit_trace){0};
    trace_sum_init(&fit->sum);
}

static void put(struct fit_trace *fit, enum fit_attribute attribute, double value)
{
    struct fit_numbers *numbers = &fit->of[attribute];
    if (numbers->count == numbers->room) {
        numbers->room = numbers->room ? 2 * numbers->room : 1024;
        numbers->values = mem_resized(numbers->values, numbers->room, sizeof *numbers->values);
    }
    numbers->values[numbers->count++] = value;
}

static struct fit_before *before_of(struct fit_trace *fit, uint32_t session)
{
    if (session >= fit->room) {
        size_t room = fit->room ? fit->room : 256;
        while (room <= session)
            room *= 2;
        fit->before = mem_resized(fit->before, room, sizeof *fit->before);
        for (size_t i = fit->room; i < room; i++) {
            fit->before[i] = (struct fit_before){.sent = NAN};
            for (size_t k = 0; k < FIT_ATTRIBUTES; k++)
                fit->before[i].logs[k] = NAN;
        }
        fit->room = room;
    }
    return &fit->before[session];
}

static void pair(struct fit_lag *lag, double x, double y)
{
    if (isnan(x) || isnan(y))
        return;
    lag->pairs++;
    lag->x += x;
    lag->y += y;
    lag->xx += x * x;
    lag->yy += y * y;
    lag->xy += x * y;
}

/* A value of a call of a session, or NAN: it is unknown. */
static void observe(struct fit_trace *fit, struct fit_before *before, enum fit_attribute attribute, double value)
{
    double now = log1p(value);
    if (!isnan(value))
        put(fit, attribute, value);
    if (before) {
        pair(&fit->of[attribute].lag, before->logs[attribute], now);
        before->logs[attribute] = now;
    }
}

void fit_trace_call(void *context, const struct trace_call *call)
{
    struct fit_trace *fit = context;
    const int64_t *values = call->values;
    struct fit_before *before = call->session == TRACE_ALONE ? NULL : before_of(fit, call->session);
    double sent = values[TRACE_INPUT] == TRACE_UNKNOWN ? (double)NAN : (double)values[TRACE_INPUT];
    double growth = before && before->begun ? sent - before->sent : (double)NAN;

    trace_sum_call(&fit->sum, call);
    observe(fit, before, FIT_OUTPUT,
            values[TRACE_OUTPUT] == TRACE_UNKNOWN ? (double)NAN : (double)values[TRACE_OUTPUT]);
    fit->most = fmax(fit->most, isnan(sent) ? 0 : sent);
    if (!before || !before->begun) {
        if (!isnan(sent))
            put(fit, FIT_START, sent);
    } else {
        observe(fit, before, FIT_THINK, call->wait == TRACE_UNKNOWN ? (double)NAN : sim_seconds(call->wait));
        fit->shrunk += growth < 0;
        observe(fit, before, FIT_GROWTH, growth < 0 ? (double)NAN : growth);
    }
    if (before) {
        before->begun = true;
        before->sent = sent;
    }
}

void fit_trace_done(struct fit_trace *fit, const struct trace_facts *facts)
{
    trace_sum_done(&fit->sum, facts);
    for (uint32_t i = 0; i < facts->sessions; i++)
        put(fit, FIT_TURNS, fit->sum.lengths[i]);
    for (enum fit_attribute attribute = 0; attribute < FIT_ATTRIBUTES; attribute++) {
        struct fit_numbers *numbers = &fit->of[attribute];
        numbers->fits = fit_values(numbers->values, numbers->count, attribute == FIT_TURNS, &numbers->result);
    }
}

void fit_trace_fini(struct fit_trace *fit)
{
    trace_sum_fini(&fit->sum);
    for (size_t i = 0; i < FIT_ATTRIBUTES; i++)
        free(fit->of[i].values);
    free(fit->before);
}

double fit_correlation(const struct fit_lag *lag)
{
    double n = (double)lag->pairs;
    if (lag->pairs < 10)
        return NAN;
    double xx = lag->xx - lag->x * lag->x / n, yy = lag->yy - lag->y * lag->y / n;
    return xx > 0 && yy > 0 ? (lag->xy - lag->x * lag->y / n) / sqrt(xx * yy) : (double)NAN;
}

bool fit_is_poisson(const struct trace_sum *sum)
{
    for (size_t i = 0; i < TRACE_WINDOWS; i++) {
        double count = (double)sum->windows[i].closed, off = trace_dispersion(&sum->windows[i]) * count;
        if (sum->windows[i].closed < 10 || isnan(off))
            continue;
        if (off < gsl_cdf_chisq_Pinv(0.001, count - 1) || off > gsl_cdf_chisq_Qinv(0.001, count - 1))
            return false;
    }
    return true;
}
