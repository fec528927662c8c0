/* deadline_line.h - how many of those in line are due by a moment: what policies/deadline.c knows of the line beyond
 * its ends. Counts by deadline, in cells as fine as what is spread between the first and the last of them allows. */
#ifndef POLICIES_DEADLINE_LINE_H
#define POLICIES_DEADLINE_LINE_H

#include "policies/policy.h"

enum { DUE_CELLS = 512 };
#define DUE_WIDTH INT64_C(1000000) /* 1 ms: of a cell, unless they are spread further */

struct due_line {
    policy_time from, width;   /* of the first cell; from is a multiple of width */
    uint64_t cells[DUE_CELLS]; /* how many are due in each */
    uint64_t counted;
};

/* Far deadlines make cells wide, so there is a line for each size of what is left: up to 16 s, 256 s, and so on. */
enum { DUE_LINES = 6 };

static inline int due_line_of(policy_time left)
{
    int which = 0;
    for (policy_time most = 16 * POLICY_SECOND; left > most && which < DUE_LINES - 1; most *= 16)
        which++;
    return which;
}

/* The cells move, and grow, until they hold `at` too, in no more than half of them, so that it is long until they move
 * again. */
static inline void due_make_room(struct due_line *line, policy_time at)
{
    struct due_line old = *line;
    policy_time first = at, last = at;
    for (int i = 0; old.counted > 0 && i < DUE_CELLS; i++)
        if (old.cells[i] > 0) {
            policy_time begin = old.from + i * old.width;
            first = begin < first ? begin : first;
            last = begin > last ? begin : last;
        }
    *line = (struct due_line){.counted = old.counted};
    line->width = old.counted > 0 ? old.width : DUE_WIDTH;
    while (last / line->width - first / line->width >= DUE_CELLS / 2)
        line->width *= 2;
    line->from = first / line->width * line->width;
    for (int i = 0; i < DUE_CELLS; i++)
        if (old.cells[i] > 0)
            line->cells[(old.from + i * old.width - line->from) / line->width] += old.cells[i];
}

static inline void due_joins(struct due_line *line, policy_time at)
{
    if (line->counted == 0 || at < line->from || (at - line->from) / line->width >= DUE_CELLS)
        due_make_room(line, at);
    line->cells[(at - line->from) / line->width]++;
    line->counted++;
}

static inline void due_leaves(struct due_line *line, policy_time at)
{
    line->cells[(at - line->from) / line->width]--;
    line->counted--;
}

/* Those of the same cell are taken to be due by then. */
static inline uint64_t due_by(const struct due_line *line, policy_time at)
{
    uint64_t count = 0;
    for (int i = 0; line->counted > 0 && i < DUE_CELLS && line->from + i * line->width <= at; i++)
        count += line->cells[i];
    return count;
}

#endif
