/* discover_private.h - what the parts of discovery share: the client that sends, bursts, and the search for a rate. */
#ifndef MODELS_DISCOVER_PRIVATE_H
#define MODELS_DISCOVER_PRIVATE_H

#include "models/discover.h"
#include "models/provider.h"
#include "sim/engine/calendar.h"

#define DISCOVER_PAUSE (90 * SIM_SECOND) /* between bursts, and before a phase */
#define DISCOVER_COUNTED 30              /* full contexts that must come through for a rate to count */
#define DISCOVER_NEAR 1.075              /* how near a clean rate and one too much must come; 31/29 is nearer */

static inline struct discover_found discover_found_as(enum discover_bound bound, double value, const char *why)
{
    return (struct discover_found){.bound = bound, .value = value, .why = why};
}

static inline bool discover_measured(const struct discover_found *number)
{
    return number->bound == FOUND_EXACT;
}

#define DISCOVER_SAVED 60 /* seconds of its limit: what pools are taken to save up at the most */

struct prober {
    const struct discover_spec *asked;
    const struct provider_spec *spec; /* how long answers take; limits are the provider's business */
    const struct prices *prices;
    const atomic_int *stop;
    struct discovery *found;
    struct calendar calendar;
    struct arena arena;
    struct provider *provider;
    struct stream_key key;
    uint64_t entity;
    uint64_t flying;
    double call_money; /* spent on calls, without hours */
    struct probe *free;
};

/* --- the client (discover_client.c) --- */

void prober_init(struct prober *prober, const struct discover_spec *spec, const struct scenario *scenario,
                 size_t backend, const atomic_int *stop, struct discovery *found);
void prober_fini(struct prober *prober); /* with the totals, and the median of each step */
/* Neither the cap nor the user has ended it. */
bool prober_going(const struct prober *prober);
struct discover_step *prober_step(struct prober *prober, enum discover_phase phase, const char *what,
                                  struct discover_shape shape, double rate);
/* Was it let in? Ends everything instead of spending more than the cap. */
bool prober_send(struct prober *prober, struct discover_step *step);
/* Neither waits longer than the cap bears: it ends everything instead. */
void prober_wait(struct prober *prober, sim_time until);
void prober_pause(struct prober *prober, sim_time length);
void prober_settle(struct prober *prober); /* until all answers are there, or the cap is reached */
/* A verdict, with printf's conversions; the step is over, and what was spent so far is noted. */
void prober_judge(struct prober *prober, struct discover_step *step, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
sim_time discover_median(sim_time *values, size_t count); /* sorts them; the ceil(n/2)-th; -1 of none */

/* --- bursts (discover_burst.c) --- */

struct burst {
    enum discover_phase phase;
    struct discover_shape shape;
    uint64_t first, most; /* calls at once */
    bool halves;          /* where not one call is let in, calls half as large are tried */
};

/* All at once; how many were let in. Answers are waited for. */
uint64_t burst_send(struct prober *prober, const struct burst *burst, uint64_t calls);
/* The largest number of calls that is let in at once. On return burst->shape is the one that was. */
struct discover_found burst_double(struct prober *prober, struct burst *burst);
struct discover_found burst_two_step(struct prober *prober, struct burst *burst);
struct discover_found burst_once(struct prober *prober, struct burst *burst);

/* --- rates (discover_rate.c) --- */

/* What a rate is in: `unit` of them a call, tokens or 1. */
struct rate {
    enum discover_phase phase;
    const char *what;
    struct discover_shape shape;
    double unit;
    double latency;   /* L in seconds: clamp(ceil(3 R L / unit), 15, 60) calls a step; 0: */
    double seconds;   /* so long a step, and at least 15 calls */
    uint64_t least;   /* calls a step, where that is more */
    uint64_t counted; /* calls that must come through, from the first 429 on, for their rate to count; 0: a step ends
                         with its first 429 */
    sim_time base;    /* answers slower than 1.2 of it are strain; 0: they are not */
};

enum strain { STRAIN_NONE, STRAIN_SOFT, STRAIN_HARD, STRAIN_UNKNOWN /* it was ended */ };

struct paced {
    enum strain strain;
    double least, most; /* HARD and counted: the pool's own rate is between these */
    bool blocked;       /* nothing came through for as long as anybody waits */
    struct discover_step *step;
};

/* One step at R units a second: evenly spaced, the first call one spacing from now. */
struct paced rate_step(struct prober *prober, const struct rate *rate, double r);

struct rate_search {
    double start;
    unsigned climbs; /* doublings, while no step is strained */
    double ratio;    /* a clean rate and one that is too much need not come nearer */
    double saved;    /* seconds of its own rate that the pool may have saved up by the begin */
};

/* What is carried for long, counted: see discover_rate.c. */
struct discover_found rate_search(struct prober *prober, const struct rate *rate, struct rate_search *search);

/* May the strain at so many tokens a second, found after the burst edge, be that of a limit of what is in flight
 * (discover_flight.c)? True also where that cannot be told. */
bool flight_binds(struct prober *prober, double rate);

/* --- the phases that have a file of their own --- */

void discover_cache(struct prober *prober);

#endif
