/* regress_card.h - a small card for the tests of `weir regress`: a second of work, two policies, two populations. */
#ifndef TESTS_REGRESS_CARD_H
#define TESTS_REGRESS_CARD_H

#include "tests/command_fixture.h"

#define REGRESS_CARD \
    "study: {horizon: 1500 s, warmup: 100 s, replications: 6, seed: 1}\n" \
    "backends:\n  card: {kind: slots, servers: 8, rate: 39 tokens/s}\n" \
    "agents:\n  coder:\n    population: 24\n    think: exponential(4.5 s)\n    output: exponential(354)\n" \
    "    client: {backoff: exponential, base: 16 s, cap: 120 s, jitter: full}\n" \
    "policies:\n  - unbounded\n  - fixed_cap: {cap: 12}\n" \
    "sweep: {agents.coder.population: [16, 24]}\n"

/* What a command that ends so says on both outputs. */
static inline void regress(int status, const char *const *arguments)
{
    program_fini(&program);
    program_start(&program, NULL, arguments);
    program_wait(&program);
    ck_assert_msg(program.status == status, "status %d\n%s\n%s", program.status, program.out, program.err);
}

#define REGRESS(status, ...) regress(status, (const char *const[]){"regress", __VA_ARGS__, NULL})

/* Writes the scenario, and its table as it is now. */
static inline void regress_begin(const char *text)
{
    plan_file_write(&file, "s.yaml", text);
    REGRESS(0, file.path, "--update");
}

#endif
