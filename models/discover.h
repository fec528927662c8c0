/* discover.h - what a client finds out of a pool whose limits it cannot see, by sending calls: `weir discover`.
 *
 * The carrier is a pool alone, on a calendar of its own: no world, no agents, no gate, so nothing stands between a
 * probe and the meters, and a scenario needs neither `agents` nor `policies`. Strangers come and limits move meanwhile.
 * The prober sees what a client sees: whether a call was refused, whether the 429 told a retry-after, how long an
 * answer took and how much of the input was found in the cache. Never a meter.
 *
 * Four phases, of which each stands on those before it but for `requests`: the burst edge, what is carried for long,
 * requests, and the weight of cached input. */
#ifndef MODELS_DISCOVER_H
#define MODELS_DISCOVER_H

#include <stdatomic.h>

#include "models/scenario.h"
#include "sim/io/mem.h"
#include "sim/io/option.h"

struct reader; /* models/readers.h */
struct node;   /* sim/io/yaml.h */

enum discover_phase { DISCOVER_BURST, DISCOVER_RAMP, DISCOVER_REQUESTS, DISCOVER_CACHE, DISCOVER_PHASES };
extern const char *const discover_phase_names[]; /* by the enum, NULL-terminated */

enum discover_form { FORM_DOUBLE, FORM_TWO_STEP };
enum discover_ramp { RAMP_TARGET, RAMP_EDGE };
enum discover_rules { RULES_COUNTED, RULES_PUBLISHED };

/* The mapping `discover:`. */
struct discover_spec {
    const char *backend; /* "": the only pool */
    struct place backend_place;
    bool wanted[DISCOVER_PHASES];
    int64_t context, output; /* tokens of a probe */
    int64_t target;          /* calls at once that the ramp begins from; 0: what the burst edge let in */
    int form;                /* enum discover_form */
    int ramp;                /* enum discover_ramp */
    int rules;               /* enum discover_rules */
    int64_t prefix, suffix;
    double hits;          /* share of warmed calls that find the prefix in the cache */
    int64_t spend_tokens; /* INT64_MAX: no cap */
    double spend_money;   /* INFINITY: no cap */
    struct place spend_place;
    int64_t seed; /* -1: the study's */
};

extern const struct option discover_options[];
extern const char *const discover_others[]; /* keys that are lists */

/* `map` may be NULL. False after an error. */
bool discover_read(const struct reader *reader, const struct node *map, struct discover_spec *spec);

struct discover_shape {
    int64_t input, cached, output; /* tokens of a call */
};

/* A row of the report. */
struct discover_step {
    enum discover_phase phase;
    const char *what; /* "burst", "rate", "again", "drain", "warm" */
    struct discover_shape shape;
    double rate;                            /* calls a second; 0: all at once */
    sim_time at, last;                      /* when it began; the last call that was sent */
    uint64_t sent, admitted, refused, told; /* told: refused with a retry-after */
    uint64_t answered, failed, proven;      /* proven: answers that say the prefix was cached */
    sim_time latency;                       /* median of the answers; -1: none */
    int64_t tokens;                         /* spent up to its end, in all */
    double money;
    const char *verdict;
    sim_time *latencies;
    size_t latency_room;
};

/* How a number is to be taken. */
enum discover_bound { FOUND_NOT, FOUND_EXACT, FOUND_LOWER, FOUND_UPPER };

struct discover_found {
    enum discover_bound bound;
    double value;
    const char *why; /* of a bound, or of what was not found; a constant text */
    bool raised;     /* a seed that is more than what it stands on: the least that is of use */
};

enum discover_end { DISCOVER_DONE, DISCOVER_CAP, DISCOVER_STOPPED };

struct discovery {
    struct arena arena;
    struct discover_step **steps;
    size_t count, room;
    enum discover_end end;
    enum discover_phase ended_in; /* unless it is done */
    sim_time took;
    uint64_t calls, refused, told; /* in all */
    int64_t tokens;                /* spent */
    double money;
    int64_t full, context;               /* of calls that were let in at once, one at least, and two */
    sim_time latency;                    /* base, of such a call; -1: unknown */
    struct discover_found edge;          /* tokens at once */
    struct discover_found rate;          /* tokens a second */
    struct discover_found requests;      /* calls at once */
    struct discover_found request_rate;  /* calls a second that ran clean */
    struct discover_found cached_weight; /* 0.05 to 1 */
};

/* Probes the pool of `backend`. `stop` may be NULL; else it is interrupted when that is set. */
void discover_run(const struct discover_spec *spec, const struct scenario *scenario, size_t backend,
                  const atomic_int *stop, struct discovery *discovery);
void discovery_fini(struct discovery *discovery);

/* What the pacer is told, by its parameters' names. */
enum discover_seed { SEED_R_TOK, SEED_C_BURST, SEED_K_INFLIGHT, SEED_C_REQ, SEED_R_QPS, SEED_CACHED_WEIGHT, SEEDS };
extern const char *const discover_seed_names[];
/* bound FOUND_NOT: it is left out. Values are rounded to the safe side as they are printed. */
struct discover_found discover_seed(const struct discovery *discovery, const struct discover_spec *spec,
                                    enum discover_seed seed);
/* The value as a scenario writes it. */
const char *discover_seed_text(enum discover_seed seed, double value, struct arena *arena);

#endif
