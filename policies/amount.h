/* amount.h - exact accounts: what is counted in whole millionths, and what flows at whole millionths a minute.
 *
 * A level that fills over time counts `parts`, millionths times the nanoseconds of a minute, in whole numbers: no sum
 * drifts, no question changes it, and no path hangs on how a machine rounds. */
#ifndef POLICIES_AMOUNT_H
#define POLICIES_AMOUNT_H

#include "policies/policy.h"

__extension__ typedef __int128 parts;

#define MILLION INT64_C(1000000)
#define MINUTE (60 * POLICY_SECOND)
#define UNIT ((parts)MILLION * MINUTE)
#define AT_ONCE INT64_MAX /* a rate without end, as per minute */

/* At most 9e18, so that sums of some fit into 128 bits times a minute. */
static inline int64_t amount_millionths(double amount)
{
    return amount < 9e12 ? (int64_t)(amount * 1e6 + 0.5) : INT64_C(9000000000000000000);
}

/* Millionths a minute; from 10^11 a second on all are the same. */
static inline int64_t amount_per_minute(double a_second)
{
    double millionths = a_second * 6e7;
    return millionths < 6e18 ? (int64_t)(millionths + 0.5) : INT64_C(6000000000000000000);
}

static inline double amount_units(parts amount)
{
    return (double)(amount / MINUTE) / 1e6;
}

/* How long so much takes to flow in, rounded up. */
static inline policy_time amount_time(parts lack, int64_t per_minute)
{
    parts time = (lack + per_minute - 1) / per_minute;
    return time < INT64_MAX ? (policy_time)time : INT64_MAX;
}

/* The same as what an answer says: not less than it may. */
static inline policy_time amount_after(parts lack, int64_t per_minute)
{
    policy_time time = amount_time(lack, per_minute);
    return time < POLICY_LEAST ? POLICY_LEAST : time;
}

#endif
