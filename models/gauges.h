/* gauges.h - what of a replication can be recorded over time: which numbers a scenario has, and their values now.
 *
 * In order: `tasks`; `booting`, where a class boots; `asking` and
 * `asking_oldest`, where a policy stands at the door; of each gate its counts; of each member of the chain the gauges
 * that its policy names; of each pool its meters, at the backend that has them and not at its aliases; of each backend
 * with `cards` these. Names are prefixed with the backend's where there are two or more, but for those first ones and
 * a member of scope all, of which there is one. */
#ifndef MODELS_GAUGES_H
#define MODELS_GAUGES_H

#include "models/scenario.h"
#include "sim/io/mem.h"

enum gauge_kind {
    GAUGE_TASKS,
    GAUGE_BOOTING,
    GAUGE_ASKING,
    GAUGE_ASKING_OLDEST,
    GAUGE_HELD,
    GAUGE_WAITING,
    GAUGE_IN_SERVICE,
    GAUGE_BUSY,
    GAUGE_OLDEST,
    GAUGE_OVERLOADS, /* since t = 0; models/recorder.c makes those of the last minute */
    GAUGE_POLICY,    /* of one copy */
    GAUGE_LEAST,     /* of the copies of all agents that there are */
    GAUGE_MEAN,
    GAUGE_GREATEST,
    GAUGE_METER_LEFT,
    GAUGE_METER_LIMIT,
    GAUGE_CARDS_UP,
    GAUGE_CARDS_COLD,
    GAUGE_CARDS_DRAIN,
};

struct gauge {
    const char *name, *unit, *help;
    enum gauge_kind kind;
    uint32_t gate;
    size_t member, index;              /* of the chain; of its copies, or of the pool's meters */
    const struct policy_gauge *policy; /* or NULL: none of a policy's */
};

struct gauges {
    struct gauge *list;
    size_t count;
};

struct gauges gauges_of(const struct scenario *scenario, struct arena *arena);

/* The index-th of the host's own, without what stands before its name; NULL: there are no more. */
const struct gauge *gauges_word(size_t index);

struct world;

/* NAN: undefined (of agents, when there are none). Changes nothing. */
double gauge_value(const struct world *world, const struct gauge *gauge);

#endif
