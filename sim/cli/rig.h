/* rig.h - one copy of a policy at a gate made by hand, with a few agents around it: every callback can be asked outside
 * a simulation, and what it answers is judged as the host would and kept for comparison.
 *
 * Whoever uses a rig moves its agents (their place) and its clock; the rig shows the copy the gate as that makes it.
 * After a wrong answer `fault` says so and the rig goes on with a harmless one. */
#ifndef CLI_RIG_H
#define CLI_RIG_H

#include "models/answer.h"
#include "sim/cli/setting.h"
#include "sim/engine/stream.h"

enum { RIG_CLASSES = 2, RIG_TENANTS = 2, RIG_AGENTS = 16, RIG_FAULT = 512 };

enum rig_place { RIG_OUTSIDE, RIG_AT_DOOR, RIG_THINKING, RIG_BACKING_OFF, RIG_HELD, RIG_WAITING, RIG_SERVED };

/* An agent, its run and its call. */
struct rig_agent {
    struct policy_call call;
    struct policy_run run;
    enum rig_place place;
    int64_t rank;
    uint64_t joined; /* the how manieth to join a line */
    uint32_t flow, turns_left;
    policy_time expires; /* the record that `admitted` left; POLICY_NONE: never */
    bool expired;
};

/* One answer of one callback. */
struct rig_answer {
    const char *callback;
    int64_t number, after;
    uint64_t reason; /* a hash of the text; 0: none */
    bool verdict;    /* the number is an enum policy_action */
};

/* Numbers by class and tenant; the view shows them. */
struct rig_sums {
    uint64_t calls_by_class[RIG_CLASSES], calls_by_tenant[RIG_TENANTS];
    double tokens_by_class[RIG_CLASSES], tokens_by_tenant[RIG_TENANTS];
};

struct rig {
    const struct setting *setting;
    struct policy policy;
    struct policy_view view;
    struct rig_agent agents[RIG_AGENTS];
    uint64_t servers, others; /* servers (0: a metered pool), and those busy for somebody else */
    uint64_t crowd;           /* calls that wait between the first and the last */
    policy_time wakes;        /* of `tick`; POLICY_NONE: never */
    uint64_t joins;
    char fault[RIG_FAULT]; /* the first wrong answer; empty: none */
    struct rig_answer *answers;
    size_t answer_count, answer_room;
    /* Of the rig alone. */
    struct arena arena;
    void *params, *wanted;
    struct stream uniform, questions;
    struct rig_sums held, waiting;
    uint64_t *waiting_in_flow;
    struct adapter *adapter; /* the program that the copy asks, or NULL */
};

/* The copy has begun: at time 0, the setting's servers, everybody outside. */
void rig_init(struct rig *rig, const struct setting *setting, uint64_t seed);
void rig_fini(struct rig *rig);

/* The callbacks; where the policy has none, what the host does instead. */
struct policy_answer rig_run_admit(struct rig *rig, struct rig_agent *agent);
void rig_run_admitted(struct rig *rig, struct rig_agent *agent);
void rig_run_refused(struct rig *rig, struct rig_agent *agent, const struct policy_answer *answer);
void rig_run_withdrawn(struct rig *rig, struct rig_agent *agent);
void rig_run_finish(struct rig *rig, struct rig_agent *agent, bool done);
struct policy_answer rig_admit(struct rig *rig, struct rig_agent *agent);
void rig_admitted(struct rig *rig, struct rig_agent *agent);
void rig_refused(struct rig *rig, struct rig_agent *agent, const struct policy_answer *answer);
struct policy_answer rig_start(struct rig *rig, struct rig_agent *agent);
policy_time rig_finish(struct rig *rig, struct rig_agent *agent, enum policy_end end);
void rig_tick(struct rig *rig);
void rig_joins(struct rig *rig, struct rig_agent *agent, enum rig_place place); /* a line: `rank`, `flow` */
struct rig_agent *rig_pick(struct rig *rig); /* who is served next; NULL: nobody waits, or no server is free */
void rig_changes(struct rig *rig, const struct option *option, double value); /* a live parameter: `changed` */
/* The clock goes on up to `then`, or to a wake-up or an expiry before, which happens; true: one has. */
bool rig_next(struct rig *rig, policy_time then);
void rig_refresh(struct rig *rig); /* as before a gauge is read: `refresh` */
void rig_gauges(struct rig *rig);  /* keeps their values as answers, as they are now */

/* One step of a random life that keeps to the protocol: about one question. The same seed asks the same questions as
 * long as the answers are the same. */
void rig_step(struct rig *rig);
/* The gate and the call at their edges, each with a copy of its own, until an answer is wrong: its words in `fault`, of
 * RIG_FAULT bytes. */
bool rig_edges(const struct setting *setting, char *fault);

#endif
