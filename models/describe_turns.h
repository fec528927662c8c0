/* describe_turns.h - the sentences of `weir check` about turns that fan out, and calls that spill over. Private to
 * models/. */
#ifndef MODELS_DESCRIBE_TURNS_H
#define MODELS_DESCRIBE_TURNS_H

#include "models/scenario.h"
#include "sim/io/mem.h"

/* Of a class that does; NULL behind the last. */
const char **fan_out_sentences(const struct scenario *scenario, const struct agent_class *class, struct arena *arena);
/* Of a class that spills. */
const char *spill_sentence(const struct scenario *scenario, const struct agent_class *class, struct arena *arena);

#endif
