/* trace_sum.c - adds up a trace as its rows come. */
#include "models/trace_sum.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void add(struct trace_numbers *numbers, int64_t value)
{
    if (value == TRACE_UNKNOWN) {
        numbers->unknown++;
        return;
    }
    if (numbers->count++ == 0)
        numbers->origin = value;
    double deviation = (double)(value - numbers->origin);
    numbers->sum += value;
    numbers->deviations += deviation;
    numbers->squares += deviation * deviation;
    histogram_add(&numbers->histogram, value);
}

void trace_sum_init(struct trace_sum *sum)
{
    static const sim_time widths[TRACE_WINDOWS] = {1, 10, 60, 600};
    *sum = (struct trace_sum){.first = TRACE_UNKNOWN, .last = TRACE_UNKNOWN};
    for (size_t i = 0; i < TRACE_WINDOWS; i++)
        sum->windows[i].width = widths[i] * SIM_SECOND;
}

/* Closes the windows before the call's. */
static void arrive(struct trace_window *window, int64_t since_first)
{
    int64_t at = since_first / window->width;
    if (at > window->closed) {
        window->sum += (double)window->open;
        window->squares += (double)window->open * (double)window->open;
        window->open = 0;
        window->closed = at; /* those in between are empty */
    }
    window->open++;
}

static void in_session(struct trace_sum *sum, const struct trace_call *call)
{
    if (call->session == TRACE_ALONE) {
        sum->alone++;
        return;
    }
    if (call->session >= sum->room) {
        size_t room = sum->room ? 2 * sum->room : 256;
        sum->lengths = mem_resized(sum->lengths, room, sizeof *sum->lengths);
        memset(sum->lengths + sum->room, 0, (room - sum->room) * sizeof *sum->lengths);
        sum->room = room;
    }
    sum->lengths[call->session]++;
    add(&sum->waits, call->wait);
}

void trace_sum_call(void *context, const struct trace_call *call)
{
    struct trace_sum *sum = context;
    int64_t time = call->values[TRACE_TIME];
    for (enum trace_field field = 0; field < TRACE_FIELDS; field++)
        if (field > TRACE_TURN && field != TRACE_END)
            add(&sum->fields[field], call->values[field]);
    if (time != TRACE_UNKNOWN) {
        if (sum->last != TRACE_UNKNOWN)
            add(&sum->gaps, time - sum->last);
        sum->first = sum->first == TRACE_UNKNOWN ? time : sum->first;
        sum->last = time;
        for (size_t i = 0; i < TRACE_WINDOWS; i++)
            arrive(&sum->windows[i], time - sum->first);
    }
    in_session(sum, call);
}

void trace_sum_done(struct trace_sum *sum, const struct trace_facts *facts)
{
    for (uint32_t i = 0; i < facts->sessions; i++)
        add(&sum->sessions, sum->lengths[i]);
}

void trace_sum_fini(struct trace_sum *sum)
{
    for (size_t i = 0; i < TRACE_FIELDS; i++)
        histogram_fini(&sum->fields[i].histogram);
    histogram_fini(&sum->gaps.histogram);
    histogram_fini(&sum->waits.histogram);
    histogram_fini(&sum->sessions.histogram);
    free(sum->lengths);
}

double trace_mean(const struct trace_numbers *numbers)
{
    return numbers->count ? (double)numbers->sum / (double)numbers->count : (double)NAN;
}

double trace_cv(const struct trace_numbers *numbers)
{
    double count = (double)numbers->count, mean = trace_mean(numbers), shift = numbers->deviations / count;
    if (numbers->count < 2 || !(mean > 0))
        return NAN;
    return sqrt(fmax(0, numbers->squares / count - shift * shift)) / mean;
}

double trace_dispersion(const struct trace_window *window)
{
    double count = (double)window->closed, mean = window->sum / count;
    if (window->closed < 2 || !(mean > 0))
        return NAN;
    return (window->squares / count - mean * mean) / mean;
}
