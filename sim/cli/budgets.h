/* budgets.h - for `weir check`: what the budgets of pacers and the plans of planners come to, where that is most likely
 * not what was meant. Policies are known by what they declare, none by its name. */
#ifndef CLI_BUDGETS_H
#define CLI_BUDGETS_H

#include <stdio.h>

#include "models/plan.h"

/* A sentence, as a comment, for
 *   keys of one pool that each pace as if they were alone, by a parameter `r_tok`;
 *   each gate at which a planner (columns extra, axis, ...) has no room for a task, with what that rests on. */
void budgets_sentences(const struct plan *plan, FILE *out);

#endif
