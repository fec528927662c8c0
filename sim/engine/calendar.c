/* calendar.c - the event list: a sorted array while few events are pending, a 4-ary heap above.
 *
 * A closed loop of a few dozen agents keeps a few dozen events pending. There a sorted array is twice as fast as a
 * heap, and up to about 130 it is the faster one: the next event is popped off the end, and a new one, being the
 * youngest, is compared by time alone. In the array `slot` says no more than that the node is scheduled, so that
 * entries move without a write to the nodes behind them; cancelling finds its entry by bisection. In the heap slots are
 * exact. There are two thresholds, so that a number of pending events that hovers around one converts nothing. */
#include "sim/engine/calendar.h"

#include <stdlib.h>

#include "sim/io/mem.h"

#define ARRAY_MOST 128 /* pending events that the array takes; one more makes it a heap */
#define HEAP_LEAST 64  /* pending events at which a heap becomes an array again */
#define WAYS 4         /* children of a heap entry */

/* Without a branch: in a heap the outcome is a coin toss. */
static inline bool earlier(const struct calendar_entry *a, const struct calendar_entry *b)
{
    return (a->at < b->at) | ((a->at == b->at) & (a->order < b->order));
}

static inline void put(struct calendar *calendar, size_t i, struct calendar_entry entry)
{
    calendar->entries[i] = entry;
    entry.event->slot = i + 1;
}

/* Fill the hole at i with an entry that belongs there or nearer to the root. */
static void sift_up(struct calendar *calendar, size_t i, struct calendar_entry entry)
{
    while (i > 0) {
        size_t parent = (i - 1) / WAYS;
        if (!earlier(&entry, &calendar->entries[parent]))
            break;
        put(calendar, i, calendar->entries[parent]);
        i = parent;
    }
    put(calendar, i, entry);
}

/* The earliest child of an entry that has one. Full families are decided by a tournament without branches. */
static size_t first_child(const struct calendar *calendar, size_t parent)
{
    const struct calendar_entry *entries = calendar->entries;
    size_t first = WAYS * parent + 1, left = calendar->pending - first;
    if (left >= WAYS) {
        size_t other = first + 2 + earlier(&entries[first + 3], &entries[first + 2]);
        first += earlier(&entries[first + 1], &entries[first]);
        return first + (other - first) * earlier(&entries[other], &entries[first]);
    }
    for (size_t child = first + 1; child < calendar->pending; child++)
        if (earlier(&entries[child], &entries[first]))
            first = child;
    return first;
}

/* Fill the hole at i with an entry that belongs there or further from the root. */
static void sift_down(struct calendar *calendar, size_t i, struct calendar_entry entry)
{
    while (WAYS * i + 1 < calendar->pending) {
        size_t child = first_child(calendar, i);
        if (!earlier(&calendar->entries[child], &entry))
            break;
        put(calendar, i, calendar->entries[child]);
        i = child;
    }
    put(calendar, i, entry);
}

static void heap_remove(struct calendar *calendar, size_t i)
{
    struct calendar_entry last = calendar->entries[--calendar->pending];
    if (i == calendar->pending)
        return;
    if (i > 0 && earlier(&last, &calendar->entries[(i - 1) / WAYS]))
        sift_up(calendar, i, last);
    else
        sift_down(calendar, i, last);
}

/* The new entry has the greatest order, so it fires last among those of its time and belongs before them. */
static void array_insert(struct calendar *calendar, struct calendar_entry entry)
{
    struct calendar_entry *hole = calendar->entries + calendar->pending++;
    for (; hole > calendar->entries && hole[-1].at <= entry.at; hole--)
        hole[0] = hole[-1];
    *hole = entry;
    entry.event->slot = 1;
}

