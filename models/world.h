/* world.h - everything that one replication holds: agents, their calls, the gates and their backends, the door, copies
 * of policies, and what is measured. Private to models/.
 *
 * A call is in exactly one place at a time (enum call_place), and the place says which list or event has it. Memory for
 * calls, and for agents that arrive, comes from pools of the replication and is reused; nothing is allocated in steady
 * state. */
#ifndef MODELS_WORLD_H
#define MODELS_WORLD_H

#include "models/contexts.h"
#include "models/measure.h"
#include "models/provider.h"
#include "models/purpose.h"
#include "models/scenario.h"
#include "models/trial.h"
#include "sim/engine/calendar.h"
#include "sim/engine/queue.h"
#include "sim/engine/station.h"
#include "sim/engine/stream.h"
#include "sim/io/mem.h"
#include "sim/stats/level.h"
#include "sim/stats/quantile.h"
#include "sim/stats/series.h"

/* More events than this at one instant, beside ten for each agent, are a loop without progress. */
#define WORLD_EVENTS_AT_ONCE UINT64_C(1000000)

/* A client's count of what has failed, of a call or of a run at the door. */
struct client_try {
    enum purpose purpose; /* with `turn` the address of its random numbers */
    uint64_t turn;
    uint32_t failures;                     /* in all; no two sleeps have the same */
    uint32_t of_layer[CLIENT_LAYERS_MOST]; /* of its tries, since it began anew */
};

enum call_place { CALL_NOWHERE, CALL_HELD, CALL_WAITING, CALL_IN_SERVICE, CALL_BACKING_OFF };

struct world;
struct cards;
struct gate;
struct agent;
struct fan;
struct layer_timer;

/* A call of a turn, or a part of one that fans out (models/fan_out.h). What every call comes by stands first. */
struct call {
    struct policy_call facts; /* as policies see it */
    struct agent *agent;      /* NULL: its client has left, a server still works for it; or it is in the pool */
    struct gate *gate;
    struct measure *measure; /* of its class there, set with each attempt */
    enum call_place place;
    bool is_part;
    bool bypasses;          /* this attempt is a retry that policies do not see */
    bool served;            /* of a call whose client died: the backend is done with it */
    bool run_goes_on;       /* of that: the run was not lost with it */
    uint32_t backend;       /* which of its class's */
    uint32_t services;      /* that this attempt has begun */
    sim_time arrived;       /* at this gate */
    sim_time answer;        /* its service time but for what the server reads, where it is known beforehand */
    sim_time service;       /* the whole of it */
    double work;            /* tokens as drawn, for servers whose speed depends on how many are busy */
    double cached;          /* in service: tokens of its input that were really in a cache */
    struct queue_node line; /* the held or the waiting line */
    struct station_job job;
    struct event timeout;
    struct event next;  /* held: asks again; backing off: the next attempt */
    struct event spill; /* held or waiting: it goes on to the next backend */
    struct call *next_free;
    struct fan *fan;      /* of a part that its agent waits for; else NULL */
    struct context *kept; /* of a call whose client has left: what was its agent's */
    struct agent *former; /* of a call whose client died: whose it was (models/copies.c); else NULL */
    struct client_try try;

    struct queue_node age;  /* held and waiting calls by the time of their attempt */
    struct queue_node flow; /* its flow, at a gate whose policy picks */
    uint32_t flow_index;
    uint32_t try_layer;                     /* backing off: of whose next try that is the begin */
    uint32_t part;                          /* its number in its fan-out */
    struct call *part_before, *part_behind; /* of that fan */
    struct layer_timer *timers;             /* of the layers above the innermost; NULL where none has had a timeout */
    struct provider_ticket *ticket;         /* where there is a provider */
    uint64_t former_life;                   /* of a call whose client died: which of its lives it was made in */
    double line_tokens;                     /* booked when it joined its line */
    unsigned char *states; /* of all members, at their offsets; where classes spill a block for each gate */
    struct call *next_of_all;
};

/* A layer's patience with its try, where it is above the innermost. */
struct layer_timer {
    struct event event;
    struct call *call;
    uint32_t layer;
};

/* Where a class gives up runs that are late: when that of its agent's run is. */
struct run_timer {
    struct event event;
    struct agent *agent;
};

enum agent_place { AGENT_IDLE, AGENT_AT_DOOR, AGENT_BOOTING, AGENT_THINKING, AGENT_CALLING, AGENT_FANNING_OUT };

