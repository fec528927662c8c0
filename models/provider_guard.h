/* provider_guard.h - what a pool punishes beside its meters: calls that come at once, and traffic that grows too fast.
 *
 * Each is asked whether tokens (in micro-units) would pass, and told of those that were let in by all. Integers only.
 */
#ifndef MODELS_PROVIDER_GUARD_H
#define MODELS_PROVIDER_GUARD_H

#include "models/meter.h"
#include "sim/io/mem.h"

struct arrival {
    sim_time at;
    int64_t tokens;
};

/* Tokens admitted within a sliding `within`: an admission counts until exactly that much later, and 0 is one instant.
 * Hot from a refusal on, until the recovery that was drawn for it has passed; a later refusal begins anew. O(1) a call,
 * amortised. */
struct simultaneous {
    const struct simultaneous_spec *spec;
    struct stream_key key;
    uint64_t entity, refusals;
    int64_t cold, hot;
    sim_time hot_until;
    struct arrival *arrivals; /* a ring: calls that were admitted */
    size_t first, count, room;
    sim_sum tokens; /* in all of them */
    struct arena *arena;
};

void simultaneous_init(struct simultaneous *simultaneous, const struct simultaneous_spec *spec, struct stream_key key,
                       uint64_t entity, struct arena *arena);
bool simultaneous_fits(struct simultaneous *simultaneous, sim_time now, int64_t tokens);
void simultaneous_take(struct simultaneous *simultaneous, sim_time now, int64_t tokens);
void simultaneous_punish(struct simultaneous *simultaneous, sim_time now); /* it refused a call */

/* Refused is what lifts the last minute above `times` x the mean minute of the last `over`, and above `free`. Time is
 * in cells of a second, the present one included: 60 of them are the last minute, and `over` is whole cells, at least a
 * minute. Before t = 0 nothing was sent, and the call itself is not in the mean. O(1) a call and O(1) a second. */
struct acceleration {
    int64_t times, free; /* millionths, micro-units */
    sim_time cell;       /* the present one: seconds since t = 0 */
    int64_t count;       /* of cells; 0: no such limit */
    sim_sum *cells;      /* a ring */
    sim_sum minute, over;
};

void acceleration_init(struct acceleration *acceleration, const struct acceleration_spec *spec, struct arena *arena);
bool acceleration_fits(struct acceleration *acceleration, sim_time now, int64_t tokens);
void acceleration_take(struct acceleration *acceleration, sim_time now, int64_t tokens);

#endif
