/* calendar.h - the event list: what happens next.
 *
 * Invariants: time never runs backwards; events of equal time fire in the order in which they were scheduled; an event
 * node is in the calendar at most once. Nodes are embedded in their owners and never copied, so scheduling allocates
 * nothing in steady state. Cost: a sorted array while few events are pending, a 4-ary heap above; the order is the
 * same whatever the structure. Cancelling is O(pending) moves in the array (at most 128) and O(log n) in the heap. */
#ifndef SIM_CALENDAR_H
#define SIM_CALENDAR_H

#include <stdbool.h>
#include <stddef.h>

#include "sim/engine/where.h"

struct event;
typedef void event_fn(void *world, struct event *event);

struct event {
    event_fn *fire; /* set by the owner before scheduling */
    sim_time at;    /* valid while scheduled, and while it fires */
    uint64_t order; /* tie breaker, given by calendar_schedule */
    size_t slot;    /* place in the calendar plus one; 0: not scheduled. Zeroed memory is a valid idle node. */
};

struct calendar_entry {
    sim_time at;
    uint64_t order;
    struct event *event;
};

struct calendar {
    struct sim_where where;         /* now; the number of events fired */
    struct calendar_entry *entries; /* sorted array (latest first) or 4-ary heap */
    size_t pending, room;
    uint64_t next_order;
    bool heap;
    uint64_t at_this_instant; /* events fired so far at the time that is now */
};

void calendar_init(struct calendar *calendar, uint64_t seed, uint32_t replication);
void calendar_fini(struct calendar *calendar);

/* Schedule an idle event at a time not before now. */
void calendar_schedule(struct calendar *calendar, struct event *event, sim_time at);
/* Take a scheduled event out; nothing happens if it is idle. */
void calendar_cancel(struct calendar *calendar, struct event *event);
/* Take out the next event with time <= until, and set now to its time; NULL if there is none, and now = until. The
 * caller fires it: event->fire(world, event). */
struct event *calendar_next(struct calendar *calendar, sim_time until);

static inline bool event_pending(const struct event *event)
{
    return event->slot != 0;
}

/* Whether anything is left to happen at the time that is now. */
static inline bool calendar_instant_goes_on(const struct calendar *calendar)
{
    size_t first = calendar->heap ? 0 : calendar->pending - 1;
    return calendar->pending > 0 && calendar->entries[first].at == calendar->where.now;
}

static inline sim_time calendar_now(const struct calendar *calendar)
{
    return calendar->where.now;
}

#define container_of(pointer, type, member) ((type *)(void *)((char *)(pointer)-offsetof(type, member)))

#endif
