/* search.h - the largest or smallest of ordered sizes that meets what is asked, judging few of them.
 *
 * A ladder goes up from the first size in steps that double, until the verdict turns; then the bracket is halved. That
 * finds the one place where the verdict turns if there is only one. Where no rung of the ladder meets all goals, and
 * two that follow each other miss different ones, what meets may lie between them: it is looked for there too. */
#ifndef SIM_SEARCH_H
#define SIM_SEARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/stats/output.h"

enum search_verdict { SEARCH_UNTRIED, SEARCH_MEETS, SEARCH_MISSES, SEARCH_UNDECIDED };

struct search_rung {
    enum search_verdict verdict;
    uint32_t missed; /* goals, a bit each; of SEARCH_MISSES */
};

/* Fills in the verdict of a size. False: the search is given up. Asked once a size. */
typedef bool search_judge(void *context, size_t size, struct search_rung *rung);

struct search {
    size_t count; /* sizes, in ascending order; at least one */
    bool largest; /* that meets is looked for; else the smallest */
    search_judge *judge;
    void *context;
    struct search_rung *rungs; /* [count], zeroed */
    size_t answer;             /* count: none */
    size_t miss;               /* the nearest one beyond it that misses for sure; count: there is none */
};

/* False where the judge gave up. */
bool search_run(struct search *search);
/* Its verdict on one size, which may be known already. */
bool search_try(struct search *search, size_t size);

/* --- what a verdict is made of ------------------------------------------------------------------------------------ */

struct search_goal {
    bool at_most; /* else at least */
    double value;
    double resolution; /* half-width that need not be narrowed any more */
};

/* On which side of the goal an interval of this level lies. SEARCH_UNDECIDED: on both, and it is as narrow as it needs
 * to be; SEARCH_UNTRIED: on both, and more replications would narrow it. An estimate without an interval is on both. */
enum search_verdict search_side(struct estimate estimate, double level, const struct search_goal *goal);
double search_half_width(struct estimate estimate, double level);

#endif
