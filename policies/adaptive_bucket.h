/* adaptive_bucket.h - a token bucket whose rate a client learns: for atb and aatb, which differ in what moves the rate.
 *
 * Rates are whole hundredths of a call a second; tokens are whole too, in units of 10^-11, so nothing drifts. It begins
 * with one token. Parameters begin with struct adaptive_params. */
#ifndef POLICIES_ADAPTIVE_BUCKET_H
#define POLICIES_ADAPTIVE_BUCKET_H

#include "policies/policy.h"

/* A bucket filled at 0.01/s gets one unit a nanosecond. */
#define TOKEN (100 * POLICY_SECOND)
/* Hundredths a second. Only so that products fit; a bucket is filled at once long before. */
#define RATE_MOST (INT64_C(1) << 50)

enum { RETRIES_OWN, RETRIES_CLIENT };
static const char *const adaptive_retries[] = {"own", "client", NULL};

struct adaptive_params {
    int retries;
    int64_t bucket;
    double initial_rate;
};

struct adaptive_bucket {
    bool begun;
    policy_time filled;
    int64_t level;      /* in units of TOKEN */
    int64_t hundredths; /* of a call a second */
    double rate, tokens;
};

static inline void adaptive_show(struct adaptive_bucket *bucket)
{
    bucket->rate = (double)bucket->hundredths / 100;
    bucket->tokens = (double)bucket->level / (double)TOKEN;
}

static inline int64_t adaptive_full(const struct adaptive_params *params)
{
    return params->bucket * TOKEN;
}

/* Brings the bucket up to now. True: it begins. */
static inline bool adaptive_fill(struct adaptive_bucket *bucket, const struct adaptive_params *params, policy_time now)
{
    int64_t full = adaptive_full(params), room = full - bucket->level;
    bool begins = !bucket->begun;
    if (begins) {
        bucket->begun = true;
        bucket->level = TOKEN;
        bucket->hundredths = (int64_t)(params->initial_rate * 100 + 0.5);
    } else {
        policy_time passed = now - bucket->filled;
        bucket->level = passed > room / bucket->hundredths ? full : bucket->level + passed * bucket->hundredths;
    }
    bucket->filled = now;
    adaptive_show(bucket);
    return begins;
}

static inline void adaptive_take(struct adaptive_bucket *bucket)
{
    bucket->level = bucket->level > TOKEN ? bucket->level - TOKEN : 0;
    adaptive_show(bucket);
}

/* Until there is a token, where there is none. */
static inline policy_time adaptive_wait(const struct adaptive_bucket *bucket)
{
    return (TOKEN - bucket->level + bucket->hundredths - 1) / bucket->hundredths;
}

static inline void adaptive_set_rate(struct adaptive_bucket *bucket, int64_t hundredths)
{
    bucket->hundredths = hundredths < 1 ? 1 : hundredths < RATE_MOST ? hundredths : RATE_MOST;
}

/* By so many tenths of what it was, half up, and a hundredth at least. */
static inline void adaptive_raise(struct adaptive_bucket *bucket, int64_t tenths)
{
    int64_t more = (bucket->hundredths * tenths + 5) / 10;
    adaptive_set_rate(bucket, more > bucket->hundredths ? more : bucket->hundredths + 1);
}

/* --- of the rows in the tables of options and gauges -------------------------------------------------------------- */

#define ADAPTIVE_RETRIES \
    .key = "retries", .type = OPTION_CHOICE, .offset = offsetof(struct adaptive_params, retries), .initial = "own", \
    .choices = adaptive_retries, \
    .help = "a call that was refused: own, taken back and sent again with the next token, unseen by its client; " \
            "client, as the client decides"

#define ADAPTIVE_BUCKET \
    .key = "bucket", .type = OPTION_COUNT, .offset = offsetof(struct adaptive_params, bucket), .initial = "40", \
    .least = "1", .most = "1M", .measures = "calls", .help = "most tokens, a call each"

#define ADAPTIVE_INITIAL_RATE \
    .key = "initial_rate", .type = OPTION_RATE, .offset = offsetof(struct adaptive_params, initial_rate), \
    .initial = "0.67/s", .least = "0.01/s", .most = "1M/s", .measures = "calls", \
    .help = "tokens a second at the start, rounded to hundredths"

#define ADAPTIVE_RATE(vars) \
    .name = "rate", .type = POLICY_GAUGE_DOUBLE, .offset = offsetof(vars, bucket.rate), .unit = "calls/s", \
    .help = "the rate at which tokens come"

#define ADAPTIVE_TOKENS(vars) \
    .name = "tokens", .type = POLICY_GAUGE_DOUBLE, .offset = offsetof(vars, bucket.tokens), .unit = "calls", \
    .help = "tokens in the bucket, at the last event"

#endif
