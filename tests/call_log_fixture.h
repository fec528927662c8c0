/* call_log_fixture.h - what tests of --log have: the log of a command run in a folder of its own. */
#ifndef TESTS_CALL_LOG_FIXTURE_H
#define TESTS_CALL_LOG_FIXTURE_H

#include "tests/command_fixture.h"

#define HEADER \
    "replication,class,tenant,backend,agent,run,turn,attempt,submitted,verdict,reason,admitted,started,finished," \
    "tokens_in,tokens_out,part\n"

static inline const char *log_path(void)
{
    return in_folder("calls.csv");
}

#endif
