/* readme.h - what a page in Markdown tells people to type, and what it says comes out.
 *
 *     ```sh                             a command a line, `# ...` behind it if one likes, `\` before its end to go on
 *     <!-- not run: WHY -->             right before such a block: nobody runs it
 *     <!-- output of: COMMAND -->       right before a block without a language: what COMMAND prints on standard output
 *     <!-- file: NAME -->               right before any block: it is the text of this file, for commands further down
 *
 * Every command must end well. sh runs them in the order of the page, in a folder of the page's own that looks like the
 * root of the source: build/weir, scenarios, policies and so on are there, and what a command leaves there goes with
 * the folder. The locale is C.UTF-8. A `weir run` whose output is not shown makes two replications. Blank lines at the
 * end of an output are not shown. */
#ifndef TESTS_README_H
#define TESTS_README_H

#include <stdbool.h>

#include "sim/io/mem.h"

/* Runs the page, a path from the root of the source. Returns what is wrong, a line each, or "". With `renew` the page
 * is written anew where a command prints something else than it shows. */
const char *readme_run(const char *page, bool renew, struct arena *arena);

/* Links of the page, pictures too, to files that are not there, a line each, or "". */
const char *readme_dead_links(const char *page, struct arena *arena);

#endif
