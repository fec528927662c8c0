/* shares_buckets.h - the buckets of policies/shares.c: what flows into them, and when one holds so much.
 *
 * A level counts millionths of a unit times the ns of a minute, so it is exact at every rate. Between two calls rates
 * change only when a bucket gets full, at the ns after: `stretch` by `stretch`, at most as many as there are buckets,
 * so no level depends on who asked when. */
#ifndef POLICIES_SHARES_BUCKETS_H
#define POLICIES_SHARES_BUCKETS_H

#include "policies/amount.h"
#include "policies/class_shares.h"

#define BUCKETS (SHARES_MOST + 1)

struct bucket {
    parts level;        /* millionths times the ns of a minute */
    int64_t per_minute; /* millionths that are its own */
};

struct shares_vars {
    struct class_shares of;
    struct bucket buckets[BUCKETS];
    policy_time at;    /* of the levels */
    policy_time burst; /* since then */
    bool borrow;
};

struct shares_stats {
    uint64_t held, deferred, rejected;
    double lent, lost;
};

static inline parts full(const struct shares_vars *vars, int i)
{
    return (parts)vars->buckets[i].per_minute * vars->burst;
}

static inline bool is_full(const struct shares_vars *vars, int i)
{
    return vars->buckets[i].level >= full(vars, i);
}

/* What flows into a bucket that is not full, in millionths a minute: its own rate, and its part of what others lend. */
static inline int64_t inflow(const struct shares_vars *vars, int i)
{
    parts all = 0, open = 0;
    for (int k = 0; k <= vars->of.count; k++) {
        all += vars->buckets[k].per_minute;
        open += is_full(vars, k) ? 0 : vars->buckets[k].per_minute;
    }
    return vars->borrow ? (int64_t)(vars->buckets[i].per_minute * all / open) : vars->buckets[i].per_minute;
}

/* Rates are the same until the next bucket is full, or `most` has passed: this is how long. */
static inline policy_time stretch(const struct shares_vars *vars, policy_time most)
{
    policy_time least = most;
    for (int i = 0; i <= vars->of.count; i++)
        if (!is_full(vars, i)) {
            policy_time own = amount_time(full(vars, i) - vars->buckets[i].level, inflow(vars, i));
            least = own < least ? own : least;
        }
    return least;
}

/* The levels after such a time. */
static inline void flow(struct shares_vars *vars, policy_time time, struct shares_stats *stats)
{
    int64_t inflows[BUCKETS];
    for (int i = 0; i <= vars->of.count; i++)
        inflows[i] = is_full(vars, i) ? 0 : inflow(vars, i);
    for (int i = 0; i <= vars->of.count; i++) {
        struct bucket *bucket = &vars->buckets[i];
        parts own = (parts)bucket->per_minute * time, before = bucket->level;
        if (inflows[i] == 0) {
            stats->lost += amount_units(own);
            continue;
        }
        bucket->level += (parts)inflows[i] * time;
        if (is_full(vars, i))
            bucket->level = full(vars, i);
        if (bucket->level - before > own) {
            stats->lent += amount_units(bucket->level - before - own);
            stats->lost -= amount_units(bucket->level - before - own);
        }
    }
}

static inline void refill(struct shares_vars *vars, policy_time now, struct shares_stats *stats)
{
    while (vars->at < now) {
        policy_time time = stretch(vars, now - vars->at);
        flow(vars, time, stats);
        vars->at += time;
    }
}

/* Until a bucket's level is that high, were nobody else to come. */
static inline policy_time until(const struct shares_vars *vars, int i, parts level)
{
    struct shares_vars then = *vars;
    struct shares_stats nobody = {0};
    policy_time time = 0;
    while (then.buckets[i].level < level) {
        policy_time own = amount_time(level - then.buckets[i].level, inflow(&then, i)), next = stretch(&then, own);
        if (next > INT64_MAX - time)
            return INT64_MAX;
        flow(&then, next, &nobody);
        time += next;
    }
    return time < POLICY_LEAST ? POLICY_LEAST : time;
}

static inline void give(struct shares_vars *vars, int i, parts amount)
{
    struct bucket *bucket = &vars->buckets[i];
    bucket->level += amount;
    if (amount > 0 && is_full(vars, i))
        bucket->level = full(vars, i);
}

/* The values in force from now on; levels stay as they are, as far as the buckets hold them. */
static inline void renew(struct shares_vars *vars, double units_a_second, policy_time burst, bool borrow)
{
    int64_t rate = amount_per_minute(units_a_second);
    vars->burst = burst;
    vars->borrow = borrow;
    for (int i = 0; i <= vars->of.count; i++) {
        parts own = (parts)rate * vars->of.shares[i] / SHARES_WHOLE;
        vars->buckets[i].per_minute = own > 0 || vars->of.shares[i] == 0 ? (int64_t)own : 1;
        if (is_full(vars, i))
            vars->buckets[i].level = full(vars, i);
    }
}

#endif
