/* battery.h - the parts of the statistical battery. Each prints what it found, and is false if that is not what it
 * should be. */
#ifndef TESTS_BATTERY_H
#define TESTS_BATTERY_H

#include <stdbool.h>

#include "models/plan.h"

bool battery_read(const char *yaml, struct plan *plan); /* built-in policies; false after a message */
/* A file with this text; the caller removes it. False: there is none. */
bool battery_file(const char *yaml, char *path, size_t size);

bool battery_coverage(bool is_long);
/* The test of halves flags M/M/1 at load 1.05 and passes it at 0.9. */
bool battery_drift(unsigned seeds);
/* What a warm-up that is found leaves of the start of M/M/8//24. */
bool battery_warm_up(unsigned seeds);
/* How many agents the card carries. */
bool battery_size(unsigned seeds);

#endif
