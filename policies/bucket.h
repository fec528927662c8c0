/* bucket.h - a bucket that fills at a steady rate up to its size: for token_bucket, cost_bucket and the pacer's store.
 *
 * Its level is exact whatever the rate, and may fall below 0. */
#ifndef POLICIES_BUCKET_H
#define POLICIES_BUCKET_H

#include <math.h>

#include "policies/amount.h"

struct bucket {
    parts level;
    policy_time at;     /* of the level */
    int64_t per_minute; /* millionths since then; 0: nothing flows in */
    int64_t size;       /* units since then */
};

static inline parts bucket_full(const struct bucket *bucket)
{
    return (parts)bucket->size * UNIT;
}

/* Never above full. */
static inline void bucket_give(struct bucket *bucket, parts millionths)
{
    bucket->level += millionths * MINUTE;
    if (bucket->level > bucket_full(bucket))
        bucket->level = bucket_full(bucket);
}

static inline void bucket_refill(struct bucket *bucket, policy_time now)
{
    if (bucket->per_minute == AT_ONCE)
        bucket->level = bucket_full(bucket);
    else
        bucket->level += (parts)bucket->per_minute * (now - bucket->at);
    bucket->at = now;
    bucket_give(bucket, 0);
}

/* How long so many parts take to flow in, rounded up; at most `most`. */
static inline policy_time bucket_time(const struct bucket *bucket, parts lack, policy_time most)
{
    policy_time time;
    if (bucket->per_minute == AT_ONCE || lack <= 0)
        return 0;
    time = amount_time(lack, bucket->per_minute);
    return time < most ? time : most;
}

/* In units; one without an end never shows one. */
static inline double bucket_shown(const struct bucket *bucket)
{
    return bucket->size == INT64_MAX ? (double)INFINITY : amount_units(bucket->level);
}

/* The values in force from now on. The level stays until something is given, be it 0: only then it has to fit. */
static inline void bucket_renew(struct bucket *bucket, double rate, int64_t size)
{
    bucket->size = size;
    bucket->per_minute = isinf(rate) ? AT_ONCE : amount_per_minute(rate);
}

#endif
