/* oracles.h - slow or closed computations that the fast ones are held against. They share no code with what they judge.
 *
 * Tie order. A first come, first served line starts customer n at the later of its arrival and the moment at which a
 * server is free of customers 0..n-1. Only times enter, so at one instant ends and arrivals may happen in any order and
 * the waits are the same to the nanosecond, services of length zero included. One thing is asked for: customers who
 * arrive at one instant join the line in the order of their index. */
#ifndef TESTS_ORACLES_H
#define TESTS_ORACLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/engine/clock.h"

/* Random words for tests that must not lean on the streams they help to test (a Weyl sequence, hashed). */
uint64_t oracle_random(uint64_t *state);

/* Waits in a single-server line: W(n+1) = max(0, W(n) + S(n) - A(n+1) + A(n)) (Lindley 1952). Arrivals ascend. */
void oracle_lindley(const sim_time *arrivals, const sim_time *services, size_t count, sim_time *waits);
/* The same for several servers, by the sorted vector of their workloads (Kiefer & Wolfowitz 1955). */
void oracle_kiefer_wolfowitz(const sim_time *arrivals, const sim_time *services, size_t count, uint32_t servers,
                             sim_time *waits);

/* Ends, in ns, of a first come, first served line whose servers work at speed[busy]. At each change every busy job's
 * remaining work is brought up to date, in long double: neither virtual time nor whole nanoseconds. */
void oracle_shared_ends(const sim_time *arrivals, const double *work, size_t count, uint32_t servers,
                        const double *speed, long double *ends);

/* A calendar and a plain array are taken through the same random life, read from the bytes. True: they agreed on every
 * event, time and count. */
bool oracle_calendar_agrees(const uint8_t *bytes, size_t count);

#endif
