/* trace_sum.h - what is in a trace, in numbers: counts, exact sums, spreads, quantiles, and how its calls come. In
 * constant memory, but for a count a session. */
#ifndef MODELS_TRACE_SUM_H
#define MODELS_TRACE_SUM_H

#include "models/trace.h"
#include "sim/stats/quantile.h"

/* Of one thing that rows say. */
struct trace_numbers {
    uint64_t count, unknown;
    sim_sum sum;
    int64_t origin; /* the first value: deviations from it are summed, so that a constant has none */
    double deviations, squares;
    struct histogram histogram;
};

/* Calls counted in windows of one width, from the first call on; the last window, which the trace does not fill, is
 * left out. */
struct trace_window {
    sim_time width;
    int64_t closed; /* windows that are over */
    uint64_t open;  /* calls in the next one */
    double sum, squares;
};

enum { TRACE_WINDOWS = 4 };

struct trace_sum {
    struct trace_numbers fields[TRACE_FIELDS];
    struct trace_numbers gaps, waits, sessions; /* between calls; before calls of sessions; calls of a session */
    struct trace_window windows[TRACE_WINDOWS];
    int64_t first, last; /* times; TRACE_UNKNOWN: there are none */
    uint32_t *lengths;   /* [session] */
    size_t room;
    uint64_t alone; /* calls without a session */
};

void trace_sum_init(struct trace_sum *sum);
void trace_sum_call(void *sum, const struct trace_call *call); /* a trace_call_fn */
void trace_sum_done(struct trace_sum *sum, const struct trace_facts *facts);
void trace_sum_fini(struct trace_sum *sum);

double trace_mean(const struct trace_numbers *numbers); /* NAN of nothing */
double trace_cv(const struct trace_numbers *numbers);   /* NAN where it is not defined */
/* Variance / mean of the counts, NAN of fewer than two windows; 1 of a Poisson process, whatever its rate. */
double trace_dispersion(const struct trace_window *window);

#endif
