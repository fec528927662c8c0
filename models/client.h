/* client.h - what a client does when a try has failed: which of its layers tries again, and when. Private to models/.
 *
 * Layer 0 makes attempts at the gate (or the door). When a layer has no tries left, or its quota says no, the try of
 * the layer above has failed, and the counts of those below begin anew. Without a layer that tries again, the client
 * gives up.
 *
 * An outermost layer may try runs again instead of calls. It is no layer of a call: what fails below it ends the call,
 * and the run side tells it of a run that has failed. A try of a run has a count of its own, of PURPOSE_RESTART. */
#ifndef MODELS_CLIENT_H
#define MODELS_CLIENT_H

#include "models/world.h"

/* How many layers try calls again, from the innermost on: all, or all but the one that restarts runs, whose index it is
 * then. */
uint32_t client_call_layers(const struct client *client);

/* Of a call that begins, of a run at the door, or of one that may be restarted. */
static inline void client_begins(struct client_try *try, enum purpose purpose, uint64_t turn)
{
    *try = (struct client_try){.purpose = purpose, .turn = turn};
}
/* Would a failed try of that layer, without a retry-after, end it all? Changes nothing. */
bool client_gives_up(const struct world *world, const struct agent *agent, const struct client_try *try,
                     uint32_t layer);

struct client_verdict {
    bool gives_up;
    uint32_t layer; /* the one that tries again */
    sim_time sleep; /* before it does */
};

/* A try of `layer` has failed, and with it all that is below; retry_after is what came with the refusal, or
 * POLICY_NONE. */
struct client_verdict client_fails(struct world *world, struct agent *agent, struct client_try *try, uint32_t layer,
                                   policy_time retry_after);
/* The call was answered, or the run is done: what that gives to the agent's quotas. There are none at the door. */
void client_succeeds(struct world *world, struct agent *agent, const struct client_try *try);

/* The mean pause after a layer's k-th failure, seconds, without a retry-after. */
double client_pause_mean(const struct client_layer *layer, uint32_t k);

/* What a client comes to at most, whatever happens to it; INFINITY: no end. */
struct client_bounds {
    double tries[CLIENT_LAYERS_MOST]; /* of a layer, for one try of the layer above; its attempts or its quota */
    double attempts;                  /* of a turn: the product over the layers of a call */
    double seconds;                   /* of a turn, from its first attempt until it is answered or lost */
};
struct client_bounds client_bounds(const struct client *client);

#endif
