/* provider_tables.h - the keys of a `provider` backend, of an `alias` of one, and of `prices`: one option table for
 * each mapping, as in models/tables.h. */
#ifndef MODELS_PROVIDER_TABLES_H
#define MODELS_PROVIDER_TABLES_H

#include "models/provider_spec.h"
#include "sim/io/expr.h"
#include "sim/io/option.h"

struct provider_keys {
    int kind; /* enum kind */
    const char *preset, *retry_after;
    double errors;
};

struct alias_keys {
    int kind; /* enum kind */
    const char *of;
};

/* What limit and burst count depends on the meter: they are texts until that is known. */
struct meter_keys {
    const char *limit;
    const struct expr *moves;
    const char *burst, *fill;
    sim_time window;
    int counts; /* enum meter_counts */
    bool settle;
    double cached_weight;
    bool refused_count;
};

struct latency_keys {
    sim_time base, per_input, per_cached, per_output;
    const struct expr *noise;
};

struct strangers_keys {
    const struct expr *calls, *input;
    double cached;
    const struct expr *output;
};

struct simultaneous_keys {
    int64_t cold, hot;
    sim_time within;
    const struct expr *recovery;
};

struct acceleration_keys {
    double times;
    sim_time over;
    int64_t free;
};

struct price_keys {
    double input, cached, output, request, hour;
};

enum { PROVIDER_KIND, PROVIDER_PRESET, PROVIDER_RETRY_AFTER, PROVIDER_ERRORS, PROVIDER_KEYS };
enum { ALIAS_KIND, ALIAS_OF, ALIAS_KEYS };
enum {
    METER_LIMIT,
    METER_MOVES,
    METER_BURST,
    METER_FILL,
    METER_WINDOW,
    METER_COUNTS,
    METER_SETTLE,
    METER_CACHED_WEIGHT,
    METER_REFUSED_COUNT,
    METER_KEYS
};
enum { LATENCY_BASE, LATENCY_PER_INPUT, LATENCY_PER_CACHED, LATENCY_PER_OUTPUT, LATENCY_NOISE, LATENCY_KEYS };
enum { STRANGERS_CALLS, STRANGERS_INPUT, STRANGERS_CACHED, STRANGERS_OUTPUT, STRANGERS_KEYS };
enum { SIMULTANEOUS_COLD, SIMULTANEOUS_HOT, SIMULTANEOUS_WITHIN, SIMULTANEOUS_RECOVERY, SIMULTANEOUS_KEYS };
enum { ACCELERATION_TIMES, ACCELERATION_OVER, ACCELERATION_FREE, ACCELERATION_KEYS };
enum { PRICE_INPUT, PRICE_CACHED, PRICE_OUTPUT, PRICE_REQUEST, PRICE_HOUR, PRICE_KEYS };

extern const struct option provider_options[], alias_options[], meter_options[], latency_options[], strangers_options[],
    simultaneous_options[], acceleration_options[], price_options[];
/* The same keys once the meter is known, by its kind: limit a rate or a count, burst a count, with its noun. */
extern const struct option limit_options[METER_KINDS], burst_options[METER_KINDS];

extern const char *const provider_others[]; /* keys of a provider that are mappings */
extern const char *const fill_names[];      /* by enum meter_fill, NULL-terminated */

const char *meter_noun(enum meter_kind kind);
/* Whether a row of meter_options has a meaning for such a meter. */
bool meter_takes(enum meter_kind kind, int row);

#endif
