/* callback.h - the record of the policy's callback in progress, for the message of a crash. It costs a few stores and
 * is of the thread (sim/engine/where.h). Private to models/. */
#ifndef MODELS_CALLBACK_H
#define MODELS_CALLBACK_H

#include "models/world.h"

/* For sim_record.describe: its owner is a struct member_state, its subject a struct policy_call, a struct policy_run.
 */
void callback_describe(const struct sim_record *record, struct sim_words *words);
void callback_describe_run(const struct sim_record *record, struct sim_words *words);

/* `call` may be NULL. */
static inline void callback_begins(const struct member_state *member, const char *name, const struct policy_call *call)
{
    sim_record.callback = name;
    sim_record.owner = member;
    sim_record.subject = call;
    sim_record.describe = callback_describe;
}

static inline void callback_begins_run(const struct member_state *member, const char *name,
                                       const struct policy_run *run)
{
    callback_begins(member, name, NULL);
    sim_record.subject = run;
    sim_record.describe = callback_describe_run;
}

static inline void callback_ends(void)
{
    sim_record.callback = NULL;
}

#endif
