/* The rules of policies/policy.h about answers, each in one place. */
#include "models/answer.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

static const char *const action_names[] = {"admit", "displace", "hold", "defer", "reject"};

static bool wrong(struct answer_fault *fault, const char *format, ...) __attribute__((format(printf, 2, 3)));

static bool wrong(struct answer_fault *fault, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(fault->text, sizeof fault->text, format, arguments);
    va_end(arguments);
    return false;
}

const char *answer_name(enum policy_action action)
{
    return action_names[action];
}

bool answer_verdict(const struct policy_answer *answer, unsigned allowed, uint64_t waiting, struct answer_fault *fault)
{
    int action = (int)answer->action;

    if (action < 0 || action > POLICY_REJECT)
        return wrong(fault, "answered the unknown action %d", action);
    if (!(allowed & 1u << action))
        return wrong(fault, "answered %s, which this callback may not", action_names[action]);
    if (action == POLICY_HOLD && answer->after < POLICY_LEAST)
        return wrong(fault, "answered hold for %" PRId64 " ns; expected at least 1 ms", answer->after);
    if (action == POLICY_DEFER && answer->after != POLICY_NONE && answer->after < POLICY_LEAST)
        return wrong(fault, "answered defer with a retry-after of %" PRId64 " ns; expected at least 1 ms, or none",
                     answer->after);
    return action != POLICY_DISPLACE || waiting > 0 || wrong(fault, "answered displace with nobody waiting");
}

bool answer_lifetime(policy_time lifetime, struct answer_fault *fault)
{
    return lifetime >= 0 || wrong(fault, "returned %" PRId64 " ns; expected 0 or more", lifetime);
}

bool answer_again(enum policy_end end, policy_time again, struct answer_fault *fault)
{
    bool may_go_on = end == POLICY_SHED || end == POLICY_DISPLACED || end == POLICY_OVERLOAD || end == POLICY_ERROR;

    if (again == POLICY_NONE)
        return true;
    if (!may_go_on)
        return wrong(fault, "took back an attempt whose end is final");
    return again >= POLICY_LEAST || wrong(fault, "answered again after %" PRId64 " ns; expected at least 1 ms", again);
}

bool answer_tick(policy_time now, policy_time next, struct answer_fault *fault)
{
    return next == POLICY_NONE || next >= now + POLICY_LEAST ||
           wrong(fault, "asked for a wake-up at %" PRId64 " ns; expected at least 1 ms later than now", next);
}

bool answer_flow(uint32_t flow, uint32_t flows, struct answer_fault *fault)
{
    return flow < flows || wrong(fault, "answered flow %" PRIu32 " of %" PRIu32, flow, flows);
}

bool answer_pick(uint32_t flow, uint32_t flows, const uint64_t *waiting_in_flow, struct answer_fault *fault)
{
    return (flow < flows && waiting_in_flow[flow] > 0) ||
           wrong(fault, "picked flow %" PRIu32 ", where nobody waits", flow);
}
