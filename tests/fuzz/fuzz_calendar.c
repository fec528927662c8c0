/* fuzz_calendar.c - no sequence of schedule, cancel and next tells the calendar from a plain array. */
#include <stdlib.h>

#include "tests/oracles.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    if (!oracle_calendar_agrees(bytes, count))
        abort();
    return 0;
}
