/* meter.h - what a meter counts of a call, requests or tokens: for token_bucket, gcra, shares and tenant_cap. */
#ifndef POLICIES_METER_H
#define POLICIES_METER_H

#include <math.h>

#include "policies/amount.h"

enum meter { METER_REQUESTS, METER_INPUT, METER_OUTPUT, METER_TOTAL };

static const char *const meter_names[] = {
    [METER_REQUESTS] = "requests", [METER_INPUT] = "input", [METER_OUTPUT] = "output", [METER_TOTAL] = "total", NULL};

/* Millionths, or -1 where a count is missing. A cached token of the input counts `cached_weight`. */
static inline int64_t meter_counts(int meter, double cached_weight, double input, double cached, double output)
{
    double weighted = input - cached + cached * cached_weight, amount = weighted + output;
    if (meter == METER_REQUESTS)
        amount = 1;
    else if (meter == METER_INPUT)
        amount = weighted;
    else if (meter == METER_OUTPUT)
        amount = output;
    return isnan(amount) ? -1 : amount_millionths(amount);
}

/* What a call is expected to need. */
static inline int64_t meter_expects(int meter, double cached_weight, const struct policy_call *call)
{
    return meter_counts(meter, cached_weight, call->input_tokens, call->cached_tokens, call->output_tokens);
}

/* What it took, or -1: where nobody says that its estimate stands. */
static inline int64_t meter_took(int meter, double cached_weight, const struct policy_outcome *outcome)
{
    return meter_counts(meter, cached_weight, outcome->input_tokens, outcome->cached_tokens, outcome->output_tokens);
}

/* No server took the call, so that all of it comes back. What becomes of a pool's 429 is each policy's own rule. */
static inline bool meter_unserved(const struct policy_call *call, enum policy_end end)
{
    return call->started == POLICY_NONE &&
           (end == POLICY_SHED || end == POLICY_DISPLACED || end == POLICY_TIMEOUT || end == POLICY_ABANDONED);
}

#endif
