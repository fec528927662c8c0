/* pilot.h - replications that are made before a study, to find its warm-up. They have random numbers of their own. */
#ifndef CLI_PILOT_H
#define CLI_PILOT_H

#include "sim/cli/session.h"

/* Where the scenario says `warmup: auto`: MSER-5 on the number in the system, averaged over PILOTS replications, of
 * each design point; the longest is taken for all of them. Statuses are those of session_run; a horizon that is too
 * short to tell is EXIT_USAGE, after a message. */
enum { PILOTS = 10 };
int pilot_warm_up(struct session *session, unsigned threads);

/* The same of one design point: how many of STEADY_BATCHES parts of the horizon to leave out. */
int pilot_parts(struct session *session, unsigned threads, size_t point, size_t *parts);

#endif
