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

#define HEAP_LEAST 64 /* pending events at which a heap becomes an array again */
#define WAYS 4        /* children of a heap entry */

/* Without a branch: in a heap the outcome is a coin toss. */
static inline bool earlier(const struct calendar_entry *a, const struct calendar_entry *b)
{
    return (a->at < b->at) | ((a->at == b->at) & (a->order < b->order));
}

static inline void put(struct calendar *calendar, size_t i, struct calendar_entry entry)
{
    calendar->heap[i] = entry;
    entry.event->slot = i + 1;
}

/* Fill the hole at i with an entry that belongs there or nearer to the root. */
static void sift_up(struct calendar *calendar, size_t i, struct calendar_entry entry)
{
    while (i > 0) {
        size_t parent = (i - 1) / WAYS;
        if (!earlier(&entry, &calendar->heap[parent]))
            break;
        put(calendar, i, calendar->heap[parent]);
        i = parent;
    }
    put(calendar, i, entry);
}

/* The earliest child of an entry that has one. Full families are decided by a tournament without branches. */
static size_t first_child(const struct calendar *calendar, size_t parent)
{
    const struct calendar_entry *entries = calendar->heap;
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
        if (!earlier(&calendar->heap[child], &entry))
            break;
        put(calendar, i, calendar->heap[child]);
        i = child;
    }
    put(calendar, i, entry);
}

static void heap_remove(struct calendar *calendar, size_t i)
{
    struct calendar_entry last = calendar->heap[--calendar->pending];
    if (i == calendar->pending)
        return;
    if (i > 0 && earlier(&last, &calendar->heap[(i - 1) / WAYS]))
        sift_up(calendar, i, last);
    else
        sift_down(calendar, i, last);
}

static void array_remove(struct calendar *calendar, const struct event *event)
{
    struct calendar_soon *array = calendar->array;
    size_t low = 0, high = calendar->pending; /* the first entry not later than the event is in [low, high) */
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (array[middle].at > event->at ||
            (array[middle].at == event->at && array[middle].event->order > event->order))
            low = middle + 1;
        else
            high = middle;
    }
    SIM_ASSERT(&calendar->where, low < calendar->pending && array[low].event == event);
    calendar->pending--;
    for (; low < calendar->pending; low++)
        array[low] = array[low + 1];
}

/* The array read backwards is sorted, and so it is a heap. */
static void array_to_heap(struct calendar *calendar)
{
    if (!calendar->heap) {
        calendar->room = 2 * CALENDAR_ARRAY_MOST;
        calendar->heap = mem_resized(NULL, calendar->room, sizeof *calendar->heap);
    }
    for (size_t i = 0; i < calendar->pending; i++) {
        struct event *event = calendar->array[calendar->pending - 1 - i].event;
        put(calendar, i, (struct calendar_entry){event->at, event->order, event});
    }
    calendar->heaped = true;
}

/* An insertion sort, latest first: about a thousand moves, paid for by the events that emptied the heap. */
static void heap_to_array(struct calendar *calendar)
{
    struct calendar_entry *entries = calendar->heap;
    for (size_t i = 1; i < calendar->pending; i++) {
        struct calendar_entry entry = entries[i];
        size_t hole = i;
        for (; hole > 0 && earlier(&entries[hole - 1], &entry); hole--)
            entries[hole] = entries[hole - 1];
        entries[hole] = entry;
    }
    for (size_t i = 0; i < calendar->pending; i++)
        calendar->array[i] = (struct calendar_soon){entries[i].at, entries[i].event};
    calendar->heaped = false;
}

static void heap_left(struct calendar *calendar, size_t i)
{
    heap_remove(calendar, i);
    if (calendar->pending == HEAP_LEAST)
        heap_to_array(calendar);
}

void calendar_init(struct calendar *calendar, uint64_t seed, uint32_t replication)
{
    *calendar = (struct calendar){.where = {.seed = seed, .replication = replication}};
    calendar->array = mem_resized(NULL, CALENDAR_ARRAY_MOST, sizeof *calendar->array);
}

void calendar_fini(struct calendar *calendar)
{
    free(calendar->array);
    free(calendar->heap);
    *calendar = (struct calendar){0};
}

void calendar_schedule_else(struct calendar *calendar, struct event *event)
{
    if (!calendar->heaped)
        array_to_heap(calendar);
    if (calendar->pending == calendar->room) {
        calendar->room *= 2;
        calendar->heap = mem_resized(calendar->heap, calendar->room, sizeof *calendar->heap);
    }
    sift_up(calendar, calendar->pending++, (struct calendar_entry){event->at, event->order, event});
}

void calendar_cancel_else(struct calendar *calendar, struct event *event)
{
    if (!calendar->heaped) {
        array_remove(calendar, event);
    } else {
        SIM_ASSERT(&calendar->where,
                   event->slot <= calendar->pending && calendar->heap[event->slot - 1].event == event);
        heap_left(calendar, event->slot - 1);
    }
    event->slot = 0;
}

/* Nothing is due, or the next event is the root of the heap. */
struct event *calendar_next_else(struct calendar *calendar, sim_time until)
{
    struct event *event;
    if (!calendar->heaped || calendar->pending == 0 || calendar->heap->at > until) {
        if (until > calendar->where.now) {
            calendar->where.now = until;
            calendar->at_this_instant = 0;
        }
        return NULL;
    }
    event = calendar->heap->event;
    calendar->at_this_instant = event->at == calendar->where.now ? calendar->at_this_instant + 1 : 1;
    calendar->where.now = event->at;
    calendar->where.event++;
    event->slot = 0;
    heap_left(calendar, 0);
    return event;
}
