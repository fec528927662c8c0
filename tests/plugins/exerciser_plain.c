/* exerciser_plain - the exerciser without an order of its own. */
#define EXERCISER_PLAIN
#include "tests/plugins/exerciser.c"
