/* verify.h - a finished study held against what must be true.
 *
 * Identities (Little's law, utilisation, flow balance, the gate's) are asserted in every replication as equalities of
 * whole numbers; they prove the bookkeeping, not the model. Predictions are closed forms, printed beside the simulation
 * with the distance in standard errors. Where no formula holds, that is said. */
#ifndef CLI_VERIFY_H
#define CLI_VERIFY_H

#include "sim/cli/session.h"

void verify_print(const struct session *session, bool colour, FILE *out);

#endif
