/* codel_law.h - when a line is standing, and whom RFC 8289 then refuses: for codel and for each flow of fq_codel.
 *
 * A timer runs while those who leave the line have waited for `target` or longer and others wait behind them; once it
 * has run for `interval` the line is standing. Zeroed memory is a line in which nobody has waited yet. */
#ifndef POLICIES_CODEL_LAW_H
#define POLICIES_CODEL_LAW_H

#include <math.h>

#include "policies/policy.h"

struct codel_law {
    policy_time above_since; /* the timer's start; 0: cleared (nobody has waited for `target` at t = 0) */
    policy_time drop_next;
    uint64_t count, lastcount; /* of the control law, and what it was when the law was entered */
    uint64_t refusing;         /* 0 or 1: the dropping state */
    bool owed;                 /* drop_next moves on as soon as the line proves to stand still */
};

static inline void codel_leave(struct codel_law *law)
{
    law->refusing = 0;
    law->owed = false;
}

static inline void codel_clear(struct codel_law *law)
{
    law->above_since = 0;
    codel_leave(law);
}

/* A call was taken that has waited for `sojourn`; `left` wait behind it. */
static inline void codel_observe(struct codel_law *law, policy_time target, policy_time now, policy_time sojourn,
                                 uint64_t left)
{
    if (sojourn < target || left == 0)
        codel_clear(law);
    else if (law->above_since == 0)
        law->above_since = now;
}

/* Leaves the dropping state where the line is not standing; a live interval may have grown. */
static inline bool codel_stands(struct codel_law *law, policy_time interval, policy_time now)
{
    if (law->above_since != 0 && now - law->above_since >= interval)
        return true;
    codel_leave(law);
    return false;
}

static inline policy_time codel_next(policy_time from, policy_time interval, uint64_t count)
{
    policy_time step = (policy_time)((double)interval / sqrt((double)count) + 0.5);
    return from + (step > 0 ? step : 1);
}

/* RFC 8289, section 5.5, for one call while the line stands. The RFC moves drop_next on after it has looked at the call
 * behind the one it dropped, and not at all if that one ends the dropping state; hence `owed`. */
static inline bool codel_refuses(struct codel_law *law, policy_time interval, policy_time now)
{
    if (!law->refusing) {
        uint64_t refusals = law->count - law->lastcount;
        /* Divided, as 16 * interval may not fit. */
        bool soon = (now - law->drop_next) / 16 < interval;
        law->count = refusals > 1 && soon ? refusals : 1;
        law->lastcount = law->count;
        law->drop_next = codel_next(now, interval, law->count);
        law->refusing = 1;
        return true;
    }
    if (law->owed) {
        law->drop_next = codel_next(law->drop_next, interval, law->count);
        law->owed = false;
    }
    if (now < law->drop_next)
        return false;
    law->count++;
    law->owed = true;
    return true;
}

#endif
