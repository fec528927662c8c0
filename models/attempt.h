/* attempt.h - telling a trial's watch what became of attempts; with nobody watching, a branch. Private to models/. */
#ifndef MODELS_ATTEMPT_H
#define MODELS_ATTEMPT_H

#include "models/world.h"

/* Cold: the compiler keeps what leads there out of the gate's path. */
__attribute__((cold)) void attempt_tell(const struct gate *gate, const struct call *call, enum attempt_verdict verdict,
                                        const char *reason);
/* At the end of a replication: of those held, waiting or in service. */
void attempts_unfinished(struct world *world);

/* Before the client hears of it, as it may make the next attempt at once. */
static inline void attempt_ended(const struct gate *gate, const struct call *call, enum attempt_verdict verdict,
                                 const char *reason)
{
    if (gate->logged)
        attempt_tell(gate, call, verdict, reason);
}

#endif
