/* exerciser_flows - the exerciser with flows in place of ranks. */
#define EXERCISER_FLOWS
#include "tests/plugins/exerciser.c"
