/* decisions_fixture.h - what tests of logs of decisions have: two gates, and a folder for files and commands. */
#ifndef TESTS_DECISIONS_FIXTURE_H
#define TESTS_DECISIONS_FIXTURE_H

#include "tests/command_fixture.h"

/* Two gates, one call every two seconds at x and one after 5 s at y. */
static inline const char *two_gates(const char *policies, const char *rest)
{
    return arena_format(&file.arena,
                        "study: {horizon: 4 s, replications: 2}\n"
                        "backends:\n"
                        "  x: {kind: slots, servers: 2, service: constant(1 s)}\n"
                        "  y: {kind: slots, servers: 2, service: constant(1 s)}\n"
                        "agents:\n"
                        "  p: {population: 1, think: 0.75 s, backend: x}\n"
                        "  q: {population: 1, think: 3 s, backend: y, tenant: blue}\n"
                        "policies: [%s]\n%s",
                        policies, rest);
}

#endif
