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

#define CALENDAR_ARRAY_MOST 128 /* pending events that the array takes; one more makes it a heap */

/* Of the array; of equal times the one that was scheduled first is nearest to the end, so that moves are short. */
struct calendar_soon {
    sim_time at;
    struct event *event;
};

/* Of the heap. */
struct calendar_entry {
    sim_time at;
    uint64_t order;
    struct event *event;
};

struct calendar {
    struct sim_where where;      /* now; the number of events fired */
    struct calendar_soon *array; /* sorted, latest first: CALENDAR_ARRAY_MOST of them */
    struct calendar_entry *heap; /* 4-ary; NULL until it is first needed */
    size_t pending, room;        /* room: of the heap */
    uint64_t next_order;
    bool heaped;
    uint64_t at_this_instant; /* events fired so far at the time that is now */
};

void calendar_init(struct calendar *calendar, uint64_t seed, uint32_t replication);
void calendar_fini(struct calendar *calendar);

static inline bool event_pending(const struct event *event)
{
    return event->slot != 0;
}

/* Whether anything is left to happen at the time that is now. */
static inline bool calendar_instant_goes_on(const struct calendar *calendar)
{
    return calendar->pending > 0 &&
           (calendar->heaped ? calendar->heap->at : calendar->array[calendar->pending - 1].at) == calendar->where.now;
}

static inline sim_time calendar_now(const struct calendar *calendar)
{
    return calendar->where.now;
}

/* What the three below do where the array is full, empty or a heap. */
void calendar_schedule_else(struct calendar *calendar, struct event *event);
void calendar_cancel_else(struct calendar *calendar, struct event *event);
struct event *calendar_next_else(struct calendar *calendar, sim_time until);

/* Schedule an idle event at a time not before now. */
static inline void calendar_schedule(struct calendar *calendar, struct event *event, sim_time at)
{
    struct calendar_soon *hole = calendar->array + calendar->pending;

    SIM_ASSERT(&calendar->where, !event_pending(event));
    SIM_ASSERT(&calendar->where, at >= calendar->where.now);
    event->at = at;
    event->order = calendar->next_order++;
    if (calendar->heaped || calendar->pending == CALENDAR_ARRAY_MOST) {
        calendar_schedule_else(calendar, event);
        return;
    }
    /* It has the greatest order, so it fires last among those of its time and belongs before them. */
    for (; hole > calendar->array && hole[-1].at <= at; hole--)
        hole[0] = hole[-1];
    hole->at = at;
    hole->event = event;
    event->slot = 1;
    calendar->pending++;
}

/* Take a scheduled event out; nothing happens if it is idle. */
static inline void calendar_cancel(struct calendar *calendar, struct event *event)
{
    if (event_pending(event))
        calendar_cancel_else(calendar, event);
}

/* Take out the next event with time <= until, and set now to its time; NULL if there is none, and now = until. The
 * caller fires it: event->fire(world, event). */
static inline struct event *calendar_next(struct calendar *calendar, sim_time until)
{
    const struct calendar_soon *first;

    if (calendar->heaped || calendar->pending == 0)
        return calendar_next_else(calendar, until);
    first = &calendar->array[calendar->pending - 1];
    if (first->at > until)
        return calendar_next_else(calendar, until);
    calendar->at_this_instant = first->at == calendar->where.now ? calendar->at_this_instant + 1 : 1;
    calendar->where.now = first->at;
    calendar->where.event++;
    calendar->pending--;
    first->event->slot = 0;
    return first->event;
}

#define container_of(pointer, type, member) ((type *)(void *)((char *)(pointer)-offsetof(type, member)))

#endif
