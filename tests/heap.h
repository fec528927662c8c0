/* heap.h - the memory that this process has from the allocator and has not given back.
 *
 * Exact, and the same in every run. What the kernel calls a process's memory is neither: it counts in batches for each
 * processor, so it is off by some 100 KiB on a small machine and by megabytes on a large one. */
#ifndef TESTS_HEAP_H
#define TESTS_HEAP_H

#include <malloc.h>
#include <stdbool.h>
#include <stdio.h>

#include "models/trial.h"

#ifdef __SANITIZE_ADDRESS__
size_t __sanitizer_get_current_allocated_bytes(void); /* gcc has no header for it */
#define HEAP_KNOWN true
#define HEAP_USED __sanitizer_get_current_allocated_bytes()
#elif defined __GLIBC__ && __GLIBC_PREREQ(2, 33)
#define HEAP_KNOWN true
#define HEAP_USED (mallinfo2().uordblks + mallinfo2().hblkhd)
#else
#define HEAP_KNOWN false
#define HEAP_USED 0
#endif

/* The most that a trial had, looked at as services start. */
struct heap_watch {
    size_t before, most; /* bytes */
    unsigned starts;
};

/* For trial_watch.started. Asking takes longer than an event, so not each start is looked at. */
static inline void heap_look(void *context, const struct policy_call *call, uint32_t gate, sim_time service)
{
    struct heap_watch *heap = context;

    (void)call, (void)gate, (void)service;
    if (heap->starts++ % 256 == 0 && HEAP_USED - heap->before > heap->most)
        heap->most = HEAP_USED - heap->before;
}

/* A C library that does not tell is no failure. */
static inline bool heap_is_known(void)
{
    if (!HEAP_KNOWN)
        fprintf(stderr, "skipped: this C library does not tell how much memory is in use\n");
    return HEAP_KNOWN;
}

#endif
