/* input.h - what turns send: the transcript of a run, again each turn. Private to models/. */
#ifndef MODELS_INPUT_H
#define MODELS_INPUT_H

#include "models/world.h"

/* Draws what the agent's turn sends, from its run's turn before it (agent->input) and the turn's own numbers. */
void input_draw(struct world *world, struct agent *agent);

/* Of that what is cached at one of the backends of its class. The one that answered the run's last call has all that a
 * turn has cached, and so has each while none has answered; of a context that others have taken further since, one has
 * what it was sent itself. */
uint64_t input_cached_at(const struct world *world, const struct agent *agent, uint32_t which);
void input_answered(struct world *world, struct agent *agent, uint32_t which);
void input_run_begins(struct agent *agent);

/* The length of what the agent's turn sends, in characters. */
double input_chars(struct world *world, const struct agent *agent);

/* The run is a recorded session: draws which, and returns how many turns it has. */
uint64_t input_session(struct world *world, struct agent *agent);

/* Means over the turns of a run, of all that is sent and of what is not cached; 0 without an input. Of an endless run:
 * of the turns to come in the long run. INFINITY: it grows for ever. */
double input_mean(const struct agent_class *spec);
double input_new_mean(const struct agent_class *spec);
double input_session_turns(const struct session_spec *sessions); /* mean over sessions */

#endif
