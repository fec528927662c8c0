/* fit_trace.h - what of a trace is fitted: thinking, answers, contexts, lengths of sessions, arrivals. */
#ifndef MODELS_FIT_TRACE_H
#define MODELS_FIT_TRACE_H

#include "models/fit.h"
#include "models/trace_sum.h"

enum fit_attribute { FIT_THINK, FIT_OUTPUT, FIT_START, FIT_GROWTH, FIT_TURNS, FIT_ATTRIBUTES };

/* Of successive calls of a session, as ln(1 + x). */
struct fit_lag {
    uint64_t pairs;
    double x, y, xx, yy, xy;
};

struct fit_trace {
    struct trace_sum sum;
    struct fit_numbers {
        double *values;
        size_t count, room;
        bool fits;
        struct fit_result result;
        struct fit_lag lag;
    } of[FIT_ATTRIBUTES];
    uint64_t shrunk; /* calls that sent less than their session's call before */
    double most;     /* tokens sent at once */
    struct fit_before {
        double sent, logs[FIT_ATTRIBUTES]; /* of the session's call before; NAN: unknown */
        bool begun;
    } * before;
    size_t room;
};

void fit_trace_init(struct fit_trace *fit);
void fit_trace_call(void *fit, const struct trace_call *call); /* a trace_call_fn */
void fit_trace_done(struct fit_trace *fit, const struct trace_facts *facts);
void fit_trace_fini(struct fit_trace *fit);

const char *fit_attribute_name(enum fit_attribute attribute);
double fit_correlation(const struct fit_lag *lag); /* NAN of fewer than 10 pairs */
/* Are the counts of calls in all windows what those of a Poisson process are 998 times of 1,000? */
bool fit_is_poisson(const struct trace_sum *sum);

#endif
