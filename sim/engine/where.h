/* where.h - which moment of which replication this is, and the assert that says so.
 *
 * SIM_ASSERT is for our own mistakes; it is never compiled out. It prints simulated time, event number, seed and
 * replication, which is all that is needed to come back to the same moment, then aborts. `where` is NULL in code that
 * does not know its replication; then that of the thread's record is printed, if it has one. */
#ifndef SIM_WHERE_H
#define SIM_WHERE_H

#include <stddef.h>

#include "sim/engine/clock.h"

struct sim_where {
    sim_time now;
    uint64_t event; /* events fired so far */
    uint64_t seed;
    uint32_t replication; /* from 1 */
};

/* Text put together without the library, as a handler of signals may. What does not fit is cut off. */
struct sim_words {
    char text[512]; /* ends with a NUL */
    size_t length;
};

void sim_words_add(struct sim_words *words, const char *text);
void sim_words_number(struct sim_words *words, uint64_t number);
void sim_words_time(struct sim_words *words, sim_time time); /* seconds, all nine digits of the fraction */
void sim_words_where(struct sim_words *words, const struct sim_where *where);

/* What this thread is doing, for its last words: the trial that it runs, and whether that is in code of somebody
 * else's, a callback. Only who set the last three knows what they are; `describe` puts them into words. */
struct sim_record {
    const struct sim_where *where; /* NULL: no trial */
    const char *callback;          /* NULL: none is in progress */
    const void *owner, *subject;
    void (*describe)(const struct sim_record *record, struct sim_words *words);
};
extern _Thread_local struct sim_record sim_record;

_Noreturn void sim_assert_failed(const struct sim_where *where, const char *condition, const char *file, int line);

#define SIM_ASSERT(where, condition) \
    do { \
        if (__builtin_expect(!(condition), 0)) \
            sim_assert_failed((where), #condition, __FILE__, __LINE__); \
    } while (0)

#endif
