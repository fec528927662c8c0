/* answer.h - what a policy may answer. The host asks in every replication (models/host.c), `weir check --plugin` of
 * answers to questions that it made up. Private to models/ and to that check. */
#ifndef MODELS_ANSWER_H
#define MODELS_ANSWER_H

#include "policies/policy.h"

/* What is wrong with an answer, as the end of a sentence about the callback. */
struct answer_fault {
    char text[128];
};

#define ANSWERS_AT_GATE ~0u
#define ANSWERS_AT_DOOR (~(1u << POLICY_DISPLACE))
#define ANSWERS_AT_START (1u << POLICY_ADMIT | 1u << POLICY_DEFER | 1u << POLICY_REJECT)

/* Each returns whether the answer stands; `fault` is filled if it does not. `waiting` is the length of the line. */
bool answer_verdict(const struct policy_answer *answer, unsigned allowed, uint64_t waiting, struct answer_fault *fault);
bool answer_lifetime(policy_time lifetime, struct answer_fault *fault);
bool answer_again(enum policy_end end, policy_time again, struct answer_fault *fault);
bool answer_tick(policy_time now, policy_time next, struct answer_fault *fault);
bool answer_flow(uint32_t flow, uint32_t flows, struct answer_fault *fault);
bool answer_pick(uint32_t flow, uint32_t flows, const uint64_t *waiting_in_flow, struct answer_fault *fault);

/* "admit", ...; of an action that there is. */
const char *answer_name(enum policy_action action);

#endif
