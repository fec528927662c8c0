/* sequential.h - how many replications: looks at an estimate from time to time, until it is good enough.
 *
 * Looks are at `least` replications, and then each time when there are half as many more, until `most`; so they depend
 * on nothing but the two, and neither does what is found. */
#ifndef SIM_SEQUENTIAL_H
#define SIM_SEQUENTIAL_H

#include <stdbool.h>

#include "sim/stats/output.h"

/* The next look after that at `now`; most itself there. */
unsigned sequential_next(unsigned now, unsigned most);
unsigned sequential_looks(unsigned least, unsigned most); /* how many there are */

/* Whether a half-width is no more than this part of the mean (Law and Kelton's sequential procedure). Of an estimate
 * that has none, no. */
bool sequential_precise(struct estimate estimate, double relative);

#endif
