/* pacer_bucket.h - a bucket of the pacer: what it holds, exact whatever the rate.
 *
 * Amounts are whole millionths and a rate m whole millionths a minute, so a level counts millionths times the
 * nanoseconds of a minute in whole numbers (as policies/token_bucket.c): no sum drifts, no question changes it, and no
 * path hangs on how a machine rounds. It may fall below 0. */
#ifndef POLICIES_PACER_BUCKET_H
#define POLICIES_PACER_BUCKET_H

#include <math.h>

#include "policies/policy.h"

__extension__ typedef __int128 pacer_parts;

#define PACER_MILLION INT64_C(1000000)
#define PACER_MINUTE (60 * POLICY_SECOND)
#define PACER_UNIT ((pacer_parts)PACER_MILLION * PACER_MINUTE)
#define PACER_AT_ONCE INT64_MAX /* a rate without end */

struct pacer_bucket {
    pacer_parts level;
    policy_time at;     /* of the level */
    int64_t per_minute; /* millionths */
    int64_t size;       /* units */
};

/* At most 9e18, so that sums of some fit into 128 bits times a minute. */
static inline int64_t pacer_millionths(double amount)
{
    return amount < 9e12 ? (int64_t)(amount * 1e6 + 0.5) : INT64_C(9000000000000000000);
}

static inline pacer_parts bucket_full(const struct pacer_bucket *bucket)
{
    return (pacer_parts)bucket->size * PACER_UNIT;
}

/* Never above full. */
static inline void bucket_give(struct pacer_bucket *bucket, pacer_parts millionths)
{
    bucket->level += millionths * PACER_MINUTE;
    if (bucket->level > bucket_full(bucket))
        bucket->level = bucket_full(bucket);
}

static inline void bucket_refill(struct pacer_bucket *bucket, policy_time now)
{
    if (bucket->per_minute == PACER_AT_ONCE)
        bucket->level = bucket_full(bucket);
    else
        bucket->level += (pacer_parts)bucket->per_minute * (now - bucket->at);
    bucket->at = now;
    bucket_give(bucket, 0);
}

/* The values in force from now on; the level stays, if it fits. */
static inline void bucket_renew(struct pacer_bucket *bucket, double rate, int64_t size)
{
    double millionths = rate * 6e7;
    bucket->size = size;
    if (isinf(rate))
        bucket->per_minute = PACER_AT_ONCE;
    else /* from 10^11 a second on all are the same */
        bucket->per_minute = millionths < 6e18 ? (int64_t)(millionths + 0.5) : INT64_C(6000000000000000000);
    bucket_give(bucket, 0);
}

/* How long so many parts take to flow in, rounded up; at most `most`. */
static inline policy_time bucket_time(const struct pacer_bucket *bucket, pacer_parts parts, policy_time most)
{
    pacer_parts time = (parts + bucket->per_minute - 1) / bucket->per_minute;
    if (bucket->per_minute == PACER_AT_ONCE || parts <= 0)
        return 0;
    return time < most ? (policy_time)time : most;
}

static inline double bucket_shown(const struct pacer_bucket *bucket)
{
    return bucket->size == INT64_MAX ? (double)INFINITY : (double)(bucket->level / PACER_MINUTE) / 1e6;
}

#endif