/* What every turn comes by stands first. */
struct agent {
    struct event think;
    struct call *call; /* of its turn */
    enum agent_place place;
    uint32_t klass, index;
    bool run_fresh; /* the run's first turn is not drawn yet */
    uint64_t run, turn;
    uint64_t turns_left;          /* of the run, this one included; UINT64_MAX: endless */
    uint64_t words[4], words_end; /* random numbers of turn words_end - 1 */
    double work; /* this turn's tokens as drawn; services take these, counts the nearest whole number */
    sim_time thought, tokens, service;    /* this turn's draws */
    uint64_t input, cached;               /* tokens that this turn sends, and of them cached; else of the turn before */
    uint64_t run_tokens, run_part_tokens; /* answered in this run and window, to its turns and to their parts */
    const sim_time *due;                  /* of a schedule: the times of its turns, in order */
    sim_time scheduled;                   /* of this turn, or -1 */
    sim_time run_due;                     /* its run's deadline, or 0: it has none */

    sim_time run_asked;           /* its run's first attempt at the door */
    struct fan *fan;              /* fanning out: its parts; made when first needed, and kept */
    struct door_request *request; /* where a policy stands at the door */
    unsigned char *states;        /* agent and run states of all members */
    uint32_t slot;                /* place of its memory; one that arrives takes over the slot of one that has left */
    uint64_t life;                /* how often an agent has left this memory, be it this one itself that came back */
    double patience;              /* seconds; 0: not drawn yet */
    uint16_t quota_spent[CLIENT_LAYERS_MOST]; /* of each layer's retry quota; 0: it is full (models/client.c) */
    size_t session_row;                       /* of the next turn, where the run is a recorded session */
    struct context *kept;                     /* in the memory of its backend; NULL: not there */
    uint64_t *sent;     /* [which of its backends]: by the run's last call answered there; NULL: it has one, or no
                           call has been answered; kept */
    uint32_t served_by; /* of them the one that answered last, counted from 1; 0: none in this run */
    uint32_t *cards;    /* [gate]: of its last call there, counted from 1, or 0; NULL: none yet; kept */
    struct client_try run_try; /* of a layer that restarts runs */
    struct run_timer *due_timer;
    struct agent *next_of_all, *free_next;
};

struct class_state {
    struct agent_class now;         /* what the timeline has changed is changed here */
    const struct agent_class *spec; /* that one */
    struct measure *measure;        /* at the gate of its backend */
    uint32_t index, slots;          /* slots: how many there are; of a population, of agents that ever began */
    double run_turns, run_input;    /* means over its runs; turns 0: not worked out yet (models/foresight.c) */
    struct agent *free;             /* of those that arrive */
    uint64_t arrived, begun, over;  /* agents that arrived; runs begun and ended */
    struct event arrival, trigger;
    uint64_t triggers; /* of batches, so far */
    sim_time *pending; /* runs of them to come, the next one last */
    uint64_t pending_count, pending_room;
};

/* Counted from t = 0; policies/policy.h has the identities. */
struct gate_counts {
    uint64_t attempts, agains, admitted, deferred, rejected, withdrawn, hold_expired, spilled;
    uint64_t done, shed, displaced, overloads, errors, timeouts, abandoned, spilled_waiting;
};

/* Members that have a callback, in the chain's order. */
struct hook {
    struct member_state **members;
    size_t count;
};

struct hooks {
    struct hook admit, admitted, refused, start, finish, run_admit, run_admitted, run_refused, run_withdrawn,
        run_finish;
    struct member_state *rank, *pick;
};

/* Of the calls in a line; its view shows the same arrays. */
struct line_totals {
    uint64_t *calls_by_class, *calls_by_tenant;
    double tokens, *tokens_by_class, *tokens_by_tenant;
};

struct gate {
    struct world *world;
    uint32_t index;
    bool logged; /* the watch wants to be told of attempts */
    const struct backend *backend;
    struct provider *provider; /* or NULL: slots */
    bool plain;                /* slots without memory and prefill */
    struct hooks hooks;
    struct station station;
    struct contexts contexts;     /* of slots with a memory */
    struct cards *cards;          /* or NULL; then `station` is their sum and `contexts` empty (models/cards.h) */
    bool closed, asked_meanwhile; /* its servers take nobody for a moment; one would have */
    struct call *picked;          /* next to be served, as soon as its context fits */
    struct measure *measures;     /* [class], of turns' own calls */
    struct measure *parts;        /* [class], of parts of turns; NULL where no class fans out */
    struct queue held, waiting, ages;
    bool in_order; /* calls join the waiting line, and no other, as they are attempted: `ages` would repeat it */
    struct queue *flows;
    uint64_t *waiting_in_flow;
    uint32_t flow_count;
    struct line_totals held_totals, waiting_totals;
    uint64_t in_service; /* clients still there */
    struct gate_counts counts;
    struct policy_view view; /* what policies are shown; gate_view brings it up to date */
    /* Double entry for the operational laws, from t = 0. */
    struct level queue_level, busy_level, system_level;
    sim_sum waited, served, stayed; /* of those that have left the line, the servers, the system */
    sim_sum started_of_busy, joined_of_present;
    sim_sum queue_area, busy_area, system_area; /* at the warm-up */
    struct alert_state *alerts;                 /* models/alerts.c */
    size_t alert_count;
    struct ramps age_ramps;
    sim_time age_since;
};

