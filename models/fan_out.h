/* fan_out.h - turns that fan out: after its answer the agent makes parts, calls at another backend, as many at once as
 * it may, and goes on when all, or as many as suffice, are back. Private to models/.
 *
 * How many parts a turn has, and what each is, depends on its address alone; when a part is made depends on the others.
 * What suffices abandons the rest: those that are served are served for nobody. A part that its client gives up is
 * lost, and the turn with it as soon as too few can still come back. Parts are never told of anything but through the
 * gate: policies see calls of the agent, each with a state of its own, at the gate of their backend.
 *
 * While a gate is at work with a part, others of its fan may be lost and end the whole: that part is then cut off
 * (fan NULL, its agent still there), and given back when the gate is done with it. */
#ifndef MODELS_FAN_OUT_H
#define MODELS_FAN_OUT_H

#include "models/world.h"

struct fan {
    struct agent *agent;
    struct gate *answered; /* where the turn was */
    policy_time deadline;  /* of the turn, which its parts have too; or POLICY_NONE */
    struct call *first;    /* of the parts that are open */
    uint64_t parts, need;  /* of the turn; how many suffice */
    uint64_t made, open, back, lost;
    uint64_t open_tokens, next_tokens; /* of those that are open; of the next one to be made */
    uint64_t tokens, part_tokens;      /* answered in this turn and window, to itself and to its parts */
    bool at_work;                      /* making parts, or abandoning them: who comes back then is only booked */
};

/* The turn's answer is there: its parts are made. agent_parts_over is called when that is over, which may be at once.
 */
void fan_out_begins(struct world *world, struct agent *agent, struct gate *answered, policy_time deadline);
/* Its run is given up: all parts are abandoned, and the turn is lost. */
void fan_out_given_up(struct world *world, struct agent *agent);

/* Tokens of all parts that the agent's turn is going to have. */
double fan_out_tokens(struct world *world, const struct agent *agent);

/* A part is answered, and its server is free: if that suffices, the others are abandoned before the server takes one.
 */
void fan_out_suffices(struct call *part);
/* What became of a part's attempt; as agent_answered and agent_rejected. */
void fan_out_answered(struct call *part);
void fan_out_lost(struct call *part);

/* The part goes on at another address (models/serve.c). */
void fan_out_moves(struct call *from, struct call *to);

#endif
