/* rig_private.h - what the two halves of a rig share. */
#ifndef CLI_RIG_PRIVATE_H
#define CLI_RIG_PRIVATE_H

#include "sim/cli/rig.h"

/* The view as it is now: at the gate, at the door. */
const struct policy_view *rig_look(struct rig *rig);
const struct policy_view *rig_look_from_door(struct rig *rig);
bool rig_before(const struct rig_agent *one, const struct rig_agent *other); /* in a line */

/* The record of the callback in progress, for last words. The agent may be NULL. */
void rig_begins(const struct rig *rig, const char *callback, const struct rig_agent *agent);
void rig_ends(void);
/* Keeps the words of a wrong answer, if it is the first. */
void rig_wrong(struct rig *rig, const struct sim_record *record, const char *text);

#endif
