/* mem.h - the one allocator. It ends the program with a message (exit 3) when memory is gone, so callers check nothing.
 *
 * An arena holds things that live and die together (a scenario, a report): allocate piecemeal, free in one step. */
#ifndef SIM_MEM_H
#define SIM_MEM_H

#include <stdarg.h>
#include <stddef.h>

void *mem_zeroed(size_t count, size_t size);             /* zeroed; count 0 gives NULL; overflow is out of memory */
void *mem_resized(void *old, size_t count, size_t size); /* like realloc; new bytes are not zeroed */
_Noreturn void mem_exhausted(void);                      /* for callers of libraries that report it instead */

struct arena {
    struct arena_block *blocks; /* zeroed memory is a valid empty arena */
};

void *arena_zeroed(struct arena *arena, size_t count, size_t size); /* aligned for anything, zeroed */
char *arena_text(struct arena *arena, const char *text);
char *arena_text_of(struct arena *arena, const char *bytes, size_t length);
char *arena_format(struct arena *arena, const char *format, ...) __attribute__((format(printf, 2, 3)));
char *arena_format_list(struct arena *arena, const char *format, va_list arguments)
    __attribute__((format(printf, 2, 0)));
void arena_free(struct arena *arena);

#endif