struct door_counts {
    uint64_t asked, admitted, deferred, rejected, withdrawn, hold_expired, finished;
    struct policy_line held; /* runs */
    struct line_totals held_totals;
};

struct copy {
    struct policy policy;
    struct member_state *member;
    uint32_t gate;
    size_t index;              /* among the member's copies */
    const struct agent *agent; /* of scope agent: whose it is */
    void *params;              /* its own, since live values change */
    bool ended;                /* its agent has left; begins anew for the next one of its slot */
    struct adapter *adapter;   /* the program that it asks; NULL: none so far */
    struct event tick;
    struct stream stream;
};

/* Copies of scope `agent`, of one class at one gate; made when the agent first comes by. */
struct agent_copies {
    struct copy **copies; /* by the agent's slot */
    size_t room;
};

struct member_state {
    const struct member *member;
    const struct policy_ops *ops;
    struct world *world;
    size_t index;
    struct copy **copies; /* by gate, class or tenant, as its scope says */
    size_t copy_count;
    struct agent_copies *by_agent; /* [gate][class] */
    void *params;                  /* as the timeline has them now: of copies that begin */
    void *wanted;                  /* for `set`: parameters that have not passed their check yet */
    size_t call_offset, run_offset, agent_offset;
    unsigned char *class_states, *tenant_states; /* [gate][index] */
    unsigned char *shared;                       /* [gate]: what its copies there have in common */
    bool stateful; /* a member of the chain has memory, so the pointers to it are set before each callback */
};

struct world {
    const struct scenario *scenario;
    const struct trial_watch *watch;
    struct calendar calendar;
    struct stream_key key;
    struct arena arena;
    struct gate *gates;
    struct class_state *classes;
    struct member_state *members;
    size_t member_count;
    bool looked_at;                            /* a member has a callback, so it may look at a line */
    size_t call_bytes, agent_bytes, run_bytes; /* of members' states, a gate */
    size_t call_gates;                         /* blocks of a call */
    struct door_counts door;
    struct call *calls, *free_calls; /* all that there is memory for; those in the pool */
    struct agent *agents;            /* all that there is memory for */
    struct agent *nobody;            /* in place of one that is gone: its memory is blank; made when needed */
    uint64_t agents_alive, agents_calling, agents_booting;
    struct series *present; /* NULL: nobody asks how many are in the system */
    uint64_t parts_open;    /* that agents wait for */
    uint64_t runs_open;     /* of finite classes, not yet ended */
    uint64_t restarts;      /* of runs by a layer of their client */
    size_t ticket_bytes;
    sim_time window_start, last_run_over;
    struct adapter *adapters; /* programs that policies ask */
    char wrong[512];          /* a policy's wrong answer; empty: none */
};

/* An agent's part of an address. */
static inline uint64_t agent_entity(const struct agent_class *spec, uint32_t index)
{
    return (uint64_t)spec->stream << 32 | index;
}

static inline sim_time world_now(const struct world *world)
{
    return world->calendar.where.now;
}

/* In the system as a whole: at the door, or with a turn under way, be that held, waiting, in service or backing off. */
static inline bool agent_present(enum agent_place place)
{
    return place == AGENT_AT_DOOR || place == AGENT_CALLING || place == AGENT_FANNING_OUT;
}

static inline void agent_is(struct world *world, struct agent *agent, enum agent_place place)
{
    if (world->present && agent_present(place) != agent_present(agent->place))
        series_change(world->present, world_now(world), agent_present(place) ? 1 : -1);
    agent->place = place;
}

#define WORLD_ASSERT(world, condition) SIM_ASSERT(&(world)->calendar.where, condition)

/* A policy answered what no policy may: the trial ends with this message. The first one stands. */
void world_wrong(struct world *world, const struct member_state *member, const char *callback,
                 const struct policy_call *call, const char *format, ...) __attribute__((format(printf, 5, 6)));

#endif
