/* tornado.h - `weir run --tornado`: each of a list of values is moved through its range, all others as they are, and a
 * metric's swing is shown, widest first. */
#ifndef CLI_TORNADO_H
#define CLI_TORNADO_H

#include "sim/cli/format.h"
#include "sim/cli/session.h"

struct tornado_request {
    enum format format;
    const char *plot; /* a folder, or NULL */
    unsigned threads;
};

/* The whole command, once its words are understood. */
int tornado_run(const struct cli_words *words, const struct tornado_request *request);

#endif
