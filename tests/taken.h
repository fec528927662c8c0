/* taken.h - the calls of one replication in the order in which servers took them, and what happened to them. */
#ifndef TESTS_TAKEN_H
#define TESTS_TAKEN_H

#include "models/plan.h"

enum { TAKEN_MOST = 1 << 17, TAKEN_CLASSES = 8, TAKEN_AGENTS = 256, TAKEN_NEVER = INT32_MAX };

/* A call that was let in; those that were not started come last. */
struct taken {
    uint32_t klass, tenant, agent;
    double tokens, score; /* input + output; input + 2 output */
    policy_time joined, started, deadline, finished;
    int order; /* of its start, or TAKEN_NEVER */
};

/* A start, or the end of a service that was answered, in the order of events. */
struct taken_event {
    bool starts;
    size_t call;
};

extern struct taken taken_calls[TAKEN_MOST];
extern size_t taken_count, taken_starts; /* let in; started */
extern struct taken_event taken_events[2 * TAKEN_MOST];
extern size_t taken_event_count;

/* Simulates replication 1 of a point, of which all is kept. */
void taken_keep(const struct plan *plan, size_t point);
/* Indices of all calls in the order in which they joined. */
void taken_by_joining(size_t *joining);

#endif
