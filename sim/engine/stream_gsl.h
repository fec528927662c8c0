/* stream_gsl.h - a stream as a GSL generator, for samplers that only GSL has.
 *
 * GSL's samplers use libm, so what they draw may differ in the last bit between machines: for tests and for set-up, not
 * for what decides a path. There is no global generator; each gsl_rng is a stream of its own. */
#ifndef SIM_STREAM_GSL_H
#define SIM_STREAM_GSL_H

#include <gsl/gsl_rng.h>

#include "sim/engine/stream.h"

/* 64-bit words. gsl_rng_set(rng, seed) starts at the address of zeros of replication 0 of that seed. */
const gsl_rng_type *stream_gsl_type(void);

/* Start a generator of that type at block 0 of an address. */
void stream_gsl_open(gsl_rng *rng, struct stream_key key, struct stream_address address);

#endif
