/* quote.h - a text written so that another format reads the same text back. Any bytes may come; a text that needs no
 * quotes gets none. */
#ifndef SIM_QUOTE_H
#define SIM_QUOTE_H

#include "sim/io/mem.h"

/* A YAML scalar that is read as this text, never as a number, a flag or nothing. Bytes that are no UTF-8 become the
 * character of that number (YAML has no bytes). */
const char *quote_yaml(const char *text, struct arena *arena);
const char *quote_csv(const char *text, struct arena *arena);      /* a field of RFC 4180 */
const char *quote_markdown(const char *text, struct arena *arena); /* one line, also within a table */
/* As it may go to a terminal: control characters become `?`. */
const char *quote_terminal(const char *text, struct arena *arena);
size_t quote_width(const char *text); /* characters of UTF-8 */

#endif
