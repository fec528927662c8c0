/* provider.h - a metered pool as it runs: asks all its meters, and charges all or none. Shared by the gates of its
 * aliases. It knows nothing of gates and calls: who asks keeps a ticket until the answer.
 *
 * A call is refused by the first of: the meters in the order of the file, simultaneous arrival, acceleration. Those two
 * (models/provider_guard.h) count input tokens as estimated, cached or not, and are asked of what the meters let in.
 * The retry-after is the longest that a meter which refuses would need, refused calls that count included: who comes
 * then, with nobody else in between and the limits as they were, is let in by all meters. None is told where a meter
 * cannot say, nor by the other two, unless it is constant.
 */
#ifndef MODELS_PROVIDER_H
#define MODELS_PROVIDER_H

#include "models/meter.h"
#include "sim/engine/calendar.h"
#include "sim/io/mem.h"
#include "sim/stats/tally.h"

struct provider;

/* An admitted call's charges, one for each meter, in its caller's memory: see provider_ticket_size. */
struct provider_ticket {
    sim_time at; /* when it was admitted */
    int64_t charges[];
};

struct provider_refusal {
    sim_time retry_after; /* or -1: none is told */
    const char *reason;   /* a constant text: the meter's name, "simultaneous" or "acceleration" */
};

/* `entity`: a hash of the backend's name. Strangers are events of the calendar: from t = 0 on, without an end; what
 * they take is what they were expected to. Memory is of the arena; in steady state none is taken. */
struct provider *provider_new(const struct provider_spec *spec, struct calendar *calendar, struct stream_key key,
                              uint64_t entity, struct arena *arena);
size_t provider_ticket_size(const struct provider_spec *spec);
const struct provider_spec *provider_spec(const struct provider *provider); /* as it is now */

/* From now on, of calls that come; nobody has asked at this instant yet. A limit that is constant; what a full bucket
 * holds; how long answers take, what a refusal tells, the share of calls that fail. */
void provider_set_limit(struct provider *provider, size_t meter, double value);
void provider_set_burst(struct provider *provider, size_t meter, double value);
void provider_set_latency(struct provider *provider, const struct latency_spec *latency);
void provider_set_retry_after(struct provider *provider, enum retry_after_law law, sim_time constant);
void provider_set_errors(struct provider *provider, double share);
/* Calls a second of strangers, where there are any. What is left of the gap before the next is longer or shorter by the
 * ratio of the rates: the same strangers come, with other gaps. */
void provider_set_strangers(struct provider *provider, double rate);

/* Admits and fills the ticket, or refuses. */
bool provider_ask(struct provider *provider, const struct meter_call *estimate, struct provider_ticket *ticket,
                  struct provider_refusal *refusal);
/* The answer, a failure or an abandoned call has come to its end: meters are settled with what it took. */
void provider_answers(struct provider *provider, const struct provider_ticket *ticket, const struct meter_call *real);
/* How long an admitted call takes; the words come from a stream of the call's own. */
sim_time provider_latency(const struct provider_spec *spec, const struct meter_call *real, struct stream *stream);

struct meter *provider_meters(struct provider *provider); /* spec->meter_count of them */

/* Since t = 0: 429s to strangers and to callers. */
struct provider_counts {
    uint64_t asked, refused, strangers_asked, strangers_refused;
};
const struct provider_counts *provider_counts(const struct provider *provider);

/* From a drop of a limit to the last refusal (to callers) of the burst that follows it: until a minute passes without
 * one; 0 where none came within a minute. A drop that comes meanwhile belongs to the same episode, and does not prolong
 * it. Cleared by provider_window; an episode counts when it is over, and one that is open at the end is not in it. */
const struct tally *provider_recovery(struct provider *provider);
void provider_window(struct provider *provider); /* a new window of measurement begins: marks taken and offered */
/* In the window, of one meter: what was charged, in amounts, and what the limit would have given, in amounts (of meters
 * of what is in flight: the mean level and the mean limit; NAN in a window that has just begun). A refund of what was
 * charged before the window is taken off. */
void provider_use(struct provider *provider, size_t meter, double *taken, double *offered);

#endif
