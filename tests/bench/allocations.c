/* allocations.c - counts what is asked of the C library's allocator by standing in front of it, as dlsym(3) describes
 * under RTLD_NEXT. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "tests/bench/bench.h"

static uint64_t count;

uint64_t allocations(void)
{
    return count;
}

/* ISO C knows no cast from an object's address to a function's. */
static void next_in_line(const char *name, void *function)
{
    void *symbol = dlsym(RTLD_NEXT, name);

    memcpy(function, &symbol, sizeof symbol);
}

void *malloc(size_t size)
{
    static void *(*next)(size_t);

    count++;
    if (!next)
        next_in_line("malloc", &next);
    return next(size);
}

void *calloc(size_t number, size_t size)
{
    static void *(*next)(size_t, size_t);

    count++;
    if (!next)
        next_in_line("calloc", &next);
    return next(number, size);
}

void *realloc(void *old, size_t size)
{
    static void *(*next)(void *, size_t);

    count++;
    if (!next)
        next_in_line("realloc", &next);
    return next(old, size);
}