static void array_remove(struct calendar *calendar, const struct event *event)
{
    struct calendar_entry *entries = calendar->entries, key = {.at = event->at, .order = event->order};
    size_t low = 0, high = calendar->pending; /* the first entry not later than the key is in [low, high) */
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (earlier(&key, &entries[middle]))
            low = middle + 1;
        else
            high = middle;
    }
    SIM_ASSERT(&calendar->where, low < calendar->pending && entries[low].event == event);
    calendar->pending--;
    for (; low < calendar->pending; low++)
        entries[low] = entries[low + 1];
}

/* The array read backwards is sorted, and so it is a heap. */
static void array_to_heap(struct calendar *calendar)
{
    size_t low = 0, high = calendar->pending;
    while (low < high) {
        struct calendar_entry entry = calendar->entries[low];
        put(calendar, low++, calendar->entries[--high]);
        put(calendar, high, entry);
    }
    calendar->heap = true;
}

/* An insertion sort, latest first: about a thousand moves, paid for by the events that emptied the heap. */
static void heap_to_array(struct calendar *calendar)
{
    struct calendar_entry *entries = calendar->entries;
    for (size_t i = 1; i < calendar->pending; i++) {
        struct calendar_entry entry = entries[i];
        size_t hole = i;
        for (; hole > 0 && earlier(&entries[hole - 1], &entry); hole--)
            entries[hole] = entries[hole - 1];
        entries[hole] = entry;
    }
    calendar->heap = false;
}

void calendar_init(struct calendar *calendar, uint64_t seed, uint32_t replication)
{
    *calendar = (struct calendar){.where = {.seed = seed, .replication = replication}, .room = ARRAY_MOST};
    calendar->entries = mem_resized(NULL, calendar->room, sizeof *calendar->entries);
}

void calendar_fini(struct calendar *calendar)
{
    free(calendar->entries);
    *calendar = (struct calendar){0};
}

void calendar_schedule(struct calendar *calendar, struct event *event, sim_time at)
{
    SIM_ASSERT(&calendar->where, !event_pending(event));
    SIM_ASSERT(&calendar->where, at >= calendar->where.now);
    event->at = at;
    event->order = calendar->next_order++;
    struct calendar_entry entry = {at, event->order, event};
    if (!calendar->heap && calendar->pending < ARRAY_MOST) {
        array_insert(calendar, entry);
        return;
    }
    if (!calendar->heap)
        array_to_heap(calendar);
    if (calendar->pending == calendar->room) {
        calendar->room *= 2;
        calendar->entries = mem_resized(calendar->entries, calendar->room, sizeof *calendar->entries);
    }
    sift_up(calendar, calendar->pending++, entry);
}

void calendar_cancel(struct calendar *calendar, struct event *event)
{
    if (!event_pending(event))
        return;
    if (!calendar->heap) {
        array_remove(calendar, event);
    } else {
        SIM_ASSERT(&calendar->where,
                   event->slot <= calendar->pending && calendar->entries[event->slot - 1].event == event);
        heap_remove(calendar, event->slot - 1);
        if (calendar->pending == HEAP_LEAST)
            heap_to_array(calendar);
    }
    event->slot = 0;
}

struct event *calendar_next(struct calendar *calendar, sim_time until)
{
    const struct calendar_entry *first = calendar->entries;
    if (!calendar->heap && calendar->pending > 0)
        first += calendar->pending - 1;
    if (calendar->pending == 0 || first->at > until) {
        if (until > calendar->where.now) {
            calendar->where.now = until;
            calendar->at_this_instant = 0;
        }
        return NULL;
    }
    struct event *event = first->event;
    calendar->at_this_instant = first->at == calendar->where.now ? calendar->at_this_instant + 1 : 1;
    calendar->where.now = first->at;
    calendar->where.event++;
    event->slot = 0;
    if (!calendar->heap) {
        calendar->pending--;
    } else {
        heap_remove(calendar, 0);
        if (calendar->pending == HEAP_LEAST)
            heap_to_array(calendar);
    }
    return event;
}
