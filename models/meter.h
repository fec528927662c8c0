/* meter.h - one meter of a pool: how much of its limit is left, exactly.
 *
 * Amounts are whole numbers of micro-units (10^-6 requests or tokens) and limits whole micro-units a day (of meters
 * of what is in flight: micro-units), so that limits a second, minute, hour and day are kept as they were said; levels
 * are kept in micro-units x ns of a day as 128-bit numbers and no
 * rounding ever lets a call in or keeps it out. Conformance: over every interval a continuous meter that charges at
 * admission admits at most burst + the integral of its limit; a window meter at most limit x window in each window.
 *
 * Buckets (continuous, step) are full at t = 0 and never above `burst`. A window's allowance is limit x window by the
 * limit at its start, and what a step gives by the limit when it comes; a limit that moves inside a window takes effect
 * with the next one. What is left of a window goes with it, and so does what is owed: a correction of a charge that an
 * earlier window took changes `taken` alone, never the present allowance. A charge that comes with the answer
 * (COUNTS_AFTER) falls into the window of the answer. A bucket keeps its debts. So a meter that corrects or counts
 * afterwards admits more than it should by no more than what was in flight.
 *
 * A limit moves by itself, lazily: whoever asks brings it up to date. When it is asked changes nothing. */
#ifndef MODELS_METER_H
#define MODELS_METER_H

#include "models/provider_spec.h"
#include "sim/engine/stream.h"

#define METER_DAY (86400 * SIM_SECOND)
/* More than any limit or call has: what is above is cut here, so that levels fit into 128 bits. */
#define METER_MOST (INT64_C(1) << 62)

/* An amount to the nearest micro-unit. */
static inline int64_t meter_micro(double amount)
{
    double micro = amount * 1e6;

    if (!(micro > 0))
        return 0;
    return micro < (double)METER_MOST ? (int64_t)(micro + 0.5) : METER_MOST;
}

/* The limit as a function of time; it only goes forward. */
struct limit {
    const struct limit_spec *spec;
    struct stream_key key;
    uint64_t entity; /* whose random numbers: a hash of backend and meter */
    uint64_t piece;  /* which piece of the function it is at, from 0 */
    int64_t value;   /* in this piece: micro-units a day, or micro-units */
    sim_time ends;   /* of this piece; SIM_NEVER */
    bool level;      /* a limit of what is in flight: micro-units, no rate */
};

void limit_init(struct limit *limit, const struct limit_spec *spec, bool level, struct stream_key key, uint64_t entity);
void limit_next(struct limit *limit); /* into the next piece, at limit->ends */
/* A limit that is constant has another value from now on: amounts a second, or amounts. */
void limit_set(struct limit *limit, double value);

struct meter {
    const struct meter_spec *spec;
    struct limit limit;
    int64_t burst;  /* micro-units that a full bucket holds */
    sim_time at;    /* everything below is as of then */
    sim_time opens; /* the next window; SIM_NEVER where there are none */
    sim_sum left;   /* micro-units x 8.64e13; may be below 0 after the fact; of meters of what is in flight: unused */
    int64_t flying; /* micro-units in flight, of meters of what is in flight */
    /* For measures, since t = 0: micro-units charged, refunds taken off, and the integral of the limit in micro-units x
     * 8.64e13; of meters of what is in flight: the integrals of `flying` and of the limit in micro-units x ns. */
    sim_sum taken, offered;
};

/* What a call takes, as it is estimated or as it was: tokens. */
struct meter_call {
    double input, cached, output;
    double max_tokens; /* of output that it may take at the most; INFINITY: not said */
};

void meter_init(struct meter *meter, const struct meter_spec *spec, struct stream_key key, uint64_t entity);
void meter_advance(struct meter *meter, sim_time now); /* idempotent; the others do it themselves */
/* A limit that is constant, and what a full bucket holds, from now on. Nobody has asked at this instant yet: a window
 * that opens with it is of the new limit, as of a limit that moves; what is above a smaller burst is lost. */
void meter_set_limit(struct meter *meter, sim_time now, double value);
void meter_set_burst(struct meter *meter, sim_time now, double value);

/* Micro-units that the meter charges at admission (0 where it counts afterwards), and with the answer in all. */
int64_t meter_estimate(const struct meter_spec *spec, const struct meter_call *estimate);
int64_t meter_real(const struct meter_spec *spec, const struct meter_call *real);

bool meter_fits(struct meter *meter, sim_time now, int64_t estimate);
/* How long until that would fit, were nobody else to come and the limit to stay; 0: it fits; SIM_NEVER: never, not
 * within SIM_LONGEST, or nobody can tell (what is in flight). Rounded up to the ns. */
sim_time meter_until(struct meter *meter, sim_time now, int64_t estimate);
void meter_take(struct meter *meter, sim_time now, int64_t estimate);
/* A call that was taken at `since` with `estimate` has its answer, or failed (`real` is then what it is charged for).
 */
void meter_settle(struct meter *meter, sim_time now, sim_time since, int64_t estimate, int64_t real);
/* A call was refused, by whatever: where those count, it is charged all the same, and the level may go below 0. What
 * counts afterwards charges what a refusal takes: a request and no tokens. */
void meter_refused(struct meter *meter, sim_time now, const struct meter_call *estimate);

double meter_left(struct meter *meter, sim_time now);  /* amount that could be taken now, at least 0; for recorders */
double meter_limit(struct meter *meter, sim_time now); /* amount a minute, or amount */

#endif
