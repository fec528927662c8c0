/* death.h - clients that die while their call is served: nobody is told, policies least of all. The gate counts the
 * attempt as abandoned and the run is lost. The call stays with its backend, which goes on for nobody, and with what
 * `admitted` left of it at policies, which is left to expire; once both are over it goes back to the pool. Private to
 * models/. */
#ifndef MODELS_DEATH_H
#define MODELS_DEATH_H

#include "models/world.h"

/* A service begins: whether and when its client dies. */
void death_draw_else(struct gate *gate, struct call *call, double share);
static inline void death_draw(struct gate *gate, struct call *call)
{
    double share = gate->world->scenario->classes[call->facts.klass].client.dies;

    if (share > 0 && !call->is_part)
        death_draw_else(gate, call, share);
}

/* Of a call whose client died (call->former), for what policies still hear of it. Its agent, while that is still there;
 * nobody, whose memory is blank, in place of an agent that left or of a run that is over. */
bool death_left_agent(const struct call *call);
struct agent *death_agent(struct world *world, const struct call *call);
struct agent *death_run(struct world *world, const struct call *call);

#endif
