/* recorder.h - samples gauges over a replication. Private to models/.
 *
 * Samples are taken at t = 0, every, 2 every, ... up to the horizon, when all that happens at that very instant has
 * happened: a sample never shows the middle of one. It only reads, and draws nothing at random, so no other number
 * depends on it.
 *
 * What happened in the last minute is exact whatever `every` is: counts are noted a minute before each sample, in a
 * ring of a minute's samples. */
#ifndef MODELS_RECORDER_H
#define MODELS_RECORDER_H

#include "models/world.h"

/* Begins the samples that the watch wants, after everything else of the world. */
void recorder_begin(struct world *world);

#endif
