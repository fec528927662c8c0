/* scenario_hash.h - a number that differs, for all practical purposes, between scenarios that yield different numbers.
 */
#ifndef MODELS_SCENARIO_HASH_H
#define MODELS_SCENARIO_HASH_H

#include "models/columns.h"
#include "models/scenario.h"

#define SCENARIO_HASH_START UINT64_C(0xcbf29ce484222325)

/* Goes on from `hash`. Titles, places and comments do not count. Every value of a column counts; each column is gone
 * through once and remembered in `columns`, which the scenario was read with. */
uint64_t scenario_hash(uint64_t hash, const struct scenario *scenario, const struct columns *columns);

/* Of a name: the address of the random numbers of what is called so. */
uint64_t scenario_hash_name(const char *name);

#endif
