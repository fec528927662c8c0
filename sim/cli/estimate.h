/* estimate.h - what a study will take, before it is run: events of a replication, from a stretch at its start. */
#ifndef SIM_CLI_ESTIMATE_H
#define SIM_CLI_ESTIMATE_H

#include "models/scenario.h"

/* Of one replication. */
struct estimate {
    double events, seconds; /* of processor time; NAN: not known */
};

/* `values`: room for a trial's. */
struct estimate estimate_of(const struct scenario *scenario, double *values);

double estimate_clock(void); /* seconds of processor time of this program so far */

#endif
