/* idle.h - for `weir check`: policies that turn calls away while servers have nothing to do, as a cap below their
 * number does. Found by asking a copy as it begins, so no policy is known by its name. */
#ifndef CLI_IDLE_H
#define CLI_IDLE_H

#include <stdio.h>

#include "models/plan.h"

/* A sentence for each alternative, member and number of servers, as comments. */
void idle_sentences(const struct plan *plan, FILE *out);

#endif
