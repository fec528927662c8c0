/* provider_spec.h - what a scenario says of a `provider` backend: a metered pool whose limits are hidden and move.
 *
 * Amounts are requests or tokens, limits amounts a second (of meters of what is in flight: amounts). A limit is a
 * function of time that is constant in pieces. */
#ifndef MODELS_PROVIDER_SPEC_H
#define MODELS_PROVIDER_SPEC_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/engine/clock.h"
#include "sim/engine/dist.h"
#include "sim/io/diag.h"

enum meter_kind {
    METER_REQUESTS,
    METER_INPUT,  /* tokens sent, the cached ones by their weight */
    METER_OUTPUT, /* tokens answered */
    METER_TOTAL,  /* both */
    METER_IN_FLIGHT,
    METER_TOKENS_IN_FLIGHT, /* both, of calls in flight */
    METER_KINDS
};

extern const char *const meter_names[]; /* as scenarios say them, by their kind, ended by NULL */

/* Else its limit is one of what is in flight. */
static inline bool meter_is_rate(enum meter_kind kind)
{
    return kind != METER_IN_FLIGHT && kind != METER_TOKENS_IN_FLIGHT;
}

enum meter_fill {
    FILL_CONTINUOUS, /* a bucket that fills all the time, up to `burst` */
    FILL_WINDOW,     /* limit x window in each window, counted from t = 0 */
    FILL_STEP,       /* a bucket that gets limit x window at the start of each window, up to `burst` */
    FILL_SUB,        /* as window, of the short length that was named: a minute's limit enforced by the second */
};

enum meter_counts {
    COUNTS_ESTIMATE,   /* charged at admission, by what the call is expected to need */
    COUNTS_MAX_TOKENS, /* at admission, the larger of the expected output and the call's max_tokens */
    COUNTS_AFTER,      /* with the answer, by what it took; admitted while anything is left */
};

enum limit_law {
    LIMIT_CONSTANT,  /* values[0] */
    LIMIT_STEPS,     /* values[i] from times[i] on; times[0] is 0 */
    LIMIT_TWO_LEVEL, /* values[0] and values[1] in turn, each for an exponential time of mean `dwell` */
    LIMIT_WALK,      /* begins at values[0]; every `every` moves by U(-step, step), turned back at the bounds values[1]
                        (least) and values[2] (most) */
    LIMIT_DAY,       /* a day of count equal parts, again each day */
};

struct limit_spec {
    enum limit_law law;
    const sim_time *times;
    const double *values;
    size_t count; /* of values */
    double dwell; /* seconds */
    double step;
    sim_time every;
};

struct meter_spec {
    enum meter_kind kind;
    struct place place;
    struct limit_spec limit;
    double burst;
    enum meter_fill fill;
    sim_time window; /* FILL_WINDOW, FILL_STEP, FILL_SUB: its length */
    enum meter_counts counts;
    bool settle;          /* a charge at admission is corrected with the answer */
    double cached_weight; /* of cached input, 0 to 1 */
    bool refused_count;   /* calls that are refused are charged too */
};

enum retry_after_law { RETRY_EXACT, RETRY_ROUNDED, RETRY_NONE, RETRY_CONSTANT };

/* Other keys of the same pool: calls that take from the meters and never try again. */
struct strangers_spec {
    double rate; /* calls a second; 0: nobody */
    const struct dist *input, *output;
    double cached; /* share of the input */
};

/* Tokens that may be admitted within `within`: `cold` of them, but `hot` until `recovery` (seconds) has passed since
 * the last call that this refused. */
struct simultaneous_spec {
    double cold, hot; /* 0: not punished */
    sim_time within;
    const struct dist *recovery;
};

/* Refuses what lifts the tokens of the last minute above `times` x the mean minute of the last `over`, and above `free`
 * tokens. */
struct acceleration_spec {
    double times; /* 0: no such limit */
    sim_time over;
    double free;
};

struct latency_spec {
    double base;                              /* seconds */
    double per_input, per_cached, per_output; /* seconds a token; per_input of what is not cached */
    const struct dist *noise;                 /* a factor of mean 1, or NULL: 1 */
};

struct provider_spec {
    const char *preset; /* or NULL */
    const struct meter_spec *meters;
    size_t meter_count;
    struct latency_spec latency;
    enum retry_after_law retry_after;
    sim_time retry_after_constant;
    struct strangers_spec strangers;
    struct simultaneous_spec simultaneous;
    struct acceleration_spec acceleration;
    double errors; /* share of admitted calls that fail after their latency */
};

#endif
