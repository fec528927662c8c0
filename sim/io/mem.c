/* mem.c - allocation that never fails to its caller, and the arena.
 *
 * An arena's blocks double in size up to a bound. An object that would waste much of a block gets one of its own. */
#include "sim/io/mem.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK_LEAST 4096
#define BLOCK_MOST (1 << 20)

struct arena_block {
    struct arena_block *next;
    size_t used, room;
    max_align_t bytes[];
};

static size_t product(size_t count, size_t size)
{
    if (size != 0 && count > PTRDIFF_MAX / size)
        mem_exhausted();
    return count * size;
}

static struct arena_block *block_new(size_t room)
{
    struct arena_block *block = mem_zeroed(1, sizeof *block + room);
    block->room = room;
    return block;
}

/* A block with at least `size` free bytes: the first of the list, or a new one. */
static struct arena_block *block_for(struct arena *arena, size_t size)
{
    struct arena_block *first = arena->blocks;
    if (first != NULL && first->room - first->used >= size)
        return first;

    size_t room = first == NULL ? BLOCK_LEAST : first->room;
    if (first != NULL && room < BLOCK_MOST)
        room *= 2;
    if (first != NULL && size > room / 4) {
        struct arena_block *own = block_new(size);
        own->next = first->next;
        first->next = own;
        return own;
    }
    struct arena_block *block = block_new(size > room ? size : room);
    block->next = first;
    arena->blocks = block;
    return block;
}

/* Neither flushes half a table nor runs exit handlers that another thread may be in the middle of. */
_Noreturn void mem_exhausted(void)
{
    fputs("error: out of memory\n", stderr);
    _Exit(3);
}

void *mem_zeroed(size_t count, size_t size)
{
    if (product(count, size) == 0)
        return NULL;
    void *memory = calloc(count, size);
    if (memory == NULL)
        mem_exhausted();
    return memory;
}

void *mem_resized(void *old, size_t count, size_t size)
{
    size_t bytes = product(count, size);
    if (bytes == 0) {
        free(old);
        return NULL;
    }
    void *memory = realloc(old, bytes);
    if (memory == NULL)
        mem_exhausted();
    return memory;
}

void *arena_zeroed(struct arena *arena, size_t count, size_t size)
{
    const size_t unit = sizeof(max_align_t);
    size_t bytes = product((product(count, size) + unit - 1) / unit, unit);
    struct arena_block *block = block_for(arena, bytes);
    void *memory = (char *)block->bytes + block->used;
    block->used += bytes;
    return memory;
}

char *arena_text_of(struct arena *arena, const char *bytes, size_t length)
{
    char *copy = arena_zeroed(arena, length + 1, 1);
    if (length != 0)
        memcpy(copy, bytes, length);
    return copy;
}

char *arena_text(struct arena *arena, const char *text)
{
    return arena_text_of(arena, text, strlen(text));
}

char *arena_format(struct arena *arena, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *text = arena_format_list(arena, format, arguments);
    va_end(arguments);
    return text;
}

char *arena_format_list(struct arena *arena, const char *format, va_list arguments)
{
    va_list again;
    va_copy(again, arguments);
    int length = format == NULL ? -1 : vsnprintf(NULL, 0, format, again);
    va_end(again);
    if (length < 0) {
        fputs("arena_format_list: a format that cannot be printed\n", stderr);
        abort();
    }
    char *text = arena_zeroed(arena, (size_t)length + 1, 1);
    vsnprintf(text, (size_t)length + 1, format, arguments);
    return text;
}

void arena_free(struct arena *arena)
{
    for (struct arena_block *block = arena->blocks, *next; block != NULL; block = next) {
        next = block->next;
        free(block);
    }
    arena->blocks = NULL;
}
