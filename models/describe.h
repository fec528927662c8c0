/* describe.h - what a scenario means: for `weir check`.
 *
 * The scenario comes as a scenario file, with every default and the origin of every value in a comment; the sentences
 * are comments too. So all that is printed is one file, which plan_read reads to the same points. */
#ifndef MODELS_DESCRIBE_H
#define MODELS_DESCRIBE_H

#include <stdio.h>

#include "models/plan.h"

void describe_scenario(const struct plan *plan, FILE *out);
void describe_sentences(const struct plan *plan, FILE *out);

/* The document with presets and defaults in it; what is printed. */
struct node *describe_effective(const struct plan *plan, struct arena *arena);

#endif
